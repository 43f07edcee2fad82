//! U-Boot's bootstage records: when it reached which stage.
//!
//! ```text
//! Timer summary in microseconds (9 records):
//!        Mark    Elapsed  Stage
//!           0          0  reset
//!     583,401    583,401  board_init_f
//!     727,725    144,324  board_init_r
//!   1,043,362    315,637  id=64
//!
//! Accumulated time:
//!                 36,047  dm_f
//! ```
//!
//! µs of the boot loader's timer, which most boards start at reset. Four
//! shapes of the same records:
//!
//! - the report ([`report`]) of `bootstage report` or `CONFIG_BOOTSTAGE_REPORT`
//!   (which prints it after `Starting kernel ...`);
//! - the `/bootstage` node that `CONFIG_BOOTSTAGE_FDT` adds to the device tree
//!   for Linux: the blob (`/sys/firmware/fdt`) or its source text ([`tree`]);
//! - a dump of the memory that `bootstage stash` or SPL wrote ([`stash`]).
//!
//! What is made of them is in [`stages`].

pub(crate) mod report;
mod stages;
mod stash;
mod tree;

use std::io::{BufRead, Read};

use bootlap_model::Timeline;

use crate::text::{self, Import};
use crate::{HEAD_LEN, Hints, Input, Sniff, Source, SourceError, binary};

use self::report::Report;
use self::tree::SourceText;

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "bootstage",
    title: "U-Boot's bootstage records",
    looks_like: "`Timer summary in microseconds`, or a device tree with a /bootstage node",
    sniff,
    read,
    together: None,
};

/// Larger device trees and stashes are read up to here.
const LIMIT: u64 = 16 << 20;

/// Enough to tell the binary shapes apart.
const MAGIC_LEN: u64 = 16;

fn sniff(head: &[u8]) -> Sniff {
    if stash::order(head).is_some() {
        return Sniff::CERTAIN;
    }
    if tree::is_blob(head) {
        let told = memchr::memmem::find(head, b"bootstage\0").is_some();
        return if told { Sniff::CERTAIN } else { Sniff::MAYBE };
    }
    report::sniff(head).max(tree::sniff_text(head))
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let head = binary::head(input.bytes, MAGIC_LEN)?;
    let mut whole = head.chain(&mut *input.bytes);
    if stash::order(&head).is_none() && !tree::is_blob(&head) {
        return read_text(input.label, input.hints, &mut whole, out);
    }
    let (bytes, more) = binary::all(&mut whole, LIMIT)?;
    let mut import = Import::new(out, input.label, SOURCE.name);
    match stash::order(&bytes) {
        Some(order) => stash::read(&bytes, order, &mut import),
        None => tree::read_blob(&bytes, &mut import),
    }
    if more {
        stages::cut(&mut import, LIMIT);
    }
    import.finish();
    Ok(())
}

/// Reads a report, or the source text of a device tree.
fn read_text(
    label: &str,
    hints: &Hints,
    bytes: &mut dyn BufRead,
    out: &mut Timeline,
) -> Result<(), SourceError> {
    let head = binary::head(bytes, HEAD_LEN as u64)?;
    let is_tree = tree::sniff_text(&head) > report::sniff(&head);
    let mut whole = head.chain(bytes);
    let input = Input {
        label,
        bytes: &mut whole,
        hints,
    };
    if is_tree {
        text::read(input, &SOURCE, out, &mut SourceText::default())
    } else {
        text::read(input, &SOURCE, out, &mut Report::default())
    }
}
