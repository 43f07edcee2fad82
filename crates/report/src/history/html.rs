//! The trend page: a chart per metric, and every change in a table.
//!
//! One file, without a script and without a request, and its content security
//! policy allows neither: only the one style whose hash it carries. Names of
//! commits and targets come from elsewhere and are escaped.

use std::fmt::Write;

use bootlap_analysis::budget::Unit;
use bootlap_analysis::history::Trend;

use crate::boot::html::source_hash;
use crate::check::{amount, small_share};
use crate::history::{HistoryReport, change_text};
use crate::xml::escaped;

const STYLE: &str = "
:root { color-scheme: light dark; --line: #3b6ea8; --up: #b3261e; --down: #1b7f4b; --faint: #8886; }
@media (prefers-color-scheme: dark) { :root { --line: #8ab4f8; --up: #f28b82; --down: #81c995; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0; padding: 16px 24px 48px; }
h1 { font-size: 15px; margin: 0 0 .6rem; } h2 { font-size: 15px; margin: 1.2rem 0 .1rem; } h2 small { font-size: 15px; font-weight: 400; }
p, caption { margin: .2rem 0; opacity: .75; text-align: left; }
p.latest { opacity: 1; font-size: 17px; } p.latest strong { font-size: 52px; font-weight: 300; letter-spacing: -.02em; }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(560px, 100%), 1fr)); gap: 0 40px; }
section { min-width: 0; } text.up, text.down { stroke: none; opacity: 1; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: currentColor; opacity: .7; }
.grid { stroke: var(--faint); } .level { stroke: var(--line); stroke-width: 2; opacity: .5; }
.dot { fill: var(--line); } .up { stroke: var(--up); fill: var(--up); }
.down { stroke: var(--down); fill: var(--down); } line.up, line.down { stroke-dasharray: 4 3; }
table { border-collapse: collapse; width: 100%; margin-top: .4rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--faint); }
td.up { color: var(--up); } td.down { color: var(--down); }
";

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 24.0;

/// Writes the whole page.
pub fn html(report: &HistoryReport) -> String {
    let policy = format!(
        "default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'",
        source_hash(STYLE)
    );
    let target = escaped(report.target());
    let n = report.entries.len();
    let time = escaped(report.time());
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{target}: trend</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>{target}</h1>\n"
    );
    if let Some((trend, value)) = report.trends.first().and_then(|t| Some((t, latest(t)?))) {
        let name = escaped(&trend.metric.text());
        let value = escaped(&amount(value, trend.metric.unit()));
        let _ = writeln!(
            page,
            "<p class=\"latest\"><strong>{value}</strong> {name}, latest</p>"
        );
    }
    changes(report, &mut page);
    let _ = writeln!(
        page,
        "<p>{n} results in {time} time. A point is the median of a result's boots, and says which \
         when it is pointed at; a dashed line is a change, a level what they lie around.</p>\n<main>"
    );
    for trend in &report.trends {
        let name = escaped(&trend.metric.text());
        let latest = latest(trend).map_or(String::new(), |v| amount(v, trend.metric.unit()));
        let _ = writeln!(
            page,
            "<section>\n<h2>{name} <small>{}</small></h2>",
            escaped(&latest)
        );
        chart(report, trend, &mut page);
        page += "</section>\n";
    }
    let _ = writeln!(
        page,
        "</main>\n<p>{}</p>\n</body>\n</html>",
        escaped(&report.tool)
    );
    page
}

/// The last value that there is.
fn latest(trend: &Trend) -> Option<i64> {
    trend.values.iter().rev().flatten().next().copied()
}

fn changes(report: &HistoryReport, page: &mut String) {
    let all = report.changes();
    if all.is_empty() {
        *page += "<p>Nothing changed.</p>\n";
        return;
    }
    *page += "<table>\n<caption>Changes, the latest first</caption>\n\
              <tr><th>commit</th><th>date</th><th>what</th><th></th><th>change</th></tr>\n";
    for (metric, change) in all {
        let class = if change.after > change.before {
            "up"
        } else {
            "down"
        };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{}</td><td>{}</td></tr>",
            escaped(&report.commit(change.at)),
            escaped(&report.day(change.at)),
            escaped(&metric.text()),
            small_share(change.share()),
            escaped(&change_text(change, metric.unit())),
        );
    }
    *page += "</table>\n";
}

