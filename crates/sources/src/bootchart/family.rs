//! What bootchart2 hears from the kernel of forks and execs:
//! `paternity.log` and `cmdline2.log`.
//!
//! ```text
//! 412 398                     paternity.log: child and parent
//!
//! 412                         cmdline2.log: the pid,
//! :/usr/bin/udevadm           the file that it executes,
//! :/sbin/udevadm␀settle␀      its arguments
//! ```
//!
//! Neither has times, and a pid that was used twice is named twice.

use std::collections::HashMap;

use bootlap_model::{Evidence, Sym};

use super::blocks::{number, words};
use crate::parts::base;
use crate::text::{Import, Line, Reader, Skip};

/// A boot forks some ten thousand times.
const MAX_ENTRIES: usize = 1 << 20;
/// Longer command lines are cut.
const MAX_ARGS: usize = 4096;

const TOO_MANY: Skip = Skip::lost(
    "too-many-processes",
    "more processes are named here than any boot has: the rest was not read; is the file whole?",
);

/// Who forked whom.
#[derive(Default)]
pub(super) struct Paternity {
    /// By child: its parents, one for each time that the pid was used.
    parents: HashMap<u32, Vec<u32>>,
    /// Each fork, in the order of the file.
    pub(super) forks: Vec<(u32, Evidence)>,
}

impl Reader for Paternity {
    fn line(&mut self, line: &Line<'_>, _sheet: &mut Import<'_>) -> Result<(), Skip> {
        let (child, parent) = pair(line.text).ok_or(Skip::unknown(
            "expected the pid of a child and of its parent: `412 398`",
        ))?;
        if self.forks.len() >= MAX_ENTRIES {
            return Err(TOO_MANY);
        }
        self.parents.entry(child).or_default().push(parent);
        self.forks.push((child, line.at));
        Ok(())
    }
}

/// The pids of a child and its parent.
fn pair(line: &[u8]) -> Option<(u32, u32)> {
    let mut words = words(line);
    let (child, parent) = (pid(words.next()?)?, pid(words.next()?)?);
    words.next().is_none().then_some((child, parent))
}

/// A pid, of which Linux has 2²² at most.
pub(super) fn pid(text: &[u8]) -> Option<u32> {
    let n = u32::try_from(number(text)?).ok()?;
    (n <= 1 << 22).then_some(n)
}

impl Paternity {
    /// Whether a line could be a child and its parent.
    pub(super) fn is_row(line: &[u8]) -> bool {
        // A child's pid is larger, but where the pids began anew.
        pair(line).is_some_and(|(child, parent)| child > parent && child > 1)
    }

    /// Who forked `child`, which was seen with `shown` as its parent: that one
    /// if it is among them (a process whose parent dies gets another one).
    pub(super) fn parent(&self, child: u32, shown: u32) -> u32 {
        let known = self.parents.get(&child);
        let known = known.map(Vec::as_slice).unwrap_or_default();
        if known.contains(&shown) {
            return shown;
        }
        known.last().copied().unwrap_or(shown)
    }
}

/// What was executed.
#[derive(Default)]
pub(super) struct Commands {
    /// By pid, in the order of the file.
    execs: HashMap<u32, Vec<Exec>>,
    count: usize,
    entry: Entry,
}

/// One exec.
#[derive(Clone, Copy)]
pub(super) struct Exec {
    /// The file, as `/proc/PID/exe` had it.
    pub(super) file: Sym,
    /// The arguments, apart by spaces.
    pub(super) args: Sym,
}

/// How far the present entry has been read.
#[derive(Clone, Copy, Default)]
enum Entry {
    #[default]
    None,
    Pid(u32),
    File(u32, Sym),
}

impl Reader for Commands {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        const UNKNOWN: Skip = Skip::unknown(
            "expected a pid, then a line `:` with the file, then a line `:` with the arguments",
        );
        let begun = std::mem::take(&mut self.entry);
        let value = line.text.strip_prefix(b":");
        match (begun, value) {
            (Entry::None, None) => {
                self.entry = Entry::Pid(pid(line.text.trim_ascii()).ok_or(UNKNOWN)?)
            }
            (Entry::Pid(pid), Some(file)) => {
                let file = import.sym(&String::from_utf8_lossy(file));
                self.entry = Entry::File(pid, file);
            }
            (Entry::File(pid, file), Some(args)) => {
                let args = import.sym(&arguments(args));
                if self.count >= MAX_ENTRIES {
                    return Err(TOO_MANY);
                }
                self.count += 1;
                self.execs.entry(pid).or_default().push(Exec { file, args });
            }
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }
}

/// The arguments, which NULs separate, read as tabs.
fn arguments(text: &[u8]) -> String {
    let text = &text[..text.len().min(MAX_ARGS)];
    let args = text.split(|b| *b == b'\t').filter(|arg| !arg.is_empty());
    let args: Vec<_> = args.map(String::from_utf8_lossy).collect();
    args.join(" ")
}

impl Commands {
    /// What the process with this pid and name executed last. Of a pid that
    /// was used more than once, only what fits the name.
    pub(super) fn of(
        &self,
        pid: u32,
        name: &str,
        alone: bool,
        import: &Import<'_>,
    ) -> Option<Exec> {
        let execs = self.execs.get(&pid)?;
        let text = |sym| base(import.timeline.text(sym));
        let first = |args: Sym| base(import.timeline.text(args).split(' ').next().unwrap_or(""));
        let fits = |exec: &&Exec| {
            !name.is_empty()
                && (text(exec.file).starts_with(name) || first(exec.args).starts_with(name))
        };
        let found = execs.iter().rfind(fits);
        found.or(execs.last().filter(|_| alone)).copied()
    }
}
