use bootlap_artefact::compress::Compression;
use bootlap_artefact::cpio;
use bootlap_artefact::fit;
use bootlap_artefact::hash::Hash;
use bootlap_artefact::uimage::{KIND_KERNEL, KIND_RAMDISK, UimageHeader};

use super::*;
use crate::initramfs::{Entry, What};
use crate::recipe::Choice;
use crate::target::tests::{FLASH, PLAIN, parse};

fn part(name: &str, bytes: Vec<u8>) -> Part {
    Part::new(name, bytes)
}

/// The smallest thing that is an arm64 kernel.
fn image() -> Vec<u8> {
    let mut image = vec![0; 4096];
    image[56..60].copy_from_slice(b"ARM\x64");
    image
}

fn parts(kernel: Vec<u8>) -> Parts {
    let file = What::File {
        executable: true,
        bytes: b"#!/bin/sh\n".to_vec(),
    };
    let entry = |path: &[u8], what| Entry {
        path: path.to_vec(),
        what,
    };
    let to = b"\xff".to_vec();
    Parts {
        bootloader: Some(part("u-boot", b"U-Boot".to_vec())),
        kernel: Some(part("Image", kernel)),
        initramfs: Some(vec![
            entry(b"a\xfe", What::Dir),
            entry(b"a\xfe/l", What::Link { to }),
            entry(b"init", file),
        ]),
        ..Parts::default()
    }
}

/// `PLAIN` and `FLASH` with an initramfs and some replacements.
fn target(changes: &[(&str, &str)]) -> Target {
    let mut text = format!("{PLAIN}{FLASH}\n[initramfs]\n");
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    parse(&text).unwrap()
}

fn assembled(target: &Target, parts: &Parts) -> Result<Assembly, TargetError> {
    let dir = tempfile::tempdir().unwrap();
    target.assemble(parts, &Cache::at(dir.path().to_owned()), &|_| {})
}

fn banks(assembly: &Assembly, extra: &str) -> Result<Vec<Vec<Blob>>, String> {
    match assembly.boot(extra) {
        Ok(Boot::Flash { banks, .. }) => Ok(banks),
        Ok(Boot::Direct { .. } | Boot::Firmware { .. }) => panic!("not in flash"),
        Err(e) => Err(e.to_string()),
    }
}

#[test]
fn everything_is_where_the_target_says() {
    let target = target(&[]);
    let assembly = assembled(&target, &parts(image())).unwrap();
    let banks = banks(&assembly, "more").unwrap();
    let at: Vec<Vec<(&str, u64)>> = banks
        .iter()
        .map(|b| b.iter().map(|b| (b.name.as_str(), b.offset)).collect())
        .collect();
    let second = vec![("environment", 0), ("FIT", 0x1000)];
    assert_eq!(at, [vec![("boot loader", 0)], second]);

    let layout = EnvLayout::single(0x1000);
    let (environment, _) = UbootEnv::read(&banks[1][0].bytes, &layout).unwrap();
    assert_eq!(environment.get("bootargs"), Some("a b more"));
    assert_eq!(environment.get("bootdelay"), Some("2"));

    let fit = fit::Fit::parse(&banks[1][1].bytes).unwrap();
    assert!(fit.wrong_hashes().is_empty());
    assert_eq!(fit.image("kernel-1").unwrap().data, image());
    let archive = cpio::read(fit.image("ramdisk-1").unwrap().data).unwrap();
    let entries: Vec<(&[u8], u32, &[u8])> = archive
        .entries
        .iter()
        .map(|e| (&*e.name, e.mode, &*e.data))
        .collect();
    assert_eq!(
        entries,
        [
            (&b"a\xfe"[..], 0o040_755, &b""[..]),
            (b"a\xfe/l", 0o120_777, b"\xff"),
            (b"init", 0o100_755, b"#!/bin/sh\n"),
        ]
    );
    let names: Vec<&str> = assembly.parts.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["kernel", "initramfs", "bootloader"]);
}

#[test]
fn the_same_target_gives_the_same_bytes() {
    let target = target(&[("[initramfs]", "[initramfs]\ncompression = 'xz'")]);
    let once = assembled(&target, &parts(image())).unwrap();
    let again = assembled(&target, &parts(image())).unwrap();
    assert_eq!(once.parts, again.parts);
    let bytes = |a: &Assembly| -> Vec<Vec<u8>> {
        let banks = banks(a, "").unwrap();
        banks.iter().flatten().map(|b| b.bytes.to_vec()).collect()
    };
    assert_eq!(bytes(&once), bytes(&again));
}

