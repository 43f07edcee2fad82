//! Shell scripts that start fewer programs.
//!
//! ```text
//! script ──read, words──► tree ──rules──► what a shell can do itself, and when ──► script
//! ```
//!
//! A script is not changed in what it does. Each replacement tests at run time that the shell
//! gets to the same result by itself, and runs the old command where it does not:
//!
//! ```text
//! mkdir -p /run/web     if [ -d /run/web ]; then :; else mkdir -p /run/web; fi
//! ```
//!
//! What is held to: output, exit status, variables (but for some `_bootlap…` more) and files are
//! the same, whatever the files hold and the variables say, with `set -e` and `set -u`, too.
//! Taken for granted: `cat`, `grep`, `cut`, `expr` and so on are those of POSIX, and no function
//! has such a name; the shell is dash, BusyBox's or bash. A test runs some hundreds of fragments
//! both ways in dash and BusyBox (`tests/`).
//!
//! Scripts come from anybody's image: what is not understood is left alone.

mod chain;
mod fast;
mod output;
mod read;
mod rules;
mod syntax;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeSet;

/// Longer scripts are left alone.
const LONGEST: usize = 256 << 10;
/// What names of variables of ours begin with.
const OURS: &str = "_bootlap";
/// The last line of a rewritten script.
const MARK: &str =
    "# Rewritten by bootlap: what comes before each `else` spares what is behind it.\n";

/// A script that starts fewer programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The whole new script.
    pub text: String,
    /// What was replaced, in the script's order.
    pub replaced: Vec<Replaced>,
}

/// A command that the shell does by itself where it can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Its line in the old script, from 1.
    pub line: usize,
    /// As it was.
    pub old: String,
    /// Processes that it started, and does not any more.
    pub forks: usize,
}

/// What other scripts may have left behind in the same shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    functions: BTreeSet<String>,
    /// `IFS` is mentioned.
    odd_parting: bool,
}

impl Beside {
    /// Adds a script that is read into the same shell.
    pub fn add(&mut self, script: &str) {
        self.functions.extend(functions_of(script));
        self.odd_parting |= script.contains("IFS");
    }
}

/// Rewrites a script.
///
/// # Errors
/// With the reason to leave it alone: it is not for a shell of POSIX, not understood, or there
/// is nothing to gain.
pub fn rewrite(script: &str, beside: &Beside) -> Result<Rewritten, String> {
    if script.len() > LONGEST {
        return Err(format!("it is longer than {} KiB", LONGEST >> 10));
    }
    if script.contains(OURS) || script.ends_with(MARK) {
        return Err("it was rewritten before".to_owned());
    }
    interpreter(script)?;
    let list = read::read(script).map_err(|unread| {
        let line = line_of(script, unread.at);
        format!("line {line} is not understood: {}", unread.why)
    })?;
    for word in [
        "set -a",
        "allexport",
        "set -x",
        "xtrace",
        "pipefail",
        "alias ",
    ] {
        if script.contains(word) {
            return Err(format!(
                "{word:?} in it lets what runs depend on more than its text"
            ));
        }
    }
    let mut all = beside.clone();
    all.add(script);
    let edits = rules::edits(script, &list, &all);
    if edits.is_empty() {
        return Err("it starts nothing that a shell can do as well".to_owned());
    }
    let mut text = String::with_capacity(script.len() * 2);
    let mut at = 0;
    let mut replaced = Vec::new();
    for edit in edits {
        text.push_str(&script[at..edit.range.start]);
        text.push_str(&edit.text);
        at = edit.range.end;
        if edit.forks > 0 {
            replaced.push(Replaced {
                line: line_of(script, edit.range.start),
                old: edit.old.split_whitespace().collect::<Vec<_>>().join(" "),
                forks: edit.forks,
            });
        }
    }
    text.push_str(&script[at..]);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(MARK);
    Ok(Rewritten { text, replaced })
}

/// The names of functions in a script: more than there are, if anything.
fn functions_of(script: &str) -> BTreeSet<String> {
    let is_part = |c: char| !c.is_whitespace() && !";&|(){}<>'\"".contains(c);
    let mut names = BTreeSet::new();
    for (at, _) in script.match_indices('(') {
        let blanks = [' ', '\t'];
        if script[at + 1..].trim_start_matches(blanks).starts_with(')') {
            let before = script[..at].trim_end_matches(blanks);
            names.insert(before[before.trim_end_matches(is_part).len()..].to_owned());
        }
    }
    // bash has it without parentheses, too.
    for (at, word) in script.match_indices("function ") {
        let after = script[at + word.len()..].trim_start();
        names.insert(
            after
                .split(|c| !is_part(c))
                .next()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    names.remove("");
    names
}

/// Refuses what is not run by a shell that is known, or traced by it.
fn interpreter(script: &str) -> Result<(), String> {
    let first = script.lines().next().unwrap_or_default();
    let line = first.strip_prefix("#!").map(str::trim);
    let line = line.ok_or("its first line names no shell")?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let (program, options) = match &words[..] {
        [program, options @ ..] if !program.ends_with("/env") => (*program, options),
        [_, program, options @ ..] => (*program, options),
        _ => return Err("its first line names no shell".to_owned()),
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let (name, options) = match (name, options) {
        ("busybox", ["sh" | "ash", options @ ..]) => ("sh", options),
        _ => (name, options),
    };
    if !matches!(name, "sh" | "ash" | "dash") {
        return Err(format!("it is run by {name}, not by a shell of POSIX"));
    }
    match options {
        [] | ["-e" | "-u" | "-eu" | "-ue"] => Ok(()),
        [odd, ..] => Err(format!("its shell is started with {odd}")),
    }
}

fn line_of(script: &str, at: usize) -> usize {
    script.bytes().take(at).filter(|b| *b == b'\n').count() + 1
}
