//! `bootlap capture` as people use it: pseudo terminals play boards, sockets
//! play terminal servers, and whatever goes wrong, what came is in the run.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::support::board::{Board, wait_for};
use crate::support::{SmallDisk, failure, json, root, scratch};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const SPL: &str = "U-Boot SPL 2023.01 (x)\r\n";
const LINUX: &str =
    "[    0.000000] Linux version 6.1.0\r\n[    0.500000] Run /init as init process\r\n";

/// The command under test; notes are wanted here.
fn capture(dir: &Path, device: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bootlap"));
    command
        .current_dir(dir)
        .env_remove("COLUMNS")
        .env("LC_ALL", "C.UTF-8")
        .args(["capture", "--out", "run"])
        .arg(device)
        .stdin(Stdio::null());
    command
}

/// Starts it, and waits until it listens.
fn start(command: &mut Command, dir: &Path) -> Child {
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = piped.spawn().unwrap();
    let run = dir.join("run");
    wait_for("the run", || {
        ["manifest.json", "1/manifest.json"]
            .iter()
            .any(|m| run.join(m).exists())
    });
    child
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn ok(child: Child) -> Output {
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{:?}: {}",
        output.status,
        said(&output)
    );
    output
}

fn manifest(run: &Path) -> Value {
    serde_json::from_slice(&fs::read(run.join("manifest.json")).unwrap()).unwrap()
}

/// What `show` makes of a run: it works on whatever state it is in.
fn show(run: &Path) -> Value {
    let mut show = Command::new(env!("CARGO_BIN_EXE_bootlap"));
    json(show.args(["--quiet", "show", "--json"]).arg(run))
}

fn notices(run: &Path) -> Vec<String> {
    let mut inspect = Command::new(env!("CARGO_BIN_EXE_bootlap"));
    let list = json(inspect.args(["--quiet", "inspect", "--json"]).arg(run));
    let notices = list[0]["notices"].as_array().unwrap();
    let code = |n: &Value| n["code"].as_str().unwrap().to_owned();
    notices.iter().map(code).collect()
}

fn console_has(run: &Path, text: &str) -> bool {
    let console = fs::read(run.join("console")).unwrap_or_default();
    console.windows(text.len()).any(|w| w == text.as_bytes())
}

