//! What commands would do that are not run, as nobody knows whether they are: as far as their
//! words tell.

use super::script::{Command, Piece, Script, Word};

/// What some commands would do.
#[derive(Default)]
pub(super) struct Foreseen {
    /// They load a kernel, or hand over to what may.
    pub(super) starts: bool,
    /// They have entries with a kernel.
    pub(super) offers: bool,
    /// The variables that they set.
    pub(super) sets: Vec<String>,
    /// How many they are.
    pub(super) commands: usize,
}

impl Foreseen {
    pub(super) fn of<'s>(scripts: impl IntoIterator<Item = &'s Script>) -> Self {
        let mut foreseen = Self::default();
        for command in scripts.into_iter().flat_map(|script| script.iter()) {
            foreseen.add(command);
        }
        foreseen
    }

    fn add(&mut self, command: &Command) {
        self.commands += 1;
        match command {
            Command::Plain { words, .. } => self.plain(words),
            Command::If { arms, otherwise } => {
                self.all(arms.iter().map(|(_, body)| body).chain([otherwise]));
            }
            Command::For { body, .. } | Command::While { body, .. } => self.all([body]),
            // They are run when they are called, or chosen.
            Command::Function { .. } => {}
            Command::Block { body, .. } => {
                let within = Self::of([body]);
                self.offers |= within.starts || within.offers;
                self.commands += within.commands;
            }
        }
    }

    fn all<'s>(&mut self, scripts: impl IntoIterator<Item = &'s Script>) {
        for script in scripts {
            script.iter().for_each(|command| self.add(command));
        }
    }

    fn plain(&mut self, words: &[Word]) {
        let word = match name(words) {
            "linux" | "linuxefi" | "linux16" | "kernel" | "chainloader" => {
                self.starts = true;
                return;
            }
            "configfile" => {
                (self.starts, self.offers) = (true, true);
                return;
            }
            "blscfg" | "source" => {
                self.offers = true;
                return;
            }
            "set" => name(words.get(1..).unwrap_or_default()),
            word => word,
        };
        let set = word.split_once('=').map(|(name, _)| name.to_owned());
        self.sets.extend(set);
    }
}

/// The first word of a command, as far as it is text.
fn name(words: &[Word]) -> &str {
    match words.first().and_then(|word| word.0.first()) {
        Some(Piece::Text { text, .. }) => text,
        _ => "",
    }
}
