//! Whatever a boot holds: labels never overlap and stay in the picture.

use bootlap_analysis::{costs, gaps, phases, ready_ns};
use bootlap_model::{
    ClockKind, Evidence, LinkKind, MarkKind, Milestone, SpanEnd, Stamp, TimeKind, Timeline,
    TrackKind,
};
use bootlap_report::{About, Texts};
use proptest::prelude::*;

use super::picture::Picture;
use super::*;

const MILESTONES: [Milestone; 8] = [
    Milestone::PowerOn,
    Milestone::BootloaderStart,
    Milestone::KernelEntry,
    Milestone::KernelClockStart,
    Milestone::InitStart,
    Milestone::SwitchRoot,
    Milestone::StartupFinished,
    Milestone::Ready,
];

const KINDS: [TrackKind; 5] = [
    TrackKind::Unit,
    TrackKind::Process,
    TrackKind::Initcall,
    TrackKind::Userspace,
    TrackKind::Console,
];

/// A boot by its numbers: milestones, named marks, spans, samples.
#[derive(Clone, Debug)]
struct Made {
    target: String,
    milestones: Vec<(usize, i64)>,
    marks: Vec<(String, i64)>,
    spans: Vec<(usize, String, i64, Option<i64>)>,
    samples: Vec<(i64, f64)>,
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z0-9@._-]{1,40}",
        1 => "[Ww@M%]{60,90}",
        1 => "\\PC{0,30}",
        1 => Just("<b>\u{202e}\u{7}x\u{1b}[2J&\u{fdfd}世界".to_owned()),
    ]
}

fn any_boot() -> impl Strategy<Value = Made> {
    let ns = prop_oneof![
        6 => 0..20_000_000_000_i64,
        2 => 0..1_000_i64,
        1 => any::<i64>(),
    ];
    let end = prop::option::weighted(0.9, 0..8_000_000_000_i64);
    let spans = (0..KINDS.len(), any_name(), ns.clone(), end);
    (
        any_name(),
        prop::collection::vec((0..MILESTONES.len(), ns.clone()), 0..12),
        prop::collection::vec((any_name(), ns.clone()), 0..12),
        prop::collection::vec(spans, 0..120),
        prop::collection::vec((ns, any::<f64>()), 0..20),
    )
        .prop_map(|(target, milestones, marks, spans, samples)| Made {
            target,
            milestones,
            marks,
            spans,
            samples,
        })
}

impl Made {
    fn timeline(&self) -> Timeline {
        let mut t = Timeline::default();
        let file = t.add_file("test", "test");
        let clock = t.add_lab_clock(ClockKind::QemuVirtual, TimeKind::Simulated, file);
        let evidence = Evidence::whole(file, 0);
        let milestones = self.milestones.iter().map(|(which, ns)| {
            let milestone = MILESTONES[*which];
            (MarkKind::Milestone(milestone), milestone.text(), *ns)
        });
        let marks = self.marks.iter();
        let marks = marks.map(|(name, ns)| (MarkKind::Named, name.as_str(), *ns));
        for (kind, name, ns) in milestones.chain(marks) {
            t.add_mark(clock, Stamp::new(ns, 0), kind, name, evidence);
        }
        for (at, (kind, name, start, length)) in self.spans.iter().enumerate() {
            let ends = |l: &i64| SpanEnd::At(Stamp::new(start.saturating_add(*l), 0));
            let end = length
                .as_ref()
                .map_or([SpanEnd::Unknown, SpanEnd::OpenAtCut][at % 2], ends);
            let (pid, ppid) = (at.to_string(), (at / 3).to_string());
            let known = [("pid", pid.as_str()), ("ppid", &ppid), ("cpu_us", "1234")];
            let failed = (at % 4 == 0).then(|| ("result", name.repeat(5)));
            let failed = failed.as_ref().map(|(k, v)| (*k, v.as_str()));
            let args: Vec<_> = known.into_iter().chain(failed).collect();
            let times = (Stamp::new(*start, 0), end);
            t.add_named(clock, (KINDS[*kind], "lane"), name, times, &args, evidence);
        }
        let ids: Vec<_> = t.span_ids().collect();
        for pair in ids.windows(2).step_by(3) {
            t.link(pair[0], pair[1], LinkKind::After);
        }
        for name in ["cpu user", "cpu system", "disk read"] {
            let mut samples = self.samples.clone();
            samples.sort_by_key(|s| s.0);
            t.add_counter(clock, (name, "%"), samples, evidence);
        }
        t
    }
}

fn report<'a>(made: &Made, timeline: &'a Timeline, texts: &'a Texts) -> Report<'a> {
    let about = About {
        target: made.target.clone(),
        run: made.target.repeat(3),
        ready_ns: ready_ns(timeline),
        tool: "bootlap".to_owned(),
        ..About::default()
    };
    Report {
        phases: phases(timeline),
        gaps: gaps(timeline, 1),
        costs: costs(timeline, 5),
        ..Report::new(about, timeline, texts)
    }
}

/// The labels as boxes: inside, and none meets another.
fn check(picture: &Picture) -> Result<(), TestCaseError> {
    let shown = picture.texts.iter().filter(|t| {
        let mut pieces = t.pieces.iter();
        pieces.any(|(text, _)| !text.trim().is_empty())
    });
    let boxes: Vec<(&Text, [f64; 4])> = shown.map(|t| (t, t.bounds())).collect();
    for (at, (text, a)) in boxes.iter().enumerate() {
        let inside = a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= picture.width && a[3] <= picture.height;
        prop_assert!(inside, "{text:?} at {a:?}");
        for (other, b) in &boxes[at + 1..] {
            let meet = a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
            prop_assert!(!meet, "{text:?}\n{other:?}\n{a:?} {b:?}");
        }
    }
    for r in picture.back.iter().chain(&picture.rects) {
        let numbers = [r.x, r.y, r.w, r.h];
        prop_assert!(numbers.iter().all(|n| n.is_finite()), "{r:?}");
        prop_assert!(r.w >= 0.0 && r.h >= 0.0, "{r:?}");
        let inside = r.x >= 0.0 && r.x + r.w <= picture.width && r.y + r.h <= picture.height;
        prop_assert!(inside, "{r:?}");
    }
    let heights = picture.areas.iter().flat_map(|a| &a.heights);
    let heights: Vec<f64> = heights.copied().collect();
    prop_assert!(
        heights.iter().all(|h| (0.0..=40.0).contains(h)),
        "{heights:?}"
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn labels_never_overlap(made in any_boot(), other in any_boot()) {
        let (t, u, texts) = (made.timeline(), other.timeline(), Texts::default());
        for by in SVG.choices {
            let report = report(&made, &t, &texts);
            check(&picture(&report, *by))?;
            let report = report.against(self::report(&other, &u, &texts));
            let picture = picture(&report, *by);
            check(&picture)?;
            prop_assert_eq!(picture.xml(), super::picture(&report, *by).xml());
        }
    }
}
