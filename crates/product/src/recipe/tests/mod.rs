//! What holds for every recipe, and what they share.

mod built;
mod disk;
mod loader;
mod systemd;

use bootlap_artefact::compress::Compression;
use bootlap_artefact::hash::Hash;
use bootlap_kbuild::dot_config::DotConfig;

use super::*;
use crate::initramfs::{Entry, What};
use crate::part::Part;
use crate::target::tests::{PLAIN, kiosk, parse};
use crate::{Cache, cmdline};

fn part(bytes: &[u8]) -> Part {
    Part::new("test", bytes.to_vec())
}

/// A boot loader that can do everything.
fn able() -> Vec<u8> {
    let mut bytes = b"\0silent\0lzmadec\0unlz4\0".to_vec();
    let bzip2 = [0_u32, 0x04c1_1db7, 0x0982_3b6e, 0x0d43_26d9];
    let zstd = [16_u32, 18, 20, 22, 24, 28, 32, 40, 48, 64, 128, 256];
    for word in bzip2.iter().chain(&zstd) {
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

fn parts(bootloader: Option<&[u8]>) -> Parts {
    Parts {
        bootloader: bootloader.map(part),
        kernel: Some(part(b"kernel")),
        ..Parts::default()
    }
}

/// The kiosk with one recipe applied.
fn applied(recipe: &str) -> Target {
    let choice = Choice::parse(recipe).unwrap();
    choice.apply(&kiosk(), &parts(Some(&able()))).unwrap()
}

/// Why a recipe does not apply to `target`.
fn refused(recipe: &str, target: &Target, parts: &Parts) -> String {
    let choice = Choice::parse(recipe).unwrap();
    let error = choice.apply(target, parts).err();
    let said = error.map(|e| e.to_string()).unwrap_or_default();
    let start = format!(
        "recipe {} does not apply to {}: ",
        choice.name(),
        target.spec.name
    );
    let why = said.strip_prefix(&start);
    why.unwrap_or_else(|| panic!("{recipe}: {said}")).to_owned()
}

/// A value for a recipe whose values cannot be listed.
fn example(recipe: &str) -> &'static str {
    match recipe {
        "cmdline-initcall-blacklist" => "btrfs_init",
        "cmdline-async-probe" => "ahci",
        "cmdline-rootfstype" => "ext4",
        "cmdline-ip-static" => "10.0.0.2:10.0.0.1::255.0.0.0::eth0:off",
        "cmdline-loglevel" => "3",
        "cmdline-console-baud" => "921600",
        "cmdline-console-size" => "24x80",
        "boot-image" | "initramfs-touched" => "Cargo.toml",
        "kernel-options" => "FTRACE=n,CONFIG_LOG_BUF_SHIFT=14",
        "uboot-options" => "ZSTD=y",
        "initscripts-defer" => "S10net,S20web",
        "initscripts-off" => "S20web",
        "systemd-mask" => "late.service,web.service",
        "systemd-defer" => "alone.service",
        "systemd-on-demand" => "alone.service",
        "systemd-checkpoint" => "web.service",
        "systemd-first" => "web.service",
        "systemd-unordered" => "web.service/alone.service",
        "preload" => "src/recipe/testdata/reads.txt",
        "resume-image" => "src/recipe/testdata/static-program,web.service",
        _ => "7",
    }
}

/// The kiosk with these words first on its command line.
fn with_words(words: &str) -> Target {
    let text = kiosk().text;
    let text = text.replace("console=ttyAMA0", &format!("{words} console=ttyAMA0"));
    parse(&text).unwrap()
}

/// Every recipe with every value that can be listed.
fn every_choice() -> Vec<String> {
    let mut all = Vec::new();
    for meta in super::all().iter().map(|r| r.meta()) {
        match meta.values {
            [] => all.push(meta.name.to_owned()),
            [""] => all.push(format!("{}={}", meta.name, example(meta.name))),
            values => all.extend(values.iter().map(|v| format!("{}={v}", meta.name))),
        }
    }
    all
}

/// The target that a recipe has something to change in. One that finds nothing
/// in the kiosk gets a line here.
fn base(recipe: &str) -> Target {
    match recipe {
        // What the kiosk is packed with already is packed otherwise first.
        "kernel-compression=gzip" => applied("kernel-compression=none"),
        "initramfs-compression=gzip" => applied("initramfs-compression=none"),
        "cmdline-no-i8042" | "cmdline-no-timer-check" | "cmdline-tsc-reliable" => {
            parse(&kiosk().text.replace("\"arm64\"", "\"amd64\"")).unwrap()
        }
        "cmdline-less-debug" => with_words("debug"),
        "cmdline-no-ip" => with_words("ip=dhcp"),
        "cmdline-no-tty-console" => with_words("console=tty0"),
        "cmdline-no-rootdelay" | "cmdline-rootwait" => with_words("rootdelay=5"),
        name if name.starts_with("cmdline-rootfstype") => with_words("root=/dev/vda"),
        name if name.starts_with("cmdline-ip-static") => with_words("ip=dhcp"),
        "kernel-optimize-size" | "initramfs-builtin" => applied("kernel-minimal"),
        name if name.starts_with("kernel-options") => applied("kernel-minimal"),
        "initramfs-none" => without_loader("root=/dev/vda"),
        "uboot-falcon" => orangepi(),
        "loader-timeout" => of_disk(),
        name if has_words_and_systemd(name) => {
            let disk = format!(
                "[disk]\nimage = {:?}\n\n[machine]\n",
                DISK.replace("fat12", "systemd")
            );
            parse(&kiosk().text.replace("[machine]\n", &disk)).unwrap()
        }
        name if name.starts_with("systemd-checkpoint") => {
            let seed = DISK.replace("fat12", "systemd");
            let text = of_distribution("root=/dev/vda").text;
            parse(&text.replace(&seed, WITH_CRIU)).unwrap()
        }
        "systemd-booted-once" => {
            let seed = DISK.replace("fat12", "systemd");
            parse(&of_systemd().text.replace(&seed, WRITABLE)).unwrap()
        }
        name if name.starts_with("systemd-") || name.starts_with("preload") => of_systemd(),
        "python-unchecked" => parse(&of_disk().text.replace("fat12", "python")).unwrap(),
        "initramfs-minimal" => of_distribution("root=/dev/vda"),
        name if name.starts_with("resume-image") => {
            let choice = Choice::parse("initramfs-minimal").unwrap();
            let parts = base_parts("initramfs-minimal");
            let target = of_distribution("root=/dev/vda rw");
            choice.apply(&target, &parts).unwrap()
        }
        name if name.starts_with("initscripts-") => {
            parse(&of_disk().text.replace("fat12", "scripts")).unwrap()
        }
        "root-format=squashfs-gzip" => parse(&with_root().text.replace(
            "\"squashfs\"",
            "\"squashfs\"\noptions = [\"-comp\", \"xz\"]",
        ))
        .unwrap(),
        name if name.starts_with("boot-image") || name.starts_with("root-format") => with_root(),
        "uboot-flat-bootcmd" | "uboot-exact-size" | "uboot-load-in-place" => arm32(),
        _ => kiosk(),
    }
}

/// A disk with a boot loader, whose menu waits.
fn of_disk() -> Target {
    let start = crate::example::PLAIN.find("[kernel]").unwrap();
    let machine = &crate::example::PLAIN[..start];
    parse(&format!("{machine}[disk]\nimage = {DISK:?}\n")).unwrap()
}

const DISK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/disk/fat12");

/// The root of [`of_systemd`] with CRIU, and a service that says what it starts.
const WITH_CRIU: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/recipe/testdata/root-with-criu"
);

