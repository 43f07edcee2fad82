//! What is better said of a target before it boots in counted time than found out after an hour.

use bootlap_product::{Machine, Target};

use crate::progress::Progress;

/// Says what of a target and counted time do not go together.
pub(crate) fn note(target: &Target, progress: &dyn Progress) {
    let Machine::Qemu(spec) = &target.machine else {
        return;
    };
    let dir = target.dir.display().to_string();
    let named = |arg: &String| arg.replace("{dir}", &dir);
    let args: Vec<String> = spec.args.iter().map(named).collect();
    if let Some(disk) = bootlap_lab::in_host_time(&args) {
        progress.note(&format!(
            "bootlap: the host reads `{disk}` in its own time, and simulated time does not \
             wait for it:\n         seconds may appear that no board would take. Use an \
             image in one file of this host\n         (docs/targets.md), or measure with \
             --plain"
        ));
    }
    if bootlap_lab::hangs_when_counted(spec) {
        progress.note(&format!(
            "bootlap: PCs with {} processors hang in this QEMU (7) as soon as time is counted, \
             also without\n         bootlap: use QEMU 10, cpus = 1, or --plain (docs/disks.md)",
            spec.cpus
        ));
    }
}
