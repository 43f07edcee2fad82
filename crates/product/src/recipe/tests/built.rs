//! Recipes for what is built from source, and for a root without initramfs.

use super::*;

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
fn a_kernel_holds_the_initramfs_where_one_is_built_with_it() {
    let why = refused("initramfs-builtin", &kiosk(), &parts(None));
    assert!(why.contains("kernel-minimal"), "{why}");
    let built = applied("kernel-minimal");
    let uimages = built.text.replace("[fit]\nhash = \"crc32\"", "[uimage]");
    let uimages = uimages.replace("fit-offset", "kernel-offset");
    let uimages = uimages.replace("[uimage]", "initramfs-offset = 0x1800000\n[uimage]");
    let target = Target::parse("d".into(), uimages, "t").unwrap();
    let why = refused("initramfs-builtin", &target, &parts(None));
    assert!(why.contains("FIT"), "{why}");
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

    let mut parts = parts(None);
    parts.kernel_config = Some(DotConfig::read(b"CONFIG_EXT4_FS=y\n").unwrap());
    let none = Choice::parse("initramfs-none").unwrap();
    assert!(none.apply(&root, &parts).unwrap().spec.initramfs.is_none());
    // U-Boot is told that there is none.
    let loaded = none.apply(&with_words("root=/dev/vda"), &parts).unwrap();
    let bootcmd = &loaded.spec.bootloader.unwrap().environment["bootcmd"];
    assert_eq!(bootcmd, "bootm ${fit_addr}#conf-1 - ${fdtcontroladdr}");
}
