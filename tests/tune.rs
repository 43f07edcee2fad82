//! `try` and `tune` on a kiosk that is tuned half-way, whose boots are short.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{bootlap, failure, json, kiosk, scratch, succeeded};
use serde_json::Value;

/// The kiosk without its largest costs, with this way to start it.
fn short_kiosk(dir: &Path, start: &str) -> PathBuf {
    let out = dir.join("short");
    let mut command = bootlap(dir);
    let recipes = [start, "cmdline-no-crypto-tests"];
    command.arg("apply").arg(kiosk()).args(recipes);
    succeeded(command.arg("-o").arg(&out));
    out
}

/// A boot with U-Boot, and one half as long without it.
const WITH_LOADER: &str = "uboot-bootdelay";
const WITHOUT_LOADER: &str = "bootloader-none";

/// The same on a board that reads flash at this rate and prints at 115 200 baud.
fn short_kiosk_on_a_board(dir: &Path, start: &str, rate: &str) -> PathBuf {
    let target = short_kiosk(dir, start);
    let file = target.join("target.toml");
    let text = fs::read_to_string(&file).unwrap();
    let board = format!(
        "{text}\n[board]\ninstructions-per-second = 500e6\nstorage-bandwidth = \"{rate}\"\n"
    );
    fs::write(file, board).unwrap();
    target
}

/// A recipe of the user's own: the list of fonts is made behind the
/// application, which waits for it before it serves the page.
fn fonts_later(dir: &Path) -> PathBuf {
    let scripts = kiosk().join("initramfs/etc/init.d");
    let fonts = fs::read_to_string(scripts.join("S50fonts")).unwrap();
    // What it printed about itself is gone: the work is the application's now.
    let work = fonts
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with("echo"));
    let work: String = work.map(|line| format!("{line}\n")).collect();
    fs::write(
        dir.join("S50fonts"),
        "#!/bin/sh\necho \"Font list: later\"\n",
    )
    .unwrap();
    let app = fs::read_to_string(kiosk().join("initramfs/usr/bin/kiosk")).unwrap();
    let app = app.split_once('\n').unwrap().1;
    let waits = format!("#!/bin/sh\necho \"Waiting for fonts\"\n{work}{app}");
    fs::write(dir.join("kiosk"), waits).unwrap();
    for name in ["S50fonts", "kiosk"] {
        use std::os::unix::fs::PermissionsExt;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(dir.join(name), executable).unwrap();
    }
    let recipe = dir.join("fonts-later.toml");
    let text = "name = \"fonts-later\"\ntitle = \"the font list is made later\"\n[files]\n\
                \"/etc/init.d/S50fonts\" = \"S50fonts\"\n\"/usr/bin/kiosk\" = \"kiosk\"\n";
    fs::write(&recipe, text).unwrap();
    recipe
}

/// A recipe that breaks the boot.
fn no_init(dir: &Path) -> PathBuf {
    let recipe = dir.join("no-init.toml");
    let text = "name = \"no-init\"\nappend = \"rdinit=/nowhere\"\n";
    fs::write(&recipe, text).unwrap();
    recipe
}

#[test]
fn work_that_only_moves_is_called_equivalent_and_named() {
    let dir = scratch("moves");
    let (target, recipe) = (short_kiosk(&dir, WITHOUT_LOADER), fonts_later(&dir));
    let mut command = bootlap(&dir);
    command.arg("try").arg(target).arg(recipe);
    let tried = json(command.args(["-k", "5", "--margin", "1%", "--json"]));
    let trial = &tried["trials"][0];
    assert_eq!(trial["recipe"], "fonts-later");
    assert_eq!(trial["verdict"], "equivalent", "{trial}");
    let moved = trial["moved"].as_array().unwrap();
    let named = |m: &&Value| {
        let is = |key: &str, part: &str| m[key].as_str().unwrap().contains(part);
        is("from", "Starting font list") && is("to", "Waiting for fonts")
    };
    assert!(moved.iter().any(|m| named(&m)), "{moved:?}");

    // The experiment's folder tells the same: the baseline against the recipe.
    let mut sessions = fs::read_dir(dir.join("runs/kiosk-try")).unwrap();
    let session = sessions.next().unwrap().unwrap().path();
    let mut command = bootlap(&dir);
    let compared = json(command.args(["compare", "--json"]).arg(&session));
    assert_eq!(compared["after"]["name"], "fonts-later", "{compared}");
    assert_eq!(compared["total"]["verdict"], "equivalent");
}

