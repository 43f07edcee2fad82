//! Init scripts: what starts in which order, worked out here so that the target
//! only carries it out.
//!
//! ```text
//! init.d ──folder──► scripts ──header──► what each needs ──order──► who waits for whom
//!                                                                      │
//!                               `bootlap-agent rc` ◄── bytes ◄── plan ◄┘
//! ```
//!
//! Headers are those of the Linux Standard Base, read as Debian's `insserv` reads
//! them, and what a facility such as `$remote_fs` means is what `insserv.conf`
//! says. What cannot be ordered is an error here, never a surprise at boot.

mod facility;
mod folder;
mod header;
mod order;
mod schedule;
#[cfg(test)]
mod tests;

pub use bootlap_wire::plan::{Plan, PlanError, Planned};
pub use facility::Facilities;
pub use folder::{Folder, Script, number};
pub use header::Header;
pub use order::{Order, OrderError, Wait, Why, order};
pub use schedule::{Schedule, Slot, Task, schedule};
