//! A budget and what became of it, as it is shown and told to CI servers.

mod ci;
mod json;
mod markdown;
mod text;

pub use ci::{github, junit};
pub use json::{CheckJson, GrowthJson, LimitJson, json};
pub use markdown::markdown;
pub use text::text;

use std::fmt::Write;
use std::path::PathBuf;

use bootlap_analysis::budget::{Bound, Growth, How, Judged, State, Unit};

use crate::About;
use crate::format::{change, count, duration, short_count};

/// All that is shown of a check.
pub struct CheckReport {
    /// What was booted and how: what all boots have in common.
    pub about: About,
    /// The runs or files that were judged, as they were typed.
    pub boots: Vec<String>,
    /// The files of the first of them, for whoever wants its report, too.
    pub first: Vec<PathBuf>,
    /// What they were judged by, in words; `None` without a baseline.
    pub baseline: Option<String>,
    /// The budget's file, as it was typed.
    pub budget: String,
    /// Each limit, in the order of the file.
    pub judged: Vec<Judged>,
}

impl CheckReport {
    /// The worst of all limits: one broken limit breaks the budget.
    pub fn state(&self) -> State {
        let has = |state| self.judged.iter().any(|j| j.state == state);
        match () {
            () if has(State::Broken) => State::Broken,
            () if has(State::Unknown) => State::Unknown,
            () => State::Ok,
        }
    }

    /// How many limits are in this state.
    pub fn count(&self, state: State) -> usize {
        self.judged.iter().filter(|j| j.state == state).count()
    }
}

/// A value in its unit.
pub(crate) fn amount(value: i64, unit: Unit) -> String {
    match (unit, u64::try_from(value)) {
        (Unit::Ns, _) => duration(value),
        (_, Err(_)) => format!("−{}", amount(value.saturating_neg().max(0), unit)),
        (Unit::Instructions, Ok(n)) => short_count(n),
        (Unit::Bytes, Ok(n)) => count(n),
    }
}

/// A change in its unit, with its sign.
pub(crate) fn grown(value: i64, unit: Unit) -> String {
    match unit {
        Unit::Ns => change(value),
        _ if value > 0 => format!("+{}", amount(value, unit)),
        _ => amount(value, unit),
    }
}

/// A share as small as regressions are: `+0.102 %`.
pub(crate) fn small_share(share: f64) -> String {
    let text = format!("{:+.3} %", share * 100.0);
    text.replace('-', "−")
}

/// A growth and how sure it is: `+1.203 ms (+0.151 %), 95 % interval …`.
pub(crate) fn growth_text(growth: &Growth, unit: Unit) -> String {
    let mut text = grown(growth.shift, unit);
    if growth.before > 0 {
        let share = growth.shift as f64 / growth.before as f64;
        let _ = write!(text, " ({})", small_share(share));
    }
    if let Some([low, high]) = growth.interval {
        let what = match growth.how {
            How::Few(_) => "bounds",
            How::Pairs(_) | How::Samples(_) => "95 % interval",
        };
        let (low, high) = (grown(low, unit), grown(high, unit));
        let _ = write!(text, ", {what} {low} to {high}");
    }
    let how = match growth.how {
        How::Pairs(n) => format!(", {n} pairs of perturbations"),
        How::Samples([n, m]) => format!(", {n} boots against {m}"),
        How::Few([n, m]) => format!(", {m} against {n}"),
    };
    if let Some(sessions) = growth.sessions {
        let apart = amount(sessions.apart_ns, unit);
        let _ = write!(text, ", {apart} of it either way for another session");
    }
    text + &how
}

/// The limit as the budget says it.
pub(crate) fn bound(judged: &Judged) -> String {
    let unit = judged.limit.metric.unit();
    match judged.limit.bound {
        Bound::AtMost(most) => amount(most, unit),
        Bound::More(by) => format!("+{}", amount(by, unit)),
        Bound::MoreShare(share) => small_share(share),
    }
}

/// What a limit came to, in one sentence without the name of the limit.
pub(crate) fn sentence(judged: &Judged) -> String {
    let unit = judged.limit.metric.unit();
    let mut text = match (judged.value, &judged.growth) {
        (_, Some(growth)) => format!("{}, allowed {}", growth_text(growth, unit), bound(judged)),
        (Some(value), None) => format!("{}, allowed {}", amount(value, unit), bound(judged)),
        (None, None) => format!("not measured, allowed {}", bound(judged)),
    };
    if !judged.why.is_empty() {
        let _ = write!(text, "; {}", judged.why);
    }
    text
}

/// What is at fault, in one sentence; nothing if nobody knows.
pub(crate) fn fault(judged: &Judged) -> Option<String> {
    let causes = &judged.causes;
    let cause = |c: &bootlap_analysis::budget::Cause| match causes.against_baseline {
        true => format!("{} {}", c.name, change(c.ns)),
        false => format!("{} {}", c.name, duration(c.ns)),
    };
    let list: Vec<String> = causes.list.iter().map(cause).collect();
    let said = match (list.is_empty(), causes.against_baseline) {
        (true, _) => None,
        (false, true) => Some(format!("grew: {}", list.join(", "))),
        (false, false) => Some(format!("most of it: {}", list.join(", "))),
    };
    let all = said.into_iter().chain(causes.moved.iter().cloned());
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_their_units() {
        assert_eq!(amount(4_096, Unit::Bytes), "4\u{a0}096");
        assert_eq!(amount(-1_500_000, Unit::Instructions), "−1.500 M");
        assert_eq!(grown(397_000, Unit::Instructions), "+397.0 k");
        assert_eq!(small_share(0.00102), "+0.102 %");
        assert_eq!(small_share(-0.00102), "−0.102 %");
    }
}
