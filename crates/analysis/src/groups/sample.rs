//! The one place where values become effects.

use super::{Boot, Margin, Row, Shape};
use crate::stats::{
    Effect, FEWEST_PAIRS, Question, Verdict, correct_weighted, effect, effect_of_pairs, median,
};

/// A value of each boot that got to the common end, by side; `None` where a
/// boot does not show it.
pub(super) type Values = [Vec<Option<i64>>; 2];

/// What the boots of both sides have to do with each other.
pub(super) enum Design {
    /// These belong together: they have the same perturbation.
    Pairs(Vec<[usize; 2]>),
    /// They are alike in all but the change: made in turns, or in the lab's
    /// time, in which no day is like another.
    Turns,
    /// All of one side may have been made before all of the other.
    Sessions,
}

impl Design {
    /// That of the boots that got to the end.
    pub(super) fn of(sides: [&[Boot<'_>]; 2]) -> Self {
        let mut boots = sides.iter().copied().flatten();
        if !boots.all(|b| b.timeline.time().repeats()) && !in_turns(sides) {
            return Design::Sessions;
        }
        let pairs = pairs(sides);
        match pairs.len() >= FEWEST_PAIRS {
            true => Design::Pairs(pairs),
            false => Design::Turns,
        }
    }
}

/// Whether the sides were booted in turns: sorted by when they were made, the
/// side changes as often as the smaller one has boots.
fn in_turns(sides: [&[Boot<'_>]; 2]) -> bool {
    let few = sides.iter().map(|s| s.len()).min().unwrap_or(0);
    let mut made: Vec<(i64, usize)> = Vec::new();
    for (side, boots) in sides.into_iter().enumerate() {
        for boot in boots {
            let Some(ns) = boot.made_ns else { return false };
            made.push((ns, side));
        }
    }
    made.sort_unstable();
    made.windows(2).filter(|w| w[0].1 != w[1].1).count() >= few
}

/// The boots of both sides that have one perturbation, each in one pair only.
fn pairs(sides: [&[Boot<'_>]; 2]) -> Vec<[usize; 2]> {
    let once = |boots: &[Boot<'_>], number: u32| {
        let mut same = boots.iter().enumerate();
        let at = same.find(|(_, b)| b.perturbation == Some(number))?.0;
        let again = same.any(|(_, b)| b.perturbation == Some(number));
        (!again).then_some(at)
    };
    let first = sides[0].iter().filter_map(|b| b.perturbation);
    let pair = |number: u32| Some([once(sides[0], number)?, once(sides[1], number)?]);
    first.filter_map(pair).collect()
}

/// How values are tested.
pub(super) struct Test {
    pub(super) margin: Margin,
    pub(super) design: Design,
}

impl Test {
    /// What the values of both sides say; `None` if neither has any.
    pub(super) fn row(&self, name: &str, values: &Values) -> Option<Row> {
        let known = known(values);
        let [before_ns, after_ns] = known.each_ref().map(|v| median(v));
        before_ns.or(after_ns)?;
        let both = before_ns.zip(after_ns);
        Some(Row {
            name: name.to_owned(),
            before_ns,
            after_ns,
            effect: both.map(|(before_ns, _)| self.effect(values, self.margin.of(before_ns))),
            shapes: known.each_ref().map(|v| Shape::of(v)),
            values_ns: values.clone(),
        })
    }

    /// Whether two sides differ by more than chance; with one boot on a side
    /// nobody can tell, so that any difference counts.
    pub(super) fn changed(&self, values: &Values) -> bool {
        let counts = known(values).map(|v| v.len());
        if counts.iter().any(|n| *n < 2) {
            return true;
        }
        let effect = self.effect(values, 0);
        let few = counts.iter().any(|n| *n < 4);
        let [low_ns, high_ns] = effect.interval_ns;
        let one_sided = low_ns > 0 || high_ns < 0;
        // So few values cannot get below any p.
        one_sided && (few || matches!(effect.verdict, Verdict::Faster | Verdict::Slower))
    }

    fn effect(&self, values: &Values, margin_ns: i64) -> Effect {
        let question = Question::once(margin_ns);
        if let Design::Pairs(pairs) = &self.design {
            let both = pairs
                .iter()
                .map(|[before, after]| values[0][*before].zip(values[1][*after]));
            let both: Vec<(i64, i64)> = both.flatten().collect();
            if both.len() >= FEWEST_PAIRS {
                return effect_of_pairs(&both, &question);
            }
        }
        let [before, after] = known(values);
        let effect = effect(&before, &after, &question);
        match self.design {
            Design::Sessions => effect.of_sessions(&before, &after),
            _ => effect,
        }
    }
}

/// The values that there are, in the order of the boots.
pub(super) fn known(values: &Values) -> [Vec<i64>; 2] {
    values
        .each_ref()
        .map(|side| side.iter().flatten().copied().collect())
}

/// The share of the error that the total may use by itself. It is what people
/// ask for first, and there are many phases and spans.
const TOTAL: f64 = 0.8;

/// Corrects the verdicts of one comparison for their number: the total, the
/// phases and the spans share one error.
pub(super) fn share_error<'r>(
    total: Option<&'r mut Row>,
    others: impl Iterator<Item = &'r mut Row>,
) {
    let mut total = total.and_then(|row| row.effect.as_mut());
    let mut others: Vec<&mut Effect> = others.filter_map(|row| row.effect.as_mut()).collect();
    let weight = (1.0 - TOTAL) / others.len().max(1) as f64;
    let mut all: Vec<(f64, &mut Effect)> = others.drain(..).map(|e| (weight, e)).collect();
    all.extend(total.take().map(|effect| (TOTAL, effect)));
    correct_weighted(&mut all);
}

/// Takes back what was concluded from copies of one boot.
pub(super) fn distrust(row: &mut Row) {
    if let Some(effect) = &mut row.effect {
        effect.verdict = Verdict::Unknown;
        effect.p = 1.0;
    }
}
