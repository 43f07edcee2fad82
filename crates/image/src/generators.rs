//! Generators of systemd that have nothing to do: programs that run at each start, before
//! anything else, to make units of a file or of words that are not there.
//!
//! What each looks at is in its manual page, `systemd-cryptsetup-generator(8)` and so on. One
//! that is not known here may do anything. Those that only do what somebody writes on the command
//! line (`systemd.mask=`, `systemd.debug_shell`, `systemd.run=`) are how one gets into a machine that
//! does not start: they are left alone.

use crate::table::TableKind;
use crate::volume::Files;

/// Where a link to `/dev/null` keeps one from running.
pub const MASKS: &str = "/etc/systemd/system-generators";
const FOLDERS: [&str; 2] = [
    "usr/lib/systemd/system-generators",
    "lib/systemd/system-generators",
];

/// What a generator makes units of.
struct Known {
    name: &'static str,
    files: &'static [&'static str],
    /// What words of the command line begin with, behind `rd.` or not.
    words: &'static [&'static str],
}

const KNOWN: [Known; 6] = [
    Known {
        name: "systemd-cryptsetup-generator",
        files: &["etc/crypttab"],
        words: &["luks"],
    },
    Known {
        name: "systemd-veritysetup-generator",
        files: &["etc/veritytab"],
        words: &["roothash", "usrhash", "systemd.verity", "veritytab"],
    },
    Known {
        name: "systemd-integritysetup-generator",
        files: &["etc/integritytab"],
        words: &["integritytab"],
    },
    Known {
        name: "systemd-rc-local-generator",
        files: &["etc/rc.local", "etc/rc.d/rc.local"],
        words: &[],
    },
    Known {
        name: "systemd-system-update-generator",
        files: &["system-update", "etc/system-update"],
        words: &[],
    },
    // It works in an initramfs only.
    Known {
        name: "systemd-hibernate-resume-generator",
        files: &[],
        words: &["resume"],
    },
];

/// It mounts partitions by the types that a GPT gives them. To see whether there is one, it looks
/// through the disk for every file system that libblkid knows: 1 MB, in 50 pieces.
const GPT_AUTO: Known = Known {
    name: "systemd-gpt-auto-generator",
    files: &[],
    words: &["root=gpt-auto", "systemd.gpt_auto", "systemd.gpt-auto"],
};

/// The generators of a root that make nothing of its files, of this command line and of its disk's
/// partitions.
pub fn idle(files: &dyn Files, cmdline: &str, table: TableKind) -> Vec<&'static str> {
    let is_there = |path: &str| files.has(path) || files.link(path).is_some();
    let said = |begin: &&str| {
        let words = cmdline.split_whitespace();
        let mut words = words.map(|word| word.strip_prefix("rd.").unwrap_or(word));
        words.any(|word| word.starts_with(begin))
    };
    let of_disk = (table == TableKind::Mbr).then_some(&GPT_AUTO);
    let idle = KNOWN.iter().chain(of_disk).filter(|known| {
        let runs = FOLDERS
            .iter()
            .any(|folder| is_there(&format!("{folder}/{}", known.name)));
        let masked = is_there(&format!("{MASKS}/{}", known.name));
        let has_work =
            known.files.iter().any(|file| is_there(file)) || known.words.iter().any(said);
        runs && !masked && !has_work
    });
    idle.map(|known| known.name).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::volume::paper::Tree;

    #[test]
    fn only_those_without_work_are_idle() {
        let generator = |name: &str| -> &'static str {
            Box::leak(format!("usr/lib/systemd/system-generators/{name}").into_boxed_str())
        };
        let mut files = BTreeMap::from([
            ("etc/rc.local", "#!/bin/sh\n"),
            (
                "etc/systemd/system-generators/systemd-veritysetup-generator",
                "->/dev/null",
            ),
        ]);
        for name in [
            "systemd-cryptsetup-generator",
            "systemd-rc-local-generator",
            "systemd-veritysetup-generator",
            "systemd-integritysetup-generator",
            "systemd-debug-generator",
            "systemd-fstab-generator",
            "systemd-gpt-auto-generator",
            "own-generator",
        ] {
            files.insert(generator(name), "x");
        }
        let tree = Tree(files);
        let found = |cmdline| idle(&tree, cmdline, TableKind::Gpt);
        let two = [
            "systemd-cryptsetup-generator",
            "systemd-integritysetup-generator",
        ];
        for cmdline in [
            "root=/dev/vda1 quiet",
            "ro single",
            "systemd.unit=own.target",
        ] {
            assert_eq!(found(cmdline), two, "{cmdline}");
        }
        assert_eq!(found("rd.luks.uuid=1"), two[1..]);

        let on_mbr = |cmdline| idle(&tree, cmdline, TableKind::Mbr);
        assert_eq!(on_mbr("quiet")[2..], ["systemd-gpt-auto-generator"]);
        assert_eq!(on_mbr("root=gpt-auto"), two);
    }
}
