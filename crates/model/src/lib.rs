//! What a boot is: clocks, tracks, spans, marks, counters, links, evidence and
//! notices. No I/O, no policy.
//!
//! A [`Timeline`] is filled by sources (one call per piece of evidence) and
//! read by analyses. Every event keeps the clock it was stamped by; an
//! [`Axis`] brings events of different clocks onto one reference clock and
//! says how sure that is.

mod axis;
mod clock;
mod event;
mod evidence;
mod file_use;
mod milestone;
mod notice;
mod read;
mod request;
mod shell;
mod stamp;
mod symbol;
mod timeline;
mod uart;

pub use axis::{Axis, Placed};
pub use clock::{Clock, ClockEdge, ClockId, ClockKind, How, TimeKind};
pub use event::{
    Anchor, Counter, Link, LinkKind, Mark, MarkKind, Span, SpanEnd, SpanId, Track, TrackId,
    TrackKind,
};
pub use evidence::{Evidence, EvidenceFile, FileId, Usage};
pub use file_use::FileUse;
pub use milestone::Milestone;
pub use notice::{Notice, Severity};
pub use read::{FileSystem, Read, ReadOf};
pub use request::{Request, RequestKind};
pub use shell::shell_word;
pub use stamp::Stamp;
pub use symbol::{Sym, Symbols};
pub use timeline::Timeline;
pub use uart::{BAUD_RATES, BITS_PER_BYTE, line_bytes};
