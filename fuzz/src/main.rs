//! All fuzz targets in one program; `scripts/fuzz` builds and runs it.
//!
//! The environment variable `FUZZ` names the target; what is on the command
//! line is libFuzzer's. `FUZZ=list` prints the targets, and `FUZZ=seeds`
//! writes, below the folder in `SEEDS`, what each begins with: the fixtures as
//! `<target>/…`, and words of its format as `<target>.dict`.

#![no_main]

mod archive;
mod artefacts;
mod ingest;
mod init_scripts;
mod kernel_tree;
mod memory;
mod pieces;
mod seeds;
mod sources;
mod words;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

/// A name, and what is done with some bytes.
type Target = (&'static str, fn(&[u8]));

/// The targets beyond one per source.
const OTHERS: &[Target] = &[
    ("archive", archive::check),
    ("detect", sources::detect),
    ("ingest", ingest::check),
    ("barebox_env", artefacts::barebox_env),
    ("cpio", artefacts::cpio),
    ("disk", artefacts::disk),
    ("dot_config", artefacts::dot_config),
    ("ext_image", artefacts::ext_image),
    ("fit", artefacts::fit),
    ("init_scripts", init_scripts::check),
    ("kernel_image", artefacts::kernel_image),
    ("kernel_tree", kernel_tree::check),
    ("target_toml", artefacts::target_toml),
    ("uboot_env", artefacts::uboot_env),
    ("uboot_env_any", artefacts::uboot_env_any),
    ("uboot_script", artefacts::uboot_script),
    ("uimage", artefacts::uimage),
];

/// What `FUZZ` names.
enum Chosen {
    Source(&'static bootlap_sources::Source),
    Other(fn(&[u8])),
}

static CHOSEN: OnceLock<Chosen> = OnceLock::new();

fn names() -> Vec<&'static str> {
    let sources = bootlap_sources::all().iter().map(|s| s.name);
    sources.chain(OTHERS.iter().map(|o| o.0)).collect()
}

fn choose() {
    let name = std::env::var("FUZZ").unwrap_or_default();
    if name == "list" {
        println!("{}", names().join("\n"));
        std::process::exit(0);
    }
    if name == "seeds" {
        let to = std::env::var_os("SEEDS").expect("SEEDS names a folder");
        seeds::write(to.as_ref(), &names());
        std::process::exit(0);
    }
    let other = OTHERS.iter().find(|o| o.0 == name);
    let chosen = match (bootlap_sources::named(&name), other) {
        (Some(source), _) => Chosen::Source(source),
        (None, Some((_, check))) => Chosen::Other(*check),
        (None, None) => panic!("FUZZ={name:?}: set FUZZ to one of what FUZZ=list prints"),
    };
    let _ = CHOSEN.set(chosen);
}

fuzz_target!(
    init: choose(),
    |bytes: &[u8]| match CHOSEN.get().expect("init has chosen") {
        Chosen::Source(source) => sources::check(*source, bytes),
        Chosen::Other(check) => check(bytes),
    }
);
