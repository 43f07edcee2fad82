//! What runs one after the other though no log says so: the links that follow
//! from how Linux starts.
//!
//! The kernel's first thread calls what is built in, one initcall after the
//! other, and waits for what it left to other threads (`async_synchronize_full`)
//! before it becomes init. What init runs first waited for all of that, and so
//! does each start-up script for the one before it.
//!
//! ```text
//! calls   ──A──┐     ┌─B─┐   (the thread waits)   ┌─C─┐  → init → its first
//! probe        └ · · · · · P, begun by B ─────────┤
//! ```
//!
//! Of the wait nothing but its end is told, so it is put down to what was over
//! when it ended, here P; where nothing was, the wait itself is a step. The call
//! in which drivers are probed again that had to wait for others is put down to
//! those probes, which another thread makes one after the other.

use std::collections::HashSet;

use bootlap_model::{Axis, Link, LinkKind, Span, SpanId, Timeline, TrackKind};

use super::SLACK_NS;
use super::graph::effective;

/// A kernel has hundreds of calls: those shorter than this, or than this part of
/// the time from the first to the last of them, are what passes between two steps.
const SHORT_NS: i64 = 1_000_000;
const SHORT_PART: i64 = 200;

/// The call that has drivers probed again which lacked what other drivers provide,
/// and waits for that.
const DEFERRED_PROBES: &str = "deferred_probe_initcall";

/// A span with its place.
#[derive(Clone, Copy)]
struct Item {
    id: SpanId,
    start_ns: i64,
    end_ns: i64,
}

impl Item {
    fn of(timeline: &Timeline, axis: &Axis, id: SpanId) -> Option<Self> {
        let placed = axis.span(timeline.span(id))?;
        Some(Self {
            id,
            start_ns: placed.start.ns,
            end_ns: placed.end?.ns,
        })
    }

