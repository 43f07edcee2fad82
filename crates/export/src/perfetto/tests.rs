//! What was written, read again with the same messages. That these are
//! Perfetto's is checked in `tests/perfetto.rs`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use bootlap_model::{
    ClockEdge, ClockId, ClockKind, Evidence, How, Link, LinkKind, Milestone, SpanEnd, SpanId,
    Stamp, TimeKind, Timeline, TrackKind,
};
use bootlap_report::{About, Report, Texts};
use prost::Message;

use super::schema::{
    DebugAnnotation, TYPE_COUNTER, TYPE_INSTANT, TYPE_SLICE_BEGIN, TYPE_SLICE_END, Trace,
    TracePacket, TrackDescriptor, TrackEvent,
};

/// A timeline under construction.
struct Maker {
    timeline: Timeline,
    clock: ClockId,
    evidence: Evidence,
}

impl Maker {
    fn new() -> Self {
        let mut timeline = Timeline::default();
        let file = timeline.add_file("console.log", "test");
        let clock = timeline.add_lab_clock(ClockKind::QemuVirtual, TimeKind::Simulated, file);
        let evidence = Evidence {
            file,
            start: 10,
            end: 20,
            line: 7,
        };
        Self {
            timeline,
            clock,
            evidence,
        }
    }

    fn span(&mut self, lane: (TrackKind, &str), name: &str, start: i64, end: SpanEnd) -> SpanId {
        let times = (Stamp::new(start, 0), end);
        self.timeline
            .add_named(self.clock, lane, name, times, &[], self.evidence)
    }

    fn arg(&mut self, span: SpanId, key: &str, value: &str) {
        let symbols = &mut self.timeline.symbols;
        let arg = (symbols.intern(key), symbols.intern(value));
        self.timeline.span_mut(span).args.push(arg);
    }

    fn mark(&mut self, milestone: Milestone, ns: i64) {
        let at = Stamp::new(ns, 0);
        self.timeline
            .add_milestone(self.clock, at, milestone, self.evidence);
    }

    fn report(&self) -> Report<'_> {
        static NONE: LazyLock<Texts> = LazyLock::new(Texts::default);
        let about = About {
            target: "kiosk".to_owned(),
            time: "simulated".to_owned(),
            ..About::default()
        };
        Report::new(about, &self.timeline, &NONE)
    }
}

fn at(ns: i64) -> SpanEnd {
    SpanEnd::At(Stamp::new(ns, 0))
}

/// A trace, with what was interned put back.
struct Read {
    packets: Vec<TracePacket>,
    names: BTreeMap<(u32, u64), String>,
    keys: BTreeMap<(u32, u64), String>,
    categories: BTreeMap<(u32, u64), String>,
}

impl Read {
    fn of(report: &Report<'_>) -> Self {
        let mut bytes = Vec::new();
        super::write(report, &mut bytes).unwrap();
        let mut read = Self {
            packets: Trace::decode(&bytes[..]).unwrap().packet,
            names: BTreeMap::new(),
            keys: BTreeMap::new(),
            categories: BTreeMap::new(),
        };
        for packet in &read.packets {
            let sequence = packet.trusted_packet_sequence_id.unwrap();
            let Some(data) = &packet.interned_data else {
                continue;
            };
            for (table, new) in [
                (&mut read.names, &data.event_names),
                (&mut read.keys, &data.debug_annotation_names),
                (&mut read.categories, &data.event_categories),
            ] {
                for name in new {
                    let key = (sequence, name.iid.unwrap());
                    let old = table.insert(key, name.name.clone().unwrap());
                    assert_eq!(old, None, "named twice");
                }
            }
        }
        read
    }

    fn tracks(&self) -> impl Iterator<Item = &TrackDescriptor> {
        self.packets
            .iter()
            .filter_map(|p| p.track_descriptor.as_ref())
    }