/// The same without it, on ext2: mke2fs -b 1024 -I 128 -N 64 -m 0 -O ^resize_inode,^dir_index -d
const WRITABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/recipe/testdata/root-ext2");

/// Whether a recipe of systemd also looks at the kernel's command line.
fn has_words_and_systemd(recipe: &str) -> bool {
    let names = [
        "systemd-status-auto",
        "systemd-generators-off",
        "systemd-idle-off",
        "systemd-caches-off",
        "systemd-remount-off",
    ];
    names.contains(&recipe) || recipe.starts_with("systemd-first")
}

/// The same, with systemd on it.
fn of_systemd() -> Target {
    parse(&of_disk().text.replace("fat12", "systemd")).unwrap()
}

/// The same, whose kernel and initramfs the machine starts.
fn of_distribution(words: &str) -> Target {
    let text = of_systemd().text;
    parse(&format!(
        "{text}\n[kernel]\nimage = \"vmlinuz\"\ncmdline = {words:?}\n\n\
         [initramfs]\nimage = \"initrd\"\n"
    ))
    .unwrap()
}

/// What a distribution's initramfs holds, with modules that are called so.
fn of_initramfs(names: &[&str], more: &str) -> Vec<Entry> {
    let file = |path: &str, bytes: &str| Entry {
        path: path.into(),
        what: What::File {
            executable: true,
            bytes: bytes.into(),
        },
    };
    let folder = "usr/lib/modules/6.1";
    let list: String = names.iter().map(|n| format!("kernel/{n}.ko:\n")).collect();
    let programs = ["sh", "mount", "run-init", "blkid", "sleep", "modprobe"];
    let programs = programs.map(|name| file(&format!("usr/bin/{name}"), ""));
    let mut all = vec![
        file("init", ""),
        file(&format!("{folder}/modules.dep"), &list),
    ];
    all.extend(
        names
            .iter()
            .map(|n| file(&format!("{folder}/kernel/{n}.ko"), "")),
    );
    all.extend(programs);
    all.push(file(more, ""));
    all
}

