//! Boots as they are, and as they should not be.

use bootlap_model::{Span, SpanEnd, Stamp};
use proptest::prelude::*;

use super::*;
use crate::build::{Boot, MILESTONES, any_boot};
use PhaseName::{Application, Bootloader, Firmware, Initramfs, Kernel, Userspace};
use bootlap_model::Milestone as M;
use bootlap_model::TrackKind as K;

fn cuts(boot: &Boot) -> Vec<(PhaseName, i64, i64)> {
    let phases = phases(&boot.timeline);
    let cut = |p: &Phase| (p.name, p.start.ns, p.end.ns);
    phases.iter().map(cut).collect()
}

fn marks(list: &[(M, i64)]) -> Boot {
    let mut boot = Boot::sim();
    for &(milestone, ns) in list {
        boot.mark(milestone, ns);
    }
    boot
}

#[test]
fn stretches_are_in_the_phase_that_has_most_of_them() {
    let list = [
        (M::KernelEntry, 0),
        (M::InitStart, 3_500),
        (M::Ready, 9_600),
    ];
    let phases = phases(&marks(&list).timeline);
    let own = |list: &[(i64, i64)]| {
        let at = |ns| Stamp::new(ns, 0);
        let own: Vec<_> = list.iter().map(|&(a, b)| (at(a), at(b))).collect();
        phase_of_all(&phases, &own)
    };
    // They reach far into user space, and most of their time is the kernel's.
    let printed = [(100, 600), (1_000, 1_700), (7_000, 7_060), (9_500, 9_540)];
    assert_eq!(own(&printed), Some(Kernel));
    assert_eq!(own(&[(100, 200), (7_000, 7_300)]), Some(Userspace));
    assert_eq!(own(&[(200, 200), (9_000, 9_000)]), Some(Userspace));
    assert_eq!(own(&[(20_000, 20_100)]), None);
    assert_eq!(own(&[]), None);
}

#[test]
fn a_whole_boot_has_all_phases() {
    let at: Vec<_> = MILESTONES.into_iter().zip((0..).step_by(10)).collect();
    let mut boot = marks(&at);
    boot.text(2, 5, "BL1: v2.9(release)");
    assert_eq!(
        cuts(&boot),
        [
            (Firmware, 0, 10),
            (Bootloader, 10, 30),
            (Kernel, 30, 60),
            (Initramfs, 60, 70),
            (Userspace, 70, 90),
            (Application, 90, 100),
        ]
    );
}

/// Debian's initramfs says nothing of its end; systemd counts it as the kernel's.
#[test]
fn an_initramfs_ends_where_the_service_manager_starts() {
    const S: i64 = 1_000_000_000;
    let boot = |runs: &str, manager_ns: i64| {
        let mut boot = marks(&[
            (M::KernelClockStart, 0),
            (M::InitStart, 2 * S),
            (M::ManagerStart, manager_ns),
            (M::StartupFinished, 20 * S),
        ]);
        boot.text(2 * S, 2 * S, runs);
        cuts(&boot)
    };
    let one = boot("[    2.000000] Run /init as init process", 15 * S);
    let three = [
        (Kernel, 0, 2 * S),
        (Initramfs, 2 * S, 15 * S),
        (Userspace, 15 * S, 20 * S),
    ];
    assert_eq!(one, three);
    let two = [(Kernel, 0, 2 * S), (Userspace, 2 * S, 20 * S)];
    assert_eq!(
        boot("[    2.000000] Run /sbin/init as init process", 15 * S),
        two
    );
    // It is the initramfs' own.
    assert_eq!(
        boot("[    2.000000] Run /init as init process", 2 * S + S / 4),
        two
    );
    assert_eq!(boot("nobody says what", 15 * S), two);
}

