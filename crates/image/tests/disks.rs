//! Disks that the ordinary tools make (sfdisk, mkfs.vfat, mcopy, mke2fs), read back.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use bootlap_image::plan::{Firmware, Plan, Source, Wish};
use bootlap_image::table::{self, TableKind};
use bootlap_image::volume::{Volume, copied};
use bootlap_image::{Found, Handover, Window};

fn run(program: &str, args: &[&str], input: &str) {
    let mut command = Command::new(program);
    // These are in no ordinary user's path.
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{path}:/sbin:/usr/sbin"));
    let child = command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap_or_else(|e| panic!("{program}: {e}"));
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program} {args:?}: {said}");
}

fn window(path: &Path) -> Window {
    let file = File::open(path).unwrap();
    let bytes = file.metadata().unwrap().len();
    Window::all(Rc::new(file), bytes)
}

fn sized(dir: &Path, name: &str, bytes: u64) -> PathBuf {
    let path = dir.join(name);
    File::create(&path).unwrap().set_len(bytes).unwrap();
    path
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What stands at these places, as far as it is a file's.
fn together(window: &Window, places: &[std::ops::Range<u64>], bytes: usize) -> Vec<u8> {
    let piece = |place: &std::ops::Range<u64>| {
        let length = usize::try_from(place.end - place.start).unwrap();
        window.up_to(place.start, length).unwrap()
    };
    let mut all: Vec<u8> = places.iter().flat_map(piece).collect();
    all.truncate(bytes);
    all
}

/// A FAT of this width with files, some with long names in deep folders.
fn fat(dir: &Path, width: &str, bytes: u64, content: &[u8]) -> PathBuf {
    let path = sized(dir, &format!("fat{width}.img"), bytes);
    let args = ["-F", width, "-n", "ESP", "-i", "1234abcd", text(&path)];
    run("mkfs.vfat", &args, "");
    fs::write(dir.join("content"), content).unwrap();
    for folder in ["::/EFI", "::/EFI/BOOT", "::/loader"] {
        run("mmd", &["-i", text(&path), folder], "");
    }
    let from = dir.join("content");
    for (from, to) in [
        (from.as_path(), "::/EFI/BOOT/BOOTX64.EFI"),
        (
            &from,
            "::/loader/A rather long name that needs several entries.conf",
        ),
        (Path::new("/dev/null"), "::/empty.txt"),
    ] {
        run("mcopy", &["-i", text(&path), text(from), to], "");
    }
    path
}

#[test]
fn fat_of_each_width_is_read() {
    let dir = tempfile::tempdir().unwrap();
    // Longer than a few clusters, and not a whole number of them.
    let content: Vec<u8> = (0..70_001u32).map(|n| (n * 7 + n / 256) as u8).collect();
    for (width, bytes) in [("12", 2 << 20), ("16", 20 << 20), ("32", 80 << 20)] {
        let path = fat(dir.path(), width, bytes, &content);
        let volume = Volume::of(&window(&path));
        assert_eq!(
            (volume.kind, volume.uuid.as_str()),
            ("vfat", "1234-ABCD"),
            "{width}"
        );
        assert_eq!(volume.label, "ESP");
        let files = volume.files.unwrap();
        assert_eq!(files.list("").unwrap(), ["EFI", "empty.txt", "loader"]);
        assert_eq!(
            files.read("/efi/boot/bootx64.efi", 1 << 20).unwrap(),
            content
        );
        let long = "loader/A rather long name that needs several entries.conf";
        assert_eq!(files.read(long, 1 << 20).unwrap(), content);
        assert_eq!(files.read(long, 10).unwrap(), content[..10]);
        assert_eq!(files.read("empty.txt", 10).unwrap(), b"");
        let places = files.place(long).unwrap();
        assert_eq!(together(&window(&path), &places, content.len()), content);
        assert_eq!(files.place("empty.txt").unwrap(), []);
        assert!(files.read("loader", 10).is_err() && files.read("none", 10).is_err());
        assert!(files.list("empty.txt").is_err());
    }
}

#[test]
fn an_ext_that_speaks_of_too_many_groups_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = sized(dir.path(), "root.img", 16 << 20);
    run("mke2fs", &["-q", "-t", "ext2", text(&path)], "");
    let mut bytes = fs::read(&path).unwrap();
    bytes[1024 + 4..1024 + 8].fill(0xff);
    bytes[1024 + 0x20..1024 + 0x24].copy_from_slice(&8_u32.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let found = Found::of(&window(&path));
    let trouble = found.volumes[0].trouble.as_deref().unwrap();
    assert!(
        trouble.contains("536870912 block groups"),
        "it says {trouble}"
    );
}

#[test]
fn ext_with_links_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("tree");
    fs::create_dir_all(tree.join("etc")).unwrap();
    fs::create_dir_all(tree.join("usr/lib/systemd")).unwrap();
    fs::create_dir_all(tree.join("sbin")).unwrap();
    fs::write(tree.join("usr/lib/os-release"), "PRETTY_NAME=\"Tiny 1\"\n").unwrap();
    fs::write(tree.join("usr/lib/systemd/systemd"), "x").unwrap();
    std::os::unix::fs::symlink("../usr/lib/os-release", tree.join("etc/os-release")).unwrap();
    std::os::unix::fs::symlink("/usr/lib/systemd/systemd", tree.join("sbin/init")).unwrap();
    std::os::unix::fs::symlink("../../../../../etc/passwd", tree.join("etc/up")).unwrap();
    for kind in ["ext2", "ext3", "ext4"] {
        let path = sized(dir.path(), "root.img", 16 << 20);
        run(
            "mke2fs",
            &[
                "-q",
                "-t",
                kind,
                "-L",
                "root",
                "-d",
                text(&tree),
                text(&path),
            ],
            "",
        );
        let found = Found::of(&window(&path));
        assert_eq!(found.table.kind, TableKind::None);
        assert_eq!(
            (found.volumes[0].kind, found.volumes[0].label.as_str()),
            (kind, "root")
        );
        assert_eq!(found.systems[0].name, "Tiny 1");
        assert_eq!(found.systems[0].init.name(), "systemd");
        let files = found.files(0).unwrap();
        assert_eq!(
            files.text("etc/os-release").unwrap(),
            "PRETTY_NAME=\"Tiny 1\"\n"
        );
        let release = "usr/lib/os-release";
        let places = files.place(release).unwrap();
        let content = files.read(release, 4096).unwrap();
        assert_eq!(together(&window(&path), &places, content.len()), content);
        assert!(files.place("etc/os-release").is_err() && files.place("usr").is_err());
        // The host has this file, the image has not.
        assert!(!files.has("etc/up"));
    }
}

