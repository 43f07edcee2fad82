//! The patch set of the kiosk: made with the real tools, read by the real
//! parsers, and as fast as the tuned target when it is carried over by hand.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bootlap_artefact::fit::Fit;
use bootlap_patchset::{self as patchset, Step};
use bootlap_product::{Boot, Cache, Edit, Target};
use serde_json::{Value, json as value};

use crate::support::{bootlap, changed_kiosk, json, kiosk, root, scratch};

/// What is changed: every kind of thing that recipes change.
const RECIPES: [&str; 6] = [
    "uboot-bootdelay",
    "fit-no-hash",
    "kernel-compression=none",
    "initramfs-compression=lz4",
    "cmdline-no-crypto-tests",
    "cmdline-quiet",
];

fn cache() -> PathBuf {
    let cache = env::var_os("BOOTLAP_CACHE").map(PathBuf::from);
    cache.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
}

/// Applies recipes to a target; what `apply --json` printed.
fn apply(dir: &Path, target: &Path, recipes: &[&str], more: &[&str]) -> Value {
    let mut command = bootlap(dir);
    command.arg("apply").arg(target).args(recipes);
    json(command.args(["-o", "tuned", "--json"]).args(more))
}

/// Runs a tool to success; what it printed.
fn tool(command: &mut Command) -> Vec<u8> {
    let hint = "apt-get install u-boot-tools device-tree-compiler lz4 cpio shellcheck python3-pip";
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}; {hint}"));
    let said = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {said}");
    stdout
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What is in the flash of a target, and its initramfs unpacked.
struct Flash {
    kernel: Vec<u8>,
    ramdisk: Vec<u8>,
    environment: Vec<u8>,
    fit: Vec<u8>,
}

impl Flash {
    fn of(target: &Path) -> Self {
        let target = Target::load(target).unwrap();
        let cache = Cache::at(cache());
        let parts = target.parts(&cache, &|_| {}).unwrap();
        let boot = target.assemble(&parts, &cache, &|_| {}).unwrap().boot("");
        let Boot::Flash { mut banks, .. } = boot.unwrap() else {
            panic!("the kiosk boots from flash");
        };
        let mut bank = banks.remove(1);
        let pieces = bank.split_off(1);
        let environment = bank.remove(0);
        let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &*piece.bytes).collect();
        let fit = pieces.concat();
        let images = Fit::parse(&fit).unwrap();
        let data = |name: &str| images.image(name).unwrap().data.to_vec();
        Self {
            kernel: data("kernel-1"),
            ramdisk: data("ramdisk-1"),
            environment: environment.bytes.to_vec(),
            fit,
        }
    }
}

/// `NAME=value` lines, as `mkenvimage` reads them.
fn variables(text: &str) -> BTreeMap<&str, &str> {
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    lines.map(|l| l.split_once('=').unwrap()).collect()
}

