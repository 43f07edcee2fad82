//! The records in the pages of one CPU's ring buffer.
//!
//! A page begins with a time and how much of it is used; each record with 32
//! bits: 5 for its length in words (or what else it is), 27 for the ns since
//! the record before. Longer gaps are a record of their own.

use super::bytes::Order;
use super::file::Cpu;

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// Of how much is used: events were lost before this page.
const MISSED: u64 = 1 << 31;
const LENGTH: u64 = (1 << 27) - 1;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) ns: u64,
    /// Where it is in the pages.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Events were lost before it.
    pub(super) after_loss: bool,
}

/// Goes through the records of one CPU.
pub(super) struct Ring<'c> {
    pages: &'c [u8],
    order: Order,
    page_size: usize,
    next_page: usize,
    at: usize,
    end: usize,
    ns: u64,
    loss: bool,
}

impl<'c> Ring<'c> {
    pub(super) fn new(cpu: &'c Cpu<'_>, order: Order) -> Self {
        Self {
            pages: &cpu.pages,
            order,
            page_size: cpu.page_size.max(64),
            next_page: 0,
            at: 0,
            end: 0,
            ns: 0,
            loss: false,
        }
    }

    /// The 32 bits at `at` of the records.
    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.pages.get(at..at.checked_add(4)?)?;
        Some(self.order.number(bytes) as u32)
    }

    fn turn_page(&mut self) -> Option<()> {
        let page = self.next_page;
        let used = page + 8;
        let data = used + self.order.long;
        let head = self.pages.get(page..data)?;
        self.ns = self.order.number(&head[..8]);
        let commit = self.order.number(&head[8..]);
        self.loss |= commit & MISSED != 0;
        self.next_page = page + self.page_size;
        self.at = data;
        let len = usize::try_from(commit & LENGTH).unwrap_or(usize::MAX);
        let last = self.next_page.min(self.pages.len());
        self.end = data.saturating_add(len).min(last);
        Some(())
    }

    /// The type and the ns since the record before.
    fn head(&self, word: u32) -> (u32, u64) {
        if self.order.big_endian {
            (word >> 27, u64::from(word & ((1 << 27) - 1)))
        } else {
            (word & 31, u64::from(word >> 5))
        }
    }
}

impl Iterator for Ring<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        loop {
            while self.at.saturating_add(4) > self.end {
                self.turn_page()?;
            }
            let (kind, delta) = self.head(self.word(self.at)?);
            let first = self.at + 4;
            let more = self.word(first).map(u64::from).unwrap_or_default();
            match kind {
                PADDING if delta == 0 => self.at = self.end,
                PADDING => {
                    self.ns = self.ns.wrapping_add(delta);
                    self.at = first.saturating_add((more as usize).max(4));
                }
                TIME_EXTEND => {
                    self.ns = self.ns.wrapping_add(delta.wrapping_add(more << 27));
                    self.at = first + 4;
                }
                TIME_STAMP => {
                    // 59 bits; the rest is that of the page.
                    let low = (more << 27).wrapping_add(delta);
                    self.ns = low | (self.ns & !((1 << 59) - 1));
                    self.at = first + 4;
                }
                _ => {
                    self.ns = self.ns.wrapping_add(delta);
                    let (from, len) = match kind {
                        0 => (first + 4, (more as usize).saturating_sub(4)),
                        words => (first, words as usize * 4),
                    };
                    let next = from.saturating_add(len.next_multiple_of(4));
                    self.at = next;
                    if from.saturating_add(len) > self.end {
                        self.at = self.end;
                        continue;
                    }
                    return Some(Record {
                        ns: self.ns,
                        from,
                        to: from + len,
                        after_loss: std::mem::take(&mut self.loss),
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn page(ns: u64, commit: u64, words: &[u32]) -> Vec<u8> {
        let mut page = [ns.to_le_bytes(), commit.to_le_bytes()].concat();
        page.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        page.resize(128, 0);
        page
    }

    fn records(pages: Vec<u8>) -> Vec<(u64, usize, bool)> {
        let cpu = Cpu {
            cpu: 0,
            pages: Cow::Owned(pages),
            page_size: 128,
            offset: 0,
            packed: None,
        };
        let ring = Ring::new(&cpu, Order::LITTLE);
        ring.map(|r| (r.ns, r.to - r.from, r.after_loss)).collect()
    }

    #[test]
    fn records_of_any_kind() {
        let words = [
            1 | 5 << 5,
            0,
            TIME_EXTEND | 1 << 5,
            1,
            2 | 2 << 5,
            0,
            0,
            10 << 5,
            12,
            0,
            0,
            PADDING | 3 << 5,
            8,
            0,
            TIME_STAMP | 9 << 5,
            2,
            1 | 1 << 5,
            0,
            PADDING,
        ];
        let extend = 1000 + 5 + 1 + (1 << 27) + 2;
        let stamp = (2 << 27) + 9 + 1;
        let first = page(1000, words.len() as u64 * 4, &words);
        let second = page(5000, MISSED | 8, &[1 | 7 << 5, 0]);
        assert_eq!(
            records([first, second].concat()),
            [
                (1005, 4, false),
                (extend, 8, false),
                (extend + 10, 8, false),
                (stamp, 4, false),
                (5007, 4, true),
            ]
        );
    }

    #[test]
    fn lengths_that_are_claimed() {
        let long = page(0, u64::MAX, &[0, u32::MAX, 3, PADDING | 1 << 5, u32::MAX]);
        assert_eq!(records(long), []);
        assert_eq!(records(vec![0xff; 300]).len(), 0);
        assert_eq!(records(vec![0; 15]), []);
    }
}
