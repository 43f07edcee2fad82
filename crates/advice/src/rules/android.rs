//! Android: what its runtime does once, before the home screen, by the events of its log.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bootlap_model::TrackKind;

use super::android_init::{on, until_the_end};
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

/// Sources with the log's events: those of a trace are the same.
const LOGS: [&str; 3] = ["logcat", "perfetto", "bug-report"];

/// The stages of these names, if they take long together.
fn stages<'a>(boot: &Boot<'a>, kind: TrackKind, names: &[&str], least_ns: i64) -> Vec<Found<'a>> {
    let all = names.iter().flat_map(|name| boot.spans(kind, name));
    let source = |s: &Found<'_>| &*boot.timeline().file(s.span.evidence.file).source;
    let all: Vec<_> = all.filter(|s| LOGS.contains(&source(s))).collect();
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
    let mut stages = stages(boot, TrackKind::Userspace, &names, LONG_NS);
    if stages.is_empty() {
        // A trace without the log's events: the runtime marks it itself.
        stages = slices(boot, "zygote");
        stages.retain(|s| s.name() == "ZygotePreload" && s.ns() >= LONG_NS);
    }
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

/// What a process whose name begins like that marked in a trace, if a trace was recorded.
fn slices<'a>(boot: &Boot<'a>, process: &str) -> Vec<Found<'a>> {
    until_the_end(boot, TrackKind::Function, |track| {
        track.starts_with(process)
    })
}

/// The steps that a process logged on this track, or else what it marked in a trace.
fn steps<'a>(boot: &Boot<'a>, track: &str, process: &str) -> Vec<Found<'a>> {
    let logged = on(boot, track);
    match logged.is_empty() {
        true => slices(boot, process),
        false => logged,
    }
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
    let steps = steps(boot, "system server", "system_server-");
    longest(steps, |s| !whole(s) && !callback(s))
}

fn callbacks(boot: &Boot<'_>) -> Vec<Finding> {
    longest(on(boot, "system server"), |s| s.name().contains(" on"))
}

/// Classes and resources have a rule of their own.
fn zygote(boot: &Boot<'_>) -> Vec<Finding> {
    let others = [
        "PreloadClasses",
        "PreloadResources",
        "ZygotePreload",
        "ZygoteInit",
    ];
    longest(steps(boot, "zygote", "zygote"), |s| {
        !s.name().starts_with("preload ") && !others.contains(&s.name())
    })
}

/// The longest steps, each with all that it is made of.
fn longest(mut steps: Vec<Found<'_>>, wanted: impl Fn(&Found<'_>) -> bool) -> Vec<Finding> {
    steps.retain(|s| s.ns() >= LONG_NS && wanted(s));
    steps.sort_by_key(|s| Reverse(s.ns()));
    // Slices of a thread nest: the longer one stands for those inside of it.
    let all = steps.clone();
    steps.retain(|s| {
        let longer = all.iter().take_while(|o| o.ns() > s.ns());
        let mut around = longer.filter(|o| o.start_ns <= s.start_ns && s.end_ns <= o.end_ns);
        !around.any(|o| o.track() == s.track())
    });
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
