//! What a guest reads is recorded there, read ahead, and packed together on its card.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Booted, agent, printed, scratch, with_card};

const MODULES: &str = r#"
"/bootlap-agent" = "bootlap-agent"
"/lib/4.ko" = "package:linux-image-arm64/lib/modules/*/kernel/crypto/crc32c_generic.ko"
"/lib/5.ko" = "package:linux-image-arm64/lib/modules/*/kernel/lib/crc16.ko"
"/lib/6.ko" = "package:linux-image-arm64/lib/modules/*/kernel/fs/mbcache.ko"
"/lib/7.ko" = "package:linux-image-arm64/lib/modules/*/kernel/fs/jbd2/jbd2.ko"
"/lib/8.ko" = "package:linux-image-arm64/lib/modules/*/kernel/fs/ext4/ext4.ko"

[initramfs.links]
"/bin/sh" = "busybox"
"#;

/// Each way to read the same files says what the card gave for it, and what was read.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in /lib/*.ko; do insmod $module; done
until [ -b /dev/mmcblk0 ]; do :; done
mount -t ext4 /dev/mmcblk0 /disk
forget() { sync; echo 3 >/proc/sys/vm/drop_caches; }
sectors() { awk '$3 == \"mmcblk0\" { print $6 }' /proc/diskstats; }
read_all() {
	before=$(sectors)
	sum=$(while read -r file; do cat /disk/$file; done </order | md5sum)
	echo \"$1: $(($(sectors) - before)) sectors, $sum\"
}
pack=/var/lib/bootlap/app.pack
forget
/bootlap-agent start app
read_all recorded
/bootlap-agent stop app
read_all warm
forget
/bootlap-agent replay --always $pack
read_all replayed
/bootlap-agent layout $pack
forget
read_all packed
forget
/bootlap-agent replay --always $pack
read_all again
forget
head -c 1000 $pack >/torn
/bootlap-agent replay /torn
read_all torn
echo CARD_READY
exec sleep 1000
";

const FILES: usize = 120;

/// A card of which every third file is read, in an order that it does not have.
fn card(dir: &Path) -> PathBuf {
    let (target, tree) = (dir.join("card"), dir.join("tree"));
    fs::create_dir_all(tree.join("app")).unwrap();
    let mut order = String::new();
    for at in 0..FILES {
        let name = format!("app/{:03}", at * 37 % FILES);
        fs::write(
            tree.join(&name),
            vec![b'a' + (at % 26) as u8; 9000 + at * 100],
        )
        .unwrap();
        if at % 3 == 0 {
            writeln!(order, "{name}").unwrap();
        }
    }
    let dirs = ["/dev", "/proc", "/sys", "/disk", "/var/lib"];
    let text = with_card(&target, "{dir}/disk.img", &dirs, INIT) + MODULES;
    fs::write(target.join("target.toml"), text).unwrap();
    fs::write(target.join("initramfs/order"), order).unwrap();
    fs::copy(agent("arm64"), target.join("bootlap-agent")).unwrap();
    let mut mke2fs = Command::new("/sbin/mke2fs");
    mke2fs.args(["-q", "-t", "ext4", "-d"]).arg(tree);
    printed(mke2fs.arg(target.join("disk.img")).arg("16M"));
    target
}

#[test]
fn what_was_recorded_is_there_before_it_is_read() {
    let dir = scratch("preload");
    let booted = Booted::of(&dir, &card(&dir), "2");
    assert_eq!(booted.json["identical"], true);
    let console = booted.console.replace('\r', "");
    let read = |way: &str| {
        let line = console
            .lines()
            .find_map(|line| line.strip_prefix(way)?.strip_prefix(": "));
        let (sectors, sum) = line.expect(&console).split_once(" sectors, ").unwrap();
        (sectors.parse::<u64>().unwrap(), sum.trim().to_owned())
    };
    let (_, sum) = read("recorded");
    // Of some 600 KiB all comes from the card, or nothing.
    for (way, from_card) in [
        ("recorded", true),
        ("warm", false),
        ("replayed", false),
        ("packed", true),
        ("again", false),
        ("torn", true),
    ] {
        let (sectors, same) = read(way);
        assert_eq!(sectors > 1000, from_card, "{way}: {console}");
        assert_eq!(sectors == 0, !from_card, "{way}: {console}");
        assert_eq!(same, sum, "{way}");
    }
    assert!(
        console.contains(" KiB moved: discontinuities 39 -> 0;"),
        "{console}"
    );
    assert!(console.contains("/torn is damaged"), "{console}");
}
