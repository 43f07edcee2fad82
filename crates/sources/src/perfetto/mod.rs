//! What Perfetto records: `.pftrace`, `.perfetto-trace`, as Android does at boot
//! (`persist.debug.perfetto.boottrace`).
//!
//! ```text
//! 00000000: 0a1d 3218 0806 10f1 a2d6 9ef7 0212 ...   ..2.....
//! ```
//!
//! A binary file: packets of protobuf ([`mod@schema`]), each written by one program or by
//! the service itself. Read are
//!
//! - the kernel's events ([`kernel`]): processes, who ran when, and what Android's programs
//!   say that they do ([`crate::trace`]),
//! - memory and the CPUs' time, looked at in intervals ([`samples`]),
//! - slices, moments and values that programs tell of by themselves ([`tracks`]),
//! - Android's log, as [`crate::logcat`] reads it.
//!
//! All times are put on `CLOCK_BOOTTIME`, since the kernel's start ([`clocks`]). Packets are
//! not in order of time, so events are sorted first. A *line* of this file is a packet,
//! counted in the order of the file; what the service compressed counts as the packets in it.

mod clocks;
mod kernel;
mod samples;
mod schema;
mod tracks;

use std::collections::HashMap;
use std::io::Read;

use bootlap_model::{ClockKind, Evidence, Severity, Timeline};
use prost::Message;
use prost::bytes::Bytes;

use self::clocks::{BOOTTIME, Clocks, REALTIME};
use self::kernel::{Kernel, Raw};
use self::samples::Samples;
use self::schema::{LogEvent, SEQ_INCREMENTAL_STATE_CLEARED, TracePacket};
use self::tracks::{Told, Tracks};
use crate::logcat::LogcatReader;
use crate::text::{Import, Skip};
use crate::trace::Recording;
use crate::{HEAD_LEN, Input, Sniff, Source, SourceError, ftrace};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "perfetto",
    title: "Perfetto trace",
    looks_like: "packets of Perfetto's protobuf (`.pftrace`, `.perfetto-trace`)",
    sniff,
    read,
    together: None,
};

/// No trace of a boot is larger; it has to fit into memory.
const MAX_BYTES: u64 = 1 << 30;
/// 40 bytes each until they are in order.
const MAX_EVENTS: usize = 20_000_000;
/// The service writes a few megabytes at most: longer packets are no trace's.
const MAX_PACKET: usize = 16 << 20;
/// What was compressed, all together (an eighth at a time): packets with events stay in memory.
const MAX_UNPACKED: u64 = 512 << 20;

const DAMAGED: Skip = Skip::lost(
    "damaged-packets",
    "these packets are no protobuf of Perfetto's: the file is damaged, pull it from the device again",
);
const UNRELATED: Skip = Skip::lost(
    "times-of-unknown-clocks",
    "nothing in the trace says how the clocks of these packets relate to the boot: record with the default clock, or let the ring buffer keep the first snapshot of the clocks",
);

/// The bytes end within a packet, or are none of a trace.
struct Cut;

/// Takes the next packet off the bytes: the only field that a trace has, 1.
fn next_packet(data: &mut Bytes) -> Result<Option<Bytes>, Cut> {
    if data.is_empty() {
        return Ok(None);
    }
    let mut rest = data.clone();
    if rest.split_to(1)[0] != 0x0a {
        return Err(Cut);
    }
    let length = prost::decode_length_delimiter(&mut rest).map_err(|_| Cut)?;
    if length > rest.len() {
        return Err(Cut);
    }
    let packet = rest.split_to(length);
    *data = rest;
    Ok(Some(packet))
}

/// The first packets that are whole, if the file begins with any.
fn packets(head: &[u8]) -> impl Iterator<Item = TracePacket> + use<> {
    let mut head = Bytes::copy_from_slice(&head[..head.len().min(HEAD_LEN)]);
    let packets = std::iter::from_fn(move || next_packet(&mut head).ok().flatten());
    packets.map_while(|packet| TracePacket::decode(packet).ok())
}

/// Whether the first packet is of what the service compressed, which can be longer than any
/// head: its field's key, then zlib's first byte.
fn is_compressed(head: &[u8]) -> bool {
    let field = |bytes: &mut &[u8], key: &[u8]| {
        *bytes = bytes.strip_prefix(key)?;
        prost::decode_length_delimiter(bytes).ok()
    };
    let mut bytes = head;
    field(&mut bytes, &[0x0a]).is_some()
        && field(&mut bytes, &[0x92, 0x03]).is_some()
        && bytes.first() == Some(&0x78)
}

