//! Recipes measured against the target as it is.

use std::path::Path;

use bootlap_analysis::experiment::Trial;
use bootlap_analysis::groups::Margin;
use bootlap_product::recipe::Choice;

use crate::bootable::Bootable;
use crate::broken::Broken;
use crate::experiment::{Compared, Experiment, Side, Stop};
use crate::failure::Failure;
use crate::lab::Lab;

/// What to measure.
pub struct TryOptions {
    /// Recipes as they are typed, e.g. `uboot-bootdelay`.
    pub recipes: Vec<String>,
    /// Measure all of them together as well.
    pub together: bool,
    /// Perturbations of each side before the first look.
    pub perturbations: u32,
    /// A smaller change counts as none.
    pub margin: Margin,
}

/// What came of it.
pub struct Tried {
    /// The target as it is.
    pub stock: Bootable,
    /// Each recipe that boots, in the order in which they were named.
    pub trials: Vec<Trial>,
    /// Those with which the target does not boot, by name.
    pub broken: Vec<(String, Broken)>,
}

/// Measures each recipe of `options` against `target`.
///
/// # Errors
/// If a recipe is not known or does not apply, or the target itself does not boot.
pub fn try_recipes(lab: &Lab<'_>, target: &Path, options: &TryOptions) -> Result<Tried, Failure> {
    let choices = parse(&options.recipes)?;
    let stock = lab.prepare(target)?;
    let mut sides = Vec::new();
    for choice in &choices {
        sides.push(Side {
            name: choice.name(),
            bootable: lab.with(&stock, [choice])?,
        });
    }
    if options.together && choices.len() > 1 {
        let names: Vec<String> = choices.iter().map(Choice::name).collect();
        sides.push(Side {
            name: names.join("+"),
            bootable: lab.with(&stock, &choices)?,
        });
    }
    let names = sides.iter().map(|side| side.name.clone()).collect();
    let mut experiment = Experiment::open(
        lab,
        "try",
        &stock,
        options.perturbations,
        options.margin,
        names,
    )?;
    let baseline = Side {
        name: "baseline".to_owned(),
        bootable: stock.clone(),
    };
    let what = format!("booting {} variants", sides.len() + 1);
    let compared = experiment.compare(&what, &baseline, &sides);
    let compared = compared.map_err(Stop::failure)?;
    experiment.finish()?;
    let mut tried = Tried {
        stock,
        trials: Vec::new(),
        broken: Vec::new(),
    };
    for (side, compared) in sides.into_iter().zip(compared) {
        match compared {
            Compared::Measured(trial) => tried.trials.push(*trial),
            Compared::Broken(broken) => tried.broken.push((side.name, *broken)),
        }
    }
    Ok(tried)
}

/// Reads recipe names.
///
/// # Errors
/// If one is not known.
pub fn parse(names: &[String]) -> Result<Vec<Choice>, Failure> {
    let parsed = names.iter().map(|name| Choice::parse(name));
    Ok(parsed.collect::<Result<_, _>>()?)
}
