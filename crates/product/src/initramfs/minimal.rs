//! An initramfs that does nothing but mount the root.
//!
//! A distribution's initramfs is made for any machine: it starts udev, which loads a driver for
//! each device that it finds, and looks for the root among them. Where root and machine are
//! known, a shell, `mount` and a few modules are enough. All of them are the distribution's own:
//! they come from the initramfs itself, but for the program that enters the root where systemd did
//! that, which is the root's.

use std::collections::{BTreeMap, BTreeSet};

use bootlap_image::driver;

use super::minimal_init::{Enter, Load, Module, script};
use super::{Found, Look, What, add_parents, only, wrong};
use crate::TargetError;

/// Where programs are.
const FOLDERS: [&str; 4] = ["usr/bin", "bin", "usr/sbin", "sbin"];
/// What programs read on their way.
const LIBRARIES: [&str; 3] = ["etc/ld.so.cache", "etc/ld.so.conf", "etc/ld.so.conf.d/"];
/// What modprobe reads.
const OF_MODPROBE: [&str; 3] = ["etc/modprobe.d/", "lib/modprobe.d/", "usr/lib/modprobe.d/"];
/// Lines of these that say how a module is to be loaded.
const CONFIGURED: [&str; 3] = ["options", "install", "softdep"];
/// Folders that the kernel and `/init` use.
const STAY: [&str; 5] = ["dev", "proc", "root", "run", "sys"];

/// What stays, and the new `/init`.
struct Plan {
    paths: Vec<Vec<u8>>,
    init: String,
    enter: Enter,
}

/// Takes everything out of `found` but what mounts a root with these modules.
pub(super) fn reduce(found: &mut Found, modules: &[String]) -> Result<(), TargetError> {
    let members = found.iter().map(|(path, what)| (&path[..], what));
    let plan = Plan::of(members, modules).map_err(|why| wrong(format!("minimal: {why}")))?;
    let init = What::File {
        executable: true,
        bytes: plan.init.into_bytes(),
    };
    found.insert(b"init".to_vec(), init);
    only::keep(found, &plan.paths.join(&b'\n'), "initramfs.minimal")?;
    found.retain(|_, what| !matches!(what.look(), Look::Dir) || what.is_early());
    for folder in STAY {
        found.insert(folder.as_bytes().to_vec(), What::Dir);
    }
    add_parents(super::SECTION, found)
}

/// What enters the root if these members are reduced so; or why they cannot be.
pub(crate) fn fits<'e>(
    members: impl Iterator<Item = (&'e [u8], &'e What)>,
    modules: &[String],
) -> Result<Enter, String> {
    Plan::of(members, modules).map(|plan| plan.enter)
}

impl Plan {
    fn of<'e>(
        members: impl Iterator<Item = (&'e [u8], &'e What)>,
        modules: &[String],
    ) -> Result<Self, String> {
        let members: BTreeMap<&[u8], &What> = members.collect();
        let mut programs = Programs {
            members: &members,
            paths: Vec::new(),
        };
        for name in ["sh", "mount", "blkid", "sleep"] {
            programs.need(name)?;
        }
        let enter = match programs.take("run-init") {
            true => Enter::RunInit,
            false if programs.take("switch_root") => Enter::SwitchRoot,
            false => Enter::OfRoot,
        };
        let cat = programs.take("cat");
        let all = Modules::of(&members)?;
        let files = all.needed(modules)?;
        let load = if files.is_empty() {
            Load::Nothing
        } else if all.are_plain(&files) && programs.take("insmod") {
            Load::Insmod(all.of_all_versions(), &files)
        } else {
            programs.need("modprobe")?;
            Load::Modprobe(modules)
        };
        let mut paths = programs.paths;
        paths.extend(files.iter().map(|one| all.path_of(one)));
        let mut read = LIBRARIES.to_vec();
        if let Load::Modprobe(_) = load {
            paths.extend(all.lists.iter().map(|list| list.to_vec()));
            read.extend(OF_MODPROBE);
        }
        let is_read = |path: &&[u8]| read.iter().any(|read| path.starts_with(read.as_bytes()));
        paths.extend(members.keys().filter(|p| is_read(p)).map(|p| p.to_vec()));
        Ok(Self {
            paths,
            init: script(&load, enter, cat),
            enter,
        })
    }
}

