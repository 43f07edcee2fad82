//! What the service manager says of units.
//!
//! ```text
//! Starting systemd-udevd.service - Rule-based Manager for Device Events and Files...
//! Started systemd-udevd.service - Rule-based Manager for Device Events and Files.
//! Starting Journal Service...                        before systemd 250: descriptions only
//! Expecting device dev-ttyS0.device - /dev/ttyS0...
//! Found device dev-ttyS0.device - /dev/ttyS0.
//! systemd-pcrphase.service - TPM2 PCR Barrier (User) was skipped because of an unmet condition check (…).
//! ```

use super::row::Row;
use crate::systemd::units::is_unit;

/// What became of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// It is being started.
    Begins,
    /// It is active, or has done its work.
    Active,
    /// It was not started, or the start failed: how.
    Failed(&'static str),
}

/// What was said, of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said<'t> {
    pub(crate) what: What,
    /// The unit, if it is named.
    pub(crate) unit: Option<&'t str>,
    /// What it calls itself.
    pub(crate) description: &'t str,
}

impl<'t> Said<'t> {
    /// What to call it.
    pub(crate) fn name(&self) -> &'t str {
        self.unit.unwrap_or(self.description)
    }
}

const VERBS: [(&str, What); 20] = [
    ("Starting ", What::Begins),
    ("Mounting ", What::Begins),
    ("Activating swap ", What::Begins),
    ("Expecting device ", What::Begins),
    ("Started ", What::Active),
    ("Finished ", What::Active),
    ("Mounted ", What::Active),
    ("Activated swap ", What::Active),
    ("Found device ", What::Active),
    ("Reached target ", What::Active),
    ("Listening on ", What::Active),
    ("Created slice ", What::Active),
    ("Set up automount ", What::Active),
    ("Failed to start ", What::Failed("failed")),
    ("Failed to mount ", What::Failed("failed")),
    ("Failed to activate swap ", What::Failed("failed")),
    ("Failed to listen on ", What::Failed("failed")),
    ("Dependency failed for ", What::Failed("dependency failed")),
    ("Timed out starting ", What::Failed("timed out")),
    ("Timed out waiting for device ", What::Failed("timed out")),
];

/// `SD_MESSAGE_UNIT_STARTING`, `…_STARTED`, `…_FAILED`.
const IDS: [(&str, What); 3] = [
    ("7d4958e842da4a758f6c1cdc7b36dcc5", What::Begins),
    ("39f53479d3a045ac8e11786248231fbf", What::Active),
    ("be02cf6855d2428ba40df7e9d022f03d", What::Failed("failed")),
];

/// A condition was not met: nothing was started.
const SKIPPED: [&str; 4] = [
    " was skipped because",
    " skipped, unmet condition",
    " skipped, no trigger condition",
    "Condition check resulted in ",
];

/// What a row of the manager says of a unit.
pub(crate) fn said(row: &Row) -> Option<Said<'_>> {
    let text = crate::text::valid(&row.message).trim();
    if SKIPPED.iter().any(|s| text.contains(s)) {
        return None;
    }
    let verb = VERBS
        .iter()
        .find_map(|(v, what)| Some((*what, text.strip_prefix(v)?)));
    let told = !row.unit.is_empty() && is_unit(&row.unit);
    let id = IDS.iter().find(|(id, _)| told && *id == &*row.message_id);
    let (what, rest) = match (verb, id) {
        (Some((what, rest)), _) => (what, rest),
        (None, Some((_, What::Active))) if &*row.job_result != "done" => return None,
        (None, Some((_, what))) => (*what, text),
        (None, None) => return None,
    };
    let rest = ["...", "…", "."]
        .iter()
        .find_map(|end| rest.strip_suffix(end))
        .unwrap_or(rest);
    let rest = rest.strip_suffix(", ignoring").unwrap_or(rest);
    let (unit, description) = match rest.split_once(" - ") {
        Some((unit, description)) if is_unit(unit) => (Some(unit), description),
        _ if is_unit(rest) => (Some(rest), rest),
        _ => (None, rest),
    };
    let unit = if told { Some(&*row.unit) } else { unit };
    (!description.is_empty()).then_some(Said {
        what,
        unit,
        description,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sayings() {
        let row = |text: &str, unit: &str| Row {
            message: text.as_bytes().into(),
            unit: unit.into(),
            ..Row::default()
        };
        let said = |text: &str, unit: &str| {
            let row = row(text, unit);
            let said = said(&row)?;
            Some((
                said.what,
                said.name().to_owned(),
                said.description.to_owned(),
            ))
        };
        let some = |what, name: &str, d: &str| Some((what, name.to_owned(), d.to_owned()));
        assert_eq!(
            said("Starting a.service - Does a...", ""),
            some(What::Begins, "a.service", "Does a")
        );
        assert_eq!(
            said("Started Journal Service.", "systemd-journald.service"),
            some(What::Active, "systemd-journald.service", "Journal Service")
        );
        assert_eq!(
            said("Reached target Local File Systems.", ""),
            some(What::Active, "Local File Systems", "Local File Systems")
        );
        assert_eq!(
            said("Failed to start b.service - B - of c.", ""),
            some(What::Failed("failed"), "b.service", "B - of c")
        );
        assert_eq!(
            said(
                "a.service - A was skipped because of an unmet condition",
                "a.service"
            ),
            None
        );
        assert_eq!(said("Detected virtualization qemu.", ""), None);
    }
}
