//! What bootlap-agent collects on a target comes back with its console.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::{Booted, agent, bootlap, kiosk, printed, root, scratch};

const RECIPE: &str = r#"
name = "collect"
append = "rdinit=/bootlap-agent bootlap.console -- bootlap.until-process=wget bootlap.after-ms=300 bootlap.out=/run/archive"

[set]
"ready.pattern" = 'bootlap-archive \d+ end'

[files]
"/bootlap-agent" = "bootlap-agent"
"#;

#[test]
fn every_process_of_a_boot_is_in_it() {
    let dir = scratch("collect");
    fs::copy(agent("arm64"), dir.join("bootlap-agent")).unwrap();
    fs::write(dir.join("collect.toml"), RECIPE).unwrap();
    let mut apply = bootlap(&dir);
    printed(
        apply
            .arg("apply")
            .arg(kiosk())
            .args(["./collect.toml", "-o", "target"]),
    );
    let booted = Booted::of(&dir, &dir.join("target"), "2");
    assert_eq!(booted.json["identical"], true);
    assert!(booted.says("APP_READY"), "the kiosk works as before");
    let mut show = bootlap(&dir);
    let shown = printed(
        show.args(["show", "--limit", "0", "--by", "processes"])
            .arg(&booted.run),
    );
    let fonts = fs::read_to_string(kiosk().join("initramfs/etc/init.d/S50fonts")).unwrap();
    assert!(fonts.contains("basename \"$font\" | sed"));
    let count = |name: &str| {
        let is = |line: &&str| line.split_whitespace().rev().nth(1) == Some(name);
        shown.lines().filter(is).count()
    };
    // Of some ms each: a look in intervals sees none of them.
    for name in ["basename", "sed", "tr", "awk"] {
        assert!(count(name) >= 5, "{name}: {shown}");
    }
    assert!(count("rcS") >= 1 && count("wget") >= 1, "{shown}");
    // It is ready when the archive was sent, which is a part of the boot, too.
    let mut show = bootlap(&dir);
    let report = printed(show.args(["show", "--json"]).arg(&booted.run));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["extent"]["end_ns"], report["ready_ns"]);
    let phases = report["phases"].as_array().unwrap();
    assert_eq!(phases.last().unwrap()["end_ns"], report["ready_ns"]);
    let spans = report["spans"].as_array().unwrap();
    assert!(spans.iter().any(|s| s["name"] == "bootlap-archive"));
    // Each ran for some time, though few of them lived to see a tick.
    let arg = |span: &serde_json::Value, name: &str| {
        let args = span["args"].as_array()?;
        let found = args.iter().find(|a| a[0] == name)?;
        found[1].as_str()?.parse::<u64>().ok()
    };
    let short = ["basename", "sed", "tr", "awk"];
    let of_short = spans
        .iter()
        .filter(|s| short.contains(&s["name"].as_str().unwrap()));
    let ran: Vec<u64> = of_short.filter_map(|s| arg(s, "cpu_us")).collect();
    assert!(ran.len() >= 20, "{}", ran.len());
    assert!(ran.iter().all(|us| *us > 0), "{ran:?}");
    let mut inspect = bootlap(&dir);
    let inspected = printed(inspect.arg("inspect").arg(&booted.run));
    assert!(
        inspected.contains("the agent wrote to the kernel's log and read it"),
        "{inspected}"
    );
    assert!(!inspected.contains("archive-"), "{inspected}");
}

const IN_FRONT: &str = r#"
name = "in-front"
append = "rdinit=/bootlap-init bootlap.console -- bootlap.until-process=wget bootlap.after-ms=300 bootlap.out=/run/archive bootlap.trace=reads"

[files]
"/bootlap-agent" = "bootlap-agent"
"/bootlap-init" = "bootlap-init"
"#;

/// The kiosk with that agent behind `bootlap-init`.
fn in_front(dir: &Path, agent: &[u8], ready: &str) -> PathBuf {
    fs::create_dir_all(dir).unwrap();
    let script = root().join("agent/init/bootlap-init");
    fs::copy(script, dir.join("bootlap-init")).unwrap();
    let program = dir.join("bootlap-agent");
    fs::write(&program, agent).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(dir.join("recipe.toml"), IN_FRONT.to_owned() + ready).unwrap();
    let mut apply = bootlap(dir);
    printed(
        apply
            .arg("apply")
            .arg(kiosk())
            .args(["./recipe.toml", "-o", "target"]),
    );
    dir.join("target")
}

#[test]
fn an_agent_that_cannot_run_stops_no_boot() {
    let dir = scratch("broken-agent");
    let whole = fs::read(agent("arm64")).unwrap();
    let broken = [
        ("of another machine", fs::read(agent("x86-64")).unwrap()),
        ("cut off", whole[..whole.len() / 3].to_vec()),
        ("empty", Vec::new()),
    ];
    for (what, program) in broken {
        let place = dir.join(what.replace(' ', "-"));
        let booted = Booted::of(&place, &in_front(&place, &program, ""), "1");
        assert!(booted.says("APP_READY"), "{what}");
        let said = "bootlap-init: /bootlap-agent does not run here";
        assert!(booted.says(said), "{what}");
    }
}

#[test]
fn which_files_a_boot_reads_comes_with_the_console() {
    let dir = scratch("reads");
    let whole = fs::read(agent("arm64")).unwrap();
    let ready = "\n[set]\n\"ready.pattern\" = 'bootlap-archive \\d+ end'\n";
    let booted = Booted::of(&dir, &in_front(&dir, &whole, ready), "2");
    assert_eq!(booted.json["identical"], true);
    assert!(booted.says("APP_READY"), "the kiosk works as before");
    let mut show = bootlap(&dir);
    let table = show.args(["show", "--by", "reads", "--limit", "0", "--json"]);
    let table: serde_json::Value = serde_json::from_str(&printed(table.arg(&booted.run))).unwrap();
    let rows = table["rows"].as_array().unwrap();
    let of = |file: &str| rows.iter().find(|row| row["file"] == file).unwrap();
    // Two scripts have `$(cat /proc/cmdline)`: a call that reads it, and one that meets its end.
    let cmdline = of("/proc/cmdline");
    assert_eq!(cmdline["programs"], serde_json::json!(["cat"]));
    assert_eq!(
        (&cmdline["opens"], &cmdline["reads"]),
        (&2.into(), &4.into())
    );
    // Each script is opened by the shell that runs it.
    let scripts = fs::read_dir(kiosk().join("initramfs/etc/init.d")).unwrap();
    let mut seen = 0;
    for script in scripts {
        let name = script.unwrap().file_name().into_string().unwrap();
        if name.starts_with('S') {
            assert!(
                of(&format!("/etc/init.d/{name}"))["opens"].as_u64() >= Some(1),
                "{name}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 4);
}