fn tell(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn a_boot_is_recorded_with_its_splits_and_answered() {
    let dir = scratch("capture-boot");
    let mut board = Board::new();
    let mut command = capture(&dir, &board.name);
    command.args(["--until", "READY", "--mark", "kernel=Linux version"]);
    command.args(["--send", "login: $=root\\r"]);
    let child = start(&mut command, &dir);
    let boot = format!("{SPL}Starting kernel ...\r\n{LINUX}kiosk login: ");
    board.say(&boot);
    board.hears(b"root\r");
    board.say("READY\r\n");
    let output = ok(child);
    let run = dir.join("run");
    let console = fs::read_to_string(run.join("console")).unwrap();
    assert!((boot + "READY\r\n").starts_with(&console), "{console}");
    assert!(console.contains("READY"));
    let manifest = manifest(&run);
    assert_eq!(manifest["state"], "finished");
    assert_eq!(manifest["capture"]["zero"], "first-byte");
    let names: Vec<&str> = manifest["capture"]["splits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["kernel", "ready"]);
    let shown = show(&run);
    assert_eq!(shown["ready_ns"], manifest["outcome"]["ready"]["ns"]);
    let marks = shown["marks"].to_string();
    assert!(
        marks.contains("sent: root\\\\r") && marks.contains("kernel"),
        "{marks}"
    );
    // Standard output is a pipe here: plain lines.
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.contains("│ Starting kernel ..."), "{text}");
    assert!(!text.contains('\x1b') && said(&output).contains("ready after"));
}

#[test]
fn bytes_are_kept_as_they_came() {
    let dir = scratch("capture-bytes");
    let mut board = Board::new();
    let mut command = capture(&dir, &board.name);
    let child = start(command.args(["--until", "THE END"]), &dir);
    let mut all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    all.extend(b"\nTHE END");
    board.say(&all);
    ok(child);
    assert!(fs::read(dir.join("run/console")).unwrap() == all);
}

#[test]
fn each_boot_of_a_board_that_boots_again_is_a_run() {
    let dir = scratch("capture-again");
    let mut board = Board::new();
    let mut command = capture(&dir, &board.name);
    command.args(["-n", "3", "--from", "^U-Boot SPL", "--ready", "login:"]);
    let child = start(&mut command, &dir);
    let boot = |n: u32| format!("{SPL}boot {n}\r\n{LINUX}kiosk login: ");
    // Each in one piece, and the end of an earlier boot first.
    board.say(format!("old words\r\nmore{}", "\r\n"));
    for n in 1..=3 {
        board.say(boot(n));
        if n < 3 {
            let run = dir.join(format!("run/{}", n + 1));
            wait_for("the next run", || run.join("manifest.json").exists());
            board.say("\r\n# reboot\r\n");
        }
    }
    ok(child);
    for n in 1..=3 {
        let run = dir.join(format!("run/{n}"));
        let console = fs::read_to_string(run.join("console")).unwrap();
        assert_eq!(console, boot(n));
        let manifest = manifest(&run);
        assert_eq!(manifest["capture"]["zero"], "pattern");
        assert_eq!(manifest["capture"]["boot"], n);
        assert!(show(&run)["ready_ns"].is_i64());
        let before = fs::read_to_string(run.join("before")).unwrap();
        let words = if n == 1 {
            "old words\r\nmore\r\n"
        } else {
            "\r\n# reboot\r\n"
        };
        assert_eq!(before, words);
    }
}

#[test]
fn a_reset_in_the_middle_is_said_or_begins_another_run() {
    let dir = scratch("capture-reset");
    let mut board = Board::new();
    let mut command = capture(&dir, &board.name);
    let child = start(command.args(["--until", "READY"]), &dir);
    board.say(format!("{SPL}{LINUX}hanging\r\n{SPL}{LINUX}READY\r\n"));
    let output = ok(child);
    assert!(said(&output).contains("boots again"), "{}", said(&output));
    assert!(notices(&dir.join("run")).contains(&"another-boot".to_owned()));

    let dir = scratch("capture-reset-two");
    let mut board = Board::new();
    let mut command = capture(&dir, &board.name);
    let child = start(command.args(["-n", "2", "--until", "READY"]), &dir);
    board.say(format!("{SPL}{LINUX}hanging\r\n{SPL}{LINUX}READY\r\n"));
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(6),
        "the first one never got ready"
    );
    let console = |n: u32| fs::read_to_string(dir.join(format!("run/{n}/console"))).unwrap();
    assert_eq!(console(1), format!("{SPL}{LINUX}hanging\r\n"));
    assert!(console(2).starts_with(&format!("{SPL}{LINUX}READY")));
}

#[test]
fn an_adapter_that_is_pulled_and_put_back_loses_nothing_that_came() {
    let dir = scratch("capture-pulled");
    let device = dir.join("adapter");
    let mut board = Board::known_as(&device);
    let mut command = capture(&dir, &device);
    let child = start(command.args(["--until", "READY"]), &dir);
    let run = dir.join("run");
    board.say(format!("{SPL}before it"));
    wait_for("the first words", || console_has(&run, "before it"));
    fs::remove_file(&device).unwrap();
    drop(board);
    // Recorded as soon as it is seen, long before the end.
    wait_for("the fault", || {
        let stamps = fs::read(run.join("console.stamps")).unwrap();
        stamps.windows(9).any(|w| w == b"unplugged")
    });
    let mut board = Board::known_as(&device);
    board.say(format!("behind it\r\n{LINUX}READY"));
    let output = ok(child);
    assert!(console_has(&run, "before itbehind it"));
    let faults = manifest(&run)["faults"].to_string();
    assert!(
        faults.contains("\"gone\"") && faults.contains("\"returned\""),
        "{faults}"
    );
    assert!(notices(&run).contains(&"console-gone".to_owned()));
    let marks = show(&run)["marks"].to_string();
    assert!(
        marks.contains("console gone") && marks.contains("console back"),
        "{marks}"
    );
    assert!(
        said(&output).contains("the console is gone"),
        "{}",
        said(&output)
    );
}

