//! The one place where values become effects.

use super::{Margin, Row, Shape};
use crate::stats::{Effect, Question, Verdict, correct, effect, median};

/// How values are tested.
#[derive(Clone, Copy)]
pub(super) struct Test {
    pub(super) margin: Margin,
}

impl Test {
    /// What the values of both sides say; `None` if neither has any.
    pub(super) fn row(&self, name: &str, values: &[Vec<i64>; 2]) -> Option<Row> {
        let [before_ns, after_ns] = values.each_ref().map(|v| median(v));
        before_ns.or(after_ns)?;
        let both = before_ns.zip(after_ns);
        Some(Row {
            name: name.to_owned(),
            before_ns,
            after_ns,
            effect: both.map(|(before_ns, _)| self.effect(values, self.margin.of(before_ns))),
            shapes: values.each_ref().map(|v| Shape::of(v)),
        })
    }

    /// Whether two sides differ by more than chance; with one boot on a side
    /// nobody can tell, so that any difference counts.
    pub(super) fn changed(&self, values: &[Vec<i64>; 2]) -> bool {
        if values.iter().any(|v| v.len() < 2) {
            return true;
        }
        let effect = self.effect(values, 0);
        let few = values.iter().any(|v| v.len() < 4);
        let [low_ns, high_ns] = effect.interval_ns;
        let one_sided = low_ns > 0 || high_ns < 0;
        // So few values cannot get below any p.
        one_sided && (few || matches!(effect.verdict, Verdict::Faster | Verdict::Slower))
    }

    fn effect(&self, values: &[Vec<i64>; 2], margin_ns: i64) -> Effect {
        effect(&values[0], &values[1], &Question::once(margin_ns))
    }
}

/// Corrects the verdicts of some rows for their number.
pub(super) fn holm<'r>(rows: impl Iterator<Item = &'r mut Row>) {
    let mut rows: Vec<&mut Row> = rows.filter(|row| row.effect.is_some()).collect();
    let mut effects: Vec<Effect> = rows.iter().filter_map(|row| row.effect).collect();
    correct(&mut effects);
    for (row, effect) in rows.iter_mut().zip(effects) {
        row.effect = Some(effect);
    }
}

/// Takes back what was concluded from copies of one boot.
pub(super) fn distrust(row: &mut Row) {
    if let Some(effect) = &mut row.effect {
        effect.verdict = Verdict::Unknown;
        effect.p = 1.0;
    }
}
