//! Files that say something without any time in it: a kernel's or U-Boot's
//! `.config`, a command line, U-Boot's or barebox's environment.
//!
//! What a file is, its content says; whatever is none of these may be evidence
//! of a boot. A console on which somebody typed `printenv` is both.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use bootlap_advice::Facts;
use bootlap_artefact::barebox_env::BareboxEnv;
use bootlap_artefact::compress::Compression;
use bootlap_artefact::uboot_env::UbootEnv;
use bootlap_kbuild::dot_config::DotConfig;
use bootlap_lab::Run;
use regex::bytes::Regex;

use crate::failure::{Exit, Failure};

/// No configuration or environment is larger.
const MAX_BYTES: u64 = 8 << 20;
/// The kernel takes no longer command line anywhere.
const MAX_CMDLINE: usize = 4096;
/// How much of a text is looked at to say what it is.
const LINES: usize = 200;

/// Some files, by what they are.
#[derive(Default)]
pub struct Sorted {
    /// What they say.
    pub facts: Facts,
    /// What each file of facts is.
    pub said: Vec<(PathBuf, &'static str)>,
    /// The others: evidence of a boot, if anything.
    pub evidence: Vec<PathBuf>,
}

/// Tells files of facts from evidence.
///
/// # Errors
/// If a file is damaged, or two say the same thing.
pub fn sort(paths: &[PathBuf]) -> Result<Sorted, Failure> {
    let mut sorted = Sorted::default();
    for path in paths {
        let facts = match look(path)? {
            Some((facts, Said::Beside)) => {
                sorted.evidence.push(path.clone());
                facts
            }
            Some((facts, Said::Only(what))) => {
                if let Some((other, _)) = sorted.said.iter().find(|(_, w)| *w == what) {
                    let why = format!("{} and {} both are {what}", other.display(), path.display());
                    return Err(Failure::new(Exit::Usage, why).hint("give one of them"));
                }
                sorted.said.push((path.clone(), what));
                facts
            }
            None => {
                sorted.evidence.push(path.clone());
                continue;
            }
        };
        sorted.facts = sorted.facts.or(facts);
    }
    Ok(sorted)
}

/// What consoles without times say all the same: the kernel's command line, and what U-Boot
/// counts down from.
pub fn of_consoles(paths: &[PathBuf]) -> Facts {
    let all = paths
        .iter()
        .filter_map(|path| Some(of_console(&small(path)?)));
    all.fold(Facts::default(), Facts::or)
}

fn of_console(bytes: &[u8]) -> Facts {
    static CMDLINE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m-u)Kernel command line: *([^\r\n]+)").expect("checked by tests")
    });
    // barebox says the same as U-Boot, and has another setting.
    static COUNTDOWN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?ms-u)^U-Boot [0-9S].*?^Hit any key to stop autoboot: *([0-9]{1,4})\b")
            .expect("checked by tests")
    });
    let said = |pattern: &Regex| {
        let found = pattern.captures(bytes)?.get(1)?.as_bytes();
        Some(String::from_utf8_lossy(found).trim().to_owned())
    };
    Facts {
        cmdline: said(&CMDLINE),
        countdown_s: said(&COUNTDOWN).and_then(|seconds| seconds.parse().ok()),
        ..Facts::default()
    }
}

/// A file's bytes, unpacked, if it is one that may say some facts.
fn small(path: &Path) -> Option<Vec<u8>> {
    let is_small = fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= MAX_BYTES);
    let bytes = is_small.then(|| fs::read(path).ok()).flatten()?;
    match Compression::detect(&bytes) {
        Compression::Gzip => Compression::Gzip
            .decompress(&bytes, MAX_BYTES as usize)
            .ok(),
        _ => Some(bytes),
    }
}

