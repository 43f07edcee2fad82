use proptest::prelude::*;

use super::*;

/// dtc -O dtb of U-Boot's mkimage: a FIT of some 2 kB; see `fit/tests.rs`.
const FROM_DTC: &[u8] = include_bytes!("../testdata/mkimage.fit");

fn tree() -> Fdt<'static> {
    let mut root = Node::new("");
    root.set_u32("#address-cells", 2);
    root.set_text("model", "board");
    let mut chosen = Node::new("chosen");
    chosen.set_text("bootargs", "quiet");
    let mut memory = Node::new("memory@40000000");
    memory.set("reg", 0x4000_0000u64.to_be_bytes().to_vec());
    memory.set("data", &b"12345"[..]);
    memory.children.push(Node::new("empty"));
    root.children = vec![chosen, memory];
    Fdt {
        reserved: vec![(0x1000, 0x2000)],
        boot_cpu: 1,
        root,
    }
}

/// The tree without the places of its values, to compare with one that was never in a file.
fn without_offsets(mut tree: Fdt<'_>) -> Fdt<'_> {
    fn clear(node: &mut Node<'_>) {
        node.props.iter_mut().for_each(|prop| prop.offset = 0);
        node.children.iter_mut().for_each(clear);
    }
    clear(&mut tree.root);
    tree
}

/// printf '/dts-v1/; /memreserve/ 0x1000 0x2000; / { #address-cells = <2>; chosen { bootargs =
/// "quiet"; }; };' | dtc -b 1, dtc 1.6.1.
#[test]
fn the_bytes_are_those_of_dtc() {
    let mut tree = tree();
    tree.root.children.truncate(1);
    tree.root.remove("model");
    let bytes = tree.to_bytes(4).unwrap();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        hex,
        "d00dfeed000000a4000000480000008c0000002800000011000000100000000100000018000000440000000000\
         0010000000000000002000000000000000000000000000000000000000000100000000000000030000000400\
         000000000000020000000163686f73656e000000000003000000060000000f71756965740000000000000200\
         0000020000000923616464726573732d63656c6c7300626f6f746172677300"
    );
}

#[test]
fn values_are_found_and_changed() {
    let mut tree = tree();
    let memory = tree.root.child("memory@40000000").unwrap();
    assert_eq!(memory.number("reg"), Some(0x4000_0000));
    assert_eq!(tree.root.number("#address-cells"), Some(2));
    assert_eq!(tree.root.number("model"), None);
    assert_eq!(tree.root.text("model").unwrap(), "board");
    let chosen = tree.root.child_mut("chosen").unwrap();
    chosen.set_text("bootargs", "loud");
    assert_eq!(chosen.props.len(), 1);
    assert_eq!(chosen.text("bootargs").unwrap(), "loud");
    assert!(chosen.remove("bootargs") && !chosen.remove("bootargs"));
    assert!(tree.root.child("nothing").is_none());
}

#[test]
fn what_is_written_is_read() {
    let bytes = tree().to_bytes(4).unwrap();
    assert_eq!(without_offsets(Fdt::parse(&bytes).unwrap()), tree());
    // So it is with bytes after it, as in flash.
    let flash = [&bytes[..], &[0xff; 100]].concat();
    assert_eq!(without_offsets(Fdt::parse(&flash).unwrap()), tree());
}

#[test]
fn data_is_aligned_on_demand() {
    for align in [4, 8, 64, 4096] {
        let bytes = tree().to_bytes(align).unwrap();
        let read = Fdt::parse(&bytes).unwrap();
        let offset = read.root.children[1].prop("data").unwrap().offset;
        assert_eq!(offset % align, 0);
        assert_eq!(bytes[offset..offset + 5], *b"12345");
        assert_eq!(without_offsets(read), tree());
    }
    for align in [0, 2, 12, 1 << 21] {
        assert_eq!(tree().to_bytes(align), Err(FdtError::Align(align)));
    }
}

#[test]
fn every_cut_is_an_error() {
    let bytes = tree().to_bytes(4).unwrap();
    for blob in [&bytes, FROM_DTC] {
        for end in 0..blob.len() {
            assert!(Fdt::parse(&blob[..end]).is_err());
        }
    }
    assert_eq!(
        Fdt::parse(&bytes[..200]).unwrap_err().to_string(),
        format!(
            "device tree is cut short: {} bytes announced, 200 there; copy all of it",
            bytes.len()
        )
    );
    assert_eq!(Fdt::parse(b"MZ"), Err(FdtError::NotFdt));
}

#[test]
fn depth_is_bounded() {
    let nested = |depth| {
        (1..depth).fold(Node::new("n"), |inner, _| Node {
            children: vec![inner],
            ..Node::new("n")
        })
    };
    let tree = |depth| Fdt {
        root: nested(depth),
        ..Fdt::default()
    };
    let bytes = tree(MAX_DEPTH).to_bytes(4).unwrap();
    assert!(Fdt::parse(&bytes).is_ok());
    assert_eq!(tree(MAX_DEPTH + 1).to_bytes(4), Err(FdtError::TooDeep));

    let mut deep = bytes[..HEADER_BYTES + 16].to_vec();
    deep.extend([0, 0, 0, 1, b'n', 0, 0, 0].repeat(100_000));
    let total = deep.len() as u32;
    deep[4..8].copy_from_slice(&total.to_be_bytes());
    deep[12..16].copy_from_slice(&total.to_be_bytes());
    deep[32..36].fill(0);
    deep[36..40].copy_from_slice(&(total - 56).to_be_bytes());
    assert_eq!(Fdt::parse(&deep), Err(FdtError::TooDeep));
}

#[test]
fn bad_names_are_refused() {
    for name in ["", "a/b", "a\0b", &"n".repeat(256)] {
        let mut tree = Fdt::default();
        tree.root.set_u32(name.to_owned(), 0);
        assert_eq!(tree.to_bytes(4), Err(FdtError::Name(name.to_owned())));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damage_never_panics(at in 0usize..400, value in any::<u8>()) {
        let mut bytes = tree().to_bytes(8).unwrap();
        let at = at % bytes.len();
        bytes[at] = value;
        if let Ok(tree) = Fdt::parse(&bytes) {
            let _ = tree.to_bytes(4);
        }
    }
}
