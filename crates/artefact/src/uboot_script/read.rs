//! Text → script.

use super::{DEPTH_LIMIT, Item, Joint, Piece, SIZE_LIMIT, Script, ScriptError, Statement, Word};

/// What a script is made of.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(Word),
    /// `;` or the end of a line.
    End,
    And,
    Or,
}

/// Words that mean something where a command begins.
pub(super) const RESERVED: [&str; 11] = [
    "if", "then", "elif", "else", "fi", "for", "in", "while", "until", "do", "done",
];

pub(super) fn script(text: &str) -> Result<Script, ScriptError> {
    if text.len() > SIZE_LIMIT {
        return Err(ScriptError::TooLong);
    }
    let mut reader = Reader {
        tokens: tokens(text)?,
        at: 0,
        end: text.len(),
    };
    let (script, _) = reader.list(&[], 0)?;
    Ok(script)
}

/// Tokens and where they begin.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ScriptError> {
    let mut letters = Letters {
        text,
        rest: text.char_indices().peekable(),
    };
    let mut tokens = Vec::new();
    while let Some((at, c)) = letters.rest.peek().copied() {
        let doubled = text.get(at + 1..).is_some_and(|rest| rest.starts_with(c));
        let token = match c {
            '\n' | ';' => Token::End,
            ' ' | '\t' | '\r' => {
                letters.rest.next();
                continue;
            }
            // A comment goes on to the end of the line.
            '#' => {
                while letters.rest.next_if(|(_, c)| *c != '\n').is_some() {}
                continue;
            }
            '&' if doubled => Token::And,
            '|' if doubled => Token::Or,
            _ => {
                tokens.push((at, Token::Word(letters.word()?)));
                continue;
            }
        };
        letters.rest.next();
        if matches!(token, Token::And | Token::Or) {
            letters.rest.next();
        }
        tokens.push((at, token));
    }
    Ok(tokens)
}

/// Letters that are still to be read.
struct Letters<'t> {
    text: &'t str,
    rest: std::iter::Peekable<std::str::CharIndices<'t>>,
}

impl Letters<'_> {
    fn word(&mut self) -> Result<Word, ScriptError> {
        let mut word = Word(Vec::new());
        while let Some((at, c)) = self.rest.peek().copied() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' => break,
                '&' | '|' => {
                    let doubled = self
                        .text
                        .get(at + 1..)
                        .is_some_and(|rest| rest.starts_with(c));
                    if doubled {
                        break;
                    }
                    return Err(unexpected(c, at));
                }
                // Groups and commands in place of words, which U-Boot does not
                // have.
                '(' | ')' | '`' => return Err(unexpected(c, at)),
                '\'' => {
                    self.rest.next();
                    word.push(self.single_quoted()?);
                }
                '"' => {
                    self.rest.next();
                    self.double_quoted(&mut word)?;
                }
                '\\' => {
                    self.rest.next();
                    let (_, c) = self
                        .rest
                        .next()
                        .ok_or(ScriptError::Unclosed("what the backslash stands before"))?;
                    word.push(text(c, true));
                }
                '$' => {
                    self.rest.next();
                    self.variable(&mut word, false)?;
                }
                c => {
                    self.rest.next();
                    word.push(text(c, false));
                }
            }
        }
        Ok(word)
    }

    fn single_quoted(&mut self) -> Result<Piece, ScriptError> {
        let mut text = String::new();
        for (_, c) in self.rest.by_ref() {
            if c == '\'' {
                return Ok(Piece::Text { text, quoted: true });
            }
            text.push(c);
        }
        Err(ScriptError::Unclosed("a single quote"))
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), ScriptError> {
        // Nothing in quotes is a word too.
        word.push(Piece::Text {
            text: String::new(),
            quoted: true,
        });
        while let Some((_, c)) = self.rest.next() {
            match c {
                '"' => return Ok(()),
                '\\' => {
                    let next = self
                        .rest
                        .next_if(|(_, c)| matches!(c, '"' | '\\' | '$' | '`'));
                    word.push(text(next.map_or('\\', |(_, c)| c), true));
                }
                '$' => self.variable(word, true)?,
                c => word.push(text(c, true)),
            }
        }
        Err(ScriptError::Unclosed("a double quote"))
    }

    /// What follows a `$`.
    fn variable(&mut self, word: &mut Word, quoted: bool) -> Result<(), ScriptError> {
        let mut name = String::new();
        match self.rest.peek().copied() {
            Some((_, '{')) => {
                self.rest.next();
                loop {
                    match self.rest.next() {
                        Some((_, '}')) => break,
                        Some((at, c)) if matches!(c, '{' | '$' | '\n' | '"' | '\'' | '\\') => {
                            return Err(unexpected(c, at));
                        }
                        Some((_, c)) => name.push(c),
                        None => return Err(ScriptError::Unclosed("a closing brace")),
                    }
                }
            }
            Some((_, c)) if matches!(c, '?' | '#') => {
                self.rest.next();
                name.push(c);
            }
            Some((at, c)) if c == '(' => return Err(unexpected(c, at)),
            _ => {
                let of_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
                while let Some((_, c)) = self.rest.next_if(|(_, c)| of_name(*c)) {
                    name.push(c);
                }
                if name.is_empty() {
                    word.push(text('$', quoted));
                    return Ok(());
                }
            }
        }
        // The quotes themselves are no piece of their own.
        if let Some(Piece::Text { text, quoted: true }) = word.0.last()
            && quoted
            && text.is_empty()
        {
            word.0.pop();
        }
        word.push(Piece::Variable { name, quoted });
        Ok(())
    }
}

