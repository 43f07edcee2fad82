//! The init scripts that a boot runs, where no systemd does: what `/etc/inittab` starts, and the
//! folder whose scripts run in the order of their names.
//!
//! Read are BusyBox's init (with a `rcS` of whatever kind), System V's (`rcS.d`, `rc2.d`),
//! OpenWrt's procd (`rc.d`) and OpenRC's runlevels. Nothing of it is run.

use std::collections::BTreeSet;

use bootlap_rootfs::init_scripts::number;
use bootlap_rootfs::shell::{Beside, Rewritten, rewrite};

use crate::inittab::{self, INITTAB};
use crate::system::Init;
use crate::volume::Files;

/// Longer paths of folders are none of these.
const LONGEST: usize = 64;
/// Larger files are no scripts.
const LARGEST: u64 = 1 << 20;
/// More scripts are not looked at.
const MOST: usize = 1024;
/// Files that a script reads into itself, and these in turn: more are not looked at, and then
/// nothing is rewritten.
const MOST_SOURCES: usize = 256;

/// What a boot runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scripts {
    /// What init itself starts: paths.
    pub first: Vec<String>,
    /// What these start from a folder, in the order of its names.
    pub started: Vec<Script>,
    /// The init whose they are.
    pub init: Init,
    /// `/etc/inittab`; empty if there is none.
    pub inittab: String,
}

/// A script in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Its name there: `S50web`.
    pub name: String,
    /// Its path there, which may be a link.
    pub path: String,
    /// The path of its file.
    pub file: String,
    /// What is in it, if that is text.
    pub text: Option<String>,
}

impl Scripts {
    /// Those of a root.
    pub fn of(files: &dyn Files, init: Init) -> Option<Self> {
        if !matches!(
            init,
            Init::Busybox | Init::Sysv | Init::Openrc | Init::Procd
        ) {
            return None;
        }
        let inittab = files.text(INITTAB);
        let (first, level) = of_inittab(files, inittab.as_deref());
        let mut scripts = Scripts {
            first,
            init,
            inittab: inittab.unwrap_or_default(),
            ..Scripts::default()
        };
        let folders = match init {
            Init::Procd => vec!["/etc/rc.d".to_owned()],
            Init::Openrc => ["sysinit", "boot", "default"]
                .map(|level| format!("/etc/runlevels/{level}"))
                .to_vec(),
            Init::Sysv if files.list("/etc/rcS.d").is_ok() => {
                vec!["/etc/rcS.d".to_owned(), format!("/etc/rc{level}.d")]
            }
            _ => scripts.named_folders(files),
        };
        for folder in folders {
            let names = files.list(&folder).unwrap_or_default();
            for name in names.into_iter().take(MOST) {
                let path = format!("{folder}/{name}");
                let is_one = init == Init::Openrc || number(&name).is_some();
                if let (true, Ok(file)) = (is_one && files.has(&path), files.real(&path)) {
                    let text = files.read(&file, LARGEST).ok();
                    scripts.started.push(Script {
                        name,
                        path,
                        file,
                        text: text.and_then(|bytes| String::from_utf8(bytes).ok()),
                    });
                }
            }
        }
        (!scripts.first.is_empty() || !scripts.started.is_empty()).then_some(scripts)
    }

    /// `/etc/inittab`, with a program that runs once all of these are done; `None` where the order
    /// of names does that, or nothing can. System V's folder may be run in the order of a file
    /// beside it (startpar's), which has no others; OpenRC has no order of names.
    pub fn with_last(&self, inittab: &str, program: &str) -> Option<String> {
        let by_table = matches!(self.init, Init::Sysv | Init::Openrc) && !inittab.is_empty();
        by_table.then(|| inittab::with_last(inittab, program))
    }

