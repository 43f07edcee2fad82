//! Android's properties: when services were started, and what the boot loader
//! and `init` say of themselves.
//!
//! ```text
//! [ro.boot.boottime]: [1BLL:89,1BLE:590,2BLL:0,2BLE:1344,SW:6734,KL:1193]
//! [ro.boottime.init]: [819]
//! [ro.boottime.init.cold_boot_wait]: [75]
//! [ro.boottime.init.mount_all.default]: [44]
//! [ro.boottime.logd]: [1437265416]
//! [ro.product.model]: [taimen]
//! ```
//!
//! Printed by `getprop`, alone or in a bug report; the order is that of names.
//!
//! | property | says |
//! | --- | --- |
//! | `ro.boottime.SERVICE` | when init started it: ns of `CLOCK_BOOTTIME` |
//! | `ro.boottime.init` | when init was started: ms up to Android 9, ns later |
//! | `ro.boottime.init.first_stage`, `.selinux` | how long: ms, ns since Android 10 |
//! | `ro.boottime.init.*` | how long, ms (`modules`, `cold_boot_wait`, `mount_all.*`, `fsck.*`) |
//! | `ro.boot.boottime` | the boot loader's stages, ms each |
//!
//! Whether it is ms or ns is told by the size: no init starts after 10 000 s,
//! and none of its stages takes less than a µs or more than 1000 s.
//!
//! The boot loader's stages are put one after the other on a clock of their
//! own, whose zero is where the first begins. `SW` is left out, as Android's
//! own sum does: the boot loader waited for its user.

use bootlap_model::{
    ClockEdge, ClockId, ClockKind, Evidence, How, Milestone, SpanEnd, Stamp, Timeline, TrackKind,
};

use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "getprop",
    title: "Android's properties",
    looks_like: "lines of `[ro.boottime.NAME]: [NUMBER]`",
    sniff,
    read,
    together: None,
};

const MS_NS: i64 = 1_000_000;

fn sniff(head: &[u8]) -> Sniff {
    let is = |l: &[u8]| property(text::valid(l)).is_some();
    let (properties, all) = text::count_lines(head, 500, is);
    match properties {
        0 => Sniff::NO,
        1.. if properties * 2 >= all => Sniff::percent(95),
        _ => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    text::read(input, &SOURCE, out, &mut Properties::default())
}

/// A name and a value that is whole, or goes on in the next line.
fn property(line: &str) -> Option<(&str, Result<&str, &str>)> {
    let (name, value) = line.trim().strip_prefix('[')?.split_once("]: [")?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic() && b != b']');
    let value = value.strip_suffix(']').ok_or(value);
    is_name.then_some((name, value))
}

#[derive(Default)]
pub(crate) struct Properties {
    /// When init was started, and how long its known stages took.
    init: Option<(i64, u32, Evidence)>,
    first_stage: Option<(i64, u32, Evidence)>,
    selinux: Option<(i64, u32, Evidence)>,
    /// Lengths without a place.
    lengths: Vec<(String, i64, Evidence)>,
    services: u64,
    loader: bool,
    /// In a value of several lines.
    goes_on: bool,
}

/// A device has a few hundred services.
const MAX_SERVICES: u64 = 100_000;

impl Reader for Properties {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let text = line.str();
        let Some((name, value)) = property(text) else {
            let ends = text.trim_end().ends_with(']');
            // One copied out of a bug report has a rule before and after.
            let went_on = self.goes_on;
            self.goes_on &= !ends;
            if went_on || is_rule(text) {
                return Ok(());
            }
            return Err(Skip::unknown(
                "expected `[ro.boottime.zygote]: [2570808853]`",
            ));
        };
        self.goes_on = value.is_err();
        let Ok(value) = value else { return Ok(()) };
        match name.strip_prefix("ro.boottime.") {
            Some(what) => self.boot_time(what, value, line.at, import),
            None if name == "ro.boot.boottime" => self.boot_loader(value, line.at, import),
            None => Ok(()),
        }
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        let clock = import.clock(ClockKind::Boottime);
        let mut place = 0;
        if let Some((ns, err_ns, at)) = self.init {
            place = ns;
            let start = Stamp::new(ns, err_ns);
            import.milestone(clock, start, Milestone::InitStart, at);
            self.stages(start, clock, import);
        }
        for (name, ns, at) in std::mem::take(&mut self.lengths) {
            let sample = (place, ns as f64 / MS_NS as f64);
            import.counter(clock, (&format!("init {name}"), "ms"), vec![sample], at);
        }
    }
}

impl Properties {
    fn boot_time(
        &mut self,
        what: &str,
        value: &str,
        at: Evidence,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        let number: i64 = value.trim().parse().map_err(|_| {
            Skip::lost(
                "not-a-time",
                "these properties should be times, and are not numbers",
            )
        })?;
        match what.strip_prefix("init") {
            Some("") => {
                let (ns, err_ns) = ms_or_ns(number, 10_000_000);
                self.init.get_or_insert((ns, err_ns, at));
            }
            Some(stage) if stage.starts_with('.') => {
                let (ns, err_ns) = ms_or_ns(number, 1_000_000);
                match stage {
                    ".first_stage" => self.first_stage = Some((ns, err_ns, at)),
                    ".selinux" => self.selinux = Some((ns, err_ns, at)),
                    _ if self.lengths.len() < 1000 => {
                        let name = stage.trim_start_matches('.').to_owned();
                        self.lengths.push((name, ns, at));
                    }
                    _ => return Err(TOO_MANY),
                }
            }
            _ => {
                self.services += 1;
                if self.services > MAX_SERVICES {
                    return Err(TOO_MANY);
                }
                let clock = import.clock(ClockKind::Boottime);
                let name = match what.strip_prefix("event.") {
                    Some(event) => event.to_owned(),
                    None => format!("service {what} started"),
                };
                import.mark(clock, Stamp::new(number, 1), &name, at);
            }
        }
        Ok(())
    }

