//! Which rows a table has: the same for people and for programs.

use std::cmp::Reverse;

use bootlap_analysis::{Accesses, FileAccess, Process, Search};
use bootlap_model::{Axis, Placed, Span, Timeline, TrackKind};

/// Which rows of a table are wanted.
pub struct Rows<'r> {
    /// How many at most; what was left out is said below the table.
    pub limit: usize,
    /// Only those of which the name or text fulfils this, where rows have one.
    pub matching: Option<&'r dyn Fn(&str) -> bool>,
    /// Leave out the processes that bootchart leaves out.
    pub prune: bool,
}

impl Rows<'_> {
    /// The first `limit` rows of all.
    pub fn first(limit: usize) -> Self {
        Self {
            limit,
            matching: None,
            prune: false,
        }
    }

    pub(crate) fn takes(&self, text: &str) -> bool {
        self.matching.is_none_or(|is| is(text))
    }
}

/// Rows, and how many there would be without a limit.
pub(crate) struct Selected<T> {
    pub(crate) rows: Vec<T>,
    pub(crate) all: usize,
}

impl<T> Selected<T> {
    /// The first `limit` of `rows`.
    pub(crate) fn first(mut rows: Vec<T>, limit: usize) -> Self {
        let all = rows.len();
        rows.truncate(limit);
        Self { rows, all }
    }

    /// The same rows in another form.
    pub(crate) fn map<U>(self, form: impl Fn(T) -> U) -> Selected<U> {
        Selected {
            rows: self.rows.into_iter().map(form).collect(),
            all: self.all,
        }
    }
}

/// What lasted longest of the kinds that are `wanted`.
pub(crate) fn longest<'t>(
    timeline: &'t Timeline,
    rows: &Rows<'_>,
    wanted: impl Fn(TrackKind) -> bool,
) -> Selected<(&'t Span, Placed)> {
    let axis = Axis::of(timeline);
    let spans = timeline.spans.iter();
    let spans = spans.filter(|s| wanted(timeline.kind_of(s)) && rows.takes(timeline.text(s.name)));
    let mut all: Vec<_> = spans.filter_map(|s| Some((s, axis.span(s)?))).collect();
    // What never ended comes first: it may be the longest of all.
    all.sort_by_key(|(_, placed)| Reverse(placed.duration_ns().unwrap_or(i64::MAX)));
    Selected::first(all, rows.limit)
}

/// Files and searches of a table.
pub(crate) struct Accessed {
    pub(crate) files: Selected<FileAccess>,
    pub(crate) searches: Vec<Search>,
}

/// Those of which the path matches, or what was looked for.
pub(crate) fn accesses(all: &Accesses, rows: &Rows<'_>) -> Accessed {
    let files = all.files.iter().filter(|file| rows.takes(&file.file));
    let searches = all.searches.iter();
    let searches = searches.filter(|search| rows.takes(&search.name));
    Accessed {
        files: Selected::first(files.cloned().collect(), rows.limit),
        searches: searches.take(rows.limit).cloned().collect(),
    }
}

/// A line of the console.
pub(crate) struct ConsoleLine<'t> {
    pub(crate) span: &'t Span,
    /// When it was written, ns on the axis.
    pub(crate) at_ns: i64,
    /// What had passed since the line before; 0 for the first.
    pub(crate) since_ns: i64,
}

/// Console lines in order; if they are too many, those after the longest
/// silences.
pub(crate) fn console<'t>(timeline: &'t Timeline, rows: &Rows<'_>) -> Selected<ConsoleLine<'t>> {
    let axis = Axis::of(timeline);
    let lines = timeline.spans_of(TrackKind::Console);
    let lines = lines.filter(|s| rows.takes(timeline.text(s.name)));
    let mut lines: Vec<_> = lines
        .filter_map(|s| Some((axis.span(s)?.start.ns, s)))
        .collect();
    lines.sort_by_key(|(ns, _)| *ns);
    let before = [None].into_iter().chain(lines.iter().map(|l| Some(l.0)));
    let lines = before.zip(&lines).map(|(before, &(at_ns, span))| {
        let since_ns = before.map_or(0, |before| at_ns.saturating_sub(before));
        ConsoleLine {
            span,
            at_ns,
            since_ns,
        }
    });
    let mut lines: Vec<_> = lines.enumerate().collect();
    let all = lines.len();
    lines.sort_by_key(|(_, line)| Reverse(line.since_ns));
    lines.truncate(rows.limit);
    lines.sort_unstable_by_key(|(at, _)| *at);
    let rows = lines.into_iter().map(|(_, line)| line).collect();
    Selected { rows, all }
}

/// Of processes, those that used most CPU time, then those that lasted longest,
/// as many as fit together with their parents: their places, in order.
pub fn busiest(rows: &[Process], limit: usize, until: i64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let weight = |at: &usize| {
        let process = &rows[*at];
        let lasted = process.lasted_ns(until).unwrap_or(0);
        Reverse((process.cpu_ns.unwrap_or(0), lasted))
    };
    order.sort_by_key(weight);
    let mut shown = vec![false; rows.len()];
    let mut left = limit;
    for at in order {
        let above = |at: &usize| rows[*at].parent;
        let new = std::iter::successors(Some(at), above).take_while(|at| !shown[*at]);
        let new: Vec<usize> = new.take(left.saturating_add(1)).collect();
        if new.len() <= left {
            left -= new.len();
            new.iter().for_each(|at| shown[*at] = true);
        }
        if left == 0 {
            break;
        }
    }
    (0..rows.len()).filter(|at| shown[*at]).collect()
}
