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

use regex::Regex;

use crate::cmdline::{self, is_parameter, value_of};
use crate::{Edit, Parts, Target};

/// A command line, and the key of a target's file that sets it.
pub(super) struct Line {
    key: &'static str,
    pub(super) text: String,
    /// Whether the boot is over at a line of the kernel's own.
    ends_in_kernel: bool,
}

/// What a kernel says last before user space, with and without a time in front, and words of
/// it that nobody else says.
const LAST_LINES: [(&str, &str); 4] = [
    ("[    0.500000] Run /init as init process", "Run /"),
    ("Run /sbin/init as init process", " as init process"),
    (
        "[    0.500000] Freeing unused kernel image (initmem) memory: 2048K",
        "Freeing unused ",
    ),
    ("Freeing unused kernel memory: 1024K", "Freeing unused "),
];

/// Whether this pattern waits for a line of the kernel's own.
fn is_kernels(pattern: &str) -> bool {
    let Ok(pattern) = Regex::new(pattern) else {
        return false;
    };
    let mut lines = LAST_LINES.iter();
    lines.any(|(line, words)| {
        let found = pattern.find(line);
        found.is_some_and(|found| found.as_str().contains(words))
    })
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
        Ok(Self {
            key,
            text,
            ends_in_kernel: is_kernels(&target.spec.ready.pattern),
        })
    }

    /// The edit that makes `new` the command line.
    pub(super) fn set(&self, new: String) -> Vec<Edit> {
        vec![Edit::set(self.key, new)]
    }

    /// The same, if the boot does not wait for a line that `new` hides.
    fn set_if_ready_is_seen(&self, new: String) -> Result<Vec<Edit>, String> {
        if self.ends_in_kernel && hides_messages(&new) && !hides_messages(&self.text) {
            return Err(
                "the boot is over at a line of the kernel's own, which it would hide: \
                        write into ready.pattern what your application prints"
                    .into(),
            );
        }
        Ok(self.set(new))
    }
}

/// `quiet` stands for this `loglevel=` (`CONFIG_CONSOLE_LOGLEVEL_QUIET`).
const QUIET_LEVEL: u32 = 4;

/// The kernel says most things at level 6, which the console shows from `loglevel=7` on.
const SHOWN_FROM: u32 = 7;

/// Whether this command line keeps from the console what the kernel says of its progress; the
/// last word of several counts.
fn hides_messages(line: &str) -> bool {
    let words = cmdline::words(line);
    let level = |word: &&str| match *word {
        "quiet" => Some(QUIET_LEVEL),
        "debug" => Some(u32::MAX),
        _ => value_of(word, "loglevel")?.parse().ok(),
    };
    let level = words.iter().rev().find_map(level);
    level.is_some_and(|level| level < SHOWN_FROM) && find(line, "ignore_loglevel").is_none()
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
