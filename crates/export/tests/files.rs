//! The files of a report: tables, Markdown, JUnit, stacks, pictures. Each is
//! read back by a program that knows nothing of bootlap.

#[path = "../../report/tests/common/mod.rs"]
mod common;

use bootlap_analysis::{Part, Phase, PhaseName};
use bootlap_export::{SINKS, sink_for};
use bootlap_model::{Milestone, Stamp, Timeline, TrackKind};
use bootlap_report::table::By;
use bootlap_report::{About, Report, Sink, SinkError};
use expect_test::{ExpectFile, expect_file};
use roxmltree::{Document, Node};

use common::boots::Maker;
use common::{Boot, hostile, stock, tuned};

fn sink(extension: &str) -> &'static Sink {
    sink_for(extension).unwrap()
}

fn file(extension: &str, report: &Report<'_>) -> String {
    let mut bytes = Vec::new();
    sink(extension).write(report, None, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn empty() -> Boot {
    let mut boot = stock();
    boot.timeline = Timeline::default();
    boot.texts = bootlap_report::Texts::default();
    boot.phases.clear();
    boot.gaps.clear();
    boot.costs.clear();
    boot.findings.clear();
    boot.trials.clear();
    boot.about = About::default();
    boot
}

/// A boot with many spans, nested and one after another.
fn long() -> Boot {
    let mut m = Maker::new();
    m.mark(Milestone::PowerOn, 0).line(1, "boot");
    for n in 0..100_000_i64 {
        let name = format!("call_{}", n % 977);
        let kind = [TrackKind::Initcall, TrackKind::Function][usize::from(n % 2 == 0)];
        m.span(kind, "pid 1", &name, [n, n + n % 7 + 1]);
    }
    m.mark(Milestone::Ready, 100_000);
    let mut boot = empty();
    boot.phases = vec![Phase {
        name: PhaseName::Kernel,
        start: Stamp::new(0, 0),
        end: Stamp::new(100_000 * common::MS, 0),
        parts: vec![Part {
            name: "a part".to_owned(),
            start: Stamp::new(0, 0),
            end: Stamp::new(common::MS, 0),
        }],
    }];
    boot.timeline = m.timeline;
    boot
}

/// Line ends of the table are CRLF, which a checkout may change.
fn check(text: &str, expected: &ExpectFile) {
    expected.assert_eq(&text.replace("\r\n", "\n"));
}

#[test]
fn small_boots_as_files() {
    let (old, new) = (stock(), tuned());
    let (one, two) = (old.report(None), new.report(Some(&old)));
    check(&file("csv", &two), &expect_file!["snapshots/files/two.csv"]);
    check(&file("md", &one), &expect_file!["snapshots/files/one.md"]);
    check(&file("md", &two), &expect_file!["snapshots/files/two.md"]);
    check(&file("xml", &two), &expect_file!["snapshots/files/two.xml"]);
    check(
        &file("folded", &one),
        &expect_file!["snapshots/files/one.folded"],
    );
    check(&file("svg", &one), &expect_file!["snapshots/files/one.svg"]);
    check(&file("svg", &two), &expect_file!["snapshots/files/two.svg"]);
}

#[test]
fn any_boot_has_every_file_and_always_the_same() {
    let (old, hostile, empty) = (stock(), hostile(), empty());
    for report in [
        empty.report(None),
        empty.report(Some(&old)),
        old.report(Some(&empty)),
        hostile.report(Some(&old)),
        old.report(Some(&hostile)),
    ] {
        for sink in SINKS {
            let write = || {
                let mut bytes = Vec::new();
                match sink.write(&report, None, &mut bytes) {
                    // A format of processes, and there are none.
                    Err(SinkError::NoProcesses) => assert!(bytes.is_empty()),
                    written => written.unwrap(),
                }
                bytes
            };
            assert_eq!(write(), write(), "{}", sink.name);
            for by in sink.choices {
                // A choice may find nothing, which is an error, not a panic.
                let _ = sink.write(&report, Some(*by), &mut Vec::new());
            }
        }
    }
}

#[test]
fn the_page_about_reports_knows_all_formats_and_columns() {
    let page = include_str!("../../../docs/reports.md");
    for sink in SINKS {
        let first = sink.extensions[0];
        assert!(page.contains(&format!("| `.{first}` |")), "{first}");
        for by in sink.choices {
            assert!(page.contains(&format!("`{}`", by.text())), "{by:?}");
        }
    }
    for column in bootlap_report::boot::csv::COLUMNS {
        assert!(page.contains(&format!("`{column}`")), "{column}");
    }
}

#[test]
fn long_boots_are_files_too() {
    let boot = long();
    let report = boot.report(None);
    let rows = file("csv", &report).lines().count();
    assert_eq!(rows, 1 + 1 + 2 + 100_001);
    assert!(file("md", &report).len() < 65_536);
    let svg = file("svg", &report);
    assert!(svg.len() < 100_000, "{}", svg.len());
    assert!(svg.contains("the longest 40 of 50000"), "{svg}");
    let folded = file("folded", &report);
    let us: u64 = folded
        .lines()
        .map(|l| l.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap())
        .sum();
    assert!(us > 0);
}

/// What text from evidence may not hold once it is in a file.
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\r')
        || ('\u{200b}'..='\u{200f}').contains(&c)
        || ('\u{2028}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

#[test]
fn hostile_text_controls_nothing() {
    let (hostile, old) = (hostile(), stock());
    for report in [hostile.report(None), old.report(Some(&hostile))] {
        for extension in ["csv", "md", "xml", "folded", "svg", "txt"] {
            let text = file(extension, &report);
            let bad = text.chars().find(|c| acts(*c));
            assert_eq!(bad, None, "{extension}: {text}");
        }
    }
}

mod csv_table {
    use super::*;

    fn rows(text: &str) -> Vec<csv::StringRecord> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heads = reader.headers().unwrap().clone();
        assert_eq!(
            heads.iter().collect::<Vec<_>>(),
            bootlap_report::boot::csv::COLUMNS
        );
        reader.records().map(Result::unwrap).collect()
    }

    #[test]
    fn each_row_has_all_columns_and_none_is_a_formula() {
        let mut boot = hostile();
        let file = boot.timeline.file_ids().next().unwrap();
        boot.timeline.files[0].name = "=HYPERLINK(\"http://x\")".to_owned();
        let spans = boot.timeline.spans.len();
        assert!(spans > 3 && file.index() == 0);
        let text = super::file("csv", &boot.report(None));
        let rows = rows(&text);
        assert_eq!(
            rows.len(),
            boot.phases.len() + boot.timeline.marks.len() + spans
        );
        for cell in rows.iter().flat_map(csv::StringRecord::iter) {
            let formula = cell.starts_with(['=', '+', '@'])
                || cell.starts_with('-') && cell.parse::<f64>().is_err();
            assert!(!formula, "{cell}");
        }
    }

    #[test]
    fn lines_end_as_the_standard_says_and_numbers_are_exact() {
        let boot = stock();
        let text = super::file("csv", &boot.report(None));
        assert!(text.ends_with("\r\n") && !text.replace("\r\n", "").contains('\n'));
        let rows = rows(&text);
        let wait = rows.iter().find(|r| &r[3] == "autoboot wait").unwrap();
        assert_eq!(
            (&wait[4], &wait[5], &wait[7]),
            ("0.985000000", "2.000000000", "1000000000")
        );
        assert_eq!(
            (&wait[8], &wait[9], &wait[12]),
            ("qemu-virtual", "reference", "seconds=2")
        );
    }
}

mod markdown {
    use super::*;
    use comrak::nodes::NodeValue;
    use comrak::{Arena, Options, parse_document};

    /// Text that tries to be everything that a forge makes of text.
    const MARKUP: [&str; 22] = [
        "**bold** _it_ ~~gone~~",
        "[link](http://x) ![img](http://x/y.png)",
        "[ref][1] [^1] <http://auto> http://bare.example/x https://y.example",
        "www.example.com mailto:a@b.example a@b.example xmpp:a@b.example",
        "<img src=x onerror=alert(1)><script>x</script><!-- c -->",
        "&lt;b&gt; &copy; &#64;user",
        "`code` ``two`` `",
        "```\nfence",
        "# heading",
        "- item",
        "1. item",
        "> quote",
        "| a | b |\n|---|---|",
        "\\*escaped\\* \\",
        "---",
        "===",
        "@user @org/team #12 GH-12 user/repo#3 !4 %5 ~6 $7",
        "$x^2$ :smile: :octocat:",
        "    indented",
        "</details></summary></sub>",
        "[x] - [ ] task",
        "a``b`c```d`",
    ];

    /// Elements of the document by what they are, and all its text.
    fn read(markdown: &str) -> (Vec<String>, String) {
        let arena = Arena::new();
        let mut options = Options::default();
        let on = &mut options.extension;
        (on.table, on.strikethrough, on.autolink, on.tasklist) = (true, true, true, true);
        on.footnotes = true;
        let root = parse_document(&arena, markdown, &options);
        let (mut elements, mut text) = (Vec::new(), String::new());
        for node in root.descendants() {
            match &node.data.borrow().value {
                NodeValue::Text(t) => text.push_str(t),
                NodeValue::Code(c) => text.push_str(&c.literal),
                NodeValue::HtmlInline(html) => elements.push(html.clone()),
                NodeValue::HtmlBlock(html) => elements.push(html.literal.clone()),
                NodeValue::Link(link) => elements.push(format!("link {}", link.url)),
                other => {
                    let name = format!("{other:?}");
                    let name = name.split(['(', ' ', '{']).next().unwrap_or("");
                    elements.push(name.to_owned());
                    text.push('\n');
                }
            }
        }
        (elements, text)
    }

    /// A boot whose every text is `text`.
    fn boot_of(text: &str) -> Boot {
        let mut boot = hostile();
        let all = [
            &mut boot.about.target,
            &mut boot.about.machine,
            &mut boot.about.run,
            &mut boot.about.tool,
            &mut boot.about.time,
        ];
        all.into_iter().for_each(|t| *t = text.to_owned());
        for cost in &mut boot.costs {
            (cost.name, cost.why) = (text.to_owned(), text.to_owned());
        }
        for f in &mut boot.findings {
            (f.title, f.why, f.fix) = (text.to_owned(), text.to_owned(), text.to_owned());
            f.recipe = f.recipe.as_ref().map(|_| text.to_owned());
        }
        for t in &mut boot.trials {
            t.recipe = text.to_owned();
            for m in &mut t.moved {
                (m.from, m.to) = (text.to_owned(), text.to_owned());
            }
        }
        for n in &mut boot.timeline.notices {
            (n.code, n.remedy) = (text.to_owned(), text.to_owned());
        }
        boot.timeline.files[0].name = text.to_owned();
        boot.timeline.files[0].source = text.to_owned();
        boot
    }

    #[test]
    fn no_text_becomes_markup() {
        let plain = boot_of("plain");
        let (expected, _) = read(&super::file("md", &plain.report(None)));
        let links = |elements: &[String]| elements.iter().filter(|e| e.starts_with("link")).count();
        assert_eq!(links(&expected), 0);
        for text in MARKUP {
            let boot = boot_of(text);
            let markdown = super::file("md", &boot.report(None));
            let (mut elements, shown) = read(&markdown);
            // The comments that split what forges look for are ours.
            elements.retain(|e| e != "<!-- -->");
            let same = |e: &Vec<String>| {
                e.iter()
                    .filter(|e| *e != "Code")
                    .cloned()
                    .collect::<Vec<_>>()
            };
            assert_eq!(same(&elements), same(&expected), "{text}\n{markdown}");
            let words = text.split_whitespace().next().unwrap();
            assert!(shown.contains(words), "{text}\n{shown}");
        }
    }

    #[test]
    fn mentions_and_references_are_split_outside_of_code() {
        let arena = Arena::new();
        let markdown = super::file("md", &boot_of(MARKUP[16]).report(None));
        let root = parse_document(&arena, &markdown, &Options::default());
        for node in root.descendants() {
            if let NodeValue::Text(text) = &node.data.borrow().value {
                for sign in ['@', '#', '!', '%', '~', '$'] {
                    let behind = text.split(sign).skip(1);
                    let bad = behind
                        .filter(|t| t.starts_with(char::is_alphanumeric))
                        .count();
                    assert_eq!(bad, 0, "{text}");
                }
            }
        }
    }

    #[test]
    fn its_tables_and_folds_are_what_they_should_be() {
        let (old, new) = (stock(), tuned());
        let (elements, text) = read(&super::file("md", &new.report(Some(&old))));
        assert!(
            elements.iter().any(|e| e.starts_with("Table")),
            "{elements:?}"
        );
        assert!(
            elements.iter().any(|e| e.contains("<details>")),
            "{elements:?}"
        );
        assert!(text.contains("5.0× faster: 5.177 s → 1.043 s"), "{text}");
    }
}

mod junit {
    use super::*;

    fn one<'d>(node: Node<'d, 'd>, name: &str) -> Node<'d, 'd> {
        let mut found = node.children().filter(|n| n.has_tag_name(name));
        let first = found.next().unwrap();
        assert!(found.next().is_none(), "several {name}");
        first
    }

    /// Its name, required and optional attributes, and children.
    type Element<'n> = (&'n str, &'n [&'n str], &'n [&'n str], &'n [&'n str]);

    /// What Jenkins' `junit-10.xsd` says of the elements that are used.
    fn validate(xml: &str) {
        let document = Document::parse(xml).unwrap();
        let allowed: &[Element] = &[
            (
                "testsuites",
                &[],
                &["name", "time", "tests", "failures", "errors"],
                &["testsuite"],
            ),
            (
                "testsuite",
                &["name", "tests", "failures", "errors"],
                &["time", "skipped"],
                &["properties", "testcase", "system-out", "system-err"],
            ),
            ("properties", &[], &[], &["property"]),
            ("property", &["name", "value"], &[], &[]),
            (
                "testcase",
                &["name"],
                &["time", "classname"],
                &["skipped", "error", "failure"],
            ),
            ("failure", &[], &["type", "message"], &[]),
            ("skipped", &[], &["message"], &[]),
            ("system-out", &[], &[], &[]),
        ];
        let elements: Vec<Node> = document.descendants().filter(Node::is_element).collect();
        assert_eq!(elements[0].tag_name().name(), "testsuites");
        for node in elements {
            let name = node.tag_name().name();
            let (_, required, optional, children) = allowed
                .iter()
                .find(|(n, ..)| *n == name)
                .unwrap_or_else(|| panic!("{name}"));
            for attribute in *required {
                assert!(node.has_attribute(*attribute), "{name} without {attribute}");
            }
            for attribute in node.attributes() {
                let known =
                    required.contains(&attribute.name()) || optional.contains(&attribute.name());
                assert!(known, "{name} has {}", attribute.name());
                if attribute.name() == "time" {
                    let (whole, part) = attribute.value().split_once('.').unwrap();
                    let digits = |t: &str| !t.is_empty() && t.chars().all(|c| c.is_ascii_digit());
                    assert!(digits(whole) && digits(part), "{}", attribute.value());
                }
            }
            for child in node.children().filter(Node::is_element) {
                assert!(
                    children.contains(&child.tag_name().name()),
                    "{child:?} in {name}"
                );
            }
            let text = node.children().filter(Node::is_text);
            let bare = children.is_empty();
            assert!(
                bare || text
                    .into_iter()
                    .all(|t| t.text().unwrap().trim().is_empty())
            );
        }
    }

    #[test]
    fn a_test_server_reads_it() {
        let (old, new) = (stock(), tuned());
        let xml = super::file("xml", &new.report(Some(&old)));
        validate(&xml);
        let document = Document::parse(&xml).unwrap();
        let suite = one(document.root_element(), "testsuite");
        let cases: Vec<Node> = suite
            .children()
            .filter(|n| n.has_tag_name("testcase"))
            .collect();
        let count = suite.attribute("tests").unwrap();
        assert_eq!(count.parse::<usize>().unwrap(), cases.len());
        assert_eq!(suite.attribute("failures"), Some("0"));
        let said: Vec<_> = cases
            .iter()
            .map(|c| (c.attribute("name").unwrap(), c.attribute("time").unwrap()))
            .collect();
        assert_eq!(said[1], ("boot loader", "0.382000000"));
        assert_eq!(said[4], ("ready", "1.043000000"));
        let properties = one(suite, "properties");
        let property = |name| {
            let mut all = properties.children();
            all.find(|p| p.attribute("name") == Some(name))
                .and_then(|p| p.attribute("value"))
        };
        assert_eq!(property("mode"), Some("sim"));
        assert_eq!(property("instructions"), Some("521500000"));
        assert_eq!(property("before_ready_s"), Some("5.177000000"));
    }

    #[test]
    fn where_nobody_says_what_ready_is_nothing_failed() {
        let mut boot = empty();
        boot.about.ready_ns = None;
        boot.about.mode.clear();
        let xml = super::file("xml", &boot.report(None));
        validate(&xml);
        let document = Document::parse(&xml).unwrap();
        let suite = one(document.root_element(), "testsuite");
        let counted = (suite.attribute("failures"), suite.attribute("skipped"));
        assert_eq!(counted, (Some("0"), Some("1")));
        assert!(suite.descendants().any(|n| n.has_tag_name("skipped")));
    }

    #[test]
    fn never_ready_is_a_failure_however_hostile() {
        for mut boot in [stock(), hostile(), empty()] {
            boot.about.ready_ns = None;
            boot.timeline.awaited = true;
            let xml = super::file("xml", &boot.report(None));
            validate(&xml);
            let document = Document::parse(&xml).unwrap();
            let suite = one(document.root_element(), "testsuite");
            assert_eq!(suite.attribute("failures"), Some("1"));
            let failures = suite.descendants().filter(|n| n.has_tag_name("failure"));
            let failures: Vec<Node> = failures.collect();
            assert_eq!(failures.len(), 1);
            assert_eq!(
                failures[0].parent().unwrap().attribute("name"),
                Some("ready")
            );
            assert!(
                failures[0]
                    .attribute("message")
                    .unwrap()
                    .starts_with("never ready")
            );
        }
    }
}

