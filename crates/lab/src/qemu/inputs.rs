//! What a boot depends on: everything that can change a bit of it.
//!
//! A boot whose time is counted is a function of what QEMU is given. What is known
//! before it begins is [`Inputs`]: program, arguments, probe, images, model, seed and
//! the pattern at which it ends. Which other files of this host QEMU looks for
//! (libraries, firmware, the images that arguments name) is seen while it boots:
//! [`HostFile`].

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use bootlap_product::{Blob, Boot, sha256};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{PROBE, Places, QemuSettings};

/// SHA-256 of the sources that decide what is recorded of a boot, made by `build.rs`.
const RECORDER: &str = env!("BOOTLAP_RECORDER");

/// Words in arguments after which a boot depends on more than files.
const OUTSIDE: [&str; 6] = [
    "rng-random",
    "rng-egd",
    "vfio",
    "usb-host",
    "host-data",
    "-rtc",
];

/// What is known before a boot begins: name and value, in a fixed order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Inputs(Vec<(String, String)>);

impl Inputs {
    /// Of one boot; `None` if it depends on more than can be written down, or does
    /// not repeat.
    pub(super) fn of(settings: &QemuSettings, boot: &Boot, ready: &str) -> Option<Self> {
        let named = |word: &&str| settings.spec.args.iter().any(|arg| arg.contains(*word));
        if !settings.is_alone() || OUTSIDE.iter().any(named) {
            return None;
        }
        let program = fingerprint(&found(&settings.spec.program)?)?;
        let mut inputs = vec![
            ("recorder".to_owned(), RECORDER.to_owned()),
            ("probe".to_owned(), sha256(PROBE)),
            ("program".to_owned(), program),
            ("machine".to_owned(), format!("{:?}", settings.spec)),
            ("time".to_owned(), settings.mode.name().to_owned()),
            ("model".to_owned(), format!("{:?}", settings.model)),
            ("seed".to_owned(), settings.seed.to_string()),
            ("ready".to_owned(), ready.to_owned()),
        ];
        if let Some(attached) = &settings.attached {
            let (format, bus) = (attached.format, attached.bus);
            inputs.push(("disk".to_owned(), format!("{format:?} on {bus:?}")));
            let patches = attached.patches.iter();
            inputs.extend(patches.map(|patch| {
                let name = format!("on the disk at {:#x}", patch.at);
                (name, sha256(&patch.bytes))
            }));
        }
        match boot {
            Boot::Flash {
                medium,
                bank_size,
                banks,
                kernel_entry,
            } => {
                let flash = format!("{medium:?}, banks of {bank_size}, entry {kernel_entry:#x}");
                inputs.push(("flash".to_owned(), flash));
                for (bank, blobs) in banks.iter().enumerate() {
                    for blob in blobs {
                        let name = format!("bank {bank} at {:#x}", blob.offset);
                        inputs.push((name, blob.sha256().to_owned()));
                    }
                }
            }
            Boot::Direct {
                kernel,
                initramfs,
                devicetree,
                cmdline,
            } => {
                let blobs = [
                    ("kernel", Some(kernel)),
                    ("initramfs", initramfs.as_ref()),
                    ("device tree", devicetree.as_ref()),
                ];
                for (name, blob) in blobs {
                    let value = blob.map_or("none", Blob::sha256);
                    inputs.push((name.to_owned(), value.to_owned()));
                }
                inputs.push(("command line".to_owned(), cmdline.clone()));
            }
            Boot::Firmware {
                image,
                variables,
                payload,
                code,
            } => {
                inputs.push(("kernel's entries".to_owned(), hex(&code.kernel)));
                inputs.push(("boot loader's entry".to_owned(), hex(&code.loader)));
                let blobs = [
                    ("firmware", image),
                    ("its variables", variables),
                    ("its payload", payload),
                ];
                for (name, blob) in blobs {
                    let value = blob.as_ref().map_or("none", Blob::sha256);
                    inputs.push((name.to_owned(), value.to_owned()));
                }
            }
        }
        Some(Self(inputs))
    }

    /// What is not the same there: name, here and there.
    pub fn differences<'i>(&'i self, there: &'i Self) -> Vec<(&'i str, [&'i str; 2])> {
        let value = |of: &'i Self, name: &str| {
            let found = of.0.iter().find(|(n, _)| n == name);
            found.map_or("nothing", |(_, value)| value.as_str())
        };
        let names: BTreeSet<&str> = self.0.iter().chain(&there.0).map(|(n, _)| &**n).collect();
        let pairs = names
            .into_iter()
            .map(|n| (n, [value(self, n), value(there, n)]));
        pairs.filter(|(_, [here, there])| here != there).collect()
    }

    /// SHA-256 of all of it, in hex: equal boots have equal keys.
    pub fn key(&self) -> String {
        let mut hash = Sha256::new();
        for (name, value) in &self.0 {
            for text in [name, value] {
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text);
            }
        }
        HEXLOWER.encode(&hash.finalize())
    }
}

