//! What is booted: `target.toml`, boot artefacts and the recipes that change
//! them.
//!
//! ```text
//! target.toml ──Target──► edits (recipes) ──► Target ──assemble──► Assembly
//!                              packages, files, cache ──┘        (bytes to boot)
//! ```
//!
//! A [`Target`] is a TOML document and its typed view; a recipe is a list of
//! edits of that document, so comments and order survive and undoing a recipe
//! is not applying it. User files are never written.

mod assemble;
mod board_model;
mod bootcmd;
mod build;
mod cache;
pub mod cmdline;
mod compressed;
mod disk_changes;
mod edit;
#[cfg(test)]
mod example;
mod guest;
mod images;
pub mod initramfs;
mod machine;
mod mistake;
mod packages;
mod part;
mod parts;
mod payload;
pub mod recipe;
mod root_disk;
mod shared;
mod spec;
mod spec_check;
mod target;
pub mod touched;
pub mod whole_file;
mod write_out;

pub use bootlap_image::scripts::{Script, Scripts};
pub use bootlap_image::units::{Unit, Units};
pub use bootlap_rootfs::init_scripts::number as script_number;

pub use assemble::{Assembly, Attached, Boot};
pub use board_model::{BoardModel, BoardTable, ByPhase, CacheSize, MemoryModel};
pub use build::{Build, Built};
pub use cache::{Cache, fingerprint, sha256, sha256_of_file};
pub use edit::{Edit, How};
pub use machine::{Board, Console, Machine, MachineTable, Power, Qemu, Send, Start};
pub use part::{Blob, Code, Part, PartHash, Patch};
pub use parts::Parts;
pub use parts::disk::{disk_format, look_at_disk};
pub use spec::{
    Bootloader, Bus, Disk, DiskFormat, DiskState, Firmware, Fit, Flash, Initramfs, Kernel,
    LoaderSettings, Medium, NamedPattern, Packages, Place, Ready, Root, RootFormat, Spec, Starter,
    Uimage, Unpacker,
};
pub use target::Target;

/// Tells the person who waits what is being done.
pub type Progress<'a> = &'a dyn Fn(&str);

/// What can go wrong with a target, with the way out.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// `target.toml` does not say what it should.
    #[error("{file}:{line}: {message}")]
    Spec {
        /// The file as the user named it.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// What is wrong, and the mend.
        message: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried, e.g. `read`.
        action: &'static str,
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A part that the target names does not exist.
    #[error("missing part: {0}")]
    MissingPart(String),
    /// Distribution packages could not be fetched or unpacked.
    #[error("{0}")]
    Packages(String),
    /// A part is not what it should be, or parts do not fit together.
    #[error("{what}: {why}")]
    Artefact {
        /// The part.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// No such recipe, or it does not apply.
    #[error("{0}")]
    Recipe(String),
}

impl TargetError {
    /// A file that could not be read or written.
    pub fn io(action: &'static str, path: &std::path::Path, source: std::io::Error) -> Self {
        Self::Io {
            action,
            path: path.display().to_string(),
            source,
        }
    }

    /// A part that is not what it should be.
    pub fn artefact(what: &str, why: impl ToString) -> Self {
        Self::Artefact {
            what: what.to_owned(),
            why: why.to_string(),
        }
    }
}
