//! What was built from source: `build`.

mod json;
mod text;

pub use json::{BuildsJson, BuiltJson, json};
pub use text::text;
