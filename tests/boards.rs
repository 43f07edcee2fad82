//! Boards, end to end: QEMU behind its serial port, switched and heard as a
//! board is; and shell scripts for what a board does wrong.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bootlap_product::Target;
use serde_json::Value;

use crate::support::{bootlap, direct, failure, json, processes_with, scratch, succeeded};

/// What is on the board: a distribution kernel and a shell that says ready.
const IMAGES: &str = r#"format = 1
name = "images"

[ready]
pattern = "BOARD_READY"

[machine]
kind = "qemu"
program = "qemu-system-aarch64"
machine = "virt"
cpu = "cortex-a57"
memory-mb = 512

[packages]
architecture = "arm64"

[kernel]
image = "package:linux-image-arm64/boot/vmlinuz-*"
cmdline = "console=ttyAMA0,115200 cryptomgr.notests"

[initramfs]
tree = "tree"
dirs = ["/dev", "/proc", "/sbin"]

[initramfs.files]
"/bin/busybox" = "package:busybox-static/bin/busybox"

[initramfs.links]
"/bin/sh" = "busybox"
"#;

/// The lines come a second apart: a host so busy that both are read at once
/// sees the application start and be ready at one moment, which is no phase.
const INIT: &str =
    "#!/bin/sh\necho Starting demo\n/bin/busybox sleep 1\necho BOARD_READY\nexec /bin/sh\n";

/// Plays the board: `board.sh on` and `board.sh off` are its power switch.
///
/// QEMU drops what it prints while nobody has its terminal open, and looks for
/// that once a second: so a board on a terminal stands still at first. On TCP
/// it waits by itself.
const BOARD: &str = r#"#!/bin/sh
cd "$(dirname "$0")" || exit
case $1 in
on)
    start=""
    if [ "$2" = pty ]; then
        mkfifo monitor.in monitor.out
        serial=pty start="-S -monitor pipe:monitor"
    else
        serial=tcp:127.0.0.1:$2,server=on,wait=on start="-monitor none"
    fi
    said=$(qemu-system-aarch64 -M virt -cpu cortex-a57 -m 512 -nodefaults -no-reboot \
        -display none -kernel "$PWD/kernel" -initrd "$PWD/initrd" -append "$(cat cmdline)" \
        -serial "$serial" $start -daemonize -pidfile pid) || exit
    if [ "$2" = pty ]; then
        tty=$(echo "$said" | sed -n 's/.*redirected to \([^ ]*\) .*/\1/p')
        ln -sfn "$tty" console
        sleep 1.6
        echo cont > monitor.in
    fi
    echo "closed relay 1"
    ;;
off)
    if [ -e pid ]; then
        pid=$(cat pid)
        kill "$pid"
        while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    fi
    rm -f pid console monitor.in monitor.out
    echo off >> switched
    ;;
esac
"#;

/// Puts kernel, initramfs and switch into `dir`.
fn board_in(dir: &Path) {
    let images = dir.join("images");
    fs::create_dir_all(images.join("tree")).unwrap();
    let init = images.join("tree/init");
    fs::write(&init, INIT).unwrap();
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(images.join("target.toml"), IMAGES).unwrap();
    let cmdline = direct(&Target::load(&images).unwrap(), dir);
    fs::write(dir.join("cmdline"), cmdline).unwrap();
    script(&dir.join("board.sh"), BOARD);
}

fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Describes a board in `dir` by what follows `[machine]`.
fn describe(dir: &Path, machine: &str) -> PathBuf {
    let file = dir.join("board.toml");
    let text = format!(
        "format = 1\nname = \"board\"\n[ready]\npattern = \"BOARD_READY\"\n\
         application = \"Starting demo\"\n[machine]\n{machine}"
    );
    fs::write(&file, text).unwrap();
    file
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Two boots of the board that `machine` describes: whole, with phases, and
/// nothing is left of them.
fn boots_twice(dir: &Path, machine: &str) -> Value {
    let file = describe(dir, machine);
    let mut command = bootlap(dir);
    let series = json(command.args(["boot", "--json", "-n", "2"]).arg(file));
    assert_eq!(
        (text(&series, "mode"), text(&series, "time")),
        ("board", "measured")
    );
    assert_eq!(series["not_ready"], 0);
    assert_eq!(series["ready"]["samples"], 2);
    let boots = series["boots"].as_array().unwrap();
    for boot in boots {
        let phases = boot["phases"].as_array().unwrap();
        let names: Vec<&str> = phases.iter().map(|p| text(p, "name")).collect();
        assert_eq!(names, ["firmware", "kernel", "userspace", "application"]);
        let sum: i64 = phases
            .iter()
            .filter_map(|p| p["duration_ns"].as_i64())
            .sum();
        assert_eq!(
            boot["ready_ns"].as_i64(),
            Some(sum),
            "phases share out the time"
        );

        let run = dir.join(text(boot, "run"));
        let manifest: Value =
            serde_json::from_slice(&fs::read(run.join("manifest.json")).unwrap()).unwrap();
        assert_eq!(
            (text(&manifest, "state"), text(&manifest, "mode")),
            ("finished", "board")
        );
        // From the first byte of the kernel to the last one of the pattern.
        let console = String::from_utf8(fs::read(run.join("console")).unwrap()).unwrap();
        assert!(
            console.contains("] Booting Linux on physical CPU"),
            "{console}"
        );
        assert!(console.ends_with("BOARD_READY"), "{console}");
        // It can be read like any other run.
        let mut show = bootlap(dir);
        let shown = json(show.args(["show", "--json"]).arg(&run));
        assert_eq!(shown["ready_ns"], boot["ready_ns"]);
        assert_eq!(shown["mode"], "board");
    }
    let place = dir.display().to_string();
    assert_eq!(processes_with(&place), Vec::<String>::new());
    series
}

#[test]
fn a_board_on_a_terminal_boots_twice() {
    let dir = scratch("boards-pty");
    board_in(&dir);
    let series = boots_twice(
        &dir,
        "kind = \"serial\"\ndevice = \"./console\"\nsettle-s = 0\n\
         power-on = \"./board.sh on pty\"\npower-off = \"./board.sh off\"\n",
    );
    assert_eq!(text(&series, "machine"), "./console at 115200 baud");
    for boot in series["boots"].as_array().unwrap() {
        // The switch itself takes this long, and says so.
        assert!(boot["power_ms"].as_u64().unwrap() >= 1600);
        assert!(boot["ready_ns"].as_i64().unwrap() > 1_600_000_000);
    }
    // Before the first boot and after each.
    assert_eq!(
        fs::read_to_string(dir.join("switched")).unwrap(),
        "off\noff\noff\n"
    );
}

#[test]
fn a_board_on_tcp_boots_twice() {
    let dir = scratch("boards-tcp");
    board_in(&dir);
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let series = boots_twice(
        &dir,
        &format!(
            "kind = \"serial\"\ndevice = \"tcp:127.0.0.1:{port}\"\nsettle-s = 0\n\
             power-on = \"./board.sh on {port}\"\npower-off = \"./board.sh off\"\n"
        ),
    );
    assert_eq!(text(&series, "machine"), format!("tcp:127.0.0.1:{port}"));
    let boots = dir.join("runs").join(text(&series, "target"));
    let all = std::fs::read_dir(boots).unwrap().flatten().next().unwrap();
    succeeded(
        bootlap(&dir)
            .arg("report")
            .arg(all.path())
            .args(["-o", "all.html"]),
    );
    let page = std::fs::read_to_string(dir.join("all.html")).unwrap();
    assert!(page.contains("to ready, the median of 2 boots"));
}

/// A console that prints a boot as soon as the switch says so.
const SCRIPTED: &str = "kind = \"command\"\nrun = \"exec ./console.sh\"\nsettle-s = 0\n\
    power-on = \"./power.sh\"\npower-off = \"echo off >> switched; rm -f on\"\n";

const CONSOLE: &str = r#"#!/bin/sh
while [ ! -e on ]; do sleep 0.01; done
printf '[    0.000000] Linux version 6.1.0\n'
sleep 0.2
printf '[    0.010000] Run /init as init process\n'
sleep 0.2
. ./on
echo Starting demo
sleep 0.2
echo BOARD_READY
exec sleep 1000
"#;

fn scripted(name: &str, power: &str) -> (PathBuf, PathBuf) {
    let dir = scratch(name);
    script(&dir.join("console.sh"), CONSOLE);
    script(&dir.join("power.sh"), &format!("#!/bin/sh\n{power}\n"));
    let file = describe(&dir, SCRIPTED);
    (dir, file)
}

fn nothing_is_left(dir: &Path) {
    let until = Instant::now() + Duration::from_secs(10);
    // What was killed takes a moment to go.
    while !processes_with(&dir.display().to_string()).is_empty() {
        assert!(Instant::now() < until, "something is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_boot_that_hangs_does_not_end_the_series() {
    // The second time it is switched on it never gets further.
    let (dir, file) = scripted(
        "boards-hang",
        "echo on >> count; [ $(wc -l < count) = 2 ] && echo 'sleep 1000' > on || : > on",
    );
    let mut command = bootlap(&dir);
    let command = command
        .args(["boot", "--json", "-n", "3", "--timeout", "8"])
        .arg(&file);
    let out = command.output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(6), "{said}");
    assert!(said.contains("1 of 3 boots never got ready; the first of them: board never got ready: the pattern did not appear within 8 s"), "{said}");
    assert!(
        said.contains("| [    0.010000] Run /init as init process"),
        "{said}"
    );
    let series: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(series["not_ready"], 1);
    assert_eq!(series["ready"]["samples"], 2);
    let boots = series["boots"].as_array().unwrap();
    let ready: Vec<bool> = boots.iter().map(|b| b["ready_ns"].is_i64()).collect();
    assert_eq!(ready, [true, false, true]);
    assert_eq!(boots[1]["why_not"], "the pattern did not appear within 8 s");
    assert_eq!(
        fs::read_to_string(dir.join("switched")).unwrap(),
        "off\n".repeat(4)
    );
    nothing_is_left(&dir);
}

/// Recipes are tried on a board, too, if its owner says how they get there.
#[test]
fn a_recipe_is_installed_and_measured_in_turns() {
    let (dir, file) = scripted("boards-try", "cat delay > on");
    let mut text = fs::read_to_string(&file).unwrap();
    text += "install = \"./install.sh\"\n[kernel]\ncmdline = \"console=ttyS0\"\n";
    fs::write(&file, &text).unwrap();
    script(
        &dir.join("install.sh"),
        "#!/bin/sh\necho \"$BOOTLAP_VARIANT\" >> installed\n\
         grep -q 'ttyS0 quiet' \"$BOOTLAP_TARGET/target.toml\" && wait=0.05 || wait=0.4\n\
         echo \"sleep $wait\" > delay\n",
    );
    let mut command = bootlap(&dir);
    command.arg("try").arg(&file).arg("cmdline-quiet");
    let tried = json(command.args(["-k", "6", "--json"]));
    assert_eq!(tried["mode"], "board");
    let trial = &tried["trials"][0];
    assert_eq!(trial["verdict"], "faster", "{trial}");
    assert_eq!(trial["not_ready"], serde_json::json!([0, 0]));
    // A warm-up of both, then A B B A …: what is there stays there.
    let installed = fs::read_to_string(dir.join("installed")).unwrap();
    let turns: Vec<&str> = installed.lines().collect();
    assert!(turns.len() >= 7, "{turns:?}");
    assert!(turns.windows(2).all(|pair| pair[0] != pair[1]), "{turns:?}");
    nothing_is_left(&dir);

    // Without a way onto the board it says what to do.
    fs::write(&file, text.replace("install = \"./install.sh\"\n", "")).unwrap();
    let mut command = bootlap(&dir);
    let said = failure(command.arg("try").arg(&file).arg("cmdline-quiet"), 2);
    assert!(said.contains("machine.install"), "{said}");
}

#[test]
fn a_table_says_what_the_boots_have_in_common() {
    let (dir, file) = scripted("boards-table", ": > on");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bootlap"));
    let out = command
        .current_dir(&dir)
        .args(["boot", "-n", "6"])
        .arg(&file)
        .output()
        .unwrap();
    let (shown, said) = (
        String::from_utf8(out.stdout).unwrap(),
        String::from_utf8(out.stderr).unwrap(),
    );
    assert!(out.status.success(), "{said}");
    for n in 1..=6 {
        assert!(
            said.contains(&format!("boot {n} of 6: ready after ")),
            "{said}"
        );
    }
    let flat = shown.replace('\u{a0}', " ");
    for part in [
        "the median of 6 boots",
        "measured time",
        "95 % interval",
        "the power command took",
        "kernel",
        "application",
        "fastest",
        "slowest",
        "runs/board/",
    ] {
        assert!(flat.contains(part), "{part}: {shown}");
    }
    assert!(shown.lines().all(|l| l.chars().count() <= 80), "{shown}");
}

#[test]
fn a_board_that_does_not_answer_is_never_ready() {
    let dir = scratch("boards-silent");
    // Somebody takes the connection and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let file = describe(
        &dir,
        &format!(
            "kind = \"serial\"\ndevice = \"tcp:127.0.0.1:{port}\"\npower-cycle = \"true\"\nquiet-s = 1\n"
        ),
    );
    let said = failure(bootlap(&dir).arg("boot").arg(file), 6);
    assert!(
        said.contains(
            "board never got ready: the console said nothing for 1 s; the console stayed empty"
        ),
        "{said}"
    );
    assert!(said.contains("check the ready pattern"), "{said}");
}

#[test]
fn a_switch_that_fails_says_what_it_printed() {
    let (dir, file) = scripted("boards-switch", "echo outlet 9 does not exist >&2; exit 3");
    let said = failure(bootlap(&dir).args(["boot", "-n", "3"]).arg(&file), 5);
    for part in [
        "power-on `./power.sh` failed (exit status: 3); it printed\n  | outlet 9 does not exist\n",
        "run it by hand in the target's folder",
    ] {
        assert!(said.contains(part), "{said}");
    }
    // It may be half on.
    assert_eq!(
        fs::read_to_string(dir.join("switched")).unwrap(),
        "off\noff\n"
    );
    nothing_is_left(&dir);
}

#[test]
fn ctrl_c_leaves_whole_runs_and_the_board_off() {
    let (dir, file) = scripted(
        "boards-interrupt",
        "echo on >> count; [ $(wc -l < count) = 2 ] && echo 'sleep 1000' > on || : > on",
    );
    let mut command = bootlap(&dir);
    let command = command.args(["boot", "--json", "-n", "9"]).arg(&file);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // In the middle of the second boot, which would last for ever.
    let second = || {
        let sessions = fs::read_dir(dir.join("runs/board")).ok()?.flatten();
        let console = sessions.last()?.path().join("2/console");
        let text = fs::read_to_string(console).ok()?;
        text.contains("Run /init").then_some(())
    };
    let until = Instant::now() + Duration::from_secs(60);
    while second().is_none() {
        assert!(Instant::now() < until, "the second boot never began");
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill = Command::new("kill")
        .arg("-INT")
        .arg(child.id().to_string())
        .status();
    assert!(kill.unwrap().success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(
        out.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let series: Value = serde_json::from_slice(&out.stdout).unwrap();
    let boots = series["boots"].as_array().unwrap();
    assert_eq!(
        boots.len(),
        1,
        "the one that was interrupted is in no sample"
    );
    let run = dir.join(text(&boots[0], "run")).with_file_name("2");
    let manifest = fs::read(run.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["state"], "finished");
    assert_eq!(manifest["outcome"]["never-ready"], "it was interrupted");
    assert_eq!(
        fs::read_to_string(dir.join("switched")).unwrap(),
        "off\n".repeat(3)
    );
    nothing_is_left(&dir);
}

#[test]
fn what_is_on_a_board_is_changed_by_hand() {
    let (dir, file) = scripted("boards-recipes", ": > on");
    let more = fs::read_to_string(&file).unwrap() + "[kernel]\ncmdline = \"console=ttyS0\"\n";
    fs::write(&file, more).unwrap();
    for command in [
        &["try", "board.toml", "cmdline-quiet"][..],
        &["demo", "board.toml"],
    ] {
        let said = failure(bootlap(&dir).args(command), 2);
        assert!(
            said.contains("board is a board: it boots what is on it"),
            "{said}"
        );
        assert!(
            said.contains("`bootlap apply board.toml RECIPE -o DIR`"),
            "{said}"
        );
    }
    let said = failure(
        bootlap(&dir).args(["boot", "board.toml", "--append", "quiet"]),
        2,
    );
    assert!(said.contains("on the board"), "{said}");
    let mut apply = Command::new(env!("CARGO_BIN_EXE_bootlap"));
    apply
        .current_dir(&dir)
        .args(["apply", "board.toml", "cmdline-quiet", "-o", "new"]);
    let out = succeeded(&mut apply);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("Put it there by hand"), "{said}");
    assert!(
        String::from_utf8_lossy(&out.stdout).contains("kernel.cmdline = \"console=ttyS0 quiet\"")
    );
    let new = fs::read_to_string(dir.join("new/target.toml")).unwrap();
    assert!(new.contains("cmdline = \"console=ttyS0 quiet\""), "{new}");
    // Nothing of the folder that the lone file is in.
    let entries = fs::read_dir(dir.join("new")).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|e| e.file_name()).collect();
    names.sort();
    assert_eq!(names, ["patches", "target.toml"]);
    // Advice knows what the target says.
    let mut advise = bootlap(&dir);
    let advice = json(advise.args(["advise", "--json", "board.toml"]));
    assert_eq!(text(&advice, "target"), "board");
}
