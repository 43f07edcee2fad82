//! Packs and lists that are made on the host: the device takes the ones, and the
//! makers of images the others.

// A skipped test says why.
#![allow(clippy::print_stderr)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use bootlap_wire::pack::{Extent, File, Pack, System};

use crate::support::{agent, bootlap, failure, printed, root, scratch};

/// The files that the boot reads, in this order; there are others.
const READ: [&str; 3] = ["usr/lib/app.so", "etc/with space", "usr/bin/app"];
/// `mmcblk0p2`
const DEVICE: (u32, u32) = (179, 2);

fn tree(dir: &Path) -> PathBuf {
    let tree = dir.join("rootfs");
    for (index, name) in ["etc/#first", "etc/other", "usr/bin/zz"]
        .iter()
        .chain(&READ)
        .enumerate()
    {
        let path = tree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Nothing is alike, so that each can be found again in an image.
        let word = |at: u32| {
            (at + 1)
                .wrapping_mul(index as u32 + 0x9e37_79b1)
                .to_le_bytes()
        };
        let bytes: Vec<u8> = (0..25_001).flat_map(word).collect();
        fs::write(path, bytes).unwrap();
    }
    tree
}

fn ext4(dir: &Path, tree: &Path, name: &str, more: &[&str]) -> PathBuf {
    let image = dir.join(name);
    let mut mke2fs = Command::new("/sbin/mke2fs");
    printed(
        mke2fs
            .args(["-q", "-t", "ext4", "-d"])
            .arg(tree)
            .args(more)
            .arg(&image)
            .arg("8M"),
    );
    image
}

/// The inode and the first block of a file, as e2fsprogs say.
fn stat(image: &Path, path: &str) -> (u64, u64) {
    let about = |what: &str| {
        let mut debugfs = Command::new("/sbin/debugfs");
        printed(
            debugfs
                .arg("-R")
                .arg(format!("{what} \"{path}\""))
                .arg(image),
        )
    };
    let said = about("stat");
    let inode = said.split_once("Inode: ").unwrap().1;
    let inode = inode.split_whitespace().next().unwrap().parse().unwrap();
    let block = about("blocks");
    (
        inode,
        block.split_whitespace().next().unwrap().parse().unwrap(),
    )
}

/// The trace of a boot that reads [`READ`], and other things.
fn trace(dir: &Path, image: &Path) -> PathBuf {
    let (major, minor) = DEVICE;
    let mut lines = "# tracer: nop\n#\n".to_owned();
    let mut at = 100_000;
    let mut read = |device: (u32, u32), inode: u64, offset: u64| {
        at += 100;
        lines += &format!(
            "  init-1  [000] .....  1.{at}: mm_filemap_add_to_page_cache: dev {}:{} ino {inode:x} pfn=0x1 ofs={offset} order=0\n",
            device.0, device.1
        );
    };
    read((0, 3), u64::from(major) << 20 | u64::from(minor), 4096);
    for path in READ {
        let (inode, _) = stat(image, path);
        for page in 0..25 {
            read(DEVICE, inode, page * 4096);
        }
    }
    // A file that is gone, and another disk.
    read(DEVICE, 500, 0);
    read((8, 1), 12, 0);
    let file = dir.join("trace.txt");
    fs::write(&file, lines).unwrap();
    file
}

/// A pack of a boot that reads these, in this order, below `/`.
fn pack_of(dir: &Path, name: &str, paths: &[&[u8]]) {
    let mut pack = Pack::default();
    pack.systems.push(System {
        id: 1,
        kind: 0xef53,
        place: b"/".to_vec(),
    });
    for (index, path) in paths.iter().enumerate() {
        pack.files.push(File {
            inode: 12 + index as u64,
            size: 100_004,
            mtime_ns: 0,
            path: path.to_vec(),
            system: 0,
        });
        pack.extents.push(Extent {
            start: 0,
            length: 4096,
            file: index,
            us: index as u32,
        });
    }
    fs::write(dir.join(name), pack.to_bytes().unwrap()).unwrap();
}

/// What `bootlap` says with its notes; it ends well.
fn told(dir: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bootlap"));
    let output = command.current_dir(dir).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    said
}

