//! Start-up scripts, by their text in a target's initramfs.
//!
//! Which of their lines run, and how often, a text does not tell; so these
//! findings leave open how much they save.

use super::checks;
use crate::{Boot, Finding};

checks! {
    "script-sleep" => sleep,
    "script-wait-loop" => wait_loop,
    "script-useless-cat" => cat,
    "script-external-tools" => tools,
    "script-bash" => bash,
    "script-interpreter" => interpreter,
    "script-mdev" => mdev,
}

/// A script's path and its lines, without comments and blank lines.
struct Script<'a> {
    path: String,
    shebang: &'a str,
    lines: Vec<&'a str>,
}

/// Larger files are no start-up scripts.
const MAX_BYTES: usize = 256 * 1024;

/// Where start-up scripts lie; what else is a script need not run at boot.
const PLACES: [&str; 7] = [
    "init",
    "linuxrc",
    "sbin/init",
    "etc/init.d/",
    "etc/rc",
    "etc/profile",
    "scripts/",
];

/// The start-up scripts of the target.
fn scripts<'a>(boot: &Boot<'a>) -> Vec<Script<'a>> {
    let Some((_, parts)) = boot.target() else {
        return Vec::new();
    };
    let script = |(path, bytes): (&[u8], &'a [u8])| {
        let path = String::from_utf8_lossy(path).into_owned();
        let is_place = PLACES.iter().any(|p| match p.ends_with(['/', 'c']) {
            true => path.starts_with(p),
            false => path == *p,
        });
        let text = str::from_utf8(bytes)
            .ok()
            .filter(|_| bytes.len() <= MAX_BYTES && is_place)?;
        let shebang = text.lines().next().filter(|l| l.starts_with("#!"))?;
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty() && !l.starts_with('#'));
        Some(Script {
            path,
            shebang,
            lines: lines.collect(),
        })
    };
    parts.initramfs_files().filter_map(script).collect()
}

/// The lines of shell scripts that `wanted` accepts, as `path: line`.
fn shell_lines(boot: &Boot<'_>, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for script in scripts(boot).iter().filter(|s| s.shebang.contains("sh")) {
        let lines = script.lines.iter().filter(|l| wanted(l));
        found.extend(lines.map(|l| format!("/{}: {}", script.path, short(l))));
    }
    found
}

/// The beginning of a line.
fn short(line: &str) -> String {
    line.chars().take(60).collect()
}

