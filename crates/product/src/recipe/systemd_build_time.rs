//! What systemd does at a start that can be done once, when the image is made.

use bootlap_image::units::MASKS;

use super::Plain;
use super::cmdline::Line;
use super::systemd::{disk_of, masked};
use crate::cache::sha256;
use crate::cmdline::with;
use crate::{Edit, Parts, Target};

/// Services of systemd that have nothing to do are not started.
///
/// `systemd-modules-load.service` runs for files in which there are only remarks,
/// `systemd-sysusers.service` for users that are all there, `systemd-binfmt.service` for no format
/// at all. Each of them is a process that reads its configuration and ends. Where the files of the
/// root and the command line give one nothing to do, a link to `/dev/null` takes its place.
pub(super) const IDLE: Plain = Plain::new(
    "systemd-idle-off",
    "services of systemd that have nothing to do are not started",
    "what is written into modules-load.d, sysusers.d and binfmt.d later has no effect",
    idle,
);

fn idle(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = disk_of(parts)?;
    let (partition, units) = disk.units()?;
    let line = Line::of(target, parts)?;
    let idle = disk.idle_services(&line.text)?;
    let started = idle
        .iter()
        .filter(|name| units.started.contains_key(**name));
    let places: Vec<String> = started
        .map(|name| format!("{partition}:{MASKS}/{name}"))
        .collect();
    masked(
        target,
        &places,
        "none of those that are known has nothing to do",
    )
}

/// systemd does not make what the image brings.
///
/// At the first start after `/usr` has changed, systemd makes the linker's cache, the hardware
/// database, the catalogue of messages and the users of packages again, also on an image that has
/// them all. Where it has, a word on the command line spares that. In a build, `touch` does so for
/// good, `/etc/.updated` and `/var/.updated`, as the last thing.
pub(super) const CACHES: Plain = Plain::new(
    "systemd-caches-off",
    "systemd does not make caches that the image brings",
    "after an update of /usr whoever makes it has to make them",
    caches,
);

const NEEDS_UPDATE: &str = "systemd.condition_needs_update";

fn caches(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = disk_of(parts)?;
    let line = Line::of(target, parts)?;
    let is_it = |word: &&str| word.replace('-', "_").starts_with(NEEDS_UPDATE);
    if let Some(word) = line.text.split_whitespace().find(is_it) {
        return Err(format!("the command line has {word} already"));
    }
    disk.has_caches()?;
    Ok(line.set(with(&line.text, &format!("{NEEDS_UPDATE}=no"))))
}

/// The machine has its id from the start.
///
/// Without a content of `/etc/machine-id` systemd takes each start for the first: it makes an id,
/// looks through the presets of all units, and starts what is for first boots alone. On a root
/// that is not written to, that is so at every start. A device needs an id of its own, so put one
/// there when it is made (`systemd-machine-id-setup --root=`).
pub(super) const MACHINE_ID: Plain = Plain::new(
    "systemd-machine-id",
    "the machine has its id from the start",
    "two machines with the same id are one to networks and logs: give each its own; what only \
     first boots do is not done, such as to enable what presets enable",
    machine_id,
);

const FILE: &str = "/etc/machine-id";

fn machine_id(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = disk_of(parts)?;
    let (partition, now) = disk.text_of_systemd(FILE)?;
    let place = format!("{partition}:{FILE}");
    let written = target.spec.disk.as_ref();
    if written.is_some_and(|disk| disk.texts.contains_key(&place))
        || now.is_some_and(|now| !matches!(now.trim(), "" | "uninitialized"))
    {
        return Err("it has one already".into());
    }
    let id = &sha256(target.spec.name.as_bytes())[..32];
    let key = format!("disk.texts.{place:?}");
    Ok(vec![Edit::set(&key, format!("{id}\n"))])
}
