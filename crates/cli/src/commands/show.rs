//! `bootlap show`: where the time of recorded evidence goes.

use bootlap_advice::{Boot, advise};
use bootlap_engine::evidence;
use bootlap_engine::{Exit, Failure};
use bootlap_report::{boot, table};
use regex::Regex;

use crate::args::{By, Show};
use crate::commands::shown;
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Show, ui: &Ui) -> Result<Exit, Failure> {
    check(args)?;
    let grep = args.grep.as_deref().map(Regex::new).transpose();
    let grep = grep.map_err(|e| Failure::new(Exit::Usage, format!("--grep: {e}")))?;
    let recorded = evidence::read(&args.inputs, &args.evidence.options())?;
    let style = ui::style();
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
        if args.json {
            let document = table::json(&recorded.report(Vec::new()), by.into(), &rows);
            ui.print(&document.map_err(|e| Failure::new(Exit::Internal, e))?);
        } else {
            ui.print(&table::text(
                &recorded.report(Vec::new()),
                by.into(),
                &rows,
                &style,
            ));
        }
        return Ok(Exit::Ok);
    }
    let findings = advise(&Boot::new(&recorded.timeline));
    let report = recorded.report(findings);
    if args.json {
        ui.print(&shown::json(&report)?);
    } else {
        ui.print(&boot::text(&report, &style));
    }
    Ok(Exit::Ok)
}

/// Options that a table would not heed are an error, not a surprise.
fn check(args: &Show) -> Result<(), Failure> {
    let wrong = |text: &str| Err(Failure::new(Exit::Usage, text));
    let by = args.by;
    if args.grep.is_some() && !matches!(by, Some(By::Spans | By::Initcalls | By::Deltas)) {
        return wrong("--grep goes with --by spans, initcalls or deltas");
    }
    if args.prune && !matches!(by, Some(By::Processes)) {
        return wrong("--prune goes with --by processes");
    }
    Ok(())
}

impl From<By> for table::By {
    fn from(by: By) -> Self {
        match by {
            By::Phases => table::By::Phases,
            By::Spans => table::By::Spans,
            By::Initcalls => table::By::Initcalls,
            By::Units => table::By::Units,
            By::Processes => table::By::Processes,
            By::Functions => table::By::Functions,
            By::Gaps => table::By::Gaps,
            By::Deltas => table::By::Deltas,
        }
    }
}
