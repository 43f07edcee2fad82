//! The file systems' own programs.

use std::process::{Command, Output, Stdio};

use crate::TargetError;

/// Runs a program of a package: not everybody's path leads to it.
pub(super) fn run(package: &str, program: &str, args: &[&str]) -> Result<Output, TargetError> {
    let start = |program: &str| {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::null());
        command
            .env("LC_ALL", "C")
            .env("E2FSPROGS_FAKE_TIME", "1577836800");
        command.output()
    };
    let mut done = start(program);
    for folder in ["/sbin", "/usr/sbin"] {
        if done.is_err() {
            done = start(&format!("{folder}/{program}"));
        }
    }
    done.map_err(|e| {
        TargetError::artefact(
            "disk",
            format!("cannot run {program}: {e}; Debian and Ubuntu have it in {package}"),
        )
    })
}
