//! Disks that are read in the guest's time.
//!
//! QEMU reads an image beside the guest, in the host's time. So an image that the
//! arguments name is replaced: QEMU gets an empty file in memory, and asks the probe
//! (`probe/disk.c`) for what is in it, which reads the image and keeps in memory what
//! the guest writes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bootlap_product::Patch;
use rustix::fs::SeekFrom;
use serde_json::Value;

use super::memory::{MemoryFile, path_in_child};

/// What the probe looks for in its environment (`DISKS` in `probe/disk.h`).
pub(super) const VARIABLE: &str = "BOOTLAP_DISKS";

/// The probe hears of the pages that a disk begins with in a variable of its environment, which
/// takes 128 KiB.
const MOST_RUNS: usize = 2000;

/// How many disks the probe knows (`MOST_DISKS` in `probe/disk.c`).
const MOST: usize = 16;

/// A disk that QEMU and the probe are given.
pub(super) struct Disk {
    /// What QEMU opens.
    written: MemoryFile,
    /// What is in it, unless all is in `written`.
    image: Option<OwnedFd>,
    /// Whether it is a card, which the CPU waits for.
    card: bool,
    /// What it is, for the manifest.
    what: String,
    /// The image's path, as the arguments name it, unless all is in `written`.
    path: Option<PathBuf>,
    /// Pages of the image that are in `written` from the start.
    patched: BTreeSet<u64>,
}

/// The probe knows what is written by the page (`PAGE` in `probe/disk.c`).
const PAGE: u64 = 4096;

impl Disk {
    /// A card that is whole in memory.
    pub(super) fn card(written: &MemoryFile, what: String) -> io::Result<Self> {
        Ok(Self {
            written: written.again()?,
            image: None,
            card: true,
            what,
            path: None,
            patched: BTreeSet::new(),
        })
    }

    /// What a child must inherit.
    pub(super) fn fds(&self) -> impl Iterator<Item = &OwnedFd> {
        [self.written.fd()].into_iter().chain(&self.image)
    }

    /// The path of the file in memory, and what it is.
    pub(super) fn path(&self) -> (String, &str) {
        (path_in_child(self.written.fd()), &self.what)
    }

