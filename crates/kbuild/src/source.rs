//! C as text: comments and strings masked, functions and variables found.
//!
//! No compiler: a file is read as it stands, with all branches of its
//! preprocessor, which is what a person reads, too. Offsets of the masked text
//! are those of the original.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr3, memmem};

/// Arguments of a macro do not reach further, in bytes.
const LONGEST_ARGUMENTS: usize = 8 * 1024;

/// A source file.
pub(crate) struct Source {
    /// As it is.
    pub(crate) text: Vec<u8>,
    /// The same without comments and without what is in strings: spaces.
    pub(crate) code: Vec<u8>,
    /// Where lines begin.
    lines: Vec<usize>,
}

/// Something with braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    /// Its name.
    pub(crate) name: String,
    /// Where the name stands.
    pub(crate) at: usize,
    /// From brace to brace.
    pub(crate) range: Range<usize>,
    /// A function; otherwise a variable with its first values.
    pub(crate) is_function: bool,
}

/// A line of the preprocessor, continuation lines joined.
pub(crate) struct Directive<'a> {
    /// `define`, `ifdef` …
    pub(crate) keyword: &'a str,
    /// What follows.
    pub(crate) rest: Range<usize>,
    /// Where it ends, newline included.
    pub(crate) end: usize,
}

impl Source {
    /// Reads a file.
    pub(crate) fn new(text: Vec<u8>) -> Self {
        let code = masked(&text);
        let lines = std::iter::once(0).chain(memchr_iter(b'\n', &text).map(|at| at + 1));
        Self {
            lines: lines.collect(),
            code,
            text,
        }
    }

    /// The line of an offset, from 1 on.
    pub(crate) fn line(&self, at: usize) -> u32 {
        self.lines.partition_point(|start| *start <= at) as u32
    }

    /// The code in a range.
    pub(crate) fn slice(&self, range: Range<usize>) -> &str {
        utf8(self.code.get(range).unwrap_or_default())
    }

    /// The original text in a range.
    pub(crate) fn original(&self, range: Range<usize>) -> String {
        String::from_utf8_lossy(self.text.get(range).unwrap_or_default()).into_owned()
    }

    /// The name that begins at `at`; empty if none does.
    pub(crate) fn name_at(&self, at: usize) -> &str {
        name_at(&self.code, at)
    }

    /// The first offset from `at` on that is no space.
    pub(crate) fn skip_space(&self, at: usize) -> usize {
        skip_space(&self.code, at)
    }

    /// What is between the brackets that open at `at`.
    pub(crate) fn arguments(&self, at: usize) -> Option<Range<usize>> {
        let end = close(&self.code, at, LONGEST_ARGUMENTS)?;
        Some(at + 1..end)
    }

    /// The directive whose `#` is at `at`.
    pub(crate) fn directive(&self, at: usize) -> Directive<'_> {
        let mut end = at;
        loop {
            let rest = self.code.get(end..).unwrap_or_default();
            let Some(newline) = memchr(b'\n', rest) else {
                end = self.code.len();
                break;
            };
            end += newline + 1;
            let line = self.code.get(..end - 1).unwrap_or_default();
            if !line.trim_ascii_end_of_line().ends_with(b"\\") {
                break;
            }
        }
        let from = skip_blank(&self.code, at + 1);
        let keyword = name_at(&self.code, from);
        Directive {
            keyword,
            rest: (from + keyword.len()).min(end)..end,
            end,
        }
    }

    /// All functions and variables with braces, in order.
    pub(crate) fn bodies(&self) -> Vec<Body> {
        Bodies::of(self).found
    }
}

/// Carriage returns are no part of a line.
trait EndOfLine {
    fn trim_ascii_end_of_line(&self) -> &[u8];
}

impl EndOfLine for [u8] {
    fn trim_ascii_end_of_line(&self) -> &[u8] {
        self.strip_suffix(b"\r").unwrap_or(self)
    }
}

/// Masked text is ASCII.
pub(crate) fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

pub(crate) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(crate) fn byte(code: &[u8], at: usize) -> u8 {
    code.get(at).copied().unwrap_or(0)
}

/// The name that begins at `at`; a number is none.
pub(crate) fn name_at(code: &[u8], at: usize) -> &str {
    let rest = code.get(at..).unwrap_or_default();
    if rest.first().is_none_or(u8::is_ascii_digit) {
        return "";
    }
    let end = rest.iter().position(|b| !is_name(*b));
    utf8(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default())
}

/// The names in a piece of code that is not cut within one, and where each begins.
pub(crate) fn names(code: &[u8], range: Range<usize>) -> impl Iterator<Item = (&str, usize)> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        while at < range.end {
            let start = at;
            while is_name(byte(code, at)) {
                at += 1;
            }
            match name_at(code, start) {
                "" => at = at.max(start + 1),
                name => return Some((name, start)),
            }
        }
        None
    })
}

