//! `bootlap check`: holds boots to a budget.

use std::path::Path;

use bootlap_advice::advise;
use bootlap_analysis::budget::State;
use bootlap_engine::Progress;
use bootlap_engine::check::{CheckOptions, check, first_budget};
use bootlap_engine::output::Output;
use bootlap_engine::{Exit, Failure, evidence, output};
use bootlap_lab::Run;
use bootlap_report::check::{self, CheckReport, github, junit};

use crate::args::Check;
use crate::ui::Ui;

pub(crate) fn run(args: &Check, ui: &Ui) -> Result<Exit, Failure> {
    if let Some(path) = &args.junit {
        is_xml(path)?;
    }
    for path in args.junit.iter().chain(&args.out) {
        spare(path)?;
    }
    let lab = args.lab.lab(ui)?;
    let options = CheckOptions {
        inputs: args.inputs.clone(),
        budget: args.budget.clone(),
        baseline: args.baseline.clone(),
        history: args.history.clone(),
        perturbations: args.perturbations,
        read: args.evidence.options(),
    };
    if args.init {
        first_budget(&lab, &options, args.headroom)?;
        ui.note(&format!("wrote {}", args.budget.display()));
        return Ok(Exit::Ok);
    }
    let report = check(&lab, &options)?;
    if let Some(path) = &args.junit {
        output::write_text(path, &junit(&report))?;
    }
    write(args, &report, ui)?;
    ui.show(
        args.json,
        || check::json(&report),
        |style| check::text(&report, style),
    )?;
    if args.github && report.state() != State::Ok {
        ui.print(&github(&report));
    }
    Ok(match report.state() {
        State::Broken => Exit::Broken,
        State::Unknown if args.strict => Exit::Broken,
        State::Unknown | State::Ok => Exit::Ok,
    })
}

/// What a merge request shows: the verdict with the boot folded below it, the boot's page and chart.
fn write(args: &Check, report: &CheckReport, ui: &Ui) -> Result<(), Failure> {
    if args.out.is_empty() {
        return Ok(());
    }
    let recorded = evidence::read(&report.first, &args.evidence.options())?;
    let findings = advise(&recorded.boot());
    let boot = recorded.report(findings);
    for path in &args.out {
        let sink = output::sink_of(path)?;
        if sink.name == "markdown" {
            let bytes = Output {
                path,
                sink,
                by: None,
            }
            .bytes(&boot)?;
            let verdict = check::markdown(report);
            let boot = String::from_utf8_lossy(&bytes);
            let text = format!(
                "{verdict}\n<details><summary>where the time goes</summary>\n\n{boot}\n</details>\n"
            );
            output::write_text(path, &text)?;
        } else {
            output::write(&boot, path)?;
        }
        ui.note(&format!("wrote {}", path.display()));
    }
    Ok(())
}

fn is_xml(path: &Path) -> Result<(), Failure> {
    if path.extension().is_some_and(|e| e == "xml") {
        return Ok(());
    }
    let why = format!("{}: the file for --junit ends in .xml", path.display());
    Err(Failure::new(Exit::Usage, why))
}

/// A file for a CI server is written again and again; evidence never is.
fn spare(path: &Path) -> Result<(), Failure> {
    let name = path.display();
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    if Run::is_run(folder.unwrap_or(Path::new("."))) {
        let why = format!("{name} would be in the folder of a run, which stays as it is");
        return Err(Failure::new(Exit::Usage, why));
    }
    Ok(())
}
