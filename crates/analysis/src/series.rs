//! The same target booted many times: where its times lie, and how far apart.
//!
//! Everything goes by ranks, as in [`stats`](crate::stats): a boot that hung
//! for a while moves the maximum, not the median nor its interval.

use bootlap_model::Timeline;
use schemars::JsonSchema;
use serde::Serialize;

use crate::ends::extent;
use crate::extent::{Ends, Extent};
use crate::phase::{PhaseName, phases};
use crate::ready_ns;
use crate::stats::{Mode, Shape, median};

/// One boot of a series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lap {
    /// When it was ready, ns since power-on; `None` if it never was.
    pub ready_ns: Option<i64>,
    /// Its phases and how long they lasted, ns.
    pub phases: Vec<(PhaseName, i64)>,
}

impl Lap {
    /// The boot that `timeline` tells of.
    pub fn of(timeline: &Timeline) -> Self {
        let phases = phases(timeline);
        let phases = phases.iter().map(|p| (p.name, p.duration_ns()));
        Self {
            ready_ns: ready_ns(timeline),
            phases: phases.collect(),
        }
    }
}

/// What ends most of these boots, and a lap of each: a boot with another end, or none, has no
/// time to it. Of boots that somebody waited for (`awaited`) only ready is an end.
pub fn laps(boots: &[&Timeline], awaited: bool) -> (&'static str, Vec<Lap>) {
    let extents: Vec<Option<Extent>> = boots.iter().map(|t| extent(t)).collect();
    let ready = Ends::Ready.text().unwrap_or_default();
    let end_of = |e: &Option<Extent>| {
        e.as_ref()?
            .ends
            .text()
            .filter(|end| !awaited || *end == ready)
    };
    let mut ends: Vec<(&str, usize)> = Vec::new();
    for end in extents.iter().filter_map(end_of) {
        match ends.iter_mut().find(|(known, _)| *known == end) {
            Some((_, boots)) => *boots += 1,
            None => ends.push((end, 1)),
        }
    }
    // The first of equals.
    let most = ends.iter().rev().max_by_key(|(_, boots)| *boots);
    let end = most.map_or(ready, |(end, _)| *end);
    let laps = boots.iter().zip(&extents).map(|(timeline, extent)| {
        let has_it = end_of(extent) == Some(end);
        Lap {
            ready_ns: extent.filter(|_| has_it).map(|e| e.duration_ns()),
            ..Lap::of(timeline)
        }
    });
    (end, laps.collect())
}

/// Where the values of a sample lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "SpreadJson")]
pub struct Spread {
    /// How many values.
    pub samples: usize,
    /// The median.
    pub median_ns: i64,
    /// The smallest.
    pub min_ns: i64,
    /// The largest.
    pub max_ns: i64,
    /// Lower and upper quartile.
    pub quartiles_ns: [i64; 2],
    /// Holds the true median with at least 95 %; absent below six values.
    pub interval_ns: Option<[i64; 2]>,
}

