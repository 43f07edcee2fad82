//! Cases counted by hand, and what holds for any calls.

use proptest::prelude::*;

use super::*;
use crate::build::{Boot, any_boot, wild_boot};

fn boot(calls: &[(i64, i64, &str)]) -> Boot {
    let mut boot = Boot::board();
    for (start, end, name) in calls {
        boot.span(TrackKind::Function, *start, *end, name);
    }
    boot
}

/// Name, count, time, sub, local, sleep, and the callee with most time.
type Row = (String, u64, i64, i64, i64, i64, Option<(String, u64, i64)>);

fn rows(calls: &[(i64, i64, &str)]) -> Vec<Row> {
    let stats = functions(&boot(calls).timeline);
    let row = |s: CallStats| {
        let max = s.max_sub.map(|m| (m.name, m.count, m.time_ns));
        (
            s.name, s.count, s.time_ns, s.sub_ns, s.local_ns, s.sleep_ns, max,
        )
    };
    stats.into_iter().map(row).collect()
}

fn row(name: &str, numbers: [i64; 5], max: Option<(&str, u64, i64)>) -> Row {
    let [count, time, sub, local, sleep] = numbers;
    let max = max.map(|(name, count, time)| (name.to_owned(), count, time));
    (name.to_owned(), count as u64, time, sub, local, sleep, max)
}

#[test]
fn the_columns_of_kd() {
    let calls = [
        (0, 100, "mem_init"),
        (5, 95, "free_all"),
        (10, 40, "free_core"),
        (50, 60, "free_core"),
        (96, 98, "printk"),
        (120, 150, "printk"),
    ];
    assert_eq!(
        rows(&calls),
        [
            row("mem_init", [1, 100, 92, 8, 0], Some(("free_all", 1, 90))),
            row("free_all", [1, 90, 40, 50, 0], Some(("free_core", 2, 40))),
            row("free_core", [2, 40, 0, 40, 0], None),
            row("printk", [2, 32, 0, 32, 0], None),
        ]
    );
    let printk = functions(&boot(&calls).timeline).pop().unwrap();
    assert_eq!(printk.average_ns, Some(16));
    assert_eq!(printk.range_ns, Some((2, 30)));
}

#[test]
fn recursion_counts_once() {
    let calls = [(0, 100, "f"), (10, 60, "g"), (20, 50, "f"), (30, 40, "f")];
    assert_eq!(
        rows(&calls),
        [
            row("f", [3, 100, 20, 80, 0], Some(("g", 1, 50))),
            row("g", [1, 50, 30, 20, 0], Some(("f", 1, 30))),
        ]
    );
}

#[test]
fn sleep_is_apart() {
    let calls = [
        (0, 100, "ide_init"),
        (10, 80, "wait_for_completion"),
        (12, 78, "schedule"),
        (90, 95, "msleep"),
    ];
    assert_eq!(
        rows(&calls),
        [
            row(
                "ide_init",
                [1, 100, 75, 25, 75],
                Some(("wait_for_completion", 1, 70))
            ),
            row(
                "wait_for_completion",
                [1, 70, 66, 4, 70],
                Some(("schedule", 1, 66))
            ),
            row("schedule", [1, 66, 0, 66, 66], None),
            row("msleep", [1, 5, 0, 5, 5], None),
        ]
    );
}

#[test]
fn what_has_no_end_is_counted_and_has_no_time() {
    let mut boot = boot(&[(10, 20, "a"), (12, 14, "b")]);
    let clock = boot.timeline.clock_ids().next().unwrap();
    let start = bootlap_model::Stamp::new(0, 0);
    let kind = TrackKind::Function;
    boot.span_on(clock, kind, start, bootlap_model::SpanEnd::Unknown, "a");
    let a = functions(&boot.timeline).remove(0);
    assert_eq!((a.count, a.endless, a.time_ns, a.local_ns), (2, 1, 10, 8));
    assert_eq!(a.average_ns, Some(10));
}

#[test]
fn initcalls_are_apart_by_task() {
    let mut boot = boot(&[]);
    boot.span(TrackKind::Initcall, 0, 30, "pci_init")
        .arg("pid", "1");
    boot.span(TrackKind::Initcall, 5, 60, "usb_init")
        .arg("pid", "7");
    let stats = functions(&boot.timeline);
    let rows: Vec<_> = stats
        .iter()
        .map(|s| (s.kind, &s.name[..], s.time_ns, s.local_ns))
        .collect();
    assert_eq!(
        rows,
        [
            (TrackKind::Initcall, "usb_init", 55, 55),
            (TrackKind::Initcall, "pci_init", 30, 30),
        ]
    );
}

