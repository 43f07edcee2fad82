//! Boots that read and write disks, which QEMU by itself does in the host's time.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use bootlap_wire::stamps::StampClock;

use crate::support::{Booted, console_bytes, other_qemu, scratch, with_storage};

const SIZE: usize = 16 << 20;

/// Reads past the kernel's cache, writes until the disk has it, and reads that again.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
for module in /lib/*.ko; do /bin/busybox insmod $module; done
until [ -b /dev/NODE ]; do :; done
echo mark 1
/bin/busybox dd if=/dev/NODE of=/dev/null bs=512k count=8 iflag=direct 2>/dev/null
echo mark 2
/bin/busybox dd if=/dev/zero of=/dev/NODE bs=512k count=2 seek=1 oflag=direct conv=fsync 2>/dev/null
echo mark 3
/bin/busybox printf changed | /bin/busybox dd of=/dev/NODE bs=1 seek=3000001 conv=fsync 2>/dev/null
/bin/busybox dd if=/dev/NODE bs=64k 2>/dev/null | /bin/busybox sha256sum
echo CARD_READY
exec /bin/busybox sleep 1000
";

struct Device {
    args: &'static [&'static str],
    node: &'static str,
    modules: &'static [&'static str],
}

const VIRTIO: Device = Device {
    args: &["-device", "virtio-blk-pci,drive=disk"],
    node: "vda",
    modules: &[
        "drivers/virtio/virtio_pci_legacy_dev",
        "drivers/virtio/virtio_pci_modern_dev",
        "drivers/virtio/virtio_pci",
        "drivers/block/virtio_blk",
    ],
};
/// It puts off what it is asked to the main loop.
const NVME: Device = Device {
    args: &["-device", "nvme,serial=1,drive=disk"],
    node: "nvme0n1",
    modules: &[
        "crypto/crct10dif_common",
        "lib/crc-t10dif",
        "lib/crc64",
        "lib/crc64-rocksoft",
        "block/t10-pi",
        "drivers/nvme/host/nvme-core",
        "drivers/nvme/host/nvme",
    ],
};

const AHCI: Device = Device {
    args: &[
        "-device",
        "ich9-ahci,id=ahci",
        "-device",
        "ide-hd,drive=disk,bus=ahci.0",
    ],
    node: "sda",
    modules: &[
        "crypto/crct10dif_common",
        "lib/crc-t10dif",
        "lib/crc64",
        "lib/crc64-rocksoft",
        "block/t10-pi",
        "drivers/scsi/scsi_common",
        "drivers/scsi/scsi_mod",
        "drivers/ata/libata",
        "drivers/ata/libahci",
        "drivers/ata/ahci",
        "drivers/scsi/sd_mod",
    ],
};

const BOARD: &str = r#"
[board]
instructions-per-second = 500e6
storage-bandwidth = "20 MB/s"
storage-latency = "1 ms"
storage-write-bandwidth = "5 MB/s"
storage-flush = "8 ms"
"#;

/// What is on the disk: no two blocks alike.
fn contents() -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..SIZE).map(|_| next()).collect()
}

/// What the guest must have read in the end.
fn changed() -> Vec<u8> {
    let mut bytes = contents();
    bytes[512 << 10..1536 << 10].fill(0);
    bytes[3_000_001..][..7].copy_from_slice(b"changed");
    bytes
}

fn target(target: &Path, device: &Device) -> PathBuf {
    let drive = "file={dir}/disk,,.img,format=raw,if=none,id=disk";
    let args = [&["-drive", drive], device.args].concat();
    let init = INIT.replace("NODE", device.node);
    let text = with_storage(target, &args, device.modules, &["/dev"], &init);
    fs::write(target.join("target.toml"), text).unwrap();
    fs::write(target.join("disk,.img"), contents()).unwrap();
    target.to_owned()
}

/// The moments at which the guest printed its marks, ns.
fn marks<const N: usize>(run: &Path, clock: StampClock) -> [i64; N] {
    let bytes = console_bytes(run, clock);
    let text: Vec<u8> = bytes.iter().map(|(byte, _)| *byte).collect();
    std::array::from_fn(|n| {
        let mark = format!("mark {}", n + 1);
        let at = text.windows(6).position(|w| w == mark.as_bytes());
        bytes[at.expect("the guest printed it") + 5].1
    })
}

fn sha256(dir: &Path, bytes: &[u8]) -> String {
    let file = dir.join("to-hash");
    fs::write(&file, bytes).unwrap();
    let out = Command::new("sha256sum").arg(file).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    text.split_whitespace().next().unwrap().to_owned()
}

/// Two equal boots, in which the guest read what it must and the image stayed as it was.
fn booted(dir: &Path, target: &Path) -> Booted {
    let booted = Booted::of(dir, target, "2");
    assert_eq!(booted.json["identical"], true, "{}", target.display());
    let hash = sha256(dir, &changed());
    assert!(booted.says(&hash), "{}", booted.console);
    let image = fs::read(target.join("disk,.img")).unwrap();
    assert!(image == contents(), "the image is the user's");
    booted
}

#[test]
fn two_boots_from_a_disk_are_the_same_and_its_image_is_left_alone() {
    let dir = &scratch("disks");
    for device in [&VIRTIO, &NVME, &AHCI] {
        booted(dir, &target(&dir.join(device.node), device));
    }
}

#[test]
fn the_other_qemu_reads_disks_in_the_guests_time_too() {
    let Some(qemu) = other_qemu() else { return };
    let dir = &scratch("disks-other-qemu");
    let target = target(&dir.join("target"), &NVME);
    let file = target.join("target.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("qemu-system-aarch64", &qemu)).unwrap();
    booted(dir, &target);
}

/// Eight reads of 512 KiB, and two writes and a flush.
#[test]
fn a_disk_takes_its_latency_and_its_bytes() {
    let dir = &scratch("disks-time");
    let free = booted(dir, &target(&dir.join("free"), &VIRTIO));
    let slow = target(&dir.join("slow"), &VIRTIO);
    let file = slow.join("target.toml");
    let text = fs::read_to_string(&file).unwrap() + BOARD;
    fs::write(&file, text).unwrap();
    let slow = booted(dir, &slow);
    let free: [i64; 3] = marks(&free.run, StampClock::Simulated);
    let slow: [i64; 3] = marks(&slow.run, StampClock::Modelled);
    let [read, write] = [0, 1].map(|i| ((slow[i + 1] - slow[i]) - (free[i + 1] - free[i])) as f64);
    let takes = |requests: f64, mib: f64, rate: f64| requests * 1e6 + mib * 1048.576e6 / rate;
    for (seen, wanted) in [
        (read, takes(8.0, 4.0, 20.0)),
        (write, takes(2.0, 1.0, 5.0) + 8e6),
    ] {
        let off = seen / wanted - 1.0;
        assert!(off.abs() < 0.02, "{seen} ns, not {wanted}");
    }
}

/// Reads 4 MiB past the kernel's cache; then works; then does both at once.
const CARD_INIT: &str = "#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox insmod /lib/sunxi-mmc.ko
until [ -b /dev/mmcblk0 ]; do :; done
work() { i=0; while [ $i -lt 6000 ]; do i=$((i+1)); done; }
read_card() { /bin/busybox dd if=/dev/mmcblk0 of=/dev/null bs=512k count=8 iflag=direct 2>/dev/null; }
echo mark 1
read_card
echo mark 2
work
echo mark 3
read_card &
work
wait
echo mark 4
/bin/busybox dd if=/dev/zero of=/dev/mmcblk0 bs=512k count=2 seek=1 oflag=direct conv=fsync 2>/dev/null
/bin/busybox printf changed | /bin/busybox dd of=/dev/mmcblk0 bs=1 seek=3000001 conv=fsync 2>/dev/null
/bin/busybox dd if=/dev/mmcblk0 bs=64k 2>/dev/null | /bin/busybox sha256sum
echo CARD_READY
exec /bin/busybox sleep 1000
";

/// An Orange Pi with a card, started without its boot loader.
const CARD: &str = r#"format = 1
name = "card"
[ready]
pattern = "CARD_READY"
[machine]
kind = "qemu"
program = "qemu-system-arm"
machine = "orangepi-pc"
cpu = "cortex-a7"
cpus = 4
memory-mb = 1024
args = ["-drive", "file={dir}/disk,,.img,if=sd,format=raw"]
[packages]
architecture = "armhf"
[kernel]
image = "package:linux-image-armmp-lpae/boot/vmlinuz-*"
devicetree = "package:linux-image-armmp-lpae/usr/lib/linux-image-*/sun8i-h3-orangepi-pc.dtb"
cmdline = "console=ttyS0,115200 maxcpus=1 quiet cryptomgr.notests"
[initramfs]
tree = "initramfs"
dirs = ["/dev", "/lib"]
[initramfs.files]
"/bin/busybox" = "package:busybox-static/bin/busybox"
"/lib/sunxi-mmc.ko" = "package:linux-image-armmp-lpae/lib/modules/*/kernel/drivers/mmc/host/sunxi-mmc.ko"
"#;

#[test]
fn while_linux_waits_for_a_card_its_cpu_works() {
    let dir = &scratch("disks-card");
    let target = dir.join("card");
    let init = target.join("initramfs/init");
    fs::create_dir_all(init.parent().unwrap()).unwrap();
    fs::write(&init, CARD_INIT).unwrap();
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(target.join("target.toml"), format!("{CARD}{BOARD}")).unwrap();
    fs::write(target.join("disk,.img"), contents()).unwrap();

    let booted = booted(dir, &target);
    let marks: [i64; 4] = marks(&booted.run, StampClock::Modelled);
    let [read, work, both] = [0, 1, 2].map(|i| (marks[i + 1] - marks[i]) as f64);
    // The bytes at 20 MB/s, up to eight requests, and what the driver does between them.
    let bytes = 4.0 * 1048.576e6 / 20.0;
    assert!(
        read > bytes && read < bytes + 8e6 + 15e6,
        "{read} ns, {bytes} ns of bytes"
    );
    assert!(
        both < 0.6 * (read + work),
        "{both} ns; alone {read} and {work} ns"
    );
}