impl Spread {
    /// Of all `values`; `None` without any.
    pub fn of(values: &[i64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let (&min_ns, &max_ns) = (sorted.first()?, sorted.last()?);
        let half = sorted.len().div_ceil(2);
        Some(Self {
            samples: sorted.len(),
            median_ns: median(&sorted)?,
            min_ns,
            max_ns,
            // Tukey's hinges: the medians of the halves.
            quartiles_ns: [
                median(&sorted[..half])?,
                median(&sorted[sorted.len() - half..])?,
            ],
            interval_ns: outer_rank(sorted.len())
                .map(|rank| [sorted[rank], sorted[sorted.len() - 1 - rank]]),
        })
    }

    /// How far apart the quartiles are, ns.
    pub fn iqr_ns(&self) -> i64 {
        self.quartiles_ns[1].saturating_sub(self.quartiles_ns[0])
    }
}

/// The largest rank (from 0) such that the values of that rank from either end
/// enclose the true median with 95 %: the number of values below the median
/// is binomial with ½.
fn outer_rank(n: usize) -> Option<usize> {
    let n_float = n as f64;
    // ½ⁿ, and from one term of the distribution to the next.
    let mut term = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut below = 0.0;
    let mut found = None;
    for rank in 0..n.div_ceil(2) {
        below += term;
        if 2.0 * below > 0.05 {
            return found;
        }
        // Past 1000 values the first terms are too small for a float.
        found = (term > 0.0).then_some(rank).or(found);
        term *= (n_float - rank as f64) / (rank as f64 + 1.0);
    }
    found
}

/// A series of boots.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// All boots, in order.
    pub laps: Vec<Lap>,
    /// Times to ready, of those that got there.
    pub ready: Option<Spread>,
    /// By phase, in the order of a boot; only boots that got ready.
    pub phases: Vec<(PhaseName, Spread)>,
    /// Index of the fastest boot.
    pub fastest: Option<usize>,
    /// Index of the slowest boot that got ready.
    pub slowest: Option<usize>,
    /// Two clusters of times to ready, where there is not one.
    pub modes: Option<[Mode; 2]>,
    /// Indices of boots whose time to ready is far from the others, in order;
    /// they count like any other.
    pub outliers: Vec<usize>,
}

impl Series {
    /// The boot whose time is nearest to the median; `None` without any.
    pub fn median_boot(&self) -> Option<usize> {
        let median_ns = self.ready.as_ref()?.median_ns;
        let times = self.laps.iter().enumerate();
        let times = times.filter_map(|(at, lap)| Some((lap.ready_ns?.abs_diff(median_ns), at)));
        times.min().map(|(_, at)| at)
    }

    /// Boots that never got ready.
    pub fn not_ready(&self) -> usize {
        self.laps.iter().filter(|l| l.ready_ns.is_none()).count()
    }
}

