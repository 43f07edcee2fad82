//! From a report to its document: what analysis, advice and experiments say.

use crate::Report;
use crate::boot::json::*;
use crate::evidence::evidence;
use crate::findings::remedies;
use crate::json::id;

pub(crate) fn costs(report: &Report<'_>) -> Vec<CostJson> {
    let remedies = remedies(&report.costs, &report.findings);
    let costs = report.costs.iter().zip(remedies);
    let cost = costs.map(|(cost, finding)| CostJson {
        name: cost.name.clone(),
        phase: cost.phase.as_ref().map(id),
        placed: cost.placed,
        start_ns: cost.start.ns,
        end_ns: cost.end.ns,
        duration_ns: cost.duration_ns,
        why: cost.why.clone(),
        idle_share: finite(cost.idle_share),
        finding,
    });
    cost.collect()
}

/// JSON has no NaN.
fn finite(share: Option<f64>) -> Option<f64> {
    share.filter(|share| share.is_finite())
}

pub(crate) fn notices(report: &Report<'_>) -> Vec<NoticeJson> {
    let notices = report.timeline.notices.iter().map(|notice| NoticeJson {
        code: notice.code.clone(),
        severity: id(&notice.severity),
        count: notice.count,
        remedy: notice.remedy.clone(),
        first: notice.first.iter().map(|e| evidence(report, e)).collect(),
    });
    notices.collect()
}
