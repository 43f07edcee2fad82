//! What stands behind an initcall, read from a kernel's source tree.
//!
//! The tree is read as text and never built or run: Kbuild files say which
//! options build a file, Kconfig what those options are, and C where the
//! function is, when it is called, what parameters its module has and which
//! delays it can reach. A tree is anything that gives text by path
//! ([`Tree`]); [`DiskTree`] is the one on disk.
//!
//! Whatever stands in the files, reading them ends and does not panic: what is
//! not understood is passed over.

mod delays;
mod disk;
pub mod dot_config;
mod explain;
mod initcall;
pub mod kconfig;
mod kernel;
mod level;
mod makefile;
mod number;
mod objects;
mod params;
mod source;
mod tree;
mod words;

pub use delays::{Delay, How};
pub use disk::DiskTree;
pub use dot_config::{DotConfig, DotConfigError, State, source_arch};
pub use explain::{Condition, Explained, Macro, Module, OptionInfo, Place};
pub use kernel::{Kernel, KernelError};
pub use level::{Asked, Level};
pub use makefile::Guard;
pub use objects::{Objects, Part, Route, Step, walk};
pub use params::Param;
pub use tree::{Entry, MemoryTree, Tree};
