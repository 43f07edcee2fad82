//! What is one boot, and what are several: decided here for all commands.
//!
//! A recorded run is a boot, and a folder of runs is as many. Files tell of one boot if
//! they are of different kinds (a console, a plot, a trace), and of several if they are of
//! one kind that has all of a boot in each file. So `show a.log b.log` does not draw two
//! boots over each other, and `check a/` judges eight logs as eight boots. One file can hold
//! several boots, too (`cuts`).

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use bootlap_lab::Run;
use bootlap_sources::detect;
use memchr::memmem;

use super::cuts;
use crate::failure::{Exit, Failure};

/// A folder with more is no group of boots.
const MOST: usize = 10_000;

/// The evidence of one boot.
pub type Boot = Vec<PathBuf>;

/// The boots that `paths` tell of, in order; at least one.
///
/// # Errors
/// If runs are mixed with files that could be of any of them, or a folder holds groups of
/// runs.
pub fn boots(paths: &[PathBuf]) -> Result<Vec<Boot>, Failure> {
    let mut all = Vec::new();
    for boot in by_files(paths)? {
        let files = match &boot[..] {
            // What else lies there may be a note.
            [folder] if folder.is_dir() && !Run::is_run(folder) => {
                let files = inside(folder)?.into_iter();
                files.filter(|f| f.is_file() && kind(f).is_some()).collect()
            }
            _ => boot.clone(),
        };
        let within = match &files[..] {
            [file] => cuts::each(file),
            _ => Vec::new(),
        };
        match within.len() {
            0 | 1 => all.push(boot),
            _ => all.extend(within.into_iter().map(|one| vec![one])),
        }
    }
    Ok(all)
}

/// The same, but for what several boots one file may hold: to find them it has to be read.
pub(super) fn by_files(paths: &[PathBuf]) -> Result<Vec<Boot>, Failure> {
    let mut runs = Vec::new();
    let mut files = Vec::new();
    for path in paths {
        match runs_in(path)? {
            Some(found) => runs.extend(found),
            None => files.push(path.clone()),
        }
    }
    match runs.len() {
        0 => of_files(files),
        // A run and what else tells of that boot.
        1 => Ok(vec![runs.into_iter().chain(files).collect()]),
        _ if files.is_empty() => Ok(runs.into_iter().map(|run| vec![run]).collect()),
        _ => {
            let why = "these are several runs, and files that could be of any of them";
            let hint = "name the runs alone, or one run with its files";
            Err(Failure::new(Exit::Usage, why).hint(hint))
        }
    }
}

/// The boots of what is no run.
fn of_files(paths: Vec<PathBuf>) -> Result<Vec<Boot>, Failure> {
    let folder = match &paths[..] {
        [only] if only.is_dir() => Some(only),
        _ => None,
    };
    let files = match folder {
        Some(folder) => inside(folder)?,
        // A folder and a file beside it tell of one boot: who has more says so.
        None if paths.iter().any(|p| !p.is_file()) => return Ok(vec![paths]),
        None => paths.clone(),
    };
    let known: Vec<(PathBuf, Vec<String>)> = files
        .into_iter()
        .filter(|file| file.is_file())
        .filter_map(|file| Some((file.clone(), vec![kind(&file)?])))
        .collect();
    let names: Vec<(&Path, &[String])> = known.iter().map(|(file, of)| (&**file, &**of)).collect();
    Ok(match are_one(&names) && !have_several_kernels(&known) {
        true => vec![paths],
        false => known.into_iter().map(|(file, _)| vec![file]).collect(),
    })
}

/// Kinds of which each file has all of a boot.
const WHOLE: [&str; 10] = [
    "stamps",
    "console",
    "grabserial",
    "ts",
    "lava",
    "dmesg",
    "cbmem",
    "bootstat",
    "bug-report",
    ARCHIVE,
];

/// What packs a recording's files is a boot of its own.
const ARCHIVE: &str = "archive";
const ARCHIVES: [&str; 5] = [".tgz", ".tar", ".tar.gz", ".tar.xz", ".zip"];

/// What `systemd-analyze` prints is of one kind, so names tell what each file is.
const OUTPUTS: [&str; 5] = ["time", "blame", "plot", "chain", "unit"];

