//! The boots that are kept: `store`.

mod json;
mod text;

pub use json::{KeptBootJson, StoreJson, json};
pub use text::text;