#[test]
fn squashfs_with_links_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("tree");
    fs::create_dir_all(tree.join("usr/lib/deep/er")).unwrap();
    fs::create_dir_all(tree.join("etc")).unwrap();
    let release = "PRETTY_NAME=\"Router 1\"\n".repeat(1000);
    fs::write(tree.join("usr/lib/os-release"), &release).unwrap();
    fs::write(tree.join("usr/lib/deep/er/file"), "x").unwrap();
    fs::create_dir(tree.join("usr/sbin")).unwrap();
    fs::write(tree.join("usr/sbin/procd"), "x").unwrap();
    fs::write(tree.join("usr/sbin/init"), "x").unwrap();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, tree.join(at)).unwrap();
    link("../usr/lib/os-release", "etc/os-release");
    link("usr/sbin", "sbin");
    link("/etc/loop", "etc/loop");
    link("../../../../../etc/passwd", "etc/up");
    for packer in ["gzip", "xz", "zstd", "lz4", "lzma"] {
        let path = dir.path().join(packer);
        let options = ["-noappend", "-quiet", "-no-progress", "-comp", packer];
        run(
            "mksquashfs",
            &[&[text(&tree), text(&path)], &options[..]].concat(),
            "",
        );
        let found = Found::of(&window(&path));
        assert_eq!(
            found.volumes[0].kind, "squashfs",
            "{:?}",
            found.volumes[0].trouble
        );
        assert_eq!(found.systems[0].name, "Router 1");
        assert_eq!(found.systems[0].init.name(), "procd");
        let files = found.files(0).unwrap();
        assert_eq!(files.text("/etc/os-release").unwrap(), release);
        assert_eq!(files.read("etc/os-release", 5).unwrap(), b"PRETT");
        assert_eq!(files.list("usr/lib").unwrap(), ["deep", "os-release"]);
        assert_eq!(files.list("").unwrap(), ["etc", "sbin", "usr"]);
        assert_eq!(files.link("sbin").as_deref(), Some("usr/sbin"));
        assert!(!files.has("etc/loop") && !files.has("etc/up") && !files.has("usr"));
        // A part of it is no file system.
        let bytes = fs::read(&path).unwrap();
        let used = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
        let cut = Window::all(Rc::new(bytes), used / 2);
        assert!(Volume::of(&cut).trouble.is_some());
    }
}

