use bootlap_model::{Evidence, FileId};
use proptest::prelude::*;

use super::*;

/// Two files, each with a clock.
fn two(kinds: [ClockKind; 2]) -> (Timeline, [ClockId; 2], [FileId; 2]) {
    let mut t = Timeline::default();
    let files = ["a.log", "dir/b.log"].map(|name| t.add_file(name, "test"));
    let clocks = [0, 1].map(|i| t.add_clock(kinds[i], files[i]));
    (t, clocks, files)
}

const APART: [ClockKind; 2] = [ClockKind::KernelPrintk, ClockKind::Realtime];

fn at(file: FileId, line: u32) -> Evidence {
    Evidence {
        file,
        start: 0,
        end: 0,
        line,
    }
}

fn anchor(t: &mut Timeline, clock: ClockId, key: u64, ns: i64) {
    let evidence = at(t.clock(clock).file, 1);
    let at = Stamp::new(ns, 1_000);
    t.add_anchor(clock, at, key, evidence);
}

fn mark(t: &mut Timeline, clock: ClockId, milestone: Milestone, ns: i64, line: u32) {
    let evidence = at(t.clock(clock).file, line);
    let name = t.symbols.intern(milestone.text());
    t.marks.push(bootlap_model::Mark {
        clock,
        at: Stamp::new(ns, 0),
        kind: MarkKind::Milestone(milestone),
        name,
        evidence,
    });
}

fn codes(t: &Timeline) -> Vec<&str> {
    t.notices.iter().map(|n| n.code.as_str()).collect()
}

const S: i64 = 1_000_000_000;

#[test]
fn most_of_the_shared_events_decide() {
    let (mut t, [a, b], _) = two(APART);
    for key in 0..9 {
        let late = if key == 4 { 7 * S } else { key as i64 * 10_000 };
        anchor(&mut t, a, key, key as i64 * S);
        anchor(&mut t, b, key, key as i64 * S + 100 * S + late);
    }
    align(&mut t, &[]).unwrap();
    assert_eq!(t.edges.len(), 1);
    let e = &t.edges[0];
    assert_eq!((e.how, e.drift_ppm > 5.0), (How::SharedEvent, true));
    assert!(e.err_ns < 10_000, "{}", e.err_ns);
    let there = Axis::on(&t, Some(b)).at(a, Stamp::new(8 * S, 0)).unwrap();
    assert!((there.ns - (108 * S + 80_000)).abs() < 10_000);
    assert_eq!(codes(&t), [""; 0]);
}

#[test]
fn events_of_another_boot_are_no_match() {
    let (mut t, [a, b], _) = two(APART);
    for key in 0..20 {
        anchor(&mut t, a, key, key as i64 * S);
        anchor(&mut t, b, key, (key as i64 * 7919) % 20 * S * 5);
    }
    align(&mut t, &[]).unwrap();
    assert_eq!((t.edges.len(), codes(&t)), (0, vec!["clocks-do-not-match"]));
}

#[test]
fn events_that_happen_twice_tell_nothing() {
    let (mut t, [a, b], _) = two(APART);
    for (clock, ns) in [(a, 1), (a, 2), (b, 9)] {
        anchor(&mut t, clock, 5, ns * S);
    }
    align(&mut t, &[]).unwrap();
    assert_eq!(t.edges.len(), 0);
}

#[test]
fn milestones_join_what_has_no_anchors() {
    let (mut t, [a, b], _) = two(APART);
    mark(&mut t, a, Milestone::StartupFinished, 3 * S, 1);
    mark(&mut t, b, Milestone::StartupFinished, 50 * S, 1);
    mark(&mut t, a, Milestone::InitStart, S, 1);
    mark(&mut t, b, Milestone::InitStart, 49 * S, 1);
    align(&mut t, &[]).unwrap();
    assert_eq!(t.edges.len(), 1);
    assert_eq!(
        (t.edges[0].offset_ns, t.edges[0].how),
        (47 * S, How::SharedEvent)
    );
}

