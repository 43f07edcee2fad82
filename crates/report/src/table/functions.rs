//! The table of `bootlap show --by functions`: what each function cost.

use bootlap_analysis::CallStats;
use bootlap_model::TrackKind;

use crate::format::{count, duration};
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell, left_out, nothing};

/// The functions that took most time, at most `limit` of them: the columns of
/// `kd` for KFI logs, for all evidence that has calls of functions. Below each
/// function is the one that took most of its time when called from there.
pub(crate) fn functions(all: &[CallStats], limit: usize, style: &Style) -> String {
    if all.is_empty() {
        return nothing(
            "No calls of functions were seen: give a KFI or function_graph log, or boot with initcall_debug.",
            style,
        );
    }
    let mut page = Page::new(style);
    let mut table = Table::new(&[
        ("function", Align::Flex),
        ("calls", Align::Right),
        ("time", Align::Right),
        ("average", Align::Right),
        ("local", Align::Right),
        ("sleep", Align::Right),
    ])
    .without(&["average", "calls", "sleep", "local"]);
    for stats in all.iter().take(limit) {
        function(stats, all, &mut table);
        callee(stats, &mut table);
    }
    table.render(&mut page);
    left_out(all.len(), limit, "the longest", &mut page);
    remarks(all, &mut page);
    page.finish()
}

fn function(stats: &CallStats, all: &[CallStats], table: &mut Table) {
    let mut name = cell(&stats.name, Ink::Plain);
    // Its calls may be known twice: from a trace and from the kernel's log.
    let twice = |other: &CallStats| other.name == stats.name && other.kind != stats.kind;
    if stats.kind == TrackKind::Initcall && all.iter().any(twice) {
        name.push(" (initcall)", Ink::Faint);
    }
    let known = |ns: i64| {
        if stats.count > stats.endless {
            duration(ns)
        } else {
            "no end".to_owned()
        }
    };
    let sleep = match stats.sleep_ns {
        0 => cell("–", Ink::Faint),
        ns => cell(&duration(ns), Ink::Warn),
    };
    let average = stats.average_ns.map_or("–".to_owned(), duration);
    let local = if stats.count > stats.endless {
        duration(stats.local_ns)
    } else {
        "–".to_owned()
    };
    table.row(vec![
        name,
        cell(&count(stats.count), Ink::Plain),
        cell(&known(stats.time_ns), Ink::Strong),
        cell(&average, Ink::Plain),
        cell(&local, Ink::Plain),
        sleep,
    ]);
}

/// The callee that took most, a row of its own: names are long.
fn callee(stats: &CallStats, table: &mut Table) {
    let Some(most) = stats.max_sub.as_ref().filter(|m| m.time_ns > 0) else {
        return;
    };
    table.row(vec![
        Line::default()
            .with("  → ", Ink::Faint)
            .with(&most.name, Ink::Faint),
        cell(&count(most.count), Ink::Faint),
        cell(&duration(most.time_ns), Ink::Faint),
    ]);
}

/// What the columns mean, and what they cannot tell.
fn remarks(all: &[CallStats], page: &mut Page<'_>) {
    let endless: u64 = all.iter().map(|s| s.endless).sum();
    let mut text = "time: with all that it called and slept, recursion once; local: in itself; sleep: off the CPU or idle; → the callee that took most".to_owned();
    if endless > 0 {
        let calls = count(endless);
        text.push_str(&format!(
            "; calls without a known end, which have no time: {calls}"
        ));
    }
    page.blank();
    page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
}

#[cfg(test)]
mod tests {
    use bootlap_model::{ClockKind, Evidence, SpanEnd, Stamp, Timeline};

    use super::*;

    fn timeline() -> Timeline {
        let mut timeline = Timeline::default();
        let file = timeline.add_file("boot.lst", "kfi");
        let clock = timeline.add_clock(ClockKind::Trace, file);
        let track = (TrackKind::Function, "pid 1");
        let initcalls = (TrackKind::Initcall, "initcalls");
        let calls = [
            (track, 0, Some(1_159_270), "do_basic_setup"),
            (track, 14, Some(1_159_256), "do_initcalls"),
            (
                track,
                600,
                Some(400_000),
                "an_init_function_with_quite_a_long_name",
            ),
            (track, 700, Some(300_000), "schedule"),
            (track, 500_000, Some(500_000), "ide_init"),
            (initcalls, 500_000, Some(500_100), "ide_init"),
            (track, 1_300_000, None, "to_userspace"),
        ];
        for (track, start, length, name) in calls {
            let stamp = |us: i64| Stamp::new(us * 1_000, 1_000);
            let end = length.map_or(SpanEnd::Unknown, |l| SpanEnd::At(stamp(start + l)));
            let evidence = Evidence::whole(file, 0);
            timeline.add_named(clock, track, name, (stamp(start), end), &[], evidence);
        }
        timeline
    }

    #[test]
    fn the_table() {
        let text = functions(
            &bootlap_analysis::functions(&timeline()),
            5,
            &Style::default(),
        );
        expect_test::expect_file!["../../tests/snapshots/functions-80.txt"].assert_eq(&text);
    }

    #[test]
    fn it_fits() {
        for (width, average) in [(40, false), (60, false), (80, true), (120, true)] {
            let style = Style::wide(width);
            let text = functions(&bootlap_analysis::functions(&timeline()), 50, &style);
            assert!(text.lines().all(|l| l.chars().count() <= width), "{text}");
            assert_eq!(text.contains("average"), average, "{text}");
        }
        assert!(functions(&[], 5, &Style::default()).starts_with("  No calls"));
    }
}
