use bootlap_model::{ClockKind, Milestone, TimeKind, Timeline, TrackKind};
use proptest::prelude::*;

use super::*;
use crate::build::{Boot as Made, any_boot};
use crate::stats::Verdict;

const MS: i64 = 1_000_000;

/// A log of a board: kernel to `init_ms`, a unit, a last line; cut at `cut_ms`.
fn log(init_ms: i64, last_ms: i64, cut_ms: i64) -> Made {
    let mut boot = Made::board();
    boot.mark(Milestone::KernelClockStart, 0)
        .text(1, 1, "Linux version 6.12")
        .text(init_ms / 2 * MS, init_ms / 2 * MS, "smp: up")
        .text(init_ms * MS, init_ms * MS, "Run /init")
        .mark(Milestone::InitStart, init_ms * MS)
        .span(
            TrackKind::Userspace,
            (init_ms + 10) * MS,
            (last_ms - 10) * MS,
            "net",
        )
        .text(last_ms * MS, last_ms * MS, "app: here I am")
        .text(cut_ms * MS, cut_ms * MS, &format!("something at {cut_ms}"));
    boot
}

fn all(boots: &[Made]) -> Vec<Boot<'_>> {
    let boots = boots.iter().map(|b| Boot {
        timeline: &b.timeline,
        awaited: false,
        made_ns: None,
        perturbation: None,
    });
    boots.collect()
}

fn compared(before: &[Made], after: &[Made]) -> Groups {
    groups(&all(before), &all(after), Margin::Share(0.01)).unwrap()
}

fn row<'r>(rows: &'r [Row], name: &str) -> &'r Row {
    rows.iter().find(|r| r.name == name).unwrap()
}

fn verdict(row: &Row) -> Verdict {
    row.effect.as_ref().unwrap().verdict
}

/// Ten logs, each cut at another moment.
fn ten(init_ms: i64, last_ms: i64) -> Vec<Made> {
    let boot = |at: i64| {
        let spread = at * 7 % 10;
        log(
            init_ms + spread,
            last_ms + 2 * spread,
            last_ms + 1_000 * (1 + at),
        )
    };
    (0..10).map(boot).collect()
}

#[test]
fn the_end_is_the_last_line_that_all_print_wherever_logs_were_cut() {
    let groups = compared(&ten(2_000, 3_000), &ten(1_500, 2_700));
    assert_eq!(groups.end, End::Line("app: here I am".to_owned()));
    assert_eq!(groups.start, Start::Milestone(Milestone::KernelClockStart));
    let total = groups.total.as_ref().unwrap();
    assert_eq!(verdict(total), Verdict::Faster);
    assert_eq!(total.effect.unwrap().shift_ns, -300 * MS);
    assert_eq!(verdict(row(&groups.phases, "kernel")), Verdict::Faster);
    let user = row(&groups.phases, "user space");
    assert_eq!(verdict(user), Verdict::Slower);
    assert_eq!(user.effect.unwrap().shift_ns, 200 * MS);
    assert_eq!(groups.sides[0].go_on.0, 10);
    let net = &groups.spans[0];
    assert_eq!((net.row.name.as_str(), net.boots), ("net", [10, 10]));
    assert_eq!(net.row.effect.unwrap().shift_ns, 200 * MS);
    // Part of what the kernel saved came back.
    assert!(
        groups.moved.iter().any(|m| m.to == "net"),
        "{:?}",
        groups.moved
    );
}

#[test]
fn a_boot_that_hung_is_a_failure_of_its_side_and_moves_nothing() {
    let before = ten(2_000, 3_000);
    let mut after = ten(1_500, 2_700);
    let mut hung = Made::board();
    hung.mark(Milestone::KernelClockStart, 0)
        .text(1, 1, "Linux version 6.12")
        .text(900 * MS, 900 * MS, "Kernel panic - not syncing");
    after.push(hung);
    let groups = compared(&before, &after);
    assert_eq!(groups.end, End::Line("app: here I am".to_owned()));
    assert_eq!(groups.sides[1].failed().collect::<Vec<_>>(), [10]);
    assert_eq!(groups.total.unwrap().effect.unwrap().samples, [10, 10]);
}

#[test]
fn startup_finished_comes_before_lines_and_ready_before_all() {
    let with = |milestone, at_ms: i64| {
        let mut boots = ten(2_000, 3_000);
        for boot in &mut boots {
            boot.mark(milestone, at_ms * MS);
        }
        boots
    };
    let (a, b) = (
        with(Milestone::StartupFinished, 2_500),
        with(Milestone::StartupFinished, 2_400),
    );
    let groups = compared(&a, &b);
    assert_eq!(groups.end, End::Milestone(Milestone::StartupFinished));
    let (mut a, b) = (with(Milestone::Ready, 2_500), with(Milestone::Ready, 2_400));
    assert_eq!(compared(&a, &b).end, End::Milestone(Milestone::Ready));
    // One of ten never got ready.
    a[3].timeline.marks.pop();
    let groups = compared(&a, &b);
    assert_eq!(groups.sides[0].failed().collect::<Vec<_>>(), [3]);
    assert_eq!(groups.total.unwrap().effect.unwrap().samples, [9, 10]);
}

