//! Modules of the kernel in the initramfs, with all that they need, in the order in which they
//! load: `/modules/order` names the files beside it, one a line.
//!
//! A kernel's package has no `modules.dep`, which is made where it is installed. What a module
//! needs stands in itself (`depends=` in its section `.modinfo`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bootlap_artefact::compress::Compression;
use bootlap_artefact::elf::module_needs;

use super::{Found, What};
use crate::TargetError;
use crate::part::Find;

/// Where they go.
const FOLDER: &str = "modules";
/// A module with all that debuggers want of it is smaller.
const MOST: usize = 64 << 20;

/// Adds those called `wanted`.
pub(super) fn add(
    wanted: &[String],
    finder: &dyn Find,
    found: &mut Found,
) -> Result<(), TargetError> {
    match wanted {
        [] => Ok(()),
        wanted => add_from(&finder.kernel_modules()?, wanted, found),
    }
}

/// The same of a kernel's folder (`lib/modules/VERSION`).
pub(super) fn add_from(
    folder: &Path,
    wanted: &[String],
    found: &mut Found,
) -> Result<(), TargetError> {
    let all = Modules::of(folder)?;
    let mut order = Vec::new();
    for name in wanted {
        all.load(&plain(name), &mut order, found)?;
    }
    let list: String = order.iter().map(|name| format!("{name}.ko\n")).collect();
    let file = What::File {
        executable: false,
        bytes: list.into_bytes(),
    };
    found.insert(format!("{FOLDER}/order").into_bytes(), file);
    Ok(())
}

/// The kernel takes both for the same.
fn plain(name: &str) -> String {
    name.replace('-', "_")
}

/// The modules of a kernel.
struct Modules {
    folder: PathBuf,
    files: BTreeMap<String, PathBuf>,
    built_in: Vec<String>,
}

impl Modules {
    fn of(folder: &Path) -> Result<Self, TargetError> {
        let mut files = BTreeMap::new();
        let mut folders = vec![folder.join("kernel")];
        while let Some(next) = folders.pop() {
            let failed = |e| TargetError::io("read", &next, e);
            for entry in fs::read_dir(&next).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                match entry.file_type().map_err(failed)?.is_dir() {
                    true => folders.push(entry.path()),
                    false => {
                        let file = entry.file_name();
                        if let Some((name, _)) = file.to_string_lossy().split_once(".ko") {
                            files.insert(plain(name), entry.path());
                        }
                    }
                }
            }
        }
        // A kernel that was built without any has no such list.
        let list = fs::read_to_string(folder.join("modules.builtin")).unwrap_or_default();
        let names = list.lines().filter_map(|line| line.rsplit('/').next());
        let built_in = names.filter_map(|name| Some(plain(name.split_once(".ko")?.0)));
        Ok(Self {
            folder: folder.to_owned(),
            files,
            built_in: built_in.collect(),
        })
    }

    /// Adds a module behind what it needs.
    fn load(
        &self,
        name: &str,
        order: &mut Vec<String>,
        found: &mut Found,
    ) -> Result<(), TargetError> {
        let place = format!("{FOLDER}/{name}.ko").into_bytes();
        if found.contains_key(&place) || self.built_in.iter().any(|known| known == name) {
            return Ok(());
        }
        let file = self.files.get(name).ok_or_else(|| {
            let why = format!(
                "{} has no module {name}; name one that it has (ls {}/kernel/*)",
                self.folder.display(),
                self.folder.display()
            );
            TargetError::artefact("initramfs.modules", why)
        })?;
        let bytes = fs::read(file).map_err(|e| TargetError::io("read", file, e))?;
        let shown = file.display().to_string();
        let bytes = match Compression::detect(&bytes) {
            Compression::None => bytes,
            packed => packed
                .decompress(&bytes, MOST)
                .map_err(|e| TargetError::artefact(&shown, e))?,
        };
        let needs = module_needs(&bytes)
            .ok_or_else(|| TargetError::artefact(&shown, "it is no module of a kernel"))?;
        let file = What::File {
            executable: false,
            bytes,
        };
        // Before what it needs: two that need each other are not followed for ever.
        found.insert(place, file);
        for need in needs {
            self.load(&plain(&need), order, found)?;
        }
        order.push(name.to_owned());
        Ok(())
    }
}