/// How a file says some facts.
enum Said {
    /// It is nothing else.
    Only(&'static str),
    /// Beside what happened, and when.
    Beside,
}

/// The facts that a file says, if it says any.
fn look(path: &Path) -> Result<Option<(Facts, Said)>, Failure> {
    let small = fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= MAX_BYTES);
    if !small || Run::is_run(path) {
        return Ok(None);
    }
    let cannot = |e: std::io::Error| {
        let why = format!("cannot read {}: {e}", path.display());
        Failure::new(Exit::Usage, why)
    };
    let mut bytes = fs::read(path).map_err(cannot)?;
    if Compression::detect(&bytes) == Compression::Gzip {
        // /proc/config.gz; what is damaged is told by who reads logs.
        let limit = MAX_BYTES as usize;
        match Compression::Gzip.decompress(&bytes, limit) {
            Ok(unpacked) => bytes = unpacked,
            Err(_) => return Ok(None),
        }
    }
    let wrong = |e: &dyn std::fmt::Display| {
        Failure::new(Exit::NothingUsable, format!("{}: {e}", path.display()))
    };
    let mut facts = Facts::default();
    let what = if is_config(&bytes) {
        let config = DotConfig::read(&bytes).map_err(|e| wrong(&e))?;
        match is_of_uboot(&config) {
            true => facts.uboot_config = Some(config),
            false => facts.kernel_config = Some(config),
        }
        match facts.uboot_config {
            Some(_) => "U-Boot's configuration",
            None => "the kernel's configuration",
        }
    } else if BareboxEnv::is_one(&bytes) {
        facts.barebox = Some(BareboxEnv::read(&bytes).map_err(|e| wrong(&e))?);
        "barebox's environment"
    } else if is_environment(&bytes) {
        let printed = printed(&bytes);
        if is_log(&bytes) {
            let found = printed.and_then(|text| UbootEnv::read_any(text).ok());
            facts.environment = found.map(|found| found.environment);
            return Ok(Some((facts, Said::Beside)));
        }
        let found = UbootEnv::read_any(printed.unwrap_or(&bytes)).map_err(|e| wrong(&e))?;
        facts.environment = Some(found.environment);
        "U-Boot's environment"
    } else if let Some(line) = command_line(&bytes) {
        facts.cmdline = Some(line);
        "the kernel's command line"
    } else {
        return Ok(None);
    };
    Ok(Some((facts, Said::Only(what))))
}

/// Whether lines of a kernel have their times in it.
fn is_log(bytes: &[u8]) -> bool {
    static TIME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m-u)^[ \t]*(?:<\d>)?\[ *\d+\.\d{6}\] ").expect("checked by tests")
    });
    TIME.is_match(bytes)
}

/// What `printenv` printed among other lines.
fn printed(bytes: &[u8]) -> Option<&[u8]> {
    static PRINTED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?ms-u)^[^\n]*printenv *\r?\n(.*?)^Environment size: ")
            .expect("checked by tests")
    });
    Some(PRINTED.captures(bytes)?.get(1)?.as_bytes())
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|l| !l.is_empty()).take(LINES)
}

/// Most lines of it are options or comments.
fn is_config(bytes: &[u8]) -> bool {
    let (mut options, mut others) = (0, 0);
    for line in lines(bytes) {
        let option = line.starts_with(b"CONFIG_") || line.starts_with(b"# CONFIG_");
        options += usize::from(option);
        others += usize::from(!option && !line.starts_with(b"#"));
    }
    options > others
}

fn is_of_uboot(config: &DotConfig) -> bool {
    let own = ["SYS_TEXT_BASE", "TEXT_BASE", "BOOTDELAY", "SYS_CONFIG_NAME"];
    own.iter().any(|name| config.get(name).is_some())
}

/// Variables that every environment of U-Boot has one of.
const VARIABLES: [&[u8]; 3] = [b"bootcmd=", b"bootdelay=", b"bootargs="];

/// What `printenv` says, or an image of one.
fn is_environment(bytes: &[u8]) -> bool {
    let mut entries = bytes.split(|b| matches!(b, b'\n' | 0));
    entries.any(|entry| {
        // The first one follows a CRC and perhaps a flag.
        let starts = |at: usize, v: &[u8]| entry.get(at..).is_some_and(|e| e.starts_with(v));
        VARIABLES
            .iter()
            .any(|v| starts(0, v) || starts(4, v) || starts(5, v))
    })
}