#[test]
fn however_the_kernel_is_wrapped_the_fit_holds_it_as_wished() {
    let gzip = Compression::Gzip.compress(&image()).unwrap();
    for (wish, expected) in [("none", Compression::None), ("lz4", Compression::Lz4)] {
        let wish = format!("[kernel]\ncompression = '{wish}'");
        let target = target(&[("[kernel]", &wish), ("crc32", "none")]);
        assert_eq!(target.spec.fit.as_ref().unwrap().hash, Hash::None);
        for file in [image(), gzip.clone()] {
            let assembly = assembled(&target, &parts(file)).unwrap();
            let banks = banks(&assembly, "").unwrap();
            let fit = fit::Fit::parse(&banks[1][1].bytes).unwrap();
            let data = &fit.image("kernel-1").unwrap().data;
            assert_eq!(expected.decompress(data, 1 << 20).unwrap(), image());
        }
    }
}

#[test]
fn the_kernel_reads_another_lz4_than_the_boot_loader() {
    let target = target(&[("[initramfs]", "[initramfs]\ncompression = 'lz4'")]);
    let assembly = assembled(&target, &parts(image())).unwrap();
    let banks = banks(&assembly, "").unwrap();
    let fit = fit::Fit::parse(&banks[1][1].bytes).unwrap();
    let ramdisk = &fit.image("ramdisk-1").unwrap().data;
    assert_eq!(Compression::detect(ramdisk), Compression::Lz4Legacy);
    let origin = &assembly.parts[1].origin;
    assert_eq!(origin, "3 files, lz4-legacy");
}

#[test]
fn parts_that_do_not_fit_are_named() {
    let large = |n: usize| {
        let mut image = image();
        image.resize(n, 0);
        image
    };
    for (changes, kernel, want) in [
        (
            &[("fit-offset = 0x1000", "fit-offset = 0x800")][..],
            image(),
            "flash bank 1: environment ends at 0x1000, but FIT begins at 0x800; move FIT or",
        ),
        (
            &[("environment-offset = 0x0", "environment-offset = 0x2000")],
            image(),
            "flash bank 1: FIT ends at 0x",
        ),
        (&[], large(1 << 20), "flash bank 1: FIT of 0x100"),
    ] {
        let assembly = assembled(&target(changes), &parts(kernel)).unwrap();
        let said = banks(&assembly, "").err().unwrap();
        assert!(said.starts_with(want), "{said}\n{want}");
    }
    let mut parts = parts(image());
    parts.bootloader = Some(part("u-boot", vec![0; (1 << 20) + 1]));
    let assembly = assembled(&target(&[]), &parts).unwrap();
    let said = banks(&assembly, "").err().unwrap();
    assert!(
        said.starts_with("flash bank 0: boot loader of 0x100001 bytes at 0x0"),
        "{said}"
    );
}

#[test]
fn an_environment_that_is_too_large_is_an_error() {
    let assembly = assembled(&target(&[]), &parts(image())).unwrap();
    let said = banks(&assembly, &"x".repeat(5000)).err().unwrap();
    assert!(
        said.starts_with("U-Boot's environment: environment needs "),
        "{said}"
    );
    assert!(said.contains("has 4096"), "{said}");
    let bad = target(&[("bootdelay = \"2\"", "\"a=b\" = '1'")]);
    let said = assembled(&bad, &parts(image())).err().unwrap().to_string();
    assert!(
        said.contains("environment variable `a=b` cannot be stored"),
        "{said}"
    );
}

#[test]
fn a_kernel_that_is_none_is_named() {
    for (kernel, want) in [
        (
            b"MZ, not a kernel".to_vec(),
            "Image: not a kernel image; use an Image",
        ),
        (Vec::new(), "Image: not a kernel image"),
        (b"\x1f\x8b\x08 cut".to_vec(), "Image: not valid gzip data"),
        (
            Compression::Gzip.compress(b"no").unwrap(),
            "Image: not a kernel image",
        ),
    ] {
        let said = assembled(&target(&[]), &parts(kernel)).err().unwrap();
        assert!(said.to_string().starts_with(want), "{said}");
    }
}

