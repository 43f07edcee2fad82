//! Start-up scripts, as a console shows them.

use bootlap_model::{Milestone, TrackKind};

use super::stages::{contains, since_kernel, stage, until};
use super::{Rule, rule};
use crate::boot::Found;
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&UDEV, &DHCP, &SLOW_STEP, &ENTROPY, &FORKS];

/// Steps of start-up scripts that ended, without systemd's units.
fn steps<'a>(boot: &Boot<'a>) -> Vec<Found<'a>> {
    let mut steps = boot.spans_of(TrackKind::Userspace);
    let verbs = [
        "Starting ",
        "Loading ",
        "Initializing ",
        "Running ",
        "Mounting ",
        "Configuring ",
        "Setting ",
        "Saving ",
        "Seeding ",
        "Populating ",
    ];
    steps.retain(|s| verbs.iter().any(|v| s.name().starts_with(v)));
    steps
}

rule! {
    /// udev fills /dev before anything else.
    ///
    /// **Why.** The kernel's devtmpfs has the nodes already. udev runs rules and programs
    /// for each device, and a script waits for it.
    ///
    /// **Evidence.** The step `Populating /dev using udev: done` of a start-up script.
    ///
    /// **Fix.** `CONFIG_DEVTMPFS_MOUNT=y` and static names; start udevd (or mdev) behind
    /// the application.
    ///
    /// **Risk.** Links and modules that udev's rules made are missing until then.
    ///
    /// **Figures.** -1.015 s for devtmpfs instead of udev (SAMA5D3); full coldplug 10.3 s
    /// (ARMv6), 1.9 s (Raspberry Pi Zero).
    UDEV = "script-udev-coldplug", Userspace, udev
}

fn udev(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let step = stage(&lines, |t| t.starts_with("Populating /dev using udev"))?;
    let finding = step
        .found("udev fills /dev before anything else")
        .why(format!("the script waits {} ms for it", step.ms()))
        .saves(step.ns, "that step, if it runs behind the application")
        .fix("use devtmpfs (CONFIG_DEVTMPFS_MOUNT=y), and start udevd behind the application");
    Some(finding)
}

rule! {
    /// A script waits for a DHCP lease.
    ///
    /// **Why.** `ifup` and `udhcpc` in the foreground return when there is a lease, or
    /// after a time-out.
    ///
    /// **Evidence.** From `udhcpc: started` to `udhcpc: lease of … obtained`.
    ///
    /// **Fix.** `udhcpc -b` (background), a static address, or the network behind the
    /// application.
    ///
    /// **Risk.** Programs must cope with a network that comes later.
    ///
    /// **Figures.** None is published; 1 to 3 s are typical for link negotiation and DHCP.
    DHCP = "script-dhcp", Userspace, dhcp
}

fn dhcp(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let starts = |t: &str| t.contains("udhcpc") && t.contains("started");
    let ends = |t: &str| {
        let says = [
            "lease of ",
            "Lease of ",
            "no lease, failing",
            "No lease, failing",
            "no lease, forking",
        ];
        contains(t, &says)
    };
    let wait = until(&lines, starts, ends)?;
    let in_background = lines
        .iter()
        .any(|l| l.text.contains("no lease, forking to background"));
    let finding = wait
        .found("a script waits for a DHCP lease")
        .why(format!("it waits for {} ms", wait.ms()))
        .saves(
            wait.ns,
            "from udhcpc's start to its lease, if the script waits for it",
        )
        .fix("run `udhcpc -b`, use a static address, or start the network behind the application");
    (!in_background).then_some(finding)
}

/// Findings beyond these are not the next thing to do.
const AT_MOST_FINDINGS: usize = 5;

rule! {
    /// A step of the start-up scripts is slow.
    ///
    /// **Why.** Scripts run one after the other, so each step delays all that follows.
    ///
    /// **Evidence.** Steps of at least 200 ms before ready that print how they went
    /// (`Starting syslogd: OK`, `… done.`, `[ ok ]`), the five longest, without those that
    /// other rules know. All of a step is saved if it runs behind the application.
    ///
    /// **Fix.** Start the application first (the lowest `S…` number); run the step in the
    /// background; make it quicker.
    ///
    /// **Risk.** What relied on the order finds the step not done.
    ///
    /// **Figures.** None is published that is general.
    SLOW_STEP = "script-slow-step", Userspace, slow_step
}

