use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use proptest::prelude::*;

use super::*;
#[path = "../../product/src/example.rs"]
mod example;
use bootlap_product::Part;
use bootlap_product::initramfs::{Entry, What};
use example::{FLASH, PLAIN, kiosk, parse};

/// Enough of a kernel for its processor family to be known.
fn kernel() -> Part {
    let mut bytes = vec![0_u8; 4096];
    bytes[16..24].copy_from_slice(&4096_u64.to_le_bytes());
    bytes[56..60].copy_from_slice(b"ARM\x64");
    Part::new("test", bytes)
}

fn parts(initramfs: Option<Vec<Entry>>) -> Parts {
    let mut parts = Parts::default();
    parts.kernel = Some(kernel());
    parts.initramfs = initramfs;
    parts
}

fn step(recipe: &str, edits: &[(&str, &str)]) -> Step {
    Step {
        recipe: recipe.to_owned(),
        title: "a title".to_owned(),
        risk: "a risk".to_owned(),
        edits: edits.iter().map(|(k, v)| Edit::set(k, *v)).collect(),
        measured: None,
    }
}

/// The files by path, as text.
fn made(start: &Target, steps: &[Step]) -> BTreeMap<String, String> {
    let initramfs = start.spec.initramfs.is_some().then(Vec::new);
    let parts = parts(initramfs);
    let files = files(start, &parts, &parts, steps).unwrap();
    let text = |f: PatchFile| {
        let path = f.path.to_str().unwrap().to_owned();
        (path, String::from_utf8(f.bytes).unwrap())
    };
    files.into_iter().map(text).collect()
}

#[test]
fn words_for_init_are_carried_together() {
    let line = "console=ttyAMA0,115200 rdinit=/agent -- a b";
    let mut none = step("own", &[("kernel.cmdline", line)]);
    none.edits
        .extend(["bootloader", "flash", "fit", "kernel.compression"].map(Edit::remove));
    let files = made(&kiosk(), &[none]);
    let said = &files["plain/cmdline.txt"];
    assert!(
        said.contains("adds rdinit=/agent\n#   adds -- a b\n"),
        "{said}"
    );
    assert!(said.ends_with(&format!("after: {line}\n")), "{said}");
}

#[test]
fn only_files_that_say_something_are_made() {
    let delay = [step(
        "uboot-bootdelay",
        &[("bootloader.environment.bootdelay", "0")],
    )];
    let files = made(&kiosk(), &delay);
    let plain: Vec<&str> = files
        .keys()
        .filter_map(|p| p.strip_prefix("plain/"))
        .collect();
    let want = [
        "make-images.sh",
        "uboot-env-set.txt",
        "uboot-env.txt",
        "uboot.config",
    ];
    assert_eq!(plain, want);
    assert!(files["plain/uboot.config"].ends_with("CONFIG_BOOTDELAY=0\n"));
    assert!(!files["plain/make-images.sh"].contains("mkimage -"));
    assert!(!files.keys().any(|p| p.contains("linux")));

    let nothing = made(&kiosk(), &[]);
    assert_eq!(nothing.keys().collect::<Vec<_>>(), ["README.md"]);
}

#[test]
fn a_kernel_that_is_started_directly_has_its_line_built_in_or_appended() {
    let start = parse(PLAIN).unwrap();
    let files = made(&start, &[step("q", &[("kernel.cmdline", "b quiet")])]);
    assert!(
        files["plain/cmdline.txt"]
            .ends_with("#   removes a\n#   adds quiet\nbefore: a b\nafter: b quiet\n")
    );
    assert!(files["plain/linux.config"].ends_with("CONFIG_CMDLINE=\"b quiet\"\n"));
    let conf = &files["yocto/meta-bootlap-t/conf/bootlap-t.conf"];
    assert!(
        conf.ends_with("APPEND:remove = \"a\"\nAPPEND:append = \" quiet\"\n"),
        "{conf}"
    );
}

