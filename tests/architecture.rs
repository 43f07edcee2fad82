//! The dependencies that ARCHITECTURE.md draws, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::root;
use serde_json::Value;

/// `(who, may use)`; the command may use everything.
const EDGES: &[(&str, &[&str])] = &[
    ("bootlap-kbuild", &[]),
    ("bootlap-model", &[]),
    ("bootlap-artefact", &[]),
    ("bootlap-wire", &["bootlap-model"]),
    ("bootlap-sources", &["bootlap-model", "bootlap-wire"]),
    ("bootlap-analysis", &["bootlap-model"]),
    ("bootlap-rootfs", &["bootlap-wire"]),
    (
        "bootlap-product",
        &["bootlap-artefact", "bootlap-kbuild", "bootlap-rootfs"],
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
        "bootlap-lab",
        &[
            "bootlap-model",
            "bootlap-product",
            "bootlap-sources",
            "bootlap-wire",
        ],
    ),
];

/// Crates that compute and nothing else.
const PURE: &[&str] = &["model", "sources", "analysis", "advice", "report"];

#[test]
fn crates_depend_on_each_other_only_as_drawn() {
    let out = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
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
fn pure_crates_touch_neither_files_nor_environment_nor_processes() {
    let mut checked = BTreeSet::new();
    for name in PURE {
        for file in rust_files(&root().join("crates").join(name).join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            // Tests at the end of a file, or in files of their own, may.
            let code = text.split("#[cfg(test)]").next().unwrap();
            let is_test = file.to_string_lossy().contains("tests");
            for effect in [
                "std::fs",
                "std::env",
                "std::process",
                "std::net",
                "fs::File",
            ] {
                assert!(
                    is_test || !code.contains(effect),
                    "{} uses {effect}",
                    file.display()
                );
            }
            checked.insert(*name);
        }
    }
    assert_eq!(checked.len(), PURE.len());
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}
