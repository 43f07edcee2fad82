//! What a format is made of, as a libFuzzer dictionary: the words in quotes in
//! the source's own code.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""((?:[^"\\\n]|\\.){2,40})""#).expect("a pattern"));

/// Numbers that programs trip over.
const NUMBERS: [&str; 8] = [
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "4294967296",
    "-9223372036854775808",
    "-1",
    "1e30",
    "0.000000001",
];

/// The dictionary of the source called `format`, whose code is below `code`.
pub fn dictionary(code: &Path, format: &str) -> String {
    let module = code.join(format.replace('-', "_"));
    let mut files = vec![module.with_extension("rs")];
    if let Ok(dir) = fs::read_dir(module) {
        files.extend(dir.flatten().map(|e| e.path()));
    }
    files.sort();
    let mut words: Vec<String> = NUMBERS.map(str::to_owned).to_vec();
    for file in files {
        let text = fs::read_to_string(file).unwrap_or_default();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().map(str::trim).filter(|l| !l.starts_with("//"));
        for line in lines {
            words.extend(QUOTED.captures_iter(line).map(|c| unescaped(&c[1])));
        }
    }
    words.sort();
    words.dedup();
    let mut out = String::new();
    for word in words {
        out.push('"');
        for byte in word.bytes() {
            let _ = write!(out, "\\x{byte:02x}");
        }
        out.push_str("\"\n");
    }
    out
}

fn unescaped(word: &str) -> String {
    let pairs = [(r"\n", "\n"), (r"\t", "\t"), (r"\0", "\0"), ("\\\"", "\"")];
    pairs
        .iter()
        .fold(word.to_owned(), |w, (from, to)| w.replace(from, to))
}
