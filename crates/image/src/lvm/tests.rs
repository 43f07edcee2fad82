//! `testdata/pv.gz` is the beginning of a physical volume of 900 MiB that lvm2 2.03.16 made:
//! `root`, `swap_1`, `var-log` and `more`, then 40 MiB more for `swap_1` and for `more`, and `tail`.

use std::io::Read;
use std::rc::Rc;

use proptest::prelude::*;

use super::*;

const MIB: u64 = 1 << 20;

fn made() -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed = &include_bytes!("testdata/pv.gz")[..];
    flate2::read::GzDecoder::new(packed)
        .read_to_end(&mut bytes)
        .unwrap();
    bytes.resize(MIB as usize, 0);
    bytes
}

fn window(bytes: Vec<u8>) -> Window {
    let size = bytes.len() as u64;
    Window::all(Rc::new(bytes), size)
}

#[test]
fn volumes_in_one_piece_have_a_place() {
    let found = volumes(&window(made())).unwrap();
    let found: Vec<(&str, Option<(u64, u64)>)> =
        found.iter().map(|v| (v.name.as_str(), v.place)).collect();
    let at = |from: u64, mib: u64| Some((MIB + from * MIB, mib * MIB));
    assert_eq!(
        found,
        [
            ("debian-vg/root", at(0, 400)),
            ("debian-vg/swap_1", None),
            ("debian-vg/var-log", at(500, 20)),
            // Nothing lay behind it but what it got first.
            ("debian-vg/more", None),
            ("debian-vg/tail", at(620, 8)),
        ]
    );
}

/// The text goes on behind the header of its place when it meets the end.
#[test]
fn metadata_go_round() {
    let mut bytes = made();
    let area = 4096_usize;
    let header = &bytes[area..];
    let (start, size) = (number::<8>(header, 40), number::<8>(header, 48));
    let (start, size) = (area + start as usize, size as usize);
    let text = bytes[start..start + size].to_vec();
    let end = area + number::<8>(header, 32) as usize;
    let first = end - 700;
    bytes[first..end].copy_from_slice(&text[..700]);
    bytes[area + 512..][..size - 700].copy_from_slice(&text[700..]);
    bytes[area + 40..][..8].copy_from_slice(&((first - area) as u64).to_le_bytes());
    let want = volumes(&window(made()));
    assert_eq!(volumes(&window(bytes)), want);
}

#[test]
fn what_is_no_physical_volume_has_none() {
    assert_eq!(volumes(&window(vec![0; 8192])), Ok(Vec::new()));
    let cut = made()[..6000].to_vec();
    assert!(volumes(&window(cut)).is_err());
}

proptest! {
    #[test]
    fn nothing_is_trusted(
        changes in prop::collection::vec((512_usize..16384, any::<u8>()), 1..20),
        bytes in 1024_usize..32768,
    ) {
        let mut image = made();
        for (at, byte) in changes {
            image[at] = byte;
        }
        image.truncate(bytes);
        let _ = volumes(&window(image));
    }
}