#[test]
fn a_side_that_never_gets_ready_has_no_total() {
    let before = ten(2_000, 3_000);
    let mut ready = ten(2_000, 3_000);
    ready.iter_mut().for_each(|b| {
        b.mark(Milestone::Ready, 2_000 * MS);
    });
    let mut hung = all(&before);
    hung.iter_mut().for_each(|b| b.awaited = true);
    let groups = groups(&all(&ready), &hung, Margin::Share(0.01)).unwrap();
    assert_eq!(groups.sides[1].failed().count(), 10);
    assert_eq!(groups.total.as_ref().and_then(|t| t.effect), None);
    assert_eq!(groups.end, End::Milestone(Milestone::Ready));
}

#[test]
fn what_comes_after_a_long_silence_is_no_boot() {
    let late = |mut boot: Made| {
        boot.text(3_600_000 * MS, 3_600_000 * MS, "sd 0:0:0:0: Attached");
        boot
    };
    let before: Vec<Made> = ten(2_000, 3_000).into_iter().map(late).collect();
    let after: Vec<Made> = ten(1_900, 3_000).into_iter().map(late).collect();
    let groups = compared(&before, &after);
    assert_eq!(groups.end, End::Line("app: here I am".to_owned()));
}

#[test]
fn one_boot_a_side_proves_nothing() {
    let groups = compared(&[log(2_000, 3_000, 4_000)], &[log(1_000, 1_500, 9_000)]);
    let total = groups.total.unwrap();
    assert_eq!(total.effect.unwrap().shift_ns, -1_500 * MS);
    assert_eq!(verdict(&total), Verdict::Unknown);
}

#[test]
fn copies_of_one_simulated_boot_are_one_boot() {
    let boots = |ready_ms: i64| -> Vec<Made> {
        let boot = |_| {
            let mut boot = Made::sim();
            boot.mark(Milestone::PowerOn, 0)
                .mark(Milestone::Ready, ready_ms * MS);
            boot
        };
        (0..8).map(boot).collect()
    };
    let groups = compared(&boots(2_000), &boots(1_000));
    assert!(groups.sides[0].identical);
    assert_eq!(verdict(&groups.total.unwrap()), Verdict::Unknown);
}

#[test]
fn appeared_and_disappeared_change_places_with_the_sides() {
    let mut before = ten(2_000, 3_000);
    for boot in &mut before {
        boot.span(TrackKind::Userspace, 2_100 * MS, 2_200 * MS, "old");
    }
    let mut after = ten(2_000, 3_000);
    for boot in after.iter_mut().take(6) {
        boot.span(TrackKind::Userspace, 2_100 * MS, 2_150 * MS, "new");
    }
    let names =
        |rows: &[SpanRow]| -> Vec<String> { rows.iter().map(|s| s.row.name.clone()).collect() };
    let there = compared(&before, &after);
    assert_eq!(
        (names(&there.disappeared), names(&there.appeared)),
        (vec!["old".into()], vec!["new".into()])
    );
    assert_eq!(there.appeared[0].boots, [0, 6]);
    let back = compared(&after, &before);
    assert_eq!(names(&back.appeared), ["old"]);
}

#[test]
fn a_test_labs_boots_are_compared_to_the_prompt_and_not_to_its_tests() {
    let lab = |login_ms: i64| {
        let mut boot = log(100, 400, 900);
        boot.mark(Milestone::LoginPrompt, login_ms * MS).text(
            5_000 * MS,
            5_000 * MS,
            "all tests passed",
        );
        boot
    };
    let groups = compared(&[lab(500)], &[lab(600)]);
    assert_eq!(groups.end, End::Milestone(Milestone::LoginPrompt));
    let total = groups.total.unwrap();
    assert_eq!(
        (total.before_ns, total.after_ns),
        (Some(500 * MS), Some(600 * MS))
    );
}

