//! Which finding removes which cost, and which findings are about the same time.

use bootlap_advice::{Finding, Saving, SavingKind};
use bootlap_analysis::Cost;
use bootlap_model::Evidence;

/// For each cost the index of the finding that fits it best.
///
/// A finding fits if it cites at least half of what the cost was read from (of hundreds of short
/// initcalls one proves nothing of the others), and the two share at least
/// half of the shorter one's time; time alone proves nothing, because much runs at once,
/// unless the two are of the very same moments.
/// The best is the one with the most in common for its size, so that a finding about the
/// whole boot does not claim every cost.
pub(crate) fn remedies(costs: &[Cost], findings: &[Finding]) -> Vec<Option<usize>> {
    let best = |cost: &Cost| {
        let fits = findings.iter().enumerate().filter_map(|(at, finding)| {
            let (own, its) = ([cost.start.ns, cost.end.ns], finding.at_ns?);
            // What is printed takes its own time, and cites lines that tell of others'.
            let is_printing = finding.saving.printed.is_some();
            let is_about = own == its || (!is_printing && cites(&finding.evidence, &cost.evidence));
            let likeness = likeness(own, its)?;
            is_about.then_some((at, likeness))
        });
        // The first of equals, as findings come best first.
        let best = fits.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(at, _)| at)
    };
    costs.iter().map(best).collect()
}

/// For each finding the first one before it that claims the same time: what the console
/// takes for the same text, or at least half of the shorter interval. Their savings do not
/// add up.
pub(crate) fn claimed_before(findings: &[Finding]) -> Vec<Option<usize>> {
    let claim = |finding: &Finding| {
        let is_real = finding.saving.kind == SavingKind::ThisBoot;
        finding.at_ns.filter(|_| is_real)
    };
    let before = |at: usize| {
        let own = claim(&findings[at])?;
        let shares = |other: &Finding| claim(other).is_some_and(|o| likeness(own, o).is_some());
        findings[..at].iter().position(shares)
    };
    let printed = |at: usize| {
        let Saving { printed, kind, .. } = &findings[at].saving;
        let shares = |other: &Finding| {
            let both = (*printed).zip(other.saving.printed);
            other.saving.kind == *kind && both.is_some_and(|(a, b)| a.shares_with(b))
        };
        findings[..at].iter().position(shares)
    };
    (0..findings.len())
        .map(|at| printed(at).or_else(|| before(at)))
        .collect()
}

/// Whether a finding's places are, in part, at least half of a cost's.
fn cites(finding: &[Evidence], cost: &[Evidence]) -> bool {
    // What was read from two lines has those between them, which may tell of others, in its
    // place: to overlap is not enough.
    let same = |a: &Evidence, b: &Evidence| {
        let overlap = a.start < b.end && b.start < a.end;
        a.file == b.file && overlap && (a.start == b.start || a.end == b.end)
    };
    let cited = cost.iter().filter(|c| finding.iter().any(|f| same(f, c)));
    let cited = cited.count();
    cited > 0 && 2 * cited >= cost.len()
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
    use bootlap_advice::Printer;
    use bootlap_model::Timeline;

    use super::*;

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

    #[test]
    fn the_same_text_costs_the_same_time() {
        let finding = |printed: Option<Printer>, at_ns: Option<[i64; 2]>, kind| Finding {
            rule: "r".into(),
            title: String::new(),
            why: String::new(),
            fix: String::new(),
            recipe: None,
            evidence: Vec::new(),
            takes_ns: 0,
            saving: Saving {
                ns: 1,
                kind,
                basis: String::new(),
                printed,
            },
            at_ns,
        };
        let all = [
            finding(Some(Printer::Bootloader), None, SavingKind::ThisBoot),
            finding(Some(Printer::Kernel), None, SavingKind::ThisBoot),
            finding(Some(Printer::Everybody), None, SavingKind::ThisBoot),
            finding(Some(Printer::Kernel), None, SavingKind::PredictedBoard),
            finding(None, Some([0, 9]), SavingKind::ThisBoot),
            finding(Some(Printer::Kernel), None, SavingKind::ThisBoot),
        ];
        let before = [None, None, Some(0), None, None, Some(1)];
        assert_eq!(claimed_before(&all), before);
    }

    #[test]
    fn only_what_cites_the_same_place_is_about_it() {
        let mut timeline = Timeline::default();
        let files = ["a", "b"].map(|name| timeline.add_file(name, "test"));
        let place = |file: usize, start, end| Evidence {
            file: files[file],
            start,
            end,
            line: 1,
        };
        let own = [place(0, 10, 20)];
        assert!(cites(&[place(1, 0, 9), place(0, 18, 20)], &own));
        assert!(!cites(&[place(0, 20, 30), place(0, 0, 10)], &own));
        // A unit that started and ended while another one did.
        assert!(!cites(&[place(0, 0, 200), place(0, 12, 22)], &own));
        assert!(!cites(&[place(1, 10, 20)], &own));
        assert!(!cites(&[], &own));
        // Of hundreds of short initcalls one proves nothing of the others.
        let many: Vec<Evidence> = (0..100).map(|n| place(0, 10 * n, 10 * n + 5)).collect();
        assert!(!cites(&many[..49], &many));
        assert!(cites(&many[..50], &many));
    }
}
