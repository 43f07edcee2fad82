//! Fragments of scripts, run as they are and rewritten, in dash and in BusyBox's shell with
//! their own programs: output, errors, exit status, variables and files must be the same.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::*;

/// A fragment, and how many processes less it starts rewritten.
struct Fragment {
    text: String,
    forks: usize,
}

fn corpus() -> Vec<Fragment> {
    let all = include_str!("corpus.txt").split("\n\n").skip(1);
    let fragment = |paragraph: &str| {
        let (forks, text) = paragraph.split_once('\n').expect("a number and a fragment");
        Fragment {
            forks: forks.parse().expect("a number"),
            text: text.trim_end().to_owned(),
        }
    };
    all.map(fragment).collect()
}

/// Values of `$V`, each with something that one of the ways might trip over.
const VALUES: [&str; 22] = [
    "a",
    "",
    "a:b",
    "a:b:c d",
    "a b",
    " a  b ",
    "/usr/lib/a.sh",
    "/a",
    "a/b/",
    "//a//b",
    ".sh",
    "/",
    "-n",
    "-e a",
    "*",
    "back\\nslash",
    "one\ntwo:a",
    "7",
    "08",
    "123456789012",
    "a=b",
    "\u{fc}a",
];

/// Files that `$F` names, in `$D`.
const FILES: [(&str, &[u8]); 15] = [
    ("one", b"one line\n"),
    ("two", b"one line\nanother line\n"),
    ("open", b"one line"),
    ("empty", b""),
    ("blank", b"\n"),
    ("blanks", b"one line\n\n\n"),
    ("around", b"  one\tline  \n"),
    ("odd", b"one\\nline * ?[a] 'x' \"y\" $HOME `b`\n"),
    ("return", b"one line\r\n"),
    ("nul", b"one\0 line\n"),
    ("utf8", "one l\u{ef}ne\n".as_bytes()),
    ("latin", b"one l\xefne\n"),
    ("colon", b"line:b c:d\n"),
    (
        "cmdline",
        b"console=ttyS0,115200 root=/dev/sda1 debug quiet\n",
    ),
    ("-n", b"one line\n"),
];
const OTHERS: [&str; 3] = ["none", "dir", "link"];

/// Runs a fragment with each value and file that it mentions; what came of all of it.
fn run(text: &str, shell: &str, place: &Path, applets: &Path) -> String {
    fs::create_dir_all(place.join("work")).unwrap();
    let mut cases = String::new();
    let values: &[&str] = if text.contains("$V") { &VALUES } else { &["a"] };
    let names = FILES.iter().map(|(name, _)| *name).chain(OTHERS);
    // The command line of a kernel stands for a file that has no byte of zero.
    let cmdline = text.contains("/proc/cmdline");
    let text = text.replace("/proc/cmdline", "\"$D/$F\"");
    let names: Vec<&str> = match text.contains("$F") {
        true => names.filter(|name| !(cmdline && *name == "nul")).collect(),
        false => vec!["one"],
    };
    let ours: String = (1..30).map(|n| format!("{OURS}{n} ")).collect();
    let mut count = 0;
    for value in values {
        for name in &names {
            let quoted = value.replace('\'', "'\\''");
            let _ = writeln!(
                cases,
                "( mkdir ../out/{count}; D=${{PWD%/work}}/data O=${{PWD%/work}}/out/{count}; F='{name}' V='{quoted}' n=7; \
                 . ./fragment.sh; echo \"= $?\"; unset {ours}; set ) >../out/{count}.1 2>../out/{count}.2 </dev/null\n\
                 echo \"$?\" >../out/{count}.0"
            );
            count += 1;
        }
    }
    fs::create_dir_all(place.join("out")).unwrap();
    fs::write(place.join("work/fragment.sh"), &text).unwrap();
    let path = format!("{}:/usr/bin:/bin", applets.display());
    let mut words = shell.split(' ');
    let ran = Command::new(words.next().unwrap())
        .args(words)
        .args(["-c", &cases])
        .current_dir(place.join("work"))
        .env_clear()
        .env("PATH", path)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|e| panic!("{shell}: {e}; `scripts/setup test` installs it"));
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let mut said = String::new();
    for n in 0..count {
        let _ = writeln!(said, "case {n}:");
        for part in 0..3 {
            let file = place.join(format!("out/{n}.{part}"));
            let bytes = fs::read(&file).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let other = ["_=", "PPID=", "LINENO=", "RANDOM="];
            let lines = text
                .lines()
                .filter(|line| !other.iter().any(|o| line.starts_with(o)));
            lines.for_each(|line| said.push_str(&format!("{part} {line}\n")));
        }
        let mut left = Vec::new();
        tree(&place.join(format!("out/{n}")), "", &mut left);
        tree(&place.join("data"), "data", &mut left);
        left.sort();
        said.push_str(&left.join("\n"));
    }
    said
}

