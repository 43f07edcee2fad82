//! `Startup finished in …`: the splits that systemd takes itself.
//!
//! ```text
//! Startup finished in 5.214s (firmware) + 1.872s (loader) + 1.954s (kernel) + 2.003s (initrd) + 5.315s (userspace) = 16.360s
//! graphical.target reached after 5.238s in userspace.
//! Startup finished in 1.954s (kernel) + 5.315s (userspace) = 7.270s.        in the journal
//! Startup finished in 2.104s (userspace)                                    in a container
//! Startup finished in 92ms.                                                 a user's manager
//! ```
//!
//! Each part is cut to 1 ms. Zero of the monotonic clock is where the kernel
//! part begins; firmware and loader lie before it, told by the EFI variables
//! `LoaderTimeInitUSec` and `LoaderTimeExecUSec`.

use bootlap_model::{
    Anchor, ClockId, Evidence, Mark, MarkKind, Milestone, Severity, SpanEnd, Stamp, TrackKind,
};

use super::timespan;
use crate::text::Import;

/// Each part is cut to this.
const CUT_NS: u32 = 1_000_000;

/// systemd reads the clock when it runs, which is after the kernel said that
/// it runs init: seen 33 ms later (QEMU without KVM, systemd 252 and 257).
pub(crate) const INIT_LATE_NS: u32 = 50_000_000;

/// The kernel's log clock and the monotonic clock begin apart: seen 5.4 ms
/// (Linux 6.12) and 9.2 ms (6.1).
pub(crate) const CLOCKS_APART_NS: u32 = 20_000_000;

/// The processor's counter goes on through a warm restart, so that what was
/// before it is counted as firmware. No machine's own start takes longer.
const LONGEST_FIRMWARE_NS: i64 = 900_000_000_000;

/// The parts, each if it was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Startup {
    pub(crate) firmware: Option<i64>,
    pub(crate) loader: Option<i64>,
    pub(crate) kernel: Option<i64>,
    pub(crate) initrd: Option<i64>,
    /// `soft reboot`, and whatever is added some day.
    pub(crate) others: Option<i64>,
    pub(crate) userspace: Option<i64>,
    pub(crate) total: Option<i64>,
}

impl Startup {
    /// Takes `Startup finished in …` apart.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().strip_prefix("Startup finished in ")?;
        let mut all = Self::default();
        let (parts, total) = match text.split_once(" = ") {
            Some((parts, total)) => (parts, Some(total)),
            None => (text, None),
        };
        all.total = total.and_then(|t| Some(timespan::leading(t)?.0.ns));
        for part in parts.split(" + ") {
            let (span, rest) = timespan::leading(part)?;
            let label = rest.trim().trim_start_matches('(');
            let label = label.split(')').next().unwrap_or_default();
            let place = match label {
                "firmware" => &mut all.firmware,
                "loader" => &mut all.loader,
                "kernel" => &mut all.kernel,
                "initrd" | "initramfs" => &mut all.initrd,
                "userspace" => &mut all.userspace,
                "" | "." => &mut all.total,
                _ => &mut all.others,
            };
            *place = Some(place.unwrap_or(0).saturating_add(span.ns));
        }
        Some(all)
    }

    /// When user space began: since the kernel did, if that is told.
    pub(crate) fn userspace_ns(&self) -> Option<i64> {
        let sum = self.kernel?;
        let sum = sum.saturating_add(self.initrd.unwrap_or(0));
        Some(sum.saturating_add(self.others.unwrap_or(0)))
    }

    /// When it was finished: since the kernel began, or where no kernel is
    /// told since user space did; and the error.
    pub(crate) fn finish_ns(&self) -> Option<(i64, u32)> {
        let before = [self.firmware, self.loader];
        if let Some(total) = self.total {
            let before: i64 = before.iter().flatten().fold(0, |a, b| a.saturating_add(*b));
            return Some((total.saturating_sub(before), 3 * CUT_NS));
        }
        let begin = self.userspace_ns().unwrap_or(0);
        Some((begin.saturating_add(self.userspace?), 4 * CUT_NS))
    }

    /// Puts the moments on `clock`, of which `zero` is where the kernel (or
    /// where none is told, user space) began.
    pub(crate) fn place(&self, clock: ClockId, zero: Stamp, at: Evidence, import: &mut Import<'_>) {
        let moment = |ns: i64, err_ns: u32| {
            let err_ns = zero.err_ns.saturating_add(err_ns);
            Stamp::new(zero.ns.saturating_add(ns), err_ns)
        };
        let loader = self.loader.unwrap_or(0);
        let bounds = Before {
            firmware_ns: self.firmware.map(|f| f.saturating_add(loader)),
            loader_ns: self.loader,
            err_ns: 2 * CUT_NS,
        };
        if self.kernel.is_some() {
            bounds.place(clock, zero, at, import);
            let start = moment(0, CLOCKS_APART_NS);
            import.milestone(clock, start, Milestone::KernelClockStart, at);
        }
        let kernel = self.kernel.unwrap_or(0);
        if let (Some(_), Some(_)) = (self.kernel, self.initrd) {
            import.milestone(
                clock,
                moment(kernel, INIT_LATE_NS),
                Milestone::InitStart,
                at,
            );
        }
        let user_ns = self.userspace_ns().unwrap_or(0);
        userspace_begins(
            clock,
            (moment(user_ns, 2 * CUT_NS), self.initrd.is_some()),
            at,
            import,
        );
        if let Some((ns, err_ns)) = self.finish_ns() {
            finished(clock, moment(ns, err_ns), at, import);
        }
    }
}