/// A card for a board: U-Boot finds a script on it, and what that starts is not known.
#[test]
fn a_script_for_uboot_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("tree");
    fs::create_dir_all(tree.join("boot")).unwrap();
    fs::create_dir_all(tree.join("sbin")).unwrap();
    fs::write(tree.join("boot/boot.scr"), "script").unwrap();
    let mut arm64 = b"\x7fELF\x02\x01\x01".to_vec();
    arm64.resize(64, 0);
    arm64[18] = 183;
    fs::write(tree.join("sbin/init"), &arm64).unwrap();
    let path = sized(dir.path(), "root.img", 16 << 20);
    run(
        "mke2fs",
        &["-q", "-t", "ext4", "-d", text(&tree), text(&path)],
        "",
    );
    let found = Found::of(&window(&path));
    assert_eq!(found.loaders[0].name, "U-Boot script");
    assert!(
        found.loaders[0].entries.is_empty(),
        "mkimage did not make it"
    );
    let plan = Plan::of(&found, None, None).unwrap();
    assert!(matches!(plan.firmware, Firmware::Uboot(_)), "{plan:?}");
    let told = plan
        .unknown
        .iter()
        .any(|note| note.contains("/boot/boot.scr"));
    assert!(told, "{:?}", plan.unknown);
    let space = Plan::of(&found, Some(Wish::UserSpace), None).unwrap();
    let kernel = space.kernel.unwrap();
    assert!(
        kernel.cmdline.contains("root=/dev/vda "),
        "{}",
        kernel.cmdline
    );
}

const SCRIPT: &str = r#"
# What the board does not say.
test -n "${kernel_addr_r}" || setenv kernel_addr_r 0x1000
setenv load_addr "0x9000000"
setenv rootdev /dev/mmcblk0p1
setenv extra "verbose"; setenv bootlogo "false"
if test "${devtype}" = "mmc" && test "${devnum}" != "0"; then
	setenv rootdev /dev/other
fi
if test -e ${devtype} ${devnum} ${prefix}board.txt; then
	load ${devtype} ${devnum} ${load_addr} ${prefix}board.txt
	env import -t ${load_addr} ${filesize}
fi
if test "${bootlogo}" = "true"; then setenv consoleargs splash
elif test "${console}" = "both" || test "${console}" = "serial"; then
	setenv consoleargs "console=ttyS2,1500000"
else setenv consoleargs "console=none"; fi
part uuid ${devtype} ${devnum}:${distro_bootpart} uuid
setenv bootargs "root=${rootdev} \
part=${uuid} ${consoleargs} baud=${baudrate} ${extra}"
for file in ${overlays}; do
	if load ${devtype} ${devnum} ${load_addr} ${prefix}overlays/${file}.dtbo; then
		setenv bootargs "${bootargs} with=${file}"
	fi
done
load ${devtype} ${devnum} ${ramdisk_addr_r} ${prefix}uInitrd
load mmc 0:7 ${kernel_addr_r} ${prefix}Image || load ${devtype} ${devnum} ${kernel_addr_r} ${prefix}none || load ${devtype} ${devnum} ${kernel_addr_r} ${prefix}Image
load ${devtype} ${devnum} ${fdt_addr_r} ${prefix}dtb/${fdtfile}
if test ! "${board_name}" = "evb"; then booti 0x2 -; fi
run start
booti 0x1 -
"#;
const OF_BOARD: &str = "console=both\noverlays=spi i2c\nrootdev=UUID=01234567-89ab-cdef-0123-456789abcdef\n\
    start=booti ${kernel_addr_r} ${ramdisk_addr_r}:${filesize} ${fdt_addr_r}\n";

