//! Android's first stages, by the times that its boot loader and init leave in properties
//! (`getprop`): what comes before any log of the runtime.

use std::cmp::Reverse;

use bootlap_model::{Evidence, TrackKind};

use super::checks;
use super::seen::ms;
use crate::boot::Found;
use crate::{Boot, Finding};

checks! {
    "android-loader-wait" => loader_wait,
    "android-loader-stage" => loader_stages,
    "android-first-stage" => first_stage,
    "android-selinux" => selinux,
    "android-fsck" => checks_of_disks,
}

/// From here on a stage is worth a look, ns.
const LONG_NS: i64 = 500_000_000;
/// How many stages one boot is told of.
const AT_MOST: usize = 3;

/// A time that has no place: only how long is known.
struct Length<'a> {
    name: &'a str,
    ns: i64,
    seen: Evidence,
}

impl Length<'_> {
    fn finding(&self, what: &str, basis: &str) -> Finding {
        Finding::new()
            .why(format!("{what} takes {}", ms(self.ns)))
            .saves(self.ns, basis)
            .seen([self.seen])
    }
}

fn of_properties(boot: &Boot<'_>, evidence: Evidence) -> bool {
    ["getprop", "bug-report"].contains(&&*boot.timeline().file(evidence.file).source)
}

fn lengths<'a>(boot: &Boot<'a>) -> Vec<Length<'a>> {
    let timeline = boot.timeline();
    let counters = timeline.counters.iter();
    let counters = counters.filter(|c| of_properties(boot, c.evidence));
    let length = |counter: &bootlap_model::Counter| {
        let (_, value) = counter.samples.first()?;
        Some(Length {
            name: timeline.text(counter.name),
            ns: (value * 1e6) as i64,
            seen: counter.evidence,
        })
    };
    counters.filter_map(length).collect()
}

fn stages<'a>(boot: &Boot<'a>, kind: TrackKind) -> Vec<Found<'a>> {
    let mut spans = boot.spans_of(kind);
    spans.retain(|s| of_properties(boot, s.span.evidence) && s.ns() >= LONG_NS);
    spans.sort_by_key(|s| Reverse(s.ns()));
    spans.truncate(AT_MOST);
    spans
}

fn of(stage: &Found<'_>, what: &str, basis: &str) -> Finding {
    Finding::new()
        .why(format!("{what} takes {}", ms(stage.ns())))
        .saves(stage.ns(), basis)
        .at(Some(stage.at()))
        .seen([stage.span.evidence])
}

fn loader_wait(boot: &Boot<'_>) -> Option<Finding> {
    let lengths = lengths(boot);
    let wait = lengths
        .iter()
        .find(|l| l.name == "boot loader waited for user")?;
    (wait.ns >= LONG_NS).then(|| {
        Finding::new()
            .why(format!(
                "it shows a screen, and waits for a key during {}",
                ms(wait.ns)
            ))
            .saves_unknown("it waits in front of what this timeline shows, as Android counts it")
            .seen([wait.seen])
    })
}

fn loader_stages(boot: &Boot<'_>) -> Vec<Finding> {
    let finding = |stage: &Found<'_>| {
        let what = match stage.arg("meaning") {
            Some(meaning) => format!("`{}` ({meaning})", stage.name()),
            None => format!("`{}`", stage.name()),
        };
        of(stage, &what, "at most: some of it is needed").fix(less_of(stage.name()))
    };
    let stages = stages(boot, TrackKind::Bootloader);
    stages.iter().map(finding).collect()
}

/// What helps one of the boot loader's stages, by the form of its name.
fn less_of(stage: &str) -> &'static str {
    match stage {
        "AVB" => "hash with the processor's own instructions, and what is large with hashtrees",
        "KD" => "use a compression that unpacks faster (LZ4), or none",
        _ if stage.ends_with('L') => {
            "load less (smaller boot images, an LZ4 kernel), in the storage's fastest mode"
        }
        _ => "leave out what starts no device that it needs (USB, display, memory tests)",
    }
}

fn first_stage(boot: &Boot<'_>) -> Option<Finding> {
    let stages = stages(boot, TrackKind::Userspace);
    let stage = stages.iter().find(|s| s.name() == "first stage")?;
    let lengths = lengths(boot);
    let modules = lengths.iter().find(|l| l.name == "init modules");
    let finding = of(
        stage,
        "it",
        "at most: what must be mounted and loaded for the second stage remains",
    );
    Some(match modules {
        Some(modules) => finding
            .why(format!(
                "it takes {}, of which {} load modules",
                ms(stage.ns()),
                ms(modules.ns)
            ))
            .seen([stage.span.evidence, modules.seen]),
        None => finding,
    })
}

const POLICY: &str = "the policy";
const LOADED: &str = "at most: a policy that is there has to be loaded all the same";

fn selinux(boot: &Boot<'_>) -> Option<Finding> {
    let stages = stages(boot, TrackKind::Userspace);
    if let Some(stage) = stages.iter().find(|s| s.name() == "selinux") {
        return Some(of(stage, POLICY, LOADED));
    }
    let lengths = lengths(boot);
    let length = lengths.iter().find(|l| l.name == "init selinux")?;
    (length.ns >= LONG_NS).then(|| length.finding(POLICY, LOADED))
}

fn checks_of_disks(boot: &Boot<'_>) -> Vec<Finding> {
    let mut lengths = lengths(boot);
    lengths.retain(|l| l.name.starts_with("init fsck.") && l.ns >= LONG_NS);
    let finding = |length: &Length<'_>| {
        let disk = length.name.trim_start_matches("init fsck.");
        length.finding(
            &format!("the check of `{disk}`"),
            "at most: a file system that was not unmounted is checked all the same",
        )
    };
    lengths.iter().map(finding).collect()
}