fn module(name: &str, bytes: Vec<u8>) -> Entry {
    Entry {
        path: format!("usr/lib/modules/6.1/kernel/{name}").into_bytes(),
        what: What::File {
            executable: false,
            bytes,
        },
    }
}

/// A module with a signature of one byte.
fn signed_module() -> Entry {
    let signature = b"s\0\0\x02\0\0\0\0\0\0\0\0\x01~Module signature appended~\n";
    module("virtio.ko", [b"\x7fELF", &signature[..]].concat())
}

fn packed_module() -> Entry {
    let bytes = Compression::Xz.compress(b"\x7fELF").unwrap();
    module("virtio.ko.xz", bytes)
}

/// The modules that the disk of [`of_distribution`] is mounted with.
const OF_SQUASHFS: [&str; 4] = ["virtio_pci", "virtio_blk", "squashfs", "overlay"];

#[test]
fn a_minimal_initramfs_needs_what_it_mounts_the_root_with() {
    let disk = base_parts("initramfs-minimal").disk;
    let with = |names: &[&str], more: &str| Parts {
        initramfs: Some(of_initramfs(names, more)),
        disk: disk.clone(),
        ..parts(None)
    };
    let why = |words: &str, names: &[&str], more: &str| {
        refused(
            "initramfs-minimal",
            &of_distribution(words),
            &with(names, more),
        )
    };
    let root = "root=/dev/vda";
    let no_driver = why(root, &OF_SQUASHFS[2..], "etc/x");
    assert!(no_driver.contains("no module virtio_pci"), "{no_driver}");
    let grows = why(root, &OF_SQUASHFS, "scripts/local-bottom/growroot");
    assert!(grows.contains("growroot"), "{grows}");
    let locked = why(root, &OF_SQUASHFS, "cryptroot/crypttab");
    assert!(locked.contains("crypttab"), "{locked}");
    for words in [
        "root=/dev/mapper/vg-root",
        "root=/dev/vda boot=live",
        "root=UUID=12-34",
    ] {
        assert_ne!(why(words, &OF_SQUASHFS, "etc/x"), "", "{words}");
    }
}

/// The kiosk with a disk.
fn with_root() -> Target {
    let disk = "args = [\"-drive\", \"file={root},format=raw,if=none,id=root\"]";
    let text = kiosk()
        .text
        .replace("[machine]\n", &format!("[machine]\n{disk}\n"));
    parse(&format!(
        "{text}\n[root]\nformat = \"squashfs\"\ntree = \"initramfs\"\n"
    ))
    .unwrap()
}

/// The kiosk with these words, started by the machine itself.
fn without_loader(words: &str) -> Target {
    let choice = Choice::parse("bootloader-none").unwrap();
    choice.apply(&with_words(words), &parts(None)).unwrap()
}

