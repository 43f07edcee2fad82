//! `build --json`: what was built from source.

use schemars::JsonSchema;
use serde::Serialize;

/// What a target builds from source: `bootlap build --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BuildsJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The target's name.
    pub target: String,
    /// One for each image.
    pub builds: Vec<BuiltJson>,
}

/// An image that was built.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BuiltJson {
    /// Of which section: `kernel` or `bootloader`.
    pub section: String,
    /// The file.
    pub image: String,
    /// Its size.
    pub bytes: u64,
    /// The source and its version.
    pub origin: String,
    /// The source tree, unpacked; `explain --kernel` reads a kernel's.
    pub tree: String,
    /// The configuration that it was built with: a `.config`.
    pub config: String,
    /// How many options are built in.
    pub built_in: usize,
    /// How many are modules.
    pub modules: usize,
    /// Whether an earlier build was taken.
    pub kept: bool,
}

/// What `build --json` prints.
///
/// # Errors
/// None for any document.
pub fn json(document: &BuildsJson) -> Result<String, serde_json::Error> {
    crate::json::line(document)
}
