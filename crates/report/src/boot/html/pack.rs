//! The page's data: a boot in few bytes.
//!
//! A page that carried every span as JSON would be nine times as large as the
//! log it shows. So the spans stand as columns of numbers, and what is text in
//! the evidence is not said twice: it is pointed at. `web/src/pack.ts` reads
//! this; both sides change together, for they are always in the same file.
//!
//! ```text
//! boot      gzip of: length of the head (u32, little-endian), the head (JSON),
//!           the columns one after the other, as the head lists them
//! evidence  gzip of: the raw bytes of the files, as long as the head says
//! ```

use bootlap_analysis::{CriticalPath, links, totals};
use bootlap_model::{Axis, Evidence, LinkKind, Placed, Span, SpanEnd, Sym};
use libdeflater::{CompressionLvl, Compressor};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;

use crate::Report;
use crate::boot::html::column::{Column, steps, zigzag};
use crate::boot::json::ReportJson;
use crate::evidence::bytes_of;
use crate::groups::GroupsJson;
use crate::json::id;

/// What [`crate::json`] calls the document, without spans, and how to read the
/// columns that stand for them.
#[derive(Serialize)]
struct Head<'a> {
    #[serde(flatten)]
    report: ReportJson,
    /// What the end of the boot waited for; null where nothing is linked.
    path: Option<&'a CriticalPath>,
    /// The groups that this boot and the one before are typical of.
    groups: Option<&'a GroupsJson>,
    pack: Pack<'a>,
}

#[derive(Serialize)]
struct Pack<'a> {
    /// Bytes of each evidence file that is at hand; null of the others.
    evidence: Vec<Option<usize>>,
    /// `[kind, name]` of each track.
    tracks: Vec<[String; 2]>,
    /// Text that is not pointed at.
    symbols: Vec<&'a str>,
    /// Keys of the arguments that spans have, by shape: numbers of symbols.
    shapes: Vec<Vec<usize>>,
    /// The first start; all starts count from here. A string: it can have more
    /// digits than numbers in JavaScript.
    origin_ns: String,
    /// Starts and lengths are counted in this.
    unit_ns: i64,
    /// Spans whose clock nothing relates to the others, which are left out.
    unplaced: usize,
    /// The span of each step of the path, in the columns' order; null if it has no place.
    path: Vec<Option<u64>>,
    /// `[name, numbers, bytes for each]`.
    columns: Vec<(&'a str, usize, u32)>,
    /// `[name, unit, whether each sum is exact]` of what only grows; its moments and what had
    /// come together by then are the columns `total_N_at` and `total_N`.
    totals: Vec<(&'static str, &'static str, bool)>,
}

/// The boot's packed data.
///
/// # Errors
/// None for any report; the type is that of the serialiser.
pub(crate) fn boot(report: &Report<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let spans = Spans::of(report);
    let mut texts = TextColumns::default();
    let shapes = spans.texts(report, &mut texts);
    let times = spans.times();
    let mut columns = times.columns;
    columns.extend(spans.places());
    columns.push(Column::new("shape", shapes));
    columns.extend(spans.links(report));
    columns.extend(texts.columns());
    let timeline = report.timeline;
    let totals = totals(timeline);
    for (n, total) in totals.iter().enumerate() {
        let since = |ns: i64| ns.wrapping_sub(times.origin_ns) as u64;
        let at = total.samples.iter().map(|(ns, _)| since(*ns));
        columns.push(Column::new(format!("total_{n}_at"), steps(at)));
        let sums = total.samples.iter().map(|(_, sum)| *sum);
        columns.push(Column::new(format!("total_{n}"), steps(sums)));
    }
    let path = report.answers.critical_path();
    let place = spans.numbers(report);
    let steps = path.iter().flat_map(|path| &path.steps);
    let head = Head {
        report: ReportJson::head(report),
        path,
        groups: report.groups.as_ref(),
        pack: Pack {
            evidence: timeline
                .file_ids()
                .map(|id| report.texts.get(&id).map(Vec::len))
                .collect(),
            tracks: timeline
                .tracks
                .iter()
                .map(|t| [id(&t.kind), timeline.text(t.name).to_owned()])
                .collect(),
            symbols: texts.symbols.iter().map(|s| timeline.text(*s)).collect(),
            shapes: texts.shapes,
            origin_ns: times.origin_ns.to_string(),
            unit_ns: times.unit_ns,
            unplaced: timeline.spans.len() - spans.all.len(),
            path: steps.map(|step| place[step.span.index()]).collect(),
            columns: columns
                .iter()
                .map(|c| (&*c.name, c.values.len(), c.width()))
                .collect(),
            totals: totals.iter().map(|t| (t.name, t.unit, t.whole)).collect(),
        },
    };
    let head = serde_json::to_vec(&head)?;
    let length = u32::try_from(head.len()).map_err(serde::ser::Error::custom)?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(head);
    for column in &columns {
        column.write(&mut bytes);
    }
    Ok(gzip(&bytes))
}

