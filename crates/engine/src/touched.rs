//! Which files of the initramfs a boot opens: a boot is watched, and lists them.

use std::path::Path;

use bootlap_lab::Run;
use bootlap_product::touched;

use crate::bootable::Bootable;
use crate::broken::never_ready;
use crate::failure::Failure;
use crate::lab::Lab;

/// How long after the time that a boot takes the watcher still watches, seconds.
const LONGER_S: u64 = 2;

/// The files that the boot of `stock` opens, a path a line, as `initramfs-touched`
/// takes them. It gets ready after `ready_ns`; `boot` boots the watched one, whose
/// watcher is written to `script`.
///
/// # Errors
/// If it has no initramfs that could be watched, or the watched boot does not get ready.
pub fn touched(
    lab: &Lab<'_>,
    stock: &Bootable,
    ready_ns: i64,
    script: &Path,
    boot: impl FnOnce(&Bootable) -> Result<Run, Failure>,
) -> Result<Vec<u8>, Failure> {
    let seconds = u64::try_from(ready_ns / 1_000_000_000).unwrap_or(0) + LONGER_S;
    let observed = touched::observed(&stock.target, script, seconds)?;
    let run = boot(&lab.prepare_target(observed)?)?;
    if let Some(failure) = never_ready(&run) {
        return Err(failure.hint(
            "with the watcher in it, the boot did not come to its end: does the initramfs' first \
             program wipe the root, or switch to another?",
        ));
    }
    Ok(touched::list(&run.console()?, &stock.parts)?)
}
