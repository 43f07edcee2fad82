//! Starting from an image of the running system, instead of booting.

use super::checks;
use crate::{Boot, Finding};
use bootlap_model::Milestone;

checks! {
    "resume-image" => image,
}

/// File systems that nobody writes to: an image knows its roots as they were.
const READ_ONLY: [&str; 4] = ["squashfs", "erofs", "romfs", "cramfs"];
/// What a kernel says when it mounts one that is mostly written to.
const WRITTEN: [&str; 6] = [
    "EXT4-fs (",
    "F2FS-fs (",
    "UBIFS (",
    "XFS (",
    "BTRFS info",
    "jffs2: version",
];
/// An image that makes user space three times as fast has to be read in a third of this, ns;
/// from less nobody would notice.
const WORTH_NS: i64 = 3_000_000_000;
const TIMES: i64 = 3;

fn image(boot: &Boot<'_>) -> Option<Finding> {
    let root = boot.line("VFS: Mounted root (")?;
    let is = |name: &&str| root.text.contains(&format!("({name} filesystem) readonly"));
    if !READ_ONLY.iter().any(is)
        || boot.lines().has(WRITTEN)
        || boot.parameter("nohibernate").is_some()
    {
        return None;
    }
    let start = boot.moment(&[Milestone::InitStart, Milestone::UserEntry])?;
    let end = boot.moment(&[Milestone::Ready, Milestone::StartupFinished])?;
    let ns = end.checked_sub(start).filter(|ns| *ns >= WORTH_NS)?;
    let third_ms = ns / TIMES / 1_000_000;
    let fits = |mb_per_s: i64| third_ms * mb_per_s / 1000;
    Some(
        Finding::new()
            .why(format!(
                "user space takes {} ms; a third of that reads an image of {} MB from a card of \
                 20 MB/s, or of {} MB from eMMC of 140 MB/s",
                ns / 1_000_000,
                fits(20),
                fits(140),
            ))
            .saves_unknown(
                "a boot does not tell how large the image would be: a third of the memory in use, \
                 about; reading and unpacking it takes the place of user space",
            )
            .at(Some([start, end]))
            .seen([root.evidence]),
    )
}
