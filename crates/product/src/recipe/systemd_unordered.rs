//! Units of systemd that do not wait for others which they do without.

use std::collections::BTreeMap;

use bootlap_image::units::{MASKS, Unit};

use super::systemd::{asked, disk_of, started, text_at};
use super::{Listed, Plain};
use crate::{Edit, Parts, Target};

/// Units of systemd do not wait for others that they do without.
///
/// A unit's file often names more than it needs: a web server that answers on all addresses
/// waits until the network is configured. Each member of the list is a unit, a slash, and one
/// that it starts behind (`After=`) or has started (`Wants=`), as
/// `nginx.service/network-online.target`. What it does not start without (`Requires=`) is
/// refused. A copy of the unit's file without that word goes to `/etc/systemd/system`, as a
/// drop-in can only add. `bootlap units TARGET --orderings` lists what can go, and `bootlap
/// reduce TARGET systemd-unordered=LIST` finds the most of a list that a target does without.
pub(super) const UNORDERED: Plain = Plain::new(
    "systemd-unordered",
    "units of systemd do not wait for others that they do without",
    "what a unit waited for may not be there when it starts: see that it tries again; an update \
     of its package no longer changes the unit",
    unordered,
)
.lists(Listed::Changed);

fn unordered(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let (partition, units, pairs) = asked(parts, value)?;
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for pair in &pairs {
        let (name, other) = pair.split_once('/').ok_or_else(|| {
            format!("{pair}: name a unit, a slash, and the one that it is not to wait for")
        })?;
        let unit = started(&units, name)?;
        if unit.requires.contains(other) {
            return Err(format!("{name} does not start without {other}"));
        }
        if !waits(unit, other) {
            return Err(format!("{name} does not wait for {other}"));
        }
        let text = match texts.remove(name) {
            Some(text) => text,
            None => file(target, parts, partition, name, unit)?,
        };
        let without = without(&text, other).ok_or_else(|| {
            format!(
                "that {name} waits for {other} is in another's file, or taken out of its own already"
            )
        })?;
        texts.insert(name, without);
    }
    let edits = texts.into_iter();
    Ok(edits
        .map(|(name, text)| text_at(partition, name, text))
        .collect())
}

/// Whether a unit's own files have it start behind another, or start that.
fn waits(unit: &Unit, other: &str) -> bool {
    unit.after.contains(other) || unit.wants.contains(other)
}

/// The text of a unit's file, as changed so far.
pub(super) fn file(
    target: &Target,
    parts: &Parts,
    partition: u32,
    name: &str,
    unit: &Unit,
) -> Result<String, String> {
    let place = format!("{partition}:{MASKS}/{name}");
    let changed = target.spec.disk.as_ref();
    if let Some(text) = changed.and_then(|disk| disk.texts.get(&place)) {
        return Ok(text.clone());
    }
    let (_, text) = disk_of(parts)?.text_of_systemd(&unit.file)?;
    text.ok_or_else(|| format!("{} cannot be read", unit.file))
}

/// A unit's file without a word in `After=` and `Wants=`; `None` if it is in neither.
fn without(text: &str, other: &str) -> Option<String> {
    let mut found = false;
    let mut kept = String::new();
    let joined = text.replace("\\\n", " ");
    for line in joined.lines() {
        let lists = line.split_once('=').filter(|(key, value)| {
            matches!(key.trim(), "After" | "Wants") && value.split_whitespace().any(|w| w == other)
        });
        if let Some((key, value)) = lists {
            found = true;
            let rest: Vec<&str> = value.split_whitespace().filter(|w| *w != other).collect();
            if !rest.is_empty() {
                kept += &format!("{}={}\n", key.trim(), rest.join(" "));
            }
        } else {
            kept += line;
            kept.push('\n');
        }
    }
    found.then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn only_the_word_goes() {
        let text = "# After=b.target\n[Unit]\nAfter=a.target \\\n b.target\nWants = b.target\n\
                    Before=b.target\nAfter=c.target\n";
        let expected = "# After=b.target\n[Unit]\nAfter=a.target\nBefore=b.target\n\
                        After=c.target\n";
        assert_eq!(without(text, "b.target").unwrap(), expected);
        assert_eq!(without(text, "d.target"), None);
    }
}
