//! Pages of charts: one file, without a script and without a request.
//!
//! Their content security policy allows neither: only the one style whose hash it carries.

use std::fmt::Write;

use crate::boot::html::source_hash;
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
.grid { stroke: var(--faint); } .band { fill: var(--line); opacity: .12; } .level { stroke: var(--line); stroke-width: 2; opacity: .5; }
.dot { fill: var(--line); } .up { stroke: var(--up); fill: var(--up); }
.down { stroke: var(--down); fill: var(--down); } line.up, line.down { stroke-dasharray: 4 3; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin-top: .4rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--faint); }
a { color: inherit; } tr:target { background: color-mix(in srgb, var(--line) 18%, transparent); }
td.up { color: var(--up); } td.down { color: var(--down); }
";

/// Of a chart, in its own units; CSS px where there is room.
pub(crate) const WIDTH: f64 = 640.0;
pub(crate) const HEIGHT: f64 = 150.0;
/// Room for the values at its axis.
pub(crate) const LEFT: f64 = 70.0;
pub(crate) const RIGHT: f64 = 12.0;
pub(crate) const TOP: f64 = 12.0;
pub(crate) const BOTTOM: f64 = 24.0;

/// Where values are drawn.
pub(crate) struct Scale {
    low: f64,
    high: f64,
    /// How many points there are, also where one has no value.
    pub(crate) count: usize,
}

impl Scale {
    /// For these values, in order; `None` if none is known.
    pub(crate) fn of(values: &[Option<i64>]) -> Option<Self> {
        let known = || values.iter().flatten().map(|v| *v as f64);
        let low = known().reduce(f64::min)?;
        let high = known().reduce(f64::max)?;
        // What hardly varies is a line in the middle, not noise blown up.
        let room = ((high - low) * 0.08).max(high.abs() * 0.002).max(1.0);
        Some(Self {
            low: low - room,
            high: high + room,
            count: values.len(),
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

    /// Where the point of this index is.
    pub(crate) fn x(&self, at: usize) -> f64 {
        let steps = self.count.saturating_sub(1).max(1) as f64;
        LEFT + at as f64 / steps * (WIDTH - LEFT - RIGHT)
    }

    /// Where this value is.
    pub(crate) fn y(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
    }

    /// Draws the lines of round values, and what they are.
    pub(crate) fn grid(&self, text: impl Fn(i64) -> String, page: &mut String) {
        for value in self.ticks() {
            let y = self.y(value);
            let _ = writeln!(
                page,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
                escaped(&text(value.round() as i64)),
            );
        }
    }
}

/// The beginning of a page, up to its heading.
pub(crate) fn head(title: &str, heading: &str) -> String {
    let policy = format!(
        "default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'",
        source_hash(STYLE)
    );
    let (title, heading) = (escaped(title), escaped(heading));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>{heading}</h1>\n"
    )
}
