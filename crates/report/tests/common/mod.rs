//! Boots made by hand, small enough to know every number of them.

// Each test file uses some of it.
#![allow(dead_code, unused_imports)]

pub(crate) mod boots;
pub(crate) mod browser;
mod hostile;
pub(crate) mod wide;

use bootlap_advice::{Finding, Saving, SavingKind};
use bootlap_analysis::{Cost, Delta, Effect, Gap, Moved, Phase, Stage, Trial, Verdict};
use bootlap_model::{Evidence, Timeline};
use bootlap_report::inspect::{self, Inspected};
use bootlap_report::{About, Report, Texts};

pub(crate) use boots::{stock, tuned};
pub(crate) use hostile::hostile;

/// What a report borrows, and what analysis would say of it.
pub(crate) struct Boot {
    pub(crate) about: About,
    pub(crate) timeline: Timeline,
    pub(crate) texts: Texts,
    pub(crate) phases: Vec<Phase>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) costs: Vec<Cost>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) trials: Vec<Trial>,
}

impl Boot {
    /// The report of this boot, against `before` if given.
    pub(crate) fn report<'a>(&'a self, before: Option<&'a Boot>) -> Report<'a> {
        let report = Report {
            phases: self.phases.clone(),
            gaps: self.gaps.clone(),
            costs: self.costs.clone(),
            findings: self.findings.clone(),
            trials: self.trials.clone(),
            ..Report::new(self.about.clone(), &self.timeline, &self.texts)
        };
        match before {
            Some(before) => report.against(before.report(None)),
            None => report,
        }
    }
}

/// The boot's file, and one of each kind that nothing was read of.
pub(crate) fn files(boot: &Boot) -> Vec<Inspected> {
    let name = &boot.timeline.files[0].name;
    let file = |verdict, parts: &[String]| Inspected {
        path: name.clone(),
        parts: parts.to_vec(),
        files: boot.timeline.file_ids().collect(),
        verdict,
    };
    let known = inspect::Verdict::Known {
        source: "stamps",
        title: "a console with a stamp for each byte, as bootlap's probe writes it",
        percent: 100,
    };
    let unknown = inspect::Verdict::Unknown {
        nearest: vec![("dmesg", 12, "lines that begin with a time in brackets")],
        looked_for: vec!["dmesg", "journal", "strace", "stamps"],
    };
    let why = name.clone();
    vec![
        file(known, &[name.clone(), name.clone()]),
        file(unknown, &[]),
        file(inspect::Verdict::Unreadable { why }, &[]),
        file(inspect::Verdict::Empty, &[]),
    ]
}

pub(crate) const MS: i64 = 1_000_000;

/// A finding about `at_ms`.
pub(crate) fn finding(
    rule: &str,
    title: &str,
    recipe: Option<&str>,
    at_ms: [i64; 2],
    saving_ms: i64,
) -> Finding {
    Finding {
        rule: rule.to_owned(),
        title: title.to_owned(),
        why: format!("This boot spent {} ms there.", at_ms[1] - at_ms[0]),
        saving: Saving {
            printed: None,
            ns: saving_ms * MS,
            kind: SavingKind::ThisBoot,
            basis: "the length of the interval".to_owned(),
        },
        fix: "Change the setting, and boot again.".to_owned(),
        recipe: recipe.map(str::to_owned),
        at_ns: Some(at_ms.map(|ms| ms * MS)),
        evidence: vec![place(at_ms)],
        takes_ns: 0,
    }
}

/// Where a made-up boot says what it does then: a byte for each ms of its first file.
pub(crate) fn place(ms: [i64; 2]) -> Evidence {
    let [start, end] = ms.map(|ms| u64::try_from(ms).unwrap_or(0));
    Evidence {
        file: Timeline::default().add_file("", ""),
        start,
        end,
        line: 1,
    }
}

/// A trial that took `shift_ms` off (negative) or on.
pub(crate) fn trial(recipe: &str, shift_ms: i64, spread_ms: i64, verdict: Verdict) -> Trial {
    let shift_ns = shift_ms * MS;
    Trial {
        recipe: recipe.to_owned(),
        before_ns: 5_177 * MS,
        after_ns: 5_177 * MS + shift_ns,
        effect: Effect {
            shift_ns,
            interval_ns: [shift_ns - spread_ms * MS, shift_ns + spread_ms * MS],
            p: 0.000_2,
            verdict,
            margin_ns: MS,
            samples: [8, 8],
            confidence: 0.95,
            stage: Stage::Only,
            sessions: None,
        },
        not_ready: [0, 0],
        phases: vec![
            delta("boot loader", 3_500, 3_500 + shift_ms),
            delta("kernel", 1_660, 1_660),
        ],
        parts: Vec::new(),
        moved: Vec::new(),
        predicted: None,
    }
}

/// A change of a duration, in ms.
pub(crate) fn delta(name: &str, before_ms: i64, after_ms: i64) -> Delta {
    Delta {
        name: name.to_owned(),
        before_ns: Some(before_ms * MS),
        after_ns: Some(after_ms * MS),
        delta_ns: (after_ms - before_ms) * MS,
    }
}

/// Time that moved, in ms.
pub(crate) fn moved(from: &str, to: &str, saved_ms: i64, grew_ms: i64) -> Moved {
    Moved {
        from: from.to_owned(),
        to: to.to_owned(),
        ns: saved_ms.min(grew_ms) * MS,
        saved_ns: saved_ms * MS,
        grew_ns: grew_ms * MS,
    }
}
