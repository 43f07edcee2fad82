//! Trees made by hand.

use bootlap_model::{ClockKind, Evidence, LinkKind, SpanEnd, SpanId, Stamp, Timeline, TrackKind};
use proptest::prelude::*;

use super::{Hidden, Process, processes};

const MS: i64 = 1_000_000;

/// A process to be: pid, parent, name, start and end in ms, CPU time in ms.
type Wanted<'a> = (u32, u32, &'a str, i64, Option<i64>, i64);

/// Sampled every 20 ms up to 1 s; without an end it was still there.
fn sampled(list: &[Wanted<'_>]) -> Timeline {
    let mut timeline = Timeline::default();
    let file = timeline.add_file("ps", "test");
    let clock = timeline.add_clock(ClockKind::Boottime, file);
    for (pid, ppid, name, start, end, cpu) in list {
        let facts = [
            ("pid", pid.to_string()),
            ("ppid", ppid.to_string()),
            ("cpu_us", (cpu * 1000).to_string()),
        ];
        let facts = facts.each_ref().map(|(k, v)| (*k, v.as_str()));
        let end = end.map_or(SpanEnd::OpenAtCut, |end| {
            SpanEnd::At(Stamp::new(end * MS, 10_000_000))
        });
        let times = (Stamp::new(start * MS, 0), end);
        let track = (TrackKind::Process, "processes");
        timeline.add_named(clock, track, name, times, &facts, Evidence::whole(file, 0));
    }
    timeline
}

fn lines(rows: &[Process]) -> Vec<String> {
    let line = |p: &Process| {
        let (indent, many) = (" ".repeat(p.depth), p.count);
        format!("{indent}{} ×{many}", p.name)
    };
    rows.iter().map(line).collect()
}

const BOOT: [Wanted<'static>; 13] = [
    (1, 0, "init", 0, None, 100),
    (2, 1, "idled", 10, None, 0),
    (3, 1, "busyd", 10, None, 1),
    (4, 1, "sh", 100, Some(130), 1),
    (5, 4, "mount", 101, Some(400), 5),
    (6, 1, "udevd", 200, None, 10),
    (7, 6, "worker", 210, Some(500), 2),
    (8, 6, "worker", 220, Some(600), 3),
    (9, 8, "probe", 230, Some(300), 3),
    (10, 1, "bootchartd", 5, None, 9),
    (11, 10, "sleep", 500, Some(560), 0),
    (12, 1, "login", 700, None, 1),
    (13, 12, "login", 750, Some(1000), 1),
];

#[test]
fn nothing_is_hidden_unless_asked_for() {
    let all = processes(&sampled(&BOOT), false);
    assert_eq!((all.all, all.rows.len()), (13, 13));
    assert_eq!(all.hidden, Hidden::default());
    assert_eq!(all.window, (0, 1000 * MS));
    let names: Vec<_> = all.rows.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names[..4], ["init", "bootchartd", "sleep", "idled"]);
    let probe = all.rows.iter().find(|p| p.name == "probe").unwrap();
    assert_eq!((probe.depth, probe.lasted_ns(0)), (3, Some(70 * MS)));
    assert_eq!(all.rows[probe.parent.unwrap()].pid, Some(8));
}

#[test]
fn pruning_does_as_bootchart_and_says_what() {
    let pruned = processes(&sampled(&BOOT), true);
    let expected = [
        "init ×1",
        " bootchartd ×2",
        " busyd ×1",
        " mount ×1",
        " udevd ×1",
        "  worker ×2",
        "   probe ×1",
        " login ×2",
    ];
    assert_eq!(lines(&pruned.rows), expected);
    let hidden = Hidden {
        recorder: 1,
        idle: 1,
        short: 1,
        same: 1,
        chain: 1,
        short_ns: 40 * MS,
    };
    assert_eq!(pruned.hidden, hidden);
    assert_eq!(pruned.hidden.total() + pruned.rows.len(), pruned.all);
    let workers = &pruned.rows[5];
    assert_eq!(
        (workers.start_ns, workers.end_ns),
        (210 * MS, Some(600 * MS))
    );
    assert_eq!(workers.cpu_ns, Some(5 * MS));
}

#[test]
fn what_is_known_of_an_end_is_used() {
    let mut timeline = sampled(&[(1, 0, "init", 0, None, 1), (5, 1, "a", 10, Some(90), 1)]);
    let key = timeline.symbols.intern("last_seen_us");
    let value = timeline.symbols.intern("70000");
    timeline.spans[1].end = SpanEnd::Unknown;
    timeline.spans[1].args.push((key, value));
    let found = processes(&timeline, false);
    let a = &found.rows[1];
    assert_eq!((a.end_ns, a.open, a.seen_ns), (None, false, Some(70 * MS)));
    assert_eq!((a.lasted_ns(0), found.window.1), (Some(60 * MS), 70 * MS));
    // How often it was sampled can then be told from its start only.
    timeline.spans[1].start.err_ns = 20_000_000;
    assert_eq!(processes(&timeline, true).hidden.short_ns, 80 * MS);
}

#[test]
fn links_are_believed_before_pids_and_no_cycle_is() {
    let list = [
        (1, 2, "a", 0, None, 0),
        (2, 1, "b", 0, None, 0),
        (3, 1, "c", 5, None, 0),
    ];
    let mut timeline = sampled(&list);
    let ids: Vec<SpanId> = timeline.span_ids().collect();
    timeline.link(ids[1], ids[2], LinkKind::Spawns);
    timeline.link(ids[2], ids[1], LinkKind::Spawns);
    let rows = processes(&timeline, false).rows;
    let c = rows.iter().position(|p| p.name == "c").unwrap();
    let b = rows.iter().position(|p| p.name == "b").unwrap();
    assert!(rows[c].parent == Some(b) || rows[b].parent == Some(c));
    assert_eq!(rows.len(), 3);
}

#[test]
fn a_long_line_of_forks_needs_no_stack() {
    let list: Vec<Wanted<'_>> = (1..50_000)
        .map(|i| (i, i - 1, "fork", i64::from(i), None, 1))
        .collect();
    let timeline = sampled(&list);
    assert_eq!(
        processes(&timeline, false).rows.last().unwrap().depth,
        49_998
    );
    let pruned = processes(&timeline, true);
    assert_eq!((pruned.rows.len(), pruned.hidden.chain), (1, 49_998));
}

proptest! {
    #[test]
    fn every_process_is_a_row_or_hidden(
        list in prop::collection::vec(
            (0..12u32, 0..12u32, prop::sample::select(vec!["sh", "bootchartd", "x"]), 0..900i64,
             prop::option::of(0..1000i64), 0..2i64),
            0..30,
        ),
        prune: bool,
    ) {
        let found = processes(&sampled(&list), prune);
        prop_assert_eq!(found.all, list.len());
        prop_assert_eq!(found.hidden.total() + found.rows.len(), found.all);
        prop_assert_eq!(found.rows.iter().map(|p| p.count).sum::<usize>()
            + found.hidden.idle + found.hidden.short, found.all);
        for (at, row) in found.rows.iter().enumerate() {
            prop_assert!(row.parent.is_none_or(|parent| parent < at));
        }
    }
}
