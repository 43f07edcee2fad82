//! `systemd-analyze plot` as JSON and as a table.
//!
//! ```text
//! [{"name":"dev-vda.device","activated":39433917,"activating":16112649,"time":23321268,"deactivated":42820884,"deactivating":42820884}, …
//! NAME              ACTIVATED ACTIVATING   TIME    DEACTIVATED DEACTIVATING
//! system.slice      16.108s   16.108s      0       42.820s     42.820s
//! systemd-hostname… 42.820s   1min 24.481s 1.363s  42.820s     42.820s
//!
//! 108 Units listed.
//! ```
//!
//! systemd 253 and later. µs (the table: cut to ms) since the kernel's clock
//! began. All moments are clamped to the one at which startup was finished:
//! what was still active then ends there by these numbers, and a unit that was
//! started later was "activated" before it began. So a unit was active at
//! `activating + time`; where `time` is 0 and the unit became active only at
//! the end, it was not active yet. The table may cut names (`…`).

use bootlap_model::{Evidence, Milestone, Severity, SpanEnd, Stamp};

use super::startup;
use super::timespan;
use super::units::{Since, Unit, Units};
use crate::json::Item;
use crate::text::{Import, Skip};

const US: i64 = 1_000;

/// The numbers of a unit, ns.
#[derive(Clone, Copy, Default)]
pub(crate) struct Numbers {
    activated: Option<i64>,
    activating: Option<i64>,
    time: Option<i64>,
    deactivated: Option<i64>,
    deactivating: Option<i64>,
    err_ns: u32,
}

/// What was read so far.
#[derive(Default)]
pub(crate) struct Plot {
    name: String,
    numbers: Numbers,
    begun: Option<Evidence>,
    /// The latest end, and of how many units it is.
    finish: Option<(i64, u32, Evidence)>,
    finish_units: usize,
    columns: Vec<(usize, Column)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Name,
    Activated,
    Activating,
    Time,
    Deactivated,
    Deactivating,
    Other,
}

impl Column {
    fn of(name: &str) -> Self {
        match name {
            "name" => Self::Name,
            "activated" => Self::Activated,
            "activating" => Self::Activating,
            "time" => Self::Time,
            "deactivated" => Self::Deactivated,
            "deactivating" => Self::Deactivating,
            _ => Self::Other,
        }
    }
}

impl Numbers {
    fn set(&mut self, column: Column, ns: Option<i64>) {
        match column {
            Column::Activated => self.activated = ns,
            Column::Activating => self.activating = ns,
            Column::Time => self.time = ns,
            Column::Deactivated => self.deactivated = ns,
            Column::Deactivating => self.deactivating = ns,
            Column::Name | Column::Other => {}
        }
    }
}

impl Plot {
    /// Takes a piece of JSON.
    pub(crate) fn item(
        &mut self,
        item: &Item<'_>,
        at: Evidence,
        units: &mut Units,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        match item {
            Item::Begin(from) => {
                self.name.clear();
                self.numbers = Numbers {
                    err_ns: 1_000,
                    ..Numbers::default()
                };
                // All units can be one line: what tells of this one is its record.
                self.begun = Some(Evidence {
                    start: at.start.saturating_add(*from as u64).min(at.end),
                    ..at
                });
            }
            Item::Field(key, value) => match Column::of(crate::text::valid(key)) {
                Column::Name => crate::text::valid(value).clone_into(&mut self.name),
                column => {
                    let us: Option<i64> = crate::text::valid(value).parse().ok();
                    self.numbers.set(column, us.map(|us| us.saturating_mul(US)));
                }
            },
            Item::End(to) => {
                let mut place = self.begun.take().unwrap_or(at);
                place.end = at.start.saturating_add(*to as u64).min(at.end);
                let name = std::mem::take(&mut self.name);
                return self.unit(&name, place, units, import);
            }
        }
        Ok(())
    }

    /// Takes the heading of a table: where its columns are.
    pub(crate) fn heading(&mut self, text: &str) -> bool {
        let words = text.split_whitespace();
        let named = words.map(|w| Column::of(&w.to_ascii_lowercase()));
        let named: Vec<Column> = named.collect();
        if !named.contains(&Column::Name) || !named.contains(&Column::Activating) {
            return false;
        }
        let chars: Vec<char> = text.chars().collect();
        let begins = |i: &usize| {
            chars[*i] != ' ' && i.checked_sub(1).is_none_or(|before| chars[before] == ' ')
        };
        let places = (0..chars.len()).filter(begins);
        self.columns = places.zip(named).collect();
        true
    }

