//! The `qemu` machine: simulated or modelled time (bit-identical boots), or plain time.
//!
//! Everything that QEMU reads and writes is anonymous: flash banks, kernel,
//! console, stamps and the probe itself are memory files that only this
//! process and its child see, the control channel is a socket pair. So nothing
//! is left behind however a boot ends.
//!
//! The exact conditions under which a boot is bit-identical: instruction
//! counting without sleeping (`-icount shift=N,align=off,sleep=off`), the
//! real-time clock on the virtual one, no randomness in the device tree, a
//! fixed seed, no network card, storage that completes synchronously.

mod argv;
mod disks;
mod idle;
mod inputs;
mod limit;
mod memory;
mod model;
mod places;

use std::env;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use bootlap_model::Stamp;
use bootlap_product::{Attached, Boot, Patch, Qemu as Spec};
use bootlap_wire::stamps::{HEADER_LEN, Header, ProbeMark, RECORD_LEN, Record, StampClock};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::qmp::Qmp;
use crate::{LabError, Machine, MachineEvent, MachineInfo};
use argv::Argv;
pub use argv::hangs_when_counted;
use disks::Disk;
pub use disks::in_host_time;
use idle::Idle;
pub use inputs::{HostFile, HostFiles, Inputs, changed};
pub use limit::Limit;
use memory::{MemoryFile, path_in_child};
pub use model::{Model, words as model_words};
pub use places::Places;

/// The probe, built from `probe/`.
const PROBE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe.so"));

/// What QEMU is left of the environment: where its libraries are and where it may write.
/// A boot must not depend on the rest.
const ENVIRONMENT: [&str; 3] = ["PATH", "LD_LIBRARY_PATH", "TMPDIR"];

/// What the probe looks for in its environment (`OPENED` in `probe/opened.c`).
const OPENED: &str = "BOOTLAP_OPENED";

/// What is said of a guest that restarted, and of one that switched itself off.
const RESET: &str = "the guest reset itself";
const OFF: &str = "the guest switched itself off";

/// How often the console is looked at.
const POLL: Duration = Duration::from_millis(2);

/// Which kind of time a boot runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Instruction-counted time: equal boots are bit-identical.
    Sim,
    /// The same at a board's speed, with what its serial line takes; see [`Model`].
    Modelled,
    /// QEMU's ordinary time, which follows the host: noisy.
    Plain,
    /// A real machine's time, stamped by the host: noisy.
    Board,
}

impl Mode {
    /// As it is typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Sim => "sim",
            Mode::Modelled => "modelled",
            Mode::Plain => "plain",
            Mode::Board => "board",
        }
    }
}

impl Mode {
    /// Whether equal boots are bit-identical.
    pub fn repeats(self) -> bool {
        matches!(self, Mode::Sim | Mode::Modelled)
    }
}

/// How to run QEMU for a target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QemuSettings {
    /// The machine as the target describes it.
    pub spec: Spec,
    /// Where the files are that its arguments name.
    pub places: Places,
    /// How the disk is attached that the target boots from, if there is one.
    pub attached: Option<Attached>,
    /// The kind of time.
    pub mode: Mode,
    /// The board whose time it is, in modelled time.
    pub model: Option<Model>,
    /// Seed of everything that QEMU draws by chance.
    pub seed: u64,
    /// Without the probe the host stamps the console: for measuring what the
    /// probe costs, and for a QEMU without plugins.
    pub probe: bool,
    /// Where the guest's time is counted: when the boot is given up; [`Limit::MOST`] if not
    /// earlier.
    #[serde(default)]
    pub limit: Option<Limit>,
}

impl QemuSettings {
    /// Whether reading a card takes time.
    fn cards_take_time(&self) -> bool {
        self.probe && self.model.is_some_and(|model| model.disk.is_some())
    }

    /// The files in the target's folder that the arguments name, the disk made of its
    /// root, and the one that it boots from: how [`Places`] call them, and where they are.
    pub fn files(&self) -> Vec<(String, PathBuf)> {
        let mut files: Vec<(String, PathBuf)> = self
            .spec
            .args
            .iter()
            .flat_map(|arg| arg.split([',', '=']))
            .filter(|word| word.starts_with("{dir}/") || *word == "{root}")
            .chain(self.attached.as_ref().map(|_| "{disk}"))
            .map(|name| (name.to_owned(), self.places.real(name)))
            .filter(|(_, path)| path.is_file())
            .collect();
        files.sort();
        files.dedup();
        files
    }

