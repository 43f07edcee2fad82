//! This very machine: what it tells of its own last boot, gathered into a folder of evidence.
//!
//! Only what anyone may read is read, and nothing is changed: what root alone could have read is
//! told as missed.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::{Exit, Failure};
use crate::progress::Progress;

/// A program that takes longer than this waits for something that does not come, such as a bus.
const PATIENCE: Duration = Duration::from_secs(30);
/// A kernel's log that begins later than this, in seconds, has lost its beginning.
const BEGINNING: f64 = 1.0;
/// Where firmware and boot loader leave their times.
const FPDT: &str = "/sys/firmware/acpi/fpdt/boot";
const EFIVARS: &str = "/sys/firmware/efi/efivars";

/// What was gathered.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Evidence and facts, in the order in which they were found.
    pub files: Vec<PathBuf>,
    /// What there would have been to know.
    pub missed: Vec<Missed>,
    /// Whether somebody else booted this kernel.
    pub in_container: bool,
}

/// Something that could not be read.
#[derive(Debug)]
pub struct Missed {
    /// What it would have told of.
    pub what: &'static str,
    /// Why it was not read.
    pub why: String,
}

/// Gathers into `folder`, which is made.
///
/// # Errors
/// If the folder cannot be written.
pub fn gather(folder: &Path, progress: &dyn Progress) -> Result<Gathered, Failure> {
    fs::create_dir_all(folder).map_err(|e| {
        let why = format!("cannot make {}: {e}", folder.display());
        Failure::new(Exit::Usage, why).hint("name a folder that you may write to with -o")
    })?;
    let mut here = Here {
        folder,
        found: Gathered {
            in_container: in_container(),
            ..Gathered::default()
        },
    };
    progress.step("reading the kernel's log");
    here.kernel_log();
    if Path::new("/run/systemd/system").is_dir() {
        progress.step("asking systemd");
        here.systemd();
    } else {
        here.other_init();
    }
    progress.step("reading what firmware and kernel say of themselves");
    here.firmware();
    here.facts();
    Ok(here.found)
}

struct Here<'f> {
    folder: &'f Path,
    found: Gathered,
}

impl Here<'_> {
    /// The log that goes back to the kernel's start: its own buffer, which forgets on machines
    /// that are up for long, or what journald kept of it.
    fn kernel_log(&mut self) {
        const WHAT: &str = "what the kernel did";
        let own = self.said_by("dmesg.txt", &["dmesg"]);
        let begun = own.as_ref().ok().and_then(|log| begins_at(log));
        if begun.is_some_and(|at| at < BEGINNING) {
            self.found.files.extend(own.ok());
            return;
        }
        let kept = self.said_by(
            "kernel.txt",
            &["journalctl", "-kb", "-oshort-monotonic", "-q"],
        );
        let kept_at = kept.as_ref().ok().and_then(|log| begins_at(log));
        if kept_at.is_some_and(|at| begun.is_none_or(|own| at < own)) {
            if let Ok(own) = own {
                let _ = fs::remove_file(own);
            }
            self.found.files.extend(kept.ok());
            return;
        }
        if let Ok(kept) = kept {
            let _ = fs::remove_file(kept);
        }
        match own {
            // What it still has is of hours later, and would be taken for the boot.
            Ok(log) => {
                let _ = fs::remove_file(log);
                let why = match begun {
                    Some(at) => format!(
                        "its log begins {at:.0} s after its start, and no journal has the rest"
                    ),
                    None => "its lines have no times (printk.time=1 gives them)".to_owned(),
                };
                self.miss(WHAT, why);
            }
            Err(why) => self.miss(WHAT, why),
        }
    }

    fn systemd(&mut self) {
        const WHAT: &str = "when systemd started what";
        let plot = self.said_by("plot.json", &["systemd-analyze", "plot", "--json=short"]);
        // Before version 250 it draws only.
        let plot = plot.or_else(|_| self.said_by("plot.svg", &["systemd-analyze", "plot"]));
        self.take(WHAT, plot);
        let units = self.said_by("units.txt", &["systemctl", "show", "*"]);
        self.take("what waited for what", units);
        let time = self.said_by("time.txt", &["systemd-analyze", "time"]);
        self.take("how long each part took", time);
    }

    fn other_init(&mut self) {
        let name = fs::read_to_string("/proc/1/comm").unwrap_or_default();
        let why = match self.found.in_container {
            true => "this is a container, which boots nothing itself".to_owned(),
            false => format!("no systemd runs here, but {}", name.trim()),
        };
        let openrc = Path::new("/var/log/rc.log");
        if openrc.is_file() {
            self.copy("when OpenRC started what", openrc, "rc.log");
        } else {
            self.miss("when services were started", why);
        }
    }

    fn firmware(&mut self) {
        let vars = fs::read_dir(EFIVARS).into_iter().flatten().flatten();
        for var in vars.map(|entry| entry.path()) {
            let name = var.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("LoaderTime") {
                self.copy("when the boot loader ran", &var, &format!("efivars/{name}"));
            }
        }
        // Each file is a number; together they are one piece of evidence.
        let Ok(entries) = fs::read_dir(FPDT) else {
            return;
        };
        let all = entries.flatten().all(|entry| {
            let name = entry.file_name();
            self.put(&entry.path(), &format!("fpdt/{}", name.to_string_lossy()))
                .is_ok()
        });
        let folder = self.folder.join("fpdt");
        match all {
            true => self.found.files.extend(folder.is_dir().then_some(folder)),
            false => {
                let _ = fs::remove_dir_all(folder);
                self.miss(
                    "how long the firmware took",
                    format!("{FPDT} cannot be read"),
                );
            }
        }
    }

    /// What has no time in it, and says what could be changed.
    fn facts(&mut self) {
        self.copy(
            "the kernel's command line",
            Path::new("/proc/cmdline"),
            "cmdline",
        );
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let release = release.trim();
        let places = [
            "/proc/config.gz".to_owned(),
            format!("/boot/config-{release}"),
            format!("/lib/modules/{release}/config"),
        ];
        match places.iter().map(Path::new).find(|place| place.is_file()) {
            Some(place) => {
                let name = if place.extension().is_some_and(|e| e == "gz") {
                    "config.gz"
                } else {
                    "config"
                };
                self.copy("the kernel's configuration", place, name);
            }
            None => self.miss(
                "the kernel's configuration",
                format!("neither {} is there", places.join(" nor ")),
            ),
        }
    }

    fn miss(&mut self, what: &'static str, why: String) {
        self.found.missed.push(Missed { what, why });
    }

    fn take(&mut self, what: &'static str, file: Result<PathBuf, String>) {
        match file {
            Ok(file) => self.found.files.push(file),
            Err(why) => self.miss(what, why),
        }
    }

    fn copy(&mut self, what: &'static str, from: &Path, name: &str) {
        let put = self.put(from, name);
        self.take(
            what,
            put.map_err(|e| format!("cannot read {}: {e}", from.display())),
        );
    }

    /// The kernel's files say that they are empty and are not, so their bytes are read.
    fn put(&self, from: &Path, name: &str) -> std::io::Result<PathBuf> {
        let bytes = fs::read(from)?;
        let to = self.folder.join(name);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&to, bytes)?;
        Ok(to)
    }

    /// What a program prints, as a file.
    fn said_by(&self, name: &str, words: &[&str]) -> Result<PathBuf, String> {
        let to = self.folder.join(name);
        let said = run(words, &to);
        if said.is_err() {
            let _ = fs::remove_file(&to);
        }
        said.map(|()| to)
    }
}

