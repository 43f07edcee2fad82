//! What commands print: within the width, with colours on terminals only, and
//! as JSON that follows the schemas that are checked in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{bootlap, json, root, scratch, succeeded};
use unicode_width::UnicodeWidthStr;

const BYS: [&str; 8] = [
    "phases",
    "spans",
    "initcalls",
    "units",
    "processes",
    "functions",
    "gaps",
    "deltas",
];
const WIDTHS: [usize; 5] = [40, 60, 80, 100, 200];

/// Evidence of some boots: a real one seen five ways, a real bootchart, a trace
/// of functions, and a console whose every line is wide, long or coloured.
fn boots(dir: &Path) -> Vec<Vec<PathBuf>> {
    let real = root().join("tests/boots/debian13-systemd257");
    let real = fs::read_dir(real).unwrap().map(|e| e.unwrap().path());
    let mut real: Vec<_> = real.filter(|p| !p.ends_with("README.md")).collect();
    real.sort();
    let fixture = |path: &str| root().join("tests/fixtures").join(path);
    vec![
        real,
        vec![fixture("bootchart/busybox-1.37.0/trixie-systemd257/parts")],
        vec![fixture("ftrace/handmade/hostile/input")],
        vec![fixture("kfi/handmade/hostile/input")],
        vec![hostile(dir)],
    ]
}

fn hostile(dir: &Path) -> PathBuf {
    let texts = [
        "設定サービスの開始".repeat(20),
        "e\u{301}".repeat(150),
        "\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b[2J\u{202e}right to left ".repeat(9),
        "one_very_long_word".repeat(30),
        "👩🏽‍🚀 한글 ".repeat(40),
    ];
    let mut log = String::from("[    0.000000] Linux version 6.1.0\n");
    for (at, text) in texts.iter().enumerate() {
        log += &format!("[    {at}.100000] calling  {text}+0x0/0x10 @ 1\n");
        log +=
            &format!("[    {at}.500000] initcall {text}+0x0/0x10 returned 0 after 400000 usecs\n");
        log += &format!("[    {at}.900000] {text}\n");
    }
    let name = format!("{}\x1b[31m{}.txt", "ログ".repeat(20), "x".repeat(90));
    let path = dir.join(name);
    fs::write(&path, log).unwrap();
    path
}

/// The commands that print tables and need no machine.
fn commands(boot: &[PathBuf]) -> Vec<(Vec<String>, Vec<PathBuf>)> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut all = vec![
        (words("show --ready APP_READY"), boot.to_vec()),
        (words("inspect"), boot.to_vec()),
        (words("advise"), vec![boot[0].clone()]),
        (words("recipes"), Vec::new()),
        (words("rules"), Vec::new()),
    ];
    for by in BYS {
        all.push((words(&format!("show --limit 12 --by {by}")), boot.to_vec()));
    }
    all
}

/// Runs `command` with its output in a pipe; what it printed.
fn piped(command: &mut Command) -> String {
    command.env("LC_ALL", "C.UTF-8");
    let out = succeeded(command);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(!said.contains('\x1b'), "{said}");
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn every_table_fits_the_width_and_a_pipe_gets_no_escape() {
    let dir = scratch("terminal-width");
    for boot in boots(&dir) {
        for (args, files) in commands(&boot) {
            for width in WIDTHS {
                let mut command = bootlap(&dir);
                command.args(&args).args(&files);
                command.env("COLUMNS", width.to_string());
                let text = piped(&mut command);
                assert!(!text.contains('\x1b'), "{command:?}: {text}");
                for line in text.lines() {
                    assert!(line.width() <= width, "{width}: {args:?}: {line}");
                }
            }
        }
    }
}

#[test]
fn errors_do_not_control_the_terminal() {
    let dir = scratch("terminal-errors");
    let name = "no\x1b[31m\x1b]0;title\x07file";
    for args in [["show", name], ["boot", name], ["advise", name]] {
        let out = bootlap(&dir).args(args).output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(!out.status.success() && said.contains("title"), "{said}");
        let acts = |c: char| c.is_control() && c != '\n';
        assert!(!said.contains(acts), "{said:?}");
    }
}

#[test]
fn a_pipe_is_eighty_columns_wide_and_a_plain_locale_gets_ascii() {
    let dir = scratch("terminal-pipe");
    let boot = &boots(&dir)[0];
    for (args, files) in commands(boot) {
        let mut command = bootlap(&dir);
        command.args(&args).args(&files).env_remove("COLUMNS");
        let unset = piped(&mut command);
        for width in ["80", "", "wide"] {
            let mut command = bootlap(&dir);
            command.args(&args).args(&files).env("COLUMNS", width);
            assert_eq!(piped(&mut command), unset, "{args:?} {width}");
        }
        let mut command = bootlap(&dir);
        command.args(&args).args(&files).env("LC_ALL", "C");
        let out = command.output().unwrap().stdout;
        assert!(out.is_ascii(), "{}", String::from_utf8_lossy(&out));
    }
}

/// Runs `command` on a terminal of so many columns, with more variables; what
/// the terminal got.
fn on_terminal(command: &Command, columns: usize, set: (&str, &str)) -> String {
    let words = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    let words = words.map(|word| format!("'{}'", word.to_str().unwrap()));
    let line = words.collect::<Vec<_>>().join(" ");
    let out = Command::new("script")
        .args(["-qec", &format!("stty cols {columns} rows 50; {line}")])
        .arg("/dev/null")
        .envs([("LC_ALL", "C.UTF-8"), ("TERM", "xterm"), set])
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR")
        // It is for pipes.
        .env("COLUMNS", "7")
        .envs([set])
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|e| panic!("script (of bsdutils) does not run: {e}"));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success(), "{line}: {text}");
    text
}

