//! `store list --json` and `store verify --json`.

use schemars::JsonSchema;
use serde::Serialize;

/// The boots that are kept: `bootlap store list --json`, `bootlap store verify --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoreJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// Its folder.
    pub store: String,
    /// Its size.
    pub bytes: u64,
    /// Why nothing is taken from it any more, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distrusted: Option<String>,
    /// The boots, the one used last first.
    pub boots: Vec<KeptBootJson>,
}

/// A boot that is kept.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeptBootJson {
    /// SHA-256 of all that is known to change it.
    pub key: String,
    /// The file.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// When it was last used, RFC 3339.
    pub used: String,
    /// When and where it was made, each time.
    pub made: Vec<String>,
    /// The target's name.
    pub target: String,
    /// What the recipes changed: number of edits.
    pub edits: usize,
    /// The perturbation.
    pub perturbation: u32,
    /// The kind of time: `sim` or `modelled`.
    pub mode: String,
    /// When it was ready, ns; absent if it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_ns: Option<i64>,
    /// What is wrong with it, if anything is; it was taken away if the store was verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
}

/// What `store list --json` prints.
///
/// # Errors
/// None for any document.
pub fn json(document: &StoreJson) -> Result<String, serde_json::Error> {
    crate::json::line(document)
}
