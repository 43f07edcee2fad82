//! Records → marks, spans, milestones.
//!
//! A record is a *moment*: the boot loader got to this point. So each gives a
//! mark, and each but the first a span from the one before it, with the name
//! of the stage that was reached at its end: the `Elapsed` column of U-Boot's
//! own report. What the boot loader did in that time is told by the names at
//! both ends (`from` is an argument of the span): `board_init_r` and
//! `main_loop` are marked when they begin, `bootm_load_os` when it is done.
//!
//! Accumulated records (`dm_f`, `of_live`) are lengths without a place, and
//! overlap the stages: counters, with their value at the last mark.
//!
//! Ids that have no name since U-Boot 2011 keep their number for ever below
//! 152; those above move with each version.

use std::collections::BTreeSet;

use bootlap_model::{
    Anchor, ClockKind, Counter, Evidence, MarkKind, Milestone, Severity, Span, SpanEnd, Stamp,
    Timeline, TrackKind,
};

use crate::handover::Moment;
use crate::steps::between;
use crate::text::{Import, Skip};

/// U-Boot counts µs.
pub(super) const UNIT_NS: i64 = 1_000;

/// U-Boot's table has 20 to 100 places; more than this is no table.
pub(super) const MAX_RECORDS: usize = 10_000;

/// Why a record was not kept.
pub(super) const TOO_MANY: Skip = Skip::lost(
    "too-many-records",
    "only the first 10000 records were read: is the file what it seems to be?",
);

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    /// What U-Boot calls it; may be empty.
    pub(super) name: String,
    /// When (since the timer's zero), or how long in all.
    pub(super) ns: i64,
    /// It is a length, not a moment.
    pub(super) accumulated: bool,
    /// Reported as a failure (`bootstage_error`); the text report hides it.
    pub(super) error: bool,
    /// Where it is.
    pub(super) at: Evidence,
}

/// All records of one boot.
#[derive(Clone, Debug, Default)]
pub(super) struct Records(pub(super) Vec<Record>);

impl Records {
    /// Adds one; `false` if there are too many.
    pub(super) fn push(&mut self, record: Record) -> bool {
        let room = self.0.len() < MAX_RECORDS;
        if room {
            self.0.push(record);
        }
        room
    }

    /// Whether `later` is of the same boot: it has all these records too, or
    /// goes on where they end (SPL's report, then U-Boot's).
    pub(super) fn goes_on_in(&self, later: &Self) -> bool {
        let marks = |r: &Self| -> BTreeSet<(i64, String)> {
            let marks = r.0.iter().filter(|r| !r.accumulated && r.ns > 0);
            marks.map(|r| (r.ns, r.name.clone())).collect()
        };
        let (first, second) = (marks(self), marks(later));
        let after = || first.last() <= second.first();
        second.is_superset(&first) || second.is_empty() || after()
    }

    /// Writes them down, on a clock of their own: which, and when the boot loader handed
    /// over, if that is among them.
    pub(super) fn write(mut self, timeline: &mut Timeline) -> Option<Moment> {
        let first = self.0.first()?;
        let file = first.at.file;
        let clock = timeline.add_clock(ClockKind::Bootloader, file);
        let mut sink = Sink {
            timeline,
            clock,
            start_ns: None,
            names: BTreeSet::new(),
        };
        // U-Boot's report sorts, its device tree is in reverse order, and its
        // stash in the order of first use.
        self.0.sort_by_key(|r| r.ns);
        let (mut lengths, marks): (Vec<_>, Vec<_>) =
            self.0.into_iter().partition(|r| r.accumulated);
        // `bootstage unstash` in the U-Boot that made the stash doubles all.
        lengths.dedup_by(|a, b| (a.ns, &a.name) == (b.ns, &b.name));
        sink.start_ns = start_of(&marks).map(|place| marks[place].ns);
        let mut last: Option<&Record> = None;
        for record in &marks {
            sink.stage(last, record);
            last = Some(record);
        }
        for length in &lengths {
            sink.accumulated(length, last);
        }
        if let Some(place) = start_of(&marks) {
            sink.milestone(&marks[place], Milestone::BootloaderStart);
        }
        let handover = |r: &Record| is_handover(&r.name);
        let handed = &marks[marks.iter().rposition(handover)?];
        sink.milestone(handed, Milestone::BootloaderHandover);
        Some((clock, stamp(handed.ns), handed.at))
    }
}

/// The boot loader's first sign of life: the first stage of SPL and its like,
/// else U-Boot's own.
fn start_of(marks: &[Record]) -> Option<usize> {
    let is_first = |r: &Record| {
        let word = r.name.split([' ', '_']).next().unwrap_or_default();
        let stage = word.to_ascii_lowercase();
        matches!(&stage[..], "spl" | "tpl" | "vpl") || r.name.starts_with("board_init_f")
    };
    marks.iter().position(is_first)
}

