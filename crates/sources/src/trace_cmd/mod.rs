//! What `trace-cmd record` writes: `trace.dat`, versions 6 and 7.
//!
//! ```text
//! 00000000: 1708 4474 7261 6369 6e67 3600 0008 0010  ..Dtracing6.....
//! 00000010: 0000 6865 6164 6572 5f70 6167 6500 cd00  ..header_page...
//! ```
//!
//! A binary file: descriptions of events ([`mod@format`]), the kernel's list of
//! functions ([`symbols`]), the names of processes, and for each CPU the pages
//! of its ring buffer as the kernel left them ([`ring`]). Versions and
//! compression: [`mod@file`]. The records of all CPUs are put in order of time and
//! become the same events as those of the text ([`crate::trace`]); a *line* of
//! this file is a record, counted in that order.
//!
//! Times are ns of the trace clock, whose name the file has: `local` and
//! `global` count from where the kernel log's clock starts, `mono` and `boot`
//! are the clocks of those names. What `trace-cmd` adds to them on request
//! (`--date`, `--ts-offset`) is left out.

mod bytes;
mod file;
mod format;
mod record;
mod ring;
mod symbols;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::Read;

use bootlap_model::{Evidence, Severity, Stamp, Timeline};

use self::file::{Cpu, File, MAGIC, MAX_BYTES, Trouble};
use self::record::Decoder;
use self::ring::{Record, Ring};
use crate::text::{Import, Skip};
use crate::trace::{Event, Recording};
use crate::{Input, Sniff, Source, SourceError, ftrace};

/// The unit of the clock called `uptime`: 1/100 s.
const TICK_NS: i64 = 10_000_000;

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "trace-cmd",
    title: "trace-cmd recording (trace.dat)",
    looks_like: "the magic number of a file that `trace-cmd record` wrote",
    sniff,
    read,
    together: None,
};

const UNKNOWN: Skip = Skip::lost(
    "events-without-description",
    "the file does not say what these events are: it is damaged, record again",
);

fn sniff(head: &[u8]) -> Sniff {
    if head.starts_with(MAGIC) {
        Sniff::CERTAIN
    } else {
        Sniff::NO
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut data = Vec::new();
    input.bytes.take(MAX_BYTES).read_to_end(&mut data)?;
    if !data.starts_with(MAGIC) {
        return Err(SourceError::NotThisFormat {
            format: SOURCE.name,
            why: "it does not begin with the magic number".to_owned(),
        });
    }
    let mut import = Import::new(out, input.label, SOURCE.name);
    events(&file::read(&data), data.len() as u64, &mut import);
    import.finish();
    Ok(())
}

/// All events of `file`, in order of time.
fn events(file: &File<'_>, len: u64, import: &mut Import<'_>) {
    let at = Evidence::whole(import.file, len);
    for trouble in &file.troubles {
        tell(*trouble, at, import);
    }
    let kind = ftrace::clock_kind(&file.clock);
    if matches!(&*file.clock, "counter" | "x86-tsc" | "tsc2nsec" | "ppc-tb") {
        import.notice(
            "trace-clock-is-no-time",
            Severity::DataLoss,
            at,
            "the trace's clock counts something else than ns: spans are as long as they say only by their own measure; record again with trace-cmd record -C global",
        );
    }
    let mut reader = Events {
        file,
        recording: Recording::new(kind),
        names: file.names.iter().map(|(p, n)| (*p, &**n)).collect(),
        scratch: String::new(),
        line: 0,
    };
    if let Some(cpu) = file.cpus.first() {
        reader.recording.page_is(cpu.page_size as u64);
    }
    let mut rings: Vec<Ring<'_>> = file.cpus.iter().map(|c| Ring::new(c, file.order)).collect();
    let mut next: Vec<Option<Record>> = rings.iter_mut().map(Iterator::next).collect();
    let first = next.iter().enumerate();
    let mut heap: BinaryHeap<Reverse<(u64, usize)>> = first
        .filter_map(|(i, r)| Some(Reverse((r.as_ref()?.ns, i))))
        .collect();
    while let Some(Reverse((_, cpu))) = heap.pop() {
        let Some(record) = next[cpu].take() else {
            continue;
        };
        reader.record(&file.cpus[cpu], &record, import);
        next[cpu] = rings[cpu].next();
        heap.extend(next[cpu].as_ref().map(|r| Reverse((r.ns, cpu))));
    }
    reader.recording.finish(import);
}

struct Events<'f> {
    file: &'f File<'f>,
    recording: Recording,
    names: HashMap<u32, &'f str>,
    scratch: String,
    line: u32,
}