    /// Takes a row of a table; `None` if it is none.
    pub(crate) fn row(
        &mut self,
        text: &str,
        at: Evidence,
        units: &mut Units,
        import: &mut Import<'_>,
    ) -> Option<Result<(), Skip>> {
        let chars: Vec<char> = text.chars().collect();
        let mut numbers = Numbers {
            err_ns: 1_000_000,
            ..Numbers::default()
        };
        let mut name = String::new();
        for (i, (begin, column)) in self.columns.iter().enumerate() {
            let end = self.columns.get(i + 1).map_or(usize::MAX, |next| next.0);
            let cell = chars.get(*begin..end.min(chars.len()))?;
            let cell: String = cell.iter().collect();
            match column {
                Column::Name => cell.trim().clone_into(&mut name),
                Column::Other => {}
                column => numbers.set(*column, Some(timespan::timespan(&cell)?.ns)),
            }
        }
        if name.is_empty() || self.columns.is_empty() {
            return None;
        }
        self.numbers = numbers;
        Some(self.unit(&name, at, units, import))
    }

    fn unit(
        &mut self,
        name: &str,
        at: Evidence,
        units: &mut Units,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        let n = self.numbers;
        let Some(activating) = n.activating.filter(|_| !name.is_empty()) else {
            return Err(Skip::lost(
                "unit-without-times",
                "these records lack the unit's name or its `activating` time: is this the output of `systemd-analyze plot --json=short`?",
            ));
        };
        let took = n.time.unwrap_or(0).max(0);
        let activated = n.activated.unwrap_or(activating);
        let never = took == 0 && activated > activating && n.deactivated == Some(activated);
        let stamp = |ns: i64| Stamp::new(ns, n.err_ns);
        let active = stamp(activating.saturating_add(took));
        let end = match never {
            true => SpanEnd::OpenAtCut,
            false => SpanEnd::At(active),
        };
        let finish = n.deactivated.unwrap_or(i64::MIN);
        let cut = name.ends_with('…') || name.ends_with("...");
        if cut {
            import.notice(
                "name-cut",
                Severity::Notice,
                at,
                "the table was printed for a narrow terminal and cuts the names of units: use `systemd-analyze plot --json=short`, or widen it with COLUMNS=300",
            );
        }
        let mut args = Vec::new();
        let stayed = n.deactivating.filter(|d| *d > active.ns);
        let ended = n.deactivating != n.deactivated || self.finish.is_some_and(|f| f.0 > finish);
        let stayed = stayed.filter(|_| ended && !never);
        let stayed = stayed.map(|d| (d.saturating_sub(active.ns) / US).to_string());
        args.extend(stayed.as_deref().map(|us| ("active_us", us)));
        units.add(
            &Unit {
                name,
                since: Since::Boot,
                start: stamp(activating),
                end,
                active: (!never && !cut).then_some(active),
                args: &args,
                at,
            },
            import,
        );
        match &mut self.finish {
            Some((latest, _, _)) if *latest == finish => self.finish_units += 1,
            Some((latest, _, _)) if *latest > finish => {}
            latest => {
                *latest = Some((finish, n.err_ns, at));
                self.finish_units = 1;
            }
        }
        Ok(())
    }

    /// There is no more. What many units share as their end is when startup
    /// was finished.
    pub(crate) fn finish(&mut self, units: &mut Units, import: &mut Import<'_>) {
        if let Some((ns, err_ns, at)) = self.finish.take()
            && self.finish_units >= 2
            && ns > 0
        {
            let clock = units.clock(Since::Boot, import);
            startup::finished(clock, Stamp::new(ns, err_ns), at, import);
            let zero = Stamp::new(0, startup::CLOCKS_APART_NS);
            import.milestone(clock, zero, Milestone::KernelClockStart, at);
        }
    }
}

/// `108 Units listed.`
pub(crate) fn is_count(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(4).collect();
    matches!(words[..], [n, "Units" | "units", "listed."] if n.parse::<u64>().is_ok())
}
