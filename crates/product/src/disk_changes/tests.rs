//! Real file systems, changed by the real tools.

use std::collections::BTreeMap;
use std::os::unix::fs::{FileExt, symlink};
use std::path::PathBuf;
use std::process::Stdio;

use super::*;

fn run(program: &str, args: &[&str]) {
    let mut command = std::process::Command::new(program);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{path}:/sbin:/usr/sbin"));
    let done = command.args(args).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program} {args:?}: {said}");
}

/// An ext4 with some files, and what a target wants of it.
struct Bench {
    dir: tempfile::TempDir,
    image: PathBuf,
    cache: Cache,
}

impl Bench {
    fn ext4() -> Self {
        Self::made(&[])
    }

    /// With these options of mke2fs.
    fn made(more: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir_all(tree.join("usr/lib")).unwrap();
        fs::create_dir_all(tree.join("etc")).unwrap();
        fs::write(tree.join("usr/lib/os-release"), "NAME=Tiny\n").unwrap();
        fs::write(tree.join("etc/inittab"), "old\n".repeat(3000)).unwrap();
        fs::write(tree.join("etc/service"), "x").unwrap();
        symlink("usr/lib", tree.join("lib")).unwrap();
        let image = dir.path().join("root.img");
        let args = ["-q", "-t", "ext4", "-d", tree.to_str().unwrap()];
        run(
            "mke2fs",
            &[&args[..], more, &[image.to_str().unwrap(), "8M"]].concat(),
        );
        let device = image.to_str().unwrap();
        for command in [
            "sif /etc/inittab mode 0100750",
            "sif /etc/inittab uid 42",
            "ea_set /etc/inittab user.kind hello",
        ] {
            run("debugfs", &["-w", "-R", command, device]);
        }
        let cache = Cache::at(dir.path().join("cache"));
        Self { dir, image, cache }
    }

    fn patches(&self, changes: &Changes) -> Result<Vec<Patch>, TargetError> {
        let known = crate::fingerprint(&self.image).unwrap();
        changes.patches(
            &self.image,
            &known,
            &Copies::default(),
            &self.cache,
            &|_| {},
        )
    }

    /// The image with the patches.
    fn patched(&self, patches: &[Patch]) -> PathBuf {
        let path = self.dir.path().join("patched.img");
        fs::copy(&self.image, &path).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        for patch in patches {
            file.write_all_at(&patch.bytes, patch.at).unwrap();
        }
        path
    }
}

fn changes(all: &[(&str, Option<Result<&str, &str>>)]) -> Changes {
    let change = |what: &Option<Result<&str, &str>>| match what {
        None => Change::Nothing,
        Some(Ok(text)) => Change::File {
            bytes: text.as_bytes().to_vec(),
            executable: false,
        },
        Some(Err(to)) => Change::Link((*to).to_owned()),
    };
    let place = |text: &str| Place::parse("test", text).unwrap();
    let all = all.iter().map(|(at, what)| (place(at), change(what)));
    Changes(all.collect::<BTreeMap<_, _>>())
}

