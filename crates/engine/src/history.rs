//! A folder of results, a small JSON file each.

use bootlap_model::{TimeKind, shell_word};
use std::fs;
use std::path::{Path, PathBuf};

use bootlap_analysis::history::{Entry, FORMAT};

use crate::failure::{Exit, Failure};

/// More results than this are no history of one target.
const MOST: usize = 20_000;

/// The results of a folder, in order; at least one.
///
/// # Errors
/// If there is none, or one cannot be read.
pub fn load(dir: &Path) -> Result<Vec<Entry>, Failure> {
    let entries = load_if_there(dir)?;
    if entries.is_empty() {
        let why = format!("{} holds no results", dir.display());
        let hint = format!(
            "`bootlap history add RUN --to {}` adds one",
            shell_word(dir.display())
        );
        return Err(Failure::new(Exit::NothingUsable, why).hint(hint));
    }
    Ok(entries)
}

/// The same, of which there may be none yet.
///
/// # Errors
/// If one cannot be read.
pub fn load_if_there(dir: &Path) -> Result<Vec<Entry>, Failure> {
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

/// Results that cannot be compared do not belong into one folder.
///
/// # Errors
/// If these are such.
pub fn alike(entry: &Entry, other: &Entry, dir: &Path) -> Result<(), Failure> {
    let dir = dir.display();
    let time = TimeKind::named(&entry.time).unwrap_or_default();
    let why = if entry.time != other.time {
        format!(
            "{dir} holds {} time, and this is {}",
            other.time, entry.time
        )
    } else if entry.model != other.model {
        let named = |e: &Entry| e.model.clone().unwrap_or("no board".to_owned());
        let [there, here] = [other, entry].map(named);
        format!("{dir} holds results in the time of board {there}, and this is {here}")
    } else if entry.target != other.target && time.repeats() {
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
///
/// # Errors
/// If the folder cannot be made.
pub fn free_name(dir: &Path, entry: &Entry) -> Result<PathBuf, Failure> {
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
