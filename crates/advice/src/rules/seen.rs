//! What the families about the kernel ask more than once.

use bootlap_analysis::functions::{Wait, WaitKind};
use bootlap_model::Milestone;

use crate::boot::{Found, total_ns};
use crate::lines::Line;
use crate::{Boot, Finding};

/// `ns` as people read it in a sentence.
pub(crate) fn ms(ns: i64) -> String {
    match ns {
        ns if ns < 10_000_000 => format!("{}.{} ms", ns / 1_000_000, ns / 100_000 % 10),
        _ => format!("{} ms", ns / 1_000_000),
    }
}

/// When the kernel ran its first program, ns on the axis.
pub(super) fn init_ns(boot: &Boot<'_>) -> Option<i64> {
    boot.moment(&[
        Milestone::InitStart,
        Milestone::UserEntry,
        Milestone::ManagerStart,
    ])
}

/// Whether this was said before the first program ran, or nobody saw when that
/// was. Behind it the kernel is silent because it has nothing to do.
pub(super) fn is_kernels(boot: &Boot<'_>, line: &Line<'_>) -> bool {
    init_ns(boot).is_none_or(|init| line.start_ns < init)
}

/// Lines and the ones after them, as far as the kernel alone was at work;
/// none if nobody saw where that ends.
pub(super) fn steps<'s, 'a>(
    boot: &'s Boot<'a>,
) -> impl Iterator<Item = (Line<'a>, Line<'a>)> + use<'s, 'a> {
    let init = init_ns(boot).unwrap_or(i64::MIN);
    let lines = boot.lines().iter();
    let pairs = lines.clone().zip(lines.skip(1));
    let pairs = pairs.map(|(before, after)| (*before, *after));
    pairs.take_while(move |(_, after)| after.start_ns <= init)
}

/// Whether the silence after a line lies in this stretch of time, which has an owner.
pub(super) fn within(line: &Line<'_>, [start, end]: [i64; 2]) -> bool {
    start <= line.start_ns && line.next_ns <= end
}

/// The parameters of these names that the command line has.
pub(super) fn parameters<'s>(boot: &'s Boot<'_>, names: &[&str]) -> Vec<&'s str> {
    let found = names.iter().filter_map(|name| boot.parameter(name));
    found.collect()
}

/// The value of a parameter.
pub(super) fn value<'s>(boot: &'s Boot<'_>, name: &str) -> Option<&'s str> {
    Some(boot.parameter(name)?.split_once('=')?.1)
}

/// Whether the command line turns this parameter on, or off; nothing if it is not there.
pub(super) fn asked(boot: &Boot<'_>, name: &str) -> Option<bool> {
    let word = boot.parameter(name)?;
    Some(matches!(
        word.split_once('='),
        Some((_, "1" | "on" | "y" | "Y"))
    ))
}

/// Which of these options the kernel's `.config` has built in.
pub(super) fn options_on(boot: &Boot<'_>, names: &[&'static str]) -> Vec<&'static str> {
    let Some(config) = boot.kernel_config() else {
        return Vec::new();
    };
    let on = names.iter().filter(|name| config.is_on(name));
    on.copied().collect()
}

/// Whether the kernel's `.config` names this option and leaves it out.
pub(super) fn is_off(boot: &Boot<'_>, name: &str) -> bool {
    let value = boot.kernel_config().and_then(|config| config.get(name));
    value == Some("n")
}

/// `CONFIG_A, CONFIG_B`.
pub(super) fn configs(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|n| format!("CONFIG_{n}")).collect();
    names.join(", ")
}

/// Built-in initcalls of these names.
pub(super) fn built_in<'a>(boot: &Boot<'a>, names: &[&str]) -> Vec<Found<'a>> {
    let mut calls = boot.initcalls(names);
    calls.retain(|call| !is_probe(call) && !is_module(call));
    calls
}

/// Whether this is the probe of a device, which some initcall made.
pub(super) fn is_probe(call: &Found<'_>) -> bool {
    call.track() == "device probes"
}

/// Whether this is a module's, which user space loaded.
pub(super) fn is_module(call: &Found<'_>) -> bool {
    call.track() == "module initcalls" || call.arg("module").is_some()
}

/// A finding about initcalls that take their time; `None` if there is none.
pub(super) fn of_initcalls(boot: &Boot<'_>, calls: &[Found<'_>]) -> Option<Finding> {
    let longest = calls.iter().max_by_key(|call| call.ns())?;
    let place = boot.place_of(longest);
    let names: Vec<&str> = calls.iter().map(Found::name).collect();
    let (all_ns, own_ns) = (
        total_ns(calls),
        calls.iter().map(|call| boot.own_ns(call)).sum(),
    );
    let waits = match own_ns == all_ns {
        true => String::new(),
        false => format!(
            ", {} of them behind the unpacking of the initramfs, which it waits for",
            ms(own_ns)
        ),
    };
    let finding = Finding::new()
        .why(format!(
            "initcall {} takes {}{waits}{}",
            names.join(", "),
            ms(all_ns),
            delays(boot, &names)
        ))
        .saves(
            own_ns,
            "at most: the initcall's time, which other work may fill",
        )
        .at(place.as_ref().map(Found::at));
    Some(finding.seen(place.map(|p| p.span.evidence)))
}

/// From here on it is worth telling what a driver waits for.
const DELAY_NS: i64 = 1_000_000;

/// What was waited for in initcalls, where functions were traced.
fn delays(boot: &Boot<'_>, names: &[&str]) -> String {
    let waits = names.iter().flat_map(|name| boot.waits_in(name));
    let mut waits: Vec<&Wait> = waits.filter(|w| w.time_ns >= DELAY_NS).collect();
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.time_ns));
    let told = waits.iter().take(3).map(|wait| {
        let how = match wait.how {
            WaitKind::Busy => "busy",
            WaitKind::Sleep => "asleep",
        };
        let (time, function) = (ms(wait.time_ns), &wait.function);
        match wait.count {
            1 => format!("{time} {how} in {function}"),
            n => format!("{time} {how} in {n} calls of {function}"),
        }
    });
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => String::new(),
        false => format!("; in it were {}", told.join(", ")),
    }
}

/// What a silence before a line says.
pub(super) fn silence_before(ns: i64, line: &str) -> String {
    format!("{} of silence before `{line}`", ms(ns))
}

/// What the time between two lines says.
pub(super) fn from_to(ns: i64, from: &str, to: &str) -> String {
    format!("{} from `{from}` to `{to}`", ms(ns))
}