/// The account of some boots.
pub fn series(laps: Vec<Lap>) -> Series {
    let ready = || laps.iter().filter(|l| l.ready_ns.is_some());
    let mut names: Vec<PhaseName> = ready().flat_map(|l| &l.phases).map(|p| p.0).collect();
    names.sort_unstable();
    names.dedup();
    let phases = names.into_iter().filter_map(|name| {
        let of_name = ready().flat_map(|l| &l.phases).filter(|p| p.0 == name);
        let values: Vec<i64> = of_name.map(|p| p.1).collect();
        Some((name, Spread::of(&values)?))
    });
    let phases = phases.collect();
    let times = || {
        let times = laps.iter().enumerate();
        times.filter_map(|(at, lap)| Some((lap.ready_ns?, at)))
    };
    let (values, places): (Vec<i64>, Vec<usize>) = times().unzip();
    let shape = Shape::of(&values);
    Series {
        ready: Spread::of(&values),
        phases,
        fastest: times().min().map(|t| t.1),
        // The first of equal ones, as above.
        slowest: times()
            .max_by_key(|t| (t.0, std::cmp::Reverse(t.1)))
            .map(|t| t.1),
        modes: shape.modes,
        outliers: shape.outliers.iter().map(|&at| places[at]).collect(),
        laps,
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::Milestone;

    use super::*;
    use crate::build::Boot;

    fn lap(ready_ns: Option<i64>, kernel_ns: i64) -> Lap {
        Lap {
            ready_ns,
            phases: vec![(PhaseName::Kernel, kernel_ns)],
        }
    }

    #[test]
    fn boots_that_nobody_awaited_are_measured_to_what_ends_most_of_them() {
        let to = |milestone, ns| {
            let mut boot = Boot::sim();
            boot.mark(Milestone::PowerOn, 0).text(1, 2, "a");
            boot.mark(milestone, ns);
            boot.text(900, 901, "and on").timeline.clone()
        };
        let boots = [
            to(Milestone::StartupFinished, 70),
            to(Milestone::LoginPrompt, 80),
            to(Milestone::LoginPrompt, 90),
            to(Milestone::KernelEntry, 5),
        ];
        let all: Vec<&Timeline> = boots.iter().collect();
        let times = |laps: &[Lap]| laps.iter().map(|l| l.ready_ns).collect::<Vec<_>>();
        let (end, laps_to_login) = laps(&all, false);
        assert_eq!(end, "login prompt");
        assert_eq!(times(&laps_to_login), [None, Some(80), Some(90), None]);
        let (end, awaited) = laps(&all, true);
        assert_eq!((end, times(&awaited)), ("ready", vec![None; 4]));
        let times = [Some(80), None, Some(90), Some(500)].map(|ns| lap(ns, 1));
        let series = series(times.to_vec());
        assert_eq!((series.median_boot(), series.slowest), (Some(2), Some(3)));
    }

    #[test]
    fn spreads_of_few_and_of_many() {
        assert_eq!(Spread::of(&[]), None);
        let one = Spread::of(&[7]).unwrap();
        assert_eq!((one.median_ns, one.min_ns, one.max_ns), (7, 7, 7));
        assert_eq!((one.quartiles_ns, one.interval_ns), ([7, 7], None));
        // R: fivenum(1:10) is 1, 3, 5.5, 8, 10.
        let values: Vec<i64> = (1..=10).rev().map(|n| n * 10).collect();
        let ten = Spread::of(&values).unwrap();
        assert_eq!((ten.median_ns, ten.quartiles_ns), (55, [30, 80]));
        assert_eq!(ten.iqr_ns(), 50);
        assert_eq!(ten.interval_ns, Some([20, 90]));
        assert_eq!(
            Spread::of(&[i64::MIN, i64::MAX]).unwrap().iqr_ns(),
            i64::MAX
        );
    }

    #[test]
    fn two_clusters_are_said_and_outliers_found_among_all_boots() {
        let mut times = vec![None; 2];
        times.extend(
            [
                2100, 2450, 2101, 9000, 2103, 2452, 2099, 2102, 2449, 2098, 2451,
            ]
            .map(Some),
        );
        let series = series(times.into_iter().map(|t| lap(t, 1)).collect());
        let modes = series.modes.unwrap();
        assert_eq!(modes.map(|m| m.samples), [6, 5]);
        assert_eq!(series.outliers, [5]);
        assert_eq!(series.slowest, Some(5));
    }

    #[test]
    fn the_interval_of_the_median_is_that_of_the_tables() {
        // Ranks from 1, of the two-sided 95 % interval: Conover, table A3.
        for (n, rank) in [
            (6, 1),
            (8, 1),
            (9, 2),
            (10, 2),
            (12, 3),
            (15, 4),
            (20, 6),
            (30, 10),
        ] {
            assert_eq!(outer_rank(n), Some(rank - 1), "{n}");
        }
        assert_eq!(outer_rank(5), None);
        assert_eq!(outer_rank(0), None);
        // The normal approximation: n/2 − 0.98 √n.
        assert_eq!(outer_rank(1000).map(|r| r.abs_diff(469) <= 1), Some(true));
    }

    #[test]
    fn boots_that_never_got_ready_are_counted_not_averaged() {
        let laps = vec![
            lap(Some(30), 3),
            lap(None, 999),
            lap(Some(10), 1),
            lap(Some(30), 5),
        ];
        let series = series(laps);
        assert_eq!(series.not_ready(), 1);
        assert_eq!((series.fastest, series.slowest), (Some(2), Some(0)));
        assert_eq!(series.ready.unwrap().median_ns, 30);
        let (name, kernel) = series.phases[0];
        assert_eq!(
            (name, kernel.samples, kernel.max_ns),
            (PhaseName::Kernel, 3, 5)
        );
        let none = super::series(vec![lap(None, 1)]);
        assert_eq!(
            (none.ready, none.fastest, none.phases.len()),
            (None, None, 0)
        );
    }
}
