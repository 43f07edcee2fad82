//! `bootlap boot`: boot and record, or play a run again.

use std::time::Duration;

use bootlap_advice::advise;
use bootlap_engine::broken::never_ready;
use bootlap_engine::equal::{boot_equal, check_identical};
use bootlap_engine::evidence;
use bootlap_engine::lab::{Lab, load};
use bootlap_engine::{Exit, Failure};
use bootlap_lab::{Replay, Run};
use bootlap_product::Machine;

use crate::args::Boot;
use crate::commands::board;
use crate::commands::shown::show;
use crate::ui::Ui;

pub(crate) fn run(args: &Boot, ui: &Ui) -> Result<Exit, Failure> {
    let lab = args.lab.lab(ui)?;
    if Run::is_run(&args.target) {
        return replay(args, ui, &lab);
    }
    let target = load(&args.target)?;
    if let Machine::Board(spec) = &target.machine {
        return board::run(args, ui, &lab, &target, spec);
    }
    let bootable = lab.prepare_target(target)?;
    let boots = args.boots.unwrap_or(if lab.repeats() { 2 } else { 1 });
    let runs = boot_equal(&lab, &bootable, boots, &args.append)?;
    let identical = check_identical(&lab, &runs)?;
    let first = &runs[0];
    let mut recorded = evidence::read_run(first)?;
    recorded.about.identical = identical;
    let findings = advise(&recorded.boot().of(&bootable.target, &bootable.parts));
    show(args, &recorded, findings, ui)?;
    match runs.iter().find_map(never_ready) {
        Some(failure) => Err(failure),
        None => Ok(Exit::Ok),
    }
}

fn replay(args: &Boot, ui: &Ui, lab: &Lab<'_>) -> Result<Exit, Failure> {
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
    show(args, &recorded, Vec::new(), ui)?;
    match never_ready(&run) {
        Some(failure) => Err(failure),
        None => Ok(Exit::Ok),
    }
}
