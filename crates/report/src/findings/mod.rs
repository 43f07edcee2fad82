//! What to change, best first: `advise`.

mod json;
mod remedy;
mod text;

pub use json::{AdviceJson, FindingJson, json};
pub use text::text;

pub(crate) use json::findings;
pub(crate) use remedy::remedies;
