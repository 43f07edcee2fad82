//! Boots of one target that should be equal, bit by bit.

use bootlap_lab::Run;

use crate::bootable::{Bootable, Planned};
use crate::failure::Failure;
use crate::lab::Lab;

/// Boots the same target several times; nothing is perturbed.
pub fn boot_equal(
    lab: &Lab<'_>,
    bootable: &Bootable,
    boots: u32,
    append: &str,
) -> Result<Vec<Run>, Failure> {
    let name = &bootable.target.spec.name;
    let session = lab.session(name);
    let planned = |n: u32| Planned {
        bootable,
        dir: match boots {
            1 => session.clone(),
            _ => session.join(n.to_string()),
        },
        perturbation: 0,
        append,
        patience: None,
        limit: None,
        // Equal boots are only known to be equal if each of them was made.
        times: n as usize,
    };
    let plan: Vec<Planned<'_>> = (1..=boots).map(planned).collect();
    lab.batch(&format!("booting {name}"), &plan)
}

/// Whether all runs are the same, bit by bit; says so if they are not although
/// they should be.
pub fn check_identical(lab: &Lab<'_>, runs: &[Run]) -> Result<Option<bool>, Failure> {
    let Some((first, rest)) = runs.split_first() else {
        return Ok(None);
    };
    if rest.is_empty() {
        return Ok(None);
    }
    let mut identical = true;
    for run in rest {
        identical &= if lab.host_stamps() {
            first.manifest.console_sha256 == run.manifest.console_sha256
        } else {
            first.identical(run)?
        };
    }
    if !identical && lab.repeats() {
        lab.progress.note(
            "bootlap: equal boots differ, so this target is not bit-identical in the lab's time. \
             Times are statistics then:\n         compare several boots. Usual causes: a network \
             card, or a disk that the host reads in its own time (docs/targets.md)",
        );
    }
    Ok(Some(identical))
}
