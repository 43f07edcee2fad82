//! The file as it is written: one packet after the other, and names once.

use std::collections::HashMap;
use std::io::{self, Write};

use bootlap_report::clean::clean;
use prost::Message;

use super::schema::{
    DebugAnnotation, InternedData, InternedName, SEQ_INCREMENTAL_STATE_CLEARED,
    SEQ_NEEDS_INCREMENTAL_STATE, TracePacket, TrackDescriptor, TrackEvent,
};

/// Names that are kept for being referred to; what comes after them is
/// written out each time, so that memory stays bounded.
const NAMES: usize = 1 << 16;
/// Bytes of a text that are shown at most: a console line may have a megabyte.
const LONGEST: usize = 1_000;

/// The packets of one boot: one sequence, and one machine of the trace.
///
/// Perfetto knows processes by machine and pid, so two boots, which both have
/// a pid 1, are two machines.
pub(super) struct Packets<'o> {
    out: &'o mut dyn Write,
    bytes: Vec<u8>,
    sequence: u32,
    machine_id: Option<u32>,
    begun: bool,
    pub(super) names: Names,
}

impl<'o> Packets<'o> {
    /// Of boot number `boot` of the file, from 0.
    pub(super) fn new(out: &'o mut dyn Write, boot: u32) -> Self {
        Self {
            out,
            bytes: Vec::new(),
            sequence: boot + 1,
            machine_id: (boot > 0).then_some(boot),
            begun: false,
            names: Names::default(),
        }
    }

    pub(super) fn descriptor(&mut self, descriptor: TrackDescriptor) -> io::Result<()> {
        self.packet(TracePacket {
            track_descriptor: Some(descriptor),
            ..TracePacket::default()
        })
    }

    /// Something that happens at `at_ns` of the trace.
    pub(super) fn event(&mut self, at_ns: u64, event: TrackEvent) -> io::Result<()> {
        self.packet(TracePacket {
            timestamp: Some(at_ns),
            track_event: Some(event),
            ..TracePacket::default()
        })
    }

    fn packet(&mut self, mut packet: TracePacket) -> io::Result<()> {
        packet.trusted_packet_sequence_id = Some(self.sequence);
        packet.machine_id = self.machine_id;
        packet.interned_data = self.names.take();
        let mut flags = SEQ_NEEDS_INCREMENTAL_STATE;
        if !self.begun {
            flags |= SEQ_INCREMENTAL_STATE_CLEARED;
            self.begun = true;
        }
        packet.sequence_flags = Some(flags);
        // Field 1 of the file's one message, with a length: a packet.
        self.bytes.clear();
        self.bytes.push(1 << 3 | 2);
        packet
            .encode_length_delimited(&mut self.bytes)
            .map_err(io::Error::other)?;
        self.out.write_all(&self.bytes)
    }
}

/// What was named in this sequence, and what is to be named by its next packet.
#[derive(Default)]
pub(super) struct Names {
    categories: HashMap<String, u64>,
    events: HashMap<String, u64>,
    keys: HashMap<String, u64>,
    new: InternedData,
}

impl Names {
    fn take(&mut self) -> Option<InternedData> {
        (self.new != InternedData::default()).then(|| std::mem::take(&mut self.new))
    }

    pub(super) fn category(&mut self, name: &str) -> u64 {
        let iid = intern(&mut self.categories, &mut self.new.event_categories, name);
        iid.unwrap_or_default()
    }

    /// Names `event`; a name that comes `once` is not kept.
    pub(super) fn name(&mut self, event: &mut TrackEvent, name: &str, once: bool) {
        let name = shown(name);
        if !once {
            event.name_iid = intern(&mut self.events, &mut self.new.event_names, &name);
        }
        if event.name_iid.is_none() {
            event.name = Some(name);
        }
    }

    /// Says one more fact of `event`.
    pub(super) fn note(&mut self, event: &mut TrackEvent, key: &str, value: Value<'_>) {
        let mut note = value.annotation();
        let key = shown(key);
        note.name_iid = intern(&mut self.keys, &mut self.new.debug_annotation_names, &key);
        if note.name_iid.is_none() {
            note.name = Some(key);
        }
        event.debug_annotations.push(note);
    }
}

fn intern(
    known: &mut HashMap<String, u64>,
    new: &mut Vec<InternedName>,
    name: &str,
) -> Option<u64> {
    if let Some(iid) = known.get(name) {
        return Some(*iid);
    }
    if known.len() >= NAMES {
        return None;
    }
    // 0 is no name.
    let iid = known.len() as u64 + 1;
    known.insert(name.to_owned(), iid);
    new.push(InternedName {
        iid: Some(iid),
        name: Some(name.to_owned()),
    });
    Some(iid)
}

/// The value of a fact.
pub(super) enum Value<'t> {
    Text(&'t str),
    Int(i64),
    Uint(u64),
    Bool(bool),
    List(Vec<&'t str>),
}

impl<'t> Value<'t> {
    /// What evidence says: a number if it is written as one, for arithmetic.
    pub(super) fn said(text: &'t str) -> Self {
        match text.parse::<i64>() {
            Ok(n) if n.to_string() == text => Value::Int(n),
            _ => Value::Text(text),
        }
    }

    fn annotation(self) -> DebugAnnotation {
        let mut note = DebugAnnotation::default();
        match self {
            Value::Text(text) => note.string_value = Some(shown(text)),
            Value::Int(n) => note.int_value = Some(n),
            Value::Uint(n) => note.uint_value = Some(n),
            Value::Bool(is) => note.bool_value = Some(is),
            Value::List(texts) => {
                let texts = texts.into_iter();
                note.array_values = texts.map(|text| Value::Text(text).annotation()).collect();
            }
        }
        note
    }
}

/// `text` made harmless, and not endless.
pub(super) fn shown(text: &str) -> String {
    if text.len() <= LONGEST {
        return clean(text).into_owned();
    }
    let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at));
    format!("{}…", clean(&text[..end.unwrap_or(0)]))
}
