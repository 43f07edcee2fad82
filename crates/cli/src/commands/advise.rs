//! `bootlap advise`: what to change, and what that should save.

use std::path::{Path, PathBuf};

use bootlap_advice::{Boot, Facts, Finding, advise};
use bootlap_lab::Run;
use bootlap_product::{Board, Machine, Target};
use bootlap_report::{json, text};

use crate::args::{Advise, Evidence};
use crate::broken::never_ready;
use crate::commands::{board, boot};
use crate::evidence::facts::{self, Sorted};
use crate::evidence::{self, Recorded, initcalls};
use crate::exit::{Exit, Failure};
use crate::lab::{Bootable, Lab, Planned, load};
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Advise, ui: &Ui) -> Result<Exit, Failure> {
    let lab = Lab::new(&args.lab, ui);
    let (targets, files): (Vec<_>, Vec<_>) =
        args.inputs.iter().cloned().partition(|p| is_target(p));
    let sorted = facts::sort(&files)?;
    let (recorded, findings) = match targets.as_slice() {
        [] => of_evidence(sorted)?,
        [path] if sorted.evidence.is_empty() => {
            let target = load(path)?;
            match &target.machine {
                Machine::Board(spec) => of_board(&lab, &target, spec, sorted.facts)?,
                Machine::Qemu(_) => of_target(&lab, target, sorted.facts)?,
            }
        }
        _ => {
            let why = "advice is for one target, which is booted, or for recorded evidence";
            return Err(Failure::new(Exit::Usage, why)
                .hint("beside a target, only configurations and an environment say more"));
        }
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

/// A folder or file of a target; what does not exist is taken for one, and
/// missed as one.
fn is_target(path: &Path) -> bool {
    path.join("target.toml").is_file()
        || path.extension().is_some_and(|e| e == "toml")
        || (!path.exists() && path.as_os_str() != "-")
}

/// Goes by what was recorded and what is known without a boot.
fn of_evidence(sorted: Sorted) -> Result<(Recorded, Vec<Finding>), Failure> {
    let recorded = match sorted.evidence.is_empty() {
        true => {
            let files: Vec<PathBuf> = sorted.said.into_iter().map(|(path, _)| path).collect();
            evidence::timeless(&files)
        }
        false => evidence::read(&sorted.evidence, &Evidence::default())?,
    };
    let boot = Boot::new(&recorded.timeline).knowing(sorted.facts);
    let findings = advise(&boot);
    Ok((recorded, findings))
}

/// Boots a target, and once more to explain the kernel's time.
fn of_target(
    lab: &Lab<'_>,
    target: Target,
    facts: Facts,
) -> Result<(Recorded, Vec<Finding>), Failure> {
    let bootable = lab.prepare_target(target)?;
    let runs = boot::boot_equal(lab, &bootable, 1, "")?;
    if let Some(failure) = runs.iter().find_map(never_ready) {
        return Err(failure);
    }
    let recorded = evidence::read_run(&runs[0])?;
    let findings = findings(lab, &bootable, &recorded, facts)?;
    Ok((recorded, findings))
}

/// Boots a board as it is: its command line cannot be changed from here.
fn of_board(
    lab: &Lab<'_>,
    target: &Target,
    spec: &Board,
    facts: Facts,
) -> Result<(Recorded, Vec<Finding>), Failure> {
    let run = board::boot_once(lab, target, spec)?;
    if let Some(failure) = never_ready(&run) {
        return Err(failure);
    }
    let recorded = evidence::read_run(&run)?;
    let parts = lab.parts(target)?;
    let boot = Boot::new(&recorded.timeline).of(target, &parts);
    let findings = advise(&boot.knowing(facts));
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
    facts: Facts,
) -> Result<Vec<Finding>, Failure> {
    lab.ui
        .step("booting once more with initcall_debug, to explain the kernel's time");
    let dir = lab.session(&format!("{}-explained", bootable.target.spec.name));
    let plan = [Planned {
        append: EXPLAIN,
        ..Planned::layout(bootable, &dir, "explained", 0)
    }];
    let explained = lab.batch("booting with initcall_debug", &plan)?;
    let explained = read_explained(&explained[0])?;
    let options = explained.as_ref().map(|explained| {
        initcalls::options(&bootable.target, &explained.timeline, &lab.cache, lab.ui)
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

/// A boot that [`EXPLAIN`]s; nothing if it did not get ready.
pub(crate) fn read_explained(run: &Run) -> Result<Option<Recorded>, Failure> {
    let ready = run.ready().map(|_| evidence::read_run(run));
    ready.transpose()
}

/// The findings of a boot with the help of one that [`EXPLAIN`]s.
pub(crate) fn explained_findings(
    bootable: &Bootable,
    recorded: &Recorded,
    explained: Option<&Recorded>,
    facts: Facts,
) -> Vec<Finding> {
    let boot = Boot::new(&recorded.timeline)
        .explained(explained.map(|e| &e.timeline))
        .of(&bootable.target, &bootable.parts);
    advise(&boot.knowing(facts))
}
