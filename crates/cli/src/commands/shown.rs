//! One boot, as `bootlap boot` prints it.

use bootlap_engine::Failure;
use bootlap_engine::evidence::Recorded;
use bootlap_model::shell_word;
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
        ui.document(boot::json::document(&report))?;
    } else {
        ui.print(&boot::text(&report, &ui::style()));
        ui.print(&format!(
            "\nrun {}\nmore: bootlap report {0} -o boot.html",
            shell_word(&report.about.run)
        ));
    }
    Ok(())
}