/// Its first line in the kernel's log comes 0.9 s after it began on an emulated PC.
#[test]
fn the_service_manager_knows_best_when_it_began() {
    const S: i64 = 1_000_000_000;
    let mut boot = marks(&[
        (M::KernelClockStart, 0),
        (M::InitStart, 7 * S),
        (M::ManagerStart, 16 * S),
        (M::ManagerStart, 15 * S),
        (M::StartupFinished, 60 * S),
    ]);
    boot.text(7 * S, 7 * S, "[    7.000000] Run /init as init process");
    let three = [
        (Kernel, 0, 7 * S),
        (Initramfs, 7 * S, 15 * S),
        (Userspace, 15 * S, 60 * S),
    ];
    assert_eq!(cuts(&boot), three);
}

#[test]
fn what_runs_silently_before_the_banner_is_the_boot_loader() {
    let mut boot = marks(&[
        (M::PowerOn, 0),
        (M::BootloaderStart, 10),
        (M::KernelEntry, 50),
        (M::Ready, 90),
    ]);
    boot.text(1, 2, "\u{fffd}x");
    assert_eq!(cuts(&boot), [(Bootloader, 0, 50), (Kernel, 50, 90)]);
}

#[test]
fn without_a_boot_loader_firmware_runs_before_the_kernel() {
    let direct = marks(&[
        (M::PowerOn, 0),
        (M::KernelEntry, 5),
        (M::UserEntry, 60),
        (M::Ready, 90),
    ]);
    assert_eq!(
        cuts(&direct),
        [(Firmware, 0, 5), (Kernel, 5, 60), (Userspace, 60, 90)]
    );
}

#[test]
fn a_kernel_log_alone_begins_with_the_kernel() {
    let log = marks(&[(M::KernelClockStart, 0), (M::InitStart, 60), (M::Ready, 90)]);
    assert_eq!(cuts(&log), [(Kernel, 0, 60), (Userspace, 60, 90)]);
    // The kernel's first lines can be stamped before its clock was set.
    let mut reset = Boot::board();
    let printk = reset.kernel_clock(0, 0);
    reset.span_on(
        printk,
        K::Console,
        Stamp::new(-35, 0),
        SpanEnd::Unknown,
        "Linux version",
    );
    reset.mark(M::KernelClockStart, 0).mark(M::Ready, 90);
    assert_eq!(cuts(&reset), [(Kernel, -35, 90)]);
    // What programs print has no time, and of a quiet kernel nobody knows when they began.
    reset.arg(Span::UNTIMED, "3");
    assert_eq!(cuts(&reset), []);
    // Its first line is at an uncertain time on the board's clock.
    let mut board = Boot::board();
    board.kernel_clock(0, 0);
    board
        .mark_at(M::KernelClockStart, Stamp::new(1_000, 50))
        .mark(M::Ready, 9_000)
        .text(980, 1_100, "Booting Linux");
    assert_eq!(cuts(&board), [(Kernel, 980, 9_000)]);
}

#[test]
fn a_milestone_that_was_not_seen_merges_phases() {
    let no_kernel = marks(&[(M::BootloaderStart, 0), (M::UserEntry, 60), (M::Ready, 90)]);
    assert_eq!(cuts(&no_kernel), [(Bootloader, 0, 60), (Userspace, 60, 90)]);
    let no_init = marks(&[(M::KernelEntry, 0), (M::SwitchRoot, 60), (M::Ready, 90)]);
    assert_eq!(cuts(&no_init), [(Kernel, 0, 60), (Userspace, 60, 90)]);
    let handed = marks(&[(M::PowerOn, 0), (M::BootloaderHandover, 40), (M::Ready, 90)]);
    assert_eq!(cuts(&handed), [(Bootloader, 0, 40), (Kernel, 40, 90)]);
}

#[test]
fn nothing_known_is_no_phase() {
    assert_eq!(cuts(&marks(&[])), []);
    assert_eq!(cuts(&marks(&[(M::PowerOn, 0), (M::Ready, 90)])), []);
    let mut calls = Boot::sim();
    calls.span(K::Initcall, 5, 10, "foo_init");
    assert_eq!(cuts(&calls), [(Kernel, 5, 10)]);
}

