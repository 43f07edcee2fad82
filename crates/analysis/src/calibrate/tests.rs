//! Boards of known speed, and what calibration makes of their logs.

use bootlap_model::{Stamp, TrackKind};
use proptest::prelude::*;

use super::*;
use crate::build::{Boot, wild_boot};

/// How much a line's stretch does: instructions (in k), and idling (in us),
/// and how often a board's own speed is that of its phase.
struct Step {
    insns_k: u64,
    idle_us: i64,
    hardware_us: i64,
}

/// 40 stretches of unequal work; a few of them sleep, one waits for hardware
/// that only the board has.
fn steps() -> Vec<Step> {
    let step = |i: u64| Step {
        insns_k: 300 + (i * 7919) % 2_000,
        idle_us: if i.is_multiple_of(9) { 4_000 } else { 0 },
        hardware_us: if i == 20 { 400_000 } else { 0 },
    };
    (0..40).map(step).collect()
}

fn text(i: usize) -> String {
    format!("line {i} of the kernel {}", "x".repeat(i % 30))
}

/// The boot in the lab: 2 ns per instruction.
fn lab() -> Boot {
    let mut boot = Boot::sim();
    let (mut ns, mut insns) = (0, 0);
    for (i, step) in steps().iter().enumerate() {
        let at = Stamp::counted(ns, insns);
        boot.span_at(TrackKind::Console, at, at, &text(i));
        insns += step.insns_k * 1_000;
        ns += step.insns_k as i64 * 2_000 + step.idle_us * 1_000;
    }
    let at = Stamp::counted(ns, insns);
    boot.span_at(TrackKind::Console, at, at, "end");
    boot
}

/// The same on a board of `mips`, whose speed differs by `spread` from stretch
/// to stretch, on a line of `baud`; after it 12 lines of plain output.
fn board(mips: f64, spread: f64, baud: u32) -> Boot {
    let mut boot = Boot::board();
    let mut ns = 0.0;
    for (i, step) in steps().iter().enumerate() {
        boot.text(ns as i64, ns as i64, &text(i));
        let swing = 1.0 + spread * if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        ns += bytes_ns(text(i).len() as u64 + 2, baud)
            + step.insns_k as f64 * 1e6 / mips * swing
            + (step.idle_us + step.hardware_us) as f64 * 1e3;
    }
    boot.text(ns as i64, ns as i64, "end");
    ns += bytes_ns(5, baud);
    for i in 0..12 {
        boot.text(ns as i64, ns as i64, &format!("{i:0>70}"));
        ns += bytes_ns(72, baud);
    }
    boot
}

#[test]
fn the_truth_lies_within_the_stated_error() {
    for (mips, spread, baud) in [
        (300.0, 0.0, 115_200),
        (80.0, 0.2, 57_600),
        (1000.0, 0.05, 9_600),
    ] {
        let (lab, board) = (lab(), board(mips, spread, baud));
        let found = calibrate(&lab.timeline, &board.timeline, Rate::Unknown).unwrap();
        assert_eq!(
            (found.baud.bits_per_s, found.baud.from),
            (baud, BaudFrom::Seen)
        );
        let [speed] = found.speeds.as_slice() else {
            panic!("{:?}", found.speeds);
        };
        let off = (speed.insns_per_s / (mips * 1e6) - 1.0).abs();
        assert!(off <= speed.error, "{mips}: {speed:?}");
        let most = (spread.powi(2) * 1.2 + UNSURE.powi(2) / 20.0).sqrt();
        assert!(speed.error <= most, "{mips}: {speed:?}");
        assert_eq!((speed.used, speed.left_out), (39, 1));
        // The hardware's time is the only one that the model does not explain.
        let (board_ns, model_ns) = found.totals_ns();
        let unexplained = (board_ns - model_ns) as f64 / 1e9;
        let share = spread * board_ns as f64 / 1e9 * 0.1 + 0.002;
        assert!((unexplained - 0.4).abs() < share, "{unexplained} {share}");
        let slow = found.stretches.iter().find(|s| s.left_out).unwrap();
        assert!(slow.from.starts_with("line 20 "), "{}", slow.from);
    }
}

