//! Limit by limit: ok, broken, or unknown.

use super::cause::{Causes, causes};
use super::growth::{Growth, How, growth};
use super::metric::{Metric, SpanTime, Unit, span_time};
use super::sample::Sample;
use super::{Bound, Budget, Limit};
use crate::stats::median;

/// What became of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is kept.
    Ok,
    /// It is broken.
    Broken,
    /// These boots do not say.
    Unknown,
}

impl State {
    /// The word that people see.
    pub fn text(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Broken => "broken",
            State::Unknown => "unknown",
        }
    }
}

/// A limit, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The limit.
    pub limit: Limit,
    /// What became of it.
    pub state: State,
    /// The value: the median of the boots; `None` if it was not measured.
    pub value: Option<i64>,
    /// The largest value that would have been ok, as far as that is known.
    pub allowed: Option<i64>,
    /// What it grew by, of limits that are relative.
    pub growth: Option<Growth>,
    /// Why it is broken or unknown, and what to do; empty if it is ok.
    pub why: String,
    /// What is at fault; nothing unless it is broken.
    pub causes: Causes,
}

/// Judges `boots` by `budget`; relative limits against `baseline`.
///
/// Boots in simulated time are paired by perturbation.
pub fn judge(
    budget: &Budget,
    boots: &[Sample],
    baseline: &[Sample],
    simulated: bool,
) -> Vec<Judged> {
    let limits = budget.limits.iter();
    limits
        .map(|limit| judge_one(limit, boots, baseline, simulated))
        .collect()
}

/// Judges `boots` by one limit: of a history each has a baseline of its own.
pub fn judge_one(limit: &Limit, boots: &[Sample], baseline: &[Sample], simulated: bool) -> Judged {
    let court = Court {
        boots,
        baseline,
        simulated,
    };
    court.judged(limit)
}

struct Court<'c, 't> {
    boots: &'c [Sample<'t>],
    baseline: &'c [Sample<'t>],
    simulated: bool,
}

/// A state, and why.
type Verdict = (State, String);

impl Court<'_, '_> {
    fn judged(&self, limit: &Limit) -> Judged {
        let (values, said) = values(self.boots, &limit.metric);
        let value = median(&values);
        let mut judged = Judged {
            limit: limit.clone(),
            state: State::Unknown,
            value,
            allowed: None,
            growth: None,
            why: String::new(),
            causes: Causes::default(),
        };
        (judged.state, judged.why) = match limit.bound {
            Bound::AtMost(most) => {
                judged.allowed = Some(most);
                self.absolute(limit, value, most, said)
            }
            bound => {
                let (verdict, growth) = self.relative(limit, bound, value, said);
                let by = growth.and_then(|g| Some((g, bound.growth(g.before)?)));
                judged.allowed = by.map(|(g, by)| g.before.saturating_add(by));
                judged.growth = growth;
                verdict
            }
        };
        if judged.state == State::Broken {
            // Of instructions no time follows.
            let absolute = !limit.bound.is_relative() && limit.metric.unit() == Unit::Ns;
            let over = value.zip(judged.allowed).map(|(v, a)| v.saturating_sub(a));
            let excess = over.filter(|_| absolute);
            judged.causes = causes(&limit.metric, excess, self.boots, self.baseline);
        }
        judged
    }

    fn absolute(
        &self,
        limit: &Limit,
        value: Option<i64>,
        most: i64,
        said: Option<Verdict>,
    ) -> Verdict {
        if let Some(broken) = self.never_ready(&limit.metric) {
            return broken;
        }
        match (value, said) {
            // What was cut off lasted at least so long.
            (Some(value), Some((_, why))) if value > most => (State::Broken, why),
            (_, Some(said)) => said,
            (Some(value), None) if value > most => (State::Broken, String::new()),
            (Some(_), None) => (State::Ok, String::new()),
            (None, None) => (State::Unknown, not_measured(&limit.metric)),
        }
    }

    /// A boot that hung breaks every limit of the whole; where nobody said what
    /// ready is, none did.
    fn never_ready(&self, metric: &Metric) -> Option<Verdict> {
        let of_whole = matches!(metric, Metric::Total | Metric::Instructions);
        let boots = self.boots.len();
        let is_said = self.boots.iter().any(|b| {
            b.measures.ready_ns.is_some() || b.timeline.is_none_or(|timeline| timeline.awaited)
        });
        let not_ready = self.boots.iter().filter(|b| b.measures.ready_ns.is_none());
        let hung = if is_said { not_ready.count() } else { 0 };
        let why = match (hung, boots) {
            (0, _) => return None,
            (1, 1) => "it never got ready".to_owned(),
            _ => format!("{hung} of {boots} boots never got ready"),
        };
        of_whole.then_some((State::Broken, why))
    }

