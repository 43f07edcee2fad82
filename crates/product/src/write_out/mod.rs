//! A target written to a new folder.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use toml_edit::DocumentMut;

use crate::parts::is_elsewhere;
use crate::{Edit, Target, TargetError};

impl Target {
    /// Writes the target, as changed, to a new folder; what cannot be written
    /// whole is not left behind. Of a lone file, nothing that lies beside it is
    /// copied: parts are named where they are.
    ///
    /// # Errors
    /// If the folder exists already, lies in the target's own or cannot be
    /// written.
    pub fn write_to(&self, dir: &Path) -> Result<(), TargetError> {
        if fs::symlink_metadata(dir).is_ok() {
            return Err(TargetError::Recipe(format!(
                "{} exists already: name a new folder with -o, nothing is written over",
                dir.display()
            )));
        }
        let from = real(&self.dir)?;
        let lone = self.is_lone();
        if !lone && landing(dir)?.starts_with(&from) {
            return Err(TargetError::Recipe(format!(
                "{} lies inside the target's own folder {}, which is never written to: name a \
             folder outside of it with -o",
                dir.display(),
                self.dir.display()
            )));
        }
        let text = with_outside_parts(self, &from)?;
        if let Some(parent) = dir.parent() {
            fs::create_dir_all(parent).map_err(|e| TargetError::io("create", parent, e))?;
        }
        fs::create_dir(dir).map_err(|e| TargetError::io("create", dir, e))?;
        let file = dir.join("target.toml");
        let copied = if lone {
            Ok(())
        } else {
            // A disk is not written to, and may be larger than what is free: it stays.
            let disk = self
                .spec
                .disk
                .as_ref()
                .map(|disk| self.dir.join(&disk.image));
            let stay = [self.dir.join("target.toml")].into_iter().chain(disk);
            copy_folder(&self.dir, dir, &stay.collect::<Vec<_>>())
        };
        let written = copied
            .and_then(|()| fs::write(&file, text).map_err(|e| TargetError::io("write", &file, e)));
        if written.is_err() {
            // It was made a moment ago, and half a target helps nobody.
            let _ = fs::remove_dir_all(dir);
        }
        written
    }
}

fn real(dir: &Path) -> Result<PathBuf, TargetError> {
    fs::canonicalize(dir).map_err(|e| TargetError::io("read", dir, e))
}

/// Where a folder will be once it is created, links on the way followed.
fn landing(dir: &Path) -> Result<PathBuf, TargetError> {
    let absolute = std::path::absolute(dir).map_err(|e| TargetError::io("create", dir, e))?;
    let there = absolute.ancestors().find(|a| a.exists());
    let there = there.unwrap_or(Path::new("/"));
    let rest = absolute.strip_prefix(there).unwrap_or(Path::new(""));
    let mut at = real(there)?;
    for component in rest.components() {
        match component {
            Component::ParentDir => drop(at.pop()),
            other => at.push(other),
        }
    }
    Ok(at)
}

