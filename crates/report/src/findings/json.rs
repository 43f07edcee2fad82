//! Findings as a document: `advise --json`.

use bootlap_advice::SavingKind;
use schemars::JsonSchema;
use serde::Serialize;

use super::remedy::claimed_before;
use super::risk;
use crate::Report;
use crate::evidence::{EvidenceJson, evidence};
use crate::json::{FORMAT, id, line};

/// Advice on a boot: `bootlap advise --json`.
///
/// All times are integer nanoseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AdviceJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// What was looked at: the target's name, or a log's.
    pub target: String,
    /// Best first.
    pub findings: Vec<FindingJson>,
}

/// One piece of advice.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FindingJson {
    /// The rule that found it.
    pub rule: String,
    /// What is wrong, in one line.
    pub title: String,
    /// What this boot showed.
    pub why: String,
    /// What to do by hand.
    pub fix: String,
    /// What can go wrong with it.
    pub risk: String,
    /// The recipe that does it, if there is one and it applies.
    pub recipe: Option<String>,
    /// Expected saving on the clock of this boot, a duration; 0 if it is unknown or only
    /// predicted.
    pub saving_ns: i64,
    /// Expected saving on a real board, predicted by arithmetic; null if there is no such
    /// prediction.
    pub predicted_saving_ns: Option<i64>,
    /// Index of a better finding that claims the same time: the two savings do not add up.
    pub same_time_as: Option<usize>,
    /// `this-boot`: on the clock of this report. `predicted-board`: of a real
    /// board, which an emulated machine does not show. `unknown`: nothing that
    /// was seen says how much.
    pub saving_kind: String,
    /// Whether it is a bound: at most so much, and nobody knows how much of it there is to be had.
    pub saving_is_bound: bool,
    /// Where the saving is unknown: how long what it is about takes, a duration; 0 if that is
    /// unknown, too.
    pub takes_ns: i64,
    /// How the saving was computed.
    pub saving_basis: String,
    /// The interval that the time goes into.
    pub at_ns: Option<[i64; 2]>,
    /// The lines that show it.
    pub evidence: Vec<EvidenceJson>,
}

/// What `advise --json` prints: the findings of a report.
///
/// # Errors
/// None for any report.
pub fn json(report: &Report<'_>) -> Result<String, serde_json::Error> {
    line(&AdviceJson {
        format: FORMAT,
        tool: report.about.tool.clone(),
        target: report.about.target.clone(),
        findings: findings(report),
    })
}

/// The findings of a report.
pub(crate) fn findings(report: &Report<'_>) -> Vec<FindingJson> {
    let shared = claimed_before(&report.findings);
    let all = report.findings.iter().zip(shared);
    let findings = all.map(|(finding, same_time_as)| FindingJson {
        rule: finding.rule.clone(),
        title: finding.title.clone(),
        why: finding.why.clone(),
        fix: finding.fix.clone(),
        risk: risk(finding),
        recipe: finding.recipe.clone(),
        saving_ns: match finding.saving.kind {
            SavingKind::PredictedBoard => 0,
            SavingKind::ThisBoot | SavingKind::Unknown => finding.saving.ns,
        },
        predicted_saving_ns: (finding.saving.kind == SavingKind::PredictedBoard)
            .then_some(finding.saving.ns),
        same_time_as,
        saving_kind: id(&finding.saving.kind),
        saving_is_bound: finding.saving.is_bound(),
        takes_ns: finding.takes_ns,
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
