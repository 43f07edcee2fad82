//! What to change, best first: `advise`.

mod json;
mod remedy;
mod text;

use bootlap_advice::{Finding, find};

pub use json::{AdviceJson, FindingJson, json};
pub use text::text;

pub(crate) use json::findings;
pub(crate) use remedy::remedies;

/// What can go wrong with the change, as the rule's page says it.
fn risk(finding: &Finding) -> String {
    find(&finding.rule).map_or_else(String::new, |rule| rule.page.risk())
}
