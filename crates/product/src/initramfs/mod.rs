//! What goes into a target's initramfs.

mod archive;
mod image;
pub(crate) mod minimal;
pub(crate) mod minimal_init;
mod modules;
mod only;
mod packed;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use bootlap_artefact::elf::strip;
use bootlap_artefact::kernel_module::{plain_file, unsigned_file};

use crate::TargetError;
use crate::packages::is_ours;
use crate::part::{Find, Part};
use crate::spec::{Initramfs, ModuleCompression, Signatures};

pub(crate) use archive::{archives, built_in};
use image::Kind;
pub use image::Member;
pub use image::compression;
pub(crate) use minimal_init::{AGENT, PRELOAD, RESUME};
pub(crate) use packed::packed;

/// One member of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Path without a leading slash; any bytes, as a file name is.
    pub path: Vec<u8>,
    /// What it is.
    pub what: What,
}

impl Entry {
    /// Bytes of its content.
    pub(crate) fn bytes(&self) -> usize {
        match self.what.look() {
            Look::File { bytes, .. } => bytes.len(),
            Look::Dir | Look::Link { .. } | Look::Node => 0,
        }
    }
}

/// What a member is. What bootlap puts together belongs to root, has no time
/// stamp and of its mode only the executable bit (which is what git keeps, too),
/// so that the archive depends on nothing but content. What is in an image
/// already stays as it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A folder.
    Dir,
    /// A regular file.
    File {
        /// Whether it can be run.
        executable: bool,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// A symbolic link.
    Link {
        /// Where it leads.
        to: Vec<u8>,
    },
    /// A member of an image that was there before.
    Own(Member),
}

/// What a member is, wherever it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look<'w> {
    /// A folder.
    Dir,
    /// A regular file.
    File {
        /// Whether it can be run.
        executable: bool,
        /// Its content.
        bytes: &'w [u8],
    },
    /// A symbolic link.
    Link {
        /// Where it leads.
        to: &'w [u8],
    },
    /// A device, a pipe or a socket.
    Node,
}

impl What {
    /// What it is.
    pub fn look(&self) -> Look<'_> {
        match self {
            What::Dir => Look::Dir,
            What::File { executable, bytes } => Look::File {
                executable: *executable,
                bytes,
            },
            What::Link { to } => Look::Link { to },
            What::Own(own) => match own.kind() {
                Some(Kind::Dir) => Look::Dir,
                Some(Kind::File) => Look::File {
                    executable: own.mode & 0o111 != 0,
                    bytes: &own.data,
                },
                Some(Kind::Link) => Look::Link { to: &own.data },
                Some(Kind::Node) | None => Look::Node,
            },
        }
    }

    /// Whether the kernel wants it before it unpacks anything.
    pub(crate) fn is_early(&self) -> bool {
        matches!(self, What::Own(own) if own.early)
    }
}

/// By path, so folders come before what they hold.
pub(crate) type Found = BTreeMap<Vec<u8>, What>;

/// Everything that `spec` asks for; what is named later replaces what is not:
/// `image`, `dirs`, `tree`, `files`, `links`, `modules`.
pub(crate) fn entries(spec: &Initramfs, finder: &dyn Find) -> Result<Vec<Entry>, TargetError> {
    let named = Named {
        section: SECTION,
        dirs: &spec.dirs,
        tree: spec.tree.as_deref(),
        files: &spec.files,
        links: &spec.links,
    };
    let mut found = named.find(finder)?;
    modules::add(&spec.modules, finder, &mut found)?;
    if let Some(name) = &spec.image {
        image::put_under(&finder.part("initramfs.image", name)?, &mut found)?;
    }
    add_parents(SECTION, &mut found)?;
    if let Some(name) = &spec.only {
        let list = finder.part("initramfs.only", name)?;
        only::keep(&mut found, &list.bytes, name)?;
    }
    if let Some(modules) = &spec.minimal {
        minimal::reduce(&mut found, modules)?;
    }
    if spec.module_compression == ModuleCompression::None {
        rewrite(&mut found, plain_file);
    }
    if spec.signatures == Signatures::None {
        rewrite(&mut found, |_, file| unsigned_file(file));
    }
    rewrite(&mut found, |_, file| strip(file, spec.strip));
    Ok(listed(found))
}

/// All that is in an image of other tools.
pub(crate) fn entries_of(image: &Part) -> Result<Vec<Entry>, TargetError> {
    let mut found = Found::new();
    image::put_under(image, &mut found)?;
    add_parents(SECTION, &mut found)?;
    Ok(listed(found))
}

/// The archive of a guest of our own: these members, and modules of a kernel's folder with all
/// that they need.
pub(crate) fn of_guest(
    mut found: Found,
    folder: &Path,
    wanted: &[String],
) -> Result<Vec<u8>, TargetError> {
    modules::add_from(folder, wanted, &mut found)?;
    add_parents(SECTION, &mut found)?;
    Ok(archives(&listed(found))?.rest)
}

fn listed(found: Found) -> Vec<Entry> {
    let entries = found.into_iter().map(|(path, what)| Entry { path, what });
    entries.collect()
}

/// Folders, files and links as a section of `target.toml` names them.
pub(crate) struct Named<'s> {
    /// The section.
    pub(crate) section: &'static str,
    pub(crate) dirs: &'s [String],
    pub(crate) tree: Option<&'s str>,
    pub(crate) files: &'s BTreeMap<String, String>,
    pub(crate) links: &'s BTreeMap<String, String>,
}

