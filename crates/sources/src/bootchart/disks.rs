//! `proc_diskstats.log`: `/proc/diskstats`, sampled.
//!
//! ```text
//! 263
//!    8       0 sda 1543 212 85020 904 18 4 160 2 0 604 906
//!    8       1 sda1 1490 212 83268 880 18 4 160 2 0 592 882
//!  259       0 nvme0n1 1213 0 61264 202 0 0 0 0 0 176 202 0 0 0 0 0 0
//!  254       0 dm-0 1320 0 80100 1100 22 0 160 2 0 600 1102
//! ```
//!
//! Columns after the name: reads, merged, sectors read, ms; the same of
//! writes; in flight, ms busy, … Kernels before 2.6.25 give partitions four
//! columns only: reads, sectors read, writes, sectors written. A sector is
//! 512 bytes.
//!
//! What goes to a partition goes to its disk too, and what goes to a device
//! mapper, RAID or loop device goes to the disks under it. So each is counted
//! only where what it lies on is not seen (a Xen guest has `xvda1` and no
//! `xvda`; a container may see only `dm-0`).

use std::collections::HashMap;

use bootlap_model::{ClockId, Evidence, Severity};

use super::blocks::{Blocks, Row, count, per_second, words};
use crate::text::{Import, Line, Reader, Skip};

/// What counters count is of 1000 bytes.
const SECTOR_KB: f64 = 0.512;
/// More devices than any machine that boots has.
const MAX_DEVICES: usize = 4096;

#[derive(Default)]
pub(super) struct Disks {
    pub(super) blocks: Blocks,
    names: Vec<String>,
    index: HashMap<String, u32>,
    rows: Vec<Sample>,
    at: Option<Evidence>,
}

/// What one row says.
#[derive(Clone, Copy)]
struct Sample {
    block: u32,
    device: u32,
    done: Done,
}

/// What a device has done since it is there.
#[derive(Clone, Copy, Default)]
struct Done {
    read: u64,
    written: u64,
    busy_ms: u64,
}

/// What a device is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A disk, or a partition whose disk is not seen.
    Disk,
    /// Lies on disks that have their own row, or in memory.
    Stacked,
    /// Has no data of its own.
    Partition,
}

const UNKNOWN: Skip = Skip::unknown(
    "expected lines of /proc/diskstats: major, minor, name and at least four numbers",
);

impl Reader for Disks {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let Row::Of(block) = self.blocks.row(line)? else {
            return Ok(());
        };
        let (name, done) = row(line.text).ok_or(UNKNOWN)?;
        self.at.get_or_insert(line.at);
        let name = String::from_utf8_lossy(name);
        let device = match self.index.get(&*name) {
            Some(device) => *device,
            None if self.names.len() >= MAX_DEVICES => {
                let remedy = "more than 4096 disks are named here: the others are not counted; is the file whole?";
                import.notice("too-many-disks", Severity::DataLoss, line.at, remedy);
                return Ok(());
            }
            None => {
                let device = self.names.len() as u32;
                self.names.push(name.clone().into_owned());
                self.index.insert(name.into_owned(), device);
                device
            }
        };
        self.rows.push(Sample {
            block: block as u32,
            device,
            done,
        });
        Ok(())
    }

    fn blank(&mut self, _line: &Line<'_>, _sheet: &mut Import<'_>) {
        self.blocks.blank();
    }
}

fn row(line: &[u8]) -> Option<(&[u8], Done)> {
    let mut words = words(line);
    let _major = count(words.next()?)?;
    let _minor = count(words.next()?)?;
    let name = words.next()?;
    let mut columns = [0; 10];
    let mut seen = 0;
    for (to, word) in columns.iter_mut().zip(words) {
        *to = count(word)?;
        seen += 1;
    }
    let done = match seen {
        10.. => Done {
            read: columns[2],
            written: columns[6],
            busy_ms: columns[9],
        },
        4 => Done {
            read: columns[1],
            written: columns[3],
            busy_ms: 0,
        },
        _ => return None,
    };
    Some((name, done))
}

impl Disks {
    /// Whether a line is one of `/proc/diskstats`.
    pub(super) fn is_row(line: &[u8]) -> bool {
        row(line).is_some_and(|(name, _)| name[0].is_ascii_alphabetic())
    }

