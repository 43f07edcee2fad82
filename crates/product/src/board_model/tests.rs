//! What `[board]` means, and what is told about mistakes in it.

use super::*;
use crate::target::tests::parse;

/// A valid target with this `[board]`.
fn board(lines: &str) -> Result<BoardModel, String> {
    let text = crate::target::tests::PLAIN.to_owned() + "\n[board]\n" + lines;
    let target = parse(&text).map_err(|e| e.to_string())?;
    Ok(target.board.expect("the table is there"))
}

#[test]
fn one_value_is_for_all_phases() {
    let board = board("instructions-per-second = 300e6\nstorage-bandwidth = \"10 MB/s\"").unwrap();
    for phase in PHASES {
        assert_eq!(board.instructions_per_second.of(phase), Some(300e6));
        assert_eq!(board.storage_bandwidth.of(phase), Some(10e6));
        assert_eq!(board.storage_latency.of(phase), None);
        assert_eq!(board.error.of(phase), Some(ERROR));
    }
    assert_eq!((board.name.as_str(), board.baud), ("the board", 115_200));
}

#[test]
fn a_phase_without_a_value_runs_as_the_one_before() {
    let board = board(
        "name = \"x\"\ninstructions-per-second = { bootloader = 80_000_000, kernel = 3e8 }\n\
         storage-latency = { kernel = \"500 us\" }\nerror = { kernel = 0.1 }\nbaud = 9600",
    )
    .unwrap();
    let of = |phase| board.instructions_per_second.of(phase);
    assert_eq!(of("firmware"), Some(80e6));
    assert_eq!(of("bootloader"), Some(80e6));
    assert_eq!(of("kernel"), Some(3e8));
    assert_eq!(of("application"), Some(3e8));
    assert_eq!(of("what?"), None);
    assert_eq!(board.storage_latency.of("bootloader"), Some(0.0005));
    assert_eq!(board.baud, 9600);
}

#[test]
fn units() {
    let bandwidth = |text: &str| with_unit(text, BANDWIDTH.units);
    assert_eq!(bandwidth("10 MB/s"), Some(10e6));
    assert_eq!(bandwidth("1.5MiB/s"), Some(1_572_864.0));
    assert_eq!(bandwidth("800 B/s"), Some(800.0));
    assert_eq!(bandwidth("10"), None);
    assert_eq!(bandwidth("fast MB/s"), None);
    assert_eq!(with_unit("250 µs", LATENCY.units), Some(250e-6));
    assert_eq!(with_unit("2 s", LATENCY.units), Some(2.0));
}

#[test]
fn mistakes_are_told_with_their_line_and_the_mend() {
    let before = crate::target::tests::PLAIN.lines().count() + 2;
    for (lines, at, said) in [
        ("baud = 9600", 0, "missing field `instructions-per-second`"),
        ("instructions-per-second = \"fast\"", 1, "such as 300e6"),
        ("instructions-per-second = 0", 1, "out of all proportion"),
        // In modelled time a clock would stand still.
        ("instructions-per-second = 1e12", 1, "out of all proportion"),
        (
            "instructions-per-second = 3e8\nbaud = 1",
            2,
            "most run at 115200",
        ),
        ("instructions-per-second = {}", 1, "name a phase"),
        (
            "instructions-per-second = { u-boot = 3e8 }",
            1,
            "u-boot is no phase; known are firmware, bootloader",
        ),
        (
            "instructions-per-second = 3e8\nstorage-bandwidth = 10",
            2,
            "write it as \"10 MB/s\"",
        ),
        (
            "instructions-per-second = 3e8\nstorage-latency = \"1\"",
            2,
            "write it as \"1 ms\"",
        ),
        (
            "instructions-per-second = 3e8\nerror = 15",
            2,
            "0.15 for 15 %",
        ),
        ("instructions-per-second = 3e8\nname = \"\"", 2, "no name"),
        (
            "instructions-per-second = 3e8\nbauds = 5",
            2,
            "unknown field `bauds`",
        ),
        ("instructions-per-second = [3e8]", 1, "by phase"),
        ("clock = \"400 MHz\"", 1, "without cycles-per-instruction"),
        (
            "clock = \"400\"\ncycles-per-instruction = 1",
            1,
            "as \"400 MHz\"",
        ),
        (
            "clock = \"1 GHz\"\ncycles-per-instruction = -1",
            2,
            "out of all proportion",
        ),
        (
            "instructions-per-second = 3e8\nclock = \"1 GHz\"",
            1,
            "twice",
        ),
        ("like = \"z80\"", 1, "known are am335x, at91sam9263"),
        ("like = \"sd-high-speed\"", 0, "missing field"),
        (
            "like = \"am335x\"\nmemory-latency = \"1 s\"",
            2,
            "no memory is that slow",
        ),
        (
            "like = \"am335x\"\nl1-data-cache = \"30 KiB, 4 ways\"",
            2,
            "16 KiB, 4 ways",
        ),
        (
            "like = \"am335x\"\nl1-data-cache = \"0 KiB, 0 ways\"",
            2,
            "16 KiB, 4 ways",
        ),
        (
            "like = \"am335x\"\ncache-line = \"48 B\"",
            2,
            "power of two",
        ),
        (
            "like = \"am335x\"\ncaches = \"off\"",
            2,
            "off-in-bootloader",
        ),
        (
            "instructions-per-second = 3e8\ncaches = \"off-in-bootloader\"",
            2,
            "add memory-latency",
        ),
        (
            "instructions-per-second = 3e8\nmemory-latency = \"90 ns\"\nl2-latency = \"9 ns\"",
            3,
            "no l2-cache",
        ),
    ] {
        let error = board(lines).unwrap_err();
        assert!(error.contains(said), "{lines}: {error}");
        let line = format!(":{}:", before + at);
        assert!(error.contains(&line), "{lines}: {error}, not {line}");
    }
}

