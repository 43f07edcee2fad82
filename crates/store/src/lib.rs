//! The boot store: boots that were made once are not made again.
//!
//! A boot whose time is counted is a function of its inputs, so its evidence can be
//! kept under the hash of them. The store knows nothing of boots: it keeps *entries*,
//! some files and what is known about them, under a key.
//!
//! ```text
//! boots/AB/KEY.SHA256.tar.zst    an entry; the name holds the hash of its bytes
//! boots/AB/KEY.SHA256.made       when and where it was made, a line for each time
//! boots/AB/KEY.lock              held by who makes this boot now
//! distrusted                     why nothing is taken from this store any more
//! blobs/ jobs/                   boots on their way to other machines: see [`Exchange`]
//! ```
//!
//! An entry is written under another name and renamed, so it is whole or not there; the
//! hash in its name tells whether it still is what was written. So the store needs no
//! index, and a process that is killed leaves nothing that must be mended.

mod entry;
mod error;
mod exchange;
mod folder;
mod lock;
mod names;
mod objects;
mod share;
mod signature;

pub use entry::{Damage, Entry};
pub use error::StoreError;
pub use exchange::Exchange;
pub use folder::{Clean, Found, IsWhole, Listed, Merged, Store};
pub use lock::Lock;
pub use share::{Pulled, Share};
pub use signature::{Signer, Signers};
