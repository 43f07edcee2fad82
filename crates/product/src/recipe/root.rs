//! Recipes for the root's disk.

use super::cmdline::{Line, find, with_parameter};
use super::{Plain, typed_file};
use crate::cmdline::words;
use crate::spec::RootFormat;
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

/// The root's disk holds another file system, or is compressed otherwise.
///
/// The same files, owners and modes in a file system that is mounted and read faster on this
/// board. Which one that is, storage and CPU decide: what is compressed is read in fewer bytes
/// and costs the CPU to unpack (docs/tables/filesystems.md). squashfs and EROFS cannot be written
/// to, so a root that is mounted `rw` stays as it is.
pub(super) const FORMAT: Plain = Plain::new(
    "root-format",
    "the root's disk holds another file system, or is compressed otherwise",
    "squashfs and EROFS cannot be written to: what the system keeps needs a place of its own, and \
     updates write a whole image",
    format,
)
.takes(&[
    "erofs-lz4hc",
    "erofs",
    "squashfs-zstd",
    "squashfs-lz4",
    "squashfs-lzo",
    "squashfs-gzip",
    "ext4",
]);

fn format(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let root = target.spec.root.as_ref();
    let root = root.ok_or("the target has no [root] of which an image could be made")?;
    let (new, options) = match value.split_once('-') {
        Some(("squashfs", how)) => (
            RootFormat::Squashfs,
            vec!["-comp".to_owned(), how.to_owned()],
        ),
        Some((_, how)) => (RootFormat::Erofs, vec![format!("-z{how}")]),
        None if value == "ext4" => (RootFormat::Ext4, Vec::new()),
        None => (RootFormat::Erofs, Vec::new()),
    };
    // squashfs is compressed with gzip unless it is told.
    let same = |options: &[String]| {
        options == root.options || (root.options.is_empty() && value == "squashfs-gzip")
    };
    if root.format == new && same(&options) {
        return Err(format!("the root is {value} already"));
    }
    if root.order.is_some() && new == RootFormat::Erofs && !options.is_empty() {
        return Err("mkfs.erofs puts files into an order only if it does not compress them".into());
    }
    let line = Line::of(target, parts)?;
    let read_only = new != RootFormat::Ext4;
    if read_only && words(&line.text).contains(&"rw") {
        return Err(format!(
            "the root is mounted for writing (rw), which {} cannot",
            new.name()
        ));
    }
    let mut edits = Vec::new();
    if root.format != new {
        edits.push(Edit::set("root.format", new.name()));
    }
    edits.push(Edit::remove("root.options"));
    edits.extend(
        options
            .iter()
            .map(|option| Edit::add("root.options", option)),
    );
    if find(&line.text, "rootfstype").is_some() {
        let word = format!("rootfstype={}", new.name());
        edits.extend(line.set(with_parameter(&line.text, &word)));
    }
    Ok(edits)
}
