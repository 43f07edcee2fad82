//! What happens before the initcalls: memory, timers, CPUs, RCU.

use super::seen::{asked, is_kernels, is_off, ms, options_on, steps};
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &TIMER_CHECK,
    &TSC,
    &CPUS,
    &RCU,
    &STRUCT_PAGES,
    &ZEROING,
    &WATCHDOG,
];

rule! {
    /// The kernel tests its timer interrupt.
    ///
    /// **Why.** On a PC with an IO-APIC the kernel waits ten ticks to see whether the timer
    /// interrupts; 10 ms at 1000 Hz, 100 ms at 100 Hz. KVM and Hyper-V guests skip it.
    ///
    /// **Evidence.** The time from `..TIMER: vector=` to the next line, if the clock of the
    /// log runs already.
    ///
    /// **Fix.** `no_timer_check`.
    ///
    /// **Risk.** A board whose timer is wired otherwise hangs; it does so at once.
    ///
    /// **Figures.** None is published alone; it is in Clear Linux's command line.
    TIMER_CHECK = "cmdline-no-timer-check", Kernel, timer_check
}

fn timer_check(boot: &Boot<'_>) -> Option<Finding> {
    if boot.parameter("no_timer_check").is_some() {
        return None;
    }
    let line = boot.line("..TIMER: vector=")?;
    let finding = Finding::new("the kernel tests its timer interrupt")
        .why(format!("it takes {}", ms(line.ns())))
        .saves(line.ns(), "from that line to the next")
        .fix("add `no_timer_check` to the command line")
        .recipe(boot.recipe("cmdline-no-timer-check"))
        .at(Some(line.at()))
        .seen([line.evidence]);
    Some(finding)
}

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

rule! {
    /// The kernel doubts the CPU's time stamp counter.
    ///
    /// **Why.** On a PC each CPU's counter is compared with the first one's while it
    /// starts, and a watchdog compares the clock with another for ever.
    ///
    /// **Evidence.** `tsc: Detected` and two or more CPUs that take 20 ms and more to
    /// start (`smp: Bringing up secondary CPUs` to `Brought up`), without `tsc=` on a known
    /// command line. The check is a part of that time, which is not told.
    ///
    /// **Fix.** `tsc=reliable`, if the hardware is known and its counters agree.
    ///
    /// **Risk.** A counter that drifts is not noticed, and time goes wrong. Not where the
    /// log says `Marking TSC unstable`.
    ///
    /// **Figures.** None is published alone; it is in Clear Linux's command line.
    TSC = "cmdline-tsc-reliable", Kernel, tsc
}

fn tsc(boot: &Boot<'_>) -> Option<Finding> {
    let detected = boot.line("tsc: Detected ")?;
    let unstable = [
        "Marking TSC unstable",
        "TSC doesn't count",
        "TSC warp between CPUs",
    ];
    let is_unstable = unstable.iter().any(|text| boot.line(text).is_some());
    let at = bring_up(boot)?;
    let ns = at[1].saturating_sub(at[0]);
    if is_unstable || !boot.lacks("tsc") || cpus(boot)? < 2 || ns < CPUS_NS {
        return None;
    }
    let finding = Finding::new("the kernel doubts the CPU's time stamp counter")
        .why(format!(
            "it is compared while the CPUs start, which takes {}",
            ms(ns)
        ))
        .saves_unknown("the comparison is a part of that time, and the log does not tell which")
        .fix("add `tsc=reliable` to the command line, if the hardware is known")
        .recipe(boot.recipe("cmdline-tsc-reliable"))
        .at(Some(at))
        .seen([detected.evidence]);
    Some(finding)
}

rule! {
    /// The kernel starts its CPUs one after the other.
    ///
    /// **Why.** Each CPU is woken, waited for and calibrated before the next; firmware
    /// that starts them slowly (PSCI, an old BIOS) adds to it.
    ///
    /// **Evidence.** 20 ms and more from `smp: Bringing up secondary CPUs` to
    /// `smp: Brought up N nodes, M CPUs`.
    ///
    /// **Fix.** A kernel of 6.5 and newer starts them in parallel on x86. Elsewhere
    /// `maxcpus=1` (or 2), and the others after the application:
    /// `echo 1 > /sys/devices/system/cpu/cpu1/online`.
    ///
    /// **Risk.** What runs beside others during boot then has one CPU: measure the whole.
    ///
    /// **Figures.** None is published here; it is CPUs times their start.
    CPUS = "cmdline-maxcpus", Kernel, start_of_cpus
}

