//! What somebody who mistyped a name probably meant.

use strsim::levenshtein;

/// ` (did you mean X?)` with the known name most like `typed`; empty if none is
/// like it.
pub fn did_you_mean<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> String {
    known
        .map(|known| (levenshtein(known, typed), known))
        .min()
        .filter(|(distance, known)| *distance <= known.len() / 2)
        .map(|(_, known)| format!(" (did you mean {known}?)"))
        .unwrap_or_default()
}