#[test]
fn an_adapter_that_stays_away_ends_the_recording() {
    let dir = scratch("capture-away");
    let device = dir.join("adapter");
    let mut board = Board::known_as(&device);
    let mut command = capture(&dir, &device);
    let child = start(command.args(["--gone", "0.2"]), &dir);
    board.say(SPL);
    wait_for("the words", || console_has(&dir.join("run"), SPL));
    fs::remove_file(&device).unwrap();
    drop(board);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(
        said(&output).contains("did not come back"),
        "{}",
        said(&output)
    );
    show(&dir.join("run"));
}

#[test]
fn a_wrong_rate_is_said() {
    let dir = scratch("capture-rate");
    let mut board = Board::new();
    let mut command = capture(&dir, &board.name);
    let child = start(command.args(["--until", "THE END"]), &dir);
    board.say([0xfe, 0x80, 0, 0xf8, 0x1c, 0xff].repeat(60));
    board.say(format!("\n{SPL}THE END"));
    let output = ok(child);
    let rates = "wrong rate (115200); try --baud 1500000";
    assert!(said(&output).contains(rates), "{}", said(&output));
    assert!(notices(&dir.join("run")).contains(&"wrong-rate".to_owned()));
}

#[test]
fn a_board_that_pauses_is_waited_for_and_one_that_is_silent_is_not() {
    let dir = scratch("capture-pause");
    let mut board = Board::new();
    let mut command = capture(&dir, &board.name);
    let child = start(command.args(["--idle", "1.5"]), &dir);
    board.say(SPL);
    std::thread::sleep(Duration::from_millis(400));
    board.say(LINUX);
    let output = ok(child);
    assert!(console_has(&dir.join("run"), &format!("{SPL}{LINUX}")));
    assert!(
        said(&output).contains("silent for 1.5 s"),
        "{}",
        said(&output)
    );
    let why = &manifest(&dir.join("run"))["outcome"]["recorded"];
    assert!(why.as_str().unwrap().contains("silent"));
}

#[test]
fn what_never_comes_is_an_exit_code() {
    let dir = scratch("capture-never");
    let mut board = Board::new();
    let mut command = capture(&dir, &board.name);
    let child = start(command.args(["--until", "READY", "--for", "1"]), &dir);
    board.say(SPL);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(6));
    assert!(
        said(&output).contains("`READY` was not met"),
        "{}",
        said(&output)
    );
    show(&dir.join("run"));
}

#[test]
fn a_signal_at_any_point_leaves_a_run_of_what_had_come() {
    let signals = [Signal::INT, Signal::TERM, Signal::HUP];
    for (i, after) in [0, 1, 5, 20, 60, 150].into_iter().enumerate() {
        for (j, signal) in signals.into_iter().enumerate() {
            let dir = scratch(&format!("capture-signal-{i}-{j}"));
            let mut board = Board::new();
            let mut command = capture(&dir, &board.name);
            let child = start(&mut command, &dir);
            let text: String = (0..400).map(|n| format!("line {n}\r\n")).collect();
            board.say(format!("{SPL}{text}"));
            std::thread::sleep(Duration::from_millis(after));
            tell(&child, signal);
            let output = child.wait_with_output().unwrap();
            assert!(
                output.status.success(),
                "{signal:?} after {after} ms: {}",
                said(&output)
            );
            let run = dir.join("run");
            assert_eq!(manifest(&run)["state"], "finished");
            let console = fs::read_to_string(run.join("console")).unwrap();
            assert!(format!("{SPL}{text}").starts_with(&console));
            if !console.is_empty() {
                show(&run);
            }
        }
    }
}

