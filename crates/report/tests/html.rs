//! The page, in a real browser.

mod common;

use bootlap_analysis::Verdict;
use bootlap_report::Report;
use bootlap_report::boot::html;
use bootlap_report::tuning::{Fall, Waterfall};
use common::browser::rendered;
use common::{hostile, stock, tuned};

fn page(report: &Report<'_>) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    html::write(report, &mut bytes)?;
    Ok(String::from_utf8(bytes).expect("a page is UTF-8"))
}

/// The document without its data, its script, its style and the text for
/// browsers without scripts: what the viewer built.
fn body(dom: &str) -> &str {
    let start = dom.find("<main").unwrap();
    &dom[start..dom.find("</main>").unwrap()]
}

#[test]
fn the_page_shows_the_boot() {
    let (old, new) = (stock(), tuned());
    let html = page(&new.report(Some(&old))).unwrap();
    let (dom, console) = rendered("pair", &html, "");
    assert_eq!(console, Vec::<String>::new());
    let body = body(&dom);
    for text in [
        "kiosk",
        "<strong>1.043</strong><em>s</em>",
        "simulated time",
        "5.0× faster",
        "5.177 s → 1.043 s",
        "521&nbsp;500&nbsp;000 instructions",
        "booted twice, bit for bit the same",
        "uncompress kernel",
        "what changed",
        "−2.000 s",
        "<canvas",
    ] {
        assert!(body.contains(text), "{text}\n{body}");
    }
}

#[test]
fn findings_trials_and_the_evidence_are_there() {
    let boot = stock();
    let html = page(&boot.report(None)).unwrap();
    let (dom, console) = rendered("single", &html, "find=autoboot%20wait");
    assert_eq!(console, Vec::<String>::new());
    let body = body(&dom);
    for text in [
        "bootlap try kiosk uboot-bootdelay",
        "saves 2.000 s",
        "U-Boot counts down before it boots",
        "62.0 % waiting",
        "978.0 ms to 1.002 s",
        "−997.0 ms in self-tests of cryptography came back as +7.000 ms",
        "equivalent",
        "initcall-without-return",
        // Of the span that the address asked for: its facts and its line.
        "<h3>autoboot wait</h3>",
        "<figcaption>console.log:2</figcaption>",
        "<span class=\"itself\">Hit any key to stop autoboot:  2  1  0 </span>",
    ] {
        assert!(body.contains(text), "{text}\n{body}");
    }
}

#[test]
fn steps_fall_from_before_to_after() {
    let boot = stock();
    let own = Waterfall::of_trials(&boot.report(None).about, &boot.trials).unwrap();
    let elsewhere = Waterfall {
        axis: "board 0badcafe".into(),
        steps: vec![Fall {
            recipe: "only-there".into(),
            saved_ns: -5_000_000,
        }],
        ..own.clone()
    };
    let falls = |waterfalls: &[&Waterfall]| {
        let report = Report {
            steps: true,
            waterfalls: waterfalls.iter().map(|w| (*w).clone()).collect(),
            ..boot.report(None)
        };
        let name = format!("steps-{}", waterfalls.len());
        let (dom, console) = rendered(&name, &page(&report).unwrap(), "");
        assert_eq!(console, Vec::<String>::new());
        let body = body(&dom).to_owned();
        let tables = body.split("class=\"waterfall\"").skip(1);
        let tables = tables.map(|rest| rest.split("</table>").next().unwrap().to_owned());
        tables.collect::<Vec<String>>()
    };
    assert_eq!(falls(&[]), Vec::<String>::new());
    let faster = boot
        .trials
        .iter()
        .filter(|t| t.effect.verdict == Verdict::Faster);
    let faster: Vec<&str> = faster.map(|t| t.recipe.as_str()).collect();
    assert!(!faster.is_empty());
    let [table] = &falls(&[&own])[..] else {
        panic!("one axis, one table");
    };
    for recipe in &faster {
        assert!(table.contains(recipe), "{recipe} in {table}");
    }
    assert_eq!(table.matches("class=\"shrank\"").count(), faster.len());
    assert_eq!(table.matches("class=\"whole\"").count(), 2);
    assert!(!table.contains("<caption>"), "{table}");

    // Beside another axis, each is named, and tells what only the other kept.
    let [here, there] = &falls(&[&own, &elsewhere])[..] else {
        panic!("two axes, two tables");
    };
    assert!(here.contains("only-there") && there.contains(faster[0]));
    assert!(
        there.contains("board 0badcafe") && there.contains("class=\"grew\""),
        "{there}"
    );
}

#[test]
fn hostile_text_stays_text() {
    let (boot, old) = (hostile(), stock());
    let html = page(&boot.report(Some(&old))).unwrap();
    let (dom, console) = rendered("hostile", &html, "find=script");
    // An injected handler that ran, or that the policy stopped, would show.
    assert_eq!(console, Vec::<String>::new());
    assert!(!dom.contains("<img"), "an element was injected");
    // The viewer's own; it takes the blocks of data out.
    assert_eq!(dom.matches("<script").count(), 1, "a script was injected");
    let body = body(&dom);
    let shown = "&lt;/script&gt;--&gt;&lt;img src=x onerror=alert(1)&gt;\"'&amp;amp;`${1}";
    assert!(body.contains(&format!("<h1>{shown}")), "{body}");
    for c in body.chars() {
        let acts = (c.is_control() && c != '\n')
            || ('\u{200b}'..='\u{200f}').contains(&c)
            || ('\u{2028}'..='\u{202e}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c);
        assert!(!acts, "{c:?}");
    }
}

#[test]
fn an_empty_boot_has_a_page() {
    let mut boot = stock();
    boot.timeline = bootlap_model::Timeline::default();
    boot.phases.clear();
    boot.gaps.clear();
    boot.costs.clear();
    boot.findings.clear();
    boot.trials.clear();
    boot.about = bootlap_report::About::default();
    let html = page(&boot.report(None)).unwrap();
    let (dom, console) = rendered("empty", &html, "");
    assert_eq!(console, Vec::<String>::new());
    assert!(body(&dom).contains("nothing says when"), "{dom}");
    assert!(!body(&dom).contains("not ready"), "{dom}");
}

#[test]
fn the_page_asks_for_nothing() {
    let boot = stock();
    let html = page(&boot.report(None)).unwrap();
    assert!(html.contains("default-src 'none'; script-src 'sha256-"));
    for reference in [" src=", " href=", "url(", "@import", "https://"] {
        assert!(!html.contains(reference), "{reference}");
    }
    assert_eq!(html, page(&stock().report(None)).unwrap());
}
