//! `bootlap try`: measure recipes against the target as it is.

use bootlap_analysis::experiment::{Trial, trial};
use bootlap_lab::Run;
use bootlap_model::Timeline;
use bootlap_report::text;
use bootlap_target::recipe::Choice;

use crate::args::Try;
use crate::evidence;
use crate::exit::{Exit, Failure};
use crate::lab::{Bootable, Lab, never_ready};
use crate::ui::{self, Ui};

/// Changes below this share of the boot count as none: 0.05 %.
const MARGIN: i64 = 2000;

pub(crate) fn run(args: &Try, ui: &Ui) -> Result<Exit, Failure> {
    let lab = Lab::new(&args.lab, ui);
    let choices = parse(&args.recipes)?;
    let stock = lab.prepare(&args.target)?;
    let mut variants = vec![("baseline".to_owned(), stock.clone())];
    for choice in &choices {
        variants.push((choice.name(), lab.with(&stock, choice)?));
    }
    if args.together && choices.len() > 1 {
        let mut all = stock.clone();
        for choice in &choices {
            all = lab.with(&all, choice)?;
        }
        let names: Vec<String> = choices.iter().map(Choice::name).collect();
        variants.push((names.join("+"), all));
    }
    let dir = lab.session(&format!("{}-try", stock.target.spec.name));
    let by_name: Vec<(String, &Bootable)> =
        variants.iter().map(|(name, b)| (name.clone(), b)).collect();
    let what = format!(
        "booting {} variants, {} layouts each",
        variants.len(),
        args.layouts
    );
    let runs = lab.boots(&what, &by_name, args.layouts, &dir)?;
    if let Some(failure) = runs[0].iter().find_map(never_ready) {
        return Err(failure);
    }
    let before = timelines(&runs[0])?;
    let mut trials = Vec::new();
    for ((name, _), runs) in variants.iter().zip(&runs).skip(1) {
        trials.push(measure(name, &before, &timelines(runs)?, runs)?);
    }
    if args.json {
        let target = &stock.target.spec.name;
        let mode = lab.mode().name();
        let document = bootlap_report::json::trials(&trials, target, mode, evidence::TOOL);
        ui.print(&document.map_err(|e| Failure::new(Exit::Internal, e))?);
    } else {
        ui.print(&text::trials(&trials, &ui::style()));
    }
    Ok(Exit::Ok)
}

/// Reads recipe names.
pub(crate) fn parse(names: &[String]) -> Result<Vec<Choice>, Failure> {
    let parsed = names.iter().map(|name| Choice::parse(name));
    Ok(parsed.collect::<Result<_, _>>()?)
}

/// The timelines of several runs.
pub(crate) fn timelines(runs: &[Run]) -> Result<Vec<Timeline>, Failure> {
    let read = |run| Ok(evidence::read_run(run)?.timeline);
    runs.iter().map(read).collect()
}

/// What one variant changed. A variant that never got ready is a failure.
pub(crate) fn measure(
    name: &str,
    before: &[Timeline],
    after: &[Timeline],
    runs: &[Run],
) -> Result<Trial, Failure> {
    let before: Vec<&Timeline> = before.iter().collect();
    let after: Vec<&Timeline> = after.iter().collect();
    let total = before.first().and_then(|t| bootlap_analysis::ready_ns(t));
    let margin = total.unwrap_or(0) / MARGIN;
    trial(name, &before, &after, margin).ok_or_else(|| {
        runs.iter()
            .find_map(never_ready)
            .map(|f| Failure {
                message: format!("with {name}: {}", f.message),
                ..f
            })
            .unwrap_or_else(|| Failure::new(Exit::NeverReady, format!("{name}: never ready")))
    })
}