#[test]
fn an_initramfs_that_goes_leaves_the_root_alone() {
    let mut none = step("initramfs-none", &[]);
    none.edits = vec![Edit::remove("initramfs")];
    let init = Entry {
        path: b"init".to_vec(),
        what: What::Link {
            to: b"bin/busybox".to_vec(),
        },
    };
    let made = files(&kiosk(), &parts(Some(vec![init])), &parts(None), &[none]).unwrap();
    let readme = made
        .iter()
        .find(|f| f.path == Path::new("README.md"))
        .unwrap();
    let readme = String::from_utf8_lossy(&readme.bytes);
    assert!(
        readme.contains("- A boot without an initramfs: "),
        "{readme}"
    );
    let script = made.iter().find(|f| f.path.ends_with("initramfs.sh"));
    assert!(script.is_none());
}

/// What only an emulator can do is said plainly, and the command line is kept.
#[test]
fn a_boot_without_a_boot_loader_is_not_carried() {
    let mut none = step("bootloader-none", &[]);
    let gone = ["bootloader", "flash", "fit", "kernel.compression"];
    none.edits = gone.map(Edit::remove).into();
    let hash = step("fit-no-hash", &[("fit.hash", "none")]);
    let files = made(&kiosk(), &[hash, none]);
    let readme = &files["README.md"];
    assert!(readme.contains("   - the boot loader goes\n"), "{readme}");
    let limits = readme.split("not carry").nth(1).unwrap();
    assert!(
        limits.contains("- A boot without a boot loader: "),
        "{limits}"
    );
    assert!(!limits.contains("of `target.toml`: see there"), "{limits}");
    assert!(!limits.contains("does not have the kernel"), "{limits}");
    let line = "CONFIG_CMDLINE=\"console=ttyAMA0,115200\"\n";
    assert!(files["plain/linux.config"].ends_with(line));
    assert!(files["plain/cmdline.txt"].ends_with("after: console=ttyAMA0,115200\n"));
    assert!(
        !files
            .keys()
            .any(|f| f.contains("uboot") || f.ends_with(".its"))
    );
}

#[test]
fn a_menu_on_a_disk_is_told_in_its_loaders_words() {
    let start = PLAIN.find("[kernel]").unwrap();
    let disk = parse(&format!("{}[disk]\nimage = \"d.img\"\n", &PLAIN[..start])).unwrap();
    let mut menu = step("loader-timeout", &[]);
    menu.edits = vec![Edit::number("loader.timeout-s", 0)];
    let files = made(&disk, &[menu]);
    let readme = &files["README.md"];
    assert!(readme.contains("- the menu: `GRUB_TIMEOUT=0`"), "{readme}");
    assert!(!readme.contains("## By hand"), "{readme}");
}

#[test]
fn uimages_are_told_how_to_be_made() {
    let text = format!("{PLAIN}{FLASH}[initramfs]\n").replace(
        "fit-offset = 0x1000",
        "kernel-offset = 0x1000\ninitramfs-offset = 0x2000",
    );
    let (text, _) = text.split_once("[fit]").unwrap();
    let text = format!("{text}[uimage]\nload-address = 0x40008000\n[initramfs]\n");
    let start = parse(&text).unwrap();
    let mut place = step("uboot-load-in-place", &[]);
    place.edits = vec![Edit::address("uimage.load-address", 0x4300_0040)];
    let pack = step(
        "initramfs-compression=xz",
        &[("initramfs.compression", "xz")],
    );
    let files = made(&start, &[place, pack]);
    let readme = &files["README.md"];
    let want = "- The uImages. Make them with `mkimage -A arm64 -O linux -T kernel -C none \
                -a 0x43000040 -e 0x43000040 -n kernel -d KERNEL uImage` and `mkimage -A arm64 -O \
                linux -T ramdisk -C none -n initramfs -d INITRAMFS.cpio.xz uInitramfs`.\n";
    assert!(readme.contains(want), "{readme}");
    let conf = &files["yocto/meta-bootlap-t/conf/bootlap-t.conf"];
    assert!(
        conf.contains("UBOOT_LOADADDRESS = \"0x43000040\""),
        "{conf}"
    );
}

