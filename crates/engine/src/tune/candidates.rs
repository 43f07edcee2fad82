//! What could be changed: everything that the findings advise, and every other
//! recipe of the catalogue that applies.

use std::path::Path;

use bootlap_advice::Finding;
use bootlap_analysis::tune::Candidate;
use bootlap_product::recipe::{self, Choice};
use bootlap_report::tuning::LeftOut;

use super::TuneOptions;
use crate::bootable::Bootable;
use crate::failure::{Exit, Failure};
use crate::lab::Lab;
use crate::tries::parse;

/// The recipe whose value is the list of files that a boot opens.
pub(super) const TOUCHED: &str = "initramfs-touched";

/// The recipe whose list is made last, of what the tuned boot reads.
pub(super) const PRELOAD: &str = "preload";

/// Recipes whose lists are found by booting, where they are named without one.
const FOUND: [&str; 4] = [
    "systemd-defer",
    "systemd-first",
    "initscripts-defer",
    PRELOAD,
];

/// The list of the files that a boot opens.
pub(super) const LIST: &str = "touched.txt";

/// The changes to search among, the most promising first.
pub(super) struct Candidates {
    pub(super) choices: Vec<Choice>,
    pub(super) names: Vec<Candidate>,
    /// Those that do not apply to the target, and why.
    pub(super) refused: Vec<LeftOut>,
}

/// Whether the list of such a recipe is to be found by booting: nobody has typed one, or said to
/// do without.
pub(super) fn wants_list(recipe: &str, options: &TuneOptions) -> bool {
    let own = options.recipes.iter().chain(&options.only);
    let value = |name: &String| Some(name.strip_prefix(recipe)?.starts_with('='));
    let mut typed = own.filter_map(value);
    let is = |name: &String| name == recipe;
    let among = options.only.is_empty() || options.only.iter().any(is);
    among && !typed.any(|typed| typed) && !options.without.iter().any(is)
}

/// Collects them: what `options` ask for, what is advised, and the catalogue. `touched`
/// is the list of the files that a boot opens, if one was watched, and `lists` are recipes whose
/// lists were found by booting.
pub(super) fn candidates(
    lab: &Lab<'_>,
    stock: &Bootable,
    findings: &[Finding],
    touched: Option<&Path>,
    lists: &[String],
    options: &TuneOptions,
) -> Result<Candidates, Failure> {
    let mut all = with_list(stock, findings, touched, lists, options)?;
    on_top(lab, stock, &mut all);
    let own = || options.recipes.iter().chain(&options.only);
    if let Some(out) = all
        .refused
        .iter()
        .find(|out| own().any(|own| *own == out.recipe))
    {
        let why = format!("recipe {} {}", out.recipe, out.why);
        return Err(Failure::new(Exit::Usage, why));
    }
    // Where this search has its list is of no interest, and different each time.
    if let Some(list) = touched {
        let name = format!("{TOUCHED}={}", list.display());
        let plain = format!("{TOUCHED}={LIST}");
        let kept = all.names.iter_mut().map(|c| &mut c.name);
        let refused = all.refused.iter_mut().map(|out| &mut out.recipe);
        for known in kept.chain(refused).filter(|known| **known == name) {
            known.clone_from(&plain);
        }
    }
    Ok(all)
}

/// The same; the list of touched files is named by its path.
fn with_list(
    stock: &Bootable,
    findings: &[Finding],
    touched: Option<&Path>,
    lists: &[String],
    options: &TuneOptions,
) -> Result<Candidates, Failure> {
    let listed = touched.map(|list| format!("{TOUCHED}={}", list.display()));
    let mut own = [&options.recipes[..], &options.only].concat();
    for name in own.iter_mut().filter(|name| *name == TOUCHED) {
        name.clone_from(listed.as_ref().unwrap_or(&TOUCHED.to_owned()));
    }
    own.retain(|name| !FOUND.contains(&name.as_str()));
    own.extend_from_slice(lists);
    let mut wanted: Vec<Choice> = parse(&own)?;
    if !options.only.is_empty() {
        return collect(stock, wanted, own.len(), &options.without);
    }
    wanted.extend(parse(listed.as_slice())?);
    let advised = findings.iter().filter_map(|f| f.recipe.as_deref());
    wanted.extend(tried_unasked(advised, options.all)?);
    let asked = wanted.len();
    for recipe in recipe::all() {
        if recipe.only_asked_for() && !options.all {
            continue;
        }
        let meta = recipe.meta();
        let values = match meta.values {
            [] => vec![meta.name.to_owned()],
            // Any value: only a finding knows which.
            [""] => Vec::new(),
            values => values
                .iter()
                .map(|v| format!("{}={v}", meta.name))
                .collect(),
        };
        wanted.extend(parse(&values)?);
    }
    collect(stock, wanted, asked, &options.without)
}

/// Recipes that are advised, without those that are tried on request only.
fn tried_unasked<'a>(
    advised: impl Iterator<Item = &'a str>,
    all: bool,
) -> Result<Vec<Choice>, Failure> {
    let mut choices = advised.map(Choice::parse).collect::<Result<Vec<_>, _>>()?;
    choices.retain(|choice| all || !choice.only_asked_for());
    Ok(choices)
}