/// The description, in which parts that are not copied (those outside of the
/// folder, such as `../output/images/Image`, or all of a lone file) have
/// absolute names: the copy may be anywhere.
fn with_outside_parts(target: &Target, from: &Path) -> Result<String, TargetError> {
    let spec = &target.spec;
    let lone = target.is_lone();
    let mut parts = Vec::new();
    let kernel = spec.kernel.as_ref();
    let kernel = kernel.map(|k| ("kernel", &k.image, &k.build));
    let bootloader = spec.bootloader.as_ref();
    let bootloader = bootloader.map(|b| ("bootloader", &b.image, &b.build));
    for (section, image, build) in kernel.into_iter().chain(bootloader) {
        let image = image.iter().map(|i| ("image", i));
        let build = build
            .iter()
            .flat_map(|b| [("build.source", &b.source), ("build.config", &b.config)]);
        let named = image.chain(build);
        parts.extend(named.map(|(key, name)| (format!("{section}.{key}"), name)));
    }
    let initramfs = spec.initramfs.iter().map(|i| {
        let named = [("image", &i.image), ("only", &i.only), ("tree", &i.tree)];
        ("initramfs", named, &i.files)
    });
    let root = spec.root.iter().map(|r| {
        let named = [
            ("archive", &r.archive),
            ("order", &r.order),
            ("tree", &r.tree),
        ];
        ("root", named, &r.files)
    });
    for (section, named, files) in initramfs.chain(root) {
        let named = named.into_iter().filter_map(|(key, name)| {
            let name = name.as_ref()?;
            Some((format!("{section}.{key}"), name))
        });
        parts.extend(named);
        let files = files.iter().map(|(at, file)| {
            let at = toml_edit::Key::new(at);
            (format!("{section}.files.{at}"), file)
        });
        parts.extend(files);
    }
    let firmware = spec.firmware.iter().flat_map(|f| {
        [
            ("image", &f.image),
            ("variables", &f.variables),
            ("payload", &f.payload),
        ]
    });
    let firmware = firmware.filter_map(|(key, name)| Some((key, name.as_ref()?)));
    parts.extend(firmware.map(|(key, name)| (format!("firmware.{key}"), name)));
    let disk = spec
        .disk
        .iter()
        .map(|d| ("disk.image".to_owned(), &d.image));
    parts.extend(disk);
    let mut edits = Vec::new();
    for (key, name) in parts {
        if is_elsewhere(name) || name.starts_with('/') {
            continue;
        }
        let Ok(part) = fs::canonicalize(from.join(name)) else {
            continue;
        };
        let stays =
            !lone && key != "disk.image" && (!leaves(name.as_ref()) || part.starts_with(from));
        let Some(part) = part.to_str().filter(|_| !stays) else {
            continue;
        };
        edits.push(Edit::set(&key, part));
        let is_content = key.contains(".files.") || key.ends_with(".tree");
        if is_content && target.allows(part.as_ref()) {
            edits.push(Edit::allow(part));
        }
    }
    let outside = spec.outside.iter().map(|o| fs::canonicalize(from.join(o)));
    let outside: Vec<PathBuf> = outside.filter_map(Result::ok).collect();
    if spec.outside.iter().any(|o| !o.starts_with('/')) {
        edits.insert(0, Edit::remove("outside"));
        edits.extend(
            outside
                .iter()
                .filter_map(|o| Some(Edit::allow(o.to_str()?))),
        );
    }
    if edits.is_empty() {
        return Ok(target.text.clone());
    }
    let broken = |why| TargetError::Recipe(format!("{}: {why}", spec.name));
    let mut doc: DocumentMut = target.text.parse().map_err(|e| broken(format!("{e}")))?;
    for edit in &edits {
        edit.apply(&mut doc).map_err(broken)?;
    }
    Ok(doc.to_string())
}

/// Whether a relative path goes above where it starts.
fn leaves(path: &Path) -> bool {
    let mut depth = 0_i32;
    path.components().any(|c| {
        match c {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            _ => {}
        }
        depth < 0
    })
}

/// Copies all but what is to stay. Links stay links, with the same words:
/// most belong to an initramfs, where they mean places on the target.
fn copy_folder(from: &Path, to: &Path, stay: &[PathBuf]) -> Result<(), TargetError> {
    let read = |e| TargetError::io("read", from, e);
    let entries = fs::read_dir(from).map_err(read)?;
    let names: io::Result<Vec<OsString>> = entries.map(|e| Ok(e?.file_name())).collect();
    for name in names.map_err(read)? {
        let (source, dest) = (from.join(&name), to.join(&name));
        if stay.contains(&source) {
            continue;
        }
        let meta =
            fs::symlink_metadata(&source).map_err(|e| TargetError::io("read", &source, e))?;
        let copied = if meta.is_dir() {
            fs::create_dir(&dest).map_err(|e| TargetError::io("create", &dest, e))?;
            copy_folder(&source, &dest, stay)?;
            // Last: a folder may forbid writing into it.
            fs::set_permissions(&dest, meta.permissions())
        } else if meta.is_symlink() {
            fs::read_link(&source).and_then(|points_to| symlink(points_to, &dest))
        } else if meta.is_file() {
            fs::copy(&source, &dest).map(drop)
        } else {
            // Reading a pipe would wait for ever.
            Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "neither a file, a folder nor a link; remove it",
            ))
        };
        copied.map_err(|e| TargetError::io("copy", &source, e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
