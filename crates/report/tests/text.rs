//! What the terminal shows, at several widths.

mod common;

use bootlap_analysis::{gaps, phases};
use bootlap_model::{MarkKind, Milestone, Timeline};
use bootlap_report::boot::{self, notices};
use bootlap_report::catalogue::{self, Entry};
use bootlap_report::table::{self, By, Rows};
use bootlap_report::{About, Report, Style, Texts, comparison, findings, inspect, trials};
use bootlap_sources::{Hints, Input, named};
use common::wide::wide;
use common::{Boot, hostile, stock, tuned};
use expect_test::expect_file;
use unicode_width::UnicodeWidthStr;

fn style(width: usize) -> Style {
    Style::wide(width)
}

/// Everything that can be printed of a boot.
fn everything(boot: &Boot, style: &Style) -> Vec<String> {
    let report = boot.report(None);
    let mut texts = vec![
        boot::text(&report, style),
        findings::text(&report.findings, report.timeline, style),
        trials::text(&report.trials, style),
        notices(report.timeline, style),
        comparison::text(&tuned().report(Some(boot)), style),
        comparison::text(&boot.report(Some(&tuned())), style),
        inspect::text(&common::files(boot), report.timeline, style),
        catalogue::text(&entries(boot), style),
    ];
    for by in By::ALL.iter().copied() {
        texts.push(table::text(&report, by, &Rows::first(10), style));
    }
    texts
}

fn entries(boot: &Boot) -> Vec<Entry> {
    let entry = |name: &str| Entry {
        name: name.to_owned(),
        title: "Unpack the kernel faster: with another compression, or with none".to_owned(),
        notes: vec![name.to_owned(), "risk: the image is larger".to_owned()],
    };
    vec![entry("kernel-compression"), entry(&boot.about.target)]
}

/// Compares `text` of a page's width with its snapshot.
fn check(name: &str, widths: &[usize], text: impl Fn(&Style) -> String) {
    for width in widths {
        let text = text(&style(*width));
        expect_file![format!("snapshots/{name}-{width}.txt")].assert_eq(&text);
        for line in text.lines() {
            assert!(line.width() <= *width, "{} columns: {line}", line.width());
        }
    }
}

#[test]
fn what_is_shown_of_one_boot_and_of_two() {
    let (old, new) = (stock(), tuned());
    let (one, two) = (old.report(None), new.report(Some(&old)));
    check("summary", &[60, 80, 120], |style| boot::text(&one, style));
    check("before-after", &[60, 80, 120], |style| {
        comparison::text(&two, style)
    });
    check("findings", &[80], |style| {
        findings::text(&old.findings, &old.timeline, style)
    });
    check("trials", &[60, 80], |style| {
        trials::text(&old.trials, style)
    });
    check("notices", &[80], |style| notices(&old.timeline, style));
    for (by, limit) in [(By::Spans, 4), (By::Initcalls, 9), (By::Deltas, 5)] {
        let rows = Rows::first(limit);
        check(by.text(), &[80], |style| {
            table::text(&one, by, &rows, style)
        });
    }
}