    /// Folders of which the first scripts name what begins with `S`: `/etc/init.d/S??*`.
    fn named_folders(&self, files: &dyn Files) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for script in &self.first {
            let text = files.text(script).unwrap_or_default();
            let is_path = |c: char| c.is_ascii_alphanumeric() || "/._-?*[]".contains(c);
            for word in text.split(|c| !is_path(c)) {
                let Some((folder, _)) = word.rsplit_once("/S") else {
                    continue;
                };
                let plain = folder.len() <= LONGEST && !folder.contains(['?', '*', '[']);
                let new =
                    plain && folder.starts_with("/etc/") && !found.iter().any(|f| f == folder);
                let names = files.list(folder).unwrap_or_default();
                if new && names.iter().any(|name| number(name).is_some()) {
                    found.push(folder.to_owned());
                }
            }
        }
        found
    }

    /// The files of all scripts, each once: the first ones, then in their order.
    pub fn files(&self) -> Vec<&str> {
        let started = self.started.iter().map(|script| script.file.as_str());
        let mut seen = BTreeSet::new();
        let all = self.first.iter().map(String::as_str).chain(started);
        all.filter(|file| seen.insert(*file)).collect()
    }

    /// Each script rewritten so that it starts fewer programs, or why it is not: by its file.
    pub fn rewritten(&self, files: &dyn Files) -> Vec<(String, Result<Rewritten, String>)> {
        let all = self.files();
        let texts: Vec<String> = all
            .iter()
            .map(|file| files.text(file).unwrap_or_default())
            .collect();
        let is_first = |file: &str| self.first.iter().any(|first| first == file);
        let mut each = all.iter().zip(&texts);
        let one_shell = each.any(|(file, text)| is_first(file) && unknown_source(text).is_some());
        // A first script may read those of the folder into itself: then all of them, and what
        // they read, are in one shell.
        let mut together = (Beside::default(), true);
        if one_shell {
            let mut seen = BTreeSet::new();
            for text in &texts {
                together.0.add(text);
                together.1 &= add_sources(files, text, &mut together.0, &mut seen);
            }
        }
        let each = all.iter().zip(&texts).map(|(file, text)| {
            let (mut beside, mut all_seen) = together.clone();
            all_seen &= add_sources(files, text, &mut beside, &mut BTreeSet::new());
            let unknown = unknown_source(text).filter(|_| !is_first(file));
            let new = match unknown {
                Some(source) => Err(format!("it reads {source} into itself, whichever that is")),
                None if !all_seen => Err("it reads too many files into itself".to_owned()),
                None => rewrite(text, &beside),
            };
            ((*file).to_owned(), new)
        });
        each.collect()
    }
}

/// What init starts before logins, and the run level that it aims at.
fn of_inittab(files: &dyn Files, inittab: Option<&str>) -> (Vec<String>, char) {
    let (mut first, mut level) = (Vec::new(), '2');
    let lines = inittab.unwrap_or_default().lines();
    for line in lines.map(str::trim).filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.splitn(4, ':').collect();
        let [_, levels, action, process] = fields[..] else {
            if let [_, levels, "initdefault"] = fields[..] {
                level = levels.chars().next().unwrap_or(level);
            }
            continue;
        };
        match action {
            "initdefault" => level = levels.chars().next().unwrap_or(level),
            "sysinit" | "boot" | "bootwait" | "wait" | "once" => {
                let words = process.split_whitespace();
                let is_script = |path: &&str| {
                    let head = files.read(path, 2);
                    path.starts_with('/') && head.is_ok_and(|head| head.starts_with(b"#!"))
                };
                first.extend(words.filter(is_script).map(str::to_owned));
            }
            _ => {}
        }
    }
    // What BusyBox's init does without a table.
    if inittab.is_none() && files.has("/etc/init.d/rcS") {
        first.push("/etc/init.d/rcS".to_owned());
    }
    first.dedup();
    let real = first.iter().filter_map(|path| files.real(path).ok());
    (real.collect(), level)
}

/// The words behind `.` and `source`; some that are none of that, if anything.
fn sources(script: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in script.lines() {
        let mut words = line.split([' ', '\t', ';', '&', '|', '{', '(']);
        while let Some(word) = words.next() {
            if matches!(word, "." | "source") {
                let file = words.find(|word| !word.is_empty()).unwrap_or_default();
                found.push(file.trim_matches(['"', '\'']));
            }
        }
    }
    found
}

/// A file that a script reads into itself, of which not even the folder is known.
fn unknown_source(script: &str) -> Option<&str> {
    let unknown = |file: &&str| !file.is_empty() && !file.starts_with('/');
    sources(script).into_iter().find(unknown)
}

