//! From a report to its document: what analysis, advice and experiments say.

use bootlap_analysis::{Comparison, Gap, Trial, compare};

use super::evidence::evidence;
use super::id::id;
use super::model::*;
use crate::Report;
use crate::remedy::remedies;

pub(super) fn costs(report: &Report<'_>) -> Vec<CostJson> {
    let remedies = remedies(&report.costs, &report.findings);
    let costs = report.costs.iter().zip(remedies);
    let cost = costs.map(|(cost, finding)| CostJson {
        name: cost.name.clone(),
        phase: cost.phase.as_ref().map(id),
        start_ns: cost.start.ns,
        end_ns: cost.end.ns,
        duration_ns: cost.duration_ns,
        why: cost.why.clone(),
        idle_share: finite(cost.idle_share),
        finding,
    });
    cost.collect()
}

pub(super) fn gap(gap: &Gap) -> GapJson {
    GapJson {
        start_ns: gap.start.ns,
        end_ns: gap.end.ns,
        phase: gap.phase.as_ref().map(id),
        before: gap.before.clone(),
        after: gap.after.clone(),
        idle_share: finite(gap.idle_share),
    }
}

/// JSON has no NaN.
fn finite(share: Option<f64>) -> Option<f64> {
    share.filter(|share| share.is_finite())
}

pub(super) fn findings(report: &Report<'_>) -> Vec<FindingJson> {
    let findings = report.findings.iter().map(|finding| FindingJson {
        rule: finding.rule.clone(),
        title: finding.title.clone(),
        why: finding.why.clone(),
        fix: finding.fix.clone(),
        recipe: finding.recipe.clone(),
        saving_ns: finding.saving.ns,
        saving_kind: id(&finding.saving.kind),
        saving_basis: finding.saving.basis.clone(),
        at_ns: finding.at_ns,
        evidence: finding
            .evidence
            .iter()
            .map(|e| evidence(report, e))
            .collect(),
    });
    findings.collect()
}

pub(super) fn trial(trial: &Trial) -> TrialJson {
    let effect = &trial.effect;
    let [low, high] = effect.interval_ns;
    TrialJson {
        recipe: trial.recipe.clone(),
        before_ns: trial.before_ns,
        after_ns: trial.after_ns,
        saved_ns: effect.shift_ns.saturating_neg(),
        // The change's interval, turned round.
        interval_ns: [high, low].map(i64::saturating_neg),
        p: if effect.p.is_finite() { effect.p } else { 1.0 },
        verdict: id(&effect.verdict),
        margin_ns: effect.margin_ns,
        samples: effect.samples,
        not_ready: trial.not_ready,
        phases: trial.phases.clone(),
        moved: trial.moved.clone(),
        predicted: trial.predicted.map(super::PredictedTimeJson::from),
    }
}

pub(super) fn comparison(before: &Report<'_>, after: &Report<'_>) -> ComparisonJson {
    let Comparison {
        total,
        phases,
        parts,
        moved,
        ..
    } = compare(before.timeline, after.timeline);
    ComparisonJson {
        total,
        phases,
        parts,
        moved,
    }
}

pub(super) fn notices(report: &Report<'_>) -> Vec<NoticeJson> {
    let notices = report.timeline.notices.iter().map(|notice| NoticeJson {
        code: notice.code.clone(),
        severity: id(&notice.severity),
        count: notice.count,
        remedy: notice.remedy.clone(),
        first: notice.first.iter().map(|e| evidence(report, e)).collect(),
    });
    notices.collect()
}
