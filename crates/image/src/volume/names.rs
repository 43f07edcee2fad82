//! By which names Linux knows a file system whose files are not read here: `UUID=` and `LABEL=`.
//!
//! Superblocks: XFS (`struct xfs_dsb`), btrfs (`struct btrfs_super_block`), F2FS (`struct
//! f2fs_super_block`), EROFS (`struct erofs_super_block`).

use crate::window::Window;

/// Where a superblock has its UUID and its label, from the start of the partition, and how many
/// bytes the label may have.
fn places(kind: &str) -> Option<(u64, u64, usize)> {
    Some(match kind {
        "xfs" => (32, 108, 12),
        "btrfs" => (0x1_0020, 0x1_012b, 256),
        "f2fs" => (1024 + 108, 1024 + 124, 1024),
        "erofs" => (1024 + 48, 1024 + 64, 16),
        _ => return None,
    })
}

/// UUID and label.
pub(super) fn of(kind: &str, window: &Window) -> Option<(String, String)> {
    let (uuid, label, most) = places(kind)?;
    let uuid = window.up_to(uuid, 16).ok()?;
    let uuid: [u8; 16] = uuid.try_into().ok()?;
    let label = window.up_to(label, most).unwrap_or_default();
    let label = match kind {
        "f2fs" => {
            let (pairs, _) = label.as_chunks::<2>();
            let units = pairs.iter().map(|pair| u16::from_le_bytes(*pair));
            let units: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
            String::from_utf16_lossy(&units)
        }
        _ => {
            let end = label.iter().position(|b| *b == 0).unwrap_or(label.len());
            String::from_utf8_lossy(&label[..end]).into_owned()
        }
    };
    Some((dashed(uuid), label))
}

/// As `blkid` writes it.
fn dashed(uuid: [u8; 16]) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(uuid));
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn names_are_those_that_blkid_tells() {
        let uuid = *b"\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef";
        for (kind, label) in [
            ("xfs", &b"root"[..]),
            ("btrfs", b"root"),
            ("erofs", b"root"),
            ("f2fs", b"r\0o\0o\0t\0"),
        ] {
            let mut bytes = vec![0; 0x1_1000];
            let (at_uuid, at_label, _) = places(kind).unwrap();
            for (at, what) in [(at_uuid, &uuid[..]), (at_label, label)] {
                bytes[at as usize..][..what.len()].copy_from_slice(what);
            }
            let size = bytes.len() as u64;
            let window = Window::all(Rc::new(bytes), size);
            let told = (
                "01234567-89ab-cdef-0123-456789abcdef".to_owned(),
                "root".to_owned(),
            );
            assert_eq!(of(kind, &window), Some(told), "{kind}");
        }
        let short = Window::all(Rc::new(vec![0; 40]), 40);
        assert_eq!(of("xfs", &short), None);
    }
}
