//! Records a boot as a run, until ready, a timeout, or the machine's end.

use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use bootlap_sources::{Hints, ReadyWatch, Seen};
use bootlap_wire::stamps::{ChunkWriter, Event, HEADER_LEN, Record, StampClock, Writer, Zero};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::run::{BEFORE, CONSOLE, STAMPS, failed, write_manifest};
use crate::{LabError, Machine, MachineEvent, Manifest, Outcome, ReadyAt, Run, RunError, State};

/// A console that says more than this goes on for ever.
const CONSOLE_LIMIT: usize = 16 << 20;

/// Boots `machine` and records it in the new folder `dir`.
///
/// `manifest` says what is booted; state, machine, outcome, duration and hash
/// are filled in. Whatever happens, the machine is off afterwards.
///
/// # Errors
/// If the machine does not start, breaks or does not go off (the run is whole
/// then), or the run cannot be written. A
/// boot that never gets ready is an [`Outcome`], not an error.
pub fn boot(
    machine: &mut dyn Machine,
    dir: &Path,
    manifest: Manifest,
    hints: &Hints,
    timeout: Duration,
) -> Result<Run, LabError> {
    let mut recorder = Recorder::create(dir, manifest)?;
    let result = record(machine, &mut recorder, hints, timeout);
    machine.power_off();
    if let Some(facts) = machine.facts() {
        recorder.run.manifest.machine = facts;
    }
    let run = recorder.finish(result?)?;
    match machine.trouble() {
        Some(trouble) => Err(trouble),
        None => Ok(run),
    }
}

fn record(
    machine: &mut dyn Machine,
    recorder: &mut Recorder,
    hints: &Hints,
    timeout: Duration,
) -> Result<Outcome, LabError> {
    let info = machine.power_on()?;
    let deadline = Instant::now() + timeout;
    recorder.begin(info.facts, info.clock.clock)?;
    let mut watch = ReadyWatch::new(hints);
    if machine.answers() {
        watch = watch.that_is_answered();
    }
    let mut bytes = 0;
    loop {
        match machine.next(deadline)? {
            MachineEvent::Console(records) => {
                for record in records {
                    recorder.record(record)?;
                    let Record::Byte { at, byte } = record else {
                        continue;
                    };
                    bytes += 1;
                    if bytes > CONSOLE_LIMIT {
                        let why = "it printed 16 MiB without getting ready";
                        return Ok(Outcome::NeverReady(why.into()));
                    }
                    match watch.byte(byte) {
                        Seen::Nothing => {}
                        Seen::Ready => {
                            return Ok(Outcome::Ready(ReadyAt {
                                ns: at.ns,
                                instructions: at.insns,
                            }));
                        }
                        Seen::GaveUp(how) => return Ok(Outcome::NeverReady(how.into())),
                    }
                }
                recorder.flush()?;
            }
            MachineEvent::Stopped(why) => return Ok(Outcome::NeverReady(why)),
            MachineEvent::Deadline => {
                let seconds = timeout.as_secs();
                let why = format!("the pattern did not appear within {seconds} s");
                return Ok(Outcome::NeverReady(why));
            }
        }
    }
}

/// A run that is being written.
pub struct Recorder {
    run: Run,
    started: Instant,
    console: BufWriter<File>,
    stamps: Option<Stamps>,
    hash: Sha256,
    /// Bytes of the console so far.
    len: u64,
    /// The console was cut, so the hash has to be made anew.
    cut: bool,
}

/// The stamped console, in the version that fits its clock.
enum Stamps {
    Bytes(Writer<BufWriter<File>>),
    Chunks {
        writer: ChunkWriter<BufWriter<File>>,
        /// Bytes of the file so far.
        len: u64,
    },
}

/// A place in a run that is being written, to cut it back to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) console: u64,
    stamps: u64,
}

