//! Budgets and histories as they are shown, with names that try to act.

use bootlap_analysis::budget::{
    Bound, Cause, Causes, Growth, How, Judged, Limit, Measures, Metric, PhaseMeasure, State,
};
use bootlap_analysis::changes::Sensitivity;
use bootlap_analysis::history::{Entry, FORMAT, trends};
use bootlap_analysis::phase::PhaseName;
use bootlap_report::About;
use bootlap_report::check::{CheckReport, github, junit};
use bootlap_report::history::{HistoryReport, csv, html, markdown};
use bootlap_report::{Style, check, history};
use unicode_width::UnicodeWidthStr;

const HOSTILE: &str = "</testcase></script>--><img src=x onerror=alert(1)>\"'&amp;\x1b[2J\x1b]0;owned\x07\u{202e}RTL\u{2028}\0\r\n::error::x,=1+1|[a](b)";

fn judged(name: &str, state: State) -> Judged {
    Judged {
        limit: Limit {
            metric: Metric::Span(name.to_owned()),
            bound: Bound::MoreShare(0.001),
            line: 7,
        },
        state,
        value: Some(1_346_000_000),
        allowed: Some(1_345_000_000),
        growth: Some(Growth {
            before: 1_344_000_000,
            after: 1_346_000_000,
            shift: 2_000_000,
            interval: Some([1_500_000, 2_500_000]),
            how: How::Pairs(8),
            sessions: None,
        }),
        why: format!("because of {name}"),
        causes: Causes {
            against_baseline: true,
            list: vec![Cause {
                name: name.to_owned(),
                ns: 1_900_000,
            }],
            moved: vec![format!("what {name} saved came back in {name}")],
        },
    }
}

fn report() -> CheckReport {
    CheckReport {
        about: About {
            target: HOSTILE.to_owned(),
            time: "simulated".to_owned(),
            ..About::default()
        },
        boots: vec![HOSTILE.to_owned(); 2],
        first: Vec::new(),
        baseline: Some(HOSTILE.to_owned()),
        budget: HOSTILE.to_owned(),
        judged: vec![
            judged(HOSTILE, State::Broken),
            judged("network.service", State::Unknown),
            judged("slow_init", State::Ok),
        ],
    }
}

/// Nothing that a terminal obeys, and nothing wider than it is.
fn harmless(text: &str, width: usize) {
    for line in text.lines() {
        assert!(line.width() <= width, "{line}");
        assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
        assert!(!line.contains(['\u{202e}', '\u{2028}']), "{line:?}");
    }
}

#[test]
fn a_check_is_harmless_wherever_it_is_shown() {
    let report = report();
    for width in [40, 80, 120] {
        let style = Style::wide(width);
        harmless(&check::text(&report, &style), width);
    }
    let xml = junit(&report);
    let doc = roxmltree::Document::parse(&xml).unwrap();
    let named = |name: &str| doc.descendants().filter(|n| n.has_tag_name(name)).count();
    assert_eq!(
        (named("testcase"), named("failure"), named("skipped")),
        (3, 1, 1),
        "{xml}"
    );
    assert_eq!(named("img"), 0);
    let commands = github(&report);
    let lines: Vec<&str> = commands.lines().collect();
    assert_eq!(lines.len(), 2, "{commands}");
    assert!(lines[0].starts_with("::error file="), "{commands}");
    assert!(lines[1].starts_with("::warning file="), "{commands}");
    harmless(&commands, usize::MAX);
    // Between the properties only their own commas and colons.
    let properties = lines[0].strip_prefix("::error ").unwrap();
    let properties = properties.split_once("::").unwrap().0;
    assert_eq!(properties.matches(',').count(), 2, "{properties}");
    let value: serde_json::Value = serde_json::from_str(&check::json(&report).unwrap()).unwrap();
    assert_eq!(value["limits"][0]["name"], HOSTILE);
}

