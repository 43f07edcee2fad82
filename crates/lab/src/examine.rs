//! What QEMU is here, and whether it takes the probe: asked of the program itself, with a machine
//! that has no processor.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The same bytes as boots use.
const PROBE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe.so"));

/// A QEMU that targets can name, and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
    /// What it boots.
    pub boots: &'static str,
}

/// Those that bootlap's own targets and imported disks use.
pub const PROGRAMS: [Program; 4] = [
    Program {
        name: "qemu-system-aarch64",
        package: "qemu-system-arm",
        boots: "64-bit Arm, and the demo",
    },
    Program {
        name: "qemu-system-x86_64",
        package: "qemu-system-x86",
        boots: "PCs and virtual machines",
    },
    Program {
        name: "qemu-system-arm",
        package: "qemu-system-arm",
        boots: "32-bit Arm",
    },
    Program {
        name: "qemu-system-riscv64",
        package: "qemu-system-misc",
        boots: "RISC-V",
    },
];

/// What a QEMU is.
#[derive(Clone, Debug)]
pub struct Examined {
    /// As it says: `QEMU emulator version 7.2.22 (Debian …)`.
    pub version: String,
    /// Why it does not take the probe, if it does not.
    pub refused: Option<String>,
}

/// Asks a QEMU; `None` if it is not installed.
pub fn examine(program: &str) -> Option<Examined> {
    let told = Command::new(program).arg("--version").output().ok()?;
    let told = String::from_utf8_lossy(&told.stdout);
    let refused = match tempfile::tempdir() {
        Ok(dir) => try_probe(program, dir.path()).err(),
        Err(e) => Some(format!("cannot try it: {e}")),
    };
    Some(Examined {
        version: told.lines().next().unwrap_or_default().to_owned(),
        refused,
    })
}

/// Starts it with the probe in both places, as a boot does, and ends it at once.
fn try_probe(program: &str, dir: &Path) -> Result<(), String> {
    let [probe, console, stamps] = ["probe.so", "console", "stamps"].map(|name| dir.join(name));
    let files = [(&probe, PROBE), (&console, &[]), (&stamps, &[])];
    for (path, bytes) in files {
        fs::write(path, bytes).map_err(|e| format!("cannot try it: {e}"))?;
    }
    let plugin = format!(
        "{},console={},stamps={},counted=on,shift=0",
        probe.display(),
        console.display(),
        stamps.display()
    );
    let mut child = Command::new(program)
        .args(["-M", "none", "-nodefaults", "-display", "none"])
        .args([
            "-icount", "shift=0", "-monitor", "stdio", "-plugin", &plugin,
        ])
        .env("LD_PRELOAD", &probe)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run it: {e}"))?;
    if let Some(mut monitor) = child.stdin.take() {
        // One that has refused the probe has ended by now.
        let _ = monitor.write_all(b"quit\n");
    }
    let ended = child.wait_with_output();
    let ended = ended.map_err(|e| format!("cannot run it: {e}"))?;
    let complaint = String::from_utf8_lossy(&ended.stderr);
    let complaint = complaint.lines().find(|line| !line.trim().is_empty());
    match (ended.status.success(), complaint) {
        (true, None) => Ok(()),
        (_, Some(complaint)) => Err(complaint.trim().to_owned()),
        (false, None) => Err(format!("it ended with {}", ended.status)),
    }
}
