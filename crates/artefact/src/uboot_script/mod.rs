//! Scripts of U-Boot's shell, as its environment holds them: read, changed and
//! written, never run.
//!
//! ```text
//! if test -n "${slot}"; then run boot_${slot}; else run boot_a; fi
//! cp.b 0x4100000 ${addr} ${size} && bootm ${addr} || echo no kernel
//! ```
//!
//! The shell is U-Boot's older *hush* (`doc/usage/cmdline.rst`): words, quotes,
//! variables, `;`, `&&`, `||`, `if`, `for`, `while` and `until`. It has neither
//! pipes nor redirection nor functions. Where a script has something that this
//! reader does not know, it says so instead of guessing.

mod flatten;
mod read;

use std::fmt;

pub use flatten::{Scope, flatten, reachable};

/// Largest script, in bytes: real ones have some hundred, and an environment
/// some ten thousand.
const SIZE_LIMIT: usize = 64 << 10;
/// How deep `if`, `for` and `while` may lie in each other.
const DEPTH_LIMIT: usize = 16;

/// A list of statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script(pub Vec<Item>);

/// A statement, and how it hangs on the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// When it is run.
    pub joint: Joint,
    /// What is run.
    pub statement: Statement,
}

/// When a statement is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// `;`: always.
    Then,
    /// `&&`: if what was run last succeeded.
    And,
    /// `||`: if what was run last failed.
    Or,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A command and its arguments.
    Command(Vec<Word>),
    /// `if … then … elif … else … fi`
    If {
        /// Conditions with what they lead to.
        arms: Vec<(Script, Script)>,
        /// What is run if none holds.
        otherwise: Option<Script>,
    },
    /// `for NAME in … do … done`
    For {
        /// The variable.
        name: String,
        /// Its values.
        words: Vec<Word>,
        /// What is run with each of them.
        body: Script,
    },
    /// `while … do … done`, or `until`
    While {
        /// It goes on until the condition holds, not as long as it does.
        until: bool,
        /// The condition.
        condition: Script,
        /// What is run each time.
        body: Script,
    },
}

/// A word: pieces without a space between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word(pub Vec<Piece>);

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Letters that stand for themselves.
    Text {
        /// The letters, without the quotes around them.
        text: String,
        /// Whether it is in quotes or after a backslash.
        quoted: bool,
    },
    /// The value of a variable.
    Variable {
        /// Its name, with what may follow it in the braces: `a:-b`.
        name: String,
        /// Whether spaces in the value stay in the word.
        quoted: bool,
    },
}

/// Why a script cannot be read or flattened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// There is no such variable.
    #[error("the environment has no `{0}`; write it there")]
    Missing(String),
    /// It is larger than what anybody writes.
    #[error("the script is larger than {SIZE_LIMIT} bytes; split it")]
    TooLong,
    /// Blocks lie too deep in each other.
    #[error("more than {DEPTH_LIMIT} blocks of the script lie in each other; use fewer")]
    TooDeep,
    /// Something ends too early.
    #[error("the script ends where {0} is missing; add it")]
    Unclosed(&'static str),
    /// Something stands where it cannot.
    #[error("`{what}` cannot stand at byte {at} of the script; correct it")]
    Unexpected {
        /// What it is.
        what: String,
        /// Where, counted from 0.
        at: usize,
    },
}

impl Piece {
    fn is_quoted(&self) -> bool {
        match self {
            Piece::Text { quoted, .. } | Piece::Variable { quoted, .. } => *quoted,
        }
    }
}

impl Word {
    /// One that needs no quotes.
    pub fn plain(text: impl Into<String>) -> Self {
        Self(vec![Piece::Text {
            text: text.into(),
            quoted: false,
        }])
    }