fn start_of_cpus(boot: &Boot<'_>) -> Option<Finding> {
    let at = bring_up(boot)?;
    let ns = at[1].saturating_sub(at[0]);
    let cpus = cpus(boot).filter(|cpus| *cpus > 1)?;
    if ns < CPUS_NS || boot.parameter("maxcpus").is_some() {
        return None;
    }
    let line = boot.line("Bringing up secondary CPUs")?;
    let finding = Finding::new("the kernel starts its CPUs one after the other")
        .why(format!(
            "{} CPUs more in {}",
            cpus.saturating_sub(1),
            ms(ns)
        ))
        .saves(
            ns,
            "at most: the CPUs have to start some time, and work that they do now waits",
        )
        .fix(
            "take a kernel that starts them in parallel (6.5 on x86), or add `maxcpus=1` and start \
             the others after the application; measure the whole boot",
        )
        .at(Some(at))
        .seen([line.evidence]);
    Some(finding)
}

rule! {
    /// The boot waits for ordinary RCU grace periods.
    ///
    /// **Why.** Much of the boot changes what others may be reading, and then waits for all
    /// CPUs to have looked away. Expedited grace periods ask them at once.
    ///
    /// **Evidence.** `rcu: Hierarchical RCU` (also `Preemptible hierarchical`) with two or
    /// more CPUs, and a known command line without `rcupdate.rcu_expedited`; one CPU alone
    /// hardly waits.
    ///
    /// **Fix.** `rcupdate.rcu_expedited=1 rcupdate.rcu_normal_after_boot=1`. The kernel
    /// expedites by itself until its first program; this prolongs it into user space.
    ///
    /// **Risk.** Interrupts between CPUs disturb real-time work; the second parameter ends
    /// that after boot.
    ///
    /// **Figures.** 38.7 to 31.8 ms of a guest's kernel (KVM, commit ee42571f4381), 18 %.
    RCU = "cmdline-rcu-expedited", Kernel, rcu
}

fn rcu(boot: &Boot<'_>) -> Option<Finding> {
    let lower = |text: &str| text.contains("hierarchical RCU") || text.contains("Hierarchical RCU");
    let line = boot
        .lines()
        .iter()
        .find(|l| l.text.starts_with("rcu: ") && lower(l.text))?;
    let cpus = cpus(boot).filter(|cpus| *cpus > 1)?;
    if !boot.lacks("rcupdate.rcu_expedited") || !is_kernels(boot, line) {
        return None;
    }
    let finding = Finding::new("the boot waits for ordinary RCU grace periods")
        .why(format!(
            "{cpus} CPUs, and `rcupdate.rcu_expedited` is not set"
        ))
        .saves_unknown("it depends on how often user space makes the kernel wait; try it")
        .fix("add `rcupdate.rcu_expedited=1 rcupdate.rcu_normal_after_boot=1` to the command line")
        .recipe(boot.recipe("cmdline-rcu-expedited"))
        .seen([line.evidence]);
    Some(finding)
}

/// From here on the notes about pages take their time: 64 GiB, in KiB.
const LARGE_KIB: u64 = 64 << 20;

rule! {
    /// One CPU makes the notes about all pages of a large memory.
    ///
    /// **Why.** Each page has a `struct page` to be filled in. With
    /// `CONFIG_DEFERRED_STRUCT_PAGE_INIT` all CPUs do that later, in parallel.
    ///
    /// **Evidence.** `Memory: .../NK available` with 64 GiB and more, and no
    /// `deferred pages initialised` line before the first program; or the option off in the
    /// `.config` with such a memory.
    ///
    /// **Fix.** `CONFIG_DEFERRED_STRUCT_PAGE_INIT=y`.
    ///
    /// **Risk.** None is known.
    ///
    /// **Figures.** 16 s on 1 TB, negligible at 64 GB (M. Gorman's series, Linux 4.2).
    STRUCT_PAGES = "config-deferred-struct-page", Kernel, struct_pages
}

