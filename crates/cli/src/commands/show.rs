//! `bootlap show`: where the time of recorded evidence goes.

use std::cmp::Reverse;
use std::path::Path;

use bootlap_advice::advise;
use bootlap_engine::Progress;
use bootlap_engine::evidence::{self, disk_files};
use bootlap_engine::{Exit, Failure};
use bootlap_lab::Run;
use bootlap_report::table::By;
use bootlap_report::{boot, table};
use regex::Regex;

use crate::args::Show;
use crate::ui::Ui;

pub(crate) fn run(args: &Show, ui: &Ui) -> Result<Exit, Failure> {
    check(args)?;
    let grep = args.grep.as_deref().map(Regex::new).transpose();
    let grep = grep.map_err(|e| Failure::new(Exit::Usage, format!("--grep: {e}")))?;
    let recorded = evidence::read_first(&args.inputs, &args.evidence.options())?;
    if let Some(note) = &recorded.left_out {
        ui.note(note);
    }
    if let Some(by) = args.by {
        let matches = |text: &str| grep.as_ref().is_none_or(|g| g.is_match(text));
        let rows = table::Rows {
            limit: match args.limit {
                0 => usize::MAX,
                limit => limit,
            },
            matching: Some(&matches),
            prune: args.prune,
        };
        let mut report = recorded.report(Vec::new());
        if by == By::Files {
            let run = Run::open(Path::new(&recorded.about.run)).map_err(|e| {
                Failure::new(Exit::NothingUsable, e.to_string()).hint(
                    "--by files is for runs of a target with [disk], as `bootlap boot` makes them",
                )
            })?;
            report.files = disk_files::of_run(&run, &recorded.timeline)?.files;
            report.files.sort_by_key(|file| Reverse(file.read_bytes));
        }
        ui.show(
            args.json,
            || table::json(&report, by, &rows),
            |style| table::text(&report, by, &rows, style),
        )?;
        return Ok(Exit::Ok);
    }
    let findings = advise(&recorded.boot());
    let report = recorded.report(findings);
    ui.show(
        args.json,
        || boot::json::document(&report),
        |style| boot::text(&report, style),
    )?;
    Ok(Exit::Ok)
}

/// Options that a table would not heed are an error, not a surprise.
fn check(args: &Show) -> Result<(), Failure> {
    let wrong = |text: &str| Err(Failure::new(Exit::Usage, text));
    let by = args.by;
    let has_names = [By::Spans, By::Initcalls, By::Deltas, By::Reads];
    if args.grep.is_some() && !by.is_some_and(|by| has_names.contains(&by)) {
        return wrong("--grep goes with --by spans, initcalls, deltas or reads");
    }
    if args.prune && !matches!(by, Some(By::Processes)) {
        return wrong("--prune goes with --by processes");
    }
    Ok(())
}
