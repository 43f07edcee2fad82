//! What happens before the initcalls: memory, timers, CPUs, RCU.

use super::checks;
use super::seen::{asked, is_kernels, is_off, ms, options_on, steps};
use crate::lines::begins;
use crate::{Boot, Finding};

checks! {
    "cmdline-no-timer-check" => timer_check,
    "cmdline-tsc-reliable" => tsc,
    "cmdline-maxcpus" => start_of_cpus,
    "cmdline-rcu-expedited" => rcu,
    "config-deferred-struct-page" => struct_pages,
    "cmdline-no-zeroing" => zeroing,
    "cmdline-no-watchdog" => watchdog,
}

/// The test waits ten ticks at most, of 10 ms at most; and a little is done around it.
const TIMER_TEST_NS: i64 = 110_000_000;

fn timer_check(boot: &Boot<'_>) -> Option<Finding> {
    if boot.parameter("no_timer_check").is_some() {
        return None;
    }
    let lines = boot.lines();
    let at = lines.places("..TIMER: vector=").next()?;
    let (line, next) = (&lines[at], lines.get(at + 1));
    if line.ns() > TIMER_TEST_NS {
        return None;
    }
    let ns = ms(line.ns());
    let (why, basis) = match next.is_some_and(|l| begins(l.text, &CALIBRATIONS)) {
        true => (
            format!("it and the calibration of the time stamp counter take {ns}"),
            "at most: from that line to the next; the calibration remains",
        ),
        false => (format!("it takes {ns}"), "from that line to the next"),
    };
    Some(
        Finding::new()
            .why(why)
            .saves(line.ns(), basis)
            .recipe(boot.recipe("cmdline-no-timer-check"))
            .at(Some(line.at()))
            .seen([line.evidence]),
    )
}

/// What the kernel says of the time stamp counter where it measures it after the timer.
const CALIBRATIONS: [&str; 3] = [
    "tsc: Unable to calibrate against PIT",
    "tsc: PIT calibration matches",
    "tsc: using PIT calibration value",
];

