//! The pack of `bootlap-agent record`: which bytes of which files a boot has had
//! read.
//!
//! Shown as what was read for the first time, in kB since the recording began:
//! where it rises, a boot that has nothing in memory waits for its disk. Times are
//! ns of `CLOCK_MONOTONIC`. The format is that of `agent/src/preload/pack.h`:
//! [`format`].

mod format;

use bootlap_model::{ClockKind, Evidence, Severity, Timeline};

use self::format::Pack;
use crate::text::Sheet;
use crate::{Input, Sniff, Source, SourceError, SourceInfo, binary};

/// The source.
pub(crate) struct Preload;

static INFO: SourceInfo = SourceInfo {
    name: "pack",
    title: "what bootlap-agent record has seen being read",
    looks_like: "the file that bootlap-agent record or stop writes",
};

/// The agent writes 16 MiB at most.
const LIMIT: u64 = 16 << 20;

impl Source for Preload {
    fn info(&self) -> &'static SourceInfo {
        &INFO
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        match head.starts_with(format::MAGIC) {
            true => Sniff::CERTAIN,
            false => Sniff::NO,
        }
    }

    fn read(&self, input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
        let (bytes, _) = binary::all(input.bytes, LIMIT)?;
        if !bytes.starts_with(format::MAGIC) {
            return Err(SourceError::NotThisFormat {
                format: INFO.name,
                why: "it does not begin as a pack does".to_owned(),
            });
        }
        let mut sheet = Sheet::new(out, input.label, INFO.name);
        let whole = Evidence {
            file: sheet.file,
            start: 0,
            end: bytes.len() as u64,
            line: 1,
        };
        match format::read(&bytes) {
            Some(pack) => tell(&pack, whole, &mut sheet),
            None => sheet.notice(
                "pack-damaged",
                Severity::DataLoss,
                whole,
                "the checksum is another: copy the pack again, as bytes; the device does not use it either",
            ),
        }
        sheet.finish();
        Ok(())
    }
}

fn tell(pack: &Pack, whole: Evidence, sheet: &mut Sheet<'_>) {
    sheet.count_lines(pack.extents.len() as u64);
    let clock = sheet.clock(ClockKind::Monotonic);
    for (metadata, name) in [
        (false, "first read of files"),
        (true, "first read of metadata"),
    ] {
        let its = pack.extents.iter().filter(|e| e.metadata == metadata);
        let mut sum = 0.0;
        let mut samples: Vec<(i64, f64)> = Vec::new();
        let mut first = whole;
        for extent in its {
            if samples.is_empty() {
                first.start = extent.at;
            }
            sum += extent.bytes as f64 / 1000.0;
            samples.push((extent.ns, sum));
        }
        sheet.counter(clock, (name, "kB"), samples, first);
    }
    if pack.lost > 0 {
        sheet.notice(
            "pack-lost",
            Severity::DataLoss,
            whole,
            "the kernel lost events: give its buffer more (record --buffer-kib)",
        );
    }
    if pack.unnamed > 0 {
        sheet.notice(
            "pack-unnamed",
            Severity::Notice,
            whole,
            "files without a path were left out: they were deleted, or their file system is not mounted any more",
        );
    }
    if pack.unordered {
        sheet.notice(
            "pack-unordered",
            Severity::Notice,
            whole,
            "this is what was cached at one moment, without times: a kernel with tracefs tells the order",
        );
    }
}
