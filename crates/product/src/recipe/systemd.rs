//! Recipes for systemd on a disk: which units it starts, and when.

use std::collections::BTreeSet;

use bootlap_image::generators;
use bootlap_image::units::{MASKS, Unit, Units};

use super::cmdline::{Line, find};
use super::list::members;
use super::{LATER_STARTED, Listed, Plain};
use crate::cmdline::with;
use crate::parts::DiskPart;
use crate::{Edit, Parts, Target};

/// Units are not started at all.
///
/// Each is masked: a link to `/dev/null` stands in its place, so that nothing starts it, also
/// not what asks for it. What cannot start without it is refused, or masked with it. `bootlap
/// reduce TARGET systemd-mask=LIST` finds the most of a list that a target does without.
pub(super) const MASK: Plain = Plain::new(
    "systemd-mask",
    "units of systemd are not started",
    "what they do is not done; what asks for one of them gets an error",
    mask,
)
.lists(Listed::Changed);

/// Units are started once the boot is over.
///
/// What has each of them started, a link in a folder `.wants` or `.requires`, goes. Two seconds
/// after all else has started, a timer starts them together (`bootlap-later.target`). Nothing
/// is lost, only later: a line on the console says that they are started, and `ready.later`
/// has experiments boot once until it comes. A timer, because a login waits as long as anything
/// is still to be started (`Type=idle`).
pub(super) const DEFER: Plain = Plain::new(
    "systemd-defer",
    "units of systemd are started once the boot is over",
    "what they do comes some seconds later; what needs them by other means than its unit's \
     dependencies has to wait, or try again",
    defer,
)
.lists(Listed::Changed);

/// systemd writes on the console only what fails or takes long.
///
/// `systemd.show_status=auto`. By default it writes a line, or two, for each unit, and each
/// character costs ten bit times on a serial line; `quiet` does the same and silences the
/// kernel, too. The journal has it all.
pub(super) const STATUS: Plain = Plain::new(
    "systemd-status-auto",
    "systemd writes on the console only what fails or takes long",
    "the console does not tell what was started; a ready pattern that is one of these lines does \
     not come",
    status,
);

/// Generators of systemd that have nothing to do are not run.
///
/// systemd runs all of its generators at each start, before any unit: they make units of
/// `crypttab`, of `rc.local`, of words on the command line. Those of which neither the file nor
/// the words are there make nothing, nor does the one for partitions of a GPT where the disk has
/// an MBR. A link to `/dev/null` in `/etc/systemd/system-generators` spares them. Others, and those
/// that are not known, run.
pub(super) const GENERATORS: Plain = Plain::new(
    "systemd-generators-off",
    "generators of systemd that have nothing to do are not run",
    "what is written into crypttab, rc.local and their like later has no effect",
    generators_off,
);

fn generators_off(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = disk_of(parts)?;
    let line = Line::of(target, parts)?;
    let (partition, idle) = disk.idle_generators(&line.text)?;
    let place = |name: &str| format!("{partition}:{}/{name}", generators::MASKS);
    let places: Vec<String> = idle.into_iter().map(place).collect();
    masked(target, &places, "none of its generators has nothing to do")
}

/// The edits that put a link to `/dev/null` in each of these places, or why there are none:
/// `nothing`, where there is no place.
pub(super) fn masked(
    target: &Target,
    places: &[String],
    nothing: &str,
) -> Result<Vec<Edit>, String> {
    let linked = |place: &String| {
        let disk = target.spec.disk.as_ref();
        disk.is_some_and(|disk| disk.links.contains_key(place))
    };
    match places.iter().all(linked) {
        true if places.is_empty() => Err(nothing.to_owned()),
        true => Err("they are masked already".to_owned()),
        false => Ok(places
            .iter()
            .map(|place| Edit::set(&format!("disk.links.{place:?}"), "/dev/null"))
            .collect()),
    }
}

