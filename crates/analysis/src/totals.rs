//! Quantities that only grow: how much there was of each up to some moments, so that anybody
//! can tell how much lies between two of them.

use bootlap_model::{RequestKind, Timeline};

use crate::view::View;
use crate::work::counted;

/// More moments than this make no picture finer: every second is left out until it fits.
const MOMENTS: usize = 2_048;

/// What is counted, and what had come together at some moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    /// What people read: `instructions`.
    pub name: &'static str,
    /// `B`, or nothing for what is counted.
    pub unit: &'static str,
    /// Whether it grows at these moments only, and all of them are here: then each sum is
    /// exact.
    pub whole: bool,
    /// `(ns on the axis, how much up to then)`; neither falls.
    pub samples: Vec<(i64, u64)>,
}

/// Instructions, where the machine counts them, and what was asked of disks and came into
/// the page cache. What nothing tells of is left out.
pub fn totals(timeline: &Timeline) -> Vec<Total> {
    let view = View::of(timeline);
    let asked = |wanted: RequestKind| {
        let requests = timeline.requests.iter().filter(move |r| r.kind == wanted);
        let placed = requests.map(|r| Some((view.at(r.clock, r.done)?.ns, r.bytes.into())));
        placed.flatten().collect()
    };
    let cached = timeline.reads.iter().filter_map(|read| {
        let bytes = read.end.saturating_sub(read.start);
        Some((view.at(read.clock, read.at)?.ns, bytes))
    });
    let grows = [
        ("read from disks", asked(RequestKind::Read)),
        ("written to disks", asked(RequestKind::Write)),
        ("read into the page cache", cached.collect()),
    ];
    let work = Total {
        name: "instructions",
        unit: "",
        whole: false,
        samples: counted(&view),
    };
    let grows = grows.map(|(name, parts)| Total {
        name,
        unit: "B",
        whole: true,
        samples: sums(parts),
    });
    let all = [work].into_iter().chain(grows);
    all.filter(|total| !total.samples.is_empty())
        .map(thinned)
        .collect()
}

/// What has come together by each moment.
fn sums(mut parts: Vec<(i64, u64)>) -> Vec<(i64, u64)> {
    parts.sort_by_key(|part| part.0);
    let mut sums: Vec<(i64, u64)> = Vec::new();
    let mut sum = 0u64;
    for (ns, amount) in parts {
        sum = sum.saturating_add(amount);
        match sums.last_mut() {
            Some(last) if last.0 == ns => last.1 = sum,
            _ => sums.push((ns, sum)),
        }
    }
    sums
}

/// The last moment stays, so that the sum of all does.
fn thinned(mut total: Total) -> Total {
    while total.samples.len() > MOMENTS {
        total.whole = false;
        let last = total.samples.len() - 1;
        let mut at = 0..;
        total
            .samples
            .retain(|_| at.next().is_some_and(|at| at % 2 == 0 || at == last));
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Boot;
    use bootlap_model::Milestone;

    #[test]
    fn parts_add_up_by_moments() {
        assert_eq!(sums(vec![(5, 2), (1, 7), (5, 3)]), [(1, 7), (5, 12)]);
        assert_eq!(
            sums(vec![(1, u64::MAX), (2, 1)]),
            [(1, u64::MAX), (2, u64::MAX)]
        );
    }

    #[test]
    fn many_moments_are_thinned_and_the_last_stays() {
        let samples = (0..10_000).map(|i| (i, i as u64)).collect();
        let total = Total {
            name: "",
            unit: "",
            whole: true,
            samples,
        };
        let thin = thinned(total);
        assert!(thin.samples.len() <= MOMENTS && !thin.whole);
        assert_eq!(thin.samples.first(), Some(&(0, 0)));
        assert_eq!(thin.samples.last(), Some(&(9_999, 9_999)));
    }

    #[test]
    fn what_nothing_tells_of_is_left_out() {
        let mut boot = Boot::sim();
        boot.mark(Milestone::PowerOn, 0).text(10, 20, "hello");
        assert_eq!(totals(&boot.timeline), []);
        boot.request(1, 0, RequestKind::Read, 512);
        boot.request(2, 0, RequestKind::Load, 4096);
        boot.request(3, 0, RequestKind::Read, 512);
        let told = [Total {
            name: "read from disks",
            unit: "B",
            whole: true,
            samples: vec![(1_000_000, 512), (3_000_000, 1024)],
        }];
        assert_eq!(totals(&boot.timeline), told);
    }
}
