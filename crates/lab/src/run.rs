//! A run: one boot, recorded as a folder.
//!
//! ```text
//! manifest.json     what was booted, how, and what came of it
//! console           the console's bytes up to ready
//! console.stamps    the same bytes, each with its time (and probe marks)
//! before            captures: what the console said before this boot began
//! ```
//!
//! `manifest.json` is written before the machine is switched on, saying
//! `unfinished`, and replaced in one step when the evidence is on disk. So a
//! crash leaves a run that says that it is unfinished, never one that lies.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use bootlap_product::whole_file::replace;
use bootlap_product::{BoardModel, Edit, PartHash};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Host, Mode};

/// The version of the run folder's format.
pub const FORMAT: u32 = 1;
/// The manifest's file name.
const MANIFEST: &str = "manifest.json";
/// The raw console's file name.
pub(crate) const CONSOLE: &str = "console";
/// The file name of what came before the boot began.
pub(crate) const BEFORE: &str = "before";
/// The stamped console's file name.
pub(crate) const STAMPS: &str = "console.stamps";

/// Why a run cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {source}{}", hint(.action, .source))]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// The folder is not a run.
    #[error("{0} is not a run: it has no manifest.json")]
    NotARun(String),
    /// Evidence is not what was recorded.
    #[error("{0} is not what was recorded (its hash differs from the manifest's): boot again")]
    Damaged(String),
    /// The manifest is damaged or of another version.
    #[error("{path}: {why}")]
    Manifest {
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
}

fn hint(action: &str, e: &io::Error) -> &'static str {
    match e.kind() {
        io::ErrorKind::StorageFull => "; free some space, or name another folder with --runs",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem if action != "read" => {
            "; name a folder that you may write to with --runs"
        }
        _ => "",
    }
}

/// What is written about a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of bootlap that recorded it.
    pub bootlap: String,
    /// Whether the recording came to its end.
    pub state: State,
    /// The target's name.
    pub target: String,
    /// The target's folder, as it was typed.
    pub target_path: String,
    /// SHA-256 of the target's description, as booted.
    pub target_sha256: String,
    /// The pattern that means ready.
    pub ready_pattern: String,
    /// The pattern of the application's start.
    pub application_pattern: Option<String>,
    /// More named moments: `(name, pattern)`.
    pub marks: Vec<(String, String)>,
    /// What the recipes changed.
    pub edits: Vec<Edit>,
    /// More words on the kernel's command line.
    pub append: String,
    /// What it was made of.
    pub parts: Vec<PartHash>,
    /// The kind of time.
    pub mode: Mode,
    /// Random seed.
    pub seed: u64,
    /// The perturbation: 0 is the target as described.
    #[serde(rename = "layout")]
    pub perturbation: u32,
    /// What the machine says of itself: exact arguments, version.
    pub machine: serde_json::Value,
    /// The computer it ran on.
    pub host: Host,
    /// When it was recorded, RFC 3339.
    pub started: String,
    /// How long that took on the host, in ms.
    pub wall_ms: u64,
    /// What came of it; `None` while unfinished.
    pub outcome: Option<Outcome>,
    /// SHA-256 of `console`, in hex.
    pub console_sha256: String,
    /// How fast the real board is that the target stands for, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<BoardModel>,
    /// How a console was captured; `None` for machines of the lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Captured>,
    /// What went wrong with the recording, as it happened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// Of a boot that was taken from the store: when and where it was made, each time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

