//! Boots in which the kernel tells of each initcall, and the advice they give.

use bootlap_advice::{Facts, Finding, advise};
use bootlap_lab::Run;

use crate::bootable::{Bootable, Planned};
use crate::evidence::{self, Recorded, initcalls};
use crate::failure::Failure;
use crate::lab::Lab;

/// What the kernel needs to tell of each initcall.
pub const EXPLAIN: &str = "initcall_debug ignore_loglevel";

/// The findings of a boot, after the target was booted once more with the
/// kernel telling of each initcall.
///
/// # Errors
/// If it cannot be booted.
pub fn findings(
    lab: &Lab<'_>,
    bootable: &Bootable,
    recorded: &Recorded,
    facts: Facts,
) -> Result<Vec<Finding>, Failure> {
    let explained = match bootable.takes_words() {
        true => explained(lab, bootable)?,
        false => {
            lab.progress
                .note("the kernel's command line is on the disk, so initcalls are not explained");
            None
        }
    };
    let options = explained.as_ref().map(|explained| {
        initcalls::options(
            &bootable.target,
            &explained.timeline,
            &lab.cache,
            lab.progress,
        )
    });
    let facts = Facts {
        initcall_options: options.transpose()?.unwrap_or_default(),
        ..facts
    };
    Ok(explained_findings(
        bootable,
        recorded,
        explained.as_ref(),
        facts,
    ))
}

fn explained(lab: &Lab<'_>, bootable: &Bootable) -> Result<Option<Recorded>, Failure> {
    lab.progress
        .step("booting once more with initcall_debug, to explain the kernel's time");
    let dir = lab.session(&format!("{}-explained", bootable.target.spec.name));
    let bootable = &bootable.clone().explaining();
    let plan = [Planned {
        append: EXPLAIN,
        ..Planned::perturbed(bootable, &dir, "explained", 0)
    }];
    let runs = lab.batch("booting with initcall_debug", &plan)?;
    read_explained(&runs[0])
}

/// A boot that [`EXPLAIN`]s; nothing if it did not get ready.
pub(crate) fn read_explained(run: &Run) -> Result<Option<Recorded>, Failure> {
    let ready = run.ready().map(|_| evidence::read_run(run));
    ready.transpose()
}

/// The findings of a boot with the help of one that [`EXPLAIN`]s.
pub fn explained_findings(
    bootable: &Bootable,
    recorded: &Recorded,
    explained: Option<&Recorded>,
    facts: Facts,
) -> Vec<Finding> {
    let boot = recorded
        .boot()
        .explained(explained.map(|e| &e.timeline))
        .of(&bootable.target, &bootable.parts);
    advise(&boot.knowing(facts))
}
