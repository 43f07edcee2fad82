//! Reading fixtures: `tests/fixtures/<format>/<tool-version>/<case>/`.
//!
//! A case has `input`, `input.gz`, `script` (a stamped console: see
//! [`script`]) or a folder `parts` whose files are read together; perhaps
//! `hints` (`ready=RE`, `application=RE`, `mark NAME=RE`, one a line);
//! perhaps `README` (where it is from); and `expected.txt`.

pub(crate) mod dump;
pub(crate) mod script;

use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use bootlap_model::{SpanEnd, Timeline};
use bootlap_sources::{Hints, Input, Source, SourceError};
use regex::bytes::Regex;

/// One fixture.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) dir: PathBuf,
    pub(crate) format: String,
    pub(crate) parts: Vec<Part>,
    /// The parts are one recording; else there is one part.
    pub(crate) together: bool,
    pub(crate) hints: String,
}

/// One file of a fixture.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Case {
    /// The same without its name; the parts of a recording keep theirs, which
    /// may say what the bytes do not.
    pub(crate) fn nameless(&self) -> Self {
        let mut case = self.clone();
        if !case.together {
            case.parts[0].name.clear();
        }
        case
    }

    /// The same with only the first `tenths` of each part, less a byte.
    pub(crate) fn cut(&self, tenths: usize) -> Self {
        let mut case = self.clone();
        for part in &mut case.parts {
            let len = (part.bytes.len() * tenths / 10).saturating_sub(1);
            part.bytes.truncate(len);
        }
        case
    }

    /// The same with other line ends; `None` if it is not plain text.
    pub(crate) fn with_line_ends(&self, end: &str) -> Option<Self> {
        let mut case = self.clone();
        for part in &mut case.parts {
            let text = std::str::from_utf8(&part.bytes).ok()?;
            let text = text.replace("\r\n", "\n");
            if text.contains(['\r', '\0']) {
                return None;
            }
            part.bytes = text.replace('\n', end).into_bytes();
        }
        Some(case)
    }
}

/// All fixtures in the order of their paths; those of one format if the
/// environment names it.
pub(crate) fn all_cases() -> Vec<Case> {
    let only = std::env::var("FIXTURES").ok();
    // From this crate and from `fuzz`, which seeds its corpora from here.
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut roots = above.map(|dir| dir.join("tests/fixtures"));
    let root = roots.find(|dir| dir.is_dir()).expect("the fixtures");
    let mut cases = Vec::new();
    for format in children(&root) {
        let name = name_of(&format);
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        for tool in children(&format) {
            let of_tool = children(&tool).into_iter();
            cases.extend(of_tool.map(|dir| case(dir, &name)));
        }
    }
    assert!(!cases.is_empty(), "no fixtures");
    cases
}

fn children(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn case(dir: PathBuf, format: &str) -> Case {
    let parts = dir.join("parts");
    let together = parts.is_dir();
    let parts = if together {
        children(&parts).iter().map(|path| part(path)).collect()
    } else {
        vec![single(&dir)]
    };
    Case {
        hints: fs::read_to_string(dir.join("hints")).unwrap_or_default(),
        format: format.to_owned(),
        parts,
        together,
        dir,
    }
}

fn part(path: &Path) -> Part {
    let bytes = fs::read(path).unwrap();
    let name = name_of(path);
    match name.strip_suffix(".gz") {
        Some(name) => Part {
            name: name.to_owned(),
            bytes: unpacked(&bytes),
        },
        None => Part { name, bytes },
    }
}

fn single(dir: &Path) -> Part {
    if let Ok(script) = fs::read_to_string(dir.join("script")) {
        return Part {
            name: "console".to_owned(),
            bytes: script::stamps(&script),
        };
    }
    let plain = dir.join("input");
    part(&if plain.exists() {
        plain
    } else {
        dir.join("input.gz")
    })
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut unpack = flate2::read::GzDecoder::new(bytes);
    unpack.read_to_end(&mut out).unwrap();
    out
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

/// What `source` says of a case whose bytes come in chunks of `chunk`.
pub(crate) fn read(source: &Source, case: &Case, chunk: usize) -> Timeline {
    let (result, timeline) = try_read(source, case, chunk);
    result.unwrap_or_else(|e| panic!("{}: {e}", case.dir.display()));
    timeline
}

/// The same where the bytes may be of no use.
pub(crate) fn try_read(
    source: &Source,
    case: &Case,
    chunk: usize,
) -> (Result<(), SourceError>, Timeline) {
    let hints = parse_hints(&case.hints);
    let mut timeline = Timeline::default();
    let bytes = case.parts.iter().map(|p| &p.bytes[..]);
    let mut readers: Vec<_> = bytes.map(|b| BufReader::with_capacity(chunk, b)).collect();
    let mut inputs: Vec<Input<'_>> = readers
        .iter_mut()
        .zip(&case.parts)
        .map(|(bytes, part)| Input {
            label: &part.name,
            bytes,
            hints: &hints,
        })
        .collect();
    let result = if case.together {
        source.read_parts(inputs, &mut timeline)
    } else {
        source.read(inputs.remove(0), &mut timeline)
    };
    (result, timeline)
}

/// What `source` says of `bytes`, without name and with `hints`.
pub(crate) fn read_bytes(
    source: &Source,
    mut bytes: impl std::io::BufRead,
    hints: &Hints,
) -> Timeline {
    let mut timeline = Timeline::default();
    let input = Input {
        label: "",
        bytes: &mut bytes,
        hints,
    };
    source.read(input, &mut timeline).unwrap();
    timeline
}

/// What holds for every timeline, whatever it was read from.
pub(crate) fn is_sound(what: &str, timeline: &Timeline) {
    for file in &timeline.files {
        let u = file.usage;
        assert_eq!(u.used + u.skipped, u.total, "{what}");
        assert!(u.skipped == 0 || !timeline.notices.is_empty(), "{what}");
    }
    for span in &timeline.spans {
        assert!(span.evidence.start <= span.evidence.end, "{what}");
        if let SpanEnd::At(end) = span.end {
            let name = timeline.text(span.name);
            assert!(span.start.ns <= end.ns, "{what}: {name}");
        }
    }
}
