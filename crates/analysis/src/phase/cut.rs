//! Where one phase ends and the next begins.

use bootlap_model::{Milestone, Span, Stamp, TrackKind};

use super::{Phase, PhaseName};
use crate::extent::Extent;
use crate::message::message;
use crate::view::{Seen, View};

/// A milestone at which a phase begins.
#[derive(Clone, Copy, Debug)]
struct Cut {
    opens: PhaseName,
    /// The phase that this one follows in a boot that has both.
    follows: PhaseName,
    at: Stamp,
}

/// The phases without their parts.
pub(super) fn bare(view: &View, extent: &Extent) -> Vec<Phase> {
    let mut cuts = in_order(&usable(wanted(view), extent));
    let first_initramfs =
        cuts.iter().any(|c| c.follows == PhaseName::Initramfs) || stays_in_initramfs(view);
    for cut in &mut cuts {
        if first_initramfs && cut.follows == PhaseName::Kernel {
            cut.opens = PhaseName::Initramfs;
        }
    }
    let Some(opening) = opening(view, extent, &cuts) else {
        return Vec::new();
    };
    let mut phases: Vec<Phase> = Vec::new();
    let mut begin = (opening, extent.start);
    // The kernel can have begun before its clock: that is no cut then.
    let cuts = cuts.iter().filter(|c| c.opens != opening);
    let ends = cuts.map(|c| (c.opens, c.at));
    for (opens, at) in ends.chain([(opening, extent.end)]) {
        // Two cuts of one moment leave no room for the first one's phase.
        if begin.1.ns >= at.ns {
            begin.0 = opens;
            continue;
        }
        phases.push(Phase {
            name: begin.0,
            start: begin.1,
            end: at,
            parts: Vec::new(),
        });
        begin = (opens, at);
    }
    let ends_as_kernel = phases.last().is_some_and(|p| p.name == PhaseName::Kernel);
    if ends_as_kernel && !is_kernels_alone(view, extent) {
        phases.pop();
    }
    phases
}

/// A kernel's log that begins later is an excerpt of it, ns.
const BEGAN_NS: i64 = 1_000_000_000;

/// Whether all that was seen to the end can be the kernel's: nothing ran or printed in user
/// space, and the log is no excerpt from nobody knows where.
fn is_kernels_alone(view: &View, extent: &Extent) -> bool {
    let of_user = |kind: TrackKind| {
        matches!(
            kind,
            TrackKind::Userspace | TrackKind::Unit | TrackKind::Process | TrackKind::Syscall
        )
    };
    let clock = view.milestone(Milestone::KernelClockStart);
    let mut logged = view.spans().filter(|s| s.logged);
    let is_excerpt = match (clock, logged.next()) {
        (None, Some(first)) => first.start.ns > BEGAN_NS,
        (Some(clock), Some(first)) => first.start.ns.saturating_sub(clock.ns) > BEGAN_NS,
        (_, None) => false,
    };
    let daemons = ["systemd[", "systemd-", "init: ", "dracut"];
    let by_daemon = |s: &Seen| {
        // What stands before it may be a vendor's, which nobody knows.
        let mut words = message(s.name()).split_inclusive(' ').take(5);
        let mut is_daemons = || words.any(|w| daemons.iter().any(|d| w.starts_with(d)));
        s.kind == TrackKind::Console && is_daemons()
    };
    // Each line of a kernel has its time if any has. With `quiet` it does not say when it runs
    // the first program, and nobody knows when those printed.
    let by_programs = |s: &Seen| s.logged && view.arg(s, Span::UNTIMED).is_some();
    // What the log goes on with is not of the boot that is looked at.
    let mut seen = view.spans().filter(|s| s.start.ns < extent.end.ns);
    !is_excerpt && !seen.any(|s| of_user(s.kind) || by_daemon(&s) || by_programs(&s))
}

/// A moment that is known no better says little of how long the kernel took, ns.
const VAGUE_NS: u32 = 100_000_000;

