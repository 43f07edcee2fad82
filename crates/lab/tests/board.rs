//! Boards that are shell scripts: switched, heard, answered, and left alone.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bootlap_lab::{Board, LabError, Manifest, Mode, Outcome, Run, State, boot};
use bootlap_product::{Machine, Target};
use bootlap_sources::Hints;
use regex::bytes::Regex;

/// A board in `dir`, described by what follows `[machine]`.
fn board(dir: &Path, machine: &str, stop: &Arc<AtomicBool>) -> Board {
    let text = format!("format = 1\nname = 'b'\n[ready]\npattern = 'READY'\n[machine]\n{machine}");
    let target = Target::parse(dir.to_owned(), text, "board.toml").unwrap();
    match target.machine {
        Machine::Board(spec) => Board::new(spec, dir.to_owned(), stop.clone()),
        Machine::Qemu(_) => panic!("a board"),
    }
}

fn record(board: &mut Board, dir: &Path, seconds: u64) -> Result<Run, LabError> {
    let manifest = Manifest {
        ready_pattern: "READY".into(),
        ..Manifest::new("b", Mode::Board)
    };
    let hints = Hints {
        ready: Some(Regex::new("READY").unwrap()),
        ..Hints::default()
    };
    boot(board, dir, manifest, &hints, Duration::from_secs(seconds))
}

fn log(dir: &Path) -> String {
    fs::read_to_string(dir.join("log")).unwrap_or_default()
}

/// A console that prints what comes through a pipe, which `power-on` writes to.
const SWITCHED: &str = "kind = 'command'\nrun = 'echo old; exec cat < pipe'\nsettle-s = 0\n\
    power-off = 'echo off >> log'\n";

fn pipe(dir: &Path) {
    let made = std::process::Command::new("mkfifo")
        .arg(dir.join("pipe"))
        .status();
    assert!(made.unwrap().success());
}

#[test]
fn each_boot_is_off_then_on_and_the_last_one_ends_off() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    pipe(dir);
    let never = Arc::new(AtomicBool::new(false));
    let on = "power-on = 'echo on >> log; echo closed; echo boot READY > pipe'\n";
    let mut board = board(dir, &format!("{SWITCHED}{on}"), &never);
    for n in ["1", "2"] {
        let run = record(&mut board, &dir.join(n), 60).unwrap();
        let Some(Outcome::Ready(at)) = run.manifest.outcome else {
            panic!("{:?}", run.manifest);
        };
        assert!(at.ns > 0);
        let m = &run.manifest.machine;
        assert_eq!(m["kind"], "command");
        assert_eq!(m["power"]["output"], "closed");
        assert_eq!(m["power_off"]["command"], "echo off >> log");
    }
    board.finish().unwrap();
    assert_eq!(log(dir), "off\non\noff\non\noff\n");
}

#[test]
fn a_switch_that_fails_is_an_error_and_the_board_goes_off() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    pipe(dir);
    let never = Arc::new(AtomicBool::new(false));
    let on = "power-on = 'echo no such outlet; exit 3'\n";
    let mut board = board(dir, &format!("{SWITCHED}{on}"), &never);
    let said = record(&mut board, &dir.join("1"), 60).unwrap_err();
    let said = said.to_string();
    assert!(
        said.contains("failed (exit status: 3)") && said.contains("no such outlet"),
        "{said}"
    );
    board.finish().unwrap();
    assert_eq!(log(dir), "off\noff\n");
}

#[test]
fn a_board_that_does_not_go_off_is_an_error_and_its_run_is_whole() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let never = Arc::new(AtomicBool::new(false));
    let machine = "kind = 'command'\nrun = 'echo READY; exec sleep 100'\npower-off = 'exit 7'\n";
    let mut board = board(dir, machine, &never);
    let said = record(&mut board, &dir.join("1"), 60)
        .unwrap_err()
        .to_string();
    assert!(
        said.starts_with("power-off `exit 7` failed (exit status: 7)"),
        "{said}"
    );
    let run = Run::open(&dir.join("1")).unwrap();
    assert_eq!(run.manifest.state, State::Finished);
    assert!(run.ready().is_some());
    // It is told once, and not tried again.
    board.finish().unwrap();
}

#[test]
fn silence_and_the_end_of_the_console_end_a_boot() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let never = Arc::new(AtomicBool::new(false));
    for (run, want) in [
        (
            "echo hello; exec sleep 100",
            "the console said nothing for 1 s",
        ),
        ("echo hello; exit 4", "the command ended (exit status: 4)"),
    ] {
        let machine = format!("kind = 'command'\nrun = '{run}'\nquiet-s = 1\n");
        let mut board = board(dir, &machine, &never);
        let run = record(&mut board, &dir.join("run"), 60).unwrap();
        assert_eq!(run.manifest.outcome, Some(Outcome::NeverReady(want.into())));
        assert_eq!(run.console().unwrap().trim_ascii_end(), b"hello");
    }
}

#[test]
fn what_it_asks_is_answered() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let never = Arc::new(AtomicBool::new(false));
    // A prompt would be the end of a boot, were nobody to answer.
    let machine = r#"kind = "command"
run = 'printf "U-Boot 2024.01\n=> "; read a; printf "login: "; read b; echo "$a $b READY"'
send = [{ after = "login: $", text = "root\n" }, { after = "=> $", text = "boot\n" }]
"#;
    let mut board = board(dir, machine, &never);
    let run = record(&mut board, &dir.join("run"), 60).unwrap();
    assert!(run.ready().is_some(), "{:?}", run.manifest.outcome);
    let console = String::from_utf8(run.console().unwrap()).unwrap();
    assert!(console.ends_with("boot root READY"), "{console}");
    assert_eq!(run.manifest.machine["sent"][1]["text"], "boot\n");
}

#[test]
fn an_interrupted_boot_is_a_whole_run_and_the_board_goes_off() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let stop = Arc::new(AtomicBool::new(false));
    let machine = "kind = 'command'\nrun = 'echo hello; exec sleep 100'\n\
        power-off = 'echo off >> log'\n";
    let mut board = board(dir, machine, &stop);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // As soon as something has come.
            let console = dir.join("run/console");
            while fs::metadata(&console).map_or(0, |m| m.len()) == 0 {
                std::thread::sleep(Duration::from_millis(2));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let run = record(&mut board, &dir.join("run"), 60).unwrap();
        let want = Outcome::NeverReady("it was interrupted".into());
        assert_eq!(run.manifest.outcome, Some(want));
        assert_eq!(run.manifest.state, State::Finished);
    });
    assert_eq!(log(dir), "off\n");
}

#[test]
fn a_console_that_never_comes_is_an_error() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let never = Arc::new(AtomicBool::new(false));
    let machine = "kind = 'serial'\ndevice = 'unix:sock'\npower-cycle = 'true'\n";
    let mut board = board(dir, machine, &never);
    let said = record(&mut board, &dir.join("run"), 1).unwrap_err();
    assert!(
        said.to_string().contains("there is no such socket"),
        "{said}"
    );
}
