//! `bootlap history`: results over commits.
//!
//! A history is a folder with a small JSON file per result. So two branches
//! that each add one merge without a conflict, a kill leaves every file whole,
//! and it can be read years later with nothing but a text editor.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bootlap_analysis::changes::Sensitivity;
use bootlap_analysis::history::{Entry, FORMAT, trends};
use bootlap_report::history::{HistoryReport, csv, html, markdown};
use bootlap_report::{json, text};

use crate::args::{History, HistoryAction, HistoryAdd, HistoryShow};
use crate::commands::check::{group::Group, write};
use crate::evidence::TOOL;
use crate::exit::{Exit, Failure};
use crate::ui::{self, Ui};

/// More results than this are no history of one target.
const MOST: usize = 20_000;

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
    let boots = Group::read(&args.inputs, &args.evidence)?;
    let entry = Entry {
        format: FORMAT,
        tool: TOOL.to_owned(),
        commit,
        date,
        target: boots.about.target.clone(),
        time: boots.about.time.clone(),
        boots: boots.measures(),
    };
    if let Some(other) = load_if_there(&args.to)?.first() {
        alike(&entry, other, &args.to)?;
    }
    let path = free_name(&args.to, &entry)?;
    let mut text =
        serde_json::to_string_pretty(&entry).map_err(|e| Failure::new(Exit::Internal, e))?;
    text.push('\n');
    write(&path, &text)?;
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
        None => jiff::Timestamp::now(),
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

/// Results that cannot be compared do not belong into one folder.
fn alike(entry: &Entry, other: &Entry, dir: &Path) -> Result<(), Failure> {
    let dir = dir.display();
    let why = if entry.time != other.time {
        format!(
            "{dir} holds {} time, and this is {}",
            other.time, entry.time
        )
    } else if entry.target != other.target && entry.time == "simulated" {
        format!(
            "{dir} holds results of {}, and this is {}",
            other.target, entry.target
        )
    } else {
        return Ok(());
    };
    Err(Failure::new(Exit::Usage, why).hint("keep a folder for each target and machine"))
}

/// A name that sorts by date, says which commit, and is not there yet.
fn free_name(dir: &Path, entry: &Entry) -> Result<PathBuf, Failure> {
    fs::create_dir_all(dir).map_err(|e| {
        let why = format!("cannot make the folder {}: {e}", dir.display());
        Failure::new(Exit::Internal, why)
    })?;
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let commit: String = entry.commit.chars().map(plain).take(12).collect();
    let date = entry.date.replace(':', "-");
    let names = (1..).map(|n| match n {
        1 => format!("{date}_{commit}.json"),
        n => format!("{date}_{commit}_{n}.json"),
    });
    let free = names.map(|n| dir.join(n)).find(|p| !p.exists());
    free.ok_or_else(|| Failure::new(Exit::Internal, "no name is free"))
}

fn show(args: &HistoryShow, ui: &Ui) -> Result<Exit, Failure> {
    if !(args.least >= 0.0 && args.max_p > 0.0 && args.max_p <= 0.5) {
        let why = "--least is a percentage from 0 on, --max-p is above 0 and at most 0.5";
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
        window: args.window,
        max_p: args.max_p,
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
        write(path, &text)?;
        ui.note(&format!("wrote {}", path.display()));
    }
    if args.json {
        let document = json::history(&report);
        ui.print(&document.map_err(|e| Failure::new(Exit::Internal, e))?);
    } else {
        ui.print(&text::history(&report, &ui::style()));
    }
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

/// The results of a folder, in order; at least one.
pub(crate) fn load(dir: &Path) -> Result<Vec<Entry>, Failure> {
    let entries = load_if_there(dir)?;
    if entries.is_empty() {
        let why = format!("{} holds no results", dir.display());
        let hint = format!("`bootlap history add RUN --to {}` adds one", dir.display());
        return Err(Failure::new(Exit::NothingUsable, why).hint(hint));
    }
    Ok(entries)
}

fn load_if_there(dir: &Path) -> Result<Vec<Entry>, Failure> {
    let cannot = |path: &Path, why: String| {
        Failure::new(Exit::NothingUsable, format!("{}: {why}", path.display()))
    };
    let listed = match fs::read_dir(dir) {
        Ok(listed) => listed,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(cannot(dir, e.to_string())),
    };
    let mut entries: Vec<(String, Entry)> = Vec::new();
    for file in listed.flatten() {
        let path = file.path();
        let name = file.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let bytes = fs::read(&path).map_err(|e| cannot(&path, e.to_string()))?;
        let entry: Entry = serde_json::from_slice(&bytes)
            .map_err(|e| cannot(&path, format!("not a result: {e}; remove it or mend it")))?;
        if entry.format != FORMAT {
            let why = format!("format {} is not known; use a newer bootlap", entry.format);
            return Err(cannot(&path, why));
        }
        if let Some((_, first)) = entries.first() {
            alike(&entry, first, dir)?;
        }
        if entries.len() >= MOST {
            return Err(cannot(dir, format!("more than {MOST} results")));
        }
        entries.push((name, entry));
    }
    entries.sort_by(|(a_name, a), (b_name, b)| (&a.date, a_name).cmp(&(&b.date, b_name)));
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}
