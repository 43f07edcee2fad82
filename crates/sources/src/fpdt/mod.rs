//! ACPI's firmware performance data: when UEFI got to which point.
//!
//! ```text
//! $ grep . /sys/firmware/acpi/fpdt/boot/*
//! /sys/firmware/acpi/fpdt/boot/bootloader_launch_ns:8346411360
//! /sys/firmware/acpi/fpdt/boot/bootloader_load_ns:8346002270
//! /sys/firmware/acpi/fpdt/boot/exitbootservice_end_ns:9527181300
//! /sys/firmware/acpi/fpdt/boot/exitbootservice_start_ns:9518300140
//! /sys/firmware/acpi/fpdt/boot/firmware_start_ns:103226450
//! ```
//!
//! ns of a counter that begins at the processor's reset; 0 where the firmware
//! did not write a time down (no UEFI boot loader). Shapes:
//!
//! - those files, one number each, named by their parts (Linux 5.12 on x86,
//!   6.2 on arm64), or as text with their names ([`text`]);
//! - the boot performance table itself (`FBPT`), from memory; in firmware made
//!   with EDK II's performance library it has all drivers, too ([`table`]);
//! - the `FPDT` table of `acpidump` or `/sys/firmware/acpi/tables/FPDT`, raw
//!   or disassembled. It only tells where the other one is.
//!
//! A reset that does not stop the counter (some warm reboots) makes all times
//! too long by the last uptime.

mod table;
mod text;

use std::io::{self, Read};

use bootlap_model::{
    ClockKind, Evidence, Milestone, Severity, SpanEnd, Stamp, Timeline, TrackKind,
};

use crate::parts::{self, Part, Parts, base};
use crate::text::Import;
use crate::{HEAD_LEN, Input, Sniff, Source, SourceError, binary, together};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "fpdt",
    title: "UEFI's firmware performance data",
    looks_like: "the FPDT or FBPT table, or the numbers of /sys/firmware/acpi/fpdt/boot",
    sniff,
    read,
    together: together(is_part, read_parts),
};

/// Real tables have some 100 KiB.
const LIMIT: u64 = 16 << 20;

/// No firmware takes an hour.
const TOO_LONG_NS: i64 = 3_600_000_000_000;

fn sniff(head: &[u8]) -> Sniff {
    if table::is_table(head) {
        return Sniff::CERTAIN;
    }
    text::sniff(head)
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    parts::read_one(input, &SOURCE, out, Boot::default())
}

fn is_part(name: &str, head: &[u8]) -> bool {
    let number = head.trim_ascii();
    !number.is_empty() && number.iter().all(u8::is_ascii_digit) && Moment::of(base(name)).is_some()
}

fn read_parts(parts: Vec<Input<'_>>, out: &mut Timeline) -> Result<(), SourceError> {
    parts::read_all(parts, &SOURCE, out, Boot::default())
}

/// What the firmware writes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// The first instructions of the firmware's image.
    FirmwareStart,
    /// Before the boot loader is loaded.
    LoaderLoad,
    /// Before the boot loader is started.
    LoaderLaunch,
    /// The boot loader (or the kernel's own one) calls `ExitBootServices`.
    ExitStart,
    /// `ExitBootServices` returns.
    ExitEnd,
    /// Of suspend and resume: nothing of a boot.
    Sleep,
}

/// All that a boot passes, in the order of the table's record.
const MOMENTS: [(Moment, &str, &str); 5] = [
    (
        Moment::FirmwareStart,
        "firmware_start_ns",
        "firmware starts",
    ),
    (
        Moment::LoaderLoad,
        "bootloader_load_ns",
        "boot loader is loaded",
    ),
    (
        Moment::LoaderLaunch,
        "bootloader_launch_ns",
        "boot loader is started",
    ),
    (
        Moment::ExitStart,
        "exitbootservice_start_ns",
        "ExitBootServices is called",
    ),
    (
        Moment::ExitEnd,
        "exitbootservice_end_ns",
        "ExitBootServices returns",
    ),
];

/// Other files beside them.
const SLEEP: [&str; 5] = [
    "suspend_start_ns",
    "suspend_end_ns",
    "resume_count",
    "resume_avg_ns",
    "resume_prev_ns",
];

impl Moment {
    /// The moment whose file is called so.
    fn of(name: &str) -> Option<Self> {
        let known = MOMENTS.iter().find(|(_, file, _)| name.contains(file));
        let sleep = || SLEEP.iter().any(|s| name.contains(s));
        match known {
            Some((moment, ..)) => Some(*moment),
            None => sleep().then_some(Self::Sleep),
        }
    }
}

