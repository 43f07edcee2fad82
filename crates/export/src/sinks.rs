//! All report formats, and which one a file extension asks for.

use bootlap_report::Sink;
use bootlap_report::boot::TEXT;
use bootlap_report::boot::csv::CSV;
use bootlap_report::boot::html::HTML;
use bootlap_report::boot::json::JSON;
use bootlap_report::boot::junit::JUNIT;
use bootlap_report::boot::markdown::MARKDOWN;

use crate::bootchart::BOOTCHART;
use crate::folded::FOLDED;
use crate::perfetto::PERFETTO;
use crate::svg::SVG;

/// All formats.
pub const SINKS: &[&Sink] = &[
    &HTML, &SVG, &MARKDOWN, &JSON, &CSV, &JUNIT, &FOLDED, &PERFETTO, &BOOTCHART, &TEXT,
];

/// The format that a file extension (without the dot, in any case) asks for;
/// `tar.gz` is one, too.
pub fn sink_for(extension: &str) -> Option<&'static Sink> {
    let known = |sink: &&&Sink| {
        let mut names = sink.extensions.iter();
        names.any(|known| known.eq_ignore_ascii_case(extension))
    };
    SINKS.iter().find(known).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_find_their_sink() {
        let name = |ext| sink_for(ext).map(|sink| sink.name);
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
