//! What ARCHITECTURE.md draws: which crate may use which, which ones only compute,
//! and that no files import each other in a circle.

mod circles;
mod code;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use self::circles::circles;
use self::code::{modules, paths_in};
use crate::support::root;

/// `(who, may use)`; the command may use everything.
const EDGES: &[(&str, &[&str])] = &[
    ("bootlap-kbuild", &[]),
    ("bootlap-model", &[]),
    ("bootlap-artefact", &[]),
    ("bootlap-remote", &[]),
    ("bootlap-wire", &["bootlap-model"]),
    ("bootlap-sources", &["bootlap-model", "bootlap-wire"]),
    ("bootlap-analysis", &["bootlap-model"]),
    ("bootlap-rootfs", &["bootlap-wire"]),
    ("bootlap-image", &["bootlap-artefact", "bootlap-rootfs"]),
    (
        "bootlap-product",
        &[
            "bootlap-artefact",
            "bootlap-image",
            "bootlap-kbuild",
            "bootlap-rootfs",
        ],
    ),
    (
        "bootlap-advice",
        &[
            "bootlap-analysis",
            "bootlap-artefact",
            "bootlap-kbuild",
            "bootlap-model",
            "bootlap-product",
        ],
    ),
    (
        "bootlap-report",
        &[
            "bootlap-advice",
            "bootlap-analysis",
            "bootlap-kbuild",
            "bootlap-model",
        ],
    ),
    (
        "bootlap-export",
        &[
            "bootlap-advice",
            "bootlap-analysis",
            "bootlap-model",
            "bootlap-report",
        ],
    ),
    ("bootlap-patchset", &["bootlap-artefact", "bootlap-product"]),
    (
        "bootlap-engine",
        &[
            "bootlap-advice",
            "bootlap-analysis",
            "bootlap-artefact",
            "bootlap-export",
            "bootlap-image",
            "bootlap-kbuild",
            "bootlap-lab",
            "bootlap-model",
            "bootlap-patchset",
            "bootlap-product",
            "bootlap-report",
            "bootlap-rootfs",
            "bootlap-sources",
            "bootlap-store",
            "bootlap-wire",
        ],
    ),
    ("bootlap-store", &["bootlap-product"]),
    (
        "bootlap-lab",
        &[
            "bootlap-artefact",
            "bootlap-model",
            "bootlap-product",
            "bootlap-sources",
            "bootlap-wire",
        ],
    ),
];

/// Crates that compute and nothing else.
const PURE: &[&str] = &[
    "advice", "analysis", "artefact", "export", "image", "model", "report", "sources", "wire",
];

/// What they must not reach: everything below these paths.
const EFFECTS: &[&[&str]] = &[
    &["std", "env"],
    &["std", "fs"],
    &["std", "io", "stderr"],
    &["std", "io", "stdin"],
    &["std", "io", "stdout"],
    &["std", "net"],
    &["std", "os"],
    &["std", "process"],
    &["std", "thread"],
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["libc"],
    &["rustix"],
];

#[test]
fn crates_depend_on_each_other_only_as_drawn() {
    let out = Command::new(env!("CARGO"))
        .args("metadata --no-deps --offline --format-version 1".split(' '))
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&out.stdout).unwrap();
    let mut seen = 0;
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let Some((_, allowed)) = EDGES.iter().find(|(who, _)| *who == name) else {
            assert_eq!(name, "bootlap", "draw {name} in ARCHITECTURE.md and here");
            continue;
        };
        seen += 1;
        for dependency in package["dependencies"].as_array().unwrap() {
            let on = dependency["name"].as_str().unwrap();
            let in_tests_only = dependency["kind"] == "dev";
            if on.starts_with("bootlap") && !in_tests_only {
                assert!(allowed.contains(&on), "{name} must not depend on {on}");
            }
        }
    }
    assert_eq!(seen, EDGES.len());
}

#[test]
fn crates_that_compute_have_no_effects() {
    for file in pure_files() {
        let text = fs::read_to_string(&file).unwrap();
        let found = effects(&text);
        assert!(found.is_empty(), "{} uses {found:?}", file.display());
    }
}

/// A check that nothing can fail is none: one of these, added to a pure file at its
/// beginning or its end, must be found, whichever the file and wherever its tests are.
#[test]
fn planted_effects_are_found_in_every_pure_file() {
    let planted = [
        "fn planted() { let _ = std::fs::read(\"x\"); }",
        "use std::fs;",
        "use std::{fmt, fs as files};",
        "use std::fs::File as Planted;",
        "use ::std::env::var;",
        "use std as planted;",
        "mod planted { use std::{io, process::Command}; }",
        "fn planted() { assert!(std::path::Path::new(\"x\").exists()); }",
        "fn planted() { println!(\"{:?}\", std::env::args()); }",
        "fn planted() { use std::net::TcpStream; }",
        "fn planted() { let _ = std::time::SystemTime::now(); }",
    ];
    for line in planted {
        assert!(!effects(line).is_empty(), "{line}");
    }
    for (file, line) in pure_files().iter().zip(planted.iter().cycle()) {
        let text = fs::read_to_string(file).unwrap();
        // Behind the inner comments and attributes, which must stay in front.
        let is_inner = |line: &str| line.trim().is_empty() || line.starts_with("//!");
        let inner = text.split_inclusive('\n').take_while(|line| is_inner(line));
        let (inner, rest) = text.split_at(inner.map(str::len).sum());
        let rest = match rest.starts_with("#![") {
            true => rest.split_once("]\n").unwrap().1,
            false => rest,
        };
        for text in [[inner, line, "\n", rest], [&text, "\n", line, ""]] {
            assert!(
                !effects(&text.concat()).is_empty(),
                "{}: {line}",
                file.display()
            );
        }
        let in_tests = [&text, "\n#[cfg(test)] mod planted { use std::fs; }"].concat();
        assert!(effects(&in_tests).is_empty(), "{}", file.display());
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap().flatten() {
        found.extend(circles(&modules(&entry.path().join("src"))));
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// The files of the pure crates, without those that are only tests.
fn pure_files() -> Vec<PathBuf> {
    let files = PURE.iter().flat_map(|name| {
        let modules = modules(&root().join("crates").join(name).join("src"));
        modules.into_values().map(|module| module.file)
    });
    files.collect()
}

/// The effects that a file names outside of its tests.
fn effects(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for path in paths_in(text) {
        let is = |effect: &&&[&str]| path.iter().zip(**effect).all(|(a, b)| a == b);
        let reaches = EFFECTS.iter().any(|e| path.len() >= e.len() && is(&e));
        // The standard library under another name could be anything.
        if reaches || path == ["std"] {
            found.push(path.join("::"));
        }
        // Methods of paths ask the file system.
        if path.ends_with(&["Path".to_owned(), "new".to_owned()]) {
            found.push(path.join("::"));
        }
    }
    found
}