/// One line of words, of which one is known to every kernel.
fn command_line(bytes: &[u8]) -> Option<String> {
    let text = str::from_utf8(bytes).ok()?.trim();
    if text.len() > MAX_CMDLINE || text.contains('\n') {
        return None;
    }
    let known = ["console", "root", "init", "rdinit", "quiet", "BOOT_IMAGE"];
    let words = bootlap_product::cmdline::words(text);
    let is_known = |w: &&str| {
        let name = w.split('=').next().unwrap_or_default();
        known.contains(&name)
    };
    words.iter().any(is_known).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use bootlap_artefact::uboot_env::EnvLayout;

    use super::*;

    fn what(bytes: &[u8]) -> Result<&'static str, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, bytes).unwrap();
        match sort(&[path]) {
            Ok(sorted) => Ok(sorted.said.first().map_or("evidence", |(_, what)| what)),
            Err(failure) => Err(failure.message),
        }
    }

    #[test]
    fn a_console_with_an_environment_in_it_is_evidence_too() {
        let console = "U-Boot 2023.01 (Jan 01 2023)\r\nHit any key to stop autoboot:  0\r\n\
            => printenv\r\nbaudrate=115200\r\nbootcmd=run a\r\nbootdelay=2\r\n\r\n\
            Environment size: 44/8188 bytes\r\n=> boot\r\nStarting kernel ...\r\n";
        let kernel = "[    0.000000] Linux version 6.1.0 (cc) #1\r\n[    0.100000] a=b\r\n";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("boot.log");
        let sorted = |text: &str| {
            fs::write(&path, text).unwrap();
            sort(std::slice::from_ref(&path)).unwrap()
        };
        let delay = |sorted: &Sorted| {
            let environment = sorted.facts.environment.as_ref()?;
            environment.get("bootdelay").map(str::to_owned)
        };
        let both = sorted(&format!("{console}{kernel}"));
        assert_eq!(both.evidence, [&*path]);
        assert!(both.said.is_empty());
        assert_eq!(delay(&both).as_deref(), Some("2"));
        // Without a time in it there is nothing else to be had.
        let timeless = sorted(console);
        assert!(timeless.evidence.is_empty());
        assert_eq!(delay(&timeless).as_deref(), Some("2"));
        // Nobody saw where that ends.
        let cut = sorted(&format!("bootdelay=2\n{kernel}"));
        assert_eq!(cut.evidence, [&*path]);
        assert_eq!(delay(&cut), None);
    }

    #[test]
    fn a_console_without_times_says_what_needs_none() {
        let countdown = "Hit any key to stop autoboot:  3 \x08\x08\x08 2 \x08\x08\x08 0\r\n";
        let kernel = "Linux version 6.1.0\r\nKernel command line: console=ttyS0 root=/dev/sda1\r\n";
        let facts = |loader: &str| {
            let text = format!("\r\n{loader} 2023.01 (Jan 01 2023)\r\n{countdown}{kernel}");
            of_console(text.as_bytes())
        };
        let known = facts("U-Boot");
        assert_eq!(
            known.cmdline.as_deref(),
            Some("console=ttyS0 root=/dev/sda1")
        );
        assert_eq!(known.countdown_s, Some(3));
        assert_eq!(facts("U-Boot SPL").countdown_s, Some(3));
        assert_eq!(facts("barebox").countdown_s, None);
    }

    #[test]
    fn files_are_known_by_what_they_say() {
        let gzip = Compression::Gzip.compress(b"CONFIG_HZ=100\n").unwrap();
        let mut env = UbootEnv::new();
        env.set("bootcmd", "bootm").unwrap();
        let env = env.to_bytes(&EnvLayout::single(512)).unwrap();
        for (bytes, want) in [
            (
                &b"#\n# Linux/arm64\nCONFIG_HZ=250\n"[..],
                "the kernel's configuration",
            ),
            (&gzip, "the kernel's configuration"),
            (b"CONFIG_BOOTDELAY=2\n", "U-Boot's configuration"),
            (
                b"=> printenv\nbootcmd=run a\na=bootm\n\nEnvironment size: 9/99 bytes\n",
                "U-Boot's environment",
            ),
            (&env, "U-Boot's environment"),
            (
                b"console=ttyS0,115200 root=/dev/sda1 ro\n",
                "the kernel's command line",
            ),
            (b"[    0.000000] Linux version 6.1.0 (gcc) #1\n", "evidence"),
            (b"", "evidence"),
        ] {
            assert_eq!(what(bytes).unwrap(), want);
        }
    }

    #[test]
    fn damage_is_told_with_its_place() {
        let said = what(b"CONFIG_A=y\nCONFIG_B=y\nCONFIG_C\n").unwrap_err();
        assert!(said.contains("a: line 3"), "{said}");
        let mut env = UbootEnv::new();
        env.set("bootcmd", "bootm").unwrap();
        let mut env = env.to_bytes(&EnvLayout::single(512)).unwrap();
        env[100] ^= 1;
        let said = what(&env).unwrap_err();
        assert!(said.contains("crc"), "{said}");
        let said = what(&[0x79, 0x8f, 0xba, 0x79, 0, 0, 0, 0]).unwrap_err();
        assert!(said.contains("barebox is cut short"), "{said}");
    }
}
