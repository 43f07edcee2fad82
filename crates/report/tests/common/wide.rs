//! A boot of which every name is long, wide or coloured, and every number
//! large.

use bootlap_analysis::{PhaseName, Verdict};
use bootlap_model::{How, LinkKind, Milestone, Severity, TrackKind};
use bootlap_report::Texts;

use super::boots::{Maker, cost, gap, phase};
use super::{Boot, delta, finding, moved, stock, trial};

/// Twelve days, in ms.
const LONG: i64 = 1_036_800_000;

/// Two columns a character, none at all, sequences that are one, and colours.
fn names() -> [String; 4] {
    [
        "設定サービスの開始".repeat(12),
        "e\u{301}\u{323}".repeat(70),
        "👩🏽‍🚀 \x1b[1;32mgreen\x1b[0m 한글 ".repeat(9),
        "an_initcall_with_a_name_of_one_word_".repeat(6),
    ]
}

pub(crate) fn wide() -> Boot {
    let mut m = Maker::new();
    let names = names();
    m.mark(Milestone::PowerOn, -LONG)
        .line(1, &names[0])
        .kernel_clock(1, How::Assumed);
    let kinds = [
        (TrackKind::Bootloader, "boot loader"),
        (TrackKind::Kernel, "kernel"),
        (TrackKind::Initcall, "initcalls"),
        (TrackKind::Userspace, "scripts"),
        (TrackKind::Unit, "units"),
        (TrackKind::Process, "processes"),
        (TrackKind::Function, "calls"),
    ];
    for (at, name) in names.iter().enumerate() {
        let at = at as i64 * LONG / 4;
        m.line(at + 2, name);
        for (kind, lane) in kinds {
            m.span(kind, lane, name, [at + 2, at + LONG / 5])
                .arg(name, name)
                .arg("pid", &(at + 4_000_000_000).to_string());
        }
    }
    m.mark(Milestone::Ready, LONG);
    let units: Vec<_> = m.timeline.span_ids().collect();
    let units = units.iter().filter(|s| {
        let span = m.timeline.span(**s);
        m.timeline.kind_of(span) == TrackKind::Unit
    });
    let units: Vec<_> = units.copied().collect();
    for pair in units.windows(2) {
        m.timeline.links.push(bootlap_model::Link {
            from: pair[1],
            to: pair[0],
            kind: LinkKind::WaitsOn,
        });
    }
    let last = m.timeline.spans.last().map(|span| span.evidence);
    m.timeline
        .notice(&names[3], Severity::DataLoss, last, &names[0]);
    m.timeline.files[0].name = names.join("/");

    let [wide, combined, colored, long] = &names;
    let mut about = stock().about;
    about.target = long.clone();
    about.machine = wide.clone();
    about.time = colored.clone();
    let mut finding = finding(long, combined, Some(long), [2, LONG], LONG);
    finding.why = wide.clone();
    let mut trial = trial(colored, -LONG, LONG, Verdict::Unknown);
    trial.phases = vec![delta(wide, LONG, 1)];
    trial.moved = vec![moved(long, wide, LONG, LONG)];
    let parts: Vec<_> = names.iter().map(|n| (n.as_str(), 2, LONG)).collect();
    Boot {
        about,
        phases: vec![phase(PhaseName::Bootloader, [-LONG, LONG], &parts)],
        gaps: vec![gap(PhaseName::Kernel, [2, LONG], combined, long, Some(1.0))],
        costs: vec![
            cost(wide, PhaseName::Bootloader, [2, LONG], long, Some(1.0)),
            cost(long, PhaseName::Kernel, [2, LONG], wide, None),
        ],
        findings: vec![finding],
        trials: vec![trial],
        texts: Texts::from([(m.file, m.console)]),
        timeline: m.timeline,
    }
}
