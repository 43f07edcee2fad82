//! The recipe for the root's disk.

use super::{Plain, typed_file};
use crate::{Edit, Parts, Target};

/// The files of a boot lie in the image in the order of their use.
///
/// The value is a list of paths, one a line, which `bootlap layout --for boot-image`
/// makes of what a boot has read. The image is made anew with these files in front:
/// what is read one after the other lies one after the other, so that storage gets
/// fewer and larger requests, and hard disks need not seek.
pub(super) const BOOT_IMAGE: Plain = Plain::new(
    "boot-image",
    "the root's files lie in the order in which a boot reads them",
    "packs that were recorded with the old image are void: its files have other inodes",
    boot_image,
)
.takes(&[""]);

fn boot_image(target: &Target, _: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let root = target.spec.root.as_ref().ok_or(
        "the target has no [root] of which an image could be made; for one that is there \
         already, `bootlap-agent layout` moves its files on the device",
    )?;
    if value.is_empty() {
        return Err(
            "it needs a list of paths, as in boot-image=boot.order; `bootlap layout --for \
             boot-image` makes one"
                .into(),
        );
    }
    if let Some(list) = &root.order {
        return Err(format!("root.order is {list} already"));
    }
    Ok(vec![Edit::set("root.order", typed_file(value)?)])
}
