//! Disks as people ship them: imported, booted as they are, and without their boot loader.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::disk::{boot, disk, import};
use crate::support::{bootlap, failure, printed, root, scratch, succeeded};

#[test]
fn a_card_is_imported_booted_and_handed_over() {
    let dir = scratch("import-card");
    let card = disk("card");
    let before = bootlap_product::fingerprint(&card).unwrap();
    let found = import(&dir, &card, "card", &[]);
    assert_eq!(found["table"], "MBR");
    assert_eq!(found["architecture"], "arm64");
    assert_eq!(found["partitions"][0]["content"], "ext4");
    assert_eq!(
        found["partitions"][0]["system"],
        "Card 1 (BusyBox), BusyBox init"
    );
    let loaders: Vec<&Value> = found["loaders"].as_array().unwrap().iter().collect();
    assert_eq!(loaders.len(), 1, "{found}");
    assert_eq!(
        loaders[0]["config"],
        "partition 1: /boot/extlinux/extlinux.conf"
    );
    let how = found["starts"]["how"].as_str().unwrap();
    assert!(
        how.starts_with("U-Boot waits 5 s and starts \"Card, Linux 6"),
        "{how}"
    );
    assert_eq!(found["notes"], serde_json::json!([]));

    // U-Boot, its menu, the kernel, a login: the same twice.
    let whole = boot(&dir, "card", "2");
    assert_eq!(whole["identical"], true);
    let phases: Vec<&str> = whole["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["name"].as_str().unwrap())
        .collect();
    assert_eq!(phases, ["bootloader", "kernel", "userspace"]);

    // Its menu waits a second, the shortest that U-Boot knows, and nothing else changes.
    let mut command = bootlap(&dir);
    succeeded(command.args(["apply", "card", "loader-timeout", "-o", "short"]));
    let short = boot(&dir, "short", "1");
    let ready = |run: &Value| run["ready_ns"].as_i64().unwrap();
    let saved = ready(&whole) - ready(&short);
    assert!((saved - 4_000_000_000).abs() < 1_000_000, "{saved} ns");

    // Its initramfs, as U-Boot loads it from the disk, is packed another way.
    let mut command = bootlap(&dir);
    succeeded(command.args(["apply", "card", "initramfs-compression=none", "-o", "plain"]));
    let plain = boot(&dir, "plain", "1");
    assert!(ready(&plain) < ready(&whole));

    // The kernel alone, which the machine starts, from another bus.
    let mut command = bootlap(&dir);
    succeeded(command.args(["apply", "card", "bootloader-none", "-o", "direct"]));
    let file = dir.join("direct/target.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("image = \"disk:1:/boot/vmlinuz-6"), "{text}");
    fs::write(
        &file,
        text.replace("bus = \"virtio-blk\"", "bus = \"nvme\""),
    )
    .unwrap();
    let direct = boot(&dir, "direct", "2");
    assert_eq!(direct["identical"], true);
    // U-Boot waits for 7 s.
    assert!(ready(&direct) + 7_000_000_000 < ready(&whole));
    assert_eq!(bootlap_product::fingerprint(&card).unwrap(), before);
}

