//! The application before all else.

use std::collections::BTreeMap;

use bootlap_image::units::{Unit, Units};

use super::cmdline::{Line, find};
use super::systemd::{COMES_FIRST, asked, disk_of, start_later, started, text_at};
use super::{Listed, Plain};
use crate::cmdline::with;
use crate::parts::DiskPart;
use crate::{Edit, Parts, Target};

/// Units of systemd are started before all else.
///
/// systemd starts the early boot first, whole: udev and all of its devices, file systems,
/// folders in `/run`, the journal; and an application only behind that, whether it needs it or
/// not. With this, the command line names another target (`systemd.unit=bootlap-first.target`),
/// which starts the units that are listed and what they themselves ask for, on a root that can
/// be written to. Once they are started, `bootlap-rest.service` starts the target that the disk
/// had, so nothing is lost. If one of them does not come, that happens after half a minute.
/// Without the word on the command line the machine boots as before.
///
/// Name the last one, too: the unit whose start means that the application is there. `bootlap
/// first TARGET` finds the units that have to be listed.
pub(super) const FIRST: Plain = Plain::new(
    "systemd-first",
    "units of systemd are started before all else",
    "what they need without saying so is not there yet: devices, networks, folders in /run; and \
     the rest of the boot waits for them, at most half a minute",
    first,
)
.lists(Listed::Needed);

pub(super) const TARGET: &str = "bootlap-first.target";
const REST: &str = "bootlap-rest";
/// Makes the root one that can be written to, if `/etc/fstab` says so.
const REMOUNT: &str = "systemd-remount-fs.service";
const CHECK: &str = "systemd-fsck-root.service";
/// Words that have systemd start something else than its default target.
const OTHERS: [&str; 9] = [
    "systemd.unit",
    "single",
    "emergency",
    "rescue",
    "1",
    "2",
    "3",
    "4",
    "5",
];

fn first(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let (partition, units, names) = asked(parts, value)?;
    let line = Line::of(target, parts)?;
    for word in OTHERS {
        match find(&line.text, word) {
            Some(word) if word.ends_with(TARGET) => {
                return Err("other units come first already; list them all at once".into());
            }
            Some(word) => {
                return Err(format!("the command line says what is started: {word}"));
            }
            None => {}
        }
    }
    let mut edits = line.set(with(&line.text, &format!("systemd.unit={TARGET}")));
    for (name, unit) in needed(&units, &names)? {
        edits.push(text_at(
            partition,
            &format!("{name}.d/{COMES_FIRST}"),
            at_once(unit),
        ));
    }
    let root = match checks_root(disk_of(parts)?)? {
        true => format!("{CHECK} {REMOUNT}"),
        false => REMOUNT.to_owned(),
    };
    let (default, names) = (&units.default, names.join(" "));
    for (name, text) in [
        (TARGET.to_owned(), all(&root, &names)),
        (format!("{REST}.service"), rest(default, &names)),
        (format!("{REST}.timer"), at_last(default)),
    ] {
        edits.push(text_at(partition, &name, text));
    }
    // It says that the boot went on to its end.
    edits.extend(start_later(target, partition, default, &[]));
    Ok(edits)
}

/// The units that no longer wait for the early boot: `names`, and what these do not start
/// without, but for what is a part of the early boot itself.
fn needed<'u>(units: &'u Units, names: &[String]) -> Result<BTreeMap<String, &'u Unit>, String> {
    let mut found = BTreeMap::new();
    let mut rest = Vec::new();
    for name in names {
        let unit = started(units, name)?;
        if !matches!(kind(name), "service" | "socket" | "path" | "mount") {
            return Err(format!(
                "{name}: only services, sockets, paths and mounts come first"
            ));
        }
        rest.push((name, unit));
    }
    while let Some((name, unit)) = rest.pop() {
        if let Some(device) = unit.requires.iter().find(|of| kind(of) == "device") {
            return Err(format!(
                "{name} does not start without {device}, which udev brings"
            ));
        }
        if unit.early
            || matches!(kind(name), "target" | "slice")
            || found.insert(name.clone(), unit).is_some()
        {
            continue;
        }
        let known = |of| units.started.get_key_value(of);
        rest.extend(unit.requires.iter().filter_map(known));
    }
    Ok(found)
}

fn kind(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, kind)| kind)
}

/// Whether `/etc/fstab` has the root checked.
fn checks_root(disk: &DiskPart) -> Result<bool, String> {
    let (_, fstab) = disk.text_of_systemd("/etc/fstab")?;
    let fstab = fstab.unwrap_or_default();
    let mut lines = fstab.lines().map(|line| line.split_whitespace().collect());
    Ok(lines.any(|fields: Vec<&str>| {
        let mounted = fields.get(1).filter(|_| !fields[0].starts_with('#'));
        mounted == Some(&"/") && fields.get(5).is_some_and(|pass| *pass != "0")
    }))
}

/// What a unit's drop-in says so that it waits for nothing but a root that it can write to.
fn at_once(unit: &Unit) -> String {
    let mut text = format!(
        "[Unit]\nDefaultDependencies=no\nAfter={REMOUNT}\nConflicts=shutdown.target\n\
         Before=shutdown.target\n"
    );
    if unit.ends {
        // Else the rest of the boot would have it done once more.
        text += "\n[Service]\nRemainAfterExit=yes\n";
    }
    text
}

fn all(root: &str, names: &str) -> String {
    format!(
        "[Unit]\nDescription=What comes before all else\nDefaultDependencies=no\nAllowIsolate=yes\n\
         Wants={root} {names} {REST}.service {REST}.timer\n"
    )
}

/// A service that starts `default` behind `names`.
fn rest(default: &str, names: &str) -> String {
    format!(
        "[Unit]\nDescription=Go on with the boot\nDefaultDependencies=no\nAfter={names}\n\n\
         [Service]\nType=oneshot\nExecStart=/bin/systemctl --no-block start {default}\n"
    )
}

/// A timer that starts `default` whatever happens.
fn at_last(default: &str) -> String {
    format!(
        "[Unit]\nDescription=Go on with the boot at last\nDefaultDependencies=no\n\
         Conflicts=shutdown.target\nBefore=shutdown.target\n\n\
         [Timer]\nOnActiveSec=30\nUnit={default}\n"
    )
}