#[test]
fn a_search_goes_on_where_it_was_killed_and_names_what_broke() {
    let dir = scratch("tune");
    let target = short_kiosk_on_a_board(&dir, WITHOUT_LOADER, "2 GB/s");
    let broken = no_init(&dir).display().to_string();
    let recipes = [&broken, "cmdline-quiet", "initramfs-compression=none"];
    let tune_in = |runs: &str, out: &str| {
        let mut command = bootlap(&dir);
        command
            .arg("tune")
            .arg(&target)
            .args(["-k", "6", "--out", out, "--runs", runs])
            .args(["--store", "kept", "--recheck", "0", "--json"])
            .args(recipes.iter().flat_map(|recipe| ["--only", recipe]));
        command
    };
    let tune = || tune_in("runs", "tuned");
    let mut killed = tune().stdout(Stdio::null()).spawn().unwrap();
    wait_for_runs(&dir, 8, &mut killed);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(!dir.join("tuned").exists());
    let before = started(&dir.join("runs"));
    assert!(before.len() >= 8);

    // Another one at the same time makes the boots that this one does not.
    let (tuned, beside) = std::thread::scope(|scope| {
        let beside = scope.spawn(|| json(&mut tune_in("beside", "tuned-beside")));
        (json(&mut tune()), beside.join().unwrap())
    });
    assert_eq!(beside["steps"], tuned["steps"]);
    let boots = made_once(&dir);
    // No boot that was whole was made again.
    let after = started(&dir.join("runs"));
    for (run, when) in &before {
        assert_eq!(after.get(run), Some(when), "{}", run.display());
    }
    let sessions: Vec<_> = fs::read_dir(dir.join("runs/kiosk-tune")).unwrap().collect();
    assert_eq!(sessions.len(), 1);

    let names: Vec<&str> = list(&tuned["steps"], "recipe");
    assert!(names.contains(&"initramfs-compression=none"), "{tuned}");
    assert!(names.contains(&"cmdline-quiet"), "{tuned}");
    assert_eq!(tuned["proof"]["verdict"], "faster");
    // By instructions alone, the text on the console would be free.
    let beside = &tuned["beside"][0];
    assert_eq!(beside["axis"], "simulated time");
    let saved = |steps: &Value, recipe: &str| {
        let steps = steps.as_array().unwrap();
        let step = steps.iter().find(|s| s["recipe"] == recipe);
        step.map(|s| s["saved_ns"].as_f64().unwrap())
    };
    let quiet = |of: &Value| saved(&of["steps"], "cmdline-quiet").unwrap();
    assert!(quiet(&tuned) > 0.9e9 && quiet(beside) < 0.05e9, "{tuned}");
    for step in tuned["steps"].as_array().unwrap() {
        // Sure, or clear at a glance.
        let p = step["without_p"].as_f64();
        assert!(p.is_none_or(|p| p <= 0.05), "{step}");
        assert!(step["without_ns"].as_i64().unwrap() > 0, "{step}");
        let saved = step["saved_ns"].as_i64().unwrap();
        let bound = |i: usize| step["interval_ns"][i].as_i64().unwrap();
        assert!(bound(0) <= saved && saved <= bound(1), "{step}");
    }
    let excluded = tuned["excluded"].as_array().unwrap();
    assert_eq!(list(&tuned["excluded"], "recipe"), ["no-init"]);
    let tail = excluded[0]["console_tail"].to_string();
    assert!(tail.contains("Kernel panic - not syncing"), "{tail}");
    let ns = |key: &str| tuned[key].as_i64().unwrap();
    assert!(ns("after_ns") < ns("before_ns") * 9 / 10, "{tuned}");

    // What was written boots as fast as was said, and nothing is written over.
    let mut command = bootlap(&dir);
    let boot = json(command.args(["boot", "tuned", "-n", "1", "--json"]));
    let ready = boot["ready_ns"].as_i64().unwrap();
    assert!((ready - ns("after_ns")).abs() < ns("after_ns") / 100);
    let said = failure(&mut tune(), 2);
    assert!(said.contains("exists already"), "{said}");

    // The same search in another folder makes no boot, and shows the same.
    let again = json(&mut tune_in("elsewhere", "tuned-again"));
    assert_eq!(again["steps"], tuned["steps"]);
    let runs = started(&dir.join("elsewhere"));
    assert!(runs.len() > 20, "{}", runs.len());
    for run in runs.keys() {
        let manifest = fs::read(run.join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        assert!(manifest["kept"].is_array(), "{}", run.display());
    }
    let page = |runs: &str| {
        let mut sessions = fs::read_dir(dir.join(runs).join("kiosk-tune")).unwrap();
        let session = sessions.next().unwrap().unwrap().path();
        fs::read(session.join("tune.html")).unwrap()
    };
    assert!(page("elsewhere") == page("runs"), "the same page");
    let target = |out: &str| fs::read_to_string(dir.join(out).join("target.toml")).unwrap();
    assert_eq!(target("tuned-again"), target("tuned"));
    assert_eq!(made_once(&dir), boots);

    // With one recipe more, boots are made that have it, and no other again.
    let mut more = tune_in("more", "tuned-more");
    json(more.args(["--only", "cmdline-no-zeroing"]));
    let with = made_once(&dir) - boots;
    assert!((1..boots).contains(&with), "{with} beside {boots}");
}

/// How many boots are kept, each of which was made once.
fn made_once(dir: &Path) -> usize {
    let mut command = bootlap(dir);
    let list = json(command.args(["store", "list", "--json", "--store", "kept"]));
    let boots = list["boots"].as_array().unwrap();
    let once = |boot: &Value| boot["made"].as_array().unwrap().len() == 1;
    assert!(boots.iter().all(once), "{list}");
    boots.len()
}

#[test]
fn another_board_takes_other_recipes() {
    let dir = scratch("tune-boards");
    let target = short_kiosk_on_a_board(&dir, WITH_LOADER, "20 MB/s");
    // What no boot opens, and what no compression makes smaller: 0.1 s of reading.
    let mut noise = 1_u64;
    let unused = std::iter::repeat_with(|| {
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (noise >> 56) as u8
    });
    fs::write(
        target.join("unused"),
        unused.take(2_000_000).collect::<Vec<u8>>(),
    )
    .unwrap();
    let file = target.join("target.toml");
    let text = fs::read_to_string(&file).unwrap();
    let files = "[initramfs.files]\n";
    assert!(text.contains(files));
    let text = text.replacen(
        files,
        &format!("{files}\"/usr/share/unused\" = \"unused\"\n"),
        1,
    );
    fs::write(&file, text).unwrap();
    let mut command = bootlap(&dir);
    let search = [
        "tune",
        "short",
        "-k",
        "6",
        "--out",
        "tuned",
        "--json",
        "--beside",
        "fast.json",
    ];
    // An earlier search, on a board whose storage is fast.
    let earlier = r#"{"target": "kiosk", "time": "modelled", "model": "d22daec7",
        "before_ns": 3876000000, "after_ns": 3830600000, "left_out": [],
        "steps": [{"recipe": "kernel-compression=none", "saved_ns": 45400000}]}"#;
    fs::write(dir.join("fast.json"), earlier).unwrap();
    let only = ["kernel-compression=none", "initramfs-touched"].map(|r| ["--only", r]);
    let tuned = json(command.args(search).args(only.concat()));
    // Reading the larger kernel takes longer than unpacking the smaller one; fewer files
    // are fewer bytes, and which ones a boot opens is found out on the way.
    let names = list(&tuned["steps"], "recipe");
    assert!(
        matches!(names[..], [touched] if touched.starts_with("initramfs-touched=")),
        "{tuned}"
    );
    let out = &tuned["left_out"][0];
    assert_eq!(out["recipe"], "kernel-compression=none");
    assert!(out["saved_ns"].as_f64().unwrap() < -0.5e9, "{out}");
    let saved = tuned["steps"][0]["saved_ns"].as_f64().unwrap();
    assert!(saved > 0.1e9, "{tuned}");
    let own = fs::read_to_string(dir.join("tuned/target.toml")).unwrap();
    assert!(own.contains("only = \"touched.txt\""), "{own}");
    let files = fs::read_to_string(dir.join("tuned/touched.txt")).unwrap();
    assert!(
        files.contains("busybox") && !files.contains("unused"),
        "{files}"
    );

    let axes = list(&tuned["beside"], "axis");
    assert_eq!(axes, ["simulated time", "kiosk, board d22daec7"]);

    let mut command = bootlap(&dir);
    command.args([
        "tune",
        "short",
        "--out",
        "none",
        "--beside",
        "short/target.toml",
    ]);
    let said = failure(&mut command, 2);
    assert!(said.contains("not what `bootlap tune` wrote"), "{said}");
}

