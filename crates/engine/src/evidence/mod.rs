//! From recorded evidence to a report: whatever mix of runs, files, archives
//! and folders tells of one boot.

pub mod boots;
mod cuts;
pub mod disk_files;
pub mod facts;
mod files;
pub mod group;
pub mod initcalls;
pub(crate) mod names;
pub mod reads;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use bootlap_advice::{Boot, Finding};
use bootlap_analysis::{Answers, Extent, Overview, extent, overview};
use bootlap_lab::Run;
use bootlap_model::Timeline;
use bootlap_product::BoardModel;
use bootlap_report::{About, Report, Texts};
use bootlap_sources::align::{Declared, Place};
use bootlap_sources::ingest::{self, Format, Options, Taken};
use bootlap_sources::{Hints, all, named};
use regex::bytes::Regex;

use crate::board_model;
use crate::failure::{Exit, Failure};
use files::Opened;
use names::Names;

/// What is said of evidence that no target describes.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The pattern that means ready, for logs that no target describes.
    pub ready: Option<String>,
    /// Read all files as this format instead of looking what they are.
    pub format: Option<String>,
    /// Lines of one moment, which join the clocks of their files:
    /// `FILE:LINE=FILE:LINE`.
    pub align: Vec<String>,
    /// What to add to the times of a file to get those of the first:
    /// `FILE=SECONDS`.
    pub offset: Vec<String>,
}

/// Silences shorter than this are not listed, ns.
const GAP_NS: i64 = 1_000_000;
/// What says that it wrote a document.
pub const TOOL: &str = concat!("bootlap ", env!("CARGO_PKG_VERSION"));
/// How many costs a report has.
const COSTS: usize = 8;

/// Evidence that was read and understood.
pub struct Recorded {
    /// What happened, and when.
    pub timeline: Timeline,
    /// The evidence itself, to show its lines.
    pub texts: Texts,
    /// What was booted, and how.
    pub about: About,
    /// How fast the real board is that the target stands for.
    pub board: Option<BoardModel>,
    /// The files that it was read from.
    pub read: Vec<PathBuf>,
    /// What was said of other boots that lie there and were not read.
    pub left_out: Option<String>,
    /// Where the boot begins and ends, once somebody asked.
    pub extent: OnceCell<Option<Extent>>,
}

impl Recorded {
    /// The part of the timeline that is the boot.
    fn extent(&self) -> Option<Extent> {
        *self.extent.get_or_init(|| extent(&self.timeline))
    }

    /// What rules look at.
    pub fn boot(&self) -> Boot<'_> {
        Boot::within(&self.timeline, self.extent())
    }

    /// The report of it.
    pub fn report(&self, findings: Vec<Finding>) -> Report<'_> {
        let (board, extent) = (self.board.as_ref(), self.extent());
        let Overview {
            phases,
            gaps,
            costs,
            disks,
        } = overview(&self.timeline, extent, GAP_NS, COSTS);
        Report {
            answers: Answers::of(&self.timeline).knowing(extent),
            phases,
            gaps,
            costs,
            disks,
            findings,
            predicted: board.and_then(|b| board_model::predicted(&self.timeline, b)),
            ..Report::new(self.about.clone(), &self.timeline, &self.texts)
        }
    }
}

/// Patterns compiled; they were checked when the target was read.
pub fn hints<'a>(
    ready: Option<&str>,
    application: Option<&str>,
    marks: impl Iterator<Item = (&'a str, &'a str)>,
) -> Hints {
    // A capture need not wait for anything.
    let compile = |pattern: &str| match pattern {
        "" => None,
        pattern => Regex::new(pattern).ok(),
    };
    Hints {
        ready: ready.and_then(compile),
        application: application.and_then(compile),
        marks: marks
            .filter_map(|(name, pattern)| Some((name.to_owned(), compile(pattern)?)))
            .collect(),
    }
}

/// Reads the boot that `paths` tell of; of several the first, and says so.
pub fn read_first(paths: &[PathBuf], how: &ReadOptions) -> Result<Recorded, Failure> {
    let boots = boots::by_files(paths)?;
    let first = boots.first().map_or(paths, |boot| boot);
    let mut recorded = read(first, how)?;
    let goes_on = || {
        recorded
            .timeline
            .notices
            .iter()
            .any(|n| n.code == cuts::ANOTHER)
    };
    let in_file = match first {
        [file] if goes_on() => cuts::each(file),
        _ => Vec::new(),
    };
    if let [one, second, ..] = &in_file[..] {
        recorded = read(std::slice::from_ref(one), how)?;
        recorded.left_out = Some(format!(
            "{} holds {} boots; this is the first (the next is {})",
            first[0].display(),
            in_file.len(),
            second.display()
        ));
    } else if boots.len() > 1 {
        let names: Vec<String> = first.iter().map(|p| p.display().to_string()).collect();
        recorded.left_out = Some(format!(
            "these are {} boots; this is the first, {} (`bootlap compare` and `bootlap check` \
             look at all of them)",
            boots.len(),
            names.join(" + ")
        ));
    }
    Ok(recorded)
}

