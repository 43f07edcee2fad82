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
        // Of the guest's own time there is no more to give.
        failure.hint(match why.ends_with(OWN_TIME) {
            true => format!(
                "{look}: what does it wait for? Or is the ready pattern `{ready}` not what it \
                 prints?"
            ),
            false => format!(
                "{look}, check the ready pattern `{ready}`, or give it longer with --timeout"
            ),
        })
    }
}

/// What to tell about a run that never got ready: why, the last lines of its
/// console, and what to do.
pub fn never_ready(run: &Run) -> Option<Failure> {
    Broken::of(run).map(Failure::from)
}
