//! Text inside XML: what the SVG and the JUnit file are made of.

use crate::clean::clean;

/// One line of text for the inside of an element or of a quoted attribute:
/// nothing in it can be markup, and nothing is there that XML forbids.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // The two that XML 1.0 forbids and that are no controls.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// Several lines of text for the inside of an element.
pub fn escaped_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(escaped).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        let text = escaped("</a><b c=\"d\" e='f'>&amp;]]>\0\u{ffff}\u{202e}\n");
        let expected =
            "&lt;/a&gt;&lt;b c=&quot;d&quot; e=&#39;f&#39;&gt;&amp;amp;]]&gt;␀\u{fffd}\u{fffd}␊";
        assert_eq!(text, expected);
        assert_eq!(escaped_lines("a\nb<\r\n"), "a\nb&lt;");
    }
}
