//! Builds the QEMU probe, which is carried inside the binary.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    let from_cargo = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let source = from_cargo("CARGO_MANIFEST_DIR").join("../../probe/probe.c");
    let object = from_cargo("OUT_DIR").join("probe.so");
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-env-changed=CC");

    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = Command::new(&compiler)
        .args(["-shared", "-fPIC", "-O2", "-fvisibility=hidden"])
        .args(["-Wall", "-Wextra", "-Werror", "-o"])
        .args([&object, &source])
        .arg("-ldl")
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => panic!("the C compiler refused {}", source.display()),
        Err(e) => panic!(
            "cannot run the C compiler {}: {e}; install one (apt-get install gcc libc6-dev)",
            compiler.display()
        ),
    }
}
