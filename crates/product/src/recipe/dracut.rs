//! An initramfs of dracut: what it does besides mounting the root.
//!
//! It lists the modules that it is made of (`dracut.modules(7)`). Most of them wait for a device
//! that there is not, or for a word of the command line; those of a host hold such words in
//! `etc/cmdline.d`.

use crate::initramfs::{Look, What};

/// Where it lists its modules.
const LISTS: [&str; 2] = ["usr/lib/dracut/modules.txt", "lib/dracut/modules.txt"];
/// Where the words of the host are that it was made on.
const WORDS: &str = "etc/cmdline.d/";
/// Encrypted disks that it opens unasked.
const CRYPTTAB: &str = "etc/crypttab";

/// Modules that do nothing to a plain root which is asked for by `root=` alone: shells, what
/// finds and mounts it, and what waits for a device or a word that is not there. All that begin
/// with `systemd-` are too, but for those that change disks.
const KNOWN: [&str; 54] = [
    "base",
    "bash",
    "biosdevname",
    "btrfs",
    "busybox",
    "caps",
    "crypt",
    "dash",
    "dbus",
    "dbus-broker",
    "dbus-daemon",
    "debug",
    "dm",
    "dmraid",
    "dracut-systemd",
    "drm",
    "fs-lib",
    "hwdb",
    "i18n",
    "img-lib",
    "kernel-modules",
    "kernel-modules-extra",
    "kernel-network-modules",
    "lunmask",
    "lvm",
    "mdraid",
    "memstrack",
    "mksh",
    "net-lib",
    "network",
    "network-legacy",
    "network-manager",
    "nss-softokn",
    "nvdimm",
    "overlay-root",
    "pcmcia",
    "plymouth",
    "pollcdrom",
    "qemu",
    "qemu-net",
    "resume",
    "rngd",
    "rootfs-block",
    "shell-interpreter",
    "shutdown",
    "simpledrm",
    "systemd",
    "terminfo",
    "tpm2-tss",
    "udev-rules",
    "usrmount",
    "virtfs",
    "virtiofs",
    "warpclock",
];
/// Of systemd's, those that change disks or files of the root.
const CHANGE: [&str; 3] = ["systemd-repart", "systemd-sysext", "systemd-confext"];

/// What an initramfs of dracut's is made of.
pub(super) struct Dracut {
    modules: Vec<String>,
    /// Files with words for it.
    words: Vec<String>,
}

/// `None` if it is not dracut's.
pub(super) fn of<'e>(members: impl Iterator<Item = (&'e [u8], &'e What)>) -> Option<Dracut> {
    let (mut modules, mut words) = (None, Vec::new());
    // The root that the command line names is found, and mounted, without these; not so a
    // subvolume of which that says nothing.
    let own = ["root=", "rootfstype=", "rootflags="];
    let is_own =
        |word: &str| own.iter().any(|own| word.starts_with(own)) && !word.contains("subvol");
    for (path, what) in members {
        let (Ok(path), Look::File { bytes, .. }) = (std::str::from_utf8(path), what.look()) else {
            continue;
        };
        let text = || String::from_utf8_lossy(bytes);
        if LISTS.contains(&path) {
            modules = Some(text().split_whitespace().map(str::to_owned).collect());
        }
        let asks = path.starts_with(WORDS) && !text().split_whitespace().all(is_own);
        if asks || path == CRYPTTAB {
            words.push(path.to_owned());
        }
    }
    modules.map(|modules| Dracut { modules, words })
}

impl Dracut {
    /// What it does that is not known to be needless.
    pub(super) fn does_more(&self) -> Vec<String> {
        let is_known = |name: &str| {
            let of_systemd = name.starts_with("systemd-") && !CHANGE.contains(&name);
            of_systemd || KNOWN.contains(&name)
        };
        let modules = self.modules.iter().filter(|name| !is_known(name));
        let modules = modules.map(|name| format!("dracut's {name}"));
        modules.chain(self.words.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn more(files: &[(&str, &str)]) -> Option<Vec<String>> {
        let file = |text: &str| What::File {
            executable: false,
            bytes: text.into(),
        };
        let all: Vec<(&str, What)> = files.iter().map(|(p, t)| (*p, file(t))).collect();
        let members = all.iter().map(|(path, what)| (path.as_bytes(), what));
        Some(of(members)?.does_more())
    }

    #[test]
    fn modules_and_words_are_looked_at() {
        let list = "usr/lib/dracut/modules.txt";
        assert_eq!(more(&[("init", "")]), None);
        let plain = (list, "systemd\nsystemd-initrd\nrootfs-block\nbase\n");
        assert_eq!(more(&[plain]).unwrap(), Vec::<String>::new());
        let root = (
            "etc/cmdline.d/95root-dev.conf",
            " root=UUID=1 rootflags=rw\n",
        );
        assert_eq!(more(&[plain, root]).unwrap(), Vec::<String>::new());
        let part = ("etc/cmdline.d/95root-dev.conf", "rootflags=rw,subvol=/@");
        assert_eq!(more(&[plain, part]).unwrap(), [part.0]);
        let crypt = ("etc/cmdline.d/90crypt.conf", "rd.luks.uuid=1\n");
        assert_eq!(more(&[plain, crypt]).unwrap(), [crypt.0]);
        assert_eq!(more(&[plain, (CRYPTTAB, "")]).unwrap(), [CRYPTTAB]);
        let more = more(&[(list, "base ostree systemd-repart")]).unwrap();
        assert_eq!(more, ["dracut's ostree", "dracut's systemd-repart"]);
    }
}