#[test]
fn two_boots_are_said_to_differ_by_what_is_known_of_them() {
    let (ready, mut late, mut silent) = (stock(), stock(), stock());
    late.about.ready_ns = None;
    // Nobody said what ready looks like.
    silent.about.ready_ns = None;
    silent.about.mode = String::new();
    let ready_mark = MarkKind::Milestone(Milestone::Ready);
    silent.timeline.marks.retain(|mark| mark.kind != ready_mark);
    let said = |before: &Boot, after: &Boot| {
        let text = comparison::text(&after.report(Some(before)), &style(80));
        let line = text.lines().find(|line| line.contains("kiosk")).unwrap();
        line.trim().to_owned()
    };
    for (before, after, expected) in [
        (&ready, &late, "kiosk: no longer gets ready"),
        (&late, &ready, "kiosk: now gets ready, after 5.177 s"),
        (&late, &late, "kiosk did not get ready"),
        (&silent, &silent, "kiosk: nothing says when it was ready"),
        (&ready, &silent, "kiosk: nothing says when it was ready"),
        (
            &silent,
            &ready,
            "kiosk is ready after 5.177 s; nothing says when it was before",
        ),
    ] {
        let said = said(before, after);
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn without_unicode_there_is_only_ascii_and_without_colour_no_escape() {
    let plain = Style {
        unicode: false,
        ..style(80)
    };
    let page = style(80);
    for boot in [stock(), hostile(), wide()] {
        for (ascii, unicode) in everything(&boot, &plain)
            .iter()
            .zip(everything(&boot, &page))
        {
            assert!(ascii.is_ascii(), "{ascii}");
            assert!(!unicode.contains('\x1b'), "{unicode}");
            assert_eq!(ascii.lines().count(), unicode.lines().count());
        }
    }
}

#[test]
fn no_line_is_wider_than_the_page() {
    for width in [0, 40, 41, 47, 60, 61, 77, 80, 100, 200, 500] {
        for boot in [stock(), hostile(), wide()] {
            let colored = Style {
                color: true,
                ..style(width)
            };
            let colored = everything(&boot, &colored);
            for (text, colored) in everything(&boot, &style(width)).iter().zip(colored) {
                for line in text.lines() {
                    assert!(line.width() <= width.clamp(40, 200), "{width}: {line}");
                }
                // Colours change nothing else.
                assert_eq!(*text, without_colors(&colored));
            }
        }
    }
}

fn without_colors(text: &str) -> String {
    let colors = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
    colors.replace_all(text, "").into_owned()
}

#[test]
fn a_narrow_page_has_what_matters() {
    let (old, new) = (stock(), tuned());
    let two = new.report(Some(&old));
    check("summary", &[40], |style| {
        boot::text(&old.report(None), style)
    });
    check("before-after", &[40], |style| comparison::text(&two, style));
    let wide = wide();
    let wide = Report {
        phases: phases(&wide.timeline),
        gaps: gaps(&wide.timeline, common::MS),
        ..wide.report(None)
    };
    let table = |by, style: &Style| table::text(&wide, by, &Rows::first(6), style) + "\n";
    let all = |style: &Style| By::ALL.iter().map(|by| table(*by, style)).collect();
    check("tables", &[40], all);
}

#[test]
fn hostile_text_does_not_reach_the_terminal() {
    let colored = Style {
        color: true,
        ..style(100)
    };
    let texts = [hostile(), wide()].map(|boot| everything(&boot, &colored));
    for text in texts.concat() {
        for c in text.chars() {
            let acts = (c.is_control() && c != '\n' && c != '\x1b')
                || ('\u{200b}'..='\u{200f}').contains(&c)
                || ('\u{2028}'..='\u{202e}').contains(&c)
                || ('\u{2066}'..='\u{2069}').contains(&c);
            assert!(!acts, "{c:?} in {text}");
        }
        // Only our own colours: ESC [ digits and semicolons m.
        for sequence in text.split('\x1b').skip(1) {
            let end = sequence.find(|c: char| !matches!(c, '[' | ';' | '0'..='9'));
            assert_eq!(&sequence[end.unwrap()..end.unwrap() + 1], "m", "{sequence}");
        }
    }
}

fn read(source: &str, log: &str) -> Timeline {
    let mut timeline = Timeline::default();
    let input = Input {
        label: "log",
        bytes: &mut log.as_bytes(),
        hints: &Hints::default(),
    };
    let source = named(source).unwrap();
    source.read(input, &mut timeline).unwrap();
    timeline
}

#[test]
fn a_headline_has_its_figure_and_a_phase_its_share_of_the_whole_boot() {
    // No line of the kernel has a time of its own: when it began is not known.
    let log = "[00:00:01.000] U-Boot 2023.01 (Jan 01 2023 - 00:00:00 +0000)\r\n\
        [00:00:02.000] DRAM:  2 GiB\r\n[00:00:04.000] Starting kernel ...\r\n\
        [00:00:05.000] Linux version 6.1.0 (gcc) #1 SMP\r\n\
        [00:00:09.000] Starting syslogd: OK\r\n[00:00:11.000] buildroot login: \r\n";
    let timeline = read("ts", log);
    let texts = Texts::default();
    let about = About {
        target: "a-name-that-is-longer-than-anybody-would-give-to-a-log.txt".into(),
        ..About::default()
    };
    let report = Report {
        phases: phases(&timeline),
        ..Report::new(about, &timeline, &texts)
    };
    let text = boot::text(&report, &style(80));
    // The name gives way to what is said of it.
    assert!(text.contains("…: login prompt after 10.000 s"), "{text}");
    let row = text.lines().find(|line| line.contains("boot loader"));
    let row = row.unwrap_or_else(|| panic!("{text}"));
    assert!(row.contains("3.000 s") && row.contains("30.0 %"), "{text}");
    let mut markdown = Vec::new();
    (boot::markdown::MARKDOWN.write)(&report, None, &mut markdown).unwrap();
    let markdown = String::from_utf8(markdown).unwrap();
    assert!(markdown.contains("| 3.000 s | 30.0 % |"), "{markdown}");
}

#[test]
fn where_no_rule_looks_that_is_said() {
    let style = style(80);
    let mut timeline = Timeline::default();
    timeline.add_file("log", "strace");
    let said = findings::text(&[], &timeline, &style);
    assert!(said.contains("Hardly any rule looks at evidence of this kind (strace)"));
    timeline.add_file("dmesg", "dmesg");
    let said = findings::text(&[], &timeline, &style);
    assert!(said.contains("Nothing found to improve"));

    // Earlier than the kernel's clock runs, all its lines have one time.
    let log = "[    0.000000] Linux version 6.1.47\n[    0.000000] Zone ranges:\nHit any key\n";
    let timeline = read("console", log);
    let said = findings::text(&[], &timeline, &style);
    assert!(said.contains("nothing can be measured"), "{said}");
}
