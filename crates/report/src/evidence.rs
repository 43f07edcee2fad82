//! What stands behind an event, out of the raw evidence.

use bootlap_model::Evidence;

use crate::Report;

/// Bytes that are shown at most.
const LONGEST: usize = 600;

/// The text that `evidence` points at, mostly one line, if it is at hand.
pub(crate) fn line_of(report: &Report<'_>, evidence: &Evidence) -> Option<String> {
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
