//! The report as one page: the viewer and its data in one file.
//!
//! The page opens from disk in any browser, makes no request, and may not:
//! its content security policy allows only the two inline pieces that carry
//! the hashes given there. Evidence gets into it as compressed bytes in data
//! blocks (`pack.rs`), which the viewer only ever turns into text nodes.

mod base85;
mod column;
mod pack;

use std::io::Write;

use data_encoding::BASE64;
use sha2::{Digest, Sha256};

use crate::Report;
use crate::boot::headline::{Outcome, alone};
use crate::format::duration;
use crate::sink::{Sink, buffered};
use crate::terminal::Style;
use crate::xml::{escaped, escaped_lines};
use crate::{boot, comparison};

/// The format.
pub const HTML: Sink = Sink {
    name: "html",
    title: "a page that opens in any browser, without a network",
    extensions: &["html", "htm"],
    choices: &[],
    write: |report, _, out| buffered(out, |out| Ok(write(report, out)?)),
};

/// The viewer's style and program, made from `web/src` by `make web`.
const STYLE: &str = include_str!("../../../../../web/dist/viewer.css");
const VIEWER: &str = include_str!("../../../../../web/dist/viewer.js");

/// Writes the whole page.
///
/// # Errors
/// If `out` does not take the bytes.
pub fn write(report: &Report<'_>, out: &mut impl Write) -> Result<(), serde_json::Error> {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        source_hash(VIEWER),
        source_hash(STYLE),
    );
    let head = format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<main id="report"></main>
<noscript><pre>{text}</pre></noscript>
"#,
        title = escaped(&title(report)),
        text = escaped_lines(&plain(report)),
    );
    let io = serde_json::Error::io;
    out.write_all(head.as_bytes()).map_err(io)?;
    let boots = [Some(report), report.before.as_deref()];
    let boots = || boots.into_iter().flatten().enumerate();
    for (n, boot) in boots() {
        block(out, &format!("boot-{n}"), &pack::boot(boot)?).map_err(io)?;
    }
    // It draws before the browser has read the evidence, which is most of the page.
    writeln!(out, "<script type=\"module\" async>{VIEWER}</script>").map_err(io)?;
    for (n, boot) in boots() {
        block(out, &format!("evidence-{n}"), &pack::evidence(boot)).map_err(io)?;
    }
    out.write_all(b"</body>\n</html>\n").map_err(io)
}

/// Bytes that the viewer finds by `id`.
fn block(out: &mut impl Write, id: &str, bytes: &[u8]) -> std::io::Result<()> {
    let text = base85::encoded(bytes);
    writeln!(
        out,
        r#"<script type="text/plain" id="{id}">{text}</script>"#
    )
}

fn title(report: &Report<'_>) -> String {
    let target = crate::clean::clean(match &*report.about.target {
        "" => "this boot",
        target => target,
    });
    match Outcome::of(report) {
        Outcome::Ready { ns, .. } => format!("{target}: {} to ready", duration(ns)),
        Outcome::NotReady(_) => format!("{target}: not ready"),
        Outcome::Ended { .. } | Outcome::Seen(_) => target.into_owned() + &alone(report),
    }
}

/// What readers without JavaScript see.
fn plain(report: &Report<'_>) -> String {
    let style = Style::default();
    let mut text = boot::text(report, &style);
    if report.before.is_some() {
        text.push('\n');
        text.push_str(&comparison::text(report, &style));
    }
    text
}

/// How a content security policy names an inline script or style.
pub(crate) fn source_hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_viewer_cannot_end_its_own_element() {
        // Raw text elements end at the first of these, wherever it stands.
        assert!(!VIEWER.contains("</script") && !VIEWER.contains("<!--"));
        assert!(!STYLE.contains("</style"));
    }

    #[test]
    fn the_viewer_builds_text_nodes_only() {
        for banned in [
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "fetch(",
            "import(",
        ] {
            assert!(!VIEWER.contains(banned), "{banned}");
        }
    }
}
