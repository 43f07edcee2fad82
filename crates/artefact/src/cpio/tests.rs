use proptest::prelude::*;

use super::*;

/// With d (0755), d/file (0644, `hello`), hard (a link to it), sym -> d/file and con (char 5 1,
/// 0600), all of 2020-01-01: printf 'd\nd/file\nhard\nsym\ncon\n' |
/// cpio -o -H newc --reproducible -R 0:0, GNU cpio 2.13.
const FROM_CPIO: &[u8] = include_bytes!("../testdata/gnu.cpio");

fn entry(name: &'static str, mode: u32, data: &'static [u8]) -> Entry<'static> {
    Entry {
        mtime: 1_577_836_800,
        ..Entry::new(name.as_bytes(), mode, data)
    }
}

fn entries() -> Vec<Entry<'static>> {
    let mut file = entry("d/file", REGULAR | 0o644, b"hello");
    file.link = Some(0);
    let mut hard = file.clone();
    hard.name = b"hard"[..].into();
    let mut con = entry("con", CHAR_DEVICE | 0o600, b"");
    con.rdev = (5, 1);
    let sym = entry("sym", SYMLINK | 0o777, b"d/file");
    vec![entry("d", DIRECTORY | 0o755, b""), file, hard, sym, con]
}

#[test]
fn the_bytes_are_those_of_cpio() {
    assert!(write(&entries()).unwrap() == FROM_CPIO);
    let archive = read(FROM_CPIO).unwrap();
    assert_eq!(archive.entries, entries());
    assert_eq!(archive.rest, b"");
}

#[test]
fn archives_follow_each_other_and_a_compressed_one_is_left() {
    let first = write(&[Entry::new(&b"a"[..], REGULAR, &b"1"[..])]).unwrap();
    let all = [
        &first,
        &[0; 1024][..],
        FROM_CPIO,
        &[0; 4],
        b"\x1f\x8b\x08 more",
    ]
    .concat();
    let archive = read(&all).unwrap();
    assert_eq!(archive.entries.len(), 6);
    assert_eq!(archive.entries[0].path(), "a");
    assert_eq!(archive.rest, b"\x1f\x8b\x08 more");
    // Link groups of different archives stay apart, though their inode numbers are the same.
    let twice = [FROM_CPIO, FROM_CPIO].concat();
    let links: Vec<_> = read(&twice)
        .unwrap()
        .entries
        .iter()
        .filter_map(|e| e.link)
        .collect();
    assert_eq!(links, [0, 0, 1, 1]);
}

#[test]
fn an_unaligned_archive_is_not_one() {
    // The kernel says: invalid magic at start of compressed archive.
    let all = [FROM_CPIO, &[0], FROM_CPIO].concat();
    assert_eq!(read(&all).unwrap().rest, FROM_CPIO);
}

#[test]
fn a_lone_name_of_a_linked_file_is_a_plain_file() {
    let mut only = entry("a", REGULAR | 0o644, b"x");
    only.link = Some(7);
    let bytes = write(&[only]).unwrap();
    let read_back = &read(&bytes).unwrap().entries[0];
    assert_eq!((read_back.link, &*read_back.data), (None, &b"x"[..]));
}

#[test]
fn a_cut_archive_is_an_error() {
    let whole = FROM_CPIO
        .windows(10)
        .position(|w| w == b"TRAILER!!!")
        .unwrap()
        + 11;
    for end in 0..whole {
        let error = read(&FROM_CPIO[..end]).unwrap_err();
        assert_eq!(error == CpioError::NotCpio, end < 6, "{end}: {error}");
        assert!(end < 6 || matches!(error, CpioError::Cut(_) | CpioError::Damaged(_)));
    }
    for end in whole..FROM_CPIO.len() {
        assert!(read(&FROM_CPIO[..end]).is_ok());
    }
}

#[test]
fn damage_is_named_with_its_place() {
    let mut bytes = FROM_CPIO.to_vec();
    bytes[0x70] = b'x';
    assert_eq!(read(&bytes), Err(CpioError::Damaged(0x70)));
    let mut bytes = FROM_CPIO.to_vec();
    bytes[20] = b'+';
    assert_eq!(
        read(&bytes).unwrap_err().to_string(),
        "cpio archive is damaged in the header at byte 0; make it again"
    );
}

#[test]
fn names_that_the_kernel_skips_are_refused() {
    for name in [vec![], vec![b'a'; 4096], b"a\0b".to_vec()] {
        assert!(write(&[Entry::new(name, REGULAR, &b""[..])]).is_err());
    }
}

/// Linear, though every name of one file brings its own contents.
#[test]
fn a_hostile_link_group_is_read_in_linear_time() {
    let mut bytes = Vec::new();
    let name = Entry::new(&b"a"[..], REGULAR, &b""[..]);
    for _ in 0..100_000 {
        append(&mut bytes, &name, 1, 2, b"x").unwrap();
    }
    append(&mut bytes, &Entry::new(TRAILER, 0, &b""[..]), 0, 1, b"").unwrap();
    assert_eq!(read(&bytes).unwrap().entries.len(), 100_000);
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        files in prop::collection::vec(("[a-z/]{1,9}", any::<u32>(), prop::collection::vec(any::<u8>(), 0..9)), 0..9),
    ) {
        let entries: Vec<Entry<'_>> = files
            .iter()
            .filter(|(name, _, _)| name != "TRAILER!!!")
            .map(|(name, mode, data)| Entry::new(name.as_bytes(), *mode, &data[..]))
            .collect();
        let bytes = write(&entries).unwrap();
        prop_assert_eq!(read(&bytes).unwrap().entries, entries);
    }

    #[test]
    fn damage_never_panics(at in 0usize..0x2d0, value in any::<u8>(), end in 0usize..1025) {
        let mut bytes = FROM_CPIO.to_vec();
        bytes[at] = value;
        let _ = read(&bytes[..end.min(bytes.len())]);
    }
}
