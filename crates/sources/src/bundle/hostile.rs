//! Archives that somebody made up to hurt.

use std::io::Write;

use super::tests::{gz, opened, tarball, zipped};
use super::*;

const LIMITS: Limits = Limits {
    nesting: 4,
    members: 100,
    member_bytes: 1 << 20,
    unpacked_bytes: 64 << 20,
    lines: 30_000,
    suspicious_bytes: 1 << 20,
    ratio: 250,
};

/// How many bytes come out, and the troubles.
fn size(bytes: &[u8]) -> (usize, Vec<&'static str>) {
    let (all, troubles) = opened(bytes, LIMITS);
    (all.iter().map(|(_, text)| text.len()).sum(), troubles)
}

fn names(bytes: &[u8]) -> Vec<String> {
    let (all, _) = opened(bytes, LIMITS);
    all.into_iter().map(|(name, _)| name).collect()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::default();
    let mut out = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// A header of a tar, with whatever name, kind and size.
fn header(name: &[u8], kind: tar::EntryType, size: u64) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_cksum();
    header.as_bytes().to_vec()
}

/// A member without data that says how large it really is.
fn sparse(kind: tar::EntryType, real_size: &[u8; 12]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_mut_bytes()[0] = b'x';
    header.set_entry_type(kind);
    header.set_size(0);
    // A hole up to there.
    header.as_mut_bytes()[386..398].copy_from_slice(real_size);
    header.as_mut_bytes()[398..410].copy_from_slice(b"00000000000\0");
    header.as_mut_bytes()[483..495].copy_from_slice(real_size);
    header.set_cksum();
    header.as_bytes().to_vec()
}

#[test]
fn bombs_of_each_packing() {
    let zeros = vec![0; 8 << 20];
    let zst = zstd::encode_all(&zeros[..], 3).unwrap();
    for bomb in [gz(&zeros), xz(&zeros), zst, bz2(&zeros)] {
        for packed in [
            &bomb,
            &zipped(&[("bomb", &bomb)]),
            &tarball(&[("bomb", &bomb)]),
        ] {
            let (len, troubles) = size(packed);
            assert!(len < 5 << 20, "{len}");
            assert!(!troubles.is_empty());
        }
    }
}

#[test]
fn packed_in_itself_a_thousand_times() {
    let mut zips = b"text".to_vec();
    for _ in 0..1000 {
        zips = zipped(&[("a", &zips)]);
    }
    let tars = tarball(&[("a", &tarball(&[("a", &tarball(&[("a", &gz(&zips))]))]))]);
    assert_eq!(size(&tars), (0, vec!["nested-too-deeply"]));
    assert_eq!(size(&zips), (0, vec!["nested-too-deeply"]));
}

/// A dictionary of 4 GiB is not made for a file of 100 bytes.
#[test]
fn memory_that_a_header_asks_for() {
    let mut packed = xz(b"text");
    let header = 12..12 + (usize::from(packed[12]) + 1) * 4;
    let block = &mut packed[header];
    let filter = block.iter().position(|b| *b == 0x21).unwrap();
    block[filter + 2] = 40;
    let (body, sum) = block.split_at_mut(block.len() - 4);
    let mut crc = flate2::Crc::new();
    crc.update(body);
    sum.copy_from_slice(&crc.sum().to_le_bytes());
    assert_eq!(size(&packed), (0, vec!["archive-damaged"]));
}

#[test]
fn a_zip_of_very_many() {
    let names: Vec<String> = (0..100_000).map(|i| i.to_string()).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|n| (n.as_str(), &b"x"[..])).collect();
    assert_eq!(size(&zipped(&files)), (100, vec!["too-many-members"]));
}

/// A zip of one member with so many names for it.
fn named_often(zip: &[u8], times: u16) -> Vec<u8> {
    let (files, end) = zip.split_at(zip.len() - 22);
    let field = |at: usize| u32::from_le_bytes(end[at..at + 4].try_into().unwrap()) as usize;
    let (len, start) = (field(12), field(16));
    let mut bomb = files[..start].to_vec();
    for i in 0..times {
        let mut entry = files[start..start + len].to_vec();
        entry[46..50].copy_from_slice(format!("{i:04}").as_bytes());
        bomb.extend(entry);
    }
    let mut end = end.to_vec();
    end[8..10].copy_from_slice(&times.to_le_bytes());
    end[10..12].copy_from_slice(&times.to_le_bytes());
    end[12..16].copy_from_slice(&(u32::from(times) * len as u32).to_le_bytes());
    bomb.extend(end);
    bomb
}

