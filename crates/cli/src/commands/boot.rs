//! `bootlap boot`: boot and record, or play a run again.

use std::time::Duration;

use bootlap_advice::advise;
use bootlap_lab::{Mode, Replay, Run};
use bootlap_product::Machine;

use crate::args::Boot;
use crate::broken::never_ready;
use crate::commands::board;
use crate::commands::shown::show;
use crate::evidence;
use crate::exit::{Exit, Failure};
use crate::lab::{Bootable, Lab, Planned, load};
use crate::ui::Ui;

pub(crate) fn run(args: &Boot, ui: &Ui) -> Result<Exit, Failure> {
    let lab = Lab::new(&args.lab, ui);
    if Run::is_run(&args.target) {
        return replay(args, &lab);
    }
    let target = load(&args.target)?;
    if let Machine::Board(spec) = &target.machine {
        return board::run(args, &lab, &target, spec);
    }
    let bootable = lab.prepare_target(target)?;
    let boots = args.boots.unwrap_or(match lab.mode() {
        Mode::Sim => 2,
        Mode::Plain | Mode::Board => 1,
    });
    let runs = boot_equal(&lab, &bootable, boots, &args.append)?;
    let identical = check_identical(&lab, &runs)?;
    let first = &runs[0];
    let mut recorded = evidence::read_run(first)?;
    recorded.about.identical = identical;
    let findings = advise(
        &bootlap_advice::Boot::new(&recorded.timeline).of(&bootable.target, &bootable.parts),
    );
    show(args, &recorded, findings, ui)?;
    match runs.iter().find_map(never_ready) {
        Some(failure) => Err(failure),
        None => Ok(Exit::Ok),
    }
}

/// Boots the same target several times; nothing is perturbed.
pub(crate) fn boot_equal(
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
        layout: 0,
        append,
        patience: None,
    };
    let plan: Vec<Planned<'_>> = (1..=boots).map(planned).collect();
    lab.batch(&format!("booting {name}"), &plan)
}

/// Whether all runs are the same, bit by bit; says so if they are not although
/// they should be.
pub(crate) fn check_identical(lab: &Lab<'_>, runs: &[Run]) -> Result<Option<bool>, Failure> {
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
    if !identical && lab.mode() == Mode::Sim {
        lab.ui.note(
            "bootlap: equal boots differ, so this target is not bit-identical in simulated time. \
             Times are statistics then:\n         compare several boots. Usual causes: a network \
             card, virtio or NVMe storage, more than flash, SD card and initramfs",
        );
    }
    Ok(Some(identical))
}

fn replay(args: &Boot, lab: &Lab<'_>) -> Result<Exit, Failure> {
    let old = Run::open(&args.target)?;
    let m = old.manifest.clone();
    let dir = lab.session(&m.target);
    let marks = m.marks.iter().map(|(n, p)| (n.as_str(), p.as_str()));
    let hints = evidence::hints(
        Some(&m.ready_pattern),
        m.application_pattern.as_deref(),
        marks,
    );
    let mut machine = Replay::new(old);
    let forever = Duration::from_secs(24 * 3600);
    let run = bootlap_lab::boot(&mut machine, &dir, m, &hints, forever)?;
    let recorded = evidence::read_run(&run)?;
    show(args, &recorded, Vec::new(), lab.ui)?;
    match never_ready(&run) {
        Some(failure) => Err(failure),
        None => Ok(Exit::Ok),
    }
}
