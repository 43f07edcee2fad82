//! Boot artefacts and `target.toml`: what is read can be written and read again.

use std::collections::BTreeMap;
use std::rc::Rc;

use bootlap_artefact::barebox_env::{BareboxEnv, BareboxEnvError};
use bootlap_artefact::cpio as cpio_archive;
use bootlap_artefact::fit::Fit;
use bootlap_artefact::kernel_image::{KernelImage, loaded_end, self_unpacking};
use bootlap_artefact::uboot_env::{EnvError, EnvLayout, UbootEnv};
use bootlap_artefact::uboot_script::{Script, flatten};
use bootlap_artefact::uimage::UimageHeader;
use bootlap_image::beside::Beside;
use bootlap_image::plan::{Plan, Wish};
use bootlap_image::scripts::Scripts;
use bootlap_image::units::Units;
use bootlap_image::{Found, Handover, Window};
use bootlap_kbuild::dot_config::DotConfig;
use bootlap_product::{Edit, Target};
use bootlap_rootfs::root_image::RootImage;

/// An initramfs.
pub fn cpio(bytes: &[u8]) {
    let Ok(archive) = cpio_archive::read(bytes) else {
        return;
    };
    assert!(bytes.ends_with(archive.rest));
    if let Ok(written) = cpio_archive::write(&archive.entries) {
        let again = cpio_archive::read(&written).expect("what was written is read");
        let names = |a: &cpio_archive::Archive<'_>| -> Vec<Vec<u8>> {
            a.entries.iter().map(|e| e.name.to_vec()).collect()
        };
        assert_eq!(names(&again), names(&archive));
    }
}

/// A `.config`: what it says is what its lines say.
pub fn dot_config(bytes: &[u8]) {
    if let Ok(config) = DotConfig::read(bytes) {
        for (name, value) in config.iter() {
            assert_eq!(config.get(name), Some(value));
            assert!(bytes.windows(name.len()).any(|w| w == name.as_bytes()));
        }
    }
}

/// A root image: whatever it holds lies in it.
pub fn ext_image(bytes: &[u8]) {
    if let Ok(image) = RootImage::ext(&bytes.to_vec()) {
        let files: Vec<usize> = (0..image.files.len()).collect();
        let metadata = image.metadata_of(&files);
        assert!(metadata.iter().all(|(_, range)| range.start < range.end));
        for file in &image.files {
            assert!(!file.path.starts_with('/') && !file.path.split('/').any(|p| p == ".."));
        }
    }
}

/// A disk: whatever is found on it can be looked up, and a plan names what there is.
pub fn disk(bytes: &[u8]) {
    let image = Window::all(Rc::new(bytes.to_vec()), bytes.len() as u64);
    let found = Found::of(&image);
    for system in &found.systems {
        if let Some(files) = found.files(system.volume) {
            let units = Units::of(files);
            assert!(units.is_none_or(|units| units.started.len() <= 5000));
            if let Some(scripts) = Scripts::of(files, system.init) {
                assert_eq!(scripts.rewritten(files).len(), scripts.files().len());
            }
        }
    }
    assert_eq!(found.table.partitions.len(), found.volumes.len());
    for partition in &found.table.partitions {
        let end = partition.start + partition.bytes;
        assert!(partition.bytes == 0 || end <= bytes.len() as u64);
    }
    for module in found.checked_modules() {
        assert!(module.flags_at < bytes.len() as u64);
    }
    for loader in &found.loaders {
        assert!(loader.default.is_none_or(|at| at < loader.entries.len()));
    }
    if let Ok(handover) = Handover::of(&found) {
        assert!(found.named(&handover.kernel).is_some());
    }
    let _ = Plan::of(&found, None, None);
    let _ = Plan::of(&found, Some(Wish::UserSpace), None);
    if let Ok((place, text)) = found.with_cmdline("a b") {
        assert!(found.read(&place).is_some() && text.contains("a b"));
    }
    if let Some(found) = Found::of_initramfs(bytes) {
        let _ = Plan::of(&found, None, Some(&Beside::default()));
    }
}

/// A flattened image tree.
pub fn fit(bytes: &[u8]) {
    if let Ok(fit) = Fit::parse(bytes) {
        fit.wrong_hashes();
        for image in &fit.images {
            assert_eq!(bytes.get(image.range.clone()), Some(image.data));
        }
    }
}