    pub(super) fn counters(&self, clock: ClockId, import: &mut Import<'_>) {
        self.blocks.say_if_cut(import);
        let Some(at) = self.at else {
            return;
        };
        let counted = self.counted();
        let mut before: Vec<Option<Done>> = vec![None; self.names.len()];
        let [mut read, mut written, mut busy] = [const { Vec::new() }; 3];
        let whole = self.blocks.whole();
        let by_block = self.rows.chunk_by(|a, b| a.block == b.block);
        let mut from: Option<i64> = None;
        for rows in by_block {
            let block = rows[0].block as usize;
            let to = self.blocks.times[block];
            // Two samples within a jiffy make one.
            if block >= whole || from == Some(to) {
                continue;
            }
            let mut sum = Done::default();
            for row in rows.iter().filter(|row| counted[row.device as usize]) {
                let known = &mut before[row.device as usize];
                // A disk found later began at zero.
                let past = known.unwrap_or_default();
                *known = Some(row.done);
                sum.read = sum
                    .read
                    .saturating_add(row.done.read.saturating_sub(past.read));
                let more = row.done.written.saturating_sub(past.written);
                sum.written = sum.written.saturating_add(more);
                let more = row.done.busy_ms.saturating_sub(past.busy_ms);
                sum.busy_ms = sum.busy_ms.max(more);
            }
            if let Some(from) = from {
                read.push((from, per_second(sum.read as f64 * SECTOR_KB, from, to)));
                written.push((from, per_second(sum.written as f64 * SECTOR_KB, from, to)));
                let share = per_second(sum.busy_ms as f64 / 10.0, from, to);
                busy.push((from, share.min(100.0)));
            }
            from = Some(to);
        }
        import.counter(clock, ("disk read", "kB/s"), read, at);
        import.counter(clock, ("disk write", "kB/s"), written, at);
        import.counter(clock, ("disk busy", "%"), busy, at);
    }

    /// By device: whether what it does is counted.
    fn counted(&self) -> Vec<bool> {
        let kinds: Vec<Kind> = self.names.iter().map(|name| self.kind(name)).collect();
        let best = kinds.iter().min().copied();
        kinds.iter().map(|kind| Some(*kind) == best).collect()
    }

    fn kind(&self, name: &str) -> Kind {
        let disk = name.trim_end_matches(|c: char| c.is_ascii_digit());
        if disk.len() < name.len() {
            // sda1 is of sda, nvme0n1p2 of nvme0n1; mtdblock1 of nothing.
            let numbered = disk.strip_suffix('p');
            let numbered = numbered.filter(|d| d.ends_with(|c: char| c.is_ascii_digit()));
            let of = numbered.unwrap_or(disk);
            if self.index.contains_key(of) {
                return Kind::Partition;
            }
        }
        const STACKED: [&str; 7] = ["dm-", "md", "loop", "ram", "zram", "bcache", "drbd"];
        let numbered = |prefix: &str| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        // nvme0c0n1 is a path to nvme0n1.
        let path = name.starts_with("nvme") && name[4..].contains('c');
        if STACKED.iter().any(|p| numbered(p)) || name.starts_with("md_d") || path {
            return Kind::Stacked;
        }
        Kind::Disk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(names: &[&str]) -> Vec<String> {
        let mut disks = Disks::default();
        for (i, name) in names.iter().enumerate() {
            disks.names.push((*name).to_owned());
            disks.index.insert((*name).to_owned(), i as u32);
        }
        let counted = disks.counted();
        let counted = names.iter().zip(counted).filter(|(_, yes)| *yes);
        counted.map(|(name, _)| (*name).to_owned()).collect()
    }

    #[test]
    fn nothing_is_counted_twice() {
        let names = ["ram0", "loop0", "sda", "sda1", "sda12", "sdaa", "dm-0"];
        assert_eq!(counted(&names), ["sda", "sdaa"]);
        let names = ["nvme0n1", "nvme0n1p1", "nvme0c0n1", "zram0"];
        assert_eq!(counted(&names), ["nvme0n1"]);
        let names = ["mmcblk0", "mmcblk0p1", "mmcblk0boot0", "mmcblk1"];
        assert_eq!(counted(&names), ["mmcblk0", "mmcblk0boot0", "mmcblk1"]);
        let names = ["mtdblock1", "mtdblock10", "cciss/c0d0", "cciss/c0d0p1"];
        assert_eq!(counted(&names), ["mtdblock1", "mtdblock10", "cciss/c0d0"]);
    }

    #[test]
    fn what_lies_on_nothing_that_is_seen_counts() {
        assert_eq!(counted(&["xvda1", "xvda2"]), ["xvda1", "xvda2"]);
        assert_eq!(counted(&["loop0", "dm-0"]), ["loop0", "dm-0"]);
        assert_eq!(counted(&["nbd0", "nbd0p1"]), ["nbd0"]);
    }

    #[test]
    fn rows_of_all_kernels() {
        let row = |text: &str| row(text.as_bytes()).map(|(_, d)| (d.read, d.written, d.busy_ms));
        assert_eq!(row("8 1 sda1 5 10 6 12"), Some((10, 12, 0)));
        let old = "   8    0 sda 1 2 3 4 5 6 7 8 9 10 11";
        assert_eq!(row(old), Some((3, 7, 10)));
        let new = format!("{old} 12 13 14 15 16 17");
        assert_eq!(row(&new), Some((3, 7, 10)));
        assert_eq!(row("8 1 sda1 5 10"), None);
    }
}
