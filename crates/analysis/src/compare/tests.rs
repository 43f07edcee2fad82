//! What shrinks, what grows, and what only moves.

use bootlap_model::{Milestone as M, TrackKind as K};
use proptest::prelude::*;

use super::place::Spot;
use super::*;
use crate::build::{Boot, any_boot};

const MS: i64 = 1_000_000;

fn delta(comparison: &Comparison, name: &str) -> i64 {
    let mut all = comparison.phases.iter().chain(&comparison.parts);
    let found = all.find(|d| d.name == name);
    found
        .unwrap_or_else(|| panic!("no {name}: {:#?}", comparison.parts))
        .delta_ns
}

/// U-Boot waits `wait`, the kernel is silent for `silence` before `late`.
fn boot(wait_ms: i64, silence_ms: i64, late: &str) -> Boot {
    let mut boot = Boot::sim();
    let mut at = 0;
    let mut step = |ms: i64| {
        at += ms * MS;
        at
    };
    boot.mark(M::PowerOn, 0).mark(M::BootloaderStart, step(10));
    let prompt = step(10);
    let go = step(wait_ms);
    boot.text(prompt, prompt + 10, "Hit any key")
        .span(K::Bootloader, prompt, go, "autoboot wait")
        .text(go, go + 10, "Starting kernel ...")
        .mark(M::KernelEntry, step(5));
    let early = step(100);
    boot.text(early, early + 10, "[    0.1] SCI driver initialized");
    let next = step(silence_ms);
    boot.text(next, next + 10, &format!("[    {silence_ms}.2] {late}"))
        .mark(M::UserEntry, step(20));
    let ready = step(300);
    boot.text(ready, ready + 10, "ready").mark(M::Ready, ready);
    boot
}

#[test]
fn a_saving_is_found_where_it_was_made() {
    let (before, after) = (boot(2_000, 50, "clk"), boot(0, 50, "clk"));
    let c = compare(&before.timeline, &after.timeline);
    assert_eq!(c.total.delta_ns, -2_000 * MS);
    assert_eq!(
        c.parts[0],
        Delta::new("autoboot wait", Some(2_000 * MS), None)
    );
    assert_eq!(delta(&c, "boot loader"), -2_000 * MS);
    assert_eq!(delta(&c, "kernel"), 0);
    assert_eq!(c.moved, []);
    assert!(c.before_ready && c.after_ready);
}

#[test]
fn a_saving_that_came_back_elsewhere_is_told() {
    let (before, after) = (boot(4_000, 50, "clk"), boot(0, 3_950, "clk"));
    let c = compare(&before.timeline, &after.timeline);
    assert_eq!(
        c.moved,
        [Moved {
            from: "autoboot wait".to_owned(),
            to: "silence after \"SCI driver initialized\"".to_owned(),
            ns: 3_900 * MS,
            saved_ns: 4_000 * MS,
            grew_ns: 3_900 * MS,
        }]
    );
}

#[test]
fn a_line_that_one_boot_does_not_print_moves_no_time() {
    let (before, after) = (boot(0, 500, "clk: off"), boot(0, 500, "another line"));
    let c = compare(&before.timeline, &after.timeline);
    assert_eq!(c.total.delta_ns, 0);
    assert_eq!(c.moved, []);
    assert!(c.parts.iter().all(|d| d.delta_ns == 0), "{:#?}", c.parts);
}

#[test]
fn initcalls_that_one_boot_logged_are_no_movement() {
    let before = boot(0, 500, "clk");
    let mut after = boot(0, 500, "clk");
    after.span(K::Initcall, 200 * MS, 600 * MS, "foo_init");
    let c = compare(&before.timeline, &after.timeline);
    assert_eq!((c.total.delta_ns, c.moved.len()), (0, 0));
    assert!(c.parts.iter().all(|d| !d.name.contains("foo_init")));
}

#[test]
fn initcalls_that_hardly_change_are_summed() {
    let with_calls = |ms: i64| {
        let mut boot = boot(0, 500, "clk");
        boot.span(K::Initcall, 200 * MS, (200 + ms) * MS, "slow_init")
            .span(K::Initcall, 500 * MS, 501 * MS, "a_init")
            .span(K::Initcall, 502 * MS, 503 * MS, "b_init");
        boot
    };
    let c = compare(&with_calls(200).timeline, &with_calls(100).timeline);
    assert_eq!(delta(&c, "initcall slow_init"), -100 * MS);
    let other = c
        .parts
        .iter()
        .find(|d| d.name == "other initcalls")
        .unwrap();
    assert_eq!(other.before_ns, Some(2 * MS));
}

#[test]
fn what_a_quiet_kernel_does_not_say_did_not_vanish() {
    let mut before = boot(0, 500, "clk");
    before.span(K::Kernel, 150 * MS, 500 * MS, "unpack initramfs");
    let c = compare(&before.timeline, &boot(0, 700, "clk").timeline);
    assert_eq!(c.moved, []);
    assert_eq!(c.parts[0].name, "silence after \"SCI driver initialized\"");
    assert_eq!(c.parts[0].delta_ns, 200 * MS);
}

