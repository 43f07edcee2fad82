//! Modules of a kernel, with all that they need, in the order in which they load.
//!
//! A kernel's package has no `modules.dep`, which is made where it is installed. What a module
//! needs stands in itself (`depends=` in its section `.modinfo`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use bootlap_artefact::compress::Compression;
use bootlap_artefact::elf::module_needs;

use crate::TargetError;

/// A module with all that debuggers want of it is smaller.
const MOST: usize = 64 << 20;

/// A module's file, not compressed.
pub(crate) struct Module {
    /// As `NAME.ko`, with underscores.
    pub(crate) file: String,
    pub(crate) bytes: Vec<u8>,
}

/// Those called `wanted`, each behind what it needs; what is built in is left out. `folder` is
/// the kernel's `lib/modules/VERSION`.
pub(crate) fn with_needs(folder: &Path, wanted: &[String]) -> Result<Vec<Module>, TargetError> {
    let all = Modules::of(folder)?;
    let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
    for name in wanted {
        all.load(&plain(name), &mut seen, &mut order)?;
    }
    Ok(order)
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
        seen: &mut BTreeSet<String>,
        order: &mut Vec<Module>,
    ) -> Result<(), TargetError> {
        // Before what it needs: two that need each other are not followed for ever.
        if self.built_in.iter().any(|known| known == name) || !seen.insert(name.to_owned()) {
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
        for need in needs {
            self.load(&plain(&need), seen, order)?;
        }
        order.push(Module {
            file: format!("{name}.ko"),
            bytes,
        });
        Ok(())
    }
}
