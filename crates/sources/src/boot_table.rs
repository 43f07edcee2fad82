//! Tables of boots: a column for each moment or part, a row for each boot.
//!
//! ```text
//! boot,kernel_start,rootfs_mounted,app_ready        moments, in seconds
//! 1,1.204,2.911,6.120
//! 2,1.199,2.934,6.087
//!
//! run;firmware (ms);kernel (ms);userspace (ms);total (ms)       parts, one after the other
//! 1;2210;1954;5315;9479
//! ```
//!
//! What scripts around a relay or a pin write, and what people keep in spreadsheets: `,`,
//! `;` or tab between the columns. The unit stands in the heading (`_ms`, `(s)`), or the
//! numbers have decimals and are seconds; whole numbers without a unit could be anything.
//! Columns are parts if a column for the sum says so or all are named like phases; they
//! are moments if no row of at least three goes back. All else is not read.
//!
//! A row is a boot. This source reads the first; [`rows`] tells where the others are.

use std::ops::Range;

use bootlap_model::{ClockKind, Evidence, Milestone, SpanEnd, Stamp, Timeline, TrackKind};

use crate::steps::{self, Step};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "boot-table",
    title: "table with a row for each boot",
    looks_like: "a heading such as `boot,kernel_start_ms,ready_ms`, and a row of numbers a boot",
    sniff,
    read,
    together: None,
};

/// Columns beyond this are no table of boots.
const MOST_COLUMNS: usize = 64;

/// Names of columns that count or describe boots.
const ABOUT: [&str; 20] = [
    "",
    "boot",
    "run",
    "iteration",
    "iter",
    "cycle",
    "loop",
    "n",
    "nr",
    "no",
    "index",
    "id",
    "count",
    "sample",
    "trial",
    "attempt",
    "date",
    "time",
    "timestamp",
    "number",
];

/// Names of columns with the sum of the others.
const SUMS: [&str; 7] = [
    "total",
    "sum",
    "boottime",
    "overall",
    "all",
    "totaltime",
    "totalboottime",
];

/// Names of phases: their columns are lengths.
const PHASES: [&str; 11] = [
    "firmware",
    "loader",
    "bootloader",
    "uboot",
    "spl",
    "kernel",
    "initrd",
    "initramfs",
    "userspace",
    "user",
    "application",
];

fn sniff(head: &[u8]) -> Sniff {
    let mut lines = text::head_lines(head).filter(|l| !l.trim_ascii().is_empty());
    let Some(heading) = lines.next().and_then(|l| Heading::parse(text::valid(l))) else {
        return Sniff::NO;
    };
    let lines: Vec<&str> = lines.take(200).map(text::valid).collect();
    // The last line of a head may be cut.
    let rows = lines.iter().map_while(|l| heading.row(l));
    match heading.kind(&rows.collect::<Vec<_>>()) {
        Some(_) => Sniff::percent(80),
        // Too little to be read, but this is what it is most like.
        None if lines.first().is_some_and(|l| heading.fits(l)) => Sniff::percent(20),
        None => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    text::read(input, &SOURCE, out, &mut Rows::default())
}

/// Where the heading of such a table is and where each of its boots; `None` if `text` is
/// none, or has fewer than two.
pub fn rows(text: &[u8]) -> Option<(Range<usize>, Vec<Range<usize>>)> {
    if sniff(&text[..text.len().min(crate::HEAD_LEN)]) < Sniff::percent(80) {
        return None;
    }
    let mut at = 0;
    let lines = text.split_inclusive(|b| *b == b'\n').map(|line| {
        let range = at..at + line.len();
        at = range.end;
        range
    });
    let mut lines = lines.filter(|range| !text[range.clone()].trim_ascii().is_empty());
    let heading = lines.next()?;
    let columns = Heading::parse(text::valid(text[heading.clone()].trim_ascii_end()))?;
    let is_row = |r: &Range<usize>| {
        columns
            .row(text::valid(text[r.clone()].trim_ascii_end()))
            .is_some()
    };
    let rows: Vec<_> = lines.filter(is_row).collect();
    (rows.len() > 1).then_some((heading, rows))
}

/// What the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// When something was reached, since the start.
    Moments,
    /// How long each part took, one after the other.
    Parts,
}

