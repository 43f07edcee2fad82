//! A shell script as a tree, as far as rewriting it needs one. Every place is a range of bytes
//! of the script.

use std::ops::Range;

/// Commands, one after the other.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    pub(super) pipelines: Vec<Pipeline>,
    /// How these are joined says more than that one follows the other: `&&`, `||` or `&`.
    pub(super) joined: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pipeline {
    /// Without the `!` in front of it.
    pub(super) range: Range<usize>,
    /// There is one.
    pub(super) negated: bool,
    pub(super) commands: Vec<Command>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    Simple(Simple),
    /// `for NAME in WORDS`, or `case WORD in`: what is expanded first, and once.
    Head {
        range: Range<usize>,
        words: Vec<Word>,
        bodies: Vec<List>,
    },
    /// All others.
    Compound {
        bodies: Vec<List>,
    },
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) range: Range<usize>,
    /// The values of assignments in front of the command's name.
    pub(super) assigned: Vec<Word>,
    pub(super) words: Vec<Word>,
    pub(super) redirections: Vec<Redirection>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Redirection {
    /// With its number: `2>`.
    pub(super) operator: String,
    pub(super) to: Word,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) range: Range<usize>,
    pub(super) pieces: Vec<Piece>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    /// Whether what comes of it stays one word, as it is.
    pub(super) quoted: bool,
    pub(super) what: What,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    /// As it is once quotes are away.
    Text(String),
    /// `$x` and `${x}`: one parameter and nothing done to it.
    Parameter(String),
    /// `$(…)`, or the same in backquotes.
    Output(List),
    /// An expansion that changes nothing and runs nothing: `${x#y}`, `$((x + 1))`.
    Pure,
    /// One that may change or run something.
    Other,
}

impl Word {
    /// Its text, if that is known.
    pub(super) fn text(&self) -> Option<String> {
        let mut all = String::new();
        for piece in &self.pieces {
            match &piece.what {
                What::Text(text) if piece.quoted || !text.contains(['*', '?', '[', '~', '{']) => {
                    all.push_str(text);
                }
                _ => return None,
            }
        }
        Some(all)
    }

    /// The one piece that it is.
    pub(super) fn only(&self) -> Option<&Piece> {
        match &self.pieces[..] {
            [piece] => Some(piece),
            _ => None,
        }
    }
}
