//! Starts and ends of init scripts: `bootlap-agent rc PLAN --log FILE`.
//!
//! ```text
//! bootlap-rc-log 1
//! 1912345678 start S10udev
//! 1912401234 start S12hostname
//! 1930012345 end 0 S12hostname
//! 2112345678 end 1 S10udev
//! ```
//!
//! ns of `CLOCK_MONOTONIC`. An end has the exit code, 128 and the number of a signal,
//! or a word: `timeout`, `no-process`, `later`. The agent's lines in the kernel's log
//! tell the same in µs: see the console's recognisers.

use std::collections::BTreeMap;

use bootlap_model::{ClockKind, Evidence, SpanEnd, Stamp, Timeline, TrackKind};

use crate::console::RC_TRACK;
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "rc-log",
    title: "bootlap-agent's log of init scripts",
    looks_like: "`bootlap-rc-log 1`, then lines of `NS start NAME` and `NS end STATUS NAME`",
    sniff,
    read,
    together: None,
};

const HEAD: &[u8] = b"bootlap-rc-log ";

/// No plan has more scripts.
const MAX_RUNNING: usize = 4096;

fn sniff(head: &[u8]) -> Sniff {
    match head.starts_with(HEAD) {
        true => Sniff::CERTAIN,
        false => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    text::read(input, &SOURCE, out, &mut Scripts::default())
}

#[derive(Default)]
struct Scripts {
    running: BTreeMap<String, (Stamp, Evidence)>,
}

/// What a line says.
enum Said<'t> {
    Start(i64, &'t str),
    End(i64, &'t str, &'t str),
}

impl Reader for Scripts {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        if line.at.line == 1 && line.text.starts_with(HEAD) {
            return Ok(());
        }
        match said(line.str()) {
            Some(Said::Start(ns, name)) if self.running.len() < MAX_RUNNING => {
                let start = (Stamp::new(ns, 1), line.at);
                self.running.insert(name.to_owned(), start);
                Ok(())
            }
            Some(Said::End(ns, status, name)) => {
                let Some((start, mut at)) = self.running.remove(name) else {
                    return Err(Skip::lost(
                        "end-without-start",
                        "these scripts ended without having started: is the file's beginning lost?",
                    ));
                };
                at.end = line.at.end;
                let end = SpanEnd::At(Stamp::new(ns, 1));
                span(import, name, (start, end), &[("status", status)], at);
                Ok(())
            }
            _ => Err(Skip::unknown(
                "expected `NS start NAME` or `NS end STATUS NAME`",
            )),
        }
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        for (name, (start, at)) in std::mem::take(&mut self.running) {
            span(import, &name, (start, SpanEnd::OpenAtCut), &[], at);
        }
    }
}

fn span(
    import: &mut Import<'_>,
    name: &str,
    times: (Stamp, SpanEnd),
    args: &[(&str, &str)],
    at: Evidence,
) {
    let clock = import.clock(ClockKind::Monotonic);
    let track = (TrackKind::Userspace, RC_TRACK);
    import.span(clock, track, name, times, args, at);
}

fn said(line: &str) -> Option<Said<'_>> {
    let (ns, rest) = line.split_once(' ')?;
    let is_number = ns.bytes().all(|b| b.is_ascii_digit());
    let ns: i64 = ns.parse().ok().filter(|_| is_number)?;
    let (what, rest) = rest.split_once(' ')?;
    match what {
        "start" if !rest.contains(' ') => Some(Said::Start(ns, rest)),
        "end" => {
            let (status, name) = rest.split_once(' ')?;
            (!name.contains(' ')).then_some(Said::End(ns, status, name))
        }
        _ => None,
    }
}
