//! The lists of recipes and rules.

mod json;
mod text;

pub use self::text::{Entry, rule, rules, text};
pub use json::{RecipeJson, RuleJson, recipes_json, rules_json};