#[test]
fn without_a_boot_loader_the_machine_gets_the_parts() {
    let target = parse(&format!("{PLAIN}\n[initramfs]\n")).unwrap();
    let mut parts = parts(b"anything: QEMU knows more kernels".to_vec());
    parts.bootloader = None;
    let assembly = assembled(&target, &parts).unwrap();
    let Ok(Boot::Direct {
        kernel,
        initramfs,
        devicetree,
        cmdline,
    }) = assembly.boot("c")
    else {
        panic!("not direct");
    };
    assert_eq!(*kernel.bytes, *parts.kernel.as_ref().unwrap().bytes);
    assert!(cpio::read(&initramfs.unwrap().bytes).is_ok());
    assert_eq!(cmdline, "a b c");
    assert!(devicetree.is_none(), "the machine has its own");
}

#[test]
fn extra_words_go_where_the_kernel_reads_them() {
    let target = target(&[("a b", "a -- single")]);
    let assembly = assembled(&target, &parts(image())).unwrap();
    let banks = banks(&assembly, "initcall_debug").unwrap();
    let layout = EnvLayout::single(0x1000);
    let (environment, _) = UbootEnv::read(&banks[1][0].bytes, &layout).unwrap();
    assert_eq!(
        environment.get("bootargs"),
        Some("a initcall_debug -- single")
    );
}

/// `PLAIN` with two uImages for a zImage.
const UIMAGES: &str = r#"
[bootloader]
image = "u-boot"
[bootloader.environment]
bootcmd = "cp.b 0x101000 0x40000000 ${size}; bootm 0x40000000"
size = "0x2000"
[flash]
bank-size = 0x100000
environment-offset = 0x0
environment-size = 0x1000
kernel-offset = 0x1000
initramfs-offset = 0x8000
[uimage]
load-address = 0x40008000
[initramfs]
"#;

fn zimage() -> Vec<u8> {
    let mut image = vec![0; 4096];
    image[0x24..0x28].copy_from_slice(b"\x18\x28\x6f\x01");
    image
}

#[test]
fn uimages_lie_where_the_target_says() {
    let target = parse(&format!("{PLAIN}{UIMAGES}")).unwrap();
    let assembly = assembled(&target, &parts(zimage())).unwrap();
    let banks = banks(&assembly, "").unwrap();
    let [environment, kernel, initramfs] = banks[1].as_slice() else {
        panic!("three things are in the second bank");
    };
    assert_eq!(
        (environment.offset, kernel.offset, initramfs.offset),
        (0, 0x1000, 0x8000)
    );
    let (header, data) = UimageHeader::read(&kernel.bytes).unwrap();
    assert_eq!((header.load, header.entry), (0x4000_8000, 0x4000_8000));
    assert_eq!((header.kind, data), (KIND_KERNEL, &zimage()[..]));
    let (header, data) = UimageHeader::read(&initramfs.bytes).unwrap();
    assert_eq!((header.kind, header.load), (KIND_RAMDISK, 0));
    assert!(cpio::read(data).is_ok());
}

