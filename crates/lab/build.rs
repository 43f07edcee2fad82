//! Builds the QEMU probe, which is carried inside the binary.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// Below `crates`.
const RECORDER: [&str; 9] = [
    "lab/src/qemu",
    "lab/src/recorder.rs",
    "wire/src/stamps",
    "sources/src/watch.rs",
    "sources/src/cleaner.rs",
    "sources/src/console/bootloader.rs",
    "sources/src/console/numbers.rs",
    "sources/src/console/printk.rs",
    "sources/src/console/vendor.rs",
];

fn main() {
    build_probe();
    println!("cargo::rustc-env=BOOTLAP_RECORDER={}", recorder());
}

/// SHA-256 of the sources that decide what is recorded of a boot, and where it ends: a
/// boot that was kept by others is not taken.
fn recorder() -> String {
    let crates =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let mut hash = Sha256::new();
    let mut left = RECORDER.map(|path| crates.join(path)).to_vec();
    while let Some(path) = left.pop() {
        println!("cargo::rerun-if-changed={}", path.display());
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder of sources");
            let mut inside: Vec<PathBuf> = entries.map(|e| e.expect("a source").path()).collect();
            inside.sort();
            left.extend(inside);
        } else {
            hash.update(fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
        }
    }
    HEXLOWER.encode(&hash.finalize())
}

/// The compiler of the libc that QEMU is linked with, which is glibc where bootlap itself is
/// linked with musl, and has the architecture of the machine that bootlap is for.
fn compiler() -> OsString {
    let of = |name| env::var(name).expect("cargo sets it");
    let architecture = of("CARGO_CFG_TARGET_ARCH");
    if !of("HOST").starts_with(&architecture) {
        return format!("{architecture}-linux-gnu-gcc").into();
    }
    env::var_os("CC").unwrap_or_else(|| "cc".into())
}

fn build_probe() {
    let from_cargo = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let probe = from_cargo("CARGO_MANIFEST_DIR").join("../../probe");
    let object = from_cargo("OUT_DIR").join("probe.so");
    println!("cargo::rerun-if-changed={}", probe.display());
    println!("cargo::rerun-if-env-changed=CC");
    let files = fs::read_dir(&probe).expect("the probe's folder");
    let files = files.map(|file| file.expect("a file of the probe").path());
    let mut sources: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    // Equal builds have equal bytes.
    sources.sort();

    let compiler = compiler();
    let status = Command::new(&compiler)
        .args(["-shared", "-fPIC", "-O2", "-fvisibility=hidden"])
        // The folder is in no byte of it.
        .arg(format!("-ffile-prefix-map={}=probe", probe.display()))
        .args(["-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&object)
        .args(&sources)
        .arg("-ldl")
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => panic!("the C compiler refused the files in {}", probe.display()),
        Err(e) => panic!(
            "cannot run the C compiler {}: {e}; install one (apt-get install gcc libc6-dev)",
            compiler.display()
        ),
    }
}