#[test]
fn one_milestone_out_of_order_costs_only_its_own_cut() {
    let late = marks(&[
        (M::BootloaderStart, 0),
        (M::KernelEntry, 80),
        (M::UserEntry, 30),
        (M::ApplicationStart, 60),
        (M::Ready, 90),
    ]);
    assert_eq!(
        cuts(&late),
        [
            (Bootloader, 0, 30),
            (Userspace, 30, 60),
            (Application, 60, 90)
        ]
    );
}

fn parts(boot: &Boot) -> Vec<(String, i64, i64)> {
    let phases = phases(&boot.timeline);
    let parts = phases.iter().flat_map(|p| &p.parts);
    parts
        .map(|p| (p.name.clone(), p.start.ns, p.end.ns))
        .collect()
}

#[test]
fn parts_are_named_and_disjoint() {
    let mut boot = marks(&[
        (M::PowerOn, 0),
        (M::BootloaderStart, 5),
        (M::KernelEntry, 100),
        (M::Ready, 900),
    ]);
    boot.span(K::Bootloader, 10, 30, "autoboot wait")
        .span(K::Bootloader, 40, 90, "load kernel")
        .span(K::Bootloader, 50, 60, "hash check")
        .arg("image", "kernel");
    let expected = [
        ("autoboot wait", 10, 30),
        ("load kernel", 40, 50),
        ("hash check of kernel", 50, 60),
        ("load kernel", 60, 90),
    ];
    assert_eq!(parts(&boot), expected.map(|(n, a, b)| (n.to_owned(), a, b)));
}

#[test]
fn the_stages_of_a_kernel_leave_room_for_what_has_a_name() {
    let mut boot = marks(&[(M::KernelEntry, 100), (M::KernelClockStart, 120)]);
    boot.mark(M::InitStart, 800)
        .mark(M::UserEntry, 810)
        .mark(M::Ready, 900);
    let printk = boot.kernel_clock(100, 1);
    let at = |ns| Stamp::new(ns, 1);
    for (start, end) in [(50, 60), (200, 500), (720, 750)] {
        let end = SpanEnd::At(at(end));
        boot.span_on(printk, K::Initcall, at(start), end, "foo_init");
    }
    boot.span_on(
        printk,
        K::Kernel,
        at(250),
        SpanEnd::At(at(400)),
        "unpack initramfs",
    );
    let expected = [
        ("before its clock", 100, 120),
        ("early start", 120, 150),
        ("initcalls", 150, 350),
        ("unpack initramfs", 350, 500),
        ("initcalls", 500, 600),
        ("start init", 800, 810),
    ];
    assert_eq!(parts(&boot), expected.map(|(n, a, b)| (n.to_owned(), a, b)));
}

#[test]
fn what_sticks_out_by_its_error_stays_in_its_phase() {
    let mut boot = marks(&[
        (M::PowerOn, 0),
        (M::BootloaderStart, 0),
        (M::KernelEntry, 1_000),
        (M::Ready, 9_000),
    ]);
    boot.span_at(
        K::Kernel,
        Stamp::new(960, 50),
        Stamp::new(5_000, 50),
        "unpack initramfs",
    );
    assert_eq!(
        parts(&boot),
        [("unpack initramfs".to_owned(), 1_000, 5_000)]
    );
}

/// A host that stamps whole seconds, before the kernel's own times of µs: where both lie is
/// known to a second, how long the kernel took to a µs.
#[test]
fn a_clock_that_is_known_to_a_second_leaves_its_phases_their_length() {
    const MS: i64 = 1_000_000;
    let at = |ms: i64| Stamp::new(5_000 * MS + ms * MS, 1_025_000_000);
    let mut boot = Boot::board();
    boot.mark_at(M::KernelClockStart, at(0))
        .mark_at(M::InitStart, at(730))
        .mark_at(M::Ready, at(3_500));
    boot.text(5_000 * MS, 5_000 * MS, "Linux version 6.1");
    let lengths: Vec<_> = cuts(&boot)
        .iter()
        .map(|(name, a, b)| (*name, (b - a) / MS))
        .collect();
    assert_eq!(lengths, [(Kernel, 730), (Userspace, 2_770)]);
}

