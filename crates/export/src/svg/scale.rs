//! From time to the picture, and the round times in between.

use bootlap_analysis::Answers;

/// Ticks are at least this far apart.
const TICK_ROOM: f64 = 85.0;

/// A stretch of time, and where it is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    from: i128,
    to: i128,
    pub(super) left: f64,
    pub(super) right: f64,
    /// The moment of this boot that is called 0.
    zero: i64,
}

/// From where to where a boot is drawn, ns on its axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) start: i64,
    pub(super) end: i64,
    /// What is called 0: the zero of the reference clock where that is near,
    /// else the start (a clock may count from 1970).
    zero: i64,
}

impl Window {
    pub(super) fn of(answers: &Answers<'_>) -> Self {
        let (start, end) = answers.extent().map_or((0, 0), |e| (e.start.ns, e.end.ns));
        let end = end.max(start);
        let near = start.unsigned_abs() <= end.abs_diff(start).saturating_mul(3);
        let zero = if near { 0 } else { start };
        Self { start, end, zero }
    }

    /// The part of it from `start` to `end`.
    pub(super) fn within(self, start: i64, end: i64) -> Self {
        let start = start.clamp(self.start, self.end);
        let end = end.clamp(start, self.end.max(start));
        Self { start, end, ..self }
    }

    /// Counted from its own start, for laying it beside that of another boot.
    pub(super) fn counted_from_start(self) -> Self {
        Self {
            zero: self.start,
            ..self
        }
    }

    /// Whether both are the same stretch of time.
    pub(super) fn covers(self, other: Window) -> bool {
        (self.start, self.end) == (other.start, other.end)
    }
}

impl Scale {
    /// One scale for several boots, as seen from one of them.
    pub(super) fn of(all: &[Window], this: Window, left: f64, right: f64) -> Self {
        let since_zero = |ns: i64, w: &Window| i128::from(ns) - i128::from(w.zero);
        let from = all
            .iter()
            .map(|w| since_zero(w.start, w))
            .min()
            .unwrap_or(0);
        let to = all.iter().map(|w| since_zero(w.end, w)).max().unwrap_or(0);
        Self {
            from,
            to: to.max(from + 1_000),
            left,
            right,
            zero: this.zero,
        }
    }

    /// Where a moment is drawn; what lies outside is drawn at the edge.
    pub(super) fn x(&self, ns: i64) -> f64 {
        self.place(i128::from(ns) - i128::from(self.zero))
    }

    fn place(&self, at: i128) -> f64 {
        let share = (at - self.from) as f64 / (self.to - self.from) as f64;
        self.left + share.clamp(0.0, 1.0) * (self.right - self.left)
    }

    /// Where a moment is drawn, if it is in the picture.
    pub(super) fn has(&self, ns: i64) -> bool {
        let at = i128::from(ns) - i128::from(self.zero);
        (self.from..=self.to).contains(&at)
    }

    /// A moment as the axis names it, ns.
    pub(super) fn since_zero(&self, ns: i64) -> i64 {
        ns.saturating_sub(self.zero)
    }

    /// Round moments: where, and what they are called.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let most = ((self.right - self.left) / TICK_ROOM).floor().max(1.0) as i128;
        let step = round_step((self.to - self.from) / most);
        let first = self.from.div_euclid(step) * step;
        let ticks = (0..=most + 1).map(|n| first + n * step);
        let inside = ticks.filter(|at| (self.from..=self.to).contains(at));
        let unit = unit(self.to - self.from);
        inside
            .map(|at| (self.place(at), label(at, step, unit)))
            .collect()
    }
}

/// The least 1, 2 or 5 times a power of ten that is more than `least`.
fn round_step(least: i128) -> i128 {
    let mut power = 1;
    loop {
        for step in [power, 2 * power, 5 * power] {
            if step > least {
                return step;
            }
        }
        power *= 10;
    }
}

/// The unit that a range is told in, ns, with its name.
fn unit(range: i128) -> (i128, &'static str) {
    match range {
        1_000_000_000.. => (1_000_000_000, "s"),
        1_000_000.. => (1_000_000, "ms"),
        1_000.. => (1_000, "µs"),
        _ => (1, "ns"),
    }
}

/// As many decimals as tell `step` apart.
fn label(at: i128, step: i128, (unit, name): (i128, &str)) -> String {
    let sign = if at < 0 { "−" } else { "" };
    let at = at.abs();
    let mut decimals = 0;
    while step * 10_i128.pow(decimals) % unit != 0 && decimals < 9 {
        decimals += 1;
    }
    if decimals == 0 {
        return format!("{sign}{} {name}", at / unit);
    }
    let part = at % unit * 10_i128.pow(decimals) / unit;
    format!(
        "{sign}{}.{part:0width$} {name}",
        at / unit,
        width = decimals as usize
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(start: i64, end: i64) -> Vec<String> {
        let window = Window {
            start,
            end,
            zero: 0,
        };
        let scale = Scale::of(&[window], window, 0.0, 1000.0);
        scale.ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0, 5_177_000_000)[..3], ["0.0 s", "0.5 s", "1.0 s"]);
        assert_eq!(ticks(0, 60_000_000_000)[..3], ["0 s", "10 s", "20 s"]);
        assert_eq!(
            ticks(-2_000_000_000, 2_000_000_000)[..2],
            ["−2.0 s", "−1.5 s"]
        );
        assert_eq!(ticks(0, 181_000_000)[..2], ["0 ms", "20 ms"]);
        assert_eq!(ticks(7, 7)[..2], ["0.1 µs", "0.2 µs"]);
        assert!(ticks(i64::MIN, i64::MAX).len() > 3);
    }
}
