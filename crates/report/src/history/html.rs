//! The trend page: a chart per metric, and every change in a table.
//!
//! Names of commits and targets come from elsewhere and are escaped.

use std::fmt::Write;

use bootlap_analysis::budget::Unit;
use bootlap_analysis::history::Trend;

use crate::charts::{BOTTOM, HEIGHT, Scale, TOP, WIDTH, head};
use crate::check::{amount, small_share};
use crate::history::{HistoryReport, change_text};
use crate::xml::escaped;

/// Writes the whole page.
pub fn html(report: &HistoryReport) -> String {
    let n = report.entries.len();
    let time = escaped(report.time());
    let target = report.target();
    let mut page = head(&format!("{target}: trend"), target);
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

fn chart(report: &HistoryReport, trend: &Trend, page: &mut String) {
    let Some(scale) = Scale::of(&trend.values) else {
        return;
    };
    let unit = trend.metric.unit();
    let name = escaped(&trend.metric.text());
    let _ = writeln!(
        page,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{name} over results\">"
    );
    scale.grid(|value| amount(value, unit), page);
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
