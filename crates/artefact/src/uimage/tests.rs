use proptest::prelude::*;

use super::*;

/// SOURCE_DATE_EPOCH=1577836800 mkimage -A arm -O linux -T kernel -C gzip -a 0x60008000
/// -e 0x60008040 -n "Linux kernel" -d <(printf abc), U-Boot 2023.01.
const FROM_MKIMAGE: [u8; 67] = *b"\x27\x05\x19\x56\x0d\xb2\x70\xec\x5e\x0b\xe1\x00\x00\x00\x00\x03\
    \x60\x00\x80\x00\x60\x00\x80\x40\x35\x24\x41\xc2\x05\x02\x02\x01\
    Linux kernel\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0abc";

fn kernel() -> UimageHeader {
    UimageHeader {
        timestamp: 1_577_836_800,
        entry: 0x6000_8040,
        name: "Linux kernel".into(),
        ..UimageHeader::kernel(Arch::Arm, Compression::Gzip, 0x6000_8000).unwrap()
    }
}

#[test]
fn the_bytes_are_those_of_mkimage() {
    assert_eq!(kernel().to_bytes(b"abc").unwrap(), FROM_MKIMAGE);
    let (header, data) = UimageHeader::read(&FROM_MKIMAGE).unwrap();
    assert_eq!((header, data), (kernel(), &b"abc"[..]));
    assert_eq!(kernel().compression(), Some(Compression::Gzip));
    assert_eq!(Arch::from_uimage_code(kernel().arch), Some(Arch::Arm));
}

#[test]
fn what_follows_the_data_is_ignored() {
    let padded = [&FROM_MKIMAGE[..], &[0xff; 9]].concat();
    assert_eq!(UimageHeader::read(&padded).unwrap().1, b"abc");
}

#[test]
fn damage_is_named() {
    let damaged = |at: usize| {
        let mut bytes = FROM_MKIMAGE;
        bytes[at] ^= 1;
        UimageHeader::read(&bytes).unwrap_err()
    };
    assert_eq!(damaged(0), UimageError::NotUimage);
    assert!(matches!(
        damaged(40),
        UimageError::HeaderCrc {
            stored: 0x0db2_70ec,
            ..
        }
    ));
    assert!(matches!(
        damaged(66),
        UimageError::DataCrc {
            stored: 0x3524_41c2,
            ..
        }
    ));
    for end in 0..FROM_MKIMAGE.len() {
        assert!(UimageHeader::read(&FROM_MKIMAGE[..end]).is_err());
    }
    assert_eq!(
        UimageHeader::read(&FROM_MKIMAGE[..66])
            .unwrap_err()
            .to_string(),
        "uImage is cut short: 67 bytes announced, 66 there; copy all of it"
    );
}

#[test]
fn what_cannot_be_stored_is_refused() {
    assert!(UimageHeader::kernel(Arch::Arm, Compression::Xz, 0).is_err());
    let mut header = kernel();
    header.name = "n".repeat(33);
    assert!(matches!(header.to_bytes(b""), Err(UimageError::Name(_))));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(tail in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = UimageHeader::read(&[&FROM_MKIMAGE[..4], &tail].concat());
    }

    #[test]
    fn what_is_written_is_read(name in "[a-z ]{0,32}", data in prop::collection::vec(any::<u8>(), 0..99)) {
        let header = UimageHeader { name, ..kernel() };
        let bytes = header.to_bytes(&data).unwrap();
        prop_assert_eq!(UimageHeader::read(&bytes).unwrap(), (header, &data[..]));
    }
}