    fn length_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// Whether the kernel's first thread called it: as init that loads modules.
pub(super) fn is_main_call(timeline: &Timeline, span: &Span) -> bool {
    let track = timeline.track_of(span);
    track.kind == TrackKind::Initcall
        && timeline.text(track.name) == "initcalls"
        && timeline.arg(span, "module").is_none()
}

/// Whether the kernel's first thread waited for others in it.
fn is_wait(timeline: &Timeline, span: &Span) -> bool {
    let track = timeline.track_of(span);
    track.kind == TrackKind::Kernel
        && timeline.text(track.name) == "async waits"
        && timeline.arg(span, "pid").is_none_or(|pid| pid == "1")
}

fn is_probe(timeline: &Timeline, span: &Span) -> bool {
    let track = timeline.track_of(span);
    track.kind == TrackKind::Initcall && timeline.text(track.name) == "device probes"
}

fn is_unpacking(timeline: &Timeline, span: &Span) -> bool {
    timeline.kind_of(span) == TrackKind::Kernel
        && timeline.text(span.name) == Span::UNPACK_INITRAMFS
}

fn is_script(timeline: &Timeline, span: &Span) -> bool {
    let track = timeline.track_of(span);
    track.kind == TrackKind::Userspace && timeline.text(track.name) == "start-up scripts"
}

/// The links that no log tells, between spans that are not short.
pub(super) fn sequence(timeline: &Timeline, axis: &Axis) -> Vec<Link> {
    let mut links = Links::default();
    let items = |of: &dyn Fn(&Span) -> bool| -> Vec<Item> {
        let ids = timeline.span_ids().zip(&timeline.spans);
        let ids = ids.filter(|(_, span)| of(span)).map(|(id, _)| id);
        let placed = ids.filter_map(|id| Item::of(timeline, axis, id));
        long(outermost(placed.collect()))
    };
    let calls = items(&|s| is_main_call(timeline, s) || is_wait(timeline, s));
    let kernel_ns = calls.last().map_or(i64::MIN, |call| call.end_ns);
    let mut steps: Vec<Item> = Vec::with_capacity(calls.len());
    for item in calls {
        let waited = is_wait(timeline, timeline.span(item.id));
        if let Some(other) = waited.then(|| awaited(timeline, axis, &item)).flatten() {
            links.beside(&other, &steps);
            continue;
        }
        let probes = deferred(timeline, axis, &item);
        for step in probes.unwrap_or_else(|| vec![item]) {
            links.then(step.id);
            steps.push(step);
        }
    }
    // Since Linux 5.13 another thread unpacks it, and init waits for that.
    for item in items(&|s| is_unpacking(timeline, s)) {
        links.beside(&item, &steps);
    }
    let first_unit_ns = timeline.spans_of(TrackKind::Unit);
    let first_unit_ns = first_unit_ns.filter_map(|unit| Some(axis.span(unit)?.start.ns));
    let first_unit_ns = first_unit_ns.min().unwrap_or(i64::MAX);
    let scripts = items(&|s| is_script(timeline, s));
    // Those that run side by side are no sequence; systemd runs some, too.
    if scripts.windows(2).all(is_apart) {
        let own = |s: &&Item| s.start_ns >= kernel_ns && s.end_ns <= first_unit_ns;
        scripts.iter().filter(own).for_each(|s| links.then(s.id));
    }
    links.then_all(&first_of_user_space(timeline, axis, kernel_ns));
    links.all
}

/// In order of start, without what lies in another.
fn outermost(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_by_key(|i| (i.start_ns, std::cmp::Reverse(i.end_ns), i.id));
    let mut until_ns = i64::MIN;
    items.retain(|item| {
        let outer = item.end_ns > until_ns;
        until_ns = until_ns.max(item.end_ns);
        outer
    });
    items
}

/// Without the short ones.
fn long(mut items: Vec<Item>) -> Vec<Item> {
    let ends = items.first().zip(items.last());
    let all_ns = ends.map_or(0, |(first, last)| {
        last.end_ns.saturating_sub(first.start_ns)
    });
    items.retain(|item| item.length_ns() >= SHORT_NS.max(all_ns / SHORT_PART));
    items
}

/// What a wait was for: of all that another thread did, what was over last
/// when it ended.
fn awaited(timeline: &Timeline, axis: &Axis, wait: &Item) -> Option<Item> {
    let others = timeline.span_ids().zip(&timeline.spans).filter(|(_, s)| {
        matches!(timeline.kind_of(s), TrackKind::Initcall | TrackKind::Kernel)
            && !is_main_call(timeline, s)
            && !is_wait(timeline, s)
    });
    let others = others.filter_map(|(id, _)| Item::of(timeline, axis, id));
    let until = (wait.end_ns.saturating_sub(SLACK_NS)).max(wait.start_ns)
        ..=wait.end_ns.saturating_add(SLACK_NS);
    let others = others.filter(|o| o.start_ns < wait.end_ns && until.contains(&o.end_ns));
    others.max_by_key(|o| (o.end_ns, o.id))
}

/// The probes of which the call that waits for them consists, if it is that call, they
/// are most of it, and nothing else was probed beside them.
fn deferred(timeline: &Timeline, axis: &Axis, call: &Item) -> Option<Vec<Item>> {
    if timeline.text(timeline.span(call.id).name) != DEFERRED_PROBES {
        return None;
    }
    let during = call.start_ns..=call.end_ns;
    let probes = timeline.span_ids().zip(&timeline.spans);
    let probes = probes.filter(|(_, s)| is_probe(timeline, s));
    let probes = probes.filter_map(|(id, _)| Item::of(timeline, axis, id));
    let probes = probes.filter(|p| during.contains(&p.start_ns) && during.contains(&p.end_ns));
    let probes = long(outermost(probes.collect()));
    let all_ns = probes
        .iter()
        .map(Item::length_ns)
        .fold(0, i64::saturating_add);
    let is_most = all_ns >= call.length_ns() / 2 && !probes.is_empty();
    (is_most && probes.windows(2).all(is_apart)).then_some(probes)
}

/// Whether the second begins when the first is over.
fn is_apart(pair: &[Item]) -> bool {
    pair[0].end_ns <= pair[1].start_ns.saturating_add(SLACK_NS)
}

/// What user space has been seen to do before all that is linked to it.
fn first_of_user_space(timeline: &Timeline, axis: &Axis, kernel_ns: i64) -> Vec<SpanId> {
    let held = timeline.links.iter();
    let held = held.filter(|link| effective(timeline, axis, link).is_some());
    let held: HashSet<SpanId> = held.map(|link| link.to).collect();
    let linked = timeline.links.iter().flat_map(|link| [link.from, link.to]);
    let mut first: Vec<SpanId> = linked.collect();
    first.sort_unstable();
    first.dedup();
    first.retain(|id| {
        let after = Item::of(timeline, axis, *id).is_some_and(|i| i.start_ns >= kernel_ns);
        after && !held.contains(id)
    });
    first
}

/// Links under construction.
#[derive(Default)]
struct Links {
    all: Vec<Link>,
    /// What the next one has to wait for, and how.
    open: Vec<(SpanId, LinkKind)>,
}

impl Links {
    fn add(&mut self, from: SpanId, to: SpanId, kind: LinkKind) {
        self.all.push(Link { from, to, kind });
    }

