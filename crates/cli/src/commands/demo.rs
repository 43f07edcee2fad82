//! `bootlap demo`: the whole loop on one target.
//!
//! Boot, explain, advise; then try what is advised, each step on top of those
//! that helped; write the tuned target, boot it, and account for the saving.
//! Going step by step makes the later boots shorter, and shows what each
//! change is worth once the larger ones are made.

use std::path::Path;

use bootlap_advice::{Boot, Facts, Finding, SavingKind, advise};
use bootlap_analysis::Verdict;
use bootlap_analysis::experiment::Trial;
use bootlap_analysis::stats::Question;
use bootlap_lab::Run;
use bootlap_product::recipe::Choice;
use bootlap_report::text;

use crate::args::Demo;
use crate::broken::never_ready;
use crate::commands::advise::{explained_findings, read_explained};
use crate::commands::{boot, report};
use crate::evidence::{self, Recorded};
use crate::exit::{Exit, Failure};
use crate::experiment::{Experiment, MARGIN, Side, Stop};
use crate::lab::{Bootable, Lab};
use crate::ui::{self, Ui};

/// What a boot has to save so that the demo's user waits for the proof.
const WORTH_A_STEP_NS: i64 = 50_000_000;

pub(crate) fn run(args: &Demo, ui: &Ui) -> Result<Exit, Failure> {
    let lab = Lab::new(&args.lab, ui);
    let style = ui::style();
    let layouts = args.layouts;
    let stock = lab.prepare(&args.target)?;
    let name = stock.target.spec.name.clone();

    ui.note(&format!("1/5 Boot {name} as it is, twice"));
    let (before, _) = boot_checked(&lab, &stock)?;
    let findings = advise(&Boot::new(&before.timeline).of(&stock.target, &stock.parts));
    ui.print(&text::summary(&before.report(findings), &style));

    ui.note(&format!(
        "2/5 Ask the kernel where its time goes, and boot {layouts} layouts of {name}"
    ));
    let mut experiment = Experiment::open(&lab, "demo", &stock, layouts, MARGIN, Vec::new())?;
    let out = experiment.dir();
    let explained = read_explained(&experiment.explain(&stock)?)?;
    let findings = explained_findings(&stock, &before, explained.as_ref(), Facts::default());
    ui.print(&text::findings(&findings, &style));

    ui.note(&format!(
        "3/5 Try what is advised, each step on top of those that helped, {layouts} layouts each"
    ));
    let tuned = tune(&lab, &mut experiment, &stock, &findings, layouts)?;

    ui.note("4/5 Write the tuned target and boot it, twice");
    let folder = out.join("tuned");
    tuned.best.target.write_to(&folder)?;
    let (after, _) = boot_checked(&lab, &tuned.best)?;

    ui.note("5/5 Write the reports");
    let stock_report = before.report(findings);
    let pages = [out.join("stock.html"), out.join("tuned.html")];
    report::write(&stock_report, &pages[0])?;
    let mut tuned_report = after.report(Vec::new());
    tuned_report.trials = tuned.steps;
    tuned_report.steps = true;
    tuned_report.before = Some(Box::new(stock_report));
    report::write(&tuned_report, &pages[1])?;

    let mut text = text::trials(&tuned_report.trials, &style);
    text += "\n";
    text += &text::before_after(&tuned_report, &style);
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

/// Boots twice, and reads the first boot.
fn boot_checked(lab: &Lab<'_>, bootable: &Bootable) -> Result<(Recorded, Run), Failure> {
    let mut runs = boot::boot_equal(lab, bootable, 2, "")?;
    if let Some(failure) = runs.iter().find_map(never_ready) {
        return Err(failure);
    }
    let mut recorded = evidence::read_run(&runs[0])?;
    recorded.about.identical = boot::check_identical(lab, &runs)?;
    Ok((recorded, runs.swap_remove(0)))
}

/// The target with all that helped, and what each step did.
struct Tuned {
    best: Bootable,
    steps: Vec<Trial>,
}

fn tune(
    lab: &Lab<'_>,
    experiment: &mut Experiment<'_, '_>,
    stock: &Bootable,
    findings: &[Finding],
    layouts: u32,
) -> Result<Tuned, Failure> {
    let mut best = Side {
        name: "baseline".to_owned(),
        bootable: stock.clone(),
    };
    let mut steps = Vec::new();
    for choice in worth_a_step(findings)? {
        let recipe = &choice.name();
        // Nothing is left for it to do, once others were kept.
        let Bootable { target, parts, .. } = &best.bootable;
        if choice.edits(target, parts).is_err() {
            continue;
        }
        let candidate = Side {
            name: recipe.to_owned(),
            bootable: lab.with(&best.bootable, &choice)?,
        };
        let sides = [&best, &candidate];
        let booted = experiment.boot(&format!("booting {recipe}"), &sides, layouts);
        booted.map_err(Stop::failure)?;
        let question = Question::once(experiment.margin_ns(&best));
        let step = experiment.trial(&best, &candidate, &question);
        let step = step.ok_or_else(|| Failure::from(experiment.broken(&candidate)))?;
        let kept = step.effect.verdict == Verdict::Faster;
        lab.ui.note(&format!("    {}", one_line(&step)));
        if kept {
            best = candidate;
        }
        steps.push(step);
    }
    Ok(Tuned {
        best: best.bootable,
        steps,
    })
}

/// Recipes whose saving this boot can show and is worth ten boots, and that a
/// product can take over; `tune` tries them all.
fn worth_a_step(findings: &[Finding]) -> Result<Vec<Choice>, Failure> {
    let mut choices = Vec::new();
    for finding in findings {
        let large = finding.saving.ns >= WORTH_A_STEP_NS;
        if let Some(recipe) = &finding.recipe
            && large
            && finding.saving.kind == SavingKind::ThisBoot
        {
            choices.push(Choice::parse(recipe)?);
        }
    }
    choices.retain(|choice| !choice.only_asked_for());
    Ok(choices)
}

fn one_line(step: &Trial) -> String {
    use bootlap_report::format::duration;
    let saved = duration(step.effect.shift_ns.saturating_neg());
    let fate = match step.effect.verdict {
        Verdict::Faster => "kept",
        Verdict::Slower => "left out: slower",
        Verdict::Equivalent => "left out: no gain here",
        Verdict::Unknown => "left out: no sure gain here",
    };
    format!("{:<32} saves {saved:>9}  {fate}", step.recipe)
}