fn text(c: char, quoted: bool) -> Piece {
    let text = c.into();
    Piece::Text { text, quoted }
}

fn unexpected(what: impl Into<String>, at: usize) -> ScriptError {
    ScriptError::Unexpected {
        what: what.into(),
        at,
    }
}

struct Reader {
    tokens: Vec<(usize, Token)>,
    at: usize,
    end: usize,
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |(at, _)| *at)
    }

    /// The reserved word that comes next, if one does.
    fn reserved(&self) -> Option<&'static str> {
        let Some(Token::Word(word)) = self.peek() else {
            return None;
        };
        let word = word.bare()?;
        RESERVED.into_iter().find(|reserved| *reserved == word)
    }

    /// Statements up to one of `ends`, which is taken and returned; up to the
    /// end of the script if there are none.
    fn list(
        &mut self,
        ends: &[&'static str],
        depth: usize,
    ) -> Result<(Script, &'static str), ScriptError> {
        if depth > DEPTH_LIMIT {
            return Err(ScriptError::TooDeep);
        }
        let mut items: Vec<Item> = Vec::new();
        let mut joint = Joint::Then;
        loop {
            if joint == Joint::Then {
                while self.peek() == Some(&Token::End) {
                    self.at += 1;
                }
            }
            let place = self.place();
            let reserved = self.reserved();
            let statement = match (self.peek(), reserved) {
                (None, _) => {
                    return match (joint, ends.first()) {
                        (Joint::And | Joint::Or, _) => Err(ScriptError::Unclosed("a command")),
                        (_, Some(end)) => Err(ScriptError::Unclosed(end)),
                        (_, None) => Ok((Script(items), "")),
                    };
                }
                (_, Some(word)) if ends.contains(&word) => {
                    if items.is_empty() || joint != Joint::Then {
                        return Err(unexpected(word, place));
                    }
                    self.at += 1;
                    return Ok((Script(items), word));
                }
                (_, Some(word)) => self.block(word, place, depth)?,
                (Some(Token::Word(_)), None) => Statement::Command(self.words()),
                (Some(Token::End), _) => return Err(unexpected(";", place)),
                (Some(Token::And), _) => return Err(unexpected("&&", place)),
                (Some(Token::Or), _) => return Err(unexpected("||", place)),
            };
            items.push(Item { joint, statement });
            joint = match self.peek() {
                Some(Token::And) => Joint::And,
                Some(Token::Or) => Joint::Or,
                Some(Token::End) | None => Joint::Then,
                Some(Token::Word(word)) => return Err(unexpected(word.to_string(), self.place())),
            };
            self.at += 1;
        }
    }

    fn words(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        while let Some(Token::Word(word)) = self.peek() {
            words.push(word.clone());
            self.at += 1;
        }
        words
    }

    /// The block that begins with a reserved word.
    fn block(
        &mut self,
        word: &'static str,
        place: usize,
        depth: usize,
    ) -> Result<Statement, ScriptError> {
        self.at += 1;
        match word {
            "if" => self.arms(depth + 1),
            "for" => {
                let name = match self.words().as_slice() {
                    [name, keyword, words @ ..] if keyword.bare() == Some("in") => {
                        let name = name.bare().map(str::to_owned);
                        name.map(|name| (name, words.to_vec()))
                    }
                    _ => None,
                };
                let (name, words) = name.ok_or_else(|| unexpected("for", place))?;
                let body = self.body(depth + 1)?;
                Ok(Statement::For { name, words, body })
            }
            "while" | "until" => {
                let (condition, _) = self.list(&["do"], depth + 1)?;
                let (body, _) = self.list(&["done"], depth + 1)?;
                Ok(Statement::While {
                    until: word == "until",
                    condition,
                    body,
                })
            }
            other => Err(unexpected(other, place)),
        }
    }

    fn arms(&mut self, depth: usize) -> Result<Statement, ScriptError> {
        let mut arms = Vec::new();
        loop {
            let (condition, _) = self.list(&["then"], depth)?;
            let (then, end) = self.list(&["fi", "elif", "else"], depth)?;
            arms.push((condition, then));
            let otherwise = match end {
                "elif" => continue,
                "else" => Some(self.list(&["fi"], depth)?.0),
                _ => None,
            };
            return Ok(Statement::If { arms, otherwise });
        }
    }

    /// `; do … done`
    fn body(&mut self, depth: usize) -> Result<Script, ScriptError> {
        while self.peek() == Some(&Token::End) {
            self.at += 1;
        }
        if self.reserved() != Some("do") {
            return match self.peek() {
                None => Err(ScriptError::Unclosed("do")),
                Some(_) => Err(unexpected("for", self.place())),
            };
        }
        self.at += 1;
        Ok(self.list(&["done"], depth)?.0)
    }
}
