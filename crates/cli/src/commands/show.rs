//! `bootlap show`: where the time of recorded evidence goes.

use bootlap_advice::{Boot, advise};
use bootlap_report::text;
use regex::Regex;

use crate::args::{By, Show};
use crate::commands::boot::json;
use crate::evidence;
use crate::exit::{Exit, Failure};
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Show, ui: &Ui) -> Result<Exit, Failure> {
    let recorded = evidence::read(&args.inputs, &args.evidence)?;
    let findings = advise(&Boot {
        timeline: &recorded.timeline,
        explained: None,
        target: None,
    });
    let report = recorded.report(findings);
    let style = ui::style();
    if args.json {
        ui.print(&json(&report)?);
        return Ok(Exit::Ok);
    }
    let text = match args.by {
        None => text::summary(&report, &style),
        Some(by) => {
            let grep = args.grep.as_deref().map(Regex::new).transpose();
            let grep = grep.map_err(|e| Failure::new(Exit::Usage, format!("--grep: {e}")))?;
            let matches = |text: &str| grep.as_ref().is_none_or(|g| g.is_match(text));
            let rows = text::Rows {
                limit: if args.limit == 0 {
                    usize::MAX
                } else {
                    args.limit
                },
                matching: Some(&matches),
                prune: args.prune,
            };
            text::spans(&recorded.timeline, by.into(), &rows, &style)
        }
    };
    ui.print(&text);
    Ok(Exit::Ok)
}

impl From<By> for text::By {
    fn from(by: By) -> Self {
        match by {
            By::Phases => text::By::Phases,
            By::Spans => text::By::Spans,
            By::Initcalls => text::By::Initcalls,
            By::Units => text::By::Units,
            By::Processes => text::By::Processes,
            By::Functions => text::By::Functions,
            By::Gaps => text::By::Gaps,
            By::Deltas => text::By::Deltas,
        }
    }
}