fn sniff(head: &[u8]) -> Sniff {
    // What any trace has early on; other protobuf files begin with the same byte.
    let is_perfettos = |p: TracePacket| {
        let clocks = p.clock_snapshot.map_or(0, |snapshot| snapshot.clocks.len());
        p.trusted_packet_sequence_id.is_some() || clocks > 1
    };
    match is_compressed(head) || packets(head).take(64).any(is_perfettos) {
        true => Sniff::percent(95),
        false => Sniff::NO,
    }
}

/// Whether bootlap wrote it: the first event is of that name, and only tracks stand before it.
fn is_report(data: &[u8]) -> bool {
    let first = packets(data).find_map(|p| p.interned_data);
    first.is_some_and(|data| {
        let mut names = data.event_names.iter();
        names.any(|name| name.name.as_deref() == Some("about this boot"))
    })
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut data = Vec::new();
    input.bytes.take(MAX_BYTES).read_to_end(&mut data)?;
    if sniff(&data) == Sniff::NO {
        return Err(SourceError::NotThisFormat {
            format: SOURCE.name,
            why: "it does not begin with packets of Perfetto's".to_owned(),
        });
    }
    if is_report(&data) {
        return Err(SourceError::Report);
    }
    let mut import = Import::new(out, input.label, SOURCE.name);
    let mut reader = PerfettoReader::new(&mut import);
    reader.trace(Bytes::from(data), &mut import);
    reader.finish(&mut import);
    import.finish();
    Ok(())
}

/// Something that happened, to be put in order: there can be millions, so each is small.
struct Happened {
    ns: i64,
    /// Which of the kept packets.
    packet: u32,
    what: What,
}

enum What {
    Kernel {
        cpu: u32,
        raw: Raw,
    },
    /// Which of what was told, of what was logged.
    Told(u32),
    Log(u32),
}

struct PerfettoReader {
    clocks: Clocks,
    /// By sequence: the clock of packets that name none.
    usual_clocks: HashMap<u32, u32>,
    kernel: Kernel,
    tracks: Tracks,
    samples: Samples,
    log: LogcatReader,
    happened: Vec<Happened>,
    /// Packets with something that happened.
    packets: Vec<(Bytes, Evidence)>,
    told: Vec<Told>,
    logged: Vec<LogEvent>,
    line: u32,
    unpacked: u64,
}

impl PerfettoReader {
    fn new(import: &mut Import<'_>) -> Self {
        let clock = import.clock(ClockKind::Boottime);
        Self {
            clocks: Clocks::default(),
            usual_clocks: HashMap::new(),
            kernel: Kernel::of(Recording::on(clock)),
            tracks: Tracks::default(),
            samples: Samples::default(),
            log: LogcatReader::on(clock),
            happened: Vec::new(),
            packets: Vec::new(),
            told: Vec::new(),
            logged: Vec::new(),
            line: 0,
            unpacked: 0,
        }
    }

    /// All packets of a file.
    fn trace(&mut self, mut data: Bytes, import: &mut Import<'_>) {
        let whole = data.len() as u64;
        loop {
            let packet = match next_packet(&mut data) {
                Ok(Some(packet)) => packet,
                Ok(None) => return,
                Err(Cut) => break,
            };
            let end = whole - data.len() as u64;
            let place = (end - packet.len() as u64, end);
            self.packet(packet, place, true, import);
        }
        import.notice(
            "recording-cut",
            Severity::DataLoss,
            Evidence {
                file: import.file,
                start: whole - data.len() as u64,
                end: whole,
                line: self.line.saturating_add(1),
            },
            "from here on the file is cut or damaged: copy it again, or record again",
        );
    }

    fn packet(
        &mut self,
        bytes: Bytes,
        place: (u64, u64),
        may_unpack: bool,
        import: &mut Import<'_>,
    ) {
        import.count_lines(1);
        self.line = self.line.saturating_add(1);
        let at = Evidence {
            file: import.file,
            start: place.0,
            end: place.1,
            line: self.line,
        };
        let packet = match bytes.len() {
            ..=MAX_PACKET => TracePacket::decode(bytes.clone()).ok(),
            _ => None,
        };
        let Some(packet) = packet else {
            return import.skip(at, DAMAGED);
        };
        let Some(packed) = &packet.compressed_packets else {
            if let Err(skip) = self.take(packet, &bytes, at, import) {
                import.skip(at, skip);
            }
            return;
        };
        let inner = may_unpack.then(|| self.unpack(packed)).flatten();
        let Some(mut inner) = inner else {
            return import.skip(at, DAMAGED);
        };
        while let Ok(Some(packet)) = next_packet(&mut inner) {
            self.packet(packet, place, false, import);
        }
        if !inner.is_empty() {
            import.notice(DAMAGED.code, DAMAGED.severity, at, DAMAGED.remedy);
        }
    }

