//! Recipes: one optimisation each, checked for, applied to a target, undone by
//! not applying it.
//!
//! A recipe is a handful of edits of `target.toml`. Its doc comment is its
//! page in the catalogue.

mod bootloader;
mod bootloader_build;
mod bootloader_script;
mod cmdline;
mod coldplug;
mod compression;
mod dracut;
mod falcon;
mod initramfs;
mod initramfs_minimal;
mod kernel;
mod list;
mod loaders_initramfs;
mod options;
mod own;
mod preload;
mod python;
mod resume_image;
mod root;
mod scripts;
mod systemd;
mod systemd_booted_once;
mod systemd_build_time;
mod systemd_checkpoint;
mod systemd_first;
mod systemd_on_demand;
mod systemd_remount;
mod systemd_unordered;

use std::fs;
use std::path::Path;

use bootlap_rootfs::did_you_mean;

pub use list::{List, Listed};
pub use loaders_initramfs::with_loaders_initramfs;

use crate::{Edit, Parts, Target, TargetError};

/// What is on the console once all that was put off is started: `ready.later` holds boots to it.
const LATER_STARTED: &str = "bootlap-later: all is started";

/// What a recipe is.
pub struct RecipeMeta {
    /// Its name, as typed: `uboot-bootdelay`.
    pub name: &'static str,
    /// What it does, in one line.
    pub title: &'static str,
    /// What may be lost by it.
    pub risk: &'static str,
    /// The values that it takes, if any; the first is the default. Only the
    /// empty text: any value, which the recipe checks itself.
    pub values: &'static [&'static str],
}

impl RecipeMeta {
    /// Whether it takes values that cannot be listed.
    fn takes_any(&self) -> bool {
        self.values == [""]
    }
}

/// One optimisation.
pub trait Recipe: Sync {
    /// What it is.
    fn meta(&self) -> &RecipeMeta;

    /// Whether a search for the best set leaves it out unless somebody asks for
    /// it: no patch set can carry it to a product.
    fn only_asked_for(&self) -> bool {
        false
    }

    /// What its value lists, if that is a list.
    fn listed(&self) -> Option<Listed> {
        None
    }

    /// Whether it changes what is in `[initramfs]`. It then also applies to a disk whose own boot
    /// loader loads one.
    fn is_of_initramfs(&self) -> bool {
        false
    }

    /// The edits that do it, or why it does not apply: it is done already, or
    /// the target has nothing that it could change.
    fn edits(&self, target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String>;
}

/// A recipe that is but its facts and a function.
struct Plain {
    meta: RecipeMeta,
    only_if_asked: bool,
    listed: Option<Listed>,
    of_initramfs: bool,
    edits: fn(&Target, &Parts, &str) -> Result<Vec<Edit>, String>,
}

impl Plain {
    /// One without values.
    const fn new(
        name: &'static str,
        title: &'static str,
        risk: &'static str,
        edits: fn(&Target, &Parts, &str) -> Result<Vec<Edit>, String>,
    ) -> Self {
        let values = &[];
        let meta = RecipeMeta {
            name,
            title,
            risk,
            values,
        };
        Self {
            meta,
            only_if_asked: false,
            listed: None,
            of_initramfs: false,
            edits,
        }
    }

    const fn takes(mut self, values: &'static [&'static str]) -> Self {
        self.meta.values = values;
        self
    }

    /// For one whose value is a list.
    const fn lists(mut self, listed: Listed) -> Self {
        self.listed = Some(listed);
        self.takes(&[""])
    }

    /// For what changes the initramfs.
    const fn of_initramfs(mut self) -> Self {
        self.of_initramfs = true;
        self
    }

    /// For what takes minutes to build, or what no patch set can carry.
    const fn only_if_asked(mut self) -> Self {
        self.only_if_asked = true;
        self
    }
}

impl Recipe for Plain {
    fn meta(&self) -> &RecipeMeta {
        &self.meta
    }

