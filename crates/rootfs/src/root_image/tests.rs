//! Images of mke2fs, whole and damaged; folders that are no images.

use std::io::Read;

use proptest::prelude::*;

use super::*;

const EXT2: &[u8] = include_bytes!("testdata/ext2.img.gz");
const EXT4: &[u8] = include_bytes!("testdata/ext4.img.gz");
/// Of the UUID 00112233-4455-6677-8899-aabbccddeeff.
const ID: u64 = 0x7766_5544_3322_1100 ^ 0xffee_ddcc_bbaa_9988;

fn unpacked(gz: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut unpack = flate2::read::GzDecoder::new(gz);
    unpack.read_to_end(&mut bytes).unwrap();
    bytes
}

fn file<'i>(image: &'i RootImage, path: &str) -> &'i ImageFile {
    image.files.iter().find(|f| f.path == path).unwrap()
}

fn blocks(numbers: &[Range<u64>]) -> Vec<Range<u64>> {
    let bytes = |range: &Range<u64>| range.start * 1024..range.end * 1024;
    numbers.iter().map(bytes).collect()
}

#[test]
fn what_debugfs_says() {
    for (gz, block_of_app, tree_of_app, deep) in [
        (EXT2, 24, Some(122), [44, 62, 81, 100]),
        (EXT4, 54, None, [20, 62, 81, 100]),
    ] {
        let image = RootImage::ext(&unpacked(gz)).unwrap();
        assert_eq!((image.kind, image.id, image.left_out), (0xef53, ID, 0));
        assert_eq!(image.files.len(), 64);
        let app = file(&image, "usr/bin/app");
        assert_eq!((app.inode, app.size), (78, 40_000));
        assert_eq!(file(&image, "usr/bin/app2").inode, 78);
        assert_eq!(file(&image, "etc/deep/empty").size, 0);
        let its = [Some(block_of_app), tree_of_app].into_iter().flatten();
        let its: Vec<Range<u64>> = its.map(|block| block..block + 1).collect();
        assert_eq!(app.metadata, blocks(&its));
        let in_deep = file(&image, "etc/deep/empty");
        let metadata = &image.folders[in_deep.folder].metadata;
        for block in deep {
            let at = block * 1024;
            assert!(metadata.iter().any(|r| r.contains(&at)), "{metadata:?}");
        }
        let place = |path: &str| image.files.iter().position(|f| f.path == path).unwrap();
        let both = [place("etc/deep/empty"), place("etc/app.conf")];
        let all = image.metadata_of(&both);
        let of = |file: usize| all.iter().filter(|(f, _)| *f == file).count();
        // The folders on the way are read once.
        let above = |folder: &ImageFolder| Some(&image.folders[folder.above?]);
        let on_the_way = std::iter::successors(Some(&image.folders[in_deep.folder]), |f| above(f));
        let on_the_way: usize = on_the_way.map(|folder| folder.metadata.len()).sum();
        assert_eq!(of(both[0]), on_the_way + in_deep.metadata.len());
        assert_eq!(of(both[1]), file(&image, "etc/app.conf").metadata.len());
    }
}

#[test]
fn times_have_ns_and_go_beyond_2038() {
    let seconds = |s: u64| s * 1_000_000_000;
    let ext2 = RootImage::ext(&unpacked(EXT2)).unwrap();
    assert_eq!(file(&ext2, "usr/bin/app").mtime_ns, seconds(1_700_000_000));
    let ext4 = RootImage::ext(&unpacked(EXT4)).unwrap();
    let app = file(&ext4, "usr/bin/app");
    assert_eq!(app.mtime_ns, seconds(1_700_000_000) + 123_456_789);
    let later = seconds(1_700_000_000 + (1 << 32));
    assert_eq!(file(&ext4, "etc/app.conf").mtime_ns, later);
}

fn wrong(change: impl Fn(&mut Vec<u8>)) -> String {
    let mut bytes = unpacked(EXT4);
    change(&mut bytes);
    RootImage::ext(&bytes).unwrap_err()
}

#[test]
fn what_cannot_be_read_is_said() {
    assert!(wrong(|b| b.truncate(1000)).contains("no ext2"));
    assert!(wrong(|b| b[1024 + 56] = 0).contains("no ext2"));
    assert!(wrong(|b| b[1024 + 96] |= 4).contains("e2fsck -p"));
    assert!(wrong(|b| b[1024 + 97] |= 0x80).contains("inline_data"));
    assert!(wrong(|b| b[1024 + 99] |= 0x80).contains("a new one"));
    assert!(wrong(|b| b.truncate(40 * 1024)).contains("copied as a whole"));
    // An extent of the topmost folder that has no block, and one that lies outside.
    assert!(wrong(|b| b[35 * 1024 + 0x100..][40 + 16..40 + 18].fill(0)).contains("extents"));
    assert!(wrong(|b| b[35 * 1024 + 0x100..][40 + 12..40 + 24].fill(0xff)).contains("damaged"));
}

#[test]
fn a_folder_is_no_image() {
    let dir = tempfile::tempdir().unwrap();
    let said = RootImage::open(dir.path()).unwrap_err().to_string();
    assert!(said.contains("no mount point"), "{said}");
    let file = dir.path().join("image");
    std::fs::write(&file, unpacked(EXT2)).unwrap();
    assert_eq!(RootImage::open(&file).unwrap().files.len(), 64);
}

#[test]
fn folders_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("b/c")).unwrap();
    std::fs::write(dir.path().join("b/c/d"), "").unwrap();
    std::os::unix::fs::symlink("b", dir.path().join("a")).unwrap();
    let all = entries(dir.path()).unwrap();
    let all: Vec<_> = all.iter().map(|e| (&e.path[..], e.is_folder)).collect();
    let expected: [(&[u8], bool); 4] = [
        (b"a", false),
        (b"b", true),
        (b"b/c", true),
        (b"b/c/d", false),
    ];
    assert_eq!(all, expected);
}

proptest! {
    /// Whatever is wrong, there is an answer.
    #[test]
    fn damage_is_no_panic(
        gz in prop::sample::select(vec![EXT2, EXT4]),
        wrong in prop::collection::vec((0..120_usize * 1024, any::<u8>()), 1..12),
        superblock in prop::collection::vec((0..400_usize, any::<u8>()), 0..3),
    ) {
        let mut bytes = unpacked(gz);
        for (at, byte) in wrong {
            bytes[at] = byte;
        }
        for (at, byte) in superblock {
            bytes[1024 + at] = byte;
        }
        let _ = RootImage::ext(&bytes);
    }
}
