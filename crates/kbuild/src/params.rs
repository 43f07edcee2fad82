//! The parameters of a module: `module_param` and its like.

use crate::source::{Source, byte, name_at, parts, skip_space};
use schemars::JsonSchema;
use serde::Serialize;

/// Parameters that are kept of one file.
const MOST: usize = 1_000;

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ParamJson")]
pub struct Param {
    /// Its name.
    pub name: String,
    /// `int`, `bool`, `array of int` …
    pub kind: String,
    /// The line.
    pub line: u32,
    /// What the module says of it.
    pub description: Option<String>,
}

/// The arguments that have the name and the type, and what stands before the
/// type, by macro.
fn arguments(name: &str) -> Option<(usize, usize, &'static str)> {
    Some(match name {
        "module_param" | "module_param_unsafe" | "module_param_hw" => (0, 1, ""),
        "module_param_named" | "module_param_named_unsafe" | "module_param_hw_named" => (0, 2, ""),
        "module_param_array" | "module_param_hw_array" => (0, 1, "array of "),
        "module_param_array_named" => (0, 2, "array of "),
        "module_param_string" => (0, usize::MAX, "string"),
        "module_param_cb" | "module_param_cb_unsafe" => (0, 1, "set by "),
        _ => return None,
    })
}

/// The parameters of a file, in order.
pub(crate) fn params(source: &Source) -> Vec<Param> {
    let code = &source.code;
    let mut found: Vec<Param> = Vec::new();
    let mut descriptions: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    while let Some(rest) = code.get(at..) {
        let Some(next) = next_macro(rest) else {
            break;
        };
        let start = at + next;
        let name = name_at(code, start);
        at = start + name.len().max(1);
        let open = skip_space(code, at);
        if byte(code, open) != b'(' || found.len() >= MOST || descriptions.len() >= MOST {
            continue;
        }
        let Some(range) = source.arguments(open) else {
            continue;
        };
        let args = parts(source.slice(range.clone()));
        let arg = |at: usize| args.get(at).copied().unwrap_or_default();
        if name == "MODULE_PARM_DESC" {
            let from = range.start + arg(0).len();
            let text = quoted(&source.original(from..range.end));
            descriptions.push((arg(0).to_owned(), text));
        } else if let Some((name, kind, before)) = arguments(name)
            && !arg(name).is_empty()
        {
            found.push(Param {
                name: arg(name).to_owned(),
                kind: format!("{before}{}", arg(kind).trim_start_matches('&')),
                line: source.line(start),
                description: None,
            });
        }
    }
    for param in &mut found {
        let said = descriptions.iter().find(|(name, _)| *name == param.name);
        param.description = said.map(|(_, text)| text.clone()).filter(|t| !t.is_empty());
    }
    found
}

/// Where the next macro of interest begins; they stand first in their line.
fn next_macro(code: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = code.get(at..).filter(|r| !r.is_empty()) {
        let blank = rest
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
        let line = rest.get(blank..).unwrap_or_default();
        if line.starts_with(b"module_param") || line.starts_with(b"MODULE_PARM_DESC") {
            return Some(at + blank);
        }
        at += rest
            .iter()
            .position(|b| *b == b'\n')
            .map_or(rest.len(), |n| n + 1);
    }
    None
}

/// All that stands in double quotes, joined, as one line.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => inside = !inside,
            '\\' if inside => match chars.next() {
                Some('n' | 't') => out.push(' '),
                Some(c) => out.push(c),
                None => {}
            },
            c if inside => out.push(c),
            _ => {}
        }
    }
    let words: Vec<&str> = out.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_types_and_descriptions() {
        let text = "
static int max;
module_param(max, int, 0444);
MODULE_PARM_DESC(max, \"How \\\"many\\\",\\n\"
\t\t\"at most\");
module_param_named(debug, foo_debug, bool, 0644);
\tmodule_param_array(irq, uint, NULL, 0);
module_param_string(name, buf, sizeof(buf), 0);
module_param_cb(mode, &mode_ops, &mode, 0);
module_param(
";
        let source = Source::new(text.as_bytes().to_vec());
        let shown: Vec<String> = params(&source)
            .iter()
            .map(|p| {
                let said = p.description.as_deref().unwrap_or("-");
                format!("{} {} {} {said}", p.line, p.name, p.kind)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "3 max int How \"many\", at most",
                "6 debug bool -",
                "7 irq array of uint -",
                "8 name string -",
                "9 mode set by mode_ops -",
            ]
        );
    }
}
