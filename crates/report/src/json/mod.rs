//! The report as a document for programs, and for the viewer in the page.
//!
//! `docs/schema/` has its schema and those of its parts that commands print on
//! their own, made from the types in `model.rs`. Within one format version fields are only ever added, so
//! readers ignore what they do not know and expect any optional field to be
//! absent.

mod boot;
mod inspect;
mod model;
mod outcome;

pub use inspect::{InspectedJson, inspected};
pub use model::*;

use bootlap_analysis::Trial;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;

/// The version of the document's format.
pub const FORMAT: u32 = 1;

/// The report as one line of JSON and a newline.
///
/// Characters that a terminal or a browser would obey stand as `\u` escapes,
/// so that the document can be shown, piped and embedded as it is.
///
/// # Errors
/// None for any report; the type is that of the serialiser.
pub fn document(report: &Report<'_>) -> Result<String, serde_json::Error> {
    line(&ReportJson::of(report))
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
    let mut text = escaped(&serde_json::to_string(document)?);
    text.push('\n');
    Ok(text)
}

/// The JSON schemas of the documents, by name: `report`, `inspect`, `advise`, `try`.
pub fn schemas() -> [(&'static str, serde_json::Value); 4] {
    [
        ("report", schema_of::<ReportJson>("bootlap report")),
        (
            "inspect",
            schema_of::<Vec<InspectedJson>>("bootlap inspect"),
        ),
        ("advise", schema_of::<AdviceJson>("bootlap advise")),
        ("try", schema_of::<TrialsJson>("bootlap try")),
    ]
}

fn schema_of<T: JsonSchema>(title: &str) -> serde_json::Value {
    let mut schema = schemars::schema_for!(T);
    schema.insert("title".to_owned(), title.into());
    schema.to_value()
}

/// Escapes what could leave a `<script>` element, control a terminal or turn
/// text round. In JSON such characters occur in strings only.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if matches!(c, '<' | '>' | '&') || !crate::clean::harmless(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_that_acts_stays_in_the_document() {
        let hostile = "</script>&\u{202e}\u{2028}\u{9b}\u{e0041}é";
        let json = escaped(&serde_json::to_string(hostile).unwrap());
        assert_eq!(
            json,
            r#""\u003c/script\u003e\u0026\u202e\u2028\u009b\udb40\udc41é""#
        );
        let back: String = serde_json::from_str(&json).unwrap();
        assert_eq!(back, hostile);
    }
}