/// The packed bytes of the evidence.
pub(crate) fn evidence(report: &Report<'_>) -> Vec<u8> {
    let texts: Vec<&[u8]> = report.texts.values().map(Vec::as_slice).collect();
    match texts[..] {
        [one] => gzip(one),
        _ => gzip(&texts.concat()),
    }
}

/// With libdeflate, as size counts here: at this level it takes as long as
/// zlib at its usual one, and its output is 4 % smaller.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let level = CompressionLvl::new(7).expect("a level that there is");
    let mut compressor = Compressor::new(level);
    let mut out = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let length = compressor.gzip_compress(bytes, &mut out);
    out.truncate(length.expect("the bound is the most that it can need"));
    out
}

/// The spans that have a place on the axis, in the viewer's order: of start,
/// the longer first among equals.
struct Spans<'t> {
    all: Vec<(Placed, &'t Span, usize)>,
}

/// The columns of times, and how to read them.
struct Times {
    origin_ns: i64,
    unit_ns: i64,
    columns: Vec<Column>,
}

impl<'t> Spans<'t> {
    fn of(report: &Report<'t>) -> Self {
        let axis = Axis::of(report.timeline);
        let spans = report.timeline.spans.iter().enumerate();
        let placed = spans.filter_map(|(at, span)| Some((axis.span(span)?, span, at)));
        let mut all: Vec<_> = placed.collect();
        all.sort_by_key(|(placed, _, at)| (placed.start.ns, Reverse(last_ns(placed)), *at));
        Self { all }
    }

    fn times(&self) -> Times {
        let origin_ns = self.all.first().map_or(0, |(first, ..)| first.start.ns);
        let start = |p: &Placed| p.start.ns.wrapping_sub(origin_ns) as u64;
        let length = |p: &Placed| (last_ns(p).wrapping_sub(p.start.ns)) as u64;
        let all = || self.all.iter().map(|(p, ..)| p);
        let unit = all().fold(0, |unit, p| gcd(gcd(unit, start(p)), length(p)));
        let unit = unit.max(1);
        let starts = nearest(all().map(|p| (start(p) / unit, length(p) / unit)));
        let lengths = self.all.iter().map(|(p, span, _)| match (p.end, span.end) {
            (Some(end), _) if end.ns >= p.start.ns => length(p) / unit + 2,
            (_, SpanEnd::OpenAtCut) => 1,
            _ => 0,
        });
        let insns = all().map(|p| {
            let count = p.end.and_then(|end| p.start.insns_until(&end));
            count.map_or(0, |n| n + 1)
        });
        Times {
            origin_ns,
            unit_ns: unit as i64,
            columns: vec![
                Column::new("start", starts),
                Column::new("length", lengths),
                Column::new("err", all().map(|p| u64::from(p.start.err_ns))),
                Column::new("instructions", insns),
            ],
        }
    }

    /// Lane, clock and place in the evidence.
    fn places(&self) -> Vec<Column> {
        let all = || self.all.iter().map(|(_, span, _)| *span);
        let evidence = || all().map(|s| &s.evidence);
        let bytes = |e: &Evidence| e.end.saturating_sub(e.start);
        vec![
            Column::new("track", all().map(|s| s.track.index() as u64)),
            Column::new("clock", all().map(|s| s.clock.index() as u64)),
            Column::new("file", evidence().map(|e| e.file.index() as u64)),
            Column::new("at", nearest(evidence().map(|e| (e.start, bytes(e))))),
            Column::new("bytes", evidence().map(bytes)),
            Column::new("line", steps(evidence().map(|e| u64::from(e.line)))),
        ]
    }

    /// The number of each of the timeline's spans in this order.
    fn numbers(&self, report: &Report<'_>) -> Vec<Option<u64>> {
        let mut numbers = vec![None; report.timeline.spans.len()];
        for (new, (.., old)) in self.all.iter().enumerate() {
            numbers[*old] = Some(new as u64);
        }
        numbers
    }

    /// What led to what, by the numbers of spans in this order.
    fn links(&self, report: &Report<'_>) -> [Column; 3] {
        let place = self.numbers(report);
        let links = links(report.timeline).into_iter().filter_map(|link| {
            let from = place[link.from.index()]?;
            let to = place[link.to.index()]?;
            let kind = match link.kind {
                LinkKind::WaitsOn => 0,
                LinkKind::Spawns => 1,
                LinkKind::After => 2,
            };
            Some((to, from, kind))
        });
        let mut links: Vec<_> = links.collect();
        links.sort_unstable();
        let from = links.iter().map(|(to, from, _)| from.wrapping_sub(*to));
        [
            Column::new("link_to", steps(links.iter().map(|l| l.0))),
            Column::new("link_from", from.map(|d| zigzag(d as i64))),
            Column::new("link_kind", links.iter().map(|l| l.2)),
        ]
    }

