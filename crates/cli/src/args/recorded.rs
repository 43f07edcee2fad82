//! Runs by when they were made: `@last`, `@2` (the one before it), `kiosk@last`, `DIR/@last`.
//!
//! What is meant is all that one `bootlap boot` or `bootlap capture` made, which can be several
//! boots. A file of that name comes first.

use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use bootlap_lab::Run;
use clap::builder::{OsStringValueParser, TypedValueParser};

/// Where `bootlap boot` puts runs.
const RUNS: &str = "runs";

/// The parser of what was recorded: runs and files.
pub(crate) fn recorded() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(find)
}

fn find(typed: OsString) -> Result<PathBuf, String> {
    let path = PathBuf::from(typed);
    let Some((target, nth)) = path.file_name().and_then(OsStr::to_str).and_then(asked) else {
        return Ok(path);
    };
    if path.exists() {
        return Ok(path);
    }
    let within = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let within = within.unwrap_or(Path::new(RUNS));
    let mut made = made_in(within, target);
    let all = made.len();
    match made.get_mut(nth - 1) {
        Some(made) => Ok(std::mem::take(made)),
        None => Err(missed(within, target, all)),
    }
}

/// The target, or an empty name, and which run, counted from the last.
fn asked(name: &str) -> Option<(&str, usize)> {
    let (target, which) = name.rsplit_once('@')?;
    let nth = match which {
        "last" => 1,
        number => number.parse().ok().filter(|n| *n > 0)?,
    };
    Some((target, nth))
}

fn missed(within: &Path, target: &str, all: usize) -> String {
    let of = match target {
        "" => String::new(),
        target => format!(" of {target}"),
    };
    let within = within.display();
    match all {
        0 => format!("no run{of} is in {within}; `bootlap boot TARGET` makes one"),
        1 => format!("only one run{of} is in {within}"),
        n => format!("only {n} runs{of} are in {within}"),
    }
}

/// The folders that one command each made, the last first.
fn made_in(within: &Path, target: &str) -> Vec<PathBuf> {
    let targets = folders(within)
        .into_iter()
        .filter(|dir| target.is_empty() || dir.file_name().is_some_and(|name| name == target));
    let made = targets.flat_map(|dir| folders(&dir));
    let mut made: Vec<(Reverse<i64>, PathBuf)> = made
        .filter_map(|dir| Some((Reverse(started(&dir)?), dir)))
        .collect();
    made.sort();
    made.into_iter().map(|(_, dir)| dir).collect()
}

/// When the first run in `dir` began, or it itself; `None` if that is no folder of runs.
fn started(dir: &Path) -> Option<i64> {
    let began = |dir: &Path| Run::open(dir).ok()?.manifest.started_ns();
    match Run::is_run(dir) {
        true => began(dir),
        false => folders(dir).iter().find_map(|run| began(run)),
    }
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|e| e.path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    use super::asked;

    #[test]
    fn only_what_ends_in_a_number_or_last_is_asked_for() {
        assert_eq!(asked("@last"), Some(("", 1)));
        assert_eq!(asked("kiosk@2"), Some(("kiosk", 2)));
        for name in ["root@host", "@", "@0", "a.log", "@-1"] {
            assert_eq!(asked(name), None, "{name}");
        }
    }
}
