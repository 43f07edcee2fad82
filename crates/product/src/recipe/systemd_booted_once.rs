//! The disk as its first boot leaves it.

use bootlap_image::units::MASKS;

use super::Plain;
use super::systemd::{disk_of, text_at};
use crate::spec::DiskState;
use crate::{Edit, Parts, Target};

/// What a system with systemd does once is done before it is shipped.
///
/// An image that was never booted makes ids and keys, grows its file system, and fills caches at
/// its first boot: AppArmor compiles its profiles. With this, the first boot switches the machine
/// off, 20 s after all has started, and takes the unit that does so away with it; boot each device
/// once where it is made, and pack it. On a root that keeps nothing, no machine is switched off.
/// `disk.state` has experiments measure the boots behind that one.
pub(super) const ONCE: Plain = Plain::new(
    "systemd-booted-once",
    "what a system does at its first boot is done before it is shipped",
    "a disk that is copied after that boot has the ids and keys of one device on all of them: boot \
     each device once, or remove /etc/machine-id and /etc/ssh/ssh_host_* before it is copied",
    once,
);

const UNIT: &str = "bootlap-booted-once.service";
/// As `stat -f` calls what keeps what is written, and is not made anew at each boot.
const KEEPS: &str = "ext2/ext3|btrfs|f2fs|xfs|ubifs|jffs2";

fn once(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = disk_of(parts)?;
    let (partition, units) = disk.units()?;
    let kind = disk.kind_of(partition)?;
    if matches!(kind, "squashfs" | "erofs") {
        return Err(format!(
            "the root is a {kind}, which keeps nothing: each boot is the first"
        ));
    }
    let state = target.spec.disk.as_ref().map(|disk| disk.state);
    if state == Some(DiskState::AfterFirstBoot) {
        return Err("the boots that are measured come after a first one already".into());
    }
    let link = format!("{MASKS}/{}.wants/{UNIT}", units.default);
    let place = format!("{partition}:{link}");
    Ok(vec![
        text_at(partition, UNIT, unit(&units.default, &link)),
        Edit::set(&format!("disk.links.{place:?}"), format!("../{UNIT}")),
        Edit::set("disk.state", "after-first-boot"),
    ])
}

/// A target waits for what it wants, unless that waits for it.
fn unit(default: &str, link: &str) -> String {
    format!(
        "[Unit]\nDescription=Switch off after the first boot\nAfter={default}\n\n\
         [Service]\nType=oneshot\nExecStartPre=/bin/sleep 20\n\
         ExecStart=/bin/sh -c 'case $$(stat -f -c %%T {MASKS}) in {KEEPS}) \
         rm {MASKS}/{UNIT} {link} && systemctl poweroff;; esac'\n"
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;

    /// The command as systemd runs it, with a `stat` that calls the file system so.
    #[test]
    fn only_where_it_takes_itself_away_it_switches_off() {
        for (called, is_off) in [("ext2/ext3", true), ("overlayfs", false), ("tmpfs", false)] {
            let dir = tempfile::tempdir().unwrap();
            let inside = |path: &str| dir.path().join(path.trim_start_matches('/'));
            let link = format!("{MASKS}/a.wants/{UNIT}");
            let text = unit("a.target", &link);
            let (_, command) = text.split_once("/bin/sh -c '").unwrap();
            let command = command.trim_end().trim_end_matches('\'');
            let command = command.replace("$$", "$").replace("%%", "%");
            let command = command.replace(MASKS, inside(MASKS).to_str().unwrap());
            fs::create_dir_all(inside(&link).parent().unwrap()).unwrap();
            fs::create_dir(inside("bin")).unwrap();
            fs::write(inside(&format!("{MASKS}/{UNIT}")), text).unwrap();
            std::os::unix::fs::symlink(format!("../{UNIT}"), inside(&link)).unwrap();
            for (program, does) in [
                ("stat", format!("echo {called}")),
                ("systemctl", "touch off".into()),
            ] {
                fs::write(inside("bin").join(program), format!("#!/bin/sh\n{does}\n")).unwrap();
                let executable = fs::Permissions::from_mode(0o755);
                fs::set_permissions(inside("bin").join(program), executable).unwrap();
            }
            let path = format!("{}:/usr/bin:/bin", inside("bin").display());
            let mut run = Command::new("/bin/sh");
            let run = run.args(["-c", &command]).current_dir(dir.path());
            assert!(run.env("PATH", path).status().unwrap().success());
            assert_eq!(inside("off").exists(), is_off, "{called}");
            assert_eq!(inside(&format!("{MASKS}/{UNIT}")).exists(), !is_off);
            assert_eq!(inside(&link).symlink_metadata().is_ok(), !is_off);
        }
    }
}
