//! Units, from activating to active, and what orders them.

use std::collections::HashMap;

use bootlap_model::{
    ClockId, ClockKind, Evidence, LinkKind, Severity, SpanEnd, SpanId, Stamp, Sym, TrackKind,
};

use super::startup;
use crate::text::Import;

pub(crate) const UNITS: (TrackKind, &str) = (TrackKind::Unit, "units");

/// A link is stated where the one was active before the other began, or not
/// more than this after: the moments are taken one after the other.
const SLACK_NS: i64 = 1_000_000;

/// More orderings are not kept: a full desktop has some ten thousand.
const MAX_ORDERS: usize = 1_000_000;

/// When user space began, on a clock that counts since then.
const USERSPACE: Stamp = Stamp::new(0, 1_000_000);

/// How the names of units end.
const SUFFIXES: [&str; 12] = [
    ".service",
    ".target",
    ".mount",
    ".socket",
    ".device",
    ".slice",
    ".timer",
    ".path",
    ".scope",
    ".swap",
    ".automount",
    ".snapshot",
];

/// Whether `name` can be a unit's.
pub(crate) fn is_unit(name: &str) -> bool {
    name.len() < 300 && !name.contains([' ', '\t', '"', '=']) && {
        let suffix = SUFFIXES.iter().find(|s| name.ends_with(*s));
        suffix.is_some_and(|s| name.len() > s.len())
    }
}

/// What a unit's times count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Since {
    /// The beginning of each unit itself: only lengths are known.
    Itself,
    /// The beginning of user space.
    Userspace,
    /// The target's monotonic clock.
    Boot,
}

/// Why one unit is ordered after another, or needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    /// The first is started after the second.
    After,
    /// The first needs the second (`Requires=`, `Wants=` …).
    Needs,
}

/// A unit with its times.
pub(crate) struct Unit<'a> {
    pub(crate) name: &'a str,
    pub(crate) since: Since,
    pub(crate) start: Stamp,
    pub(crate) end: SpanEnd,
    /// When it was active, where that is the same moment for all formats.
    pub(crate) active: Option<Stamp>,
    pub(crate) args: &'a [(&'a str, &'a str)],
    pub(crate) at: Evidence,
}

#[derive(Clone, Copy)]
struct Placed {
    since: Since,
    id: SpanId,
}

/// All that a file says of units.
#[derive(Default)]
pub(crate) struct Units {
    clocks: [Option<ClockId>; 3],
    placed: HashMap<Sym, Placed>,
    alias: HashMap<Sym, Sym>,
    orders: Vec<(Sym, Order, Sym)>,
    /// The first unit whose times count since user space began.
    first: Option<Evidence>,
    /// When user space began on the clock of the boot.
    userspace: Option<(Stamp, Evidence)>,
}

impl Units {
    /// The clock of times that count since then.
    pub(crate) fn clock(&mut self, since: Since, import: &mut Import<'_>) -> ClockId {
        let kind = match since {
            Since::Itself | Since::Userspace => ClockKind::Relative,
            Since::Boot => ClockKind::Monotonic,
        };
        let (timeline, file) = (&mut *import.timeline, import.file);
        *self.clocks[since as usize].get_or_insert_with(|| timeline.add_clock(kind, file))
    }

    /// User space began at this time of the boot's clock.
    pub(crate) fn userspace_at(&mut self, at: Stamp, evidence: Evidence) {
        self.userspace.get_or_insert((at, evidence));
    }

    /// Adds a unit.
    pub(crate) fn add(&mut self, unit: &Unit<'_>, import: &mut Import<'_>) {
        let first = self.clocks[unit.since as usize].is_none();
        let clock = self.clock(unit.since, import);
        if first && unit.since == Since::Userspace {
            import.anchor(clock, USERSPACE, startup::userspace_key(), unit.at);
            self.first = Some(unit.at);
        }
        let times = (unit.start, unit.end);
        let id = import.span(clock, UNITS, unit.name, times, unit.args, unit.at);
        if let Some(active) = unit.active {
            import.anchor(clock, active, startup::unit_key(unit.name), unit.at);
        }
        let placed = Placed {
            since: unit.since,
            id,
        };
        let known = self.placed.entry(import.sym(unit.name)).or_insert(placed);
        if known.since < placed.since {
            *known = placed;
        }
    }

    /// `unit` is also called so.
    pub(crate) fn alias(&mut self, unit: &str, name: &str, import: &mut Import<'_>) {
        if unit != name && self.alias.len() < MAX_ORDERS {
            let (unit, name) = (import.sym(unit), import.sym(name));
            self.alias.insert(name, unit);
        }
    }

    /// `unit` is ordered so to `other`.
    pub(crate) fn order(&mut self, unit: &str, order: Order, other: &str, import: &mut Import<'_>) {
        if self.orders.len() < MAX_ORDERS {
            let (unit, other) = (import.sym(unit), import.sym(other));
            self.orders.push((unit, order, other));
        }
    }

