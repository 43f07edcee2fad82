//! Options of what a target builds from source, as recipes change them.

use std::collections::BTreeMap;

use crate::Edit;

/// The options in `text`: `NAME=value,NAME=value`, with `CONFIG_` or without.
pub(super) fn parse<'t>(text: &'t str, example: &str) -> Result<Vec<(&'t str, &'t str)>, String> {
    let mut wanted = Vec::new();
    for option in text.split(',') {
        let pair = option.split_once('=');
        let (name, value) = pair.ok_or_else(|| format!("say which: {example}"))?;
        let name = name.strip_prefix("CONFIG_").unwrap_or(name);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) || value.is_empty() {
            return Err(format!("`{option}` is no option; say which: {example}"));
        }
        wanted.push((name, value));
    }
    Ok(wanted)
}

/// The edits that give `[SECTION.build]`, which has the options `there`, these
/// values.
pub(super) fn set(
    section: &str,
    there: &BTreeMap<String, String>,
    wanted: &[(&str, &str)],
) -> Result<Vec<Edit>, String> {
    let differ = wanted
        .iter()
        .filter(|(name, value)| there.get(*name).is_none_or(|v| v != value));
    let key = |name: &str| format!("{section}.build.options.{name}");
    let edits: Vec<Edit> = differ
        .map(|(name, value)| Edit::set(&key(name), *value))
        .collect();
    if edits.is_empty() {
        return Err(format!("the {section} is built with that already"));
    }
    Ok(edits)
}