/// The columns' names.
struct Heading {
    separator: char,
    columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    /// As it stands there, without the unit.
    name: String,
    /// ns in its unit; `None` where none is told.
    unit_ns: Option<i64>,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Which boot it is.
    About,
    Time,
    Sum,
}

impl Heading {
    fn parse(line: &str) -> Option<Self> {
        let separator = [';', '\t', ','].into_iter().find(|c| line.contains(*c))?;
        let names: Vec<&str> = line.split(separator).map(strip).collect();
        let is_name = |n: &&str| n.len() <= 60 && !n.starts_with(['[', '<', '{', '"']);
        let words = names
            .iter()
            .filter(|n| n.starts_with(char::is_alphabetic))
            .count();
        if names.len() > MOST_COLUMNS || !names.iter().all(is_name) || words + 1 < names.len() {
            return None;
        }
        let columns: Vec<Column> = names.into_iter().map(Column::of).collect();
        let times = columns.iter().filter(|c| c.what == What::Time);
        (times.count() >= 2).then_some(Self { separator, columns })
    }

    /// The times of a row, `Sum`s included, in the order of their columns.
    fn row(&self, line: &str) -> Option<Vec<Stamp>> {
        let values: Vec<&str> = line.split(self.separator).map(strip).collect();
        if values.len() != self.columns.len() {
            return None;
        }
        let both = self.columns.iter().zip(values);
        let times = both.filter(|(column, _)| column.what != What::About);
        times.map(|(column, value)| column.time(value)).collect()
    }

    /// Whether a line is a row of numbers, in whatever unit.
    fn fits(&self, line: &str) -> bool {
        let values: Vec<&str> = line.split(self.separator).map(strip).collect();
        let numbers = values.iter().filter(|v| v.parse::<f64>().is_ok()).count();
        values.len() == self.columns.len() && numbers >= 2 && numbers + 1 >= values.len()
    }

    /// The columns that [`Self::row`] gives.
    fn timed(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|c| c.what != What::About)
    }

    /// What the numbers are, by all rows that were seen.
    fn kind(&self, rows: &[Vec<Stamp>]) -> Option<Kind> {
        if rows.is_empty() {
            return None;
        }
        let split = |row: &[Stamp]| -> (Vec<i64>, Vec<i64>) {
            let both = self.timed().zip(row);
            let (times, sums): (Vec<_>, Vec<_>) = both.partition(|(c, _)| c.what == What::Time);
            let ns = |all: Vec<(&Column, &Stamp)>| all.into_iter().map(|(_, at)| at.ns).collect();
            (ns(times), ns(sums))
        };
        let rows: Vec<_> = rows.iter().map(|row| split(row)).collect();
        let adds_up = |(times, sums): &(Vec<i64>, Vec<i64>)| {
            let all: i64 = times.iter().fold(0, |sum, ns| sum.saturating_add(*ns));
            let near = |sum: &i64| sum.abs_diff(all) <= all.unsigned_abs() / 50;
            !sums.is_empty() && sums.iter().all(near)
        };
        let is_phase = |c: &Column| c.what != What::Time || PHASES.contains(&&*plain(&c.name));
        let goes_on = |(times, _): &(Vec<i64>, Vec<i64>)| {
            times.len() >= 3
                && times.windows(2).all(|w| w[0] <= w[1])
                && times[0] < times[times.len() - 1]
        };
        if rows.iter().all(adds_up) || self.timed().all(is_phase) {
            return Some(Kind::Parts);
        }
        rows.iter().all(goes_on).then_some(Kind::Moments)
    }
}

impl Column {
    fn of(name: &str) -> Self {
        let (name, unit_ns) = unit(name);
        let what = match &*plain(name) {
            name if ABOUT.contains(&name) => What::About,
            name if SUMS.contains(&name) => What::Sum,
            _ => What::Time,
        };
        Self {
            name: name.to_owned(),
            unit_ns,
            what,
        }
    }

