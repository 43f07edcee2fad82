//! `bootlap try`: measure recipes against the target as it is.

use bootlap_analysis::experiment::Trial;
use bootlap_product::recipe::Choice;
use bootlap_report::text;

use crate::args::Try;
use crate::evidence;
use crate::exit::{Exit, Failure};
use crate::experiment::{Compared, Experiment, Side, Stop};
use crate::lab::Lab;
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Try, ui: &Ui) -> Result<Exit, Failure> {
    let lab = Lab::new(&args.lab, ui);
    let choices = parse(&args.recipes)?;
    let stock = lab.prepare(&args.target)?;
    let mut sides = Vec::new();
    for choice in &choices {
        sides.push(Side {
            name: choice.name(),
            bootable: lab.with(&stock, choice)?,
        });
    }
    if args.together && choices.len() > 1 {
        let mut all = stock.clone();
        for choice in &choices {
            all = lab.with(&all, choice)?;
        }
        let names: Vec<String> = choices.iter().map(Choice::name).collect();
        sides.push(Side {
            name: names.join("+"),
            bootable: all,
        });
    }
    let names = sides.iter().map(|side| side.name.clone()).collect();
    let mut experiment = Experiment::open(&lab, "try", &stock, args.layouts, args.margin, names)?;
    let baseline = Side {
        name: "baseline".to_owned(),
        bootable: stock.clone(),
    };
    let what = format!("booting {} variants", sides.len() + 1);
    let compared = experiment.compare(&what, &baseline, &sides);
    let compared = compared.map_err(Stop::failure)?;
    experiment.finish()?;
    let mut trials: Vec<Trial> = Vec::new();
    let mut broken = None;
    for (side, compared) in sides.iter().zip(compared) {
        match compared {
            Compared::Measured(trial) => trials.push(*trial),
            Compared::Broken(why) => {
                let failure = Failure::from(*why);
                broken.get_or_insert(Failure {
                    message: format!("with {}: {}", side.name, failure.message),
                    ..failure
                });
            }
        }
    }
    if args.json {
        let target = &stock.target.spec.name;
        let mode = lab.mode_of(&stock).name();
        let document = bootlap_report::json::trials(&trials, target, mode, evidence::TOOL);
        ui.print(&document.map_err(|e| Failure::new(Exit::Internal, e))?);
    } else if broken.is_none() || !trials.is_empty() {
        ui.print(&text::trials(&trials, &ui::style()));
    }
    match broken {
        Some(failure) => Err(failure),
        None => Ok(Exit::Ok),
    }
}

/// Reads recipe names.
pub(crate) fn parse(names: &[String]) -> Result<Vec<Choice>, Failure> {
    let parsed = names.iter().map(|name| Choice::parse(name));
    Ok(parsed.collect::<Result<_, _>>()?)
}
