//! Init scripts in parallel, on a real kernel: thirty of them on two CPUs, in the
//! order that was computed, and as fast as that can be.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Booted, agent, bootlap, changed_kiosk, failure, json, root, scratch};

const INIT: &str = "#!/bin/sh
/bin/busybox mkdir -p /usr/bin /usr/sbin
/bin/busybox --install -s
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
/sbin/bootlap-agent rc /etc/bootlap-rc.plan OPTIONS
echo APP_READY
while true; do sleep 3600; done
";

/// A script of `tests/rc/tree`.
struct Wanted {
    name: String,
    needs: Vec<String>,
}

fn executable(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Writes the scripts of `tests/rc/tree`, which wait for their time.
fn scripts(folder: &Path) -> Vec<Wanted> {
    let tree = fs::read_to_string(root().join("tests/rc/tree")).unwrap();
    let lines = tree.lines().filter(|line| !line.starts_with('#'));
    let of = |(at, line): (usize, &str)| {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, ms, required, should] = columns[..] else {
            panic!("{line}");
        };
        let seconds = ms.parse::<f64>().unwrap() / 1000.0;
        let file = format!("S{:02}{name}", at + 1);
        let text = format!(
            "#!/bin/sh\n### BEGIN INIT INFO\n# Provides: {name}\n# Required-Start: {required}\n\
             # Should-Start: {should}\n# Default-Start: S\n### END INIT INFO\nsleep {seconds}\n"
        );
        executable(&folder.join(&file), &text);
        let needs = required
            .split(' ')
            .filter(|n| !n.is_empty() && !n.starts_with('$'));
        Wanted {
            name: file,
            needs: needs.map(str::to_owned).collect(),
        }
    };
    lines.enumerate().map(of).collect()
}

/// The kiosk with these scripts and two CPUs.
fn target(dir: &Path, options: &str) -> PathBuf {
    let dir = dir.join(format!("target{}", options.replace(' ', "-")));
    let tree = dir.join("root");
    scripts(&tree.join("etc/rcS.d"));
    executable(&tree.join("init"), &INIT.replace("OPTIONS", options));
    fs::create_dir_all(tree.join("sbin")).unwrap();
    fs::copy(agent("arm64"), tree.join("sbin/bootlap-agent")).unwrap();
    let mut plan = bootlap(&dir);
    plan.args(["rc", "root/etc/rcS.d", "-o", "root/etc/bootlap-rc.plan"]);
    assert!(plan.output().unwrap().status.success());
    let target = changed_kiosk(&dir, "memory-mb = 512", "memory-mb = 512\ncpus = 2");
    let file = target.join("target.toml");
    let text = fs::read_to_string(&file).unwrap();
    let kiosk = format!("{:?}", root().join("targets/kiosk/initramfs"));
    assert!(text.contains(&kiosk));
    fs::write(&file, text.replace(&kiosk, "\"../root\"")).unwrap();
    target
}

/// What `bootlap rc` says of a boot's times.
fn times(dir: &Path, target: &Path, booted: &Booted) -> Value {
    let mut rc = bootlap(dir);
    rc.arg("rc").arg(target.join("../root/etc/rcS.d"));
    json(
        rc.args(["--cpus", "2", "--json", "--times"])
            .arg(&booted.run),
    )["times"]
        .clone()
}

/// Where in the console a script starts and ends.
fn places(booted: &Booted) -> BTreeMap<String, (usize, usize)> {
    let at = |text: String| booted.console.find(&text);
    let tree = scripts(&scratch("rc-names"));
    let of = |wanted: Wanted| {
        let name = wanted.name;
        let start = at(format!("bootlap: rc {name} start"))?;
        let end = at(format!("bootlap: rc {name} end 0"))?;
        Some((name, (start, end)))
    };
    tree.into_iter().filter_map(of).collect()
}

#[test]
fn thirty_scripts_start_in_order_and_at_once() {
    let dir = scratch("rc");
    let at_once = target(&dir, "");
    let booted = Booted::of(&dir, &at_once, "1");
    let places = places(&booted);
    assert_eq!(places.len(), 30, "{}", booted.console);
    let wanted = scripts(&dir.join("names"));
    for script in &wanted {
        for need in &script.needs {
            let on = wanted.iter().find(|w| w.name[3..] == **need).unwrap();
            assert!(
                places[&on.name].1 < places[&script.name].0,
                "{} {need}",
                script.name
            );
        }
    }
    let report = times(&dir, &at_once, &booted);
    let ns = |report: &Value, key: &str| report[key].as_i64().unwrap();
    let (seen, critical) = (ns(&report, "seen_ns"), ns(&report, "critical_ns"));
    assert!(seen * 10 <= critical * 11, "{report}");

    let one_by_one = target(&dir, "--jobs 1");
    let booted = Booted::of(&dir, &one_by_one, "1");
    let one_by_one = times(&dir, &one_by_one, &booted);
    let (slow, found) = (ns(&one_by_one, "seen_ns"), ns(&one_by_one, "found_ns"));
    assert!(
        seen < slow && seen * 10 <= found * 11,
        "{report} {one_by_one}"
    );
}

#[test]
fn what_cannot_be_ordered_is_said() {
    let dir = scratch("rc-wrong");
    let header = |name: &str, required: &str| {
        let text = format!(
            "#!/bin/sh\n### BEGIN INIT INFO\n# Provides: {name}\n# Required-Start: {required}\n\
             # Default-Start: S\n### END INIT INFO\n"
        );
        executable(&dir.join("etc/init.d").join(name), &text);
    };
    let rc = |args: &[&str]| {
        let mut command = bootlap(&dir);
        command.arg("rc").args(args);
        command
    };
    header("a", "b");
    header("b", "$local_fs a");
    let said = failure(&mut rc(&["etc/init.d"]), 2);
    assert!(said.contains("a waits for b (Required-Start: b)"), "{said}");
    header("b", "udve");
    header("udev", "");
    let said = failure(&mut rc(&["etc/init.d", "-o", "plan"]), 2);
    assert!(said.contains("b requires udve, which no script"), "{said}");
    assert!(
        said.contains("did you mean udev?") && !dir.join("plan").exists(),
        "{said}"
    );
    failure(&mut rc(&["nowhere"]), 2);
    fs::create_dir(dir.join("empty")).unwrap();
    failure(&mut rc(&["empty"]), 4);

    header("b", "$local_fs udev");
    let report = json(&mut rc(&["etc/init.d", "-o", "plan", "--json"]));
    assert_eq!(report["on_target"], "/etc/init.d");
    let plan = fs::read_to_string(dir.join("plan")).unwrap();
    assert!(plan.starts_with("bootlap-rc 1\ndir /etc/init.d\nscript udev\nscript b after 0\n"));
}