#[test]
fn hashes_compressions_and_their_options() {
    let start = kiosk();
    for (compression, option, file) in [
        ("bzip2", "CONFIG_BZIP2=y", "kernel.bz2"),
        ("lzma", "CONFIG_LZMA=y", "kernel.lzma"),
        ("lz4", "CONFIG_LZ4=y", "kernel.lz4"),
        ("zstd", "CONFIG_ZSTD=y", "kernel.zst"),
    ] {
        let files = made(&start, &[step("k", &[("kernel.compression", compression)])]);
        assert!(files["plain/uboot.config"].ends_with(&format!("{option}\n")));
        let its = &files["plain/image.its"];
        assert!(its.contains(&format!("/incbin/(\"{file}\")")), "{its}");
        assert!(its.contains(&format!("compression = \"{compression}\"")));
        // What the kiosk had, stays.
        assert_eq!(its.matches("algo = \"crc32\"").count(), 2);
        assert!(files["README.md"].contains("Yocto: The FIT classes pack a kernel with gzip"));
    }
    for (compression, option, kind) in [
        ("xz", "CONFIG_RD_XZ=y", "XZ"),
        ("lz4", "CONFIG_RD_LZ4=y", "LZ4"),
        ("none", "CONFIG_BLK_DEV_INITRD=y", "NONE"),
    ] {
        let files = made(
            &start,
            &[step("i", &[("initramfs.compression", compression)])],
        );
        assert!(files["plain/linux.config"].ends_with(&format!("{option}\n")));
        let fragment = &files["buildroot/configs/kiosk.fragment"];
        assert!(fragment.contains(&format!("BR2_TARGET_ROOTFS_CPIO_{kind}=y")));
    }
    let files = made(&start, &[step("h", &[("fit.hash", "sha256")])]);
    assert!(files["plain/uboot.config"].ends_with("CONFIG_SHA256=y\n"));
    let conf = &files["yocto/meta-bootlap-kiosk/conf/bootlap-kiosk.conf"];
    assert!(conf.ends_with("FIT_HASH_ALG = \"sha256\"\n"), "{conf}");
}

#[test]
fn savings_stand_beside_what_saves() {
    let mut steps = [
        step(
            "uboot-bootdelay",
            &[("bootloader.environment.bootdelay", "0")],
        ),
        step("fit-no-hash", &[("fit.hash", "none")]),
    ];
    steps[0].measured = Some(Measured {
        saved_ns: 2_001_234_567,
        interval_ns: [1_999_000_000, 2_003_000_000],
        time: Time::Simulated,
    });
    steps[1].measured = Some(Measured {
        saved_ns: -23_456_789,
        interval_ns: [-30_000_000, 500_000],
        time: Time::Predicted,
    });
    let files = made(&kiosk(), &steps);
    let saves = "saves 2.001 s (simulated; 95 %: 1.999 s to 2.003 s)";
    let costs = "costs 23.456 ms (predicted; 95 %: -30.000 ms to 0.500 ms)";
    for file in [
        "plain/uboot.config",
        "plain/uboot-env.txt",
        "plain/uboot-env-set.txt",
    ] {
        assert!(files[file].contains(&format!("# recipe uboot-bootdelay: {saves}\n")));
        assert!(!files[file].contains("fit-no-hash"));
    }
    let line = format!("// recipe fit-no-hash: {costs}\n");
    assert!(files["plain/image.its"].contains(&line));
    let fragment = &files["buildroot/configs/kiosk.fragment"];
    assert!(fragment.contains(saves) && fragment.contains(costs));
    let readme = &files["README.md"];
    assert!(readme.contains("   S") && readme.contains("aves 2.001 s (simulated"));
    assert!(readme.contains("Costs 23.456 ms (predicted"));
}

/// A board's description may leave out what its environment has besides.
#[test]
fn a_board_gets_no_environment_that_may_not_be_whole() {
    let text = PLAIN.split("[machine]").next().unwrap().to_owned();
    let start = text
        + "[machine]\nkind = 'serial'\ndevice = '/dev/ttyUSB0'\npower-cycle = 'x'\n\
           [bootloader]\nenvironment = { bootdelay = '2' }\n";
    let start = parse(&start).unwrap();
    let delay = step(
        "uboot-bootdelay",
        &[("bootloader.environment.bootdelay", "0")],
    );
    let files = made(&start, &[delay]);
    let with: Vec<_> = files.keys().filter(|p| p.contains("env")).collect();
    assert_eq!(with, ["plain/uboot-env-set.txt"]);
    assert!(files["plain/uboot-env-set.txt"].ends_with("with it\nbootdelay=0\n"));
    assert!(files["README.md"].contains("the target has no `[flash]`"));
}

