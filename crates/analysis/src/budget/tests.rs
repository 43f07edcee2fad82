//! What is said of boots, limit by limit.

use bootlap_model::{Milestone, Timeline, TrackKind};

use super::cause::causes;
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

#[test]
fn names_are_those_that_people_and_files_use() {
    let kernel = PhaseName::Kernel;
    let metrics = [
        Metric::Total,
        Metric::Instructions,
        Metric::ConsoleBytes,
        Metric::Phase(kernel),
        Metric::PhaseInstructions(kernel),
        Metric::Span("unit a".to_owned()),
    ];
    let texts = [
        "total",
        "instructions",
        "console bytes",
        "kernel",
        "kernel instructions",
        "unit a",
    ];
    assert_eq!(metrics.each_ref().map(Metric::text), texts);
    let phases = metrics.each_ref().map(Metric::phase);
    assert_eq!(phases, [None, None, None, Some(kernel), Some(kernel), None]);
    let states = [State::Ok, State::Broken, State::Unknown];
    assert_eq!(states.map(State::text), ["ok", "broken", "unknown"]);
    assert!(!Bound::AtMost(1).is_relative());
    assert!(Bound::MoreShare(1.0).is_relative());
}

#[test]
fn a_span_that_goes_on_has_lasted_at_least_so_long() {
    let mut one = Boot::sim();
    one.mark(Milestone::PowerOn, 0)
        .mark(Milestone::Ready, 100 * MS);
    one.span(TrackKind::Unit, 10 * MS, 30 * MS, "a.service");
    one.span(TrackKind::Unit, 40 * MS, 45 * MS, "a.service");
    one.span(TrackKind::Unit, 60 * MS, 61 * MS, "b.service");
    one.timeline.spans[2].end = bootlap_model::SpanEnd::OpenAtCut;
    let time = |name: &str| span_time(&one.timeline, name);
    assert!(matches!(time("a.service"), SpanTime::Lasted(ns) if ns == 25 * MS));
    assert!(matches!(time("unit a.service"), SpanTime::Lasted(ns) if ns == 25 * MS));
    assert!(matches!(time("b.service"), SpanTime::AtLeast(ns) if ns == 40 * MS));
    assert!(matches!(time("c.service"), SpanTime::Gone));
    // The nearest names, and none that share nothing with it.
    match time("the service of a") {
        SpanTime::Unknown(near) => assert_eq!(near, ["a.service", "b.service"]),
        other => panic!("{other:?}"),
    }
    assert!(matches!(time("x y"), SpanTime::Unknown(near) if near.is_empty()));
}

#[test]
fn causes_are_what_grew_and_not_what_is_long() {
    // 300 ms in one initcall before, 390 after: it explains the excess.
    let (before, after) = ([boot(400)], [boot(490)]);
    let kernel = Metric::Phase(PhaseName::Kernel);
    let of = |excess: i64| causes(&kernel, Some(excess), &samples(&after), &samples(&before));
    let grown = of(90 * MS);
    assert!(grown.against_baseline);
    let names: Vec<&str> = grown.list.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["initcall slow_init"]);
    assert_eq!(grown.list[0].ns, 90 * MS);
    // Half of an excess is enough, less is none of it.
    assert!(of(180 * MS).against_baseline);
    assert!(!of(183 * MS).against_baseline);
    // Nothing grew: the longest is named.
    let same = causes(&kernel, Some(MS), &samples(&before), &samples(&before));
    assert!(!same.against_baseline);
    assert_eq!(same.list[0].name, "initcall slow_init");
    // In another phase nothing of it counts.
    let user = Metric::Phase(PhaseName::Userspace);
    let user = causes(&user, Some(90 * MS), &samples(&after), &samples(&before));
    assert!(user.list.iter().all(|c| c.name != "initcall slow_init"));
}

