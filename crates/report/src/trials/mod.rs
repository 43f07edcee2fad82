//! What was tried, and what came of it: `try`.

mod json;
mod text;

pub use json::{TrialJson, TrialsJson, json};
pub use text::text;

pub(crate) use json::trial;
pub(crate) use text::{came_back, interval, verdict};
