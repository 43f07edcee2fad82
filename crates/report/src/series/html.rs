//! The page of many boots: each one a dot, phase by phase; and what the slowest did otherwise.
//!
//! Names of targets, files and lines come from elsewhere and are escaped.

use std::fmt::Write;

use bootlap_analysis::{Comparison, Delta, Spread};

use crate::charts::{HEIGHT, LEFT, RIGHT, Scale, WIDTH, head};
use crate::format::{change, duration};
use crate::series::SeriesReport;
use crate::xml::escaped;

/// More differences are summed up.
const MOST_PARTS: usize = 15;

/// What is drawn besides the times.
#[derive(Default)]
pub struct Beside {
    /// What the end of each boot is: `ready`, `login prompt`.
    pub end: String,
    /// The slowest boot against the median one.
    pub slowest: Option<Against>,
    /// The page of each boot, relative to this one, where there are such pages.
    pub pages: Vec<String>,
}

/// One boot against the median one, both by their indices.
pub struct Against {
    /// The one whose time is nearest to the median.
    pub median: usize,
    /// The one that is looked at.
    pub boot: usize,
    /// From the median one to it.
    pub comparison: Comparison,
}

/// Writes the whole page.
pub fn html(report: &SeriesReport, beside: &Beside) -> String {
    let target = match &*report.about.target {
        "" => "boots",
        target => target,
    };
    let boots = report.laps.len();
    let mut page = head(&format!("{target}: {boots} boots"), target);
    verdict(report, beside, &mut page);
    let _ = writeln!(
        page,
        "<p>{boots} boots in {} time. A dot is a boot, in the order in which they ran, and says \
         which when it is pointed at; the line is the median, the band the middle half.</p>\n<main>",
        escaped(&report.about.time)
    );
    let of_ready: Vec<Option<i64>> = report.series.laps.iter().map(|l| l.ready_ns).collect();
    if let Some(spread) = &report.series.ready {
        section(report, beside, (&beside.end, spread), &of_ready, &mut page);
    }
    for (name, spread) in &report.series.phases {
        let laps = report.series.laps.iter();
        let of_phase = laps.map(|lap| {
            lap.ready_ns?;
            let mut phases = lap.phases.iter();
            phases.find(|p| p.0 == *name).map(|p| p.1)
        });
        let values: Vec<Option<i64>> = of_phase.collect();
        section(report, beside, (name.text(), spread), &values, &mut page);
    }
    page += "</main>\n";
    if let Some(against) = &beside.slowest {
        differences(report, beside, against, &mut page);
    }
    table(report, beside, &mut page);
    let _ = writeln!(
        page,
        "<p>{}</p>\n</body>\n</html>",
        escaped(&report.about.tool)
    );
    page
}

/// The median and how sure it is; what else there is to say of all boots.
fn verdict(report: &SeriesReport, beside: &Beside, page: &mut String) {
    let series = &report.series;
    let end = escaped(&beside.end);
    match &series.ready {
        Some(ready) => {
            let sure = match ready.interval_ns {
                Some([low, high]) => {
                    format!("95 % sure: {} to {}", duration(low), duration(high))
                }
                None => "fewer than 6 boots: nobody knows how sure".to_owned(),
            };
            let _ = writeln!(
                page,
                "<p class=\"latest\"><strong>{}</strong> to {end}, the median of {} boots ({})</p>",
                escaped(&duration(ready.median_ns)),
                ready.samples,
                escaped(&sure)
            );
        }
        None => {
            let _ = writeln!(page, "<p class=\"latest\">None of them shows its end.</p>");
        }
    }
    let mut said = |text: String| {
        let _ = writeln!(page, "<p>{}</p>", escaped(&text));
    };
    if let Some([fast, slow]) = series.modes {
        said(format!(
            "They lie in two clusters: {} around {}, {} around {}.",
            fast.samples,
            duration(fast.median_ns),
            slow.samples,
            duration(slow.median_ns)
        ));
    }
    let named = |at: usize| format!("boot {}", at + 1);
    if !series.outliers.is_empty() {
        let all: Vec<String> = series.outliers.iter().map(|at| named(*at)).collect();
        said(format!("Far from the others: {}.", all.join(", ")));
    }
    match series.not_ready() {
        0 => {}
        n => said(format!("{n} of {} never got there.", report.laps.len())),
    }
}

