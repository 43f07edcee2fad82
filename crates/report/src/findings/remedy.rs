//! Which finding removes which cost: a matter of where both lie in time.

use bootlap_advice::Finding;
use bootlap_analysis::Cost;

/// For each cost the index of the finding that fits it best.
///
/// A finding fits if the two share at least half of the shorter one; the best
/// is the one with the most in common for its size, so that a finding about
/// the whole boot does not claim every cost.
pub(crate) fn remedies(costs: &[Cost], findings: &[Finding]) -> Vec<Option<usize>> {
    let best = |cost: &Cost| {
        let fits = findings.iter().enumerate().filter_map(|(at, finding)| {
            Some((at, likeness([cost.start.ns, cost.end.ns], finding.at_ns?)?))
        });
        // The first of equals, as findings come best first.
        let best = fits.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(at, _)| at)
    };
    costs.iter().map(best).collect()
}

/// Overlap over union, where the overlap covers half of the shorter interval.
fn likeness(a: [i64; 2], b: [i64; 2]) -> Option<f64> {
    let length = |[start, end]: [i64; 2]| end.saturating_sub(start);
    let overlap = length([a[0].max(b[0]), a[1].min(b[1])]);
    let shorter = length(a).min(length(b));
    if overlap <= 0 || overlap < shorter / 2 {
        return None;
    }
    let union = length(a).saturating_add(length(b)).saturating_sub(overlap);
    Some(overlap as f64 / union.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::likeness;

    #[test]
    fn nearer_in_time_is_more_alike() {
        let exact = likeness([0, 100], [0, 100]).unwrap();
        let around = likeness([0, 100], [-500, 500]).unwrap();
        assert!(exact > around);
        assert_eq!(likeness([0, 100], [90, 200]), None);
        assert_eq!(likeness([0, 100], [100, 200]), None);
        assert_eq!(likeness([0, 0], [0, 100]), None);
        assert_eq!(likeness([i64::MIN, i64::MAX], [9, 3]), None);
    }
}
