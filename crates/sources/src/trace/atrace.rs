//! Android's marks in the kernel's trace: what `atrace` and all that uses it write to
//! `trace_marker`.
//!
//! ```text
//! B|1520|PreloadClasses          a slice of this thread begins
//! E|1520                         the innermost one ends; old ones are only `E`
//! S|1520|launching: com.x|7      an asynchronous one begins, with a cookie
//! F|1520|launching: com.x|7      and ends, on any thread
//! C|1520|tasks|5                 a value
//! I|1520|boot animation ends     a moment
//! ```
//!
//! Slices of a thread nest. One that began before the recording has no beginning and is
//! left out; one that did not end was open when the recording did.

use std::collections::{BTreeMap, HashMap};

use bootlap_model::{SpanEnd, SpanId, TrackKind};

use super::cut;
use super::event::{Moment, Task};
use super::nested::{Nested, end};
use crate::text::Import;

/// Programs name slices as they like.
const MAX_NAME: usize = 200;
/// Asynchronous slices: in all, and that are open at a time.
const MAX_ASYNCHRONOUS: usize = 500_000;
const MAX_OPEN: usize = 65_536;
const MAX_COUNTERS: usize = 1_000;
const MAX_SAMPLES: usize = 1_000_000;

/// One mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark<'a> {
    Begin(&'a str),
    End,
    /// The process, the name and the cookie tell which.
    AsyncBegin([&'a str; 3]),
    AsyncEnd([&'a str; 3]),
    Counter([&'a str; 3]),
    Instant(&'a str),
}

/// What `text` says, if it is one of these marks.
fn mark(text: &str) -> Option<Mark<'_>> {
    let mut parts = text.splitn(3, '|');
    let (letter, pid, rest) = (parts.next()?, parts.next(), parts.next());
    if text == "E" {
        return Some(Mark::End);
    }
    let pid = pid?;
    if pid.is_empty() || !pid.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // A name can have bars, what stands behind it cannot.
    let with_last = || {
        let (name, last) = rest?.rsplit_once('|')?;
        Some([pid, name, last])
    };
    Some(match letter {
        "B" => Mark::Begin(rest?),
        "E" => Mark::End,
        "S" => Mark::AsyncBegin(with_last()?),
        "F" => Mark::AsyncEnd(with_last()?),
        "C" => Mark::Counter(with_last()?),
        "I" => Mark::Instant(rest?),
        _ => return None,
    })
}

/// The first time that a value was told, and all of them: `(ns, value)`.
type Counter = (Moment, Vec<(i64, f64)>);

/// All slices of a recording.
#[derive(Default)]
pub(super) struct Slices {
    /// By thread.
    nested: Nested<u32>,
    asynchronous: HashMap<[String; 3], SpanId>,
    begun: usize,
    counters: BTreeMap<[String; 2], Counter>,
    samples: usize,
}

impl Slices {
    /// Takes a note, if it is one of these marks, and gives back what is only a note: the text
    /// of any other one, the name of a moment.
    pub(super) fn note<'n>(
        &mut self,
        text: &'n str,
        thread: Task<'_>,
        now: &Moment,
        import: &mut Import<'_>,
    ) -> Option<&'n str> {
        let Some(mark) = mark(text.trim_end()) else {
            return Some(text);
        };
        match mark {
            Mark::Begin(name) => self.begin(name, thread, now, import),
            Mark::End => self.nested.end(&thread.pid, now.at, import),
            Mark::AsyncBegin([pid, name, cookie]) => {
                let room = self.begun < MAX_ASYNCHRONOUS;
                if room && self.asynchronous.len() < MAX_OPEN {
                    self.begun += 1;
                    let track = format!("process {pid}, asynchronous");
                    let span = slice(&track, name, pid, now, import);
                    let key = [pid, name, cookie].map(str::to_owned);
                    self.asynchronous.insert(key, span);
                }
            }
            Mark::AsyncEnd(key) => {
                if let Some(span) = self.asynchronous.remove(&key.map(str::to_owned)) {
                    end(span, now.at, import);
                }
            }
            Mark::Counter([pid, name, value]) => self.count(pid, name, value, now),
            Mark::Instant(name) => return Some(name),
        }
        None
    }

    fn begin(&mut self, name: &str, thread: Task<'_>, now: &Moment, import: &mut Import<'_>) {
        self.nested
            .begin(thread.pid, now.evidence, import, |import| {
                let comm = match thread.comm {
                    "" => "<...>",
                    comm => comm,
                };
                let track = format!("{comm}-{}", thread.pid);
                slice(&track, name, &thread.pid.to_string(), now, import)
            });
    }

    fn count(&mut self, pid: &str, name: &str, value: &str, now: &Moment) {
        let Ok(value) = value.trim().parse::<f64>() else {
            return;
        };
        let key = [name, pid].map(str::to_owned);
        let room = self.counters.len() < MAX_COUNTERS || self.counters.contains_key(&key);
        if room && self.samples < MAX_SAMPLES && value.is_finite() {
            self.samples += 1;
            let (_, samples) = self.counters.entry(key).or_insert((*now, Vec::new()));
            samples.push((now.at.ns, value));
        }
    }

    /// The recording has ended.
    pub(super) fn finish(&mut self, import: &mut Import<'_>) {
        for ([name, pid], (first, samples)) in std::mem::take(&mut self.counters) {
            let name = format!("{name} of {pid}");
            import.counter(first.clock, (&name, ""), samples, first.evidence);
        }
    }
}

/// A slice that begins now.
fn slice(track: &str, name: &str, pid: &str, now: &Moment, import: &mut Import<'_>) -> SpanId {
    let times = (now.at, SpanEnd::OpenAtCut);
    let track = (TrackKind::Function, track);
    let (name, args) = (cut(name, MAX_NAME), [("pid", pid)]);
    import.span(now.clock, track, name, times, &args, now.evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_each_kind() {
        assert_eq!(
            mark("B|1520|PreloadClasses"),
            Some(Mark::Begin("PreloadClasses"))
        );
        assert_eq!(mark("B|1520|a|b"), Some(Mark::Begin("a|b")));
        assert_eq!(
            (mark("E|1520"), mark("E")),
            (Some(Mark::End), Some(Mark::End))
        );
        assert_eq!(mark("S|1|a|b|7"), Some(Mark::AsyncBegin(["1", "a|b", "7"])));
        assert_eq!(mark("F|1|a|7"), Some(Mark::AsyncEnd(["1", "a", "7"])));
        assert_eq!(
            mark("C|1|tasks|5"),
            Some(Mark::Counter(["1", "tasks", "5"]))
        );
        assert_eq!(mark("I|1|ready"), Some(Mark::Instant("ready")));
    }

    #[test]
    fn other_notes() {
        for note in [
            "",
            "B",
            "B|",
            "B|x|y",
            "app ready",
            "B|12",
            "S|1|a",
            "X|1|a",
            "E |1",
        ] {
            assert_eq!(mark(note), None, "{note}");
        }
    }
}