    /// A value, known to its last digit; `None` if it is none, or nobody knows its unit.
    fn time(&self, value: &str) -> Option<Stamp> {
        let units = [("ms", 1_000_000), ("us", 1_000), ("s", 1_000_000_000)];
        let with_unit = |(unit, ns)| Some((value.strip_suffix(unit)?, Some(ns)));
        let (number, own) = units
            .into_iter()
            .find_map(with_unit)
            .unwrap_or((value, None));
        let number = number.trim_end().replace(',', ".");
        let decimals = number.contains('.').then_some(1_000_000_000);
        let unit_ns = self.unit_ns.or(own).or(decimals)?;
        let nano = text::seconds_ns(number.as_bytes()).filter(|nano| *nano >= 0)?;
        let ns = i64::try_from(i128::from(nano) * i128::from(unit_ns) / 1_000_000_000).ok()?;
        let err_ns = text::resolution_ns(number.as_bytes(), unit_ns.unsigned_abs());
        Some(Stamp::new(ns, err_ns))
    }
}

/// A column's name without its unit, and the unit in ns.
fn unit(name: &str) -> (&str, Option<i64>) {
    const UNITS: [(&str, i64); 9] = [
        ("milliseconds", 1_000_000),
        ("msec", 1_000_000),
        ("ms", 1_000_000),
        ("usec", 1_000),
        ("us", 1_000),
        ("seconds", 1_000_000_000),
        ("secs", 1_000_000_000),
        ("sec", 1_000_000_000),
        ("s", 1_000_000_000),
    ];
    let inside = |open: char, close: char| name.strip_suffix(close)?.rsplit_once(open);
    let told = inside('(', ')').or_else(|| inside('[', ']'));
    let told = told
        .or_else(|| name.rsplit_once('_'))
        .or_else(|| name.rsplit_once(' '));
    let found = told.and_then(|(name, unit)| {
        let unit = unit.trim().to_ascii_lowercase();
        let (_, ns) = UNITS.into_iter().find(|(u, _)| *u == unit)?;
        Some((name.trim_end_matches([' ', '_']), Some(ns)))
    });
    found.unwrap_or((name, None))
}

/// Letters and digits of a name alone, in lower case.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// What a moment of this name is to every boot.
fn milestone(name: &str) -> Option<Milestone> {
    Some(match &*plain(name) {
        "poweron" | "power" | "reset" => Milestone::PowerOn,
        "bootloader" | "bootloaderstart" | "uboot" | "ubootstart" => Milestone::BootloaderStart,
        "kernel" | "kernelstart" | "kernelentry" => Milestone::KernelEntry,
        "init" | "initstart" => Milestone::InitStart,
        "userspace" | "userspacestart" => Milestone::UserEntry,
        "ready" | "appready" | "applicationready" => Milestone::Ready,
        _ => return None,
    })
}

fn strip(column: &str) -> &str {
    column.trim().trim_matches('"').trim()
}

/// The heading, and the first boot.
#[derive(Default)]
struct Rows {
    heading: Option<Heading>,
    all: Vec<Vec<Stamp>>,
    first: Option<Evidence>,
}

impl Reader for Rows {
    fn line(&mut self, line: &Line<'_>, _: &mut Import<'_>) -> Result<(), Skip> {
        if line.is_blank() {
            return Ok(());
        }
        let Some(heading) = &self.heading else {
            self.heading = Heading::parse(line.str());
            let wanted = "expected a heading with names: `boot,kernel_start_ms,ready_ms`";
            return self
                .heading
                .is_some()
                .then_some(())
                .ok_or(Skip::unknown(wanted));
        };
        let wanted = "expected a number for each column, in a unit that the heading tells";
        let row = heading.row(line.str()).ok_or(Skip::unknown(wanted))?;
        self.first.get_or_insert(line.at);
        if self.all.len() < 200 {
            self.all.push(row);
        }
        Ok(())
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        let (Some(heading), Some(place), Some(row)) = (&self.heading, self.first, self.all.first())
        else {
            return;
        };
        let Some(kind) = heading.kind(&self.all) else {
            return;
        };
        let clock = import.clock(ClockKind::HostElapsed);
        let err_ns = row.iter().map(|at| at.err_ns).max().unwrap_or(0);
        let named = heading
            .timed()
            .zip(row)
            .filter(|(c, _)| c.what == What::Time);
        let track = (TrackKind::Signal, "table");
        match kind {
            Kind::Moments => {
                let steps: Vec<Step> = named.map(|(c, at)| step(&c.name, at.ns, place)).collect();
                for step in &steps {
                    let stamp = Stamp::new(step.ns, err_ns);
                    match milestone(&step.name) {
                        Some(milestone) => import.milestone(clock, stamp, milestone, place),
                        None => import.mark(clock, stamp, &step.name, place),
                    }
                }
                let zero = step("start", 0, place);
                let begins = steps.first().is_some_and(|s| s.ns > 0).then_some(zero);
                let all: Vec<Step> = begins.into_iter().chain(steps).collect();
                steps::lengths(import, clock, track, err_ns, &all);
            }
            Kind::Parts => {
                let mut start = Stamp::new(0, 0);
                for (column, part) in named {
                    let end = Stamp::new(start.ns.saturating_add(part.ns), part.err_ns);
                    let opens = milestone(&column.name).filter(|m| *m != Milestone::Ready);
                    if let Some(milestone) = opens {
                        import.milestone(clock, start, milestone, place);
                    }
                    import.span(
                        clock,
                        track,
                        &column.name,
                        (start, SpanEnd::At(end)),
                        &[],
                        place,
                    );
                    start = end;
                }
                import.milestone(clock, start, Milestone::StartupFinished, place);
            }
        }
    }
}

