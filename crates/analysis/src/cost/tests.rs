//! What a person would name, and nothing twice.

use bootlap_model::{Milestone as M, TimeKind, TrackKind as K};
use proptest::prelude::*;

use super::*;
use crate::build::{Boot, any_boot};

fn named(boot: &Boot, n: usize) -> Vec<(String, i64)> {
    let costs = costs(&boot.timeline, n).into_iter();
    costs.map(|c| (c.name, c.duration_ns)).collect()
}

fn list(expected: &[(&str, i64)]) -> Vec<(String, i64)> {
    expected.iter().map(|&(n, d)| (n.to_owned(), d)).collect()
}

#[test]
fn known_parts_come_before_the_silence_around_them() {
    let mut boot = Boot::sim();
    boot.mark(M::PowerOn, 0)
        .mark(M::BootloaderStart, 10)
        .text(10, 20, "U-Boot 2023.01")
        .text(30, 40, "Hit any key to stop autoboot:  2")
        .text(2_040, 2_050, "## Loading kernel from FIT Image")
        .text(3_500, 3_510, "Starting kernel ...")
        .mark(M::KernelEntry, 3_520)
        .text(4_200, 4_210, "[    0.000000] Booting Linux")
        .mark(M::Ready, 4_300)
        .span(K::Bootloader, 40, 2_040, "autoboot wait")
        .span(K::Bootloader, 2_600, 3_500, "hash check")
        .arg("image", "kernel")
        .arg("algo", "crc32")
        .arg("bytes", "11225723");
    let expected = [
        ("autoboot wait", 2_000),
        ("hash check of kernel", 900),
        ("silence after \"kernel starts\"", 680),
        ("silence after \"## Loading kernel from FIT Image\"", 550),
    ];
    assert_eq!(named(&boot, 4), list(&expected));
    let costs = costs(&boot.timeline, 4);
    assert_eq!(costs[0].why, "U-Boot counts down bootdelay");
    assert_eq!(
        costs[1].why,
        "U-Boot computes crc32 of the kernel, 11225723 bytes"
    );
    assert_eq!(costs[2].why, "nothing tells what the machine did");
    assert_eq!(costs[2].phase, Some(PhaseName::Kernel));
}

#[test]
fn what_lies_between_units_is_a_cost_where_nothing_is_printed() {
    let mut boot = Boot::sim();
    boot.mark(M::ManagerStart, 0)
        .mark(M::StartupFinished, 10_000)
        .span(K::Unit, 500, 1_000, "a.service")
        .span(K::Unit, 1_000, 1_000, "network.target")
        .span(K::Unit, 8_000, 10_000, "b.service");
    let between = ("between network.target and b.service", 7_000);
    let units = [("b.service", 2_000), ("a.service", 500)];
    let before = ("before a.service", 500);
    let expected = [between, units[0], before, units[1]];
    assert_eq!(named(&boot, 9), list(&expected));
    // Silences of a console say better what came before.
    boot.text(900, 910, "a line");
    assert!(!named(&boot, 9).contains(&(between.0.to_owned(), between.1)));
}

#[test]
fn counts_say_whether_the_machine_worked_or_waited() {
    let at = Stamp::counted;
    let mut boot = Boot::sim();
    boot.mark_at(M::PowerOn, at(0, 0))
        .span_at(
            K::Bootloader,
            at(0, 0),
            at(2_000_000_000, 1_000_000_000),
            "autoboot wait",
        )
        .span_at(
            K::Console,
            at(2_000_000_000, 1_000_000_000),
            at(2_000_000_100, 1_000_000_050),
            "a",
        )
        .span_at(
            K::Console,
            at(3_000_000_100, 1_005_000_050),
            at(3_000_000_200, 1_005_000_100),
            "b",
        );
    let costs = costs(&boot.timeline, 9);
    assert_eq!(
        costs[0].why,
        "U-Boot counts down bootdelay; works: 1 000 M instructions"
    );
    assert_eq!(costs[0].idle_share, Some(0.0));
    assert_eq!(costs[1].name, "silence after \"a\"");
    assert_eq!(costs[1].why, "waits: 99 % idle");
    assert_eq!(costs[1].idle_share, Some(0.99));
}

