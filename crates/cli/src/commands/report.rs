//! `bootlap report`: files for people and programs.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use bootlap_advice::{Boot, advise};
use bootlap_lab::Run;
use bootlap_report::text::By;
use bootlap_report::{Report, SINKS, Sink, SinkError, sink_for};

use crate::args;
use crate::evidence;
use crate::exit::{Exit, Failure};
use crate::ui::Ui;

pub(crate) fn run(args: &args::Report, ui: &Ui) -> Result<Exit, Failure> {
    // Before the evidence is read: that can take a while.
    let outputs = outputs(&args.out, args.by.map(By::from))?;
    let recorded = evidence::read(&args.inputs, &args.evidence)?;
    let before = match &args.before {
        Some(path) => Some(evidence::read(&evidence::one(path), &args.evidence)?),
        None => None,
    };
    let read = recorded.read.iter();
    let read = read.chain(before.iter().flat_map(|b| &b.read));
    spare_evidence(&args.out, &read.cloned().collect::<Vec<PathBuf>>())?;
    let findings = advise(&Boot::new(&recorded.timeline));
    let mut report = recorded.report(findings);
    report.before = before.as_ref().map(|b| Box::new(b.report(Vec::new())));
    for output in &outputs {
        output.write(&report)?;
        ui.note(&format!("wrote {}", output.path.display()));
    }
    Ok(Exit::Ok)
}

/// Writes `report` in the format that the file's extension asks for.
pub(crate) fn write(report: &Report<'_>, path: &Path) -> Result<(), Failure> {
    let (sink, by) = (sink_of(path)?, None);
    Output { path, sink, by }.write(report)
}

/// A file to write.
struct Output<'p> {
    path: &'p Path,
    sink: &'static dyn Sink,
    /// What it is to be of, if the format leaves that open.
    by: Option<By>,
}

fn outputs(paths: &[PathBuf], by: Option<By>) -> Result<Vec<Output<'_>>, Failure> {
    let mut outputs: Vec<Output> = Vec::new();
    for path in paths {
        if outputs.iter().any(|o| o.path == path) {
            let why = format!("{} is to be written twice", path.display());
            return Err(Failure::new(Exit::Usage, why));
        }
        let sink = sink_of(path)?;
        let choices = sink.choices();
        let heeded = by.filter(|_| !choices.is_empty());
        if let Some(by) = heeded.filter(|by| !choices.contains(by)) {
            return Err(no_choice(path, by, choices));
        }
        let by = heeded;
        outputs.push(Output { path, sink, by });
    }
    // An option that nothing heeds is an error, not a surprise.
    if let Some(by) = by.filter(|_| outputs.iter().all(|o| o.by.is_none())) {
        let heed = SINKS.iter().filter(|s| !s.choices().is_empty());
        let heed = heed.flat_map(|s| s.info().extensions);
        let heed: Vec<String> = heed.map(|e| format!(".{e}")).collect();
        let why = format!("no file that is to be written heeds --by {}", by.text());
        let hint = format!("these do: {}", heed.join(", "));
        return Err(Failure::new(Exit::Usage, why).hint(hint));
    }
    Ok(outputs)
}

fn no_choice(path: &Path, by: By, choices: &[By]) -> Failure {
    let choices: Vec<&str> = choices.iter().map(|by| by.text()).collect();
    let why = format!("{} cannot be of {}", path.display(), by.text());
    let hint = format!("--by {}", choices.join(", or "));
    Failure::new(Exit::Usage, why).hint(hint)
}

/// The format that a file's extension asks for.
fn sink_of(path: &Path) -> Result<&'static dyn Sink, Failure> {
    // Of `boot.tar.gz`, `tar.gz` before `gz`.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut extensions = name.match_indices('.').map(|(dot, _)| &name[dot + 1..]);
    extensions.find_map(sink_for).ok_or_else(|| {
        let known = SINKS.iter().map(|sink| {
            let info = sink.info();
            let first = info.extensions.first().copied().unwrap_or_default();
            format!("\n         .{first:<8} {}", info.title)
        });
        let known: String = known.collect();
        let name = path.display();
        let why = format!("{name}: the extension says which format to write, and can be{known}");
        Failure::new(Exit::Usage, why)
    })
}

/// Refuses to write over what was read, and over anything in a run's folder
/// but an earlier report: evidence cannot be made again.
fn spare_evidence(outputs: &[PathBuf], read: &[PathBuf]) -> Result<(), Failure> {
    let read: Vec<PathBuf> = read.iter().filter_map(|p| p.canonicalize().ok()).collect();
    for path in outputs {
        let Ok(whole) = path.canonicalize() else {
            // It does not exist, so nothing can be lost.
            continue;
        };
        let name = path.display();
        if read.contains(&whole) {
            let why = format!("{name} is evidence that this report is made of; it stays as it is");
            return Err(Failure::new(Exit::Usage, why).hint("name another file with -o"));
        }
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_report = file_name.starts_with("report.");
        if !is_report && whole.parent().is_some_and(Run::is_run) {
            let why = format!("{name} exists in the folder of a run; it stays as it is");
            let hint = "only files called report.* are replaced there; name another one with -o";
            return Err(Failure::new(Exit::Usage, why).hint(hint));
        }
    }
    Ok(())
}

impl Output<'_> {
    /// Writes it in one step: what was there before stays until this is whole.
    fn write(&self, report: &Report<'_>) -> Result<(), Failure> {
        let path = self.path;
        let partial = partial(path);
        let write = || -> Result<(), SinkError> {
            let mut out = BufWriter::new(File::create_new(&partial)?);
            match self.by {
                Some(by) => self.sink.write_by(report, by, &mut out)?,
                None => self.sink.write(report, &mut out)?,
            }
            out.flush()?;
            Ok(fs::rename(&partial, path)?)
        };
        write().map_err(|e| {
            let _ = fs::remove_file(&partial);
            cannot_write(path, &e)
        })
    }
}

/// A name beside `path` that nobody else uses.
pub(super) fn partial(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}

fn cannot_write(path: &Path, e: &SinkError) -> Failure {
    let text = format!("cannot write {}: {e}", path.display());
    match e {
        SinkError::Nothing { .. } => Failure::new(Exit::NothingUsable, text)
            .hint("without --by it shows what the boot has most to tell of"),
        SinkError::NoProcesses => Failure::new(Exit::NothingUsable, text).hint(
            "record them with bootlap-agent collect (docs/collect.md), bootchart, strace -f or ftrace",
        ),
        SinkError::Io(e) if e.kind() == io::ErrorKind::NotFound => {
            Failure::new(Exit::Usage, text).hint("does its folder exist?")
        }
        SinkError::Io(_) | SinkError::Json(_) => Failure::new(Exit::Internal, text),
    }
}
