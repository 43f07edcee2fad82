use super::*;
use crate::artefact::compress::Compression;
use crate::artefact::dot_config::DotConfig;
use crate::artefact::hash::Hash;
use crate::cmdline;
use crate::parts::Part;
use crate::spec::Unpacker;
use crate::target::tests::{PLAIN, kiosk, parse};

fn part(bytes: &[u8]) -> Part {
    Part {
        origin: "test".into(),
        sha256: String::new(),
        bytes: bytes.to_vec(),
    }
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
        "initramfs-touched" => "Cargo.toml",
        "kernel-options" => "FTRACE=n,CONFIG_LOG_BUF_SHIFT=14",
        "uboot-options" => "ZSTD=y",
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
        "kernel-optimize-size" => applied("kernel-minimal"),
        name if name.starts_with("kernel-options") => applied("kernel-minimal"),
        "initramfs-none" => without_loader("root=/dev/vda"),
        "uboot-flat-bootcmd" | "uboot-exact-size" | "uboot-load-in-place" => arm32(),
        _ => kiosk(),
    }
}

/// The kiosk with these words, started by the machine itself.
fn without_loader(words: &str) -> Target {
    let choice = Choice::parse("bootloader-none").unwrap();
    choice.apply(&with_words(words), &parts(None)).unwrap()
}

/// The parts of [`base`].
fn base_parts(recipe: &str) -> Parts {
    let mut parts = parts(Some(&able()));
    if base(recipe).spec.uimage.is_some() {
        parts.kernel = Some(part(&zimage()));
    }
    parts
}

fn arm32() -> Target {
    Target::load(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../targets/arm32"
    )))
    .unwrap()
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

/// One that is unpacked to this, 2 MiB higher than most, and whose bss is what
/// is missing to 17 MiB.
fn zimage_of(inside: &[u8]) -> Vec<u8> {
    let mut bytes = zimage();
    bytes.extend(Compression::Xz.compress(inside).unwrap());
    let bss = (17 << 20) - inside.len();
    for (at, word) in [
        (0x40, 6),
        (0x48, bytes.len()),
        (0x4c, bss),
        (0x50, 0x20_8000),
    ] {
        bytes[at..at + 4].copy_from_slice(&(word as u32).to_le_bytes());
    }
    bytes.extend((inside.len() as u32).to_le_bytes());
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
    matches!(recipe, "bootloader-none" | "initramfs-none")
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
    ] {
        assert_eq!(refused(recipe, &plain, &parts), want);
    }
}

#[test]
fn options_are_for_kernels_that_are_built() {
    let why = refused("kernel-optimize-size", &kiosk(), &parts(None));
    assert!(why.contains("kernel-minimal"), "{why}");
    let built = applied("kernel-minimal");
    for (value, want) in [
        ("FTRACE", "say which"),
        ("A=y,B C=n", "`B C=n` is no option"),
    ] {
        let why = refused(&format!("kernel-options={value}"), &built, &parts(None));
        assert!(why.contains(want), "{why}");
    }
    let small = Choice::parse("kernel-optimize-size").unwrap();
    let small = small.apply(&built, &parts(None)).unwrap();
    let options = small.spec.kernel.unwrap().build.unwrap().options;
    assert_eq!(options["CC_OPTIMIZE_FOR_SIZE"], "y");
    assert_eq!(options["CC_OPTIMIZE_FOR_PERFORMANCE"], "n");
}

#[test]
fn a_packaged_boot_loader_is_built_from_its_source() {
    let choice = Choice::parse("uboot-options=ZSTD=y").unwrap();
    let built = choice.apply(&kiosk(), &parts(None)).unwrap();
    let uboot = built.spec.bootloader.clone().unwrap();
    assert_eq!(uboot.image.as_deref(), Some("build:u-boot.bin"));
    let build = uboot.build.unwrap();
    assert_eq!(build.config, "qemu_arm64_defconfig");
    assert_eq!(build.options["ZSTD"], "y");
    // On top of it, nothing but options changes.
    let less = Choice::parse("uboot-minimal").unwrap();
    let less = less.apply(&built, &parts(None)).unwrap();
    let build = less.spec.bootloader.unwrap().build.unwrap();
    assert_eq!(
        (&*build.options["ZSTD"], &*build.options["NET"]),
        ("y", "n")
    );

    let text = kiosk().text;
    let own = parse(&text.replace("package:u-boot-qemu", "u-boot")).unwrap();
    let why = refused("uboot-minimal", &own, &parts(None));
    assert!(why.contains("[bootloader.build]"), "{why}");
    let network = parse(&text.replace("bootcmd = \"", "bootcmd = \"dhcp; ")).unwrap();
    let why = refused("uboot-minimal", &network, &parts(None));
    assert!(why.contains("the environment uses dhcp"), "{why}");
}

