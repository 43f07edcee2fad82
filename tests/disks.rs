//! Boots that read and write disks, which QEMU by itself does in the host's time.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use bootlap_model::{ClockKind, Evidence, Timeline};
use bootlap_wire::stamps::{Begun, ProbeMark, Reader, Record, StampClock};

use crate::support::{
    Booted, bootlap, console_bytes, json, other_qemu, scratch, succeeded, with_storage,
};

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

/// How long the CPU waited for disks up to each moment, ns.
fn waited<const N: usize>(run: &Path, clock: StampClock, at: [i64; N]) -> [f64; N] {
    let file = fs::File::open(run.join("console.stamps")).unwrap();
    let mut timeline = Timeline::default();
    let of = timeline.add_file("console", "stamps");
    let wire = timeline.add_clock(ClockKind::QemuVirtual, of);
    let mut begun = None;
    let mut waits = vec![(0, 0)];
    for record in Reader::new(std::io::BufReader::new(file)).unwrap() {
        match record.unwrap() {
            Record::Mark {
                at,
                mark: ProbeMark::Request,
            } => begun = Some(Begun::new(wire, at)),
            Record::Detail {
                first,
                second,
                code,
            } => {
                let begun = begun.as_mut().unwrap();
                let request = begun.detail((first, second, code), Evidence::whole(of, 0));
                waits.extend(request.map(|request| (request.done.ns, request.waited_ns)));
            }
            _ => {}
        }
    }
    assert!(clock == StampClock::Modelled || waits.iter().all(|wait| wait.1 == 0));
    assert!(waits.is_sorted(), "{waits:?}");
    at.map(|at| waits.iter().rfind(|wait| wait.0 <= at).unwrap().1 as f64)
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
    waited(&free.run, StampClock::Simulated, [0]);
    let run = slow.run.clone();
    let free: [i64; 3] = marks(&free.run, StampClock::Simulated);
    let slow_marks: [i64; 3] = marks(&slow.run, StampClock::Modelled);
    let passed = |i: usize| slow_marks[i + 1] - slow_marks[i];
    let [read, write] = [0, 1].map(|i| (passed(i) - (free[i + 1] - free[i])) as f64);
    let takes = |requests: f64, mib: f64, rate: f64| requests * 1e6 + mib * 1048.576e6 / rate;
    for (seen, wanted) in [
        (read, takes(8.0, 4.0, 20.0)),
        (write, takes(2.0, 1.0, 5.0) + 8e6),
    ] {
        let off = seen / wanted - 1.0;
        assert!(off.abs() < 0.02, "{seen} ns, not {wanted}");
    }
    let waited = waited(&run, StampClock::Modelled, slow_marks);
    let off = (waited[1] - waited[0]) / takes(8.0, 4.0, 20.0) - 1.0;
    assert!(off.abs() < 0.02, "the CPU waited {waited:?} ns");
    let shown = json(bootlap(dir).args(["show", run.to_str().unwrap(), "--json"]));
    let disks = &shown["disks"];
    assert!(disks["read_bytes"].as_u64() >= Some(20 << 20), "{disks}");
    assert!(disks["written_bytes"].as_u64() >= Some(1 << 20), "{disks}");
    assert!(disks["waited_ns"].as_f64() >= Some(waited[2]), "{disks}");
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
    let waited = waited(&booted.run, StampClock::Modelled, marks);
    let [alone, beside] = [0, 2].map(|i| waited[i + 1] - waited[i]);
    assert!(alone > 0.9 * bytes && beside < 0.3 * bytes, "{waited:?}");
}

/// Reads two files whole and a third's beginning.
const FILES_INIT: &str = "#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
for module in /lib/*.ko; do /bin/busybox insmod $module; done
until [ -b /dev/vda ]; do :; done
/bin/busybox mount -t ext4 -o ro /dev/vda /mnt
/bin/busybox cat /mnt/srv/last /mnt/first >/dev/null
/bin/busybox dd if=/mnt/large of=/dev/null bs=4k count=1 2>/dev/null
echo CARD_READY
exec /bin/busybox sleep 1000
";

/// Nothing runs on the target that would say it.
#[test]
fn the_files_that_a_boot_reads_are_named() {
    let dir = &scratch("disks-files");
    let modules = [
        VIRTIO.modules,
        &["crypto/crc32c_generic", "lib/crc16", "fs/mbcache"],
        &["fs/jbd2/jbd2", "fs/ext4/ext4"],
    ]
    .concat();
    let target = dir.join("target");
    let text = with_storage(&target, &[], &modules, &["/dev", "/mnt"], FILES_INIT);
    let disk = "\n[disk]\nimage = \"disk.img\"\nbus = \"virtio-blk\"\n";
    fs::write(target.join("target.toml"), text + disk + BOARD).unwrap();
    let tree = dir.join("tree");
    fs::create_dir_all(tree.join("srv")).unwrap();
    for (name, length) in [("srv/last", 70_000), ("first", 9_000), ("large", 4 << 20)] {
        fs::write(tree.join(name), &contents()[..length]).unwrap();
    }
    let made = Command::new("mke2fs")
        .args(["-q", "-t", "ext4", "-d"])
        .args([&tree, &target.join("disk.img")])
        .arg("16M")
        .output();
    assert!(made.unwrap().status.success());

    let booted = Booted::of(dir, &target, "1");
    let run = booted.run.to_str().unwrap();
    let shown = json(bootlap(dir).args(["show", run, "--by", "files", "--json"]));
    let of = |name: &str| {
        let rows = shown["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["file"] == name);
        row.unwrap_or_else(|| panic!("{name}: {shown}")).clone()
    };
    let (last, first, large) = (of("0:/srv/last"), of("0:/first"), of("0:/large"));
    for (row, size) in [(&last, 70_000), (&first, 9_000)] {
        assert_eq!(row["size"], size, "{row}");
        let blocks = u64::next_multiple_of(size, 1024);
        let read = row["read_bytes"].as_u64().unwrap();
        assert!(read >= blocks && read < blocks + 4096, "{row}");
    }
    assert!(large["read_bytes"].as_u64() < Some(1 << 20), "{large}");
    assert!(last["first_ns"].as_i64() < first["first_ns"].as_i64());

    succeeded(bootlap(dir).args(["layout", run, "--for", "preload", "-o", "reads.txt"]));
    let list = fs::read_to_string(dir.join("reads.txt")).unwrap();
    assert_eq!(list, "/srv/last\n/first\n");

    let text = fs::read(target.join("disk.img")).unwrap();
    fs::write(target.join("disk.img"), text).unwrap();
    let refused = bootlap(dir)
        .args(["show", run, "--by", "files"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("was changed since this boot"), "{said}");
}