/// The milestones to cut at, in the order in which a boot passes them.
fn wanted(view: &View) -> Vec<Cut> {
    use PhaseName::{Application, Bootloader, Firmware, Initramfs, Kernel, Userspace};
    let kernel = kernel(view);
    let banner = view.milestone(Milestone::BootloaderStart);
    let banner = banner.filter(|b| firmware_seen(view) || firmware_printed(view, b));
    // Known to a second, it may seem to come behind the kernel.
    let is_before = |b: &Stamp| b.err_ns <= VAGUE_NS || kernel.is_none_or(|k| b.ns <= k.ns);
    let banner = banner.filter(is_before);
    let manager = manager(view);
    let init = view.milestone(Milestone::InitStart);
    let after_initramfs = init
        .zip(manager)
        .filter(|between| ran_initramfs(view, between));
    let init = init.or(manager);
    let entry = view.milestone(Milestone::UserEntry);
    // A kernel may run helpers (modprobe) long before it runs init.
    let user = match (entry, init) {
        (Some(entry), Some(init)) if entry.ns < init.ns => Some(init),
        (entry, init) => entry.or(init),
    };
    let switch = view.milestone(Milestone::SwitchRoot);
    let cuts = [
        (
            Bootloader,
            Firmware,
            banner.or(view.milestone(Milestone::FirmwareDone)),
        ),
        (Kernel, Bootloader, kernel),
        (Userspace, Kernel, user),
        (
            Userspace,
            Initramfs,
            switch.or(after_initramfs.map(|(_, manager)| manager)),
        ),
        (
            Application,
            Userspace,
            view.milestone(Milestone::ApplicationStart),
        ),
    ];
    let cut = |(opens, follows, at): (_, _, Option<Stamp>)| {
        Some(Cut {
            opens,
            follows,
            at: at?,
        })
    };
    cuts.into_iter().filter_map(cut).collect()
}

/// When the kernel began.
fn kernel(view: &View) -> Option<Stamp> {
    let handed = [
        Milestone::KernelImage,
        Milestone::KernelEntry,
        Milestone::BootloaderHandover,
    ];
    let handed = handed.iter().find_map(|&m| view.milestone(m));
    let clock = view.milestone(Milestone::KernelClockStart);
    // How long it took is known from the zero of its own clock, and not from a moment that
    // is known to a second.
    match (handed, clock) {
        (Some(handed), Some(clock)) if handed.err_ns > VAGUE_NS => Some(clock),
        (handed, clock) => handed.or(clock),
    }
}

/// When the service manager began: as it says itself, where it was asked. Its first line in a log
/// comes later, on slow machines by a second.
fn manager(view: &View) -> Option<Stamp> {
    let first = view.milestone(Milestone::ManagerStart)?;
    let known = view.known_milestones(Milestone::ManagerStart);
    known.chain([first]).min_by_key(|at| at.ns)
}

/// A service manager that is in the initramfs itself says so earlier than this, ns.
const MANAGER_NS: i64 = 500_000_000;

/// Whether an initramfs that does not say when it ends (Debian's, any of BusyBox) ran
/// from when the kernel ran it until the service manager started.
fn ran_initramfs(view: &View, (init, manager): &(Stamp, Stamp)) -> bool {
    let lines = view.spans_of(|k| k == TrackKind::Console);
    let mut programs = lines.filter_map(|s| message(s.name()).strip_prefix("Run "));
    let program = programs.find_map(|p| p.strip_suffix(" as init process"));
    let unpacked = || {
        view.first(TrackKind::Kernel, Span::UNPACK_INITRAMFS)
            .is_some()
    };
    manager.ns.saturating_sub(init.ns) >= MANAGER_NS
        && program.map_or_else(unpacked, |p| p == "/init")
}

/// How long systemd takes at most to say where it runs, ns.
const SAYS_WHERE_NS: i64 = 10_000_000_000;

/// Whether systemd said that it runs in an initramfs, and nobody that it was left: a root that
/// does not come ends such a boot.
fn stays_in_initramfs(view: &View) -> bool {
    let Some(init) = view.milestone(Milestone::InitStart) else {
        return false;
    };
    let near = |s: &Seen| s.start.ns.saturating_sub(init.ns) < SAYS_WHERE_NS;
    let later = view.spans().skip_while(|s| s.start.ns < init.ns);
    let mut lines = later
        .take_while(near)
        .filter(|s| s.kind == TrackKind::Console);
    view.milestone(Milestone::SwitchRoot).is_none()
        && lines.any(|s| {
            let text = message(s.name()).strip_prefix("systemd[1]: ");
            text.is_some_and(|t| Span::IN_INITRAMFS.iter().any(|said| t.starts_with(said)))
        })
}

