//! The files that a report goes to.

use std::path::{Path, PathBuf};

use bootlap_engine::output::{Output, sink_of};
use bootlap_engine::{Exit, Failure};
use bootlap_export::SINKS;
use bootlap_lab::Run;
use bootlap_report::table::By;

/// The format in which a report goes to standard output: `-` and `-.svg`, as a file's name.
pub(super) fn printed_as(path: &Path) -> Option<PathBuf> {
    match path.to_str()?.strip_prefix('-')? {
        "" => Some("-.md".into()),
        extension if extension.starts_with('.') => Some(path.to_owned()),
        _ => None,
    }
}

/// What is to be written, with the format of each.
pub(super) fn outputs(paths: &[PathBuf], by: Option<By>) -> Result<Vec<Output<'_>>, Failure> {
    let mut outputs: Vec<Output> = Vec::new();
    for path in paths {
        if outputs.iter().any(|o| o.path == path) {
            let why = format!("{} is to be written twice", path.display());
            return Err(Failure::new(Exit::Usage, why));
        }
        let sink = sink_of(printed_as(path).as_ref().unwrap_or(path))?;
        let choices = sink.choices;
        let heeded = by.filter(|_| !choices.is_empty());
        if let Some(by) = heeded.filter(|by| !choices.contains(by)) {
            return Err(no_choice(path, by, choices));
        }
        let by = heeded;
        outputs.push(Output { path, sink, by });
    }
    // An option that nothing heeds is an error, not a surprise.
    if let Some(by) = by.filter(|_| outputs.iter().all(|o| o.by.is_none())) {
        let heed = SINKS.iter().filter(|s| !s.choices.is_empty());
        let heed = heed.flat_map(|s| s.extensions);
        let heed: Vec<String> = heed.map(|e| format!(".{e}")).collect();
        let why = format!("no file that is to be written heeds --by {}", by.text());
        let hint = format!("these do: {}", heed.join(", "));
        return Err(Failure::new(Exit::Usage, why).hint(hint));
    }
    Ok(outputs)
}

fn no_choice(path: &Path, by: By, choices: &[By]) -> Failure {
    let choices: Vec<&str> = choices.iter().map(|by| by.text()).collect();
    let why = format!("{} cannot be of {}", path.display(), by.text());
    let hint = format!("--by {}", choices.join(", or "));
    Failure::new(Exit::Usage, why).hint(hint)
}

/// Refuses to write over what was read, and over anything in a run's folder
/// but an earlier report: evidence cannot be made again.
pub(super) fn spare_evidence(outputs: &[PathBuf], read: &[PathBuf]) -> Result<(), Failure> {
    let read: Vec<PathBuf> = read.iter().filter_map(|p| p.canonicalize().ok()).collect();
    for path in outputs.iter().filter(|path| printed_as(path).is_none()) {
        let Ok(whole) = path.canonicalize() else {
            // It does not exist, so nothing can be lost.
            continue;
        };
        let name = path.display();
        if read.contains(&whole) {
            let why = format!("{name} is evidence that this report is made of; it stays as it is");
            return Err(Failure::new(Exit::Usage, why).hint("name another file with -o"));
        }
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_report = file_name.starts_with("report.");
        if !is_report && whole.parent().is_some_and(Run::is_run) {
            let why = format!("{name} exists in the folder of a run; it stays as it is");
            let hint = "only files called report.* are replaced there; name another one with -o";
            return Err(Failure::new(Exit::Usage, why).hint(hint));
        }
    }
    Ok(())
}
