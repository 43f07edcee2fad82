//! Files that other programs show: pictures, traces, tables.
//!
//! [`SINKS`] lists all formats, by extension; those that are documents are
//! written by `bootlap-report`. All are pure: the same report gives the same
//! bytes.

mod bootchart;
mod folded;
pub mod perfetto;
mod sinks;
mod svg;

pub use sinks::{SINKS, sink_for};
