//! The words of a Kconfig line.

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, a keyword, a number or a macro call.
    Word(String),
    /// What stood in quotes.
    Text(String),
    /// `&&`, `||`, `!`, `(`, `)`, `=` and other comparisons.
    Symbol(&'static str),
}

/// Two characters before one: `!=` is not `!` and `=`.
const SYMBOLS: [&str; 11] = ["&&", "||", "!=", "<=", ">=", "!", "=", "<", ">", "(", ")"];

/// The words of `line` up to a comment.
pub(super) fn tokens(line: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '#' {
            break;
        }
        if first == '"' || first == '\'' {
            let (text, after) = quoted(rest, first);
            tokens.push(Token::Text(text));
            rest = after.trim_start();
            continue;
        }
        if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
            tokens.push(Token::Symbol(symbol));
            rest = rest.get(symbol.len()..).unwrap_or_default().trim_start();
            continue;
        }
        let end = word_end(rest).max(first.len_utf8());
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        tokens.push(Token::Word(word.to_owned()));
        rest = after.trim_start();
    }
    tokens
}

/// The text in quotes at the beginning of `rest`, and what comes after.
fn quoted(rest: &str, quote: char) -> (String, &str) {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => text.extend(chars.next().map(|(_, c)| c)),
            c if c == quote => {
                return (text, rest.get(at + c.len_utf8()..).unwrap_or_default());
            }
            c => text.push(c),
        }
    }
    (text, "")
}

/// Where a word ends; a macro call `$(…)` is one word, spaces included.
fn word_end(rest: &str) -> usize {
    let mut open = 0_usize;
    let mut before = ' ';
    for (at, c) in rest.char_indices() {
        match c {
            '(' if before == '$' || open > 0 => open += 1,
            ')' if open > 0 => open -= 1,
            _ if open > 0 => {}
            '(' | ')' | '"' | '\'' | '=' | '!' | '<' | '>' | '#' => return at,
            '&' | '|' => return at,
            c if c.is_whitespace() => return at,
            _ => {}
        }
        before = c;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_texts_and_symbols() {
        let word = |w: &str| Token::Word(w.to_owned());
        assert_eq!(
            tokens("bool \"a \\\"b\\\"\" if X!=y&&$(f,a b) # c"),
            [
                word("bool"),
                Token::Text("a \"b\"".to_owned()),
                word("if"),
                word("X"),
                Token::Symbol("!="),
                word("y"),
                Token::Symbol("&&"),
                word("$(f,a b)"),
            ]
        );
        assert_eq!(tokens("\"open"), [Token::Text("open".to_owned())]);
        assert_eq!(tokens("&"), [word("&")]);
    }
}
