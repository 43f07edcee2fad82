//! `bootlap report`: files for people and programs.

use std::path::PathBuf;

use bootlap_advice::advise;
use bootlap_engine::Progress;
use bootlap_engine::evidence;
use bootlap_engine::{Exit, Failure};

use super::common_end;
use super::outputs::{outputs, printed_as, spare_evidence};
use super::report_many;
use crate::args;
use crate::ui::Ui;

pub(crate) fn run(args: &args::Report, ui: &Ui) -> Result<Exit, Failure> {
    // Before the evidence is read: that can take a while.
    let outputs = outputs(&args.out, args.by)?;
    let pages = outputs.iter().all(|o| o.sink.name == "html");
    if pages && args.before.is_none() && report_many::run(args, &outputs, ui)? {
        return Ok(Exit::Ok);
    }
    if args.each {
        let why = "there is one boot, or a file that is to be written is no page";
        let hint = "--each is for a folder of several boots and for .html";
        return Err(Failure::new(Exit::Usage, why).hint(hint));
    }
    let mut recorded = evidence::read_first(&args.inputs, &args.evidence.options())?;
    let mut before = match &args.before {
        Some(path) => Some(evidence::read_first(
            &evidence::one(path),
            &args.evidence.options(),
        )?),
        None => None,
    };
    if let Some(before) = &mut before {
        common_end::of_two(before, &mut recorded);
    }
    for boot in std::iter::once(&recorded).chain(&before) {
        if let Some(note) = &boot.left_out {
            ui.note(note);
        }
    }
    let read = recorded.read.iter();
    let read = read.chain(before.iter().flat_map(|b| &b.read));
    spare_evidence(&args.out, &read.cloned().collect::<Vec<PathBuf>>())?;
    let findings = advise(&recorded.boot());
    let mut report = recorded.report(findings);
    if let Some(before) = &before {
        report = report.against(before.report(Vec::new()));
    }
    if let Some(title) = &args.title {
        report.about.target.clone_from(title);
    }
    for output in &outputs {
        if printed_as(output.path).is_some() {
            ui.write(&output.bytes(&report)?);
            continue;
        }
        output.write(&report)?;
        ui.note(&format!("wrote {}", output.path.display()));
    }
    Ok(Exit::Ok)
}
