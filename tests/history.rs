//! `bootlap history`: results over commits.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{bootlap, failure, json, scratch, succeeded};
use serde_json::Value;

/// A boot of a board that took so long, as a log.
fn log(dir: &Path, ready_ms: u64) {
    let text = format!(
        "[    0.000000] Linux version 6.1.0 (gcc) #1 SMP\n\
         [    0.400000] Run /sbin/init as init process\n\
         [    {}.{:03}000] app: READY\n",
        ready_ms / 1000,
        ready_ms % 1000
    );
    fs::write(dir.join("log.txt"), text).unwrap();
}

fn add(dir: &Path, commit: &str, date: &str) -> Command {
    let mut command = bootlap(dir);
    command.args([
        "history", "add", "log.txt", "--to", "results", "--ready", "READY",
    ]);
    command.args(["--commit", commit, "--date", date]);
    command
}

fn added(dir: &Path, commit: &str, date: &str) {
    succeeded(&mut add(dir, commit, date));
}

/// Twelve results, slower by 60 ms from the ninth on.
fn twelve(dir: &Path) {
    // The order of adding does not matter.
    for n in [3, 0, 1, 2, 11, 10, 4, 5, 6, 7, 8, 9] {
        let noise = [0, 3, 1, 2, 4, 1, 0, 2, 3, 1, 2, 0][n as usize];
        log(dir, 1200 + noise + if n >= 8 { 60 } else { 0 });
        added(
            dir,
            &format!("c{n}"),
            &format!("2026-11-{:02}T08:00:00+02:00", n + 1),
        );
    }
}

fn show(dir: &Path, args: &[&str]) -> Command {
    let mut command = bootlap(dir);
    command.args(["history", "show", "results"]).args(args);
    command
}

#[test]
fn a_change_has_its_commit() {
    let dir = scratch("history-change");
    twelve(&dir);
    let args = ["--json", "--csv", "trend.csv", "-o", "trend.html"];
    let history = json(&mut show(&dir, &args));
    assert_eq!(history["results"].as_array().unwrap().len(), 12);
    assert_eq!(history["results"][0]["date"], "2026-11-01T06:00:00Z");
    let total = &history["metrics"][0];
    assert_eq!(total["name"], "total_ns");
    assert_eq!(total["changes"].as_array().unwrap().len(), 1, "{total}");
    let change = &total["changes"][0];
    assert_eq!(
        (change["at"].as_u64(), change["commit"].as_str()),
        (Some(8), Some("c8"))
    );

    let csv = fs::read_to_string(dir.join("trend.csv")).unwrap();
    let mut lines = csv.lines();
    let head = lines.next().unwrap();
    assert!(head.starts_with("time,commit,total_ns,"), "{head}");
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("2026-11-01T06:00:00Z,c0,1200000000,"),
        "{csv}"
    );
    let page = fs::read_to_string(dir.join("trend.html")).unwrap();
    assert!(
        page.contains("default-src 'none'") && !page.contains("<script"),
        "{page}"
    );
    assert_eq!(page.matches("class=\"dot\"").count() % 12, 0);

    let out = show(&dir, &["-o", "trend.md"]).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        text.contains("c8") && text.contains("(+4.994 %), ") && text.contains("× the noise"),
        "{text}"
    );
    let widths = text.lines().map(unicode_width::UnicodeWidthStr::width);
    assert!(widths.max().unwrap() <= 80, "{text}");
    assert!(
        fs::read_to_string(dir.join("trend.md"))
            .unwrap()
            .contains("c8")
    );
}

#[test]
fn a_check_goes_by_what_came_after_the_last_change() {
    let dir = scratch("history-check");
    twelve(&dir);
    fs::write(
        dir.join("b.toml"),
        "format = 1\n[regression]\ntotal = \"1 %\"\n",
    )
    .unwrap();
    log(&dir, 1262);
    let mut command = bootlap(&dir);
    command.args([
        "check", "log.txt", "--ready", "READY", "--json", "--budget", "b.toml",
    ]);
    let judged = json(command.args(["--history", "results"]));
    let growth = &judged["limits"][0]["growth"];
    // Four results came after the change; one boot against them is too few.
    assert_eq!(growth["samples"], serde_json::json!([4, 1]));
    assert_eq!(growth["before"].as_i64(), Some(1_261_500_000));
    assert_eq!(judged["state"], "unknown", "{judged}");
}

#[test]
fn every_result_is_a_file_of_its_own() {
    let dir = scratch("history-files");
    log(&dir, 1200);
    let hostile = "</script><img src=x onerror=alert(1)>,=1+1\"";
    added(&dir, hostile, "2026-11-01T00:00:00Z");
    added(&dir, hostile, "2026-11-01T00:00:00Z");
    let mut files: Vec<String> = fs::read_dir(dir.join("results"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files.len(), 2, "nothing is written over: {files:?}");
    assert!(
        files[0].starts_with("2026-11-01T00-00-00Z_--script"),
        "{files:?}"
    );
    let args = ["--json", "-o", "t.html", "--csv", "t.csv"];
    let history = json(&mut show(&dir, &args));
    assert_eq!(history["results"][1]["commit"], hostile);
    let page = fs::read_to_string(dir.join("t.html")).unwrap();
    assert!(
        !page.contains("<img") && !page.contains("<script"),
        "{page}"
    );
    // What a killed writer leaves is no result.
    fs::write(dir.join("results/.x.json.1.partial"), "{").unwrap();
    json(&mut show(&dir, &["--json"]));
    // Somebody's later version may say more.
    let path = dir.join("results").join(&files[0]);
    let mut entry: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    entry["weather"] = "fine".into();
    fs::write(&path, entry.to_string()).unwrap();
    json(&mut show(&dir, &["--json"]));
    fs::write(&path, "{\"format\": 1").unwrap();
    let said = failure(&mut show(&dir, &[]), 4);
    assert!(
        said.contains(&files[0]) && said.contains("not a result"),
        "{said}"
    );
}

#[test]
fn mistakes_are_told() {
    let dir = scratch("history-wrong");
    log(&dir, 1200);
    assert!(failure(&mut show(&dir, &[]), 4).contains("history add"));
    let said = failure(&mut add(&dir, "c", "yesterday"), 2);
    assert!(said.contains("2026-11-21T20:30:00Z"), "{said}");
    added(&dir, "c", "2026-11-01T00:00:00Z");
    assert!(failure(&mut show(&dir, &["-o", "t.pdf"]), 2).contains(".html"));
    let said = failure(&mut show(&dir, &["--csv", "results/t.csv"]), 2);
    assert!(said.contains("among the results"), "{said}");
    assert!(failure(&mut show(&dir, &["--least=-1"]), 2).contains("--least"));
}

#[test]
fn git_says_which_commit_it_was() {
    let dir = scratch("history-git");
    log(&dir, 1200);
    let git = |args: &[&str]| {
        let out = succeeded(
            Command::new("git")
                .current_dir(&dir)
                .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
                .args(args)
                .env("GIT_COMMITTER_DATE", "2026-10-01T10:00:00Z"),
        );
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    let head = git(&["rev-parse", "HEAD"]);
    let mut command = bootlap(&dir);
    command.args([
        "history", "add", "log.txt", "--to", "results", "--ready", "READY",
    ]);
    assert!(command.output().unwrap().status.success());
    let history = json(&mut show(&dir, &["--json"]));
    assert_eq!(history["results"][0]["commit"], head.as_str());
    assert_eq!(history["results"][0]["date"], "2026-10-01T10:00:00Z");
}