/// The parts of [`base`].
fn base_parts(recipe: &str) -> Parts {
    if recipe == "initramfs-minimal" || recipe.starts_with("resume-image") {
        let disk = of_systemd()
            .parts(&Cache::at("none".into()), &|_| {})
            .unwrap();
        return Parts {
            disk: disk.disk,
            initramfs: Some(of_initramfs(&OF_SQUASHFS, "etc/x")),
            ..parts(None)
        };
    }
    if recipe.starts_with("systemd-checkpoint") {
        let disk = parse(
            &of_systemd()
                .text
                .replace(&DISK.replace("fat12", "systemd"), WITH_CRIU),
        );
        let disk = disk.unwrap().parts(&Cache::at("none".into()), &|_| {});
        return Parts {
            disk: disk.unwrap().disk,
            ..parts(None)
        };
    }
    if recipe == "loader-timeout" || base(recipe).spec.kernel.is_none() {
        return base(recipe)
            .parts(&Cache::at("none".into()), &|_| {})
            .unwrap();
    }
    if has_words_and_systemd(recipe) {
        let disk = of_systemd()
            .parts(&Cache::at("none".into()), &|_| {})
            .unwrap();
        let parts = parts(Some(&able()));
        return Parts {
            disk: disk.disk,
            ..parts
        };
    }
    let mut parts = parts(Some(&able()));
    match recipe {
        "initramfs-unsigned" => parts.initramfs = Some(vec![signed_module()]),
        "initramfs-plain-modules" => parts.initramfs = Some(vec![packed_module()]),
        _ => {}
    }
    if base(recipe).spec.uimage.is_some() || recipe == "uboot-falcon" {
        parts.kernel = Some(part(&zimage()));
    }
    parts
}

fn arm32() -> Target {
    target_of_ours("arm32")
}

fn orangepi() -> Target {
    target_of_ours("orangepi")
}

fn target_of_ours(name: &str) -> Target {
    let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets");
    Target::load(&targets.join(name)).unwrap()
}