pub(crate) fn skip_space(code: &[u8], mut at: usize) -> usize {
    while matches!(byte(code, at), b' ' | b'\t' | b'\n' | b'\r' | b'\\' | 0x0c) {
        at += 1;
    }
    at
}

fn skip_blank(code: &[u8], mut at: usize) -> usize {
    while matches!(byte(code, at), b' ' | b'\t') {
        at += 1;
    }
    at
}

/// Where the bracket that opens at `at` closes, if within `most` bytes.
pub(crate) fn close(code: &[u8], at: usize, most: usize) -> Option<usize> {
    let rest = code.get(at..)?;
    let mut open = 0_usize;
    for (offset, b) in rest.iter().enumerate().take(most) {
        match b {
            b'(' | b'{' | b'[' => open += 1,
            b')' | b'}' | b']' => {
                open = open.checked_sub(1)?;
                if open == 0 {
                    return Some(at + offset);
                }
            }
            _ if open == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The parts of `text` that commas divide, those in brackets not counted.
pub(crate) fn parts(text: &str) -> Vec<&str> {
    let mut open = 0_usize;
    let parts = text.split(|c| {
        match c {
            '(' | '{' | '[' => open += 1,
            ')' | '}' | ']' => open = open.saturating_sub(1),
            _ => {}
        }
        c == ',' && open == 0
    });
    parts.map(str::trim).collect()
}

/// Spaces instead of comments, what is in quotes, and what is not ASCII.
fn masked(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let plain = memchr3(b'/', b'"', b'\'', rest).unwrap_or(rest.len());
        out.extend(rest.iter().take(plain).map(ascii));
        at += plain;
        let Some(b) = text.get(at).copied() else {
            break;
        };
        let next = byte(text, at + 1);
        let end = match b {
            b'/' if next == b'*' => after_comment(text, at + 2),
            b'/' if next == b'/' => end_of_line(text, at),
            b'"' | b'\'' => {
                let end = after_quote(text, at + 1, b);
                out.push(b);
                blank(text.get(at + 1..end.saturating_sub(1)), &mut out);
                // A quote that never closes ends with its line.
                let last = byte(text, end.saturating_sub(1));
                if end > at + 1 {
                    out.push(if last.is_ascii() { last } else { b' ' });
                }
                at = end;
                continue;
            }
            _ => {
                out.push(b);
                at += 1;
                continue;
            }
        };
        blank(text.get(at..end), &mut out);
        at = end;
    }
    out
}

fn ascii(byte: &u8) -> u8 {
    match byte {
        1..=127 => *byte,
        _ => b' ',
    }
}

fn blank(text: Option<&[u8]>, out: &mut Vec<u8>) {
    let kept = |b: &u8| if *b == b'\n' { b'\n' } else { b' ' };
    out.extend(text.unwrap_or_default().iter().map(kept));
}

fn after_comment(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let end = memmem::find(rest, b"*/");
    end.map_or(text.len(), |end| from + end + 2)
}

fn end_of_line(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    memchr(b'\n', rest).map_or(text.len(), |end| from + end)
}

fn after_quote(text: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from;
    loop {
        match byte(text, at) {
            b'\\' if at + 1 < text.len() => at += 2,
            b'\n' => return at,
            b if b == quote => return at + 1,
            0 if at >= text.len() => return text.len(),
            _ => at += 1,
        }
    }
}

/// One pass over a file.
struct Bodies {
    found: Vec<Body>,
}

impl Bodies {
    fn of(source: &Source) -> Self {
        let code = &source.code;
        let mut all = Self { found: Vec::new() };
        // Names before brackets since the last statement, and what is open.
        let mut names: Vec<(String, usize)> = Vec::new();
        let mut variable: Option<(String, usize)> = None;
        let mut last: (usize, usize) = (0, 0);
        let mut depth = 0_usize;
        let mut round = 0_usize;
        let mut begun: Option<(String, usize, usize, bool)> = None;
        // Branches of the preprocessor may each open the same brace.
        let mut branches: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        let mut at_line_start = true;
        while let Some(b) = code.get(at).copied() {
            if b == b'#' && at_line_start {
                let directive = source.directive(at);
                match directive.keyword {
                    "if" | "ifdef" | "ifndef" => branches.push((depth, round)),
                    "else" | "elif" => {
                        (depth, round) = branches.last().copied().unwrap_or((depth, round));
                    }
                    "endif" => {
                        branches.pop();
                    }
                    _ => {}
                }
                at = directive.end.max(at + 1);
                continue;
            }
            let line_start = at_line_start;
            let first_column = at == 0 || byte(code, at - 1) == b'\n';
            at_line_start = b == b'\n' || (line_start && (b == b' ' || b == b'\t'));
            if is_name(b) {
                let end = at + name_length(code, at);
                last = (at, end);
                at = end;
                continue;
            }
            match b {
                b'(' => {
                    if depth == 0 && round == 0 && last.1 > last.0 {
                        let name = utf8(code.get(last.0..last.1).unwrap_or_default());
                        if names.len() < 64 {
                            names.push((name.to_owned(), last.0));
                        }
                    }
                    round += 1;
                }
                b')' => round = round.saturating_sub(1),
                b'=' if depth == 0 && round == 0 && variable.is_none() => {
                    variable = variable_before(code, at);
                }
                b';' if depth == 0 => {
                    round = 0;
                    names.clear();
                    variable = None;
                }
                b'{' => {
                    if depth == 0 {
                        round = 0;
                        begun = match variable.take() {
                            Some((name, at_name)) => Some((name, at_name, at, false)),
                            None => function_name(&names).map(|(n, a)| (n, a, at, true)),
                        };
                    }
                    depth += 1;
                }
                b'}' => {
                    depth = if first_column {
                        0
                    } else {
                        depth.saturating_sub(1)
                    };
                    if depth == 0 {
                        round = 0;
                        if let Some((name, at_name, from, is_function)) = begun.take() {
                            all.found.push(Body {
                                name,
                                at: at_name,
                                range: from..at + 1,
                                is_function,
                            });
                        }
                        names.clear();
                        variable = None;
                        last = (0, 0);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        all
    }
}

fn name_length(code: &[u8], at: usize) -> usize {
    let rest = code.get(at..).unwrap_or_default();
    let end = rest.iter().position(|b| !is_name(*b));
    end.unwrap_or(rest.len()).max(1)
}

/// The name before `=`, brackets of an array passed over.
fn variable_before(code: &[u8], equals: usize) -> Option<(String, usize)> {
    let before = code.get(equals.saturating_sub(512)..equals)?;
    let base = equals - before.len();
    let mut end = before.len();
    loop {
        let shown = before.get(..end)?.trim_ascii_end();
        end = shown.len();
        if !shown.ends_with(b"]") {
            break;
        }
        end = shown.iter().rposition(|b| *b == b'[')?;
    }
    let name = before.get(..end)?;
    let start = name
        .iter()
        .rposition(|b| !is_name(*b))
        .map_or(0, |at| at + 1);
    let text = utf8(name.get(start..)?);
    (!text.is_empty()).then(|| (text.to_owned(), base + start))
}

/// Of the names with brackets before a body, the function's: attributes such
/// as `__printf(1, 2)` and `__must_hold(x)` stand on both sides of it.
fn function_name(names: &[(String, usize)]) -> Option<(String, usize)> {
    let plain = names.iter().rev().find(|(n, _)| !n.starts_with("__"));
    plain.or(names.first()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(text: &str) -> Vec<String> {
        let source = Source::new(text.as_bytes().to_vec());
        let bodies = source.bodies().into_iter();
        bodies
            .map(|b| {
                let kind = if b.is_function { "f" } else { "v" };
                format!("{kind} {}:{}", b.name, source.line(b.at))
            })
            .collect()
    }

    #[test]
    fn masking_keeps_offsets() {
        let text = b"a /* \"x */ b // '\nc \"q\\\"{\" '{' \xc3\xa9 \"open\nd";
        let source = Source::new(text.to_vec());
        assert_eq!(source.code.len(), text.len());
        assert_eq!(source.slice(0..12), "a          b");
        let line = source.slice(18..source.code.len());
        assert!(!line.contains('{') && line.ends_with("\nd"), "{line}");
    }

    #[test]
    fn functions_and_variables() {
        let text = "\
struct foo { int a; };
static struct driver foo_driver = {
\t.driver = { .name = \"x}\" },
\t.probe = foo_probe,
};
static int __init foo_init(void)
{
#ifdef A
\tif (a) {
#else
\tif (b) {
#endif
\t}
\treturn 0;
}
DEFINE_X(abc)
__printf(1, 2) int bar(const char *f, ...) __must_hold(x)
{ }
static const int list[] = { 1, 2 };
int __init __baz(void) { return 0; }
";
        assert_eq!(
            bodies(text),
            [
                "v foo_driver:2",
                "f foo_init:6",
                "f bar:17",
                "v list:19",
                "f __baz:20"
            ]
        );
    }

    #[test]
    fn rubbish_ends() {
        for text in [
            "{",
            "}",
            "((((",
            "#",
            "#if\n#else\n}",
            "= {",
            "\"",
            "/*",
            "'\\",
        ] {
            bodies(text);
        }
    }
}