    fn only_asked_for(&self) -> bool {
        self.only_if_asked
    }

    fn listed(&self) -> Option<Listed> {
        self.listed
    }

    fn is_of_initramfs(&self) -> bool {
        self.of_initramfs
    }

    fn edits(&self, target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
        (self.edits)(target, parts, value)
    }
}

/// All recipes, in the order of a boot.
pub fn all() -> &'static [&'static dyn Recipe] {
    &[
        &bootloader::BOOTDELAY,
        &bootloader::SILENT,
        &bootloader::MENU,
        &bootloader_script::FLAT_BOOTCMD,
        &bootloader::NO_HASH,
        &bootloader::VERIFY_OFF,
        &falcon::FALCON,
        &bootloader_build::MINIMAL,
        &bootloader_build::OPTIONS,
        &compression::KERNEL_COMPRESSION,
        &compression::INITRAMFS_COMPRESSION,
        &initramfs::STRIP_PROGRAMS,
        &initramfs::PLAIN_MODULES,
        &initramfs::UNSIGNED,
        &initramfs::TOUCHED,
        &initramfs_minimal::REDUCED,
        &initramfs::BUILT_IN,
        &initramfs::NO_INITRAMFS,
        &root::BOOT_IMAGE,
        &root::FORMAT,
        &kernel::MINIMAL,
        &kernel::OPTIONS,
        &kernel::OPTIMIZE_SIZE,
        // The sizes of images depend on how they are packed.
        &bootloader_script::EXACT_SIZE,
        &bootloader_script::LOAD_IN_PLACE,
        &bootloader::NO_BOOTLOADER,
        &cmdline::QUIET,
        &cmdline::LOGLEVEL,
        &cmdline::CONSOLE_BAUD,
        &cmdline::LESS_DEBUG,
        &cmdline::NO_TTY_CONSOLE,
        &cmdline::NO_CRYPTO_TESTS,
        &cmdline::LPJ,
        &cmdline::RCU_EXPEDITED,
        &cmdline::TRUST_ENTROPY,
        &cmdline::NO_AUDIT,
        &cmdline::NO_FSCK,
        &cmdline::NO_ZEROING,
        &cmdline::NO_KSTACK_OFFSET,
        &cmdline::NO_WATCHDOG,
        &cmdline::NO_TIMER_CHECK,
        &cmdline::TSC_RELIABLE,
        &cmdline::NO_I8042,
        &cmdline::UARTS_8250,
        &cmdline::CONSOLE_SIZE,
        &cmdline::MAX_LOOP,
        &cmdline::INITCALL_BLACKLIST,
        &cmdline::ASYNC_PROBE,
        &cmdline::FW_DEVLINK_PERMISSIVE,
        &cmdline::DEFERRED_PROBE_TIMEOUT,
        &cmdline::NO_SPINUP_STAGGER,
        &cmdline::NO_RAID_AUTODETECT,
        &cmdline::NO_IP,
        &cmdline::IP_STATIC,
        &cmdline::ROOTWAIT,
        &cmdline::NO_ROOTDELAY,
        &cmdline::ROOTFSTYPE,
        &scripts::BUILTINS,
        &scripts::DEFER,
        &scripts::OFF,
        &coldplug::OF_SCRIPTS,
        &systemd::STATUS,
        &systemd::GENERATORS,
        &systemd_build_time::IDLE,
        &systemd_build_time::MACHINE_ID,
        &systemd_booted_once::ONCE,
        &systemd_build_time::CACHES,
        &systemd_remount::ONCE,
        &coldplug::OF_SYSTEMD,
        &preload::PRELOADED,
        &python::UNCHECKED,
        &resume_image::RESUMED,
        &systemd::DEFER,
        &systemd_on_demand::ON_DEMAND,
        &systemd_checkpoint::CHECKPOINTED,
        &systemd::MASK,
        &systemd_first::FIRST,
        &systemd_unordered::UNORDERED,
    ]
}

