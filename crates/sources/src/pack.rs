//! The pack of `bootlap-agent record`: which bytes of which files a boot has had
//! read.
//!
//! Shown as what was read for the first time, in kB since the recording began:
//! where it rises, a boot that has nothing in memory waits for its disk. Times are
//! ns of `CLOCK_MONOTONIC`. The format is that of `agent/src/preload/pack.h`:
//! [`bootlap_wire::pack`].

use bootlap_model::{
    ClockId, ClockKind, Evidence, FileSystem, Read, ReadOf, Severity, Stamp, Timeline,
};
use bootlap_wire::pack::{self, Extent, Pack};

use crate::text::Import;
use crate::{Input, Sniff, Source, SourceError, binary};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "pack",
    title: "what bootlap-agent record has seen being read",
    looks_like: "the file that bootlap-agent record or stop writes",
    sniff,
    read,
    together: None,
};

/// The agent writes 16 MiB at most.
const LIMIT: u64 = pack::LONGEST as u64;

fn sniff(head: &[u8]) -> Sniff {
    match head.starts_with(pack::MAGIC) {
        true => Sniff::CERTAIN,
        false => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let (bytes, _) = binary::all(input.bytes, LIMIT)?;
    if !bytes.starts_with(pack::MAGIC) {
        return Err(SourceError::NotThisFormat {
            format: SOURCE.name,
            why: "it does not begin as a pack does".to_owned(),
        });
    }
    let mut import = Import::new(out, input.label, SOURCE.name);
    let whole = Evidence::whole(import.file, bytes.len() as u64);
    match Pack::read(&bytes) {
        Some(pack) => tell(&pack, whole, &mut import),
        None => import.notice(
            "pack-damaged",
            Severity::DataLoss,
            whole,
            "the checksum is another: copy the pack again, as bytes; the device does not use it either",
        ),
    }
    import.finish();
    Ok(())
}

fn tell(pack: &Pack, whole: Evidence, import: &mut Import<'_>) {
    import.count_lines(pack.extents.len() as u64);
    let clock = import.clock(ClockKind::Monotonic);
    for (metadata, name) in [
        (false, "first read of files"),
        (true, "first read of metadata"),
    ] {
        let is_it = |extent: &Extent| is_metadata(pack, extent) == metadata;
        let its = (0..).zip(&pack.extents).filter(|(_, e)| is_it(e));
        let mut sum = 0.0;
        let mut samples: Vec<(i64, f64)> = Vec::new();
        let mut first = whole;
        for (index, extent) in its {
            if samples.is_empty() {
                first.start = pack.extent_at(index) as u64;
            }
            sum += f64::from(extent.length) / 1000.0;
            samples.push((ns(pack, extent), sum));
        }
        import.counter(clock, (name, "kB"), samples, first);
    }
    reads(pack, clock, whole, import);
    if pack.lost > 0 {
        import.notice(
            "pack-lost",
            Severity::DataLoss,
            whole,
            "the kernel lost events: give its buffer more (record --buffer-kib)",
        );
    }
    if pack.unnamed > 0 {
        import.notice(
            "pack-unnamed",
            Severity::Notice,
            whole,
            "files without a path were left out: they were deleted, or their file system is not mounted any more",
        );
    }
    if pack.unordered {
        import.notice(
            "pack-unordered",
            Severity::Notice,
            whole,
            "this is what was cached at one moment, without times: a kernel with tracefs tells the order",
        );
    }
}

fn is_metadata(pack: &Pack, extent: &Extent) -> bool {
    pack.files
        .get(extent.file)
        .is_some_and(|f| f.path.is_empty())
}

/// On the clock of the recording.
fn ns(pack: &Pack, extent: &Extent) -> i64 {
    let began = i64::try_from(pack.began_ns).unwrap_or(i64::MAX);
    began.saturating_add(i64::from(extent.us) * 1000)
}

fn reads(pack: &Pack, clock: ClockId, whole: Evidence, import: &mut Import<'_>) {
    let systems = pack.systems.iter().map(|system| FileSystem {
        id: system.id,
        kind: system.kind,
        place: import.sym(&String::from_utf8_lossy(&system.place)),
    });
    let systems: Vec<FileSystem> = systems.collect();
    let of = (0..).zip(&pack.files).map(|(number, file)| {
        let system = *systems.get(file.system)?;
        Some(match std::str::from_utf8(&file.path) {
            Ok("") => ReadOf::Metadata { system },
            Ok(path) => ReadOf::File {
                system,
                path: import.sym(path),
            },
            Err(_) => ReadOf::Nameless { system, number },
        })
    });
    let of: Vec<Option<ReadOf>> = of.collect();
    for (index, extent) in pack.extents.iter().enumerate() {
        let Some(of) = of.get(extent.file).copied().flatten() else {
            continue;
        };
        let start = pack.extent_at(index) as u64;
        let end = pack.extent_at(index + 1) as u64;
        import.timeline.reads.push(Read {
            clock,
            at: Stamp::new(ns(pack, extent), 1000),
            of,
            start: extent.start,
            end: extent.start + u64::from(extent.length),
            evidence: Evidence {
                start,
                end,
                ..whole
            },
        });
    }
}