#[test]
fn files_of_ext4_are_changed_and_all_else_stays() {
    let bench = Bench::ext4();
    let before = crate::fingerprint(&bench.image).unwrap();
    let wanted = changes(&[
        ("0:/etc/inittab", Some(Ok("new\n"))),
        ("0:/etc/service", None),
        ("0:/etc/not there", None),
        ("0:/etc/a/b/drop in.conf", Some(Ok("[Unit]\n"))),
        ("0:/lib/mask.service", Some(Err("/dev/null"))),
    ]);
    let patches = bench.patches(&wanted).unwrap();
    let bytes: usize = patches.iter().map(|patch| patch.bytes.len()).sum();
    assert!((4096..200_000).contains(&bytes), "{bytes} bytes differ");
    let path = bench.patched(&patches);
    let found = look(&path, &Copies::default()).unwrap();
    let files = found.files(0).unwrap();
    assert_eq!(files.text("/etc/inittab").unwrap(), "new\n");
    assert_eq!(files.text("/etc/a/b/drop in.conf").unwrap(), "[Unit]\n");
    assert_eq!(
        files.link("/usr/lib/mask.service").as_deref(),
        Some("/dev/null")
    );
    assert_eq!(files.text("/usr/lib/os-release").unwrap(), "NAME=Tiny\n");
    assert_eq!(files.list("/etc").unwrap(), ["a", "inittab"]);
    // Owner, mode and attributes are those of the file that was there.
    let device = path.to_str().unwrap();
    let ask = |command: &str| {
        let mut debugfs = std::process::Command::new("/sbin/debugfs");
        let done = debugfs.args(["-R", command, device]).output().unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let stat = ask("stat /etc/inittab");
    assert!(
        stat.contains("Mode:  0750") && stat.contains("User:    42"),
        "{stat}"
    );
    assert!(ask("ea_get /etc/inittab user.kind").contains("hello"));
    // The image is as it was, nothing is left, and the same comes of it again.
    assert_eq!(crate::fingerprint(&bench.image).unwrap(), before);
    let other = Bench {
        cache: Cache::at(bench.dir.path().join("other")),
        ..bench
    };
    assert_eq!(other.patches(&wanted).unwrap(), patches);
    let kept = fs::read_dir(other.cache.root()).unwrap();
    let names: Vec<_> = kept.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["disk-changes"]);
}

/// As somebody copies it from a machine that runs: what was written last is in the journal only, and
/// a file that was removed is still open.
#[test]
fn a_file_system_that_was_in_use_is_mended_before_it_is_changed() {
    // As it was made before 2016; the journal of today's has checksums, and is read.
    let mut bench = Bench::made(&["-O", "^metadata_csum,^64bit"]);
    let alone = bench.image.to_str().unwrap();
    let folder = bench.dir.path();
    let debugfs = |command: &str| {
        let mut debugfs = std::process::Command::new("/sbin/debugfs");
        let done = debugfs.args(["-w", "-R", command, alone]).output().unwrap();
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    };
    let mut block = b"journal\n".to_vec();
    block.resize(1024, 0);
    fs::write(folder.join("block"), block).unwrap();
    let place = debugfs("blocks /etc/service");
    let commands = folder.join("commands");
    let block = folder.join("block");
    let write = format!("jo\njw -b {place} {}\njc\n", block.display());
    fs::write(&commands, write).unwrap();
    run("debugfs", &["-w", "-f", commands.to_str().unwrap(), alone]);
    fs::write(folder.join("open"), "removed").unwrap();
    debugfs(&format!("write {} open", folder.join("open").display()));
    let inode = debugfs("stat open");
    let inode = inode.strip_prefix("Inode: ").unwrap();
    let inode = inode.split_whitespace().next().unwrap();
    debugfs("sif open links_count 0");
    debugfs("unlink open");
    debugfs(&format!("ssv last_orphan {inode}"));

    // On a disk, behind a table with one partition of type 0x83.
    let bytes = fs::read(&bench.image).unwrap();
    let mut disk = vec![0; 1 << 20];
    let sectors = u32::try_from(bytes.len() / 512).unwrap();
    disk[450] = 0x83;
    disk[454..458].copy_from_slice(&2048_u32.to_le_bytes());
    disk[458..462].copy_from_slice(&sectors.to_le_bytes());
    disk[510..512].copy_from_slice(&[0x55, 0xaa]);
    bench.image = folder.join("disk.img");
    fs::write(&bench.image, [disk, bytes].concat()).unwrap();

    let found = look(&bench.image, &Copies::default()).unwrap();
    let why = found.volumes[0].trouble.as_deref().unwrap();
    assert!(why.contains("what was written last is not seen"), "{why}");
    assert_eq!(found.files(0).unwrap().text("/etc/service").unwrap(), "x");

    let wanted = changes(&[("1:/etc/inittab", Some(Ok("new\n")))]);
    let patches = bench.patches(&wanted).unwrap();
    let path = bench.patched(&patches);
    let found = look(&path, &Copies::default()).unwrap();
    assert_eq!(found.volumes[0].trouble, None);
    let files = found.files(0).unwrap();
    assert_eq!(files.text("/etc/inittab").unwrap(), "new\n");
    let journal = files.text("/etc/service").unwrap();
    assert!(journal.starts_with('j'), "{journal:?}");
}