/// A script as cards for boards have it, with a text of what the board's owner chose.
#[test]
fn a_script_for_uboot_is_run_on_paper() {
    let dir = tempfile::tempdir().unwrap();
    let boot = dir.path().join("tree/boot");
    fs::create_dir_all(boot.join("overlays")).unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("boot.cmd"), SCRIPT).unwrap();
    fs::write(at("initrd"), "an initramfs").unwrap();
    fs::write(boot.join("board.txt"), OF_BOARD).unwrap();
    fs::write(boot.join("overlays/i2c.dtbo"), "").unwrap();
    let mut image = vec![0; 4096];
    image[56..60].copy_from_slice(b"ARM\x64");
    fs::write(boot.join("Image"), &image).unwrap();
    for (kind, from, to) in [
        ("script", "boot.cmd", "boot.scr"),
        ("ramdisk", "initrd", "uInitrd"),
    ] {
        let (from, to) = (at(from), boot.join(to));
        let args = ["-A", "arm64", "-O", "linux", "-C", "none", "-T", kind, "-d"];
        run(
            "mkimage",
            &[&args[..], &[text(&from), text(&to)]].concat(),
            "",
        );
    }
    let path = sized(dir.path(), "card.img", 24 << 20);
    let root = at("root.img");
    let uuid = "01234567-89ab-cdef-0123-456789abcdef";
    let tree = at("tree");
    let args = [
        "-q",
        "-t",
        "ext4",
        "-U",
        uuid,
        "-d",
        text(&tree),
        text(&root),
        "16M",
    ];
    run("mke2fs", &args, "");
    let table = "label: dos\nlabel-id: 0xabcdef12\nstart=8192, type=83\n";
    run("sfdisk", &["-q", text(&path)], table);
    let card = File::options().write(true).open(&path).unwrap();
    card.write_all_at(&fs::read(&root).unwrap(), 8192 * 512)
        .unwrap();

    let found = Found::of(&window(&path));
    let (loader, entry) = found.default().unwrap();
    assert_eq!(loader.name, "U-Boot script");
    assert_eq!(entry.kernel, "/boot/Image");
    let asked = loader.guess.as_deref();
    assert_eq!(asked, Some("test ! ${board_name} = evb"));
    assert_eq!(entry.initramfs, ["/boot/uInitrd"]);
    // Which device tree it takes, and how fast its console is, the board knows.
    assert_eq!(entry.devicetree, "");
    assert_eq!(
        entry.cmdline,
        format!("root=UUID={uuid} part=abcdef12-01 console=ttyS2,1500000 verbose with=i2c")
    );
    let plan = Plan::of(&found, None, None).unwrap();
    assert_eq!(plan.firmware, Firmware::None, "its console is another");
    let handover = Handover::of(&found).unwrap();
    assert_eq!(handover.kernel, "1:/boot/Image");
    assert_eq!(handover.initramfs, ["1:/boot/uInitrd#image"]);
    assert_eq!(
        found.named(&handover.initramfs[0]).unwrap(),
        b"an initramfs"
    );
}

