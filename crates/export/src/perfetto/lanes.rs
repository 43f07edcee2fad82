//! The tracks of a boot, and what is on them.
//!
//! ```text
//! kiosk (simulated time)            about this boot
//! ├─ milestones, marks, phases, silences, findings
//! ├─ initcall, unit, process …      one for each kind of lane
//! │  └─ the lanes of that kind
//! └─ counters
//!    └─ one for each
//! process sshd 612
//! └─ thread sshd 612                its functions and system calls
//! ```
//!
//! Lives of processes are on lanes like everything else, where they can be
//! seen at a glance: a group for each, as Perfetto shows its own processes, is
//! made for those whose functions or system calls are known.

use std::collections::{HashMap, HashSet};

use bootlap_advice::Finding;
use bootlap_analysis::{Gap, Part, Phase};
use bootlap_model::{
    Axis, Counter, Mark, MarkKind, Span, SpanEnd, SpanId, Stamp, TrackId, TrackKind,
};
use bootlap_report::Report;

use super::pack::{End, Step, pack};
use super::packets::shown;
use super::schema::{
    CounterDescriptor, EXPLICIT, ProcessDescriptor, ThreadDescriptor, TrackDescriptor,
};
use super::tasks::{Task, Tasks};

/// Something on a track.
#[derive(Clone, Copy)]
pub(super) enum What<'r> {
    Span(SpanId),
    Mark(&'r Mark),
    Phase(&'r Phase),
    Part(&'r Part),
    Gap(&'r Gap),
    Finding(&'r Finding),
}

/// A lane: what is on it, and the tracks it takes.
pub(super) struct Lane<'r> {
    /// What kind of things they are; spans say that themselves.
    pub(super) category: &'static str,
    pub(super) what: Vec<What<'r>>,
    /// Starts, in ns of the boot, and ends.
    pub(super) times: Vec<(i64, End)>,
    /// By track: its number, and what happens on it.
    pub(super) tracks: Vec<(u64, Vec<Step>)>,
    nests: bool,
    uuid: u64,
}

impl<'r> Lane<'r> {
    fn push(&mut self, what: What<'r>, start: i64, end: End) {
        self.what.push(what);
        self.times.push((start, end));
    }
}

/// All of a boot.
pub(super) struct Boot<'r> {
    pub(super) report: &'r Report<'r>,
    pub(super) axis: Axis,
    /// The track that says what this boot is.
    pub(super) root: u64,
    pub(super) tracks: Vec<TrackDescriptor>,
    pub(super) lanes: Vec<Lane<'r>>,
    pub(super) counters: Vec<(u64, &'r Counter)>,
    /// Spans, marks and samples that nothing puts on the axis.
    pub(super) unplaced: usize,
    next: u64,
}

impl<'r> Boot<'r> {
    /// The tracks of `report`, numbered from `first` on.
    pub(super) fn of(report: &'r Report<'r>, title: &str, first: u64) -> Self {
        let mut boot = Self {
            report,
            axis: Axis::of(report.timeline),
            root: first,
            tracks: Vec::new(),
            lanes: Vec::new(),
            counters: Vec::new(),
            unplaced: 0,
            next: first,
        };
        boot.track(None, title);
        boot.summary();
        boot.spans();
        boot.counters();
        boot.pack();
        boot
    }

    /// The first number that is free for another boot.
    pub(super) fn end(&self) -> u64 {
        self.next
    }

    /// The first moment of it, ns.
    pub(super) fn first_ns(&self) -> Option<i64> {
        let starts = self.lanes.iter().flat_map(|lane| &lane.times);
        let samples = self.counters.iter().filter_map(|(_, counter)| {
            let (ns, _) = counter.samples.first()?;
            Some(self.axis.at(counter.clock, Stamp::new(*ns, 0))?.ns)
        });
        starts.map(|(start, _)| *start).chain(samples).min()
    }

    fn track(&mut self, parent: Option<u64>, name: &str) -> u64 {
        self.describe(TrackDescriptor {
            name: Some(shown(name)),
            parent_uuid: parent,
            ..TrackDescriptor::default()
        })
    }

    fn describe(&mut self, descriptor: TrackDescriptor) -> u64 {
        let uuid = self.next;
        self.next += 1;
        self.tracks.push(TrackDescriptor {
            uuid: Some(uuid),
            child_ordering: Some(EXPLICIT),
            sibling_order_rank: i32::try_from(uuid - self.root).ok(),
            ..descriptor
        });
        uuid
    }

    fn lane(&mut self, uuid: u64, category: &'static str, nests: bool) -> &mut Lane<'r> {
        self.lanes.push(Lane {
            category,
            what: Vec::new(),
            times: Vec::new(),
            tracks: Vec::new(),
            nests,
            uuid,
        });
        let last = self.lanes.len() - 1;
        &mut self.lanes[last]
    }

    /// What analysis says of the boot as a whole.
    fn summary(&mut self) {
        let report = self.report;
        for (name, category, of_boot) in
            [("milestones", "milestone", true), ("marks", "mark", false)]
        {
            let is_one = |m: &&Mark| matches!(m.kind, MarkKind::Milestone(_)) == of_boot;
            let marks: Vec<_> = report.timeline.marks.iter().filter(is_one).collect();
            let placed = marks
                .iter()
                .filter_map(|m| Some((self.axis.mark(m)?.ns, *m)));
            let placed: Vec<_> = placed.collect();
            self.unplaced += marks.len() - placed.len();
            let items = placed.into_iter();
            self.flat(
                name,
                category,
                items.map(|(ns, m)| (What::Mark(m), ns, End::Instant)),
            );
        }
        let mut phases = Vec::new();
        for phase in &report.phases {
            let (start, end) = (phase.start.ns, phase.end.ns);
            phases.push((What::Phase(phase), start, ends(start, end)));
            for part in &phase.parts {
                let (start, end) = (part.start.ns, part.end.ns);
                phases.push((What::Part(part), start, ends(start, end)));
            }
        }
        self.flat("phases", "phase", phases.into_iter());
        if let Some(lane) = self.lanes.last_mut().filter(|l| l.category == "phase") {
            lane.nests = true;
        }
        let gaps = report.gaps.iter().map(|gap| {
            let (start, end) = (gap.start.ns, gap.end.ns);
            (What::Gap(gap), start, ends(start, end))
        });
        self.flat("silences", "silence", gaps);
        let findings = report.findings.iter().filter_map(|finding| {
            let [start, end] = finding.at_ns?;
            Some((What::Finding(finding), start, ends(start, end)))
        });
        self.flat("findings", "finding", findings);
    }

    /// A lane of `items` under the boot, if there are any.
    fn flat(
        &mut self,
        name: &str,
        category: &'static str,
        items: impl Iterator<Item = (What<'r>, i64, End)>,
    ) {
        let mut items = items.peekable();
        if items.peek().is_none() {
            return;
        }
        let uuid = self.track(Some(self.root), name);
        let lane = self.lane(uuid, category, false);
        for (what, start, end) in items {
            lane.push(what, start, end);
        }
    }

    fn spans(&mut self) {
        let timeline = self.report.timeline;
        let tasks = Tasks::of(timeline);
        let mut places: HashMap<Place, usize> = HashMap::new();
        let mut owners = Owners::default();
        for kind in KINDS {
            for id in timeline.span_ids() {
                let span = timeline.span(id);
                if timeline.kind_of(span) != kind {
                    continue;
                }
                let Some(placed) = self.axis.span(span) else {
                    self.unplaced += 1;
                    continue;
                };
                if kind == TrackKind::Process {
                    self.process(&tasks, span, &mut owners);
                }
                let task = tasks.of_lane(span.track);
                let place = task.map_or(Place::Track(span.track), Place::Calls);
                let lane = match places.get(&place) {
                    Some(lane) => *lane,
                    None => {
                        let lane = self.place_lane(place, span, &mut owners);
                        places.insert(place, lane);
                        lane
                    }
                };
                let start = placed.start.ns;
                let end = match (span.end, placed.end) {
                    (_, Some(end)) => ends(start, end.ns),
                    (SpanEnd::OpenAtCut, None) => End::Open,
                    (SpanEnd::At(_) | SpanEnd::Unknown, None) => End::Instant,
                };
                self.lanes[lane].push(What::Span(id), start, end);
            }
        }
    }

    /// The lane for `place`, whose first span is `span`.
    fn place_lane(&mut self, place: Place, span: &Span, owners: &mut Owners) -> usize {
        let timeline = self.report.timeline;
        let track = *timeline.track_of(span);
        let kind = track.kind.text();
        let lane_name = timeline.text(track.name);
        let uuid = match place {
            Place::Track(_) => {
                let known = owners.kinds.get(&track.kind).copied();
                let parent = known.unwrap_or_else(|| self.track(Some(self.root), kind));
                owners.kinds.insert(track.kind, parent);
                self.track(Some(parent), lane_name)
            }
            Place::Calls(task) => self.describe(TrackDescriptor {
                thread: Some(ThreadDescriptor {
                    pid: Some(task.pid),
                    tid: Some(task.tid.into()),
                    thread_name: Some(shown(lane_name)),
                }),
                ..TrackDescriptor::default()
            }),
        };
        let nests = !matches!(
            track.kind,
            TrackKind::Userspace
                | TrackKind::Unit
                | TrackKind::Process
                | TrackKind::Signal
                | TrackKind::Console
        );
        self.lane(uuid, kind, nests);
        self.lanes.len() - 1
    }

    /// Names the process whose life `span` is.
    fn process(&mut self, tasks: &Tasks, span: &Span, owners: &mut Owners) {
        let timeline = self.report.timeline;
        let task = tasks.of_process(timeline, span);
        let Some(task) = task.filter(|task| task.pid == task.tid) else {
            return;
        };
        if owners.processes.insert(task.pid) {
            self.describe(TrackDescriptor {
                process: Some(ProcessDescriptor {
                    pid: Some(task.pid),
                    process_name: Some(shown(timeline.text(span.name))),
                }),
                ..TrackDescriptor::default()
            });
        }
    }

    fn counters(&mut self) {
        let timeline = self.report.timeline;
        let mut parent = None;
        for counter in &timeline.counters {
            if self.axis.how(counter.clock).is_none() {
                self.unplaced += counter.samples.len();
                continue;
            }
            let parent = *parent.get_or_insert_with(|| self.track(Some(self.root), "counters"));
            let unit = shown(timeline.text(counter.unit));
            let uuid = self.describe(TrackDescriptor {
                name: Some(shown(timeline.text(counter.name))),
                parent_uuid: Some(parent),
                counter: Some(CounterDescriptor {
                    y_axis_share_key: Some(unit.clone()),
                    unit_name: Some(unit),
                }),
                ..TrackDescriptor::default()
            });
            self.counters.push((uuid, counter));
        }
    }

    /// Gives each lane the tracks it takes; siblings have one name, by which
    /// Perfetto shows them as one.
    fn pack(&mut self) {
        let mut lanes = std::mem::take(&mut self.lanes);
        for lane in &mut lanes {
            let mut uuid = Some(lane.uuid);
            for steps in pack(&lane.times, lane.nests) {
                let uuid = uuid.take().unwrap_or_else(|| self.sibling(lane.uuid));
                lane.tracks.push((uuid, steps));
            }
        }
        self.lanes = lanes;
    }

    /// One more track like `uuid`. A thread has just one of its own, so what
    /// else it needs is below that.
    fn sibling(&mut self, uuid: u64) -> u64 {
        let like = &self.tracks[(uuid - self.root) as usize];
        let (parent, name) = match &like.thread {
            Some(thread) => (Some(uuid), thread.thread_name.clone()),
            None => (like.parent_uuid, like.name.clone()),
        };
        self.track(parent, name.as_deref().unwrap_or_default())
    }
}

/// Where the spans of a lane go.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// To that lane, under its kind.
    Track(TrackId),
    /// To the thread that they are of.
    Calls(Task),
}

/// Tracks that others are below.
#[derive(Default)]
struct Owners {
    kinds: HashMap<TrackKind, u64>,
    /// Those that were named, by number.
    processes: HashSet<i32>,
}

/// In the order of a boot; processes come before what they do, so that they
/// are described first.
const KINDS: [TrackKind; 11] = [
    TrackKind::Firmware,
    TrackKind::Bootloader,
    TrackKind::Kernel,
    TrackKind::Initcall,
    TrackKind::Userspace,
    TrackKind::Unit,
    TrackKind::Process,
    TrackKind::Function,
    TrackKind::Syscall,
    TrackKind::Signal,
    TrackKind::Console,
];

/// An end that other clocks' errors put before the start is not known.
fn ends(start: i64, end: i64) -> End {
    if end < start {
        End::Instant
    } else {
        End::At(end)
    }
}
