//! Which devices udev looks at in a boot, and which once it is over.

use bootlap_image::units::MASKS;

use super::systemd::{disk_of, start_later, text_at};
use super::{Plain, scripts};
use crate::{Edit, Parts, Target};

/// udev looks at few devices first, and at all of them once the boot is over.
///
/// `systemd-udev-trigger.service` has udev look at every device that the kernel knows, and load a
/// module for each that has one: sound, watchdog, mouse, sensors, while the application waits for
/// its turn on the CPU. With this, the service asks for disks that there are, networks, terminals
/// and virtio alone, for network controllers on PCI, and for those of disks if `/etc/fstab` waits
/// for any besides the root. Two seconds after all else has started, all devices are asked for, as
/// before.
pub(super) const OF_SYSTEMD: Plain = Plain::new(
    "systemd-coldplug-later",
    "udev looks at the devices that few boots need once the boot is over",
    "modules for sound, video, sensors and input come some seconds later; so does a network whose \
     controller is on neither PCI nor virtio and whose driver is a module",
    of_systemd,
);

/// The same where an init script has udev look at the devices.
///
/// The scripts of Buildroot, Yocto and Debian ask for all devices (`udevadm trigger`), and wait
/// until udev has looked at each (`udevadm settle`). The first is put off to a script that runs
/// once the boot is over (`initscripts-defer`); the wait stays, and is for few devices now.
pub(super) const OF_SCRIPTS: Plain = Plain::new(
    "initscripts-coldplug-later",
    "udev looks at the devices that few boots need once the boot is over",
    "modules for sound, video, sensors and input come some seconds later; so does a network whose \
     controller is on neither PCI nor virtio and whose driver is a module",
    of_scripts,
);

const TRIGGER: &str = "systemd-udev-trigger.service";
const DROP_IN: &str = "systemd-udev-trigger.service.d/bootlap.conf";
const ALL: &str = "bootlap-coldplug.service";
/// Whose devices a boot needs: they have names in `/dev`, addresses, or drivers of both.
const NEEDED: [&str; 7] = ["block", "net", "tty", "mem", "virtio", "mmc", "nvme"];

fn of_systemd(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = disk_of(parts)?;
    let (partition, units) = disk.units()?;
    if !units.started.contains_key(TRIGGER) {
        return Err(format!("{TRIGGER} is not started, or masked"));
    }
    let place = format!("{partition}:{}/{DROP_IN}", MASKS);
    let there = target.spec.disk.as_ref();
    if there.is_some_and(|disk| disk.texts.contains_key(&place)) {
        return Err("udev looks at few devices first already".into());
    }
    let disks = disk.mounts_others(partition)?;
    let (_, unit) = disk.text_of_systemd(&format!("/usr/lib/systemd/system/{TRIGGER}"))?;
    let udevadm = udevadm(unit.as_deref().unwrap_or_default());
    let mut edits = vec![
        text_at(partition, DROP_IN, first(udevadm, disks)),
        text_at(partition, ALL, all(udevadm)),
    ];
    let names = [ALL.to_owned()];
    edits.extend(start_later(target, partition, &units.default, &names));
    Ok(edits)
}

/// The program as the service names it: old versions of systemd want a whole path.
fn udevadm(unit: &str) -> &str {
    let words = unit.split(|c: char| c.is_whitespace() || "=-@:+!".contains(c));
    let mut words = words.filter(|word| word.rsplit('/').next() == Some("udevadm"));
    words.next().unwrap_or("udevadm")
}

/// What asks for all devices once the boot is over.
fn all(udevadm: &str) -> String {
    format!(
        "[Unit]\nDescription=Coldplug all udev Devices\nRequires=systemd-udevd.service\n\
         After=systemd-udevd.service\n\n[Service]\nType=oneshot\n\
         ExecStart=-{udevadm} trigger --type=devices --action=add\n\
         ExecStart=-{udevadm} settle\n"
    )
}

/// What the service asks for instead of everything.
fn first(udevadm: &str, disks: bool) -> String {
    let ask = format!("ExecStart=-{udevadm} trigger --action=add --type=");
    let mut text = format!("[Service]\nExecStart=\n{ask}subsystems\n");
    for few in few(disks) {
        text += &format!("{ask}devices{few}\n");
    }
    text
}

/// What `udevadm trigger` is told for the devices that a boot needs, a call each; with those of
/// disks, if any besides the root's is waited for.
fn few(disks: bool) -> Vec<String> {
    let subsystems = NEEDED.map(|name| format!(" --subsystem-match={name}"));
    let on_pci = |class: &str| format!(" --subsystem-match=pci --attr-match=class={class}*");
    let mut all = vec![subsystems.concat(), on_pci("0x02")];
    all.extend(disks.then(|| on_pci("0x01")));
    all
}