/// What `dumpimage` says of a FIT: its lines `Name: value`, by image.
fn images(listing: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut images: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for line in listing.lines().map(str::trim) {
        if line.starts_with("Image ") || line.starts_with("Configuration ") {
            images.push((line.to_owned(), Vec::new()));
        } else if let (Some((name, value)), Some(image)) = (line.split_once(':'), images.last_mut())
        {
            image
                .1
                .push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    images
}

/// A person has the stock kiosk and the files of `plain/`, and nothing else:
/// what they say is written into a copy of the stock `target.toml`.
fn by_hand(dir: &Path, plain: &Path, images: &[(String, Vec<(String, String)>)]) -> PathBuf {
    let lines = read(&plain.join("cmdline.txt"));
    let cmdline = |start: &str| lines.lines().find_map(|l| l.strip_prefix(start)).unwrap();
    let stock = Target::load(&kiosk()).unwrap();
    assert_eq!(
        cmdline("before: "),
        stock.spec.kernel.as_ref().unwrap().cmdline
    );
    let mut edits = vec![Edit::set("kernel.cmdline", cmdline("after: "))];

    let text = read(&plain.join("uboot-env.txt"));
    let mut environment = variables(&text);
    assert_eq!(environment.remove("bootargs"), Some(cmdline("after: ")));
    let names: Vec<&str> = environment.keys().copied().collect();
    let known = &stock.spec.bootloader.as_ref().unwrap().environment;
    assert_eq!(names, known.keys().collect::<Vec<_>>());
    for (name, value) in environment {
        edits.push(Edit::set(&format!("bootloader.environment.{name}"), value));
    }

    // From the image that mkimage made of image.its.
    let of = |image: &str, name: &str| {
        let found = images.iter().find(|(i, _)| i.contains(image)).unwrap();
        let value = found.1.iter().find(|(n, _)| n == name);
        value.map(|(_, v)| v.as_str())
    };
    let compression = match of("kernel-1", "Compression").unwrap() {
        "uncompressed" => "none",
        "gzip compressed" => "gzip",
        other => panic!("{other}"),
    };
    edits.push(Edit::set("kernel.compression", compression));
    let hash = of("kernel-1", "Hash algo").unwrap_or("none");
    edits.push(Edit::set("fit.hash", hash));
    assert_eq!(of("kernel-1", "Load Address"), Some("0x40400000"));
    let its = read(&plain.join("image.its"));
    let packed = its.split("initramfs.cpio.").nth(1).unwrap();
    let packed = packed.split('"').next().unwrap();
    edits.push(Edit::set("initramfs.compression", packed));

    let target = changed_kiosk(dir, "format = 1", "format = 1");
    let changed = Target::load(&target).unwrap().with(&edits).unwrap();
    fs::write(target.join("target.toml"), changed.text).unwrap();
    target
}

#[test]
fn the_files_alone_make_the_tuned_boot() {
    let dir = scratch("patchset");
    apply(&dir, &kiosk(), &RECIPES, &[]);
    let (tuned, plain) = (dir.join("tuned"), dir.join("tuned/patches/plain"));

    // The images, of the stock target's kernel and initramfs, by the real tools.
    let stock = Flash::of(&kiosk());
    let unpacked = |name: &str, packed: &[u8]| {
        let file = dir.join(name);
        fs::write(&file, packed).unwrap();
        let bytes = tool(Command::new("gzip").arg("-dc").arg(&file));
        fs::write(&file, bytes).unwrap();
        file
    };
    let kernel = unpacked("Image", &stock.kernel);
    let initramfs = unpacked("rootfs.cpio", &stock.ramdisk);
    let out = dir.join("out");
    let mut make = Command::new(plain.join("make-images.sh"));
    tool(make.arg(&kernel).arg(&initramfs).arg(&out));

    // They are what bootlap boots: the environment to the byte, the FIT in all
    // that it holds.
    let flash = Flash::of(&tuned);
    let environment = fs::read(out.join("uboot-env.bin")).unwrap();
    assert!(environment == flash.environment, "the environments differ");
    let image = out.join("image.itb");
    let dumped = |number: &str| {
        let file = dir.join("dumped");
        let mut dump = Command::new("dumpimage");
        dump.args(["-T", "flat_dt", "-p", number, "-o"]);
        tool(dump.arg(&file).arg(&image));
        fs::read(file).unwrap()
    };
    assert!(dumped("0") == flash.kernel, "the kernels differ");
    let unlz4 = |bytes: &[u8]| {
        let file = dir.join("packed.lz4");
        fs::write(&file, bytes).unwrap();
        tool(Command::new("lz4").arg("-dc").arg(file))
    };
    assert!(unlz4(&dumped("1")) == fs::read(&initramfs).unwrap());
    assert!(unlz4(&flash.ramdisk) == fs::read(&initramfs).unwrap());
    let listed = |fit: &Path| {
        let text = tool(Command::new("dumpimage").arg("-l").arg(fit));
        let mut all = images(&String::from_utf8(text).unwrap());
        for (_, lines) in &mut all {
            // Two compressors of the same format.
            lines.retain(|(name, _)| !matches!(&**name, "Data Size" | "Created"));
        }
        all
    };
    let own = dir.join("own.itb");
    fs::write(&own, &flash.fit).unwrap();
    let made = listed(&image);
    assert_eq!(made, listed(&own));
    assert_eq!(made.len(), 3, "kernel, initramfs, configuration: {made:?}");

    // And a boot of the stock target with what the files say takes exactly as
    // long as the tuned one.
    let hand = by_hand(&dir, &plain, &made);
    let boot = |target: &Path| {
        let mut command = bootlap(&dir);
        json(command.args(["boot", "-n", "1", "--json"]).arg(target))
    };
    let (tuned, hand) = (boot(&tuned), boot(&hand));
    assert!(tuned["ready_ns"].as_i64().unwrap() > 0);
    for exact in ["ready_ns", "instructions", "console_sha256"] {
        assert_eq!(tuned[exact], hand[exact], "{exact}");
    }
}

/// A layer, read by BitBake: what it makes of each recipe.
fn bitbake(layer: &Path) -> Output {
    let mut command = Command::new("python3");
    command.arg(root().join("tests/patchset/bitbake.py"));
    command.arg(cache()).arg(layer).output().unwrap()
}

/// An external tree, read by Kconfig and make: what they make of it.
fn kconfig(tree: &Path) -> Value {
    let mut command = Command::new("python3");
    command.arg(root().join("tests/patchset/kconfig.py"));
    let said = tool(command.arg(cache()).arg(tree));
    serde_json::from_slice(&said).unwrap()
}

fn shellcheck(files: &[PathBuf]) {
    let scripts: Vec<_> = files
        .iter()
        .filter(|f| f.extension() == Some("sh".as_ref()))
        .collect();
    assert!(!scripts.is_empty());
    tool(Command::new("shellcheck").args(scripts));
}

#[test]
fn buildroot_and_yocto_read_what_is_meant() {
    let dir = scratch("patchset-trees");
    let trials = value!({
        "format": 1, "tool": "bootlap", "target": "kiosk", "mode": "sim",
        "trials": [{"recipe": "uboot-bootdelay", "saved_ns": 2_000_500_000_i64,
                    "interval_ns": [1_999_000_000_i64, 2_001_000_000_i64]}],
    });
    fs::write(dir.join("trials.json"), trials.to_string()).unwrap();
    let applied = apply(&dir, &kiosk(), &RECIPES, &["--measured", "trials.json"]);
    let files = applied["files"].as_array().unwrap().iter();
    let tuned = dir.join("tuned");
    let files: Vec<PathBuf> = files.map(|f| tuned.join(f.as_str().unwrap())).collect();
    shellcheck(&files);
    assert_eq!(applied["edits"].as_array().unwrap().len(), RECIPES.len());

    // What was measured stands in each kind of file, and what was not, too.
    let saves = "saves 2.000 s (simulated; 95 %: 1.999 s to 2.001 s)";
    let patches = tuned.join("patches");
    let layer = patches.join("yocto/meta-bootlap-kiosk");
    for file in [
        "plain/uboot-env.txt",
        "plain/uboot.config",
        "buildroot/configs/kiosk.fragment",
        "yocto/meta-bootlap-kiosk/recipes-bsp/u-boot/files/bootlap-kiosk.cfg",
    ] {
        let text = read(&patches.join(file));
        assert!(
            text.contains(&format!("# recipe uboot-bootdelay: {saves}\n")),
            "{file}: {text}"
        );
        assert!(
            text.contains("cmdline-quiet: not measured here"),
            "{file}: {text}"
        );
    }
    for file in &files {
        let text = read(file);
        assert!(
            !text.contains(&*dir.to_string_lossy()),
            "{}",
            file.display()
        );
    }

    let tree = patches.join("buildroot");
    let options = kconfig(&tree);
    for (name, want) in [
        (
            "BR2_TARGET_UBOOT_CONFIG_FRAGMENT_FILES",
            "TREE/board/kiosk/uboot.fragment",
        ),
        (
            "BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES",
            "TREE/board/kiosk/linux.fragment",
        ),
        (
            "BR2_PACKAGE_HOST_UBOOT_TOOLS_ENVIMAGE_SOURCE",
            "TREE/board/kiosk/uboot-env.txt",
        ),
        ("BR2_PACKAGE_HOST_UBOOT_TOOLS_ENVIMAGE_SIZE", "0x40000"),
        (
            "BR2_ROOTFS_POST_IMAGE_SCRIPT",
            "TREE/board/kiosk/post-image.sh",
        ),
        ("BR2_TARGET_ROOTFS_CPIO_LZ4", "y"),
        ("BOOTDELAY", "0"),
        ("BOOTARGS", "console=ttyAMA0,115200 cryptomgr.notests quiet"),
        ("RD_LZ4", "y"),
    ] {
        assert_eq!(options[name], want, "{name} in {options}");
    }
    // Buildroot runs this with the images that it made.
    let images = dir.join("images");
    fs::create_dir(&images).unwrap();
    for name in ["Image", "rootfs.cpio"] {
        fs::write(images.join(name), name).unwrap();
    }
    let mut post_image = Command::new(tree.join("board/kiosk/post-image.sh"));
    tool(post_image.arg(&images).env("BINARIES_DIR", &images));
    let listed = tool(
        Command::new("dumpimage")
            .arg("-l")
            .arg(images.join("image.itb")),
    );
    assert!(String::from_utf8_lossy(&listed).contains("uncompressed"));

    let read_by = bitbake(&layer);
    let said = String::from_utf8_lossy(&read_by.stderr);
    assert!(read_by.status.success(), "{said}");
    let recipes: Value = serde_json::from_slice(&read_by.stdout).unwrap();
    let kernel = &recipes["linux-yocto_6.18"];
    assert_eq!(kernel["SRC_URI"], " file://bootlap-kiosk.cfg");
    assert_eq!(
        kernel["fetched"][0],
        read(&patches.join("plain/linux.config"))
    );
    assert_eq!(kernel["FIT_KERNEL_COMP_ALG"], "none");
    assert_eq!(kernel["FIT_KERNEL_COMP_ALG_EXTENSION"], "");
    assert_eq!(recipes["initramfs_1"]["INITRAMFS_FSTYPES"], "cpio.lz4");
    let uboot = &recipes["u-boot_2026.01"];
    assert_eq!(
        uboot["fetched"][0],
        read(&patches.join("plain/uboot.config"))
    );
    assert_eq!(
        uboot["fetched"][1],
        read(&patches.join("plain/uboot-env.txt"))
    );
    assert_eq!(uboot["DEPENDS"], "u-boot-tools-native");
    assert!(
        uboot["do_deploy"]
            .as_str()
            .unwrap()
            .contains("mkenvimage -s 0x40000 -o")
    );
    for other in ["linux-firmware_1", "u-boot-tools_2026.01"] {
        assert_eq!(recipes[other]["SRC_URI"], "", "{other}");
    }

    // The parser is no formality.
    let conf = layer.join("conf/layer.conf");
    let text = read(&conf);
    for (from, to, complaint) in [
        ("BBPATH .=", "BBPATH ..=", "unparsed line"),
        ("wrynose", "warrior", "not compatible with the core layer"),
    ] {
        fs::write(&conf, text.replace(from, to)).unwrap();
        let refused = bitbake(&layer);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains(complaint), "{said}");
    }
}

/// No recipe changes files yet; what does, is carried all the same.
#[test]
fn changed_files_are_carried() {
    let dir = scratch("patchset-files");
    let drop_in = dir.join("fast.conf");
    fs::write(&drop_in, "[Unit]\nDefaultDependencies=no\n").unwrap();
    let stock = Target::load(&kiosk()).unwrap();
    let at = "etc/systemd/system/kiosk.service.d/fast.conf";
    let edits = vec![
        Edit::allow(drop_in.to_string_lossy()),
        Edit::set(
            &format!("initramfs.files.\"/{at}\""),
            drop_in.to_string_lossy(),
        ),
        Edit::set("initramfs.links.\"/bin/sh\"", "toybox"),
    ];
    let tuned = stock.with(&edits).unwrap();
    let parts = |target: &Target| target.parts(&Cache::at(cache()), &|_| {}).unwrap();
    let step = Step {
        recipe: "fast-unit".to_owned(),
        title: "the unit waits for less".to_owned(),
        risk: "none".to_owned(),
        edits,
        measured: None,
    };
    let files = patchset::files(&stock, &parts(&stock), &parts(&tuned), &[step]).unwrap();
    let patches = dir.join("patches");
    patchset::write(&files, &patches).unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|f| patches.join(&f.path)).collect();
    shellcheck(&paths);
    assert!(
        patches
            .join("plain/systemd/kiosk.service.d/fast.conf")
            .exists()
    );

    // The script, on the stock target's own root file system.
    let root = dir.join("root");
    fs::create_dir(&root).unwrap();
    let packed = dir.join("packed");
    fs::write(&packed, Flash::of(&kiosk()).ramdisk).unwrap();
    let unpack = "gzip -dc ../packed | cpio -i --quiet";
    tool(Command::new("sh").args(["-c", unpack]).current_dir(&root));
    for script in ["plain/initramfs.sh", "buildroot/board/kiosk/post-build.sh"] {
        tool(Command::new(patches.join(script)).arg(&root));
        assert_eq!(read(&root.join(at)), read(&drop_in));
        assert_eq!(
            fs::read_link(root.join("bin/sh")).unwrap(),
            Path::new("toybox")
        );
        fs::remove_file(root.join(at)).unwrap();
    }

    let options = kconfig(&patches.join("buildroot"));
    let script = &options["BR2_ROOTFS_POST_BUILD_SCRIPT"];
    assert_eq!(script, "TREE/board/kiosk/post-build.sh");
    let read_by = bitbake(&patches.join("yocto/meta-bootlap-kiosk"));
    let said = String::from_utf8_lossy(&read_by.stderr);
    assert!(read_by.status.success(), "{said}");
    let recipes: Value = serde_json::from_slice(&read_by.stdout).unwrap();
    let runs = recipes["initramfs_1"]["bootlap_kiosk"].as_str().unwrap();
    assert!(
        runs.contains("sh \"LAYER/files/bootlap-kiosk/initramfs.sh\""),
        "{runs}"
    );
}

