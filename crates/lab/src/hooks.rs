//! Commands of a target beside its power switch.
//!
//! `ready.check`: does a boot that said *ready* work, too? A faster boot that
//! lost its network is no faster boot. It looks at the recorded boot, or asks
//! the device; if it fails, the boot counts as one that never got ready.
//!
//! `machine.install`: puts a changed target onto a board, so that recipes can
//! be tried there.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::{LabError, Run, RunError, shell};

/// How long a check may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Builds and flashes take their time.
const INSTALL_PATIENCE: Duration = Duration::from_secs(3600);

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

/// Runs `command` in a shell in the folder `dir`: it puts the target in the
/// folder `$BOOTLAP_TARGET`, which is the variant `$BOOTLAP_VARIANT`, onto the
/// board.
///
/// # Errors
/// If it fails, with what it said; also if `stop` is set meanwhile.
pub fn install(
    command: &str,
    dir: &Path,
    target: &Path,
    variant: &str,
    stop: &AtomicBool,
) -> Result<(), LabError> {
    let whole = std::path::absolute(target).unwrap_or_else(|_| target.to_owned());
    let variables = [
        ("BOOTLAP_TARGET", whole.as_os_str()),
        ("BOOTLAP_VARIANT", variant.as_ref()),
    ];
    let done = shell::run_in(command, Some(dir), &variables, INSTALL_PATIENCE, stop);
    match done {
        Ok(_) => Ok(()),
        Err(why) => Err(LabError::Machine(format!(
            "{variant} could not be put onto the board: {why}"
        ))),
    }
}
