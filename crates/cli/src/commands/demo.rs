//! `bootlap demo`: the whole loop on one target.
//!
//! Boot, explain, advise; then try what is advised, each step on top of those
//! that helped; write the tuned target, boot it, and account for the saving.
//! Going step by step makes the later boots shorter, and shows what each
//! change is worth once the larger ones are made.

use std::path::{Path, PathBuf};

use bootlap_advice::{Facts, advise};
use bootlap_engine::Progress;
use bootlap_engine::climb::{boot_checked, climb};
use bootlap_engine::experiment::Experiment;
use bootlap_engine::explained::explained_findings;
use bootlap_engine::{Exit, Failure, MARGIN, output};
use bootlap_report::tuning::Waterfall;
use bootlap_report::{boot, comparison, findings, trials};

use super::demo_target;
use crate::args::Demo;
use crate::ui::{self, Ui};

/// The example in a clone of the repository, and where it is written elsewhere.
const CLONED: &str = "targets/kiosk";
const WRITTEN: &str = "kiosk";

/// The target that was named; else the kiosk of a clone, or one written here.
fn target(args: &Demo, ui: &Ui) -> Result<PathBuf, Failure> {
    let there = [CLONED, WRITTEN].map(PathBuf::from);
    if let Some(target) = &args.target {
        return Ok(target.clone());
    }
    if let Some(kiosk) = there
        .into_iter()
        .find(|kiosk| kiosk.join("target.toml").is_file())
    {
        return Ok(kiosk);
    }
    let kiosk = PathBuf::from(WRITTEN);
    demo_target::write(&kiosk).map_err(|e| {
        let why = format!("cannot write the example into {WRITTEN}: {e}");
        Failure::new(Exit::Usage, why).hint("go to a folder that you may write to")
    })?;
    ui.note(&format!(
        "wrote the example into {WRITTEN}: a small appliance, yours to change"
    ));
    Ok(kiosk)
}

pub(crate) fn run(args: &Demo, ui: &Ui) -> Result<Exit, Failure> {
    let lab = args.lab.lab(ui)?;
    let style = ui::style();
    let perturbations = args.perturbations;
    let stock = lab.prepare(&target(args, ui)?)?;
    let name = stock.target.spec.name.clone();

    ui.note(&format!("1/5 Boot {name} as it is, twice"));
    let (before, _) = boot_checked(&lab, &stock)?;
    let findings = advise(&before.boot().of(&stock.target, &stock.parts));
    ui.print(&boot::text(&before.report(findings), &style));

    ui.note(&format!(
        "2/5 Ask the kernel where its time goes, and boot {name} in {perturbations} perturbations"
    ));
    let mut experiment = Experiment::open(&lab, "demo", &stock, perturbations, MARGIN, Vec::new())?;
    let out = experiment.dir();
    let explained = experiment.explain(&stock)?;
    let findings = explained_findings(&stock, &before, explained.as_ref(), Facts::default());
    ui.print(&findings::text(&findings, &before.timeline, &style));

    ui.note(&format!(
        "3/5 Try what is advised, each step on top of those that helped, {perturbations} perturbations each"
    ));
    let tuned = climb(&lab, &mut experiment, &stock, &findings, perturbations)?;

    ui.note("4/5 Write the tuned target and boot it, twice");
    let folder = out.join("tuned");
    tuned.best.target.write_to(&folder)?;
    let (after, _) = boot_checked(&lab, &tuned.best)?;

    ui.note("5/5 Write the reports");
    let stock_report = before.report(findings);
    let pages = [out.join("stock.html"), out.join("tuned.html")];
    output::write(&stock_report, &pages[0])?;
    let mut tuned_report = after.report(Vec::new());
    tuned_report.trials = tuned.steps;
    tuned_report.steps = true;
    let waterfall = Waterfall::of_trials(&tuned_report.about, &tuned_report.trials);
    tuned_report.waterfalls.extend(waterfall);
    let tuned_report = tuned_report.against(stock_report);
    output::write(&tuned_report, &pages[1])?;

    let mut text = trials::text(&tuned_report.trials, &style);
    text += "\n";
    text += &comparison::text(&tuned_report, &style);
    text += &paths(&folder, &pages);
    experiment.finish()?;
    ui.print(&text);
    Ok(Exit::Ok)
}

fn paths(folder: &Path, pages: &[std::path::PathBuf; 2]) -> String {
    format!(
        "\n  before        {}\n  after         {}\n  tuned target  {}\n",
        pages[0].display(),
        pages[1].display(),
        folder.display()
    )
}