fn step(name: &str, ns: i64, at: Evidence) -> Step {
    Step {
        ns,
        name: name.to_owned(),
        id: String::new(),
        at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Option<Kind> {
        let mut lines = text.lines();
        let heading = Heading::parse(lines.next()?)?;
        let rows: Option<Vec<_>> = lines.map(|l| heading.row(l)).collect();
        heading.kind(&rows?)
    }

    #[test]
    fn moments_parts_and_what_is_neither() {
        let moments = Some(Kind::Moments);
        assert_eq!(
            kind("boot,kernel,mount,app\n1,1.2,2.9,6.1\n2,1.1,2.9,6.0"),
            moments
        );
        assert_eq!(kind("n\ta_ms\tb_ms\tc_ms\n1\t3\t4\t9"), moments);
        let parts = Some(Kind::Parts);
        assert_eq!(kind("kernel,userspace\n1.9,5.3"), parts);
        assert_eq!(
            kind("Run;POST (ms);Load (ms);Total (ms)\n1;100;50;150"),
            parts
        );
        assert_eq!(kind("n;a (s);b (s);total (s)\n1;1,5;0,5;2,0"), parts);
        // No unit; it goes back; a sum of something else; two columns could be anything.
        assert_eq!(kind("boot,a,b,c\n1,3,4,9"), None);
        assert_eq!(kind("boot,a_ms,b_ms,c_ms\n1,3,4,2"), None);
        assert_eq!(kind("boot,a_ms,b_ms,total_ms\n1,3,4,70"), None);
        assert_eq!(kind("boot,a_ms,b_ms\n1,3,4"), None);
        assert_eq!(kind("name,seconds\nlogo,0.8"), None);
        assert_eq!(sniff(b"boot,a,b,c\n1,3,4,9\n"), Sniff::percent(20));
        assert_eq!(sniff(b"Dear all, hello, and\nso on, and, so\n"), Sniff::NO);
    }

    #[test]
    fn units_stand_in_names_or_numbers() {
        assert_eq!(unit("ready_ms"), ("ready", Some(1_000_000)));
        assert_eq!(
            unit("Kernel time [s]"),
            ("Kernel time", Some(1_000_000_000))
        );
        assert_eq!(unit("kernel_start"), ("kernel_start", None));
        let column = Column::of("app");
        assert_eq!(
            column.time("6.12"),
            Some(Stamp::new(6_120_000_000, 10_000_000))
        );
        assert_eq!(
            column.time("6120 ms"),
            Some(Stamp::new(6_120_000_000, 1_000_000))
        );
        assert_eq!(column.time("6120"), None);
        assert_eq!(column.time("-1.5"), None);
        assert_eq!(column.time("9999999999999.0"), None);
    }

    #[test]
    fn rows_are_found_where_they_stand() {
        let text = b"boot,a_ms,b_ms,c_ms\n1,3,4,9\n\n2,3,5,9\nnot a row\n3,3,5,8";
        let (heading, rows) = rows(text).unwrap();
        assert_eq!(&text[heading], b"boot,a_ms,b_ms,c_ms\n");
        let rows: Vec<&[u8]> = rows.into_iter().map(|r| &text[r]).collect();
        assert_eq!(rows, [&b"1,3,4,9\n"[..], b"2,3,5,9\n", b"3,3,5,8"]);
        assert!(super::rows(b"boot,a_ms,b_ms,c_ms\n1,3,4,9\n").is_none());
    }
}