impl Named<'_> {
    /// All of it, with the folders on the way.
    pub(crate) fn entries(&self, finder: &dyn Find) -> Result<Vec<Entry>, TargetError> {
        let mut found = self.find(finder)?;
        add_parents(self.section, &mut found)?;
        Ok(listed(found))
    }

    fn find(&self, finder: &dyn Find) -> Result<Found, TargetError> {
        let section = self.section;
        let wrong = |why| TargetError::artefact(section, why);
        let inside = |key: &str, path: &str| inside(key, path).map_err(wrong);
        let mut found = Found::new();
        for dir in self.dirs {
            found.insert(inside(&format!("{section}.dirs"), dir)?, What::Dir);
        }
        if let Some(tree) = self.tree {
            let path = finder.content(&format!("{section}.tree"), tree)?;
            if !path.is_dir() {
                return Err(wrong(format!(
                    "{section}.tree names {tree}, which is no folder; name single files in \
                     [{section}.files]"
                )));
            }
            collect(&path, Vec::new(), &mut found)?;
        }
        for (at, name) in self.files {
            let key = format!("{section}.files.\"{at}\"");
            let path = finder.content(&key, name)?;
            let at = inside(&key, at)?;
            if at.is_empty() && !path.is_dir() {
                return Err(wrong(format!(
                    "{key}: the root cannot be a file; name a place in it"
                )));
            }
            collect(&path, at, &mut found)?;
        }
        for (at, to) in self.links {
            let key = format!("{section}.links.\"{at}\"");
            let at = inside(&key, at)?;
            if at.is_empty() || to.is_empty() {
                return Err(wrong(format!(
                    "{key}: a link needs a place and something to point to"
                )));
            }
            let to = to.as_bytes().to_vec();
            found.insert(at, What::Link { to });
        }
        // The root itself is there already.
        found.remove(&b""[..]);
        Ok(found)
    }
}

/// Changes the files of which `to` gives another content: of a path, and what is there.
fn rewrite(found: &mut Found, to: impl Fn(&[u8], &[u8]) -> Option<Vec<u8>>) {
    // All names of one file stay one file.
    let mut done: HashMap<u32, Option<Arc<[u8]>>> = HashMap::new();
    for (path, what) in found {
        match what {
            What::File { bytes, .. } => {
                if let Some(new) = to(path, bytes) {
                    *bytes = new;
                }
            }
            What::Own(own) if own.kind() == Some(Kind::File) => {
                let new = |data: &[u8]| to(path, data).map(Arc::from);
                let new = match own.link {
                    Some(link) => done.entry(link).or_insert_with(|| new(&own.data)).clone(),
                    None => new(&own.data),
                };
                if let Some(new) = new {
                    own.data = new;
                }
            }
            What::Dir | What::Link { .. } | What::Own(_) => {}
        }
    }
}

const SECTION: &str = "initramfs";

fn wrong(why: String) -> TargetError {
    TargetError::artefact(SECTION, why)
}

/// A path in the archive, as the kernel wants it.
fn inside(key: &str, path: &str) -> Result<Vec<u8>, String> {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|p| !p.is_empty() && *p != ".")
        .collect();
    if parts.contains(&"..") || path.contains('\0') {
        return Err(format!(
            "{key}: {path:?} cannot be a place in an archive; write it without .. from the root"
        ));
    }
    Ok(parts.join("/").into_bytes())
}

/// Adds the file or folder that `from` is or points to, and all in it, at `at`.
/// Links further down stay links.
fn collect(from: &Path, at: Vec<u8>, found: &mut Found) -> Result<(), TargetError> {
    let io = |e| TargetError::io("read", from, e);
    let meta = fs::metadata(from).map_err(io)?;
    if meta.is_dir() {
        for entry in fs::read_dir(from).map_err(io)? {
            let name = entry.map_err(io)?.file_name();
            if is_ours(&name) {
                continue;
            }
            let mut below = at.clone();
            if !at.is_empty() {
                below.push(b'/');
            }
            below.extend_from_slice(name.as_bytes());
            let path = from.join(&name);
            match fs::read_link(&path) {
                Ok(to) => {
                    let to = to.into_os_string().into_vec();
                    found.insert(below, What::Link { to });
                }
                Err(_) => collect(&path, below, found)?,
            }
        }
        found.insert(at, What::Dir);
    } else if meta.is_file() {
        let what = What::File {
            executable: meta.permissions().mode() & 0o111 != 0,
            bytes: fs::read(from).map_err(io)?,
        };
        found.insert(at, what);
    } else {
        return Err(TargetError::artefact(
            &from.display().to_string(),
            "it is neither a file, a folder nor a link; make devices and pipes at run time \
             (devtmpfs, mknod, mkfifo)",
        ));
    }
    Ok(())
}

/// Adds the folders that hold what was found.
///
/// The kernel unpacks in the order of the archive and skips without a word what
/// it cannot create, so nothing may lie below a file or a link.
fn add_parents(section: &str, found: &mut Found) -> Result<(), TargetError> {
    let below = |path: &[u8], dir: &[u8], what: &str| {
        let shown = |p: &[u8]| OsStr::from_bytes(p).display().to_string();
        TargetError::artefact(
            section,
            format!(
                "/{} cannot be created, as /{} is {what}; put it into the folder that is meant",
                shown(path),
                shown(dir)
            ),
        )
    };
    let paths: Vec<Vec<u8>> = found.keys().cloned().collect();
    for path in &paths {
        let slashes = path.iter().enumerate().filter(|(_, b)| **b == b'/');
        for (end, _) in slashes {
            let dir = &path[..end];
            match found.get(dir).map(What::look) {
                None => drop(found.insert(dir.to_vec(), What::Dir)),
                Some(Look::Dir) => {}
                Some(Look::File { .. }) => return Err(below(path, dir, "a file")),
                Some(Look::Link { .. }) => return Err(below(path, dir, "a link")),
                Some(Look::Node) => return Err(below(path, dir, "a device")),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