    /// Whether the guest hears of nothing but its own time: no network, no debugger, and
    /// no storage that the host is waited for.
    fn is_alone(&self) -> bool {
        let args = &self.spec.args;
        let outside = [
            "-net", "-netdev", "-nic", "-chardev", "-serial", "-s", "-gdb",
        ];
        let hears = args.iter().any(|arg| outside.contains(&arg.as_str()));
        self.mode.repeats() && self.probe && !hears && in_host_time(args).is_none()
    }
}

/// One boot in QEMU.
pub struct Qemu {
    settings: QemuSettings,
    boot: Boot,
    running: Option<Running>,
    /// Of a boot in modelled time, once it is over.
    facts: Option<serde_json::Value>,
    /// What QEMU read of this host, once the boot is over.
    looked: Option<Looked>,
    /// The disk that it boots from, once that was attached.
    disk: Option<Disk>,
}

/// Which files of this host a boot has read.
struct Looked {
    /// When it began.
    began: SystemTime,
    paths: Vec<PathBuf>,
}

struct Running {
    child: Child,
    qmp: Qmp,
    console: File,
    stamps: Option<File>,
    /// What the probe's model says of itself.
    model: Option<File>,
    /// The probe's list of the paths that QEMU looks for.
    opened: Option<File>,
    /// What else of this host is read: libraries, images of disks.
    paths: Vec<PathBuf>,
    began: SystemTime,
    /// What was known of the machine when it started.
    known: serde_json::Value,
    stderr: File,
    clock: StampClock,
    /// It is given up, and why.
    given_up: Option<String>,
    /// The guest has stopped, and why: QEMU says so once.
    stopped: Option<String>,
    /// Bytes of the stamps (or of the console) that were taken so far.
    taken: u64,
    started: Instant,
    /// Where nothing outside of the guest can wake it.
    idle: Option<Idle>,
}

impl Qemu {
    /// A machine that will boot `boot` once.
    pub fn new(settings: QemuSettings, boot: Boot) -> Self {
        Self {
            settings,
            boot,
            running: None,
            facts: None,
            looked: None,
            disk: None,
        }
    }

    /// Whether a guest that stopped so wanted that itself.
    pub fn ended_by_itself(why: &str) -> bool {
        matches!(why, RESET | OFF)
    }

    /// In what the disk that it booted from differs from its image, once the boot is over; `None`
    /// without such a disk, or where bootlap's probe does not read it.
    ///
    /// # Errors
    /// If the image cannot be read any more.
    pub fn left_on_disk(&self) -> io::Result<Option<Vec<Patch>>> {
        self.disk.as_ref().map(Disk::left).transpose()
    }

    /// How it is run.
    pub fn settings(&self) -> &QemuSettings {
        &self.settings
    }

    /// What it will boot.
    pub fn boot(&self) -> &Boot {
        &self.boot
    }

    /// What the boot depends on, with the pattern at which it ends; `None` if that is more
    /// than can be written down.
    pub fn inputs(&self, ready: &str) -> Option<Inputs> {
        Inputs::of(&self.settings, &self.boot, ready)
    }

    /// The files of this host that the boot has read; `None` if that is not known, or one
    /// of them changed meanwhile.
    pub fn host_files(&self) -> Option<HostFiles> {
        let looked = self.looked.as_ref()?;
        inputs::host_files(&looked.paths, looked.began, &self.settings.places)
    }

    fn start(&mut self) -> Result<MachineInfo, LabError> {
        let began = SystemTime::now();
        let program = &self.settings.spec.program;
        let failed = |e: io::Error| LabError::Machine(format!("cannot prepare {program}: {e}"));
        let memory = |name: &str| MemoryFile::new(name).map_err(failed);

        let console = memory("console")?;
        let stderr = memory("stderr")?;
        let mut argv = Argv::for_target(&self.settings).map_err(failed)?;
        let images = argv.boot(&self.settings, &self.boot).map_err(failed)?;
        argv.console(&console);
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let theirs = OwnedFd::from(theirs);
        argv.control(&theirs);

        let mut inherited: Vec<&OwnedFd> = images.iter().map(MemoryFile::fd).collect();
        inherited.extend([console.fd(), &theirs]);
        let mut command = Command::new(program);
        let kept = ENVIRONMENT
            .iter()
            .filter_map(|name| Some((name, env::var_os(name)?)));
        command.env_clear().envs(kept);
        let probe = if self.settings.probe {
            let probe = memory("bootlap-probe.so")?;
            probe.write_at(0, PROBE).map_err(failed)?;
            let stamps = memory("stamps")?;
            let facts = memory("model facts")?;
            argv.probe(
                &self.settings,
                [&probe, &console, &stamps, &facts],
                &self.boot,
            );
            let opened = memory("opened")?;
            command.env("LD_PRELOAD", path_in_child(probe.fd()));
            command.env(OPENED, opened.fd().as_raw_fd().to_string());
            Some((probe, stamps, facts, opened))
        } else {
            None
        };
        if let Some((probe, stamps, facts, opened)) = &probe {
            inherited.extend([probe.fd(), stamps.fd(), facts.fd(), opened.fd()]);
        }
        argv.disks_act_at_once();
        let disks = argv.disks();
        if !disks.is_empty() {
            command.env(disks::VARIABLE, disks::told(disks));
            inherited.extend(disks.iter().flat_map(Disk::fds));
        }
        command
            .args(argv.args())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr.file().try_clone().map_err(failed)?);