/// The text without our colours; any other escape stays.
fn without_colors(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once('m') {
            Some((sgr, rest)) if sgr.bytes().all(|b| matches!(b, b'0'..=b'9' | b';')) => {
                plain += rest;
            }
            _ => panic!("not a colour: {piece:?}"),
        }
    }
    plain
}

#[test]
fn a_terminal_gets_colours_unless_they_are_turned_off() {
    let dir = scratch("terminal-colours");
    let all = boots(&dir);
    for boot in [&all[0], all.last().unwrap()] {
        for (args, files) in commands(boot) {
            let mut command = bootlap(&dir);
            command.args(&args).args(&files);
            for columns in [40, 100] {
                let colored = on_terminal(&command, columns, ("SET", "nothing"));
                let plain = without_colors(&colored);
                assert!(!plain.contains('\x1b'), "{plain}");
                // `rules` of a narrow page is names and titles, coloured too.
                let said_nothing = plain.contains("Nothing ") || plain.contains("No ");
                assert!(colored != plain || said_nothing, "{args:?}: {plain}");
                for line in plain.lines() {
                    assert!(line.width() <= columns, "{columns}: {args:?}: {line}");
                }
                let off = [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")];
                for set in off {
                    assert_eq!(on_terminal(&command, columns, set), plain, "{set:?}");
                }
            }
        }
    }
}

#[test]
fn everything_that_prints_a_table_prints_json() {
    let dir = scratch("terminal-json");
    for boot in boots(&dir) {
        for (args, files) in commands(&boot) {
            let mut command = bootlap(&dir);
            // Checked against the schema.
            let value = json(command.args(&args).arg("--json").args(&files));
            let by = args
                .iter()
                .position(|a| a == "--by")
                .map(|at| &args[at + 1]);
            if let Some(by) = by {
                assert_eq!(value["by"], **by);
                let rows = value["rows"].as_array().unwrap().len();
                let all = value["all"].as_u64().unwrap();
                assert!(rows <= 12 || by == "phases", "{by}: {rows}");
                assert!(rows as u64 <= all, "{by}: {rows} of {all}");
            }
        }
    }
    let of = |boot: usize, args: &[&str]| {
        let mut command = bootlap(&dir);
        json(command.args(args).arg("--json").args(&boots(&dir)[boot]))
    };
    // Each table has rows in one of the boots.
    let units = of(0, &["show", "--ready", "APP_READY", "--by", "units"]);
    assert_eq!(units["path"]["to"], "ready");
    assert!(units["path"]["steps"].as_array().unwrap().len() > 3);
    let processes = of(1, &["show", "--by", "processes", "--prune"]);
    assert!(processes["hidden"]["short"].as_u64().unwrap() > 0);
    let rows = processes["rows"].as_array().unwrap();
    for row in rows.iter().filter(|row| row["parent"].is_u64()) {
        let parent = &rows[row["parent"].as_u64().unwrap() as usize];
        assert_eq!(
            parent["depth"].as_u64().unwrap() + 1,
            row["depth"].as_u64().unwrap()
        );
    }
    for (boot, by) in [
        (3, "functions"),
        (4, "initcalls"),
        (0, "gaps"),
        (0, "deltas"),
    ] {
        let table = of(boot, &["show", "--by", by]);
        assert!(!table["rows"].as_array().unwrap().is_empty(), "{by}");
    }
    // The same rows as the table for people.
    let all = of(4, &["show", "--by", "initcalls", "--limit", "0"]);
    // Two of the names have spaces, so these lines are no initcalls.
    assert_eq!(all["all"], 3);
    let found = of(4, &["show", "--by", "initcalls", "--grep", "very_long"]);
    assert_eq!(found["rows"].as_array().unwrap().len(), 1);
}
