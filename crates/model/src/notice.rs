//! What a source could not use or had to assume.

use serde::{Deserialize, Serialize};

use crate::{Evidence, FileId};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// An assumption was made.
    Notice,
    /// Something that was measured cannot be shown.
    DataLoss,
    /// The result may be wrong.
    Error,
}

/// One kind of trouble, counted, with its first places and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Stable kebab-case name, e.g. `initcall-without-return`.
    pub code: String,
    /// The evidence it is about; `None` for the boot as a whole.
    pub file: Option<FileId>,
    /// How bad it is.
    pub severity: Severity,
    /// How often it was met.
    pub count: u64,
    /// The first three places.
    pub first: Vec<Evidence>,
    /// What happened and what to do next, for people.
    pub remedy: String,
}

impl Notice {
    /// How many places a notice keeps.
    pub const PLACES: usize = 3;
}
