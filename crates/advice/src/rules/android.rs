//! Android: what its runtime does once, before the home screen, by the events of its log.

use bootlap_model::TrackKind;

use super::checks;
use super::seen::ms;
use crate::boot::{Found, total_ns};
use crate::{Boot, Finding};

checks! {
    "android-preload" => preload,
    "android-package-scan" => package_scan,
    "android-late-runtime" => late_runtime,
}

/// From here on a stage is worth a look, ns.
const LONG_NS: i64 = 500_000_000;

/// From here on the runtime starts late, ns.
const LATE_NS: i64 = 5_000_000_000;

/// The stages of these names, if they take long together.
fn stages<'a>(boot: &Boot<'a>, kind: TrackKind, names: &[&str], least_ns: i64) -> Vec<Found<'a>> {
    let all = names.iter().flat_map(|name| boot.spans(kind, name));
    let all: Vec<_> = all
        .filter(|s| boot.timeline().file(s.span.evidence.file).source == "logcat")
        .collect();
    match total_ns(&all) >= least_ns {
        true => all,
        false => Vec::new(),
    }
}

/// A finding about stages, one behind the other.
fn of(stages: &[Found<'_>], basis: &str) -> Option<Finding> {
    let (first, last) = (stages.first()?, stages.last()?);
    let finding = Finding::new()
        .saves(total_ns(stages), basis)
        .at(Some([first.start_ns, last.end_ns]))
        .seen(stages.iter().map(|s| s.span.evidence));
    Some(finding)
}

fn preload(boot: &Boot<'_>) -> Option<Finding> {
    let names = ["preload classes and resources"];
    let stages = stages(boot, TrackKind::Userspace, &names, LONG_NS);
    let finding = of(
        &stages,
        "at most: what is not preloaded is loaded when it is used",
    )?;
    Some(finding.why(format!("it takes {}", ms(total_ns(&stages)))))
}

fn package_scan(boot: &Boot<'_>) -> Option<Finding> {
    let names = ["scan system packages", "scan data packages"];
    let stages = stages(boot, TrackKind::Userspace, &names, LONG_NS);
    let finding = of(
        &stages,
        "at most: the packages that remain are still scanned",
    )?;
    let parts: Vec<String> = stages
        .iter()
        .map(|s| format!("`{}` takes {}", s.name(), ms(s.ns())))
        .collect();
    Some(finding.why(parts.join(", ")))
}

fn late_runtime(boot: &Boot<'_>) -> Option<Finding> {
    let names = ["kernel, init and what starts before the Android runtime"];
    let stages = stages(boot, TrackKind::Kernel, &names, LATE_NS);
    let finding = of(&stages, "")?;
    let why = format!(
        "the runtime's first event comes {} after the kernel's start",
        ms(total_ns(&stages))
    );
    Some(finding.why(why).saves_unknown(
        "logcat does not see what ran before: add `dmesg`, or the console, where init logs what \
         it starts",
    ))
}
