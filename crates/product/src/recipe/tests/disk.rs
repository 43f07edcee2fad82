//! Recipes for what is on a disk as it is shipped.

use bootlap_artefact::compress::Compression;

use super::super::{Choice, with_loaders_initramfs};
use super::{base, base_parts, of_disk};
use crate::part::Patch;
use crate::{Cache, Parts, Target};

#[test]
fn the_kernel_of_a_disk_is_handed_over_with_its_words() {
    let parts = base_parts("loader-timeout");
    let choice = Choice::parse("loader-timeout").unwrap();
    let waits_not = choice.apply(&of_disk(), &parts).unwrap();
    assert_eq!(waits_not.spec.loader.as_ref().unwrap().timeout_s, Some(0));
    let choice = Choice::parse("bootloader-none").unwrap();
    let direct = choice.apply(&waits_not, &parts).unwrap();
    let kernel = direct.spec.kernel.as_ref().unwrap();
    assert_eq!(kernel.image.as_deref(), Some("disk:0:/vmlinuz"));
    assert_eq!(kernel.cmdline, "root=/dev/vda2");
    assert!(direct.spec.loader.is_none());
    // What it names is there, and is not packed again.
    let cache = Cache::at("none".into());
    let parts = direct.parts(&cache, &|_| {}).unwrap();
    assert_eq!(parts.initramfs.as_ref().unwrap()[0].path, b"init");
    let whole = parts.whole_initramfs.as_ref().unwrap();
    assert_eq!(
        direct.spec.initramfs.as_ref().unwrap().image.as_deref(),
        Some("disk:0:/i")
    );
    let pack = &|_: &str, _: &[u8], _| panic!("it is packed already");
    let packed = parts.packed_initramfs(&direct.spec, pack);
    assert_eq!(packed.unwrap().unwrap().sha256, whole.sha256);
}

#[test]
fn of_checked_modules_one_byte_each_is_changed() {
    let store = tempfile::tempdir().unwrap();
    let cache = Cache::at(store.path().to_owned());
    let parts_of = |target: &Target| target.parts(&cache, &|_| {}).unwrap();
    let shipped = base("python-unchecked");
    let parts = parts_of(&shipped);
    let [module] = parts.checked_modules() else {
        panic!("there is one");
    };
    let unchecked = Choice::parse("python-unchecked").unwrap();
    let changed = unchecked.apply(&shipped, &parts).unwrap();
    let parts = parts_of(&changed);
    let patch = Patch {
        at: module.flags_at,
        bytes: vec![1],
    };
    assert_eq!(parts.disk.as_ref().unwrap().patches, [patch]);
    // The disk as it is then has none that is checked.
    let why = unchecked.edits(&shipped, &parts).unwrap_err();
    assert!(why.starts_with("no module on the disk is checked"), "{why}");
}

#[test]
fn the_initramfs_of_a_loader_is_changed_in_its_place() {
    let store = tempfile::tempdir().unwrap();
    let cache = Cache::at(store.path().to_owned());
    let parts_of = |target: &Target| target.parts(&cache, &|_| {}).unwrap();
    let on_disk = |parts: &Parts| {
        let disk = parts.disk.as_ref().unwrap();
        (disk.patches.len(), disk.initramfs().unwrap().1)
    };
    let disk = of_disk();
    let before = parts_of(&disk);
    let (_, as_shipped) = on_disk(&before);
    let apply = |name: &str, target: &Target, parts: &Parts| {
        Choice::parse(name).unwrap().apply(target, parts).unwrap()
    };
    let packed = apply("initramfs-compression=zstd", &disk, &before);
    let spec = packed.spec.initramfs.as_ref().unwrap();
    assert_eq!(spec.image.as_deref(), Some("disk:0:/i"));
    let parts = parts_of(&packed);
    let (patches, there) = on_disk(&parts);
    assert!(patches > 0);
    let archive = Compression::Zstd.decompress(&there.bytes, 1 << 20).unwrap();
    assert!(memchr::memmem::find(&archive, b"init").is_some());
    // What is but named stays as it is.
    let (named, _, _) = with_loaders_initramfs(&disk, &before).unwrap().unwrap();
    let (patches, there) = on_disk(&parts_of(&named));
    assert_eq!((patches, there.sha256), (0, as_shipped.sha256.clone()));
    // One that is packed another way is another disk.
    let packed_again = apply("initramfs-compression=gzip", &packed, &parts);
    assert!(packed_again.has_other_parts(packed.edits.len()));
    // Without the loader it stays changed, and the disk has its own again.
    let direct = apply("bootloader-none", &packed, &parts);
    let spec = direct.spec.initramfs.as_ref().unwrap();
    assert_eq!(spec.compression, Compression::Zstd);
    let (patches, there) = on_disk(&parts_of(&direct));
    assert_eq!((patches, there.sha256), (0, as_shipped.sha256));
}