/// What the host stamped seems to come later than what the kernel did.
#[test]
fn a_boot_loader_that_is_known_to_a_second_is_not_behind_its_kernel() {
    const MS: i64 = 1_000_000;
    let at = |ms: i64| Stamp::new(ms * MS, 1_130_000_000);
    let mut boot = Boot::board();
    boot.mark_at(M::BootloaderStart, at(1_079))
        .mark_at(M::BootloaderHandover, at(1_079))
        .mark_at(M::KernelClockStart, at(1_064))
        .mark_at(M::InitStart, at(2_693))
        .mark_at(M::Ready, at(9_000));
    boot.text(0, MS, "reads the boot loader");
    let found = cuts(&boot);
    let lengths: Vec<_> = found
        .iter()
        .map(|(name, a, b)| (*name, (b - a) / MS))
        .collect();
    let three = [(Bootloader, 1_064), (Kernel, 1_629), (Userspace, 6_307)];
    assert_eq!(lengths, three);
}

#[test]
fn instructions_come_from_counted_ends() {
    let mut boot = Boot::sim();
    boot.mark_at(M::PowerOn, Stamp::counted(0, 0))
        .mark_at(M::KernelEntry, Stamp::counted(2_000, 1_000))
        .mark(M::Ready, 9_000);
    let phases = phases(&boot.timeline);
    assert_eq!(phases[0].instructions(), Some(1_000));
    assert_eq!(
        (phases[1].instructions(), phases[1].duration_ns()),
        (None, 7_000)
    );
}

#[test]
fn a_kernel_whose_end_nobody_saw_has_no_phase() {
    let mut units = Boot::board();
    units
        .mark(M::KernelClockStart, 0)
        .span(K::Unit, 4_000, 9_000, "ssh.service");
    assert_eq!(cuts(&units), []);

    let mut loader = Boot::board();
    loader
        .mark(M::BootloaderStart, 0)
        .mark(M::BootloaderHandover, 1_000)
        .text(1_500, 2_000, "[    0.1] Linux version 6.1")
        .text(4_000, 5_000, "systemd[1]: Detected architecture arm64.");
    assert_eq!(cuts(&loader), [(Bootloader, 0, 1_000)]);
    loader.mark(M::InitStart, 3_000);
    let known = [
        (Bootloader, 0, 1_000),
        (Kernel, 1_000, 3_000),
        (Userspace, 3_000, 5_000),
    ];
    assert_eq!(cuts(&loader), known);
}

#[test]
fn an_excerpt_of_a_kernels_log_is_no_kernel_phase() {
    let log = |first: i64| {
        let mut boot = Boot::board();
        let kernel = boot.kernel_clock(0, 0);
        for ns in [first, first + 7_000_000_000] {
            let at = (Stamp::new(ns, 0), SpanEnd::Unknown);
            boot.span_on(kernel, K::Console, at.0, at.1, "a line");
        }
        boot.mark(M::KernelClockStart, 0);
        cuts(&boot)
    };
    assert_eq!(log(1_400_000_000), []);
    assert_eq!(log(0), [(Kernel, 0, 7_000_000_000)]);
}

proptest! {
    #[test]
    fn phases_cover_any_boot_without_holes(boot in any_boot()) {
        let timeline = &boot.timeline;
        let phases = phases(timeline);
        if let (Some(first), Some(last)) = (phases.first(), phases.last()) {
            let extent = crate::extent(timeline).unwrap();
            prop_assert_eq!(first.start, extent.start);
            // Before a kernel whose end nobody saw.
            let cut = last.name < Kernel && last.end.ns < extent.end.ns;
            prop_assert!(cut || last.end == extent.end);
        }
        for pair in phases.windows(2) {
            prop_assert_eq!(pair[0].end, pair[1].start);
            prop_assert!(pair[0].name < pair[1].name);
        }
        for phase in &phases {
            prop_assert!(phase.start.ns < phase.end.ns);
            let mut from_ns = phase.start.ns;
            for part in &phase.parts {
                prop_assert!(from_ns <= part.start.ns && part.start.ns < part.end.ns);
                from_ns = part.end.ns;
            }
            prop_assert!(from_ns <= phase.end.ns);
        }
    }
}
