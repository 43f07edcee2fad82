//! GRUB's script language, taken apart: commands, words, conditions, loops, functions and menus.
//!
//! What is wrong in it is left out, as GRUB says so and goes on with the next command.

use std::ops::Range;
use std::rc::Rc;

/// Blocks in blocks: deeper than any configuration that people write.
const MOST_DEEP: usize = 64;

/// Commands, one after the other.
pub(super) type Script = Rc<[Command]>;

/// A command.
pub(super) enum Command {
    /// A command with its words.
    Plain {
        words: Vec<Word>,
        /// The number of the line that it begins in, from 1.
        line: usize,
        /// As it is written.
        source: Rc<str>,
    },
    /// Conditions with what is run where they are met, and what is run otherwise.
    If {
        arms: Vec<(Script, Script)>,
        otherwise: Script,
    },
    For {
        name: String,
        words: Vec<Word>,
        body: Script,
    },
    /// `while`, and `until`, which wants its condition not to be met.
    While {
        until: bool,
        condition: Script,
        body: Script,
    },
    Function {
        name: String,
        body: Script,
    },
    /// A command with a block behind its words: `menuentry`, `submenu`.
    Block {
        words: Vec<Word>,
        body: Script,
    },
}

/// A word: pieces without a space between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word(pub(super) Vec<Piece>);

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Letters that stand for themselves.
    Text { text: String, quoted: bool },
    /// The value of a variable, which is split at its spaces unless it is quoted.
    Variable { name: String, quoted: bool },
}

impl Word {
    /// The word, if it is one of the language: without quotes and variables.
    fn keyword(&self) -> Option<&str> {
        match self.0.as_slice() {
            [
                Piece::Text {
                    text,
                    quoted: false,
                },
            ] => Some(text),
            _ => None,
        }
    }

    fn push(&mut self, c: char, is_quoted: bool) {
        match self.0.last_mut() {
            Some(Piece::Text { text, quoted }) if *quoted == is_quoted => text.push(c),
            _ => self.0.push(Piece::Text {
                text: c.into(),
                quoted: is_quoted,
            }),
        }
    }
}

/// Takes a text apart.
pub(super) fn parse(text: &str) -> Script {
    let mut parser = Parser {
        text,
        tokens: tokens(text),
        at: 0,
        deep: 0,
    };
    let mut all = Vec::new();
    while parser.at < parser.tokens.len() {
        all.extend(parser.commands());
        // A brace or a word of the language that nothing opened.
        parser.at += 1;
    }
    all.into()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    /// The end of a line, or a semicolon.
    End,
    Open,
    Close,
}

struct Token {
    kind: Kind,
    word: Word,
    line: usize,
    /// Its bytes.
    place: Range<usize>,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut line = 1;
    while let Some((start, c)) = chars.next() {
        let kind = match c {
            '\n' | ';' => Kind::End,
            '{' => Kind::Open,
            '}' => Kind::Close,
            '#' => {
                while chars.next_if(|(_, c)| *c != '\n').is_some() {}
                continue;
            }
            c if c.is_whitespace() => continue,
            '\\' if chars.next_if(|(_, c)| *c == '\n').is_some() => {
                line += 1;
                continue;
            }
            _ => Kind::Word,
        };
        let first_line = line;
        let mut word = Word::default();
        match kind {
            Kind::Word => {
                let mut next = Some(c);
                while let Some(c) = next {
                    letter(c, &mut chars, &mut word, &mut line);
                    next = chars
                        .next_if(|(_, c)| !c.is_whitespace() && !matches!(c, ';' | '{' | '}'))
                        .map(|(_, c)| c);
                }
            }
            _ => line += usize::from(c == '\n'),
        }
        let end = chars.peek().map_or(text.len(), |(at, _)| *at);
        tokens.push(Token {
            kind,
            word,
            line: first_line,
            place: start..end,
        });
    }
    tokens
}

type Chars<'t> = std::iter::Peekable<std::str::CharIndices<'t>>;

/// What begins with this letter of a word: a quote, a variable, or the letter.
fn letter(c: char, chars: &mut Chars<'_>, word: &mut Word, line: &mut usize) {
    match c {
        '\'' => {
            word.0.push(empty());
            for (_, c) in chars.by_ref() {
                *line += usize::from(c == '\n');
                if c == '\'' {
                    return;
                }
                word.push(c, true);
            }
        }
        '"' => {
            word.0.push(empty());
            while let Some((_, c)) = chars.next() {
                *line += usize::from(c == '\n');
                match c {
                    '"' => return,
                    '$' => word.0.push(variable(chars, true)),
                    // Only in front of these it is none of the word.
                    '\\' => match chars.next_if(|(_, c)| matches!(c, '$' | '"' | '\\' | '\n')) {
                        Some((_, '\n')) => *line += 1,
                        Some((_, c)) => word.push(c, true),
                        None => word.push('\\', true),
                    },
                    c => word.push(c, true),
                }
            }
        }
        '$' => word.0.push(variable(chars, false)),
        '\\' if is_code(chars) => word.push('\\', true),
        '\\' => match chars.next() {
            Some((_, '\n')) => *line += 1,
            Some((_, c)) => word.push(c, true),
            None => {}
        },
        c => word.push(c, false),
    }
}

