//! Recipes for what the initramfs holds.
//!
//! All of it is read from storage, checked, decompressed and copied at each
//! boot, whether the boot uses it or not.

use std::fs;

use super::{Recipe, RecipeMeta};
use crate::artefact::elf::Strip;
use crate::spec::Initramfs;
use crate::{Edit, Parts, Target};

fn initramfs(target: &Target) -> Result<&Initramfs, String> {
    let initramfs = target.spec.initramfs.as_ref();
    initramfs.ok_or_else(|| "the target has no initramfs".to_owned())
}

/// Programs and libraries lose what only debuggers read.
///
/// `all` takes the symbol tables, too; what a library exports stays, as do
/// kernel modules' symbols (of modules only debug sections go, and of signed
/// ones nothing: their signature would no longer fit).
pub(super) struct StripPrograms;

impl Recipe for StripPrograms {
    fn meta(&self) -> &'static RecipeMeta {
        &RecipeMeta {
            name: "initramfs-strip",
            title: "programs in the initramfs lose what only debuggers read",
            risk: "back traces without names; keep the unstripped files to read core dumps",
            values: &["all", "debug"],
        }
    }

    fn edits(&self, target: &Target, _: &Parts, value: &str) -> Result<Vec<Edit>, String> {
        let now = initramfs(target)?.strip;
        if now.name() == value || now == Strip::All {
            return Err(format!("initramfs.strip is {} already", now.name()));
        }
        Ok(vec![Edit::set("initramfs.strip", value)])
    }
}

/// The initramfs holds only what a boot opens.
///
/// The value is a list of paths, one a line, which `bootlap touched` makes by
/// watching a boot. Programs' interpreters and libraries, the links on the way,
/// folders and devices stay in any case.
pub(super) struct Touched;

impl Recipe for Touched {
    fn meta(&self) -> &'static RecipeMeta {
        &RecipeMeta {
            name: "initramfs-touched",
            title: "the initramfs holds only the files that a boot opened",
            risk: "what only other boots need (repair, other hardware, errors) is missing",
            values: &[""],
        }
    }

    fn edits(&self, target: &Target, _: &Parts, value: &str) -> Result<Vec<Edit>, String> {
        let initramfs = initramfs(target)?;
        if value.is_empty() {
            return Err(
                "it needs a list of paths, as in initramfs-touched=touched.txt; `bootlap \
                 touched` makes one"
                    .into(),
            );
        }
        if let Some(list) = &initramfs.only {
            return Err(format!("initramfs.only is {list} already"));
        }
        // Typed in a folder that need not be the target's.
        let list = fs::canonicalize(value).map_err(|e| format!("cannot read {value}: {e}"))?;
        let list = list.to_str().ok_or("the list's name is no text")?;
        Ok(vec![Edit::set("initramfs.only", list)])
    }
}