/// Reads all evidence of one boot; an error if nothing of it is usable.
pub fn read(paths: &[PathBuf], how: &ReadOptions) -> Result<Recorded, Failure> {
    let found = find(paths, how)?;
    if found.is_usable() {
        let about = match &found.run {
            Some(run) => about_run(run, &found.timeline),
            None => about_files(paths, &found.timeline),
        };
        let mut recorded = Recorded {
            board: found.run.as_ref().and_then(|r| r.manifest.board.clone()),
            read: files::read_from(&found.opened, &found.taken),
            texts: files::texts(found.opened, &found.timeline),
            timeline: found.timeline,
            about,
            left_out: None,
            extent: OnceCell::new(),
        };
        // A run is bootlap's own, and where it lies is an answer.
        if found.run.is_none() {
            Names::of(paths).shorten(&mut recorded, paths);
        }
        return Ok(recorded);
    }
    let mut why: Vec<String> = found.taken.iter().take(3).map(why_not).collect();
    if found.taken.len() > why.len() {
        why.push(format!("and {} more", found.taken.len() - why.len()));
    }
    // What was known, but without times, says itself what gives it some.
    let remedy = found.timeline.notices.first().map(|n| n.remedy.as_str());
    let hint = remedy
        .unwrap_or("`bootlap inspect` says what was looked for in each file, and what is nearest");
    Err(Failure::new(Exit::NothingUsable, why.join("; ")).hint(hint))
}

/// What is known of a boot that was not seen: nothing has a time.
pub fn timeless(files: &[PathBuf]) -> Recorded {
    let timeline = Timeline::default();
    Recorded {
        about: about_files(files, &timeline),
        texts: Texts::default(),
        board: None,
        read: files.to_vec(),
        timeline,
        left_out: None,
        extent: OnceCell::new(),
    }
}

fn why_not(taken: &Taken) -> String {
    let name = &taken.name;
    match &taken.format {
        Format::Known { source, .. } => format!("{name} ({source}): nothing in it has a time"),
        Format::Unknown {
            timeless: Some(kind),
            ..
        } => format!(
            "{name} is {}, and its lines have no times: {}",
            kind.what, kind.remedy
        ),
        Format::Unknown { .. } => format!("{name} is no evidence that bootlap knows"),
        Format::Unreadable { why } => format!("{name}: {why}"),
        Format::Empty => format!("{name} is empty"),
    }
}

/// Evidence that was read, whatever is usable of it.
pub struct Found {
    /// What happened, and when.
    pub timeline: Timeline,
    /// What became of each thing that was given.
    pub taken: Vec<Taken>,
    opened: Vec<Opened>,
    run: Option<Run>,
}

impl Found {
    /// Whether anything in it has a time.
    pub fn is_usable(&self) -> bool {
        let t = &self.timeline;
        !(t.spans.is_empty() && t.marks.is_empty() && t.counters.is_empty())
    }
}

/// Reads all evidence of one boot.
pub fn find(paths: &[PathBuf], how: &ReadOptions) -> Result<Found, Failure> {
    let runs = paths.iter().filter(|p| Run::is_run(p));
    let mut runs = runs.map(|p| Run::open(p)).collect::<Result<Vec<_>, _>>()?;
    if runs.len() > 1 {
        let failure = Failure::new(
            Exit::Usage,
            "these are several boots, and one is shown at a time",
        );
        return Err(failure.hint("`bootlap report RUN --before RUN` compares two"));
    }
    let run = runs.pop();
    let mut timeline = Timeline::default();
    let mut opened = Vec::new();
    for path in paths {
        opened.push(match run.as_ref().filter(|_| Run::is_run(path)) {
            Some(run) => Opened::run(run, paths.len() == 1)?,
            None => Opened::path(path)?,
        });
    }
    let given = opened.iter().map(Opened::given).collect();
    let options = options(run.as_ref(), how)?;
    let taken = ingest::ingest(given, &options, &mut timeline);
    let taken = taken.map_err(|why| Failure::new(Exit::Usage, why))?;
    if taken.is_empty() {
        let paths: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
        let why = format!("there is no file in {}", paths.join(", "));
        let hint = "give a run, a log, or a folder or an archive with logs in it";
        return Err(Failure::new(Exit::NothingUsable, why).hint(hint));
    }
    for each in &opened {
        each.note_troubles(&taken, &mut timeline);
    }
    Ok(Found {
        timeline,
        taken,
        opened,
        run,
    })
}

/// Reads a recorded run.
pub fn read_run(run: &Run) -> Result<Recorded, Failure> {
    read(std::slice::from_ref(&run.dir), &ReadOptions::default())
}

