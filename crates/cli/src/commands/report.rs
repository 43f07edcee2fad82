//! `bootlap report`: a file for people or programs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use bootlap_advice::{Boot, advise};
use bootlap_report::{Report, SINKS, sink_for};

use crate::args;
use crate::evidence;
use crate::exit::{Exit, Failure};
use crate::ui::Ui;

pub(crate) fn run(args: &args::Report, ui: &Ui) -> Result<Exit, Failure> {
    let recorded = evidence::read(&args.input, &args.patterns)?;
    let findings = advise(&Boot {
        timeline: &recorded.timeline,
        explained: None,
        target: None,
    });
    let before = match &args.before {
        Some(path) => Some(evidence::read(path, &args.patterns)?),
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
    let file = File::create(path).map_err(|e| cannot(&e))?;
    let mut out = BufWriter::new(file);
    sink.write(report, &mut out).map_err(|e| cannot(&e))?;
    out.flush().map_err(|e| cannot(&e))
}
