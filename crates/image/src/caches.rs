//! What systemd makes out of `/usr` at the first start after a change: the units with
//! `ConditionNeedsUpdate=`, and whether an image has it already.
//!
//! `systemd.unit(5)` says when such a unit runs: if `/usr` is younger than `/etc/.updated` or
//! `/var/.updated`. An image without these two is taken for one that was changed just now.

use crate::idle_services;
use crate::units::Units;
use crate::volume::Files;

const CONDITION: &str = "ConditionNeedsUpdate=";
/// What systemd writes down when all of them have run.
const WRITTEN: [&str; 2] = ["etc/.updated", "var/.updated"];
/// Compares what `sysusers.d` asks for with the users that are there.
const USERS: &str = "systemd-sysusers.service";
/// What writes that down, and makes nothing.
const DONE: &str = "systemd-update-done.service";

/// A service, and the files of which one is what it makes.
const MADE: [(&str, &[&str]); 3] = [
    ("ldconfig.service", &["etc/ld.so.cache"]),
    (
        "systemd-hwdb-update.service",
        &["etc/udev/hwdb.bin", "usr/lib/udev/hwdb.bin"],
    ),
    (
        "systemd-journal-catalog-update.service",
        &["var/lib/systemd/catalog/database"],
    ),
];

/// Looks whether the root has all that its started units make.
///
/// # Errors
/// If one of them makes something that is missing or not known, or if none runs.
pub fn are_made(files: &dyn Files, units: &Units) -> Result<(), String> {
    if WRITTEN.iter().all(|path| files.has(path)) {
        return Err(format!("/{} says already that they are made", WRITTEN[0]));
    }
    let is_asked = |file: &str| {
        let text = files.text(file).unwrap_or_default();
        text.lines().any(|line| line.trim().starts_with(CONDITION))
    };
    let mut asked = units
        .started
        .iter()
        .filter(|(_, unit)| is_asked(&unit.file))
        .peekable();
    if asked.peek().is_none() {
        return Err(format!("no unit has {CONDITION}"));
    }
    for (name, _) in asked {
        let is_there = match name.as_str() {
            DONE => true,
            USERS => idle_services::idle(files, "").contains(&USERS),
            _ => match MADE.iter().find(|(service, _)| service == name) {
                Some((_, made)) => made.iter().any(|path| files.has(path)),
                None => return Err(format!("nobody knows here what {name} makes")),
            },
        };
        if !is_there {
            return Err(format!(
                "what {name} makes is not on the disk: make it with the image"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::volume::paper::Tree;

    fn tree(more: &[(&'static str, &'static str)]) -> Tree {
        let mut files = BTreeMap::from([
            ("etc/passwd", "root:x:0:0::/root:/bin/sh\n"),
            ("etc/group", "root:x:0:\n"),
            ("etc/ld.so.cache", "."),
            (
                "usr/lib/systemd/system/default.target",
                "[Unit]\nRequires=ldconfig.service systemd-sysusers.service\n",
            ),
            (
                "usr/lib/systemd/system/ldconfig.service",
                "[Unit]\nConditionNeedsUpdate=|/etc\n",
            ),
            (
                "usr/lib/systemd/system/systemd-sysusers.service",
                "[Unit]\nConditionNeedsUpdate=|/etc\n",
            ),
        ]);
        files.extend(more.iter().copied());
        Tree(files)
    }

    fn of(more: &[(&'static str, &'static str)]) -> Result<(), String> {
        let tree = tree(more);
        are_made(&tree, &Units::of(&tree).unwrap())
    }

    #[test]
    fn what_the_image_has_need_not_be_made() {
        assert_eq!(of(&[]), Ok(()));
    }

    #[test]
    fn what_is_missing_or_unknown_is_told() {
        let path = "usr/lib/systemd/system/ldconfig.service";
        let own = "[Unit]\nConditionNeedsUpdate=/etc\nRequires=own.service\n";
        let own = [
            (path, own),
            (
                "usr/lib/systemd/system/own.service",
                "[Unit]\nConditionNeedsUpdate=/var\n",
            ),
        ];
        for (more, why) in [
            (&own[..], "what own.service makes"),
            (&[("usr/lib/sysusers.d/w.conf", "u web -\n")], USERS),
            (&[("etc/.updated", ""), ("var/.updated", "")], "already"),
        ] {
            let said = of(more).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