/// The smallest thing that is a zImage and says how large it is unpacked: 16
/// MiB and 1 MiB of bss.
fn zimage() -> Vec<u8> {
    let mut bytes = vec![0; 0x100];
    bytes[0x24..0x28].copy_from_slice(b"\x18\x28\x6f\x01");
    for (at, word) in [
        (0x34, 0x4545_4545_u32),
        (0x38, 0x40),
        (0x44, u32::from_le_bytes(*b"KLSZ")),
        (0x48, 0x60),
        (0x4c, 0x10_0000),
        (0x60, 0x100_0000),
    ] {
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

#[test]
fn every_recipe_applies_once_and_gives_a_target() {
    for name in every_choice() {
        let (base, parts) = (base(&name), base_parts(&name));
        let choice = Choice::parse(&name).unwrap();
        assert_eq!(choice.name(), name);
        let changed = choice.apply(&base, &parts).unwrap();
        assert!(changed.edits.len() > base.edits.len());
        let again = Target::parse(changed.dir.clone(), changed.text.clone(), "t").unwrap();
        assert_eq!(again.text, changed.text);
        // What is done is done.
        let why = refused(&name, &changed, &parts);
        assert!(why.contains("already"), "{name}: {why}");
        assert!(
            choice.edits(&base, &parts).is_ok(),
            "{name}: the base is as it was"
        );
    }
}

/// Recipes that take whole tables away.
fn removes(recipe: &str) -> bool {
    matches!(
        recipe,
        "bootloader-none" | "initramfs-none" | "uboot-falcon"
    )
}

/// Comments stay: only lines with a change differ, or are new.
#[test]
fn a_recipe_changes_only_its_own_lines() {
    for name in every_choice() {
        let (base, parts) = (base(&name), base_parts(&name));
        let changed = Choice::parse(&name).unwrap().apply(&base, &parts).unwrap();
        let kept = base.text.lines().filter(|l| changed.text.contains(l));
        let edits = changed.edits.len() - base.edits.len();
        assert!(
            removes(&name) || kept.count() + edits >= base.text.lines().count(),
            "{name}:\n{}",
            changed.text
        );
    }
}

#[test]
fn what_is_packed_so_already_is_refused() {
    for name in ["kernel-compression=gzip", "initramfs-compression=gzip"] {
        let why = refused(name, &kiosk(), &base_parts(name));
        assert!(why.ends_with("is compressed with gzip already"), "{why}");
    }
}

#[test]
fn all_that_apply_to_the_kiosk_at_once_give_a_target_too() {
    let mut target = kiosk();
    for meta in super::all().iter().map(|r| r.meta()) {
        let name = if meta.values == [""] {
            format!("{}={}", meta.name, example(meta.name))
        } else {
            meta.name.into()
        };
        let choice = Choice::parse(&name).unwrap();
        // One recipe may leave nothing for another to do.
        if let Ok(changed) = choice.apply(&target, &base_parts(&name)) {
            target = changed;
        }
    }
    let line = target.spec.kernel.unwrap().cmdline;
    let words = cmdline::words(&line);
    for word in [
        "console=ttyAMA0,921600",
        "quiet",
        "cryptomgr.notests",
        "lpj=7",
    ] {
        assert!(words.contains(&word), "{word}: {line}");
    }
}

#[test]
fn the_edits_do_what_the_recipe_says() {
    let environment = |recipe| applied(recipe).spec.bootloader.unwrap().environment;
    assert_eq!(environment("uboot-bootdelay")["bootdelay"], "0");
    assert_eq!(environment("uboot-silent")["silent"], "1");
    assert_eq!(environment("uboot-silent")["silent_linux"], "no");
    assert_eq!(applied("fit-no-hash").spec.fit.unwrap().hash, Hash::None);
    let kernel = |recipe| applied(recipe).spec.kernel.unwrap();
    assert_eq!(kernel("kernel-compression").compression, Compression::None);
    assert_eq!(
        kernel("kernel-compression=lz4").compression,
        Compression::Lz4
    );
    let initramfs = applied("initramfs-compression=zstd")
        .spec
        .initramfs
        .unwrap();
    assert_eq!(initramfs.compression, Compression::Zstd);
    assert_eq!(
        kernel("cmdline-lpj=42").cmdline,
        "console=ttyAMA0,115200 lpj=42"
    );
}

#[test]
fn a_target_without_what_it_changes_is_refused() {
    let plain = parse(PLAIN).unwrap();
    let parts = parts(None);
    for (recipe, want) in [
        ("uboot-bootdelay", "the target has no boot loader"),
        ("uboot-silent", "the target has no boot loader"),
        ("fit-no-hash", "the target has no FIT"),
        ("uboot-verify-off", "the target has no boot loader"),
        ("uboot-flat-bootcmd", "the target has no boot loader"),
        ("bootloader-none", "there is no boot loader already"),
        (
            "kernel-compression=lz4",
            "the kernel is neither in a FIT nor in a uImage",
        ),
        ("initramfs-compression=lz4", "the target has no initramfs"),
        ("initramfs-strip", "the target has no initramfs"),
        (
            "initramfs-touched=Cargo.toml",
            "the target has no initramfs",
        ),
        (
            "boot-image=Cargo.toml",
            "the target has no [root] of which an image could be made; for one that is there \
             already, `bootlap-agent layout` moves its files on the device",
        ),
    ] {
        assert_eq!(refused(recipe, &plain, &parts), want);
    }
}

#[test]
fn signatures_stay_where_the_kernel_insists_on_them() {
    let why = |words: &str, config: &[u8], initramfs: Vec<Entry>| {
        let parts = Parts {
            kernel_config: Some(DotConfig::read(config).unwrap()),
            initramfs: Some(initramfs),
            ..parts(Some(&able()))
        };
        refused("initramfs-unsigned", &with_words(words), &parts)
    };
    let signed = || vec![signed_module()];
    let fixed = b"CONFIG_MODULE_SIG_FORCE=y\n";
    assert!(why("", fixed, signed()).contains("MODULE_SIG_FORCE"));
    let asks = b"CONFIG_MODULE_SIG=y\n";
    assert!(why("module.sig_enforce", asks, signed()).contains("module.sig_enforce"));
    assert!(why("lockdown=integrity", asks, signed()).contains("lockdown=integrity"));
    let other = of_initramfs(&["virtio"], "etc/x");
    assert!(why("", asks, other).contains("no module that is signed"));
    let parts = Parts {
        initramfs: Some(signed()),
        ..parts(Some(&able()))
    };
    let refused = refused("initramfs-plain-modules", &with_words(""), &parts);
    assert!(
        refused.contains("no module that is compressed"),
        "{refused}"
    );
}

#[test]
fn parameters_go_where_the_kernel_reads_them() {
    let with = |cmdline: &str, recipe: &str| {
        let target = parse(&PLAIN.replace("a b", cmdline)).unwrap();
        let edits = Choice::parse(recipe)
            .unwrap()
            .edits(&target, &parts(None))?;
        assert_eq!((edits.len(), &*edits[0].key), (1, "kernel.cmdline"));
        Ok::<_, String>(edits[0].value.clone())
    };
    let quiet = |cmdline| with(cmdline, "cmdline-quiet");
    for (line, want) in [
        ("", "quiet"),
        ("a b ", "a b quiet"),
        ("a -- single", "a quiet -- single"),
        ("a -- quiet", "a quiet -- quiet"),
        (
            "not.quiet quieter x=quiet",
            "not.quiet quieter x=quiet quiet",
        ),
        ("dyndbg='x quiet y'", "dyndbg='x quiet y' quiet"),
        ("loglevel=7", "loglevel=7 quiet"),
    ] {
        // An apostrophe means nothing to the kernel, so it splits there.
        let got = quiet(line);
        if line.contains('\'') {
            assert_eq!(got.unwrap_err(), "the command line has quiet already");
        } else {
            assert_eq!(got.unwrap(), want);
        }
    }
    assert_eq!(
        quiet("dyndbg=\\\"x quiet\\\"").unwrap(),
        "dyndbg=\"x quiet\" quiet"
    );
    assert!(quiet("a quiet").unwrap_err().contains("has quiet already"));
    assert!(quiet("ignore_loglevel").unwrap_err().contains("overrides"));
    assert!(
        quiet("loglevel=3")
            .unwrap_err()
            .contains("as quiet already")
    );
    let tests = |line| with(line, "cmdline-no-crypto-tests");
    assert_eq!(tests("a").unwrap(), "a cryptomgr.notests");
    assert!(tests("cryptomgr.notests=1").is_err());
    assert_eq!(with("a", "cmdline-lpj=123").unwrap(), "a lpj=123");
    assert!(
        with("lpj=5", "cmdline-lpj=123")
            .unwrap_err()
            .contains("has lpj=5 already")
    );
}

#[test]
fn a_number_is_needed_for_the_delay_loop() {
    let plain = parse(PLAIN).unwrap();
    for value in [
        "",
        "=",
        "=0",
        "=-1",
        "=+1",
        "=x",
        "=1.5",
        "=99999999999999999999",
    ] {
        let why = refused(&format!("cmdline-lpj{value}"), &plain, &parts(None));
        assert!(why.contains("as in cmdline-lpj=1314816"), "{why}");
    }
    assert_eq!(Choice::parse("cmdline-lpj").unwrap().name(), "cmdline-lpj");
    assert_eq!(Choice::parse("cmdline-lpj=").unwrap().name(), "cmdline-lpj");
    assert_eq!(
        Choice::parse("cmdline-lpj=5").unwrap().name(),
        "cmdline-lpj=5"
    );
}

#[test]
fn what_cannot_be_meant_says_what_could() {
    for (typed, want) in [
        (
            "uboot-bootdelai",
            "no recipe is called uboot-bootdelai (did you mean uboot-bootdelay?)",
        ),
        (
            "quiet",
            "no recipe is called quiet; `bootlap recipes` lists them",
        ),
        ("", "a recipe needs a name"),
        (
            "uboot-silent=1",
            "recipe uboot-silent takes no value; say uboot-silent instead",
        ),
        (
            "uboot-silent=",
            "recipe uboot-silent takes no value; say uboot-silent instead",
        ),
        (
            "kernel-compression=zst",
            "recipe kernel-compression takes no value \"zst\" (did you mean zstd?); it takes none, gzip",
        ),
        (
            "kernel-compression=",
            "recipe kernel-compression takes no value \"\"",
        ),
        (
            "kernel-compression=xz",
            "recipe kernel-compression takes no value \"xz\"",
        ),
    ] {
        let error = Choice::parse(typed).err().unwrap();
        assert!(error.to_string().starts_with(want), "{error}\n{want}");
    }
    assert_eq!(
        Choice::parse("kernel-compression").unwrap().name(),
        "kernel-compression=none"
    );
}

#[test]
fn the_catalogue_is_complete() {
    let mut names: Vec<&str> = super::all().iter().map(|r| r.meta().name).collect();
    for meta in super::all().iter().map(|r| r.meta()) {
        assert!(
            !meta.title.is_empty() && !meta.risk.is_empty(),
            "{}",
            meta.name
        );
    }
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