#[test]
fn an_initramfs_goes_only_where_the_kernel_finds_its_root() {
    let refused = |target: &Target, config: &str| {
        let mut parts = parts(None);
        parts.kernel_config = Some(DotConfig::read(config.as_bytes()).unwrap());
        refused("initramfs-none", target, &parts)
    };
    let root = without_loader("root=/dev/vda rootfstype=ext4");
    let why = refused(&root, "CONFIG_EXT4_FS=m\nCONFIG_SQUASHFS=y\n");
    assert!(why.contains("CONFIG_EXT4_FS=y"), "{why}");
    let why = refused(&without_loader("quiet"), "CONFIG_EXT4_FS=y\n");
    assert!(why.contains("no root="), "{why}");
    let why = refused(&with_words("root=/dev/vda"), "CONFIG_EXT4_FS=y\n");
    assert!(why.contains("bootcmd"), "{why}");

    let mut parts = parts(None);
    parts.kernel_config = Some(DotConfig::read(b"CONFIG_EXT4_FS=y\n").unwrap());
    let none = Choice::parse("initramfs-none").unwrap();
    assert!(none.apply(&root, &parts).unwrap().spec.initramfs.is_none());
}

#[test]
fn a_boot_loader_that_cannot_is_refused() {
    for (recipe, option) in [
        ("uboot-silent", "CONFIG_SILENT_CONSOLE=y"),
        ("kernel-compression=bzip2", "CONFIG_BZIP2=y"),
        ("kernel-compression=lzma", "CONFIG_LZMA=y"),
        ("kernel-compression=lz4", "CONFIG_LZ4=y"),
        ("kernel-compression=zstd", "CONFIG_ZSTD=y"),
    ] {
        let why = refused(recipe, &kiosk(), &parts(Some(b"U-Boot")));
        assert!(why.contains(option), "{why}");
    }
    let none = Choice::parse("kernel-compression=none").unwrap();
    assert!(none.edits(&kiosk(), &parts(Some(b"U-Boot"))).is_ok());
}

#[test]
fn boot_delays() {
    let with = |delay: &str| {
        let text = kiosk().text.replace("bootdelay = \"2\"", delay);
        let target = Target::parse("d".into(), text, "t").unwrap();
        Choice::parse("uboot-bootdelay")
            .unwrap()
            .edits(&target, &parts(None))
    };
    for waits in [
        "",
        "bootdelay = '1'",
        "bootdelay = ' 3'",
        "bootdelay = '2s'",
    ] {
        let edits = with(waits).unwrap();
        assert_eq!(
            edits,
            [Edit::set("bootloader.environment.bootdelay", "0")],
            "{waits}"
        );
    }
    assert_eq!(
        with("bootdelay = '0'").unwrap_err(),
        "bootdelay is 0 already"
    );
    assert_eq!(
        with("bootdelay = '-2'").unwrap_err(),
        "bootdelay is -2 already"
    );
    assert!(
        with("bootdelay = '-1'")
            .unwrap_err()
            .contains("not to boot by itself")
    );
}

