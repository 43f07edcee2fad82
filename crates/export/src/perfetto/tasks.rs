//! Which processes and threads the evidence knows by number.

use std::collections::HashMap;

use bootlap_model::{Span, Timeline, TrackId, TrackKind};

/// Threads are made by threads; a longer chain is a ring.
const DEEPEST: usize = 64;

/// The numbers of processes and threads.
pub(super) struct Tasks {
    /// Who made a thread, by its number.
    made_by: HashMap<i32, i32>,
    /// The thread that all spans of a lane are of.
    of_lane: HashMap<TrackId, Option<i32>>,
}

/// A thread of a process; the same number twice is the main thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Task {
    pub(super) pid: i32,
    pub(super) tid: i32,
}

impl Tasks {
    pub(super) fn of(timeline: &Timeline) -> Self {
        let mut tasks = Self {
            made_by: HashMap::new(),
            of_lane: HashMap::new(),
        };
        // System calls out of strace say whose they are by their lane's name.
        let mut by_lane_name: HashMap<String, i32> = HashMap::new();
        for span in timeline.spans_of(TrackKind::Process) {
            let Some(tid) = number(timeline, span, "pid") else {
                continue;
            };
            if let Some(maker) = number(timeline, span, "made_by") {
                tasks.made_by.insert(tid, maker);
            }
            let name = timeline.text(span.name);
            by_lane_name.insert(format!("{name} {tid}"), tid);
            by_lane_name.insert(format!("pid {tid}"), tid);
        }
        for span in &timeline.spans {
            let track = timeline.track_of(span);
            if !matches!(track.kind, TrackKind::Function | TrackKind::Syscall) {
                continue;
            }
            let tid = match number(timeline, span, "pid") {
                None if track.kind == TrackKind::Syscall => {
                    by_lane_name.get(timeline.text(track.name)).copied()
                }
                tid => tid,
            };
            let known = tasks.of_lane.entry(span.track).or_insert(tid);
            if *known != tid {
                *known = None;
            }
        }
        tasks
    }

    /// The thread whose lane `track` is.
    pub(super) fn of_lane(&self, track: TrackId) -> Option<Task> {
        self.of_lane.get(&track).copied().flatten().map(|tid| Task {
            pid: self.leader(tid),
            tid,
        })
    }

    /// The process or thread that `span`, of a lane of processes, is.
    pub(super) fn of_process(&self, timeline: &Timeline, span: &Span) -> Option<Task> {
        let tid = number(timeline, span, "pid")?;
        Some(Task {
            pid: self.leader(tid),
            tid,
        })
    }

    /// The process that a thread belongs to: itself, if nothing says that it
    /// was made as a thread.
    fn leader(&self, tid: i32) -> i32 {
        let mut at = tid;
        for _ in 0..DEEPEST {
            match self.made_by.get(&at) {
                Some(maker) => at = *maker,
                None => return at,
            }
        }
        tid
    }
}

/// The idle task (0) is one of each CPU, and no process.
fn number(timeline: &Timeline, span: &Span, key: &str) -> Option<i32> {
    let number = timeline.arg(span, key)?.parse().ok()?;
    (number > 0).then_some(number)
}