/// Whether files of these names and kinds tell of one boot.
pub(super) fn are_one(files: &[(&Path, &[String])]) -> bool {
    if files.len() < 2 {
        return true;
    }
    let stem = |path: &Path| -> String {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_lowercase();
        name.chars().filter(|c| c.is_alphabetic()).collect()
    };
    let stems: BTreeSet<String> = files.iter().map(|(path, _)| stem(path)).collect();
    let kind = |(path, formats): &(&Path, &[String])| {
        let stem = stem(path);
        let output = OUTPUTS.iter().find(|word| stem.contains(**word));
        (formats.to_vec(), output.filter(|_| *formats == ["systemd"]))
    };
    let kinds: BTreeSet<_> = files.iter().map(kind).collect();
    let whole = |format: &String| WHOLE.contains(&format.as_str());
    let all_whole = files.iter().all(|(_, formats)| formats.iter().any(whole));
    match (stems.len() == files.len(), kinds.len()) {
        (true, 1) => !all_whole,
        (true, _) => true,
        // Names that differ in numbers only, but for parts of one recording.
        (false, 1) => ["strace", "bootchart"]
            .iter()
            .any(|part| files[0].1 == [*part]),
        (false, _) => false,
    }
}

/// Where a kernel's first line stands at the latest in a log of a whole boot: boot loaders print
/// before it.
const BANNER_WITHIN: u64 = 256 << 10;

/// Whether files that each have all of a boot name different kernels.
fn have_several_kernels(files: &[(PathBuf, Vec<String>)]) -> bool {
    let whole = |(_, formats): &(PathBuf, Vec<String>)| {
        let is_whole = |format: &String| WHOLE.contains(&format.as_str());
        formats.iter().any(is_whole)
    };
    if files.len() < 2 || !files.iter().all(whole) {
        return false;
    }
    let kernels: BTreeSet<Vec<u8>> = files.iter().filter_map(|(file, _)| kernel(file)).collect();
    kernels.len() > 1
}

/// `6.1.0-21-amd64 (user@host)`: what a log's first kernel says that it is. What follows may be
/// cut, or quoted.
fn kernel(path: &Path) -> Option<Vec<u8>> {
    const SAYS: &[u8] = b"Linux version ";
    let mut head = Vec::new();
    let file = File::open(path).ok()?;
    file.take(BANNER_WITHIN).read_to_end(&mut head).ok()?;
    let at = memmem::find(&head, SAYS)? + SAYS.len();
    let end = memchr::memchr3(b')', b'\r', b'\n', &head[at..])?;
    Some(head[at..at + end].to_vec())
}

/// So many first bytes tell kinds apart; to read a file, more of it is looked at.
const LOOKED_AT: u64 = 4 << 10;

/// What a file is, by its first bytes; `None` if that is nothing known.
fn kind(path: &Path) -> Option<String> {
    let name = path.to_string_lossy().to_lowercase();
    if ARCHIVES.iter().any(|end| name.ends_with(end)) {
        return Some(ARCHIVE.to_owned());
    }
    let mut head = Vec::new();
    let file = File::open(path).ok()?;
    file.take(LOOKED_AT).read_to_end(&mut head).ok()?;
    detect(&head).map(|source| source.name.to_owned())
}

