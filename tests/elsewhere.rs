//! Boots on other machines and in shared stores: wherever a boot is made, it is the one
//! that would have been made here.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::support::{READY, bare_guest, bootlap, failure, json, root, scratch, succeeded};

/// A guest that is given a file of its folder, so that this has to travel.
fn guest(dir: &Path) {
    let args = "args = [\"-device\", \"loader,file={dir}/data,addr=0x41000000,force-raw=on\"]";
    bare_guest(
        dir,
        &READY,
        &format!("program = \"qemu-system-aarch64\"\n{args}"),
    );
    fs::write(dir.join("data"), "what else is in memory").unwrap();
}

/// A program of the shell.
fn script(path: &Path, text: &str) -> String {
    fs::write(path, format!("#!/bin/sh\n{text}")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// One boot of the guest in `target` with these options; notes are not left out.
fn boot(target: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bootlap"));
    let always = ["boot", ".", "-n", "1", "--json", "--recheck", "0"];
    command.current_dir(target).args(always).args(options);
    command
}

/// What was recorded, how often it was made before, and what was said.
fn booted(target: &Path, options: &[&str]) -> ([Vec<u8>; 2], usize, String) {
    let out = succeeded(&mut boot(target, options));
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    let run = target.join(report["run"].as_str().unwrap());
    let manifest: Value =
        serde_json::from_slice(&fs::read(run.join("manifest.json")).unwrap()).unwrap();
    let kept = manifest["kept"].as_array().map_or(0, Vec::len);
    let evidence = ["console", "console.stamps"].map(|name| fs::read(run.join(name)).unwrap());
    (
        evidence,
        kept,
        String::from_utf8_lossy(&out.stderr).into_owned(),
    )
}

#[test]
fn a_boot_made_elsewhere_is_the_one_made_here() {
    let dir = scratch("elsewhere-same");
    let target = dir.join("target");
    guest(&target);
    let (was, ..) = booted(&target, &["--store", "../here"]);
    // It runs in another folder, with nothing of the target's.
    let there = script(&dir.join("there.sh"), "cd / && exec env -u HOME \"$@\"\n");
    let on = ["--store", "../there", "--on", &there];
    let (is, kept, _) = booted(&target, &on);
    assert_eq!((&is, kept), (&was, 0));
    // It is kept as one that was made here, with the machine that made it; and nothing of the job is left.
    let (is, kept, _) = booted(&target, &["--store", "../there"]);
    assert_eq!((&is, kept), (&was, 1));
    assert_eq!(
        fs::read_dir(dir.join("there/jobs"))
            .into_iter()
            .flatten()
            .count(),
        0
    );
    // The job's words may stand anywhere.
    let on = format!(
        "{there} {} {{job}} 2>&1 | cat",
        env!("CARGO_BIN_EXE_bootlap")
    );
    let (is, kept, _) = booted(&target, &["--store", "../piped", "--on", &on]);
    assert_eq!((is, kept), (was, 0));
}

#[test]
fn a_machine_that_dies_costs_its_own_boot_and_no_more() {
    let dir = scratch("elsewhere-dies");
    let target = dir.join("target");
    guest(&target);
    let (was, ..) = booted(&target, &["--store", "../here"]);
    // The first dies in the middle of the boot, the second before it. A boot that was over
    // before the kill loses what it had written: a dying machine need not have kept it.
    let mark = dir.join("mark").display().to_string();
    let dies = format!(
        "echo >>{mark}\n\
         case $(wc -l <{mark}) in\n\
         1) \"$@\" & until [ -e \"$3/begun\" ] || ! kill -0 $!; do sleep 0.02; done\n\
            kill -9 $!; wait; rm -f \"$3/result\"; echo power lost >&2; exit 1 ;;\n\
         2) kill -9 $$ ;;\n\
         esac\n\
         exec \"$@\"\n"
    );
    let dies = script(&dir.join("dies.sh"), &dies);
    let (is, kept, said) = booted(&target, &["--store", "../there", "--on", &dies]);
    assert_eq!((is, kept), (was, 0));
    assert!(said.contains("a boot is tried again (2 of 4)"), "{said}");
    assert!(
        said.contains("(3 of 4)") && !said.contains("(4 of 4)"),
        "{said}"
    );
    // One that always dies is an error that has its last words.
    let always = script(&dir.join("always.sh"), "echo no licence >&2; exit 3\n");
    let said = failure(
        &mut boot(&target, &["--store", "../none", "--on", &always]),
        5,
    );
    assert!(
        said.contains("in 4 attempts") && said.contains("no licence"),
        "{said}"
    );
}

#[test]
fn another_build_of_qemu_is_refused() {
    let dir = scratch("elsewhere-qemu");
    let target = dir.join("target");
    guest(&target);
    let path = std::env::var("PATH").unwrap();
    let program = path
        .split(':')
        .map(|dir| Path::new(dir).join("qemu-system-aarch64"));
    let program = program.into_iter().find(|path| path.exists()).unwrap();
    let other = dir.join("bin");
    fs::create_dir(&other).unwrap();
    let mut bytes = fs::read(program).unwrap();
    bytes.push(0);
    let copy = other.join("qemu-system-aarch64");
    fs::write(&copy, bytes).unwrap();
    fs::set_permissions(copy, fs::Permissions::from_mode(0o755)).unwrap();
    let on = format!("env PATH={}:{path}", other.display());
    let said = failure(&mut boot(&target, &["--store", "../there", "--on", &on]), 5);
    assert!(
        said.contains("this machine would make another boot: QEMU is"),
        "{said}"
    );
    // Nor is a boot taken whose QEMU has read another file than the one here.
    let swaps = format!(
        "\"$@\"\ncode=$?\necho changed >{}\nexit $code\n",
        target.join("data").display()
    );
    let swaps = script(&dir.join("swaps.sh"), &swaps);
    // The second attempt is made with the file as it is then.
    let (.., said) = booted(&target, &["--store", "../swapped", "--on", &swaps]);
    assert!(
        said.contains("{dir}/data, which its QEMU reads, is not the same"),
        "{said}"
    );
}

/// A guest that counts for a second before it prints `R`.
fn slow_guest(dir: &Path) {
    let counts = [
        0xd2a2_000a, //       mov  x10, #0x10000000
        0xf100_054a, // more: subs x10, x10, #1
        0x54ff_ffe1, //       b.ne more
    ];
    let code = [&counts[..], &READY].concat();
    bare_guest(dir, &code, "program = \"qemu-system-aarch64\"");
}

/// `try` on a guest with a recipe that does nothing there: ten boots.
fn tried(target: &Path, name: &str, options: &[&str]) -> Command {
    let here = target.parent().unwrap().join(name);
    fs::create_dir_all(&here).unwrap();
    let mut command = bootlap(&here);
    command
        .args(["try", "--json", "-k", "5", "--recheck", "0"])
        .arg(target);
    command.arg("cmdline-quiet").args(options);
    command
}

#[test]
fn shards_make_each_boot_once_and_together_all() {
    let dir = scratch("elsewhere-shards");
    let target = dir.join("target");
    guest(&target);
    // Keys of boots, each made once.
    let made = |store: &str| {
        let list = json(bootlap(&dir).args(["store", "list", "--json", "--store", store]));
        let boots = list["boots"].as_array().unwrap().clone();
        let keys = boots.iter().map(|boot| {
            assert_eq!(boot["made"].as_array().unwrap().len(), 1, "{boot}");
            boot["key"].as_str().unwrap().to_owned()
        });
        keys.collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for k in 1..=2 {
        let (store, shard) = (format!("../store{k}"), format!("{k}/2"));
        let mut one = tried(
            &target,
            &format!("shard{k}"),
            &["--shard", &shard, "--store", &store],
        );
        let out = succeeded(&mut one);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(said.contains(&format!("shard {k} of 2 is done")), "{said}");
        assert!(out.stdout.is_empty());
        all.extend(made(&store[3..]));
    }
    all.sort();
    let each = all.len();
    all.dedup();
    assert_eq!((all.len(), each), (10, 10));
    let merged = ["store", "merge", "store1", "store2", "--store", "merged"];
    let said = String::from_utf8(succeeded(bootlap(&dir).args(merged)).stdout).unwrap();
    assert_eq!(said, "10 boots are new, 0 were there\n");
    let trials =
        |store: &str| json(&mut tried(&target, "whole", &["--store", store]))["trials"].clone();
    let together = trials("../merged");
    // It goes on from there: this pair is not sure to be equal before the last look.
    let merged = made("merged");
    assert!(all.iter().all(|key| merged.contains(key)));
    // A damaged one is left out, and told.
    let entry = json(bootlap(&dir).args(["store", "list", "--json", "--store", "store1"]));
    let path = entry["boots"][0]["path"].as_str().unwrap();
    fs::write(dir.join(path), "damaged").unwrap();
    let again = ["store", "merge", "store1", "--store", "again"];
    let said = bootlap(&dir).args(again).output().unwrap();
    assert_eq!(said.status.code(), Some(3));
    assert_eq!(together, trials("../again"));
}

#[test]
fn a_shared_folder_saves_others_the_boot_and_only_signed_boots_are_taken() {
    let dir = scratch("elsewhere-shared");
    let target = dir.join("target");
    guest(&target);
    let key = dir.join("key");
    let mut keygen = Command::new("ssh-keygen");
    succeeded(
        keygen
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(&key),
    );
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    fs::write(dir.join("allowed"), format!("ci@team {public}")).unwrap();
    let share = ["--share", "../share", "--store"];
    let with = |store: &str, more: &[&str]| booted(&target, &[&share[..], &[store], more].concat());
    let (was, ..) = with("../one", &[]);
    let (is, kept, _) = with("../two", &[]);
    assert_eq!((&is, kept), (&was, 1));
    // Nobody has signed it; and so one is made, and signed.
    let trust = ["--trust", "../allowed"];
    let (is, kept, said) = with("../three", &[&trust[..], &["--sign", "../key"]].concat());
    assert_eq!((&is, kept), (&was, 0));
    assert!(
        said.contains("is not taken") && said.contains("nobody has signed it"),
        "{said}"
    );
    fs::remove_dir_all(dir.join("share")).unwrap();
    with("../four", &["--sign", "../key"]);
    let (is, kept, said) = with("../five", &trust);
    assert_eq!((&is, kept), (&was, 1), "{said}");
    // A share that is none costs nothing but a note.
    fs::write(dir.join("file"), "").unwrap();
    let (is, kept, said) = booted(&target, &["--store", "../six", "--share", "../file"]);
    assert_eq!((is, kept), (was, 0));
    assert_eq!(
        said.matches("goes on without the shared store").count(),
        2,
        "{said}"
    );
}

/// Slurm with two nodes on this machine; it ends when this is dropped.
struct Slurm(PathBuf);

impl Slurm {
    fn start() -> Self {
        // Sockets have short names, and test folders long ones.
        let short = tempfile::Builder::new()
            .prefix("slurm")
            .tempdir_in("/tmp")
            .unwrap();
        let slurm = Self(short.keep());
        slurm.does(&["start"]);
        slurm
    }

    fn does(&self, words: &[&str]) {
        let mut script = Command::new(root().join("scripts/slurm-loopback"));
        succeeded(script.arg(words[0]).arg(&self.0).args(&words[1..]));
    }

    fn config(&self) -> PathBuf {
        self.0.join("slurm.conf")
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.does(&["stop"]);
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn slurm_makes_the_boots_though_a_node_dies() {
    let dir = scratch("elsewhere-slurm");
    let target = dir.join("target");
    slow_guest(&target);
    let slurm = Slurm::start();
    let on = ["--store", "../kept", "-j", "2", "--on", "srun -Q -n1"];
    let mut spread = tried(&target, "nodes", &on);
    spread.env("SLURM_CONF", slurm.config());
    let trials = thread::scope(|scope| {
        let spread = scope.spawn(|| json(&mut spread)["trials"].clone());
        let results = || {
            let shards = fs::read_dir(dir.join("kept/boots"));
            shards.into_iter().flatten().count()
        };
        while results() < 2 && !spread.is_finished() {
            thread::sleep(Duration::from_millis(50));
        }
        slurm.does(&["kill", "n2"]);
        spread.join().unwrap()
    });
    assert_eq!(
        trials,
        json(&mut tried(&target, "here", &["--store", "../kept-here"]))["trials"]
    );
}