#[test]
fn clocks_that_begin_with_the_kernel_are_assumed_to_agree() {
    let (mut t, ..) = two([ClockKind::KernelPrintk, ClockKind::Boottime]);
    align(&mut t, &[]).unwrap();
    assert_eq!((t.edges.len(), t.edges[0].how), (1, How::Assumed));
    assert!(t.edges[0].err_ns >= 100_000_000);
}

/// systemd's “kernel” has Debian's initramfs in it: no other moment of one name moves
/// clocks that begin where the kernel does.
#[test]
fn what_two_programs_call_one_moment_does_not_move_the_kernels_clocks() {
    let (mut t, [a, b], _) = two([ClockKind::KernelPrintk, ClockKind::Monotonic]);
    mark(&mut t, a, Milestone::InitStart, 2 * S, 1);
    mark(&mut t, b, Milestone::InitStart, 15 * S, 1);
    align(&mut t, &[]).unwrap();
    assert_eq!((t.edges.len(), t.edges[0].offset_ns), (1, 0));
}

#[test]
fn what_nothing_joins_is_said() {
    let (mut t, [a, b], _) = two(APART);
    mark(&mut t, a, Milestone::InitStart, S, 1);
    mark(&mut t, b, Milestone::Ready, S, 1);
    align(&mut t, &[]).unwrap();
    assert_eq!((t.edges.len(), codes(&t)), (0, vec!["clock-apart"]));
}

#[test]
fn the_user_has_the_last_word() {
    let (mut t, [a, b], _) = two(APART);
    mark(&mut t, a, Milestone::StartupFinished, 3 * S, 12);
    mark(&mut t, b, Milestone::StartupFinished, 50 * S, 7);
    let place = |file: &str, line| Place {
        file: file.to_owned(),
        line,
    };
    let same = Declared::SameMoment(place("a.log", 12), place("b.log", 7));
    align(&mut t, &[same]).unwrap();
    assert_eq!(t.edges.len(), 1);
    assert_eq!(
        (t.edges[0].offset_ns, t.edges[0].how),
        (-47 * S, How::Declared)
    );

    let wrong = Declared::SameMoment(place("a.log", 12), place("c.log", 7));
    assert!(align(&mut t, &[wrong]).unwrap_err().contains("c.log"));
    let empty = Declared::SameMoment(place("a.log", 13), place("b.log", 7));
    assert!(align(&mut t, &[empty]).unwrap_err().contains("a.log:13"));
}

proptest! {
    /// Whatever the true relation: what is found holds it within its error.
    #[test]
    fn the_stated_error_holds(
        offset in -1_000 * S..1_000 * S,
        ppm in -200.0f64..200.0,
        times in prop::collection::vec(0..60 * S, 1..40),
        jitter in prop::collection::vec(-400_000..400_000i64, 40),
    ) {
        let (mut t, [a, b], _) = two(APART);
        let true_b = |ns: i64| ns + offset + (ns as f64 * ppm / 1e6) as i64;
        for (i, ns) in times.iter().enumerate() {
            anchor(&mut t, a, i as u64, *ns);
            anchor(&mut t, b, i as u64, true_b(*ns) + jitter[i]);
        }
        align(&mut t, &[]).unwrap();
        let axis = Axis::on(&t, Some(b));
        for ns in &times {
            let there = axis.at(a, Stamp::new(*ns, 0)).unwrap();
            let apart = (there.ns - true_b(*ns)).abs();
            prop_assert!(apart <= i64::from(there.err_ns) + 400_000);
        }
    }

    /// Times at the ends of the range neither panic nor overflow.
    #[test]
    fn any_times(pairs in prop::collection::vec((any::<i64>(), any::<i64>()), 1..20)) {
        let (mut t, [a, b], _) = two(APART);
        for (i, (x, y)) in pairs.iter().enumerate() {
            anchor(&mut t, a, i as u64, *x);
            anchor(&mut t, b, i as u64, *y);
            mark(&mut t, a, Milestone::Ready, *x, 1);
            mark(&mut t, b, Milestone::Ready, *y, 1);
        }
        align(&mut t, &[]).unwrap();
    }
}
