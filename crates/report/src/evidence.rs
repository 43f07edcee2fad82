//! What stands behind an event, out of the raw evidence.

use bootlap_model::Evidence;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;

/// Bytes that are shown at most.
const LONGEST: usize = 600;

/// A place in an evidence file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EvidenceJson {
    /// The file's name.
    pub file: String,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
    /// Line number, from 1.
    pub line: u32,
    /// What stands there if it is at hand, mostly one line; if long, cut.
    pub text: Option<String>,
}

/// `evidence` as a document shows it.
pub(crate) fn evidence(report: &Report<'_>, evidence: &Evidence) -> EvidenceJson {
    EvidenceJson {
        file: report.timeline.file(evidence.file).name.clone(),
        start: evidence.start,
        end: evidence.end,
        line: evidence.line,
        text: line_of(report, evidence),
    }
}

/// The text that `evidence` points at, mostly one line, if it is at hand.
fn line_of(report: &Report<'_>, evidence: &Evidence) -> Option<String> {
    let bytes = bytes_of(report, evidence)?;
    let shown = &bytes[..bytes.len().min(LONGEST)];
    let text = String::from_utf8_lossy(shown);
    Some(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// The bytes that `evidence` points at, if they are at hand.
pub(crate) fn bytes_of<'r>(report: &'r Report<'_>, evidence: &Evidence) -> Option<&'r [u8]> {
    let start = usize::try_from(evidence.start).ok()?;
    let end = usize::try_from(evidence.end).ok()?;
    let text = report.texts.get(&evidence.file)?;
    text.get(start..end.min(text.len()))
}
