//! `bootlap check`: holds boots to a budget.

use std::path::Path;

use bootlap_analysis::budget::State;
use bootlap_engine::Progress;
use bootlap_engine::check::{CheckOptions, check, first_budget};
use bootlap_engine::{Exit, Failure, output};
use bootlap_lab::Run;
use bootlap_report::check::{self, github, junit};

use crate::args::Check;
use crate::ui::Ui;

pub(crate) fn run(args: &Check, ui: &Ui) -> Result<Exit, Failure> {
    if let Some(path) = &args.junit {
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

/// A file for a CI server is written again and again; evidence never is.
fn spare(path: &Path) -> Result<(), Failure> {
    let name = path.display();
    if path.extension().is_none_or(|e| e != "xml") {
        let why = format!("{name}: the file for --junit ends in .xml");
        return Err(Failure::new(Exit::Usage, why));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    if Run::is_run(folder.unwrap_or(Path::new("."))) {
        let why = format!("{name} would be in the folder of a run, which stays as it is");
        return Err(Failure::new(Exit::Usage, why));
    }
    Ok(())
}