fn struct_pages(boot: &Boot<'_>) -> Option<Finding> {
    let line = boot
        .lines()
        .iter()
        .find(|l| l.text.starts_with("Memory: ") && l.text.contains("K available"))?;
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
    let finding = Finding::new("one CPU makes the notes about all pages of a large memory")
        .why(format!("{} GiB of memory", kib >> 20))
        .saves_unknown("about 16 s for each TB were seen; the log's clock does not run yet")
        .fix("build the kernel with CONFIG_DEFERRED_STRUCT_PAGE_INIT=y")
        .seen([line.evidence]);
    Some(finding)
}

rule! {
    /// The kernel clears all memory that it gives out.
    ///
    /// **Why.** `init_on_alloc` clears each allocation, `init_on_free` each release; and at
    /// boot the latter clears all free memory once. It is hardening, and costs on machines
    /// with slow memory.
    ///
    /// **Evidence.** `mem auto-init: ... heap alloc:on` (or `heap free:on`); the time of
    /// `clearing system memory may take some time` is counted. Else the parameters, or
    /// `CONFIG_INIT_ON_ALLOC_DEFAULT_ON`, `CONFIG_INIT_ON_FREE_DEFAULT_ON`.
    ///
    /// **Fix.** `init_on_alloc=0 init_on_free=0`, after whoever is responsible for the
    /// product's security agreed; measure first.
    ///
    /// **Risk.** High: what was in memory before leaks through other bugs.
    ///
    /// **Figures.** 1.5 s of the kernel's boot (Heads on a ThinkPad X230).
    ZEROING = "cmdline-no-zeroing", Kernel, zeroing
}

fn zeroing(boot: &Boot<'_>) -> Option<Finding> {
    let finding = Finding::new("the kernel clears all memory that it gives out")
        .fix(
            "measure with `init_on_alloc=0 init_on_free=0`; keep that only if security does not \
             need it",
        )
        .recipe(boot.recipe("cmdline-no-zeroing"));
    let cost = "it depends on how much the boot allocates, and on the memory's speed";
    if let Some(clears) = boot.line("mem auto-init: clearing system memory") {
        let finding = finding
            .why(format!(
                "clearing the free memory once takes {}",
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
        return is_on.then(|| finding.saves_unknown(cost));
    }
    let built = |name: &'static str| !options_on(boot, &[name]).is_empty();
    let allocations =
        asked(boot, "init_on_alloc").unwrap_or_else(|| built("INIT_ON_ALLOC_DEFAULT_ON"));
    let releases = asked(boot, "init_on_free").unwrap_or_else(|| built("INIT_ON_FREE_DEFAULT_ON"));
    if !allocations && !releases {
        return None;
    }
    let finding = finding
        .why("`init_on_alloc` or `init_on_free` is on, by parameter or by default")
        .saves_unknown(cost);
    Some(finding)
}

rule! {
    /// The kernel watches for CPUs that hang.
    ///
    /// **Why.** The detector takes a hardware counter and interrupts each CPU every few
    /// seconds; on a CPU that is emulated or has a slow counter, starting it takes time.
    ///
    /// **Evidence.** `NMI watchdog: Enabled.` behind 1 ms and more of silence before the
    /// first program, without `nowatchdog` or `nmi_watchdog=0`.
    ///
    /// **Fix.** `nowatchdog`, or `nmi_watchdog=0` for the hard detector alone.
    ///
    /// **Risk.** A CPU that hangs in the kernel is not noticed; a hardware watchdog that
    /// restarts the product is better for that anyway.
    ///
    /// **Figures.** None is published.
    WATCHDOG = "cmdline-no-watchdog", Kernel, watchdog
}

fn watchdog(boot: &Boot<'_>) -> Option<Finding> {
    let is_off = boot.parameter("nmi_watchdog") == Some("nmi_watchdog=0")
        || boot.parameter("nowatchdog").is_some();
    if is_off {
        return None;
    }
    let mut steps = steps(boot);
    let (before, line) = steps.find(|(_, l)| l.text.starts_with("NMI watchdog: Enabled"))?;
    let finding = Finding::new("the kernel watches for CPUs that hang")
        .why(format!("`{}` behind {}", line.text, ms(before.ns())))
        .saves(before.ns(), "at most: the silence before that line")
        .fix("add `nowatchdog` to the command line, if a hardware watchdog guards the product")
        .recipe(boot.recipe("cmdline-no-watchdog"))
        .at(Some(before.at()))
        .seen([line.evidence]);
    Some(finding)
}
