//! What a terminal shows: lines and tables, as wide as it is.
//!
//! Everything is laid out as lines ([`Line`]), whose text is made harmless when it
//! is added and measured as it will be displayed; colours and the plain-ASCII form
//! come last, so neither can spoil the layout.

pub(crate) mod bar;
mod line;
mod page;
mod style;
mod table;

pub use style::Style;

pub(crate) use line::Line;
pub(crate) use page::{MARGIN, Page, left_out, nothing};
pub(crate) use style::Ink;
pub(crate) use table::{Align, Table, cell};
