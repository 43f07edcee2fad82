//! Which member of a recording some bytes are, told by the bytes.

use super::blocks::stamp_ns;
use super::disks::Disks;
use super::family::{Paternity, pid};
use super::header::Header;
use super::memory::Memory;
use super::stat::Stat;
use super::{pacct, ps, svg};
use crate::text::{head_lines, valid};

/// A member of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Header,
    Stat,
    Disks,
    Memory,
    Ps,
    Tasks,
    Commands,
    Paternity,
    CpuInfo,
    Accounts,
    Svg,
    /// Blocks without rows: the disks of a machine that has none.
    Empty,
}

/// Lines of a head that are looked at.
const LOOKED_AT: usize = 200;

impl Member {
    /// What the first bytes of a file look like, and how sure that is, in
    /// percent.
    pub(super) fn of(head: &[u8]) -> Option<(Self, u8)> {
        if svg::is_one(head) {
            return Some((Self::Svg, 100));
        }
        let lines: Vec<&[u8]> = head_lines(head).take(LOOKED_AT).collect();
        let first = lines.first()?.trim_ascii();
        if stamp_ns(first).is_some() {
            return Self::of_blocks(&lines).or_else(|| Self::of_commands(&lines));
        }
        let accounts = pacct::looks(head);
        if accounts > 0 {
            return Some((Self::Accounts, accounts));
        }
        if is_cpuinfo(&lines) {
            return Some((Self::CpuInfo, 60));
        }
        let text: Vec<&str> = lines.iter().map(|line| valid(line)).collect();
        match Header::looks(&text) {
            0 => Self::of_pairs(&lines),
            sure => Some((Self::Header, sure)),
        }
    }

    /// Members in blocks: by the first rows after a stamp, one of which may
    /// be broken.
    fn of_blocks(lines: &[&[u8]]) -> Option<(Self, u8)> {
        let is_stamp = |line: &[u8]| stamp_ns(line.trim_ascii()).is_some();
        let rows: Vec<&[u8]> = lines.iter().copied().filter(|l| !is_stamp(l)).collect();
        if rows.is_empty() {
            let times: Vec<_> = lines
                .iter()
                .map(|line| stamp_ns(line.trim_ascii()))
                .collect();
            return (times.len() > 2 && times.is_sorted()).then_some((Self::Empty, 30));
        }
        let rows = &rows[..rows.len().min(20)];
        let kind = |row: &&[u8]| {
            let kinds = [
                (Self::Ps, ps::is_ps_row(row)),
                (Self::Stat, Stat::is_row(row)),
                (Self::Memory, Memory::is_row(row)),
                (Self::Disks, Disks::is_row(row)),
            ];
            let found = kinds.into_iter().find(|(_, is)| *is);
            found.map(|(kind, _)| (kind, 95))
        };
        let tasks = rows.iter().all(|row| ps::is_task_row(row));
        let found = rows.iter().take(3).find_map(kind);
        found.or(tasks.then_some((Self::Tasks, 85)))
    }

    /// `cmdline2.log`: a pid, then two lines that begin with a colon.
    fn of_commands(lines: &[&[u8]]) -> Option<(Self, u8)> {
        let [id, file, rest @ ..] = lines else {
            return None;
        };
        let colon = |line: &[u8]| line.starts_with(b":");
        let fine = pid(id.trim_ascii()).is_some()
            && colon(file)
            && rest.first().is_none_or(|line| colon(line));
        fine.then_some((Self::Commands, 85))
    }

    /// `paternity.log`: nothing but pairs of numbers, which could be much.
    fn of_pairs(lines: &[&[u8]]) -> Option<(Self, u8)> {
        // A child whose pid wrapped around is smaller.
        let pairs = lines.iter().filter(|line| Paternity::is_row(line)).count();
        (pairs * 5 >= lines.len() * 4).then_some((Self::Paternity, 40))
    }

    /// By the name that all producers give it, where the bytes do not tell.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "header" => Self::Header,
            "proc_stat.log" => Self::Stat,
            "proc_diskstats.log" => Self::Disks,
            "proc_meminfo.log" => Self::Memory,
            "proc_ps.log" => Self::Ps,
            "taskstats.log" => Self::Tasks,
            "cmdline2.log" => Self::Commands,
            "paternity.log" => Self::Paternity,
            "proc_cpuinfo.log" => Self::CpuInfo,
            "kernel_pacct" => Self::Accounts,
            _ => return None,
        })
    }
}

/// Whether lines are of `/proc/cpuinfo`, which every architecture writes in
/// its own words.
fn is_cpuinfo(lines: &[&[u8]]) -> bool {
    let key = |line: &[u8]| {
        let colon = memchr::memchr(b':', line)?;
        Some(line[..colon].trim_ascii().to_ascii_lowercase())
    };
    let all = lines.iter().take(20).all(|line| key(line).is_some());
    let has = |words: [&[u8]; 6]| {
        let mut keys = lines.iter().filter_map(|line| key(line));
        keys.any(|key| words.contains(&&key[..]))
    };
    let first = lines.first().and_then(|line| key(line)).unwrap_or_default();
    let begins: [&[u8]; 4] = [b"processor", b"system type", b"cpu", b"vendor_id"];
    all && begins.contains(&&first[..])
        && has([
            b"bogomips",
            b"model name",
            b"cpu model",
            b"isa",
            b"cpu implementer",
            b"cpu architecture",
        ])
}