    /// Events of a type, as `(ns, sequence, event)`.
    fn events(&self, kind: i32) -> impl Iterator<Item = (i64, u32, &TrackEvent)> {
        self.packets.iter().filter_map(move |p| {
            let event = p.track_event.as_ref().filter(|e| e.r#type == Some(kind))?;
            let at = i64::try_from(p.timestamp.unwrap()).unwrap();
            Some((at, p.trusted_packet_sequence_id.unwrap(), event))
        })
    }

    fn name<'a>(&'a self, sequence: u32, event: &'a TrackEvent) -> &'a str {
        match event.name_iid {
            Some(iid) => &self.names[&(sequence, iid)],
            None => event.name.as_deref().unwrap_or(""),
        }
    }

    /// The one event of this name, and when it is.
    fn find(&self, name: &str) -> (i64, u32, &TrackEvent) {
        let kinds = [TYPE_SLICE_BEGIN, TYPE_INSTANT];
        let events = kinds.into_iter().flat_map(|kind| self.events(kind));
        let mut found = events.filter(|(_, s, e)| self.name(*s, e) == name);
        let first = found.next().unwrap_or_else(|| panic!("no {name}"));
        assert!(found.next().is_none(), "{name} twice");
        first
    }

    fn note(&self, name: &str, key: &str) -> Option<&DebugAnnotation> {
        let (_, sequence, event) = self.find(name);
        let is_it =
            |n: &&DebugAnnotation| n.name_iid.map(|iid| &*self.keys[&(sequence, iid)]) == Some(key);
        event.debug_annotations.iter().find(is_it)
    }

    fn text(&self, name: &str, key: &str) -> Option<&str> {
        self.note(name, key)?.string_value.as_deref()
    }

    fn track_of(&self, name: &str) -> &TrackDescriptor {
        let uuid = self.find(name).2.track_uuid;
        self.tracks().find(|t| t.uuid == uuid).unwrap()
    }
}

/// Begins and ends as Perfetto pairs them: by time, then by place in the file,
/// the last begun first. Returns each slice as `(name, start, end)`.
fn slices(read: &Read) -> Vec<(String, i64, Option<i64>)> {
    let mut by_track: BTreeMap<u64, Vec<(i64, u32, &TrackEvent)>> = BTreeMap::new();
    for kind in [TYPE_SLICE_BEGIN, TYPE_SLICE_END] {
        assert!(read.events(kind).all(|(_, _, e)| e.track_uuid.is_some()));
    }
    for packet in &read.packets {
        let Some(event) = &packet.track_event else {
            continue;
        };
        let at = packet.timestamp.unwrap() as i64;
        let sequence = packet.trusted_packet_sequence_id.unwrap();
        let track = event.track_uuid.unwrap();
        by_track
            .entry(track)
            .or_default()
            .push((at, sequence, event));
    }
    let mut slices = Vec::new();
    for events in by_track.values_mut() {
        events.sort_by_key(|(at, _, _)| *at);
        let mut open: Vec<(String, i64)> = Vec::new();
        for (at, sequence, event) in events {
            match event.r#type {
                Some(TYPE_SLICE_BEGIN) => {
                    open.push((read.name(*sequence, event).to_owned(), *at));
                }
                Some(TYPE_SLICE_END) => {
                    let (name, start) = open.pop().expect("an end without a begin");
                    slices.push((name, start, Some(*at)));
                }
                _ => {}
            }
        }
        slices.extend(open.into_iter().map(|(name, start)| (name, start, None)));
    }
    slices
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }
}