        let child = crate::child::spawn(&mut command, &inherited).map_err(|e| self.no_start(&e))?;
        drop(inherited);
        drop(theirs);
        let mut child = Guard(Some(child));
        let said = |e: io::Error| {
            let what = match e.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    "runs, but does not answer: is it a QEMU, and is this host very busy".to_owned()
                }
                _ => format!("stopped before it booted anything ({e})"),
            };
            let complaint = complaint(stderr.file());
            LabError::Machine(format!("{program} {what}; it said {complaint}"))
        };
        let (mut qmp, version) = Qmp::start(ours).map_err(said)?;
        let clock = match (&probe, self.settings.mode) {
            (None, _) => StampClock::Host,
            (Some(_), Mode::Sim) => StampClock::Simulated,
            (Some(_), Mode::Modelled) => StampClock::Modelled,
            (Some(_), Mode::Plain | Mode::Board) => StampClock::Virtual,
        };
        let known = json!({
            "kind": "qemu",
            "version": version,
            "program": program,
            "argv": argv.args(),
            "files": argv.legend(),
            "probe": self.settings.probe,
        });
        qmp.execute("cont").map_err(said)?;
        let (stamps, model, opened) = match probe {
            Some((_, stamps, facts, opened)) => (
                Some(stamps.into_file()),
                Some(facts.into_file()),
                Some(opened.into_file()),
            ),
            None => (None, None, None),
        };
        let images = argv.disks().iter().filter_map(Disk::image);
        let mut paths: Vec<PathBuf> = images.map(Path::to_owned).collect();
        // Without them it is not known what the boot depends on.
        let libraries = inputs::libraries(child.0.as_ref().map_or(0, Child::id));
        let opened = opened.filter(|_| libraries.is_ok());
        paths.extend(libraries.into_iter().flatten());
        self.disk = argv.into_disk();
        self.running = Some(Running {
            child: child.0.take().expect("taken once"),
            qmp,
            taken: if stamps.is_some() {
                HEADER_LEN as u64
            } else {
                0
            },
            known: known.clone(),
            stamps,
            model,
            opened,
            paths,
            began,
            console: console.into_file(),
            stderr: stderr.into_file(),
            clock,
            given_up: None,
            stopped: None,
            started: Instant::now(),
            idle: self.settings.is_alone().then(Idle::new),
        });
        Ok(MachineInfo {
            clock: Header { clock },
            facts: known,
        })
    }

    fn no_start(&self, e: &io::Error) -> LabError {
        let program = &self.settings.spec.program;
        if e.kind() != io::ErrorKind::NotFound {
            return LabError::Machine(format!("cannot run {program}: {e}"));
        }
        let arch = program.rsplit("qemu-system-").next().unwrap_or_default();
        let package = match arch {
            "aarch64" | "arm" => "qemu-system-arm",
            "x86_64" | "i386" => "qemu-system-x86",
            a if a.starts_with("mips") => "qemu-system-mips",
            a if a.starts_with("ppc") => "qemu-system-ppc",
            _ => "qemu-system-misc",
        };
        LabError::Machine(format!(
            "{program} is not installed: run `apt-get install {package}`, or name another QEMU \
             in machine.program of the target"
        ))
    }
}

impl Machine for Qemu {
    fn power_on(&mut self) -> Result<MachineInfo, LabError> {
        self.start()
    }

    fn next(&mut self, deadline: Instant) -> Result<MachineEvent, LabError> {
        let Some(running) = &mut self.running else {
            return Ok(MachineEvent::Stopped("it is switched off".into()));
        };
        loop {
            if let Some(why) = running.given_up.take() {
                return Ok(MachineEvent::Stopped(why));
            }
            // Asked before reading: what it wrote before it ended is read below.
            let ended = running.ended()?;
            let mut records = running
                .records()
                .map_err(|e| LabError::Machine(format!("cannot read the console: {e}")))?;
            if let Some(at) = records.iter().position(is_limit) {
                records.truncate(at);
                let limit = self.settings.limit.unwrap_or(Limit::MOST);
                running.given_up = Some(limit.given_up());
                if records.is_empty() {
                    continue;
                }
            }
            if !records.is_empty() {
                return Ok(MachineEvent::Console(records));
            }
            if let Some(why) = ended {
                return Ok(MachineEvent::Stopped(why));
            }
            let pid = running.child.id();
            if running.idle.as_mut().is_some_and(|idle| idle.for_good(pid)) {
                let why = "the guest sleeps, and no timer is left to wake it";
                return Ok(MachineEvent::Stopped(why.into()));
            }
            if Instant::now() >= deadline {
                return Ok(MachineEvent::Deadline);
            }
            std::thread::sleep(POLL);
        }
    }