#[test]
fn what_no_file_carries_is_said() {
    let files = made(&kiosk(), &[step("r", &[("ready.pattern", "X")])]);
    assert_eq!(files.keys().collect::<Vec<_>>(), ["README.md"]);
    assert!(files["README.md"].contains("- ready.pattern of `target.toml`: see there."));

    let odd = [step("v", &[("bootloader.environment.x", "ends in \\")])];
    let files = made(&kiosk(), &odd);
    assert!(!files.contains_key("plain/uboot-env.txt"));
    assert!(files["README.md"].contains("cannot read from text: take it"));

    let odd = [step("c", &[("kernel.cmdline", "a\nb $x")])];
    let files = made(&kiosk(), &odd);
    assert!(!files.contains_key("plain/cmdline.txt"));
    assert!(files["README.md"].contains("no line of text can have"));
    assert!(files["README.md"].contains("no configuration carries it"));
}

/// Every line of a file that is no comment.
fn said(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
}

proptest! {
    /// A target's name, command line and variables may be anything.
    #[test]
    fn nothing_breaks_out(
        name in r#"[ -~é\\"'`${}@#;|&]{1,30}"#,
        word in r#"[ -~é\\"'`${}@#;|&]{0,30}"#,
        value in any::<String>(),
    ) {
        let quoted = toml_edit::Value::from(name.replace('/', "-") + "x").to_string();
        let text = format!("{PLAIN}{FLASH}").replace("name = \"t\"", &format!("name = {quoted}"));
        let start = parse(&text).unwrap();
        let value = value.replace('\0', "");
        let steps = [
            step("recipe\n=${@x}", &[
                ("kernel.cmdline", &*format!("a {word}")),
                ("bootloader.environment.x", &*value),
                ("bootloader.environment.bootdelay", "0"),
            ]),
            step("k", &[("kernel.compression", "lz4"), ("fit.hash", "none")]),
        ];
        let files = made(&start, &steps);
        for (path, text) in &files {
            let path: &Path = path.as_ref();
            let text = text.as_str();
            if path.ends_with("uboot.config") || path.ends_with("uboot.fragment") {
                for line in said(text) {
                    prop_assert!(line.starts_with("CONFIG_"), "{line}");
                    let dangerous = line.contains(['$', '`', '\\', '\'']);
                    prop_assert!(!dangerous && !line.contains("is not set"), "{line}");
                }
                prop_assert!(!text.contains("\n# CONFIG_"));
            }
            if path.extension() == Some("fragment".as_ref()) && path.starts_with("buildroot/configs") {
                for line in said(text) {
                    prop_assert!(line.starts_with("BR2_"), "{line}");
                }
            }
            if path.ends_with("layer.conf") || path.extension() == Some("bbappend".as_ref()) {
                let expands = ["${LAYERDIR}", "${THISDIR}", "${@bb.utils.contains('PROVIDES', ",
                    "${@d.getVar('UNPACKDIR')", "${BOOTLAP_ENV}", "${DEPLOYDIR}"];
                for (at, _) in text.match_indices("${") {
                    let line = text[..at].rsplit('\n').next().unwrap_or_default();
                    let ours = line.starts_with('#') || expands.iter().any(|e| text[at..].starts_with(e));
                    prop_assert!(ours, "{}", &text[at..]);
                }
            }
            if path.ends_with("external.mk") || path.ends_with("Config.in") {
                prop_assert_eq!(said(text).count(), 0);
            }
            if path.ends_with("make-images.sh") {
                prop_assert!(text.is_ascii() || text.lines().nth(1).is_some_and(|l| l.starts_with("# ")));
            }
        }
    }
}

fn tree() -> impl Strategy<Value = Vec<Entry>> {
    let what = prop_oneof![
        any::<Vec<u8>>().prop_map(|bytes| What::File {
            executable: bytes.len() % 2 == 0,
            bytes
        }),
        "[a-z$' -]{1,4}".prop_map(|to| What::Link {
            to: to.into_bytes()
        }),
        Just(What::Dir),
    ];
    let name = prop_oneof![Just("a"), Just("b'$(x)"), Just("-c \n"), Just("d")];
    let leaf = (name.clone(), proptest::option::of(name), what);
    proptest::collection::vec(leaf, 0..6).prop_map(|leaves| {
        let mut found: BTreeMap<Vec<u8>, What> = BTreeMap::new();
        for (outer, inner, what) in leaves {
            let Some(inner) = inner else {
                let taken = found
                    .keys()
                    .any(|p| p.starts_with(format!("{outer}/").as_bytes()));
                if !taken {
                    found.insert(outer.into(), what);
                }
                continue;
            };
            let outer_is = found.entry(outer.into()).or_insert(What::Dir);
            if *outer_is == What::Dir {
                found.insert(format!("{outer}/{inner}").into(), what);
            }
        }
        found
            .into_iter()
            .map(|(path, what)| Entry { path, what })
            .collect()
    })
}