/// Whatever the spans are, Perfetto pairs each begin with its own end.
#[test]
fn every_slice_gets_its_own_ends_however_spans_overlap() {
    let lanes = [
        (TrackKind::Initcall, "initcalls"),
        (TrackKind::Function, "sh-7"),
        (TrackKind::Process, "processes"),
        (TrackKind::Unit, "units"),
    ];
    for seed in 1..200 {
        let mut random = Random(seed);
        let mut maker = Maker::new();
        let mut expected = Vec::new();
        // Few moments, so that many are equal.
        let moments = 3 + random.below(60);
        let mut shift = 0;
        for i in 0..random.below(80) {
            let lane = lanes[random.below(4) as usize];
            let start = random.below(moments) as i64 - 5;
            let length = random.below(moments) as i64;
            let end = match random.below(8) {
                0 => SpanEnd::OpenAtCut,
                1 => SpanEnd::Unknown,
                2 => at(start),
                _ => at(start + length),
            };
            let name = format!("span {i}");
            let id = maker.span(lane, &name, start, end);
            maker.arg(id, "pid", "7");
            if start < 0 {
                shift = 1_000_000_000;
            }
            match end {
                SpanEnd::At(end) => expected.push((name, start, Some(end.ns))),
                SpanEnd::OpenAtCut => expected.push((name, start, None)),
                SpanEnd::Unknown => {}
            }
        }
        let read = Read::of(&maker.report());
        let mut found = slices(&read);
        for (_, start, end) in &mut found {
            *start -= shift;
            *end = end.map(|end| end - shift);
        }
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "seed {seed}");
    }
}