/// The disk of a target.
pub(super) fn disk_of(parts: &Parts) -> Result<&DiskPart, String> {
    let disk = parts.disk.as_ref();
    disk.ok_or_else(|| "there is no [disk] with systemd on it".to_owned())
}

fn status(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = disk_of(parts)?;
    disk.units()?;
    let line = Line::of(target, parts)?;
    for word in ["systemd.show_status", "quiet"] {
        if let Some(word) = find(&line.text, word) {
            return Err(format!("the command line has {word} already"));
        }
    }
    let words = with(&line.text, "systemd.show_status=auto");
    Ok(line.set(words))
}

/// The drop-in of a unit that comes before all else.
pub(super) const COMES_FIRST: &str = "bootlap-first.conf";

/// What starts those that were deferred.
const LATER: &str = "bootlap-later";
const TIMER: &str = "bootlap-later.timer";
const TOLD: &str = "bootlap-later.service";
const TARGET: &str = "[Unit]\nDescription=What was deferred until the boot was over\n";

fn mask(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let (partition, units, names) = asked(parts, value)?;
    let mut edits = Vec::new();
    for name in &names {
        let place = format!("{partition}:{MASKS}/{name}");
        if target
            .spec
            .disk
            .as_ref()
            .is_some_and(|disk| disk.links.contains_key(&place))
        {
            return Err(format!("{name} is masked already"));
        }
        started(&units, name)?;
        stays_without(&units, name, &names)?;
        edits.push(Edit::set(&format!("disk.links.{place:?}"), "/dev/null"));
    }
    Ok(edits)
}

fn defer(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let (partition, units, names) = asked(parts, value)?;
    let at = |path: &str| format!("{partition}:{path}");
    let mut edits = Vec::new();
    for name in &names {
        let link = at(&format!("{MASKS}/{LATER}.target.wants/{name}"));
        if target
            .spec
            .disk
            .as_ref()
            .is_some_and(|disk| disk.links.contains_key(&link))
        {
            return Err(format!("{name} is deferred already"));
        }
        let unit = started(&units, name)?;
        if is_first(target, partition, name) {
            return Err(format!("{name} comes before all else"));
        }
        let (_, kind) = name.rsplit_once('.').unwrap_or_default();
        if !matches!(kind, "service" | "socket" | "timer" | "path") {
            return Err(format!(
                "{name}: only services, sockets, timers and paths are deferred"
            ));
        }
        if unit.early {
            return Err(format!(
                "{name} is a part of the early boot, which others rely on without saying so; \
                 mask it if it is not needed"
            ));
        }
        stays_without(&units, name, &names)?;
        let goes = unlinked(&units, name, unit, partition)?;
        edits.extend(goes.into_iter().map(|path| Edit::add("disk.remove", path)));
    }
    edits.extend(start_later(target, partition, &units.default, &names));
    Ok(edits)
}

/// Whether a unit of this target comes first.
fn is_first(target: &Target, partition: u32, name: &str) -> bool {
    let place = format!("{partition}:{MASKS}/{name}.d/{COMES_FIRST}");
    let disk = target.spec.disk.as_ref();
    disk.is_some_and(|disk| disk.texts.contains_key(&place))
}

