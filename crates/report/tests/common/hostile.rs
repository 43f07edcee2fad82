//! A boot whose every text tries to act.

use bootlap_analysis::{PhaseName, Verdict};
use bootlap_model::{How, Milestone, Severity, TrackKind};

use super::boots::{Maker, cost, gap, phase};
use bootlap_report::Texts;

use super::{Boot, delta, finding, moved, stock, trial};

/// Ends a script and an attribute, brings an image with a handler, clears the
/// screen, sets the window's title, turns text round and hides some of it.
const HOSTILE: &str = "</script>--><img src=x onerror=alert(1)>\"'&amp;`${1}\x1b[2J\x1b]0;owned\x07\u{9b}31m\u{202e}RTL\u{2066}\u{200b}\u{2028}\0\r\nEND";

pub(crate) fn hostile() -> Boot {
    let mut m = Maker::new();
    m.mark(Milestone::PowerOn, 0)
        .line(1, HOSTILE)
        .kernel_clock(1, How::Assumed);
    for kind in [
        TrackKind::Bootloader,
        TrackKind::Kernel,
        TrackKind::Initcall,
        TrackKind::Userspace,
    ] {
        m.span(kind, HOSTILE, HOSTILE, [2, 50])
            .arg(HOSTILE, HOSTILE);
    }
    m.mark(Milestone::Ready, 90);
    let last = m.timeline.spans.last().map(|span| span.evidence);
    m.timeline.notice(HOSTILE, Severity::Error, last, HOSTILE);
    m.timeline.files[0].name = HOSTILE.to_owned();
    m.timeline.files[0].source = HOSTILE.to_owned();

    let mut about = stock().about;
    for text in [
        &mut about.target,
        &mut about.run,
        &mut about.machine,
        &mut about.mode,
        &mut about.time,
        &mut about.console_sha256,
        &mut about.tool,
    ] {
        *text = HOSTILE.to_owned();
    }
    let mut finding = finding(HOSTILE, HOSTILE, Some(HOSTILE), [2, 50], 48);
    finding.why = HOSTILE.to_owned();
    finding.fix = HOSTILE.to_owned();
    finding.saving.basis = HOSTILE.to_owned();
    finding.evidence = last.into_iter().collect();
    let mut by_hand = finding.clone();
    by_hand.recipe = None;
    let mut trial = trial(HOSTILE, -2_000, 10, Verdict::Faster);
    trial.phases = vec![delta(HOSTILE, 3_000, 1_000)];
    trial.moved = vec![moved(HOSTILE, HOSTILE, 5, 4)];
    Boot {
        about,
        phases: vec![phase(PhaseName::Kernel, [0, 90], &[(HOSTILE, 2, 50)])],
        gaps: vec![gap(
            PhaseName::Kernel,
            [50, 90],
            HOSTILE,
            HOSTILE,
            Some(0.5),
        )],
        costs: vec![cost(
            HOSTILE,
            PhaseName::Kernel,
            [2, 50],
            HOSTILE,
            Some(0.5),
        )],
        findings: vec![finding, by_hand],
        trials: vec![trial],
        texts: Texts::from([(m.file, m.console)]),
        timeline: m.timeline,
    }
}