fn options(run: Option<&Run>, how: &ReadOptions) -> Result<Options, Failure> {
    let usage = |why: String| Failure::new(Exit::Usage, why);
    if let Some(pattern) = &how.ready {
        Regex::new(pattern).map_err(|e| usage(format!("--ready: {e}")))?;
    }
    let hints = match run.map(|r| &r.manifest) {
        Some(m) => {
            let marks = m.marks.iter().map(|(name, p)| (name.as_str(), p.as_str()));
            let ready = how.ready.as_deref().unwrap_or(&m.ready_pattern);
            hints(Some(ready), m.application_pattern.as_deref(), marks)
        }
        None => hints(how.ready.as_deref(), None, std::iter::empty()),
    };
    let format = match &how.format {
        Some(name) => Some(named(name).ok_or_else(|| {
            let known: Vec<&str> = all().iter().map(|s| s.name).collect();
            usage(format!("--as {name}: the formats are {}", known.join(", ")))
        })?),
        None => None,
    };
    let aligned = how.align.iter().map(|a| same_moment(a));
    let offsets = how.offset.iter().map(|o| offset(o));
    let declared = aligned.chain(offsets).collect::<Result<Vec<_>, String>>();
    Ok(Options {
        hints,
        format,
        declared: declared.map_err(usage)?,
    })
}

/// `a.log:12=b.log:7`
fn same_moment(text: &str) -> Result<Declared, String> {
    let place = |text: &str| {
        let (file, line) = text.rsplit_once(':')?;
        Some(Place {
            file: file.to_owned(),
            line: line.parse().ok()?,
        })
    };
    let places = text
        .split_once('=')
        .and_then(|(a, b)| Some((place(a)?, place(b)?)));
    let (a, b) = places.ok_or(format!("--align {text}: write FILE:LINE=FILE:LINE"))?;
    Ok(Declared::SameMoment(a, b))
}

/// `b.log=-1.5`
fn offset(text: &str) -> Result<Declared, String> {
    let parsed = text.rsplit_once('=').and_then(|(file, seconds)| {
        let seconds: f64 = seconds.trim_end_matches('s').parse().ok()?;
        Some(Declared::Offset {
            file: file.to_owned(),
            ns: (seconds * 1e9).round() as i64,
        })
    });
    parsed.ok_or(format!(
        "--offset {text}: write FILE=SECONDS, such as b.log=-1.5"
    ))
}

/// A machine in a few words.
fn machine(facts: &serde_json::Value, model: Option<&str>) -> String {
    let text = |key: &str| facts[key].as_str().unwrap_or_default();
    let said = match text("kind") {
        "serial" if text("device").contains(':') => text("device").to_owned(),
        "serial" => format!("{} at {} baud", text("device"), facts["baud"]),
        "command" => text("run").to_owned(),
        _ => format!("{} {}", text("program"), text("version")),
    };
    match (bootlap_lab::model_words(&facts["model"]), model) {
        (words, Some(model)) if !words.is_empty() => {
            format!("{} · board {model}: {words}", said.trim())
        }
        _ => said.trim().to_owned(),
    }
}

/// What is known of a run.
pub fn about_run(run: &Run, timeline: &Timeline) -> About {
    let m = &run.manifest;
    let model = group::model(m);
    About {
        target: m.target.clone(),
        path: m.target_path.clone(),
        run: run.dir.display().to_string(),
        machine: machine(&m.machine, model.as_deref()),
        mode: m.mode.name().to_owned(),
        time: kind_of_time(timeline),
        model,
        identical: None,
        ready_ns: run.ready().map(|at| at.ns),
        instructions: run.ready().and_then(|at| at.instructions),
        console_sha256: m.console_sha256.clone(),
        tool: TOOL.to_owned(),
    }
}

fn about_files(paths: &[PathBuf], timeline: &Timeline) -> About {
    let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    let short = |p: &PathBuf| -> String {
        let name = p.file_name().unwrap_or(p.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let target = match paths {
        [one] => one.display().to_string(),
        several => {
            let shown: Vec<String> = several.iter().take(3).map(short).collect();
            let more = if several.len() > 3 { ", …" } else { "" };
            shown.join(" + ") + more
        }
    };
    About {
        target,
        run: names.join(" "),
        time: kind_of_time(timeline),
        ready_ns: bootlap_analysis::ready_ns(timeline),
        tool: TOOL.to_owned(),
        ..About::default()
    }
}

/// Without the probe the host stamps, whatever time the guest runs in.
pub fn kind_of_time(timeline: &Timeline) -> String {
    let kinds = timeline.clocks.iter().map(|c| c.time);
    kinds.max().unwrap_or_default().word().to_owned()
}

/// The paths that a command was given, as one.
pub fn one(path: &Path) -> Vec<PathBuf> {
    vec![path.to_owned()]
}
