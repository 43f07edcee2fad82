//! Records a boot as a run, until ready, a timeout, or the machine's end.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use bootlap_sources::stamps::{Record, Writer};
use bootlap_sources::{Hints, ReadyWatch, Seen};
use sha2::{Digest, Sha256};

use crate::run::{CONSOLE, STAMPS, failed, hex, write_manifest};
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
    stamps: Option<Writer<BufWriter<File>>>,
    hash: Sha256,
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
        let console = dir.join(CONSOLE);
        let console = File::create(&console).map_err(|e| failed("write", &console, e))?;
        Ok(Self {
            run: Run {
                dir: dir.to_owned(),
                manifest,
            },
            started: Instant::now(),
            console: BufWriter::new(console),
            stamps: None,
            hash: Sha256::new(),
        })
    }

    fn begin(
        &mut self,
        machine: serde_json::Value,
        clock: bootlap_sources::stamps::StampClock,
    ) -> Result<(), RunError> {
        self.run.manifest.machine = machine;
        write_manifest(&self.run.dir, &self.run.manifest)?;
        let path = self.run.dir.join(STAMPS);
        let writer = File::create(&path)
            .and_then(|file| Writer::new(BufWriter::new(file), clock))
            .map_err(|e| failed("write", &path, e))?;
        self.stamps = Some(writer);
        Ok(())
    }

    fn record(&mut self, record: Record) -> Result<(), RunError> {
        if let Record::Byte { byte, .. } = record {
            self.hash.update([byte]);
            let written = self.console.write_all(&[byte]);
            written.map_err(|e| failed("write", &self.run.dir.join(CONSOLE), e))?;
        }
        match &mut self.stamps {
            Some(stamps) => stamps
                .record(record)
                .map_err(|e| failed("write", &self.run.dir.join(STAMPS), e)),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), RunError> {
        let stamps = self.stamps.as_mut().map_or(Ok(()), Writer::flush);
        stamps
            .and_then(|()| self.console.flush())
            .map_err(|e| failed("write", &self.run.dir, e))
    }

    /// Puts the evidence on disk, then says that the run is whole.
    fn finish(mut self, outcome: Outcome) -> Result<Run, RunError> {
        self.flush()?;
        let sync = |file: &File| file.sync_data();
        let stamps = match self.stamps.take() {
            Some(stamps) => stamps.into_inner().into_inner().map_err(io::Error::from),
            None => self.console.get_ref().try_clone(),
        };
        sync(self.console.get_ref())
            .and_then(|()| sync(&stamps?))
            .map_err(|e| failed("write", &self.run.dir, e))?;
        let manifest = &mut self.run.manifest;
        manifest.wall_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        manifest.outcome = Some(outcome);
        manifest.console_sha256 = hex(&self.hash.finalize());
        manifest.state = State::Finished;
        write_manifest(&self.run.dir, manifest)?;
        Ok(self.run)
    }
}
