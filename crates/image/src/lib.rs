//! What is on a disk image that people ship, and what boots it.
//!
//! ```text
//! image ──table──► partitions ──volume──► files ──loader──► what it offers to start
//!                                           └────system──► distribution, init, consoles
//!                        all of it: Found ──plan──► machine, firmware, bus, ready
//! ```
//!
//! Bytes come through [`ReadAt`], and nothing in an image is trusted: sizes and chains
//! have limits, and paths stay in their file system. What cannot be read is said; such an
//! image may still boot.

pub mod beside;
pub mod caches;
pub mod early;
mod format;
mod found;
pub mod generators;
mod handover;
pub mod idle_services;
pub mod inittab;
pub mod loader;
mod lvm;
mod machine;
pub mod on_demand;
pub mod plan;
pub mod python;
mod questions;
pub mod scripts;
mod setting;
pub mod stars;
pub mod system;
pub mod table;
pub mod units;
pub mod volume;
mod window;
mod words;

pub use bootlap_rootfs::root_image::ReadAt;
pub use format::{ENDS, format_of};
pub use found::{Drivers, Found, Others, driver};
pub use handover::Handover;
pub use setting::Patch;
pub use volume::Place;
pub use window::Window;
