//! What a report says first, in plain words: whose boot, how long, and what
//! kind of time that is.

use crate::Report;
use crate::format::{count, duration, times};

/// What to call the boot, and what to say of it.
pub struct Headline {
    /// The target; it comes from outside, so whoever shows it makes it harmless.
    pub name: String,
    /// What follows it: ` is ready after 5.177 s`, `: 5.0× faster: …`.
    pub rest: String,
}

impl Headline {
    /// Of one boot, or of two against each other.
    pub fn of(report: &Report<'_>) -> Self {
        let rest = match &report.before {
            Some(before) => compared(before.about.ready_ns, report.about.ready_ns),
            None => alone(report),
        };
        let name = match report.about.target.as_str() {
            "" => "this boot".to_owned(),
            target => target.to_owned(),
        };
        Self { name, rest }
    }
}

/// What is said of one boot.
pub fn alone(report: &Report<'_>) -> String {
    if let Some(ns) = report.about.ready_ns {
        return format!(" is ready after {}", duration(ns));
    }
    // A log from elsewhere: nobody said what ready looks like.
    let why = if report.about.mode.is_empty() {
        ": no ready pattern was seen"
    } else {
        " did not get ready"
    };
    match report.answers.extent() {
        Some(seen) => format!("{why}, seen for {}", duration(seen.duration_ns())),
        None => why.to_owned(),
    }
}

fn compared(before: Option<i64>, after: Option<i64>) -> String {
    let (old, new) = match (before, after) {
        (Some(old), Some(new)) => (old, new),
        (None, Some(new)) => return format!(": now gets ready, after {}", duration(new)),
        (_, None) => return ": no longer gets ready".to_owned(),
    };
    let (ratio, word) = if new <= old {
        (times(old, new), "faster")
    } else {
        (times(new, old), "slower")
    };
    let verdict = match ratio {
        Some(_) if old == new => "as fast as before".to_owned(),
        Some(ratio) => format!("{ratio} {word}"),
        None => "not comparable".to_owned(),
    };
    format!(": {verdict}: {} → {}", duration(old), duration(new))
}

/// Which kind of time the numbers are; both kinds if they differ, because such
/// numbers do not compare.
pub fn kind_of_time(report: &Report<'_>) -> String {
    let named = |time: &str| match time {
        "" => "unlabelled".to_owned(),
        time => time.to_owned(),
    };
    let new = named(&report.about.time);
    match report.before.as_deref().map(|b| named(&b.about.time)) {
        Some(old) if old != new => format!("{old} against {new} time"),
        _ => format!("{new} time"),
    }
}

/// What stands behind the number: instructions, repeats, machine.
pub fn facts(report: &Report<'_>) -> Vec<String> {
    let about = &report.about;
    let identical = match about.identical {
        Some(true) => "booted twice, bit for bit the same",
        Some(false) => "booted twice, NOT the same",
        None => "",
    };
    let instructions = about
        .instructions
        .map(|n| format!("{} instructions", count(n)));
    let facts = [
        instructions.unwrap_or_default(),
        identical.to_owned(),
        about.machine.clone(),
    ];
    facts.into_iter().filter(|f| !f.is_empty()).collect()
}