    /// init's first stage, then the loading of SELinux's policy, after which
    /// its second stage begins.
    fn stages(&mut self, start: Stamp, clock: ClockId, import: &mut Import<'_>) {
        let track = (TrackKind::Userspace, "init");
        let Some(first_stage) = self.first_stage else {
            // Nobody knows where the second begins.
            let length = self
                .selinux
                .map(|(ns, _, at)| ("selinux".to_owned(), ns, at));
            self.lengths.extend(length);
            return;
        };
        let mut begin = start;
        let stages = [
            ("first stage", Some(first_stage)),
            ("selinux", self.selinux),
        ];
        for (name, stage) in stages {
            let Some((ns, err_ns, at)) = stage else { break };
            let err_ns = err_ns.saturating_add(begin.err_ns);
            let end = Stamp::new(begin.ns.saturating_add(ns), err_ns);
            import.span(clock, track, name, (begin, SpanEnd::At(end)), &[], at);
            begin = end;
        }
    }

    fn boot_loader(
        &mut self,
        value: &str,
        at: Evidence,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        let stages: Option<Vec<(&str, i64)>> = value.split(',').map(stage).collect();
        let stages = stages.ok_or(Skip::lost(
            "boot-loader-stages",
            "the boot loader's stages are not `NAME:MS,NAME:MS`",
        ))?;
        if std::mem::replace(&mut self.loader, true) {
            return Ok(());
        }
        let kind = ClockKind::Bootloader;
        let clock = import.timeline.add_clock(kind, import.file);
        let track = (TrackKind::Bootloader, "boot loader");
        let mut begin = Stamp::new(0, MS_NS as u32);
        for (name, ns) in stages {
            if name == "SW" {
                let sample = (begin.ns, ns as f64 / MS_NS as f64);
                import.counter(
                    clock,
                    ("boot loader waited for user", "ms"),
                    vec![sample],
                    at,
                );
                continue;
            }
            let err_ns = begin.err_ns.saturating_add(MS_NS as u32);
            let end = Stamp::new(begin.ns.saturating_add(ns), err_ns);
            let args: Vec<_> = meaning(name).map(|m| ("meaning", m)).into_iter().collect();
            import.span(clock, track, name, (begin, SpanEnd::At(end)), &args, at);
            begin = end;
        }
        import.milestone(clock, begin, Milestone::BootloaderHandover, at);
        // Android itself adds both up (`absolute_boot_time`).
        let boottime = import.clock(ClockKind::Boottime);
        let edge = ClockEdge::offset(boottime, clock, begin.ns, begin.err_ns, How::Assumed);
        let why = "the kernel starts where the boot loader's stages end";
        import.timeline.edges.push(edge.because(why, Some(at)));
        let zero = Stamp::new(0, 0);
        import.milestone(boottime, zero, Milestone::KernelClockStart, at);
        Ok(())
    }
}

const TOO_MANY: Skip = Skip::lost(
    "too-many-properties",
    "there are more times than any device has: is the file what it seems to be?",
);

/// `1BLL:89`.
fn stage(text: &str) -> Option<(&str, i64)> {
    let (name, ms) = text.trim().split_once(':')?;
    let ms: u32 = ms.trim().parse().ok()?;
    Some((name, i64::from(ms) * MS_NS))
}

fn meaning(stage: &str) -> Option<&'static str> {
    Some(match stage {
        "0BLE" => "run boot ROM's loader",
        "1BLL" => "load first stage",
        "1BLE" => "run first stage",
        "2BLL" => "load second stage",
        "2BLE" => "run second stage",
        "AVB" => "verify images",
        "KL" => "load kernel",
        "KD" => "decompress kernel",
        "ODT" => "apply device tree overlays",
        _ => return None,
    })
}

/// ns and resolution of a number that is ms below `limit`, else ns.
fn ms_or_ns(number: i64, limit: i64) -> (i64, u32) {
    if number < limit {
        (number.saturating_mul(MS_NS), MS_NS as u32)
    } else {
        (number, 1)
    }
}

/// `------ SYSTEM PROPERTIES (getprop) ------` of bug reports.
fn is_rule(text: &str) -> bool {
    text.starts_with("------ ") && text.contains("SYSTEM PROPERTIES")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties() {
        assert_eq!(
            property("[ro.boottime.logd]: [1437265416]"),
            Some(("ro.boottime.logd", Ok("1437265416")))
        );
        assert_eq!(property("[a]: []"), Some(("a", Ok(""))));
        assert_eq!(property("[a]: [b"), Some(("a", Err("b"))));
        for bad in ["", "[    0.1] x", "a: b", "[a b]: [c]"] {
            assert_eq!(property(bad), None, "{bad}");
        }
    }

    #[test]
    fn units() {
        assert_eq!(ms_or_ns(819, 10_000_000), (819_000_000, 1_000_000));
        assert_eq!(ms_or_ns(5_000_000_000, 10_000_000), (5_000_000_000, 1));
    }
}
