//! `bootlap tune`: search for the best set of recipes, prove it, write it out.

use bootlap_engine::tune::{TuneOptions, Tuned, tune};
use bootlap_engine::{Exit, Failure};
use bootlap_report::tuning;

use crate::args::Tune;
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Tune, ui: &Ui) -> Result<Exit, Failure> {
    let options = TuneOptions {
        out: args.out.clone(),
        recipes: args.recipe.clone(),
        all: args.all,
        only: args.only.clone(),
        without: args.without.clone(),
        boots: args.boots,
        minutes: args.minutes,
        perturbations: args.perturbations,
        margin: args.margin,
        beside: args.beside.clone(),
    };
    let Tuned { tuning, page } = tune(&args.lab.lab(ui)?, &args.target, &options)?;
    if args.json {
        ui.document(tuning::json(&tuning))?;
    } else {
        ui.print(&tuning::text(&tuning, &ui::style()));
        ui.print(&format!(
            "\n  tuned target  {}\n  page          {}\n",
            tuning.out,
            page.display()
        ));
    }
    Ok(Exit::Ok)
}