impl Manifest {
    /// Of a boot that has not begun: what nobody has said yet is empty.
    pub fn new(target: &str, mode: Mode) -> Self {
        Self {
            format: FORMAT,
            bootlap: env!("CARGO_PKG_VERSION").to_owned(),
            state: State::Unfinished,
            target: target.to_owned(),
            target_path: String::new(),
            target_sha256: String::new(),
            ready_pattern: String::new(),
            application_pattern: None,
            marks: Vec::new(),
            edits: Vec::new(),
            append: String::new(),
            parts: Vec::new(),
            mode,
            seed: 0,
            perturbation: 0,
            machine: serde_json::Value::Null,
            host: Host::here(),
            started: crate::clock::now().to_string(),
            wall_ms: 0,
            outcome: None,
            console_sha256: String::new(),
            board: None,
            capture: None,
            faults: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// The same of a boot that begins now, on this computer.
    #[must_use]
    pub fn begun_here(&self) -> Self {
        Self {
            host: Host::here(),
            started: crate::clock::now().to_string(),
            ..self.clone()
        }
    }

    /// The manifest among a run's files.
    ///
    /// # Errors
    /// If there is none, or it cannot be understood.
    pub fn of_files(files: &[(String, Vec<u8>)]) -> Result<Self, String> {
        let found = files.iter().find(|(name, _)| name == MANIFEST);
        let (_, text) = found.ok_or_else(|| format!("{MANIFEST} is missing"))?;
        serde_json::from_slice(text).map_err(|e| format!("{MANIFEST}: {e}"))
    }

    /// When it was recorded, ns since 1970.
    pub fn started_ns(&self) -> Option<i64> {
        let started: jiff::Timestamp = self.started.parse().ok()?;
        i64::try_from(started.as_nanosecond()).ok()
    }
}

/// How a console was captured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The port, as it can be typed again.
    pub port: String,
    /// Bits per second, of a serial line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baud: Option<u32>,
    /// What zero is: `power-on`, `pattern` or `first-byte`.
    #[serde(default)]
    pub zero: String,
    /// Zero on the host's wall clock, RFC 3339 with ns.
    #[serde(default)]
    pub zero_wall: String,
    /// Zero on the host's monotonic clock, ns.
    #[serde(default)]
    pub zero_monotonic_ns: i64,
    /// The pattern of the line that is zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The pattern that ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The command that switched the board on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cmd: Option<String>,
    /// How long that command ran, ns: the board got its power somewhere in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cmd_ns: Option<i64>,
    /// Which of the boots of its session it is, from 1.
    #[serde(default)]
    pub boot: u32,
    /// The moments as they were met: name, ns since zero.
    #[serde(default)]
    pub splits: Vec<Split>,
}

/// When a named pattern was met, as the recorder saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// The mark's name; `ready` and `until` are the end's.
    pub name: String,
    /// ns since zero.
    pub ns: i64,
}

/// Something that went wrong with a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// When, ns since zero.
    pub ns: i64,
    /// `gone`, `returned`, `wrong-rate`, `lost`, `restarted`, `power`, `disk`.
    pub kind: String,
    /// In words.
    pub text: String,
}

/// Whether a recording came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is being recorded, or the recorder died.
    Unfinished,
    /// The evidence is whole.
    Finished,
}

/// What came of a boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The ready pattern appeared.
    Ready(ReadyAt),
    /// It did not, and why the recording ended.
    NeverReady(String),
    /// Nothing was to appear; why the recording ended.
    Recorded(String),
}

/// The moment of ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyAt {
    /// Nanoseconds since power-on, on the clock of the stamps.
    pub ns: i64,
    /// Instructions executed until then, if they were counted.
    pub instructions: Option<u64>,
}

/// A recorded run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its folder.
    pub dir: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
}

impl Run {
    /// Whether `dir` looks like a run.
    pub fn is_run(dir: &Path) -> bool {
        dir.join(MANIFEST).is_file()
    }

    /// Opens a run, whole or unfinished.
    ///
    /// # Errors
    /// If the folder is no run or its manifest cannot be understood.
    pub fn open(dir: &Path) -> Result<Self, RunError> {
        let path = dir.join(MANIFEST);
        if !path.is_file() {
            return Err(RunError::NotARun(dir.display().to_string()));
        }
        let text = fs::read(&path).map_err(|e| failed("read", &path, e))?;
        let broken = |why: String| RunError::Manifest {
            path: path.display().to_string(),
            why,
        };
        let value: serde_json::Value = serde_json::from_slice(&text)
            .map_err(|e| broken(format!("not JSON ({e}): the run is damaged")))?;
        if value["format"] != FORMAT {
            return Err(broken(format!(
                "run format {} is not known to this bootlap, which reads format {FORMAT}",
                value["format"]
            )));
        }
        let manifest = serde_json::from_value(value)
            .map_err(|e| broken(format!("{e}: the run is damaged")))?;
        Ok(Self {
            dir: dir.to_owned(),
            manifest,
        })
    }