/// Some of what was found, and how much more there is.
fn some_of(found: &[String]) -> String {
    let shown = found.iter().take(3).map(String::as_str);
    let shown: Vec<&str> = shown.collect();
    match found.len().saturating_sub(shown.len()) {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

/// The commands of a line, without what they are part of.
fn commands(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split([';', '|', '&', '`', '(', ')']);
    parts.map(|part| {
        let part = part.trim_start_matches(['$', '"', ' ', '{']);
        let words = ["then ", "do ", "else ", "if ", "while ", "until ", "! "];
        let mut part = part.trim();
        while let Some(rest) = words.iter().find_map(|w| part.strip_prefix(w)) {
            part = rest.trim();
        }
        part
    })
}

/// What sleeps longer, s, is no part of a boot: `while true; do sleep 3600; done`.
const LONGEST_SLEEP_S: f64 = 60.0;

/// The seconds that a line sleeps.
fn sleeps(line: &str) -> Option<f64> {
    let sleep = |command: &str| {
        let (name, rest) = command.split_once(' ')?;
        let number = rest.split_whitespace().next()?;
        match name {
            "sleep" => number.trim_end_matches('s').parse::<f64>().ok(),
            "usleep" => number.parse::<f64>().ok().map(|us| us / 1e6),
            _ => None,
        }
    };
    let seconds: f64 = commands(line).filter_map(sleep).sum();
    (seconds > 0.0 && seconds <= LONGEST_SLEEP_S).then_some(seconds)
}

fn sleep(boot: &Boot<'_>) -> Option<Finding> {
    let found = shell_lines(boot, |l| sleeps(l).is_some());
    let seconds: f64 = scripts(boot)
        .iter()
        .flat_map(|s| s.lines.iter().filter_map(|l| sleeps(l)))
        .sum();
    (!found.is_empty()).then(|| {
        Finding::new().why(some_of(&found)).saves_unknown(format!(
            "{seconds} s if each line runs once; a text does not tell"
        ))
    })
}

fn wait_loop(boot: &Boot<'_>) -> Option<Finding> {
    let is_loop = |l: &str| {
        let tests = ["-e /dev/", "-b /dev/", "-c /dev/", "-e /sys/"];
        (l.starts_with("while ") || l.starts_with("until ")) && tests.iter().any(|t| l.contains(t))
    };
    let found = shell_lines(boot, is_loop);
    (!found.is_empty()).then(|| {
        Finding::new()
            .why(some_of(&found))
            .saves_unknown("half a step of the poll, and the load of what waits")
    })
}

fn cat(boot: &Boot<'_>) -> Option<Finding> {
    let is_cat = |l: &str| {
        let piped = l.split_once("cat /").is_some_and(|(before, rest)| {
            let starts = before.is_empty() || before.ends_with([' ', '`', '(', ';']);
            starts
                && rest
                    .split_once('|')
                    .is_some_and(|(file, _)| !file.trim().contains([' ', ')']))
        });
        piped || l.contains("$(cat /") || l.contains("`cat /")
    };
    let found = shell_lines(boot, is_cat);
    (found.len() >= 3).then(|| {
        Finding::new()
            .why(some_of(&found))
            .saves_unknown("a process for each time such a line runs: 1 to 5 ms on a small board")
    })
}

fn tools(boot: &Boot<'_>) -> Option<Finding> {
    let starts = [
        "$(expr ",
        "`expr ",
        "$(basename ",
        "`basename ",
        "$(dirname ",
        "`dirname ",
    ];
    let filters = [
        "| cut ", "| awk ", "| sed ", "| tr ", "|cut ", "|awk ", "|sed ",
    ];
    let is_word = |l: &str| {
        let echo = l.contains("$(echo ") || l.contains("`echo ");
        starts.iter().any(|s| l.contains(s)) || echo && filters.iter().any(|f| l.contains(f))
    };
    let found = shell_lines(boot, is_word);
    (found.len() >= 5).then(|| {
        Finding::new()
            .why(some_of(&found))
            .saves_unknown("a process or two for each time such a line runs")
    })
}

fn bash(boot: &Boot<'_>) -> Option<Finding> {
    let all = scripts(boot);
    let by_bash = all
        .iter()
        .filter(|s| s.shebang.contains("/bash") || s.shebang.ends_with("env bash"));
    let found: Vec<String> = by_bash.map(|s| format!("/{}", s.path)).collect();
    (!found.is_empty()).then(|| {
        Finding::new()
            .why(some_of(&found))
            .saves_unknown("the difference of two shells' starts for each; measure it")
    })
}

fn interpreter(boot: &Boot<'_>) -> Option<Finding> {
    let is_one = |c: &str| {
        let name = c.split_whitespace().next().unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default();
        name.starts_with("python") || name == "perl"
    };
    let mut found = shell_lines(boot, |l| commands(l).any(is_one));
    for script in scripts(boot) {
        let program = script.shebang.trim_start_matches("#!").trim();
        let program = program.strip_prefix("/usr/bin/env ").unwrap_or(program);
        if is_one(program) {
            found.push(format!("/{}: {}", script.path, script.shebang));
        }
    }
    (!found.is_empty()).then(|| {
        Finding::new()
            .why(some_of(&found))
            .saves_unknown("its start and what it loads, each time; measure it")
    })
}

fn mdev(boot: &Boot<'_>) -> Option<Finding> {
    let found = shell_lines(boot, |l| commands(l).any(|c| c.contains("mdev -s")));
    let mounted = !shell_lines(boot, |l| l.contains("mount") && l.contains("devtmpfs")).is_empty();
    let by_kernel = boot
        .kernel_config()
        .is_some_and(|c| c.is_on("DEVTMPFS_MOUNT"));
    (!found.is_empty() && (mounted || by_kernel)).then(|| {
        Finding::new()
            .why(some_of(&found))
            .saves_unknown("its walk through /sys; leave it out once to see")
    })
}
