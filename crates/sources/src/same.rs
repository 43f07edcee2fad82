//! One thing that several files tell of is one span.
//!
//! `systemd-analyze plot`, `blame` and the journal all have the units, a console
//! and a `dmesg` both the kernel's initcalls. The span that knows most stays; it
//! says where else it is told ([`ALSO`]), and takes over what the others say of
//! it. Within one file only what has no time of its own is merged (`blame` behind
//! `critical-chain`): what happened twice happened twice.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use bootlap_model::{Axis, ClockKind, FileId, Placed, Span, SpanEnd, SpanId, Timeline, TrackKind};

/// The argument that names the other places of a span: `plot.svg:120`.
const ALSO: &str = "also in";
/// Programs round times, and see an event so much later than others, ns.
const NEAR_NS: u64 = 2_000_000;
/// What a name that did not fit ends in.
const CUT: [&str; 2] = ["…", "..."];

/// Joins the spans that are the same.
pub(crate) fn merge(timeline: &mut Timeline) {
    let mut clocks = timeline.clocks.iter();
    if timeline.files.len() < 2 && !clocks.any(|c| c.kind == ClockKind::Relative) {
        return;
    }
    let into = same(timeline);
    for (other, kept) in &into {
        let (other, file) = (
            timeline.span(*other).clone(),
            timeline.span(*other).evidence.file,
        );
        let name = timeline
            .file(file)
            .name
            .rsplit('/')
            .next()
            .unwrap_or_default();
        let place = format!("{name}:{}", other.evidence.line);
        let (also, place) = (
            timeline.symbols.intern(ALSO),
            timeline.symbols.intern(&place),
        );
        let known: Vec<_> = timeline
            .span(*kept)
            .args
            .iter()
            .map(|(key, _)| *key)
            .collect();
        // That another file does not know a start is no fact.
        let unknown = timeline.symbols.find("start");
        let more = other.args.into_iter();
        let more = more.filter(|(key, _)| !known.contains(key) && Some(*key) != unknown);
        let kept = timeline.span_mut(*kept);
        kept.args.extend(more);
        kept.args.push((also, place));
    }
    timeline.merge_spans(&into);
}

/// What is told again, with the span that it is.
fn same(timeline: &Timeline) -> BTreeMap<SpanId, SpanId> {
    let axis = Axis::of(timeline);
    let mut named: HashMap<(TrackKind, &str), Vec<Told>> = HashMap::new();
    for (id, span) in timeline.span_ids().zip(&timeline.spans) {
        let kind = timeline.kind_of(span);
        if !matches!(
            kind,
            TrackKind::Unit | TrackKind::Initcall | TrackKind::Kernel
        ) {
            continue;
        }
        let told = Told::of(timeline, &axis, id, span);
        named.entry((kind, told.stem)).or_default().push(told);
    }
    let told = named.iter().filter(|(_, told)| told.iter().any(|t| t.cut));
    let mut cut: Vec<(TrackKind, &str)> = told.map(|(key, _)| *key).collect();
    cut.sort_unstable();
    for (kind, stem) in cut {
        let whole = named
            .keys()
            .filter(|(k, name)| *k == kind && *name != stem && name.starts_with(stem));
        let whole: Vec<(TrackKind, &str)> = whole.copied().collect();
        let cut = named.remove(&(kind, stem)).unwrap_or_default();
        match whole[..] {
            // Of several nobody knows which it is.
            [one] => named.entry(one).or_default().extend(cut),
            _ => {
                named.insert((kind, stem), cut);
            }
        }
    }
    let mut into = BTreeMap::new();
    for told in named.into_values() {
        join(told, &mut into);
    }
    into
}

/// Joins what is told under one name: the best of each first, and to it from
/// every other file what is nearest.
fn join(mut told: Vec<Told>, into: &mut BTreeMap<SpanId, SpanId>) {
    told.sort_by_key(|t| (Reverse(t.rank), t.id));
    for at in 0..told.len() {
        let kept = told[at];
        if into.contains_key(&kept.id) {
            continue;
        }
        let mut nearest: BTreeMap<FileId, (u64, SpanId)> = BTreeMap::new();
        for other in told[at + 1..].iter().filter(|t| !into.contains_key(&t.id)) {
            let Some(apart) = kept.apart(other) else {
                continue;
            };
            let best = nearest.entry(other.file).or_insert((apart, other.id));
            if apart < best.0 {
                *best = (apart, other.id);
            }
        }
        into.extend(nearest.into_values().map(|(_, id)| (id, kept.id)));
    }
}

/// A span as one file tells it.
#[derive(Clone, Copy)]
struct Told<'t> {
    id: SpanId,
    file: FileId,
    /// Its name, as far as it was not cut.
    stem: &'t str,
    cut: bool,
    placed: Option<Placed>,
    /// It has no time of its own.
    is_length: bool,
    length_ns: Option<u64>,
    /// How much it knows: its place, some place, its end, its whole name, its facts; and how
    /// finely.
    rank: (bool, bool, bool, bool, Reverse<u32>, usize),
}

impl<'t> Told<'t> {
    fn of(timeline: &'t Timeline, axis: &Axis, id: SpanId, span: &Span) -> Self {
        let name = timeline.text(span.name);
        let stem = CUT.iter().find_map(|end| name.strip_suffix(end));
        // Of these only the length is known.
        let bare = timeline.clock(span.clock).kind == ClockKind::Relative
            || timeline.arg(span, "start").is_some();
        let placed = axis.span(span).filter(|_| !bare);
        let length_ns = match span.end {
            SpanEnd::At(end) => u64::try_from(end.ns.saturating_sub(span.start.ns)).ok(),
            SpanEnd::OpenAtCut | SpanEnd::Unknown => None,
        };
        let is_length = timeline.is_only_a_length(span);
        let err_ns = placed.map_or(u32::MAX, |p| p.start.err_ns);
        Self {
            id,
            file: span.evidence.file,
            stem: stem.unwrap_or(name),
            cut: stem.is_some(),
            placed,
            is_length,
            length_ns,
            rank: (
                placed.is_some(),
                !is_length,
                length_ns.is_some(),
                stem.is_none(),
                Reverse(err_ns),
                span.args.len(),
            ),
        }
    }