    /// The word, if no variable is in it.
    pub fn text(&self) -> Option<String> {
        let mut whole = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text { text, .. } => whole.push_str(text),
                Piece::Variable { .. } => return None,
            }
        }
        Some(whole)
    }

    /// Adds a piece; text goes to text before it that is quoted alike.
    fn push(&mut self, piece: Piece) {
        match (self.0.last_mut(), piece) {
            (
                Some(Piece::Text { text, quoted }),
                Piece::Text {
                    text: more,
                    quoted: as_quoted,
                },
            ) if *quoted == as_quoted => text.push_str(&more),
            // Quotes that hold nothing make a word only where no others do.
            (Some(Piece::Variable { quoted: true, .. }), Piece::Text { text, quoted: true })
                if text.is_empty() => {}
            (_, piece) => self.0.push(piece),
        }
    }

    /// Whether what is put after it, unquoted, could be taken for a variable's name.
    fn ends_in_dollar(&self) -> bool {
        matches!(self.0.last(), Some(Piece::Text { text, quoted: false }) if text.ends_with('$'))
    }

    /// The word, if it is one without quotes or variables: only such a one is
    /// `if` or `done`.
    fn bare(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Text { text, quoted }] if !quoted => Some(text),
            _ => None,
        }
    }
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// If it is too large or too deep, or U-Boot would not read it either.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        read::script(text)
    }

    /// Shows every command in it to `see`, in the order in which they are
    /// written.
    pub fn for_each(&self, see: &mut dyn FnMut(&[Word])) {
        for item in &self.0 {
            match &item.statement {
                Statement::Command(words) => see(words),
                Statement::If { arms, otherwise } => {
                    for (condition, then) in arms {
                        condition.for_each(see);
                        then.for_each(see);
                    }
                    otherwise.iter().for_each(|script| script.for_each(see));
                }
                Statement::For { body, .. } => body.for_each(see),
                Statement::While {
                    condition, body, ..
                } => {
                    condition.for_each(see);
                    body.for_each(see);
                }
            }
        }
    }

    /// As [`Script::for_each`], to change them.
    pub fn for_each_mut(&mut self, change: &mut dyn FnMut(&mut Vec<Word>)) {
        for item in &mut self.0 {
            match &mut item.statement {
                Statement::Command(words) => change(words),
                Statement::If { arms, otherwise } => {
                    for (condition, then) in arms {
                        condition.for_each_mut(change);
                        then.for_each_mut(change);
                    }
                    if let Some(otherwise) = otherwise {
                        otherwise.for_each_mut(change);
                    }
                }
                Statement::For { body, .. } => body.for_each_mut(change),
                Statement::While {
                    condition, body, ..
                } => {
                    condition.for_each_mut(change);
                    body.for_each_mut(change);
                }
            }
        }
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            match item.joint {
                _ if i == 0 => {}
                Joint::Then => f.write_str("; ")?,
                Joint::And => f.write_str(" && ")?,
                Joint::Or => f.write_str(" || ")?,
            }
            write!(f, "{}", item.statement)?;
        }
        Ok(())
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Command(words) => spaced(words, f),
            Statement::If { arms, otherwise } => {
                for (i, (condition, then)) in arms.iter().enumerate() {
                    let word = if i == 0 { "if" } else { "; elif" };
                    write!(f, "{word} {condition}; then {then}")?;
                }
                if let Some(otherwise) = otherwise {
                    write!(f, "; else {otherwise}")?;
                }
                f.write_str("; fi")
            }
            Statement::For { name, words, body } => {
                write!(f, "for {name} in ")?;
                spaced(words, f)?;
                write!(f, "; do {body}; done")
            }
            Statement::While {
                until,
                condition,
                body,
            } => {
                let word = if *until { "until" } else { "while" };
                write!(f, "{word} {condition}; do {body}; done")
            }
        }
    }
}

fn spaced(words: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, word) in words.iter().enumerate() {
        if i > 0 {
            f.write_str(" ")?;
        }
        write!(f, "{word}")?;
    }
    Ok(())
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let same = |a: &Piece, b: &Piece| a.is_quoted() == b.is_quoted();
        for group in self.0.chunk_by(same) {
            let quoted = group.first().is_some_and(Piece::is_quoted);
            // Single quotes hold everything but themselves.
            match group {
                [Piece::Text { text, quoted: true }] if !text.contains('\'') => {
                    write!(f, "'{text}'")?;
                }
                _ => pieces(group, quoted, f)?,
            }
        }
        Ok(())
    }
}

fn pieces(group: &[Piece], quoted: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let quote = if quoted { "\"" } else { "" };
    f.write_str(quote)?;
    for piece in group {
        match piece {
            Piece::Text { text, .. } if quoted => {
                for c in text.chars() {
                    if matches!(c, '"' | '\\' | '$' | '`') {
                        f.write_str("\\")?;
                    }
                    write!(f, "{c}")?;
                }
            }
            Piece::Text { text, .. } => f.write_str(text)?,
            // These have no braces.
            Piece::Variable { name, .. } if matches!(name.as_str(), "?" | "#") => {
                write!(f, "${name}")?;
            }
            Piece::Variable { name, .. } => write!(f, "${{{name}}}")?,
        }
    }
    f.write_str(quote)
}

#[cfg(test)]
mod tests;