#[test]
fn a_single_stretch_is_not_trusted() {
    let (mut lab, mut board) = (lab(), board(300.0, 0.0, 115_200));
    lab.timeline.spans.truncate(2);
    board.timeline.spans.truncate(2);
    // Too little work, then enough of it in one stretch.
    let speed = calibrate(&lab.timeline, &board.timeline, Rate::Unknown);
    assert_eq!(speed, Err(NotCalibrated::TooLittle));
    let mut lab = Boot::sim();
    let mut board = Boot::board();
    for (ms, text) in [(0, "a"), (100, "b")] {
        let at = Stamp::counted(ms * 1_000_000, ms as u64 * 500_000);
        lab.span_at(TrackKind::Console, at, at, text);
        board.text(ms * 5_000_000, ms * 5_000_000, text);
    }
    let found = calibrate(&lab.timeline, &board.timeline, Rate::Told(9_600)).unwrap();
    assert_eq!(found.baud.from, BaudFrom::Told);
    assert!((found.speeds[0].error - UNSURE).abs() < 1e-9);
}

#[test]
fn what_cannot_be_calibrated_says_why() {
    let (lab, board) = (lab(), board(300.0, 0.0, 115_200));
    let why =
        |lab: &Boot, board: &Boot| calibrate(&lab.timeline, &board.timeline, Rate::Unknown).err();
    assert_eq!(why(&board, &board), Some(NotCalibrated::NotCounted));
    assert_eq!(why(&lab, &lab), Some(NotCalibrated::NotMeasured));
    let mut other = Boot::board();
    other.text(0, 0, "something").text(5, 5, "else");
    assert_eq!(why(&lab, &other), Some(NotCalibrated::NothingInCommon));
    assert_eq!(why(&lab, &Boot::board()), Some(NotCalibrated::NotMeasured));
}

#[test]
fn a_kernels_log_has_its_own_times_and_keeps_what_comes_before_the_console() {
    use bootlap_model::{ClockKind, Milestone};
    let stamped = |s: f64, text: &str| format!("[{s:>12.6}] {text}");
    // The lab sends all of it when the console opens, at 0.5 s.
    let mut lab = Boot::sim();
    lab.mark_at(
        Milestone::KernelClockStart,
        Stamp::counted(100_000_000, 50_000_000),
    );
    let lines = [
        (0.0, "one"),
        (0.2, "two"),
        (0.4, "printk: console [ttyS0] enabled"),
        (0.6, "three"),
    ];
    for (s, text) in lines {
        let ns = 100_000_000 + (f64::max(s, 0.4) * 1e9) as i64;
        let at = Stamp::counted(ns, ns as u64 / 2);
        lab.span_at(TrackKind::Console, at, at, &stamped(s, text));
    }
    // Ten times as slow, and all bytes up to the console's are sent at once.
    let mut board = Boot::board();
    board.timeline.clocks[0].kind = ClockKind::KernelPrintk;
    let sent: usize = lines[..3]
        .iter()
        .map(|(s, t)| stamped(*s, t).len() + 2)
        .sum();
    for (i, (s, text)) in lines.iter().enumerate() {
        let flush_ns = if i == 3 {
            bytes_ns(sent as u64, 9_600)
        } else {
            0.0
        };
        let ns = (s * 1e10 + flush_ns) as i64;
        board.text(ns, ns, &stamped(ns as f64 / 1e9, text));
    }
    let found = calibrate(&lab.timeline, &board.timeline, Rate::Told(9_600)).unwrap();
    let speed = &found.speeds[0];
    assert!((speed.insns_per_s / 50e6 - 1.0).abs() < 0.001, "{speed:?}");
    assert_eq!((speed.used, found.baud.from), (3, BaudFrom::Told));
}

proptest! {
    /// Whatever logs hold, a calibration has speeds that can be used.
    #[test]
    fn any_two_boots_give_a_speed_or_a_reason(lab in wild_boot(), mut board in wild_boot()) {
        board.timeline.clocks[0].time = bootlap_model::TimeKind::Measured;
        if let Ok(found) = calibrate(&lab.timeline, &board.timeline, Rate::Unknown) {
            for speed in &found.speeds {
                prop_assert!(speed.insns_per_s > 0.0 && speed.insns_per_s.is_finite());
                prop_assert!((0.0..=1.0).contains(&speed.error));
            }
        }
    }
}
