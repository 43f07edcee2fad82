//! `recipes --json` and `rules --json`: lists with an entry for each.

use schemars::JsonSchema;
use serde::Serialize;

/// A recipe.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RecipeJson {
    /// Its name, as typed.
    pub recipe: String,
    /// What it does, in one line.
    pub title: String,
    /// What may be lost by it.
    pub risk: String,
    /// The values that it takes, if any; the first is the default. Only the
    /// empty text: any value.
    pub values: Vec<String>,
}

/// A rule of the advice.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RuleJson {
    /// Its name.
    pub rule: String,
    /// What it looks for, in one line.
    pub title: String,
    /// What it is about: `kernel`, `boot loader`, `user space` and so on.
    pub layer: String,
    /// All that there is to say of it, in Markdown.
    pub page: String,
}

/// What `recipes --json` prints.
///
/// # Errors
/// None for any recipes.
pub fn recipes_json(all: &[RecipeJson]) -> Result<String, serde_json::Error> {
    crate::json::line(&all)
}

/// What `rules --json` prints.
///
/// # Errors
/// None for any rules.
pub fn rules_json(all: &[RuleJson]) -> Result<String, serde_json::Error> {
    crate::json::line(&all)
}
