//! What the terminal shows, at several widths.

mod common;

use bootlap_analysis::{gaps, phases};
use bootlap_report::boot::{self, notices};
use bootlap_report::catalogue::{self, Entry};
use bootlap_report::table::{self, By, Rows};
use bootlap_report::{Report, Style, comparison, findings, inspect, trials};
use common::wide::wide;
use common::{Boot, hostile, stock, tuned};
use expect_test::{ExpectFile, expect_file};
use unicode_width::UnicodeWidthStr;

fn style(width: usize) -> Style {
    Style {
        width,
        ..Style::default()
    }
}

const BYS: [By; 8] = [
    By::Phases,
    By::Spans,
    By::Initcalls,
    By::Units,
    By::Processes,
    By::Functions,
    By::Gaps,
    By::Deltas,
];

/// Everything that can be printed of a boot.
fn everything(boot: &Boot, style: &Style) -> Vec<String> {
    let report = boot.report(None);
    let mut texts = vec![
        boot::text(&report, style),
        findings::text(&report.findings, style),
        trials::text(&report.trials, style),
        notices(report.timeline, style),
        comparison::text(&tuned().report(Some(boot)), style),
        comparison::text(&boot.report(Some(&tuned())), style),
        inspect::text(&common::files(boot), report.timeline, style),
        catalogue::text(&entries(boot), style),
    ];
    for by in BYS {
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

fn check(text: &str, expected: &ExpectFile, width: usize) {
    expected.assert_eq(text);
    for line in text.lines() {
        assert!(line.width() <= width, "{} columns: {line}", line.width());
    }
}

#[test]
fn summaries() {
    let boot = stock();
    let report = boot.report(None);
    check(
        &boot::text(&report, &style(60)),
        &expect_file!["snapshots/summary-60.txt"],
        60,
    );
    check(
        &boot::text(&report, &style(80)),
        &expect_file!["snapshots/summary-80.txt"],
        80,
    );
    check(
        &boot::text(&report, &style(120)),
        &expect_file!["snapshots/summary-120.txt"],
        120,
    );
}

#[test]
fn before_and_after() {
    let (old, new) = (stock(), tuned());
    let report = new.report(Some(&old));
    check(
        &comparison::text(&report, &style(60)),
        &expect_file!["snapshots/before-after-60.txt"],
        60,
    );
    check(
        &comparison::text(&report, &style(80)),
        &expect_file!["snapshots/before-after-80.txt"],
        80,
    );
    check(
        &comparison::text(&report, &style(120)),
        &expect_file!["snapshots/before-after-120.txt"],
        120,
    );
}

#[test]
fn advice_and_trials() {
    let boot = stock();
    check(
        &findings::text(&boot.findings, &style(80)),
        &expect_file!["snapshots/findings-80.txt"],
        80,
    );
    check(
        &trials::text(&boot.trials, &style(60)),
        &expect_file!["snapshots/trials-60.txt"],
        60,
    );
    check(
        &trials::text(&boot.trials, &style(80)),
        &expect_file!["snapshots/trials-80.txt"],
        80,
    );
    check(
        &notices(&boot.timeline, &style(80)),
        &expect_file!["snapshots/notices-80.txt"],
        80,
    );
}

#[test]
fn tables() {
    let boot = stock();
    let table = |by, limit| table::text(&boot.report(None), by, &Rows::first(limit), &style(80));
    check(
        &table(By::Spans, 4),
        &expect_file!["snapshots/spans-80.txt"],
        80,
    );
    check(
        &table(By::Initcalls, 9),
        &expect_file!["snapshots/initcalls-80.txt"],
        80,
    );
    check(
        &table(By::Deltas, 5),
        &expect_file!["snapshots/deltas-80.txt"],
        80,
    );
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
    let boot = stock();
    let report = boot.report(None);
    check(
        &boot::text(&report, &style(40)),
        &expect_file!["snapshots/summary-40.txt"],
        40,
    );
    let old = stock();
    check(
        &comparison::text(&tuned().report(Some(&old)), &style(40)),
        &expect_file!["snapshots/before-after-40.txt"],
        40,
    );
    let wide = wide();
    let wide = Report {
        phases: phases(&wide.timeline),
        gaps: gaps(&wide.timeline, common::MS),
        ..wide.report(None)
    };
    let mut tables = String::new();
    for by in BYS {
        tables += &table::text(&wide, by, &Rows::first(6), &style(40));
        tables += "\n";
    }
    check(&tables, &expect_file!["snapshots/tables-40.txt"], 40);
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