/// What lies in a folder, in the order of the names as people count (2 before
/// 10), without hidden files.
pub(super) fn inside(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |e: std::io::Error| {
        Failure::new(Exit::Usage, format!("cannot read {}: {e}", path.display()))
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(cannot)? {
        let name = entry.map_err(cannot)?.file_name();
        if !name.to_string_lossy().starts_with('.') {
            names.push(name);
        }
    }
    if names.len() > MOST {
        let why = format!("{} has more than {MOST} entries", path.display());
        return Err(Failure::new(Exit::Usage, why).hint("name a folder of boots"));
    }
    names.sort_by_cached_key(|name| counted(&name.to_string_lossy()));
    Ok(names.into_iter().map(|name| path.join(name)).collect())
}

/// The runs that `path` names: itself, or its children, as people count. `None` if it is
/// other evidence.
fn runs_in(path: &Path) -> Result<Option<Vec<PathBuf>>, Failure> {
    if Run::is_run(path) {
        return Ok(Some(vec![path.to_owned()]));
    }
    let children = folders(path);
    let mut runs: Vec<PathBuf> = children
        .iter()
        .filter(|c| Run::is_run(c))
        .cloned()
        .collect();
    if runs.is_empty() {
        let holds_runs = |folder: &&PathBuf| folders(folder).iter().any(|g| Run::is_run(g));
        let groups: Vec<&PathBuf> = children.iter().filter(holds_runs).collect();
        if let Some(first) = groups.first() {
            let name = path.display();
            let why = format!("{name} holds {} groups of runs; name one", groups.len());
            let hint = format!("such as {}", first.display());
            return Err(Failure::new(Exit::Usage, why).hint(hint));
        }
        return Ok(None);
    }
    runs.sort_by_cached_key(|run| counted(&run.to_string_lossy()));
    Ok(Some(runs))
}

/// A name in pieces that sort as people count.
fn counted(name: &str) -> Vec<(u128, String)> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (head, behind) = rest.split_at(text);
        let digits = behind
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(behind.len());
        let (number, tail) = behind.split_at(digits);
        if !head.is_empty() {
            pieces.push((u128::MAX, head.to_owned()));
        }
        if !number.is_empty() {
            let value = number.parse().unwrap_or(u128::MAX - 1);
            pieces.push((value, number.to_owned()));
        }
        rest = tail;
    }
    pieces
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let dirs = entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir()));
    dirs.map(|e| e.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(files: &[(&str, &str)]) -> bool {
        let formats: Vec<Vec<String>> = files.iter().map(|f| vec![f.1.to_owned()]).collect();
        let files = files.iter().zip(&formats);
        let files: Vec<(&Path, &[String])> = files.map(|(f, of)| (Path::new(f.0), &**of)).collect();
        are_one(&files)
    }

    #[test]
    fn files_of_different_kinds_are_one_boot() {
        assert!(one(&[("console.log", "console"), ("plot.svg", "systemd")]));
        assert!(one(&[("time.txt", "systemd"), ("blame.txt", "systemd")]));
        assert!(one(&[("main.txt", "logcat"), ("events.txt", "logcat")]));
        assert!(one(&[("strace.1", "strace"), ("strace.2", "strace")]));
        assert!(one(&[
            ("header", "bootchart"),
            ("proc_stat.log", "bootchart")
        ]));
        assert!(one(&[("a.log", "console")]));
        assert!(one(&[]));
    }

    #[test]
    fn logs_of_different_kernels_are_several_boots_whatever_their_kinds() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, before: &str, version: &str| {
            let lines = format!(
                "{before}[    0.000000] Linux version {version} (a@b) (gcc) #1 SMP\n{before}[    0.100000] smp: Brought up 1 node\n{before}[    0.200000] Run /init as init process\n"
            );
            std::fs::write(folder.path().join(name), lines).unwrap();
        };
        let boots = || by_files(&[folder.path().to_owned()]).unwrap().len();
        write("laptop.log", "", "6.1.0");
        write("board.log", "2026-01-05 10:00:00.000001 ", "6.1.0");
        assert_eq!(boots(), 1);
        write("board.log", "2026-01-05 10:00:00.000001 ", "5.10.0");
        assert_eq!(boots(), 2);
    }

    #[test]
    fn files_that_each_have_a_whole_boot_are_several() {
        assert!(!one(&[("before.log", "console"), ("after.log", "console")]));
        assert!(!one(&[("1.log", "dmesg"), ("2.log", "dmesg")]));
        assert!(!one(&[
            ("plot-1.svg", "systemd"),
            ("plot-2.svg", "systemd")
        ]));
        assert!(!one(&[("1.log", "console"), ("2.log", "dmesg")]));
    }

    #[test]
    fn names_sort_as_people_count() {
        let mut names = ["boot-10.txt", "boot-2.txt", "a", "boot-2", "7", "10"];
        names.sort_by_cached_key(|name| counted(name));
        assert_eq!(
            names,
            ["7", "10", "a", "boot-2", "boot-2.txt", "boot-10.txt"]
        );
    }
}
