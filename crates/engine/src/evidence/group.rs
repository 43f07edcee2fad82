//! Paths to groups of boots: runs, files, folders of either, experiments.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bootlap_lab::{Manifest, Mode, Outcome, Run, State};
use bootlap_model::Timeline;
use bootlap_report::groups::{BootAbout, SideAbout};
use bootlap_sources::ingest::{Format, Taken};

use super::boots::{are_one, by_files, inside};
use super::cuts;
use super::names::Names;
use super::{find, kind_of_time, one, options, why_not};
use crate::evidence::ReadOptions;
use crate::failure::{Exit, Failure};

/// What an experiment says of itself.
const EXPERIMENT: &str = "experiment.json";

/// The boots of one side.
pub struct Group {
    /// What is known of it.
    pub about: SideAbout,
    /// As `about.boots`.
    pub boots: Vec<GroupBoot>,
}

/// One of them.
pub struct GroupBoot {
    /// Where it was found.
    pub path: PathBuf,
    /// What happened, and when.
    pub timeline: Timeline,
    /// Whether somebody said what ready looks like.
    pub awaited: bool,
    /// When it was made, ns since 1970, if that is on record.
    pub made_ns: Option<i64>,
    /// Its perturbation, if it is a run.
    pub perturbation: Option<u32>,
}

/// What became of one path.
enum Read {
    Boot(Box<GroupBoot>, BootAbout),
    Odd(String, String),
}

/// Whether a folder is a whole experiment.
pub fn is_experiment(path: &Path) -> bool {
    path.join(EXPERIMENT).is_file()
}

/// The groups of an experiment, its baseline first.
pub fn experiment(path: &Path, how: &ReadOptions) -> Result<Vec<Group>, Failure> {
    let file = path.join(EXPERIMENT);
    let broken = |why: String| {
        let why = format!("{}: {why}", file.display());
        Failure::new(Exit::NothingUsable, why)
            .hint("name two of its folders instead: `bootlap compare A B`")
    };
    let text = fs::read(&file).map_err(|e| broken(format!("cannot be read: {e}")))?;
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|e| broken(format!("not JSON ({e})")))?;
    let variants = value["variants"].as_array().cloned().unwrap_or_default();
    let mut groups = Vec::new();
    for variant in &variants {
        let name = variant["name"].as_str().or(variant.as_str());
        let dir = variant["dir"].as_str().or(name);
        let (Some(name), Some(dir)) = (name, dir) else {
            return Err(broken("a variant without a name".to_owned()));
        };
        // It names folders beside itself, and nothing else.
        if Path::new(dir).components().count() != 1 || dir == ".." {
            return Err(broken(format!("{dir} is no folder beside it")));
        }
        groups.push(group(&path.join(dir), name, how)?);
    }
    match groups.len() {
        0 | 1 => Err(broken("it has fewer than two variants".to_owned())),
        _ => Ok(groups),
    }
}

