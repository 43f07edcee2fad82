//! `make`, with progress, and errors that show the line that failed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Progress, TargetError};

/// The host's `make` and the compiler for one architecture.
pub(super) struct Make {
    /// None for a boot loader: its configuration says it, and the kernel's name
    /// for it may not be that of a boot loader's folder.
    architecture: Option<String>,
    cross: &'static str,
    /// What the compiler says of itself: another one makes other code.
    pub(super) compiler: String,
}

/// What makefiles call a processor family, the compiler's prefix, and the
/// package that brings it.
const COMPILERS: &[(&str, &str, &str)] = &[
    ("arm64", "aarch64-linux-gnu-", "gcc-aarch64-linux-gnu"),
    ("arm", "arm-linux-gnueabihf-", "gcc-arm-linux-gnueabihf"),
    ("riscv", "riscv64-linux-gnu-", "gcc-riscv64-linux-gnu"),
    ("mips", "mipsel-linux-gnu-", "gcc-mipsel-linux-gnu"),
    ("x86", "x86_64-linux-gnu-", "gcc-x86-64-linux-gnu"),
    ("x86_64", "x86_64-linux-gnu-", "gcc-x86-64-linux-gnu"),
];

impl Make {
    pub(super) fn for_architecture(key: &str, architecture: &str) -> Result<Self, TargetError> {
        let known = COMPILERS.iter().find(|(name, _, _)| *name == architecture);
        let (_, cross, package) = known.ok_or_else(|| {
            let names: Vec<&str> = COMPILERS.iter().map(|(name, _, _)| *name).collect();
            let why = format!(
                "{architecture} is none of {}, which are the names that makefiles use",
                names.join(", ")
            );
            TargetError::artefact(&format!("{key}.build.architecture"), why)
        })?;
        let asked = Command::new(format!("{cross}gcc"))
            .arg("--version")
            .output();
        let said = asked.map_err(|e| {
            let why = format!("cannot run {cross}gcc: {e}; install it: apt-get install {package}");
            TargetError::artefact(key, why)
        })?;
        let said = String::from_utf8_lossy(&said.stdout);
        Ok(Self {
            architecture: (key == "kernel").then(|| architecture.to_owned()),
            cross,
            compiler: said.lines().next().unwrap_or_default().to_owned(),
        })
    }

    fn command(&self, tree: &Path, work: &Path, target: &str) -> Command {
        let mut make = Command::new("make");
        make.arg("-C").arg(tree);
        // A relative folder would be looked for in the tree.
        let work = fs::canonicalize(work).unwrap_or_else(|_| work.to_owned());
        make.arg(format!("O={}", work.display()));
        if let Some(architecture) = &self.architecture {
            make.arg(format!("ARCH={architecture}"));
        }
        make.arg(format!("CROSS_COMPILE={}", self.cross));
        make.arg(target);
        // What would make every build another one.
        make.env("LC_ALL", "C")
            .env("KBUILD_BUILD_TIMESTAMP", "Thu Jan  1 00:00:00 UTC 1970")
            .env("KBUILD_BUILD_USER", "bootlap")
            .env("KBUILD_BUILD_HOST", "bootlap")
            .env("KBUILD_BUILD_VERSION", "1")
            .env("SOURCE_DATE_EPOCH", "0")
            .env_remove("MAKEFLAGS")
            .env_remove("KCONFIG_CONFIG")
            .stdin(Stdio::null());
        make
    }

    /// Runs one of the targets that make a `.config`.
    pub(super) fn configure(
        &self,
        key: &str,
        tree: &Path,
        work: &Path,
        target: &str,
        options: &Path,
    ) -> Result<(), TargetError> {
        let mut make = self.command(tree, work, target);
        let options = fs::canonicalize(options).unwrap_or_else(|_| options.to_owned());
        // Only `all*config` reads it.
        make.env("KCONFIG_ALLCONFIG", options);
        let done = make.output().map_err(|e| cannot_run(key, &e))?;
        if done.status.success() {
            return Ok(());
        }
        let log = [done.stdout, done.stderr].concat();
        Err(failed(key, target, work, &log))
    }

    /// Builds one target with all processors.
    pub(super) fn build(
        &self,
        key: &str,
        tree: &Path,
        work: &Path,
        target: &str,
        progress: Progress<'_>,
    ) -> Result<(), TargetError> {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let mut make = self.command(tree, work, target);
        // Both streams in one: errors stand behind the line that they are of.
        let (ours, theirs) = std::io::pipe().map_err(|e| cannot_run(key, &e))?;
        let clone = theirs.try_clone().map_err(|e| cannot_run(key, &e))?;
        make.arg(format!("-j{jobs}")).stdout(theirs).stderr(clone);
        let mut child = make.spawn().map_err(|e| cannot_run(key, &e))?;
        // The command holds the pipe's other end.
        drop(make);
        let (mut log, mut objects) = (Vec::new(), 0_usize);
        for line in BufReader::new(ours).split(b'\n') {
            let Ok(line) = line else { break };
            let text = String::from_utf8_lossy(&line);
            let words: Vec<&str> = text.split_whitespace().collect();
            if let ["CC" | "AS" | "LD" | "AR", object] = words[..] {
                objects += 1;
                progress(&format!("building the {key}: {objects} · {object}"));
            }
            log.extend_from_slice(&line);
            log.push(b'\n');
        }
        let status = child.wait().map_err(|e| cannot_run(key, &e))?;
        match status.success() {
            true => Ok(()),
            false => Err(failed(key, target, work, &log)),
        }
    }
}

fn cannot_run(key: &str, e: &std::io::Error) -> TargetError {
    let why = format!("cannot run make: {e}; install it: apt-get install make flex bison bc");
    TargetError::artefact(key, why)
}

/// The error with the first line that looks like the cause.
fn failed(key: &str, target: &str, work: &Path, log: &[u8]) -> TargetError {
    let path = work.join("bootlap.log");
    let kept = fs::write(&path, log).is_ok();
    let log = String::from_utf8_lossy(log);
    let cause = ["error:", "Error:", "not found", "No rule", "***"];
    let line = cause
        .iter()
        .find_map(|sign| log.lines().find(|l| l.contains(sign)));
    let line = line.or_else(|| log.lines().rev().find(|l| !l.trim().is_empty()));
    let line = line.unwrap_or("it said nothing").trim();
    let more = match kept {
        true => format!("; all that it said: {}", path.display()),
        false => String::new(),
    };
    TargetError::artefact(key, format!("`make {target}` failed: {line}{more}"))
}
