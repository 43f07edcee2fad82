//! Recipes for the boot loader, and for how it gets the kernel.

use super::*;
use crate::spec::Unpacker;

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
            "bootcmd does not copy the kernel by `cp` or `mmc read` with numbers that are known, \
             and out of flash it cannot run",
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
    // In a FIT, the kernel lies after more than 64 bytes.
    let text = arm32().text.replace("[uimage]", "[fit]\nhash = \"none\"");
    let text = text.replace("kernel-offset", "fit-offset");
    let text = text.replace("initramfs-offset = 0x1100000\n", "");
    let target = Target::parse(arm32().dir, text, "t").unwrap();
    let fit = place.apply(&target, &parts).unwrap().spec.fit.unwrap();
    assert!((0x4300_0041..0x4300_1000).contains(&fit.load_address));
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

#[test]
fn the_first_stage_starts_what_unpacks_itself_from_a_card() {
    let why = refused("uboot-falcon", &kiosk(), &parts(None));
    assert!(why.contains("medium = \"sd\""), "{why}");
    let mut parts = parts(None);
    let why = refused("uboot-falcon", &orangepi(), &parts);
    assert!(why.contains("kernel"), "{why}");
    parts.kernel = Some(part(&zimage()));
    let falcon = Choice::parse("uboot-falcon").unwrap();
    let applied = falcon.apply(&orangepi(), &parts).unwrap();
    let why = refused("uboot-bootdelay", &applied, &parts);
    assert!(why.contains("scripts do not run"), "{why}");
    let spec = applied.spec;
    let options = spec.bootloader.unwrap().build.unwrap().options;
    assert_eq!(options["SYS_MMCSD_RAW_MODE_U_BOOT_SECTOR"], "0x1000");
    // Behind the 17 MiB that the kernel unpacks itself to, and room for doing so.
    assert_eq!(options["SYS_SPL_ARGS_ADDR"], "0x41300000");
    let (uimage, flash) = (spec.uimage.unwrap(), spec.flash.unwrap());
    assert_eq!(uimage.load_address, 0x4130_0000);
    assert_eq!(uimage.memory_address, Some(0x4000_0000));
    assert_eq!(flash.kernel_offset, Some(0x20_0000));
    assert!(spec.fit.is_none() && flash.fit_offset.is_none());
}