struct Programs<'f, 'e> {
    members: &'f BTreeMap<&'e [u8], &'e What>,
    paths: Vec<Vec<u8>>,
}

impl Programs<'_, '_> {
    /// Takes a program; whether there is one.
    fn take(&mut self, name: &str) -> bool {
        let mut places = FOLDERS.iter().map(|folder| format!("{folder}/{name}"));
        let place = places.find(|place| self.members.contains_key(place.as_bytes()));
        self.paths.extend(place.clone().map(String::into_bytes));
        place.is_some()
    }

    fn need(&mut self, name: &str) -> Result<(), String> {
        match self.take(name) {
            true => Ok(()),
            false => Err(format!("the initramfs has no {name}")),
        }
    }
}

/// The modules in an initramfs, as `depmod` lists them.
struct Modules<'e> {
    /// Files that `modprobe` reads.
    lists: Vec<&'e [u8]>,
    /// The folder, with a slash behind it.
    folder: &'e [u8],
    /// What each needs, itself first; paths below the folder.
    needs: BTreeMap<String, Vec<&'e str>>,
    built_in: BTreeSet<String>,
    /// Those of which a file of modprobe's says how to load them.
    configured: BTreeSet<String>,
}

impl<'e> Modules<'e> {
    fn of(members: &BTreeMap<&'e [u8], &'e What>) -> Result<Self, String> {
        let mut found = Self {
            lists: Vec::new(),
            folder: b"",
            needs: BTreeMap::new(),
            built_in: BTreeSet::new(),
            configured: BTreeSet::new(),
        };
        let text = |what: &'e What| match what.look() {
            Look::File { bytes, .. } => std::str::from_utf8(bytes).ok(),
            _ => None,
        };
        for (path, what) in members {
            if OF_MODPROBE
                .iter()
                .any(|folder| path.starts_with(folder.as_bytes()))
            {
                let lines = text(what).unwrap_or_default().lines();
                found.configured.extend(lines.filter_map(configured));
            }
            let Some(at) = end_of_folder(path) else {
                continue;
            };
            let (folder, name) = path.split_at(at);
            if !name.starts_with(b"modules.") {
                continue;
            }
            if !found.folder.is_empty() && found.folder != folder {
                return Err("the initramfs has modules of two kernels".into());
            }
            found.folder = folder;
            found.lists.push(path);
            let lines = text(what).unwrap_or_default().lines();
            match name {
                b"modules.dep" => found.needs.extend(lines.filter_map(|line| {
                    let (file, needs) = line.split_once(':')?;
                    let all = [file].into_iter().chain(needs.split_whitespace());
                    Some((driver(file)?, all.collect()))
                })),
                b"modules.builtin" => found.built_in.extend(lines.filter_map(driver)),
                _ => {}
            }
        }
        Ok(found)
    }

    /// These modules and what they need, in the order in which they load; nothing where all of
    /// them are built in.
    fn needed(&self, wanted: &[String]) -> Result<Vec<Module>, String> {
        let mut all: Vec<Module> = Vec::new();
        for name in wanted {
            let name = name.replace('-', "_");
            if self.built_in.contains(&name) {
                continue;
            }
            let needs = self.needs.get(&name).ok_or_else(|| {
                format!(
                    "the initramfs has no module {name}, and the kernel has it not built in; name \
                     modules that are in it"
                )
            })?;
            // Each stands in front of what it needs.
            for file in needs.iter().rev() {
                if !all.iter().any(|known| known.file == *file) {
                    all.push(Module {
                        name: driver(file).unwrap_or_default(),
                        file: (*file).to_owned(),
                    });
                }
            }
        }
        Ok(all)
    }

    /// The folder of the folder.
    fn of_all_versions(&self) -> &'static str {
        match self.folder.starts_with(b"usr/") {
            true => "usr/lib/modules",
            false => "lib/modules",
        }
    }

    fn path_of(&self, module: &Module) -> Vec<u8> {
        [self.folder, module.file.as_bytes()].concat()
    }

    /// Whether the kernel takes these files as they are, and all that is to be known of them stands
    /// on the command line.
    fn are_plain(&self, modules: &[Module]) -> bool {
        modules
            .iter()
            .all(|one| one.file.ends_with(".ko") && !self.configured.contains(&one.name))
    }
}

