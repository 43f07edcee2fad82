//! One boot: text for a terminal, the document, the page, and files for other readers.

pub mod csv;
pub mod headline;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub(crate) mod text;

pub use text::{TEXT, notices, text};
