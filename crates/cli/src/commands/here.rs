//! `bootlap here`: the last boot of this very machine.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bootlap_advice::Finding;
use bootlap_engine::evidence::{ReadOptions, Recorded, facts};
use bootlap_engine::here::{Gathered, Missed, gather};
use bootlap_engine::{Exit, Failure, Progress, output};
use bootlap_model::shell_word;
use bootlap_report::{Style, boot, findings};

use super::advise::of_evidence;
use crate::args::Here;
use crate::ui::{self, Ui};

/// Findings that people want to see at once; the page has all.
const FINDINGS: usize = 5;

pub(crate) fn run(args: &Here, ui: &Ui) -> Result<Exit, Failure> {
    let folder = args.out.clone().unwrap_or_else(|| {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H.%M.%SZ");
        Path::new("bootlap-here").join(now.to_string())
    });
    if folder.exists() {
        let why = format!("{} exists; it stays as it is", folder.display());
        return Err(Failure::new(Exit::Usage, why).hint("name another folder with -o"));
    }
    let mut gathered = gather(&folder, ui)?;
    ui.step("reading it");
    let (recorded, advice) = read(&mut gathered)?;
    let mut report = recorded.report(advice);
    report.about.target = hostname().unwrap_or(report.about.target);
    let page = page_of(&folder);
    output::write(&report, &page)?;
    if args.json {
        ui.document(boot::json::document(&report))?;
        return Ok(Exit::Ok);
    }
    let style = ui::style();
    if report.timeline.clocks.is_empty() {
        ui.print("  nothing here tells what this machine did while it booted");
    } else {
        ui.print(&boot::text(&report, &style));
    }
    let most = report.findings.len().min(FINDINGS);
    if most > 0 {
        let shown = findings::text(&report.findings[..most], report.timeline, &style);
        ui.print(&format!("\n{shown}"));
    }
    if report.findings.len() > most {
        ui.print(&format!(
            "  {} more are on the page",
            report.findings.len() - most
        ));
    }
    let missed = missed(&gathered, &style);
    if !missed.is_empty() {
        ui.print(&format!("\n{missed}"));
    }
    let [shown_page, shown_folder] = [&page, &folder].map(|p| shell_word(p.display()));
    ui.print(&format!("\npage {shown_page}\nread {shown_folder}"));
    if !args.no_open && std::io::stdout().is_terminal() {
        open(&page);
    }
    Ok(match report.timeline.clocks.is_empty() {
        true => Exit::NothingUsable,
        false => Exit::Ok,
    })
}

/// What was gathered; of evidence that is of no use what has no time in it.
fn read(gathered: &mut Gathered) -> Result<(Recorded, Vec<Finding>), Failure> {
    let sorted = facts::sort(&gathered.files)?;
    let options = ReadOptions::default();
    let timeless: Vec<PathBuf> = sorted.said.iter().map(|(path, _)| path.clone()).collect();
    match of_evidence(&sorted, &options) {
        Err(failure) if failure.exit == Exit::NothingUsable => {
            gathered.missed.push(Missed {
                what: "when anything happened",
                why: failure.message,
            });
            of_evidence(&facts::sort(&timeless)?, &options)
        }
        read => read,
    }
}

fn hostname() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Beside the folder, so that this can be read again as what it is: evidence.
fn page_of(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".html");
    PathBuf::from(name)
}

/// What could not be read, and who can.
fn missed(gathered: &Gathered, style: &Style) -> String {
    let all = gathered.missed.iter().map(|m| (m.what, m.why.as_str()));
    let advice = match () {
        () if gathered.missed.is_empty() => "",
        () if gathered.in_container => {
            "`bootlap here` on the machine that runs this container knows more."
        }
        () if rustix::process::geteuid().is_root() => "",
        () => "Root may know more: sudo bootlap here",
    };
    bootlap_report::here::missed(&all.collect::<Vec<_>>(), advice, style)
}

/// Where there is a desktop. It goes on by itself, and says nothing here.
fn open(page: &Path) {
    let desktop = ["WAYLAND_DISPLAY", "DISPLAY"];
    if desktop.iter().all(|name| std::env::var_os(name).is_none()) {
        return;
    }
    let quiet = Command::new("xdg-open")
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    drop(quiet);
}
