//! Lists of what a disk starts, found by booting it: what can be later, and what has to be first.

use bootlap_advice::Finding;

use super::{TuneOptions, candidates};
use crate::bootable::Bootable;
use crate::failure::{Exit, Failure};
use crate::lab::Lab;
use crate::reduce::{Goal, ReduceOptions, Reduced, reduce_list};
use crate::units::Started;

/// A recipe with all that it could list, if it applies.
type Whole = fn(&Started) -> Option<String>;

/// What is looked for, in this order: with what is later out of the way, less is to be booted.
const SEARCHES: [(&str, Whole); 2] = [
    (
        "0/4 Look for what can be started once the boot is over",
        Started::deferring,
    ),
    (
        "0/4 Look for what has to start before all else",
        Started::coming_first,
    ),
];

/// Recipes for what a disk starts, each with the list that saves most time, if any does; and the
/// boots that it took to know. They are looked for with all that is advised, as a target that
/// boots in a third of the time is searched in a third of the time.
pub(super) fn found(
    lab: &Lab<'_>,
    stock: &Bootable,
    findings: &[Finding],
    options: &TuneOptions,
) -> Result<(Vec<String>, usize), Failure> {
    let (mut recipes, mut boots): (Vec<String>, usize) = (Vec::new(), 0);
    let Ok(started) = Started::of(&stock.target, &stock.parts) else {
        return Ok((recipes, boots));
    };
    for (what, whole) in SEARCHES {
        let name = whole(&started).and_then(|recipe| Some(recipe.split_once('=')?.0.to_owned()));
        let Some(name) = name.filter(|name| candidates::wants_list(name, options)) else {
            continue;
        };
        lab.progress.note(what);
        let advised = candidates::all_advised(lab, stock, findings, &name, &recipes, options)?;
        let best = match best(lab, advised, whole, options) {
            Err(failure) if failure.exit == Exit::NeverReady => {
                best(lab, stock.clone(), whole, options)?
            }
            found => found?,
        };
        if let Some(best) = best {
            boots += best.tried;
            let members = best.list.members.join(",");
            recipes.extend((!members.is_empty()).then(|| format!("{name}={members}")));
        }
    }
    Ok((recipes, boots))
}

/// The best list for `bootable`; `None` if nothing that it starts can be in one.
fn best(
    lab: &Lab<'_>,
    bootable: Bootable,
    whole: Whole,
    options: &TuneOptions,
) -> Result<Option<Reduced>, Failure> {
    let started = Started::of(&bootable.target, &bootable.parts);
    let Some(recipe) = started.ok().and_then(|started| whole(&started)) else {
        return Ok(None);
    };
    let options = ReduceOptions {
        recipe,
        perturbations: 0,
        margin: options.margin,
        goal: Goal::Sooner,
    };
    reduce_list(lab, bootable, &options).map(Some)
}
