//! A boot that never got ready, and what to tell of it.

use std::path::PathBuf;

use bootlap_lab::{Outcome, Run};
use bootlap_report::clean::clean_bytes;

use crate::failure::{Exit, Failure};

/// How many lines of the console of a failed boot are shown.
const TAIL: usize = 8;
/// And how many bytes of each.
const TAIL_WIDTH: usize = 200;
/// How it is said that a boot was given up by the guest's own clock.
const OWN_TIME: &str = " of its own time";
/// How it is said that there is nothing left to wait for.
const PANICKED: &str = "the kernel panicked";
/// How the kernel says that it goes on with what it has.
const NOT_UNPACKED: &str = "Initramfs unpacking failed: ";
/// What the kernel says last before it stops.
const PANIC: &str = "Kernel panic - not syncing";

/// What is known of a boot that never got ready.
pub struct Broken {
    /// The target's name.
    pub target: String,
    /// Why the recording ended.
    pub why: String,
    /// The last lines of the console.
    pub tail: Vec<String>,
    /// An earlier line that says what led to it, and what to do about that.
    pub cause: Option<String>,
    /// The run's folder.
    pub run: PathBuf,
    /// The ready pattern.
    pub ready: String,
}

impl Broken {
    /// Of a run; `None` if it got ready.
    pub fn of(run: &Run) -> Option<Self> {
        let Some(Outcome::NeverReady(why)) = &run.manifest.outcome else {
            return None;
        };
        let console = run.console().unwrap_or_default();
        let lines = console.split(|b| *b == b'\n').map(|line| {
            let line = clean_bytes(&line[..line.len().min(TAIL_WIDTH)]);
            line.trim_end().to_owned()
        });
        let mut lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
        // A panic is followed by traces, which say less than what led to it.
        let panic = lines.iter().position(|line| line.contains(PANIC));
        if let Some(panic) = panic {
            lines.truncate(panic + 1);
        }
        Some(Self {
            target: run.manifest.target.clone(),
            why: why.clone(),
            cause: lines.iter().find_map(|line| cause(line)),
            tail: lines[lines.len().saturating_sub(TAIL)..].to_vec(),
            run: run.dir.clone(),
            ready: run.manifest.ready_pattern.clone(),
        })
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        let Broken {
            target,
            why,
            tail,
            run,
            cause,
            ready,
        } = broken;
        let shown = if tail.is_empty() {
            "the console stayed empty".to_owned()
        } else {
            let tail: Vec<String> = tail.iter().map(|l| format!("  | {l}")).collect();
            format!("its console ends with\n{}", tail.join("\n"))
        };
        let failure = Failure::new(
            Exit::NeverReady,
            format!("{target} never got ready: {why}; {shown}"),
        );
        let console = run.join("console");
        let look = format!("look at {}", console.display());
        let pattern = format!("the ready pattern `{ready}`");
        failure.hint(match cause {
            Some(cause) => format!("{cause}; {look}"),
            // Of the guest's own time there is no more to give.
            None if why.ends_with(OWN_TIME) => {
                format!("{look}: what does it wait for? Or is {pattern} not what it prints?")
            }
            None if why.contains(PANICKED) => look,
            None => format!("{look}, check {pattern}, or give it longer with --timeout"),
        })
    }
}

/// What a line of the console says of why a boot cannot get ready.
fn cause(line: &str) -> Option<String> {
    let said = line.find(NOT_UNPACKED).map(|at| line[at..].trim_end())?;
    let then = match said.ends_with("write error") {
        true => {
            "without `root=` it may take half of the memory: raise machine.memory-mb, or make it \
             smaller"
        }
        false => "is it damaged, or compressed as this kernel cannot read it?",
    };
    Some(format!("before that, `{said}`: {then}"))
}

/// What to tell about a run that never got ready: why, the last lines of its
/// console, and what to do.
pub fn never_ready(run: &Run) -> Option<Failure> {
    Broken::of(run).map(Failure::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_led_to_it_is_told() {
        let told = |line: &str| cause(line).unwrap_or_default();
        let full = told("[   13.882454] Initramfs unpacking failed: write error");
        assert!(full.contains("raise machine.memory-mb"), "{full}");
        let odd = told("Initramfs unpacking failed: invalid magic at start of compressed archive");
        assert!(odd.contains("is it damaged"), "{odd}");
        assert_eq!(
            told("[    1.288597] Trying to unpack rootfs image as initramfs..."),
            ""
        );
    }
}