/// This machine, as the agent's Makefile calls it.
fn here() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x86-64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[test]
fn the_device_takes_a_pack_of_the_host() {
    let dir = scratch("pack-made");
    let tree = tree(&dir);
    let image = ext4(&dir, &tree, "root.ext4", &[]);
    let trace = trace(&dir, &image);
    let pack = |from: &Path, image: &Path, out: &str| {
        let mut command = bootlap(&dir);
        command
            .arg("pack")
            .arg(from)
            .arg("--image")
            .arg(image)
            .args(["-o", out]);
        printed(&mut command)
    };
    let said = pack(&trace, &image, "boot.pack");
    assert!(
        said.starts_with("boot.pack: 3 files, 293 KiB, and 4 KiB of metadata"),
        "{said}"
    );
    assert!(
        said.contains("1 more that were read are not in the image"),
        "{said}"
    );
    assert!(said.contains("1 reads of other file systems"), "{said}");
    let list = |name: &str| {
        let mut command = Command::new(agent(here()));
        printed(command.arg("snapshot").arg(dir.join(name)))
    };
    let listed = list("boot.pack");
    for path in READ {
        let (inode, _) = stat(&image, path);
        let row = listed.lines().find(|line| line.ends_with(path)).unwrap();
        assert!(row.trim().starts_with(&format!("{inode} ")), "{row}");
    }
    // The same files in an image that was made anew: other inodes, other places.
    fs::write(tree.join("etc/a-new-one"), "new").unwrap();
    let newer = ext4(&dir, &tree, "new.ext4", &["-b", "1024"]);
    let said = pack(&dir.join("boot.pack"), &newer, "new.pack");
    assert!(
        said.starts_with("new.pack: 3 files, 293 KiB, and "),
        "{said}"
    );
    let listed = list("new.pack");
    let (inode, _) = stat(&newer, READ[0]);
    assert_ne!(inode, stat(&image, READ[0]).0);
    assert!(listed.contains(&format!("{inode} ")), "{listed}");
    // Its metadata was looked for in it: folders, inodes.
    assert!(listed.contains("(metadata)"), "{listed}");
    let mut of_none = bootlap(&dir);
    of_none
        .arg("pack")
        .arg(&trace)
        .args(["--image", "none", "-o", "x"]);
    failure(&mut of_none, 2);
}

#[test]
fn another_image_than_was_booted_is_told() {
    let dir = scratch("pack-other");
    let tree = tree(&dir);
    let trace = trace(&dir, &ext4(&dir, &tree, "root.ext4", &[]));
    let empty = dir.join("empty");
    fs::create_dir(&empty).unwrap();
    let other = ext4(&dir, &empty, "other.ext4", &[]);
    let mut command = bootlap(&dir);
    command
        .arg("pack")
        .arg(&trace)
        .arg("--image")
        .arg(&other)
        .args(["-o", "x.pack"]);
    let said = failure(&mut command, 4);
    assert!(
        said.contains("of another image") && said.contains("179:2"),
        "{said}"
    );
    let mut command = bootlap(&dir);
    command
        .arg("pack")
        .arg(&trace)
        .arg("--image")
        .arg(&tree)
        .args(["-o", "x.pack"]);
    assert!(failure(&mut command, 4).contains("no mount point"));
    let log = root().join("tests/fixtures/dmesg/handmade/marks/input");
    let mut command = bootlap(&dir);
    command
        .arg("pack")
        .arg(log)
        .arg("--image")
        .arg(&other)
        .args(["-o", "x.pack"]);
    assert!(failure(&mut command, 4).contains("trace_event=filemap"));
    assert!(!dir.join("x.pack").exists());
}

/// Where the first bytes of the files are in an image that packs nothing.
fn places(image: &Path, tree: &Path) -> Vec<usize> {
    let image = fs::read(image).unwrap();
    let place = |path: &&str| {
        let file = fs::read(tree.join(path)).unwrap();
        image
            .windows(4096)
            .position(|w| w == &file[..4096])
            .unwrap()
    };
    READ.iter().map(place).collect()
}