    /// The image of this host that the probe reads.
    pub(super) fn image(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The guest sees other bytes than those of the image.
    pub(super) fn patch(&mut self, patch: &Patch) -> io::Result<()> {
        let Some(image) = &self.image else {
            return self.written.write_at(patch.at, &patch.bytes);
        };
        let image = File::from(image.try_clone()?);
        let end = patch.at + patch.bytes.len() as u64;
        for page in patch.at / PAGE..end.div_ceil(PAGE) {
            if self.patched.insert(page) {
                // The last one need not be whole.
                let left = image.metadata()?.len().saturating_sub(page * PAGE);
                let mut bytes = vec![0; left.min(PAGE) as usize];
                image.read_exact_at(&mut bytes, page * PAGE)?;
                self.written.write_at(page * PAGE, &bytes)?;
            }
        }
        self.written.write_at(patch.at, &patch.bytes)
    }

    /// In what it differs from the image by now: what it was given, and what the guest wrote.
    pub(super) fn left(&self) -> io::Result<Vec<Patch>> {
        let mut runs = Vec::new();
        let mut at = 0;
        let written = self.written.file();
        while let Ok(start) = rustix::fs::seek(written, SeekFrom::Data(at)) {
            at = rustix::fs::seek(written, SeekFrom::Hole(start))?;
            runs.push(start..at);
        }
        let image = self.image.as_ref().map(OwnedFd::try_clone).transpose()?;
        let image = image.map(File::from);
        let few = few(runs, MOST_RUNS);
        let patches = few.into_iter().map(|pieces| {
            let (at, end) = (pieces[0].start, pieces[pieces.len() - 1].end);
            let mut bytes = vec![0; usize::try_from(end - at).map_err(io::Error::other)?];
            if let Some(image) = &image {
                let there = image.metadata()?.len().saturating_sub(at).min(end - at);
                image.read_exact_at(&mut bytes[..there as usize], at)?;
            }
            for piece in pieces {
                let here = (piece.start - at) as usize..(piece.end - at) as usize;
                written.read_exact_at(&mut bytes[here], piece.start)?;
            }
            Ok(Patch { at, bytes })
        });
        patches.collect()
    }

    /// As the probe is told of it.
    fn told(&self) -> String {
        let image = self.image.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let kind = if self.card { "card" } else { "disk" };
        let mut runs: Vec<[u64; 2]> = Vec::new();
        for page in &self.patched {
            match runs.last_mut() {
                Some([_, last]) if *last + 1 == *page => *last = *page,
                _ => runs.push([*page; 2]),
            }
        }
        let pages = runs.iter().map(|[first, last]| format!(".{first}-{last}"));
        let pages: String = pages.collect();
        format!("{}:{image}:{kind}{pages}", self.written.fd().as_raw_fd())
    }
}

/// Runs of bytes in their order, put together over the smallest gaps until there are at most so
/// many.
fn few(runs: Vec<Range<u64>>, most: usize) -> Vec<Vec<Range<u64>>> {
    let gaps = runs.windows(2).map(|two| two[1].start - two[0].end);
    let mut gaps: Vec<u64> = gaps.collect();
    gaps.sort_unstable();
    let over = runs.len().saturating_sub(most.max(1));
    let over = over.checked_sub(1).map_or(0, |last| gaps[last]);
    let mut few: Vec<Vec<Range<u64>>> = Vec::new();
    for run in runs {
        match few
            .last_mut()
            .and_then(|pieces| Some((pieces.last()?.end, pieces)))
        {
            Some((end, pieces)) if run.start - end <= over => pieces.push(run),
            _ => few.push(vec![run]),
        }
    }
    few
}

/// What the probe is told of all of them.
pub(super) fn told(disks: &[Disk]) -> String {
    let told: Vec<String> = disks.iter().map(Disk::told).collect();
    told.join(",")
}

/// QEMU's arguments with their images replaced, and these. Cards only if they take
/// time: without, QEMU reads them before the guest goes on.
pub(super) fn take_over(args: &[String], cards: bool) -> io::Result<(Vec<String>, Vec<Disk>)> {
    let mut disks = Vec::new();
    let mut taken = Vec::new();
    let mut args = args.iter();
    while let Some(option) = args.next() {
        let name = option.strip_prefix("--").or(option.strip_prefix('-'));
        let short = name.and_then(|name| SHORT.iter().find(|(short, _)| *short == name));
        let value = match (name, short) {
            (Some("drive" | "blockdev"), _) | (_, Some(_)) => args.next(),
            _ => None,
        };
        let Some(value) = value else {
            taken.push(option.clone());
            continue;
        };
        let (option, value) = match short {
            // The same in a form that can be changed.
            Some((_, means)) => {
                let file = as_file(value);
                ("-drive".to_owned(), format!("{file},{means}"))
            }
            None => (option.clone(), value.clone()),
        };
        let value = match name {
            Some("blockdev") if value.starts_with('{') => json(&value, &mut disks)?,
            Some("blockdev") => blockdev(&value, &mut disks)?,
            _ => drive(&value, cards, is_card(&value, args.as_slice()), &mut disks)?,
        };
        taken.extend([option, value]);
    }
    Ok((taken, disks))
}

/// Of QEMU's arguments, the first that attaches storage which the host reads in its own
/// time, so that simulated time does not wait for it.
pub fn in_host_time(args: &[String]) -> Option<String> {
    let values = args.iter().skip(1).map(String::as_str).chain([""]);
    args.iter().zip(values).find_map(|(option, value)| {
        let name = option.strip_prefix("--").or(option.strip_prefix('-'))?;
        let aside = match name {
            "virtfs" | "fsdev" => true,
            "device" => {
                let threads = Options::of(value).get("iothread").is_some();
                threads || value.starts_with("vhost-") || value.starts_with("virtio-9p")
            }
            "drive" | "blockdev" => beside(value),
            _ => SHORT.iter().any(|(short, _)| *short == name) && beside(&as_file(value)),
        };
        aside.then(|| format!("-{name} {value}"))
    })
}

/// A path as an option of a drive.
fn as_file(path: &str) -> String {
    format!("file={}", path.replace(',', ",,"))
}

/// Whether an image is one of the network or a device, or has a part in another file.
fn beside(drive: &str) -> bool {
    let options = Options::of(drive);
    let file = options.get("file").or(options.get("filename"));
    let file = file.or(options.get("file.filename")).unwrap_or_default();
    let known = |name: &str| NETWORK.iter().any(|scheme| name.starts_with(scheme));
    let mut head = [0; 16];
    let read = File::open(file).and_then(|mut image| image.read(&mut head));
    let driver = options.get("driver").unwrap_or_default();
    let device = fs::metadata(file).is_ok_and(|known| !known.is_file());
    known(file) || known(driver) || device || read.is_ok_and(|n| names_others(&head[..n]))
}

/// What images of the network begin with, and are driven by.
const NETWORK: [&str; 9] = [
    "nbd", "http", "ftp", "ssh", "iscsi", "rbd", "nfs", "gluster", "nvme:",
];

/// Options that attach a drive, and what they mean.
const SHORT: [(&str, &str); 8] = [
    ("hda", "index=0,media=disk"),
    ("hdb", "index=1,media=disk"),
    ("hdc", "index=2,media=disk"),
    ("hdd", "index=3,media=disk"),
    ("cdrom", "index=2,media=cdrom"),
    ("fda", "if=floppy,index=0"),
    ("fdb", "if=floppy,index=1"),
    ("sd", "if=sd,index=0"),
];

/// Devices that are cards.
const CARDS: [&str; 3] = ["sd-card", "emmc", "sd-card-spi"];

/// The options of a drive. QEMU writes a comma in a value twice.
struct Options(Vec<(String, String)>);

impl Options {
    fn of(text: &str) -> Self {
        let mut options: Vec<(String, String)> = Vec::new();
        for part in split(text) {
            let (key, value) = part.split_once('=').unwrap_or((&part, "on"));
            options.push((key.to_owned(), value.to_owned()));
        }
        Self(options)
    }

    fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(k, _)| k == key);
        found.map(|(_, value)| value.as_str())
    }

    fn set(&mut self, key: &str, value: &str) {
        self.0.retain(|(k, _)| k != key);
        self.0.push((key.to_owned(), value.to_owned()));
    }

    fn text(&self) -> String {
        let written =
            |(key, value): &(String, String)| format!("{key}={}", value.replace(',', ",,"));
        let all: Vec<String> = self.0.iter().map(written).collect();
        all.join(",")
    }
}

fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, parts.last_mut()) {
            (',', Some(last)) if chars.peek() == Some(&',') => {
                chars.next();
                last.push(',');
            }
            (',', _) => parts.push(String::new()),
            (c, Some(last)) => last.push(c),
            (_, None) => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether a drive is a card, by itself or by the device that it is for.
fn is_card(drive: &str, later: &[String]) -> bool {
    let options = Options::of(drive);
    let device = |value: &String| {
        let card = CARDS
            .iter()
            .any(|card| split(value).first().is_some_and(|d| d == card));
        card && options.get("id").is_some() && Options::of(value).get("drive") == options.get("id")
    };
    options.get("if") == Some("sd") || later.iter().any(device)
}

fn drive(text: &str, cards: bool, card: bool, disks: &mut Vec<Disk>) -> io::Result<String> {
    let mut options = Options::of(text);
    // Flash is read whole before anything runs, and written before the guest goes on.
    let flash = matches!(options.get("if"), Some("pflash" | "mtd"));
    let file = options.get("file").map(str::to_owned);
    let Some(file) = file.filter(|_| !flash && (cards || !card)) else {
        return Ok(text.to_owned());
    };
    let Some(path) = replace(&file, card, disks)? else {
        return Ok(text.to_owned());
    };
    options.set("file", &path);
    options.set("snapshot", "off");
    options.set("aio", "io_uring");
    // The host's cache is not asked to be left out of a file in memory.
    match options.get("cache") {
        Some("none") => options.set("cache", "writeback"),
        Some("directsync") => options.set("cache", "writethrough"),
        _ => {}
    }
    options.0.retain(|(key, _)| key != "cache.direct");
    Ok(options.text())
}

/// A block device of `driver=file`, or a format on it whose `file` is one.
fn blockdev(text: &str, disks: &mut Vec<Disk>) -> io::Result<String> {
    let mut options = Options::of(text);
    for prefix in ["", "file."] {
        let key = |name: &str| format!("{prefix}{name}");
        let file = options.get(&key("filename")).map(str::to_owned);
        let Some(file) = file.filter(|_| options.get(&key("driver")) == Some("file")) else {
            continue;
        };
        let Some(path) = replace(&file, false, disks)? else {
            continue;
        };
        options.set(&key("filename"), &path);
        options.set(&key("aio"), "io_uring");
        options.0.retain(|(k, _)| !k.ends_with("cache.direct"));
    }
    Ok(options.text())
}

/// The same in JSON, where it may be a part of another.
fn json(text: &str, disks: &mut Vec<Disk>) -> io::Result<String> {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else {
        return Ok(text.to_owned()); // QEMU says what is wrong with it
    };
    let mut parts = vec![&mut value];
    while let Some(part) = parts.pop() {
        let Value::Object(part) = part else { continue };
        let is_file = part.get("driver").and_then(Value::as_str) == Some("file");
        let file = part.get("filename").and_then(Value::as_str);
        if let Some(path) = file.filter(|_| is_file).map(str::to_owned)
            && let Some(path) = replace(&path, false, disks)?
        {
            part.insert("filename".into(), path.into());
            part.insert("aio".into(), "io_uring".into());
        }
        part.remove("cache");
        parts.extend(part.values_mut());
    }
    Ok(value.to_string())
}

/// What QEMU is given instead of an image; `None` if it is none that can be replaced:
/// of the network, made up by QEMU, or one that names others beside it.
fn replace(file: &str, card: bool, disks: &mut Vec<Disk>) -> io::Result<Option<String>> {
    let path = file.strip_prefix("file:").unwrap_or(file);
    let Ok(known) = fs::metadata(path) else {
        return Ok(None); // QEMU says so
    };
    if !known.is_file() {
        return Ok(None);
    }
    let failed = |e: io::Error| io::Error::new(e.kind(), format!("{path}: {e}"));
    let mut image = File::open(path).map_err(failed)?;
    let mut head = [0; 16];
    let n = image.read(&mut head).map_err(failed)?;
    if names_others(&head[..n]) {
        return Ok(None);
    }
    if disks.len() == MOST {
        return Err(io::Error::other(format!(
            "{path} is one disk too many: {MOST} can be read in the guest's time"
        )));
    }
    // QEMU takes no card of another size; what is behind the image is empty.
    let size = match card {
        true => known.len().next_power_of_two(),
        false => known.len(),
    };
    let disk = Disk {
        written: MemoryFile::with_size("disk", size).map_err(failed)?,
        image: Some(image.into()),
        card,
        what: format!("what the guest writes to {path}"),
        path: Some(path.into()),
        patched: BTreeSet::new(),
    };
    let path = path_in_child(disk.written.fd());
    disks.push(disk);
    Ok(Some(path))
}

/// Images whose contents are in another file, too: a qcow2 that has a backing file, and
/// a VMDK's description.
fn names_others(head: &[u8]) -> bool {
    let backing = head.starts_with(b"QFI\xfb") && head.get(8..16) != Some(&[0; 8]);
    backing || head.starts_with(b"# Disk Descr")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(args: &[&str], cards: bool) -> (Vec<String>, Vec<Disk>) {
        let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
        take_over(&args, cards).unwrap()
    }

    /// An image, and its path.
    fn image(dir: &tempfile::TempDir, name: &str, head: &[u8]) -> String {
        let path = dir.path().join(name);
        fs::write(&path, head).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[test]
    fn images_are_replaced_however_they_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = image(&dir, "a,b.img", &[0; 1024]);
        let doubled = file.replace(',', ",,");
        let drive = format!("file={doubled},if=none,id=d,cache=none");
        let flat = format!("driver=raw,node-name=d,file.driver=file,file.filename={doubled}");
        let json = format!(r#"{{"driver":"raw","file":{{"driver":"file","filename":"{file}"}}}}"#);
        let cases = [
            [
                "-drive",
                &drive,
                "-drive if=none,id=d,file=MEMORY,snapshot=off,aio=io_uring,cache=writeback",
            ],
            [
                "-hdb",
                &file,
                "-drive index=1,media=disk,file=MEMORY,snapshot=off,aio=io_uring",
            ],
            [
                "--blockdev",
                &flat,
                "--blockdev driver=raw,node-name=d,file.driver=file,file.filename=MEMORY,\
                 file.aio=io_uring",
            ],
            [
                "-blockdev",
                &json,
                r#"-blockdev {"driver":"raw","file":{"aio":"io_uring","driver":"file","filename":"MEMORY"}}"#,
            ],
        ];
        for [option, value, wanted] in cases {
            let (args, disks) = taken(&["-m", "1G", option, value, "-S"], false);
            assert_eq!(disks.len(), 1, "{value}");
            let (memory, what) = disks[0].path();
            let said = args[2..4].join(" ").replace(&memory, "MEMORY");
            assert_eq!(said, wanted);
            assert_eq!([&args[0], &args[4]], ["-m", "-S"]);
            assert!(what.ends_with("a,b.img"), "{what}");
            assert_eq!(disks[0].written.file().metadata().unwrap().len(), 1024);
        }
    }

    #[test]
    fn storage_of_the_network_and_of_threads_is_told() {
        let told = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
            in_host_time(&args)
        };
        for args in [
            ["-virtfs", "local,path=a,mount_tag=b,security_model=none"],
            ["-drive", "file=nbd://example/disk,if=virtio"],
            ["--blockdev", "driver=nbd,node-name=d,server.host=example"],
            ["-device", "virtio-blk-pci,drive=d,iothread=io"],
            ["-hda", "/dev/null"],
        ] {
            let said = told(&args).unwrap();
            assert!(said.ends_with(args[1]) && !said.starts_with("--"), "{said}");
        }
        assert_eq!(
            told(&["-drive", "file=a,if=virtio", "-device", "nvme,drive=d"]),
            None
        );
        assert_eq!(told(&["-nic", "user", "-name", "virtfs"]), None);
    }

    #[test]
    fn what_cannot_be_replaced_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let raw = image(&dir, "raw.img", &[0; 512]);
        let alone = image(&dir, "alone.qcow2", b"QFI\xfb\0\0\0\x03\0\0\0\0\0\0\0\0");
        let backed = image(&dir, "backed.qcow2", b"QFI\xfb\0\0\0\x03\0\0\0\0\0\0\x02\0");
        let empty = image(&dir, "empty.img", b"");
        let count = |value: &str, cards| taken(&["-drive", value], cards).1.len();
        assert_eq!(count(&format!("file={alone}"), false), 1);
        assert_eq!(count(&format!("file={empty},format=raw"), false), 1);
        for left in [
            format!("file={backed}"),
            format!("file={raw},if=pflash"),
            format!("file={raw},if=sd"),
            "file=nbd://example/disk".to_owned(),
            format!("file={}", dir.path().display()),
            "if=none,id=cd,media=cdrom".to_owned(),
        ] {
            assert_eq!(count(&left, false), 0, "{left}");
        }
        assert_eq!(count(&format!("file={raw},if=sd"), true), 1);
        let card = format!("file={raw},if=none,id=d");
        let args = ["-drive", &card, "-device", "sd-card,drive=d"];
        assert_eq!(taken(&args, false).1.len(), 0);
        let (_, disks) = taken(&args, true);
        assert!(told(&disks).ends_with(":card"), "{}", told(&disks));
        let broken = taken(&["-blockdev", "{", "-drive"], false);
        assert_eq!(broken.0, ["-blockdev", "{", "-drive"]);
    }

    #[test]
    fn what_a_guest_left_is_what_it_was_given_and_what_it_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let page = PAGE as usize;
        let path = image(&dir, "a.img", &[1; 10 * PAGE as usize]);
        let (_, mut disks) = taken(&["-drive", &format!("file={path},if=none")], false);
        let disk = &mut disks[0];
        assert_eq!(disk.left().unwrap(), []);
        let bytes = vec![2; 3];
        disk.patch(&Patch { at: 5000, bytes }).unwrap();
        disk.written.write_at(7 * PAGE, &vec![0; page]).unwrap();
        let left = disk.left().unwrap();
        let places: Vec<_> = left.iter().map(|p| (p.at, p.bytes.len())).collect();
        assert_eq!(places, [(PAGE, page), (7 * PAGE, page)]);
        assert_eq!(left[0].bytes[904 - 1..904 + 4], [1, 2, 2, 2, 1]);
        assert_eq!(
            left[1].bytes,
            vec![0; page],
            "zeros that were written are kept"
        );
    }

    #[test]
    fn runs_are_put_together_over_the_smallest_gaps() {
        let runs = vec![0..1, 2..3, 9..10, 13..14];
        let shape = |most| {
            let few = few(runs.clone(), most);
            assert_eq!(few.concat(), runs);
            few.iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(shape(4), [1, 1, 1, 1]);
        assert_eq!(shape(3), [2, 1, 1]);
        assert_eq!(shape(2), [2, 2]);
        assert_eq!(shape(1), [4]);
        assert_eq!(few(Vec::new(), 1).len(), 0);
    }
}
