//! Predictions of boots whose work is known.

use bootlap_model::{Milestone, Stamp, TrackKind};
use proptest::prelude::*;

use super::*;
use crate::build::{Boot, wild_boot};

const MS: i64 = 1_000_000;

/// At 2 ns per instruction, in ms: a boot loader to 3000, of which 1000 to
/// 2500 is the autoboot wait and a hash check of 1 MB is 2500 to 2600; a kernel
/// to 4000 that prints 998 + 2 bytes; a program that works for 100 and sleeps
/// for 300.
fn boot() -> Boot {
    that_waits_in("autoboot wait")
}

/// The same, with this name for the wait.
fn that_waits_in(wait: &str) -> Boot {
    let mut boot = Boot::sim();
    let at = |ms: i64, insns: u64| Stamp::counted(ms * MS, insns);
    let banner = "U-Boot 2023.01";
    boot.mark_at(Milestone::PowerOn, at(0, 0))
        .mark_at(Milestone::KernelEntry, at(3000, 1_500_000_000))
        .mark_at(Milestone::UserEntry, at(4000, 2_000_000_000))
        .mark_at(Milestone::Ready, at(4400, 2_050_000_000))
        .span_at(TrackKind::Console, at(0, 0), at(1, 500_000), banner)
        .span_at(
            TrackKind::Bootloader,
            at(1000, 500_000_000),
            at(2500, 1_250_000_000),
            wait,
        )
        .span_at(
            TrackKind::Bootloader,
            at(2500, 1_250_000_000),
            at(2600, 1_300_000_000),
            "hash check",
        )
        .arg("bytes", "1000000")
        .span_at(
            TrackKind::Console,
            at(3500, 1_750_000_000),
            at(3501, 1_750_500_000),
            &"k".repeat(998),
        )
        .span_at(
            TrackKind::Console,
            at(4100, 2_050_000_000),
            at(4400, 2_050_000_000),
            "ready",
        );
    boot
}

/// 100 M instructions per second in the boot loader, 1 G elsewhere; a console
/// of 1000 bytes per second, storage of 10 MB/s.
fn board() -> Board {
    let speed = |insns_per_s| Speed {
        insns_per_s,
        storage_bytes_per_s: Some(10e6),
        storage_latency_s: 0.005,
        error: 0.1,
    };
    use PhaseName::{Application, Bootloader, Firmware, Initramfs, Kernel, Userspace};
    let speeds = [
        (Firmware, 1e8),
        (Bootloader, 1e8),
        (Kernel, 1e9),
        (Initramfs, 1e9),
        (Userspace, 1e9),
        (Application, 1e9),
    ];
    Board {
        name: "slow".into(),
        baud: 10_000,
        speeds: speeds.map(|(p, s)| (p, speed(s))).into(),
    }
}

#[test]
fn work_takes_the_boards_time_and_waits_take_their_own() {
    let amounts = amounts(&boot().timeline).unwrap();
    let of = |a: &Amount| (a.instructions, a.wait_ns / MS, a.console_bytes);
    let all: Vec<_> = amounts.iter().map(of).collect();
    assert_eq!(
        all,
        [
            (750_000_000, 1500, 16),
            (500_000_000, 0, 1000),
            (50_000_000, 300, 7)
        ]
    );
    let loader = &amounts[0];
    assert_eq!((loader.storage_bytes, loader.reads), (1_000_000, 1));
    let prediction = predict(&boot().timeline, &board()).unwrap();
    let ms = |p: &PredictedPhase| p.predicted.predicted_ns() / MS;
    let phases: Vec<i64> = prediction.phases.iter().map(ms).collect();
    // 7.5 s of work, 1.5 s of waiting, 16 ms of console, 105 ms of reading;
    // 0.5 s of work and 1 s of console; 50 ms of work, 300 ms of sleeping.
    assert_eq!(phases, [9121, 1500, 350]);
    assert_eq!(prediction.total.predicted_ns() / MS, 10_971);
    // A tenth of 7.605 s, of 0.5 s and of 0.05 s.
    assert_eq!(prediction.total.error_ns() / 100_000, 8_155);
}