    /// Packets that the service compressed (zlib).
    fn unpack(&mut self, packed: &Bytes) -> Option<Bytes> {
        let mut plain = Vec::new();
        let room = (MAX_UNPACKED - self.unpacked).min(MAX_UNPACKED / 8);
        if room == 0 {
            return None;
        }
        let mut unpack = flate2::read::ZlibDecoder::new(&packed[..]).take(room);
        unpack.read_to_end(&mut plain).ok()?;
        self.unpacked += plain.len() as u64;
        Some(plain.into())
    }

    fn take(
        &mut self,
        packet: TracePacket,
        bytes: &Bytes,
        at: Evidence,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        let sequence = packet.trusted_packet_sequence_id.unwrap_or(0);
        // Another machine's clocks are not this one's.
        if packet.machine_id.is_some_and(|id| id != 0) {
            return Err(OTHER_MACHINE);
        }
        if packet.sequence_flags.unwrap_or(0) & SEQ_INCREMENTAL_STATE_CLEARED != 0 {
            self.tracks.forget(sequence);
            self.usual_clocks.remove(&sequence);
        }
        if let Some(defaults) = &packet.trace_packet_defaults {
            let clock = defaults.timestamp_clock_id;
            self.usual_clocks
                .extend(clock.map(|clock| (sequence, clock)));
            let event = defaults.track_event_defaults.as_ref();
            if let Some(track) = event.and_then(|e| e.track_uuid) {
                self.tracks.usual_track(sequence, track);
            }
        }
        if let Some(data) = &packet.interned_data {
            self.tracks.interned(sequence, data, import);
        }
        if let Some(snapshot) = &packet.clock_snapshot {
            self.clocks.snapshot(sequence, snapshot);
        }
        if let Some(track) = &packet.track_descriptor {
            self.tracks.describe(track);
        }
        if let Some(tree) = packet.process_tree {
            self.kernel.tree(tree);
        }
        if let Some(bundle) = packet.ftrace_events {
            if bundle.lost_events() {
                ftrace::lost(at, import);
            }
            let cpu = bundle.cpu.unwrap_or(0);
            for (ns, raw) in kernel::events(bundle, bytes, import).ok_or(UNRELATED)? {
                self.happens(ns, bytes, at, import, |_| What::Kernel { cpu, raw });
            }
        }
        let usual = || {
            self.usual_clocks
                .get(&sequence)
                .copied()
                .unwrap_or(BOOTTIME)
        };
        let clock = packet.timestamp_clock_id.unwrap_or_else(usual);
        let mut when = || self.clocks.boot_ns(sequence, clock, packet.timestamp?);
        if let Some(event) = &packet.track_event {
            // Of an incremental clock each time counts, also where the event is of no use.
            let ns = when().ok_or(UNRELATED)?;
            if let Some(told) = self.tracks.told(sequence, event, import) {
                self.happens(ns, bytes, at, import, |all| {
                    all.told.push(told);
                    What::Told(all.told.len() as u32 - 1)
                });
            }
        } else if let Some(stats) = &packet.sys_stats {
            let ns = when().ok_or(UNRELATED)?;
            self.samples.add(ns, stats, at);
        } else if let Some(log) = packet.android_log {
            for event in log.events {
                let date = event.timestamp.unwrap_or(0);
                let ns = self.clocks.boot_ns(0, REALTIME, date).ok_or(UNRELATED)?;
                self.happens(ns, bytes, at, import, |all| {
                    all.logged.push(event);
                    What::Log(all.logged.len() as u32 - 1)
                });
            }
        }
        Ok(())
    }

    fn happens(
        &mut self,
        ns: i64,
        packet: &Bytes,
        evidence: Evidence,
        import: &mut Import<'_>,
        what: impl FnOnce(&mut Self) -> What,
    ) {
        if self.happened.len() < MAX_EVENTS {
            if self.packets.last().is_none_or(|last| last.1 != evidence) {
                self.packets.push((packet.clone(), evidence));
            }
            let packet = self.packets.len() as u32 - 1;
            let what = what(self);
            return self.happened.push(Happened { ns, packet, what });
        }
        import.notice(
            "events-left-out",
            Severity::DataLoss,
            evidence,
            "only the first 20 million events are read: record fewer kinds, or a shorter time",
        );
    }

