//! Advice: what to change, why, and what it should save.
//!
//! Rules are pure functions of one boot's timeline and its target; a finding
//! names its evidence, and its estimate is computed from this very boot.

mod boot;
mod chain;
mod dump;
mod facts;
mod finding;
mod lines;
mod rules;
mod serial;

pub use boot::Boot;
pub use facts::Facts;
pub use finding::{Finding, Printer, Saving, SavingKind};
pub use rules::{Layer, Page, Rule, advise, all, find};
