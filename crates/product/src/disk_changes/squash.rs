//! Files of a squashfs, by squashfs-tools: it cannot be written to, so it is made again.
//!
//! `unsquashfs -pf` writes all of it as one file: a line for each name, with owner, mode and
//! time, and the bytes behind. Lines are changed there, which needs no root rights, and
//! mksquashfs makes a squashfs of it. It has to have room in its partition.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bootlap_image::Found;
use bootlap_image::table::Partition;

use super::tool::run;
use super::{Change, Place, ancestors, place_on};
use crate::TargetError;

const PACKAGE: &str = "squashfs-tools";
/// What parts names from bytes.
const DATA: &[u8] = b"#\n# START OF DATA - DO NOT MODIFY\n#\n";
/// Equal changes make an equal squashfs: what is new is of this time.
const TIME: u64 = 1_577_836_800;

/// Makes the changes; what the tools said of them.
pub(super) fn change(
    image: &Path,
    partition: &Partition,
    found: &Found,
    volume: usize,
    changes: &[(&Place, &Change)],
) -> Result<String, TargetError> {
    let folder = tempfile::tempdir().map_err(|e| TargetError::io("make", &env::temp_dir(), e))?;
    let at = |name: &str| folder.path().join(name);
    let (listed, new) = (at("files"), at("new"));
    let offset = partition.start.to_string();
    let image_text = image.display().to_string();
    let about = run(PACKAGE, "unsquashfs", &["-o", &offset, "-s", &image_text])?;
    let options = Options::of(&String::from_utf8_lossy(&about.stdout)).map_err(|why| {
        TargetError::artefact("disk", format!("partition {}: {why}", partition.number))
    })?;
    let listed_text = listed.display().to_string();
    let unpacked = run(
        PACKAGE,
        "unsquashfs",
        &["-o", &offset, "-n", "-pf", &listed_text, &image_text],
    )?;
    let all = fs::read(&listed).map_err(|e| TargetError::io("read", &listed, e))?;
    let changed = changed(&all, found, volume, changes)?;
    fs::write(&listed, changed).map_err(|e| TargetError::io("write", &listed, e))?;
    let new_text = new.display().to_string();
    let mut args = vec![
        "-",
        &new_text,
        "-pf",
        &listed_text,
        "-quiet",
        "-no-progress",
    ];
    let time = TIME.to_string();
    args.extend(["-noappend", "-processors", "1", "-mkfs-time", &time]);
    args.extend(options.0.iter().map(String::as_str));
    let made = run(PACKAGE, "mksquashfs", &args)?;
    let said = [unpacked.stderr, made.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let bytes = fs::read(&new).map_err(|_| TargetError::artefact("disk", said.trim()))?;
    if bytes.len() as u64 > partition.bytes {
        return Err(TargetError::artefact(
            "disk",
            format!(
                "partition {} has {} bytes, and its squashfs needs {} with these changes: make \
                 an image with a larger one",
                partition.number,
                partition.bytes,
                bytes.len()
            ),
        ));
    }
    let file = File::options().write(true).open(image);
    let written = file.and_then(|file| file.write_all_at(&bytes, partition.start));
    written.map_err(|e| TargetError::io("write", image, e))?;
    Ok(said)
}

/// How a squashfs was made, for making another one.
struct Options(Vec<String>);

impl Options {
    fn of(about: &str) -> Result<Self, String> {
        let behind = |key: &str| {
            let line = about
                .lines()
                .find_map(|line| line.trim().strip_prefix(key))?;
            line.split_whitespace().next()
        };
        let missing = || format!("unsquashfs does not know it: {}", about.trim());
        let mut all = Vec::new();
        for (option, key) in [("-comp", "Compression"), ("-b", "Block size")] {
            let value = behind(key).ok_or_else(missing)?;
            all.extend([option.to_owned(), value.to_owned()]);
        }
        // Of the release that Debian 12 has, and those before.
        if behind("Number of xattr ids").is_some_and(|ids| ids != "0") {
            return Err(
                "its files have extended attributes, which would be lost: change the folder \
                 that it is made of"
                    .to_owned(),
            );
        }
        for (option, said) in [
            ("-no-exports", "Filesystem is not exportable"),
            ("-noI", "Inodes are uncompressed"),
            ("-noD", "Data is uncompressed"),
            ("-noF", "Fragments are uncompressed"),
            ("-no-fragments", "Fragments are not"),
            (
                "-always-use-fragments",
                "Always-use-fragments option is specified",
            ),
        ] {
            if about.contains(said) {
                all.push(option.to_owned());
            }
        }
        Ok(Self(all))
    }
}

/// Names and bytes with the changes.
fn changed(
    all: &[u8],
    found: &Found,
    volume: usize,
    changes: &[(&Place, &Change)],
) -> Result<Vec<u8>, TargetError> {
    let odd = || TargetError::artefact("disk", "unsquashfs wrote something that is not understood");
    let data = all.windows(DATA.len()).position(|window| window == DATA);
    let data = data.ok_or_else(odd)?;
    let (names, bytes) = (&all[..data], &all[data + DATA.len()..]);
    // By path; a file behind its folder.
    let mut lines: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut head = Vec::new();
    for line in names.split_inclusive(|b| *b == b'\n') {
        if line.starts_with(b"#") {
            head.extend_from_slice(line);
            continue;
        }
        let (path, rest) = part(line).ok_or_else(odd)?;
        lines.insert(path, rest.to_vec());
    }
    // Releases from 4.6 on say of each file whether it has holes.
    let is_long =
        |rest: &Vec<u8>| rest.starts_with(b"R ") && rest.split(|b| *b == b' ').count() > 7;
    let holes = if lines.values().any(is_long) {
        " 0"
    } else {
        ""
    };
    let mut more = Vec::new();
    for (place, change) in changes {
        let (folder, name) = place_on(found.files(volume), place)?;
        let path = format!("{folder}/{name}");
        let path = path.trim_start_matches('/').as_bytes().to_vec();
        // `R 1577836800 644 0 0 …`: what it is, time, mode, owner, group.
        let known = lines.remove(&path).unwrap_or_default();
        let known = String::from_utf8_lossy(&known).into_owned();
        let mut known = known.split_whitespace();
        if known.next() == Some("D") {
            let why = format!("{} is a folder", place.path);
            return Err(TargetError::artefact("disk", why));
        }
        let stays: Vec<&str> = known.skip(1).take(3).collect();
        if !matches!(change, Change::Nothing) {
            for above in ancestors(&folder) {
                let above = above.trim_start_matches('/').as_bytes().to_vec();
                lines
                    .entry(above)
                    .or_insert_with(|| format!("D {TIME} 755 0 0\n").into_bytes());
            }
        }
        match change {
            // Room is refused before (`no_room`).
            Change::Nothing | Change::Room(_) => {}
            Change::Link(to) => {
                lines.insert(path, format!("S {TIME} 777 0 0 {to}\n").into_bytes());
            }
            Change::File {
                bytes: content,
                executable,
            } => {
                let at = bytes.len() + more.len();
                let size = content.len();
                let mode = if *executable { "755" } else { "644" };
                let owner = match stays[..] {
                    [mode, user, group] => format!("{mode} {user} {group}"),
                    _ => format!("{mode} 0 0"),
                };
                let line = format!("R {TIME} {owner} {size} {at}{holes}\n");
                lines.insert(path, line.into_bytes());
                more.extend_from_slice(content);
            }
        }
    }
    let mut new = head;
    for (path, rest) in lines {
        let path = if path.is_empty() { b"/".to_vec() } else { path };
        for byte in path {
            if matches!(byte, b' ' | b'\\' | b'"') {
                new.push(b'\\');
            }
            new.push(byte);
        }
        new.push(b' ');
        new.extend(rest);
    }
    let written = [DATA, bytes, &more]
        .iter()
        .try_for_each(|part| new.write_all(part));
    written.map_err(|_| odd())?;
    Ok(new)
}

/// A line's path, without backslashes and the slash of the top, and the rest.
fn part(line: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (mut path, mut at) = (Vec::new(), 0);
    loop {
        match line.get(at)? {
            b' ' => break,
            b'\\' => {
                path.push(*line.get(at + 1)?);
                at += 2;
            }
            byte => {
                path.push(*byte);
                at += 1;
            }
        }
    }
    if path == b"/" {
        path.clear();
    }
    Some((path, &line[at + 1..]))
}