#[test]
fn a_check_on_one_screen() {
    let mut report = report();
    report.about.target = "kiosk".to_owned();
    report.budget = "budget.toml".to_owned();
    report.baseline = Some("released (8 boots)".to_owned());
    report.judged[0] = judged("unpack initramfs", State::Broken);
    let text = check::text(&report, &Style::default());
    for said in [
        "kiosk breaks 1 of 3 limits",
        "budget.toml · the median of 2 boots · against released (8 boots)",
        "unpack initramfs  1.346 s  +2.000 ms  +0.100 %  broken",
        "+2.000 ms (+0.149 %), 95 % interval +1.500 ms to +2.500 ms, 8 pairs of",
        "grew: unpack initramfs +1.900 ms",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

fn past(commit: &str) -> HistoryReport {
    let entry = |n: i64| Entry {
        format: FORMAT,
        tool: "bootlap 0".to_owned(),
        commit: format!("{commit}{n}"),
        date: format!("2026-11-{:02}T00:00:00Z", n + 1),
        target: commit.to_owned(),
        time: "simulated".to_owned(),
        model: None,
        boots: vec![Measures {
            ready_ns: Some(1_344_000_000 + if n < 6 { 0 } else { 2_000_000 }),
            phases: vec![PhaseMeasure {
                name: PhaseName::Kernel,
                ns: 800_000_000,
                instructions: Some(396_000_000),
            }],
            ..Measures::default()
        }],
    };
    let entries: Vec<Entry> = (0..12).map(entry).collect();
    HistoryReport {
        name: "results".to_owned(),
        tool: "bootlap 0".to_owned(),
        trends: trends(&entries, &Sensitivity::default()),
        entries,
    }
}

#[test]
fn a_history_is_harmless_wherever_it_is_shown() {
    let report = past(HOSTILE);
    for width in [40, 80, 120] {
        let style = Style::wide(width);
        harmless(&history::text(&report, &style), width);
    }
    let page = html(&report);
    assert!(
        !page.contains("<img") && !page.contains("<script"),
        "{page}"
    );
    assert!(
        page.contains("default-src 'none'; style-src 'sha256-"),
        "{page}"
    );
    harmless(&page, usize::MAX);
    // It is XML but for its doctype and the tags that HTML leaves open.
    let svg = &page[page.find("<svg").unwrap()..page.find("</svg>").unwrap() + 6];
    roxmltree::Document::parse(svg).unwrap();
    harmless(&markdown(&report), usize::MAX);
    // Markup is escaped, so that a cell stays a cell.
    let table = markdown(&report).replace("\\<", "").replace("\\|", "");
    assert!(
        !table.contains("<img") && !table.contains("<script"),
        "{table}"
    );
    let changes = table.lines().filter(|l| l.ends_with("(+0.149 %) |"));
    let bars: Vec<usize> = changes.map(|l| l.matches('|').count()).collect();
    assert_eq!(bars, [4, 5], "{table}");
    let rows = csv(&report);
    let mut reader = csv_reader(&rows);
    let records: Vec<Vec<String>> = reader.by_ref().collect();
    assert_eq!(records.len(), 13);
    assert!(records.iter().all(|r| r.len() == records[0].len()));
    let value: serde_json::Value = serde_json::from_str(&history::json(&report).unwrap()).unwrap();
    assert_eq!(value["metrics"][0]["changes"][0]["at"], 6);
}

/// Records of a CSV, quotes undone.
fn csv_reader(text: &str) -> impl Iterator<Item = Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let records: Vec<Vec<String>> = reader
        .records()
        .map(|r| r.unwrap().iter().map(str::to_owned).collect())
        .collect();
    records.into_iter()
}

#[test]
fn a_history_on_one_screen() {
    let text = history::text(&past("c"), &Style::default());
    for said in [
        "c: 12 results",
        "results · c0 (2026-11-01) to c11 (2026-11-12)",
        "total: 1.344 s → 1.346 s, +2.000 ms (+0.149 %)",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    let table = markdown(&past("c"));
    assert!(
        table.contains("| total | 1.346 s | c6 (2026-11-07): 1.344 s"),
        "{table}"
    );
}
