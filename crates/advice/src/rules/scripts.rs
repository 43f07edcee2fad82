//! Start-up scripts, as a console shows them.

use bootlap_model::{Milestone, TrackKind};
use bootlap_product::Script;

use super::checks;
use super::stages::{Stage, since_kernel, stage, until};
use crate::boot::{Found, evidence, total_ns};
use crate::lines::{Begin, begins, contains};
use crate::{Boot, Finding};

checks! {
    "script-udev-coldplug" => udev,
    "script-dhcp" => dhcp,
    "script-slow-step" => slow_step,
    "script-entropy" => entropy,
    "script-forks" => forks,
}

/// Steps of start-up scripts that told how they ended, without systemd's units.
fn steps<'a>(boot: &Boot<'a>) -> Vec<Found<'a>> {
    let mut steps = boot.spans_of(TrackKind::Userspace);
    let is_unit = |name: &str| contains(name, &[".service", ".mount"]);
    steps.retain(|s| s.arg("result").is_some() && !is_unit(s.name()));
    steps
}

/// How scripts say that they wait for udev: Buildroot's, then Debian's.
const COLDPLUG: [&str; 3] = [
    "Populating /dev using udev",
    "Synthesizing the initial hotplug events",
    "Waiting for /dev to be fully populated",
];

fn udev(boot: &Boot<'_>) -> Option<Finding> {
    let mut waits = steps(boot);
    waits.retain(|step| begins(step.name(), &COLDPLUG));
    let of_steps = waits.first().zip(waits.last()).map(|(first, last)| Stage {
        ns: total_ns(&waits),
        at: [first.start_ns, last.end_ns],
        seen: evidence(&waits),
    });
    // A line without its end lasts until the next one.
    let step = of_steps.or_else(|| stage(since_kernel(boot), Begin(COLDPLUG)))?;
    Some(
        step.found()
            .why(format!("the script waits {} ms for it", step.ms()))
            .saves(
                step.ns,
                "at most: that step, if it runs after the application",
            )
            .recipe(boot.recipe("initscripts-coldplug-later")),
    )
}

fn dhcp(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let starts = ("udhcpc", |t: &str| t.contains("started"));
    let ends = [
        "lease of ",
        "Lease of ",
        "no lease, failing",
        "No lease, failing",
        "no lease, forking",
    ];
    let wait = until(lines, starts, ends)?;
    let in_background = lines.has("no lease, forking to background");
    let finding = wait
        .found()
        .why(format!("it waits for {} ms", wait.ms()))
        .saves(
            wait.ns,
            "at most: from udhcpc's start to its lease, if the script waits for it",
        );
    (!in_background).then_some(finding)
}

/// Findings beyond these are not the next thing to do.
const AT_MOST_FINDINGS: usize = 5;

fn slow_step(boot: &Boot<'_>) -> Vec<Finding> {
    let ready = boot.moment(&[Milestone::Ready]).unwrap_or(i64::MAX);
    // An initramfs has steps of its own, of which no init script tells.
    let init = boot.moment(&[Milestone::ManagerStart]).unwrap_or(i64::MIN);
    let known = |name: &str| contains(name, &COLDPLUG) || contains(name, &["Seeding ", "Saving "]);
    let mut slow = steps(boot);
    slow.retain(|s| s.ns() >= 200_000_000 && !known(s.name()));
    slow.retain(|s| init <= s.start_ns && s.start_ns < ready);
    // systemd starts units side by side: its steps are no sequence.
    if boot.line("systemd[1]").is_some() || boot.line("[  OK  ] Reached target").is_some() {
        return Vec::new();
    }
    slow.sort_by_key(|s| std::cmp::Reverse(s.ns()));
    slow.truncate(AT_MOST_FINDINGS);
    // startpar's words.
    let side_by_side = boot.line("style concurrent boot in runlevel").is_some();
    let (what, basis) = match side_by_side {
        true => ("beside others", "at most: others run beside it"),
        false => (
            "and what follows waits",
            "that step, if it runs after the application",
        ),
    };
    let finding = |s: Found<'_>| {
        Finding::new()
            .titled(format!("the start-up step \"{}\" is slow", s.name()))
            .why(format!("it takes {} ms, {what}", s.ns() / 1_000_000))
            .saves(s.ns(), basis)
            .recipe(said_by(boot, s.name()))
            .at(Some(s.at()))
            .seen([s.span.evidence])
    };
    slow.into_iter().map(finding).collect()
}

/// What puts off the one init script in which these words are.
fn said_by(boot: &Boot<'_>, words: &str) -> Result<String, String> {
    let (_, parts) = boot.target().ok_or("no target was given")?;
    let scripts = parts.scripts()?;
    let says = |script: &&Script| {
        script
            .text
            .as_ref()
            .is_some_and(|text| text.contains(words))
    };
    let mut all = scripts.started.iter().filter(says);
    match (all.next(), all.next()) {
        (Some(script), None) => boot.recipe(&format!("initscripts-defer={}", script.name)),
        _ => Err(format!("no script, or more than one, says {words:?}")),
    }
}

fn entropy(boot: &Boot<'_>) -> Option<Finding> {
    let steps = steps(boot);
    let names = ["Seeding ", "Saving "];
    let step = steps.iter().find(|s| {
        let is_seed = names.iter().any(|n| s.name().starts_with(n)) && s.name().contains("bits");
        is_seed && s.ns() >= 100_000_000
    })?;
    let seeded = boot.line("crng init done")?;
    let within = seeded.start_ns >= step.start_ns && seeded.start_ns <= step.end_ns;
    let finding = Finding::new()
        .why("the kernel's generator is seeded only while that step runs")
        .saves(step.ns(), "that step, as seen on the console")
        .at(Some(step.at()))
        .seen([step.span.evidence, seeded.evidence]);
    within.then_some(finding)
}

/// From here on starting processes is what a boot does.
const MANY: usize = 500;

fn forks(boot: &Boot<'_>) -> Option<Finding> {
    let ends = [Milestone::Ready, Milestone::StartupFinished];
    let ready = boot.moment(&ends).unwrap_or(i64::MAX);
    let processes = boot.timeline().spans_of(TrackKind::Process);
    let started = processes.filter(|s| boot.axis().span(s).is_some_and(|p| p.start.ns < ready));
    let count = started.count();
    (count > MANY).then(|| {
        Finding::new()
            .why(format!("{count} until it is ready"))
            .saves_unknown("1 to 5 ms for each on a small board; their parents tell which to drop")
    })
}