/// What was read of one boot.
#[derive(Default)]
struct Boot {
    moments: Vec<(Moment, i64, Evidence)>,
    events: Vec<table::Event>,
    /// Where only a pointer to the times was found.
    pointer: Option<Evidence>,
}

impl Boot {
    /// Adds a moment; a second time for it is not believed.
    fn add(&mut self, moment: Moment, ns: i64, at: Evidence) -> bool {
        if moment == Moment::Sleep {
            return true;
        }
        let known = self.moments.iter().any(|(m, ..)| *m == moment);
        if !known {
            self.moments.push((moment, ns, at));
        }
        !known
    }

    fn get(&self, moment: Moment) -> Option<(Stamp, Evidence)> {
        let found = self
            .moments
            .iter()
            .find(|(m, ns, _)| *m == moment && *ns > 0);
        found.map(|(_, ns, at)| (Stamp::new(*ns, 1), *at))
    }

    fn first_of(&self, moments: &[Moment]) -> Option<(Stamp, Evidence)> {
        moments.iter().find_map(|m| self.get(*m))
    }
}

impl Parts for Boot {
    fn part(&mut self, file: Part<'_>, import: &mut Import<'_>) -> io::Result<()> {
        let Part { name, bytes } = file;
        let head = binary::head(bytes, HEAD_LEN as u64)?;
        let is_table = table::is_table(&head);
        let mut whole = head.chain(bytes);
        if is_table {
            let (bytes, more) = binary::all(&mut whole, LIMIT)?;
            table::read(&bytes, more, self, import);
            return Ok(());
        }
        import.read(&mut whole, &mut text::Names::new(Moment::of(name), self))
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.remarks(import);
        let has_times = self.moments.iter().any(|(_, ns, _)| *ns > 0);
        if !has_times && self.events.is_empty() {
            return;
        }
        let clock = import.clock(ClockKind::Firmware);
        for (moment, _, name) in MOMENTS {
            if let Some((stamp, at)) = self.get(moment) {
                import.mark(clock, stamp, name, at);
            }
        }
        for (moment, milestone) in [
            (Moment::LoaderLaunch, Milestone::FirmwareDone),
            (Moment::LoaderLaunch, Milestone::BootloaderStart),
            // What systemd-analyze takes for the boot loader's end, too.
            (Moment::ExitEnd, Milestone::BootloaderHandover),
        ] {
            if let Some((stamp, at)) = self.get(moment) {
                import.milestone(clock, stamp, milestone, at);
            }
        }
        use Moment::{ExitEnd, ExitStart, FirmwareStart, LoaderLaunch, LoaderLoad};
        let firmware = (TrackKind::Firmware, "firmware");
        let loader = (TrackKind::Bootloader, "boot loader");
        let spans: [(_, _, Moment, &[Moment]); 4] = [
            (
                firmware,
                "firmware",
                FirmwareStart,
                &[LoaderLoad, LoaderLaunch],
            ),
            (firmware, "load boot loader", LoaderLoad, &[LoaderLaunch]),
            (loader, "boot loader", LoaderLaunch, &[ExitStart, ExitEnd]),
            (firmware, "exit boot services", ExitStart, &[ExitEnd]),
        ];
        for (track, name, from, to) in spans {
            if let (Some((start, at)), Some((end, _))) = (self.get(from), self.first_of(to)) {
                import.span(clock, track, name, (start, SpanEnd::At(end)), &[], at);
            }
        }
        table::write(std::mem::take(&mut self.events), clock, import);
    }
}

impl Boot {
    fn remarks(&self, import: &mut Import<'_>) {
        for (_, ns, at) in &self.moments {
            if *ns == 0 {
                import.notice(
                    "not-recorded",
                    Severity::Info,
                    *at,
                    "the firmware did not write these times down (0): it does so only for boot loaders of UEFI",
                );
            } else if *ns > TOO_LONG_NS {
                import.notice(
                    "counter-not-reset",
                    Severity::Notice,
                    *at,
                    "the firmware's counter was not reset by a warm reboot, so its times are too long: switch the machine off and on, and read them again",
                );
            }
        }
        if let (Some(at), true) = (self.pointer, self.moments.is_empty()) {
            import.notice(
                "fpdt-only-points",
                Severity::DataLoss,
                at,
                "the FPDT table only tells where the times are: take the files of /sys/firmware/acpi/fpdt/boot",
            );
        }
    }
}
