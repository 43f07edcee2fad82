//! Builds the QEMU probe, which is carried inside the binary.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn main() {
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

    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = Command::new(&compiler)
        .args(["-shared", "-fPIC", "-O2", "-fvisibility=hidden"])
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