/// Runs a program with its output in a file; why it said nothing, in its own words.
fn run(words: &[&str], to: &Path) -> Result<(), String> {
    let [program, arguments @ ..] = words else {
        return Ok(());
    };
    let file = |e: std::io::Error| format!("cannot write {}: {e}", to.display());
    let errors = to.with_extension("errors");
    let child = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C.UTF-8")
        .env("SYSTEMD_PAGER", "")
        .env("SYSTEMD_COLORS", "0")
        .stdin(Stdio::null())
        .stdout(File::create(to).map_err(file)?)
        .stderr(File::create(&errors).map_err(file)?)
        .spawn();
    let ended = child.map(|mut child| {
        let began = Instant::now();
        loop {
            match child.try_wait() {
                Ok(None) if began.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Ok(Some(status)) => return Some(status),
                _ => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return None;
                }
            }
        }
    });
    let complaint = fs::read_to_string(&errors).unwrap_or_default();
    let _ = fs::remove_file(&errors);
    let complaint = complaint.lines().find(|line| !line.trim().is_empty());
    let complaint = complaint.map(|line| line.trim().to_owned());
    match ended {
        Err(e) => Err(format!("cannot run {program}: {e}")),
        Ok(None) => Err(format!(
            "{program} did not answer for {} s",
            PATIENCE.as_secs()
        )),
        Ok(Some(status)) if !status.success() => {
            Err(complaint.unwrap_or_else(|| format!("{program} ended with {status}")))
        }
        Ok(Some(_)) if fs::metadata(to).is_ok_and(|m| m.len() == 0) => {
            Err(complaint.unwrap_or_else(|| format!("{program} printed nothing")))
        }
        Ok(Some(_)) => Ok(()),
    }
}

/// The first time in a kernel's log, in seconds: `[    0.000000]`.
fn begins_at(log: &Path) -> Option<f64> {
    let lines = BufReader::new(File::open(log).ok()?).lines().take(100);
    lines.map_while(Result::ok).find_map(|line| {
        let (time, _) = line.trim_start_matches(['[', ' ']).split_once(']')?;
        time.parse().ok()
    })
}

/// Whether the kernel was booted by somebody else.
fn in_container() -> bool {
    let marks = [
        "/.dockerenv",
        "/run/.containerenv",
        "/run/systemd/container",
    ];
    // Where it is not there to be read, it is no virtual machine's.
    marks.iter().any(|mark| Path::new(mark).exists())
        || fs::read("/proc/1/environ").is_ok_and(|env| {
            env.split(|b| *b == 0)
                .any(|word| word.starts_with(b"container="))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_has_lost_its_beginning_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let begins = |text: &str| {
            fs::write(&log, text).unwrap();
            begins_at(&log)
        };
        assert_eq!(begins("[    0.000000] Linux version 6.1\n"), Some(0.0));
        assert_eq!(
            begins("<5>kept\n[14951.493570] EXT4-fs\n"),
            Some(14_951.493_57)
        );
        assert_eq!(begins("Linux version 6.1\n"), None);
    }

    #[test]
    fn what_a_program_complains_of_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("said.txt");
        let shell = |script| run(&["sh", "-c", script], &to);
        assert_eq!(shell("echo fine"), Ok(()));
        assert_eq!(fs::read_to_string(&to).unwrap(), "fine\n");
        assert_eq!(
            shell("echo 'not permitted' >&2; exit 1"),
            Err("not permitted".into())
        );
        assert_eq!(shell("exit 0"), Err("sh printed nothing".into()));
        let missing = run(&["no-such-program"], &to).unwrap_err();
        assert!(missing.contains("cannot run no-such-program"), "{missing}");
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