/// Whether somebody has said to do without it.
fn is_forbidden(choice: &Choice, without: &[String]) -> bool {
    let is = |name: &String| *name == choice.name() || *name == choice.meta().name;
    without.iter().any(is)
}

/// The target with all that is advised or in `more` and applies, but for the recipe `but`.
pub(super) fn all_advised(
    lab: &Lab<'_>,
    stock: &Bootable,
    findings: &[Finding],
    but: &str,
    more: &[String],
    options: &TuneOptions,
) -> Result<Bootable, Failure> {
    let advised = findings.iter().filter_map(|f| f.recipe.as_deref());
    let mut all = stock.clone();
    let mut choices = tried_unasked(advised, options.all)?;
    choices.extend(parse(more)?);
    for choice in choices {
        let forbidden = is_forbidden(&choice, &options.without);
        if forbidden || choice.meta().name == but {
            continue;
        }
        // What does not apply on top of the others is left out.
        if let Ok(more) = lab.with(&all, [&choice]) {
            all = more;
        }
    }
    Ok(all)
}

/// Those of `wanted` that apply and are not forbidden. Why one of the first `asked` does not is
/// worth a line.
fn collect(
    stock: &Bootable,
    wanted: Vec<Choice>,
    asked: usize,
    without: &[String],
) -> Result<Candidates, Failure> {
    check_forbidden(without, &wanted)?;
    let mut all = Candidates {
        choices: Vec::new(),
        names: Vec::new(),
        refused: Vec::new(),
    };
    for (at, choice) in wanted.into_iter().enumerate() {
        let name = choice.name();
        let known = all.names.iter().any(|c| c.name == name);
        if known || is_forbidden(&choice, without) {
            continue;
        }
        match choice.edits(&stock.target, &stock.parts) {
            Ok(_) => {
                all.names.push(Candidate {
                    name,
                    kind: choice.meta().name.to_owned(),
                });
                all.choices.push(choice);
            }
            // What is so already is nothing to talk about.
            Err(why) if at < asked || !why.contains("already") => {
                all.refused.push(LeftOut {
                    recipe: name,
                    why: format!("does not apply: {why}"),
                    saved_ns: None,
                });
            }
            Err(_) => {}
        }
    }
    Ok(all)
}

/// Takes in what does not apply by itself, but on top of a change that was asked for: without
/// its boot loader, much of a target can be changed that could not be before.
fn on_top(lab: &Lab<'_>, stock: &Bootable, all: &mut Candidates) {
    let asked: Vec<Choice> = all
        .choices
        .iter()
        .filter(|choice| choice.only_asked_for())
        .cloned()
        .collect();
    let without: Vec<Bootable> = asked
        .iter()
        .filter_map(|choice| lab.with(stock, [choice]).ok())
        .collect();
    let refused = std::mem::take(&mut all.refused);
    for out in refused {
        let choice = Choice::parse(&out.recipe).ok();
        let applies = |choice: &Choice| {
            let edits = |on: &Bootable| choice.edits(&on.target, &on.parts).is_ok();
            without.iter().any(edits)
        };
        match choice.filter(applies) {
            Some(choice) => {
                all.names.push(Candidate {
                    name: out.recipe,
                    kind: choice.meta().name.to_owned(),
                });
                all.choices.push(choice);
            }
            None => all.refused.push(out),
        }
    }
}

fn check_forbidden(without: &[String], known: &[Choice]) -> Result<(), Failure> {
    for name in without {
        let is = |c: &Choice| *name == c.name();
        let named = recipe::all().iter().any(|r| r.meta().name == name);
        if !named && !known.iter().any(is) {
            let why = format!("--without {name}: no recipe is called so");
            let failure = Failure::new(Exit::Usage, why);
            return Err(failure.hint("`bootlap recipes` lists them"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use bootlap_analysis::groups::Margin;

    use super::*;

    #[test]
    fn a_list_is_found_where_nobody_types_one() {
        let wants = |only: &[&str], recipes: &[&str], without: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let options = TuneOptions {
                out: PathBuf::new(),
                recipes: owned(recipes),
                all: false,
                only: owned(only),
                without: owned(without),
                boots: None,
                minutes: None,
                perturbations: 8,
                margin: Margin::Ns(0),
                beside: Vec::new(),
            };
            wants_list(PRELOAD, &options)
        };
        assert!(wants(&[], &[], &[]));
        assert!(wants(&["cmdline-quiet", "preload"], &[], &[]));
        assert!(!wants(&["cmdline-quiet"], &[], &[]));
        assert!(!wants(&[], &["preload=mine.txt"], &[]));
        assert!(!wants(&[], &[], &["preload"]));
    }

    #[test]
    fn advice_alone_does_not_remove_the_boot_loader() {
        let tried = |all| {
            let advised = ["bootloader-none", "cmdline-quiet"].into_iter();
            let choices = tried_unasked(advised, all).unwrap();
            choices.iter().map(Choice::name).collect::<Vec<_>>()
        };
        assert_eq!(tried(false), ["cmdline-quiet"]);
        assert_eq!(tried(true), ["bootloader-none", "cmdline-quiet"]);
    }
}