impl Recorder {
    /// Makes the folder, with a manifest that says `unfinished`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(dir: &Path, mut manifest: Manifest) -> Result<Self, RunError> {
        fs::create_dir_all(dir).map_err(|e| failed("create", dir, e))?;
        manifest.state = State::Unfinished;
        write_manifest(dir, &manifest)?;
        Ok(Self {
            console: create(&dir.join(CONSOLE))?,
            run: Run {
                dir: dir.to_owned(),
                manifest,
            },
            started: Instant::now(),
            stamps: None,
            hash: Sha256::new(),
            len: 0,
            cut: false,
        })
    }

    pub(crate) fn manifest_mut(&mut self) -> &mut Manifest {
        &mut self.run.manifest
    }

    fn begin(&mut self, machine: serde_json::Value, clock: StampClock) -> Result<(), RunError> {
        if clock == StampClock::Host {
            return self.begin_chunks(machine, Zero::PowerOn);
        }
        self.run.manifest.machine = machine;
        write_manifest(&self.run.dir, &self.run.manifest)?;
        let path = self.run.dir.join(STAMPS);
        let writer = Writer::new(create(&path)?, clock).map_err(|e| failed("write", &path, e))?;
        self.stamps = Some(Stamps::Bytes(writer));
        Ok(())
    }

    /// Begins the evidence of a console that the host stamps.
    pub(crate) fn begin_chunks(
        &mut self,
        machine: serde_json::Value,
        zero: Zero,
    ) -> Result<(), RunError> {
        self.run.manifest.machine = machine;
        write_manifest(&self.run.dir, &self.run.manifest)?;
        let path = self.run.dir.join(STAMPS);
        let mut writer = ChunkWriter::new(create(&path)?, StampClock::Host, zero)
            .map_err(|e| failed("write", &path, e))?;
        // There from the start, so that a killed recording is one.
        writer.flush().map_err(|e| failed("write", &path, e))?;
        let len = HEADER_LEN as u64;
        self.stamps = Some(Stamps::Chunks { writer, len });
        Ok(())
    }

    /// Whether the evidence has a zero yet.
    pub(crate) fn has_begun(&self) -> bool {
        self.stamps.is_some()
    }

    fn record(&mut self, record: Record) -> Result<(), RunError> {
        if let Record::Byte { byte, .. } = record {
            self.console(&[byte])?;
        }
        let written = match (&mut self.stamps, record) {
            (Some(Stamps::Bytes(writer)), record) => writer.record(record),
            (Some(Stamps::Chunks { writer, len }), Record::Byte { at, byte }) => {
                writer.bytes(at.ns, &[byte]).map(|n| *len += n)
            }
            (Some(Stamps::Chunks { writer, len }), Record::Event { at, event }) => {
                writer.event(at.ns, event, "").map(|n| *len += n)
            }
            (Some(Stamps::Chunks { .. }), Record::Mark { .. } | Record::Detail { .. })
            | (None, _) => Ok(()),
        };
        written.map_err(|e| failed("write", &self.run.dir.join(STAMPS), e))
    }

    /// Takes bytes that were read together at `ns` since zero.
    pub(crate) fn chunk(&mut self, ns: i64, bytes: &[u8]) -> Result<(), RunError> {
        self.console(bytes)?;
        let written = match &mut self.stamps {
            Some(Stamps::Chunks { writer, len }) => writer.bytes(ns, bytes).map(|n| *len += n),
            _ => Ok(()),
        };
        written.map_err(|e| failed("write", &self.run.dir.join(STAMPS), e))
    }

    /// Takes what happened to the recording at `ns` since zero.
    pub(crate) fn event(&mut self, ns: i64, event: Event, text: &str) -> Result<(), RunError> {
        let written = match &mut self.stamps {
            Some(Stamps::Chunks { writer, len }) => {
                writer.event(ns, event, text).map(|n| *len += n)
            }
            _ => Ok(()),
        };
        written.map_err(|e| failed("write", &self.run.dir.join(STAMPS), e))
    }

    fn console(&mut self, bytes: &[u8]) -> Result<(), RunError> {
        self.hash.update(bytes);
        self.len += bytes.len() as u64;
        let written = self.console.write_all(bytes);
        written.map_err(|e| failed("write", &self.run.dir.join(CONSOLE), e))
    }

    /// Keeps bytes that came before the boot began, beside its evidence.
    pub(crate) fn before(&mut self, bytes: &[u8]) -> Result<(), RunError> {
        let path = self.run.dir.join(BEFORE);
        let mut options = fs::OpenOptions::new();
        let file = options.append(true).create(true).open(&path);
        file.and_then(|mut file| file.write_all(bytes))
            .map_err(|e| failed("write", &path, e))
    }

    /// Where the next byte goes.
    pub(crate) fn position(&self) -> Position {
        Position {
            console: self.len,
            stamps: match &self.stamps {
                Some(Stamps::Chunks { len, .. }) => *len,
                _ => 0,
            },
        }
    }

    /// Takes back what was written after `to`: it is another boot's.
    pub(crate) fn cut_back(&mut self, to: Position) -> Result<(), RunError> {
        self.flush()?;
        let cut = |file: &File, len: u64| {
            use std::io::Seek;
            file.set_len(len)?;
            let mut file = file;
            file.seek(io::SeekFrom::Start(len)).map(|_| ())
        };
        let mut done = cut(self.console.get_ref(), to.console);
        if let Some(Stamps::Chunks { writer, len }) = &mut self.stamps {
            done = done.and_then(|()| cut(writer.get_ref().get_ref(), to.stamps));
            *len = to.stamps;
        }
        self.len = to.console;
        self.cut = true;
        done.map_err(|e| failed("write", &self.run.dir, e))
    }

    /// What was recorded so far came before the boot began: puts it aside and
    /// begins anew, in the same folder.
    pub(crate) fn set_aside(&mut self, zero: Zero) -> Result<(), RunError> {
        let dir = self.run.dir.clone();
        if self.len > 0 {
            self.flush()?;
            let (console, before) = (dir.join(CONSOLE), dir.join(BEFORE));
            let aside = match before.exists() {
                true => File::open(&console).and_then(|mut from| {
                    let mut to = fs::OpenOptions::new().append(true).open(&before)?;
                    io::copy(&mut from, &mut to).map(|_| ())
                }),
                false => fs::rename(&console, &before),
            };
            aside.map_err(|e| failed("write", &before, e))?;
        }
        self.console = create(&dir.join(CONSOLE))?;
        (self.hash, self.len, self.cut) = (Sha256::new(), 0, false);
        let machine = std::mem::take(&mut self.run.manifest.machine);
        self.begin_chunks(machine, zero)
    }

    /// Hands all to the host, so that it is there if this process is not.
    pub(crate) fn flush(&mut self) -> Result<(), RunError> {
        let console = self.console.flush();
        let stamps = match &mut self.stamps {
            Some(Stamps::Bytes(writer)) => writer.flush(),
            Some(Stamps::Chunks { writer, .. }) => writer.flush(),
            None => Ok(()),
        };
        // Both were tried, so a disk that is full holds what it can of each.
        console
            .and(stamps)
            .map_err(|e| failed("write", &self.run.dir, e))
    }

    /// Puts the evidence on disk, then says that the run is whole.
    pub(crate) fn finish(mut self, outcome: Outcome) -> Result<Run, RunError> {
        self.flush()?;
        let stamps = match &self.stamps {
            Some(Stamps::Bytes(writer)) => writer.get_ref().get_ref().sync_data(),
            Some(Stamps::Chunks { writer, .. }) => writer.get_ref().get_ref().sync_data(),
            None => Ok(()),
        };
        stamps
            .and_then(|()| self.console.get_ref().sync_data())
            .map_err(|e| failed("write", &self.run.dir, e))?;
        if self.cut {
            let path = self.run.dir.join(CONSOLE);
            self.hash = hash_of(&path).map_err(|e| failed("read", &path, e))?;
        }
        let manifest = &mut self.run.manifest;
        manifest.wall_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        manifest.outcome = Some(outcome);
        manifest.console_sha256 = HEXLOWER.encode(&self.hash.finalize());
        manifest.state = State::Finished;
        write_manifest(&self.run.dir, manifest)?;
        Ok(self.run)
    }

    /// The evidence cannot be written any more: writes down why, if that can
    /// still be done. The run stays unfinished, and valid.
    pub(crate) fn abandon(mut self) {
        let _ = self.flush();
        let _ = write_manifest(&self.run.dir, &self.run.manifest);
    }
}

/// What is kept back of a file: little, so that console and stamps grow in
/// step and a full disk finds both at about the same byte.
const KEPT_BACK: usize = 4096;

fn create(path: &Path) -> Result<BufWriter<File>, RunError> {
    let file = File::create(path).map_err(|e| failed("write", path, e))?;
    Ok(BufWriter::with_capacity(KEPT_BACK, file))
}

fn hash_of(path: &Path) -> io::Result<Sha256> {
    let mut file = io::BufReader::with_capacity(1 << 16, File::open(path)?);
    let mut hash = Sha256::new();
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(hash);
        }
        hash.update(bytes);
        let n = bytes.len();
        file.consume(n);
    }
}
