//! What is said of boots, limit by limit.

use bootlap_model::{Milestone, Timeline, TrackKind};

use super::*;
use crate::build::Boot;
use crate::phase::PhaseName;

const MS: i64 = 1_000_000;

/// A boot whose kernel takes `kernel_ms`, most of it in one initcall.
fn boot(kernel_ms: i64) -> Timeline {
    let mut boot = Boot::sim();
    let end = (100 + kernel_ms) * MS;
    boot.mark(Milestone::PowerOn, 0)
        .mark(Milestone::KernelEntry, 100 * MS)
        .mark(Milestone::UserEntry, end)
        .mark(Milestone::Ready, end + 50 * MS);
    boot.span(TrackKind::Initcall, 110 * MS, end - 10 * MS, "slow_init");
    boot.timeline
}

fn samples<'t>(boots: &'t [Timeline]) -> Vec<Sample<'t>> {
    let boots = boots.iter().enumerate();
    let sample = |(n, timeline): (usize, &'t Timeline)| Sample {
        measures: Measures {
            perturbation: Some(n.to_string()),
            ..Measures::of(timeline)
        },
        timeline: Some(timeline),
    };
    boots.map(sample).collect()
}

fn one(metric: Metric, bound: Bound) -> Budget {
    let line = 1;
    Budget {
        limits: vec![Limit {
            metric,
            bound,
            line,
        }],
    }
}

fn verdict(budget: &Budget, boots: &[Timeline], baseline: &[Timeline], simulated: bool) -> Judged {
    let (boots, baseline) = (samples(boots), samples(baseline));
    judge(budget, &boots, &baseline, simulated).remove(0)
}

#[test]
fn absolute_limits_are_of_the_median_and_name_what_takes_longest() {
    let boots = [boot(400), boot(500), boot(900)];
    let kernel = Metric::Phase(PhaseName::Kernel);
    let kept = verdict(
        &one(kernel.clone(), Bound::AtMost(500 * MS)),
        &boots,
        &[],
        true,
    );
    assert_eq!((kept.state, kept.value), (State::Ok, Some(500 * MS)));
    assert!(kept.causes.list.is_empty());
    let broken = verdict(&one(kernel, Bound::AtMost(499 * MS)), &boots, &[], true);
    assert_eq!(broken.state, State::Broken);
    assert_eq!(broken.causes.list[0].name, "initcall slow_init");
    assert!(!broken.causes.against_baseline);
}

#[test]
fn a_boot_that_hung_breaks_limits_of_the_whole() {
    let mut hung = boot(100);
    hung.marks.pop();
    let total = one(Metric::Total, Bound::AtMost(9_999 * MS));
    let judged = verdict(&total, &[boot(100), hung.clone()], &[], true);
    assert_eq!(judged.state, State::Broken);
    assert!(judged.why.contains("1 of 2 boots"), "{}", judged.why);
    // If nobody said what ready is, it may have got there.
    let regression = one(Metric::Total, Bound::MoreShare(10.0));
    let unsaid = verdict(&regression, &[hung.clone()], &[boot(1)], true);
    assert_eq!(unsaid.state, State::Unknown);
    assert!(unsaid.why.contains("--ready"), "{}", unsaid.why);
    hung.awaited = true;
    assert_eq!(
        verdict(&regression, &[hung], &[boot(1)], true).state,
        State::Broken
    );
}

#[test]
fn a_regression_is_named_with_its_cause() {
    let before: Vec<Timeline> = (0..8).map(|n| boot(500 + n % 2 * 7)).collect();
    let after: Vec<Timeline> = (0..8).map(|n| boot(503 + n % 2 * 7)).collect();
    let budget = one(Metric::Total, Bound::More(2 * MS));
    let judged = verdict(&budget, &after, &before, true);
    assert_eq!(judged.state, State::Broken);
    let growth = judged.growth.unwrap();
    assert_eq!((growth.shift, growth.how), (3 * MS, How::Pairs(8)));
    let cause = &judged.causes.list[0];
    assert_eq!(
        (cause.name.as_str(), cause.ns),
        ("initcall slow_init", 3 * MS)
    );
    assert_eq!(judged.allowed, Some(growth.before + 2 * MS));
    // As much as is allowed is allowed; nothing grew the other way round.
    let budget = one(Metric::Total, Bound::More(3 * MS));
    assert_eq!(verdict(&budget, &after, &before, true).state, State::Ok);
    assert_eq!(verdict(&budget, &before, &after, true).state, State::Ok);
}

#[test]
fn one_boot_against_one_says_that_it_cannot_know() {
    let budget = one(Metric::Total, Bound::MoreShare(0.001));
    let board = verdict(&budget, &[boot(520)], &[boot(500)], false);
    assert_eq!(board.state, State::Unknown);
    assert!(board.why.contains("10 times"), "{}", board.why);
    // In simulated time 0.3 % may be the perturbation, and 3 % cannot.
    let sim = verdict(&budget, &[boot(502)], &[boot(500)], true);
    assert_eq!(sim.state, State::Unknown);
    assert!(sim.why.contains("8 perturbations"), "{}", sim.why);
    assert_eq!(
        verdict(&budget, &[boot(520)], &[boot(500)], true).state,
        State::Broken
    );
    // The same build booted again is the same, and says so.
    assert_eq!(
        verdict(&budget, &[boot(500)], &[boot(500)], true).state,
        State::Ok
    );
    let nothing = verdict(&budget, &[boot(500)], &[], true);
    assert!(nothing.why.contains("--baseline"), "{}", nothing.why);
}

#[test]
fn boards_need_many_boots() {
    let around = |ms: i64| -> Vec<Timeline> { (0..10).map(|n| boot(ms + n * 3 % 10)).collect() };
    let budget = one(Metric::Total, Bound::MoreShare(0.02));
    let (before, slower) = (around(500), around(540));
    assert_eq!(
        verdict(&budget, &slower, &before, false).state,
        State::Broken
    );
    assert_eq!(verdict(&budget, &before, &before, false).state, State::Ok);
    // 2 % is allowed, and these spread too much to say which side of it.
    let near = verdict(&budget, &around(512), &before, false);
    assert_eq!(near.state, State::Unknown, "{near:?}");
}

#[test]
fn spans_go_by_their_names() {
    let limit = |name: &str| one(Metric::Span(name.to_owned()), Bound::AtMost(480 * MS));
    let boots = [boot(500)];
    for name in ["initcall slow_init", "slow_init"] {
        let judged = verdict(&limit(name), &boots, &[], true);
        assert_eq!(
            (judged.state, judged.value),
            (State::Ok, Some(480 * MS)),
            "{name}"
        );
    }
    // Initcalls were logged, and that one is gone: so it takes no time.
    let gone = verdict(&limit("initcall other_init"), &boots, &[], true);
    assert_eq!((gone.state, gone.value), (State::Ok, Some(0)));
    // Nobody logged units.
    let unit = verdict(&limit("unit slow.service"), &boots, &[], true);
    assert_eq!(unit.state, State::Unknown);
    assert!(unit.why.contains("initcall slow_init"), "{}", unit.why);
}