    fn finish(mut self, import: &mut Import<'_>) {
        let mut happened = std::mem::take(&mut self.happened);
        happened.sort_by_key(|h| h.ns);
        for Happened { ns, packet, what } in happened {
            let (packet, at) = &self.packets[packet as usize];
            match what {
                What::Kernel { cpu, raw } => {
                    self.kernel.event((ns, cpu), &raw, packet, *at, import);
                }
                What::Told(n) => self.tracks.event(ns, &self.told[n as usize], *at, import),
                What::Log(n) => logged(&mut self.log, ns, &self.logged[n as usize], *at, import),
            }
        }
        self.tracks.finish(import);
        let clock = import.clock(ClockKind::Boottime);
        self.samples.finish(clock, import);
        self.kernel.finish(import);
    }
}

/// Hands an entry of Android's log to its reader.
fn logged(
    log: &mut LogcatReader,
    ns: i64,
    event: &LogEvent,
    evidence: Evidence,
    import: &mut Import<'_>,
) {
    let ids = [event.pid, event.tid].map(|id| u32::try_from(id?).ok());
    let tag = event.tag.as_deref().unwrap_or("");
    let text = match &event.message {
        Some(message) => message.trim_end().to_owned(),
        None => binary(event),
    };
    // It has a time, so there is nothing to skip.
    let _ = log.logged(ns, ids, (tag, &text), evidence, import);
}

const OTHER_MACHINE: Skip = Skip::lost(
    "other-machines-left-out",
    "these packets are of another machine that was recorded together with this one: record it on its own",
);

/// An event of the binary log, as logcat prints it: `8846`, `[0,1520,com.x]`.
fn binary(event: &LogEvent) -> String {
    let values = event.args.iter().map(|arg| {
        let number = arg.int_value.map(|n| n.to_string());
        let fraction = arg.float_value.map(|n| n.to_string());
        let text = arg.string_value.clone();
        number.or(fraction).or(text).unwrap_or_default()
    });
    let values: Vec<String> = values.collect();
    match &values[..] {
        [one] => one.clone(),
        several => format!("[{}]", several.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tried;

    const FILES: [&[u8]; 3] = [
        include_bytes!("../../../../tests/fixtures/perfetto/perfetto-56.0/linux/input.gz"),
        include_bytes!(
            "../../../../tests/fixtures/perfetto/perfetto-56.0/linux-compressed/input.gz"
        ),
        include_bytes!("../../../../tests/fixtures/perfetto/handmade/android/input.gz"),
    ];

    fn unpacked(packed: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut unpack = flate2::read::GzDecoder::new(packed);
        unpack.read_to_end(&mut bytes).unwrap();
        bytes
    }

    /// What is wrong anywhere does no harm, and what is lost is said.
    #[test]
    fn damaged_files() {
        for packed in FILES {
            let bytes = unpacked(packed);
            assert!(tried::read(&SOURCE, &bytes).notices.is_empty());
            let cut = tried::read(&SOURCE, &bytes[..bytes.len() - 3]);
            assert_eq!(cut.notices[0].code, "recording-cut");
            let mut random = 1u64;
            for _ in 0..400 {
                let mut damaged = bytes.clone();
                for _ in 0..3 {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    // Behind the first packet, by which the format is told.
                    let at = 200 + (random >> 33) as usize % (bytes.len() - 200);
                    damaged[at] = (random >> 24) as u8;
                }
                let usage = tried::read(&SOURCE, &damaged).files[0].usage;
                assert_eq!(usage.used + usage.skipped, usage.total);
            }
        }
    }

    /// Four gigabytes of zeros: no more is unpacked than may be.
    #[test]
    fn what_is_compressed_too_well_is_stopped() {
        use std::io::Write;
        let zeros = vec![0; 1 << 20];
        let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        for _ in 0..200 {
            packed.write_all(&zeros).unwrap();
        }
        let packet = TracePacket {
            compressed_packets: Some(packed.finish().unwrap().into()),
            ..TracePacket::default()
        };
        let one = packet.encode_length_delimited_to_vec();
        let mut bytes = Vec::new();
        for _ in 0..20 {
            bytes.push(0x0a);
            bytes.extend(&one);
        }
        let timeline = tried::read(&SOURCE, &bytes);
        assert_eq!(timeline.files[0].usage.total, 20);
        assert_eq!(timeline.notices[0].code, "damaged-packets");
        assert_eq!(timeline.notices[0].count, 20);
    }

    /// A line's end and other messages of protobuf begin with the same byte.
    #[test]
    fn what_begins_alike_is_no_trace() {
        for other in [
            &b"\n"[..],
            b"\n\nU-Boot 2023.01\n",
            b"\x0a\x05hello\x12\x02hi",
            b"\x0a\x00",
        ] {
            assert_eq!(sniff(other), Sniff::NO);
        }
        for packed in FILES {
            let bytes = unpacked(packed);
            assert!(sniff(&bytes[..bytes.len().min(1_000)]) > Sniff::SURE);
        }
    }
}
