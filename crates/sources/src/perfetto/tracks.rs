//! Slices, moments and values that programs tell Perfetto of by themselves (its SDK, Chrome).
//!
//! A track is named by its descriptor, a thread's by the thread. Names are sent once to a
//! sequence of packets, and then by their number.

use std::collections::{BTreeMap, HashMap};

use bootlap_model::{ClockKind, Evidence, Severity, SpanEnd, Stamp, Sym, TrackKind};

use super::schema::{
    InternedData, TYPE_COUNTER, TYPE_INSTANT, TYPE_SLICE_BEGIN, TYPE_SLICE_END, TrackDescriptor,
    TrackEvent,
};
use crate::text::Import;
use crate::trace::Nested;

const MAX_TRACKS: usize = 65_536;
const MAX_MOMENTS: usize = 10_000;
const MAX_SAMPLES: usize = 1_000_000;
/// Names that are sent ahead: those of the code, not of data.
const MAX_NAMES: usize = 1 << 20;

/// What one event says, its name looked up.
pub(super) struct Told {
    track: u64,
    name: Option<Sym>,
    what: What,
}

enum What {
    Begin,
    End,
    Instant,
    Value(f64),
}

/// All that programs told.
#[derive(Default)]
pub(super) struct Tracks {
    /// Of each sequence: names by number, and the track of events that name none.
    names: HashMap<u32, HashMap<u64, Sym>>,
    named: usize,
    usual: HashMap<u32, u64>,
    described: HashMap<u64, Described>,
    /// By track.
    nested: Nested<u64>,
    values: BTreeMap<u64, (Evidence, Vec<(i64, f64)>)>,
    moments: usize,
    samples: usize,
}

struct Described {
    name: Option<String>,
    parent: Option<u64>,
}

impl Tracks {
    /// What was sent ahead counts no more.
    pub(super) fn forget(&mut self, sequence: u32) {
        let names = self.names.remove(&sequence);
        self.named -= names.map_or(0, |names| names.len());
        self.usual.remove(&sequence);
    }

    pub(super) fn usual_track(&mut self, sequence: u32, track: u64) {
        self.usual.insert(sequence, track);
    }

    pub(super) fn interned(&mut self, sequence: u32, data: &InternedData, import: &mut Import<'_>) {
        let names = self.names.entry(sequence).or_default();
        for name in &data.event_names {
            if let (Some(iid), Some(name)) = (name.iid, &name.name)
                && self.named < MAX_NAMES
            {
                let known = names.insert(iid, import.sym(name));
                self.named += usize::from(known.is_none());
            }
        }
    }

    pub(super) fn describe(&mut self, track: &TrackDescriptor) {
        let Some(uuid) = track.uuid else { return };
        let own = [&track.name, &track.static_name, &track.atrace_name];
        let own = own.into_iter().flatten().next().cloned();
        let thread = || {
            let thread = track.thread.as_ref()?;
            let name = thread.thread_name.as_deref().unwrap_or("<...>");
            Some(format!("{name}-{}", thread.tid?))
        };
        let process = || {
            let process = track.process.as_ref()?;
            let name = process.process_name.as_deref().unwrap_or("<...>");
            Some(format!("{name}-{}", process.pid?))
        };
        let name = own.or_else(thread).or_else(process);
        if self.described.len() < MAX_TRACKS {
            let parent = track.parent_uuid;
            self.described.insert(uuid, Described { name, parent });
        }
    }

    /// What an event says, by what was sent ahead of it; `None` for kinds that have no place
    /// on a timeline.
    pub(super) fn told(
        &self,
        sequence: u32,
        event: &TrackEvent,
        import: &mut Import<'_>,
    ) -> Option<Told> {
        let usual = || self.usual.get(&sequence).copied();
        let number = || event.counter_value.map(|value| value as f64);
        let what = match event.r#type? {
            TYPE_SLICE_BEGIN => What::Begin,
            TYPE_SLICE_END => What::End,
            TYPE_INSTANT => What::Instant,
            TYPE_COUNTER => What::Value(event.double_counter_value.or_else(number)?),
            _ => return None,
        };
        let sent = || self.names.get(&sequence)?.get(&event.name_iid?).copied();
        let name = event.name.as_deref().map(|name| import.sym(name));
        Some(Told {
            track: event.track_uuid.or_else(usual)?,
            name: name.or_else(sent),
            what,
        })
    }

    /// Takes what was told, in order of time.
    pub(super) fn event(
        &mut self,
        ns: i64,
        told: &Told,
        evidence: Evidence,
        import: &mut Import<'_>,
    ) {
        let clock = import.clock(ClockKind::Boottime);
        let at = Stamp::new(ns, 0);
        let name = match told.name {
            Some(name) => import.timeline.text(name).to_owned(),
            None => "without a name".to_owned(),
        };
        match told.what {
            What::Begin => {
                let track = self.name_of(told.track);
                self.nested.begin(told.track, evidence, import, |import| {
                    let times = (at, SpanEnd::OpenAtCut);
                    let track = (TrackKind::Function, &*track);
                    import.span(clock, track, &name, times, &[], evidence)
                });
            }
            What::End => self.nested.end(&told.track, at, import),
            What::Instant => {
                self.moments += 1;
                match self.moments <= MAX_MOMENTS {
                    true => import.mark(clock, at, &name, evidence),
                    false => too_many(evidence, import),
                }
            }
            What::Value(value) if value.is_finite() && self.samples < MAX_SAMPLES => {
                self.samples += 1;
                let (_, samples) =
                    (self.values.entry(told.track)).or_insert((evidence, Vec::new()));
                samples.push((ns, value));
            }
            What::Value(_) => too_many(evidence, import),
        }
    }

    /// A track's name, with that of what it belongs to; some have that alone.
    fn name_of(&self, track: u64) -> String {
        let own = self.described.get(&track);
        let parent = own.and_then(|own| self.described.get(&own.parent?));
        let names = [parent, own].map(|d| d.and_then(|d| d.name.as_deref()));
        match names {
            [Some(parent), Some(own)] if parent != own => format!("{parent} · {own}"),
            [_, Some(name)] | [Some(name), None] => name.to_owned(),
            [None, None] => format!("track {track}"),
        }
    }

    /// The trace has ended.
    pub(super) fn finish(&mut self, import: &mut Import<'_>) {
        let clock = import.clock(ClockKind::Boottime);
        for (track, (first, samples)) in std::mem::take(&mut self.values) {
            let name = self.name_of(track);
            import.counter(clock, (&name, ""), samples, first);
        }
    }
}

fn too_many(at: Evidence, import: &mut Import<'_>) {
    import.notice(
        "moments-left-out",
        Severity::DataLoss,
        at,
        "only the first 10000 moments and the first million values are shown: record fewer categories",
    );
}
