//! Services of systemd that start when they are asked for.

use bootlap_image::on_demand::Asked;
use bootlap_image::units::MASKS;

use super::systemd::{asked, disk_of, started, stays_without, unlinked};
use super::{Listed, Plain};
use crate::{Edit, Parts, Target};

/// Services of systemd start when they are asked for.
///
/// Many services come with what can start them: a socket of their name (`ssh.socket`), or a name
/// on the bus (`org.freedesktop.UDisks2`). With this, the boot does not start them; the first
/// connection or the first call does. A service that has neither is refused: put it off instead
/// (`systemd-defer`).
pub(super) const ON_DEMAND: Plain = Plain::new(
    "systemd-on-demand",
    "services of systemd start when they are asked for",
    "the first to ask waits for the start; what a service does unasked, such as to announce the \
     machine, it does not do before",
    on_demand,
)
.lists(Listed::Changed);

const SOCKETS: &str = "sockets.target";

fn on_demand(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let (partition, units, names) = asked(parts, value)?;
    let removed = target.spec.disk.iter().flat_map(|disk| &disk.remove);
    let removed: Vec<&String> = removed.collect();
    let mut edits = Vec::new();
    for name in &names {
        let unit = started(&units, name)?;
        stays_without(&units, name, &names)?;
        let by = disk_of(parts)?.started_on_demand(name)?.ok_or_else(|| {
            format!(
                "nothing starts {name} when it is asked for: it has no socket, and no name on the \
                 bus"
            )
        })?;
        let goes = unlinked(&units, name, unit, partition)?;
        if goes.is_empty() {
            return Err(format!("no link on the disk has {name} started"));
        }
        if goes.iter().all(|path| removed.contains(&path)) {
            return Err(format!("{name} is not started by the boot already"));
        }
        edits.extend(goes.into_iter().map(|path| Edit::add("disk.remove", path)));
        let Asked::Socket(socket, file) = by else {
            continue;
        };
        let listens = units.started.get(SOCKETS);
        if !listens.is_some_and(|sockets| sockets.wants.contains(&socket)) {
            let link = format!("{partition}:{MASKS}/{SOCKETS}.wants/{socket}");
            edits.push(Edit::set(
                &format!("disk.links.{link:?}"),
                format!("/{file}"),
            ));
        }
    }
    Ok(edits)
}