/// Lays a tree out in a folder.
fn lay_out(tree: &[Entry], root: &Path) {
    for entry in tree {
        let at = root.join(OsString::from_vec(entry.path.clone()));
        match &entry.what {
            What::Dir => fs::create_dir(&at).unwrap(),
            What::Link { to } => {
                std::os::unix::fs::symlink(OsString::from_vec(to.clone()), &at).unwrap();
            }
            What::File { executable, bytes } => {
                fs::write(&at, bytes).unwrap();
                let mode = if *executable { 0o755 } else { 0o644 };
                fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
            }
            What::Own(_) => unreachable!("no image here"),
        }
    }
}

/// The tree that lies in a folder.
fn found(root: &Path, at: &Path, tree: &mut Vec<Entry>) {
    let mut names: Vec<_> = fs::read_dir(root.join(at)).unwrap().flatten().collect();
    names.sort_by_key(fs::DirEntry::file_name);
    for entry in names {
        let path = at.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        let what = if kind.is_symlink() {
            let to = fs::read_link(entry.path()).unwrap();
            What::Link {
                to: to.into_os_string().into_vec(),
            }
        } else if kind.is_dir() {
            What::Dir
        } else {
            What::File {
                executable: entry.metadata().unwrap().permissions().mode() & 0o111 != 0,
                bytes: fs::read(entry.path()).unwrap(),
            }
        };
        let bytes = path.clone().into_os_string().into_vec();
        tree.push(Entry { path: bytes, what });
        if kind.is_dir() {
            found(root, &path, tree);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// The script makes of any tree any other.
    #[test]
    fn the_script_makes_one_tree_of_another(before in tree(), after in tree()) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir(&root).unwrap();
        lay_out(&before, &root);
        let start = parse(&format!("{PLAIN}[initramfs]\n")).unwrap();
        let (before, after) = (parts(Some(before)), parts(Some(after)));
        let step = step("files", &[("initramfs.files.x", "y")]);
        let files = files(&start, &before, &after, &[step]).unwrap();
        let patches = dir.path().join("patches");
        write(&files, &patches).unwrap();
        let script = patches.join("plain/initramfs.sh");
        if script.exists() {
            let out = Command::new(&script).arg(&root).output().unwrap();
            prop_assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        }
        let mut got = Vec::new();
        found(&root, Path::new(""), &mut got);
        got.sort_by(|a, b| a.path.cmp(&b.path));
        prop_assert_eq!(Some(got), after.initramfs);
    }
}

#[test]
fn drop_ins_of_systemd_are_where_one_looks_for_them() {
    let file = |path: &str| Entry {
        path: path.into(),
        what: What::File {
            executable: false,
            bytes: b"[Unit]\n".to_vec(),
        },
    };
    let after = parts(Some(vec![
        file("etc/systemd/system/kiosk.service.d/fast.conf"),
        file("etc/systemd/system/kiosk.service"),
    ]));
    let start = parse(&format!("{PLAIN}[initramfs]\n")).unwrap();
    let before = parts(Some(Vec::new()));
    let files = files(&start, &before, &after, &[]).unwrap();
    let systemd: Vec<_> = files
        .iter()
        .filter(|f| f.path.starts_with("plain/systemd"))
        .collect();
    assert_eq!(systemd.len(), 1);
    assert_eq!(
        systemd[0].path,
        Path::new("plain/systemd/kiosk.service.d/fast.conf")
    );
    assert!(files.iter().any(|f| f.path.ends_with("bootlap-t.bbclass")));
    assert!(
        files
            .iter()
            .any(|f| f.path.ends_with("board/t/post-build.sh") && f.executable)
    );
}

/// What changes a root on a disk changes the one that a build puts together, too; twice is once,
/// and what is not named stays.
#[test]
fn the_root_of_a_disk_is_changed_where_it_is_built() {
    let start = parse(&format!("{PLAIN}[disk]\nimage = \"disk.img\"\n")).unwrap();
    let step = step(
        "systemd-defer=a.service",
        &[
            (r#"disk.texts."2:/etc/hello""#, "hello\n"),
            (r#"disk.texts."2:/etc/init.d/S9 it's""#, "#!/bin/sh\n"),
            (r#"disk.texts."2:/etc/motd""#, "new\n"),
            (r#"disk.links."2:/etc/systemd/a.service""#, "/dev/null"),
            (r#"disk.links."2:/etc/link""#, "../x y"),
            (r#"disk.texts."1:/config.txt""#, "x"),
        ],
    );
    let mut step = step;
    step.edits
        .push(Edit::add("disk.remove", "2:/etc/rc.d/S19firewall"));
    step.edits.push(Edit::add("disk.remove", "2:/etc/out"));
    let room = Edit::number(r#"disk.room."2:/var/image""#, 64);
    step.edits
        .extend([room, Edit::set("disk.state", "after-first-boot")]);
    let files = files(&start, &parts(None), &parts(None), &[step]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let patches = dir.path().join("patches");
    write(&files, &patches).unwrap();
    let root = dir.path().join("root");
    fs::create_dir_all(root.join("etc/rc.d")).unwrap();
    let beside = dir.path().join("beside");
    fs::write(&beside, "beside").unwrap();
    fs::write(root.join("etc/motd"), "old").unwrap();
    fs::set_permissions(root.join("etc/motd"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(root.join("etc/rc.d/S19firewall"), "").unwrap();
    fs::write(root.join("etc/stays"), "stays").unwrap();
    for link in ["hello", "out", "link"] {
        symlink(&beside, root.join("etc").join(link)).unwrap();
    }
    let scripts = [
        "plain/root.sh",
        "buildroot/board/t/post-build.sh",
        "yocto/meta-bootlap-t/files/bootlap-t-root/root.sh",
    ];
    for script in scripts.iter().chain(&scripts) {
        let out = Command::new(patches.join(script))
            .arg(&root)
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
    let text = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let mode = |path: &str| fs::metadata(root.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(text("etc/hello"), "hello\n");
    assert_eq!(mode("etc/hello"), 0o644);
    assert_eq!(
        (text("etc/motd"), mode("etc/motd")),
        ("new\n".into(), 0o600)
    );
    assert_eq!(mode("etc/init.d/S9 it's"), 0o755);
    let to = |path: &str| fs::read_link(root.join(path)).unwrap();
    assert_eq!(to("etc/systemd/a.service"), Path::new("/dev/null"));
    assert_eq!(to("etc/link"), Path::new("../x y"));
    assert!(!root.join("etc/rc.d/S19firewall").exists());
    assert!(fs::symlink_metadata(root.join("etc/out")).is_err());
    assert_eq!(
        (text("etc/stays"), fs::read_to_string(&beside).unwrap()),
        ("stays".into(), "beside".into())
    );
    let readme = files
        .iter()
        .find(|f| f.path == Path::new("README.md"))
        .unwrap();
    let readme = String::from_utf8_lossy(&readme.bytes);
    assert!(readme.contains("DISABLED_SERVICES='firewall'"), "{readme}");
    assert!(
        readme.contains("1:/config.txt on the disk: another partition"),
        "{readme}"
    );
    for said in [
        "2:/var/image on the disk has 64 MiB set aside",
        "2:/var/image on the disk: set it aside where the file system is mounted, `fallocate -l 64M",
        "measured are the boots behind the first one",
    ] {
        assert!(readme.contains(said), "{said}: {readme}");
    }
}

#[test]
fn nothing_is_written_outside_or_over() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("patches");
    for path in ["../x", "/x", "a/../../x"] {
        let file = PatchFile {
            path: path.into(),
            bytes: Vec::new(),
            executable: false,
        };
        let said = write(&[file], &out).unwrap_err().to_string();
        assert!(said.contains("would lie outside"), "{said}");
        assert!(!out.exists());
    }
    write(&[], &out).unwrap();
    assert!(write(&[], &out).unwrap_err().to_string().contains("create"));
}
