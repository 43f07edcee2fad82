//! `bootlap minimise`, `bootlap defer` and `bootlap first`: the smallest user space with which a
//! target still passes its check, and the fastest in which everything still runs, but later than
//! the application.

use bootlap_engine::reduce::{Goal, ReduceOptions, reduce_list};
use bootlap_engine::units::Started;
use bootlap_engine::{Exit, Failure, Progress};
use bootlap_model::shell_word;

use super::reduce;
use crate::args::Minimise;
use crate::ui::Ui;

/// Leaves out as much as can be.
pub(crate) fn minimise(args: &Minimise, ui: &Ui) -> Result<Exit, Failure> {
    run(args, ui, Goal::Ready, Started::leaving_out)
}

/// Starts what the application needs before all else, and nothing that it does not.
pub(crate) fn first(args: &Minimise, ui: &Ui) -> Result<Exit, Failure> {
    run(args, ui, Goal::Sooner, Started::coming_first)
}

/// Starts as much as can be once the boot is over.
pub(crate) fn defer(args: &Minimise, ui: &Ui) -> Result<Exit, Failure> {
    run(args, ui, Goal::Sooner, Started::deferring)
}

fn run(
    args: &Minimise,
    ui: &Ui,
    goal: Goal,
    recipe: impl Fn(&Started) -> Option<String>,
) -> Result<Exit, Failure> {
    let lab = args.lab.lab(ui)?;
    let stock = lab.prepare(&args.target)?;
    let started = Started::of(&stock.target, &stock.parts)?;
    let recipe = recipe(&started).ok_or_else(|| {
        let why = "nothing that is started can go, come later or come first by itself";
        Failure::new(Exit::NothingUsable, why).hint(
            "`bootlap units TARGET` lists what is started, and what needs it; of init scripts \
                 `bootlap defer` finds those that the application can come before",
        )
    })?;
    if stock.target.spec.ready.check.is_none() {
        ui.note(
            "the target has no ready.check: what is found is all that its ready pattern needs, \
             which may be less than your application does",
        );
    }
    let options = ReduceOptions {
        recipe,
        perturbations: args.perturbations,
        margin: args.margin,
        goal,
    };
    let found = reduce_list(&lab, stock, &options)?;
    if let Some(out) = &args.out {
        found.list.write(out)?;
    }
    let (name, list) = (found.recipe, found.list.members.join(","));
    reduce::tell(found, args.json, ui)?;
    if !list.is_empty() {
        let target = shell_word(args.target.display());
        let recipe = shell_word(format!("{name}={list}"));
        ui.note(&format!(
            "to have it: bootlap apply {target} {recipe} -o NEW-TARGET"
        ));
    }
    Ok(Exit::Ok)
}
