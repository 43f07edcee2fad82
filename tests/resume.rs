//! bootlap-agent makes an image of a running PC, and starts from it as long as it fits.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Booted, agent, bootlap, failure, json, scratch, succeeded};

/// What `struct image_tries` begins with (agent/src/resume/image.h).
const TRIES_MAGIC: u64 = 0x7365_6972_7474_6f62;

const MODULES: [&str; 6] = [
    "drivers/virtio/virtio_ring",
    "drivers/virtio/virtio",
    "drivers/virtio/virtio_pci_legacy_dev",
    "drivers/virtio/virtio_pci_modern_dev",
    "drivers/virtio/virtio_pci",
    "drivers/block/virtio_blk",
];
const TARGET: &str = r#"
format = 1
name = "resume"

[ready]
pattern = "came back with what it had: kept|KiB of memory in |changed it|forgot it|came back from none"
timeout-s = 300

[machine]
kind = "qemu"
program = "qemu-system-x86_64"
machine = "q35"
cpu = "max"
memory-mb = 256
args = [
    "-blockdev", "driver=file,filename={dir}/image,node-name=image",
    "-device", "virtio-blk-pci,drive=image",
    "-blockdev", "driver=file,filename={dir}/root.ext4,node-name=root",
    "-device", "virtio-blk-pci,drive=root",
]

[packages]
architecture = "amd64"

[kernel]
image = "package:linux-image-cloud-amd64/boot/vmlinuz-*"
unpacked-by = "machine"
compression = "none"
cmdline = "console=ttyS0 quiet"

[initramfs]
dirs = ["/dev", "/proc", "/sys", "/root", "/m"]

[initramfs.links]
"/bin/sh" = "busybox"

[initramfs.files]
"/init" = "init"
"/bin/busybox" = "package:busybox-static/bin/busybox"
"/bin/bootlap-agent" = "bootlap-agent"
"#;
const INIT: &str = r#"#!/bin/sh
export PATH=/bin
busybox mount -t devtmpfs d /dev
exec >/dev/console 2>&1 </dev/console
busybox mount -t proc p /proc
busybox mount -t sysfs s /sys
for module in MODULES; do busybox insmod /m/$module.ko; done
busybox sync
case $(busybox cat /proc/cmdline) in
*change*)
	busybox mount -t ext4 /dev/vdb /root && busybox umount /root && echo changed it
	busybox sleep 1000
	;;
*forget*)
	bootlap-agent hibernate --forget /dev/vda && echo forgot it
	busybox sleep 1000
	;;
esac
bootlap-agent resume /dev/vda
echo cold boot
busybox mount -t ext4 /dev/vdb /root
bootlap-agent hibernate /dev/vda && echo "it was made of what may change"
busybox mount -o remount,ro /root
bootlap-agent hibernate /dev/vdb && echo "it was made over the root"
it="what it had: $(busybox cat /root/word)"
bootlap-agent hibernate /dev/vda && echo "came back with $it"
busybox sleep 1000
"#;

struct Guest {
    dir: PathBuf,
}

impl Guest {
    fn new(name: &str) -> Self {
        let dir = scratch(name);
        let target = dir.join("target");
        fs::create_dir_all(dir.join("root")).unwrap();
        fs::create_dir(&target).unwrap();
        fs::write(dir.join("root/word"), "kept").unwrap();
        fs::File::create(target.join("image"))
            .unwrap()
            .set_len(256 << 20)
            .unwrap();
        let mut make = Command::new("/sbin/mke2fs");
        let make = make.args(["-q", "-t", "ext4", "-d"]).arg(dir.join("root"));
        succeeded(make.arg(target.join("root.ext4")).arg("8M"));
        fs::copy(agent("x86-64"), target.join("bootlap-agent")).unwrap();
        let names = MODULES.map(|module| module.rsplit('/').next().unwrap());
        let modules = MODULES.map(|module| {
            let name = module.rsplit('/').next().unwrap();
            let from = "package:linux-image-cloud-amd64/lib/modules/*/kernel";
            format!("\"/m/{name}.ko\" = \"{from}/{module}.ko\"\n")
        });
        fs::write(
            target.join("target.toml"),
            TARGET.to_owned() + &modules.concat(),
        )
        .unwrap();
        let init = target.join("init");
        fs::write(&init, INIT.replace("MODULES", &names.join(" "))).unwrap();
        succeeded(Command::new("chmod").arg("755").arg(init));
        Self { dir }
    }

