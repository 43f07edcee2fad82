//! Runs are whole or say that they are not, and replay as they were recorded.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bootlap_lab::{
    LabError, Machine, MachineEvent, MachineInfo, Manifest, Mode, Outcome, Replay, Run, State, boot,
};
use bootlap_model::Stamp;
use bootlap_sources::Hints;
use bootlap_wire::stamps::{Header, ProbeMark, Record, StampClock};
use regex::bytes::Regex;
use serde_json::json;

/// Says `text`, a byte every 10 ns of guest time, then breaks or stops.
struct Script {
    text: &'static [u8],
    breaks: bool,
    said: bool,
    off: bool,
}

impl Script {
    fn new(text: &'static [u8]) -> Self {
        Self {
            text,
            breaks: false,
            said: false,
            off: false,
        }
    }
}

impl Machine for Script {
    fn power_on(&mut self) -> Result<MachineInfo, LabError> {
        let clock = StampClock::Simulated;
        Ok(MachineInfo {
            clock: Header { clock },
            facts: json!({"kind": "script"}),
        })
    }

    fn next(&mut self, _: Instant) -> Result<MachineEvent, LabError> {
        if !self.said {
            self.said = true;
            let at = |i: usize| Stamp::counted(10 * i as i64, 5 * i as u64);
            let mark = Record::Mark {
                at: at(0),
                mark: ProbeMark::KernelEntry,
            };
            let bytes = self.text.iter().enumerate();
            let bytes = bytes.map(|(i, &byte)| Record::Byte { at: at(i), byte });
            return Ok(MachineEvent::Console(
                [mark].into_iter().chain(bytes).collect(),
            ));
        }
        if self.breaks {
            return Err(LabError::Machine("it broke".into()));
        }
        Ok(MachineEvent::Stopped("it said all".into()))
    }

    fn power_off(&mut self) {
        self.off = true;
    }
}

fn manifest() -> Manifest {
    Manifest {
        state: State::Finished,
        ready_pattern: "READY".into(),
        ..Manifest::new("script", Mode::Sim)
    }
}

fn hints() -> Hints {
    Hints {
        ready: Some(Regex::new("READY").unwrap()),
        ..Hints::default()
    }
}

fn scratch(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    dir
}

const LONG: Duration = Duration::from_secs(3600);

#[test]
fn a_run_ends_at_the_byte_that_completes_ready_and_replays_as_it_was() {
    let dir = scratch("run-ready");
    let mut machine = Script::new(b"hello\nAPP READY, and more\n");
    let run = boot(&mut machine, &dir.join("1"), manifest(), &hints(), LONG).unwrap();
    assert!(machine.off);
    assert_eq!(run.console().unwrap(), b"hello\nAPP READY");
    let ready = run.ready().unwrap();
    assert_eq!((ready.ns, ready.instructions), (140, Some(70)));
    let opened = Run::open(&run.dir).unwrap();
    assert_eq!(opened.manifest.state, State::Finished);
    assert_eq!(opened.manifest.machine["kind"], "script");

    let mut replay = Replay::new(opened);
    let again = boot(&mut replay, &dir.join("2"), manifest(), &hints(), LONG).unwrap();
    assert!(run.identical(&again).unwrap());
    assert_eq!(run.manifest.console_sha256, again.manifest.console_sha256);
    assert_eq!(run.ready(), again.ready());
}

#[test]
fn a_machine_that_stops_before_ready_is_an_outcome() {
    let dir = scratch("run-never");
    let mut machine = Script::new(b"hello\n");
    let run = boot(&mut machine, &dir, manifest(), &hints(), LONG).unwrap();
    let why = "it said all".to_owned();
    assert_eq!(run.manifest.outcome, Some(Outcome::NeverReady(why)));
    assert_eq!(run.manifest.state, State::Finished);
}

#[test]
fn a_machine_that_breaks_leaves_an_unfinished_run_with_what_was_seen() {
    let dir = scratch("run-broken");
    let mut machine = Script::new(b"hello\n");
    machine.breaks = true;
    let error = boot(&mut machine, &dir, manifest(), &hints(), LONG).unwrap_err();
    assert_eq!(error.to_string(), "it broke");
    assert!(machine.off);
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.manifest.state, State::Unfinished);
    assert_eq!(run.manifest.outcome, None);
    assert_eq!(run.console().unwrap(), b"hello\n");
}

#[test]
fn what_is_no_run_is_said() {
    let dir = scratch("run-damaged");
    fs::create_dir_all(&dir).unwrap();
    let error = |dir: &PathBuf| Run::open(dir).unwrap_err().to_string();
    assert!(error(&dir).contains("is not a run"));
    let manifest = dir.join("manifest.json");
    for (text, says) in [
        ("{\"format\": 1, \"sta", "the run is damaged"),
        ("{\"format\": 99}", "run format 99 is not known"),
        ("{\"format\": 1}", "missing field"),
        ("[]", "not known"),
    ] {
        fs::write(&manifest, text).unwrap();
        let said = error(&dir);
        assert!(said.contains(says), "{text}: {said}");
    }
}