/// Where values are drawn.
struct Scale {
    low: f64,
    high: f64,
    count: usize,
}

impl Scale {
    fn of(trend: &Trend) -> Option<Self> {
        let known = || trend.values.iter().flatten().map(|v| *v as f64);
        let low = known().reduce(f64::min)?;
        let high = known().reduce(f64::max)?;
        // What hardly varies is a line in the middle, not noise blown up.
        let room = ((high - low) * 0.08).max(high.abs() * 0.002).max(1.0);
        Some(Self {
            low: low - room,
            high: high + room,
            count: trend.values.len(),
        })
    }

    /// Round values, three or four of them.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let least = ((self.high - self.low) / 4.0).max(1.0);
        let power = 10_f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|by| by * power);
        let step = step
            .into_iter()
            .find(|step| *step >= least)
            .unwrap_or(power);
        let (low, high) = (self.low, self.high);
        let first = (low / step).ceil();
        (0..8)
            .map(move |n| (first + f64::from(n)) * step)
            .filter(move |tick| *tick <= high)
    }

    fn x(&self, at: usize) -> f64 {
        let steps = self.count.saturating_sub(1).max(1) as f64;
        LEFT + at as f64 / steps * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
    }
}

fn chart(report: &HistoryReport, trend: &Trend, page: &mut String) {
    let Some(scale) = Scale::of(trend) else {
        return;
    };
    let unit = trend.metric.unit();
    let name = escaped(&trend.metric.text());
    let _ = writeln!(
        page,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{name} over results\">"
    );
    for value in scale.ticks() {
        let y = scale.y(value);
        let _ = writeln!(
            page,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 4.0,
            escaped(&amount(value.round() as i64, unit)),
        );
    }
    for (from, to, level) in trend.stretches() {
        let (x1, x2, y) = (scale.x(from), scale.x(to.saturating_sub(1)), scale.y(level));
        let _ = writeln!(
            page,
            "<line class=\"level\" x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
        );
    }
    for change in &trend.changes {
        let class = if change.after > change.before {
            "up"
        } else {
            "down"
        };
        let x = (scale.x(change.at) + scale.x(change.at.saturating_sub(1))) / 2.0;
        let title = format!(
            "{}: {}",
            report.commit(change.at),
            change_text(change, unit)
        );
        let _ = writeln!(
            page,
            "<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{}\">\
             <title>{}</title></line>",
            HEIGHT - BOTTOM,
            escaped(&title),
        );
        // Beside its line, on the side that has room.
        let (to, anchor) = match x > WIDTH * 0.8 {
            true => (x - 5.0, "end"),
            false => (x + 5.0, "start"),
        };
        let _ = writeln!(
            page,
            "<text class=\"{class}\" x=\"{to:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            TOP + 9.0,
            escaped(&small_share(change.share())),
        );
    }
    dots(report, trend, &scale, unit, page);
    for (at, anchor) in [(0, "start"), (scale.count.saturating_sub(1), "end")] {
        let _ = writeln!(
            page,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            scale.x(at),
            HEIGHT - 8.0,
            escaped(&report.day(at)),
        );
    }
    *page += "</svg>\n";
}

fn dots(report: &HistoryReport, trend: &Trend, scale: &Scale, unit: Unit, page: &mut String) {
    for (at, value) in trend.values.iter().enumerate() {
        let Some(value) = value else { continue };
        let title = format!(
            "{} {}: {}",
            report.day(at),
            report.commit(at),
            amount(*value, unit)
        );
        let _ = writeln!(
            page,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}</title></circle>",
            scale.x(at),
            scale.y(*value as f64),
            escaped(&title),
        );
    }
}
