//! Text that stays text: neither Markdown nor what forges make of plain text
//! (mentions, references, links) gets hold of it.

use crate::clean::clean;

/// Longer names and lines are cut: a comment is no log viewer.
const LONGEST: usize = 200;
const LONGEST_PROSE: usize = 1_000;

/// A name or a line as code. No forge looks for anything in code.
pub(crate) fn code(text: &str) -> String {
    let text = clean(text);
    let text = cut(text.trim(), LONGEST);
    if text.is_empty() {
        return "(no name)".to_owned();
    }
    // A fence that does not occur inside.
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A sentence, for the middle of a line: what it has in backticks becomes code,
/// the rest is escaped.
pub(crate) fn prose(text: &str) -> String {
    let text = clean(text);
    let text = cut(text.trim(), LONGEST_PROSE);
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, (inside, after))) = rest
        .split_once('`')
        .and_then(|(before, behind)| Some((before, behind.split_once('`')?)))
    {
        out += &words(before);
        // Two runs of backticks would become one.
        if out.ends_with('`') {
            out.push(' ');
        }
        out += &code(inside);
        rest = after;
    }
    out + &words(rest)
}

/// Words without code: characters that begin markup are escaped. What forges
/// look for in finished text (`@name`, `#12`, `www.`, `a:b`) is split by an
/// empty comment, which is the only thing they respect.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let before_word = next.is_some_and(|n| n.is_alphanumeric() || "\"'/_".contains(n));
        let after_word = last.is_alphanumeric();
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$'
        ) {
            out.push('\\');
        }
        out.push(c);
        let split = match c {
            '@' | '#' | '!' | '%' | '~' | '$' | '&' => before_word,
            ':' => before_word,
            '.' | '-' => after_word && before_word && splits_at(&out),
            _ => false,
        };
        if split {
            out.push_str("<!-- -->");
        }
        last = c;
    }
    out
}

/// Whether what was written so far ends in something that a link begins with:
/// `www.`, `GH-`.
fn splits_at(out: &str) -> bool {
    let tail = |n: usize| out.get(out.len().saturating_sub(n)..).unwrap_or_default();
    tail(4).eq_ignore_ascii_case("www.") || tail(3).eq_ignore_ascii_case("gh-")
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_holds_anything() {
        assert_eq!(code("a*b_c"), "`a*b_c`");
        assert_eq!(code("``x`"), "``` ``x` ```");
        assert_eq!(code(" \n"), "`␊`");
        assert_eq!(code(" "), "(no name)");
    }

    #[test]
    fn prose_has_no_markup_and_no_references() {
        assert_eq!(prose("a <b> *c*"), "a \\<b\\> \\*c\\*");
        assert_eq!(prose("see @user, #12"), "see @<!-- -->user, #<!-- -->12");
        assert_eq!(prose("add `quiet|x` to `a"), "add `quiet|x` to \\`a");
        assert_eq!(prose("`a``b`"), "`a` `b`");
        assert_eq!(prose("https://x"), "https:<!-- -->//x");
        assert_eq!(prose("www.x.org, GH-7"), "www.<!-- -->x.org, GH-<!-- -->7");
        assert_eq!(prose("takes 5.2 s: 50 %"), "takes 5.2 s: 50 %");
    }
}
