use proptest::prelude::*;

use super::super::arch::Arch;
use super::*;

/// SOURCE_DATE_EPOCH=1577836800 mkimage -f testdata/mkimage.its, U-Boot 2023.01, where `text` is
/// `bootlap makes linux boot fast; ` 12 times and `abc` is abc.
const FROM_MKIMAGE: &[u8] = include_bytes!("../testdata/mkimage.fit");
/// The same with -E: the data is after the tree.
const EXTERNAL: &[u8] = include_bytes!("../testdata/mkimage-external.fit");
/// The same with -E -p 0x800: the data is at a fixed place.
const POSITIONED: &[u8] = include_bytes!("../testdata/mkimage-position.fit");

fn text() -> Vec<u8> {
    b"bootlap makes linux boot fast; ".repeat(12)
}

fn spec(kernel: &[u8]) -> FitSpec<'_> {
    let mut part = Part::new("kernel", kernel);
    part.compression = Compression::Gzip;
    part.load = Some(0x4040_0000);
    let mut spec = FitSpec::new(Arch::Arm64, part);
    spec.ramdisk = Some(Part::new("initramfs", b"cpio!"));
    spec.fdt = Some(Part::new("dtb", b"abc"));
    spec
}

#[test]
fn what_mkimage_makes_is_read() {
    for file in [FROM_MKIMAGE, EXTERNAL, POSITIONED] {
        let fit = Fit::parse(file).unwrap();
        assert_eq!(fit.description, "t");
        assert_eq!(fit.timestamp, Some(1_577_836_800));
        assert_eq!(fit.default.as_deref(), Some("conf-1"));
        assert_eq!(
            fit.configurations,
            [Configuration {
                name: "conf-1".into(),
                description: "both".into(),
                kernel: Some("kernel-1".into()),
                ramdisk: None,
                fdt: vec!["fdt-1".into()],
            }]
        );
        let kernel = fit.image("kernel-1").unwrap();
        assert_eq!(kernel.data, text());
        assert_eq!(&file[kernel.range.clone()], kernel.data);
        let strings = [&kernel.kind, &kernel.arch, &kernel.os, &kernel.compression];
        assert_eq!(strings, ["kernel", "arm64", "linux", "none"]);
        assert_eq!(
            (kernel.load, kernel.entry),
            (Some(0x4040_0000), Some(0x4040_0000))
        );
        let algos: Vec<_> = kernel.hashes.iter().map(|hash| &*hash.algo).collect();
        assert_eq!(algos, ["crc32", "sha256"]);
        assert_eq!(fit.image("fdt-1").unwrap().data, b"abc");
        assert!(fit.image("ramdisk-1").is_none());
        assert_eq!(fit.wrong_hashes(), []);
    }
}

#[test]
fn what_is_written_is_read() {
    let kernel = text();
    for (align, hash) in [
        (4, Hash::None),
        (8, Hash::Crc32),
        (64, Hash::Sha1),
        (512, Hash::Sha256),
    ] {
        let mut spec = spec(&kernel);
        (spec.data_align, spec.hash) = (align, hash);
        let bytes = spec.to_bytes().unwrap();
        let fit = Fit::parse(&bytes).unwrap();
        let read: Vec<_> = fit
            .images
            .iter()
            .map(|i| (&*i.name, &*i.kind, i.data))
            .collect();
        let expected: [(_, _, &[u8]); 3] = [
            ("kernel-1", "kernel", &kernel),
            ("ramdisk-1", "ramdisk", b"cpio!"),
            ("fdt-1", "flat_dt", b"abc"),
        ];
        assert_eq!(read, expected);
        for image in &fit.images {
            assert_eq!(image.range.start % align, 0);
            assert_eq!(image.hashes.len(), usize::from(hash != Hash::None));
        }
        assert_eq!(fit.wrong_hashes(), []);
        assert_eq!(fit.configurations[0].ramdisk.as_deref(), Some("ramdisk-1"));
        assert_eq!(fit.configurations[0].fdt, ["fdt-1"]);
        assert_eq!(fit.images[0].entry, Some(0x4040_0000));
        assert_eq!((fit.images[1].load, fit.images[1].entry), (None, None));
    }
}

