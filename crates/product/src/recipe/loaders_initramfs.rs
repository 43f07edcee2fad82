//! The initramfs that a boot loader on the disk loads: named, so that recipes can change it.

use crate::initramfs::{compression, entries_of};
use crate::part::Part;
use crate::{Edit, Parts, Target};

/// The target, its parts and the edits that make them so, where the boot loader on a disk loads
/// an initramfs: then that is named, and what is changed of it takes its place on the disk.
///
/// # Errors
/// If that cannot be told, or the initramfs cannot be read.
pub fn with_loaders_initramfs(
    target: &Target,
    parts: &Parts,
) -> Result<Option<(Target, Parts, Vec<Edit>)>, String> {
    let spec = &target.spec;
    let (Some(disk), None, None) = (&parts.disk, &spec.kernel, &spec.initramfs) else {
        return Ok(None);
    };
    let (name, part) = disk.initramfs()?;
    let edits = of_image(&name, &part);
    let target = target.with(&edits).map_err(|e| e.to_string())?;
    let entries = entries_of(&part).map_err(|e| e.to_string())?;
    let parts = Parts {
        initramfs: Some(entries),
        whole_initramfs: Some(part),
        ..parts.clone()
    };
    Ok(Some((target, parts, edits)))
}

/// The edits that name an initramfs as it is.
pub(super) fn of_image(name: &str, part: &Part) -> Vec<Edit> {
    let compression = compression(&part.bytes).to_string();
    vec![
        Edit::set("initramfs.image", name),
        Edit::set("initramfs.compression", compression),
    ]
}
