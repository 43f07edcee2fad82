//! All sources, and which one fits.

use crate::{Sniff, Source};
use crate::{
    agent, boot_data, boot_table, bootchart, bootstage, bootstat, bug_report, cbmem, commands,
    console, dmesg, efi, firmware_log, fpdt, ftrace, getprop, grabserial, job_log, journal, kfi,
    lava, logcat, logic, pack, perf, perfetto, rc_log, slimboot, stopwatch, strace, systemd,
    trace_cmd, ts, vcd,
};

/// All sources, the more particular format first.
static ALL: &[&Source] = &[
    &console::STAMPS,
    &agent::SOURCE,
    &rc_log::SOURCE,
    &pack::SOURCE,
    &trace_cmd::SOURCE,
    &perfetto::SOURCE,
    &ftrace::SOURCE,
    &commands::SOURCE,
    &systemd::SOURCE,
    &journal::SOURCE,
    &stopwatch::SOURCE,
    &boot_table::SOURCE,
    &kfi::SOURCE,
    &bootchart::SOURCE,
    &strace::SOURCE,
    &perf::SOURCE,
    &vcd::SOURCE,
    &logic::SOURCE,
    &boot_data::SOURCE,
    &bug_report::SOURCE,
    &bootstage::SOURCE,
    &cbmem::SOURCE,
    &slimboot::SOURCE,
    &fpdt::SOURCE,
    &efi::SOURCE,
    &getprop::SOURCE,
    &bootstat::SOURCE,
    &logcat::SOURCE,
    &firmware_log::SOURCE,
    &dmesg::SOURCE,
    &grabserial::SOURCE,
    &lava::SOURCE,
    &ts::SOURCE,
    &job_log::SOURCE,
    &console::CONSOLE,
];

/// All sources, the more particular format first.
pub fn all() -> &'static [&'static Source] {
    ALL
}

/// The source with this short name.
pub fn named(name: &str) -> Option<&'static Source> {
    ALL.iter().copied().find(|s| s.name == name)
}

/// The source that is surest of `head`, the first [`HEAD_LEN`](crate::HEAD_LEN) bytes of a
/// file; among equally sure ones the first of [`all`].
pub fn detect(head: &[u8]) -> Option<&'static Source> {
    ranking(head).first().map(|(source, _)| *source)
}

/// The source that knows a file of a folder by its name.
pub(crate) fn part_of(name: &str, head: &[u8]) -> Option<&'static Source> {
    ALL.iter().copied().find(|s| s.is_part(name, head))
}

/// The sources that think `head` could be theirs, the surest first; among
/// equally sure ones in the order of [`all`].
pub fn ranking(head: &[u8]) -> Vec<(&'static Source, Sniff)> {
    let sniffed = ALL.iter().map(|source| (*source, source.sniff(head)));
    let mut ranked: Vec<_> = sniffed.filter(|(_, sniff)| *sniff > Sniff::NO).collect();
    ranked.sort_by_key(|(_, sniff)| std::cmp::Reverse(*sniff));
    ranked
}
