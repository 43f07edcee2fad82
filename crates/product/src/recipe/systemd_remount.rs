//! The root, mounted once.

use std::path::Path;

use bootlap_image::units::MASKS;

use super::Plain;
use super::cmdline::{Line, find, with_parameter};
use super::systemd::{disk_of, masked};
use crate::cmdline::words;
use crate::{Edit, Parts, Target};

/// The root is mounted writable at once, and not a second time.
///
/// By `ro` the root is mounted to be read, so that it can be checked, and
/// `systemd-remount-fs.service` mounts it again as `/etc/fstab` says. With `rw` instead, and options
/// there that the kernel has anyway, that service has nothing to do.
pub(super) const ONCE: Plain = Plain::new(
    "systemd-remount-off",
    "the root is mounted writable at once, and not a second time",
    "the root is not checked before it is written to, unless the initramfs does so; options that \
     are written into /etc/fstab for it later have no effect",
    once,
);

const SERVICE: &str = "systemd-remount-fs.service";
/// Options that a mount has without being told.
const PLAIN: [&str; 3] = ["defaults", "relatime", "rw"];
/// What the service mounts again if it is in the table, besides the root: `systemd-remount-fs(8)`.
const OTHERS: [&str; 5] = ["/usr", "/proc", "/sys", "/dev", "/run"];

fn once(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = disk_of(parts)?;
    let line = Line::of(target, parts)?;
    let (partition, table) = disk.text_of_systemd("/etc/fstab")?;
    let table = table.unwrap_or_default();
    // A generator starts the service for what is in the table.
    let is_there = ["usr/lib", "lib"].map(|at| format!("{at}/systemd/system/{SERVICE}"));
    if !is_there.iter().any(|path| disk.root_has(path)) || !mounts(&table).any(|m| m[1] == "/") {
        return Err(format!("{SERVICE} is not started"));
    }
    let flags = flags(&table)?;
    let mut new: Vec<&str> = words(&line.text);
    new.retain(|word| *word != "ro");
    let mut new = new.join(" ");
    if find(&new, "rw").is_none() {
        new = format!("{new} rw").trim_start().to_owned();
    }
    if !flags.is_empty() {
        let told = find(&new, "rootflags").map(|word| &word["rootflags=".len()..]);
        let all = told.into_iter().chain(flags.iter().map(String::as_str));
        let all: Vec<&str> = all.collect();
        new = with_parameter(&new, &format!("rootflags={}", all.join(",")));
    }
    let mut edits = masked(
        target,
        &[format!("{partition}:{MASKS}/{SERVICE}")],
        "it is masked already",
    )?;
    if new != line.text {
        edits.extend(line.set(new));
    }
    Ok(edits)
}

/// The mounts in a table: what, where, which file system, and its options.
fn mounts(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().filter(|line| !line.trim().starts_with('#'));
    let fields = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    fields.filter(|fields| fields.len() > 2)
}

/// What the kernel has to be told for the root to have the options that this table says; or which
/// of them it cannot be told.
fn flags(table: &str) -> Result<Vec<String>, String> {
    let mut flags = Vec::new();
    for mount in mounts(table) {
        let (place, kind) = (mount[1], mount[2]);
        if OTHERS
            .iter()
            .any(|other| Path::new(place).starts_with(other))
        {
            return Err(format!(
                "/etc/fstab has {place}, which is mounted again as well"
            ));
        }
        let options = mount.get(3).copied().unwrap_or("defaults");
        for option in options.split(',').filter(|_| place == "/") {
            match option {
                _ if PLAIN.contains(&option) => {}
                _ if option.starts_with("errors=") && kind.starts_with("ext") => {
                    flags.push(option.to_owned());
                }
                _ => return Err(format!("/etc/fstab has the root's option {option}")),
            }
        }
    }
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::flags;

    #[test]
    fn options_are_told_to_the_kernel_or_refused() {
        let of = |table: &str| flags(table).map(|flags| flags.join(","));
        assert_eq!(of("# none\n\n").unwrap(), "");
        assert_eq!(
            of("UUID=1 / ext4 defaults 0 1\n/dev/sdb1 /home xfs noatime\n").unwrap(),
            ""
        );
        assert_eq!(of("tmpfs /tmp tmpfs size=1G\n").unwrap(), "");
        assert_eq!(
            of("UUID=1 / ext4 rw,errors=remount-ro 0 1\n").unwrap(),
            "errors=remount-ro"
        );
        for (table, why) in [
            ("UUID=1 / ext4 noatime 0 1\n", "noatime"),
            ("UUID=1 / vfat errors=remount-ro\n", "errors="),
            ("tmpfs /dev/shm tmpfs size=1G\n", "/dev/shm"),
        ] {
            let said = of(table).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