#[test]
fn the_wish_of_a_silent_linux_is_kept() {
    let text = kiosk()
        .text
        .replace("bootdelay = \"2\"", "silent_linux = \"yes\"");
    let target = Target::parse("d".into(), text, "t").unwrap();
    let edits = Choice::parse("uboot-silent")
        .unwrap()
        .edits(&target, &parts(Some(&able())));
    assert_eq!(
        edits.unwrap(),
        [Edit::set("bootloader.environment.silent", "1")]
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
        ("", "no recipe is called ; `bootlap recipes`"),
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

/// The 32-bit target with a replacement in its description, and why a recipe
/// does not apply to it.
fn refused_by(recipe: &str, from: &str, to: &str) -> String {
    let text = arm32().text;
    assert!(text.contains(from), "{from}");
    let target = Target::parse(arm32().dir, text.replace(from, to), "t").unwrap();
    refused(recipe, &target, &base_parts(recipe))
}

#[test]
fn the_scripts_of_u_boot_become_one() {
    let parts = base_parts("uboot-flat-bootcmd");
    let flat = Choice::parse("uboot-flat-bootcmd").unwrap();
    let flat = flat.apply(&arm32(), &parts).unwrap();
    assert_eq!(
        flat.spec.bootloader.unwrap().environment["bootcmd"],
        "if test -n \"${recovery}\"; then echo Recovery is not installed; else \
         echo Loading kernel; cp.b 0x4100000 0x43000000 0x1000000; \
         echo Loading initramfs; cp.b 0x5100000 0x48000000 0x1000000; \
         bootm 0x43000000 0x48000000 ${fdtcontroladdr}; fi"
    );
    let why = refused("uboot-flat-bootcmd", &kiosk(), &parts);
    assert!(why.contains("already"), "{why}");
    let why = refused_by("uboot-flat-bootcmd", "\nbootcmd =", "\nbootcmd_old =");
    assert!(why.starts_with("the environment has no bootcmd"), "{why}");
    let why = refused_by("uboot-flat-bootcmd", "; fi'", "'");
    assert!(why.ends_with("ends where fi is missing; add it"), "{why}");
}

#[test]
fn copies_get_the_size_of_what_they_copy() {
    let parts = base_parts("uboot-exact-size");
    let exact = Choice::parse("uboot-exact-size").unwrap();
    let size = zimage().len() + 64;
    let changed = exact.apply(&arm32(), &parts).unwrap();
    let environment = &changed.spec.bootloader.as_ref().unwrap().environment;
    assert_eq!(environment["kernel_size"], format!("{size:#x}"));
    assert_eq!(
        changed.edits.len(),
        1,
        "there is no initramfs in these parts"
    );
    // Behind the other recipe, the number stands in the script.
    let flat = Choice::parse("uboot-flat-bootcmd").unwrap();
    let flat = flat.apply(&arm32(), &parts).unwrap();
    let changed = exact.apply(&flat, &parts).unwrap();
    let bootcmd = &changed.spec.bootloader.as_ref().unwrap().environment["bootcmd"];
    assert!(
        bootcmd.contains(&format!("cp.b 0x4100000 0x43000000 {size:#x}; ")),
        "{bootcmd}"
    );
    // After an update with a larger kernel.
    let text = arm32().text.replacen("0x1000000\"", "0x80\"", 1);
    let target = Target::parse(arm32().dir, text, "t").unwrap();
    let changed = exact.apply(&target, &parts).unwrap();
    let environment = &changed.spec.bootloader.as_ref().unwrap().environment;
    assert_eq!(environment["kernel_size"], format!("{size:#x}"));
    let why = refused("uboot-exact-size", &kiosk(), &parts);
    assert!(why.starts_with("bootcmd copies no image by `cp`"), "{why}");
    // Units of four bytes.
    let text = arm32().text.replace("cp.b", "cp.l");
    let target = Target::parse(arm32().dir, text, "t").unwrap();
    let changed = exact.apply(&target, &parts).unwrap();
    let environment = &changed.spec.bootloader.as_ref().unwrap().environment;
    assert_eq!(environment["kernel_size"], format!("{:#x}", size / 4));
}

#[test]
fn a_kernel_is_loaded_where_it_lies_if_it_can_run_there() {
    let parts = base_parts("uboot-load-in-place");
    let place = Choice::parse("uboot-load-in-place").unwrap();
    let changed = place.apply(&arm32(), &parts).unwrap();
    assert_eq!(changed.spec.uimage.unwrap().load_address, 0x4300_0040);
    let text = arm32()
        .text
        .replace("[uimage]", "[uimage]\nentry = 0x40008040");
    let target = Target::parse(arm32().dir, text, "t").unwrap();
    let changed = place.apply(&target, &parts).unwrap();
    assert_eq!(changed.spec.uimage.unwrap().entry, Some(0x4300_0080));

    let kernel_addr = "kernel_addr = \"0x43000000\"";
    for (from, to, want) in [
        (
            kernel_addr,
            "kernel_addr = \"0x41000000\"",
            "the kernel unpacks itself to 0x40008000 and what follows, over where it lies; copy \
             it to 0x41208000 or above",
        ),
        (
            kernel_addr,
            "kernel_addr = \"0x48000000\"",
            "a zImage at 0x48000040 takes the memory to begin at 0x48000000; copy it into the \
             first 128 MiB of memory",
        ),
        (
            "bootm ${kernel_addr}",
            "bootm 0x4100000",
            "bootcmd does not start the kernel where it copies it to",
        ),
        (
            "run load_kernel; ",
            "",
            "bootcmd does not copy the kernel by `cp` with numbers that are known, and out of \
             flash it cannot run",
        ),
        (
            "\ncmdline",
            "\ncompression = \"gzip\"\ncmdline",
            "U-Boot unpacks the kernel, which moves it anyway",
        ),
    ] {
        assert_eq!(refused_by("uboot-load-in-place", from, to), want);
    }
    let why = refused(
        "uboot-load-in-place",
        &applied("kernel-compression"),
        &parts,
    );
    assert!(
        why.starts_with("bootcmd does not copy the kernel by `cp`"),
        "{why}"
    );
    // In a FIT, the kernel lies behind more than 64 bytes.
    let text = arm32().text.replace("[uimage]", "[fit]\nhash = \"none\"");
    let text = text.replace("kernel-offset", "fit-offset");
    let text = text.replace("initramfs-offset = 0x1100000\n", "");
    let target = Target::parse(arm32().dir, text, "t").unwrap();
    let fit = place.apply(&target, &parts).unwrap().spec.fit.unwrap();
    assert!((0x4300_0041..0x4300_1000).contains(&fit.load_address));
}

#[test]
fn what_a_kernel_unpacks_itself_to_the_boot_loader_unpacks() {
    let mut parts = base_parts("");
    parts.kernel = Some(part(&zimage_of(&[7; 5000])));
    let gzip = Choice::parse("kernel-compression=gzip").unwrap();
    let changed = gzip.apply(&arm32(), &parts).unwrap();
    let (kernel, uimage) = (changed.spec.kernel.as_ref().unwrap(), &changed.spec.uimage);
    assert_eq!(kernel.unpacked_by, Unpacker::Bootloader);
    assert_eq!(kernel.compression, Compression::Gzip);
    assert_eq!(uimage.as_ref().unwrap().load_address, 0x4020_8000);
    // Packed otherwise, it stays where it is.
    let lz4 = Choice::parse("kernel-compression=lz4").unwrap();
    let edits = lz4.edits(&changed, &parts).unwrap();
    assert_eq!(edits, [Edit::set("kernel.compression", "lz4")]);
    // Not packed at all is a change of who unpacks it, too.
    let none = Choice::parse("kernel-compression=none").unwrap();
    assert!(none.edits(&arm32(), &parts).is_ok());
    // Where there is room.
    let short = |from: &str, to: &str| {
        let text = changed.text.replace(from, to);
        let target = Target::parse(changed.dir.clone(), text, "t").unwrap();
        refused("kernel-compression=none", &target, &parts)
    };
    assert_eq!(
        short(
            "initramfs-offset = 0x1100000",
            "initramfs-offset = 0x101000"
        ),
        "uncompressed, the kernel takes 0x13c8 bytes, and there are 0x1000 for it in flash; move \
         what is behind it"
    );
    assert_eq!(
        short("kernel_size = \"0x1000000\"", "kernel_size = \"0x1000\""),
        "uncompressed, the kernel takes 0x13c8 bytes, and `load_kernel` copies 0x1000; raise the \
         count"
    );

    let why = refused("uboot-load-in-place", &changed, &parts);
    assert_eq!(why, "U-Boot unpacks the kernel, which moves it anyway");
    let direct = Choice::parse("bootloader-none").unwrap();
    let direct = direct.apply(&changed, &parts).unwrap();
    assert_eq!(direct.spec.kernel.unwrap().unpacked_by, Unpacker::Kernel);

    let text = arm32().text.replace("0x43000000", "0x40400000");
    let low = Target::parse(arm32().dir, text, "t").unwrap();
    let why = refused("kernel-compression=gzip", &low, &parts);
    assert_eq!(
        why,
        "U-Boot would unpack the kernel to 0x40208000 and what follows, over what `load_kernel` \
         copies to 0x40400000; copy that to 0x41308000 or above"
    );
}

#[test]
fn without_a_boot_loader_nothing_of_it_is_left() {
    let parts = base_parts("bootloader-none");
    let none = Choice::parse("bootloader-none").unwrap();
    for target in [kiosk(), arm32()] {
        let bare = none.apply(&target, &parts).unwrap();
        let spec = &bare.spec;
        assert!(spec.bootloader.is_none() && spec.flash.is_none());
        assert!(spec.fit.is_none() && spec.uimage.is_none());
        let kernel = spec.kernel.as_ref().unwrap();
        assert_eq!(kernel.compression, Compression::None);
        assert_eq!(kernel.cmdline, target.spec.kernel.unwrap().cmdline);
        assert!(spec.initramfs.is_some());
    }
    assert!(none.only_asked_for());
}

#[test]
fn a_boot_loader_that_checks_nothing_is_left_alone() {
    let with = |verify: &str| {
        let text = kiosk().text.replace("bootdelay = \"2\"", verify);
        let target = Target::parse("d".into(), text, "t").unwrap();
        Choice::parse("uboot-verify-off")
            .unwrap()
            .edits(&target, &parts(None))
    };
    for checks in ["", "verify = 'yes'", "verify = '1'", "verify = 'true'"] {
        let edits = with(checks).unwrap();
        assert_eq!(edits, [Edit::set("bootloader.environment.verify", "no")]);
    }
    for off in [
        "verify = 'no'",
        "verify = 'n'",
        "verify = ''",
        "verify = '0'",
    ] {
        assert!(with(off).unwrap_err().contains("already"), "{off}");
    }
    let parts = base_parts("");
    let off = applied("uboot-verify-off");
    assert!(refused("fit-no-hash", &off, &parts).contains("already"));
    let bare = applied("fit-no-hash");
    assert!(refused("uboot-verify-off", &bare, &parts).contains("already"));
}