    fn relative(
        &self,
        limit: &Limit,
        bound: Bound,
        value: Option<i64>,
        said: Option<Verdict>,
    ) -> (Verdict, Option<Growth>) {
        if let Some(broken) = self.never_ready(&limit.metric) {
            return (broken, None);
        }
        let unknown = |why: String| ((State::Unknown, why), None);
        if value.is_none() {
            let why = said.map_or_else(|| not_measured(&limit.metric), |s| s.1);
            return unknown(why);
        }
        let before = keyed(self.baseline, &limit.metric);
        let after = keyed(self.boots, &limit.metric);
        let Some(growth) = growth(&before, &after, self.simulated) else {
            return unknown(match self.baseline.len() {
                0 => "there is no baseline: give one with --baseline or --history".to_owned(),
                _ => format!("the baseline has no {}", limit.metric.text()),
            });
        };
        let by = bound.growth(growth.before).unwrap_or(0);
        (self.verdict(&growth, by), Some(growth))
    }

    fn verdict(&self, growth: &Growth, allowed: i64) -> Verdict {
        let more = self.more(growth);
        let Some([low, high]) = growth.interval else {
            return (
                State::Unknown,
                format!("so few boots of a board cannot tell a change from chance; {more}"),
            );
        };
        if low > 0 && growth.shift > allowed {
            // With few boots the interval is a bound of what the perturbation does.
            if matches!(growth.how, How::Few(_)) && low <= allowed {
                let why = format!("it may be the layout of code and data; {more}");
                return (State::Unknown, why);
            }
            return (State::Broken, String::new());
        }
        if high <= allowed {
            return (State::Ok, String::new());
        }
        let why = match growth.shift > allowed {
            true => format!("it may be chance; {more}"),
            false => format!("it may have grown by more than is allowed; {more}"),
        };
        (State::Unknown, why)
    }

    /// What to do about boots that do not say.
    fn more(&self, growth: &Growth) -> &'static str {
        match (self.simulated, growth.how) {
            (true, How::Few(_)) => "boot 8 perturbations of either side",
            (true, _) => "boot more perturbations of either side",
            (false, _) => "boot either side more often, 10 times at least",
        }
    }
}

fn not_measured(metric: &Metric) -> String {
    match metric {
        Metric::Instructions | Metric::PhaseInstructions(_) => {
            "these boots do not count instructions".to_owned()
        }
        Metric::ConsoleBytes => "no console was recorded".to_owned(),
        Metric::Phase(_) => "these boots do not show that phase".to_owned(),
        Metric::Total => "nothing says what ready is: give --ready REGEX".to_owned(),
        Metric::Span(_) => "it was not seen".to_owned(),
    }
}

/// The values of a metric in all boots that have it; and of spans what the
/// numbers do not say.
fn values(boots: &[Sample], metric: &Metric) -> (Vec<i64>, Option<Verdict>) {
    let Metric::Span(name) = metric else {
        let values = boots.iter().filter_map(|b| b.measures.value(metric));
        return (values.collect(), None);
    };
    let mut values = Vec::new();
    let mut said = None;
    for timeline in boots.iter().filter_map(|b| b.timeline) {
        match span_time(timeline, name) {
            SpanTime::Lasted(ns) => values.push(ns),
            SpanTime::AtLeast(ns) => {
                values.push(ns);
                let why = "it had not ended when the recording did";
                said = Some((State::Unknown, why.to_owned()));
            }
            SpanTime::Gone => values.push(0),
            SpanTime::Unknown(near) => {
                let mut why = "nothing of that name was seen".to_owned();
                if !near.is_empty() {
                    why += &format!("; did you mean {}?", near.join(", or "));
                }
                said = Some((State::Unknown, why));
            }
        }
    }
    (values, said)
}

fn keyed<'b>(boots: &'b [Sample], metric: &Metric) -> Vec<(Option<&'b str>, i64)> {
    let value = |boot: &Sample| {
        if let Metric::Span(_) = metric {
            let one = std::slice::from_ref(boot);
            return values(one, metric).0.first().copied();
        }
        boot.measures.value(metric)
    };
    let values = boots
        .iter()
        .map(|b| (b.measures.perturbation.as_deref(), value(b)));
    values
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
}