/// A kernel.
pub fn kernel_image(bytes: &[u8]) {
    if let Ok(image) = KernelImage::describe(bytes)
        && let Some(payload) = image.payload
    {
        assert!(payload.range.start <= payload.range.end);
        assert!(payload.range.end <= image.file_bytes);
    }
    if let Some(packed) = self_unpacking(bytes) {
        // What is unpacked lies in front of what unpacks it.
        assert!(loaded_end(bytes) < loaded_end(&packed));
    }
}

/// A target's description, and edits of it.
pub fn target_toml(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let target = Target::parse("t".into(), text.to_owned(), "t.toml");
    let Ok(target) = target else {
        return;
    };
    let edit = Edit::set("kernel.cmdline", "quiet");
    if target.spec.kernel.is_some() {
        let changed = target
            .with(&[edit])
            .expect("a kernel always has a command line");
        let kernel = changed.spec.kernel.expect("it was there");
        assert_eq!(kernel.cmdline, "quiet");
    }
    let edit = Edit::set("bootloader.environment.bootdelay", "0");
    if target.spec.bootloader.is_some() {
        let changed = target
            .with(&[edit])
            .expect("a boot loader may have variables");
        let bootloader = changed.spec.bootloader.expect("it was there");
        assert_eq!(bootloader.environment["bootdelay"], "0");
    }
}

/// A U-Boot environment.
pub fn uboot_env(bytes: &[u8]) {
    let _ = std::str::from_utf8(bytes).map(UbootEnv::from_text);
    let layout = EnvLayout::single(bytes.len());
    let mut image = bytes.to_vec();
    // A right checksum, which no fuzzer finds by chance.
    if let Err(EnvError::Crc { computed, .. }) = UbootEnv::read(&image, &layout) {
        image[..4].copy_from_slice(&computed.to_le_bytes());
    }
    if let Ok((env, _)) = UbootEnv::read(&image, &layout) {
        // The NUL of the last variable and that of the end may be missing.
        let layout = EnvLayout::single(image.len() + 2);
        let again = env.to_bytes(&layout).expect("it was read from less");
        assert_eq!(UbootEnv::read(&again, &layout), Ok((env, None)));
    }
}

/// A U-Boot environment that has to be looked for.
pub fn uboot_env_any(bytes: &[u8]) {
    if let Ok(found) = UbootEnv::read_any(bytes)
        && let Some(layout) = found.layout
    {
        let there = bytes.get(found.offset..).expect("it was found there");
        let (again, _) = UbootEnv::read(there, &layout).expect("it was read so");
        assert_eq!(again, found.environment);
    }
}

/// An environment of barebox, with the checksums that no fuzzer finds by chance.
pub fn barebox_env(bytes: &[u8]) {
    let mut image = bytes.to_vec();
    if let Some(rest) = bytes.len().checked_sub(28) {
        image[..4].copy_from_slice(&0x798f_ba79_u32.to_le_bytes());
        image[12..16].copy_from_slice(&(rest as u32).to_le_bytes());
    }
    // The superblock's covers the data's.
    for at in [24, 8, 24] {
        if let Err(BareboxEnvError::Crc { computed, .. }) = BareboxEnv::read(&image) {
            image[at..at + 4].copy_from_slice(&computed.to_le_bytes());
        }
    }
    if let Ok(env) = BareboxEnv::read(&image) {
        let held = env.iter().map(|(path, text)| path.len() + text.len());
        // Bytes that are no text become three each.
        assert!(held.sum::<usize>() <= 3 * bytes.len());
    }
}

/// U-Boot scripts: the first line is `bootcmd`, the others are called `a`, `b`
/// and so on.
pub fn uboot_script(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(script) = Script::parse(text) {
        assert_eq!(Script::parse(&script.to_string()), Ok(script));
    }
    let names = std::iter::once("bootcmd".to_owned()).chain(('a'..='z').map(String::from));
    let mut environment: BTreeMap<String, String> =
        names.zip(text.lines().map(str::to_owned)).collect();
    if let Ok(flat) = flatten("bootcmd", &environment) {
        let text = flat.to_string();
        assert_eq!(Script::parse(&text), Ok(flat.clone()));
        environment.insert("bootcmd".into(), text);
        assert_eq!(flatten("bootcmd", &environment), Ok(flat));
    }
}

/// U-Boot's older image header.
pub fn uimage(bytes: &[u8]) {
    if let Ok((header, data)) = UimageHeader::read(bytes) {
        header.compression();
        assert!(data.len() <= bytes.len());
    }
}