#[test]
fn logs_without_a_common_moment_have_no_total() {
    let mut a = Made::board();
    a.text(1, 2, "this").text(5 * MS, 5 * MS, "that");
    let mut b = Made::board();
    b.text(1, 2, "other").text(9 * MS, 9 * MS, "words");
    let groups = compared(&[a], &[b]);
    assert_eq!((groups.end, groups.total), (End::Last, None));
    // That both begin alike is no end.
    let begins = |rest: &str| {
        let mut boot = Made::board();
        boot.mark(Milestone::KernelClockStart, 0)
            .text(0, 0, "Linux version 6.12")
            .text(5 * MS, 5 * MS, rest);
        boot
    };
    let groups = compared(&[begins("this")], &[begins("that")]);
    assert_eq!((groups.end, groups.total), (End::Last, None));
    let empty: [Boot<'_>; 0] = [];
    assert!(super::groups(&empty, &empty, Margin::Ns(1)).is_none());
}

#[test]
fn a_log_that_goes_on_has_its_kernel_as_well() {
    let kernels = |more: bool| {
        let mut boot = Made::board();
        boot.mark(Milestone::KernelClockStart, 0)
            .text(1, 1, "Linux version 6.12")
            .text(300 * MS, 300 * MS, "smp: up")
            .text(600 * MS, 600 * MS, "Run /sbin/init as init process")
            .mark(Milestone::InitStart, 600 * MS);
        if more {
            boot.text(900 * MS, 900 * MS, "systemd[1]: systemd 252 running");
        }
        boot
    };
    let groups = compared(&[kernels(false)], &[kernels(true)]);
    let kernel = row(&groups.phases, "kernel");
    assert_eq!(
        (kernel.before_ns, kernel.after_ns),
        (Some(600 * MS), Some(600 * MS))
    );
}

#[test]
fn where_only_durations_are_known_these_are_compared() {
    let blame = |wait_ms: i64, other_ms: i64| {
        let mut boot = Made::on(ClockKind::Relative, TimeKind::Measured);
        for (name, ms) in [("wait-online.service", wait_ms), ("app.service", other_ms)] {
            boot.span(TrackKind::Unit, 0, ms * MS, name)
                .arg("start", "unknown");
        }
        boot
    };
    let groups = compared(&[blame(9_000, 500)], &[blame(4_000, 500)]);
    assert_eq!((&groups.end, &groups.total), (&End::Durations, &None));
    let rows: Vec<(&str, i64)> = (groups.spans.iter())
        .map(|span| (span.row.name.as_str(), span.row.shift_ns()))
        .collect();
    assert_eq!(
        rows,
        [("wait-online.service", -5_000 * MS), ("app.service", 0)]
    );
    // Of a whole boot on the other side there is no more to compare.
    let mut whole = log(100, 400, 900);
    whole.span(TrackKind::Unit, 150 * MS, 850 * MS, "app.service");
    let groups = compared(&[whole], &[blame(9_000, 500)]);
    assert_eq!((groups.end, groups.phases), (End::Durations, Vec::new()));
    assert_eq!(groups.spans[0].row.shift_ns(), -200 * MS);
}

fn group() -> impl Strategy<Value = Vec<Made>> {
    prop::collection::vec(any_boot(), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn swapped_sides_change_signs(a in group(), b in group()) {
        let (there, back) = (compared(&a, &b), compared(&b, &a));
        prop_assume!(there.end == back.end && there.start == back.start);
        let flipped = |x: &Row, y: &Row| {
            let shifts = (x.effect.map(|e| e.shift_ns), y.effect.map(|e| e.shift_ns.saturating_neg()));
            (x.before_ns, x.after_ns) == (y.after_ns, y.before_ns) && shifts.0 == shifts.1
        };
        prop_assert!(there.total.iter().zip(&back.total).all(|(x, y)| flipped(x, y)));
        prop_assert_eq!(there.phases.len(), back.phases.len());
        prop_assert!(there.phases.iter().zip(&back.phases).all(|(x, y)| flipped(x, y)));
        let verdicts = |g: &Groups| g.total.as_ref().and_then(|t| t.effect).map(|e| e.verdict);
        let opposite = verdicts(&back).map(|v| match v {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            same => same,
        });
        prop_assert_eq!(verdicts(&there), opposite);
        let names = |rows: &[SpanRow]| rows.iter().map(|s| (s.kind, s.row.name.clone())).collect::<Vec<_>>();
        prop_assert_eq!(names(&there.appeared), names(&back.disappeared));
    }

    #[test]
    fn in_each_boot_the_places_add_up_to_the_total(a in group(), b in group()) {
        let lists: [Vec<&Timeline>; 2] = [&a, &b].map(|g| g.iter().map(|m| &m.timeline).collect());
        let places = places([&lists[0], &lists[1]], [0, 0], 10);
        for (side, boots) in lists.iter().enumerate() {
            for (at, timeline) in boots.iter().enumerate() {
                let Some(extent) = extent(timeline) else { return Ok(()) };
                if places.is_empty() {
                    continue;
                }
                let sum: i128 = places.iter().filter_map(|p| p.ns[side][at]).map(i128::from).sum();
                prop_assert_eq!(sum, i128::from(extent.duration_ns()));
            }
        }
    }

    #[test]
    fn a_group_is_never_faster_than_itself(a in group()) {
        let same = compared(&a, &a);
        let rows = same.total.iter().chain(&same.phases).chain(same.spans.iter().map(|s| &s.row));
        for row in rows {
            let verdict = row.effect.map(|e| e.verdict);
            prop_assert!(!matches!(verdict, Some(Verdict::Faster | Verdict::Slower)));
        }
        prop_assert_eq!(same.moved, []);
    }
}