    /// Whether there are orders, but no unit that they could be of.
    pub(crate) fn orders_only(&self) -> bool {
        !self.orders.is_empty() && self.placed.is_empty()
    }

    /// There is no more: joins the clocks and links the units. Says how many
    /// links came of it.
    pub(crate) fn finish(&mut self, import: &mut Import<'_>) -> usize {
        self.join(import);
        self.link(import)
    }

    /// What counts since user space began is on the boot's clock where the
    /// same file says when that was; else it is all that is known of the boot.
    fn join(&mut self, import: &mut Import<'_>) {
        let Some(user) = self.clocks[Since::Userspace as usize] else {
            return;
        };
        if let (Some((at, evidence)), Some(boot)) =
            (self.userspace, self.clocks[Since::Boot as usize])
        {
            let how = bootlap_model::How::SharedEvent;
            let edge = bootlap_model::ClockEdge::offset(user, boot, at.ns, at.err_ns, how);
            let why = "user space began then, by systemd's own count";
            import
                .timeline
                .edges
                .push(edge.because(why, Some(evidence)));
        }
        if let (Some(at), None) = (self.first, self.userspace) {
            startup::userspace_begins(user, (USERSPACE, false), at, import);
        }
    }

    fn link(&mut self, import: &mut Import<'_>) -> usize {
        if self.orders.is_empty() {
            return 0;
        }
        self.find_elsewhere(import);
        let mut needs: HashMap<(Sym, Sym), ()> = HashMap::new();
        for (unit, order, other) in &self.orders {
            if *order == Order::Needs {
                needs.insert((self.real(*unit), self.real(*other)), ());
            }
        }
        let mut told: HashMap<(SpanId, SpanId), ()> = HashMap::new();
        let (mut linked, mut against) = (0, 0);
        for (unit, order, other) in std::mem::take(&mut self.orders) {
            let (unit, other) = (self.real(unit), self.real(other));
            if order != Order::After || unit == other {
                continue;
            }
            let (Some(later), Some(first)) = (self.placed.get(&unit), self.placed.get(&other))
            else {
                continue;
            };
            if told.insert((first.id, later.id), ()).is_some() {
                continue;
            }
            match was_ordered(first.id, later.id, import) {
                Some(true) => {
                    let kind = match needs.contains_key(&(unit, other)) {
                        true => LinkKind::WaitsOn,
                        false => LinkKind::After,
                    };
                    import.timeline.link(first.id, later.id, kind);
                    linked += 1;
                }
                Some(false) => against += 1,
                None => {}
            }
        }
        if against > 0 {
            let at = import.timeline.span(self.any(import)).evidence;
            import.notice(
                "order-not-kept",
                Severity::Info,
                at,
                "some units were active only after the unit that is ordered behind them had begun (they were not started together, or again later): these orderings held nobody up and are left out",
            );
        }
        linked
    }

    /// The first unit of the file, for a place to show.
    fn any(&self, import: &Import<'_>) -> SpanId {
        let ids = self.placed.values().map(|p| p.id);
        let in_file = ids.filter(|id| import.timeline.span(*id).evidence.file == import.file);
        let all = self.placed.values().map(|p| p.id);
        in_file.min().or(all.min()).expect("a link needs units")
    }

    /// `dot` says nothing but orders: the units may be in files read before.
    fn find_elsewhere(&mut self, import: &mut Import<'_>) {
        if !self.placed.is_empty() {
            return;
        }
        for (id, span) in import.timeline.span_ids().zip(&import.timeline.spans) {
            if import.timeline.kind_of(span) != TrackKind::Unit {
                continue;
            }
            let since = match import.timeline.clock(span.clock).kind {
                ClockKind::Relative => Since::Userspace,
                ClockKind::Realtime => Since::Itself,
                _ => Since::Boot,
            };
            let placed = Placed { since, id };
            let known = self.placed.entry(span.name).or_insert(placed);
            if known.since < since {
                *known = placed;
            }
        }
    }

    fn real(&self, name: Sym) -> Sym {
        self.alias.get(&name).copied().unwrap_or(name)
    }
}

/// Whether `first` was active when `later` began; `None` if nobody knows.
fn was_ordered(first: SpanId, later: SpanId, import: &Import<'_>) -> Option<bool> {
    let (first, later) = (import.timeline.span(first), import.timeline.span(later));
    let SpanEnd::At(end) = first.end else {
        return None;
    };
    let known = |s: &bootlap_model::Span| import.timeline.arg(s, "start").is_none();
    let slack = i64::from(end.err_ns.max(later.start.err_ns)).max(SLACK_NS);
    (first.clock == later.clock && known(first) && known(later))
        .then(|| end.ns <= later.start.ns.saturating_add(slack))
}
