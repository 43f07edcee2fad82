//! What of this machine bootlap can use, and what it lacks.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use bootlap_lab::examine::{PROGRAMS, examine};
use bootlap_report::FORMAT;
use bootlap_report::doctor::{CheckState, CheckedJson, DoctorJson};
use bootlap_report::format::count;
use rustix::time::{ClockId, clock_getres};

use crate::TOOL;
use crate::progress::Progress;

/// Programs that bootlap runs, the package of each, and what does not work without it.
const TOOLS: [(&str, &str, &str); 9] = [
    (
        "dpkg-deb",
        "dpkg",
        "targets of Debian's packages (the demo)",
    ),
    ("apt-get", "apt", "targets of Debian's packages (the demo)"),
    ("qemu-img", "qemu-utils", "disk images that are not raw"),
    ("mke2fs", "e2fsprogs", "disks made for a target"),
    ("debugfs", "e2fsprogs", "changes on ext4 disks"),
    ("depmod", "kmod", "drivers for the user space of boards"),
    ("ssh-keygen", "openssh-client", "signed shared stores"),
    ("make", "make", "kernels and U-Boot from source"),
    ("gcc", "gcc", "kernels and U-Boot from source"),
];

/// Looks at QEMU, other programs, folders and clocks. `store` is `None` where boots are not kept.
pub fn look(cache: &Path, store: Option<&Path>, progress: &dyn Progress) -> DoctorJson {
    let mut checks = Vec::new();
    for program in PROGRAMS {
        progress.step(&format!("trying {}", program.name));
        checks.push(qemu(program));
    }
    checks.extend(TOOLS.map(tool));
    checks.push(folder("cache", cache));
    match store {
        Some(store) => checks.push(folder("kept boots", store)),
        None => checks.push(checked(
            "files",
            "kept boots",
            CheckState::Ok,
            "none are kept",
        )),
    }
    checks.push(folder("runs", Path::new("runs")));
    checks.push(host_clock());
    checks.push(real_time());
    let missing: BTreeSet<&str> = checks.iter().filter_map(|c| c.package.as_deref()).collect();
    let names: Vec<&str> = missing.into_iter().collect();
    DoctorJson {
        format: FORMAT,
        tool: TOOL.to_owned(),
        mend: (!names.is_empty()).then(|| format!("sudo apt-get install {}", names.join(" "))),
        checks,
    }
}

fn checked(group: &str, name: &str, state: CheckState, found: impl Into<String>) -> CheckedJson {
    CheckedJson {
        group: group.to_owned(),
        name: name.to_owned(),
        state,
        found: found.into(),
        package: None,
    }
}

fn qemu(program: bootlap_lab::examine::Program) -> CheckedJson {
    let Some(found) = examine(program.name) else {
        let lost = format!("it boots {}", program.boots);
        return CheckedJson {
            package: Some(program.package.to_owned()),
            ..checked("boots", program.name, CheckState::Missing, lost)
        };
    };
    let version = found.version.trim_start_matches("QEMU emulator version ");
    match found.refused {
        None => {
            let text = format!("{version}; takes the probe, so equal boots are bit-identical");
            checked("boots", program.name, CheckState::Ok, text)
        }
        Some(why) => {
            let text = format!("{version} refuses the probe: {why}");
            checked("boots", program.name, CheckState::Broken, text)
        }
    }
}

fn tool((name, package, needed): (&str, &str, &str)) -> CheckedJson {
    match in_path(name) {
        Some(path) => checked("tools", name, CheckState::Ok, path.display().to_string()),
        None => CheckedJson {
            package: Some(package.to_owned()),
            ..checked("tools", name, CheckState::Missing, format!("for {needed}"))
        },
    }
}

/// Where a program is; file systems' tools are in folders that only root's PATH has.
fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    folders.extend(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders
        .into_iter()
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
}

/// Whether a folder, or the nearest one above it that is there, can be written, and its room.
fn folder(name: &str, path: &Path) -> CheckedJson {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = whole
        .ancestors()
        .find(|above| above.is_dir())
        .unwrap_or(Path::new("/"));
    let shown = path.display();
    let tried = tempfile::Builder::new()
        .prefix(".bootlap-doctor")
        .tempfile_in(there);
    if let Err(e) = tried {
        let text = format!("{shown} cannot be written: {}", e.kind());
        return checked("files", name, CheckState::Broken, text);
    }
    let room = rustix::fs::statvfs(there).map(|s| s.f_bavail.saturating_mul(s.f_frsize));
    let room = room.map_or(String::new(), |bytes| {
        format!(", {} GB free", count(bytes / 1_000_000_000))
    });
    checked("files", name, CheckState::Ok, format!("{shown}{room}"))
}

/// What stamps the consoles of boards, and boots with --plain.
fn host_clock() -> CheckedJson {
    const NAMED: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let resolution = clock_getres(ClockId::Monotonic);
    let named = fs::read_to_string(NAMED).unwrap_or_default();
    let named = match named.trim() {
        "" => String::new(),
        name => format!(", from {name}"),
    };
    let ns = resolution.tv_sec * 1_000_000_000 + resolution.tv_nsec;
    let text = format!("monotonic, {ns} ns{named}");
    checked("time", "host clock", CheckState::Ok, text)
}

/// Whether the console of a board is read as soon as a byte comes.
fn real_time() -> CheckedJson {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Rtprio).current;
    let may = rustix::process::geteuid().is_root() || limit.is_none_or(|most| most > 0);
    let text = match may {
        true => "boards' consoles are stamped ahead of other programs",
        false => {
            "boards' stamps wait for other programs: up to 1 ms on a busy machine (a limit rtprio > 0 mends it)"
        }
    };
    checked("time", "priority", CheckState::Ok, text)
}
