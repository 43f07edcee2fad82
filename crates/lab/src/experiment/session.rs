//! The folder of an experiment: what it compares, and every boot of it.
//!
//! ```text
//! experiment.json     what is compared, and whether it came to its end
//! baseline/0, 1, …    the runs of a variant, by perturbation
//! uboot-bootdelay/0 …
//! interrupted/        what was being recorded when an experiment was killed
//! ```
//!
//! The runs are all the state there is. An experiment that was interrupted is
//! found again by what it asks ([`Question::key`]); its boots are there
//! already, and what follows from them is computed again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::run::{failed, write_json};
use crate::{LabError, Manifest, Run, RunError, State};

/// The version of `experiment.json`.
const FORMAT: u32 = 1;
/// Its name.
const RECORD: &str = "experiment.json";
/// Where half a run goes.
const INTERRUPTED: &str = "interrupted";
/// The longest folder name that is made of a variant's name alone.
const NAME_LEN: usize = 60;

/// What an experiment asks; equal questions have equal answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What asks: `try`, `tune`.
    pub kind: String,
    /// The target's name.
    pub target: String,
    /// SHA-256 of the target's description.
    pub target_sha256: String,
    /// How it is measured: `sim`, `plain`, `board`.
    pub mode: String,
    /// Random seed.
    pub seed: u64,
    /// Everything else that changes the answer, such as recipes and limits.
    pub details: Vec<String>,
}

impl Question {
    fn key(&self) -> String {
        let text = serde_json::to_vec(self).unwrap_or_default();
        HEXLOWER.encode(&Sha256::digest(text))
    }
}

/// `experiment.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    format: u32,
    bootlap: String,
    state: State,
    #[serde(flatten)]
    question: Question,
    /// In the order of the experiment; the first is what the others are
    /// compared with.
    variants: Vec<Variant>,
}

/// One side of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// What it is called.
    pub name: String,
    /// Its folder's name.
    pub dir: String,
}

/// An experiment under way.
#[derive(Debug)]
pub struct Session {
    dir: PathBuf,
    record: Record,
    /// Held while it is under way: two programs never share one.
    _lock: File,
}

impl Session {
    /// Goes on with the newest experiment below `sessions` that asks the same
    /// and did not come to its end, or begins one in `new`, a folder that does
    /// not exist. The flag says whether it goes on.
    ///
    /// # Errors
    /// If folders cannot be read or written.
    pub fn open(
        sessions: &Path,
        new: &Path,
        question: &Question,
        bootlap: &str,
    ) -> Result<(Self, bool), RunError> {
        if let Some(found) = unfinished(sessions, question, bootlap)? {
            return Ok((found, true));
        }
        fs::create_dir_all(new).map_err(|e| failed("create", new, e))?;
        let lock = lock(new)?.ok_or_else(|| {
            let taken = io::Error::from(io::ErrorKind::ResourceBusy);
            failed("lock", new, taken)
        })?;
        let session = Self {
            dir: new.to_owned(),
            record: Record {
                format: FORMAT,
                bootlap: bootlap.to_owned(),
                state: State::Unfinished,
                question: question.clone(),
                variants: Vec::new(),
            },
            _lock: lock,
        };
        session.write()?;
        Ok((session, false))
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder of the variant called `name`.
    ///
    /// # Errors
    /// If a new variant cannot be written down.
    pub fn folder(&mut self, name: &str) -> Result<PathBuf, RunError> {
        let known = self.record.variants.iter().find(|v| v.name == name);
        if let Some(variant) = known {
            return Ok(self.dir.join(&variant.dir));
        }
        let dir = folder_name(name);
        let path = self.dir.join(&dir);
        self.record.variants.push(Variant {
            name: name.to_owned(),
            dir,
        });
        self.write()?;
        Ok(path)
    }

    /// Says that all that was asked is answered.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn finish(mut self) -> Result<(), RunError> {
        self.record.state = State::Finished;
        self.write()
    }

    fn write(&self) -> Result<(), RunError> {
        write_json(&self.dir.join(RECORD), &self.record)
    }
}

/// The variants of the experiment in `dir`, in order; `None` if it is none.
pub fn variants(dir: &Path) -> Option<Vec<Variant>> {
    Some(read(dir)?.variants)
}

fn read(dir: &Path) -> Option<Record> {
    let text = fs::read(dir.join(RECORD)).ok()?;
    let record: Record = serde_json::from_slice(&text).ok()?;
    (record.format == FORMAT).then_some(record)
}

/// The newest experiment that asks `question` and can be gone on with.
fn unfinished(
    sessions: &Path,
    question: &Question,
    bootlap: &str,
) -> Result<Option<Session>, RunError> {
    let Ok(entries) = fs::read_dir(sessions) else {
        return Ok(None);
    };
    let mut dirs: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    dirs.sort();
    for dir in dirs.into_iter().rev() {
        let Some(record) = read(&dir) else { continue };
        let same = record.question.key() == question.key() && record.bootlap == bootlap;
        if !same || record.state == State::Finished {
            continue;
        }
        if let Some(lock) = lock(&dir)? {
            return Ok(Some(Session {
                dir,
                record,
                _lock: lock,
            }));
        }
    }
    Ok(None)
}

