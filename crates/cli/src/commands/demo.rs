//! `bootlap demo`: the whole loop on one target.
//!
//! Boot, explain, advise; then try what is advised, each step on top of those
//! that helped; write the tuned target, boot it, and account for the saving.
//! Going step by step makes the later boots shorter, and shows what each
//! change is worth once the larger ones are made.

use std::path::Path;

use bootlap_advice::{Boot, Finding, advise};
use bootlap_analysis::Verdict;
use bootlap_analysis::experiment::Trial;
use bootlap_lab::Run;
use bootlap_report::text;
use bootlap_target::recipe::Choice;

use crate::args::Demo;
use crate::commands::advise::{EXPLAIN, explained_findings};
use crate::commands::try_recipes::{measure, timelines};
use crate::commands::{boot, report};
use crate::evidence::{self, Recorded};
use crate::exit::{Exit, Failure};
use crate::lab::{Bootable, Lab, Planned, never_ready};
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Demo, ui: &Ui) -> Result<Exit, Failure> {
    let lab = Lab::new(&args.lab, ui);
    let style = ui::style();
    let layouts = args.layouts;
    let stock = lab.prepare(&args.target)?;
    let name = stock.target.spec.name.clone();
    let out = lab.session(&format!("{name}-demo"));

    ui.note(&format!("1/5 Boot {name} as it is, twice"));
    let (before, first) = boot_checked(&lab, &stock)?;
    let findings = advise(&Boot {
        timeline: &before.timeline,
        explained: None,
        target: Some((&stock.target, &stock.parts)),
    });
    ui.print(&text::summary(&before.report(findings), &style));

    ui.note(&format!(
        "2/5 Ask the kernel where its time goes, and boot {} more layouts of {name}",
        layouts - 1
    ));
    let (explained, stock_boots) = explain(&lab, &stock, first, layouts, &out)?;
    let findings = explained_findings(&stock, &before, &explained)?;
    ui.print(&text::findings(&findings, &style));

    ui.note(&format!(
        "3/5 Try what is advised, each step on top of those that helped, {layouts} layouts each"
    ));
    let tuned = tune(&lab, &stock, &stock_boots, &findings, &out)?;

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
    tuned_report.before = Some(Box::new(stock_report));
    report::write(&tuned_report, &pages[1])?;

    let mut text = text::trials(&tuned_report.trials, &style);
    text += "\n";
    text += &text::before_after(&tuned_report, &style);
    text += &paths(&folder, &pages);
    ui.print(&text);
    Ok(Exit::Ok)
}

/// Boots the stock target once with the kernel explaining itself, and in all
/// layouts but the first, which is `first`.
fn explain(
    lab: &Lab<'_>,
    stock: &Bootable,
    first: Run,
    layouts: u32,
    out: &Path,
) -> Result<(Run, Vec<Run>), Failure> {
    let runs = out.join("runs");
    let mut plan = vec![Planned {
        append: EXPLAIN,
        ..Planned::layout(stock, &runs, "explained", 0)
    }];
    plan.extend((1..layouts).map(|layout| Planned::layout(stock, &runs, "stock", layout)));
    let mut done = lab.batch("booting stock", &plan)?.into_iter();
    let explained = done.next().expect("as many runs as planned");
    Ok((explained, [first].into_iter().chain(done).collect()))
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
    stock: &Bootable,
    stock_boots: &[Run],
    findings: &[Finding],
    out: &Path,
) -> Result<Tuned, Failure> {
    let layouts = u32::try_from(stock_boots.len()).unwrap_or(u32::MAX);
    let boots = |name: &str, bootable: &Bootable| -> Result<_, Failure> {
        let what = format!("booting {name}");
        let variant = [(name.to_owned(), bootable)];
        Ok(lab
            .boots(&what, &variant, layouts, &out.join("runs"))?
            .remove(0))
    };
    let mut best = stock.clone();
    let mut best_boots = timelines(stock_boots)?;
    let mut steps = Vec::new();
    for recipe in findings.iter().filter_map(|f| f.recipe.as_deref()) {
        let choice = Choice::parse(recipe)?;
        let candidate = lab.with(&best, &choice)?;
        let runs = boots(recipe, &candidate)?;
        let boots = timelines(&runs)?;
        let step = measure(recipe, &best_boots, &boots, &runs)?;
        let kept = step.effect.verdict == Verdict::Faster;
        lab.ui.note(&format!("    {}", one_line(&step)));
        if kept {
            best = candidate;
            best_boots = boots;
        }
        steps.push(step);
    }
    Ok(Tuned { best, steps })
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