#[test]
fn a_menu_counts_down_as_long_on_every_board() {
    let of = |boot: Boot| predict(&boot.timeline, &board());
    assert_eq!(of(that_waits_in("menu countdown")), of(boot()));
}

#[test]
fn data_on_the_console_takes_the_time_of_its_bytes() {
    let mut boot = boot();
    boot.span_at(
        TrackKind::Console,
        Stamp::counted(4050 * MS, 2_025_000_000),
        Stamp::counted(4060 * MS, 2_030_000_000),
        "bootlap-archive",
    )
    .arg("bytes", "5000");
    let amounts = amounts(&boot.timeline).unwrap();
    assert_eq!(amounts[2].console_bytes, 5007);
    let costs = crate::costs(&boot.timeline, usize::MAX);
    let printed = costs.iter().find(|c| c.name.ends_with("of the user space"));
    let why = &printed.unwrap().why;
    assert!(why.contains("prints 5005 characters"), "{why}");
}

#[test]
fn only_what_changed_makes_a_saving_unsure() {
    let before = predict(&boot().timeline, &board()).unwrap();
    assert_eq!(predicted_saving(&before, &before), Predicted::default());
    let mut quiet = boot();
    quiet.timeline.spans.retain(|s| s.start.ns != 3500 * MS);
    let after = predict(&quiet.timeline, &board()).unwrap();
    let saving = predicted_saving(&before, &after);
    assert_eq!((saving.predicted_ns(), saving.error_ns()), (1000 * MS, 0));
    let slower = predicted_saving(&after, &before);
    assert_eq!(slower.predicted_ns(), -1000 * MS);
    let mut fast = board();
    fast.speeds.get_mut(&PhaseName::Kernel).unwrap().insns_per_s = 2e9;
    let faster = predict(&boot().timeline, &fast).unwrap();
    let saving = predicted_saving(&before, &faster);
    assert_eq!(saving.predicted_ns(), 250 * MS);
    assert_eq!(saving.error_ns(), 25 * MS);
}

#[test]
fn reads_into_memory_are_the_only_reads_if_there_are_some() {
    let mut boot = boot();
    let at = |ms: i64, insns: u64| Stamp::counted(ms * MS, insns);
    let (from, to) = (at(2700, 1_350_000_000), at(2800, 1_400_000_000));
    boot.span_at(TrackKind::Bootloader, from, to, "read mmc")
        .arg("bytes", "5000");
    let amounts = amounts(&boot.timeline).unwrap();
    assert_eq!((amounts[0].storage_bytes, amounts[0].reads), (5000, 1));
}

#[test]
fn programs_do_not_wait_for_the_line_but_ready_does() {
    let mut board = board();
    board.baud = 100; // 10 bytes a second: "ready" takes 700 ms
    let prediction = predict(&boot().timeline, &board).unwrap();
    let user = prediction.phases.last().unwrap();
    assert_eq!(user.predicted.predicted_ns() / MS, 700);
}

#[test]
fn nothing_is_predicted_from_a_measured_or_endless_boot() {
    let mut measured = boot();
    measured.timeline.clocks[0].time = bootlap_model::TimeKind::Measured;
    assert_eq!(predict(&measured.timeline, &board()), None);
    let mut endless = boot();
    endless.timeline.marks.pop();
    assert_eq!(predict(&endless.timeline, &board()), None);
    let mut unknown = board();
    unknown.speeds.remove(&PhaseName::Kernel);
    assert_eq!(predict(&boot().timeline, &unknown), None);
}

proptest! {
    #[test]
    fn any_boot_is_predicted_or_not(boot in wild_boot()) {
        if let Some(prediction) = predict(&boot.timeline, &board()) {
            prop_assert!(prediction.total.error_ns() >= 0);
            let none = predicted_saving(&prediction, &prediction);
            prop_assert_eq!(none, Predicted::default());
        }
    }
}
