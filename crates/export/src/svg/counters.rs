//! CPU and disk as areas above the rows, as bootchart shows them.

use bootlap_model::{Axis, Counter, Stamp, Timeline};

use super::lettering::{LETTERS, LINE, STEP, faint};
use super::palette::Ink;
use super::picture::{Anchor, Area, Picture, Rect, Text};
use super::scale::{Scale, Window};

const HEIGHT: f64 = 34.0;
/// No counter counts more.
const MOST: f64 = 1e15;

/// Counters that are drawn in one area, the lowest first.
struct Group {
    title: &'static str,
    /// Name, words for it, colour.
    parts: &'static [(&'static str, &'static str, Ink)],
    /// What fills the area; `None`: its own largest value.
    full: Option<f64>,
}

const GROUPS: [Group; 2] = [
    Group {
        title: "CPU",
        parts: &[
            ("cpu user", "user", Ink::CpuUser),
            ("cpu system", "system", Ink::CpuSystem),
            ("cpu iowait", "waiting for the disk", Ink::CpuWait),
        ],
        full: Some(100.0),
    },
    Group {
        title: "disk",
        parts: &[
            ("disk read", "read", Ink::DiskRead),
            ("disk write", "written", Ink::DiskWrite),
        ],
        full: None,
    },
];

/// Draws what there is below `y`; where that ends.
pub(super) fn draw(
    timeline: &Timeline,
    window: Window,
    scale: &Scale,
    mut y: f64,
    picture: &mut Picture,
) -> f64 {
    let axis = Axis::of(timeline);
    for group in &GROUPS {
        let mut sums: Vec<f64> = Vec::new();
        let mut layers: Vec<(Vec<f64>, Ink)> = Vec::new();
        let mut words = Vec::new();
        for (name, word, ink) in group.parts {
            let mut counters = timeline.counters.iter();
            let Some(counter) = counters.find(|c| timeline.text(c.name) == *name) else {
                continue;
            };
            let values = steps(counter, &axis, window, scale);
            sums.resize(values.len(), 0.0);
            sums.iter_mut().zip(&values).for_each(|(sum, v)| *sum += v);
            layers.push((sums.clone(), *ink));
            words.push((*word, *ink));
        }
        let most = sums.iter().copied().fold(0.0, f64::max);
        if most <= 0.0 {
            continue;
        }
        let top = match group.full {
            Some(_) => String::new(),
            None => format!(", at most {}", rate(most)),
        };
        legend(&format!("{}{top}", group.title), &words, scale, y, picture);
        y += LINE;
        let full = group.full.unwrap_or(most).max(most);
        // The highest is drawn first, the lower ones over it.
        for (values, ink) in layers.into_iter().rev() {
            picture.areas.push(Area {
                left: scale.left,
                base: y + HEIGHT,
                step: STEP,
                heights: values.iter().map(|v| v / full * HEIGHT).collect(),
                ink,
            });
        }
        picture.back.push(Rect {
            x: scale.left,
            y: y + HEIGHT,
            w: scale.right - scale.left,
            h: 1.0,
            ink: Ink::Grid,
            tip: String::new(),
        });
        y += HEIGHT + 8.0;
    }
    y
}

/// kB/s as people read it.
fn rate(kb: f64) -> String {
    match kb {
        // No disk: the evidence is damaged.
        kb if kb >= 1e10 => format!("{:.0e} MB/s", kb / 1000.0),
        kb if kb >= 999.5 => format!("{:.1} MB/s", kb / 1000.0),
        kb => format!("{kb:.0} kB/s"),
    }
}

fn legend(title: &str, words: &[(&str, Ink)], scale: &Scale, y: f64, picture: &mut Picture) {
    let mut x = scale.left;
    let mut put = |text: &str, x: f64| {
        let text = faint(x, y + 12.0, text, scale);
        let right = text.bounds()[2];
        picture.texts.push(Text {
            anchor: Anchor::Start,
            ..text
        });
        right
    };
    x = put(title, x) + 12.0;
    let mut keys = Vec::new();
    for (word, ink) in words {
        keys.push((x, *ink));
        x = put(word, x + LETTERS + 3.0) + 12.0;
    }
    for (x, ink) in keys {
        picture.key(x, y, ink);
    }
}

/// The mean of a counter in each step of the picture. A value holds up to the
/// next sample; the last one holds for nothing.
fn steps(counter: &Counter, axis: &Axis, window: Window, scale: &Scale) -> Vec<f64> {
    let count = ((scale.right - scale.left) / STEP) as usize;
    let mut sums = vec![0.0; count];
    let place = |ns: i64| {
        let at = axis.at(counter.clock, Stamp::new(ns, 0))?;
        let ns = at.ns.clamp(window.start, window.end);
        Some((scale.x(ns) - scale.left) / STEP)
    };
    for pair in counter.samples.windows(2) {
        let [(from, value), (to, _)] = pair else {
            continue;
        };
        let (Some(from), Some(to)) = (place(*from), place(*to)) else {
            continue;
        };
        // Sums of damaged values must stay numbers.
        let value = if value.is_nan() {
            0.0
        } else {
            value.clamp(0.0, MOST)
        };
        let first = (from.floor().max(0.0) as usize).min(count);
        let last = (to.ceil().max(0.0) as usize).min(count);
        for (at, sum) in sums.iter_mut().enumerate().take(last).skip(first) {
            let here = to.min(at as f64 + 1.0) - from.max(at as f64);
            *sum += value * here.max(0.0);
        }
    }
    sums
}
