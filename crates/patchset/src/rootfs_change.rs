//! Which files of the initramfs differ.

use std::collections::BTreeMap;

use bootlap_product::Parts;
use bootlap_product::initramfs::What;

/// One path that is to be another thing, or nothing.
pub(super) struct RootfsChange<'a> {
    /// Without a leading slash.
    pub(super) path: &'a [u8],
    /// What it was.
    pub(super) before: Option<&'a What>,
    /// What it is to be.
    pub(super) after: Option<&'a What>,
}

impl<'a> RootfsChange<'a> {
    /// All differences, by path: folders come before what they hold.
    pub(super) fn between(before: &'a Parts, after: &'a Parts) -> Vec<Self> {
        type Sides<'a> = (Option<&'a What>, Option<&'a What>);
        let mut paths: BTreeMap<&[u8], Sides<'_>> = BTreeMap::new();
        for entry in before.initramfs.iter().flatten() {
            paths.entry(&entry.path).or_default().0 = Some(&entry.what);
        }
        for entry in after.initramfs.iter().flatten() {
            paths.entry(&entry.path).or_default().1 = Some(&entry.what);
        }
        let differ = paths.into_iter().filter(|(_, (b, a))| b != a);
        differ
            .map(|(path, (before, after))| Self {
                path,
                before,
                after,
            })
            .collect()
    }

    /// The unit and the file name of a drop-in of systemd: `x.service.d/y.conf`
    /// in one of the folders that systemd reads.
    pub(super) fn drop_in(&self) -> Option<&'a [u8]> {
        let folders: [&[u8]; 3] = [
            b"etc/systemd/system/",
            b"usr/lib/systemd/system/",
            b"lib/systemd/system/",
        ];
        let rest = folders.iter().find_map(|f| self.path.strip_prefix(*f))?;
        let unit = rest.split(|b| *b == b'/').next()?;
        (unit.ends_with(b".d") && rest.ends_with(b".conf")).then_some(rest)
    }
}
