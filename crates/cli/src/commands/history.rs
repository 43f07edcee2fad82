//! `bootlap history`: results over commits.
//!
//! A history is a folder with a small JSON file per result. So two branches
//! that each add one merge without a conflict, a kill leaves every file whole,
//! and it can be read years later with nothing but a text editor.

use std::path::Path;
use std::process::Command;

use bootlap_analysis::changes::Sensitivity;
use bootlap_analysis::history::{Entry, FORMAT, trends};
use bootlap_engine::Progress;
use bootlap_engine::TOOL;
use bootlap_engine::check::Group;
use bootlap_engine::history::{alike, free_name, load, load_if_there};
use bootlap_engine::output::write_text;
use bootlap_engine::{Exit, Failure};
use bootlap_report::history::{self, HistoryReport, csv, html, markdown};

use crate::args::{History, HistoryAction, HistoryAdd, HistoryShow};
use crate::ui::Ui;

pub(crate) fn run(args: &History, ui: &Ui) -> Result<Exit, Failure> {
    match &args.action {
        HistoryAction::Add(args) => add(args, ui),
        HistoryAction::Show(args) => show(args, ui),
    }
}

fn add(args: &HistoryAdd, ui: &Ui) -> Result<Exit, Failure> {
    let commit = match &args.commit {
        Some(commit) => commit.clone(),
        None => git(&["rev-parse", "HEAD"]).ok_or_else(|| {
            let why = "git does not say what is checked out here";
            Failure::new(Exit::Usage, why).hint("name what was booted: --commit COMMIT")
        })?,
    };
    if commit.trim().is_empty() || commit.contains(char::is_control) {
        let why = "--commit: write a name in one line";
        return Err(Failure::new(Exit::Usage, why));
    }
    let date = date(args.date.as_deref(), &commit)?;
    let boots = Group::read(&args.inputs, &args.evidence.options())?;
    let entry = Entry {
        format: FORMAT,
        tool: TOOL.to_owned(),
        commit,
        date,
        target: boots.about.target.clone(),
        time: boots.about.time.clone(),
        model: boots.model.clone(),
        boots: boots.measures(),
    };
    if let Some(other) = load_if_there(&args.to)?.first() {
        alike(&entry, other, &args.to)?;
    }
    let path = free_name(&args.to, &entry)?;
    let mut text =
        serde_json::to_string_pretty(&entry).map_err(|e| Failure::new(Exit::Internal, e))?;
    text.push('\n');
    write_text(&path, &text)?;
    ui.note(&format!("wrote {}", path.display()));
    Ok(Exit::Ok)
}

/// When the state was made, in UTC.
fn date(asked: Option<&str>, commit: &str) -> Result<String, Failure> {
    let by_git = || git(&["show", "-s", "--format=%cI", "--end-of-options", commit]);
    let asked = match asked {
        Some(date) => Some(date.to_owned()),
        None => by_git(),
    };
    let at = match &asked {
        None => bootlap_lab::clock::now(),
        Some(text) => text.trim().parse().map_err(|e| {
            let why = format!("--date {text}: {e}");
            Failure::new(Exit::Usage, why).hint("write it as 2026-11-21T20:30:00Z")
        })?,
    };
    Ok(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// The first line that git prints, if it knows.
fn git(args: &[&str]) -> Option<String> {
    let out = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let line = text.lines().next()?.trim().to_owned();
    (out.status.success() && !line.is_empty()).then_some(line)
}

fn show(args: &HistoryShow, ui: &Ui) -> Result<Exit, Failure> {
    if args.least.is_nan() || args.least < 0.0 {
        let why = "--least is a percentage from 0 on";
        return Err(Failure::new(Exit::Usage, why));
    }
    let render: Option<fn(&HistoryReport) -> String> = match &args.out {
        None => None,
        Some(path) => Some(match path.extension().and_then(|e| e.to_str()) {
            Some("html") => html,
            Some("md") => markdown,
            _ => {
                let why = format!("{}: a trend is written as .html or .md", path.display());
                return Err(Failure::new(Exit::Usage, why));
            }
        }),
    };
    let entries = load(&args.dir)?;
    let sensitivity = Sensitivity {
        least: args.least / 100.0,
    };
    let report = HistoryReport {
        name: args.dir.display().to_string(),
        tool: TOOL.to_owned(),
        trends: trends(&entries, &sensitivity),
        entries,
    };
    for (path, text) in [
        args.csv.as_ref().map(|p| (p, csv(&report))),
        args.out.as_ref().zip(render.map(|render| render(&report))),
    ]
    .into_iter()
    .flatten()
    {
        outside(path, &args.dir)?;
        write_text(path, &text)?;
        ui.note(&format!("wrote {}", path.display()));
    }
    ui.show(
        args.json,
        || history::json(&report),
        |style| history::text(&report, style),
    )?;
    Ok(Exit::Ok)
}

/// A folder of results holds nothing else.
fn outside(path: &Path, dir: &Path) -> Result<(), Failure> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize().ok();
    if parent.is_some() && parent == dir.canonicalize().ok() {
        let why = format!("{} would be among the results", path.display());
        return Err(Failure::new(Exit::Usage, why).hint("name a file elsewhere"));
    }
    Ok(())
}
