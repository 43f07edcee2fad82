//! `bootlap advise`: what to change, and what that should save.

use std::path::{Path, PathBuf};

use bootlap_advice::{Facts, Finding, advise};
use bootlap_engine::Progress;
use bootlap_engine::broken::never_ready;
use bootlap_engine::equal::boot_equal;
use bootlap_engine::evidence::facts::{self, Sorted};
use bootlap_engine::evidence::{self, ReadOptions, Recorded};
use bootlap_engine::explained::findings;
use bootlap_engine::lab::{Lab, load};
use bootlap_engine::{Exit, Failure};
use bootlap_product::{Board, Machine, Target};
use bootlap_report::findings;

use crate::args::Advise;
use crate::commands::board;
use crate::ui::Ui;

pub(crate) fn run(args: &Advise, ui: &Ui) -> Result<Exit, Failure> {
    let lab = args.lab.lab(ui)?;
    let (targets, files): (Vec<_>, Vec<_>) =
        args.inputs.iter().cloned().partition(|p| is_target(p));
    let sorted = facts::sort(&files)?;
    let (recorded, findings) = match targets.as_slice() {
        [] => of_evidence(&sorted, &args.evidence.options())
            .or_else(|failure| without_times(&sorted, failure))?,
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
    if let Some(note) = &recorded.left_out {
        ui.note(note);
    }
    let report = recorded.report(findings);
    ui.show(
        args.json,
        || findings::json(&report),
        |style| findings::text(&report.findings, report.timeline, style),
    )?;
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
pub(super) fn of_evidence(
    sorted: &Sorted,
    options: &ReadOptions,
) -> Result<(Recorded, Vec<Finding>), Failure> {
    let recorded = match sorted.evidence.is_empty() {
        true => {
            let files = sorted.said.iter().map(|(path, _)| path.clone());
            let files: Vec<PathBuf> = files.collect();
            evidence::timeless(&files)
        }
        false => evidence::read_first(&sorted.evidence, options)?,
    };
    let boot = recorded.boot().knowing(sorted.facts.clone());
    let findings = advise(&boot);
    Ok((recorded, findings))
}

/// What can be said of consoles although nothing in them has a time, with the failure as a
/// note; the failure, if that is nothing.
fn without_times(sorted: &Sorted, failure: Failure) -> Result<(Recorded, Vec<Finding>), Failure> {
    if failure.exit != Exit::NothingUsable {
        return Err(failure);
    }
    let facts = facts::of_consoles(&sorted.evidence);
    let mut recorded = evidence::timeless(&sorted.evidence);
    let findings = advise(&recorded.boot().knowing(sorted.facts.clone().or(facts)));
    if findings.is_empty() {
        return Err(failure);
    }
    let all = std::iter::once(failure.message).chain(failure.hint);
    recorded.left_out = Some(all.collect::<Vec<_>>().join("\n"));
    Ok((recorded, findings))
}

/// Boots a target, and once more to explain the kernel's time.
fn of_target(
    lab: &Lab<'_>,
    target: Target,
    facts: Facts,
) -> Result<(Recorded, Vec<Finding>), Failure> {
    let bootable = lab.prepare_target(target)?;
    let runs = boot_equal(lab, &bootable, 1, "")?;
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
    let boot = recorded.boot().of(target, &parts);
    let findings = advise(&boot.knowing(facts));
    Ok((recorded, findings))
}
