//! Results over commits: how each number went, and where it changed.

use bootlap_model::TimeKind;
use serde::{Deserialize, Serialize};

use crate::budget::{Measures, Metric, Sample};
use crate::changes::{Change, Kind, Sensitivity, changes};
use crate::phase::PhaseName;
use crate::stats::{mad, median};

/// The version of what is kept of a result.
pub const FORMAT: u32 = 1;

/// What is kept of one commit's boots. Later versions only add fields, so what
/// is not known is passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// [`FORMAT`].
    pub format: u32,
    /// The program that wrote it.
    #[serde(default)]
    pub tool: String,
    /// What was booted: a commit, or any name of a state.
    pub commit: String,
    /// When that was made (else when it was booted), RFC 3339 in UTC: the order
    /// of a history.
    pub date: String,
    /// The target.
    #[serde(default)]
    pub target: String,
    /// The kind of time, `simulated` or `measured`: never mixed.
    pub time: String,
    /// The board in whose time they were made, where that was modelled: never mixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What was measured of each boot.
    pub boots: Vec<Measures>,
}

impl Entry {
    /// The median of a metric over the boots that have it.
    pub fn value(&self, metric: &Metric) -> Option<i64> {
        let values = self.boots.iter().filter_map(|b| b.value(metric));
        median(&values.collect::<Vec<i64>>())
    }

    /// Boots that never got ready.
    pub fn not_ready(&self) -> usize {
        let hung = self.boots.iter().filter(|b| b.ready_ns.is_none());
        hung.count()
    }
}

/// One metric over a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// Which.
    pub metric: Metric,
    /// Its value in each result; `None` where it was not measured.
    pub values: Vec<Option<i64>>,
    /// Where it changed; [`Change::at`] counts results.
    pub changes: Vec<Change>,
}

impl Trend {
    /// One metric of `entries`, which are in order.
    pub fn of(entries: &[Entry], metric: Metric, sensitivity: &Sensitivity) -> Self {
        let values: Vec<Option<i64>> = entries.iter().map(|e| e.value(&metric)).collect();
        let known = values.iter().enumerate();
        let known = known.filter_map(|(at, v)| Some((at, (*v)? as f64)));
        let (places, series): (Vec<usize>, Vec<f64>) = known.unzip();
        let mut changes = changes(&series, kind(entries, &metric), sensitivity);
        for change in &mut changes {
            change.at = places[change.at];
        }
        Self {
            metric,
            values,
            changes,
        }
    }

    /// The first result since which it did not change.
    pub fn stable_from(&self) -> usize {
        self.changes.last().map_or(0, |c| c.at)
    }

    /// The stretches between changes: from, to (excluded), and the median.
    pub fn stretches(&self) -> Vec<(usize, usize, f64)> {
        let starts = std::iter::once(0).chain(self.changes.iter().map(|c| c.at));
        let ends = self.changes.iter().map(|c| c.at).chain([self.values.len()]);
        let middle = |(from, to): (usize, usize)| {
            let known: Vec<i64> = self.values[from..to].iter().flatten().copied().collect();
            Some((from, to, median(&known)? as f64))
        };
        starts.zip(ends).filter_map(middle).collect()
    }
}

/// What is known of the series of a metric: how much the boots of one result
/// let their median vary.
fn kind(entries: &[Entry], metric: &Metric) -> Kind {
    if entries
        .iter()
        .all(|e| TimeKind::named(&e.time).is_some_and(TimeKind::repeats))
    {
        return Kind::Simulated;
    }
    let deviation = |entry: &Entry| {
        let values: Vec<i64> = entry.boots.iter().filter_map(|b| b.value(metric)).collect();
        // The median of n boots varies 1.25 times as much as their mean.
        let of_boot = mad(&values).filter(|_| values.len() > 1)? as f64 / 0.6745;
        Some((of_boot * 1.25 / (values.len() as f64).sqrt()) as i64)
    };
    let deviations: Vec<i64> = entries.iter().filter_map(deviation).collect();
    Kind::Measured(median(&deviations).unwrap_or(0) as f64)
}

/// All metrics that any of the results has, those of the whole first.
pub fn trends(entries: &[Entry], sensitivity: &Sensitivity) -> Vec<Trend> {
    let mut phases: Vec<PhaseName> = entries
        .iter()
        .flat_map(|e| &e.boots)
        .flat_map(|b| b.phases.iter().map(|p| p.name))
        .collect();
    phases.sort_unstable();
    phases.dedup();
    let mut metrics = vec![Metric::Total];
    metrics.extend(phases.iter().map(|p| Metric::Phase(*p)));
    metrics.push(Metric::Instructions);
    metrics.extend(phases.iter().map(|p| Metric::PhaseInstructions(*p)));
    metrics.push(Metric::ConsoleBytes);
    let trends = metrics
        .into_iter()
        .map(|m| Trend::of(entries, m, sensitivity));
    trends
        .filter(|t| t.values.iter().any(Option::is_some))
        .collect()
}

/// The boots that a new one is judged by: those since `metric` last changed.
pub fn baseline(
    entries: &[Entry],
    metric: &Metric,
    sensitivity: &Sensitivity,
) -> Vec<Sample<'static>> {
    let from = Trend::of(entries, metric.clone(), sensitivity).stable_from();
    let boots = entries[from..].iter().flat_map(|e| &e.boots);
    let sample = |measures: &Measures| Sample {
        measures: measures.clone(),
        timeline: None,
    };
    boots.map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(commit: usize, ready_ns: &[Option<i64>]) -> Entry {
        let boot = |ready_ns: &Option<i64>| Measures {
            ready_ns: *ready_ns,
            ..Measures::default()
        };
        Entry {
            format: FORMAT,
            tool: String::new(),
            commit: commit.to_string(),
            date: format!("2026-11-{:02}T00:00:00Z", commit + 1),
            target: "kiosk".to_owned(),
            time: "simulated".to_owned(),
            model: None,
            boots: ready_ns.iter().map(boot).collect(),
        }
    }

    #[test]
    fn the_baseline_is_what_came_after_the_last_change() {
        let mut entries: Vec<Entry> = (0..6).map(|i| entry(i, &[Some(100), Some(102)])).collect();
        entries.extend((6..9).map(|i| entry(i, &[Some(120), Some(120), None])));
        let sensitivity = Sensitivity::default();
        let all = trends(&entries, &sensitivity);
        assert_eq!(all.len(), 1, "no other metric was measured");
        let change = all[0].changes[0];
        assert_eq!((change.at, change.before, change.after), (6, 101.0, 120.0));
        assert_eq!(all[0].stretches(), [(0, 6, 101.0), (6, 9, 120.0)]);
        let boots = baseline(&entries, &Metric::Total, &sensitivity);
        assert_eq!(boots.len(), 9);
        assert_eq!(entries[7].not_ready(), 1);
    }

    #[test]
    fn results_without_the_metric_are_passed_over() {
        let mut entries: Vec<Entry> = (0..8).map(|i| entry(i, &[Some(100)])).collect();
        entries[2] = entry(2, &[None]);
        entries.extend((8..12).map(|i| entry(i, &[Some(90)])));
        let trend = Trend::of(&entries, Metric::Total, &Sensitivity::default());
        assert_eq!((trend.values[2], trend.changes[0].at), (None, 8));
        assert!(trends(&[], &Sensitivity::default()).is_empty());
    }
}