/// One chart, with its heading.
fn section(
    report: &SeriesReport,
    beside: &Beside,
    (name, spread): (&str, &Spread),
    values: &[Option<i64>],
    page: &mut String,
) {
    let Some(scale) = Scale::of(values) else {
        return;
    };
    let _ = writeln!(
        page,
        "<section>\n<h2>{} <small>{}, from {} to {}</small></h2>\n\
         <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{} by boot\">",
        escaped(name),
        escaped(&duration(spread.median_ns)),
        escaped(&duration(spread.min_ns)),
        escaped(&duration(spread.max_ns)),
        escaped(name),
    );
    scale.grid(duration, page);
    let y = |ns: i64| scale.y(ns as f64);
    let [low, high] = spread.quartiles_ns;
    let _ = writeln!(
        page,
        "<rect class=\"band\" x=\"{LEFT}\" width=\"{}\" y=\"{:.1}\" height=\"{:.1}\"/>\
         <line class=\"level\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
        WIDTH - LEFT - RIGHT,
        y(high),
        (y(low) - y(high)).max(1.0),
        WIDTH - RIGHT,
        y(spread.median_ns),
        y(spread.median_ns),
    );
    for (at, value) in values.iter().enumerate() {
        let Some(ns) = value else { continue };
        let class = match report.series.outliers.contains(&at) {
            true => "up",
            false => "dot",
        };
        let difference = change(ns.saturating_sub(spread.median_ns));
        let title = format!("boot {}: {} ({difference})", at + 1, duration(*ns));
        let _ = writeln!(
            page,
            "<a href=\"{}\"><circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\">\
             <title>{}</title></circle></a>",
            escaped(&target_of(beside, at)),
            scale.x(at),
            y(*ns),
            escaped(&title),
        );
    }
    for (at, anchor) in [(0, "start"), (scale.count.saturating_sub(1), "end")] {
        let _ = writeln!(
            page,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">boot {}</text>",
            scale.x(at),
            HEIGHT - 8.0,
            at + 1,
        );
    }
    *page += "</svg>\n</section>\n";
}

/// The page of a boot, or its row.
fn target_of(beside: &Beside, at: usize) -> String {
    let page = beside.pages.get(at).cloned();
    page.unwrap_or_else(|| format!("#boot-{}", at + 1))
}

/// Where the slowest boot lost its time.
fn differences(report: &SeriesReport, beside: &Beside, against: &Against, page: &mut String) {
    let parts = against.comparison.parts.iter();
    let parts: Vec<&Delta> = parts.filter(|part| part.delta_ns != 0).collect();
    let shown = &parts[..parts.len().min(MOST_PARTS)];
    let name = |at: usize| {
        let run = report.laps.get(at).map_or("", |lap| &*lap.run);
        format!(
            "<a href=\"{}\">boot {}</a> <small>{}</small>",
            escaped(&target_of(beside, at)),
            at + 1,
            escaped(run)
        )
    };
    let _ = writeln!(
        page,
        "<h2>The slowest boot against the median one</h2>\n\
         <p>Places by name, or between two lines that both print; their differences add up.</p>\n\
         <div class=\"wide\">\n<table>\n<tr><th>where</th><th>{}</th><th>{}</th><th>difference</th></tr>",
        name(against.median),
        name(against.boot),
    );
    let ns = |ns: Option<i64>| ns.map_or("–".to_owned(), duration);
    let mut row = |what: &str, before: Option<i64>, after: Option<i64>, delta: i64| {
        let class = if delta > 0 { "up" } else { "down" };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{}</td></tr>",
            escaped(what),
            escaped(&ns(before)),
            escaped(&ns(after)),
            escaped(&change(delta)),
        );
    };
    for part in shown {
        row(&part.name, part.before_ns, part.after_ns, part.delta_ns);
    }
    if let Some(rest) = parts.get(MOST_PARTS..).filter(|rest| !rest.is_empty()) {
        let sum = rest
            .iter()
            .fold(0_i64, |sum, d| sum.saturating_add(d.delta_ns));
        row(&format!("{} more places", rest.len()), None, None, sum);
    }
    let total = &against.comparison.total;
    row("in all", total.before_ns, total.after_ns, total.delta_ns);
    *page += "</table>\n</div>\n";
}

