//! `bootlap reduce`: which part of a recipe's list a target needs, or takes.

use std::path::Path;

use bootlap_engine::reduce::{Goal, ReduceOptions, Reduced as Found, reduce_list};
use bootlap_engine::{Exit, Failure, Progress, TOOL};
use bootlap_model::shell_word;
use bootlap_product::recipe::{List, Listed};
use bootlap_report::reduced::{self, Reduced, Says};

use crate::args::Reduce;
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Reduce, ui: &Ui) -> Result<Exit, Failure> {
    let named = args.recipe.split_once('=').map(|(_, list)| Path::new(list));
    let same = named.is_some_and(|list| list.canonicalize().ok() == args.out.canonicalize().ok());
    if same && args.out.exists() {
        let why = format!("{} is the list that is reduced", args.out.display());
        let hint = "name another file with --out; nothing is written over";
        return Err(Failure::new(Exit::Usage, why).hint(hint));
    }
    let lab = args.lab.lab(ui)?;
    let options = ReduceOptions {
        recipe: args.recipe.clone(),
        perturbations: args.perturbations,
        margin: args.margin,
        goal: Goal::Ready,
    };
    let found = reduce_list(&lab, lab.prepare(&args.target)?, &options)?;
    found.list.write(&args.out)?;
    let recipe = recipe(found.recipe, &found.list, args);
    let left = !found.list.members.is_empty();
    tell(found, args.json, ui)?;
    if left {
        ui.note(&format!(
            "{} has the list; `bootlap try {} {recipe}` measures it against the target as it is",
            shell_word(args.out.display()),
            shell_word(args.target.display()),
        ));
    }
    Ok(Exit::Ok)
}

/// Prints what was found.
pub(super) fn tell(found: Found, as_json: bool, ui: &Ui) -> Result<(), Failure> {
    let reduced = Reduced {
        target: found.stock.target.spec.name.clone(),
        mode: found.stock.mode().name().to_owned(),
        recipe: found.recipe.to_owned(),
        says: match found.list.listed {
            Listed::Kept => Says::Stays,
            Listed::Changed => Says::Changes,
            Listed::Needed => Says::Needed,
        },
        sooner: found.goal == Goal::Sooner,
        list: found.list.members,
        left_out: found.left_out,
        tried: found.tried,
        trial: found.trial,
    };
    match as_json {
        true => ui.document(reduced::json(&reduced, TOOL)),
        false => {
            ui.print(&reduced::text(&reduced, &ui::style()));
            Ok(())
        }
    }
}

/// The recipe with its new list, as it is typed.
fn recipe(name: &str, list: &List, args: &Reduce) -> String {
    let value = match list.listed {
        Listed::Kept => args.out.display().to_string(),
        Listed::Changed | Listed::Needed => list.members.join(","),
    };
    shell_word(format!("{name}={value}")).to_string()
}