    /// It runs when all before it is over.
    fn then(&mut self, id: SpanId) {
        self.then_all(&[id]);
        self.open = vec![(id, LinkKind::After)];
    }

    fn then_all(&mut self, ids: &[SpanId]) {
        let all = ids
            .iter()
            .flat_map(|to| self.open.iter().map(move |f| (f, *to)));
        let all = all.map(|((from, kind), to)| Link {
            from: *from,
            to,
            kind: *kind,
        });
        self.all.extend(all);
    }

    /// What comes next also waits for what one of `steps` had begun, which runs
    /// on beside it.
    fn beside(&mut self, other: &Item, steps: &[Item]) {
        if let Some(by) = steps.iter().rfind(|s| s.start_ns <= other.start_ns) {
            let kind = match by.end_ns > other.start_ns {
                true => LinkKind::Spawns,
                false => LinkKind::After,
            };
            self.add(by.id, other.id, kind);
        }
        self.open.push((other.id, LinkKind::WaitsOn));
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::{Milestone, SpanEnd, Stamp};

    use super::super::{CriticalPath, critical_path};
    use crate::build::Boot;

    use super::*;

    const CALLS: (TrackKind, &str) = (TrackKind::Initcall, "initcalls");
    const PROBES: (TrackKind, &str) = (TrackKind::Initcall, "device probes");
    const WAITS: (TrackKind, &str) = (TrackKind::Kernel, "async waits");
    const SCRIPTS: (TrackKind, &str) = (TrackKind::Userspace, "start-up scripts");
    const UNITS: (TrackKind, &str) = (TrackKind::Unit, "units");

    /// A boot that is ready at 1 s: lane, begin and end in µs, name.
    fn boot(spans: &[((TrackKind, &str), i64, i64, &str)]) -> Boot {
        let mut boot = Boot::board();
        boot.mark(Milestone::KernelEntry, 0);
        boot.mark(Milestone::InitStart, 100_000_000);
        boot.mark(Milestone::Ready, 1_000_000_000);
        let clock = boot.timeline.clock_ids().next().unwrap();
        let file = boot.timeline.file_ids().next().unwrap();
        for (track, start, end, name) in spans {
            let at = |us: &i64| Stamp::new(us * 1_000, 0);
            let times = (at(start), SpanEnd::At(at(end)));
            let evidence = bootlap_model::Evidence::whole(file, 0);
            boot.timeline
                .add_named(clock, *track, name, times, &[], evidence);
        }
        boot
    }

    /// Gap before, what took most of it, length, name; µs.
    fn steps(path: &CriticalPath) -> Vec<(i64, &str, i64, &str)> {
        let sum = path.own_ns() + path.gaps_ns();
        assert_eq!(sum, path.end.ns - path.begin.unwrap().ns, "one owner each");
        let row = |s: &'_ super::super::Step| (s.gap_ns / 1_000, s.own_ns() / 1_000);
        let steps = path.steps.iter().map(|s| {
            let (gap, own) = row(s);
            (gap, s.during.as_deref().unwrap_or(""), own, s.name.as_str())
        });
        steps.collect()
    }

    #[test]
    fn initcalls_follow_each_other_and_what_init_runs_first_follows_them() {
        let mut boot = boot(&[
            (CALLS, 1_000, 3_000, "a"),
            (CALLS, 3_000, 3_900, "short"),
            (CALLS, 3_900, 4_800, "shorter"),
            (CALLS, 5_000, 9_000, "b"),
            (CALLS, 6_000, 8_000, "called by b"),
            (UNITS, 200_000, 300_000, "first"),
            (UNITS, 300_000, 990_000, "app"),
            // It begins before the kernel is done: it cannot have waited for it.
            (UNITS, 8_000, 20_000, "odd"),
            // systemd, which is the same thread, loads a module.
            (CALLS, 210_000, 290_000, "of a module"),
        ]);
        boot.arg("module", "autofs4");
        let ids: Vec<SpanId> = boot.timeline.span_ids().collect();
        boot.timeline.link(ids[5], ids[6], LinkKind::WaitsOn);
        let path = critical_path(&boot.timeline).unwrap();
        assert_eq!(
            steps(&path),
            [
                (1_000, "", 2_000, "a"),
                (2_000, "2 short initcalls", 4_000, "b"),
                (191_000, "", 100_000, "first"),
                (0, "", 690_000, "app"),
            ]
        );
        assert_eq!(path.begin.map(|at| at.ns), Some(0));
    }

    #[test]
    fn a_wait_is_put_down_to_what_was_over_when_it_ended() {
        let spans = [
            (CALLS, 1_000, 4_000, "begins the probe"),
            (CALLS, 4_000, 6_000, "beside it"),
            (PROBES, 2_500, 5_000, "over too soon"),
            (PROBES, 2_000, 20_000, "disk"),
            (WAITS, 6_000, 20_010, "async wait"),
            (CALLS, 21_000, 30_000, "after it"),
        ];
        let seen = boot(&spans);
        let path = critical_path(&seen.timeline).unwrap();
        assert_eq!(
            steps(&path),
            [
                (1_000, "", 1_000, "begins the probe"),
                (0, "", 18_000, "disk"),
                (1_000, "", 9_000, "after it"),
            ]
        );
        // If nothing of it was logged, the wait is all that is known.
        let unseen: Vec<_> = spans.iter().filter(|s| s.3 != "disk").copied().collect();
        let unseen = boot(&unseen);
        let path = critical_path(&unseen.timeline).unwrap();
        let names: Vec<_> = path.steps.iter().map(|s| s.name.as_str()).collect();
        let all = ["begins the probe", "beside it", "async wait", "after it"];
        assert_eq!(names, all);
    }

    #[test]
    fn the_call_for_deferred_probes_is_put_down_to_them() {
        let spans = [
            (CALLS, 1_000, 4_000, "a"),
            (CALLS, 4_000, 30_000, "deferred_probe_initcall"),
            (PROBES, 2_000, 3_000, "of another call"),
            (PROBES, 4_500, 10_000, "regulator"),
            (PROBES, 12_000, 29_000, "disk"),
            (CALLS, 30_000, 40_000, "b"),
        ];
        let seen = boot(&spans);
        let path = critical_path(&seen.timeline).unwrap();
        let rows = steps(&path)
            .into_iter()
            .map(|(gap, _, own, name)| (gap, own, name));
        let all = [
            (1_000, 3_000, "a"),
            (500, 5_500, "regulator"),
            (2_000, 17_000, "disk"),
            (1_000, 10_000, "b"),
        ];
        assert_eq!(rows.collect::<Vec<_>>(), all);
        // Where they are not most of it, or something ran beside them, it is all that is known.
        let few: Vec<_> = spans.iter().filter(|s| s.3 != "disk").copied().collect();
        let mut beside = spans.to_vec();
        beside.push((PROBES, 9_000, 15_000, "asynchronous"));
        for spans in [few, beside] {
            let boot = boot(&spans);
            let path = critical_path(&boot.timeline).unwrap();
            let names: Vec<_> = path.steps.iter().map(|s| s.name.as_str()).collect();
            assert_eq!(names, ["a", "deferred_probe_initcall", "b"]);
        }
    }

    #[test]
    fn init_waits_for_its_initramfs() {
        let spans = [
            (CALLS, 1_000, 40_000, "a"),
            (CALLS, 41_000, 60_000, "b"),
            (
                (TrackKind::Kernel, "kernel"),
                40_500,
                95_000,
                "unpack initramfs",
            ),
        ];
        let mut boot = boot(&spans);
        boot.timeline.marks.pop();
        let path = critical_path(&boot.timeline).unwrap();
        assert_eq!(path.to, Some(Milestone::InitStart));
        let all = [
            (1_000, "", 39_000, "a"),
            (500, "", 54_500, "unpack initramfs"),
        ];
        assert_eq!(steps(&path), all);
        assert_eq!(path.last_gap_ns, 5_000_000);
    }

    #[test]
    fn scripts_follow_each_other_if_none_runs_beside_another() {
        let spans = [
            (CALLS, 1_000, 4_000, "a"),
            (SCRIPTS, 150_000, 200_000, "S01"),
            (SCRIPTS, 210_000, 500_000, "S02"),
        ];
        let apart = boot(&spans);
        let path = critical_path(&apart.timeline).unwrap();
        let names: Vec<_> = path.steps.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["a", "S01", "S02"]);
        assert_eq!(path.last_gap_ns, 500_000_000);
        let mut beside = spans.to_vec();
        beside.push((SCRIPTS, 190_000, 400_000, "S03"));
        let beside = boot(&beside);
        assert_eq!(critical_path(&beside.timeline), None);
    }
}
