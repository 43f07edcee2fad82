//! What systemd asks on the console at an image's first boot, and waits for.
//!
//! systemd-firstboot(1), systemd-homed-firstboot.service(8) and machine-id(5): a boot is the
//! first while `/etc/machine-id` is missing or says `uninitialized`.

use crate::units::Units;
use crate::volume::Files;

/// Keeps it from asking.
pub(crate) const OFF: &str = "systemd.firstboot=off";

/// What it asks for where it is missing.
const SETTINGS: [&str; 3] = ["etc/locale.conf", "etc/localtime", "etc/vconsole.conf"];

/// The unit of systemd that asks on this root, if one does.
pub(crate) fn asking(files: &dyn Files) -> Option<&'static str> {
    let id = files.text("etc/machine-id");
    if id.is_some_and(|id| id.trim() != "uninitialized") {
        return None;
    }
    let units = Units::of(files)?;
    let is_there = |path: &&str| files.link(path).is_some() || files.read(path, 1).is_ok();
    let is_set = SETTINGS.iter().all(is_there);
    let asks = [
        ("systemd-firstboot.service", !is_set),
        ("systemd-homed-firstboot.service", true),
    ];
    let asks = asks.into_iter().filter(|(_, has_cause)| *has_cause);
    asks.map(|(unit, _)| unit)
        .find(|unit| units.started.contains_key(*unit))
}

/// Whether a command line keeps it from asking already.
pub(crate) fn is_off(cmdline: &str) -> bool {
    let mut words = cmdline.split_whitespace().rev();
    let value = words.find_map(|word| word.strip_prefix("systemd.firstboot="));
    value.is_some_and(|value| matches!(value, "off" | "no" | "false" | "0" | "n" | "f"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::volume::paper::Tree;

    #[test]
    fn who_asks_is_known() {
        let unit = "[Unit]\nConditionFirstBoot=yes\n";
        let wants = "usr/lib/systemd/system/sysinit.target.wants/systemd-firstboot.service";
        let image = [
            (
                "usr/lib/systemd/system/default.target",
                "[Unit]\nRequires=sysinit.target\n",
            ),
            ("usr/lib/systemd/system/sysinit.target", "[Unit]\n"),
            ("usr/lib/systemd/system/systemd-firstboot.service", unit),
            (wants, "->../systemd-firstboot.service"),
            ("etc/machine-id", "uninitialized\n"),
            ("etc/vconsole.conf", "->default/keyboard"),
        ];
        let with = |more: &[(&'static str, &'static str)]| {
            let mut files = BTreeMap::from(image);
            files.extend(more.iter().copied());
            files.retain(|_, text| *text != "gone");
            asking(&Tree(files))
        };
        let asks = Some("systemd-firstboot.service");
        assert_eq!(with(&[]), asks);
        assert_eq!(with(&[("etc/machine-id", "gone")]), asks);
        // An empty one is filled, and nothing is asked.
        assert_eq!(with(&[("etc/machine-id", "")]), None);
        let mask = (
            "etc/systemd/system/systemd-firstboot.service",
            "->/dev/null",
        );
        assert_eq!(with(&[mask]), None);
        assert_eq!(with(&[(wants, "gone")]), None);
        let set = [
            ("etc/locale.conf", "LANG=C"),
            ("etc/localtime", "->/usr/share/zoneinfo/UTC"),
        ];
        assert_eq!(with(&set), None);
    }

    #[test]
    fn the_last_word_says_whether() {
        assert!(is_off("a systemd.firstboot=off"));
        assert!(!is_off("systemd.firstboot=0 systemd.firstboot=yes"));
        assert!(!is_off("quiet"));
    }
}
