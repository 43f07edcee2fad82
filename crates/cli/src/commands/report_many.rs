//! `bootlap report` of a folder, or a file, with several boots: one page of all of them.

use std::path::{Path, PathBuf};

use bootlap_advice::advise;
use bootlap_analysis::{compare, laps};
use bootlap_engine::evidence::group::{Group, several};
use bootlap_engine::output::{Output, write_text};
use bootlap_engine::{Failure, Progress, evidence};
use bootlap_model::Timeline;
use bootlap_report::About;
use bootlap_report::series::{Against, Beside, LapAbout, SeriesReport, html};

use super::outputs::{printed_as, spare_evidence};
use crate::args;
use crate::ui::Ui;

/// Writes the page, if there are several boots.
pub(super) fn run(args: &args::Report, outputs: &[Output<'_>], ui: &Ui) -> Result<bool, Failure> {
    let how = args.evidence.options();
    let Some(group) = several(&args.inputs, &how)? else {
        return Ok(false);
    };
    let boots: Vec<PathBuf> = group.boots.iter().map(|b| b.path.clone()).collect();
    spare_evidence(&args.out, &boots)?;
    for (name, why) in &group.about.odd {
        ui.note(&format!("{name} is no boot of them: {why}"));
    }
    let title = args
        .title
        .clone()
        .unwrap_or_else(|| group.about.path.clone());
    let (end, report) = series(&group, title);
    let slowest = slowest(&group, &report);
    for output in outputs {
        let path = printed_as(output.path).is_none().then_some(output.path);
        let pages: Vec<PathBuf> = match path.filter(|_| args.each) {
            Some(path) => (1..=boots.len()).map(|n| page_of(path, n)).collect(),
            None => Vec::new(),
        };
        let name = |page: &PathBuf| {
            page.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into()
        };
        let beside = Beside {
            end: end.to_owned(),
            slowest: slowest.as_ref().map(|(median, boot)| Against {
                median: *median,
                boot: *boot,
                comparison: compare(&group.boots[*median].timeline, &group.boots[*boot].timeline),
            }),
            pages: pages.iter().map(name).collect(),
        };
        let page = html(&report, &beside);
        match path {
            Some(path) => {
                write_text(path, &page)?;
                ui.note(&format!(
                    "wrote {} of {} boots",
                    path.display(),
                    boots.len()
                ));
            }
            None => ui.write(page.as_bytes()),
        }
        for (boot, page) in boots.iter().zip(&pages) {
            spare_evidence(std::slice::from_ref(page), &boots)?;
            let recorded = evidence::read(&evidence::one(boot), &how)?;
            let findings = advise(&recorded.boot());
            let output = Output {
                path: page,
                ..*output
            };
            output.write(&recorded.report(findings))?;
            ui.note(&format!("wrote {}", page.display()));
        }
    }
    Ok(true)
}

/// `boots-3.html`, beside `boots.html`.
fn page_of(path: &Path, n: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{n}.html"))
}

/// What ends these boots, and their times.
fn series(group: &Group, title: String) -> (&'static str, SeriesReport) {
    let timelines: Vec<&Timeline> = group.boots.iter().map(|b| &b.timeline).collect();
    let awaited = group.boots.iter().any(|b| b.awaited);
    let (end, laps) = laps(&timelines, awaited);
    // They lie together: what they are called begins where that ends.
    let inside = format!("{}/", group.about.path.trim_end_matches('/'));
    let abouts = group.about.boots.iter().map(|boot| LapAbout {
        run: boot
            .name
            .strip_prefix(&inside)
            .unwrap_or(&boot.name)
            .to_owned(),
        why_not: boot.why_not.clone(),
        power_ms: None,
    });
    let about = About {
        target: title,
        time: timelines
            .first()
            .map_or_else(String::new, |t| evidence::kind_of_time(t)),
        tool: evidence::TOOL.to_owned(),
        ..About::default()
    };
    (
        end,
        SeriesReport::new(about, laps.into_iter().zip(abouts).collect()),
    )
}

/// The median boot and the slowest, if they are two.
fn slowest(group: &Group, report: &SeriesReport) -> Option<(usize, usize)> {
    let median = report.series.median_boot()?;
    let slowest = report.series.slowest.filter(|slowest| *slowest != median)?;
    (slowest < group.boots.len()).then_some((median, slowest))
}
