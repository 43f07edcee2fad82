//! Kept boots: what is taken is what would have been made, whatever happens to the store.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use bootlap_store::Store;
use serde_json::Value;

use crate::support::{
    READY, SmallDisk, bare_guest, bootlap, changed_kiosk, failure, json, scratch, succeeded,
};

const QEMU: &str = "program = \"qemu-system-aarch64\"";

/// A boot of the guest in `target`, with the store `kept` beside it.
fn boot(target: &Path) -> Command {
    let mut command = bootlap(target);
    let args = [
        "boot",
        ".",
        "-n",
        "1",
        "--json",
        "--recheck",
        "0",
        "--store",
        "../kept",
    ];
    command.args(args);
    command
}

/// The run that a boot printed.
fn run(target: &Path, booted: &Value) -> PathBuf {
    target.join(booted["run"].as_str().unwrap())
}

/// When and where it was made, of a boot that was taken; empty of one that was made.
fn kept(run: &Path) -> usize {
    let manifest = fs::read(run.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    manifest["kept"].as_array().map_or(0, Vec::len)
}

fn evidence(run: &Path) -> [Vec<u8>; 2] {
    ["console", "console.stamps"].map(|name| fs::read(run.join(name)).unwrap())
}

fn store(dir: &Path, args: &[&str]) -> Command {
    let mut command = bootlap(dir);
    command.arg("store").args(args).args(["--store", "kept"]);
    command
}

/// A guest and what its boot is, which was made and is kept.
fn made(name: &str) -> (PathBuf, PathBuf, [Vec<u8>; 2]) {
    let dir = scratch(name);
    let target = dir.join("target");
    bare_guest(&target, &READY, QEMU);
    let first = run(&target, &json(&mut boot(&target)));
    assert_eq!(kept(&first), 0);
    (dir, target, evidence(&first))
}

#[test]
fn a_boot_is_taken_if_all_that_it_depends_on_is_the_same() {
    let (dir, target, was) = made("kept-same");
    let taken = |target: &Path, args: &[&str]| {
        let run = run(target, &json(boot(target).args(args)));
        let is = evidence(&run);
        (kept(&run) > 0, is == was)
    };
    assert_eq!(taken(&target, &[]), (true, true));
    // The same in another folder, under another name.
    let other = dir.join("other");
    bare_guest(&other, &READY, QEMU);
    let text = fs::read_to_string(other.join("target.toml")).unwrap();
    fs::write(
        other.join("target.toml"),
        text.replace("\"bare\"", "\"other\""),
    )
    .unwrap();
    assert_eq!(taken(&other, &[]), (true, true));
    // Another seed, command line, machine, code, program.
    assert!(!taken(&target, &["--seed", "2"]).0);
    assert!(!taken(&target, &["--append", "quiet"]).0);
    fs::write(
        other.join("target.toml"),
        text.replace("memory-mb = 64", "memory-mb = 65"),
    )
    .unwrap();
    assert!(!taken(&other, &[]).0);
    let mut code = READY;
    code[3] = 0x1400_0000;
    bare_guest(&other, &code, QEMU);
    assert!(!taken(&other, &[]).0);
    let qemu = printed_path("qemu-system-aarch64");
    let copy = dir.join("qemu-system-aarch64");
    let mut bytes = fs::read(qemu).unwrap();
    bytes.push(0);
    fs::write(&copy, bytes).unwrap();
    succeeded(Command::new("chmod").arg("+x").arg(&copy));
    bare_guest(&other, &READY, &format!("program = \"{}\"", copy.display()));
    assert!(!taken(&other, &[]).0);
    // Made again because that was asked for, it is the same, and that is noted.
    assert_eq!(taken(&target, &["--fresh"]), (false, true));
    let list: Value = json(&mut store(&dir, &["list", "--json"]));
    let boots = list["boots"].as_array().unwrap();
    assert_eq!(boots.len(), 6);
    let twice = boots
        .iter()
        .filter(|b| b["made"].as_array().unwrap().len() == 2);
    assert_eq!(twice.count(), 1);
    // Equal boots are only called equal if each of them was made.
    let twice: Value = json(bootlap(&target).args([
        "boot",
        ".",
        "-n",
        "3",
        "--json",
        "--recheck",
        "0",
        "--store",
        "../kept",
    ]));
    assert_eq!(twice["identical"], true);
    let list: Value = json(&mut store(&dir, &["list", "--json"]));
    let most = list["boots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["made"].as_array().unwrap().len());
    assert_eq!(most.max(), Some(3));
}

fn printed_path(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut all = std::env::split_paths(&path).map(|dir| dir.join(program));
    all.find(|path| path.exists()).unwrap()
}

#[test]
fn a_file_of_the_host_that_qemu_reads_is_a_part_of_the_boot() {
    let dir = scratch("kept-file");
    let target = dir.join("target");
    let loaded = "args = [\"-device\", \"loader,file={dir}/data,addr=0x41000000,force-raw=on\"]";
    bare_guest(&target, &READY, &format!("{QEMU}\n{loaded}"));
    let taken = |content: &str| {
        fs::write(target.join("data"), content).unwrap();
        kept(&run(&target, &json(&mut boot(&target)))) > 0
    };
    assert_eq!(
        [taken("one"), taken("one"), taken("two")],
        [false, true, false]
    );
    assert_eq!([taken("one"), taken("two")], [true, true]);
}

/// What may happen to an entry, by a number.
fn damage(entry: &Path, other: &Path, n: usize) {
    let mut bytes = fs::read(entry).unwrap();
    let at = n.wrapping_mul(2_654_435_761) % bytes.len();
    match n % 5 {
        0 | 1 => bytes[at] ^= 1 << (n / 5 % 8),
        2 => bytes.truncate(at),
        3 => bytes.extend(bytes.clone()),
        _ => bytes = fs::read(other).unwrap(),
    }
    fs::write(entry, bytes).unwrap();
}

#[test]
fn no_damage_to_the_store_changes_a_boot() {
    let (dir, target, was) = made("kept-damaged");
    succeeded(boot(&target).args(["--seed", "2"]));
    let shards = fs::read_dir(dir.join("kept/boots")).unwrap().flatten();
    let files = shards.flat_map(|shard| fs::read_dir(shard.path()).unwrap().flatten());
    let mut entries: Vec<PathBuf> = files.map(|f| f.path()).collect();
    entries.retain(|path| path.to_str().unwrap().ends_with(".zst"));
    let [a, b] = &entries[..] else {
        panic!("{entries:?}")
    };
    let sound = [a, b].map(|path| fs::read(path).unwrap());
    // Which of both is the boot without arguments?
    let listed: Value = json(&mut store(&dir, &["list", "--json"]));
    let oldest = listed["boots"].as_array().unwrap().last().unwrap();
    let (mine, other) =
        match a.ends_with(oldest["path"].as_str().unwrap().rsplit('/').next().unwrap()) {
            true => ((a, &sound[0]), b),
            false => ((b, &sound[1]), a),
        };
    let mut told = 0;
    for n in 0..200 {
        // The boot that was made instead of the last one goes.
        let shard = fs::read_dir(mine.0.parent().unwrap()).unwrap().flatten();
        for again in shard.filter(|file| file.path() != *other) {
            fs::remove_file(again.path()).unwrap();
        }
        fs::write(mine.0, mine.1).unwrap();
        damage(mine.0, other, n);
        let half = mine.0.with_file_name(".half.tar.zst.1.0.partial");
        fs::write(half, &mine.1[..n % 100]).unwrap();
        // Without --quiet, which leaves notes out.
        let mut loud = Command::new(env!("CARGO_BIN_EXE_bootlap"));
        let args = [
            "boot",
            ".",
            "-n",
            "1",
            "--json",
            "--recheck",
            "0",
            "--store",
            "../kept",
        ];
        let out = succeeded(loud.current_dir(&target).args(args));
        let booted: Value = serde_json::from_slice(&out.stdout).unwrap();
        let run = run(&target, &booted);
        assert_eq!(evidence(&run), was, "{n}");
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        let damaged = said.contains("a kept boot is damaged, and is made again");
        assert_eq!(damaged, kept(&run) == 0, "{n}: {said}");
        told += usize::from(damaged);
        fs::remove_dir_all(run).unwrap();
    }
    assert_eq!(told, 200);
    // Verifying takes away what is wrong, and says so.
    fs::write(mine.0, b"nothing").unwrap();
    let said = store(&dir, &["verify", "--json"]).output().unwrap();
    assert_eq!(said.status.code(), Some(3));
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    let damaged = said["boots"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|b| b["damage"].as_str());
    let damaged: Vec<&str> = damaged.collect();
    assert_eq!(damaged, ["its bytes are not those that were written"]);
    succeeded(&mut store(&dir, &["verify"]));
}

#[test]
fn a_boot_that_is_not_what_was_kept_is_an_error_and_ends_the_trust() {
    let (dir, target, was) = made("kept-lie");
    // Somebody keeps another boot under its key, well written.
    let kept_boots = Store::at(dir.join("kept"), u64::MAX);
    let listed = kept_boots.list().remove(0);
    let mut entry = kept_boots.read(&listed).unwrap().unwrap();
    kept_boots.remove(&listed.path);
    for (name, bytes) in &mut entry.files {
        if name == "console.stamps" {
            let at = bytes.len() - 16;
            bytes[at] ^= 1;
        }
    }
    kept_boots.keep(&listed.key, &entry, "yesterday").unwrap();
    let again = |args: &[&str]| {
        let mut command = bootlap(&target);
        command
            .args(["boot", ".", "-n", "1", "--json", "--store", "../kept"])
            .args(args);
        command
    };
    let said = failure(&mut again(&["--recheck", "1"]), 5);
    assert!(
        said.contains("is not the one that was kept: record 1 was 'R' at"),
        "{said}"
    );
    assert!(
        said.contains("made yesterday") && said.contains("store clean --all"),
        "{said}"
    );
    // From now on each boot is made.
    for _ in 0..2 {
        let run = run(&target, &json(&mut again(&[])));
        assert_eq!((kept(&run), evidence(&run)), (0, was.clone()));
    }
    assert_eq!(
        store(&dir, &["verify"]).output().unwrap().status.code(),
        Some(3)
    );
    succeeded(&mut store(&dir, &["clean", "--all"]));
    succeeded(&mut again(&[]));
    assert_eq!(
        kept(&run(&target, &json(&mut again(&["--recheck", "0"])))),
        1
    );
}

#[test]
fn a_kill_at_any_moment_leaves_a_store_that_verifies() {
    let (dir, target, was) = made("kept-killed");
    for n in 0..50_u64 {
        let seed = (n + 10).to_string();
        let mut child = boot(&target)
            .args(["--seed", &seed])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(n * 37 % 400));
        let _ = child.kill();
        child.wait().unwrap();
    }
    succeeded(&mut store(&dir, &["verify"]));
    // Nobody is waited for who is gone.
    for n in [10, 30, 59] {
        succeeded(boot(&target).args(["--seed", &n.to_string()]));
    }
    let run = run(&target, &json(&mut boot(&target)));
    assert_eq!((kept(&run), evidence(&run)), (1, was));
}

#[test]
fn a_store_that_cannot_be_written_costs_nothing_but_the_boot() {
    let (dir, target, was) = made("kept-full");
    fs::write(dir.join("file"), "").unwrap();
    let full = SmallDisk::at(&dir.join("full"), "4k");
    let stores = ["../file", "../full"].into_iter();
    let stores = stores.take(1 + usize::from(full.is_some()));
    for place in stores {
        for _ in 0..2 {
            let mut loud = Command::new(env!("CARGO_BIN_EXE_bootlap"));
            let args = ["boot", ".", "-n", "1", "--json", "--store", place];
            let out = loud.current_dir(&target).args(args).output().unwrap();
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(out.status.success(), "{said}");
            assert_eq!(
                said.matches("boots are not kept: cannot").count(),
                1,
                "{said}"
            );
            let booted: Value = serde_json::from_slice(&out.stdout).unwrap();
            assert_eq!(evidence(&run(&target, &booted)), was);
        }
    }
}

#[test]
fn two_programs_at_once_share_their_boots_and_make_none_twice() {
    let dir = scratch("kept-shared");
    // A boot of its own, which no other test keeps.
    let target = changed_kiosk(
        &dir,
        "console=ttyAMA0,115200",
        "console=ttyAMA0,115200 shared",
    );
    let ask = |name: &str| {
        let here = dir.join(name);
        fs::create_dir_all(&here).unwrap();
        let args = [
            "try",
            "--json",
            "-k",
            "5",
            "--recheck",
            "0",
            "--store",
            "../kept",
        ];
        let mut command = bootlap(&here);
        command.args(args).arg(&target).arg("uboot-bootdelay");
        command
    };
    let (one, two) = thread::scope(|scope| {
        let one = scope.spawn(|| succeeded(&mut ask("one")).stdout);
        let two = scope.spawn(|| succeeded(&mut ask("two")).stdout);
        (one.join().unwrap(), two.join().unwrap())
    });
    let trials = |text: &[u8]| {
        let json: Value = serde_json::from_slice(text).unwrap();
        json["trials"].clone()
    };
    assert_eq!(trials(&one), trials(&two));
    let list: Value = json(&mut store(&dir, &["list", "--json"]));
    let boots = list["boots"].as_array().unwrap();
    assert_eq!(boots.len(), 10);
    assert!(
        boots
            .iter()
            .all(|b| b["made"].as_array().unwrap().len() == 1),
        "{list}"
    );
    // The least used goes first.
    succeeded(&mut store(&dir, &["clean", "--to", "400kB"]));
    let left: Value = json(&mut store(&dir, &["list", "--json"]));
    let left = left["boots"].as_array().unwrap().len();
    assert!((1..10).contains(&left), "{left}");
}
