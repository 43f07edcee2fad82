//! `systemctl show`: properties of the manager and of units.
//!
//! ```text
//! UserspaceTimestamp=Sat 2026-11-21 07:45:40 UTC
//! UserspaceTimestampMonotonic=9547921
//! FinishTimestampMonotonic=42820884
//!
//! Id=systemd-udevd.service
//! After=systemd-journald.socket system.slice
//! InactiveExitTimestampMonotonic=30742698
//! ActiveEnterTimestampMonotonic=33009768
//! ActiveExitTimestampMonotonic=0
//! InactiveEnterTimestampMonotonic=0
//! ```
//!
//! `systemctl show` alone tells of the manager, `systemctl show '*'` of all
//! units, with a blank line between two; properties come in no fixed order.
//! µs of the monotonic clock; 0 is *never*. Firmware's and loader's count
//! back from the kernel's zero. A unit was being started from `InactiveExit`
//! to `ActiveEnter`; one that did its work and was inactive again has only
//! `InactiveEnter` after it. These are the moments of a unit's last start,
//! which may lie long after the boot.

use bootlap_model::{Evidence, Milestone, Severity, SpanEnd, Stamp, TrackKind};

use super::startup::{self, Before};
use super::svg::relation;
use super::units::{Order, Since, Unit, Units, is_unit};
use crate::text::{Import, Skip};

const ERR_NS: u32 = 1_000;
const FORK_NS: i64 = 100_000_000;
const STAGES: (TrackKind, &str) = (TrackKind::Userspace, "systemd");

/// The stages of the manager's own start: names of the properties' beginnings.
const MANAGER: [(&str, &str); 6] = [
    ("Security", "security module"),
    ("Generators", "generators"),
    ("UnitsLoad", "load unit files"),
    ("InitRDSecurity", "security module (initrd)"),
    ("InitRDGenerators", "generators (initrd)"),
    ("InitRDUnitsLoad", "load unit files (initrd)"),
];

/// A block may have this many properties that count here.
const MAX_KEPT: usize = 4096;

/// The block that is being read.
#[derive(Default)]
pub(crate) struct Show {
    id: String,
    names: String,
    /// Times that are known, µs.
    times: Vec<(String, i64)>,
    /// Wall-clock times, where those of the monotonic clock were not asked for.
    wall_only: bool,
    facts: Vec<(&'static str, String)>,
    relations: Vec<(bool, Order, String)>,
    state: String,
    begun: Option<Evidence>,
}

/// Properties that become arguments.
const FACTS: [(&str, &str); 4] = [
    ("Type", "type"),
    ("Result", "result"),
    ("ExecMainPID", "pid"),
    ("Description", "description"),
];

/// A property: its name and value.
pub(crate) fn property(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    let first = key.starts_with(|c: char| c.is_ascii_uppercase());
    (first && key.bytes().all(|b| b.is_ascii_alphanumeric())).then_some((key, value))
}

/// Whether only systemd prints such a property.
pub(crate) fn is_telling(key: &str) -> bool {
    let monotonic = key.strip_suffix("TimestampMonotonic");
    let wall = key.strip_suffix("Timestamp");
    monotonic.is_some() || wall.is_some_and(|k| STAMPS.contains(&k))
}

const STAMPS: [&str; 8] = [
    "InactiveExit",
    "ActiveEnter",
    "ActiveExit",
    "InactiveEnter",
    "Userspace",
    "Finish",
    "Kernel",
    "StateChange",
];

impl Show {
    /// Takes a property.
    pub(crate) fn property(&mut self, key: &str, value: &str, at: Evidence) {
        let begun = self.begun.get_or_insert(at);
        begun.end = begun.end.max(at.end);
        if let Some(key) = key.strip_suffix("TimestampMonotonic") {
            if let Some(us) = value.parse().ok().filter(|us| *us > 0)
                && self.times.len() < MAX_KEPT
            {
                self.times.push((key.to_owned(), us));
            }
            return;
        }
        match key {
            "Id" => value.clone_into(&mut self.id),
            "Names" => value.clone_into(&mut self.names),
            "ActiveState" => value.clone_into(&mut self.state),
            _ => {}
        }
        self.wall_only |= key == "ActiveEnterTimestamp" && !value.is_empty();
        if let Some((_, name)) = FACTS.iter().find(|(k, _)| *k == key) {
            if !value.is_empty() && value != "0" && self.facts.len() < MAX_KEPT {
                self.facts.push((name, value.to_owned()));
            }
        } else if let Some((forward, order)) = relation(key)
            && self.relations.len() < MAX_KEPT
        {
            self.relations.push((forward, order, value.to_owned()));
        }
    }

    fn ns(&self, key: &str) -> Option<i64> {
        let (_, us) = self.times.iter().find(|(k, _)| k == key)?;
        Some(us.saturating_mul(1_000))
    }

    /// The block ends.
    pub(crate) fn flush(&mut self, units: &mut Units, import: &mut Import<'_>) {
        let block = std::mem::take(self);
        let Some(at) = block.begun else { return };
        if block.ns("Userspace").is_some() || block.ns("Finish").is_some() {
            block.manager(at, units, import);
        }
        if !block.id.is_empty() {
            block.unit(at, units, import);
        }
    }