/// What starts `names` once `default` is reached, beside what is put off already, and tells it.
pub(super) fn start_later(
    target: &Target,
    partition: u32,
    default: &str,
    names: &[String],
) -> Vec<Edit> {
    let at = |path: &str| format!("{partition}:{path}");
    let wants = at(&format!("{MASKS}/{LATER}.target.wants/"));
    let link =
        |name: &str, to: &str| Edit::set(&format!("disk.links.{name:?}"), format!("../{to}"));
    let mut edits: Vec<Edit> = names
        .iter()
        .map(|name| link(&format!("{wants}{name}"), name))
        .collect();
    let known = target.spec.disk.iter().flat_map(|disk| disk.links.keys());
    let known = known.filter_map(|link| link.strip_prefix(&wants));
    let all: BTreeSet<&str> = known.chain(names.iter().map(String::as_str)).collect();
    let all: Vec<&str> = all.into_iter().filter(|name| *name != TOLD).collect();
    for (name, text) in [
        (format!("{LATER}.target"), TARGET.to_owned()),
        (TIMER.to_owned(), timer(default)),
        (TOLD.to_owned(), told(&all)),
    ] {
        edits.push(text_at(partition, &name, text));
    }
    edits.push(link(&format!("{wants}{TOLD}"), TOLD));
    edits.push(link(
        &at(&format!("{MASKS}/{default}.wants/{TIMER}")),
        TIMER,
    ));
    if target.spec.ready.later.is_none() {
        edits.push(Edit::set("ready.later", LATER_STARTED));
    }
    edits
}

/// The edit that puts a unit's text, or a part of it, into `/etc/systemd/system`.
pub(super) fn text_at(partition: u32, name: &str, text: String) -> Edit {
    let place = format!("{partition}:{MASKS}/{name}");
    Edit::set(&format!("disk.texts.{place:?}"), text)
}

/// A timer that runs out two seconds after `default` was reached.
fn timer(default: &str) -> String {
    format!(
        "[Unit]\nDescription=Start what was deferred\nDefaultDependencies=no\nAfter={default}\n\
         Conflicts=shutdown.target\nBefore=shutdown.target\n\n\
         [Timer]\nOnActiveSec=2\nAccuracySec=100ms\nUnit={LATER}.target\n"
    )
}

/// A service that says when `units` are started.
fn told(units: &[&str]) -> String {
    format!(
        "[Unit]\nDescription=Tell that what was deferred is started\nAfter={}\n\n[Service]\n\
         Type=oneshot\nExecStart=/bin/sh -c \"echo '{LATER_STARTED}' >/dev/console\"\n",
        units.join(" ")
    )
}

/// The partition of the root with systemd, what that starts, and the units that are named.
pub(super) fn asked(parts: &Parts, value: &str) -> Result<(u32, Units, Vec<String>), String> {
    let disk = disk_of(parts)?;
    let (partition, units) = disk.units()?;
    let names = members(value);
    if names.is_empty() {
        return Err("name units with commas between, as bluetooth.service,cups.socket".into());
    }
    Ok((partition, units, names))
}

pub(super) fn started<'u>(units: &'u Units, name: &str) -> Result<&'u Unit, String> {
    units.started.get(name).ok_or_else(|| {
        format!(
            "{name} is not started by {}, masked, or made by a generator; name a unit that \
             `bootlap units` lists",
            units.default
        )
    })
}

/// The links that have a unit started, each with its partition; or why nothing is gained without
/// them.
pub(super) fn unlinked(
    units: &Units,
    name: &str,
    unit: &Unit,
    partition: u32,
) -> Result<Vec<String>, String> {
    let linked = |of: &String| unit.links.iter().any(|(_, by)| by == of);
    let all = units.started.iter();
    let mut others = all.filter(|(of, other)| other.wants.contains(name) && !linked(of));
    match others.next() {
        Some((of, _)) => Err(format!(
            "{of} itself starts {name}, and not by a link; mask it instead"
        )),
        None => {
            let paths = unit.links.iter();
            Ok(paths
                .map(|(path, _)| format!("{partition}:{path}"))
                .collect())
        }
    }
}

/// Refuses what something else that stays cannot start without.
pub(super) fn stays_without(units: &Units, name: &str, names: &[String]) -> Result<(), String> {
    let need = units.need(name);
    let mut need = need
        .into_iter()
        .filter(|other| !names.iter().any(|n| n == other));
    match need.next() {
        Some(other) => Err(format!(
            "{other} does not start without {name}; name that, too"
        )),
        None => Ok(()),
    }
}