/// A root in a subvolume of btrfs, whose files somebody else has read.
#[test]
fn what_others_read_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("tree");
    for folder in ["boot/grub", "sbin", "usr/lib"] {
        fs::create_dir_all(tree.join(folder)).unwrap();
    }
    let entry = "menuentry 'A' {\n linux /@/boot/vmlinuz ro rootflags=subvol=@,compress=zstd\n}\n";
    fs::write(tree.join("boot/grub/grub.cfg"), entry).unwrap();
    fs::write(tree.join("boot/vmlinuz"), "kernel").unwrap();
    let mut arm64 = b"\x7fELF\x02\x01\x01".to_vec();
    arm64.resize(64, 0);
    arm64[18] = 183;
    fs::write(tree.join("sbin/init"), &arm64).unwrap();
    let copy = dir.path().join("copy");
    run("mksquashfs", &[text(&tree), text(&copy), "-quiet"], "");
    let mut btrfs = vec![0; 1 << 20];
    btrfs[0x1_0040..0x1_0048].copy_from_slice(b"_BHRfS_M");
    let disk = Window::all(Rc::new(btrfs), 1 << 20);
    let found = Found::with(&disk, &|_| Some(copied(&window(&copy))));
    assert_eq!(found.volumes[0].kind, "btrfs");
    let files = found.files(0).unwrap();
    assert_eq!(files.read("/@/boot/vmlinuz", 9).unwrap(), b"kernel");
    assert_eq!(files.list("@").unwrap(), ["boot", "sbin", "usr"]);
    assert!(files.place("boot/vmlinuz").is_err());
    let plan = Plan::of(&found, Some(Wish::UserSpace), None).unwrap();
    let kernel = plan.kernel.unwrap();
    assert!(!kernel.cmdline.contains("rootflags"), "{}", kernel.cmdline);
    let Source::Package(_, early) = kernel.from else {
        panic!("{:?}", kernel.from)
    };
    assert_eq!(early.flags, "ro,subvol=@,compress=zstd");
    // Why they cannot be read stands where nothing else is known.
    let unread = Found::with(&disk, &|_| Some(Err("no QEMU".to_owned())));
    let why = Plan::of(&unread, None, None).unwrap_err();
    assert!(why.ends_with("; btrfs: no QEMU"), "{why}");
}

#[test]
fn tables_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let disk = sized(dir.path(), "disk.img", 64 << 20);
    let layout = "label: gpt\nlabel-id: 01234567-89AB-CDEF-0123-456789ABCDEF\n\
                  start=2048, size=16384, type=uefi, name=\"the ESP\", \
                  uuid=11111111-2222-3333-4444-555555555555\n\
                  start=20480, size=4096, type=21686148-6449-6E6F-744E-656564454649\n\
                  start=32768, type=linux, name=root\n";
    run("sfdisk", &["-q", text(&disk)], layout);
    let gpt = table::read(&window(&disk));
    assert_eq!(gpt.kind, TableKind::Gpt);
    let first = &gpt.partitions[0];
    assert_eq!((first.start, first.bytes), (2048 * 512, 16384 * 512));
    assert_eq!(first.name, "the ESP");
    assert_eq!(first.partuuid, "11111111-2222-3333-4444-555555555555");
    assert!(gpt.partitions[1].bios_boot && !first.bios_boot);
    let numbers: Vec<u32> = gpt.partitions.iter().map(|p| p.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(gpt.odd, [""; 0]);

    // Cut off, as a download can be.
    File::options()
        .write(true)
        .open(&disk)
        .unwrap()
        .set_len(20 << 20)
        .unwrap();
    let cut = table::read(&window(&disk));
    assert!(
        cut.odd[0].contains("ends behind the image"),
        "{:?}",
        cut.odd
    );
    assert_eq!(cut.partitions[2].bytes, (20 << 20) - 32768 * 512);

    let disk = sized(dir.path(), "mbr.img", 64 << 20);
    let layout = "label: dos\nlabel-id: 0x12345678\nstart=2048, size=2048, type=c, bootable\n\
                  start=4096, size=40960, type=5\nstart=6144, size=2048, type=83\n\
                  start=10240, size=4096, type=83\n";
    run("sfdisk", &["-q", text(&disk)], layout);
    let mbr = table::read(&window(&disk));
    assert_eq!(mbr.kind, TableKind::Mbr);
    let parts: Vec<_> = mbr
        .partitions
        .iter()
        .map(|p| (p.number, p.start / 512, p.bytes / 512))
        .collect();
    assert_eq!(parts, [(1, 2048, 2048), (5, 6144, 2048), (6, 10240, 4096)]);
    assert_eq!(mbr.partitions[1].partuuid, "12345678-05");

    // The same as an image for CDs and sticks, whose files begin where the disk does.
    let file = File::options().write(true).open(&disk).unwrap();
    file.write_all_at(b"\x01CD001", 0x8000).unwrap();
    let iso = table::read(&window(&disk));
    assert!(iso.iso && !mbr.iso);
    let parts: Vec<_> = iso.partitions.iter().map(|p| (p.number, p.start)).collect();
    assert_eq!(parts[..2], [(0, 0), (1, 2048 * 512)]);
    assert_eq!(iso.odd, [""; 0]);
}

