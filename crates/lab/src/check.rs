//! The target's own check: does a boot that said *ready* work, too?
//!
//! A faster boot that lost its network is no faster boot. The target's
//! `ready.check` is a command that looks at the recorded boot (or asks the
//! device); if it fails, the boot counts as one that never got ready.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::{Run, RunError, shell};

/// How long a check may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `command` in a shell in the folder `dir` if `run` got ready, with
/// `$BOOTLAP_RUN`, the run's folder, and `$BOOTLAP_CONSOLE`, the console's file.
/// If it fails, the run says so and is no longer ready.
///
/// # Errors
/// If the outcome cannot be written down.
pub fn check(run: &mut Run, command: &str, dir: &Path) -> Result<(), RunError> {
    if run.ready().is_none() {
        return Ok(());
    }
    // Whatever folder the command starts in, these are found.
    let whole = std::path::absolute(&run.dir).unwrap_or_else(|_| run.dir.clone());
    let console = whole.join(crate::run::CONSOLE);
    let variables = [
        ("BOOTLAP_RUN", whole.as_os_str()),
        ("BOOTLAP_CONSOLE", console.as_os_str()),
    ];
    let never = AtomicBool::new(false);
    match shell::run_in(command, Some(dir), &variables, PATIENCE, &never) {
        Ok(_) => Ok(()),
        Err(why) => run.was_not_ready(format!("it said that it was ready, but the check {why}")),
    }
}