#[test]
fn a_disk_is_the_same_however_it_is_packed() {
    let dir = scratch("import-packed");
    let card = disk("card");
    let raw = import(&dir, &card, "raw", &[]);
    let packed = |program: &str, args: &[&str], name: &str| {
        let out = File::create(dir.join(name)).unwrap();
        succeeded(Command::new(program).args(args).arg(&card).stdout(out));
    };
    packed("xz", &["-0", "-c"], "card.img.xz");
    packed("gzip", &["-1", "-c"], "card.wic.gz");
    // OpenWrt's images end so.
    let mut signed = File::options()
        .append(true)
        .open(dir.join("card.wic.gz"))
        .unwrap();
    signed
        .write_all(b"{ \"metadata_version\": \"1.1\" }FWx0")
        .unwrap();
    for format in ["vmdk", "vdi", "vhdx"] {
        let to = dir.join(format!("card.{format}"));
        let mut convert = Command::new("qemu-img");
        succeeded(convert.args(["convert", "-O", format]).arg(&card).arg(to));
    }
    let mut convert = Command::new("qemu-img");
    succeeded(
        convert
            .args(["convert", "-O", "qcow2"])
            .arg(&card)
            .arg(dir.join("card.qcow2")),
    );
    // As boards' makers publish images, and as a virtual machine is exported.
    fs::write(dir.join("card.img.xz.sha256"), "no disk").unwrap();
    fs::write(dir.join("card.ovf"), "<Envelope/>").unwrap();
    let archive = |program: &str, args: &[&str]| {
        succeeded(Command::new(program).current_dir(&dir).args(args));
    };
    archive(
        "python3",
        &[
            "-m",
            "zipfile",
            "-c",
            "card.zip",
            "card.img.xz.sha256",
            "card.img.xz",
        ],
    );
    archive("tar", &["-cf", "card.ova", "card.ovf", "card.vmdk"]);
    for (name, from) in [
        ("card.zip", &["zip", "xz"][..]),
        ("card.wic.gz", &["gzip"]),
        ("card.qcow2", &["qcow2"]),
        ("card.ova", &["tar", "vmdk"]),
        ("card.vdi", &["vdi"]),
        ("card.vhdx", &["vhdx"]),
    ] {
        let mut found = import(&dir, &dir.join(name), name.split_once('.').unwrap().1, &[]);
        assert_eq!(found["unpacked_from"], serde_json::json!(from));
        let out = dir.join(name.split_once('.').unwrap().1).join("disk.img");
        let same = |path: &Path| bootlap_product::fingerprint(path).unwrap();
        assert_eq!(same(&out), same(&card), "{name}");
        for key in ["image", "unpacked_from", "target", "chosen"] {
            found[key] = raw[key].clone();
        }
        assert_eq!(found, raw);
    }
    // A folder with one disk is that disk.
    fs::create_dir(dir.join("images")).unwrap();
    fs::rename(dir.join("card.img.xz"), dir.join("images/sdcard.img.xz")).unwrap();
    let found = import(&dir, &dir.join("images"), "of-a-folder", &[]);
    assert_eq!(found["table"], "MBR");
    let said = printed(bootlap(&dir).args(["import", "images", "-o", "shown"]));
    assert!(
        said.lines().all(|line| line.chars().count() <= 80),
        "{said}"
    );
}