/// The right to write into `dir`, until it is dropped or the program ends;
/// `None` if another program has it.
fn lock(dir: &Path) -> Result<Option<File>, RunError> {
    let file = File::open(dir).map_err(|e| failed("open", dir, e))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(e) => Err(failed("lock", dir, e.into())),
    }
}

/// The boot that is to be recorded in `dir`, if it was recorded before: whole,
/// of the same parts, in the same way. Half a run that is in the way is moved
/// aside.
///
/// # Errors
/// If half a run cannot be moved, or `dir` holds a whole run of something else.
pub fn recorded(dir: &Path, wanted: &Manifest) -> Result<Option<Run>, LabError> {
    let is_empty = |mut entries: fs::ReadDir| entries.next().is_none();
    if fs::read_dir(dir).map_or(!dir.exists(), is_empty) {
        return Ok(None);
    }
    match Run::open(dir) {
        Ok(run) if run.manifest.state == State::Finished => {
            if is_same(&run.manifest, wanted) {
                return Ok(Some(run));
            }
            Err(LabError::Machine(format!(
                "{} holds a boot of something else: name another folder with --runs",
                dir.display()
            )))
        }
        _ => {
            set_aside(dir)?;
            Ok(None)
        }
    }
}

fn is_same(there: &Manifest, wanted: &Manifest) -> bool {
    let described = |m: &Manifest| {
        // A time that is counted is the same on all hosts.
        let cpu = (!m.mode.repeats()).then(|| m.host.cpu.clone());
        let text = [&m.bootlap, &m.target_sha256, &m.append].map(String::clone);
        (text, cpu, m.parts.clone(), m.mode, m.seed, m.perturbation)
    };
    described(there) == described(wanted)
}

/// Moves half a run out of the way; nothing that was recorded is deleted.
fn set_aside(dir: &Path) -> Result<(), RunError> {
    let name = |path: Option<&Path>| {
        let name = path.and_then(Path::file_name).unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let variant = dir.parent();
    let session = variant.and_then(Path::parent).unwrap_or(Path::new("."));
    let aside = session.join(INTERRUPTED);
    fs::create_dir_all(&aside).map_err(|e| failed("create", &aside, e))?;
    let name = format!("{}-{}", name(variant), name(Some(dir)));
    let free = (1..).map(|n| aside.join(format!("{name}-{n}")));
    let free = free.into_iter().find(|path| !path.exists());
    let free = free.expect("there are endless names");
    fs::rename(dir, &free).map_err(|e| failed("move", dir, e))
}

/// A name in letters that are safe in folder names.
pub fn plain_name(name: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_+.=".contains(*c);
    let plain = |c: char| Some(c).filter(is_plain).unwrap_or('_');
    name.chars().map(plain).collect()
}

/// A folder name for a variant: its name, or as much of it as fits and a hash.
fn folder_name(variant: &str) -> String {
    let name = plain_name(variant);
    if name == variant && name.len() <= NAME_LEN && !name.starts_with('.') && name != INTERRUPTED {
        return name;
    }
    let hash = HEXLOWER.encode(&Sha256::digest(variant));
    let short: String = name
        .trim_start_matches('.')
        .chars()
        .take(NAME_LEN)
        .collect();
    format!("{short}~{}", &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(details: &[&str]) -> Question {
        Question {
            kind: "try".into(),
            target: "kiosk".into(),
            target_sha256: "00".into(),
            mode: "sim".into(),
            seed: 1,
            details: details.iter().map(|d| (*d).to_owned()).collect(),
        }
    }

    #[test]
    fn an_unfinished_experiment_goes_on_and_a_finished_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let open = |new: &str, details: &[&str]| {
            let new = dir.path().join(new);
            Session::open(dir.path(), &new, &question(details), "1").unwrap()
        };
        let (mut first, resumed) = open("a", &["x"]);
        assert!(!resumed);
        let folder = first.folder("some recipe").unwrap();
        // Another program asks the same meanwhile: not the same folder.
        let (second, resumed) = open("b", &["x"]);
        assert!(!resumed);
        drop((first, second));
        let (mut again, resumed) = open("c", &["x"]);
        assert!(resumed && again.dir().ends_with("b"));
        again.finish().unwrap();
        let (other, resumed) = open("d", &["y"]);
        assert!(!resumed);
        drop(other);
        let (mut first, resumed) = open("e", &["x"]);
        assert!(resumed && first.dir().ends_with("a"));
        assert_eq!(first.folder("some recipe").unwrap(), folder);
        let names = variants(first.dir()).unwrap();
        assert_eq!(names.len(), 1);
        assert_eq!(names[0].name, "some recipe");
        again = Session::open(dir.path(), &dir.path().join("f"), &question(&["x"]), "1")
            .unwrap()
            .0;
        assert!(again.dir().ends_with("f"));
    }

    #[test]
    fn folder_names_are_plain_and_differ() {
        assert_eq!(
            folder_name("kernel-compression=none"),
            "kernel-compression=none"
        );
        let long = "a+".repeat(60);
        let names = [
            "a/b",
            "a_b",
            "..",
            ".",
            "",
            INTERRUPTED,
            &long,
            &format!("{long}x"),
        ];
        let folders: std::collections::BTreeSet<String> =
            names.iter().map(|n| folder_name(n)).collect();
        assert_eq!(folders.len(), names.len(), "{folders:?}");
        for folder in folders {
            assert!(!folder.contains('/') && !folder.starts_with('.') && folder.len() < 80);
        }
    }
}
