//! What is advised, tried step by step: each on top of those that helped.

use bootlap_advice::{Finding, SavingKind};
use bootlap_analysis::Verdict;
use bootlap_analysis::experiment::Trial;
use bootlap_analysis::stats::Question;
use bootlap_lab::Run;
use bootlap_product::recipe::Choice;

use crate::bootable::Bootable;
use crate::broken::never_ready;
use crate::equal::{boot_equal, check_identical};
use crate::evidence::{self, Recorded};
use crate::experiment::{Experiment, Side, Stop};
use crate::failure::Failure;
use crate::lab::Lab;

/// What a step has to save to be worth the boots that prove it.
const WORTH_A_STEP_NS: i64 = 50_000_000;

/// Boots twice, and reads the first boot.
///
/// # Errors
/// If it does not get ready.
pub fn boot_checked(lab: &Lab<'_>, bootable: &Bootable) -> Result<(Recorded, Run), Failure> {
    let mut runs = boot_equal(lab, bootable, 2, "")?;
    if let Some(failure) = runs.iter().find_map(never_ready) {
        return Err(failure);
    }
    let mut recorded = evidence::read_run(&runs[0])?;
    recorded.about.identical = check_identical(lab, &runs)?;
    Ok((recorded, runs.swap_remove(0)))
}

/// The target with all that helped, and what each step did.
pub struct Climbed {
    /// The target with all that helped.
    pub best: Bootable,
    /// What each step did, on top of those before it that helped.
    pub steps: Vec<Trial>,
}

/// Tries what is advised, each step on top of those that helped.
///
/// # Errors
/// If something cannot be booted.
pub fn climb(
    lab: &Lab<'_>,
    experiment: &mut Experiment<'_, '_>,
    stock: &Bootable,
    findings: &[Finding],
    perturbations: u32,
) -> Result<Climbed, Failure> {
    let mut best = Side {
        name: "baseline".to_owned(),
        bootable: stock.clone(),
    };
    let mut steps = Vec::new();
    for choice in worth_a_step(findings)? {
        let recipe = &choice.name();
        // Nothing is left for it to do, once others were kept.
        let Bootable { target, parts, .. } = &best.bootable;
        if choice.edits(target, parts).is_err() {
            continue;
        }
        let candidate = Side {
            name: recipe.to_owned(),
            bootable: lab.with(&best.bootable, [&choice])?,
        };
        let sides = [&best, &candidate];
        let booted = experiment.boot(&format!("booting {recipe}"), &sides, perturbations);
        booted.map_err(Stop::failure)?;
        let question = Question::once(experiment.margin_ns(&best));
        let step = experiment.trial(&best, &candidate, &question);
        let step = step.ok_or_else(|| Failure::from(experiment.broken(&candidate)))?;
        let kept = step.effect.verdict == Verdict::Faster;
        lab.progress.note(&format!("    {}", one_line(&step)));
        if kept {
            best = candidate;
        }
        steps.push(step);
    }
    Ok(Climbed {
        best: best.bootable,
        steps,
    })
}

/// Recipes whose saving this boot can show and is worth ten boots, and that a
/// product can take over; `tune` tries them all.
fn worth_a_step(findings: &[Finding]) -> Result<Vec<Choice>, Failure> {
    let mut choices = Vec::new();
    for finding in findings {
        let large = finding.saving.ns >= WORTH_A_STEP_NS;
        if let Some(recipe) = &finding.recipe
            && large
            && finding.saving.kind == SavingKind::ThisBoot
        {
            choices.push(Choice::parse(recipe)?);
        }
    }
    choices.retain(|choice| !choice.only_asked_for());
    Ok(choices)
}

fn one_line(step: &Trial) -> String {
    use bootlap_report::format::duration;
    let saved = duration(step.effect.shift_ns.saturating_neg());
    let fate = match step.effect.verdict {
        Verdict::Faster => "kept",
        Verdict::Slower => "left out: slower",
        Verdict::Equivalent => "left out: no gain here",
        Verdict::Unknown => "left out: no sure gain here",
    };
    format!("{:<32} saves {saved:>9}  {fate}", step.recipe)
}