/// A name that would run a command in each of the readers.
const HOSTILE: &str =
    r##"'k"; $(touch owned) `touch owned` ${@open("owned","w")} $(shell touch owned) \\'"##;

#[test]
fn a_hostile_target_owns_nothing() {
    let dir = scratch("patchset-hostile");
    let name = HOSTILE.trim_matches('\'');
    let quoted = format!("name = '''{name}'''");
    let target = changed_kiosk(&dir, "name = \"kiosk\"", &quoted);
    let file = target.join("target.toml");
    let text = read(&file);
    let line = format!("cmdline = '''console=ttyAMA0,115200 {name}'''");
    let text = text.replace("cmdline = \"console=ttyAMA0,115200\"", &line);
    assert!(text.contains(&line));
    fs::write(&file, text).unwrap();
    let applied = apply(&dir, &target, &RECIPES, &[]);
    let patches = dir.join("tuned/patches");
    let files = applied["files"].as_array().unwrap().iter();
    let files: Vec<PathBuf> = files
        .map(|f| dir.join("tuned").join(f.as_str().unwrap()))
        .collect();
    shellcheck(&files);
    let only = |folder: &str| {
        let mut found = fs::read_dir(patches.join(folder)).unwrap().flatten();
        found.next().unwrap().path()
    };
    kconfig(&patches.join("buildroot"));
    let read_by = bitbake(&only("yocto"));
    let said = String::from_utf8_lossy(&read_by.stderr);
    assert!(read_by.status.success(), "{said}");
    let script = patches.join("plain/make-images.sh");
    fs::write(dir.join("part"), "part").unwrap();
    let mut make = Command::new(&script);
    tool(make.current_dir(&dir).args(["part", "part", "out"]));
    let environment = fs::read(dir.join("out/uboot-env.bin")).unwrap();
    assert!(environment == Flash::of(&dir.join("tuned")).environment);
    let readme = read(&patches.join("README.md"));
    assert!(readme.contains("no configuration carries it"), "{readme}");
    for place in [&dir, &patches, &dir.join("out")] {
        assert!(!place.join("owned").exists());
    }
}