/// A boot in which a service was still starting when it ended, `ms` after its start.
fn cut_off(ms: i64) -> Timeline {
    let mut boot = Boot::sim();
    boot.mark(Milestone::PowerOn, 0)
        .mark(Milestone::Ready, (10 + ms) * MS);
    boot.span(TrackKind::Unit, 10 * MS, 11 * MS, "a.service");
    let last = boot.timeline.spans.len() - 1;
    boot.timeline.spans[last].end = bootlap_model::SpanEnd::OpenAtCut;
    boot.timeline
}

#[test]
fn what_was_cut_off_breaks_a_limit_that_it_has_passed() {
    let span = Metric::Span("a.service".into());
    let judged = |most_ms: i64| {
        let budget = one(span.clone(), Bound::AtMost(most_ms * MS));
        verdict(&budget, &[cut_off(90)], &[], true)
    };
    let passed = judged(80);
    assert_eq!(passed.state, State::Broken);
    assert!(!passed.why.is_empty());
    // It may still become longer, but so far it is none of these.
    assert_ne!(judged(90).state, State::Broken);
    assert_ne!(judged(100).state, State::Broken);
}

#[test]
fn one_boot_that_hung_is_told_as_one() {
    let mut hung = boot(100);
    hung.marks.pop();
    hung.awaited = true;
    let total = one(Metric::Total, Bound::AtMost(9_999 * MS));
    let judged = verdict(&total, &[hung], &[], true);
    assert_eq!(judged.why, "it never got ready");
}

#[test]
fn the_excess_of_a_time_is_what_its_causes_must_explain() {
    // 300 ms too long, of which the baseline explains 20: the longest part is named.
    let (before, after) = ([boot(480)], [boot(500)]);
    let kernel = Metric::Phase(PhaseName::Kernel);
    let limit = one(kernel.clone(), Bound::AtMost(200 * MS));
    assert!(
        !verdict(&limit, &after, &before, true)
            .causes
            .against_baseline
    );
    // 20 ms too long: all of it grew.
    let limit = one(kernel, Bound::AtMost(480 * MS));
    assert!(
        verdict(&limit, &after, &before, true)
            .causes
            .against_baseline
    );
}

#[test]
fn the_growth_is_that_of_the_boots() {
    let side = |ms: i64| (0..12).map(|n| boot(ms + n * 5 % 7)).collect::<Vec<_>>();
    let budget = one(Metric::Total, Bound::More(10 * MS));
    let judged = verdict(&budget, &side(600), &side(500), false);
    assert_eq!(judged.state, State::Broken);
    let growth = judged.growth.unwrap();
    assert_eq!(growth.how, How::Samples([12, 12]));
    assert!((90 * MS..=110 * MS).contains(&growth.shift), "{growth:?}");
    // Of few pairs the median; of many what they have in common.
    for boots in [3, 8] {
        let take = |ms: i64| side(ms).into_iter().take(boots).collect::<Vec<_>>();
        let judged = verdict(&budget, &take(600), &take(500), true);
        assert_eq!(judged.growth.unwrap().shift, 100 * MS, "{boots}");
    }
}

#[test]
fn causes_are_few_and_the_longest_first() {
    let mut long = Boot::sim();
    long.mark(Milestone::PowerOn, 0)
        .mark(Milestone::KernelEntry, MS)
        .mark(Milestone::Ready, 1000 * MS);
    for n in 0..20 {
        let (start, name) = (n * 40 * MS, format!("init_{n:02}"));
        long.span(TrackKind::Initcall, start, start + (2 + n) * MS, &name);
    }
    let boots = [long.timeline];
    let total = Metric::Phase(PhaseName::Kernel);
    let listed = causes(&total, None, &samples(&boots), &[]);
    let times: Vec<i64> = listed.list.iter().map(|c| c.ns).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    assert_eq!(times.len(), 3);
    let least = times[0] / 10;
    assert!(times.iter().all(|ns| *ns > least), "{times:?}");
    assert!(listed.moved.is_empty());
}