    fn manager(&self, at: Evidence, units: &mut Units, import: &mut Import<'_>) {
        let clock = units.clock(Since::Boot, import);
        let zero = Stamp::new(0, 0);
        let before = Before {
            firmware_ns: self.ns("Firmware"),
            loader_ns: self.ns("Loader"),
            err_ns: ERR_NS,
        };
        before.place(clock, zero, at, import);
        let start = Stamp::new(0, startup::CLOCKS_APART_NS);
        import.milestone(clock, start, Milestone::KernelClockStart, at);
        let initrd = self.ns("InitRD");
        if let Some(ns) = initrd {
            let late = Stamp::new(ns, startup::INIT_LATE_NS);
            import.milestone(clock, late, Milestone::InitStart, at);
        }
        if let Some(ns) = self.ns("Userspace") {
            let begins = Stamp::new(ns, ERR_NS);
            units.userspace_at(begins, at);
            startup::userspace_begins(clock, (begins, initrd.is_some()), at, import);
        }
        for (key, name) in MANAGER {
            let start = self.ns(&format!("{key}Start"));
            if let (Some(start), Some(end)) = (start, self.ns(&format!("{key}Finish"))) {
                let times = (
                    Stamp::new(start, ERR_NS),
                    SpanEnd::At(Stamp::new(end, ERR_NS)),
                );
                import.span(clock, STAGES, name, times, &[], at);
            }
        }
        match self.ns("Finish") {
            Some(ns) => startup::finished(clock, Stamp::new(ns, ERR_NS), at, import),
            None => not_finished(at, import),
        }
    }

    fn unit(&self, at: Evidence, units: &mut Units, import: &mut Import<'_>) {
        for name in self.names.split_whitespace() {
            units.alias(&self.id, name, import);
        }
        for (forward, order, others) in &self.relations {
            for other in others.split_whitespace().filter(|o| is_unit(o)) {
                let (unit, other) = match forward {
                    true => (self.id.as_str(), other),
                    false => (other, self.id.as_str()),
                };
                units.order(unit, *order, other, import);
            }
        }
        let Some(start) = self.ns("InactiveExit") else {
            if self.wall_only {
                import.notice(
                    "wall-clock-only",
                    Severity::DataLoss,
                    at,
                    "these units have times of the wall clock only, to a second, which is too coarse: use `systemctl show '*'` without -p, or ask for InactiveExitTimestampMonotonic and ActiveEnterTimestampMonotonic too",
                );
            }
            return;
        };
        let later = |key| self.ns(key).filter(|ns| *ns >= start);
        let active = later("ActiveEnter");
        let stamp = |ns| Stamp::new(ns, ERR_NS);
        let end = match (active, later("InactiveEnter"), self.state.as_str()) {
            (Some(active), ..) => SpanEnd::At(stamp(active)),
            (None, Some(done), _) => SpanEnd::At(stamp(done)),
            (None, None, "activating") => SpanEnd::OpenAtCut,
            _ => SpanEnd::Unknown,
        };
        let mut args: Vec<(&str, &str)> = Vec::new();
        let facts = self
            .facts
            .iter()
            .filter(|(k, v)| *k != "result" || v != "success");
        args.extend(facts.map(|(k, v)| (*k, v.as_str())));
        let us = |from: i64, to: i64| (to.saturating_sub(from) / 1_000).to_string();
        let stayed = active.zip(later("ActiveExit")).filter(|(a, b)| b >= a);
        let stayed = stayed.map(|(from, to)| us(from, to));
        args.extend(stayed.as_deref().map(|s| ("active_us", s)));
        // The main process can be forked a little before the state changes.
        let main = self
            .ns("ExecMainStart")
            .filter(|ns| *ns >= start.saturating_sub(FORK_NS));
        let queue = main.filter(|ns| *ns > start).map(|main| us(start, main));
        args.extend(queue.as_deref().map(|s| ("exec_after_us", s)));
        let ran = main.zip(self.ns("ExecMainExit")).filter(|(a, b)| b >= a);
        let ran = ran.map(|(from, to)| us(from, to));
        args.extend(ran.as_deref().map(|s| ("exec_us", s)));
        let failed = self.state == "failed";
        let moment = match end {
            SpanEnd::At(at) if !failed && active.is_some() => Some(at),
            _ => None,
        };
        units.add(
            &Unit {
                name: &self.id,
                since: Since::Boot,
                start: stamp(start),
                end,
                active: moment,
                args: &args,
                at,
            },
            import,
        );
    }
}

/// The start-up was not finished when systemd was asked.
pub(crate) fn not_finished(at: Evidence, import: &mut Import<'_>) {
    import.notice(
        "boot-not-finished",
        Severity::Notice,
        at,
        "systemd was still starting units when it was asked (some unit waits or has failed): see `systemctl list-jobs`, and ask again when `systemctl is-system-running --wait` returns",
    );
}

/// A line that is no property.
pub(crate) const EXPECTED: Skip = Skip::unknown(
    "expected what `systemd-analyze` (time, blame, critical-chain, plot, dot) or `systemctl show` prints",
);
