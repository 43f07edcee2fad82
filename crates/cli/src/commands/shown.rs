//! One boot, as `bootlap boot` prints it.

use bootlap_engine::evidence::Recorded;
use bootlap_engine::{Exit, Failure};
use bootlap_report::boot;

use crate::args::Boot;
use crate::ui::{self, Ui};

/// Prints what was recorded.
pub(crate) fn show(
    args: &Boot,
    recorded: &Recorded,
    findings: Vec<bootlap_advice::Finding>,
    ui: &Ui,
) -> Result<(), Failure> {
    let report = recorded.report(findings);
    if args.json {
        ui.print(&json(&report)?);
    } else {
        ui.print(&boot::text(&report, &ui::style()));
        ui.print(&format!(
            "\nrun {}\nmore: bootlap report {0} -o boot.html",
            report.about.run
        ));
    }
    Ok(())
}

/// The report as JSON.
pub(crate) fn json(report: &bootlap_report::Report<'_>) -> Result<String, Failure> {
    let document = boot::json::document(report);
    document.map_err(|e| Failure::new(Exit::Internal, e))
}