#[test]
fn killing_it_leaves_what_had_come() {
    let dir = scratch("capture-kill");
    let mut board = Board::new();
    let mut command = capture(&dir, &board.name);
    let mut child = start(&mut command, &dir);
    board.say(format!("{SPL}{LINUX}no line end"));
    let run = dir.join("run");
    // On disk although nothing more comes and nothing has ended.
    wait_for("the disk", || console_has(&run, "no line end"));
    wait_for("the stamps", || {
        fs::read(run.join("console.stamps"))
            .unwrap()
            .ends_with(b"no line end")
    });
    tell(&child, Signal::KILL);
    child.wait().unwrap();
    assert_eq!(manifest(&run)["state"], "unfinished");
    let shown = show(&run);
    assert!(shown["spans"].to_string().contains("no line end"));
}

#[test]
fn a_full_disk_is_said_and_what_was_written_is_a_run() {
    let dir = scratch("capture-full");
    let small = dir.join("small");
    let Some(_mounted) = SmallDisk::at(&small, "64k") else {
        return;
    };
    let board = Board::new();
    let mut command = capture(&small, &board.name);
    let child = start(&mut command, &small);
    let mut wire = board.wire.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        // Nobody reads on when it has ended.
        let text = format!("{SPL}{}", "0123456789abcdef\r\n".repeat(20_000));
        let _ = wire.write_all(text.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    drop(board);
    drop(writer);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let said = said(&output);
    assert!(
        said.contains("No space left on device") && said.contains("free some space"),
        "{said}"
    );
    assert!(said.contains("bootlap show run"), "{said}");
    let run = small.join("run");
    assert_eq!(manifest(&run)["state"], "unfinished");
    assert!(console_has(&run, "0123456789abcdef"));
    assert!(show(&run)["spans"].to_string().contains("0123456789abcdef"));
}

#[test]
fn a_power_command_is_zero_of_each_boot() {
    let dir = scratch("capture-power");
    let mut board = Board::new();
    let (on, off) = (dir.join("on"), dir.join("off"));
    let mut command = capture(&dir, &board.name);
    command.args(["-n", "2", "--until", "READY", "--off", "0.05"]);
    command.args(["--power-cmd", "echo >> on"]);
    command.args(["--power-off-cmd", "echo >> off"]);
    let times = |path: &Path| fs::read_to_string(path).unwrap_or_default().lines().count();
    let child = start(&mut command, &dir);
    // A kernel that says it ran for longer than the power was on is not believed.
    let linux = LINUX.replace("0.500000", "0.000001");
    for boot in 1..=2 {
        wait_for("power", || times(&on) == boot);
        board.say(format!("{SPL}{linux}READY\r\n"));
    }
    ok(child);
    assert_eq!((times(&on), times(&off)), (2, 3));
    for boot in ["run/1", "run/2"] {
        let run = dir.join(boot);
        assert_eq!(manifest(&run)["capture"]["zero"], "power-on");
        assert!(manifest(&run)["capture"]["power_cmd_ns"].is_i64());
        assert!(console_has(&run, SPL));
        let marks = show(&run)["marks"].to_string();
        assert!(marks.contains("power on"), "{marks}");
    }
}

#[test]
fn a_power_command_that_fails_says_what_it_said() {
    let dir = scratch("capture-power-fails");
    let board = Board::new();
    let mut command = capture(&dir, &board.name);
    let power = ["--power-cmd", "echo no such relay >&2; exit 7"];
    let said = failure(command.args(power), 5);
    assert!(
        said.contains("exit status: 7") && said.contains("no such relay"),
        "{said}"
    );
}

#[test]
fn sockets_commands_and_pipes_are_consoles_too() {
    let dir = scratch("capture-others");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp:{}", listener.local_addr().unwrap());
    let mut command = capture(&dir, Path::new(&address));
    let child = start(command.args(["--until", "READY"]), &dir);
    let mut server = listener.accept().unwrap().0;
    server
        .write_all(format!("{SPL}{LINUX}READY").as_bytes())
        .unwrap();
    ok(child);
    assert!(console_has(&dir.join("run"), "READY"));

    let dir = scratch("capture-exec");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bootlap"));
    command
        .current_dir(&dir)
        .args(["capture", "--out", "run", "--exec"]);
    command.arg("printf 'U-Boot 2023.01 (x)\\n'; echo from stderr >&2; sleep 0.1; echo done");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(console_has(&dir.join("run"), "from stderr\ndone\n"));
    assert!(
        said(&output).contains("the command ended"),
        "{}",
        said(&output)
    );

    let dir = scratch("capture-stdin");
    let mut command = capture(&dir, Path::new("-"));
    let mut child = start(command.stdin(Stdio::piped()), &dir);
    let boot = format!("{SPL}{LINUX}");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(boot.as_bytes())
        .unwrap();
    ok(child);
    assert_eq!(fs::read_to_string(dir.join("run/console")).unwrap(), boot);
}

#[test]
fn what_grabserial_prints_is_printed_so_that_its_readers_take_it() {
    let dir = scratch("capture-grabserial");
    let mut board = Board::new();
    let mut command = capture(&dir, &board.name);
    command.args([
        "--grabserial",
        "--from",
        "Starting kernel",
        "--until",
        "READY",
    ]);
    let child = start(&mut command, &dir);
    board.say(format!("{SPL}Starting ker"));
    board.say(format!("nel ...\r\n{LINUX}"));
    board.say(b"\xff\r\nREADY\r\n");
    let output = ok(child);
    let text = String::from_utf8(output.stdout).unwrap();
    let line = regex::Regex::new(r"^\[\d+\.\d{6} \d+\.\d{6}\] [^\r]*$").unwrap();
    assert!(text.lines().all(|l| line.is_match(l)), "{text}");
    assert!(text.ends_with('\n') && text.lines().count() >= 6, "{text}");
    let log = dir.join("log");
    fs::write(&log, &text).unwrap();
    let mut inspect = Command::new(env!("CARGO_BIN_EXE_bootlap"));
    let told = json(inspect.args(["inspect", "--json"]).arg(&log));
    assert_eq!(told[0]["source"], "grabserial");
    assert_eq!(told[0]["lines"]["skipped"], 0);
}

#[test]
fn json_is_a_line_for_each_event_of_the_schema() {
    let dir = scratch("capture-json");
    let mut board = Board::new();
    let mut command = capture(&dir, &board.name);
    command.args("--json --until READY --mark kernel=Linux --send x".split(' '));
    let child = start(&mut command, &dir);
    board.say(format!(
        "{SPL}{LINUX}{SPL}\x1b[31mhostile\x1b]0;t\x07\r\nREADY"
    ));
    let output = ok(child);
    let schema = fs::read(root().join("docs/schema/capture.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    let mut seen = Vec::new();
    for line in output.stdout.lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if let Err(e) = schema.validate(&event) {
            panic!("{event}: {e}");
        }
        seen.push(event["event"].as_str().unwrap().to_owned());
    }
    for event in ["begin", "zero", "line", "split", "fault", "sent", "end"] {
        assert!(seen.iter().any(|s| s == event), "{event} in {seen:?}");
    }
    assert!(!output.stdout.contains(&0x1b));
}

#[test]
fn on_a_terminal_there_is_a_footer_that_fits_and_colours_that_can_be_had_without() {
    let sgr = regex::Regex::new("\x1b\\[[0-9;]*[mAJ]").unwrap();
    for plain in [false, true] {
        let dir = scratch(&format!("capture-terminal-{plain}"));
        // An earlier run, to be compared with.
        let boot = |dir: &Path, out: &str, stdout: Stdio| {
            let mut board = Board::new();
            let mut command = capture(dir, &board.name);
            command.args(["--until", "READY", "--mark", "kernel=Linux version"]);
            command.env("NO_COLOR", "1");
            if !plain {
                command.env_remove("NO_COLOR");
            }
            let args: Vec<_> = command.get_args().map(|a| a.to_owned()).collect();
            let mut renamed = Command::new(command.get_program());
            renamed
                .current_dir(dir)
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .stdout(stdout);
            renamed.env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
            for (key, value) in command.get_envs() {
                match value {
                    Some(value) => renamed.env(key, value),
                    None => renamed.env_remove(key),
                };
            }
            renamed.args(
                args.iter()
                    .map(|a| if a == "run" { out.into() } else { a.clone() }),
            );
            let child = renamed.spawn().unwrap();
            let folder = dir.join(out);
            wait_for("the run", || folder.join("manifest.json").exists());
            board.say(format!("{SPL}{LINUX}\x1b]0;title\x07{}", "x".repeat(300)));
            // Long enough for the footer to be drawn more than once.
            std::thread::sleep(Duration::from_millis(400));
            board.say("\r\nREADY\r\n");
            ok(child);
        };
        boot(&dir, "first", Stdio::null());
        let mut terminal = Board::new();
        let slave = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&terminal.name)
            .unwrap();
        boot(&dir, "second", Stdio::from(slave));
        let mut shown = Vec::new();
        // The last writer is gone, which reads as an error or an end.
        let _ = terminal.wire.read_to_end(&mut shown);
        let shown = String::from_utf8_lossy(&shown).into_owned();
        assert!(
            shown.contains("\x1b[J") && shown.contains("kernel 0."),
            "{shown:?}"
        );
        assert!(
            shown.contains("best") && shown.contains("last"),
            "{shown:?}"
        );
        assert!(!shown.contains("\x1b]0;title"), "{shown:?}");
        assert_eq!(shown.contains("\x1b[1m"), !plain, "{shown:?}");
        // No row that is drawn over may wrap.
        let footers = shown.split('\n').filter(|row| row.contains(" s   kernel"));
        for row in footers {
            let row = sgr.replace_all(row.trim_end_matches('\r'), "");
            let row = row.trim_start_matches('\r');
            assert!(row.chars().count() < 80, "{row:?}");
        }
    }
}

#[test]
fn what_is_typed_wrong_is_told_before_anything_is_made() {
    let dir = scratch("capture-usage");
    for (args, code, says) in [
        (vec!["/dev/ttyNONE1"], 5, "there is no /dev/ttyNONE1"),
        (vec!["tcp:lab"], 2, "tcp:HOST:PORT"),
        (vec!["/dev/null"], 5, "no serial line"),
        (vec!["-", "--until", "("], 2, "--until"),
        (vec!["-", "--mark", "nothing"], 2, "NAME=REGEX"),
        (vec!["-", "--line", "9N9"], 2, "8N1"),
        (vec!["-", "--power-off-cmd", "true"], 2, "--power-cmd"),
        (
            vec!["-", "-n", "2", "--power-cmd", "true"],
            2,
            "needs an end",
        ),
        (vec!["-", "--out", "."], 2, "is there already"),
    ] {
        fs::write(dir.join("something"), "").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_bootlap"));
        command
            .current_dir(&dir)
            .stdin(Stdio::null())
            .arg("capture")
            .args(&args);
        let said = failure(&mut command, code);
        assert!(said.contains(says), "{args:?}: {said}");
    }
    assert!(!dir.join("runs").exists());
}

/// The terminal server goes away and comes back, in the middle of a line.
#[test]
fn a_connection_that_breaks_is_made_again() {
    let dir = scratch("capture-tcp-again");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp:{}", listener.local_addr().unwrap());
    let mut command = capture(&dir, Path::new(&address));
    let child = start(command.args(["--until", "READY"]), &dir);
    let (mut server, _) = listener.accept().unwrap();
    server
        .write_all(b"U-Boot 2023.01 (x)\r\nfirst half ")
        .unwrap();
    wait_for("the first half", || {
        console_has(&dir.join("run"), "first half")
    });
    drop(server);
    let (server, _) = listener.accept().unwrap();
    (&server).write_all(b"and second, READY\r\n").unwrap();
    ok(child);
    assert!(console_has(&dir.join("run"), "first half and second"));
    let mut rest = String::new();
    let _ = BufReader::new(server).read_to_string(&mut rest);
    assert!(rest.is_empty());
}
