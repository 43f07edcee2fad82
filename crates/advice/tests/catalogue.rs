//! Every rule on evidence that it must see, and on evidence that it must not
//! be misled by: the files in `cases/` beside it.
//!
//! ```text
//! == hit saves 2000 ms        the rule finds something: `saves N ms`, `predicts N ms`,
//! -- log                      `unknown`, `fix WORDS`, `why WORDS`, or nothing to leave the rest open
//! U-Boot 2023.01
//! == miss why                 the rule finds nothing, and why not
//! -- cmdline
//! quiet
//! ```
//!
//! Sections of a case: `log`, `explained` (a boot with `initcall_debug`),
//! `cmdline`, `config`, `uboot-config`, `environment`. Logs are read as the
//! program reads a user's file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, io};

use bootlap_advice::{Boot, Facts, Finding, Rule, SavingKind, all};
use bootlap_artefact::uboot_env::UbootEnv;
use bootlap_kbuild::dot_config::DotConfig;
use bootlap_model::Timeline;
use bootlap_sources::ingest::{Given, Options, Piece, ingest};

/// Rules that only look at what a target brings along; `rules.rs` tests them.
const NEED_A_TARGET: &[&str] = &[
    "initramfs-compression",
    "kernel-unpacks-itself",
    "cmdline-rcu-expedited",
    // Text has no requests: its own file tests it.
    "disk-waits",
    "disk-read-again",
    // files.rs tests these.
    "script-sleep",
    "script-wait-loop",
    "script-useless-cat",
    "script-external-tools",
    "script-bash",
    "script-interpreter",
    "script-mdev",
    "script-builtins",
    "app-strip",
    "app-dynamic",
    "app-upx",
    "python-checked-modules",
];

struct Case {
    /// The rest of its first line, e.g. `hit saves 2000 ms`.
    want: String,
    sections: BTreeMap<String, String>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn cases(rule: &str) -> Vec<Case> {
    let path = folder().join(format!("{rule}.case"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut cases: Vec<Case> = Vec::new();
    let mut section = String::new();
    for line in text.lines() {
        if let Some(want) = line.strip_prefix("== ") {
            cases.push(Case {
                want: want.to_owned(),
                sections: BTreeMap::new(),
            });
        } else if let Some(name) = line.strip_prefix("-- ") {
            section = name.to_owned();
        } else if let Some(case) = cases.last_mut() {
            let text = case.sections.entry(section.clone()).or_default();
            text.push_str(line);
            text.push('\n');
        }
    }
    cases
}

fn timeline(log: Option<&String>) -> Timeline {
    let mut timeline = Timeline::default();
    if let Some(log) = log {
        let open = || Ok(Box::new(log.as_bytes()) as Box<dyn io::BufRead>);
        let piece = Piece {
            name: "log".into(),
            open: Box::new(open),
        };
        let given = Given {
            name: "log".into(),
            pieces: vec![piece],
        };
        ingest(vec![given], &Options::default(), &mut timeline).unwrap();
    }
    timeline
}

fn findings(rule: &Rule, case: &Case) -> Vec<Finding> {
    let section = |name: &str| case.sections.get(name);
    for name in case.sections.keys() {
        let known = "log explained cmdline config uboot-config environment countdown";
        assert!(known.split(' ').any(|k| k == name), "{}: {name}", rule.name);
    }
    let config = |name| section(name).map(|t| DotConfig::read(t.as_bytes()).unwrap());
    let facts = Facts {
        cmdline: section("cmdline").map(|t| t.trim().to_owned()),
        kernel_config: config("config"),
        uboot_config: config("uboot-config"),
        environment: section("environment").map(|t| UbootEnv::from_text(t).unwrap()),
        countdown_s: section("countdown").map(|t| t.trim().parse().unwrap()),
        ..Facts::default()
    };
    let log = timeline(section("log"));
    let explained = section("explained").map(|_| timeline(section("explained")));
    let boot = Boot::new(&log).explained(explained.as_ref()).knowing(facts);
    rule.check(&boot)
}

/// Whether what was found is what the case wants.
fn judge(rule: &Rule, case: &Case) -> Result<(), String> {
    let found = findings(rule, case);
    let words: Vec<&str> = case.want.split_whitespace().collect();
    let said = format!("{}: == {}: {found:#?}", rule.name, case.want);
    let first = match (words.first(), found.first()) {
        (Some(&"miss"), None) => return Ok(()),
        (Some(&"hit"), Some(first)) => first,
        _ => return Err(said),
    };
    let has_texts = [&first.title, &first.why, &first.fix, &first.saving.basis];
    let right = match words[1..] {
        [] => true,
        ["unknown"] => first.saving.kind == SavingKind::Unknown,
        ["saves", ms, "ms"] => {
            first.saving.kind == SavingKind::ThisBoot && first.saving.ns / 1_000_000 == number(ms)
        }
        ["predicts", ms, "ms"] => {
            first.saving.kind == SavingKind::PredictedBoard
                && first.saving.ns / 1_000_000 == number(ms)
        }
        ["fix", ..] => first.fix.contains(&words[2..].join(" ")),
        ["why", ..] => first.why.contains(&words[2..].join(" ")),
        _ => false,
    };
    match right && has_texts.iter().all(|t| !t.is_empty()) && first.rule == rule.name {
        true => Ok(()),
        false => Err(said),
    }
}

fn number(ms: &str) -> i64 {
    ms.parse().unwrap()
}

#[test]
fn every_rule_sees_what_it_must_and_nothing_else() {
    let mut wrong = Vec::new();
    for rule in all().filter(|r| !NEED_A_TARGET.contains(&r.name)) {
        let cases = cases(rule.name);
        let has = |kind: &str| cases.iter().any(|c| c.want.starts_with(kind));
        assert!(has("hit") && has("miss"), "{} needs both", rule.name);
        wrong.extend(cases.iter().filter_map(|c| judge(rule, c).err()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_case_is_left_over() {
    for file in fs::read_dir(folder()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let rule = name.strip_suffix(".case").unwrap();
        assert!(bootlap_advice::find(rule).is_some(), "{name} has no rule");
    }
}

#[test]
fn every_rule_has_a_whole_page() {
    let mut seen = Vec::new();
    for rule in all() {
        assert!(!seen.contains(&rule.name), "{} twice", rule.name);
        seen.push(rule.name);
        let page = rule.page.text;
        for part in [
            "**Why.**",
            "**Evidence.**",
            "**Fix.**",
            "**Risk.**",
            "**Figures.**",
        ] {
            assert!(page.contains(part), "{} has no {part}", rule.name);
        }
        let title = rule.page.title();
        assert!(
            !title.is_empty() && title.len() <= 72,
            "{}: {title}",
            rule.name
        );
    }
}

/// `docs/rules.md` has a section for each rule, and none for anything else.
#[test]
fn the_guide_has_these_rules_and_no_others() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let guide = fs::read_to_string(path).unwrap();
    let mut written: Vec<&str> = guide
        .lines()
        .filter_map(|l| l.strip_prefix("### "))
        .collect();
    written.sort_unstable();
    let mut known: Vec<&str> = all().map(|rule| rule.name).collect();
    known.sort_unstable();
    assert_eq!(written, known);
}
