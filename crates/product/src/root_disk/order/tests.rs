//! Archives of tar's writers: nothing is lost, and everything is where it should be.

use proptest::prelude::*;
use tar::{Builder, Header};

use super::*;

/// A name that needs a header of its own.
const LONG: &str = "usr/lib/a-name-that-is-longer-than-the-hundred-bytes-of-a-header-can-hold/\
                    and-so-another-one-stands-in-front-of-it";

fn header(kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header
}

struct Tar(Builder<Vec<u8>>);

impl Tar {
    fn new() -> Self {
        Self(Builder::new(Vec::new()))
    }

    fn file(mut self, path: &str, bytes: &[u8]) -> Self {
        let mut header = header(EntryType::Regular, bytes.len() as u64);
        self.0.append_data(&mut header, path, bytes).unwrap();
        self
    }

    fn folder(mut self, path: &str) -> Self {
        let mut header = header(EntryType::Directory, 0);
        self.0.append_data(&mut header, path, &b""[..]).unwrap();
        self
    }

    fn link(mut self, path: &str, to: &str) -> Self {
        let mut header = header(EntryType::Link, 0);
        self.0.append_link(&mut header, path, to).unwrap();
        self
    }

    fn global(mut self) -> Self {
        let mut header = header(EntryType::XGlobalHeader, 13);
        let bytes = &b"13 comment=x\n"[..];
        self.0
            .append_data(&mut header, "pax_global_header", bytes)
            .unwrap();
        self
    }

    fn bytes(self) -> Vec<u8> {
        self.0.into_inner().unwrap()
    }
}

fn paths(archive: &[u8]) -> Vec<String> {
    let members = members(archive).unwrap();
    let text = |m: &Member<'_>| String::from_utf8(m.path.clone()).unwrap();
    members.iter().map(text).collect()
}

#[test]
fn what_is_listed_comes_first() {
    let archive = Tar::new()
        .global()
        .folder("./")
        .file("./b", b"bb")
        .folder("./var")
        .folder("./usr/lib/")
        .file(LONG, &[7; 600])
        .file("./a", b"")
        .link("./z", "./a")
        .bytes();
    let list = b"# as recorded\n\n/z\nnowhere\n./usr/lib/x\n".to_vec();
    let list = [list, LONG.as_bytes().to_vec()].concat();
    let out = ordered(&archive, &list).unwrap();
    let expected = [
        "pax_global_header",
        "",
        "usr/lib",
        "a",
        "z",
        LONG,
        "var",
        "b",
    ];
    let expected: Vec<&str> = expected.iter().map(|path| path.trim_matches('.')).collect();
    assert_eq!(paths(&out), expected);
    assert_eq!(out.len(), archive.len());
}

#[test]
fn a_member_that_is_there_twice_stays_in_order() {
    let archive = Tar::new()
        .file("a", b"old")
        .file("b", b"")
        .file("a", b"new")
        .bytes();
    let out = ordered(&archive, b"b\na\n").unwrap();
    let sizes: Vec<u8> = members(&out)
        .unwrap()
        .iter()
        .map(|m| m.bytes[512..].first().copied().unwrap_or(0))
        .collect();
    assert_eq!(paths(&out), ["b", "a", "a"]);
    assert_eq!(sizes, [0, b'o', b'n']);
}

#[test]
fn what_is_no_archive_is_said() {
    let archive = Tar::new().file("a", &[1; 2000]).bytes();
    for (bytes, list, said) in [
        (&archive[..], "b\n", "names nothing"),
        (&archive[..1024], "a\n", "whole tar archive"),
        (&archive[..100], "a\n", "tar archive"),
        (&[7; 2048], "a\n", "tar archive"),
        (&[], "a\n", "tar archive"),
    ] {
        let error = ordered(bytes, list.as_bytes()).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

proptest! {
    #[test]
    fn nothing_is_lost(
        files in prop::collection::btree_map("[a-e]{1,3}(/[a-e]{1,3})?", 0..1500_usize, 1..20),
        links in prop::collection::btree_map("[f-h]{1,2}", 0..20_usize, 0..4),
        list in prop::collection::vec(0..24_usize, 1..20),
    ) {
        let mut tar = Tar::new();
        let mut names = Vec::new();
        for (path, size) in &files {
            tar = tar.file(path, &vec![b'x'; *size]);
            names.push(path.clone());
        }
        for (path, to) in &links {
            tar = tar.link(path, &names[to % files.len()]);
            names.push(path.clone());
        }
        let archive = tar.bytes();
        let listed: Vec<&String> = list.iter().map(|at| &names[at % names.len()]).collect();
        let text: String = listed.iter().map(|path| format!("{path}\n")).collect();
        let out = ordered(&archive, text.as_bytes()).unwrap();
        let (before, after) = (members(&archive).unwrap(), members(&out).unwrap());
        let sorted = |members: &[Member<'_>]| {
            let mut all: Vec<Vec<u8>> = members.iter().map(|m| m.bytes.to_vec()).collect();
            all.sort();
            all
        };
        prop_assert_eq!(sorted(&before), sorted(&after));
        let first = |path: &[u8]| after.iter().position(|m| m.path == path).unwrap();
        for member in &after {
            if let Kind::HardLink(to) = &member.kind {
                prop_assert!(first(to) <= first(&member.path));
            }
        }
        // Whatever is not listed and no listed link's file is after all that is.
        let last = listed.iter().map(|path| first(path.as_bytes())).max().unwrap();
        let linked: Vec<&[u8]> = after.iter().filter_map(|m| match &m.kind {
            Kind::HardLink(to) => Some(&to[..]),
            _ => None,
        }).collect();
        for (at, member) in after.iter().enumerate() {
            let path = std::str::from_utf8(&member.path).unwrap();
            if !listed.iter().any(|l| l.as_str() == path) && !linked.contains(&&member.path[..]) {
                prop_assert!(at > last);
            }
        }
    }

    #[test]
    fn damage_is_no_panic(at in 0..2048_usize, byte in any::<u8>(), cut in 0..4096_usize) {
        let mut archive = Tar::new().file(LONG, &[1; 700]).link("b", LONG).bytes();
        archive[at] = byte;
        archive.truncate(cut);
        let _ = ordered(&archive, b"b\n");
    }
}
