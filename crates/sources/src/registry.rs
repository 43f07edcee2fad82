//! All sources, and which one fits.

use crate::agent::Agent;
use crate::boot_data::BootData;
use crate::bootchart::Bootchart;
use crate::bootstage::Bootstage;
use crate::bootstat::Bootstat;
use crate::cbmem::Cbmem;
use crate::console::{Console, Stamps};
use crate::dmesg::Dmesg;
use crate::efi::Efi;
use crate::fpdt::Fpdt;
use crate::ftrace::Ftrace;
use crate::getprop::Getprop;
use crate::grabserial::Grabserial;
use crate::journal::Journal;
use crate::kfi::Kfi;
use crate::lava::Lava;
use crate::logcat::Logcat;
use crate::logic::Logic;
use crate::pack::Preload;
use crate::perf::Perf;
use crate::rc_log::RcLog;
use crate::slimboot::Slimboot;
use crate::stopwatch::Stopwatch;
use crate::strace::Strace;
use crate::systemd::Systemd;
use crate::trace_cmd::TraceCmd;
use crate::ts::Ts;
use crate::vcd::Vcd;
use crate::{Sniff, Source};

/// All sources, the more particular format first.
pub fn all() -> &'static [&'static dyn Source] {
    &[
        &Stamps,
        &Agent,
        &RcLog,
        &Preload,
        &TraceCmd,
        &Ftrace,
        &Systemd,
        &Journal,
        &Stopwatch,
        &Kfi,
        &Bootchart,
        &Strace,
        &Perf,
        &Vcd,
        &Logic,
        &BootData,
        &Bootstage,
        &Cbmem,
        &Slimboot,
        &Fpdt,
        &Efi,
        &Getprop,
        &Bootstat,
        &Logcat,
        &Dmesg,
        &Grabserial,
        &Lava,
        &Ts,
        &Console,
    ]
}

/// The source with this short name.
pub fn named(name: &str) -> Option<&'static dyn Source> {
    all().iter().copied().find(|s| s.info().name == name)
}

/// The source that is surest of `head`, the first [`HEAD_LEN`](crate::HEAD_LEN) bytes of a
/// file; among equally sure ones the first of [`all`].
pub fn detect(head: &[u8]) -> Option<&'static dyn Source> {
    ranking(head).first().map(|(source, _)| *source)
}

/// The source that knows a file of a folder by its name.
pub(crate) fn part_of(name: &str, head: &[u8]) -> Option<&'static dyn Source> {
    all().iter().copied().find(|s| s.is_part(name, head))
}

/// The sources that think `head` could be theirs, the surest first; among
/// equally sure ones in the order of [`all`].
pub fn ranking(head: &[u8]) -> Vec<(&'static dyn Source, Sniff)> {
    let sniffed = all().iter().map(|source| (*source, source.sniff(head)));
    let mut ranked: Vec<_> = sniffed.filter(|(_, sniff)| *sniff > Sniff::NO).collect();
    ranked.sort_by_key(|(_, sniff)| std::cmp::Reverse(*sniff));
    ranked
}
