use std::io::Write;

use super::*;

pub(super) fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

pub(super) fn tarball(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

pub(super) fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Members as (name, text), or the stream as one without a name; troubles.
pub(super) fn opened(bytes: &[u8], limits: Limits) -> (Vec<(String, String)>, Vec<&'static str>) {
    let opener = Opener::new(limits);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let all = match opener.open(Box::new(bytes)).unwrap() {
        Opened::Stream(mut stream) => {
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            vec![(String::new(), text(&all))]
        }
        Opened::Members(all) => all
            .iter()
            .map(|m| (m.name.clone(), text(&m.bytes)))
            .collect(),
    };
    (all, opener.troubles().iter().map(|t| t.code).collect())
}

fn plainly(bytes: &[u8]) -> Vec<(String, String)> {
    let (all, troubles) = opened(bytes, Limits::default());
    assert_eq!(troubles, [""; 0]);
    all
}

fn one(text: &str) -> Vec<(String, String)> {
    vec![(String::new(), text.to_owned())]
}

#[test]
fn streams_are_unpacked_whatever_packed_them() {
    let text = "[    0.000000] Linux version\n".repeat(5000);
    let bytes = text.as_bytes();
    let xz = {
        let options = lzma_rust2::XzOptions::default();
        let mut out = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    };
    let bz2 = {
        let level = bzip2::Compression::default();
        let mut out = bzip2::write::BzEncoder::new(Vec::new(), level);
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    };
    for packed in [
        bytes.to_vec(),
        gz(bytes),
        [gz(&bytes[..999]), gz(&bytes[999..])].concat(),
        xz,
        bz2,
        zstd::encode_all(bytes, 3).unwrap(),
        gz(&gz(bytes)),
    ] {
        assert!(plainly(&packed) == one(&text));
    }
}

#[test]
fn archives_give_their_members_in_order() {
    let files: [(&str, &[u8]); 3] = [
        ("./b.log", b"bee"),
        ("../../etc/passwd", b"root"),
        ("/a/b\\c", b"sea"),
    ];
    let expected = [("a/b/c", "sea"), ("b.log", "bee"), ("etc/passwd", "root")];
    let expected = expected.map(|(n, t)| (n.to_owned(), t.to_owned()));
    assert_eq!(plainly(&tarball(&files)), expected);
    assert_eq!(plainly(&gz(&tarball(&files))), expected);
    assert_eq!(plainly(&zipped(&files)), expected);
}

#[test]
fn archives_in_archives() {
    let inner = gz(&tarball(&[("dmesg", b"text")]));
    let packed = zipped(&[("one.tgz", &inner), ("two.gz", &gz(b"more"))]);
    let expected = [("one.tgz/dmesg", "text"), ("two.gz", "more")];
    assert_eq!(
        plainly(&packed),
        expected.map(|(n, t)| (n.to_owned(), t.to_owned()))
    );
}

#[test]
fn what_comes_before_damage_is_used() {
    let text = "0123456789 some text that differs\n".repeat(20_000);
    let packed = gz(text.as_bytes());
    let (all, troubles) = opened(&packed[..packed.len() / 2], Limits::default());
    assert_eq!(troubles, ["archive-damaged"]);
    assert!(!all[0].1.is_empty() && text.starts_with(&all[0].1));

    let tar = tarball(&[("a", b"first"), ("b", &[b'x'; 3000])]);
    let (all, troubles) = opened(&tar[..2000], Limits::default());
    assert_eq!(
        (all[0].1.as_str(), &troubles[..]),
        ("first", &["archive-damaged"][..])
    );
    let (all, troubles) = opened(b"PK\x03\x04 is no zip", Limits::default());
    assert_eq!((all.len(), &troubles[..]), (0, &["archive-damaged"][..]));
}

#[test]
fn bombs_are_stopped() {
    let limits = Limits {
        nesting: 3,
        members: 5,
        member_bytes: 1 << 20,
        suspicious_bytes: 1 << 20,
        ..Limits::default()
    };
    let zeros = vec![0u8; 8 << 20];
    let (all, troubles) = opened(&gz(&zeros), limits);
    assert_eq!(troubles, ["unpacks-too-large"]);
    // The ratio is that of all that was read of the file, which is at once.
    assert!(all[0].1.len() <= 4 << 20);

    let (all, troubles) = opened(&zipped(&[("a", b"ok"), ("zeros", &zeros)]), limits);
    assert!(all.len() <= 2 && all[0].1 == "ok");
    assert!(!troubles.is_empty());

    let many: Vec<String> = (0..20).map(|i| format!("f{i:02}")).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|n| (n.as_str(), &b"x"[..])).collect();
    let (all, troubles) = opened(&tarball(&many), limits);
    assert_eq!((all.len(), &troubles[..]), (5, &["too-many-members"][..]));

    let mut nested = b"text".to_vec();
    for _ in 0..1000 {
        nested = gz(&nested);
    }
    let (all, troubles) = opened(&nested, limits);
    assert_eq!((all, &troubles[..]), (one(""), &["nested-too-deeply"][..]));
}

#[test]
fn links_are_left_out() {
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    tar.append_link(&mut header, "dmesg", "/etc/shadow")
        .unwrap();
    let (all, troubles) = opened(&tar.into_inner().unwrap(), Limits::default());
    assert_eq!((all.len(), &troubles[..]), (0, &["not-a-file"][..]));
}
