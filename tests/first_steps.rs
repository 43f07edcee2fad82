//! What somebody types first: `here`, `doctor`, `@last`, and what a shell and a manual know.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{bootlap, failure, json, printed, root, scratch, succeeded};

#[test]
fn here_says_what_this_machine_tells_and_what_it_does_not() {
    let dir = scratch("first-here");
    let out = bootlap(&dir)
        .args(["here", "-o", "seen/now"])
        .output()
        .unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    // A machine that tests run on may be a container, of whose boot nothing is known.
    let known = match out.status.code() {
        Some(0) => true,
        Some(4) => false,
        code => panic!("{code:?}: {}", String::from_utf8_lossy(&out.stderr)),
    };
    assert_eq!(!known, said.contains("nothing here tells"), "{said}");
    assert!(said.contains("page seen/now.html") && said.contains("read seen/now"));
    assert!(
        fs::read_to_string(dir.join("seen/now.html"))
            .unwrap()
            .contains("<html")
    );
    // What it read is there as it was read.
    let read = |path: &str| fs::read_to_string(path).unwrap();
    assert_eq!(
        read("/proc/cmdline"),
        fs::read_to_string(dir.join("seen/now/cmdline")).unwrap()
    );
    let again = failure(bootlap(&dir).args(["here", "-o", "seen/now"]), 2);
    assert!(again.contains("it stays as it is"), "{again}");
}

#[test]
fn doctor_finds_what_the_tests_boot_with() {
    let dir = scratch("first-doctor");
    let cache = dir.join("no/cache/yet").display().to_string();
    let told = json(bootlap(&dir).args(["doctor", "--json", "--cache", &cache]));
    let checks = told["checks"].as_array().unwrap();
    let state = |name: &str| {
        let check = checks.iter().find(|c| c["name"] == name);
        check.unwrap_or_else(|| panic!("{name}: {told}"))["state"].clone()
    };
    assert_eq!(state("qemu-system-aarch64"), "ok");
    assert_eq!(state("cache"), "ok");
    // It is asked, not made.
    assert!(!Path::new(&cache).exists());
}

#[test]
fn doctor_without_qemu_names_the_command_that_brings_it() {
    let dir = scratch("first-doctor-bare");
    let mut doctor = bootlap(&dir);
    let out = doctor.args(["doctor"]).env("PATH", &dir).output().unwrap();
    assert_eq!(out.status.code(), Some(5));
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(said.contains("sudo apt-get install"), "{said}");
    assert!(said.contains("qemu-system-arm"), "{said}");
    let version = printed(bootlap(&dir).arg("--version").env("PATH", &dir));
    assert!(version.contains("qemu-system-x86_64: none"), "{version}");
}

/// A folder of runs of two targets, made in this order: kiosk, router, kiosk.
fn runs(dir: &Path) -> [String; 3] {
    let made = [("kiosk", "first"), ("router", "then"), ("kiosk", "last")];
    made.map(|(target, name)| {
        let run = dir.join("runs").join(target).join(name);
        fs::create_dir_all(run.parent().unwrap()).unwrap();
        let mut capture = bootlap(dir);
        capture.args(["capture", "--exec", &format!("echo {target} {name}")]);
        succeeded(capture.args(["--until", name, "--json", "-o"]).arg(&run));
        format!("{target} {name}")
    })
}

#[test]
fn runs_are_named_by_when_they_were_made() {
    let dir = scratch("first-last");
    let [first, then, last] = runs(&dir);
    let shown = |which: &str| printed(bootlap(&dir).args(["show", "--by", "deltas", which]));
    for (which, text) in [
        ("@last", &last),
        ("@1", &last),
        ("@2", &then),
        ("@3", &first),
        ("kiosk@last", &last),
        ("kiosk@2", &first),
        ("router@last", &then),
        ("runs/@last", &last),
    ] {
        let shown = shown(which);
        assert!(shown.contains(text.as_str()), "{which}: {shown}");
    }
    let none = failure(bootlap(&dir).args(["show", "kiosk@3"]), 2);
    assert!(none.contains("only 2 runs of kiosk are in runs"), "{none}");
    let none = failure(bootlap(&dir).args(["show", "board@last"]), 2);
    assert!(none.contains("no run of board is in runs"), "{none}");
    // A file of that name comes first.
    fs::write(
        dir.join("@last"),
        "[    0.000000] Linux version 6.1.0\n[    0.100000] a line\n",
    )
    .unwrap();
    assert!(shown("@last").contains("a line"));
}