/// Whether firmware itself, or who asked it, told of its stages.
fn firmware_seen(view: &View) -> bool {
    view.milestone(Milestone::FirmwareDone).is_some()
        || view.spans_of(|k| k == TrackKind::Firmware).next().is_some()
}

/// Whether something printed before the boot loader's banner. What powers up
/// an UART leaves a few bytes of noise; words are more.
fn firmware_printed(view: &View, banner: &Stamp) -> bool {
    let mut texts = view.spans().filter(|s| {
        let end_ns = s.end.map_or(s.start.ns, |e| e.ns);
        s.kind == TrackKind::Console && s.start.ns < banner.ns && end_ns <= banner.ns
    });
    texts.any(|s| {
        s.name()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric())
            .count()
            >= 4
    })
}

/// Whether something ran before the kernel: the machine was seen to power on,
/// or to send what is not in the kernel's log.
fn ran_before_kernel(view: &View, kernel: &Stamp) -> bool {
    let mut before = view.spans().take_while(|s| s.start.ns < kernel.ns);
    view.milestone(Milestone::PowerOn).is_some() || before.any(|s| !s.logged)
}

/// A cut that comes no later than this after the start, and may be there, is.
const AT_START_NS: i64 = 1_000_000;

/// Keeps what lies inside the boot. A clock that is known to some error can
/// put the first event a little before the start, or behind it.
fn usable(cuts: Vec<Cut>, extent: &Extent) -> Vec<Cut> {
    let mut usable = Vec::new();
    for mut cut in cuts {
        let err_ns = i64::from(cut.at.err_ns);
        if cut.at.ns.saturating_add(err_ns) < extent.start.ns || cut.at.ns >= extent.end.ns {
            continue;
        }
        if cut.at.ns.saturating_sub(err_ns.min(AT_START_NS)) <= extent.start.ns {
            cut.at = extent.start;
        }
        usable.push(cut);
    }
    usable
}

/// The largest set of cuts whose times do not go back; of equally large ones
/// the one with the earlier milestones. At most 2^5 sets.
fn in_order(cuts: &[Cut]) -> Vec<Cut> {
    let set = |bits: u32| -> Vec<Cut> {
        let chosen = cuts.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
        chosen.map(|(_, c)| *c).collect()
    };
    let sets = (0..1u32 << cuts.len()).map(set);
    let ordered = sets.filter(|s| s.windows(2).all(|w| w[0].at.ns <= w[1].at.ns));
    ordered.rev().max_by_key(Vec::len).unwrap_or_default()
}

/// The phase that the boot begins in; `None` if nothing tells.
fn opening(view: &View, extent: &Extent, cuts: &[Cut]) -> Option<PhaseName> {
    use PhaseName::{Bootloader, Firmware, Kernel, Userspace};
    let has = |kind: TrackKind| view.spans_of(|k| k == kind).next().is_some();
    let loader = has(TrackKind::Bootloader)
        || view.milestone(Milestone::BootloaderStart).is_some()
        || view.milestone(Milestone::BootloaderHandover).is_some();
    if firmware_seen(view) && cuts.first().is_none_or(|c| c.at.ns > extent.start.ns) {
        return Some(Firmware);
    }
    if let Some(first) = cuts.first() {
        // With the start itself as a cut nothing came before that phase.
        return Some(match first.follows {
            _ if first.at.ns <= extent.start.ns => first.opens,
            Bootloader if !loader && ran_before_kernel(view, &first.at) => Firmware,
            // A log whose clock was set back begins before its own zero.
            Bootloader if !loader => first.opens,
            // What came between was not seen, so it counts as this one.
            _ if loader => first.follows.min(Bootloader),
            follows => follows,
        });
    }
    if loader {
        Some(Bootloader)
    } else if has(TrackKind::Kernel) || has(TrackKind::Initcall) {
        Some(Kernel)
    } else {
        has(TrackKind::Userspace).then_some(Userspace)
    }
}