/// `start_kernel` of all architectures that boot Linux by `bootm`; U-Boot
/// before 2012 had no name for it, but the number 15.
fn is_handover(name: &str) -> bool {
    matches!(
        name,
        "start_kernel" | "kernel_start" | "bootm_handoff" | "id=15"
    )
}

/// What nameless ids mean, where that has never changed.
fn meaning(name: &str) -> Option<&'static str> {
    Some(match name.strip_prefix("id=")? {
        "1" => "check the image's magic number",
        "2" => "check the image's header",
        "3" => "check the image's checksum",
        "5" => "check the image's type",
        "6" => "decompress the image",
        "7" => "kernel loaded",
        "8" => "boot the operating system",
        "15" => "leave the boot loader",
        "64" => "network begins",
        "65" => "network devices are up",
        "80" => "network boot begins",
        "81" => "network transfer done",
        "82" => "network image loaded",
        "84" => "network boot done",
        _ => return None,
    })
}

struct Sink<'t> {
    timeline: &'t mut Timeline,
    clock: bootlap_model::ClockId,
    /// When the boot loader gave its first sign of life; a ROM ran before.
    start_ns: Option<i64>,
    names: BTreeSet<String>,
}

impl Sink<'_> {
    fn stage(&mut self, before: Option<&Record>, record: &Record) {
        let name = shown(&record.name);
        if self.names.insert(name.to_owned()) && !record.name.is_empty() {
            self.timeline.anchors.push(Anchor {
                clock: self.clock,
                at: stamp(record.ns),
                key: Anchor::key("bootstage", name.as_bytes()),
                evidence: record.at,
            });
        }
        self.mark(record, MarkKind::Named, name);
        let Some(before) = before else { return };
        let mut args = vec![("from", shown(&before.name))];
        args.extend(meaning(name).map(|m| ("meaning", m)));
        if record.error {
            args.push(("result", "failed"));
        }
        let is_before = self.start_ns.is_some_and(|start_ns| record.ns <= start_ns);
        let track = match is_before {
            true => self.timeline.track(TrackKind::Firmware, "before U-Boot"),
            false => self.timeline.track(TrackKind::Bootloader, "boot loader"),
        };
        let symbols = &mut self.timeline.symbols;
        let args = args
            .iter()
            .map(|(k, v)| (symbols.intern(k), symbols.intern(v)))
            .collect();
        let name = symbols.intern(&between(shown(&before.name), name));
        self.timeline.add_span(Span {
            track,
            clock: self.clock,
            start: stamp(before.ns),
            end: SpanEnd::At(stamp(record.ns)),
            name,
            args,
            evidence: record.at,
        });
    }

    fn mark(&mut self, record: &Record, kind: MarkKind, name: &str) {
        let at = stamp(record.ns);
        self.timeline
            .add_mark(self.clock, at, kind, name, record.at);
    }

    fn milestone(&mut self, record: &Record, milestone: Milestone) {
        self.mark(record, MarkKind::Milestone(milestone), milestone.text());
    }

    fn accumulated(&mut self, length: &Record, last: Option<&Record>) {
        let symbols = &mut self.timeline.symbols;
        let name = symbols.intern(&format!("accumulated {}", shown(&length.name)));
        let unit = symbols.intern("ms");
        self.timeline.counters.push(Counter {
            clock: self.clock,
            name,
            unit,
            samples: vec![(last.map_or(0, |r| r.ns), length.ns as f64 / 1e6)],
            evidence: length.at,
        });
    }
}

fn stamp(ns: i64) -> Stamp {
    Stamp::new(ns, UNIT_NS as u32)
}

/// Old U-Boots print nothing for the first records.
fn shown(name: &str) -> &str {
    if name.is_empty() { "(no name)" } else { name }
}

/// Says that U-Boot's table was full.
pub(super) fn full(import: &mut Import<'_>, at: Evidence) {
    import.notice(
        "bootstage-table-full",
        Severity::DataLoss,
        at,
        "U-Boot had no room for all of its records: raise CONFIG_BOOTSTAGE_RECORD_COUNT (and CONFIG_SPL_BOOTSTAGE_RECORD_COUNT)",
    );
}

/// Says that the file was not read to its end.
pub(super) fn cut(import: &mut Import<'_>, limit: u64) {
    let at = nowhere(import, limit);
    import.notice(
        "file-too-large",
        Severity::DataLoss,
        at,
        "only the first 16 MiB were read: is the file what it seems to be?",
    );
}

/// An empty place at `offset`.
pub(super) fn nowhere(import: &Import<'_>, offset: u64) -> Evidence {
    Evidence {
        file: import.file,
        start: offset,
        end: offset,
        line: 1,
    }
}
