//! Boots held to a budget.

mod amount;
mod file;
mod group;

use bootlap_model::shell_word;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use bootlap_analysis::budget::{Bound, Budget, Metric, Sample, judge, judge_one};
use bootlap_analysis::changes::Sensitivity;
use bootlap_analysis::history as trends;
use bootlap_lab::Run;
use bootlap_report::check::CheckReport;

pub use group::Group;

use crate::evidence::names::Names;
use crate::evidence::{self, ReadOptions};
use crate::failure::{Exit, Failure};
use crate::history;
use crate::lab::Lab;

/// What is held to which budget, and by what it is judged.
pub struct CheckOptions {
    /// A target, which is booted, or recorded boots.
    pub inputs: Vec<PathBuf>,
    /// The budget's file.
    pub budget: PathBuf,
    /// What limits of growth compare with: a target, or recorded boots.
    pub baseline: Option<PathBuf>,
    /// Or a folder of results over commits.
    pub history: Option<PathBuf>,
    /// Perturbations of a target that is booted.
    pub perturbations: u32,
    /// What is said of recorded boots.
    pub read: ReadOptions,
}

/// Holds boots to a budget.
///
/// # Errors
/// If the budget cannot be read, a target does not boot, or boots cannot be
/// compared.
pub fn check(lab: &Lab<'_>, options: &CheckOptions) -> Result<CheckReport, Failure> {
    // What is wrong with the budget shows before anything is booted.
    let mut budget = read(&options.budget)?;
    let boots = boots(options, lab)?;
    match &options.history {
        Some(dir) => against_history(options, &boots, &mut budget, dir),
        None => against_baseline(options, &boots, &mut budget, lab),
    }
}

/// Writes a first budget: what the boots take, and `headroom` more.
///
/// # Errors
/// If the file exists, or the boots never got ready.
pub fn first_budget(lab: &Lab<'_>, options: &CheckOptions, headroom: f64) -> Result<(), Failure> {
    let boots = boots(options, lab)?;
    init(options, &boots, headroom)
}

fn read(path: &Path) -> Result<Budget, Failure> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|e| {
        let failure = Failure::new(Exit::Usage, format!("cannot read {name}: {e}"));
        failure.hint(format!(
            "`bootlap check RUN --budget {} --init` writes a first one from what a run took",
            shell_word(path.display())
        ))
    })?;
    file::parse(&text).map_err(|wrong| {
        let why = format!("{name}:{}: {}", wrong.line, wrong.message);
        Failure::new(Exit::Usage, why).hint("docs/check.md explains every key")
    })
}

fn boots(options: &CheckOptions, lab: &Lab<'_>) -> Result<Group, Failure> {
    match &options.inputs[..] {
        [target] if is_target(target) => Group::boot(lab, target, options.perturbations),
        inputs => Group::read(inputs, &options.read),
    }
}

/// A description of what is to be booted, not a recorded boot.
fn is_target(path: &Path) -> bool {
    let described = path.join("target.toml").is_file() && !Run::is_run(path);
    described || path.is_file() && path.extension().is_some_and(|e| e == "toml")
}

fn against_baseline(
    options: &CheckOptions,
    boots: &Group,
    budget: &mut Budget,
    lab: &Lab<'_>,
) -> Result<CheckReport, Failure> {
    let baseline = match &options.baseline {
        Some(target) if is_target(target) => Some(Group::boot(lab, target, options.perturbations)?),
        Some(path) => Some(Group::read(&evidence::one(path), &options.read)?),
        None => None,
    };
    let by = match &baseline {
        Some(baseline) => {
            let path = options.baseline.as_deref().unwrap_or(Path::new(""));
            same_time(boots, &baseline.about.time, path)?;
            if boots.model != baseline.model {
                let name = path.display();
                let why = format!(
                    "these boots and {name} were made in the time of different boards: no comparison"
                );
                return Err(Failure::new(Exit::Usage, why)
                    .hint("make the baseline again with the board as it is described now"));
            }
            baseline.samples()
        }
        None => Vec::new(),
    };
    let samples = boots.samples();
    only_seen(budget, &samples, &by);
    let said = baseline.as_ref().map(|b| {
        let path = options.baseline.as_deref().unwrap_or(Path::new(""));
        let path = Names::alone(path);
        match b.names.len() {
            1 => path,
            n => format!("{path} ({n} boots)"),
        }
    });
    Ok(CheckReport {
        judged: judge(budget, &samples, &by, boots.repeats()),
        ..report(options, boots, said)
    })
}

fn against_history(
    options: &CheckOptions,
    boots: &Group,
    budget: &mut Budget,
    dir: &Path,
) -> Result<CheckReport, Failure> {
    let entries = history::load(dir)?;
    if let Some(entry) = entries.first() {
        same_time(boots, &entry.time, dir)?;
    }
    let samples = boots.samples();
    let sensitivity = Sensitivity::default();
    let all: Vec<Sample> = trends::baseline(&entries, &Metric::Total, &sensitivity);
    only_seen(budget, &samples, &all);
    let judged = budget.limits.iter().map(|limit| {
        // Each number has its own last change.
        let by = match limit.bound {
            Bound::AtMost(_) => Vec::new(),
            _ => trends::baseline(&entries, &limit.metric, &sensitivity),
        };
        judge_one(limit, &samples, &by, boots.repeats())
    });
    let said = match entries.len() {
        1 => format!("{}, 1 result", Names::alone(dir)),
        n => format!("{}, {n} results, since the last change", Names::alone(dir)),
    };
    Ok(CheckReport {
        judged: judged.collect(),
        ..report(options, boots, Some(said))
    })
}

fn report(options: &CheckOptions, boots: &Group, baseline: Option<String>) -> CheckReport {
    CheckReport {
        about: boots.about.clone(),
        boots: boots.names.clone(),
        first: boots.first.clone(),
        baseline,
        budget: Names::alone(&options.budget),
        judged: Vec::new(),
    }
}

fn same_time(boots: &Group, other: &str, path: &Path) -> Result<(), Failure> {
    let time = &boots.about.time;
    if time == other {
        return Ok(());
    }
    let name = path.display();
    let why = format!("these boots have {time} time and {name} has {other}: no comparison");
    Err(Failure::new(Exit::Usage, why).hint("compare boots of the same machine"))
}

/// `phase = "1 %"` is a limit for every phase that there is.
fn only_seen(budget: &mut Budget, boots: &[Sample], baseline: &[Sample]) {
    let lines: Vec<usize> = budget.limits.iter().map(|l| l.line).collect();
    let of_many = |line: usize| lines.iter().filter(|l| **l == line).count() > 1;
    let seen = |metric: &Metric| {
        let mut all = boots.iter().chain(baseline);
        all.any(|b| b.measures.value(metric).is_some())
    };
    budget
        .limits
        .retain(|l| !of_many(l.line) || seen(&l.metric));
}

fn init(options: &CheckOptions, boots: &Group, headroom: f64) -> Result<(), Failure> {
    let name = options.budget.display();
    let text = file::first(&boots.measures(), headroom).ok_or_else(|| {
        let why = "these boots never got ready: there is nothing to make a budget of";
        Failure::new(Exit::NeverReady, why).hint("for logs say what ready is: --ready REGEX")
    })?;
    let write = || File::create_new(&options.budget)?.write_all(text.as_bytes());
    write().map_err(|e| {
        let exit = match e.kind() {
            std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotFound => Exit::Usage,
            _ => Exit::Internal,
        };
        Failure::new(exit, format!("cannot write {name}: {e}"))
    })?;
    Ok(())
}