fn of_scripts(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = parts.disk.as_ref();
    let disk = disk.ok_or("there is no [disk] with init scripts on it")?;
    let (partition, all) = disk.scripts()?;
    let changed = target.spec.disk.as_ref();
    let disks = disk.mounts_others(partition)?;
    for script in &all.started {
        let place = format!("{partition}:{}", script.file);
        let new = changed.and_then(|disk| disk.texts.get(&place));
        let Some(text) = new.or(script.text.as_ref()) else {
            continue;
        };
        if text.contains("--subsystem-match=") {
            return Err(format!(
                "{} looks at few devices first already",
                script.file
            ));
        }
        let Some((text, whole)) = narrowed(text, disks) else {
            continue;
        };
        if scripts::is_removed(target, partition, script) {
            return Err(format!("{} was taken away already", script.name));
        }
        let udevadm = whole.split(' ').next().unwrap_or("udevadm");
        let later = format!(
            "#!/bin/sh\n# Has udev look at all devices.\n\
             [ \"${{1-start}}\" = stop ] || {{ {whole}; {udevadm} settle; }}\n"
        );
        let mut edits = vec![
            Edit::set(&format!("disk.texts.{place:?}"), text),
            scripts::text_later(partition, "000-coldplug", later),
        ];
        edits.extend(scripts::start_later(target, partition, &all)?);
        return Ok(edits);
    }
    Err("no init script has udev look at all devices (udevadm trigger)".into())
}

/// A script that asks for few devices, and the command that asks for all of them; `None` if it
/// does not ask for all, or does so in more than one place.
fn narrowed(script: &str, disks: bool) -> Option<(String, String)> {
    let mut found = script
        .match_indices("udevadm trigger")
        .filter_map(|(at, name)| {
            let line = script[..at].rfind('\n').map_or(0, |at| at + 1);
            let start = script[line..at].rfind(char::is_whitespace);
            let start = start.map_or(line, |at| line + at + 1);
            let is_word = |c: char| c.is_ascii_alphanumeric() || " =_/.-".contains(c);
            let words = script[at + name.len()..].find(|c| !is_word(c));
            let end = words.map_or(script.len(), |n| at + name.len() + n);
            let command = &script[start..end];
            // `2>/dev/null` begins with a number that is no word of it.
            let command = match script[end..].starts_with(['>', '<']) {
                true => command.trim_end_matches(|c: char| c.is_ascii_digit()),
                false => command,
            };
            let command = command.trim_end();
            let is_path = !command[..at - start].contains(|c| !is_word(c));
            let is_note = script[line..start].trim_start().starts_with('#');
            let of_devices = !command.contains("subsystems");
            (is_path && !is_note && of_devices).then_some((start, command))
        });
    let (start, command) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let calls: Vec<String> = few(disks)
        .into_iter()
        .map(|few| format!("{command}{few}"))
        .collect();
    let (before, after) = (&script[..start], &script[start + command.len()..]);
    let text = format!("{before}{{ {}; }}{after}", calls.join("; "));
    Some((text, command.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{first, narrowed, udevadm};

    #[test]
    fn controllers_of_disks_are_asked_for_where_some_are_awaited() {
        assert!(first("udevadm", true).contains("class=0x01*"));
        let few = first("/bin/udevadm", false);
        assert!(!few.contains("class=0x01*"));
        assert!(few.starts_with("[Service]\nExecStart=\nExecStart=-/bin/udevadm trigger "));
    }

    #[test]
    fn the_program_is_called_as_it_was() {
        for (unit, program) in [
            ("ExecStart=-udevadm trigger --type=devices\n", "udevadm"),
            (
                "[Service]\nExecStart=/bin/udevadm trigger\n",
                "/bin/udevadm",
            ),
            ("", "udevadm"),
        ] {
            assert_eq!(udevadm(unit), program);
        }
    }

    #[test]
    fn a_script_asks_for_few_devices() {
        let script = "udevadm trigger --type=subsystems --action=add\n\
                      # udevadm trigger is slow\n\
                      if /sbin/udevadm trigger -c add 2>/dev/null; then :; fi\nudevadm settle\n";
        let (text, whole) = narrowed(script, false).unwrap();
        assert_eq!(whole, "/sbin/udevadm trigger -c add");
        let (begin, rest) = text.split_once("if { ").unwrap();
        assert_eq!(script.split_once("if ").unwrap().0, begin);
        let calls: Vec<&str> = rest.split("; ").collect();
        assert!(calls[0].starts_with("/sbin/udevadm trigger -c add --subsystem-match=block "));
        assert!(calls[1].ends_with(" --subsystem-match=pci --attr-match=class=0x02*"));
        assert_eq!(calls[2], "} 2>/dev/null");
    }

    #[test]
    fn what_asks_for_other_devices_is_left_alone() {
        for script in [
            "udevadm settle\n",
            "udevadm trigger --type=subsystems\n",
            "# udevadm trigger\n",
            "x=$(udevadm trigger)\n",
            "udevadm trigger\nudevadm trigger --action=change\n",
        ] {
            assert_eq!(narrowed(script, true), None, "{script}");
        }
    }
}