#[test]
fn a_report_goes_to_standard_output_under_a_title() {
    let dir = scratch("first-stdout");
    let boot = root().join("tests/boots/debian13-systemd257/plot.json");
    let mut report = bootlap(&dir);
    report
        .arg("report")
        .arg(&boot)
        .args(["--title", "my board", "-o", "-"]);
    assert!(printed(&mut report).starts_with("### `my board`"));
    let mut report = bootlap(&dir);
    report.arg("report").arg(&boot).args(["-o", "-.svg"]);
    assert!(printed(&mut report).starts_with("<svg"));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    let mut report = bootlap(&dir);
    let wrong = failure(report.arg("report").arg(&boot).args(["-o", "-.doc"]), 2);
    assert!(wrong.contains(".html"), "{wrong}");
}

#[test]
fn shells_and_the_manual_know_every_command() {
    let dir = scratch("first-shells");
    let help = printed(bootlap(&dir).arg("--help"));
    let commands = help
        .lines()
        .skip_while(|l| !l.starts_with("Commands:"))
        .skip(1);
    let commands = commands.take_while(|l| !l.is_empty());
    let names = commands.filter_map(|l| l.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|n| !n.is_empty() && *n != "help").collect();
    assert!(names.len() > 30, "{help}");
    succeeded(bootlap(&dir).args(["man", "--out", "man"]));
    for name in &names {
        let page = fs::read_to_string(dir.join(format!("man/bootlap-{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(bootlap(&dir).args(["completions", shell]));
        let lost: Vec<_> = names
            .iter()
            .filter(|name| !script.contains(*name))
            .collect();
        assert!(lost.is_empty(), "{shell} misses {lost:?}");
    }
    // What bash itself makes of it.
    fs::write(
        dir.join("bash"),
        printed(bootlap(&dir).args(["completions", "bash"])),
    )
    .unwrap();
    let mut bash = Command::new("bash");
    let script = "source ./bash; COMP_WORDS=(bootlap sho); COMP_CWORD=1; \
                  _bootlap bootlap sho bootlap; echo ${COMPREPLY[@]}";
    let completed = printed(bash.current_dir(&dir).args(["-c", script]));
    assert_eq!(completed, "show\n");
    let unknown = failure(bootlap(&dir).args(["man", "nothing"]), 2);
    assert!(unknown.contains("there is no command nothing"), "{unknown}");
}

#[test]
fn reports_are_served_to_this_machine() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    let dir = scratch("first-serve");
    fs::write(dir.join("boot.html"), "<html>a boot").unwrap();
    let mut serve = bootlap(&dir);
    serve
        .args(["serve", "--port", "0"])
        .stdout(std::process::Stdio::piped());
    let mut serving = serve.spawn().unwrap();
    let mut said = String::new();
    BufReader::new(serving.stdout.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    let host = said
        .strip_prefix("http://")
        .and_then(|s| s.split('/').next())
        .unwrap()
        .to_owned();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&host).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answers = [get("/"), get("/boot.html"), get("/../Cargo.toml")];
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(said.contains("shows 1 report of"), "{said}");
    assert!(answers[0].contains("href=\"/boot.html\""), "{}", answers[0]);
    assert!(answers[1].ends_with("<html>a boot") && answers[1].starts_with("HTTP/1.1 200 OK"));
    assert!(answers[2].starts_with("HTTP/1.1 404"), "{}", answers[2]);
}