/// User space (after an initrd: that of the root file system) began.
pub(crate) fn userspace_begins(
    clock: ClockId,
    (begins, after_initrd): (Stamp, bool),
    at: Evidence,
    import: &mut Import<'_>,
) {
    import.anchor(clock, begins, userspace_key(), at);
    let milestone = match after_initrd {
        true => Milestone::SwitchRoot,
        false => Milestone::ManagerStart,
    };
    let late = Stamp::new(begins.ns, begins.err_ns.saturating_add(INIT_LATE_NS));
    import.milestone(clock, late, milestone, at);
}

/// systemd has started all that it was to start.
pub(crate) fn finished(clock: ClockId, end: Stamp, at: Evidence, import: &mut Import<'_>) {
    import.milestone(clock, end, Milestone::StartupFinished, at);
    import.anchor(clock, end, Anchor::key("systemd", b"finished"), at);
}

/// The key of the moment at which user space began, by systemd's own count.
pub(crate) fn userspace_key() -> u64 {
    Anchor::key("systemd", b"userspace")
}

/// The key of the moment at which a unit was active.
pub(crate) fn unit_key(unit: &str) -> u64 {
    Anchor::key("unit-started", unit.as_bytes())
}

/// What was before the kernel, counted back from its zero.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before {
    pub(crate) firmware_ns: Option<i64>,
    pub(crate) loader_ns: Option<i64>,
    pub(crate) err_ns: u32,
}

impl Before {
    /// Puts it on `clock`.
    pub(crate) fn place(&self, clock: ClockId, zero: Stamp, at: Evidence, import: &mut Import<'_>) {
        let stamp = |ns: i64| {
            let err_ns = zero.err_ns.saturating_add(self.err_ns);
            Stamp::new(zero.ns.saturating_sub(ns), err_ns)
        };
        let loader_ns = self.loader_ns.unwrap_or(0);
        let longest = self.firmware_ns.unwrap_or(0).max(loader_ns);
        if longest > LONGEST_FIRMWARE_NS {
            import.notice(
                "firmware-time-odd",
                Severity::Notice,
                at,
                "firmware and boot loader cannot have taken this long: after a warm restart (or by a bug of the firmware) the processor's counter does not begin at zero; measure a boot from power-off, or use FPDT (/sys/firmware/acpi/fpdt/boot)",
            );
            return;
        }
        if told(import) {
            return;
        }
        if let Some(ns) = self.firmware_ns {
            import.milestone(clock, stamp(ns), Milestone::PowerOn, at);
            let end = SpanEnd::At(stamp(loader_ns));
            let track = (TrackKind::Firmware, "firmware");
            import.span(clock, track, "firmware", (stamp(ns), end), &[], at);
        }
        if let Some(ns) = self.loader_ns {
            import.milestone(clock, stamp(ns), Milestone::FirmwareDone, at);
            import.milestone(clock, stamp(ns), Milestone::BootloaderStart, at);
            let track = (TrackKind::Bootloader, "boot loader");
            let end = SpanEnd::At(stamp(0));
            import.span(clock, track, "boot loader", (stamp(ns), end), &[], at);
        }
    }
}

/// Whether this file told before what was before the kernel.
fn told(import: &Import<'_>) -> bool {
    let is_it = |m: &Mark| {
        let kinds = [Milestone::PowerOn, Milestone::BootloaderStart];
        m.evidence.file == import.file && kinds.iter().any(|k| m.kind == MarkKind::Milestone(*k))
    };
    import.timeline.marks.iter().any(is_it)
}

/// `graphical.target reached after 5.238s in userspace.`: the unit, and when,
/// since user space began; `None` where it was not reached.
pub(crate) fn target_reached(text: &str) -> Option<(&str, Option<timespan::Timespan>)> {
    let text = text.trim();
    if let Some((unit, rest)) = text.split_once(" reached after ") {
        let (span, rest) = timespan::leading(rest)?;
        return rest
            .trim_start()
            .starts_with("in userspace")
            .then_some((unit, Some(span)));
    }
    let never = [" was never reached", " is not active"];
    let unit = never
        .iter()
        .find_map(|n| text.trim_end_matches('.').strip_suffix(n));
    Some((unit?, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let s = |ms: i64| Some(ms * 1_000_000);
        let text = "Startup finished in 5.214s (firmware) + 1min 1.872s (loader) + 1.954s (kernel) + 2.003s (initrd) + 5.315s (userspace) = 1min 16.360s ";
        let all = Startup::parse(text).unwrap();
        assert_eq!(all.firmware, s(5_214));
        assert_eq!(all.loader, s(61_872));
        assert_eq!(all.userspace_ns(), s(3_957));
        assert_eq!(all.finish_ns().unwrap().0, 9_274_000_000);
        let text = "Startup finished in 1.954s (kernel) + 5.315s (userspace) = 7.270s.";
        let all = Startup::parse(text).unwrap();
        assert_eq!((all.kernel, all.total), (s(1_954), s(7_270)));
        let all = Startup::parse("Startup finished in 92ms.").unwrap();
        assert_eq!((all.userspace, all.total), (None, s(92)));
        assert_eq!(Startup::parse("Startup finished in a hurry"), None);
    }

    #[test]
    fn targets() {
        let (unit, span) =
            target_reached("multi-user.target reached after 33.245s in userspace.").unwrap();
        assert_eq!(
            (unit, span.unwrap().ns),
            ("multi-user.target", 33_245_000_000)
        );
        let (unit, span) = target_reached("graphical.target was never reached").unwrap();
        assert_eq!((unit, span), ("graphical.target", None));
        assert_eq!(target_reached("x reached after tea"), None);
    }
}
