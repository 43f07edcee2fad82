//! Several files in one input of the fuzzer.
//!
//! A line `--8<-- NAME` begins a file of the folder, `==8<== NAME` the first
//! file of another folder. What stands before the first is a file `input`.

use regex::bytes::Regex;
use std::sync::LazyLock;

static CUT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?-u)\n?(--8<--|==8<==) ([^\n]{0,40})\n").expect("a pattern"));

/// More are not looked at: time grows with their pairs.
const MAX_PIECES: usize = 12;

/// A file of a folder.
pub struct Piece<'a> {
    pub name: String,
    pub bytes: &'a [u8],
}

/// The folders in `input`, in order.
pub fn folders(input: &[u8]) -> Vec<Vec<Piece<'_>>> {
    let mut all = vec![Vec::new()];
    let mut name = "input".to_owned();
    let mut from = 0;
    let mut new_folder = false;
    for cut in CUT.captures_iter(input).take(MAX_PIECES) {
        let whole = cut.get(0).expect("group 0 is the match");
        push(&mut all, new_folder, &name, &input[from..whole.start()]);
        name = String::from_utf8_lossy(&cut[2]).into_owned();
        new_folder = cut[1].starts_with(b"=");
        from = whole.end();
    }
    push(&mut all, new_folder, &name, &input[from..]);
    all
}

fn push<'a>(all: &mut Vec<Vec<Piece<'a>>>, new: bool, name: &str, bytes: &'a [u8]) {
    if bytes.is_empty() {
        return;
    }
    let piece = Piece {
        name: name.to_owned(),
        bytes,
    };
    match all.last_mut() {
        Some(folder) if !new || folder.is_empty() => folder.push(piece),
        _ => all.push(vec![piece]),
    }
}

/// The same the other way round.
pub fn joined<'a>(pieces: impl IntoIterator<Item = (&'a str, &'a [u8])>, cut: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in pieces {
        out.extend(format!("\n{cut} {name}\n").bytes());
        out.extend(bytes);
    }
    out
}