mod folded {
    use super::*;

    /// As `flamegraph.pl` takes a line apart.
    fn stacks(text: &str) -> Vec<(Vec<&str>, u64)> {
        let lines = text.lines().map(|line| {
            let (stack, us) = line.rsplit_once(' ').unwrap();
            (stack.split(';').collect(), us.parse().unwrap())
        });
        lines.collect()
    }

    fn by(boot: &Boot, by: By) -> String {
        let mut bytes = Vec::new();
        let wrote = sink("folded").write(&boot.report(None), Some(by), &mut bytes);
        wrote.unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn functions_before_initcalls_and_each_on_demand() {
        let mut boot = empty();
        let mut m = Maker::new();
        m.line(0, "x");
        for (name, ms) in [("outer;one", [0, 10]), ("inner", [2, 5]), ("inner", [6, 8])] {
            m.span(TrackKind::Function, "pid 1", name, ms);
        }
        boot.timeline = m.timeline;
        let text = file("folded", &boot.report(None));
        let expected: [(Vec<&str>, u64); 2] = [
            (vec!["pid 1", "outer:one"], 5_000),
            (vec!["pid 1", "outer:one", "inner"], 5_000),
        ];
        assert_eq!(stacks(&text), expected);
        assert_eq!(by(&boot, By::Functions), text);
        let none = sink("folded").write(&boot.report(None), Some(By::Initcalls), &mut Vec::new());
        assert_eq!(
            none.unwrap_err().to_string(),
            "this boot shows no initcalls"
        );
    }

    #[test]
    fn processes_have_what_their_children_do_not() {
        let mut boot = empty();
        let mut m = Maker::new();
        m.line(0, "x");
        let processes = [
            ("init", "1", "0", [0, 100]),
            ("a\n", "2", "1", [10, 40]),
            ("b", "3", "1", [30, 60]),
        ];
        for (name, pid, ppid, ms) in processes {
            m.span(TrackKind::Process, "processes", name, ms);
            m.arg("pid", pid).arg("ppid", ppid);
        }
        boot.timeline = m.timeline;
        let text = file("folded", &boot.report(None));
        let expected: [(Vec<&str>, u64); 3] = [
            (vec!["init"], 50_000),
            (vec!["init", "a␊"], 30_000),
            (vec!["init", "b"], 30_000),
        ];
        assert_eq!(stacks(&text), expected);
    }

    #[test]
    fn phases_add_up() {
        let boot = tuned();
        let sum: u64 = stacks(&by(&boot, By::Phases)).iter().map(|s| s.1).sum();
        assert_eq!(sum, 1_043_000);
        let hostile = file("folded", &hostile().report(None));
        assert!(
            stacks(&hostile)
                .iter()
                .all(|(stack, us)| stack.len() == 2 && *us == 48_000)
        );
    }
}

mod svg {
    use super::*;