#[test]
fn a_stretch_without_one_long_silence_is_named_by_its_ends() {
    let with_lines = |texts: &[(i64, &str)]| {
        let mut boot = Boot::sim();
        boot.mark(M::KernelEntry, 0).text(MS, 2 * MS, "first");
        for &(at, text) in texts {
            boot.text(at * MS, at * MS + 10, text);
        }
        boot.mark(M::Ready, texts.last().unwrap().0 * MS);
        boot
    };
    let before = with_lines(&[(100, "a"), (200, "b"), (300, "c"), (400, "last")]);
    let c = compare(&before.timeline, &with_lines(&[(50, "last")]).timeline);
    assert_eq!(c.parts[0].name, "from \"first\" to end of kernel");
    assert_eq!(c.parts[0].delta_ns, -350 * MS);
}

#[test]
fn a_boot_that_never_got_ready_says_so() {
    let mut after = boot(0, 50, "clk");
    after.timeline.marks.pop();
    let c = compare(&boot(0, 50, "clk").timeline, &after.timeline);
    assert!(c.before_ready && !c.after_ready);
    let none = compare(&Timeline::default(), &after.timeline);
    assert_eq!((none.total.before_ns, none.parts.len()), (None, 0));
}

#[test]
fn noise_does_not_move() {
    assert_eq!(noise_ns(100 * MS, 50 * MS), MS);
    assert_eq!(noise_ns(4_000 * MS, 8_000 * MS), 40 * MS);
    let (before, after) = (boot(4_000, 50, "clk"), boot(3_985, 65, "clk"));
    let c = compare(&before.timeline, &after.timeline);
    assert_eq!(c.moved, []);
}

fn shift(name: &str, delta_ns: i64) -> (Delta, Spot) {
    at(0, name, delta_ns)
}

fn at(offset_ns: i64, name: &str, delta_ns: i64) -> (Delta, Spot) {
    let spot = Spot {
        phase: Some(PhaseName::Kernel),
        offset_ns,
    };
    (Delta::new(name, Some(100), Some(100 + delta_ns)), spot)
}

#[test]
fn growth_is_paired_with_the_saving_beside_it() {
    let mut deltas = [
        at(0, "autoboot wait", -2_000),
        at(2_100, "uncompress kernel", -900),
        at(2_050, "hash check of kernel", 260),
    ];
    let from = |deltas: &[(Delta, Spot)]| moved::pair(deltas, 6)[0].from.clone();
    assert_eq!(from(&deltas), "uncompress kernel");
    // In another phase it may be another matter altogether.
    deltas[2].1.phase = Some(PhaseName::Userspace);
    assert_eq!(moved::pair(&deltas, 6), []);
}

#[test]
fn savings_and_growth_are_paired_largest_first() {
    let deltas = [
        shift("a", -50),
        shift("b", -30),
        shift("x", 60),
        shift("y", 5),
    ];
    let moved = moved::pair(&deltas, 6);
    let seen: Vec<_> = moved
        .iter()
        .map(|m| (m.from.as_str(), m.to.as_str(), m.ns))
        .collect();
    assert_eq!(seen, [("a", "x", 50), ("b", "x", 10)]);
}

#[test]
fn a_little_growth_beside_a_large_saving_is_another_matter() {
    let mut deltas = vec![shift("a", -1_000), shift("x", 60)];
    assert_eq!(moved::pair(&deltas, 6), []);
    deltas.push(shift("y", 50));
    assert_eq!(moved::pair(&deltas, 6).len(), 2);
}

proptest! {
    #[test]
    fn the_changes_of_all_places_add_up_to_the_total(a in any_boot(), b in any_boot()) {
        let c = compare(&a.timeline, &b.timeline);
        if c.total.before_ns.is_none() || c.total.after_ns.is_none() {
            return Ok(());
        }
        let sum = |side: fn(&Delta) -> Option<i64>| -> i128 {
            c.parts.iter().filter_map(side).map(i128::from).sum()
        };
        prop_assert_eq!(sum(|d| d.before_ns), i128::from(c.total.before_ns.unwrap()));
        prop_assert_eq!(sum(|d| d.after_ns), i128::from(c.total.after_ns.unwrap()));
        prop_assert!(c.moved.iter().all(|m| m.ns <= m.saved_ns && m.ns <= m.grew_ns));
    }

    #[test]
    fn a_boot_does_not_differ_from_itself(a in any_boot()) {
        let c = compare(&a.timeline, &a.timeline);
        prop_assert!(c.parts.iter().chain(&c.phases).all(|d| d.delta_ns == 0));
        prop_assert_eq!(c.moved, []);
    }
}