/// lvm2's own beginning of a physical volume, with a file system where its `root` lies.
#[test]
fn a_root_on_lvm_is_read_like_one_on_a_partition() {
    const MIB: u64 = 1 << 20;
    let dir = tempfile::tempdir().unwrap();
    let disk = sized(dir.path(), "disk.img", 1000 * MIB);
    run(
        "sfdisk",
        &["-q", text(&disk)],
        "label: dos\nstart=2048, type=8e\n",
    );
    let packed = &include_bytes!("../src/lvm/testdata/pv.gz")[..];
    let mut physical = Vec::new();
    let mut unpack = flate2::read::GzDecoder::new(packed);
    unpack.read_to_end(&mut physical).unwrap();
    let file = File::options().write(true).open(&disk).unwrap();
    file.write_all_at(&physical, MIB).unwrap();
    let tree = dir.path().join("tree");
    fs::create_dir_all(tree.join("etc")).unwrap();
    fs::write(tree.join("etc/os-release"), "PRETTY_NAME=\"On LVM\"\n").unwrap();
    let menu = "LABEL one\n LINUX /vmlinuz\n";
    fs::create_dir(tree.join("extlinux")).unwrap();
    fs::write(tree.join("extlinux/extlinux.conf"), menu).unwrap();
    std::os::unix::fs::symlink(".", tree.join("boot")).unwrap();
    let uuid = "01234567-89ab-cdef-0123-456789abcdef";
    let offset = format!("offset={}", 2 * MIB);
    let args = [
        "-q",
        "-t",
        "ext4",
        "-U",
        uuid,
        "-E",
        &offset,
        "-d",
        text(&tree),
        text(&disk),
        "8M",
    ];
    run("mke2fs", &args, "");

    let found = Found::of(&window(&disk));
    let numbers: Vec<(u32, &str)> = found
        .table
        .partitions
        .iter()
        .map(|p| (p.number, p.name.as_str()))
        .collect();
    let want = [
        (1, ""),
        (1001, "debian-vg/root"),
        (1002, "debian-vg/var-log"),
        (1003, "debian-vg/tail"),
    ];
    assert_eq!(numbers, want);
    let said = "the logical volume debian-vg/swap_1 is not read: it does not lie in one piece on this \
                disk";
    assert_eq!(found.table.odd[0], said);
    assert_eq!(found.table.odd.len(), 2);
    let release = found.files(1).unwrap().text("etc/os-release").unwrap();
    assert!(release.contains("On LVM"), "{release}");
    // What changes it needs the file itself, and not a path over links.
    let config = found.loaders[0].config.as_ref().unwrap();
    assert_eq!(
        (config.volume, config.path.as_str()),
        (1, "extlinux/extlinux.conf")
    );
    // No kernel finds it by itself.
    for root in [
        &format!("UUID={uuid}"),
        "/dev/mapper/debian--vg-root",
        "/dev/debian-vg/root",
    ] {
        let why = found.plain_root(&format!("quiet root={root}")).unwrap_err();
        assert!(why.contains("is on LVM"), "{root}: {why}");
    }
}

/// What is found on a disk whose first partition has these bytes.
fn found_on(disk: &Path, partition: &Path) -> Found {
    let mut bytes = fs::read(disk).unwrap();
    let partition = fs::read(partition).unwrap();
    bytes[1 << 20..(1 << 20) + partition.len()].copy_from_slice(&partition);
    let all = bytes.len() as u64;
    Found::of(&Window::all(Rc::new(bytes), all))
}