#[test]
fn mksquashfs_puts_files_in_the_order_of_their_use() {
    let dir = scratch("layout-squashfs");
    let tree = tree(&dir);
    let booted = ext4(&dir, &tree, "root.ext4", &[]);
    let trace = trace(&dir, &booted);
    let mut command = bootlap(&dir);
    command
        .arg("layout")
        .arg(&trace)
        .args(["--for", "squashfs", "-o", "boot.sort"]);
    assert!(failure(&mut command, 2).contains("--image"));
    printed(command.arg("--image").arg(&booted).arg("--root").arg(&tree));
    let image = |name: &str, more: &[&str]| {
        let image = dir.join(name);
        let mut make = Command::new("mksquashfs");
        make.current_dir(&dir).arg(&tree).arg(&image);
        let said = printed(
            make.args(["-noD", "-noF", "-no-fragments", "-no-progress"])
                .args(more),
        );
        assert!(!said.contains("Cannot stat"), "{said}");
        image
    };
    let unsorted = places(&image("unsorted.squashfs", &[]), &tree);
    let sorted = places(&image("sorted.squashfs", &["-sort", "boot.sort"]), &tree);
    assert!(
        !unsorted.is_sorted(),
        "the test's names are in the order of their use"
    );
    assert!(sorted.is_sorted(), "{sorted:?}");
    assert!(sorted[0] < 1024, "{sorted:?}");
}

#[test]
fn an_archive_has_the_order_of_use_and_everything_else() {
    let dir = scratch("layout-tar");
    let tree = tree(&dir);
    fs::write(tree.join("etc/-back\\slash"), "").unwrap();
    fs::set_permissions(&tree, fs::Permissions::from_mode(0o755)).unwrap();
    let image = ext4(&dir, &tree, "root.ext4", &[]);
    let trace = trace(&dir, &image);
    let mut make = bootlap(&dir);
    make.arg("pack")
        .arg(&trace)
        .arg("--image")
        .arg(&image)
        .args(["-o", "boot.pack"]);
    printed(&mut make);
    let mut command = bootlap(&dir);
    command.args(["layout", "boot.pack", "--for", "mke2fs", "-o", "boot.list"]);
    assert!(failure(&mut command, 2).contains("--root"));
    printed(command.arg("--root").arg(&tree));
    let mut tar = Command::new("tar");
    tar.current_dir(&dir)
        .args(["-cf", "root.tar", "-C"])
        .arg(&tree);
    let list = format!("--files-from={}", dir.join("boot.list").display());
    printed(tar.args(["--no-recursion", &list]));
    let mut members = Command::new("tar");
    members
        .args(["--quoting-style=literal", "-tf"])
        .arg(dir.join("root.tar"));
    let members = printed(&mut members);
    let members: Vec<&str> = members.lines().collect();
    let files: Vec<&str> = members
        .iter()
        .copied()
        .filter(|m| !m.ends_with('/'))
        .collect();
    let read = READ.map(|path| format!("./{path}"));
    assert_eq!(files[..3], read);
    assert_eq!(files.len(), 7, "{files:?}");
    assert!(files.contains(&"./etc/-back\\slash"), "{files:?}");
    assert_eq!(members.len(), 7 + 5, "{members:?}");
}

#[test]
fn only_what_the_folder_has_is_in_a_list() {
    let dir = scratch("layout-root");
    let tree = tree(&dir);
    pack_of(&dir, "boot.pack", &READ.map(str::as_bytes));
    let folder = dir.join("newer");
    fs::create_dir_all(folder.join("usr/bin")).unwrap();
    fs::copy(tree.join(READ[2]), folder.join(READ[2])).unwrap();
    // A folder of that name is not the file.
    fs::create_dir_all(folder.join(READ[0])).unwrap();
    for (format, list) in [
        ("boot-image", "/usr/bin/app\n"),
        ("squashfs", "usr/bin/app 32767\n"),
    ] {
        let arguments = ["layout", "boot.pack", "--for", format, "-o", "boot.list"];
        let said = told(&dir, &[&arguments[..], &["--root", "newer"]].concat());
        assert!(said.contains("boot.list: 1 files"), "{said}");
        assert!(
            said.contains("2 files that were read are not in the list"),
            "{said}"
        );
        assert_eq!(fs::read_to_string(dir.join("boot.list")).unwrap(), list);
    }
}