    /// Names and arguments; returns the number of each span's shape.
    fn texts(&self, report: &Report<'_>, out: &mut TextColumns) -> Vec<u64> {
        let timeline = report.timeline;
        let mut shapes: HashMap<Vec<usize>, usize> = HashMap::new();
        let shape_of = |(_, span, _): &(Placed, &Span, usize)| {
            let bytes = bytes_of(report, &span.evidence);
            out.add(span.name, timeline.text(span.name), bytes);
            let mut keys = Vec::with_capacity(span.args.len());
            for (key, value) in &span.args {
                keys.push(out.symbol(*key));
                out.add(*value, timeline.text(*value), bytes);
            }
            let number = shapes.len();
            *shapes.entry(keys.clone()).or_insert_with(|| {
                out.shapes.push(keys);
                number
            }) as u64
        };
        self.all.iter().map(shape_of).collect()
    }
}

/// Text, by symbol or by place: for each span its name, then its arguments.
#[derive(Default)]
struct TextColumns {
    symbols: Vec<Sym>,
    numbers: HashMap<Sym, usize>,
    shapes: Vec<Vec<usize>>,
    /// 1 + the symbol's number, or 0 for text that stands in the evidence.
    text: Vec<u64>,
    /// For the latter: where it begins, as [`zigzag`]: from the evidence's
    /// first byte, or before its last one (−1 − the bytes between the two
    /// ends), whichever is nearer; and its length.
    text_at: Vec<u64>,
    text_length: Vec<u64>,
}

impl TextColumns {
    fn symbol(&mut self, sym: Sym) -> usize {
        let next = self.symbols.len();
        *self.numbers.entry(sym).or_insert_with(|| {
            self.symbols.push(sym);
            next
        })
    }

    fn add(&mut self, sym: Sym, text: &str, evidence: Option<&[u8]>) {
        let evidence = evidence.unwrap_or_default();
        let Some(at) = place_of(text.as_bytes(), evidence) else {
            let number = self.symbol(sym) as u64;
            self.text.push(number + 1);
            return;
        };
        let behind = evidence.len() - at - text.len();
        let place = if behind < at {
            -1 - behind as i64
        } else {
            at as i64
        };
        self.text.push(0);
        self.text_at.push(zigzag(place));
        self.text_length.push(text.len() as u64);
    }

    fn columns(&mut self) -> [Column; 3] {
        let mut take = |name, values: fn(&mut Self) -> &mut Vec<u64>| {
            Column::new(name, std::mem::take(values(self)))
        };
        [
            take("text", |s| &mut s.text),
            take("text_at", |s| &mut s.text_at),
            take("text_length", |s| &mut s.text_length),
        ]
    }
}

/// Where `text` stands in `evidence`, if pointing at it is worth it: a letter
/// or a digit is found at a different place each time.
fn place_of(text: &[u8], evidence: &[u8]) -> Option<usize> {
    if text.len() < 2 {
        return None;
    }
    if text.len() == evidence.len() {
        return (text == evidence).then_some(0);
    }
    let looked_at = &evidence[..evidence.len().min(LOOKED_AT)];
    memchr::memmem::rfind(looked_at, text)
}

/// Behind that many bytes of evidence no text is looked for.
const LOOKED_AT: usize = 2000;

/// The end, or the start if there is none (one before the start is none).
fn last_ns(placed: &Placed) -> i64 {
    placed
        .end
        .map_or(placed.start.ns, |end| end.ns.max(placed.start.ns))
}

/// Where intervals `(start, length)` begin: from the start of the one before,
/// or (lowest bit set) from the end of the last one that had a length,
/// whichever is nearer. Events that belong together share moments: the line
/// that tells of a call's end comes when the call ends.
fn nearest(intervals: impl Iterator<Item = (u64, u64)>) -> Vec<u64> {
    let (mut before, mut end) = (0_u64, 0_u64);
    let step = |(start, length): (u64, u64)| {
        let from_start = zigzag(start.wrapping_sub(before) as i64);
        let from_end = zigzag(start.wrapping_sub(end) as i64);
        before = start;
        if length > 0 {
            end = start.wrapping_add(length);
        }
        if from_end < from_start {
            from_end << 1 | 1
        } else {
            from_start << 1
        }
    };
    intervals.map(step).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
