//! `bootlap check`: budgets on logs from anywhere, and on real boots.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{bootlap, failure, json, kiosk, root, scratch};
use serde_json::Value;

/// A kernel log whose `slow_init` takes so long.
fn log(dir: &Path, name: &str, slow_ms: u64) -> PathBuf {
    let end = 200_000 + slow_ms * 1000;
    let at = |us: u64| format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
    let text = format!(
        "[    0.000000] Linux version 6.1.0 (gcc) #1 SMP\n\
         [    0.150000] calling  slow_init+0x0/0x40 @ 1\n\
         [    {}] initcall slow_init+0x0/0x40 returned 0 after {} usecs\n\
         [    {}] Run /sbin/init as init process\n\
         [    {}] app: READY\n",
        at(end),
        end - 150_000,
        at(end + 100_000),
        at(end + 300_000),
    );
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn check(dir: &Path, args: &[&str]) -> Command {
    let mut command = bootlap(dir);
    command.arg("check").args(args).args(["--ready", "READY"]);
    command
}

/// What a check printed, and the exit code that it ended with.
fn said(command: &mut Command) -> (Option<i32>, String) {
    let out = command.output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    (
        out.status.code(),
        text + &String::from_utf8_lossy(&out.stderr),
    )
}

#[test]
fn a_first_budget_is_kept_until_something_grows() {
    let dir = scratch("check-first");
    log(&dir, "good.txt", 500);
    log(&dir, "bad.txt", 900);
    let init = [
        "good.txt",
        "--budget",
        "b.toml",
        "--init",
        "--headroom",
        "10%",
    ];
    let (code, text) = said(&mut check(&dir, &init));
    assert_eq!(code, Some(0), "{text}");
    // It is never written over.
    let text = failure(&mut check(&dir, &init), 2);
    assert!(text.contains("cannot write b.toml"), "{text}");

    let kept = json(&mut check(
        &dir,
        &["good.txt", "--budget", "b.toml", "--json"],
    ));
    assert_eq!(kept["state"], "ok", "{kept}");
    let (code, text) = said(&mut check(&dir, &["bad.txt", "--budget", "b.toml"]));
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("initcall slow_init"), "{text}");
    let widths = text.lines().map(unicode_width::UnicodeWidthStr::width);
    assert!(widths.max().unwrap() <= 80, "{text}");
}

#[test]
fn ci_servers_are_told_what_broke_and_where() {
    let dir = scratch("check-ci");
    log(&dir, "good.txt", 500);
    log(&dir, "bad, 100%:2.txt", 900);
    let budget = "format = 1\n\n[limits]\ntotal = \"1.2 s\"\n\n[limits.span]\n\
                  \"initcall slow_init\" = \"1 s\"\n\"unit a\\nb.service\" = \"1 s\"\n";
    fs::write(dir.join("b,1.toml"), budget).unwrap();
    let args = [
        "bad, 100%:2.txt",
        "--baseline",
        "good.txt",
        "--budget",
        "b,1.toml",
    ];
    let (code, text) = said(check(&dir, &args).args(["--github", "--junit", "o.xml"]));
    assert_eq!(code, Some(3), "{text}");
    let commands: Vec<&str> = text.lines().filter(|l| l.starts_with("::")).collect();
    assert_eq!(commands.len(), 2, "{text}");
    assert!(
        commands[0].starts_with("::error file=b%2C1.toml,line=4,title="),
        "{text}"
    );
    let (properties, message) = commands[0][8..].split_once("::").unwrap();
    assert!(
        !properties.contains('%') || properties.contains("%2C"),
        "{properties}"
    );
    assert!(
        message.contains("%0Agrew: initcall slow_init +400.0 ms"),
        "{message}"
    );
    assert!(
        commands[1].starts_with("::warning file=b%2C1.toml,line=8,"),
        "{text}"
    );

    let xml = fs::read_to_string(dir.join("o.xml")).unwrap();
    assert!(xml.contains("tests=\"3\" failures=\"1\""), "{xml}");
    assert_eq!(xml.matches("<testcase ").count(), 3);
    assert_eq!(xml.matches("<failure ").count(), 1);
    assert_eq!(xml.matches("<skipped ").count(), 1);
    // Written again in each job; strict makes the unknown one broken.
    let strict = ["good.txt", "--budget", "b,1.toml", "--junit", "o.xml"];
    assert_eq!(said(&mut check(&dir, &strict)).0, Some(0));
    assert_eq!(said(check(&dir, &strict).arg("--strict")).0, Some(3));
}

