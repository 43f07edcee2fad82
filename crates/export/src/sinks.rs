//! All report formats, and which one a file extension asks for.

use std::io::{BufWriter, Write};

use bootlap_report::boot::csv::Csv;
use bootlap_report::boot::junit::Junit;
use bootlap_report::boot::markdown::Markdown;
use bootlap_report::boot::{self, html, json};
use bootlap_report::{Report, Sink, SinkError, SinkInfo, Style, comparison, findings, trials};

use crate::bootchart::Bootchart;
use crate::folded::Folded;
use crate::perfetto;
use crate::svg::Svg;

/// All formats.
pub const SINKS: &[&dyn Sink] = &[
    &Html, &Svg, &Markdown, &Json, &Csv, &Junit, &Folded, &Perfetto, &Bootchart, &Text,
];

/// The format that a file extension (without the dot, in any case) asks for;
/// `tar.gz` is one, too.
pub fn sink_for(extension: &str) -> Option<&'static dyn Sink> {
    let known = |sink: &&&dyn Sink| {
        let mut names = sink.info().extensions.iter();
        names.any(|known| known.eq_ignore_ascii_case(extension))
    };
    SINKS.iter().find(known).copied()
}

/// JSON comes in pieces of a few bytes.
const BUFFER: usize = 1 << 16;

struct Html;

impl Sink for Html {
    fn info(&self) -> &'static SinkInfo {
        &SinkInfo {
            name: "html",
            title: "a page that opens in any browser, without a network",
            extensions: &["html", "htm"],
        }
    }

    fn write(&self, report: &Report<'_>, out: &mut dyn Write) -> Result<(), SinkError> {
        let mut out = BufWriter::with_capacity(BUFFER, out);
        html::write(report, &mut out)?;
        Ok(out.flush()?)
    }
}

struct Json;

impl Sink for Json {
    fn info(&self) -> &'static SinkInfo {
        &SinkInfo {
            name: "json",
            title: "everything, for programs (docs/schema/report.json)",
            extensions: &["json"],
        }
    }

    fn write(&self, report: &Report<'_>, out: &mut dyn Write) -> Result<(), SinkError> {
        let mut out = BufWriter::with_capacity(BUFFER, out);
        json::write(report, &mut out)?;
        Ok(out.flush()?)
    }
}

struct Text;

impl Sink for Text {
    fn info(&self) -> &'static SinkInfo {
        &SinkInfo {
            name: "text",
            title: "what the terminal shows",
            extensions: &["txt"],
        }
    }

    fn write(&self, report: &Report<'_>, out: &mut dyn Write) -> Result<(), SinkError> {
        let style = Style {
            width: 100,
            ..Style::default()
        };
        let mut parts = vec![boot::text(report, &style)];
        if report.before.is_some() {
            parts.push(comparison::text(report, &style));
        }
        if !report.findings.is_empty() {
            parts.push(findings::text(&report.findings, &style));
        }
        if !report.trials.is_empty() {
            parts.push(trials::text(&report.trials, &style));
        }
        Ok(out.write_all(parts.join("\n").as_bytes())?)
    }
}

struct Perfetto;

impl Sink for Perfetto {
    fn info(&self) -> &'static SinkInfo {
        &SinkInfo {
            name: "perfetto",
            title: "a trace that opens in ui.perfetto.dev",
            extensions: &["pftrace", "perfetto-trace"],
        }
    }

    fn write(&self, report: &Report<'_>, out: &mut dyn Write) -> Result<(), SinkError> {
        let mut out = BufWriter::with_capacity(BUFFER, out);
        perfetto::write(report, &mut out)?;
        Ok(out.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_find_their_sink() {
        let name = |ext| sink_for(ext).map(|sink| sink.info().name);
        assert_eq!(name("html"), Some("html"));
        assert_eq!(name("HTM"), Some("html"));
        assert_eq!(name("json"), Some("json"));
        assert_eq!(name("txt"), Some("text"));
        assert_eq!(name("pftrace"), Some("perfetto"));
        assert_eq!(name("md"), Some("markdown"));
        assert_eq!(name("xml"), Some("junit"));
        assert_eq!(name("tgz"), Some("bootchart"));
        assert_eq!(name("tar.gz"), Some("bootchart"));
        assert_eq!(name("gz"), None);
        assert_eq!(name("doc"), None);
    }
}