/// As 42.zip's successors do: one packed stream, and many names for it.
#[test]
fn a_zip_of_members_in_each_other() {
    let zip = zipped(&[("0000", &[0; 1 << 19])]);
    let bomb = named_often(&zip, 50);
    let (len, troubles) = size(&bomb);
    assert!(len <= 1 << 20 && !troubles.is_empty(), "{len} {troubles:?}");
}

/// The same of stored bytes, which no ratio gives away.
#[test]
fn a_zip_of_stored_members_in_each_other() {
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    out.start_file("0000", stored).unwrap();
    std::io::Write::write_all(&mut out, &[b'x'; 1 << 16]).unwrap();
    let zip = out.finish().unwrap().into_inner();
    let bomb = named_often(&zip, 50);
    let (len, troubles) = size(&bomb);
    assert_eq!((len, troubles), (1 << 16, vec!["archive-damaged"]));
}

#[test]
fn more_short_lines_than_a_log_has() {
    let lines: Vec<u8> = (0..40_000)
        .flat_map(|i| format!("{i:x}\n").into_bytes())
        .collect();
    let (len, troubles) = size(&gz(&lines));
    assert_eq!(troubles, ["unpacks-too-large"]);
    assert!(len < lines.len(), "{len}");
}

#[test]
fn names_are_labels() {
    let files: [(&str, &[u8]); 5] = [
        ("../../../etc/passwd", b""),
        ("/etc/shadow", b""),
        ("..\\..\\windows\\x", b""),
        ("a\x1b[31mb\x07\x7f", b""),
        ("..", b""),
    ];
    let expected = [
        "",
        "a\u{fffd}[31mb\u{fffd}\u{fffd}",
        "etc/passwd",
        "etc/shadow",
        "windows/x",
    ];
    assert_eq!(names(&tarball(&files)), expected);
    assert_eq!(names(&zipped(&files)), expected);
    assert_eq!(names(&zipped(&[("a\0b", b"")])), ["a\u{fffd}b"]);
}

#[test]
fn what_is_no_file_in_a_tar() {
    use tar::EntryType as Kind;
    for kind in [
        Kind::Symlink,
        Kind::Link,
        Kind::Char,
        Kind::Block,
        Kind::Fifo,
        Kind::GNUSparse,
    ] {
        let mut tar = sparse(kind, b"00000000000\0");
        tar.extend(tarball(&[("log", b"text")]));
        assert_eq!(size(&tar), (4, vec!["not-a-file"]), "{kind:?}");
    }
    // A sparse file of 8 EiB.
    let mut tar = sparse(
        Kind::GNUSparse,
        b"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff",
    );
    tar.extend(tarball(&[("log", b"text")]));
    assert_eq!(size(&tar), (4, vec!["not-a-file"]));
}

/// Of 64 MiB, in each of the headers that are kept in memory.
#[test]
fn a_tar_of_a_giant_header() {
    use tar::EntryType as Kind;
    for kind in [
        Kind::XHeader,
        Kind::XGlobalHeader,
        Kind::GNULongName,
        Kind::GNULongLink,
    ] {
        let mut tar = tarball(&[("log", b"text")]);
        tar.truncate(1024);
        tar.extend(header(b"x", kind, 64 << 20));
        let bytes = tar.chain(io::repeat(b'1').take(64 << 20));
        let opener = Opener::new(LIMITS);
        let opened = opener.open(Box::new(BufReader::new(bytes))).unwrap();
        let Opened::Members(members) = opened else {
            panic!("it is a tar");
        };
        assert_eq!((members.len(), &members[0].bytes[..]), (1, &b"text"[..]));
        let codes: Vec<_> = opener.troubles().iter().map(|t| t.code).collect();
        if kind != Kind::XGlobalHeader {
            assert_eq!(codes, ["archive-damaged"], "{kind:?}");
        }
    }
    let mut huge = header(b"log", Kind::Regular, (1 << 33) - 1);
    huge.extend(b"text");
    assert_eq!(size(&huge), (4, vec!["archive-damaged"]));
}

#[test]
fn cut_anywhere() {
    let text = b"[    0.000000] Linux version\n".repeat(40);
    let tar = tarball(&[("a", &text), ("b", &text)]);
    let zst = zstd::encode_all(&tar[..], 3).unwrap();
    for whole in [
        &gz(&tar),
        &xz(&tar),
        &zst,
        &bz2(&tar),
        &tar,
        &zipped(&[("a", &text)]),
    ] {
        for len in 0..whole.len() {
            assert!(size(&whole[..len]).0 <= tar.len());
        }
    }
}