#[test]
fn ends_that_nobody_knows_are_not_invented() {
    let mut maker = Maker::new();
    let lane = (TrackKind::Unit, "units");
    maker.span(lane, "a.service", 5, SpanEnd::Unknown);
    maker.span(lane, "b.service", 6, SpanEnd::OpenAtCut);
    let read = Read::of(&maker.report());
    assert_eq!(read.find("a.service").2.r#type, Some(TYPE_INSTANT));
    assert_eq!(read.text("a.service", "end"), Some("unknown"));
    assert_eq!(read.find("b.service").2.r#type, Some(TYPE_SLICE_BEGIN));
    let open = read.text("b.service", "end").unwrap();
    assert!(open.starts_with("still running"), "{open}");
    assert_eq!(read.events(TYPE_SLICE_END).count(), 0);
}

#[test]
fn what_is_before_zero_is_moved_and_says_so() {
    let mut maker = Maker::new();
    let lane = (TrackKind::Bootloader, "boot loader");
    maker.span(lane, "autoboot", -1_500_000_000, at(250));
    let read = Read::of(&maker.report());
    assert_eq!(read.find("autoboot").0, 500_000_000);
    let offset = read.note("about this boot", "offset_ns").unwrap();
    assert_eq!(offset.int_value, Some(2_000_000_000));
    let root = read.tracks().next().unwrap();
    assert_eq!(root.name.as_deref(), Some("kiosk (simulated time)"));
    let told = root.description.as_deref();
    assert_eq!(told, Some("Time 0 of this boot is at 2 s of the trace."));
}

#[test]
fn the_largest_and_the_smallest_times_are_no_panic() {
    let mut maker = Maker::new();
    let lane = (TrackKind::Signal, "reset");
    maker.span(lane, "first", i64::MIN, at(i64::MIN + 1));
    maker.span(lane, "last", i64::MAX, at(i64::MAX));
    let read = Read::of(&maker.report());
    assert!(read.find("first").0 < 1_000_000_000);
    assert_eq!(read.find("last").0, i64::MAX);
}

#[test]
fn an_assumed_clock_an_error_and_the_line_are_beside_the_event() {
    let mut maker = Maker::new();
    let file = maker.evidence.file;
    let kernel = maker
        .timeline
        .add_lab_clock(ClockKind::KernelPrintk, TimeKind::Simulated, file);
    let edge = ClockEdge::offset(kernel, maker.clock, 100, 30, How::Assumed);
    maker.timeline.edges.push(edge);
    let id = maker.span((TrackKind::Initcall, "initcalls"), "pci_init", 5, at(9));
    maker.timeline.span_mut(id).clock = kernel;
    maker.arg(id, "ret", "-19");
    maker.arg(id, "level", "007");
    let read = Read::of(&maker.report());
    let (ns, sequence, event) = read.find("pci_init");
    assert_eq!(ns, 105);
    let categories = event.category_iids.iter();
    let categories: Vec<&str> = categories
        .map(|iid| &*read.categories[&(sequence, *iid)])
        .collect();
    assert_eq!(categories, ["initcall", "assumed"]);
    assert_eq!(read.text("pci_init", "clock"), Some("kernel log clock"));
    assert_eq!(read.text("pci_init", "clock_how"), Some("assumed"));
    let error = read.note("pci_init", "err_ns").unwrap();
    assert_eq!(error.uint_value, Some(30));
    assert_eq!(read.note("pci_init", "ret").unwrap().int_value, Some(-19));
    assert_eq!(read.text("pci_init", "level"), Some("007"));
    let line = event.source_location.as_ref().unwrap();
    assert_eq!(line.file_name.as_deref(), Some("console.log"));
    assert_eq!(line.line_number, Some(7));
}

#[test]
fn processes_and_threads_are_perfettos_own() {
    let mut maker = Maker::new();
    let sshd = maker.span((TrackKind::Process, "processes"), "sshd", 1, at(90));
    maker.arg(sshd, "pid", "612");
    let worker = maker.span((TrackKind::Process, "threads"), "worker", 5, at(80));
    maker.arg(worker, "pid", "613");
    maker.arg(worker, "made_by", "612");
    let call = maker.span((TrackKind::Function, "sshd-613"), "do_fork", 6, at(7));
    maker.arg(call, "pid", "613");
    maker.span((TrackKind::Syscall, "sshd 612"), "openat", 6, at(7));
    maker.span((TrackKind::Process, "processes"), "nameless", 6, at(7));
    let read = Read::of(&maker.report());
    let processes = read.tracks().filter_map(|t| t.process.clone());
    let processes: Vec<_> = processes
        .map(|p| (p.pid.unwrap(), p.process_name.unwrap()))
        .collect();
    assert_eq!(processes, [(612, "sshd".to_owned())]);
    let thread = |name| read.track_of(name).thread.clone().unwrap();
    let of = |name| (thread(name).pid.unwrap(), thread(name).tid.unwrap());
    assert_eq!((of("do_fork"), of("openat")), ((612, 613), (612, 612)));
    let lane = |name| read.track_of(name).name.clone().unwrap();
    assert_eq!(
        (lane("sshd"), lane("nameless")),
        ("processes".into(), "processes".into())
    );
    assert_eq!(lane("worker"), "threads");
}

#[test]
fn arrows_go_from_the_cause_to_what_it_led_to() {
    let mut maker = Maker::new();
    let lane = (TrackKind::Unit, "units");
    // It waits from before its cause begins.
    let target = maker.span(lane, "multi-user.target", 2, at(60));
    let service = maker.span(lane, "sshd.service", 10, at(50));
    let child = maker.span(lane, "child", 10, at(20));
    let after = maker.span(lane, "after", 50, at(55));
    for (from, to, kind) in [
        (service, target, LinkKind::WaitsOn),
        (service, child, LinkKind::Spawns),
        (service, after, LinkKind::WaitsOn),
        // Contradicts the times.
        (after, child, LinkKind::WaitsOn),
    ] {
        maker.timeline.links.push(Link { from, to, kind });
    }
    let read = Read::of(&maker.report());
    let mut begins = BTreeMap::new();
    let mut ends = BTreeMap::new();
    for (place, packet) in read.packets.iter().enumerate() {
        let Some(event) = &packet.track_event else {
            continue;
        };
        let moment = (packet.timestamp.unwrap(), place);
        begins.extend(event.flow_ids.iter().map(|id| (*id, moment)));
        ends.extend(event.terminating_flow_ids.iter().map(|id| (*id, moment)));
    }
    assert_eq!(begins.len(), 3);
    assert!(begins.iter().all(|(id, from)| *from < ends[id]));
    assert_eq!((begins[&1].0, ends[&1].0), (50, 60));
    assert_eq!((begins[&2].0, ends[&2].0), (10, 10));
    let undrawn = read.note("about this boot", "links_without_an_arrow");
    assert_eq!(undrawn.unwrap().uint_value, Some(1));
    let why = read.note("multi-user.target", "waits-on").unwrap();
    assert_eq!(
        why.array_values[0].string_value.as_deref(),
        Some("sshd.service")
    );
}

#[test]
fn counters_say_their_unit_and_leave_out_what_is_no_number() {
    let mut maker = Maker::new();
    let samples = vec![(-5, 12.5), (0, f64::NAN), (10, 80.0)];
    let (clock, evidence) = (maker.clock, maker.evidence);
    maker
        .timeline
        .add_counter(clock, ("cpu user", "%"), samples, evidence);
    let read = Read::of(&maker.report());
    let samples = read.events(TYPE_COUNTER);
    let samples: Vec<_> = samples
        .map(|(at, _, e)| (at, e.double_counter_value.unwrap()))
        .collect();
    assert_eq!(samples, [(999_999_995, 12.5), (1_000_000_010, 80.0)]);
    let track = read.tracks().find(|t| t.counter.is_some()).unwrap();
    assert_eq!(track.name.as_deref(), Some("cpu user"));
    let unit = track.counter.as_ref().unwrap().unit_name.as_deref();
    assert_eq!(unit, Some("%"));
}

#[test]
fn two_boots_share_an_axis_and_not_their_processes() {
    let boot = |power_on: i64, ready: i64| {
        let mut maker = Maker::new();
        maker.mark(Milestone::PowerOn, power_on);
        maker.mark(Milestone::Ready, ready);
        let init = maker.span((TrackKind::Process, "processes"), "init", ready, at(ready));
        maker.arg(init, "pid", "1");
        maker
    };
    let (after, before) = (boot(0, 300), boot(7_000_000_000, 7_000_000_500));
    let report = after.report().against(before.report());
    let read = Read::of(&report);
    let ready = read.events(TYPE_INSTANT);
    let ready = ready.filter(|(_, s, e)| read.name(*s, e) == "ready");
    let ready: Vec<i64> = ready.map(|(at, _, _)| at).collect();
    assert_eq!(ready, [300, 500]);
    let machines = read.packets.iter().filter_map(|p| {
        let process = p.track_descriptor.as_ref()?.process.as_ref()?;
        Some((p.machine_id, process.pid.unwrap()))
    });
    let machines: Vec<_> = machines.collect();
    assert_eq!(machines, [(None, 1), (Some(1), 1)]);
    let uuids: Vec<u64> = read.tracks().map(|t| t.uuid.unwrap()).collect();
    let mut unique = uuids.clone();
    unique.dedup();
    assert_eq!(uuids, unique);
}

#[test]
fn text_from_evidence_is_harmless_and_not_endless() {
    let mut maker = Maker::new();
    let lane = (TrackKind::Console, "console");
    let id = maker.span(lane, "\x1b]0;x\x07\u{202e}<b>", 0, at(1));
    maker.arg(id, "a\nb", &"é".repeat(1 << 20));
    let read = Read::of(&maker.report());
    let (_, sequence, event) = read.find("␛]0;x␇\u{fffd}<b>");
    assert_eq!(event.name_iid, None);
    let note = &event.debug_annotations[0];
    assert_eq!(read.keys[&(sequence, note.name_iid.unwrap())], "a␊b");
    let value = note.string_value.as_deref().unwrap();
    assert!(value.len() < 1_010 && value.ends_with('…'), "{value}");
}

#[test]
fn an_empty_timeline_is_a_trace_too() {
    let timeline = Timeline::default();
    let mut maker = Maker::new();
    maker.timeline = timeline;
    let read = Read::of(&maker.report());
    assert_eq!(read.packets.len(), 2);
}
