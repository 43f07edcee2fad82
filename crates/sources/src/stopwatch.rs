//! Times that a person took: `name,seconds`.
//!
//! ```text
//! name,seconds
//! power on,0
//! logo,0.8
//! music plays,2.35
//! ```
//!
//! Written by hand, or exported from a spreadsheet: `,`, `;` or tab between
//! the columns, names in quotes or not, decimal comma if the columns are apart
//! by something else, a heading or none. Seconds since the watch was started;
//! the error stated is that of a thumb, 100 ms.

use bootlap_model::{ClockKind, Milestone, Stamp, Timeline, TrackKind};

use crate::steps::{self, Step};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// Reaction time of a person with a button.
const THUMB_NS: u32 = 100_000_000;

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "stopwatch",
    title: "times that a person took",
    looks_like: "lines of `name,seconds`",
    sniff,
    read,
    together: None,
};

fn sniff(head: &[u8]) -> Sniff {
    let mut lines = text::head_lines(head);
    let first = lines.next().unwrap_or_default();
    let (rows, all) = text::count_lines(head, 100, |l| row(text::valid(l)).is_some());
    let heading = is_heading(text::valid(first));
    match (heading, rows) {
        (_, 0) => Sniff::NO,
        (true, _) if (rows + 1) * 5 >= all * 4 => Sniff::SURE,
        (false, _) if rows == all => Sniff::percent(50),
        _ => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    text::read(input, &SOURCE, out, &mut Rows::default())
}

/// The moments so far.
#[derive(Default)]
struct Rows(Vec<Step>);

impl Reader for Rows {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let Some((name, ns)) = row(line.str()) else {
            if line.at.line == 1 && is_heading(line.str()) {
                return Ok(());
            }
            return Err(Skip::unknown("expected a name and seconds: `logo,0.8`"));
        };
        let clock = import.clock(ClockKind::Stopwatch);
        let at = Stamp::new(ns, THUMB_NS);
        match name.to_ascii_lowercase().as_str() {
            "power on" | "power-on" | "power" => {
                import.milestone(clock, at, Milestone::PowerOn, line.at);
            }
            "ready" => import.milestone(clock, at, Milestone::Ready, line.at),
            _ => import.mark(clock, at, name, line.at),
        }
        let name = name.to_owned();
        self.0.push(Step {
            ns,
            name,
            id: String::new(),
            at: line.at,
        });
        Ok(())
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        let mut steps = std::mem::take(&mut self.0);
        steps.sort_by_key(|step| step.ns);
        let clock = import.clock(ClockKind::Stopwatch);
        let track = (TrackKind::Signal, "stopwatch");
        steps::lengths(import, clock, track, THUMB_NS, &steps);
    }
}

/// A name and its time in ns.
fn row(line: &str) -> Option<(&str, i64)> {
    let (name, seconds) = columns(line)?;
    let seconds = seconds.trim_end_matches('s').trim_end();
    let ns = text::seconds_ns(seconds.as_bytes())?;
    (!name.is_empty() && name.len() <= 200 && !name.starts_with(['[', '<', '{']))
        .then_some((name, ns))
}

fn is_heading(line: &str) -> bool {
    let word = |c: &str| {
        c.chars()
            .all(|c| c.is_alphabetic() || " ()[]_-".contains(c))
    };
    columns(line).is_some_and(|(a, b)| word(a) && word(b))
}

fn columns(line: &str) -> Option<(&str, &str)> {
    let separator = ['\t', ';', ','].into_iter().find(|c| line.contains(*c))?;
    let (name, rest) = line.rsplit_once(separator)?;
    Some((strip(name), strip(rest)))
}

fn strip(column: &str) -> &str {
    column.trim().trim_matches('"').trim()
}
