//! bootchart: what ran while the machine started, sampled some times a second.
//!
//! ```text
//! bootlog.tgz: header proc_stat.log proc_diskstats.log proc_ps.log
//!
//! proc_ps.log:
//! 263
//! 1 (init) S 0 1 1 0 -1 4194560 107 0 0 0 7 113 0 0 20 0 1 0 26 512000 58 …
//! 57 (udevd) D 1 57 57 0 -1 4194304 80 0 0 0 1 2 0 0 20 0 1 0 261 …
//!
//! 283
//! 1 (init) S 0 1 1 0 -1 4194560 112 0 0 0 7 114 0 0 20 0 1 0 26 512000 58 …
//! ```
//!
//! A recording is an archive or a folder; its members are told by what is in
//! them, so their order, folder and number do not matter. Blocks begin with
//! an uptime in jiffies of 1/100 s ([`ClockKind::Boottime`]).
//!
//! | producer | members beside `header`, `proc_stat.log`, `proc_diskstats.log` |
//! | --- | --- |
//! | bootchart 0.8, 0.9 | `proc_ps.log`, `kernel_pacct` |
//! | busybox bootchartd | `proc_ps.log`, `kernel_pacct`; 200 ms; version 0.8 |
//! | Android's init | `proc_ps.log` with command lines for names; 200 ms |
//! | bootchart2 | `taskstats.log` (or `proc_ps.log`), `proc_meminfo.log`, `paternity.log`, `cmdline2.log`, `proc_cpuinfo.log`; 20 ms |
//! | systemd-bootchart | none: one SVG with it all ([`svg`]) |
//!
//! bootchart2 started by hand (`-r`) counts from the start of its recording.
//! Pids that are used again are processes of their own; a process that
//! executes another program keeps its span, and its names are in `names`.
//!
//! [`ClockKind::Boottime`]: bootlap_model::ClockKind::Boottime

mod accounts;
mod assemble;
mod blocks;
mod disks;
mod family;
mod header;
mod member;
mod memory;
mod pacct;
mod ps;
mod recording;
mod stat;
mod svg;
mod table;
#[cfg(test)]
mod tests;

use bootlap_model::Timeline;

use self::member::Member;
use self::recording::Recording;
use crate::{Input, Sniff, Source, SourceError, parts, together};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "bootchart",
    title: "processes sampled by bootchart",
    looks_like: "members of a bootchart archive (uptimes, then rows of /proc/PID/stat, /proc/stat or /proc/diskstats), or systemd-bootchart's SVG",
    sniff,
    read,
    together: together(|_, _| false, read_parts),
};

fn sniff(head: &[u8]) -> Sniff {
    Member::of(head).map_or(Sniff::NO, |(_, sure)| Sniff::percent(sure))
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    parts::read_one(input, &SOURCE, out, Recording::default())
}

fn read_parts(parts: Vec<Input<'_>>, out: &mut Timeline) -> Result<(), SourceError> {
    parts::read_all(parts, &SOURCE, out, Recording::default())
}
