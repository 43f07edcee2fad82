//! What a report says first, in plain words: whose boot, how long, and what
//! kind of time that is.

use bootlap_model::{EvidenceFile, Mark, MarkKind, Timeline};

use crate::Report;
use crate::format::{count, duration, times};
use crate::terminal::Ink;

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
            Some(before) => {
                let pieces = compared(before, report).into_iter();
                pieces.map(|(text, _)| text).collect()
            }
            None => alone(report),
        };
        let name = match report.about.target.as_str() {
            "" => "this boot".to_owned(),
            target => target.to_owned(),
        };
        Self { name, rest }
    }
}

/// How a boot ended, as far as anybody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It got ready after this many ns; what `at_least` is true of, no earlier.
    Ready { ns: i64, at_least: bool },
    /// Nobody said what ready looks like; the evidence knows this end, and goes on.
    Ended {
        what: &'static str,
        ns: i64,
        at_least: bool,
        goes_on_ns: Option<i64>,
    },
    /// Ready was waited for and did not come, in so many ns, if anything was seen.
    NotReady(Option<i64>),
    /// Nothing knows an end; the evidence lasts so long.
    Seen(Option<i64>),
}

impl Outcome {
    /// Whether somebody said what ready looks like: a user, or a run's target.
    pub(crate) fn is_awaited(report: &Report<'_>) -> bool {
        report.timeline.awaited || !report.about.mode.is_empty()
    }

    /// Of the report's boot.
    pub(crate) fn of(report: &Report<'_>) -> Self {
        let extent = report.answers.extent();
        let at_least = extent.is_some_and(|e| e.end.is_at_least());
        if let Some(ns) = report.about.ready_ns {
            return Outcome::Ready { ns, at_least };
        }
        let seen = extent.map(|e| e.duration_ns());
        if Self::is_awaited(report) {
            return Outcome::NotReady(seen);
        }
        let end = extent.and_then(|e| Some((e, e.ends.text()?)));
        match end {
            Some((extent, what)) => Outcome::Ended {
                what,
                ns: extent.duration_ns(),
                at_least,
                goes_on_ns: extent.goes_on_ns(),
            },
            None => Outcome::Seen(seen),
        }
    }
}

/// When something was, of which it may be known only that it was no earlier.
fn after(ns: i64, at_least: bool) -> String {
    match at_least {
        true => format!("at least {}", duration(ns)),
        false => duration(ns),
    }
}

/// What is said of one boot.
pub fn alone(report: &Report<'_>) -> String {
    let seen = |ns: Option<i64>| ns.map(|ns| format!("seen for {}", duration(ns)));
    match Outcome::of(report) {
        Outcome::Ready { ns, at_least } => format!(" is ready after {}", after(ns, at_least)),
        Outcome::Ended {
            what,
            ns,
            at_least,
            goes_on_ns,
        } => {
            let more = goes_on_ns.map(|ns| format!("; the log goes on for {}", duration(ns)));
            let more = more.unwrap_or_default();
            format!(": {what} after {}{more}", after(ns, at_least))
        }
        Outcome::NotReady(ns) => match seen(ns) {
            Some(seen) => format!(" did not get ready, {seen}"),
            None => " did not get ready".to_owned(),
        },
        Outcome::Seen(Some(0)) => ": all at one moment, as far as its times tell".to_owned(),
        Outcome::Seen(ns) => match seen(ns) {
            Some(seen) if is_of_no_boot(report.timeline) => {
                format!(": {seen}; nothing in it says that a boot began or ended")
            }
            Some(seen) => format!(": {seen}, to its last line"),
            None => ": nothing says when".to_owned(),
        },
    }
}

/// Whether this is what a running system logs, without any step of a boot.
pub(crate) fn is_of_no_boot(timeline: &Timeline) -> bool {
    const ALWAYS_ON: [&str; 4] = ["dmesg", "journal", "logcat", "bug-report"];
    let is_log = |file: &EvidenceFile| ALWAYS_ON.contains(&file.source.as_str());
    let is_step = |mark: &Mark| matches!(mark.kind, MarkKind::Milestone(_));
    !timeline.files.is_empty()
        && timeline.files.iter().all(is_log)
        && !timeline.marks.iter().any(is_step)
}

/// What is said of a boot and the one before it, in pieces.
pub(crate) fn compared(before: &Report<'_>, report: &Report<'_>) -> Vec<(String, Ink)> {
    use Outcome::{NotReady, Ready};
    let (text, ink) = match (Outcome::of(before), Outcome::of(report)) {
        (Ready { ns: old, .. }, Ready { ns: new, .. }) => {
            let times = format!("{} → {}", duration(old), duration(new));
            let colon = || (": ".to_owned(), Ink::Plain);
            return vec![colon(), verdict(old, new), colon(), (times, Ink::Strong)];
        }
        (NotReady(_), Ready { ns, at_least }) => (
            format!(": now gets ready, after {}", after(ns, at_least)),
            Ink::Good,
        ),
        (_, Ready { ns, at_least }) => (
            format!(
                " is ready after {}; nothing says when it was before",
                after(ns, at_least)
            ),
            Ink::Warn,
        ),
        (Ready { .. }, NotReady(_)) => (": no longer gets ready".to_owned(), Ink::Bad),
        (_, NotReady(_)) => (" did not get ready".to_owned(), Ink::Bad),
        _ => (": nothing says when it was ready".to_owned(), Ink::Warn),
    };
    vec![(text, ink)]
}

fn verdict(old: i64, new: i64) -> (String, Ink) {
    let (ratio, word, ink) = if new <= old {
        (times(old, new), "faster", Ink::Good)
    } else {
        (times(new, old), "slower", Ink::Bad)
    };
    match ratio {
        Some(_) if duration(old) == duration(new) => ("as fast as before".to_owned(), Ink::Plain),
        Some(ratio) => (format!("{ratio} {word}"), ink),
        None => ("not comparable".to_owned(), Ink::Warn),
    }
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

#[cfg(test)]
mod tests {
    use bootlap_model::{ClockKind, Evidence, Milestone, Stamp};

    use super::*;

    #[test]
    fn a_running_systems_log_tells_of_no_boot() {
        let mut timeline = Timeline::default();
        let file = timeline.add_file("today.log", "logcat");
        assert!(is_of_no_boot(&timeline));
        let mut with_a_step = timeline.clone();
        let clock = with_a_step.add_clock(ClockKind::KernelPrintk, file);
        let place = Evidence {
            file,
            start: 0,
            end: 1,
            line: 1,
        };
        let at = Stamp::new(0, 0);
        with_a_step.add_milestone(clock, at, Milestone::InitStart, place);
        assert!(!is_of_no_boot(&with_a_step));
        timeline.add_file("serial.log", "console");
        assert!(!is_of_no_boot(&timeline));
    }
}
