//! `proc_meminfo.log`: `/proc/meminfo`, sampled (bootchart2).
//!
//! ```text
//! 310
//! MemTotal:        1017868 kB
//! MemFree:          945108 kB
//! Buffers:            3284 kB
//! Cached:            34208 kB
//! ```

use bootlap_model::{ClockId, Evidence};

use super::blocks::{Blocks, Row, number, words};
use crate::text::{Import, Line, Reader, Skip};

/// What is shown, and what it is called there.
const SHOWN: [(&[u8], &str); 9] = [
    (b"MemTotal", "memory total"),
    (b"MemFree", "memory free"),
    (b"MemAvailable", "memory available"),
    (b"Buffers", "memory buffers"),
    (b"Cached", "memory cached"),
    (b"Dirty", "memory dirty"),
    (b"Writeback", "memory being written back"),
    (b"SwapTotal", "swap total"),
    (b"SwapFree", "swap free"),
];

#[derive(Default)]
pub(super) struct Memory {
    pub(super) blocks: Blocks,
    /// By [`SHOWN`]: `(block, kB)`.
    kb: [Vec<(usize, i64)>; SHOWN.len()],
    at: Option<Evidence>,
}

impl Reader for Memory {
    fn line(&mut self, line: &Line<'_>, _sheet: &mut Import<'_>) -> Result<(), Skip> {
        let Row::Of(block) = self.blocks.row(line)? else {
            return Ok(());
        };
        let (key, kb) = row(line.text).ok_or(Skip::unknown(
            "expected lines of /proc/meminfo: `MemFree:  945108 kB`",
        ))?;
        self.at.get_or_insert(line.at);
        if let Some(which) = SHOWN.iter().position(|(name, _)| *name == key) {
            self.kb[which].push((block, kb));
        }
        Ok(())
    }

    fn blank(&mut self, _line: &Line<'_>, _sheet: &mut Import<'_>) {
        self.blocks.blank();
    }
}

/// A quantity and how much there is of it (kB, except for counts of pages).
fn row(line: &[u8]) -> Option<(&[u8], i64)> {
    let mut words = words(line);
    let key = words.next()?.strip_suffix(b":")?;
    Some((key, number(words.next()?)?))
}

impl Memory {
    /// Whether a line is one of the first of `/proc/meminfo`.
    pub(super) fn is_row(line: &[u8]) -> bool {
        row(line).is_some_and(|(key, _)| key == b"MemTotal")
    }

    pub(super) fn counters(&self, clock: ClockId, import: &mut Import<'_>) {
        self.blocks.say_if_cut(import);
        let Some(at) = self.at else {
            return;
        };
        let whole = self.blocks.whole();
        for ((_, name), rows) in SHOWN.iter().zip(&self.kb) {
            let rows = rows.iter().filter(|(block, _)| *block < whole);
            let samples = rows.map(|(block, kb)| (self.blocks.times[*block], *kb as f64));
            let samples: Vec<_> = samples.collect();
            // A machine without swap says so in every sample.
            if samples.iter().any(|(_, kb)| *kb > 0.0) {
                import.counter(clock, (name, "kB"), samples, at);
            }
        }
    }
}
