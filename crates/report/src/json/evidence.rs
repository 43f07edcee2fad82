//! Where something stands in the evidence.

use bootlap_model::Evidence;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::evidence::line_of;

/// A place in an evidence file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EvidenceJson {
    /// The file's name.
    pub file: String,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset behind the last byte.
    pub end: u64,
    /// Line number, from 1.
    pub line: u32,
    /// What stands there if it is at hand, mostly one line; if long, cut.
    pub text: Option<String>,
}

pub(super) fn evidence(report: &Report<'_>, evidence: &Evidence) -> EvidenceJson {
    EvidenceJson {
        file: report.timeline.file(evidence.file).name.clone(),
        start: evidence.start,
        end: evidence.end,
        line: evidence.line,
        text: line_of(report, evidence),
    }
}
