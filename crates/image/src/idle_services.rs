//! Services of systemd that have nothing to do: their configuration names nothing, or nothing
//! that is not there already.
//!
//! What each reads is in its manual page: `modules-load.d(5)`, `sysusers.d(5)`, `binfmt.d(5)`.

use std::collections::BTreeSet;

use crate::volume::Files;

/// Where their configuration is, each followed by a folder of its own.
const PLACES: [&str; 4] = ["etc", "run", "usr/local/lib", "usr/lib"];

/// The services of a root that its files and this command line give nothing to do.
pub fn idle(files: &dyn Files, cmdline: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let word = |name: &str| cmdline.split_whitespace().any(|word| word.contains(name));
    let nothing = |folder| lines(files, folder).is_some_and(|lines| lines.is_empty());
    if nothing("modules-load.d") && !word("modules-load=") && !word("modules_load=") {
        found.push("systemd-modules-load.service");
    }
    if nothing("binfmt.d") {
        found.push("systemd-binfmt.service");
    }
    if lines(files, "sysusers.d").is_some_and(|lines| all_are_there(files, &lines)) {
        found.push("systemd-sysusers.service");
    }
    found
}

/// The lines of all files in a folder that are no remarks; `None` if one cannot be read.
fn lines(files: &dyn Files, folder: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for place in PLACES {
        let folder = format!("{place}/{folder}");
        let names = files.list(&folder).unwrap_or_default();
        for name in names.iter().filter(|name| name.ends_with(".conf")) {
            let path = format!("{folder}/{name}");
            // One that is masked hides another, which is as good as empty.
            if files.link(&path).as_deref() == Some("/dev/null") {
                continue;
            }
            let text = files.text(&path)?;
            let lines = text.lines().map(str::trim);
            let lines = lines.filter(|l| !l.is_empty() && !l.starts_with(['#', ';']));
            all.extend(lines.map(str::to_owned));
        }
    }
    Some(all)
}

/// Whether all users and groups that these lines ask for are there.
fn all_are_there(files: &dyn Files, lines: &[String]) -> bool {
    let Some((users, groups)) = files.text("etc/passwd").zip(files.text("etc/group")) else {
        return false;
    };
    let names = |text: &str| -> BTreeSet<String> {
        let names = text.lines().filter_map(|line| line.split(':').next());
        names.map(str::to_owned).collect()
    };
    let (known_users, known_groups) = (names(&users), names(&groups));
    let is_member = |user: &str, group: &str| {
        let mut lines = groups
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>());
        let line = lines.find(|fields| fields.first() == Some(&group));
        line.is_some_and(|fields| {
            fields
                .get(3)
                .is_some_and(|m| m.split(',').any(|m| m == user))
        })
    };
    lines.iter().all(|line| {
        let mut words = line.split_whitespace();
        let Some((kind, name)) = words.next().zip(words.next()) else {
            return false;
        };
        let id = words.next().unwrap_or("-");
        match kind.trim_end_matches('!') {
            "u" => {
                // Without a group of another name it gets one of its own.
                let group = id.split_once(':').map_or(name, |(_, group)| group);
                let is_number = group.bytes().all(|b| b.is_ascii_digit());
                known_users.contains(name) && (is_number || known_groups.contains(group))
            }
            "g" => known_groups.contains(name),
            "m" => is_member(name, id),
            // A range of numbers for the others.
            "r" => true,
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::volume::paper::Tree;

    fn tree(more: &[(&'static str, &'static str)]) -> Tree {
        let mut files = BTreeMap::from([
            (
                "etc/passwd",
                "root:x:0:0::/root:/bin/sh\nnobody:x:9:9::/:/x\n",
            ),
            ("etc/group", "root:x:0:\nnogroup:x:9:\ntty:x:5:nobody,web\n"),
            ("etc/modules-load.d/modules.conf", "->etc/modules"),
            ("etc/modules", "# none\n\n; none\n"),
            (
                "usr/lib/sysusers.d/basic.conf",
                "u root 0 - /root /bin/sh\ng tty 5 - -\nu nobody 9:nogroup -\nm nobody tty\nr - 500-900\n",
            ),
        ]);
        files.extend(more.iter().copied());
        Tree(files)
    }

    #[test]
    fn what_has_nothing_to_do_is_idle() {
        let all = [
            "systemd-modules-load.service",
            "systemd-binfmt.service",
            "systemd-sysusers.service",
        ];
        assert_eq!(idle(&tree(&[]), "quiet"), all);
        let masked = ("etc/modules-load.d/lp.conf", "->/dev/null");
        assert_eq!(idle(&tree(&[masked]), "quiet"), all);
    }

    #[test]
    fn what_has_something_to_do_is_not() {
        for (more, words, service) in [
            (("etc/modules", "nvram\n"), "", "modules-load"),
            (("etc/x", ""), "modules-load=dm_mod", "modules-load"),
            (("etc/x", ""), "rd.modules_load=dm_mod", "modules-load"),
            (("usr/lib/binfmt.d/a.conf", ":a:\n"), "", "binfmt"),
            (
                ("usr/lib/modules-load.d/x.conf", "->nowhere"),
                "",
                "modules-load",
            ),
            (("etc/sysusers.d/w.conf", "u web -\n"), "", "sysusers"),
            (("etc/sysusers.d/w.conf", "g web -\n"), "", "sysusers"),
            (
                ("etc/sysusers.d/w.conf", "u nobody 9:web\n"),
                "",
                "sysusers",
            ),
            (("etc/sysusers.d/w.conf", "m root tty\n"), "", "sysusers"),
            (("etc/sysusers.d/w.conf", "u %u -\n"), "", "sysusers"),
            (("etc/sysusers.d/w.conf", "x what\n"), "", "sysusers"),
            (("etc/group", "root:x:0:\n"), "", "sysusers"),
        ] {
            let found = idle(&tree(&[more]), words);
            let it = format!("systemd-{service}.service");
            assert!(!found.contains(&it.as_str()), "{more:?} {words}: {found:?}");
            assert_eq!(found.len(), 2, "{more:?} {words}: {found:?}");
        }
    }
}
