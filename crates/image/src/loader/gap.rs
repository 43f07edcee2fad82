//! Boot loaders outside of file systems: in the first sector, and between the partition
//! table and the first partition.

use memchr::memmem;

use super::Loader;
use crate::table::Table;
use crate::window::Window;

/// Boards look for their loaders in the first MiBs.
const MOST_GAP: u64 = 16 << 20;

/// The version behind a banner: `2023.01+dfsg-2`.
pub(super) fn version(bytes: &[u8], banner: &[u8], name: &str) -> String {
    let Some(at) = memmem::find(bytes, banner) else {
        return String::new();
    };
    let behind = &bytes[at + name.len()..];
    let text = behind.iter().take(64).take_while(|b| b.is_ascii_graphic());
    text.map(|b| char::from(*b)).collect()
}

/// What is there.
pub(super) fn programs(disk: &Window, table: &Table) -> Vec<Loader> {
    let mut found = Vec::new();
    let mut push = |name: &'static str, version: String, at: String| {
        found.push(Loader {
            name,
            version,
            by_sector: at.ends_with("boot sector"),
            at,
            ..Loader::default()
        });
    };
    let head = disk.up_to(0, 512).unwrap_or_default();
    let has = |bytes: &[u8], text: &[u8]| memmem::find(bytes, text).is_some();
    // The messages that their first sectors can print.
    if has(&head, b"GRUB \0Geom\0Hard Disk\0Read\0 Error") {
        push("GRUB", String::new(), "the boot sector".to_owned());
    }
    if has(&head, b"Missing operating system.\r\n") || has(&head, b"isolinux.bin missing") {
        push("SYSLINUX", String::new(), "the boot sector".to_owned());
    }
    for partition in &table.partitions {
        let boot = disk
            .part(partition.start, 512)
            .up_to(0, 512)
            .unwrap_or_default();
        if boot.get(3..11) == Some(b"SYSLINUX") {
            let at = format!("partition {}'s boot sector", partition.number);
            push("SYSLINUX", String::new(), at);
        }
    }
    let first = table.partitions.iter().filter(|p| !p.bios_boot);
    // Without a table all of it is a file system's, or nobody's.
    let end = first
        .map(|p| p.start)
        .min()
        .unwrap_or_default()
        .min(MOST_GAP);
    let gap = usize::try_from(end)
        .ok()
        .and_then(|end| disk.up_to(0, end).ok());
    let gap = gap.unwrap_or_default();
    for (banner, prefix, name) in [
        (&b"U-Boot 20"[..], "U-Boot ", "U-Boot"),
        (b"U-Boot SPL 20", "U-Boot SPL ", "U-Boot SPL"),
        (b"barebox 20", "barebox ", "barebox"),
    ] {
        if let Some(at) = memmem::find(&gap, banner) {
            push(
                name,
                version(&gap, banner, prefix),
                format!("{} KiB from the start of the disk", at / 1024),
            );
        }
    }
    found
}
