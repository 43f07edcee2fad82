//! Recipes for the kernel's command line.
//!
//! What a parameter does is said in Linux's
//! `Documentation/admin-guide/kernel-parameters.txt`; only such as stand there
//! (or, for a driver's, in `modinfo`) are recipes. A kernel that was built
//! without what a parameter steers ignores it: `bootlap try` shows that nothing
//! is saved.

mod fixed;
mod less;
mod values;

pub(super) use {fixed::*, less::*, values::*};

use crate::cmdline::{self, is_parameter};
use crate::{Edit, Parts, Target};

/// A command line, and the key of a target's file that sets it.
pub(super) struct Line {
    key: &'static str,
    pub(super) text: String,
}

impl Line {
    /// The kernel's, whether the machine gives it or the boot loader on a disk.
    pub(super) fn of(target: &Target, parts: &Parts) -> Result<Self, String> {
        let loader = target.spec.loader.as_ref();
        let told = loader.and_then(|loader| loader.cmdline.clone());
        let (key, text) = match (&target.spec.kernel, &parts.disk) {
            (Some(kernel), _) => ("kernel.cmdline", kernel.cmdline.clone()),
            (None, Some(disk)) => ("loader.cmdline", told.map_or_else(|| disk.words(), Ok)?),
            (None, None) => {
                return Err("the target does not say its kernel.cmdline; add it".into());
            }
        };
        Ok(Self { key, text })
    }

    /// The edit that makes `new` the command line.
    pub(super) fn set(&self, new: String) -> Vec<Edit> {
        vec![Edit::set(self.key, new)]
    }
}

/// The parameter's name in `word`.
fn name_of(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// The word of `line` that is the parameter `name`; the last one, which is the
/// one that counts where a parameter may be given but once.
pub(super) fn find<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let words = cmdline::words(line);
    words.into_iter().rev().find(|w| is_parameter(w, name))
}

/// `line` with `word` for the parameter that it names: in the place of what is
/// there, or at the end.
pub(super) fn with_parameter(line: &str, word: &str) -> String {
    let name = name_of(word);
    let mut placed = false;
    let changed = cmdline::changed(line, |w| {
        if !is_parameter(w, name) {
            return Some(w.to_owned());
        }
        let first = !placed;
        placed = true;
        first.then(|| word.to_owned())
    });
    if placed {
        changed
    } else {
        cmdline::with(line, word)
    }
}

/// Whether it can stand on a command line as a part of a word: what passes
/// between a shell, U-Boot and the kernel must not hold what splits words.
fn is_plain(value: &str) -> bool {
    let odd =
        |b: u8| !b.is_ascii_graphic() || matches!(b, b'"' | b'\'' | b'`' | b'$' | b'\\' | b';');
    !value.is_empty() && value.len() <= 1000 && !value.bytes().any(odd)
}

#[cfg(test)]
mod tests;
