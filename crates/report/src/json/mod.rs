//! The report as a document for programs, and for the viewer in the page.
//!
//! `docs/schema/` has its schema and those of its parts that commands print on
//! their own, made from the types in `model.rs`. Within one format version fields are only ever added, so
//! readers ignore what they do not know and expect any optional field to be
//! absent.

mod apply;
mod boot;
mod builds;
mod calibration;
mod catalogue;
mod check;
mod evidence;
mod explain;
mod groups;
mod history;
mod id;
mod inspect;
mod model;
mod outcome;
mod predicted;
mod rc;
mod series;
mod table;
mod tuning;

pub use apply::{AppliedJson, EditJson, applied};
pub use builds::{BuildsJson, BuiltJson, builds};
pub use calibration::{
    CalibrationJson, FittedSpeedJson, FittedStorageJson, StretchJson, calibration,
};
pub use catalogue::{RecipeJson, RuleJson, recipes, rules};
pub use check::{CauseJson, CheckJson, GrowthJson, LimitJson, check};
pub use evidence::EvidenceJson;
pub use explain::{
    ConditionJson, DelayJson, ExplainJson, MacroJson, OptionJson, PlaceJson, SymbolJson, explain,
};
pub use groups::{CompareJson, groups};
pub use history::{ChangeJson, HistoryJson, ResultJson, TrendJson, history};
pub use inspect::{InspectedJson, inspected};
pub use model::*;
pub use predicted::{PredictedJson, PredictedPhaseJson, PredictedTimeJson};
pub use rc::{RcJson, RcLeftOutJson, RcScriptJson, RcTimesJson, RcWaitJson, rc};
pub use series::{LapJson, LapPhaseJson, PhaseSpreadJson, SeriesJson, series};
pub use table::*;
pub use tuning::{ExcludedJson, LeftOutJson, TuningJson, TuningStepJson, tuning};

pub use id::id;

use std::io::{self, Write};

use bootlap_analysis::Trial;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::Report;

/// The version of the document's format.
pub const FORMAT: u32 = 1;

/// The report as one line of JSON and a newline: see [`write()`].
///
/// # Errors
/// None for any report; the type is that of the serialiser.
pub fn document(report: &Report<'_>) -> Result<String, serde_json::Error> {
    line(&ReportJson::of(report))
}

/// Writes the report as one line of JSON and a newline.
///
/// Characters that a terminal or a browser would obey stand as `\u` escapes,
/// so that the document can be shown, piped and embedded as it is.
///
/// # Errors
/// If `out` does not take the bytes.
pub fn write(report: &Report<'_>, out: &mut impl Write) -> Result<(), serde_json::Error> {
    write_line(&ReportJson::of(report), out)
}

/// What `advise --json` prints: the findings of a report.
///
/// # Errors
/// None for any report.
pub fn advice(report: &Report<'_>) -> Result<String, serde_json::Error> {
    line(&AdviceJson {
        format: FORMAT,
        tool: report.about.tool.clone(),
        target: report.about.target.clone(),
        findings: outcome::findings(report),
    })
}

/// What `try --json` prints.
///
/// # Errors
/// None for any trials.
pub fn trials(
    trials: &[Trial],
    target: &str,
    mode: &str,
    tool: &str,
) -> Result<String, serde_json::Error> {
    line(&TrialsJson {
        format: FORMAT,
        tool: tool.to_owned(),
        target: target.to_owned(),
        mode: mode.to_owned(),
        trials: trials.iter().map(outcome::trial).collect(),
    })
}

fn line(document: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    write_line(document, &mut bytes)?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

fn write_line(document: &impl Serialize, out: &mut impl Write) -> Result<(), serde_json::Error> {
    let mut serializer = Serializer::with_formatter(&mut *out, Escaping);
    document.serialize(&mut serializer)?;
    out.write_all(b"\n").map_err(serde_json::Error::io)
}

/// The JSON schemas of the documents, each by the command that prints it.
pub fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("report", schema_of::<ReportJson>("bootlap report")),
        (
            "inspect",
            schema_of::<Vec<InspectedJson>>("bootlap inspect"),
        ),
        ("advise", schema_of::<AdviceJson>("bootlap advise")),
        ("try", schema_of::<TrialsJson>("bootlap try")),
        ("apply", schema_of::<AppliedJson>("bootlap apply")),
        ("build", schema_of::<BuildsJson>("bootlap build")),
        ("show", schema_of::<TableJson>("bootlap show --by")),
        (
            "calibrate",
            schema_of::<CalibrationJson>("bootlap calibrate"),
        ),
        ("recipes", schema_of::<Vec<RecipeJson>>("bootlap recipes")),
        ("rules", schema_of::<Vec<RuleJson>>("bootlap rules")),
        ("tune", schema_of::<TuningJson>("bootlap tune")),
        ("check", schema_of::<CheckJson>("bootlap check")),
        ("history", schema_of::<HistoryJson>("bootlap history show")),
        ("compare", schema_of::<CompareJson>("bootlap compare")),
        ("explain", schema_of::<ExplainJson>("bootlap explain")),
        ("rc", schema_of::<RcJson>("bootlap rc")),
        ("series", schema_of::<SeriesJson>("bootlap boot of a board")),
    ]
}

fn schema_of<T: JsonSchema>(title: &str) -> serde_json::Value {
    let mut schema = schemars::schema_for!(T);
    schema.insert("title".to_owned(), title.into());
    schema.to_value()
}

/// Escapes what could leave a `<script>` element, control a terminal or turn
/// text round. In JSON such characters occur in strings only.
struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W>(&mut self, out: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        let mut rest = fragment;
        while let Some(at) = rest.bytes().position(is_suspect) {
            let (harmless, suspect) = rest.split_at(at);
            out.write_all(harmless.as_bytes())?;
            let mut chars = suspect.chars();
            if let Some(c) = chars.next() {
                escape(out, c)?;
            }
            rest = chars.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

/// Whether a character that is escaped can begin with this byte.
fn is_suspect(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'&' | 0x7f..)
}

fn escape<W: ?Sized + Write>(out: &mut W, c: char) -> io::Result<()> {
    if !matches!(c, '<' | '>' | '&') && crate::clean::harmless(c) {
        return out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    let mut units = [0; 2];
    let mut units = c.encode_utf16(&mut units).iter();
    units.try_for_each(|unit| write!(out, "\\u{unit:04x}"))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn nothing_that_acts_stays_in_the_document() {
        let hostile = "</script>&\u{202e}\u{2028}\u{9b}\u{e0041}é";
        let json = line(&hostile).unwrap();
        assert_eq!(
            json,
            "\"\\u003c/script\\u003e\\u0026\\u202e\\u2028\\u009b\\udb40\\udc41é\"\n"
        );
        let back: String = serde_json::from_str(&json).unwrap();
        assert_eq!(back, hostile);
    }
}