#[test]
fn short_initcalls_are_one_cost() {
    let mut boot = Boot::sim();
    boot.mark(M::KernelEntry, 0).mark(M::Ready, 10_000);
    boot.span(K::Initcall, 1_000, 2_000, "populate_rootfs");
    for i in 0..50 {
        let start = 3_000 + i * 50;
        boot.span(K::Initcall, start, start + 40, &format!("tiny{i}_init"));
    }
    let expected = [
        ("silence after \"kernel starts\"", 4_500),
        ("50 short initcalls", 2_000),
        ("initcall populate_rootfs", 1_000),
    ];
    // Text at the end: so that the silence is one.
    boot.text(9_900, 10_000, "ready");
    let named = named(&boot, 10);
    for cost in &list(&expected)[1..] {
        assert!(named.contains(cost), "{named:?}");
    }
}

#[test]
fn the_rest_of_a_silence_is_named_by_the_part_before_it() {
    let mut boot = Boot::sim();
    boot.text(0, 10, "## Loading")
        .span(K::Bootloader, 100, 400, "uncompress kernel")
        .text(1_000, 1_010, "Starting kernel ...");
    let expected = [
        ("silence after uncompress kernel", 600),
        ("uncompress kernel", 300),
        ("silence after \"## Loading\"", 90),
    ];
    assert_eq!(named(&boot, 3), list(&expected));
}

#[test]
fn a_slow_console_is_a_cost() {
    let mut boot = Boot::board();
    boot.text(0, 500, "[    0.1] a long line")
        .text(500, 900, "[    0.2] and another")
        .text(950, 951, "x");
    let cost = &costs(&boot.timeline, 1)[0];
    assert_eq!(
        (cost.name.as_str(), cost.duration_ns),
        ("console text", 901)
    );
    assert_eq!(cost.why, "prints 43 characters");
}

proptest! {
    #[test]
    fn costs_of_any_boot_fit_into_it(boot in any_boot()) {
        let all = costs(&boot.timeline, usize::MAX);
        let total_ns = crate::extent(&boot.timeline).map_or(0, |e| e.duration_ns());
        let sum = all.iter().fold(0i128, |sum, c| sum + i128::from(c.duration_ns));
        prop_assert!(sum <= i128::from(total_ns), "{sum} > {total_ns}: {all:#?}");
        for pair in all.windows(2) {
            prop_assert!(pair[0].duration_ns >= pair[1].duration_ns);
        }
        for cost in &all {
            prop_assert!(cost.duration_ns > 0);
            prop_assert!(cost.idle_share.is_none_or(|i| (0.0..=1.0).contains(&i)));
        }
        let few = costs(&boot.timeline, 2);
        prop_assert_eq!(&few[..], &all[..all.len().min(2)]);
    }

    #[test]
    fn gaps_of_any_boot_are_ordered(boot in any_boot()) {
        let gaps = crate::gaps(&boot.timeline, 5);
        for pair in gaps.windows(2) {
            prop_assert!(pair[0].duration_ns() >= pair[1].duration_ns());
        }
        prop_assert!(gaps.iter().all(|g| g.duration_ns() >= 5));
    }
}

#[test]
fn lengths_without_a_beginning_are_ranked_as_they_are() {
    let mut boot = Boot::on(bootlap_model::ClockKind::Relative, TimeKind::Measured);
    // Of one false zero, as `systemd-analyze blame` gives them.
    for (name, ms) in [
        ("slow.service", 25_777),
        ("next.service", 24_527),
        ("quick.service", 3),
    ] {
        boot.span(K::Unit, 0, ms * 1_000_000, name)
            .arg("start", "unknown");
    }
    let costs = costs(&boot.timeline, 9);
    let seen: Vec<_> = costs
        .iter()
        .map(|c| (c.name.as_str(), c.duration_ns / 1_000_000))
        .collect();
    let expected = [
        ("slow.service", 25_777),
        ("next.service", 24_527),
        ("quick.service", 3),
    ];
    assert_eq!(seen, expected);
    assert_eq!(crate::extent(&boot.timeline), None);
}

#[test]
fn how_long_a_service_lived_is_no_cost() {
    let mut boot = Boot::sim();
    boot.mark(Milestone::PowerOn, 0)
        .text(0, 1, "init: starting service 'adbd'")
        .span(TrackKind::Userspace, 1, 900_000_000, "adbd")
        .arg(bootlap_model::Span::LIFETIME, "yes")
        .text(400_000_000, 400_000_001, "init: starting service 'netd'")
        .text(
            900_000_000,
            900_000_001,
            "init: Service 'adbd' received signal 9",
        );
    let names: Vec<String> = costs(&boot.timeline, 9)
        .into_iter()
        .map(|c| c.name)
        .collect();
    assert!(names.iter().all(|name| name != "adbd"), "{names:?}");
    assert!(
        names.iter().any(|name| name.starts_with("silence after")),
        "{names:?}"
    );
}
