//! `apply --json`: what was changed, and what was written.

use schemars::JsonSchema;
use serde::Serialize;

/// A changed copy of a target and its patch set: `bootlap apply --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AppliedJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The target's name.
    pub target: String,
    /// The folder that was written.
    pub out: String,
    /// What was changed, in order.
    pub edits: Vec<EditJson>,
    /// The files of the patch set, as paths in `out`.
    pub files: Vec<String>,
}

/// A change of `target.toml`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EditJson {
    /// The dotted path of the key.
    pub key: String,
    /// Its new value; none if the key is removed.
    pub value: Option<String>,
}

/// What `apply --json` prints.
///
/// # Errors
/// None for any document.
pub fn applied(document: &AppliedJson) -> Result<String, serde_json::Error> {
    crate::json::line(document)
}
