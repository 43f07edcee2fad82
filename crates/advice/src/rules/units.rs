//! Units that a boot started, and what their starts cost it.

use bootlap_model::{Evidence, TrackKind};

use crate::boot::Found;
use crate::{Boot, Finding};

/// A unit's start.
pub(super) struct Unit<'a> {
    /// `a.service`, or what it calls itself where that is all that is known.
    pub(super) name: &'a str,
    /// What it calls itself.
    pub(super) description: &'a str,
    pub(super) ns: i64,
    /// Where it lies; `None` where only its length is known.
    pub(super) at: Option<[i64; 2]>,
    pub(super) evidence: Evidence,
}

/// All units whose start was seen, whatever showed it.
pub(super) fn units<'a>(boot: &Boot<'a>) -> Vec<Unit<'a>> {
    let unit = |found: Found<'a>| {
        let name = found.name();
        let (name, description) = name.split_once(" - ").unwrap_or((name, name));
        Unit {
            name,
            description: found.arg("description").unwrap_or(description),
            ns: found.ns(),
            at: found.arg("start").is_none().then(|| found.at()),
            evidence: found.span.evidence,
        }
    };
    let units = boot.spans_of(TrackKind::Unit).into_iter().map(unit);
    // systemd's lines on a console or in the kernel's log.
    let is_told = |u: &Unit<'_>| u.name.contains('.') || u.description.contains(' ');
    let console = boot.spans_of(TrackKind::Userspace).into_iter().map(unit);
    units.chain(console.filter(is_told)).collect()
}

/// Units by names, or beginnings of names that end in `*`; or by descriptions,
/// which old versions print instead.
pub(super) struct Slow(pub(super) &'static [&'static str]);

/// Units of the early boot, which are not deferred, and which a machine without what they are for
/// does without: the pages of their rules say which machines these are.
const NEEDLESS: Slow = Slow(&[
    "systemd-udev-settle.service",
    "lvm2-monitor.service",
    "multipathd.service",
    "mdmonitor.service",
    "keyboard-setup.service",
    "console-setup.service",
    "systemd-vconsole-setup.service",
    "plymouth-*",
]);

/// Units that make what an image can bring.
const CACHES: Slow = Slow(&[
    "ldconfig.service",
    "systemd-hwdb-update.service",
    "systemd-journal-catalog-update.service",
    "systemd-update-done.service",
]);

impl Slow {
    pub(super) fn is(&self, name: &str) -> bool {
        self.0.iter().any(|n| match n.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => *n == name,
        })
    }

    /// What the boot shows of them.
    pub(super) fn find(&self, boot: &Boot<'_>) -> Option<Finding> {
        let is_one = |u: &Unit<'_>| self.is(u.name) || self.is(u.description);
        let found = units(boot).into_iter().filter(is_one);
        let mut names: Vec<&str> = found.map(|unit| unit.name).collect();
        names.sort_unstable();
        names.dedup();
        // Those whose names are not known, or that cannot be deferred, need a person.
        let of_all = |recipe: &str| boot.recipe(&format!("{recipe}={}", names.join(",")));
        let recipe = of_all("systemd-defer").or_else(|_| match names[..] {
            _ if names.iter().all(|name| NEEDLESS.is(name)) => of_all("systemd-mask"),
            _ if names.iter().all(|name| CACHES.is(name)) => boot.recipe("systemd-caches-off"),
            [one] if one.starts_with("systemd-fsck") => boot.recipe("cmdline-no-fsck"),
            ["systemd-remount-fs.service"] => boot.recipe("systemd-remount-off"),
            ["apparmor.service"] => boot.recipe("systemd-booted-once"),
            ["systemd-udev-trigger.service"] => boot.recipe("systemd-coldplug-later"),
            [one] => boot.recipe_about("systemd-idle-off", one),
            _ => Err(String::new()),
        });
        Some(cost(boot, is_one)?.recipe(recipe))
    }
}

/// A start that takes less is not worth asking what waits for it.
const WORTH_ASKING_NS: i64 = 50_000_000;

/// What the starts of some units cost: by the ordering of all, if it is known;
/// else it is left open. Units that nothing waited for cost nothing.
pub(super) fn cost(boot: &Boot<'_>, is_one: impl Fn(&Unit<'_>) -> bool) -> Option<Finding> {
    let mut found = units(boot);
    found.retain(|u| is_one(u));
    let longest = found.iter().max_by_key(|u| u.ns)?;
    let mut others: Vec<&str> = found.iter().map(|u| u.name).collect();
    others.sort_unstable();
    others.dedup();
    let more = match others.len() {
        0 | 1 => String::new(),
        2 => " (and 1 more is alike)".to_owned(),
        n => format!(" (and {} more are alike)", n - 1),
    };
    let finding = Finding::new()
        .why(format!(
            "{} takes {} ms{more}",
            longest.name,
            longest.ns / 1_000_000
        ))
        .at(longest.at)
        .seen(found.iter().map(|u| u.evidence));
    match boot.chain() {
        Some(chain) => {
            let gone = |name: &str| found.iter().any(|u| u.name == name);
            let ns = chain.saved_without(gone);
            let basis = "at most: this boot replayed in the order of its units, without that start";
            (ns > 0).then(|| finding.saves(ns, basis))
        }
        None if longest.ns < WORTH_ASKING_NS => None,
        None => Some(finding.takes(longest.ns).saves_unknown(
            "units start side by side, and what waits for this one is not in the evidence: add \
             `systemctl show '*'` or `systemd-analyze critical-chain`",
        )),
    }
}