/// Whether `x20` is next: behind a backslash, Fedora's GRUB leaves that to who reads the word.
fn is_code(chars: &Chars<'_>) -> bool {
    let mut next = chars.clone().map(|(_, c)| c);
    next.next() == Some('x') && next.take(2).filter(char::is_ascii_hexdigit).count() == 2
}

/// A quoted word may have no letters.
fn empty() -> Piece {
    Piece::Text {
        text: String::new(),
        quoted: true,
    }
}

fn variable(chars: &mut Chars<'_>, quoted: bool) -> Piece {
    let mut name = String::new();
    if chars.next_if(|(_, c)| *c == '{').is_some() {
        while let Some((_, c)) = chars.next_if(|(_, c)| !matches!(c, '}' | '\n')) {
            name.push(c);
        }
        chars.next_if(|(_, c)| *c == '}');
    } else if let Some((_, c)) = chars.next_if(|(_, c)| matches!(c, '?' | '#' | '@' | '*')) {
        name.push(c);
    } else {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        while let Some((_, c)) = chars.next_if(|(_, c)| is_name(*c)) {
            name.push(c);
        }
        if name.is_empty() {
            return Piece::Text {
                text: '$'.into(),
                quoted: true,
            };
        }
    }
    Piece::Variable { name, quoted }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    deep: usize,
}

impl Parser<'_> {
    fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn keyword(&self) -> Option<&str> {
        let token = self.tokens.get(self.at)?;
        token.word.keyword().filter(|_| token.kind == Kind::Word)
    }

    /// Goes over the next token if it is this word.
    fn is_next(&mut self, keyword: &str) -> bool {
        let is = self.keyword() == Some(keyword);
        self.at += usize::from(is);
        is
    }

    fn ends(&mut self) {
        while self.kind() == Some(Kind::End) {
            self.at += 1;
        }
    }

    /// Commands up to a word that goes on with what is around them, or a brace that closes it;
    /// that is the next token then.
    fn commands(&mut self) -> Vec<Command> {
        let mut found = Vec::new();
        if self.deep > MOST_DEEP {
            self.at = self.tokens.len();
        }
        self.deep += 1;
        loop {
            self.ends();
            match (self.kind(), self.keyword()) {
                (None | Some(Kind::Close), _) => break,
                (_, Some("then" | "elif" | "else" | "fi" | "do" | "done")) => break,
                _ => found.extend(self.command()),
            }
        }
        self.deep -= 1;
        found
    }

    fn command(&mut self) -> Option<Command> {
        if self.is_next("if") {
            return Some(self.condition());
        }
        if self.is_next("for") {
            let (words, _) = self.words();
            let mut words = words.into_iter();
            let name = words.next()?.keyword()?.to_owned();
            // `in`
            words.next()?;
            let body = self.body();
            let words = words.collect();
            return Some(Command::For { name, words, body });
        }
        for (keyword, until) in [("while", false), ("until", true)] {
            if self.is_next(keyword) {
                let condition = self.commands().into();
                let body = self.body();
                return Some(Command::While {
                    until,
                    condition,
                    body,
                });
            }
        }
        let first = self.tokens.get(self.at)?;
        let (start, line) = (first.place.start, first.line);
        let is_function = self.is_next("function");
        let (words, end) = self.words();
        if self.kind() == Some(Kind::Open) {
            self.at += 1;
            let body = self.commands().into();
            if self.kind() == Some(Kind::Close) {
                self.at += 1;
            }
            let name = words.first().and_then(Word::keyword).map(str::to_owned);
            return match name {
                Some(name) if is_function => Some(Command::Function { name, body }),
                _ => Some(Command::Block { words, body }),
            };
        }
        let source = self.text.get(start..end).unwrap_or_default().into();
        (!words.is_empty()).then_some(Command::Plain {
            words,
            line,
            source,
        })
    }

    /// The words of a command, and the byte behind them.
    fn words(&mut self) -> (Vec<Word>, usize) {
        let mut words = Vec::new();
        let mut end = 0;
        while self.kind() == Some(Kind::Word) {
            let token = &mut self.tokens[self.at];
            words.push(std::mem::take(&mut token.word));
            end = token.place.end;
            self.at += 1;
        }
        (words, end)
    }

    /// Behind `if`.
    fn condition(&mut self) -> Command {
        let mut arms = Vec::new();
        let mut otherwise = Script::default();
        loop {
            let condition = self.commands().into();
            self.is_next("then");
            let body = self.commands().into();
            arms.push((condition, body));
            if !self.is_next("elif") {
                break;
            }
        }
        if self.is_next("else") {
            otherwise = self.commands().into();
        }
        self.is_next("fi");
        Command::If { arms, otherwise }
    }

    /// `do … done`.
    fn body(&mut self) -> Script {
        self.ends();
        self.is_next("do");
        let body = self.commands().into();
        self.is_next("done");
        body
    }
}
