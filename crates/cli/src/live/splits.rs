//! The splits of this boot against those of earlier ones, as runners compare
//! laps: the best run as a whole, and the last one.

use std::fs;
use std::path::{Path, PathBuf};

use bootlap_lab::{Outcome, Run, Split};
use bootlap_report::Style;
use bootlap_report::clean::clean;

use super::footer::{Row, difference};
use super::seconds;

/// Runs that are looked at, newest first.
const MOST_RUNS: usize = 500;
/// Sessions hold runs.
const DEPTH: usize = 2;

/// Earlier runs of the same capture, oldest first.
#[derive(Default)]
pub(crate) struct History {
    runs: Vec<(String, Vec<Split>)>,
    /// Which of them is the best: the one whose last split is least.
    best: Option<usize>,
    last: Option<usize>,
}

impl History {
    /// The captures below `dir` that looked for the same end; what cannot be
    /// read is left out.
    pub(crate) fn read(dir: &Path, ready: &str) -> Self {
        let mut manifests = Vec::new();
        find(dir, DEPTH, &mut manifests);
        // Sessions are named by their time.
        manifests.sort();
        let from = manifests.len().saturating_sub(MOST_RUNS);
        let runs = manifests[from..]
            .iter()
            .filter_map(|dir| Run::open(dir).ok());
        let mut history = Self::default();
        let mut runs: Vec<Run> = runs.filter(|r| r.manifest.ready_pattern == ready).collect();
        runs.sort_by(|a, b| a.manifest.started.cmp(&b.manifest.started));
        runs.iter().for_each(|run| history.add(run));
        history
    }

    /// Takes a run that is recorded, if it came to its end.
    pub(crate) fn add(&mut self, run: &Run) {
        let manifest = &run.manifest;
        let Some(captured) = &manifest.capture else {
            return;
        };
        let splits = &captured.splits;
        let unready = matches!(manifest.outcome, Some(Outcome::NeverReady(_)) | None);
        if splits.is_empty() || unready {
            return;
        }
        self.runs.push((manifest.started.clone(), splits.clone()));
        let end = |i: usize| self.runs[i].1.last().map(|s| s.ns);
        let new = self.runs.len() - 1;
        self.last = Some(new);
        if self.best.is_none_or(|best| end(new) < end(best)) {
            self.best = Some(new);
        }
    }

    /// The best run's split of this name, ns.
    pub(crate) fn best(&self, name: &str) -> Option<i64> {
        self.of(self.best, name)
    }

    /// The last run's.
    pub(crate) fn last(&self, name: &str) -> Option<i64> {
        self.of(self.last, name)
    }

    fn of(&self, run: Option<usize>, name: &str) -> Option<i64> {
        let (_, splits) = &self.runs[run?];
        splits.iter().find(|s| s.name == name).map(|s| s.ns)
    }
}

fn find(dir: &Path, depth: usize, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        if !entry.file_type().is_ok_and(|t| t.is_dir()) {
            continue;
        }
        let path = entry.path();
        if Run::is_run(&path) {
            into.push(path);
        } else if depth > 1 {
            find(&path, depth - 1, into);
        }
    }
}

/// What is told of a run at its end.
pub(super) fn table(run: &Run, history: &History, style: &Style) -> String {
    let manifest = &run.manifest;
    let outcome = match &manifest.outcome {
        Some(Outcome::Ready(at)) => format!("ready after {} s", seconds(at.ns)),
        Some(Outcome::NeverReady(why)) => format!("never ready: {}", clean(why)),
        Some(Outcome::Recorded(why)) => clean(why).into_owned(),
        None => "unfinished".to_owned(),
    };
    let mut text = format!("{}: {outcome}", run.dir.display());
    let splits = manifest.capture.iter().flat_map(|c| &c.splits);
    let width = style.width.max(40);
    for split in splits {
        let mut row = Row::new(width, style.color);
        let name: String = clean(&split.name).chars().take(width - 40).collect();
        row.add(&format!("  {name:<16} {:>9} s", seconds(split.ns)), None);
        for (what, other) in [
            ("best", history.best(&split.name)),
            ("last", history.last(&split.name)),
        ] {
            if let Some(other) = other {
                let (difference, ink) = difference(split.ns - other);
                row.add(&format!("   {what} "), None);
                row.add(&difference, ink);
            }
        }
        text += "\n";
        text += &row.text;
    }
    text
}