#[test]
fn what_cannot_be_imported_is_told_and_nothing_is_left() {
    let dir = scratch("import-hostile");
    let write = |name: &str, bytes: &[u8]| fs::write(dir.join(name), bytes).unwrap();
    let refused = |image: &str, code: i32, want: &str| {
        let said = failure(bootlap(&dir).args(["import", image, "-o", "out"]), code);
        assert!(said.contains(want), "{image}: {said}");
        assert!(!dir.join("out").exists(), "{image}");
    };
    let archive = |args: &[&str]| {
        succeeded(Command::new("tar").current_dir(&dir).args(args));
    };
    write("a.img", b"one");
    write("b.img", b"another");
    write("note.txt", b"no disk");
    archive(&["-cf", "two.tar", "a.img", "b.img"]);
    refused("two.tar", 2, "has several disks: a.img, b.img");
    archive(&["-czf", "none.tar.gz", "note.txt"]);
    refused("none.tar.gz", 4, "an archive without a disk image");
    // Disks whose contents are in another file of this host.
    let mut make = Command::new("qemu-img");
    write("shadow", &[0; 4096]);
    let backing = [
        "create",
        "-f",
        "qcow2",
        "-F",
        "raw",
        "-b",
        "shadow",
        "backed.qcow2",
    ];
    succeeded(make.current_dir(&dir).args(backing));
    refused("backed.qcow2", 4, "contents in another file");
    let mut make = Command::new("qemu-img");
    let external = "data_file=data.raw,data_file_raw=on";
    let outside = [
        "create",
        "-f",
        "qcow2",
        "-o",
        external,
        "outside.qcow2",
        "1M",
    ];
    succeeded(make.current_dir(&dir).args(outside));
    refused("outside.qcow2", 4, "contents in another file");
    write(
        "text.vmdk",
        b"# Disk DescriptorFile\nRW 2 FLAT \"/etc/shadow\" 0\n",
    );
    refused("text.vmdk", 4, "contents in another file");
    write("broken.qcow2", b"QFI\xfb\0\0\0\x03");
    refused("broken.qcow2", 4, "qemu-img cannot read it");

    write("empty.img", b"");
    refused("empty.img", 4, "which processor it is for");
    write("text.img", b"no disk at all\n");
    refused("text.img", 4, "which processor it is for");
    let mut kernel = vec![0; 4096];
    kernel[56..60].copy_from_slice(b"ARM\x64");
    write("Image", &kernel);
    refused("Image", 4, "it is a kernel, and no disk");
    refused("none.img", 2, "cannot read none.img");
    refused(".", 2, "several");
    write("cut.img.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2]);
    refused("cut.img.gz", 4, "it is damaged, or cut off (gzip");
    // 64 MiB of nothing in 64 KiB.
    let mut zeros = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    zeros.write_all(&vec![0; 64 << 20]).unwrap();
    write("zeros.img.gz", &zeros.finish().unwrap());
    refused("zeros.img.gz", 4, "which processor it is for");

    fs::create_dir(dir.join("out")).unwrap();
    let said = failure(bootlap(&dir).args(["import", "empty.img", "-o", "out"]), 2);
    assert!(said.contains("out exists already"), "{said}");
}

/// A Raspberry Pi's card: its user space starts under another kernel.
#[test]
fn user_space_starts_without_its_board() {
    let dir = scratch("import-user-space");
    let card = disk("pi");
    let mut command = bootlap(&dir);
    let said = failure(command.arg("import").arg(&card).args(["-o", "pi"]), 4);
    assert!(
        said.contains("no driver for a disk of an emulated"),
        "{said}"
    );
    assert!(said.contains("--user-space"), "{said}");
    let found = import(&dir, &card, "pi", &["--user-space"]);
    assert_eq!(found["loaders"][0]["name"], "Raspberry Pi firmware");
    let how = found["starts"]["how"].as_str().unwrap();
    assert_eq!(
        how,
        "the machine starts linux-image-arm64, and that /sbin/init"
    );
    assert!(
        found["notes"].to_string().contains("are left out"),
        "{found}"
    );
    let run = boot(&dir, "pi", "2");
    assert_eq!(run["identical"], true);
    let phases = run["phases"].as_array().unwrap().iter();
    let names: Vec<&str> = phases
        .map(|phase| phase["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["kernel", "userspace"]);
}

/// Buildroot's output for QEMU: a kernel, an initramfs, and a script that starts them.
#[test]
fn a_build_is_started_as_its_script_says() {
    use bootlap_artefact::cpio::{self, DIRECTORY, Entry, REGULAR};
    let dir = scratch("import-build");
    disk("card");
    let packages = root().join("target/disks/packages/arm64");
    let folders = fs::read_dir(&packages).unwrap();
    let mut kernels = folders.flat_map(|folder| {
        let boot = fs::read_dir(folder.unwrap().path().join("boot"));
        boot.into_iter().flatten().map(|file| file.unwrap().path())
    });
    let is_kernel = |path: &PathBuf| path.to_string_lossy().contains("/vmlinuz-");
    let kernel = kernels.find(is_kernel).unwrap();
    let images = dir.join("images");
    fs::create_dir(&images).unwrap();
    fs::copy(kernel, images.join("Image")).unwrap();
    let busybox = fs::read(packages.join("busybox-static/bin/busybox")).unwrap();
    let init = "#!/bin/busybox sh\n/bin/busybox mount -t devtmpfs dev /dev\n\
                exec /bin/busybox init >/dev/console 2>&1\n";
    let inittab = "console::respawn:/bin/busybox getty -n -l /bin/busybox 0 console\n\
                   ::once:/bin/busybox echo built and started\n";
    let entries = [
        Entry::new(&b"bin"[..], DIRECTORY | 0o755, &b""[..]),
        Entry::new(&b"dev"[..], DIRECTORY | 0o755, &b""[..]),
        Entry::new(&b"etc"[..], DIRECTORY | 0o755, &b""[..]),
        Entry::new(&b"bin/busybox"[..], REGULAR | 0o755, busybox),
        Entry::new(&b"etc/inittab"[..], REGULAR | 0o644, inittab.as_bytes()),
        Entry::new(&b"etc/os-release"[..], REGULAR | 0o644, &b"NAME=Tiny\n"[..]),
        Entry::new(&b"init"[..], REGULAR | 0o755, init.as_bytes()),
    ];
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&cpio::write(&entries).unwrap()).unwrap();
    fs::write(images.join("rootfs.cpio.gz"), packed.finish().unwrap()).unwrap();
    let script = "#!/bin/sh\nexec qemu-system-aarch64 -M virt -cpu cortex-a53 -m 256 \\\n\
                  -kernel Image -initrd rootfs.cpio.gz -append \"console=ttyAMA0 a=b\" $@\n";
    fs::write(images.join("start-qemu.sh"), script).unwrap();
    let found = import(&dir, &images, "build", &[]);
    assert_eq!(found["partitions"][0]["system"], "Tiny, BusyBox init");
    assert_eq!(found["starts"]["cmdline"], "console=ttyAMA0 a=b");
    let file = dir.join("build/target.toml");
    let text = fs::read_to_string(&file).unwrap();
    for want in [
        "cpu = \"cortex-a53\"",
        "memory-mb = 256",
        "\"../images/Image\"",
    ] {
        assert!(text.contains(want), "{want} in {text}");
    }
    assert!(!text.contains("[disk]"), "{text}");
    let ready = text.lines().find(|l| l.starts_with("pattern")).unwrap();
    let started = text.replace(ready, "pattern = \"built and started\"");
    fs::write(&file, &started).unwrap();
    assert_eq!(boot(&dir, "build", "2")["identical"], true);

    // What was to come behind it does not: a boot that is no slower is no good then.
    let later = started.replace("[ready]\n", "[ready]\nlater = \"never said\"\n");
    fs::write(&file, later).unwrap();
    let mut command = bootlap(&dir);
    let said = failure(
        command.args(["try", "build", "cmdline-quiet", "-k", "5"]),
        6,
    );
    assert!(said.contains("what has to come later did not"), "{said}");
    assert!(said.contains("never said"), "{said}");
    let list = "cmdline-initcall-blacklist=none_init,other_init";
    let reduce = ["reduce", "build", list, "-o", "list", "-k", "5"];
    let said = failure(bootlap(&dir).args(reduce), 6);
    assert!(said.contains("what has to come later did not"), "{said}");
}

/// Twenty GB of which a few MB are there.
#[test]
fn a_large_image_stays_where_it_is() {
    let dir = scratch("import-large");
    let large = dir.join("large.img");
    fs::copy(disk("card"), &large).unwrap();
    File::options()
        .write(true)
        .open(&large)
        .unwrap()
        .set_len(20 << 30)
        .unwrap();
    let found = import(&dir, &large, "large", &[]);
    assert_eq!(found["bytes"], 20_u64 << 30);
    let names = fs::read_dir(dir.join("large")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["target.toml"]);
    let text = fs::read_to_string(dir.join("large/target.toml")).unwrap();
    assert!(text.contains("image = \"../large.img\""), "{text}");
    bootlap_product::fingerprint(&large).unwrap();
}

/// The examples are what `import` says of their disks.
#[test]
fn an_example_is_what_import_writes() {
    let dir = scratch("import-examples");
    import(&dir, &disk("card"), "card", &[]);
    let written = fs::read_to_string(dir.join("card/target.toml")).unwrap();
    let example = fs::read_to_string(root().join("targets/card/target.toml")).unwrap();
    let is_image = |line: &&str| !line.starts_with("image = \"");
    let rest = |text: &str| {
        text.lines()
            .filter(is_image)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let firmware = |text: &str| {
        text.lines()
            .find(|l| l.contains("u-boot.bin"))
            .map(str::to_owned)
    };
    assert_eq!(rest(&written), rest(&example));
    assert_eq!(firmware(&written), firmware(&example));
}

/// All disks of `scripts/make-disk`, and one of them on each bus: an hour.
#[test]
#[ignore = "minutes for each disk; make test-images"]
fn every_disk_boots_twice_alike() {
    let dir = scratch("import-all");
    for name in ["card", "riscv", "router", "vm-uefi", "vm-uki", "bios"] {
        import(&dir, &disk(name), name, &[]);
        assert_eq!(boot(&dir, name, "2")["identical"], true, "{name}");
    }
    let text = fs::read_to_string(dir.join("bios/target.toml")).unwrap();
    for bus in ["virtio-scsi", "nvme", "ahci", "sd", "usb"] {
        let text = text.replace("bus = \"virtio-blk\"", &format!("bus = \"{bus}\""));
        fs::create_dir(dir.join(bus)).unwrap();
        fs::write(dir.join(bus).join("target.toml"), text).unwrap();
        assert_eq!(boot(&dir, bus, "2")["identical"], true, "{bus}");
    }
}