/// A disk of two partitions, of which the first is changed: what is behind it is not looked at.
#[test]
fn only_its_partition_is_compared() {
    let bench = Bench::ext4();
    let root = fs::read(&bench.image).unwrap();
    let disk = bench.dir.path().join("disk.img");
    let file = File::create(&disk).unwrap();
    file.set_len(64 << 20).unwrap();
    let table = "label: dos\nstart=2048, size=16384, type=83\nstart=65536, size=2048, type=83\n";
    let mut sfdisk = std::process::Command::new("/sbin/sfdisk");
    let mut child = sfdisk
        .arg("-q")
        .arg(&disk)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), table.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    file.write_all_at(&root, 1 << 20).unwrap();
    file.write_all_at(&[7; 4096], 33 << 20).unwrap();
    let bench = Bench {
        image: disk,
        ..bench
    };
    let wanted = changes(&[("1:/etc/inittab", Some(Ok("new\n")))]);
    let patches = bench.patches(&wanted).unwrap();
    let inside = |patch: &Patch| (1 << 20..9 << 20).contains(&patch.at);
    assert!(patches.iter().all(inside));
    let found = look(&bench.patched(&patches), &Copies::default()).unwrap();
    assert_eq!(
        found.files(0).unwrap().text("/etc/inittab").unwrap(),
        "new\n"
    );
}

#[test]
fn files_of_fat_are_changed() {
    let dir = tempfile::tempdir().unwrap();
    let image = dir.path().join("fat.img");
    File::create(&image).unwrap().set_len(40 << 20).unwrap();
    let device = image.to_str().unwrap();
    run("mkfs.vfat", &["-F", "32", device]);
    let text = dir.path().join("text");
    fs::write(&text, "timeout 5\n").unwrap();
    run("mmd", &["-i", device, "::/loader"]);
    run(
        "mcopy",
        &[
            "-i",
            device,
            text.to_str().unwrap(),
            "::/loader/loader.conf",
        ],
    );
    run("mcopy", &["-i", device, text.to_str().unwrap(), "::/gone"]);
    let bench = Bench {
        cache: Cache::at(dir.path().join("cache")),
        dir,
        image,
    };
    let wanted = changes(&[
        ("0:/loader/loader.conf", Some(Ok("timeout 0\n"))),
        ("0:/loader/entries/a long name.conf", Some(Ok("title A\n"))),
        ("0:/gone", None),
    ]);
    let patches = bench.patches(&wanted).unwrap();
    let found = look(&bench.patched(&patches), &Copies::default()).unwrap();
    let files = found.files(0).unwrap();
    assert_eq!(files.text("/loader/loader.conf").unwrap(), "timeout 0\n");
    assert_eq!(files.list("/loader/entries").unwrap(), ["a long name.conf"]);
    assert!(!files.has("/gone"));
    let other = Bench {
        cache: Cache::at(bench.dir.path().join("other")),
        ..bench
    };
    assert_eq!(other.patches(&wanted).unwrap(), patches);
    let link = changes(&[("0:/a", Some(Err("b")))]);
    let said = other.patches(&link).err().unwrap().to_string();
    assert!(said.contains("FAT has no links"), "{said}");
    let pattern = changes(&[("0:/g*", None)]);
    let said = other.patches(&pattern).err().unwrap().to_string();
    assert!(said.contains("has none of"), "{said}");
}

#[test]
fn what_cannot_be_done_is_told() {
    for odd in [
        "etc/a",
        "1:etc/a",
        "x:/a",
        "1:/a/../b",
        "1:/a\"b",
        "1:/a\nrm /b",
        "1:/",
    ] {
        assert!(Place::parse("disk.remove", odd).is_err(), "{odd}");
    }
    let bench = Bench::ext4();
    let said = |changes: &Changes| bench.patches(changes).err().unwrap().to_string();
    let no_partition = said(&changes(&[("3:/a", None)]));
    assert!(no_partition.contains("no partition 3"), "{no_partition}");
    // A folder is not removed with all that is in it.
    let folder = said(&changes(&[("0:/etc", None)]));
    assert!(folder.contains("could not be removed"), "{folder}");
    let full = "x".repeat(9 << 20);
    let full = said(&changes(&[("0:/a", Some(Ok(&full)))]));
    assert!(full.contains("could not be written"), "{full}");
    // The image may have errors of its own.
    let device = bench.image.to_str().unwrap();
    run(
        "debugfs",
        &["-w", "-R", "sif /etc/service links_count 7", device],
    );
    let broken = said(&changes(&[("0:/etc/inittab", Some(Ok("new")))]));
    assert!(broken.contains("e2fsck finds errors"), "{broken}");
}