/// The boots that one path holds, in the order in which they were made where that is on
/// record; `None` if it is one boot, or there are several paths, which are evidence of one.
pub fn several(paths: &[PathBuf], how: &ReadOptions) -> Result<Option<Group>, Failure> {
    let [path] = paths else { return Ok(None) };
    let many = match path.is_dir() {
        true => !Run::is_run(path) && by_files(paths)?.len() > 1,
        false => cuts::each(path).len() > 1,
    };
    if !many {
        return Ok(None);
    }
    let mut group = group(path, "", how)?;
    let kind = |(boot, about): (&GroupBoot, &BootAbout)| {
        let time = kind_of_time(&boot.timeline);
        match &about.model {
            Some(model) => format!("{time} time of board {model}"),
            None => format!("{time} time"),
        }
    };
    let both = group.boots.iter().zip(&group.about.boots);
    let mut kinds: Vec<String> = both.map(kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if let [one, other, ..] = &kinds[..] {
        let why = format!("{}: boots in {one} and in {other}", path.display());
        let hint = "keep them in folders of their own: the two are not one kind of time";
        return Err(Failure::new(Exit::NothingUsable, why).hint(hint));
    }
    if group.boots.iter().all(|boot| boot.made_ns.is_some()) {
        let both = group.boots.into_iter().zip(group.about.boots);
        let mut both: Vec<_> = both.collect();
        both.sort_by_key(|(boot, _)| boot.made_ns);
        (group.boots, group.about.boots) = both.into_iter().unzip();
    }
    Ok((group.boots.len() > 1).then_some(group))
}

/// The boots at `path`, called `word`.
pub fn group(path: &Path, word: &str, how: &ReadOptions) -> Result<Group, Failure> {
    // What is wrong with an option is not each file's fault.
    options(None, how)?;
    let names = Names::of(&[path.to_owned()]);
    let mut group = whole_names(path, word, how)?;
    let about = &mut group.about;
    about.path = names.short(&about.path);
    for boot in &mut about.boots {
        boot.name = names.short(&boot.name);
    }
    for (name, _) in &mut about.odd {
        *name = names.short(name);
    }
    Ok(group)
}

/// The same with paths as they were given.
fn whole_names(path: &Path, word: &str, how: &ReadOptions) -> Result<Group, Failure> {
    let mut about = SideAbout {
        word: word.to_owned(),
        path: path.display().to_string(),
        ..SideAbout::default()
    };
    let folder = path.is_dir() && !Run::is_run(path);
    let paths = match folder {
        true => inside(path)?,
        false => vec![path.to_owned()],
    };
    let paths: Vec<PathBuf> = match Run::is_run(path) {
        true => paths,
        false => paths.iter().flat_map(|file| cuts::each(file)).collect(),
    };
    if let [only] = &paths[..]
        && !folder
    {
        // What was named itself is no odd file.
        match read(only, how)? {
            Read::Boot(boot, of) => {
                about.boots.push(of);
                let boots = vec![*boot];
                return Ok(Group { about, boots });
            }
            Read::Odd(name, why) => return Err(nothing(&format!("{name}: {why}"))),
        }
    }
    // The runs of an experiment lie beside what else is noted there.
    let runs: Vec<PathBuf> = paths.iter().filter(|p| Run::is_run(p)).cloned().collect();
    let (paths, others) = match runs.is_empty() {
        true => (paths, Vec::new()),
        false => (
            runs,
            paths.into_iter().filter(|p| !Run::is_run(p)).collect(),
        ),
    };
    let of_other = |p: &PathBuf| (p.display().to_string(), "lies among runs".to_owned());
    about.odd = others.iter().map(of_other).collect();
    let mut boots = Vec::new();
    for (read, path) in read_all(&paths, how).into_iter().zip(&paths) {
        match read {
            Ok(Read::Boot(boot, of)) => {
                about.boots.push(of);
                boots.push(*boot);
            }
            Ok(Read::Odd(name, why)) => about.odd.push((name, why)),
            Err(failure) => about
                .odd
                .push((path.display().to_string(), failure.message)),
        }
    }
    if boots.is_empty() {
        let why = match about.odd.first() {
            Some((name, why)) => format!("{}: no boots in it; {name}: {why}", path.display()),
            None => format!("{} is empty", path.display()),
        };
        return Err(nothing(&why));
    }
    let parts: Vec<(&Path, &[String])> = about.boots.iter().map(part).collect();
    if about.boots.len() > 1 && are_one(&parts) {
        let boot = whole(path, how)?;
        about.assumed = Some(format!(
            "the {} files of `{}` have different kinds and names, so they are taken for one boot; keep several boots in files with one name and numbers",
            about.boots.len(),
            about.path
        ));
        about.boots = vec![boot.1];
        return Ok(Group {
            about,
            boots: vec![boot.0],
        });
    }
    Ok(Group { about, boots })
}

fn part(boot: &BootAbout) -> (&Path, &[String]) {
    (Path::new(&boot.name), &boot.formats)
}

fn nothing(why: &str) -> Failure {
    Failure::new(Exit::NothingUsable, why).hint(
        "a group is a folder of runs, or of logs with one boot in each; `bootlap inspect` says what a file is",
    )
}

/// Reads all paths, as many at once as there are processors; the results keep
/// their order.
fn read_all(paths: &[PathBuf], how: &ReadOptions) -> Vec<Result<Read, Failure>> {
    let results: Vec<Mutex<Option<Result<Read, Failure>>>> =
        paths.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..at_once.min(paths.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = paths.get(at) else { break };
                    let result = read(path, how);
                    if let Ok(mut slot) = results[at].lock() {
                        *slot = Some(result);
                    }
                }
            });
        }
    });
    let results = results.into_iter();
    results.filter_map(|m| m.into_inner().ok()?).collect()
}