#[test]
fn what_cannot_be_judged_says_so() {
    let dir = scratch("check-unknown");
    log(&dir, "good.txt", 500);
    log(&dir, "bad.txt", 900);
    fs::write(
        dir.join("b.toml"),
        "format = 1\n[regression]\ntotal = \"1 %\"\n",
    )
    .unwrap();
    // One boot of a board against one: nobody can know.
    let args = [
        "bad.txt",
        "--baseline",
        "good.txt",
        "--budget",
        "b.toml",
        "--json",
    ];
    let judged = json(&mut check(&dir, &args));
    assert_eq!(judged["state"], "unknown");
    assert!(
        judged["limits"][0]["why"]
            .as_str()
            .unwrap()
            .contains("chance"),
        "{judged}"
    );
    // A boot that never got ready breaks what is said of the total.
    let mut command = bootlap(&dir);
    command.args(["check", "bad.txt", "--budget", "b.toml", "--ready", "NEVER"]);
    let (code, text) = said(&mut command);
    assert!(
        code == Some(3) && text.contains("never got ready"),
        "{text}"
    );
    // One of which nobody said what ready is did not fail to get there.
    let mut command = bootlap(&dir);
    command.args(["check", "bad.txt", "--budget", "b.toml"]);
    let (code, text) = said(&mut command);
    assert!(
        code != Some(3) && text.contains("--ready REGEX") && !text.contains("never"),
        "{text}"
    );
}

#[test]
fn nothing_tells_where_the_files_lay() {
    let dir = scratch("check-private");
    let a = log(&dir, "a b.txt", 500).display().to_string();
    let b = log(&dir, "b.txt", 500).display().to_string();
    let budget = dir.join("budget.toml").display().to_string();
    let missing = dir.join("no such.toml").display().to_string();
    let (_, text) = said(&mut check(&dir, &[&a, "--budget", &missing]));
    let quoted = format!("--budget '{missing}' --init");
    assert!(text.contains(&quoted), "{text}");
    let (code, text) = said(&mut check(&dir, &[&a, &b, "--budget", &budget, "--init"]));
    assert_eq!(code, Some(0), "{text}");
    let judge = [&*a, &b, "--budget", &budget, "--baseline", &b];
    let private = dir.display().to_string();
    for more in [&["--json"][..], &[], &["--github"], &["--junit", "j.xml"]] {
        let (code, text) = said(check(&dir, &judge).args(more));
        assert_eq!(code, Some(0), "{text}");
        let written = fs::read_to_string(dir.join("j.xml")).unwrap_or_default();
        assert!(!(text + &written).contains(&private), "{more:?}");
    }
    let told = json(check(&dir, &judge).arg("--json"));
    assert_eq!(told["boots"][0], "a b.txt");
}

#[test]
fn mistakes_are_told_before_anything_is_booted() {
    let dir = scratch("check-wrong");
    log(&dir, "good.txt", 500);
    let wrong = |budget: &str, args: &[&str]| {
        fs::write(dir.join("b.toml"), budget).unwrap();
        failure(
            check(&dir, &["good.txt", "--budget", "b.toml"]).args(args),
            2,
        )
    };
    let said = wrong("format = 1\n[limits]\ntotl = \"2 s\"\n", &[]);
    assert!(
        said.contains("b.toml:3: unknown key \"totl\"; did you mean \"total\"?"),
        "{said}"
    );
    let fine = "format = 1\n[limits]\ntotal = \"2 s\"\n";
    assert!(wrong(fine, &["--junit", "good.txt"]).contains(".xml"));
    assert!(wrong(fine, &["--history", "h", "--baseline", "x"]).contains("--history"));
    let said = failure(&mut check(&dir, &["good.txt", "--budget", "none.toml"]), 2);
    assert!(said.contains("--init"), "{said}");
    assert!(!dir.join("runs").exists());
}