/// Files that fragments read; some change them, so each has its own.
fn files(data: &Path) {
    fs::create_dir_all(data.join("dir")).unwrap();
    for (name, bytes) in FILES {
        fs::write(data.join(name), bytes).unwrap();
    }
    std::os::unix::fs::symlink("one", data.join("link")).unwrap();
}

fn tree(folder: &Path, inside: &str, found: &mut Vec<String>) {
    use std::os::unix::fs::MetadataExt;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{inside}/{}", entry.file_name().to_string_lossy());
        let about = entry.metadata().unwrap();
        let content = match about.is_file() {
            true => fs::read(entry.path()).unwrap(),
            false => Vec::new(),
        };
        found.push(format!("{name} {:o} {content:?}", about.mode()));
        if about.is_dir() {
            tree(&entry.path(), &name, found);
        }
    }
}

/// `PATH` of a shell: BusyBox's programs for BusyBox's shell.
fn shells(work: &Path) -> [(&'static str, PathBuf); 2] {
    let applets = work.join("applets");
    fs::create_dir_all(&applets).unwrap();
    let done = Command::new("busybox")
        .args(["--install", "-s"])
        .arg(&applets)
        .status();
    let done = done.expect("BusyBox is there: `scripts/setup test` installs it");
    assert!(done.success());
    [("dash", work.join("none")), ("busybox sh", applets)]
}

#[test]
fn rewritten_scripts_do_the_same() {
    let work = tempfile::tempdir().unwrap();
    let shells = shells(work.path());
    let corpus = corpus();
    assert!(corpus.len() >= 200);
    let judged: Vec<Judged> = std::thread::scope(|scope| {
        let halves = corpus.chunks(corpus.len().div_ceil(2)).enumerate();
        let judges = halves.map(|(n, half)| {
            let shells = &shells;
            let place = work.path().join(format!("run{n}"));
            let judge = move |fragment| judge(fragment, &place, shells);
            scope.spawn(move || half.iter().map(judge).collect::<Vec<_>>())
        });
        let judges: Vec<_> = judges.collect();
        let judged = judges.into_iter().flat_map(|judge| judge.join().unwrap());
        judged.collect()
    });
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let head = include_str!("corpus.txt").split("\n\n").next().unwrap();
        let all = corpus.iter().zip(&judged);
        let all = all.map(|(fragment, judged)| format!("{}\n{}\n", judged.forks, fragment.text));
        let all = format!("{head}\n\n{}", all.collect::<Vec<_>>().join("\n"));
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/shell/tests/corpus.txt");
        fs::write(file, all).unwrap();
    }
    let wrong = judged.iter().flat_map(|judged| &judged.wrong);
    let wrong: Vec<&str> = wrong.map(String::as_str).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let rewritten = judged.iter().filter(|judged| judged.forks > 0).count();
    assert!(
        rewritten * 2 > corpus.len(),
        "{rewritten} of {}",
        corpus.len()
    );
}

/// What became of a fragment.
struct Judged {
    forks: usize,
    wrong: Vec<String>,
}