    /// The stamped console.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn stamps(&self) -> Result<BufReader<File>, RunError> {
        let path = self.dir.join(STAMPS);
        let file = File::open(&path).map_err(|e| failed("read", &path, e))?;
        Ok(BufReader::new(file))
    }

    /// The console's bytes.
    ///
    /// # Errors
    /// If they cannot be read, or are not those that were recorded.
    pub fn console(&self) -> Result<Vec<u8>, RunError> {
        let path = self.dir.join(CONSOLE);
        let bytes = fs::read(&path).map_err(|e| failed("read", &path, e))?;
        let whole = self.manifest.state == State::Finished;
        if whole && HEXLOWER.encode(&Sha256::digest(&bytes)) != self.manifest.console_sha256 {
            return Err(RunError::Damaged(path.display().to_string()));
        }
        Ok(bytes)
    }

    /// All files of a whole run: name and content.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, RunError> {
        let files = [MANIFEST, STAMPS, CONSOLE].map(|name| {
            let path = self.dir.join(name);
            let bytes = fs::read(&path).map_err(|e| failed("read", &path, e))?;
            Ok((name.to_owned(), bytes))
        });
        files.into_iter().collect()
    }

    /// Writes a run whose evidence is there already, in the new folder `dir`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn place(
        dir: &Path,
        mut manifest: Manifest,
        files: &[(String, Vec<u8>)],
    ) -> Result<Self, RunError> {
        fs::create_dir_all(dir).map_err(|e| failed("create", dir, e))?;
        let state = std::mem::replace(&mut manifest.state, State::Unfinished);
        write_manifest(dir, &manifest)?;
        for (name, bytes) in files.iter().filter(|(name, _)| name != MANIFEST) {
            let path = dir.join(name);
            fs::write(&path, bytes).map_err(|e| failed("write", &path, e))?;
        }
        manifest.state = state;
        write_manifest(dir, &manifest)?;
        Ok(Self {
            dir: dir.to_owned(),
            manifest,
        })
    }

    /// When it was ready, if it ever was.
    pub fn ready(&self) -> Option<ReadyAt> {
        match self.manifest.outcome {
            Some(Outcome::Ready(at)) => Some(at),
            _ => None,
        }
    }

    /// Says that the boot did not come to what it should after all: it printed
    /// what ready means, but was not.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn was_not_ready(&mut self, why: String) -> Result<(), RunError> {
        self.manifest.outcome = Some(Outcome::NeverReady(why));
        write_manifest(&self.dir, &self.manifest)
    }

    /// Whether two boots were the same, bit by bit: console, times, marks.
    ///
    /// # Errors
    /// If the evidence cannot be read.
    pub fn identical(&self, other: &Run) -> Result<bool, RunError> {
        let read = |run: &Run| {
            let path = run.dir.join(STAMPS);
            fs::read(&path).map_err(|e| failed("read", &path, e))
        };
        Ok(read(self)? == read(other)?)
    }
}

/// Writes `manifest` in one step.
pub(crate) fn write_manifest(dir: &Path, manifest: &Manifest) -> Result<(), RunError> {
    write_json(&dir.join(MANIFEST), manifest)
}

/// Writes a document for people and programs in one step: whole or not at all.
pub(crate) fn write_json(path: &Path, document: &impl Serialize) -> Result<(), RunError> {
    let mut text = serde_json::to_vec_pretty(document).map_err(|e| RunError::Manifest {
        path: path.display().to_string(),
        why: e.to_string(),
    })?;
    text.push(b'\n');
    let written = replace(path, |file| file.write_all(&text));
    written.map_err(|e| failed("write", path, e))
}

pub(crate) fn failed(action: &'static str, path: &Path, source: io::Error) -> RunError {
    RunError::Io {
        action,
        path: path.display().to_string(),
        source,
    }
}
