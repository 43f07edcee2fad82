//! Two boots of which not both say when they were ready, followed to an end that both have.

use bootlap_analysis::Groups;
use bootlap_analysis::groups::{Boot, End, Margin};
use bootlap_analysis::ready_ns;
use bootlap_engine::evidence::Recorded;
use bootlap_model::Milestone;
use bootlap_report::groups::bounds;

/// Has both boots end where both are known to have been, unless somebody said what ready looks
/// like: of logs that were cut at any moment, the last lines tell nothing of a change.
pub(super) fn of_two(before: &mut Recorded, after: &mut Recorded) {
    let is_said = |boot: &Recorded| boot.timeline.awaited || boot.about.ready_ns.is_some();
    if is_said(before) || is_said(after) {
        return;
    }
    let groups = bootlap_analysis::groups(&[boot(before)], &[boot(after)], Margin::Ns(0));
    let Some(groups) = groups.filter(|groups| groups.total.is_some()) else {
        return;
    };
    follow(&groups, 0, before);
    follow(&groups, 1, after);
}

fn boot(boot: &Recorded) -> Boot<'_> {
    Boot {
        timeline: &boot.timeline,
        awaited: false,
        made_ns: None,
        perturbation: None,
    }
}

/// Has a boot of one side end with the boots of both.
pub(super) fn follow(groups: &Groups, side: usize, boot: &mut Recorded) {
    boot.timeline = groups.shown(side, &boot.timeline);
    boot.extent.take();
    boot.about.ready_ns = ready_ns(&boot.timeline);
    let is_common = !matches!(groups.end, End::Last | End::Durations);
    if is_common && groups.end != End::Milestone(Milestone::Ready) {
        // The report calls every common end ready.
        boot.about.machine = format!(
            "times are {}, which is what ready means here",
            bounds(groups)
        );
    }
}
