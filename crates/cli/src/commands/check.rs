//! `bootlap check`: holds boots to a budget.

mod amount;
mod file;
pub(crate) mod group;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use bootlap_analysis::budget::{Bound, Budget, Metric, Sample, State, judge, judge_one};
use bootlap_analysis::changes::Sensitivity;
use bootlap_analysis::history;
use bootlap_lab::Run;
use bootlap_report::check::{CheckReport, github, junit};
use bootlap_report::{json, text};

use crate::args::Check;
use crate::evidence;
use crate::exit::{Exit, Failure};
use crate::history_folder;
use crate::lab::Lab;
use crate::ui::{self, Ui};
use group::Group;

pub(crate) fn run(args: &Check, ui: &Ui) -> Result<Exit, Failure> {
    // What is wrong with the budget shows before anything is booted.
    let budget = match args.init {
        true => None,
        false => Some(read(&args.budget)?),
    };
    if let Some(path) = &args.junit {
        spare(path)?;
    }
    let lab = Lab::new(&args.lab, ui);
    let boots = boots(args, &lab)?;
    let Some(mut budget) = budget else {
        return init(args, &boots, ui);
    };
    let report = match &args.history {
        Some(dir) => against_history(args, &boots, &mut budget, dir)?,
        None => against_baseline(args, &boots, &mut budget, &lab)?,
    };
    if let Some(path) = &args.junit {
        write(path, &junit(&report))?;
    }
    if args.json {
        let document = json::check(&report);
        ui.print(&document.map_err(|e| Failure::new(Exit::Internal, e))?);
    } else {
        ui.print(&text::check(&report, &ui::style()));
    }
    if args.github && report.state() != State::Ok {
        ui.print(&github(&report));
    }
    Ok(match report.state() {
        State::Broken => Exit::Broken,
        State::Unknown if args.strict => Exit::Broken,
        State::Unknown | State::Ok => Exit::Ok,
    })
}

fn read(path: &Path) -> Result<Budget, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|e| {
        let failure = Failure::new(Exit::Usage, format!("cannot read {name}: {e}"));
        failure.hint(format!(
            "`bootlap check RUN --budget {name} --init` writes a first one from what a run took"
        ))
    })?;
    file::parse(&text).map_err(|wrong| {
        let why = format!("{name}:{}: {}", wrong.line, wrong.message);
        Failure::new(Exit::Usage, why).hint("docs/check.md explains every key")
    })
}

fn boots(args: &Check, lab: &Lab<'_>) -> Result<Group, Failure> {
    match &args.inputs[..] {
        [target] if is_target(target) => Group::boot(lab, target, args.layouts),
        inputs => Group::read(inputs, &args.evidence),
    }
}

/// A description of what is to be booted, not a recorded boot.
fn is_target(path: &Path) -> bool {
    let described = path.join("target.toml").is_file() && !Run::is_run(path);
    described || path.is_file() && path.extension().is_some_and(|e| e == "toml")
}

fn against_baseline(
    args: &Check,
    boots: &Group,
    budget: &mut Budget,
    lab: &Lab<'_>,
) -> Result<CheckReport, Failure> {
    let baseline = match &args.baseline {
        Some(target) if is_target(target) => Some(Group::boot(lab, target, args.layouts)?),
        Some(path) => Some(Group::read(&evidence::one(path), &args.evidence)?),
        None => None,
    };
    let by = match &baseline {
        Some(baseline) => {
            let path = args.baseline.as_deref().unwrap_or(Path::new(""));
            same_time(boots, &baseline.about.time, path)?;
            baseline.samples()
        }
        None => Vec::new(),
    };
    let samples = boots.samples();
    only_seen(budget, &samples, &by);
    let said = baseline.as_ref().map(|b| {
        let path = args.baseline.as_deref().unwrap_or(Path::new("")).display();
        match b.names.len() {
            1 => format!("{path}"),
            n => format!("{path} ({n} boots)"),
        }
    });
    Ok(CheckReport {
        judged: judge(budget, &samples, &by, boots.simulated()),
        ..report(args, boots, said)
    })
}

fn against_history(
    args: &Check,
    boots: &Group,
    budget: &mut Budget,
    dir: &Path,
) -> Result<CheckReport, Failure> {
    let entries = history_folder::load(dir)?;
    if let Some(entry) = entries.first() {
        same_time(boots, &entry.time, dir)?;
    }
    let samples = boots.samples();
    let sensitivity = Sensitivity::default();
    let all: Vec<Sample> = history::baseline(&entries, &Metric::Total, &sensitivity);
    only_seen(budget, &samples, &all);
    let judged = budget.limits.iter().map(|limit| {
        // Each number has its own last change.
        let by = match limit.bound {
            Bound::AtMost(_) => Vec::new(),
            _ => history::baseline(&entries, &limit.metric, &sensitivity),
        };
        judge_one(limit, &samples, &by, boots.simulated())
    });
    let said = match entries.len() {
        1 => format!("{}, 1 result", dir.display()),
        n => format!("{}, {n} results, since the last change", dir.display()),
    };
    Ok(CheckReport {
        judged: judged.collect(),
        ..report(args, boots, Some(said))
    })
}

fn report(args: &Check, boots: &Group, baseline: Option<String>) -> CheckReport {
    CheckReport {
        about: boots.about.clone(),
        boots: boots.names.clone(),
        baseline,
        budget: args.budget.display().to_string(),
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

fn init(args: &Check, boots: &Group, ui: &Ui) -> Result<Exit, Failure> {
    let name = args.budget.display();
    let text = file::first(&boots.measures(), args.headroom).ok_or_else(|| {
        let why = "these boots never got ready: there is nothing to make a budget of";
        Failure::new(Exit::NeverReady, why).hint("for logs say what ready is: --ready REGEX")
    })?;
    let write = || File::create_new(&args.budget)?.write_all(text.as_bytes());
    write().map_err(|e| {
        let exit = match e.kind() {
            std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotFound => Exit::Usage,
            _ => Exit::Internal,
        };
        Failure::new(exit, format!("cannot write {name}: {e}"))
    })?;
    ui.note(&format!("wrote {name}"));
    Ok(Exit::Ok)
}

/// A file for a CI server is written again and again; evidence never is.
fn spare(path: &Path) -> Result<(), Failure> {
    let name = path.display();
    if path.extension().is_none_or(|e| e != "xml") {
        let why = format!("{name}: the file for --junit ends in .xml");
        return Err(Failure::new(Exit::Usage, why));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    if Run::is_run(folder.unwrap_or(Path::new("."))) {
        let why = format!("{name} would be in the folder of a run, which stays as it is");
        return Err(Failure::new(Exit::Usage, why));
    }
    Ok(())
}

/// Writes in one step: what was there before stays until this is whole.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut partial = std::ffi::OsString::from(".");
    partial.push(path.file_name().unwrap_or_default());
    partial.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(partial);
    let write = || {
        let mut file = File::create_new(&partial)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, path)
    };
    write().map_err(|e| {
        let _ = fs::remove_file(&partial);
        let exit = match e.kind() {
            std::io::ErrorKind::NotFound => Exit::Usage,
            _ => Exit::Internal,
        };
        Failure::new(exit, format!("cannot write {}: {e}", path.display()))
    })
}
