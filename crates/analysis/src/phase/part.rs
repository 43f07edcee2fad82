//! The known parts inside the phases.

use bootlap_model::{Milestone, Stamp, TrackKind};

use super::{Part, Phase, PhaseName};
use crate::extent::clip;
use crate::flatten::{Claim, flatten};
use crate::known::{BEFORE_CLOCK, HEAD};
use crate::view::View;

/// What stands for something known, with its name.
struct Named {
    name: String,
    claim: Claim,
}

/// Puts the known parts into their phases. Of nested parts the inner one has
/// the time; what runs across a cut is cut there.
pub(super) fn fill(view: &View, phases: &mut [Phase]) {
    let mut known = own_spans(view);
    known.extend(stages(view, phases));
    let claims: Vec<Claim> = known.iter().map(|k| k.claim).collect();
    for piece in flatten(&claims) {
        let claim = &claims[piece.claim];
        for phase in phases.iter_mut() {
            let window = (phase.start, phase.end);
            let Some((start, end)) = clip(window, piece.start, piece.end) else {
                continue;
            };
            // What sticks out by no more than its error belongs elsewhere.
            let err_ns = i64::from(claim.start.err_ns.max(claim.end.err_ns));
            let is_cut = (start, end) != (piece.start, piece.end);
            if is_cut && end.ns.saturating_sub(start.ns) <= err_ns {
                continue;
            }
            phase.parts.push(Part {
                name: known[piece.claim].name.clone(),
                start,
                end,
            });
        }
    }
}

/// What sources name one by one. Initcalls are too many: they are one stage.
fn own_spans(view: &View) -> Vec<Named> {
    let kinds = [
        TrackKind::Firmware,
        TrackKind::Bootloader,
        TrackKind::Kernel,
        TrackKind::Userspace,
    ];
    let spans = view.spans_of(|kind| kinds.contains(&kind));
    let own = spans.filter(|s| !view.is_a_lifetime(s));
    own.filter_map(|s| named(view.name(&s), s.start, s.end?, 0))
        .collect()
}

/// The stages of a kernel's start, as far as their ends were seen.
fn stages(view: &View, phases: &[Phase]) -> Vec<Named> {
    let Some(kernel) = phases.iter().find(|p| p.name == PhaseName::Kernel) else {
        return Vec::new();
    };
    let entry = view.milestone(Milestone::KernelEntry);
    let clock = view.milestone(Milestone::KernelClockStart);
    let init = view.milestone(Milestone::InitStart);
    let user = view.milestone(Milestone::UserEntry);
    // A module's initcall, run by a program, is no part of this stage; and
    // those of consoles (task 0) run long before it.
    let calls = view.spans_of(|kind| kind == TrackKind::Initcall);
    let calls = calls.filter(|s| {
        let inside = kernel.start.ns <= s.start.ns && s.start.ns < kernel.end.ns;
        inside && view.arg(s, "pid") != Some("0")
    });
    let first_call = calls.clone().map(|s| s.start).min_by_key(|s| s.ns);
    let last_call = calls.filter_map(|s| s.end).max_by_key(|s| s.ns);
    let last_call = last_call.map(|end| {
        if end.ns < kernel.end.ns {
            end
        } else {
            kernel.end
        }
    });
    let stages = [
        (HEAD, view.milestone(Milestone::KernelImage), entry),
        (BEFORE_CLOCK, entry, clock),
        ("early start", clock, first_call),
        ("initcalls", first_call, last_call),
        ("start init", init, user),
    ];
    let stage = |(name, start, end): (&str, Option<Stamp>, Option<Stamp>)| {
        named(name.to_owned(), start?, end?, 1)
    };
    stages.into_iter().filter_map(stage).collect()
}

fn named(name: String, start: Stamp, end: Stamp, rank: u8) -> Option<Named> {
    let claim = Claim { start, end, rank };
    (start.ns < end.ns).then_some(Named { name, claim })
}
