//! `bootlap advise`: what to change, and what that should save.

use bootlap_advice::{Boot, Finding, advise};
use bootlap_lab::Run;
use bootlap_report::{json, text};
use bootlap_target::{Board, Machine, Target};

use crate::args::{Advise, Evidence};
use crate::broken::never_ready;
use crate::commands::{board, boot};
use crate::evidence::{self, Recorded};
use crate::exit::{Exit, Failure};
use crate::lab::{Bootable, Lab, Planned, load};
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Advise, ui: &Ui) -> Result<Exit, Failure> {
    let lab = Lab::new(&args.lab, ui);
    let is_target = args.target.join("target.toml").is_file()
        || args.target.extension().is_some_and(|e| e == "toml");
    let (recorded, findings) = if is_target || !args.target.exists() {
        let target = load(&args.target)?;
        match &target.machine {
            Machine::Board(spec) => of_board(&lab, &target, spec)?,
            Machine::Qemu(_) => of_target(&lab, target)?,
        }
    } else {
        let recorded = evidence::read(&evidence::one(&args.target), &Evidence::default())?;
        let findings = advise(&Boot::new(&recorded.timeline));
        (recorded, findings)
    };
    let report = recorded.report(findings);
    if args.json {
        let document = json::advice(&report);
        ui.print(&document.map_err(|e| Failure::new(Exit::Internal, e))?);
    } else {
        ui.print(&text::findings(&report.findings, &ui::style()));
    }
    Ok(Exit::Ok)
}

/// Boots a target, and once more to explain the kernel's time.
fn of_target(lab: &Lab<'_>, target: Target) -> Result<(Recorded, Vec<Finding>), Failure> {
    let bootable = lab.prepare_target(target)?;
    let runs = boot::boot_equal(lab, &bootable, 1, "")?;
    if let Some(failure) = runs.iter().find_map(never_ready) {
        return Err(failure);
    }
    let recorded = evidence::read_run(&runs[0])?;
    let findings = findings(lab, &bootable, &recorded)?;
    Ok((recorded, findings))
}

/// Boots a board as it is: its command line cannot be changed from here.
fn of_board(
    lab: &Lab<'_>,
    target: &Target,
    spec: &Board,
) -> Result<(Recorded, Vec<Finding>), Failure> {
    let run = board::boot_once(lab, target, spec)?;
    if let Some(failure) = never_ready(&run) {
        return Err(failure);
    }
    let recorded = evidence::read_run(&run)?;
    let parts = lab.parts(target)?;
    let findings = advise(&Boot::new(&recorded.timeline).of(target, &parts));
    Ok((recorded, findings))
}

/// What the kernel needs to tell of each initcall.
pub(crate) const EXPLAIN: &str = "initcall_debug ignore_loglevel";

/// The findings of a boot, after the target was booted once more with the
/// kernel telling of each initcall.
fn findings(
    lab: &Lab<'_>,
    bootable: &Bootable,
    recorded: &Recorded,
) -> Result<Vec<Finding>, Failure> {
    lab.ui
        .step("booting once more with initcall_debug, to explain the kernel's time");
    let dir = lab.session(&format!("{}-explained", bootable.target.spec.name));
    let plan = [Planned {
        append: EXPLAIN,
        ..Planned::layout(bootable, &dir, "explained", 0)
    }];
    let explained = lab.batch("booting with initcall_debug", &plan)?;
    explained_findings(bootable, recorded, &explained[0])
}

/// The findings of a boot with the help of one that [`EXPLAIN`]s; if that one
/// did not get ready, without it.
pub(crate) fn explained_findings(
    bootable: &Bootable,
    recorded: &Recorded,
    explained: &Run,
) -> Result<Vec<Finding>, Failure> {
    let explained = match explained.ready() {
        Some(_) => Some(evidence::read_run(explained)?),
        None => None,
    };
    Ok(advise(
        &Boot::new(&recorded.timeline)
            .explained(explained.as_ref().map(|e| &e.timeline))
            .of(&bootable.target, &bootable.parts),
    ))
}
