use super::*;
use crate::build::Boot;
use bootlap_model::SpanEnd;

fn linked(boot: &mut Boot, links: &[(usize, usize)]) {
    let ids: Vec<SpanId> = boot.timeline.span_ids().collect();
    for (from, to) in links {
        boot.timeline.link(ids[*from], ids[*to], LinkKind::After);
    }
}

fn ms(ns: i64) -> i64 {
    ns * 1_000_000
}

fn unit(boot: &mut Boot, start_ms: i64, end_ms: i64, name: &str) {
    boot.span(TrackKind::Unit, ms(start_ms), ms(end_ms), name);
}

#[test]
fn the_way_back_goes_by_what_was_over_last() {
    let mut boot = Boot::board();
    boot.mark(Milestone::InitStart, ms(100));
    boot.mark(Milestone::StartupFinished, ms(1_000));
    unit(&mut boot, 150, 200, "early");
    unit(&mut boot, 150, 400, "slow");
    unit(&mut boot, 450, 950, "app");
    // It was ordered before `app`, but was over only later: no cause.
    unit(&mut boot, 300, 940, "odd");
    unit(&mut boot, 1_200, 1_300, "after the boot");
    linked(&mut boot, &[(0, 2), (1, 2), (3, 2), (0, 1), (2, 4)]);
    let path = critical_path(&boot.timeline).unwrap();
    let steps: Vec<_> = path
        .steps
        .iter()
        .map(|s| {
            (
                s.name.as_str(),
                s.own_ns() / 1_000_000,
                s.gap_ns / 1_000_000,
            )
        })
        .collect();
    assert_eq!(steps, [("slow", 250, 50), ("app", 500, 50)]);
    assert_eq!(path.to, Some(Milestone::StartupFinished));
    assert_eq!(path.last_gap_ns, ms(50));
    assert_eq!(path.own_ns() + path.gaps_ns(), ms(900));
}

#[test]
fn ready_within_a_unit_ends_that_unit_s_step() {
    let mut boot = Boot::board();
    boot.mark(Milestone::Ready, ms(600));
    boot.mark(Milestone::StartupFinished, ms(2_000));
    unit(&mut boot, 100, 300, "before");
    unit(&mut boot, 300, 700, "app");
    unit(&mut boot, 710, 1_900, "late");
    linked(&mut boot, &[(0, 1), (1, 2)]);
    let path = critical_path(&boot.timeline).unwrap();
    assert_eq!(path.steps.len(), 2);
    assert_eq!(path.steps[1].own_ns(), ms(300));
    assert_eq!((path.last_gap_ns, path.begin), (0, None));
}

#[test]
fn cycles_end_and_nothing_linked_is_no_path() {
    let mut boot = Boot::board();
    unit(&mut boot, 5, 5, "a");
    unit(&mut boot, 5, 5, "b");
    assert_eq!(critical_path(&boot.timeline), None);
    linked(&mut boot, &[(0, 1), (1, 0)]);
    let path = critical_path(&boot.timeline).unwrap();
    assert_eq!((path.steps.len(), path.to), (2, None));
    let clock = boot.timeline.clock_ids().next().unwrap();
    let at = Stamp::new(i64::MIN, 3);
    boot.span_on(clock, TrackKind::Unit, at, SpanEnd::Unknown, "c");
    linked(&mut boot, &[(2, 0), (0, 2)]);
    assert!(critical_path(&boot.timeline).is_some());
}

#[test]
fn a_process_that_ends_last_is_not_what_a_boot_waits_for() {
    let mut boot = Boot::board();
    for (start, end, name) in [(10, 900, "init"), (100, 300, "app"), (600, 800, "ls")] {
        boot.span(TrackKind::Process, ms(start), ms(end), name);
    }
    let ids: Vec<SpanId> = boot.timeline.span_ids().collect();
    boot.timeline.link(ids[0], ids[1], LinkKind::Spawns);
    boot.timeline.link(ids[0], ids[2], LinkKind::Spawns);
    assert_eq!(critical_path(&boot.timeline), None);
    // Where it is known when the boot was ready, what ran then is.
    boot.mark(Milestone::Ready, ms(200));
    let path = critical_path(&boot.timeline).unwrap();
    let steps: Vec<_> = path
        .steps
        .iter()
        .map(|s| (s.name.as_str(), s.own_ns()))
        .collect();
    assert_eq!(steps, [("init", ms(90)), ("app", ms(100))]);
    // Units say better what it waited for.
    unit(&mut boot, 50, 190, "app.service");
    assert_eq!(critical_path(&boot.timeline), None);
}