    fn power_off(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = running.child.kill();
            let _ = running.child.wait();
            self.facts = running.facts();
            self.looked = running.looked();
        }
    }

    fn facts(&self) -> Option<serde_json::Value> {
        self.facts.clone()
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        self.power_off();
    }
}

impl Running {
    /// What is known of the machine, with what its model said.
    fn facts(&self) -> Option<serde_json::Value> {
        let said = self.model.as_ref()?;
        let len = said.metadata().ok()?.len();
        let said = read_at(said, 0, len).ok()?;
        let said = String::from_utf8_lossy(&said);
        let mut known = self.known.clone();
        known["model"] = model::facts(&said);
        Some(known).filter(|_| !said.is_empty())
    }

    /// Which files of this host it has read, if that is known.
    fn looked(&self) -> Option<Looked> {
        let list = self.opened.as_ref()?;
        let list = read_at(list, 0, list.metadata().ok()?.len()).ok()?;
        // QEMU looks for something in any case: an empty list was given up.
        if list.is_empty() {
            return None;
        }
        let mut paths = inputs::opened(&list);
        paths.extend(self.paths.iter().cloned());
        Some(Looked {
            began: self.began,
            paths,
        })
    }

    /// Why the guest has stopped, if it has.
    fn ended(&mut self) -> Result<Option<String>, LabError> {
        let gone = self.child.try_wait().ok().flatten();
        // What QEMU said before it ended says whether the guest wanted that.
        if let Some(why) = self.guest_stopped() {
            return Ok(Some(why));
        }
        match gone {
            Some(status) => Err(LabError::Machine(format!(
                "QEMU ended by itself ({status}); it said {}",
                complaint(&self.stderr)
            ))),
            None => Ok(None),
        }
    }

    fn guest_stopped(&mut self) -> Option<String> {
        while self.stopped.is_none()
            && let Some(event) = self.qmp.event()
        {
            let reason = event["data"]["reason"].as_str().unwrap_or_default();
            let why = match event["event"].as_str() {
                Some("SHUTDOWN") if reason == "guest-reset" => RESET,
                Some("SHUTDOWN") => OFF,
                Some("GUEST_PANICKED") => "the guest panicked",
                _ => continue,
            };
            self.stopped = Some(why.to_owned());
        }
        self.stopped.clone()
    }

    /// What the console said since the last look.
    fn records(&mut self) -> io::Result<Vec<Record>> {
        match &self.stamps {
            Some(stamps) => {
                let len = stamps.metadata()?.len().saturating_sub(self.taken);
                let whole = len - len % RECORD_LEN as u64;
                let bytes = read_at(stamps, self.taken, whole)?;
                self.taken += whole;
                Ok(decode(&bytes, self.clock))
            }
            None => {
                let at = i64::try_from(self.started.elapsed().as_nanos()).unwrap_or(i64::MAX);
                let at = Stamp::new(at, POLL.as_nanos() as u32);
                let len = self.console.metadata()?.len().saturating_sub(self.taken);
                let bytes = read_at(&self.console, self.taken, len)?;
                self.taken += len;
                let byte = |byte| Record::Byte { at, byte };
                Ok(bytes.into_iter().map(byte).collect())
            }
        }
    }
}

/// Whether the boot is given up here.
fn is_limit(record: &Record) -> bool {
    matches!(
        record,
        Record::Mark {
            mark: ProbeMark::Limit,
            ..
        }
    )
}

fn decode(bytes: &[u8], clock: StampClock) -> Vec<Record> {
    let (records, _) = bytes.as_chunks::<RECORD_LEN>();
    records.iter().map(|r| Record::decode(r, clock)).collect()
}

fn read_at(file: &File, at: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(len).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}

/// What QEMU complained of first; what follows is advice on its options.
fn complaint(stderr: &File) -> String {
    let len = stderr.metadata().map_or(0, |m| m.len()).min(1 << 16);
    let text = read_at(stderr, 0, len).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|l| !l.is_empty() && !l.contains("warning:"));
    line.map_or("nothing".to_owned(), |line| format!("`{line}`"))
}

/// Kills the child unless it was taken out.
struct Guard(Option<Child>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