/// Adds what a script reads into itself: a file, or all of a folder of which it is one. Whether
/// that is all.
fn add_sources(
    files: &dyn Files,
    script: &str,
    beside: &mut Beside,
    seen: &mut BTreeSet<String>,
) -> bool {
    for source in sources(script) {
        let (known, rest) = match source.find(['$', '*', '?', '[', '`']) {
            Some(at) => (&source[..at], true),
            None => (source, false),
        };
        let all = match (rest, known.rsplit_once('/')) {
            (false, _) => vec![known.to_owned()],
            (true, Some((folder, _))) if !folder.is_empty() => {
                let names = files.list(folder).unwrap_or_default().into_iter();
                names.map(|name| format!("{folder}/{name}")).collect()
            }
            _ => continue,
        };
        for file in all {
            if seen.len() >= MOST_SOURCES {
                return false;
            }
            if seen.insert(file.clone())
                && let Some(text) = files.text(&file)
            {
                beside.add(&text);
                if !add_sources(files, &text, beside, seen) {
                    return false;
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::volume::paper::Tree;

    fn names(scripts: &Scripts) -> Vec<&str> {
        scripts.started.iter().map(|s| s.name.as_str()).collect()
    }

    #[test]
    fn busybox_and_its_folder() {
        let mut tree = Tree(BTreeMap::from([
            (
                "etc/inittab",
                "::sysinit:/etc/init.d/rcS\n::respawn:/sbin/getty 115200 tty1\n",
            ),
            (
                "etc/init.d/rcS",
                "#!/bin/sh\nfor i in /etc/init.d/S??* ;do\n[ -f \"$i\" ] && $i start\ndone\n",
            ),
            (
                "etc/init.d/S10b",
                "#!/bin/sh\n. /lib/own\nmkdir -p /run/b\n",
            ),
            (
                "etc/init.d/S05a",
                "#!/bin/sh\nmkdir -p /run/a\nx=$(cat /sys/a)\n",
            ),
            ("etc/init.d/S20c", "#!/bin/sh\n. $CONFIG\nmkdir -p /run/c\n"),
            ("etc/init.d/README", ""),
            ("lib/own", "mkdir () { :; }\n"),
        ]));
        let found = Scripts::of(&tree, Init::Busybox).unwrap();
        assert_eq!(found.first, ["/etc/init.d/rcS"]);
        assert_eq!(names(&found), ["S05a", "S10b", "S20c"]);
        let rewritten = found.rewritten(&tree);
        let of = |name: &str| {
            let found = rewritten.iter().find(|(file, _)| file.ends_with(name));
            &found.unwrap().1
        };
        assert_eq!(of("S05a").as_ref().unwrap().replaced.len(), 2);
        // A function of a file that it reads has the name of the program.
        assert!(of("S10b").as_ref().unwrap_err().contains("nothing"));
        assert!(of("S20c").as_ref().unwrap_err().contains("$CONFIG"));
        // In one shell, that function is there for all.
        tree.0.insert(
            "etc/init.d/rcS",
            "#!/bin/sh\nfor i in /etc/init.d/S??* ;do\n. $i\ndone\n",
        );
        let rewritten = found.rewritten(&tree);
        let first = rewritten.iter().find(|(file, _)| file.ends_with("S05a"));
        assert_eq!(first.unwrap().1.as_ref().unwrap().replaced.len(), 1);
    }

    #[test]
    fn run_levels_of_system_v_and_of_openwrt() {
        let tree = Tree(BTreeMap::from([
            (
                "etc/inittab",
                "id:3:initdefault:\nsi::sysinit:/etc/init.d/rcS\n",
            ),
            ("etc/init.d/rcS", "#!/bin/sh\nexec /etc/init.d/rc S\n"),
            ("etc/rcS.d/S02mount", "->/etc/init.d/mount"),
            ("etc/rc3.d/S01web", "->/etc/init.d/web"),
            ("etc/rc3.d/K01old", "->/etc/init.d/web"),
            ("etc/rc2.d/S09other", "->/etc/init.d/web"),
            ("etc/init.d/mount", "#!/bin/sh\n"),
            ("etc/init.d/web", "#!/bin/sh\n"),
            ("etc/rc.d/S10boot", "->/etc/init.d/web"),
        ]));
        let found = Scripts::of(&tree, Init::Sysv).unwrap();
        assert_eq!(names(&found), ["S02mount", "S01web"]);
        assert_eq!(found.started[1].file, "/etc/init.d/web");
        let table = found.with_last(&found.inittab, "/etc/last").unwrap();
        assert!(table.ends_with("\nlast:2345:once:/etc/last\n"), "{table}");
        assert_eq!(found.with_last(&table, "/etc/last").unwrap(), table);
        let found = Scripts::of(&tree, Init::Procd).unwrap();
        assert_eq!(names(&found), ["S10boot"]);
        assert_eq!(Scripts::of(&tree, Init::Systemd), None);
    }

    #[test]
    fn runlevels_of_openrc() {
        let tree = Tree(BTreeMap::from([
            ("etc/inittab", "::sysinit:/sbin/openrc sysinit\n"),
            ("etc/init.d/net", "#!/sbin/openrc-run\nstart() { :; }\n"),
            ("etc/init.d/web", "#!/sbin/openrc-run\n"),
            ("etc/runlevels/boot/net", "->/etc/init.d/net"),
            ("etc/runlevels/default/web", "->/etc/init.d/web"),
            ("etc/runlevels/shutdown/net", "->/etc/init.d/net"),
        ]));
        let found = Scripts::of(&tree, Init::Openrc).unwrap();
        assert_eq!(names(&found), ["net", "web"]);
        let table = found.with_last(&found.inittab, "/etc/last");
        assert_eq!(
            table.unwrap(),
            "::sysinit:/sbin/openrc sysinit\n::once:/etc/last\n"
        );
        let all = found.rewritten(&tree);
        assert!(
            all.iter()
                .all(|(_, new)| new.as_ref().unwrap_err().contains("openrc-run"))
        );
    }
}