fn slow_step(boot: &Boot<'_>) -> Vec<Finding> {
    let ready = boot.moment(&[Milestone::Ready]).unwrap_or(i64::MAX);
    let known = ["Populating /dev using udev", "Seeding ", "Saving "];
    let mut slow = steps(boot);
    slow.retain(|s| {
        let is_unit = contains(s.name(), &[".service", ".mount"]);
        let is_step = s.arg("result").is_some() && !is_unit;
        is_step && s.ns() >= 200_000_000 && s.start_ns < ready && !contains(s.name(), &known)
    });
    // systemd starts units side by side: its steps are no sequence.
    if boot.line("systemd[1]").is_some() || boot.line("[  OK  ] Reached target").is_some() {
        return Vec::new();
    }
    slow.sort_by_key(|s| std::cmp::Reverse(s.ns()));
    slow.truncate(AT_MOST_FINDINGS);
    let finding = |s: Found<'_>| {
        Finding::new(format!("the start-up step \"{}\" is slow", s.name()))
            .why(format!(
                "it takes {} ms, and what follows waits",
                s.ns() / 1_000_000
            ))
            .saves(s.ns(), "that step, if it runs behind the application")
            .fix("start the application before it, run it in the background, or leave it out")
            .at(Some(s.at()))
            .seen([s.span.evidence])
    };
    slow.into_iter().map(finding).collect()
}

rule! {
    /// A script waits for random numbers.
    ///
    /// **Why.** Programs that ask for random numbers before the kernel's generator is
    /// seeded wait; a start-up script that seeds or makes keys then stands.
    ///
    /// **Evidence.** A step `Seeding …` or `Saving … bits` of a start-up script of at least
    /// 100 ms, which ends when `random: crng init done` is there.
    ///
    /// **Fix.** `random.trust_cpu=on`, a hardware generator, `rng-seed` by the boot loader,
    /// a stored seed.
    ///
    /// **Risk.** It is a question of trust in the source.
    ///
    /// **Figures.** 2.3 s (QEMU without virtio-rng).
    ENTROPY = "script-entropy", Userspace, entropy
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
    let finding = Finding::new("a start-up script waits for random numbers")
        .why("the kernel's generator is seeded only while that step runs")
        .saves(step.ns(), "that step, as seen on the console")
        .fix("give the kernel entropy: `random.trust_cpu=on`, a hardware generator, `rng-seed`")
        .at(Some(step.at()))
        .seen([step.span.evidence, seeded.evidence]);
    within.then_some(finding)
}

/// From here on starting processes is what a boot does.
const MANY: usize = 500;

rule! {
    /// The boot starts very many processes.
    ///
    /// **Why.** A fork and an exec cost about a millisecond on a PC and several on a small
    /// board; shell scripts start one for each `cat`, `cut`, `expr`.
    ///
    /// **Evidence.** More than 500 processes before ready, by a recording that shows
    /// processes (strace, bootchart, ftrace).
    ///
    /// **Fix.** Look at the parents with most children; builtins
    /// (`case`, `${x#…}`, `read`) instead of programs; a program instead of a script.
    ///
    /// **Risk.** Low.
    ///
    /// **Figures.** A line with three programs 4.9 ms, with builtins 0.17 ms (dash on a PC);
    /// 87 ms for one such line (AT91SAM9263, 200 MHz).
    FORKS = "script-forks", Userspace, forks
}

fn forks(boot: &Boot<'_>) -> Option<Finding> {
    let ends = [Milestone::Ready, Milestone::StartupFinished];
    let ready = boot.moment(&ends).unwrap_or(i64::MAX);
    let processes = boot.timeline().spans_of(TrackKind::Process);
    let started = processes.filter(|s| boot.axis().span(s).is_some_and(|p| p.start.ns < ready));
    let count = started.count();
    (count > MANY).then(|| {
        Finding::new("the boot starts very many processes")
            .why(format!("{count} until it is ready"))
            .saves_unknown("1 to 5 ms for each on a small board; their parents tell which to drop")
            .fix("use the shell's builtins instead of programs, and programs instead of scripts")
    })
}