#[test]
fn a_model_survives_being_written_down() {
    let board = board("instructions-per-second = { bootloader = 8e7, kernel = 3e8 }").unwrap();
    let text = toml_edit::ser::to_string(&board).unwrap();
    assert_eq!(toml_edit::de::from_str::<BoardModel>(&text).unwrap(), board);
}

#[test]
fn storage_and_memory_survive_being_written_as_lines() {
    let one = board(
        "like = [\"am335x\", \"emmc-hs200\"]\ncaches = \"off-in-bootloader\"\n\
         storage-latency = { kernel = \"150 us\" }",
    )
    .unwrap();
    let lines = one.hardware().into_iter();
    let lines: Vec<String> = lines.map(|(k, v)| format!("{k} = {v}\n")).collect();
    let fragment = format!("[board]\ninstructions-per-second = 3e8\n{}", lines.concat());
    let two = BoardModel::parse(&fragment).unwrap();
    assert_eq!(two.hardware(), one.hardware());
    assert_eq!(two.memory, one.memory);
    assert_eq!(two.storage_latency, one.storage_latency);
    assert!(lines.len() > 9, "{fragment}");
}

#[test]
fn a_model_is_told_by_what_a_boot_takes() {
    let id = |lines: &str| board(lines).unwrap().id();
    let one = id("instructions-per-second = 300e6");
    assert_eq!(one.len(), 8);
    assert_eq!(
        one,
        id("name = \"x\"\nclock = \"600 MHz\"\ncycles-per-instruction = 2\nerror = 0.1")
    );
    assert_ne!(one, id("instructions-per-second = 300e6\nbaud = 9600"));
    assert_ne!(
        one,
        id("instructions-per-second = 300e6\nmemory-latency = \"0 ns\"")
    );
}

#[test]
fn every_board_of_the_catalogue_can_be_had_and_is_documented() {
    let docs = include_str!("../../../../docs/board-model.md");
    let storage = ["sd-high-speed", "emmc-hs200", "nvme-2-channels"];
    for name in catalogue::all().into_keys() {
        let alone = format!("like = \"{name}\"");
        let before = format!("like = [\"cortex-a53\", \"{name}\"]");
        let lines = if storage.contains(&name.as_str()) {
            before
        } else {
            alone
        };
        board(&lines).unwrap();
        assert!(docs.contains(&format!("| `{name}` |")), "{name}");
    }
}

#[test]
fn what_the_target_says_counts_before_the_catalogue() {
    let all = board(
        "like = [\"am335x\", \"emmc-hs200\"]\ncycles-per-instruction = { kernel = 2 }\nbaud = 9600\n\
         l2-cache = \"512 KiB, 8-way\"",
    )
    .unwrap();
    assert_eq!(all.instructions_per_second.of("kernel"), Some(0.5e9));
    assert_eq!(all.baud, 9600);
    assert_eq!(
        all.storage_bandwidth.of("kernel"),
        with_unit("9.55 MB/s", BANDWIDTH.units),
        "the first counts"
    );
    assert_eq!(
        all.storage_latency.of("kernel"),
        with_unit("200 us", LATENCY.units)
    );
    let memory = all.memory.unwrap();
    assert_eq!(memory.l2.unwrap().bytes, 512 << 10);
    assert_eq!(memory.l1_data.unwrap().ways, 4);
    let faster = board("like = \"am335x\"\ninstructions-per-second = 3e8").unwrap();
    assert_eq!(faster.instructions_per_second.of("kernel"), Some(3e8));
}
