//! Reading fixtures: `tests/fixtures/<format>/<tool-version>/<case>/`.
//!
//! A case has `input`, `input.gz` or `script` (see [`script`]), perhaps `hints` (`ready=RE`,
//! `application=RE`, `mark NAME=RE`, one a line), and `expected.txt`.

pub(crate) mod dump;
pub(crate) mod script;

use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use bootlap_model::Timeline;
use bootlap_sources::{Hints, Input, Source};
use regex::bytes::Regex;

/// One fixture.
pub(crate) struct Case {
    pub(crate) dir: PathBuf,
    pub(crate) format: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) hints: Hints,
}

/// All fixtures of one format, in the order of their paths.
pub(crate) fn cases(format: &str) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut dirs: Vec<PathBuf> = children(&root.join(format))
        .iter()
        .flat_map(|tool| children(tool))
        .collect();
    dirs.sort();
    assert!(!dirs.is_empty(), "no fixtures of {format}");
    dirs.into_iter().map(|dir| case(dir, format)).collect()
}

fn children(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap();
    entries.map(|e| e.unwrap().path()).collect()
}

fn case(dir: PathBuf, format: &str) -> Case {
    let bytes = bytes(&dir);
    let hints = fs::read_to_string(dir.join("hints")).unwrap_or_default();
    Case {
        hints: parse_hints(&hints),
        format: format.to_owned(),
        bytes,
        dir,
    }
}

fn bytes(dir: &Path) -> Vec<u8> {
    if let Ok(script) = fs::read_to_string(dir.join("script")) {
        return script::stamps(&script);
    }
    if let Ok(bytes) = fs::read(dir.join("input")) {
        return bytes;
    }
    let packed = fs::read(dir.join("input.gz")).unwrap();
    let mut bytes = Vec::new();
    let mut unpack = flate2::read::GzDecoder::new(&packed[..]);
    unpack.read_to_end(&mut bytes).unwrap();
    bytes
}

fn parse_hints(text: &str) -> Hints {
    let mut hints = Hints::default();
    for line in text.lines() {
        let (key, pattern) = line.split_once('=').unwrap();
        let pattern = Regex::new(pattern).unwrap();
        match key {
            "ready" => hints.ready = Some(pattern),
            "application" => hints.application = Some(pattern),
            mark => {
                let name = mark.strip_prefix("mark ").unwrap();
                hints.marks.push((name.to_owned(), pattern));
            }
        }
    }
    hints
}

/// What `source` says of `bytes` that come in chunks of `chunk`.
pub(crate) fn read(
    source: &dyn Source,
    bytes: &[u8],
    label: &str,
    chunk: usize,
    hints: &Hints,
) -> Timeline {
    let mut timeline = Timeline::default();
    let mut bytes = BufReader::with_capacity(chunk, bytes);
    let input = Input {
        label,
        bytes: &mut bytes,
        hints,
    };
    source.read(input, &mut timeline).unwrap();
    timeline
}
