//! Android: what its runtime does once, before the home screen, by the events of its log.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bootlap_model::TrackKind;

use super::android_init::on;
use super::checks;
use super::seen::ms;
use crate::boot::{Found, total_ns};
use crate::{Boot, Finding};

checks! {
    "android-preload" => preload,
    "android-package-scan" => package_scan,
    "android-late-runtime" => late_runtime,
    "android-service-wait" => service_waits,
    "android-dexopt" => dexopt,
    "android-system-server" => system_server,
    "android-service-callback" => callbacks,
    "android-zygote-step" => zygote,
}

/// From here on a stage is worth a look, ns.
const LONG_NS: i64 = 500_000_000;

/// How many findings of a kind one boot is told of.
const AT_MOST: usize = 3;

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

fn service_waits(boot: &Boot<'_>) -> Vec<Finding> {
    let mut by_service: BTreeMap<&str, Vec<Found<'_>>> = BTreeMap::new();
    for wait in on(boot, "waits for services") {
        by_service.entry(wait.name()).or_default().push(wait);
    }
    let mut waits: Vec<_> = by_service.into_iter().collect();
    waits.sort_by_key(|(_, waits)| Reverse(waits.len()));
    waits.truncate(AT_MOST);
    let finding = |(name, waits): (&str, Vec<Found<'_>>)| {
        let (first, last) = (waits.first()?, waits.last()?);
        // Several may wait at once.
        let ns = total_ns(&waits).min(last.end_ns.saturating_sub(first.start_ns));
        let finding = of(&waits, "")?.why(format!("`{name}` is waited for during {}", ms(ns)));
        Some(finding.saves(ns, "at most: until the service is there"))
    };
    waits.into_iter().filter_map(finding).collect()
}

fn dexopt(boot: &Boot<'_>) -> Option<Finding> {
    let runs = on(boot, "dex2oat");
    (total_ns(&runs) >= LONG_NS).then_some(())?;
    let finding = of(
        &runs,
        "at most: it runs beside the boot, on other CPUs if there are any",
    )?;
    let why = format!(
        "{} runs of dex2oat take {}",
        runs.len(),
        ms(total_ns(&runs))
    );
    Some(finding.why(why))
}

/// Steps that are made of others.
const WHOLE: [&str; 7] = [
    "InitBeforeStartServices",
    "StartServices",
    "StartBootPhase",
    "startBootstrapServices",
    "startCoreServices",
    "startOtherServices",
    "OnBootPhase",
];

fn system_server(boot: &Boot<'_>) -> Vec<Finding> {
    let whole = |s: &Found<'_>| WHOLE.iter().any(|whole| s.name().starts_with(whole));
    let callback = |s: &Found<'_>| s.name().contains(' ');
    longest(boot, "system server", |s| !whole(s) && !callback(s))
}

fn callbacks(boot: &Boot<'_>) -> Vec<Finding> {
    longest(boot, "system server", |s| s.name().contains(" on"))
}

/// Classes and resources have a rule of their own.
fn zygote(boot: &Boot<'_>) -> Vec<Finding> {
    let others = [
        "PreloadClasses",
        "PreloadResources",
        "ZygotePreload",
        "ZygoteInit",
    ];
    longest(boot, "zygote", |s| {
        !s.name().starts_with("preload ") && !others.contains(&s.name())
    })
}

/// The longest steps on a track.
fn longest(boot: &Boot<'_>, track: &str, wanted: impl Fn(&Found<'_>) -> bool) -> Vec<Finding> {
    let mut steps = on(boot, track);
    steps.retain(|s| s.ns() >= LONG_NS && wanted(s));
    steps.sort_by_key(|s| Reverse(s.ns()));
    steps.truncate(AT_MOST);
    let finding = |step: &Found<'_>| {
        Finding::new()
            .why(format!("`{}` takes {}", step.name(), ms(step.ns())))
            .saves(
                step.ns(),
                "at most: all of the step, which does some work that is needed",
            )
            .at(Some(step.at()))
            .seen([step.span.evidence])
    };
    steps.iter().map(finding).collect()
}
