//! `bootlap show`: where the time of recorded evidence goes.

use bootlap_advice::{Boot, advise};
use bootlap_report::text;

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
            let by = match by {
                By::Phases => text::By::Phases,
                By::Spans => text::By::Spans,
                By::Initcalls => text::By::Initcalls,
                By::Gaps => text::By::Gaps,
                By::Deltas => text::By::Deltas,
                By::Units | By::Processes | By::Functions => unreachable!(),
            };
            text::spans(&recorded.timeline, by, args.limit, &style)
        }
    };
    ui.print(&text);
    Ok(Exit::Ok)
}