/// Every boot in a row.
fn table(report: &SeriesReport, beside: &Beside, page: &mut String) {
    let series = &report.series;
    let _ = write!(
        page,
        "<h2>All boots</h2>\n<div class=\"wide\">\n<table>\n<tr><th>boot</th><th></th><th>{}</th><th>to the median</th>",
        escaped(&beside.end)
    );
    for (name, _) in &series.phases {
        let _ = write!(page, "<th>{}</th>", escaped(name.text()));
    }
    *page += "</tr>\n";
    for (at, (lap, about)) in series.laps.iter().zip(&report.laps).enumerate() {
        let median = series.ready.as_ref().map(|r| r.median_ns);
        let apart = lap.ready_ns.zip(median);
        let apart = apart.map_or(String::new(), |(ns, of)| change(ns.saturating_sub(of)));
        let run = escaped(&about.run);
        let run = match beside.pages.get(at) {
            Some(page) => format!("<a href=\"{}\">{run}</a>", escaped(page)),
            None => run,
        };
        let ready = match (lap.ready_ns, &about.why_not) {
            (Some(ns), _) => duration(ns),
            (None, Some(why)) => why.clone(),
            (None, None) => "not seen".to_owned(),
        };
        let _ = write!(
            page,
            "<tr id=\"boot-{}\"><td>{}</td><td>{run}</td><td>{}</td><td>{}</td>",
            at + 1,
            at + 1,
            escaped(&ready),
            escaped(&apart),
        );
        for (name, _) in &series.phases {
            let phase = lap.phases.iter().find(|p| p.0 == *name);
            let text = phase.map_or("–".to_owned(), |p| duration(p.1));
            let _ = write!(page, "<td>{}</td>", escaped(&text));
        }
        *page += "</tr>\n";
    }
    *page += "</table>\n</div>\n";
}

#[cfg(test)]
mod tests {
    use bootlap_analysis::{Lap, PhaseName};

    use super::*;
    use crate::About;
    use crate::series::LapAbout;

    #[test]
    fn each_boot_is_a_dot_a_row_and_a_link_and_names_are_only_text() {
        let lap = |ready_ns: Option<i64>| {
            let lap = Lap {
                ready_ns,
                phases: vec![(PhaseName::Kernel, 4_000_000)],
            };
            let about = LapAbout {
                run: "<script>alert(1)</script>".into(),
                ..LapAbout::default()
            };
            (lap, about)
        };
        let times = [Some(9_000_000), None, Some(10_000_000), Some(30_000_000)];
        let about = About {
            target: "\"><img src=x>".into(),
            time: "measured".into(),
            ..About::default()
        };
        let report = SeriesReport::new(about, times.map(lap).to_vec());
        let mut beside = Beside {
            end: "login prompt".into(),
            ..Beside::default()
        };
        let page = html(&report, &beside);
        assert!(
            !page.contains("<script") && !page.contains("<img"),
            "{page}"
        );
        assert!(page.contains("<strong>10.00 ms</strong> to login prompt, the median of 3 boots"));
        assert!(page.contains("1 of 4 never got there."));
        // Ready and the kernel, of three boots each.
        assert_eq!(page.matches("<circle").count(), 6);
        assert!(page.contains("href=\"#boot-4\"") && page.contains("<tr id=\"boot-4\">"));
        assert!(page.contains("boot 4: 30.00 ms (+20.00 ms)"));
        beside.pages = (1..=4).map(|n| format!("boots-{n}.html")).collect();
        assert!(html(&report, &beside).contains("<a href=\"boots-4.html\"><circle"));
    }
}
