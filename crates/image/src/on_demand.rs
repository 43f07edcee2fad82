//! What starts a service of systemd when somebody asks for it.
//!
//! A socket of its name (`systemd.socket(5)`), or a name on the system's bus for which
//! `SystemdService=` names it: files that its package brought, whether they are used or not.

use crate::volume::Files;

const UNITS: [&str; 3] = [
    "etc/systemd/system",
    "usr/lib/systemd/system",
    "lib/systemd/system",
];
const BUS: [&str; 2] = [
    "usr/share/dbus-1/system-services",
    "etc/dbus-1/system-services",
];

/// What starts a service when it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A connection to this socket; its name, and its file.
    Socket(String, String),
    /// A call to this name on the bus.
    Bus(String),
}

/// What would start this service; `None` if nothing is known to.
pub fn asked(files: &dyn Files, service: &str) -> Option<Asked> {
    socket(files, service).or_else(|| bus(files, service))
}

fn socket(files: &dyn Files, service: &str) -> Option<Asked> {
    let name = format!("{}.socket", service.strip_suffix(".service")?);
    let path = UNITS.iter().map(|folder| format!("{folder}/{name}"));
    let mut there = path.filter(|path| files.text(path).is_some());
    Some(Asked::Socket(name.clone(), there.next()?))
}

fn bus(files: &dyn Files, service: &str) -> Option<Asked> {
    let all = BUS
        .iter()
        .flat_map(|folder| files.ending(folder, ".service"));
    all.filter_map(|path| files.text(&path)).find_map(|text| {
        let value = |key: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once('='));
            lines.find_map(|(k, value)| (k.trim() == key).then(|| value.trim().to_owned()))
        };
        let started = value("SystemdService")?;
        let is_it = started == service || leads_to(files, &started, service);
        is_it.then(|| value("Name").map(Asked::Bus))?
    })
}

/// Whether a unit is another name of this service.
fn leads_to(files: &dyn Files, alias: &str, service: &str) -> bool {
    let mut links = UNITS
        .iter()
        .filter_map(|folder| files.link(&format!("{folder}/{alias}")));
    links.any(|to| to.rsplit('/').next() == Some(service))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::volume::paper::Tree;

    #[test]
    fn a_socket_or_a_name_on_the_bus_starts_a_service() {
        let tree = Tree(BTreeMap::from([
            ("usr/lib/systemd/system/ssh.socket", "[Socket]\n"),
            (
                "usr/share/dbus-1/system-services/a.service",
                "[D-BUS Service]\nName=a.b\nSystemdService=dbus-a.service\n",
            ),
            (
                "etc/systemd/system/dbus-a.service",
                "->/lib/systemd/system/avahi.service",
            ),
            (
                "usr/share/dbus-1/system-services/c.service",
                "[D-BUS Service]\nName=c.d\nExec=/bin/c\n",
            ),
        ]));
        let found = |service| asked(&tree, service);
        let path = "usr/lib/systemd/system/ssh.socket";
        let socket = Asked::Socket("ssh.socket".to_owned(), path.to_owned());
        assert_eq!(found("ssh.service"), Some(socket));
        assert_eq!(found("avahi.service"), Some(Asked::Bus("a.b".to_owned())));
        assert_eq!(found("cron.service"), None);
        assert_eq!(found("c.timer"), None);
    }
}