#[test]
fn a_target_that_was_tuned_before_keeps_its_patch_set() {
    let dir = scratch("patchset-again");
    apply(&dir, &kiosk(), &["uboot-bootdelay"], &[]);
    let first = dir.join("first");
    fs::rename(dir.join("tuned"), &first).unwrap();
    let applied = apply(&dir, &first, &["cmdline-quiet"], &[]);
    let files = applied["files"].as_array().unwrap();
    assert!(
        files
            .iter()
            .all(|f| f.as_str().unwrap().starts_with("patches-2/"))
    );
    let old = "patches/plain/uboot.config";
    assert_eq!(read(&first.join(old)), read(&dir.join("tuned").join(old)));
}

#[test]
fn savings_of_another_target_are_refused() {
    let dir = scratch("patchset-refused");
    for (text, complaint) in [
        ("{", "not what `bootlap try --json` prints"),
        ("{}", "there are no `trials` in it"),
        (
            r#"{"target": "other", "trials": []}"#,
            "it is about \"other\", and not about \"kiosk\"",
        ),
    ] {
        fs::write(dir.join("trials.json"), text).unwrap();
        let mut command = bootlap(&dir);
        command.arg("apply").arg(kiosk()).arg("cmdline-quiet");
        let said =
            crate::support::failure(command.args(["-o", "o", "--measured", "trials.json"]), 4);
        assert!(said.contains(complaint), "{said}");
        assert!(!dir.join("o").exists());
    }
}