    fn image(&self) -> fs::File {
        let path = self.dir.join("target/image");
        fs::File::options()
            .read(true)
            .write(true)
            .open(path)
            .unwrap()
    }

    /// A boot that may write to its disks; what it said.
    fn plain(&self, more: &str) -> String {
        let mut boot = bootlap(&self.dir);
        boot.args([
            "boot", "target", "--json", "--plain", "-n", "1", "--append", more,
        ]);
        let run = self.dir.join(json(&mut boot)["run"].as_str().unwrap());
        String::from_utf8_lossy(&fs::read(run.join("console")).unwrap()).into_owned()
    }
}

#[test]
fn a_system_starts_from_its_image_as_long_as_that_fits() {
    let guest = Guest::new("resume");
    let said = guest.plain("");
    assert!(said.contains("there is no image"), "{said}");
    assert!(said.contains("/root is mounted to be written"), "{said}");
    assert!(!said.contains("made of what may change"), "{said}");
    assert!(said.contains("/dev/vdb is in use"), "{said}");

    // Any number of times, and bit for bit the same.
    let back = Booted::of(&guest.dir, Path::new("target"), "2");
    assert_eq!(back.json["identical"], true);
    assert!(
        back.says("came back with what it had: kept"),
        "{}",
        back.console
    );
    assert!(!back.says("cold boot"), "{}", back.console);

    // Without a header there is no image, as when the power goes while it is written.
    assert!(guest.plain("forget").contains("forgot it"));
    let said = guest.plain("");
    assert!(said.contains("there is no image"), "{said}");
    assert!(said.contains("cold boot"), "{said}");

    let image = guest.image();
    let mut byte = [0];
    image.read_exact_at(&mut byte, 1 << 20).unwrap();
    image.write_all_at(&[!byte[0]], 1 << 20).unwrap();
    let said = guest.plain("");
    assert!(said.contains("a block of the image is damaged"), "{said}");
    assert!(said.contains("cold boot"), "{said}");

    // It was just made anew; then the root changes.
    assert!(guest.plain("change").contains("changed it"));
    let said = guest.plain("");
    assert!(said.contains("vdb is not as it was"), "{said}");
    assert!(said.contains("cold boot"), "{said}");

    // And now one that never came back, though it fits.
    let note = |tries: u64, made: u64| {
        let numbers = [TRIES_MAGIC, tries, made].map(u64::to_le_bytes);
        image.write_all_at(&numbers.concat(), 4096).unwrap();
    };
    note(3, 1);
    let said = guest.plain("");
    assert!(said.contains("did not come back three times"), "{said}");
    assert!(said.contains("cold boot"), "{said}");

    // A machine that comes back from no image stops making them, until it is told to.
    note(3, 3);
    let said = guest.plain("");
    assert!(said.contains("three images were made"), "{said}");
    assert!(!said.contains("KiB of memory"), "{said}");
    assert!(guest.plain("forget").contains("forgot it"));
    let said = guest.plain("");
    assert!(said.contains("KiB of memory"), "{said}");
}

/// A root of which a first boot makes an image, in a file on itself.
const FILE_INIT: &str = r#"#!/bin/sh
export PATH=/bin
busybox mount -t devtmpfs d /dev
exec >/dev/console 2>&1 </dev/console
busybox mount -t proc p /proc
busybox mount -t sysfs s /sys
for module in MODULES; do busybox insmod /m/$module.ko; done
busybox mount -t ext4 -o ro /dev/vda /root
bootlap-agent resume /root/var/image
bootlap-agent overlay /root
echo written >/root/new
bootlap-agent hibernate --reboot /root/media/root-ro/var/image &&
	echo came back with $(busybox cat /root/new /root/word /root/media/root-ro/word)
busybox poweroff -f
"#;

