use proptest::prelude::*;

use super::*;

const LIMIT: usize = 64 << 20;

const WRITABLE: [Compression; 8] = [
    Compression::None,
    Compression::Gzip,
    Compression::Bzip2,
    Compression::Lzma,
    Compression::Xz,
    Compression::Lz4,
    Compression::Lz4Legacy,
    Compression::Zstd,
];

fn text() -> Vec<u8> {
    b"bootlap makes linux boot fast; ".repeat(12)
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
    (0..hex.len()).step_by(2).map(digits).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the real tools (gzip 1.12, bzip2 1.0.8, xz 5.4.1, lz4 1.9.4, zstd 1.5.4) make of `text`.
const FROM_TOOLS: [(Compression, &str, &str); 7] = [
    (
        Compression::Gzip,
        "gzip -9nc",
        "1f8b08000000000002034bcacf2fc9492c50c84dcc4e2d56c8c9cc2bad5048028a29a4251697588399a3d254\
         96060026cfba6774010000",
    ),
    (
        Compression::Bzip2,
        "bzip2 -9c",
        "425a6839314159265359bd235c92000041998040000008332fce4020006a0a9440069e90295518000c92e4a2\
         512897260982784e44c12c4d0b72ccb01745c8bc1645d97e2fe5c958944c93f177245385090bd235c920",
    ),
    (
        Compression::Lzma,
        "lzma -9c",
        "5d00000004ffffffffffffffff00311bece86e6a51a13aeb6d811c030fe5810a2ad068d2393a773384579604\
         b878b29be29513fffff386c000",
    ),
    (
        Compression::Xz,
        "xz -6 --check=crc32 -c",
        "fd377a585a0000016922de360200210116000000742fe5a3e0017300265d00311bece86e6a51a13aeb6d811c\
         030fe5810a2ad068d2393a773384579604b878b29bc8ce000000000026cfba6700013ef402000000168c98ea\
         3e300d8b020000000001595a",
    ),
    (
        Compression::Lz4,
        "lz4 -9 -c",
        "04224d186440a72a000000f005626f6f746c6170206d616b6573206c696e75782014007f20666173743b201f\
         00ff3e506173743b2000000000d6050389",
    ),
    (
        Compression::Lz4Legacy,
        "lz4 -l -9 -c",
        "02214c182a000000f005626f6f746c6170206d616b6573206c696e75782014007f20666173743b201f00ff3e\
         506173743b20",
    ),
    (
        Compression::Zstd,
        "zstd -19 -c",
        "28b52ffd04683d0100f8626f6f746c6170206d616b6573206c696e757820626f6f7420666173743b2001004b\
         095539011b1e2045",
    ),
];

#[test]
fn what_the_tools_make_is_recognised_and_unpacked() {
    for (format, tool, packed) in FROM_TOOLS {
        let packed = bytes_of(packed);
        assert_eq!(Compression::detect(&packed), format, "{tool}");
        assert_eq!(format.decompress(&packed, LIMIT).unwrap(), text(), "{tool}");
    }
}

/// Our own bytes. Each was unpacked with the tool named, which is the proof; that they are the
/// same tomorrow is what this test is for. If a library changes them, prove them again.
#[test]
fn output_is_deterministic() {
    let ours = [
        (
            Compression::Gzip,
            "gzip -dc",
            "1f8b08000000000002ff4bcacf2fc9492c50c84dcc4e2d56c8c9cc2bad5048028a29a4251697588399a3d25496060026cfba6774010000",
        ),
        (
            Compression::Bzip2,
            "bzip2 -dc",
            "425a6839314159265359bd235c92000041998040000008332fce4020006a0a9440069e90295518000c92e4a2512897260982784e44c12c4d0b72ccb01745c8bc1645d97e2fe5c958944c93f177245385090bd235c920",
        ),
        (
            Compression::Lzma,
            "lzma -dc",
            "5d00100000740100000000000000311bece86e6a51a13aeb6d811c030fe5810a2ad068d2393a773384579604b878b29bc8ce0000",
        ),
        (
            Compression::Xz,
            "xz -dc",
            "fd377a585a0000016922de360200210100000000372797d6e0017300265d00311bece86e6a51a13aeb6d811c030fe5810a2ad068d2393a773384579604b878b29bc8ce000000000026cfba6700013ef402000000168c98ea3e300d8b020000000001595a",
        ),
        (
            Compression::Lz4,
            "lz4 -dc",
            "04224d186470b92a000000f005626f6f746c6170206d616b6573206c696e75782014007f20666173743b201f00ff3e506173743b2000000000d6050389",
        ),
        (
            Compression::Lz4Legacy,
            "lz4 -dc",
            "02214c182a000000f005626f6f746c6170206d616b6573206c696e75782014007f20666173743b201f00ff3e506173743b20",
        ),
        (
            Compression::Zstd,
            "zstd -dc",
            "28b52ffd6474003d0100f8626f6f746c6170206d616b6573206c696e757820626f6f7420666173743b2001004b095539011b1e2045",
        ),
    ];
    for (format, tool, expected) in ours {
        let packed = hex(&format.compress(&text()).unwrap());
        assert_eq!(
            packed, expected,
            "{format}: unpack with `{tool}` before believing it"
        );
    }
}

#[test]
fn headers_say_what_the_decoders_need() {
    let big = vec![7; 3 << 20];
    // Only the deflate method, no name, no time.
    assert_eq!(
        Compression::Gzip.compress(&big).unwrap()[..8],
        *b"\x1f\x8b\x08\0\0\0\0\0"
    );
    // The dictionary is 4 MiB rather than the preset's 64, and the size is known.
    let lzma = Compression::Lzma.compress(&big).unwrap();
    assert_eq!(bytes::le32(&lzma, 1), Some(4 << 20));
    assert_eq!(bytes::le64(&lzma, 5), Some(3 << 20));
    // CRC-32 is check type 1.
    assert_eq!(Compression::Xz.compress(&big).unwrap()[7], 1);
    // Version 1, independent blocks, content checksum; blocks of 4 MiB.
    assert_eq!(
        Compression::Lz4.compress(&big).unwrap()[4..6],
        [0b0110_0100, 0x70]
    );
    // A four-byte content size, a single segment, a checksum.
    let zstd = Compression::Zstd.compress(&big).unwrap();
    assert_eq!(zstd[4], 0b1010_0100);
    assert_eq!(bytes::le32(&zstd, 5), Some(3 << 20));
}

#[test]
fn lz4_legacy_goes_in_blocks_of_8_mib() {
    // Noise does not compress, and so gives the longest block there can be.
    let mut state = 1u64;
    let mut noise = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    let data: Vec<u8> = (0..(8 << 20) + 5).map(|_| noise()).collect();
    let packed = Compression::Lz4Legacy.compress(&data).unwrap();
    assert!(bytes::le32(&packed, 4).unwrap() > 8 << 20);
    assert!(Compression::Lz4Legacy.decompress(&packed, LIMIT).unwrap() == data);
}

#[test]
fn a_bomb_is_an_error() {
    let zeros = vec![0; 4 << 20];
    for format in WRITABLE {
        let packed = format.compress(&zeros).unwrap();
        assert_eq!(
            format.decompress(&packed, zeros.len() - 1),
            Err(CompressError::TooBig {
                format,
                limit: zeros.len() - 1
            })
        );
        assert!(
            format.decompress(&packed, zeros.len()).unwrap() == zeros,
            "{format}"
        );
    }
}

#[test]
fn a_cut_stream_is_an_error() {
    for (format, tool, packed) in FROM_TOOLS {
        let packed = bytes_of(packed);
        for end in 0..packed.len() {
            let result = format.decompress(&packed[..end], LIMIT);
            match format {
                // No end mark: what is cut between blocks looks whole, here after the magic.
                Compression::Lz4Legacy if end == 4 => assert_eq!(result, Ok(vec![])),
                // The rest of the end marker, which no decoder needs.
                Compression::Lzma if result.is_ok() => assert_eq!(result, Ok(text())),
                _ => assert!(
                    matches!(result, Err(CompressError::Corrupt { .. })),
                    "{tool} cut to {end}: {result:?}"
                ),
            }
        }
    }
}

#[test]
fn padding_behind_a_stream_is_ignored() {
    for (format, tool, packed) in FROM_TOOLS {
        for pad in [0, 0xff] {
            let padded = [bytes_of(packed), vec![pad; 512]].concat();
            assert_eq!(
                format.decompress(&padded, LIMIT),
                Ok(text()),
                "{tool}, {pad}"
            );
        }
    }
}

#[test]
fn other_files_are_not_compressed() {
    for head in [
        &b""[..],
        b"070701",
        b"MZ",
        b"\x7fELF",
        b"\x5d\0\0",
        &[0x5d; 13],
    ] {
        assert_eq!(Compression::detect(head), Compression::None);
    }
    assert_eq!(
        Compression::detect(b"\x89LZO\0\r\n\x1a\n\x10\x40"),
        Compression::Lzo
    );
}

#[test]
fn names_are_the_ones_of_target_toml() {
    for format in Compression::ALL {
        assert_eq!(format.name().parse(), Ok(format));
        assert_eq!(format.to_string(), format.name());
    }
    let error = "rar".parse::<Compression>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown compression `rar`; use one of none, gzip, bzip2, lzma, xz, lzo, lz4, lz4-legacy, zstd"
    );
    assert_eq!(Compression::Lz4.fit_name(), Some("lz4"));
    assert_eq!(Compression::Xz.fit_name(), None);
}