/// These very bytes were listed by `dumpimage -l`; FITs like it, with a real kernel, were booted
/// by U-Boot 2023.01 for arm64. If they change on purpose, prove them again.
#[test]
fn output_is_deterministic() {
    let kernel = text();
    let bytes = spec(&kernel).to_bytes().unwrap();
    assert_eq!((bytes.len(), crc32fast::hash(&bytes)), (1364, 0x85f21e02));
}

#[test]
fn addresses_beyond_4_gib_take_two_cells() {
    let kernel = text();
    let mut spec = spec(&kernel);
    spec.kernel.load = Some(0x8_8000_0000);
    let bytes = spec.to_bytes().unwrap();
    let fit = Fit::parse(&bytes).unwrap();
    assert_eq!(fit.images[0].load, Some(0x8_8000_0000));
    assert_eq!(fit.images[0].entry, Some(0x8_8000_0000));
}

#[test]
fn a_kernel_without_load_address_stays_where_it_is() {
    let kernel = text();
    let mut spec = spec(&kernel);
    spec.kernel.load = None;
    let bytes = spec.to_bytes().unwrap();
    let image = &Fit::parse(&bytes).unwrap().images[0];
    assert_eq!(image.kind, "kernel_noload");
    assert_eq!((image.load, image.entry), (Some(0), Some(0)));
}

#[test]
fn wrong_hashes_are_named() {
    let mut bytes = FROM_MKIMAGE.to_vec();
    let start = Fit::parse(FROM_MKIMAGE).unwrap().images[0].range.start;
    bytes[start] ^= 1;
    let wrong = Fit::parse(&bytes).unwrap().wrong_hashes();
    let names: Vec<_> = wrong.iter().map(|w| (&*w.image, &*w.algo)).collect();
    assert_eq!(names, [("kernel-1", "crc32"), ("kernel-1", "sha256")]);
    assert_eq!(wrong[0].stored, Hash::Crc32.digest(&text()));
    assert!(
        wrong[0]
            .computed
            .as_ref()
            .is_some_and(|computed| *computed != wrong[0].stored)
    );
    // An algorithm that is not known here is not taken for right.
    let at = bytes.windows(6).position(|w| w == b"sha256").unwrap();
    bytes[at..at + 6].copy_from_slice(b"sha999");
    assert_eq!(Fit::parse(&bytes).unwrap().wrong_hashes()[1].computed, None);
}

#[test]
fn errors_say_what_to_do() {
    let kernel = text();
    let mut spec = spec(&kernel);
    spec.kernel.compression = Compression::Xz;
    assert_eq!(
        spec.to_bytes().unwrap_err().to_string(),
        "u-boot has no xz decompressor; use none, gzip, bzip2, lzma, lz4 or zstd"
    );
    let no_images = super::super::fdt::Fdt::default().to_bytes(4).unwrap();
    assert_eq!(Fit::parse(&no_images), Err(FitError::NoImages));
    // -E and then only the tree was copied.
    let total = u32::from_be_bytes(EXTERNAL[4..8].try_into().unwrap()) as usize;
    assert_eq!(
        Fit::parse(&EXTERNAL[..total]),
        Err(FitError::NoData("kernel-1".into()))
    );
    for file in [FROM_MKIMAGE, EXTERNAL, POSITIONED] {
        for end in 0..file.len() {
            let _ = Fit::parse(&file[..end]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damage_never_panics(at in 0usize..4096, value in any::<u8>()) {
        for file in [FROM_MKIMAGE, EXTERNAL, POSITIONED] {
            let mut bytes = file.to_vec();
            let at = at % bytes.len();
            bytes[at] = value;
            if let Ok(fit) = Fit::parse(&bytes) {
                let _ = fit.wrong_hashes();
            }
        }
    }
}