/// A zImage that unpacks itself to `inside`.
fn zimage_of(inside: &[u8]) -> Vec<u8> {
    let mut image = zimage();
    image.extend(Compression::Xz.compress(inside).unwrap());
    let size_at = image.len() as u32;
    for (at, word) in [
        (0x34, 0x4545_4545_u32),
        (0x38, 0x80),
        (0x80, 4),
        (0x84, u32::from_le_bytes(*b"KLSZ")),
        (0x88, size_at),
    ] {
        image[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    image.extend((inside.len() as u32).to_le_bytes());
    image
}

#[test]
fn the_boot_loader_can_unpack_what_a_zimage_would() {
    let inside = vec![7; 5000];
    let unpacked_by = |who: &str| {
        let key = format!("compression = \"gzip\"\nunpacked-by = \"{who}\"\ncmdline");
        let text = format!("{PLAIN}{UIMAGES}").replacen("cmdline", &key, 1);
        let target = parse(&text).unwrap();
        let assembly = assembled(&target, &parts(zimage_of(&inside))).unwrap();
        let kernel = banks(&assembly, "").unwrap()[1][1].bytes.clone();
        let (header, data) = UimageHeader::read(&kernel).unwrap();
        assert_eq!(header.compression(), Some(Compression::Gzip));
        Compression::Gzip.decompress(data, 1 << 20).unwrap()
    };
    assert_eq!(unpacked_by("bootloader"), inside);
    assert_eq!(unpacked_by("kernel"), zimage_of(&inside));
}

#[test]
fn what_the_boot_loader_unpacks_must_be_there_and_have_its_place() {
    let text = format!("{PLAIN}{UIMAGES}");
    let text = text.replacen("cmdline", "unpacked-by = \"bootloader\"\ncmdline", 1);
    let said = |text: &str, kernel| {
        let assembly = assembled(&parse(text).unwrap(), &parts(kernel));
        assembly.err().unwrap().to_string()
    };
    let why = said(&text, zimage());
    assert!(why.contains("not a kernel that unpacks itself"), "{why}");
    let elsewhere = text.replace("0x40008000", "0x40108000");
    let why = said(&elsewhere, zimage_of(&[7; 5000]));
    assert!(
        why.contains("0x8000 behind the beginning of memory, not at 0x40108000"),
        "{why}"
    );
    let direct = PLAIN.replacen("cmdline", "unpacked-by = \"bootloader\"\ncmdline", 1);
    let why = parse(&direct).unwrap_err().to_string();
    assert!(why.contains("no boot loader to unpack the kernel"), "{why}");
}

/// A bzImage that unpacks itself to a `vmlinux` with a note for PVH, and that.
fn bzimage() -> [Vec<u8>; 2] {
    let mut elf = vec![0; 120];
    let words: [(usize, &[u8]); 7] = [
        (0, b"\x7fELF\x02\x01\x01"),
        (16, &[2, 0, 62, 0, 1]),
        (32, &[64]),
        (52, &[64, 0, 56, 0, 1]),
        (64, &[4]),
        (72, &[120]),
        (96, &[20]),
    ];
    for (at, bytes) in words {
        elf[at..at + bytes.len()].copy_from_slice(bytes);
    }
    elf.extend(b"\x04\0\0\0\x04\0\0\0\x12\0\0\0Xen\0\0\0\x10\0");
    let packed = Compression::Gzip.compress(&elf).unwrap();
    let mut image = vec![0; 0x400];
    image[0x1f1] = 1;
    image[0x202..0x208].copy_from_slice(b"HdrS\x0f\x02");
    image[0x24c..0x250].copy_from_slice(&(packed.len() as u32).to_le_bytes());
    image.extend(packed);
    [image, elf]
}

#[test]
fn a_machine_starts_what_is_inside_a_bzimage() {
    let [image, elf] = bzimage();
    let parts = parts(image.clone());
    let plain = parse(PLAIN).unwrap();
    let recipe = Choice::parse("kernel-compression=none").unwrap();
    let inside = recipe.apply(&plain, &parts).unwrap();
    for (target, want) in [(&plain, image), (&inside, elf)] {
        match assembled(target, &parts).unwrap().boot("").unwrap() {
            Boot::Direct { kernel, .. } => assert_eq!(*kernel.bytes, want),
            _ => panic!("a boot loader"),
        }
    }
    let again = recipe.apply(&inside, &parts).err().unwrap().to_string();
    assert!(again.contains("already"), "{again}");
    let lz4 = Choice::parse("kernel-compression=lz4").unwrap();
    let packed = lz4.apply(&plain, &parts).unwrap();
    let starts = |target: &Target| {
        let kernel = target.spec.kernel.as_ref().unwrap();
        (kernel.unpacked_by, kernel.compression)
    };
    let from = |start: &Target, recipe: &Choice| starts(&recipe.apply(start, &parts).unwrap());
    assert_eq!(starts(&packed), (Unpacker::Machine, Compression::Lz4));
    assert_eq!(from(&inside, &lz4), starts(&packed));
    assert_eq!(from(&packed, &recipe), starts(&inside));
    // This one has nothing that is loaded.
    let why = assembled(&packed, &parts).err().unwrap().to_string();
    assert!(why.contains("does not lie within 32-bit"), "{why}");
    let gzip = Choice::parse("kernel-compression=gzip").unwrap();
    for target in [&plain, &inside, &packed] {
        let why = gzip.apply(target, &parts).err().unwrap().to_string();
        assert!(why.contains("nothing would unpack gzip"), "{why}");
    }
}

#[test]
fn a_kernel_must_fit_into_the_memory_of_its_machine() {
    let spec = parse(PLAIN).unwrap().spec;
    let [_, mut elf] = bzimage();
    // One segment that is clear, and ends at 1 MiB below the end of memory.
    let memory = u64::from(spec.machine.memory_mb().unwrap()) << 20;
    elf[64..120].fill(0);
    elf[64] = 1;
    elf[104..112].copy_from_slice(&(memory - (1 << 20)).to_le_bytes());
    assert!(images::check_fits(&spec, &elf, 1 << 20).is_ok());
    let why = images::check_fits(&spec, &elf, (1 << 20) + 1).unwrap_err();
    assert!(why.to_string().contains("raise machine.memory-mb"), "{why}");
}

#[test]
fn what_is_copied_by_half_is_an_error() {
    for (from, to, want) in [
        (
            "0x2000",
            "0x103f",
            Some("`bootcmd` copies 0x103f bytes of the kernel's uImage, which has 0x1040"),
        ),
        ("0x2000", "0x1040", None),
        ("0x2000", "1040", None),
        ("0x101000", "0x108000", None),
    ] {
        let target = parse(&format!("{PLAIN}{}", UIMAGES.replace(from, to))).unwrap();
        let said = assembled(&target, &parts(zimage()))
            .err()
            .map(|e| e.to_string());
        match want {
            Some(want) => assert!(
                said.as_deref().is_some_and(|s| s.contains(want)),
                "{said:?}"
            ),
            None => assert_eq!(said, None),
        }
    }
}

#[test]
fn a_uimage_needs_its_places_and_no_fit() {
    let text = format!("{PLAIN}{UIMAGES}");
    for (from, to, want) in [
        (
            "kernel-offset = 0x1000\n",
            "",
            "missing field `kernel-offset`; add it",
        ),
        (
            "initramfs-offset = 0x8000\n",
            "",
            "missing field `initramfs-offset`; add it",
        ),
        (
            "initramfs-offset = 0x8000",
            "initramfs-offset = 0x100000",
            "is outside of the bank",
        ),
        (
            "[uimage]",
            "fit-offset = 0\n[uimage]",
            "fit-offset is for a [fit]",
        ),
        (
            "[initramfs]",
            "",
            "initramfs-offset is for a [uimage] and an [initramfs]",
        ),
        (
            "[initramfs]",
            "[fit]\nhash = 'none'\nload-address = 0",
            "[fit] and [uimage] are two ways",
        ),
        (
            "load-address = 0x40008000",
            "load-address = 0x140008000",
            "expected u32",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let said = parse(&text.replace(from, to)).unwrap_err().to_string();
        assert!(said.contains(want), "{said}");
    }
}

#[test]
fn a_disk_boots_by_its_firmware() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("disk.img", &[7; 1000]);
    write("fw", b"firmware");
    write("vars", b"variables");
    let start = PLAIN.find("[kernel]").unwrap();
    let text = format!(
        "{}[firmware]\nimage = \"fw\"\nvariables = \"vars\"\n[disk]\nimage = \"disk.img\"\nbus = \
         \"nvme\"\n",
        &PLAIN[..start]
    );
    let target = Target::parse(dir.path().to_owned(), text, "t.toml").unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    let parts = target.parts(&cache, &|_| {}).unwrap();
    let assembly = target.assemble(&parts, &cache, &|_| {}).unwrap();
    let (path, attached) = assembly.disk().unwrap();
    assert!(path.is_absolute() && path.ends_with("disk.img"));
    assert_eq!(
        (attached.bus, attached.format),
        (Bus::Nvme, DiskFormat::Raw)
    );
    let names: Vec<&str> = assembly.parts.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["disk", "firmware", "firmware's variables"]);
    let Ok(Boot::Firmware {
        image,
        variables,
        payload,
        code,
    }) = assembly.boot("")
    else {
        panic!("not by its firmware");
    };
    assert_eq!(&*image.unwrap().bytes, b"firmware");
    assert_eq!(&*variables.unwrap().bytes, b"variables");
    // Nothing is known of what is on it.
    assert!(payload.is_none() && code == Code::default() && attached.patches.is_empty());
    let said = assembly.boot("quiet").err().unwrap().to_string();
    assert!(said.contains("are on the disk"), "{said}");
}
