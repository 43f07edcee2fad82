//! systemd-boot: `loader.conf`, Boot Loader Specification entries, and unified kernels.

use std::cmp::Ordering;

use super::efi;
use super::{Entry, Loader, Wait, readable};
use crate::stars::fits;
use crate::volume::{Files, MOST_FILE, Place, Volume};

const CONFIG: &str = "loader/loader.conf";
/// More than anybody chooses from.
const MOST_PROGRAMS: usize = 64;
const MOST_ENTRIES: usize = 1024;

pub(super) fn read(volumes: &[Volume]) -> Option<Loader> {
    let mut all: Vec<(String, Entry)> = Vec::new();
    let mut config = None;
    let mut wait = Wait::Unknown;
    let mut pattern = String::new();
    for (volume, files) in readable(volumes) {
        if config.is_none()
            && let Some(text) = files.text(CONFIG)
        {
            let place = Place {
                volume,
                path: CONFIG.to_owned(),
            };
            config = Some(place);
            (wait, pattern) = settings(&text);
        }
        all.extend(entries(volume, files));
        for path in files
            .ending("EFI/Linux", ".efi")
            .into_iter()
            .take(MOST_PROGRAMS)
        {
            let program = files.read(&path, MOST_FILE).unwrap_or_default();
            if let Some(unified) = efi::unified(&program, &format!("/{path}")) {
                all.push((id(&path), unified.entry));
            }
        }
    }
    let all = newest_first(all);
    let default = all.iter().position(|(id, _)| matches(&pattern, id));
    (config.is_some() || !all.is_empty()).then(|| Loader {
        name: "systemd-boot",
        config,
        wait,
        default: default.or((!all.is_empty()).then_some(0)),
        entries: all.into_iter().map(|(_, entry)| entry).collect(),
        ..Loader::default()
    })
}

fn id(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

fn settings(text: &str) -> (Wait, String) {
    // Without a timeout it starts the default at once.
    let (mut wait, mut pattern) = (Wait::Tenths(0), String::new());
    for (key, value) in lines(text) {
        match (key, value) {
            ("timeout", "menu-force") => wait = Wait::Forever,
            ("timeout", value) => wait = Wait::Tenths(value.parse::<u32>().unwrap_or(0) * 10),
            ("default", value) => value.clone_into(&mut pattern),
            _ => {}
        }
    }
    (wait, pattern)
}

/// Entries with their files' names, as they are in a menu.
pub(super) fn newest_first(mut all: Vec<(String, Entry)>) -> Vec<(String, Entry)> {
    all.sort_by(|a, b| by_version(&b.0, &a.0));
    all
}

/// The entries of a volume's folder `loader/entries`, by their files' names.
pub(super) fn entries(volume: usize, files: &dyn Files) -> Vec<(String, Entry)> {
    let mut found = Vec::new();
    for folder in ["loader/entries", "boot/loader/entries"] {
        for path in files.ending(folder, ".conf").into_iter().take(MOST_ENTRIES) {
            let text = files.text(&path).unwrap_or_default();
            let id = id(&path);
            let at = Some(Place { volume, path });
            found.push((id, Entry { at, ..entry(&text) }));
        }
    }
    found
}

fn entry(text: &str) -> Entry {
    let mut entry = Entry::default();
    for (key, value) in lines(text) {
        match key {
            "title" => value.clone_into(&mut entry.title),
            "linux" | "efi" => value.clone_into(&mut entry.kernel),
            "initrd" => entry
                .initramfs
                .extend(value.split_whitespace().map(str::to_owned)),
            "devicetree" => value.clone_into(&mut entry.devicetree),
            "options" => {
                let words = [entry.cmdline.as_str(), value];
                entry.cmdline = words.join(" ").trim().to_owned();
            }
            _ => {}
        }
    }
    entry
}

fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let (key, value) = line.split_once(char::is_whitespace)?;
        Some((key, value.trim()))
    })
}

/// Numbers in names are compared as numbers: 6.10 is newer than 6.9.
fn by_version(a: &str, b: &str) -> Ordering {
    let pieces = |text: &str| -> Vec<(bool, u64, String)> {
        let mut pieces: Vec<(bool, u64, String)> = Vec::new();
        for c in text.chars() {
            let digit = c.to_digit(10);
            match (pieces.last_mut(), digit) {
                (Some((true, n, _)), Some(d)) => *n = n.saturating_mul(10).saturating_add(d.into()),
                (Some((false, _, text)), None) => text.push(c),
                (_, Some(d)) => pieces.push((true, d.into(), String::new())),
                (_, None) => pieces.push((false, 0, c.into())),
            }
        }
        pieces
    };
    pieces(a).cmp(&pieces(b))
}

/// `default debian-*`: with or without the ending.
fn matches(pattern: &str, id: &str) -> bool {
    let ids = [id, id.trim_end_matches(".conf")];
    !pattern.is_empty() && ids.iter().any(|id| fits(id, pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_the_default_unless_a_pattern_says_so() {
        let mut names = ["debian-6.9.conf", "debian-6.10.conf", "arch.conf"];
        names.sort_by(|a, b| by_version(b, a));
        assert_eq!(names, ["debian-6.10.conf", "debian-6.9.conf", "arch.conf"]);
        assert!(matches("debian-*", "debian-6.9.conf"));
        assert!(matches("debian-6.9", "debian-6.9.conf"));
        assert!(matches("*6.9*", "debian-6.9.conf"));
        assert!(!matches("arch", "debian-6.9.conf"));
        assert!(!matches("", "arch.conf"));
        assert!(!matches("debian-6", "debian-6.9.conf"));
    }

    #[test]
    fn an_entry_is_read() {
        let text = "# made by kernel-install\ntitle  Debian\nversion 6.1\nlinux /d/6.1/linux\n\
                    initrd /d/6.1/initrd\noptions root=/dev/vda2 ro\noptions console=ttyS0\n";
        let entry = entry(text);
        assert_eq!(entry.title, "Debian");
        assert_eq!(entry.kernel, "/d/6.1/linux");
        assert_eq!(entry.initramfs, ["/d/6.1/initrd"]);
        assert_eq!(entry.cmdline, "root=/dev/vda2 ro console=ttyS0");
        assert_eq!(
            settings("timeout 3\ndefault x*\n"),
            (Wait::Tenths(30), "x*".into())
        );
        assert_eq!(settings("timeout menu-force\n").0, Wait::Forever);
    }
}