/// A PC's disk with an EFI program, a configuration of systemd-boot, and a root.
#[test]
fn a_disk_is_planned_for() {
    let dir = tempfile::tempdir().unwrap();
    let esp = fat(dir.path(), "32", 40 << 20, b"MZ and nothing else");
    let put = |name: &str, text_of: &str| {
        let file = dir.path().join("file");
        fs::write(&file, text_of).unwrap();
        run("mcopy", &["-o", "-i", text(&esp), text(&file), name], "");
    };
    put("::/loader/loader.conf", "timeout 3\n");
    run("mmd", &["-i", text(&esp), "::/loader/entries"], "");
    put(
        "::/loader/entries/a.conf",
        "title A\nlinux /vmlinuz\noptions root=/dev/vda2 console=ttyS0\n",
    );
    put("::/vmlinuz", "kernel");
    let disk = sized(dir.path(), "disk.img", 64 << 20);
    run(
        "sfdisk",
        &["-q", text(&disk)],
        "label: gpt\nstart=2048, size=81920, type=uefi\n",
    );
    let found = found_on(&disk, &esp);
    let (loader, entry) = found.default().unwrap();
    assert_eq!((loader.name, entry.title.as_str()), ("systemd-boot", "A"));
    assert_eq!(found.place(loader, entry, &entry.kernel).unwrap().volume, 0);
    let plan = Plan::of(&found, None, None).unwrap();
    assert!(matches!(plan.firmware, Firmware::Uefi(_)), "{plan:?}");
    assert_eq!((plan.kernel, plan.machine.debian), (None, "amd64"));
    assert_eq!(plan.ready, "Run .* as init process");
    let direct = Plan::of(&found, Some(Wish::Direct), None).unwrap();
    assert_eq!(direct.firmware, Firmware::None);
    assert_eq!(
        direct.kernel.unwrap().cmdline,
        "root=/dev/vda2 console=ttyS0"
    );
    // Without the line that it speaks on, the machine has to start the kernel.
    put(
        "::/loader/entries/a.conf",
        "title A\nlinux /vmlinuz\noptions root=/dev/vda2 console=tty0\n",
    );
    let silent = Plan::of(&found_on(&disk, &esp), None, None).unwrap();
    assert!(silent.unknown.iter().all(|note| !note.contains("quiet")));
    assert_eq!(silent.firmware, Firmware::None);
    let words = silent.kernel.unwrap().cmdline;
    assert_eq!(words, "root=/dev/vda2 console=tty0 console=ttyS0");
    assert!(
        silent
            .why
            .iter()
            .any(|(key, why)| *key == "kernel" && why.contains("only tty0"))
    );
    // What ready would be is hidden.
    put(
        "::/loader/entries/a.conf",
        "title A\nlinux /vmlinuz\noptions console=ttyS0 quiet\n",
    );
    let quiet = Plan::of(&found_on(&disk, &esp), None, None).unwrap();
    assert!(quiet.unknown.iter().any(|note| note.contains("`quiet`")));
    put(
        "::/loader/entries/a.conf",
        "title A\nlinux /vmlinuz\noptions root=/dev/vda2 console=tty0\n",
    );
    let asked = Plan::of(&found_on(&disk, &esp), Some(Wish::Uefi), None).unwrap();
    assert!(asked.kernel.is_none() && asked.unknown[0].contains("no console=ttyS0"));
    put(
        "::/loader/entries/a.conf",
        "title A\nlinux /none\noptions x\n",
    );
    let said = Plan::of(&found_on(&disk, &esp), Some(Wish::Direct), None).unwrap_err();
    assert!(said.contains("/none, which cannot be read"), "{said}");
    let said = Plan::of(&found, Some(Wish::Uboot), None).unwrap_err();
    assert!(said.contains("no U-Boot is known here"), "{said}");
}

#[test]
fn what_boots_nothing_is_said() {
    let empty = Window::all(Rc::new(vec![0u8; 1 << 20]), 1 << 20);
    let found = Found::of(&empty);
    assert_eq!(found.table.kind, TableKind::None);
    let said = Plan::of(&found, None, None).unwrap_err();
    assert!(said.contains("which processor"), "{said}");
    // Shorter than what is looked for, and of a size that no disk has.
    for bytes in [0, 1, 92, 510, 511, 512, 513, 4095] {
        let image = Window::all(Rc::new(vec![0xeb_u8; bytes]), bytes as u64);
        assert!(Found::of(&image).loaders.is_empty());
    }
}