/// Text as compressible as configuration is: the kernel's work of unpacking it.
fn text(size: usize) -> String {
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let mut words = Vec::new();
    for _ in 0..3000 {
        let length = 2 + draw(8);
        let word: Vec<u8> = (0..length).map(|_| b'a' + draw(26) as u8).collect();
        words.push(String::from_utf8(word).unwrap());
    }
    let mut all = String::new();
    while all.len() < size {
        all += &words[draw(3000) as usize];
        all.push(' ');
    }
    all
}

/// Docs/tables/check.md has the rates, of many more boots.
#[test]
fn a_thousandth_of_the_kernels_work_is_caught_in_real_boots() {
    let dir = scratch("check-boots");
    let mut apply = bootlap(&dir);
    apply.arg("apply").arg(kiosk()).args([
        "uboot-bootdelay",
        "fit-no-hash",
        "kernel-compression=none",
        "cmdline-no-crypto-tests",
        "-o",
        "build",
    ]);
    assert!(apply.output().unwrap().status.success());
    let budget = "format = 1\n[limits]\ntotal = \"1 min\"\n\
                  [regression.phase-instructions]\nkernel = \"0.05 %\"\n";
    fs::write(dir.join("b.toml"), budget).unwrap();
    let checked = |args: &[&str]| {
        let mut command = bootlap(&dir);
        command.args(["check", "build", "-k", "6", "--budget", "b.toml", "--json"]);
        let out = command.args(args).output().unwrap();
        let value: Value = serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
        (out.status.code(), value)
    };
    let (_, first) = checked(&["--runs", "before"]);
    assert_eq!(first["limits"][0]["state"], "ok", "{first}");
    let run = first["boots"][0].as_str().unwrap();
    let baseline = Path::new(run).parent().unwrap().to_str().unwrap();

    // The very same build is the very same boot.
    let mut again = bootlap(&dir);
    again.args([
        "check",
        "--json",
        "--budget",
        "b.toml",
        "--baseline",
        baseline,
    ]);
    let same = json(again.arg(baseline));
    assert_eq!(same["state"], "ok", "{same}");
    assert_eq!(
        same["limits"][1]["growth"]["interval"],
        serde_json::json!([0, 0])
    );

    let share = dir.join("build/initramfs/usr/share");
    fs::create_dir_all(&share).unwrap();
    fs::write(share.join("extra"), text(18_000)).unwrap();
    let (code, more) = checked(&["--baseline", baseline]);
    assert_eq!(code, Some(3), "{more}");
    let kernel = &more["limits"][1];
    assert_eq!(kernel["state"], "broken", "{more}");
    assert_eq!(kernel["growth"]["how"], "pairs");
    let growth = &kernel["growth"];
    let share = growth["shift"].as_f64().unwrap() / growth["before"].as_f64().unwrap();
    assert!((0.0005..0.002).contains(&share), "{share}");
    assert_eq!(kernel["causes"][0]["name"], "unpack initramfs", "{kernel}");
}

#[test]
fn a_merge_request_gets_the_verdict_and_the_boot() {
    let dir = scratch("check-out");
    let boot = root().join("tests/boots/debian13-systemd257/console.stamps.gz");
    let check = |more: &[&str]| {
        let mut check = bootlap(&dir);
        check
            .arg("check")
            .arg(&boot)
            .args(["--ready", "APP_READY", "--budget", "budget.toml"]);
        check.args(more);
        check
    };
    fs::write(
        dir.join("budget.toml"),
        "format = 1\n[limits]\ntotal = \"2 s\"\nconsole-bytes = \"1 M\"\n",
    )
    .unwrap();
    let out = ["-o", "comment.md", "-o", "boot.html", "-o", "boot.svg"];
    failure(&mut check(&out), 3);
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
    let comment = read("comment.md");
    assert!(comment.contains("breaks 1 of 2 limits"), "{comment}");
    assert!(
        comment.contains("| ✗ | total | 13.578 s |  | 2.000 s |"),
        "{comment}"
    );
    assert!(
        comment.contains("<details>") && comment.contains("user space"),
        "{comment}"
    );
    assert!(read("boot.html").contains("<html") && read("boot.svg").starts_with("<svg"));
    let unknown = failure(&mut check(&["-o", "boot.doc"]), 2);
    assert!(unknown.contains(".html"), "{unknown}");
}