#[test]
fn lzo_is_refused_with_a_reason() {
    let error = Compression::Lzo.compress(b"").unwrap_err();
    assert_eq!(
        error.to_string(),
        "lzo is recognised but not supported; use lz4 or gzip"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_packed_comes_back(
        data in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..2000),
            prop::collection::vec(0u8..3, 0..20_000),
        ],
    ) {
        for format in WRITABLE {
            let packed = format.compress(&data).unwrap();
            prop_assert_eq!(format.decompress(&packed, data.len()), Ok(data.clone()));
            if format != Compression::None {
                prop_assert_eq!(Compression::detect(&packed), format);
            }
        }
    }

    #[test]
    fn damage_never_panics(at in 0usize..120, value in any::<u8>(), cut in 0usize..120) {
        for (format, _, packed) in FROM_TOOLS {
            let mut packed = bytes_of(packed);
            if let Some(byte) = packed.get_mut(at) {
                *byte = value;
            }
            packed.truncate(packed.len() - cut.min(packed.len()));
            let _ = format.decompress(&packed, 1 << 20);
        }
    }
}

#[test]
fn what_is_unpacked_while_it_is_read_is_the_same() {
    let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n / 7) as u8).collect();
    for format in ["none", "gzip", "bzip2", "lzma", "xz", "zstd"] {
        let format: Compression = format.parse().unwrap();
        let packed = format.compress(&bytes).unwrap();
        let mut read = Vec::new();
        let reader = format.reader(&packed[..]).unwrap();
        reader.unwrap().read_to_end(&mut read).unwrap();
        assert!(read == bytes, "{format}");
        // Cut off, it is an error and no shorter disk.
        let cut = &packed[..packed.len() / 2];
        let reader = format
            .reader(cut)
            .map(|r| r.unwrap().read_to_end(&mut Vec::new()));
        let is_error = reader.is_ok_and(|read| read.is_err());
        assert!(is_error || format == Compression::None, "{format}");
    }
    assert!(Compression::Lz4.reader(&b""[..]).unwrap().is_none());
}

#[test]
fn all_streams_of_a_file_are_unpacked_and_what_follows_is_left_out() {
    let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n / 7) as u8).collect();
    for format in [Compression::Gzip, Compression::Bzip2] {
        let two = [&bytes[..70_000], &bytes[70_000..]].map(|b| format.compress(b).unwrap());
        let two = two.concat();
        for behind in [
            &b""[..],
            &[0; 700],
            b"{ \"metadata_version\": \"1.1\" }FWx0",
        ] {
            let file = [&two, behind].concat();
            // However little of it is there at once.
            for buffer in [1, 7, 1 << 20] {
                let from = std::io::BufReader::with_capacity(buffer, &file[..]);
                let mut read = Vec::new();
                let reader = format.reader(from).unwrap();
                reader.unwrap().read_to_end(&mut read).unwrap();
                assert!(read == bytes, "{format} {buffer} {behind:?}");
            }
        }
    }
    let xz = Compression::Xz.compress(&bytes).unwrap();
    let padded = [&xz[..], &[0; 8]].concat();
    let mut read = Vec::new();
    let reader = Compression::Xz.reader(&padded[..]).unwrap();
    reader.unwrap().read_to_end(&mut read).unwrap();
    assert!(read == bytes);
}