/// A recipe with the value that it was asked for: `kernel-compression=none`.
#[derive(Clone)]
pub struct Choice {
    recipe: &'static dyn Recipe,
    value: String,
}

impl Choice {
    /// Reads `NAME`, `NAME=VALUE`, or the path of a recipe of the user's own: a
    /// file that ends in `.toml`.
    ///
    /// # Errors
    /// If there is no such recipe, or it does not take such a value.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        if own::is_file(text) {
            return own::read(Path::new(text));
        }
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let recipe = all().iter().find(|r| r.meta().name == name);
        let recipe = *recipe.ok_or_else(|| unknown(name))?;
        let meta = recipe.meta();
        let value = match (value, meta.values.first()) {
            (None, default) => default.copied().unwrap_or_default(),
            (Some(value), None) => {
                return Err(TargetError::Recipe(format!(
                    "recipe {name} takes no value; say {name} instead of {name}={value}"
                )));
            }
            (Some(value), Some(_)) if meta.takes_any() || meta.values.contains(&value) => value,
            (Some(value), Some(_)) => {
                let near = did_you_mean(value, meta.values.iter().copied());
                return Err(TargetError::Recipe(format!(
                    "recipe {name} takes no value {value:?}{near}; it takes {}",
                    meta.values.join(", ")
                )));
            }
        };
        Ok(Self {
            recipe,
            value: value.to_owned(),
        })
    }

    /// As it is typed.
    pub fn name(&self) -> String {
        let name = self.recipe.meta().name;
        if self.value.is_empty() {
            name.to_owned()
        } else {
            format!("{name}={}", self.value)
        }
    }

    /// What the recipe is.
    pub fn meta(&self) -> &'static RecipeMeta {
        self.recipe.meta()
    }

    /// Whether it is left out of what is tried unasked.
    pub fn only_asked_for(&self) -> bool {
        self.recipe.only_asked_for()
    }

    /// The edits that do it, or why it does not apply.
    ///
    /// # Errors
    /// With the reason, in words.
    pub fn edits(&self, target: &Target, parts: &Parts) -> Result<Vec<Edit>, String> {
        let on_disk = match self.recipe.is_of_initramfs() {
            true => with_loaders_initramfs(target, parts)?,
            false => None,
        };
        match on_disk {
            Some((target, parts, mut edits)) => {
                edits.extend(self.recipe.edits(&target, &parts, &self.value)?);
                Ok(edits)
            }
            None => self.recipe.edits(target, parts, &self.value),
        }
    }

    /// The target with the recipe applied.
    ///
    /// # Errors
    /// If it does not apply, with the reason.
    pub fn apply(&self, target: &Target, parts: &Parts) -> Result<Target, TargetError> {
        let edits = self.edits(target, parts).map_err(|why| {
            TargetError::Recipe(format!(
                "recipe {} does not apply to {}: {why}",
                self.name(),
                target.spec.name
            ))
        })?;
        target.with(&edits)
    }
}

/// The whole path of a file that was typed in a folder that need not be the target's.
fn typed_file(value: &str) -> Result<String, String> {
    let path = fs::canonicalize(value).map_err(|e| format!("cannot read {value}: {e}"))?;
    let path = path.into_os_string().into_string();
    path.map_err(|_| format!("the path of {value} is no text; move it to a folder whose is"))
}

fn unknown(name: &str) -> TargetError {
    if name.is_empty() {
        let why = "a recipe needs a name: NAME or NAME=VALUE; `bootlap recipes` lists them";
        return TargetError::Recipe(why.to_owned());
    }
    let near = did_you_mean(name, all().iter().map(|r| r.meta().name));
    TargetError::Recipe(format!(
        "no recipe is called {name}{near}; `bootlap recipes` lists them"
    ))
}

#[cfg(test)]
mod tests;
