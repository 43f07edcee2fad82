//! The disk in an archive: vendors ship zips, clouds a `disk.raw` in a tar, and what a virtual
//! machine is exported as (OVA) is a tar too.

use std::io::{self, BufReader, Seek};
use std::path::Path;

use crate::failure::{Exit, Failure};
use crate::progress::Progress;

use super::folder;
use super::holey::{Packed, unusable};

/// Writes the only disk in a tar to `to`.
pub(super) fn tar(packed: &Packed<'_>, to: &Path, progress: &dyn Progress) -> Result<(), Failure> {
    let wrong = |e: io::Error| packed.damaged(&"tar", &e);
    progress.step("looking for the disk in it");
    let mut archive = ::tar::Archive::new(BufReader::new(packed.file));
    let mut names = Vec::new();
    for entry in archive.entries_with_seek().map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let kind = entry.header().entry_type();
        let is_file = kind.is_file() || kind.is_gnu_sparse();
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        names.push(is_file.then_some(name));
    }
    let disk = the_disk(packed.image, &names)?;
    let mut file = archive.into_inner();
    file.rewind().map_err(wrong)?;
    let mut archive = ::tar::Archive::new(file);
    let mut entries = archive.entries_with_seek().map_err(wrong)?;
    let entry = entries.nth(disk).transpose().map_err(wrong)?;
    let mut entry = entry.ok_or_else(|| wrong(io::ErrorKind::UnexpectedEof.into()))?;
    packed.write(&"tar", &mut entry, to, progress)
}

/// Writes the only disk in a zip to `to`.
pub(super) fn zip(packed: &Packed<'_>, to: &Path, progress: &dyn Progress) -> Result<(), Failure> {
    let archive = ::zip::ZipArchive::new(BufReader::new(packed.file));
    let mut archive = archive.map_err(|e| packed.damaged(&"zip", &e))?;
    let name = |i: usize| {
        let name = archive.name_for_index(i)?.ok()?;
        (!name.ends_with('/')).then(|| name.into_owned())
    };
    let names: Vec<Option<String>> = (0..archive.len()).map(name).collect();
    let disk = the_disk(packed.image, &names)?;
    let mut entry = archive.by_index(disk).map_err(|e| {
        unusable(
            packed.image,
            &format!("the disk in it cannot be unpacked: {e}"),
        )
        .hint("unpack it, and import the disk")
    })?;
    packed.write(&"zip", &mut entry, to, progress)
}

/// The place of the only disk among an archive's files; what is no file has no name.
fn the_disk(image: &Path, names: &[Option<String>]) -> Result<usize, Failure> {
    let is_disk = |name: &str| folder::is_disk(name.rsplit('/').next().unwrap_or_default());
    let named = names.iter().enumerate();
    let named = named.filter_map(|(i, name)| Some((i, name.as_deref()?)));
    let disks: Vec<(usize, &str)> = named.filter(|(_, name)| is_disk(name)).collect();
    match disks.as_slice() {
        [(i, _)] => Ok(*i),
        [] => Err(unusable(image, "it is an archive without a disk image").hint(
            "looked for *.img, *.raw, *.wic, *.qcow2, *.vmdk …; a root file system in an archive \
             becomes a disk with [root]: docs/layout.md",
        )),
        several => {
            let names: Vec<&str> = several.iter().map(|(_, name)| *name).collect();
            let said = format!("{} has several disks: {}", image.display(), names.join(", "));
            Err(Failure::new(Exit::Usage, said).hint("unpack it, and import the one that is meant"))
        }
    }
}
