//! The loop as a library: boots targets, tries recipes, tunes, and holds boots to
//! budgets. It prints nothing: who calls it is told how far it is
//! ([`Progress`]), and gets what came of it as data.
//!
//! ```no_run
//! use bootlap_engine::tries::{TryOptions, try_recipes};
//! use bootlap_engine::{Lab, MARGIN, Settings};
//!
//! # fn main() -> Result<(), bootlap_engine::Failure> {
//! let lab = Lab::new(Settings::new("runs", "cache"), &());
//! let options = TryOptions {
//!     recipes: vec!["uboot-bootdelay".to_owned()],
//!     together: false,
//!     perturbations: 8,
//!     margin: MARGIN,
//! };
//! for trial in try_recipes(&lab, "targets/kiosk".as_ref(), &options)?.trials {
//!     println!("{} saves {} ns", trial.recipe, -trial.effect.shift_ns);
//! }
//! # Ok(())
//! # }
//! ```

pub mod board_model;
pub mod bootable;
pub mod broken;
pub mod check;
pub mod climb;
pub mod doctor;
mod elsewhere;
pub mod equal;
pub mod evidence;
pub mod experiment;
pub mod explained;
mod failure;
mod first_boot;
mod forewarned;
pub mod here;
pub mod history;
pub mod import;
mod kept;
pub mod lab;
pub mod output;
mod progress;
pub mod reduce;
mod settings;
mod shard;
mod shared;
pub mod store;
pub mod touched;
pub mod tries;
pub mod tune;
pub mod units;

pub use elsewhere::{Elsewhere, boot_job};
pub use evidence::TOOL;
pub use experiment::MARGIN;
pub use failure::{Exit, Failure};
pub use kept::Keeping;
pub use lab::Lab;
pub use progress::Progress;
pub use settings::{STORE, STORE_BYTES, Settings};
pub use shard::Shard;
pub use shared::Sharing;
