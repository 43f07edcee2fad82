//! The moments that the user described: ready, the application, others.

use bootlap_model::{Evidence, MarkKind, Milestone, Severity, Stamp};
use regex::bytes::Regex;

use super::line::Line;
use super::out::Out;
use super::printk::RESOLUTION_NS;
use crate::Hints;

/// Longer lines are tried once, as a whole.
const LOOK_AHEAD_LIMIT: usize = 1024;

/// Where in a line that matches the moment is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// The byte that completes the pattern.
    Completed,
    /// The first byte of the line.
    LineBegins,
}

/// What a line was for what is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matched {
    /// Nothing.
    No,
    /// A match without a time so far.
    Unplaced,
    /// A match that is on the timeline.
    Placed,
}

struct Wanted<'h> {
    pattern: &'h Regex,
    kind: MarkKind,
    name: &'h str,
    moment: Moment,
}

/// What is still looked for: the first match of each counts.
pub(crate) struct HintMarks<'h> {
    wanted: Vec<Wanted<'h>>,
    /// Seen in a line without a time: it came after this kernel time.
    unplaced: Vec<(MarkKind, &'h str, Evidence)>,
    /// How many lines that were counted as skipped for that.
    skipped: u64,
}

impl<'h> HintMarks<'h> {
    pub(crate) fn new(hints: &'h Hints) -> Self {
        let milestone = |pattern: &'h Option<Regex>, milestone: Milestone, moment| {
            pattern.as_ref().map(|pattern| Wanted {
                pattern,
                kind: MarkKind::Milestone(milestone),
                name: milestone.text(),
                moment,
            })
        };
        let named = hints.marks.iter().map(|(name, pattern)| Wanted {
            pattern,
            kind: MarkKind::Named,
            name,
            moment: Moment::Completed,
        });
        let ready = milestone(&hints.ready, Milestone::Ready, Moment::Completed);
        let application = milestone(
            &hints.application,
            Milestone::ApplicationStart,
            Moment::LineBegins,
        );
        Self {
            wanted: ready.into_iter().chain(application).chain(named).collect(),
            unplaced: Vec::new(),
            skipped: 0,
        }
    }

    /// Whether all was seen, or nothing is looked for.
    pub(crate) fn is_done(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Looks at one line; `logged` is its time on the kernel's clock.
    pub(crate) fn line(
        &mut self,
        line: &Line<'_>,
        logged: Option<Stamp>,
        out: &mut Out<'_>,
    ) -> Matched {
        let mut matched = Matched::No;
        self.wanted.retain(|wanted| {
            let Some(end) = completed(wanted.pattern, line.text) else {
                return true;
            };
            let at = line.evidence(out.file);
            let i = match wanted.moment {
                Moment::Completed => end.saturating_sub(1),
                Moment::LineBegins => 0,
            };
            if let (Some(wire), Some(stamp)) = (out.wire, line.at(i)) {
                out.mark(wire, stamp, wanted.kind, wanted.name, at);
                matched = Matched::Placed;
            } else if let Some(stamp) = logged {
                let printk = out.printk_clock();
                out.mark(printk, stamp, wanted.kind, wanted.name, at);
                matched = Matched::Placed;
            } else {
                matched = Matched::Unplaced;
                self.unplaced.push((wanted.kind, wanted.name, at));
            }
            false
        });
        matched
    }

    /// Places what was seen since the kernel's `before_ns`, now that the next
    /// kernel line is known: it happened between the two. Says how many lines
    /// were wrongly counted as skipped.
    pub(crate) fn place_between(
        &mut self,
        before_ns: Option<i64>,
        ns: i64,
        out: &mut Out<'_>,
    ) -> u64 {
        if self.unplaced.is_empty() {
            return 0;
        }
        let gap = before_ns.and_then(|before| Some((before, middle(before, ns)?)));
        let Some((before_ns, (half, err_ns))) = gap else {
            self.finish(out);
            return 0;
        };
        let printk = out.printk_clock();
        for (kind, name, at) in self.unplaced.drain(..) {
            let stamp = Stamp::new(before_ns + half, err_ns);
            out.mark(printk, stamp, kind, name, at);
            out.notice(
                "mark-between-lines",
                Severity::Notice,
                at,
                "these moments are in lines without a time, so they are placed in the middle between their neighbours: record with bootlap, which stamps each byte",
            );
        }
        std::mem::take(&mut self.skipped)
    }

    /// The line that matched last was counted as skipped.
    pub(crate) fn was_skipped(&mut self) {
        self.skipped += 1;
    }

    /// The console has ended: what is not placed cannot be.
    pub(crate) fn finish(&mut self, out: &mut Out<'_>) {
        self.skipped = 0;
        for (_, _, at) in self.unplaced.drain(..) {
            out.notice(
                "mark-without-time",
                Severity::DataLoss,
                at,
                "these moments were seen, but nobody knows when: the console has no stamps there; record with bootlap, which stamps each byte",
            );
        }
    }
}

/// Half of the time between two kernel lines, and the error of the middle.
fn middle(before_ns: i64, ns: i64) -> Option<(i64, u32)> {
    let half = ns.checked_sub(before_ns).filter(|gap| *gap >= 0)? / 2;
    let err = half.checked_add(i64::from(RESOLUTION_NS))?;
    Some((half, u32::try_from(err).ok()?))
}

/// How many bytes of `text` it takes until they match `pattern`.
///
/// A pattern that looks at what follows (`ready$`) matches when the console
/// pauses there, as it does for those who watch the machine live: so each
/// beginning of the line is tried.
fn completed(pattern: &Regex, text: &[u8]) -> Option<usize> {
    let source = pattern.as_str();
    let looks_ahead = ["$", "\\b", "\\B", "\\z"]
        .iter()
        .any(|l| source.contains(l));
    if looks_ahead && text.len() <= LOOK_AHEAD_LIMIT {
        return (0..=text.len()).find(|n| pattern.is_match(&text[..*n]));
    }
    pattern.shortest_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_complete_as_early_as_possible() {
        let done =
            |pattern: &str, text: &str| completed(&Regex::new(pattern).unwrap(), text.as_bytes());
        assert_eq!(done("READY.*", "APP READY now"), Some(9));
        assert_eq!(done("READY$", "APP READY now"), Some(9));
        assert_eq!(done("^READY", "APP READY now"), None);
    }
}
