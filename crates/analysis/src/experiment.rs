//! What one recipe changed, from several boots of each side.

use bootlap_model::Timeline;
use serde::Serialize;

use crate::compare::{Delta, Moved, compare};
use crate::ends::ready_ns;
use crate::predict::Predicted;
use crate::stats::{Effect, Question, Verdict, effect_of_pairs, median};

/// One recipe, measured against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The recipe, or the recipes joined by `+`.
    pub recipe: String,
    /// Median time to ready without it, ns.
    pub before_ns: i64,
    /// Median time to ready with it, ns.
    pub after_ns: i64,
    /// The change of the time to ready.
    pub effect: Effect,
    /// Boots that never got ready, without and with the recipe. They are in no
    /// sample: look at them before believing the effect.
    pub not_ready: [usize; 2],
    /// By phase, from the first boot of each side that got ready.
    pub phases: Vec<Delta>,
    /// By place, from the same boots.
    pub parts: Vec<Delta>,
    /// Savings that came back elsewhere, from the same boots.
    pub moved: Vec<Moved>,
    /// What it is predicted to save on the board that the target stands for, if
    /// that is described.
    #[serde(default)]
    pub predicted: Option<Predicted>,
}

/// The account of `recipe` from boots without and with it, in the order of
/// their rounds; `None` if a side never got ready.
///
/// Samples are times to ready. The boots of one round belong together: they
/// have the same perturbation, and were made close to each other, so neither
/// the layout of memory nor a machine that gets warm counts on one side.
/// Phases and movement come from one boot of each side, the first: the lab
/// boots that one as the target is, and the others with a perturbation.
///
/// A side that fails more often than the other is neither faster nor
/// equivalent, whatever its other boots say.
pub fn trial(
    recipe: &str,
    before: &[&Timeline],
    after: &[&Timeline],
    question: &Question,
) -> Option<Trial> {
    let times = [before, after].map(|boots| boots.iter().map(|t| ready_ns(t)));
    let [from_ns, to_ns] = times
        .clone()
        .map(|side| side.flatten().collect::<Vec<i64>>());
    let first = |boots: &[&'_ Timeline]| boots.iter().position(|t| ready_ns(t).is_some());
    let account = compare(before[first(before)?], after[first(after)?]);
    let [from, to] = times;
    let rounds = from.zip(to).filter_map(|(from, to)| from.zip(to));
    let mut effect = effect_of_pairs(&rounds.collect::<Vec<(i64, i64)>>(), question);
    let not_ready = [before.len() - from_ns.len(), after.len() - to_ns.len()];
    if not_ready[1] > not_ready[0] && effect.verdict != Verdict::Slower {
        effect.verdict = Verdict::Unknown;
    }
    Some(Trial {
        recipe: recipe.to_owned(),
        before_ns: median(&from_ns)?,
        after_ns: median(&to_ns)?,
        effect,
        not_ready,
        phases: account.phases,
        parts: account.parts,
        moved: account.moved,
        predicted: None,
    })
}

#[cfg(test)]
mod tests {
    use bootlap_model::Milestone;

    use super::*;
    use crate::build::Boot;
    use crate::stats::Verdict;

    fn boot(ready_ns: i64) -> Timeline {
        let mut boot = Boot::sim();
        boot.mark(Milestone::PowerOn, 0)
            .mark(Milestone::KernelEntry, 1_000_000_000)
            .mark(Milestone::Ready, ready_ns);
        boot.timeline
    }

    fn boots(ready_ns: &[i64]) -> Vec<Timeline> {
        ready_ns.iter().map(|&ns| boot(ns)).collect()
    }

    #[test]
    fn a_trial_joins_the_effect_with_the_account_of_the_first_boots() {
        let before = boots(&[4_000_000_000, 4_000_100_000, 3_999_900_000, 4_000_050_000]);
        let after = boots(&[3_000_000_000, 3_000_100_000, 2_999_900_000, 3_000_050_000]);
        let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
        let trial = trial("less", &before, &after, &Question::once(1_000_000)).unwrap();
        assert_eq!(trial.effect.verdict, Verdict::Faster);
        assert_eq!(
            (trial.before_ns, trial.after_ns),
            (4_000_025_000, 3_000_025_000)
        );
        assert_eq!(trial.not_ready, [0, 0]);
        let kernel = &trial.phases[1];
        assert_eq!(
            (kernel.name.as_str(), kernel.delta_ns),
            ("kernel", -1_000_000_000)
        );
    }

    #[test]
    fn boots_that_never_got_ready_are_counted_not_averaged() {
        let before = boots(&[100, 200]);
        let mut stuck = boot(0);
        stuck.marks.pop();
        let list: Vec<&Timeline> = before.iter().collect();
        let once = Question::once(1);
        assert_eq!(trial("x", &list, &[&stuck], &once), None);
        assert_eq!(trial("x", &[], &list, &once), None);
        let some = trial("x", &[&stuck, list[0]], &list, &once).unwrap();
        assert_eq!(some.not_ready, [1, 0]);
        assert_eq!(some.before_ns, 100);
    }

    #[test]
    fn a_side_that_fails_more_often_is_not_faster() {
        let slow = boots(&[900, 901, 902, 903, 904, 905, 906, 907]);
        let mut fast = boots(&[100, 101, 102, 103, 104, 105, 106, 107]);
        let once = Question::once(1);
        let verdict = |fast: &[Timeline]| {
            let (slow, fast): (Vec<_>, Vec<_>) = (slow.iter().collect(), fast.iter().collect());
            let trial = trial("x", &slow, &fast, &once).unwrap();
            (trial.effect.verdict, trial.not_ready)
        };
        assert_eq!(verdict(&fast), (Verdict::Faster, [0, 0]));
        fast[3].marks.pop();
        assert_eq!(verdict(&fast), (Verdict::Unknown, [0, 1]));
    }
}