/// Each name of a squashfs with its mode, owner, size, time and contents.
fn listed(image: &Path) -> BTreeMap<String, String> {
    let list = image.with_extension("list");
    run(
        "unsquashfs",
        &["-n", "-pf", list.to_str().unwrap(), image.to_str().unwrap()],
    );
    let all = fs::read(&list).unwrap();
    let end = b"# START OF DATA - DO NOT MODIFY\n#\n";
    let data = all.windows(end.len()).position(|w| w == end).unwrap();
    let bytes = &all[data + end.len()..];
    let names = String::from_utf8_lossy(&all[..data]).into_owned();
    let all = names
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            // Where the bytes are is no matter; what they are is.
            match words.iter().position(|word| *word == "R") {
                Some(at) if words.len() >= at + 7 => {
                    let number = |n: usize| words[at + n].parse::<usize>().unwrap();
                    let (size, start) = (number(5), number(6));
                    let head = words[at..at + 5].join(" ");
                    let text = String::from_utf8_lossy(&bytes[start..start + size]);
                    (words[..at].join(" "), format!("{head} {text}"))
                }
                _ => (words[0].to_owned(), words[1..].join(" ")),
            }
        });
    all.collect()
}

/// A squashfs has no tool that writes to it: it is made again, and all else stays as it is.
#[test]
fn files_of_squashfs_are_changed_and_all_else_stays() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("tree");
    fs::create_dir_all(tree.join("usr/lib")).unwrap();
    fs::create_dir_all(tree.join("etc")).unwrap();
    fs::write(tree.join("usr/lib/os-release"), "NAME=Tiny\n").unwrap();
    fs::write(tree.join("etc/inittab"), "old\n".repeat(3000)).unwrap();
    fs::write(tree.join("etc/with blank"), "x").unwrap();
    fs::hard_link(tree.join("etc/with blank"), tree.join("etc/zz")).unwrap();
    fs::write(tree.join("etc/gone"), "x").unwrap();
    symlink("usr/lib", tree.join("lib")).unwrap();
    let image = dir.path().join("root.img");
    let pseudo = [
        "dev d 755 0 0",
        "dev/console c 600 0 5 5 1",
        "etc/inittab m 750 42 43",
    ];
    let mut args = vec![
        tree.to_str().unwrap(),
        image.to_str().unwrap(),
        "-quiet",
        "-comp",
        "xz",
    ];
    args.extend(["-b", "65536", "-no-exports", "-no-progress"]);
    pseudo.iter().for_each(|line| args.extend(["-p", line]));
    run("mksquashfs", &args);
    let size = fs::metadata(&image).unwrap().len() + 8192;
    File::options()
        .write(true)
        .open(&image)
        .unwrap()
        .set_len(size)
        .unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    let bench = Bench { dir, image, cache };
    let wanted = changes(&[
        ("0:/etc/inittab", Some(Ok("new\n"))),
        ("0:/lib/a/drop in.conf", Some(Ok("#!/bin/sh\n"))),
        ("0:/lib/mask.service", Some(Err("/dev/null"))),
        ("0:/etc/gone", None),
    ]);
    let patches = bench.patches(&wanted).unwrap();
    let path = bench.patched(&patches);
    let (before, mut after) = (listed(&bench.image), listed(&path));
    let time = 1_577_836_800;
    let mut want = before.clone();
    want.remove("etc/gone");
    want.insert("etc/inittab".into(), format!("R {time} 750 42 43 new\n"));
    want.insert("usr/lib/a".into(), format!("D {time} 755 0 0"));
    want.insert(
        "usr/lib/a/drop\\ in.conf".into(),
        format!("R {time} 644 0 0 #!/bin/sh\n"),
    );
    want.insert(
        "usr/lib/mask.service".into(),
        format!("S {time} 777 0 0 /dev/null"),
    );
    assert!(before.keys().any(|name| name == "dev/console"));
    let differs = |a: &BTreeMap<String, String>, b: &BTreeMap<String, String>| {
        let all = a.iter().filter(|(name, what)| b.get(*name) != Some(*what));
        all.map(|(name, what)| format!("{name}: {what}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(differs(&after, &want), differs(&want, &after));
    after.retain(|name, _| !want.contains_key(name));
    assert!(after.is_empty(), "{after:?}");
    let said = |name: &str| {
        let done = std::process::Command::new("unsquashfs")
            .args(["-s", name])
            .output();
        let text = String::from_utf8(done.unwrap().stdout).unwrap();
        let told = |line: &&str| {
            ["Compression", "Block", "Filesystem is"]
                .iter()
                .any(|w| line.starts_with(w))
        };
        text.lines()
            .filter(told)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        said(path.to_str().unwrap()),
        said(bench.image.to_str().unwrap())
    );
    // More than there is room for.
    let noise: String = (0_u64..40_000)
        .map(|n| format!("{:x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    let large = changes(&[("0:/etc/large", Some(Ok(&noise)))]);
    let refused = bench.patches(&large).unwrap_err().to_string();
    assert!(refused.contains("larger one"), "{refused}");
}

/// Who looks at a disk before its changes are made sees what is there afterwards.
#[test]
fn what_is_seen_before_is_what_is_there_afterwards() {
    let bench = Bench::ext4();
    let changes = changes(&[
        ("0:/etc/inittab", None),
        ("0:/etc/service", Some(Err("../usr/lib/os-release"))),
        ("0:/lib/os-release", Some(Ok("NAME=Other\n"))),
        ("0:/lib/more/deep/file", Some(Ok("y"))),
        ("0:/opt/link", Some(Err("/lib/more"))),
    ]);
    let before = look(&bench.image, &Copies::default()).unwrap();
    let mut before = before.volumes.into_iter();
    let seen = changes.seen(0, before.next().unwrap().files.unwrap());
    let patches = bench.patches(&changes).unwrap();
    let after = look(&bench.patched(&patches), &Copies::default()).unwrap();
    let there = after.files(0).unwrap();
    for folder in [
        "",
        "/etc",
        "lib",
        "/usr/lib/more",
        "lib/more/deep",
        "opt",
        "opt/link",
        "no",
    ] {
        let (seen, there) = (seen.list(folder), there.list(folder));
        assert_eq!(seen.ok(), there.ok(), "{folder}");
    }
    for path in [
        "/etc/inittab",
        "etc/service",
        "usr/lib/os-release",
        "lib/os-release",
        "opt/link/deep/file",
        "opt/link",
        "lib",
    ] {
        let read = [&*seen, there].map(|files| files.read(path, 100).ok());
        assert_eq!(read[0], read[1], "{path}");
        assert_eq!(seen.link(path), there.link(path), "{path}");
    }
}

#[test]
fn a_file_of_ext_has_its_place_before_it_has_content() {
    let bench = Bench::ext4();
    let place = |text: &str| Place::parse("test", text).unwrap();
    let of = |mib| Changes(BTreeMap::from([(place("0:/var/image"), Change::Room(mib))]));
    let patches = bench.patches(&of(2)).unwrap();
    let bytes: usize = patches.iter().map(|patch| patch.bytes.len()).sum();
    assert!(bytes < 200_000, "{bytes} bytes differ");
    let path = bench.patched(&patches);
    let found = look(&path, &Copies::default()).unwrap();
    let pieces = found.files(0).unwrap().place("/var/image").unwrap();
    let bytes: u64 = pieces.iter().map(|piece| piece.end - piece.start).sum();
    assert_eq!(bytes, 2 << 20);
    assert_eq!(of(2).hash(), of(2).hash());
    assert_ne!(of(2).hash(), of(3).hash());
    // The file system has 8 MiB.
    let why = bench.patches(&of(20)).unwrap_err().to_string();
    assert!(why.contains("0:/var/image could not be written"), "{why}");
}