#[test]
fn traced_calls_stand_for_the_initcalls_of_their_file() {
    let mut boot = boot(&[(0, 10, "pci_init")]);
    boot.span(TrackKind::Initcall, 0, 10, "pci_init");
    let stats = functions(&boot.timeline);
    let kinds: Vec<_> = stats.iter().map(|s| s.kind).collect();
    assert_eq!(kinds, [TrackKind::Function]);
}

#[test]
fn a_rounded_end_makes_no_callee() {
    let mut boot = Boot::board();
    let us = |us: i64| bootlap_model::Stamp::new(us * 1_000, 1_000);
    for (start, end, name) in [(0, 100, "outer"), (10, 21, "first"), (20, 40, "second")] {
        boot.span_at(TrackKind::Function, us(start), us(end), name);
    }
    let stats = functions(&boot.timeline);
    let max = stats[0].max_sub.as_ref().map(|m| (&m.name[..], m.count));
    assert_eq!((max, stats[0].local_ns), (Some(("second", 1)), 70_000));
    assert!(stats[1].max_sub.is_none() && stats[2].max_sub.is_none());
}

#[test]
fn stacks_are_folded() {
    let boot = boot(&[(0, 100, "a"), (10, 60, "b"), (20, 30, "c"), (70, 80, "b")]);
    let folded: Vec<(String, i64)> = folded(&boot.timeline)
        .into_iter()
        .map(|(stack, ns)| (stack.join(";"), ns))
        .collect();
    let expected = [("test;a", 40), ("test;a;b", 50), ("test;a;b;c", 10)];
    assert_eq!(folded, expected.map(|(s, ns)| (s.to_owned(), ns)));
}

fn as_functions(boot: &mut Boot) {
    for span in 0..boot.timeline.spans.len() {
        let kind = boot.timeline.kind_of(&boot.timeline.spans[span]);
        if kind != TrackKind::Console {
            let track = boot.timeline.track(TrackKind::Function, "test");
            boot.timeline.spans[span].track = track;
        }
    }
}

/// How much of the lanes' time some call covers, found the slow way.
fn covered(timeline: &Timeline) -> i64 {
    let mut covered = 0i64;
    for lane in lane::lanes(timeline) {
        let mut until = i64::MIN;
        for call in &lane.calls {
            let Some(end) = call.end_ns else { continue };
            covered += (end - call.start_ns.max(until)).max(0);
            until = until.max(end);
        }
    }
    covered
}

proptest! {
    #[test]
    fn own_times_add_up_to_the_time_covered(mut boot in any_boot()) {
        as_functions(&mut boot);
        // Stamps without error: nothing is rounded away.
        for span in &mut boot.timeline.spans {
            span.start.err_ns = 0;
            if let bootlap_model::SpanEnd::At(end) = &mut span.end {
                end.err_ns = 0;
            }
        }
        let stats = functions(&boot.timeline);
        let own: i64 = stats.iter().map(|s| s.local_ns).sum();
        prop_assert_eq!(own, covered(&boot.timeline));
        let stacks: i64 = folded(&boot.timeline).iter().map(|(_, ns)| ns).sum();
        prop_assert_eq!(own, stacks);
    }

    #[test]
    fn every_column_is_within_the_time(mut boot in any_boot()) {
        as_functions(&mut boot);
        let stats = functions(&boot.timeline);
        for s in &stats {
            prop_assert!(0 <= s.local_ns && s.local_ns <= s.time_ns);
            prop_assert!(0 <= s.sleep_ns && s.sleep_ns <= s.time_ns);
            prop_assert_eq!(s.sub_ns + s.local_ns, s.time_ns);
            prop_assert!(s.endless <= s.count);
        }
        let calls = boot.timeline.spans_of(TrackKind::Function).count() as u64;
        prop_assert_eq!(stats.iter().map(|s| s.count).sum::<u64>(), calls);
        prop_assert!(stats.windows(2).all(|w| w[0].time_ns >= w[1].time_ns));
    }

    #[test]
    fn no_calls_make_it_panic(mut boot in wild_boot()) {
        as_functions(&mut boot);
        functions(&boot.timeline);
        folded(&boot.timeline);
    }
}
