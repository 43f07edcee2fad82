//! From recorded evidence to a report.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

use bootlap_advice::Finding;
use bootlap_analysis::{costs, gaps, phases};
use bootlap_lab::Run;
use bootlap_model::Timeline;
use bootlap_report::{About, Report};
use bootlap_sources::{HEAD_LEN, Hints, Input, Source, SourceError, named};
use regex::bytes::Regex;

use crate::args::Patterns;
use crate::exit::{Exit, Failure};

/// Silences shorter than this are not listed, ns.
const GAP_NS: i64 = 1_000_000;
/// What says that it wrote a document.
pub(crate) const TOOL: &str = concat!("bootlap ", env!("CARGO_PKG_VERSION"));
/// How many costs a report has.
const COSTS: usize = 8;

/// Evidence that was read and understood.
pub(crate) struct Recorded {
    pub(crate) timeline: Timeline,
    pub(crate) console: Vec<u8>,
    pub(crate) about: About,
}

impl Recorded {
    /// The report of it.
    pub(crate) fn report(&self, findings: Vec<Finding>) -> Report<'_> {
        Report {
            about: self.about.clone(),
            timeline: &self.timeline,
            console: &self.console,
            phases: phases(&self.timeline),
            gaps: gaps(&self.timeline, GAP_NS),
            costs: costs(&self.timeline, COSTS),
            findings,
            trials: Vec::new(),
            before: None,
        }
    }
}

/// Patterns compiled; they were checked when the target was read.
pub(crate) fn hints<'a>(
    ready: Option<&str>,
    application: Option<&str>,
    marks: impl Iterator<Item = (&'a str, &'a str)>,
) -> Hints {
    let compile = |pattern: &str| Regex::new(pattern).ok();
    Hints {
        ready: ready.and_then(compile),
        application: application.and_then(compile),
        marks: marks
            .filter_map(|(name, pattern)| Some((name.to_owned(), compile(pattern)?)))
            .collect(),
    }
}

/// Reads a run's folder or a log.
pub(crate) fn read(path: &Path, patterns: &Patterns) -> Result<Recorded, Failure> {
    if path.is_dir() {
        return read_run(&Run::open(path)?);
    }
    if let Some(pattern) = &patterns.ready {
        Regex::new(pattern).map_err(|e| Failure::new(Exit::Usage, format!("--ready: {e}")))?;
    }
    let hints = hints(patterns.ready.as_deref(), None, std::iter::empty());
    read_file(path, &hints)
}

/// Reads a recorded run.
pub(crate) fn read_run(run: &Run) -> Result<Recorded, Failure> {
    let m = &run.manifest;
    let marks = m
        .marks
        .iter()
        .map(|(name, pattern)| (name.as_str(), pattern.as_str()));
    let hints = hints(
        Some(&m.ready_pattern),
        m.application_pattern.as_deref(),
        marks,
    );
    let stamps = named("stamps").expect("the registry has it");
    let mut timeline = Timeline::default();
    source(stamps, "console", &mut run.stamps()?, &hints, &mut timeline)?;
    let qemu = |key: &str| m.machine[key].as_str().unwrap_or_default().to_owned();
    let about = About {
        target: m.target.clone(),
        path: m.target_path.clone(),
        run: run.dir.display().to_string(),
        machine: format!("{} {}", qemu("program"), qemu("version"))
            .trim()
            .to_owned(),
        mode: m.mode.name().to_owned(),
        // Without the probe the host stamps, whatever time the guest runs in.
        time: if timeline.clocks.iter().any(|c| c.simulated) {
            "simulated"
        } else {
            "measured"
        }
        .to_owned(),
        identical: None,
        ready_ns: run.ready().map(|at| at.ns),
        instructions: run.ready().and_then(|at| at.instructions),
        console_sha256: m.console_sha256.clone(),
        tool: TOOL.to_owned(),
    };
    Ok(Recorded {
        timeline,
        console: run.console()?,
        about,
    })
}

fn read_file(path: &Path, hints: &Hints) -> Result<Recorded, Failure> {
    let name = path.display().to_string();
    let cannot = |e: std::io::Error| Failure::new(Exit::Usage, format!("cannot read {name}: {e}"));
    let mut console = Vec::new();
    File::open(path)
        .and_then(|mut file| file.read_to_end(&mut console))
        .map_err(cannot)?;
    let head = &console[..console.len().min(HEAD_LEN)];
    let Some(found) = bootlap_sources::detect(head) else {
        return Err(Failure::new(
            Exit::NothingUsable,
            format!("{name} is neither a console log nor a stamped console"),
        )
        .hint("bootlap reads runs, and console logs with kernel times ([    0.123456] …)"));
    };
    let mut timeline = Timeline::default();
    source(
        found,
        &name,
        &mut BufReader::new(Cursor::new(&console)),
        hints,
        &mut timeline,
    )?;
    let about = About {
        target: name.clone(),
        run: name,
        time: "measured".to_owned(),
        ready_ns: bootlap_analysis::ready_ns(&timeline),
        tool: TOOL.to_owned(),
        ..About::default()
    };
    Ok(Recorded {
        timeline,
        console,
        about,
    })
}

fn source(
    source: &dyn Source,
    label: &str,
    bytes: &mut dyn BufRead,
    hints: &Hints,
    timeline: &mut Timeline,
) -> Result<(), Failure> {
    let input = Input {
        label,
        bytes,
        hints,
    };
    let read = source.read(input, timeline).map_err(|e| {
        let exit = match &e {
            SourceError::NotThisFormat { .. } => Exit::NothingUsable,
            SourceError::Io(_) => Exit::Internal,
        };
        Failure::new(exit, format!("{label}: {e}"))
    });
    read?;
    if timeline.spans.is_empty() && timeline.marks.is_empty() {
        let failure = Failure::new(
            Exit::NothingUsable,
            format!("{label}: nothing in it has a time"),
        );
        return Err(failure.hint(
            "bootlap reads its own runs, and console logs with kernel times ([    0.123456] …)",
        ));
    }
    Ok(())
}
