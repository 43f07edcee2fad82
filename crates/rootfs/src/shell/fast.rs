//! What the shell can work out alone: tests that must hold, and the value.
//!
//! Tests are commands that are joined by `&&`. Those that read a file or set a variable are
//! among them, in their order.

use std::collections::BTreeSet;

use super::OURS;
use super::syntax::{What, Word};

/// What all rules look at.
pub(super) struct Script<'s> {
    pub(super) text: &'s str,
    /// Names of functions, which may be called instead of programs.
    pub(super) taken: &'s BTreeSet<String>,
    /// Words may be parted elsewhere than at blanks.
    pub(super) odd_parting: bool,
}

/// Bytes that are the same in all locales, and that neither `echo` nor a pattern reads its own
/// way; for a bracket expression.
pub(super) const PLAIN: &str = "A-Za-z0-9_./:,=@%+-";

/// How a value is got, and by which tests it is known to be that of the command.
#[derive(Debug, Default)]
pub(super) struct Fast {
    pub(super) tests: Vec<String>,
    /// What stands for the value, inside or outside double quotes.
    pub(super) value: String,
    /// The command's exit status may not be 0; then this test holds where it is.
    pub(super) succeeds: Option<String>,
    /// Nothing of it is written.
    pub(super) quiet: bool,
    /// It is the value once it is parted at blanks.
    pub(super) parted: bool,
    /// Processes that the command starts.
    pub(super) forks: usize,
}

/// Gives out names of variables.
#[derive(Default)]
pub(super) struct Names(usize);

impl Names {
    pub(super) fn next(&mut self) -> String {
        self.0 += 1;
        format!("{OURS}{}", self.0)
    }
}

/// A word that is a path, or a part of one: its tests, if it must be looked at, and its text.
pub(super) struct Path {
    pub(super) tests: Vec<String>,
    pub(super) text: String,
}

/// What stands at a place that one word must come of, and not an option.
pub(super) fn path(script: &Script<'_>, word: &Word) -> Option<Path> {
    let mut tests = Vec::new();
    for (n, piece) in word.pieces.iter().enumerate() {
        let name = match &piece.what {
            What::Text(text) => {
                let plain = |c: char| c.is_ascii_alphanumeric() || "_./:,=@%+-".contains(c);
                if text.chars().any(|c| !plain(c)) || (n == 0 && text.starts_with('-')) {
                    return None;
                }
                continue;
            }
            What::Parameter(name) if is_kept(name) => name,
            _ => return None,
        };
        if !piece.quoted && script.odd_parting {
            return None;
        }
        // One that is not set may end the shell (`set -u`): the old command's, not ours.
        match (n, piece.quoted) {
            (0, true) => tests.push(format!("case ${{{name}-}} in /*) ;; *) false ;; esac")),
            (0, false) => {
                tests.push(format!(
                    "case ${{{name}-}} in *[!{PLAIN}]*) false ;; /*) ;; *) false ;; esac"
                ));
            }
            (_, true) => tests.push(format!("[ \"${{{name}+x}}\" ]")),
            (_, false) => tests.push(format!(
                "[ \"${{{name}+x}}\" ] && case ${{{name}}} in *[!{PLAIN}]*) false ;; esac"
            )),
        }
    }
    // Unquoted and empty, it would be no word at all; then the first test failed.
    let text = script.text[word.range.clone()].to_owned();
    (!word.pieces.is_empty()).then_some(Path { tests, text })
}

/// Whether a word of plain bytes is one word.
pub(super) fn stays_one(script: &Script<'_>, word: &Word) -> bool {
    !script.odd_parting || word.pieces.iter().all(|piece| piece.quoted)
}

/// Whether a parameter is the same after tests: not so `$?` and `$_`.
pub(super) fn is_kept(name: &str) -> bool {
    name != "_" && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