#[test]
fn a_boot_that_fails_its_check_is_not_ready() {
    let dir = scratch("check-fails");
    let target = short_kiosk(&dir, WITHOUT_LOADER);
    let file = target.join("target.toml");
    let text = fs::read_to_string(&file).unwrap();
    let with_check = |check: &str| {
        let own = text.lines().find(|l| l.starts_with("check = ")).unwrap();
        fs::write(&file, text.replace(own, &format!("check = '{check}'"))).unwrap();
        let mut command = bootlap(&dir);
        command.arg("boot").arg(&target).args(["-n", "1", "--json"]);
        command
    };
    let works = "grep -q APP_READY \"$BOOTLAP_CONSOLE\" && test -d \"$BOOTLAP_RUN\"";
    json(&mut with_check(works));
    let said = failure(&mut with_check("echo the page is empty >&2; false"), 6);
    assert!(
        said.contains("the check") && said.contains("the page is empty"),
        "{said}"
    );
}

/// Waits until so many boots were recorded whole.
fn wait_for_runs(dir: &Path, n: usize, child: &mut Child) {
    let begun = Instant::now();
    while started(&dir.join("runs")).len() < n {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it was killed"
        );
        assert!(begun.elapsed() < Duration::from_secs(900), "no boots");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// When each whole run below `dir` was recorded.
fn started(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let manifest = fs::read(path.join("manifest.json")).ok();
            let manifest = manifest.and_then(|m| serde_json::from_slice::<Value>(&m).ok());
            match manifest {
                Some(m) if m["state"] == "finished" => {
                    found.insert(path, m["started"].as_str().unwrap().to_owned());
                }
                _ if path.is_dir() => open.push(path),
                _ => {}
            }
        }
    }
    found
}

fn list<'v>(values: &'v Value, key: &str) -> Vec<&'v str> {
    let values = values.as_array().unwrap().iter();
    values.map(|v| v[key].as_str().unwrap()).collect()
}