fn judge(fragment: &Fragment, place: &Path, shells: &[(&str, PathBuf)]) -> Judged {
    let old = format!("#!/bin/sh\n{}\n", fragment.text);
    let new = rewrite(&old, &Beside::default());
    let forks = new
        .as_ref()
        .map(|new| new.replaced.iter().map(|r| r.forks).sum());
    let forks = forks.unwrap_or(0);
    let mut wrong = Vec::new();
    if forks != fragment.forks {
        wrong.push(format!("{forks} processes less: {new:?}\nof {old}"));
    }
    let Ok(new) = new else {
        return Judged { forks, wrong };
    };
    if new.text.lines().count() != old.lines().count() + 1 {
        wrong.push(format!("other lines: {}", new.text));
    }
    for (shell, applets) in shells {
        // At the same place, as its path is among what they say.
        let ran = |text: &str| {
            files(&place.join("data"));
            let said = run(text, shell, place, applets);
            fs::remove_dir_all(place).unwrap();
            said
        };
        let (before, after) = (ran(&old), ran(&new.text));
        if before != after {
            let lines = before.lines().zip(after.lines()).find(|(a, b)| a != b);
            wrong.push(format!("{shell}: {lines:?}\nof {}", new.text));
        }
    }
    Judged { forks, wrong }
}

#[test]
fn what_is_not_a_shells_is_left_alone() {
    let none = Beside::default();
    let why = |script: &str| rewrite(script, &none).unwrap_err();
    assert!(why("mkdir -p /a\n").contains("names no shell"));
    assert!(why("#!/bin/bash\nmkdir -p /a\n").contains("bash"));
    assert!(why("#!/usr/bin/perl\n").contains("perl"));
    assert!(why("#!/bin/sh -x\nmkdir -p /a\n").contains("-x"));
    assert!(why("#!/bin/sh\nset -x\nmkdir -p /a\n").contains("set -x"));
    assert!(why("#!/bin/sh\nif mkdir -p /a\n").starts_with("line 3"));
    assert!(why("#!/bin/sh\necho a\n").contains("starts nothing"));
    let once = rewrite("#!/bin/sh\nmkdir -p /a\n", &none).unwrap();
    assert!(why(&rewrite("#!/bin/sh\nx=$(cat /a)\n", &none).unwrap().text).contains("before"));
    assert_eq!(once.replaced[0].line, 2);
    assert_eq!(once.replaced[0].old, "mkdir -p /a");
    // A function of a file that is read into the same shell may have any name.
    let taken = functions_of("mkdir () {\n:\n}\nfunction cat {\n:; }\n");
    assert_eq!(
        taken,
        BTreeSet::from(["cat".to_owned(), "mkdir".to_owned()])
    );
    let mut beside = Beside::default();
    beside.add("mkdir() {\n:\n}\n");
    assert!(rewrite("#!/bin/sh\nmkdir -p /a\n", &beside).is_err());
}

#[test]
fn deep_scripts_are_not_read() {
    for open in [
        "(",
        "{ ",
        "$(",
        "\"$(",
        "if ",
        "${x-",
        "${x-\"${y-",
        "`",
        "case $(",
    ] {
        let deep = format!("#!/bin/sh\n{}", open.repeat(20_000));
        assert!(rewrite(&deep, &Beside::default()).is_err(), "{open}");
    }
}

proptest! {
    /// Scripts of any bytes; and what is rewritten can be read again.
    #[test]
    fn any_text_is_read(parts in proptest::collection::vec(
        prop_oneof!["[ -~\n]{0,6}", Just("$(cat /a)".to_owned()), Just("\"$(".to_owned()),
            Just("; mkdir -p /x;".to_owned()), Just("<<E\n".to_owned()), Just("\nE\n".to_owned()),
            Just("case x in".to_owned()), Just("esac".to_owned()), Just("for i in ".to_owned()),
            Just("; do ".to_owned()), Just("; done".to_owned()), Just("`".to_owned()),
            Just("if x; then ".to_owned()), Just("; fi".to_owned()), Just("'".to_owned())], 0..14)) {
        let script = format!("#!/bin/sh\n{}", parts.concat());
        if let Ok(new) = rewrite(&script, &Beside::default()) {
            prop_assert!(read::read(&new.text).is_ok(), "{}", new.text);
        }
    }
}