/// Reads one boot.
fn read(path: &Path, how: &ReadOptions) -> Result<Read, Failure> {
    let name = path.display().to_string();
    if is_experiment(path) {
        return Ok(Read::Odd(name, "a whole experiment".to_owned()));
    }
    let run = match Run::is_run(path) {
        true => Some(Run::open(path)?),
        false => None,
    };
    if run
        .as_ref()
        .is_some_and(|r| r.manifest.state == State::Unfinished)
    {
        let why = "its recording was not finished".to_owned();
        return Ok(Read::Odd(name, why));
    }
    let found = find(&one(path), how)?;
    let known = found.taken.iter().filter_map(|t| match &t.format {
        Format::Known { source, .. } => Some((*source).to_owned()),
        _ => None,
    });
    let mut formats: Vec<String> = known.collect();
    formats.sort();
    formats.dedup();
    if formats.is_empty() {
        let why = found.taken.first().map_or("is empty".to_owned(), odd);
        return Ok(Read::Odd(name, why));
    }
    let (awaited, mut reason) = match run.as_ref().map(|r| &r.manifest) {
        Some(m) => (
            how.ready.is_some() || !m.ready_pattern.is_empty(),
            match &m.outcome {
                Some(Outcome::NeverReady(why)) => Some(why.clone()),
                _ => None,
            },
        ),
        None => (how.ready.is_some(), None),
    };
    if !found.is_usable() {
        let notice = found.timeline.notices.first();
        let why = notice.map_or("nothing in it has a time".to_owned(), |n| {
            n.code.replace('-', " ")
        });
        reason = reason.or(Some(why));
    }
    let boot = GroupBoot {
        path: path.to_owned(),
        timeline: found.timeline,
        awaited,
        made_ns: run.as_ref().and_then(|r| r.manifest.started_ns()),
        perturbation: run.as_ref().map(|r| r.manifest.perturbation),
    };
    let about = BootAbout {
        name,
        formats,
        why_not: reason,
        model: run.as_ref().and_then(|r| model(&r.manifest)),
    };
    Ok(Read::Boot(Box::new(boot), about))
}

/// The board in whose time a run was made.
pub(crate) fn model(manifest: &Manifest) -> Option<String> {
    let board = manifest.board.as_ref();
    let board = board.filter(|_| manifest.mode == Mode::Modelled)?;
    Some(board.id())
}

/// Why something is no evidence, without its name.
fn odd(taken: &Taken) -> String {
    let why = why_not(taken);
    let name = why.strip_prefix(&taken.name);
    name.unwrap_or(&why)
        .trim_start_matches([':', ' '])
        .to_owned()
}

fn whole(path: &Path, how: &ReadOptions) -> Result<(GroupBoot, BootAbout), Failure> {
    match read(path, how)? {
        Read::Boot(boot, about) => Ok((*boot, about)),
        Read::Odd(name, why) => Err(nothing(&format!("{name}: {why}"))),
    }
}
