//! Android's init and its ueventd, by what they write into the kernel's log.
//!
//! init does one thing after the other: what a command of its scripts, a wait, or an `exec`
//! takes, all that comes behind it waits for.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bootlap_model::{Milestone, TrackKind};

use super::checks;
use super::seen::ms;
use crate::boot::{Found, evidence, total_ns};
use crate::{Boot, Finding};

checks! {
    "android-init-command" => commands,
    "android-init-mount" => mounts,
    "android-init-restorecon" => restorecon,
    "android-init-modules" => modules,
    "android-init-wait" => waits,
    "android-init-exec" => execs,
    "android-coldboot" => coldboot,
    "android-service-restarts" => restarts,
    "android-bootanim-end" => animation,
}

/// From here on one thing is worth a look, ns.
const LONG_NS: i64 = 200_000_000;
/// How many of them one boot is told of.
const AT_MOST: usize = 3;
/// So many starts of a service are no accident.
const MANY_STARTS: usize = 3;

/// What is on a track of user space until Android is up.
pub(super) fn on<'a>(boot: &Boot<'a>, track: &str) -> Vec<Found<'a>> {
    until_the_end(boot, TrackKind::Userspace, |t| t == track)
}

/// What began on such tracks before the boot was over.
pub(super) fn until_the_end<'a>(
    boot: &Boot<'a>,
    kind: TrackKind,
    track: impl Fn(&str) -> bool,
) -> Vec<Found<'a>> {
    let end = boot.moment(&[Milestone::Ready, Milestone::StartupFinished]);
    let mut spans = boot.spans_of(kind);
    spans.retain(|s| track(s.track()) && end.is_none_or(|end| s.start_ns < end));
    spans
}

/// The first word of a command that is one of these.
fn is_one_of(found: &Found<'_>, words: &[&str]) -> bool {
    let first = found.name().split(' ').next().unwrap_or_default();
    words.contains(&first)
}

const MOUNTS: [&str; 4] = ["mount_all", "mount", "swapon_all", "umount_all"];
const LABELS: [&str; 2] = ["restorecon", "restorecon_recursive"];
const MODULES: [&str; 3] = ["insmod", "modprobe", "load"];
const WAITS: [&str; 2] = ["wait", "wait_for_prop"];
/// They return at once; init waits for what they have started.
const EXECS: [&str; 3] = ["exec", "exec_start", "exec_background"];

/// One finding for each of the longest.
fn each(mut spans: Vec<Found<'_>>, basis: &str) -> Vec<Finding> {
    spans.retain(|s| s.ns() >= LONG_NS);
    spans.sort_by_key(|s| Reverse(s.ns()));
    spans.truncate(AT_MOST);
    let finding = |span: &Found<'_>| {
        Finding::new()
            .why(format!("`{}` takes {}", span.name(), ms(span.ns())))
            .saves(span.ns(), basis)
            .at(Some(span.at()))
            .seen([span.span.evidence])
    };
    spans.iter().map(finding).collect()
}

/// One finding for all of them together.
fn together(spans: &[Found<'_>], what: &str, basis: &str) -> Option<Finding> {
    let (first, last) = (spans.first()?, spans.last()?);
    let ns = total_ns(spans);
    (ns >= LONG_NS).then(|| {
        Finding::new()
            .why(format!("{} {what} take {}", spans.len(), ms(ns)))
            .saves(ns, basis)
            .at(Some([first.start_ns, last.end_ns]))
            .seen(evidence(spans))
    })
}

fn commands(boot: &Boot<'_>) -> Vec<Finding> {
    let mut spans = on(boot, "init commands");
    let others = [&MOUNTS[..], &LABELS, &MODULES, &WAITS, &EXECS].concat();
    spans.retain(|s| !is_one_of(s, &others));
    each(
        spans,
        "at most: what of it can be done later, or not at all",
    )
}

fn mounts(boot: &Boot<'_>) -> Vec<Finding> {
    let mut spans = on(boot, "init commands");
    spans.retain(|s| is_one_of(s, &MOUNTS));
    each(
        spans,
        "at most: what must be mounted before the runtime starts remains",
    )
}

fn restorecon(boot: &Boot<'_>) -> Option<Finding> {
    let mut spans = on(boot, "init commands");
    spans.retain(|s| is_one_of(s, &LABELS));
    together(
        &spans,
        "commands that set labels",
        "at most: of files that have theirs already",
    )
}

fn modules(boot: &Boot<'_>) -> Option<Finding> {
    let mut spans = on(boot, "init commands");
    spans.retain(|s| is_one_of(s, &MODULES));
    together(
        &spans,
        "commands that load modules",
        "at most: what of it can be loaded side by side, or later",
    )
}

fn waits(boot: &Boot<'_>) -> Vec<Finding> {
    let mut spans = on(boot, "init commands");
    spans.retain(|s| is_one_of(s, &WAITS));
    // The wait for ueventd is the rule's for that.
    let ueventd = |s: &Found<'_>| s.name().contains("cold_boot_done");
    spans.extend(on(boot, "init waits").into_iter().filter(|s| !ueventd(s)));
    each(spans, "at most: what is waited for may take long itself")
}

fn execs(boot: &Boot<'_>) -> Vec<Finding> {
    let mut spans = on(boot, "init services");
    spans.retain(|s| s.name().starts_with("exec ") && s.arg("status").is_some());
    each(spans, "at most: where nothing behind it needs what it does")
}

fn coldboot(boot: &Boot<'_>) -> Vec<Finding> {
    each(
        on(boot, "ueventd"),
        "at most: the devices that are needed remain",
    )
}

fn restarts(boot: &Boot<'_>) -> Vec<Finding> {
    let mut starts: BTreeMap<&str, Vec<Found<'_>>> = BTreeMap::new();
    for span in on(boot, "init services") {
        if !span.name().starts_with("exec ") && span.arg("status").is_some() {
            starts.entry(span.name()).or_default().push(span);
        }
    }
    let mut often: Vec<_> = starts
        .into_iter()
        .filter(|(_, s)| s.len() >= MANY_STARTS)
        .collect();
    often.sort_by_key(|(_, spans)| Reverse(spans.len()));
    often.truncate(AT_MOST);
    let finding = |(name, spans): (&str, Vec<Found<'_>>)| {
        Finding::new()
            .why(format!(
                "`{name}` is started and ends {} times",
                spans.len()
            ))
            .saves_unknown(
                "each start takes CPU and storage from the others; what waits for the \
                            service waits in vain",
            )
            .seen(evidence(&spans))
    };
    often.into_iter().map(finding).collect()
}

/// From the moment at which Android shows its screen.
fn animation(boot: &Boot<'_>) -> Option<Finding> {
    let up = boot.moment(&[Milestone::StartupFinished])?;
    let services = on(boot, "init services");
    let bootanim = services
        .iter()
        .find(|s| s.name() == "bootanim" && s.arg("status").is_some())?;
    let ns = bootanim
        .end_ns
        .checked_sub(up)
        .filter(|ns| *ns >= LONG_NS)?;
    Some(
        Finding::new()
            .why(format!(
                "the boot animation ends {} after Android is up",
                ms(ns)
            ))
            .saves(
                ns,
                "at most: until the animation is told to end, some time passes in any case",
            )
            .at(Some([up, bootanim.end_ns]))
            .seen([bootanim.span.evidence]),
    )
}