impl Events<'_> {
    fn record(&mut self, cpu: &Cpu<'_>, record: &Record, import: &mut Import<'_>) {
        import.count_lines(1);
        self.line = self.line.saturating_add(1);
        let (start, end) = match cpu.packed {
            Some(len) => (cpu.offset, cpu.offset.saturating_add(len)),
            None => (
                cpu.offset.saturating_add(record.from as u64),
                cpu.offset.saturating_add(record.to as u64),
            ),
        };
        let at = Evidence {
            file: import.file,
            start,
            end,
            line: self.line,
        };
        if record.after_loss {
            ftrace::lost(at, import);
        }
        let (order, bytes) = (self.file.order, &cpu.pages[record.from..record.to]);
        let id = bytes.get(..2).map(|id| order.number(id) as u32);
        let format = id.and_then(|id| self.file.formats.get(id));
        let (Some(format), Ok(ns)) = (format, i64::try_from(record.ns)) else {
            return import.skip(at, UNKNOWN);
        };
        let decoder = Decoder {
            order,
            symbols: &self.file.symbols,
        };
        let pid = record::pid(bytes, order);
        let at_ns = if self.file.clock == "uptime" {
            Stamp::new(ns.saturating_mul(TICK_NS), TICK_NS as u32)
        } else {
            Stamp::new(ns, 0)
        };
        let mut scratch = std::mem::take(&mut self.scratch);
        let event = Event {
            at: Some(at_ns),
            cpu: Some(cpu.cpu),
            comm: pid.and_then(|p| self.names.get(&p).copied()).unwrap_or(""),
            pid,
            what: decoder.what(format, bytes, &mut scratch),
        };
        self.recording.event(&event, at, import);
        self.scratch = scratch;
    }
}

fn tell(trouble: Trouble, at: Evidence, import: &mut Import<'_>) {
    let (code, remedy) = match trouble {
        Trouble::Cut => (
            "recording-cut",
            "the file ends before all of it was read: copy it again, or record again",
        ),
        Trouble::Compression => (
            "unknown-compression",
            "this file's compression is damaged or not known: record with `trace-cmd record --compression none`, or convert it with `trace-cmd report > trace.txt`",
        ),
        Trouble::OtherBuffer => (
            "other-buffers-left-out",
            "only the main buffer is read: convert the others with `trace-cmd report > trace.txt`, or record with --file-version 7",
        ),
        Trouble::Version => (
            "unknown-version",
            "this version of trace.dat is not known: convert it with `trace-cmd report > trace.txt`",
        ),
    };
    import.notice(code, Severity::DataLoss, at, remedy);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tried;

    const FILES: [&[u8]; 2] = [
        include_bytes!("../../../../tests/fixtures/trace-cmd/trace-cmd-3.1.6/function-v6/input.gz"),
        include_bytes!(
            "../../../../tests/fixtures/trace-cmd/trace-cmd-3.1.6/events-v7-zstd/input.gz"
        ),
    ];

    /// Numbers that are wrong anywhere do no harm, and what is lost is said.
    #[test]
    fn damaged_files() {
        for packed in FILES {
            let mut bytes = Vec::new();
            let mut unpack = flate2::read::GzDecoder::new(packed);
            unpack.read_to_end(&mut bytes).unwrap();
            let whole = tried::read(&SOURCE, &bytes).files[0].usage.total;
            assert!(whole > 0);
            let mut random = 1u64;
            for _ in 0..400 {
                let mut damaged = bytes.clone();
                for _ in 0..3 {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    let at = (random >> 33) as usize % (bytes.len() - MAGIC.len());
                    damaged[MAGIC.len() + at] = (random >> 24) as u8;
                }
                let timeline = tried::read(&SOURCE, &damaged);
                let usage = timeline.files[0].usage;
                assert_eq!(usage.used + usage.skipped, usage.total);
            }
            let cut = tried::read(&SOURCE, &bytes[..100]);
            assert_eq!(cut.notices[0].code, "recording-cut");
        }
    }
}