/// The module that a line of modprobe's says how to load.
fn configured(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    CONFIGURED.contains(&words.next()?).then_some(())?;
    Some(words.next()?.replace('-', "_"))
}

/// Behind `lib/modules/VERSION/`, wherever that is.
fn end_of_folder(path: &[u8]) -> Option<usize> {
    let start = ["usr/lib/modules/", "lib/modules/"]
        .iter()
        .find(|start| path.starts_with(start.as_bytes()))?
        .len();
    let version = path[start..].iter().position(|b| *b == b'/')?;
    Some(start + version + 1)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn file(bytes: &str) -> What {
        What::File {
            executable: true,
            bytes: bytes.into(),
        }
    }

    fn distribution() -> Found {
        let dep = "kernel/fs/ext4/ext4.ko.xz: kernel/lib/crc16.ko.xz kernel/fs/jbd2/jbd2.ko.xz\n\
                   kernel/lib/crc16.ko.xz:\nkernel/fs/jbd2/jbd2.ko.xz:\n\
                   kernel/drivers/snd.ko.xz:\n";
        let modules = "usr/lib/modules/6.1.0";
        let mut found = Found::new();
        for (path, bytes) in [
            ("init", "#!/bin/sh\n"),
            ("scripts/init-top/udev", ""),
            ("usr/bin/busybox", ""),
            ("usr/bin/run-init", ""),
            ("usr/bin/udevadm", ""),
            ("usr/sbin/modprobe", ""),
            ("usr/sbin/blkid", ""),
            ("usr/bin/sleep", ""),
            (&format!("{modules}/modules.dep"), dep),
            (
                &format!("{modules}/modules.builtin"),
                "kernel/drivers/virtio/virtio-blk.ko\n",
            ),
            (&format!("{modules}/kernel/fs/ext4/ext4.ko.xz"), ""),
            (&format!("{modules}/kernel/fs/jbd2/jbd2.ko.xz"), ""),
            (&format!("{modules}/kernel/lib/crc16.ko.xz"), ""),
            (&format!("{modules}/kernel/drivers/snd.ko.xz"), ""),
        ] {
            found.insert(path.into(), file(bytes));
        }
        for name in ["sh", "mount"] {
            let to = b"busybox".to_vec();
            found.insert(format!("usr/bin/{name}").into(), What::Link { to });
        }
        let to = b"usr/bin".to_vec();
        found.insert(b"bin".to_vec(), What::Link { to });
        found
    }

    fn names(found: &Found) -> Vec<String> {
        let files = found
            .iter()
            .filter(|(_, what)| !matches!(what.look(), Look::Dir));
        files
            .map(|(path, _)| String::from_utf8_lossy(path).into_owned())
            .collect()
    }

    #[test]
    fn only_what_mounts_the_root_stays() {
        let mut found = distribution();
        let modules = ["virtio_blk".to_owned(), "ext4".to_owned()];
        reduce(&mut found, &modules).unwrap();
        let kept = names(&found);
        let gone = |name: &str| !kept.iter().any(|path| path.ends_with(name));
        assert!(
            gone("udevadm") && gone("snd.ko.xz") && gone("init-top/udev"),
            "{kept:?}"
        );
        for name in ["bin", "usr/bin/sh", "usr/bin/busybox", "usr/sbin/modprobe"] {
            assert!(kept.iter().any(|path| path == name), "{name}: {kept:?}");
        }
        for name in ["ext4.ko.xz", "crc16.ko.xz", "jbd2.ko.xz", "modules.dep"] {
            assert!(!gone(name), "{name}: {kept:?}");
        }
        let Some(Look::File { bytes, .. }) = found.get(&b"init"[..]).map(What::look) else {
            panic!("{kept:?}");
        };
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(text.contains("modprobe -a -q virtio_blk ext4\n"), "{text}");
        assert!(!found.contains_key(&b"scripts"[..]), "an empty folder");
        let read = Command::new("sh")
            .args(["-n", "-c", &text])
            .status()
            .unwrap();
        assert!(read.success(), "{text}");
    }

    /// A distribution's, which has insmod and these files, too, and modules with such names.
    fn with_insmod(suffix: &str, more: &[(&str, &str)]) -> Found {
        let folder = "usr/lib/modules/6.1.0";
        let dep = "kernel/ext4.ko: kernel/jbd2.ko kernel/crc-16.ko\n\
                   kernel/jbd2.ko: kernel/crc-16.ko\nkernel/crc-16.ko:\n";
        let mut found = distribution();
        found.retain(|path, _| !path.starts_with(folder.as_bytes()));
        let dep = dep.replace(".ko", &format!(".ko{suffix}"));
        found.insert(format!("{folder}/modules.dep").into(), file(&dep));
        for module in ["ext4", "jbd2", "crc-16"] {
            let path = format!("{folder}/kernel/{module}.ko{suffix}");
            found.insert(path.into(), file(""));
        }
        found.insert(b"usr/sbin/insmod".to_vec(), file(""));
        for (path, text) in more {
            found.insert(path.as_bytes().to_vec(), file(text));
        }
        reduce(&mut found, &["ext4".to_owned()]).unwrap();
        found
    }

    fn init_of(found: &Found) -> &str {
        match found.get(&b"init"[..]).map(What::look) {
            Some(Look::File { bytes, .. }) => std::str::from_utf8(bytes).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn insmod_needs_no_lists() {
        let blacklist = "blacklist ext4\noptions other a=1\n";
        let found = with_insmod("", &[("etc/modprobe.d/no.conf", blacklist)]);
        let load = "load 'crc[-_]16' kernel/crc-16.ko\nload 'jbd2' kernel/jbd2.ko\n\
                    load 'ext4' kernel/ext4.ko\n";
        assert!(init_of(&found).contains(load), "{}", init_of(&found));
        let kept = names(&found);
        for gone in ["usr/sbin/modprobe", "modules.dep", "no.conf"] {
            assert!(!kept.iter().any(|path| path.ends_with(gone)), "{kept:?}");
        }
        assert!(kept.iter().any(|path| path.ends_with("kernel/crc-16.ko")));
    }

    #[test]
    fn what_else_is_to_be_known_of_a_module_only_modprobe_knows() {
        let options = [("lib/modprobe.d/a.conf", "options crc-16 a=1\n")];
        for (suffix, more) in [("", &options[..]), (".xz", &[])] {
            let found = with_insmod(suffix, more);
            let init = init_of(&found);
            assert!(init.contains("modprobe -a -q ext4\n"), "{init}");
            let kept = names(&found);
            for (path, _) in more {
                assert!(kept.iter().any(|kept| kept == path), "{kept:?}");
            }
            assert!(kept.iter().any(|path| path.ends_with("modules.dep")));
        }
    }

    #[test]
    fn the_root_brings_what_enters_it_where_systemd_did_that() {
        let mut found = distribution();
        let enters = |found: &Found| {
            let members = found.iter().map(|(path, what)| (&path[..], what));
            fits(members, &["ext4".to_owned()]).unwrap()
        };
        assert_eq!(enters(&found), Enter::RunInit);
        found.remove(&b"usr/bin/run-init"[..]);
        assert_eq!(enters(&found), Enter::OfRoot);
    }

    #[test]
    fn what_is_missing_is_told() {
        let why = |without: &str, module: &str| {
            let mut found = distribution();
            found.retain(|path, _| path != without.as_bytes());
            reduce(&mut found, &[module.to_owned()])
                .unwrap_err()
                .to_string()
        };
        assert!(why("usr/bin/mount", "ext4").contains("no mount"));
        assert!(why("usr/sbin/modprobe", "ext4").contains("no modprobe"));
        assert!(why("", "nvme").contains("no module nvme"));
    }
}
