//! Which devices udev looks at while systemd boots.

use bootlap_image::units::MASKS;

use super::Plain;
use super::systemd::{disk_of, start_later, text_at};
use crate::{Edit, Parts, Target};

/// udev looks at few devices first, and at all of them once the boot is over.
///
/// `systemd-udev-trigger.service` has udev look at every device that the kernel knows, and load a
/// module for each that has one: sound, watchdog, mouse, sensors, while the application waits for
/// its turn on the CPU. With this, the service asks for disks that there are, networks, terminals
/// and virtio alone, for network controllers on PCI, and for those of disks if `/etc/fstab` waits
/// for any besides the root. Two seconds after all else has started, all devices are asked for, as
/// before.
pub(super) const LATER: Plain = Plain::new(
    "systemd-coldplug-later",
    "udev looks at the devices that few boots need once the boot is over",
    "modules for sound, video, sensors and input come some seconds later; so does a network whose \
     controller is on neither PCI nor virtio and whose driver is a module",
    later,
);

const TRIGGER: &str = "systemd-udev-trigger.service";
const DROP_IN: &str = "systemd-udev-trigger.service.d/bootlap.conf";
const ALL: &str = "bootlap-coldplug.service";
/// Whose devices a boot needs: they have names in `/dev`, addresses, or drivers of both.
const NEEDED: [&str; 7] = ["block", "net", "tty", "mem", "virtio", "mmc", "nvme"];

fn later(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
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
    let disks = disk.mounts_others()?;
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
    let subsystems = NEEDED
        .map(|name| format!(" --subsystem-match={name}"))
        .concat();
    let on_pci =
        |class: &str| format!("{ask}devices --subsystem-match=pci --attr-match=class={class}*\n");
    let mut text = format!("[Service]\nExecStart=\n{ask}subsystems\n{ask}devices{subsystems}\n");
    text += &on_pci("0x02");
    if disks {
        text += &on_pci("0x01");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{first, udevadm};

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
}