/// Some pieces of code, as the probe is told of them.
pub(super) fn hex(code: &[Vec<u8>]) -> String {
    let code: Vec<String> = code.iter().map(|code| HEXLOWER.encode(code)).collect();
    code.join(":")
}

/// What was at a path of this host where QEMU looked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostFile {
    /// Nothing.
    Missing,
    /// A folder.
    Folder,
    /// A file, and its fingerprint ([`bootlap_product::fingerprint`]).
    File(String),
}

/// By the path as QEMU was given it, or what [`Places`] call it.
pub type HostFiles = BTreeMap<String, HostFile>;

/// The first file that is not as it was.
pub fn changed<'f>(files: &'f HostFiles, places: &Places) -> Option<&'f str> {
    let mut files = files.iter();
    let is_other =
        |name: &str, was: &HostFile| look(&places.real(name)).is_none_or(|is| is != *was);
    let found = files.find(|(name, was)| is_other(name, was));
    found.map(|(name, _)| name.as_str())
}

/// What stands at these paths; `None` if one changed after `began`, or cannot be read.
pub(super) fn host_files(
    paths: &[PathBuf],
    began: SystemTime,
    places: &Places,
) -> Option<HostFiles> {
    let known = paths.iter().map(|path| {
        let is = look(path)?;
        let changed = matches!(is, HostFile::File(_)) && changed_since(path, began);
        (!changed).then(|| (places.named(&path.to_string_lossy()), is))
    });
    known.collect()
}

/// The paths in the probe's list (`probe/opened.c`) whose content can matter.
pub(super) fn opened(list: &[u8]) -> Vec<PathBuf> {
    let paths = list.split(|byte| *byte == 0).filter_map(|entry| {
        let path = std::str::from_utf8(entry.get(1..)?).ok()?;
        let of_kernel = ["/proc/", "/sys/", "/dev/"];
        let matters = !path.is_empty() && !of_kernel.iter().any(|dir| path.starts_with(dir));
        matters.then(|| PathBuf::from(path))
    });
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The libraries that a running program has loaded.
pub(super) fn libraries(pid: u32) -> io::Result<Vec<PathBuf>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for line in maps.lines() {
        // ADDRESSES PERMISSIONS OFFSET DEVICE INODE PATH
        let mut words = line.splitn(6, ' ');
        let runs = words.nth(1).is_some_and(|p| p.contains('x'));
        let path = words.nth(3).map_or("", str::trim_start);
        if runs && path.starts_with('/') && !path.starts_with("/memfd:") {
            paths.push(path.into());
        }
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn look(path: &Path) -> Option<HostFile> {
    match fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Some(HostFile::Missing),
        Ok(known) if known.is_dir() => Some(HostFile::Folder),
        Ok(known) if known.is_file() => Some(HostFile::File(fingerprint(path)?)),
        _ => None,
    }
}

fn changed_since(path: &Path, began: SystemTime) -> bool {
    let began = began
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    // Not when its content was written: another may have been put there.
    let changed = |known: fs::Metadata| (known.ctime(), known.ctime_nsec());
    let began = (began.as_secs() as i64, i64::from(began.subsec_nanos()));
    fs::metadata(path).map_or(true, |known| changed(known) >= began)
}

/// Where a program is that is named as in a shell.
fn found(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(program.into());
    }
    let path = env::var_os("PATH")?;
    let mut all = env::split_paths(&path).map(|dir| dir.join(program));
    all.find(|path| path.is_file())
}

/// The fingerprint of a file. Each is read once: what a file is known by tells whether it is
/// still the same.
fn fingerprint(path: &Path) -> Option<String> {
    type Known = (u64, u64, u64, [i64; 2], [i64; 2]);
    static READ: Mutex<Option<HashMap<Known, String>>> = Mutex::new(None);
    let known = |file: &File| {
        let m = file.metadata().ok()?;
        let times = [m.mtime(), m.mtime_nsec()];
        Some((
            m.dev(),
            m.ino(),
            m.size(),
            times,
            [m.ctime(), m.ctime_nsec()],
        ))
    };
    let file = File::open(path).ok()?;
    let before = known(&file)?;
    let read = || READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(hash) = read().get_or_insert_default().get(&before) {
        return Some(hash.clone());
    }
    let hash = bootlap_product::fingerprint(path).ok()?;
    if known(&file)? == before {
        read().get_or_insert_default().insert(before, hash.clone());
    }
    Some(hash)
}
