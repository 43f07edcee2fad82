//! `bootlap report`: a file for people or programs.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use bootlap_advice::{Boot, advise};
use bootlap_report::{Report, SINKS, SinkError, sink_for};

use crate::args;
use crate::evidence;
use crate::exit::{Exit, Failure};
use crate::ui::Ui;

pub(crate) fn run(args: &args::Report, ui: &Ui) -> Result<Exit, Failure> {
    let recorded = evidence::read(&args.inputs, &args.evidence)?;
    let findings = advise(&Boot {
        timeline: &recorded.timeline,
        explained: None,
        target: None,
    });
    let before = match &args.before {
        Some(path) => Some(evidence::read(&evidence::one(path), &args.evidence)?),
        None => None,
    };
    let mut report = recorded.report(findings);
    report.before = before.as_ref().map(|b| Box::new(b.report(Vec::new())));
    write(&report, &args.out)?;
    ui.note(&format!("wrote {}", args.out.display()));
    Ok(Exit::Ok)
}

/// Writes `report` in the format that the file's extension asks for.
pub(crate) fn write(report: &Report<'_>, path: &Path) -> Result<(), Failure> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let Some(sink) = sink_for(&extension) else {
        let known = SINKS.iter().flat_map(|s| s.info().extensions);
        let known: Vec<String> = known.map(|e| format!(".{e}")).collect();
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "{}: the extension says no format; use {}",
                path.display(),
                known.join(", ")
            ),
        ));
    };
    let cannot = |e: &dyn std::fmt::Display| {
        Failure::new(
            Exit::Internal,
            format!("cannot write {}: {e}", path.display()),
        )
    };
    // In one step: a report that was there before stays until this one is whole.
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let write = || -> Result<(), SinkError> {
        let mut out = BufWriter::new(File::create(&partial)?);
        sink.write(report, &mut out)?;
        out.flush()?;
        Ok(fs::rename(&partial, path)?)
    };
    write().map_err(|e| {
        let _ = fs::remove_file(&partial);
        cannot(&e)
    })
}
