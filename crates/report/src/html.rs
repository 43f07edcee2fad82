//! The report as one page: a template, the JSON document and the viewer.
//!
//! The page opens from disk in any browser, makes no request, and may not:
//! its content security policy allows only the two inline pieces that carry
//! the hashes given there. Evidence gets into it as escaped JSON in a data
//! block, which the viewer only ever turns into text nodes.

use std::io::Write;

use sha2::{Digest, Sha256};

use crate::text::{Style, before_after, summary};
use crate::{Report, json};

/// The viewer's style.
const STYLE: &str = include_str!("../../../web/viewer.css");

/// The viewer: parts of one module, in the order in which they build on each
/// other.
const VIEWER: &[&str] = &[
    include_str!("../../../web/format.js"),
    include_str!("../../../web/dom.js"),
    include_str!("../../../web/model.js"),
    include_str!("../../../web/lanes.js"),
    include_str!("../../../web/timeline.js"),
    include_str!("../../../web/paint.js"),
    include_str!("../../../web/splits.js"),
    include_str!("../../../web/sections.js"),
    include_str!("../../../web/viewer.js"),
];

/// Writes the whole page.
///
/// # Errors
/// As [`json::write`].
pub fn write(report: &Report<'_>, out: &mut impl Write) -> Result<(), serde_json::Error> {
    let viewer = VIEWER.concat();
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        source_hash(&viewer),
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
<script type="application/json" id="document">"#,
        title = escaped(&title(report)),
        text = escaped(&plain(report)),
    );
    let tail = format!(
        r#"</script>
<script type="module">{viewer}</script>
</body>
</html>
"#
    );
    let io = serde_json::Error::io;
    out.write_all(head.as_bytes()).map_err(io)?;
    json::write(report, out)?;
    out.write_all(tail.as_bytes()).map_err(io)
}

fn title(report: &Report<'_>) -> String {
    let target = crate::clean::clean(&report.about.target);
    match report.about.ready_ns {
        Some(ns) => format!("{target}: {} to ready", crate::format::duration(ns)),
        None => format!("{target}: not ready"),
    }
}

/// What readers without JavaScript see.
fn plain(report: &Report<'_>) -> String {
    let style = Style::default();
    let mut text = summary(report, &style);
    if report.before.is_some() {
        text.push('\n');
        text.push_str(&before_after(report, &style));
    }
    text
}

/// Text for the inside of an element.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ => out.push(c),
        }
    }
    out
}

/// How a content security policy names an inline script or style.
fn source_hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(word);
        for at in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn the_viewer_cannot_end_its_own_element() {
        // Raw text elements end at the first of these, wherever it stands.
        for part in VIEWER {
            assert!(!part.contains("</script") && !part.contains("<!--"));
        }
        assert!(!STYLE.contains("</style"));
    }

    #[test]
    fn the_viewer_builds_text_nodes_only() {
        for part in VIEWER {
            for banned in [
                "innerHTML",
                "outerHTML",
                "insertAdjacent",
                "document.write",
                "eval(",
                "fetch(",
                "import(",
            ] {
                assert!(!part.contains(banned), "{banned}");
            }
        }
    }
}
