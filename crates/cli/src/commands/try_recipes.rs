//! `bootlap try`: measure recipes against the target as it is.

use bootlap_engine::tries::{TryOptions, try_recipes};
use bootlap_engine::{Exit, Failure, TOOL};
use bootlap_report::trials;

use crate::args::Try;
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Try, ui: &Ui) -> Result<Exit, Failure> {
    let lab = args.lab.lab(ui)?;
    let options = TryOptions {
        recipes: args.recipes.clone(),
        together: args.together,
        perturbations: args.perturbations,
        margin: args.margin,
    };
    let tried = try_recipes(&lab, &args.target, &options)?;
    if args.json {
        let target = &tried.stock.target.spec.name;
        let mode = tried.stock.mode().name();
        ui.document(trials::json(&tried.trials, target, mode, TOOL))?;
    } else if tried.broken.is_empty() || !tried.trials.is_empty() {
        ui.print(&trials::text(&tried.trials, &ui::style()));
    }
    match tried.broken.into_iter().next() {
        None => Ok(Exit::Ok),
        Some((name, broken)) => {
            let failure = Failure::from(broken);
            Err(Failure {
                message: format!("with {name}: {}", failure.message),
                ..failure
            })
        }
    }
}
