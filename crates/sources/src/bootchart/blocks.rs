//! The shape that most members share: blocks, each begun by an uptime.
//!
//! ```text
//! 263
//! cpu  29 0 156 28 0 0 0 0 0
//! procs_running 7
//!
//! 276
//! cpu  33 0 165 28 0 0 0 0 0
//! ```

use bootlap_model::{Evidence, Severity};

use crate::text::{Import, Line, Skip, decimal};

/// Uptimes are in jiffies of 1/100 s, whatever the kernel's own HZ.
pub(super) const JIFFY_NS: i64 = 10_000_000;
/// The same as the error of a stamp.
pub(super) const JIFFY_ERR_NS: u32 = JIFFY_NS as u32;

const BACKWARDS: Skip = Skip::lost(
    "bootchart-time-goes-back",
    "the uptime of these samples is before that of the one above, so two recordings seem to be in one file: read each by itself",
);

const OUTSIDE: Skip = Skip::unknown(
    "expected an uptime in hundredths of a second alone on a line before the first sample",
);

/// The samples of one member: when they were taken, and which is being read.
#[derive(Default)]
pub(super) struct Blocks {
    /// When each block was sampled, ns of uptime; never falling.
    pub(super) times: Vec<i64>,
    /// Where the first and the last stamp are.
    pub(super) ends: Option<(Evidence, Evidence)>,
    /// The block's stamp was before the last one: its rows are of no use.
    dead: bool,
    /// An empty line ended the last block, so it is whole.
    closed: bool,
}

/// What a line of a member is.
pub(super) enum Row {
    /// It began a block, or says nothing.
    Nothing,
    /// It belongs to the block of this number.
    Of(usize),
}

impl Blocks {
    pub(super) fn row(&mut self, line: &Line<'_>) -> Result<Row, Skip> {
        let text = line.text.trim_ascii();
        if let Some(ns) = stamp_ns(text) {
            self.closed = false;
            self.dead = self.times.last().is_some_and(|last| ns < *last);
            if self.dead {
                return Err(BACKWARDS);
            }
            let (first, _) = self.ends.unwrap_or((line.at, line.at));
            self.ends = Some((first, line.at));
            self.times.push(ns);
            return Ok(Row::Nothing);
        }
        if self.dead {
            return Err(BACKWARDS);
        }
        // bootchart2's collector says so between its samples.
        if text.ends_with(b"not running") {
            return Ok(Row::Nothing);
        }
        let block = self.times.len().checked_sub(1).ok_or(OUTSIDE)?;
        Ok(Row::Of(block))
    }

    pub(super) fn blank(&mut self) {
        self.closed = true;
    }

    /// How many blocks are whole: not the last if the file ends within it.
    pub(super) fn whole(&self) -> usize {
        self.times.len() - usize::from(!self.closed && !self.times.is_empty())
    }

    /// When the recording began and ended.
    pub(super) fn window(&self) -> Option<(i64, i64)> {
        Some((*self.times.first()?, *self.times.last()?))
    }

    /// Says that the last block is cut, where its values may be.
    pub(super) fn say_if_cut(&self, import: &mut Import<'_>) {
        if let Some((_, at)) = self.ends
            && self.whole() < self.times.len()
        {
            import.notice(
                "bootchart-last-sample-cut",
                Severity::Info,
                at,
                "the recording ends in the middle of a sample: that last sample is not used, the others are whole",
            );
        }
    }
}

/// The uptime that a line consists of: `263`, or `2.63` where nobody took the
/// dot out.
pub(super) fn stamp_ns(text: &[u8]) -> Option<i64> {
    if !text.first()?.is_ascii_digit() {
        return None;
    }
    if text.contains(&b'.') {
        return decimal(text, 9);
    }
    number(text)?.checked_mul(JIFFY_NS)
}

/// A whole number without sign.
pub(super) fn number(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 18 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |value: i64, b: &u8| value * 10 + i64::from(b - b'0');
    Some(text.iter().fold(0, digit))
}

/// The same for counts that may need all 64 bits.
pub(super) fn count(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The words of a row.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// The value per second between two samples, from `from` to `to` (ns).
pub(super) fn per_second(value: f64, from: i64, to: i64) -> f64 {
    value * 1e9 / to.saturating_sub(from).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_hundredths_of_a_second() {
        assert_eq!(stamp_ns(b"263"), Some(2_630_000_000));
        assert_eq!(stamp_ns(b"2.63"), Some(2_630_000_000));
        for bad in ["", "-1", "263 1", "cpu", "99999999999999999", "1 (init)"] {
            assert_eq!(stamp_ns(bad.as_bytes()), None, "{bad}");
        }
    }
}
