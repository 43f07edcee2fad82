//! What memory takes on a board: its latency, and the caches before it.
//!
//! ```toml
//! memory-latency = "90 ns"                        # more than an instruction takes anyway
//! l1-instruction-cache = "16 KiB, 4 ways"
//! l1-data-cache = "16 KiB, 4 ways"
//! l2-cache = "256 KiB, 8 ways"
//! l2-latency = "20 ns"
//! cache-line = "32 B"
//! caches = "off-in-bootloader"
//! ```

use serde::{Deserialize, Serialize};

use super::{BoardTable, LATENCY, Quantity, value};
use crate::mistake::{Mistake, wrong};

/// What most cores' lines are.
const LINE: u32 = 64;
/// A cache of a core with nothing said of its ways.
const WAYS: u32 = 4;

const LINE_SIZE: Quantity = Quantity {
    units: &[("B", 1.0)],
    limits: (8.0, 1024.0),
    example: "write it as \"64 B\", a power of two",
};

/// What memory takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MemoryModel {
    /// Seconds that an access takes which no cache has.
    pub latency_s: f64,
    /// The cache of instructions; `None`: fetching takes no time of its own.
    pub l1_instructions: Option<CacheSize>,
    /// The cache of data; `None`: what is cached takes no time of its own.
    pub l1_data: Option<CacheSize>,
    /// The cache behind both.
    pub l2: Option<CacheSize>,
    /// Seconds that an access takes which only L2 has.
    pub l2_latency_s: f64,
    /// Bytes that are fetched together.
    pub line: u32,
    /// Whether the boot loader's data is never cached, whatever it sets.
    pub off_in_bootloader: bool,
}

/// How large a cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSize {
    /// All of it.
    pub bytes: u32,
    /// Lines that a place in memory can be in.
    pub ways: u32,
}

impl MemoryModel {
    /// The same as keys of `[board]` and their values.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let ns = |seconds: f64| format!("\"{} ns\"", (seconds * 1e12).round() / 1e3);
        let caches = [
            ("l1-instruction-cache", self.l1_instructions),
            ("l1-data-cache", self.l1_data),
            ("l2-cache", self.l2),
        ];
        let mut lines = vec![("memory-latency", ns(self.latency_s))];
        for (key, size) in caches {
            if let Some(CacheSize { bytes, ways }) = size {
                lines.push((key, format!("\"{} KiB, {ways} ways\"", bytes >> 10)));
            }
        }
        if self.l2.is_some() {
            lines.push(("l2-latency", ns(self.l2_latency_s)));
        }
        lines.push(("cache-line", format!("\"{} B\"", self.line)));
        if self.off_in_bootloader {
            lines.push(("caches", "\"off-in-bootloader\"".to_owned()));
        }
        lines
    }
}

/// What the table says of memory; `None` if nothing.
pub(super) fn model(table: &BoardTable) -> Result<Option<MemoryModel>, Mistake> {
    let off_in_bootloader = match table.caches.as_deref() {
        None | Some("as-set") => false,
        Some("off-in-bootloader") => true,
        Some(_) => {
            return wrong(
                "board.caches",
                "write \"off-in-bootloader\", or \"as-set\" if the boot loader's own settings count",
            );
        }
    };
    let Some(latency) = &table.memory_latency else {
        let others = [
            ("caches", table.caches.is_some()),
            ("l1-instruction-cache", table.l1_instruction_cache.is_some()),
            ("l1-data-cache", table.l1_data_cache.is_some()),
            ("l2-cache", table.l2_cache.is_some()),
            ("l2-latency", table.l2_latency.is_some()),
            ("cache-line", table.cache_line.is_some()),
        ];
        return match others.iter().find(|(_, there)| *there) {
            Some((key, _)) => wrong(
                &format!("board.{key}"),
                "changes nothing while memory takes no time; add memory-latency = \"90 ns\", or \
                 whatever a miss takes there",
            ),
            None => Ok(None),
        };
    };
    let line = match &table.cache_line {
        Some(scalar) => value("board.cache-line", scalar, LINE_SIZE)? as u32,
        None => LINE,
    };
    if !line.is_power_of_two() {
        return wrong("board.cache-line", LINE_SIZE.example);
    }
    let cache = |key, text: &Option<String>| match text {
        Some(text) => size(key, text, line).map(Some),
        None => Ok(None),
    };
    let l2 = cache("board.l2-cache", &table.l2_cache)?;
    let l2_latency_s = match (&table.l2_latency, l2) {
        (Some(scalar), Some(_)) => short(
            "board.l2-latency",
            value("board.l2-latency", scalar, LATENCY)?,
        )?,
        (Some(_), None) => return wrong("board.l2-latency", "there is no l2-cache; name it, too"),
        (None, Some(_)) => {
            return wrong(
                "board.l2-cache",
                "says nothing without l2-latency = \"20 ns\"",
            );
        }
        (None, None) => 0.0,
    };
    let latency = value("board.memory-latency", latency, LATENCY)?;
    Ok(Some(MemoryModel {
        latency_s: short("board.memory-latency", latency)?,
        l1_instructions: cache("board.l1-instruction-cache", &table.l1_instruction_cache)?,
        l1_data: cache("board.l1-data-cache", &table.l1_data_cache)?,
        l2,
        l2_latency_s,
        line,
        off_in_bootloader,
    }))
}

/// A latency of memory, not of a disk.
fn short(key: &str, seconds: f64) -> Result<f64, Mistake> {
    match seconds <= 100e-6 {
        true => Ok(seconds),
        false => wrong(key, "no memory is that slow; write it as \"90 ns\""),
    }
}

/// `16 KiB, 4 ways`.
fn size(key: &str, text: &str, line: u32) -> Result<CacheSize, Mistake> {
    let parsed = || {
        let (bytes, ways) = match text.split_once(',') {
            Some((bytes, ways)) => {
                let ways = ways.trim().trim_end_matches('s').strip_suffix("way")?;
                (bytes, ways.trim_end_matches([' ', '-']).parse().ok()?)
            }
            None => (text, WAYS),
        };
        let bytes = bytes.trim();
        let (number, unit) = match bytes.strip_suffix("MiB") {
            Some(number) => (number, 1 << 20),
            None => (bytes.strip_suffix("KiB")?, 1 << 10),
        };
        let number: u32 = number.trim().parse().ok()?;
        let bytes = number.checked_mul(unit)?;
        let sets = bytes.checked_div(line.checked_mul(ways)?)?;
        let whole = sets.checked_mul(line * ways)? == bytes && sets.is_power_of_two();
        let usual = bytes <= 1 << 26 && ways <= 64;
        (whole && usual).then_some(CacheSize { bytes, ways })
    };
    match parsed() {
        Some(size) => Ok(size),
        None => wrong(
            key,
            format!(
                "write it as \"16 KiB, 4 ways\", at most 64 MiB and 64 ways; with lines of {line} B \
                 that must make a power of two of sets"
            ),
        ),
    }
}