#[test]
fn a_first_boot_makes_the_image_that_the_measured_ones_start_from() {
    let guest = Guest::new("resume-first-boot");
    let target = guest.dir.join("target");
    let file = target.join("target.toml");
    let text = fs::read_to_string(&file).unwrap();
    let (start, rest) = text.split_once("args = [").unwrap();
    let (_, rest) = rest.split_once("]\n").unwrap();
    let overlay = "\"/m/overlay.ko\" = \
                   \"package:linux-image-cloud-amd64/lib/modules/*/kernel/fs/overlayfs/overlay.ko\"\n";
    let pattern = text.split_once("pattern = \"").unwrap().1;
    let pattern = pattern.split_once('"').unwrap().0;
    let text = format!("{start}{rest}{overlay}").replace(pattern, "written keptkept");
    let disk = "\n[disk]\nimage = \"root.ext4\"\nstate = \"after-first-boot\"\n\n\
                [disk.room]\n\"0:/var/image\" = 40\n";
    fs::write(&file, text + disk).unwrap();
    let mut names: Vec<&str> = MODULES
        .iter()
        .map(|m| m.rsplit('/').next().unwrap())
        .collect();
    names.push("overlay");
    fs::write(
        target.join("init"),
        FILE_INIT.replace("MODULES", &names.join(" ")),
    )
    .unwrap();
    let mut make = Command::new("/sbin/mke2fs");
    let make = make
        .args(["-q", "-t", "ext4", "-d"])
        .arg(guest.dir.join("root"));
    let image = target.join("root.ext4");
    fs::remove_file(&image).unwrap();
    succeeded(make.arg(&image).arg("60M"));
    let before = fs::read(&image).unwrap();

    let back = Booted::of(&guest.dir, Path::new("target"), "2");
    assert_eq!(back.json["identical"], true);
    assert!(back.says("came back with written"), "{}", back.console);
    assert!(!back.says("the boot goes on"), "{}", back.console);
    assert!(
        fs::read(&image).unwrap() == before,
        "the image is the user's"
    );
    let run = guest.dir.join(back.json["run"].as_str().unwrap());
    // Whichever of the two came first made it.
    let mut both = ["1", "2"].map(|boot| run.with_file_name(boot)).into_iter();
    let first = both.find_map(|boot| fs::read(boot.join("first-boot/console")).ok());
    let first = first.unwrap();
    let first = String::from_utf8_lossy(&first).into_owned();
    assert!(first.contains("KiB of memory in "), "{first}");

    // It was made once; one that goes on instead of ending is none.
    let again = Booted::of(&guest.dir, Path::new("target"), "1");
    assert!(
        !guest
            .dir
            .join(again.json["run"].as_str().unwrap())
            .join("first-boot")
            .exists()
    );
    let init = fs::read_to_string(target.join("init")).unwrap();
    fs::write(
        target.join("init"),
        init.replace("bootlap-agent hibernate", "exit; true"),
    )
    .unwrap();
    let why = failure(bootlap(&guest.dir).args(["boot", "target"]), 4);
    assert!(why.contains("a first boot is over when"), "{why}");
    let why = failure(bootlap(&guest.dir).args(["boot", "target", "--plain"]), 4);
    assert!(why.contains("leave out --plain"), "{why}");
}

#[test]
fn an_image_is_advised_where_its_boot_is_over_as_the_user_says() {
    let dir = scratch("resume-advised");
    let log = "[    0.000000] Linux version 6.6.0\n\
               [    0.100000] Memory: 120000K/131072K available (8192K kernel code)\n\
               [    2.000000] VFS: Mounted root (squashfs filesystem) readonly on device 179:2.\n\
               [    2.100000] Run /sbin/init as init process\n\
               [   21.100000] camera: shows a picture\n";
    fs::write(dir.join("dmesg.txt"), log).unwrap();
    let advised = |more: &[&str]| {
        let all = json(
            bootlap(&dir)
                .args(["advise", "--json", "dmesg.txt"])
                .args(more),
        );
        let findings = all["findings"].as_array().unwrap();
        findings
            .iter()
            .any(|finding| finding["rule"] == "resume-image")
    };
    assert!(!advised(&[]), "nobody knows when it was over");
    assert!(advised(&["--ready", "shows a picture"]));
}