    #[test]
    fn it_needs_nothing_and_does_nothing() {
        let (old, new, hostile) = (stock(), tuned(), hostile());
        for report in [new.report(Some(&old)), hostile.report(None)] {
            let svg = super::file("svg", &report);
            let document = Document::parse(&svg).unwrap();
            let known = [
                "svg", "title", "style", "rect", "path", "polygon", "text", "tspan",
            ];
            for node in document.descendants().filter(Node::is_element) {
                let name = node.tag_name().name();
                assert!(known.contains(&name), "{name}");
                for attribute in node.attributes() {
                    let name = attribute.name();
                    assert!(
                        !name.starts_with("on") && name != "href" && name != "style",
                        "{name}"
                    );
                }
            }
            for banned in ["url(", "@import", "@font-face", "<script", "<image", "href"] {
                assert!(!svg.contains(banned), "{banned}");
            }
            assert_eq!(
                svg.matches("http").count(),
                1,
                "only the name of the format"
            );
        }
    }

    #[test]
    fn what_it_is_of_can_be_chosen() {
        let boot = stock();
        let mut bytes = Vec::new();
        sink("svg")
            .write(&boot.report(None), Some(By::Phases), &mut bytes)
            .unwrap();
        let svg = String::from_utf8(bytes).unwrap();
        assert!(svg.contains("phases and their largest parts"));
        assert!(super::file("svg", &boot.report(None)).contains(">initcalls<"));
        let none = sink("svg").write(&boot.report(None), Some(By::Units), &mut Vec::new());
        assert_eq!(none.unwrap_err().to_string(), "this boot shows no units");
    }
}