    /// How far they are apart; `None` if they are not the same.
    fn apart(&self, other: &Told) -> Option<u64> {
        let is_told_twice = self.file == other.file && (self.is_length || !other.is_length);
        if is_told_twice || self.cut && other.cut {
            return None;
        }
        let lengths = self.length_ns.zip(other.length_ns);
        let differ = lengths.map(|(a, b)| a.abs_diff(b));
        if differ.is_some_and(|ns| ns > NEAR_NS) {
            return None;
        }
        match self.placed.zip(other.placed) {
            Some((a, b)) => {
                let apart = a.start.ns.abs_diff(b.start.ns);
                let errors = u64::from(a.start.err_ns).saturating_add(b.start.err_ns.into());
                (apart <= NEAR_NS.saturating_add(errors)).then_some(apart)
            }
            // Nothing but its length tells that it is the same.
            None => differ,
        }
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::{Evidence, LinkKind, Stamp};

    use super::*;

    const MS: i64 = 1_000_000;

    /// A file with units: name, start and length in ms.
    fn file(
        timeline: &mut Timeline,
        name: &str,
        kind: ClockKind,
        units: &[(&str, i64, i64)],
    ) -> Vec<SpanId> {
        let file = timeline.add_file(name, "systemd");
        let clock = timeline.add_clock(kind, file);
        let mut line = 0;
        let add = units.iter().map(|(name, start, length)| {
            line += 1;
            let at = |ms: i64| Stamp::new(ms * MS, 1_000);
            let end = SpanEnd::At(at(start + length));
            let evidence = Evidence {
                file,
                start: 0,
                end: 10,
                line,
            };
            timeline.add_named(
                clock,
                (TrackKind::Unit, "units"),
                name,
                (at(*start), end),
                &[],
                evidence,
            )
        });
        add.collect()
    }

    fn rows(timeline: &Timeline) -> Vec<(String, Option<String>)> {
        let row = |span: &Span| {
            let also = timeline.arg(span, ALSO).map(str::to_owned);
            (timeline.text(span.name).to_owned(), also)
        };
        timeline.spans.iter().map(row).collect()
    }

    #[test]
    fn a_length_in_the_file_of_its_unit_is_one_with_it() {
        let mut timeline = Timeline::default();
        let units = [("a.service", 10, 25), ("a.service", 90, 25)];
        let ids = file(&mut timeline, "all.txt", ClockKind::Relative, &units);
        let (file, start) = (
            timeline.span(ids[0]).evidence.file,
            timeline.symbols.intern("start"),
        );
        let clock = timeline.add_clock(ClockKind::Relative, file);
        let unknown = timeline.symbols.intern("unknown");
        for (name, ms) in [("a.service", 25), ("b.service", 25)] {
            let track = (TrackKind::Unit, "units");
            let ends = (Stamp::new(0, 0), SpanEnd::At(Stamp::new(ms * MS, 1_000)));
            let at = Evidence::whole(file, 10);
            let id = timeline.add_named(clock, track, name, ends, &[], at);
            timeline.span_mut(id).args.push((start, unknown));
        }
        merge(&mut timeline);
        let names: Vec<_> = rows(&timeline).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a.service", "a.service", "b.service"]);
    }

    #[test]
    fn a_unit_of_three_files_is_one() {
        let mut timeline = Timeline::default();
        let plot = [("a.service", 10, 25), ("b.service", 40, 777)];
        let first = file(&mut timeline, "plot.svg", ClockKind::Monotonic, &plot);
        let cut = [
            ("a.serv…", 10, 25),
            ("b.service", 41, 777),
            ("c.service", 60, 1),
        ];
        file(&mut timeline, "table.txt", ClockKind::Monotonic, &cut);
        file(
            &mut timeline,
            "blame.txt",
            ClockKind::Relative,
            &[("b.service", 0, 777), ("d.service", 0, 5)],
        );
        timeline.link(first[0], first[1], LinkKind::After);
        aligned_and_merged(&mut timeline);
        let also = |at: &str| Some(at.to_owned());
        let named = |name: &str| name.to_owned();
        assert_eq!(
            rows(&timeline),
            [
                (named("a.service"), also("table.txt:1")),
                (named("b.service"), also("table.txt:2")),
                (named("c.service"), None),
                (named("d.service"), None),
            ]
        );
        let link = timeline.links[0];
        assert_eq!((link.from.index(), link.to.index()), (0, 1));
    }

    #[test]
    fn what_happened_twice_stays_twice() {
        let mut timeline = Timeline::default();
        let twice = [("a.service", 10, 5), ("a.service", 10, 5)];
        file(&mut timeline, "plot.svg", ClockKind::Monotonic, &twice);
        file(
            &mut timeline,
            "table.txt",
            ClockKind::Monotonic,
            &[("a.service", 900, 5), ("a.service", 10, 90)],
        );
        aligned_and_merged(&mut timeline);
        assert_eq!(timeline.spans.len(), 4);
    }

    fn aligned_and_merged(timeline: &mut Timeline) {
        crate::align::align(timeline, &[]).unwrap();
        merge(timeline);
    }
}