#[test]
fn names_that_are_no_utf8_are_left_out_and_counted() {
    let dir = scratch("pack-names");
    let odd: [&[u8]; 2] = [b"etc/caf\xe9", b"etc/caf\xe8"];
    pack_of(&dir, "boot.pack", &[odd[0], b"usr/bin/app", odd[1]]);
    let image = ext4(&dir, &tree(&dir), "root.ext4", &[]);
    let layout = [
        "layout",
        "boot.pack",
        "--for",
        "squashfs",
        "-o",
        "boot.sort",
    ];
    let said = told(&dir, &layout);
    assert!(
        said.contains("2 files that were read are not in the list"),
        "{said}"
    );
    let list = fs::read_to_string(dir.join("boot.sort")).unwrap();
    assert_eq!(list, "usr/bin/app 32767\n");
    let mut make = bootlap(&dir);
    make.args(["pack", "boot.pack", "-o", "x.pack", "--image"]);
    let said = printed(make.arg(&image));
    assert!(said.starts_with("x.pack: 1 files"), "{said}");
    assert!(
        said.contains("2 more that were read have names that are no UTF-8"),
        "{said}"
    );
    assert!(!said.contains("not in the image"), "{said}");
}

#[test]
fn why_there_is_no_file_is_true() {
    let dir = scratch("pack-none");
    let image = ext4(&dir, &tree(&dir), "root.ext4", &[]);
    pack_of(&dir, "gone.pack", &[b"gone"]);
    pack_of(&dir, "odd.pack", &[b"caf\xe9"]);
    pack_of(&dir, "metadata.pack", &[b""]);
    let layout = |pack: &str, more: &[&str]| {
        let mut command = bootlap(&dir);
        command.args(["layout", pack, "--for", "squashfs", "-o", "x"]);
        failure(command.args(more), 4)
    };
    let made = |pack: &str| {
        let mut command = bootlap(&dir);
        command.args(["pack", pack, "-o", "x", "--image"]);
        failure(command.arg(&image), 4)
    };
    let odd = "1 files were read at /, and no name of them is UTF-8";
    let metadata = "only metadata was read of what is mounted at /";
    for said in [layout("odd.pack", &[]), made("odd.pack")] {
        assert!(said.contains(odd), "{said}");
    }
    for said in [layout("metadata.pack", &[]), made("metadata.pack")] {
        assert!(said.contains(metadata), "{said}");
    }
    let said = made("gone.pack");
    assert!(
        said.contains("none of the 1 files that were read at / is in the image"),
        "{said}"
    );
    let said = layout("gone.pack", &["--place", "/data"]);
    assert!(
        said.contains("nothing was read of what is mounted at /data"),
        "{said}"
    );
    assert!(said.contains("there were /\n"), "{said}");
}

/// An image that is mounted as long as this lives.
struct Mounted(PathBuf);

impl Mounted {
    fn new(image: &Path, at: &Path) -> Self {
        fs::create_dir_all(at).unwrap();
        let mut mount = Command::new("mount");
        printed(mount.args(["-o", "loop,ro"]).arg(image).arg(at));
        Self(at.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// What the image says of file system, inodes, sizes and times is what a kernel says
/// that has it mounted. Only root can mount.
#[test]
fn a_kernel_knows_the_files_of_the_pack() {
    if !rustix::process::geteuid().is_root() || !Path::new("/dev/loop-control").exists() {
        eprintln!("left out: only root can mount an image");
        return;
    }
    let dir = scratch("pack-mounted");
    let tree = tree(&dir);
    let place = dir.join("mnt");
    let replayed = |pack: &str| {
        let mut command = Command::new(agent(here()));
        let said = printed(command.arg("replay").arg(dir.join(pack)));
        assert!(said.contains("replay: 3 files, "), "{said}");
        assert!(
            !said.contains("changed") && !said.contains("gone"),
            "{said}"
        );
    };
    let image = ext4(&dir, &tree, "root.ext4", &[]);
    let trace = trace(&dir, &image);
    let make = |from: &Path, image: &Path, out: &str| {
        let mut command = bootlap(&dir);
        command.arg("pack").arg(from).arg("--image").arg(image);
        printed(command.arg("--place").arg(&place).args(["-o", out]));
    };
    make(&trace, &image, "ext4.pack");
    {
        let _mounted = Mounted::new(&image, &place);
        replayed("ext4.pack");
        // As the kernel tells of it, it is the same pack but for its metadata.
        make(&dir.join("ext4.pack"), &place, "mounted.pack");
        replayed("mounted.pack");
    }
    let squashfs = dir.join("root.squashfs");
    printed(
        Command::new("mksquashfs")
            .arg(&tree)
            .arg(&squashfs)
            .arg("-no-progress"),
    );
    let _mounted = Mounted::new(&squashfs, &place);
    make(&dir.join("ext4.pack"), &place, "squashfs.pack");
    replayed("squashfs.pack");
}