/// How many CPUs came up, from `smp: Brought up 1 node, 4 CPUs`.
pub(super) fn cpus(boot: &Boot<'_>) -> Option<u32> {
    let line = boot
        .line("Brought up 1 node, ")
        .or_else(|| boot.line("Brought up "))?;
    let (_, rest) = line.text.split_once(", ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest.get(..digits)?.parse().ok()
}

/// The time in which the other CPUs start.
fn bring_up(boot: &Boot<'_>) -> Option<[i64; 2]> {
    boot.between("Bringing up secondary CPUs", "Brought up ")
}

/// Starting the CPUs takes at least this long where it is worth a line.
const CPUS_NS: i64 = 20_000_000;

fn tsc(boot: &Boot<'_>) -> Option<Finding> {
    let detected = boot.line("tsc: Detected ")?;
    let unstable = [
        "Marking TSC unstable",
        "TSC doesn't count",
        "TSC warp between CPUs",
    ];
    let is_unstable = boot.lines().has(unstable);
    let at = bring_up(boot)?;
    let ns = at[1].saturating_sub(at[0]);
    if is_unstable || !boot.lacks("tsc") || cpus(boot)? < 2 || ns < CPUS_NS {
        return None;
    }
    Some(
        Finding::new()
            .why(format!(
                "it is compared while the CPUs start, which takes {}",
                ms(ns)
            ))
            .saves_unknown("the comparison is a part of that time, and the log does not tell which")
            .recipe(boot.recipe("cmdline-tsc-reliable"))
            .at(Some(at))
            .seen([detected.evidence]),
    )
}

/// From this version on x86 starts its CPUs in parallel, and Arm does not.
const PARALLEL_X86: (u32, u32) = (6, 5);

fn is_x86(boot: &Boot<'_>) -> bool {
    let own = ["smpboot: ", "x86/", "BIOS-e820: "];
    boot.lines().has(own)
}

fn start_of_cpus(boot: &Boot<'_>) -> Option<Finding> {
    let at = bring_up(boot)?;
    let ns = at[1].saturating_sub(at[0]);
    let cpus = cpus(boot).filter(|cpus| *cpus > 1)?;
    if ns < CPUS_NS || boot.parameter("maxcpus").is_some() {
        return None;
    }
    let line = boot.line("Bringing up secondary CPUs")?;
    let is_older = |version| version < PARALLEL_X86;
    let finding = match is_x86(boot) && boot.kernel_version().is_none_or(is_older) {
        true => Finding::new(),
        false => Finding::new().fix(
            "add `maxcpus=1` and start the others after the application; measure the whole boot",
        ),
    };
    Some(
        finding
            .why(match cpus {
                2 => format!("1 more CPU in {}", ms(ns)),
                _ => format!("{} more CPUs in {}", cpus - 1, ms(ns)),
            })
            .saves(
                ns,
                "at most: the CPUs have to start some time, and work that they do now waits",
            )
            .at(Some(at))
            .seen([line.evidence]),
    )
}

fn rcu(boot: &Boot<'_>) -> Option<Finding> {
    let line = boot.line(("ierarchical RCU", |t: &str| t.starts_with("rcu: ")))?;
    let cpus = cpus(boot).filter(|cpus| *cpus > 1)?;
    // A log does not show what the boot waits for; a target can be tried.
    let is_open = boot.target().is_some() && boot.lacks("rcupdate.rcu_expedited");
    if !is_open || !is_kernels(boot, &line) {
        return None;
    }
    Some(
        Finding::new()
            .why(format!(
                "{cpus} CPUs, and `rcupdate.rcu_expedited` is not set"
            ))
            .saves_unknown("it depends on how often user space makes the kernel wait; try it")
            .recipe(boot.recipe("cmdline-rcu-expedited"))
            .seen([line.evidence]),
    )
}

/// From here on the notes about pages take their time: 64 GiB, in KiB.
const LARGE_KIB: u64 = 64 << 20;

fn struct_pages(boot: &Boot<'_>) -> Option<Finding> {
    let line = boot.line(("K available", |t: &str| t.starts_with("Memory: ")))?;
    let (_, size) = line.text.split_once('/')?;
    let (kib, _) = size.split_once('K')?;
    let kib: u64 = kib.parse().ok()?;
    let is_deferred = boot.line("deferred pages initialised").is_some()
        || !options_on(boot, &["DEFERRED_STRUCT_PAGE_INIT"]).is_empty();
    // The log has to be seen as far as the deferred work would stand.
    let is_seen = boot.line("devtmpfs: initialized").is_some();
    if kib < LARGE_KIB || is_deferred || !(is_seen || is_off(boot, "DEFERRED_STRUCT_PAGE_INIT")) {
        return None;
    }
    Some(
        Finding::new()
            .why(format!("{} GiB of memory", kib >> 20))
            .saves_unknown("about 16 s for each TB were seen; the log's clock does not run yet")
            .seen([line.evidence]),
    )
}

fn zeroing(boot: &Boot<'_>) -> Option<Finding> {
    let finding = Finding::new().recipe(boot.recipe("cmdline-no-zeroing"));
    let cost = "it depends on how much the boot allocates, and on the memory's speed";
    if let Some(clears) = boot.line("mem auto-init: clearing system memory") {
        let finding = finding
            .why(format!(
                "`init_on_free` is on; clearing the free memory once takes {}",
                ms(clears.ns())
            ))
            .at(Some(clears.at()))
            .seen([clears.evidence]);
        return Some(match clears.ns() >= 1_000_000 {
            true => finding.saves(
                clears.ns(),
                "clearing it once; each allocation comes on top",
            ),
            false => finding.saves_unknown(cost),
        });
    }
    if let Some(line) = boot.line("mem auto-init: ") {
        let on = ["heap alloc:on", "heap free:on"];
        let is_on = on.iter().any(|o| line.text.contains(o));
        let finding = finding
            .why(format!("`{}`", line.text))
            .seen([line.evidence]);
        // A log does not show what clearing takes; a target can be tried.
        let can_be_tried = boot.target().is_some();
        return (is_on && can_be_tried).then(|| finding.saves_unknown(cost));
    }
    let built = |name: &'static str| !options_on(boot, &[name]).is_empty();
    let allocations =
        asked(boot, "init_on_alloc").unwrap_or_else(|| built("INIT_ON_ALLOC_DEFAULT_ON"));
    let releases = asked(boot, "init_on_free").unwrap_or_else(|| built("INIT_ON_FREE_DEFAULT_ON"));
    if !allocations && !releases {
        return None;
    }
    Some(
        finding
            .why("`init_on_alloc` or `init_on_free` is on, by parameter or by default")
            .saves_unknown(cost),
    )
}

fn watchdog(boot: &Boot<'_>) -> Option<Finding> {
    let is_off = boot.parameter("nmi_watchdog") == Some("nmi_watchdog=0")
        || boot.parameter("nowatchdog").is_some();
    if is_off {
        return None;
    }
    let mut steps = steps(boot);
    let (before, line) = steps.find(|(_, l)| l.text.starts_with("NMI watchdog: Enabled"))?;
    Some(
        Finding::new()
            .why(format!("`{}` after {}", line.text, ms(before.ns())))
            .saves(before.ns(), "at most: the silence before that line")
            .recipe(boot.recipe("cmdline-no-watchdog"))
            .at(Some(before.at()))
            .seen([line.evidence]),
    )
}
