//! Caches and memory in modelled time, against arithmetic: a guest that reads and writes
//! memory in known ways, and the kiosk.

use std::path::Path;

use bootlap_wire::stamps::StampClock;
use serde_json::Value;

use crate::support::{
    bare_guest, bootlap, console_bytes, failure, json, on_board, other_qemu, scratch,
};

/// Reads one word 65,536 times with its MMU off, between `A` and `B`; switches MMU and
/// caches on; reads a word of each of 64 bytes: of 1 MiB twice until `D`, of another 128 KiB
/// eight times until `E`, of another 16 KiB a hundred times until `F`; and writes a word of
/// each of 64 bytes of another MiB, twice, until `R`.
const READER: [u32; 66] = [
    0xd2a1_2009, //       mov  x9, #0x9000000
    0xd2a8_000a, //       mov  x10, #0x40000000
    0x9148_014b, //       add  x11, x10, #0x200000
    0x5280_0821, //       mov  w1, #'A'
    0xb900_0121, //       str  w1, [x9]
    0xd2a0_0022, //       mov  x2, #0x10000
    0xf940_0160, // off:  ldr  x0, [x11]
    0xf100_0442, //       subs x2, x2, #1
    0x54ff_ffc1, //       b.ne off
    0x5280_0841, //       mov  w1, #'B'
    0xb900_0121, //       str  w1, [x9]
    0x9144_0143, //       add  x3, x10, #0x100000: the table, of 1 GiB an entry
    0xd280_80a0, //       mov  x0, #0x405: devices
    0xf900_0060, //       str  x0, [x3]
    0xd280_e020, //       mov  x0, #0x701: memory
    0x8b0a_0000, //       add  x0, x0, x10
    0xf900_0460, //       str  x0, [x3, #8]
    0xd280_1fe0, //       mov  x0, #0xff
    0xd518_a200, //       msr  mair_el1, x0
    0xd286_a320, //       mov  x0, #0x3519
    0xd518_2040, //       msr  tcr_el1, x0
    0xd518_2003, //       msr  ttbr0_el1, x3
    0xd508_871f, //       tlbi vmalle1
    0xd503_3f9f, //       dsb  sy
    0xd503_3fdf, //       isb
    0xd282_00a0, //       mov  x0, #0x1005
    0xd518_1000, //       msr  sctlr_el1, x0
    0xd503_3fdf, //       isb
    0xd280_0044, //       mov  x4, #2
    0xd2a0_0205, //       mov  x5, #0x100000
    0x9400_001c, //       bl   read
    0x5280_0881, //       mov  w1, #'D'
    0xb900_0121, //       str  w1, [x9]
    0x9144_016b, //       add  x11, x11, #0x100000
    0xd280_0104, //       mov  x4, #8
    0xd2a0_0045, //       mov  x5, #0x20000
    0x9400_0016, //       bl   read
    0x5280_08a1, //       mov  w1, #'E'
    0xb900_0121, //       str  w1, [x9]
    0x9144_016b, //       add  x11, x11, #0x100000
    0xd280_0c84, //       mov  x4, #100
    0xd288_0005, //       mov  x5, #0x4000
    0x9400_0010, //       bl   read
    0x5280_08c1, //       mov  w1, #'F'
    0xb900_0121, //       str  w1, [x9]
    0x9144_016b, //       add  x11, x11, #0x100000
    0xd280_0044, //       mov  x4, #2
    0x9144_0167, //       add  x7, x11, #0x100000
    0xaa0b_03e6, // write: mov x6, x11
    0xf804_04c0, // store: str x0, [x6], #64
    0xeb07_00df, //       cmp  x6, x7
    0x54ff_ffc1, //       b.ne store
    0xf100_0484, //       subs x4, x4, #1
    0x54ff_ff61, //       b.ne write
    0x5280_0a41, //       mov  w1, #'R'
    0xb900_0121, //       str  w1, [x9]
    0xd503_207f, // halt: wfi
    0x17ff_ffff, //       b    halt
    0xaa0b_03e6, // read: mov  x6, x11
    0x8b05_0167, //       add  x7, x11, x5
    0xf844_04c0, // line: ldr  x0, [x6], #64
    0xeb07_00df, //       cmp  x6, x7
    0x54ff_ffc1, //       b.ne line
    0xf100_0484, //       subs x4, x4, #1
    0x54ff_ff41, //       b.ne read
    0xd65f_03c0, //       ret
];

const CACHES: &str = "l1-data-cache = \"32 KiB, 4 ways\"\nl2-cache = \"256 KiB, 8 ways\"\n\
                      l2-latency = \"10 ns\"\nmemory-latency = \"100 ns\"";

/// What the reader took between its letters, ns.
fn read(dir: &Path, program: &str, more: &str) -> Vec<i64> {
    let machine =
        format!("program = \"{program}\"\n[board]\ninstructions-per-second = 500e6\n{more}");
    bare_guest(dir, &READER, &machine);
    let boot: Value = json(bootlap(dir).args(["boot", "--json", "-n", "2", "."]));
    assert_eq!(boot["identical"], true);
    let run = dir.join(boot["run"].as_str().unwrap());
    let letters = console_bytes(&run, StampClock::Modelled);
    let text: String = letters.iter().map(|(byte, _)| char::from(*byte)).collect();
    assert_eq!(text, "ABDEFR");
    letters.windows(2).map(|w| w[1].1 - w[0].1).collect()
}

/// What [`CACHES`] have costs nothing more, or 10 ns; the rest, 100 ns more than that.
fn reads_as_arithmetic_says(name: &str, program: &str) {
    let dir = scratch(name);
    let free = read(&dir.join("free"), program, "");
    let cached = read(&dir.join("cached"), program, CACHES);
    let more: Vec<i64> = cached.iter().zip(&free).map(|(c, f)| c - f).collect();
    let letter = 100; // a register of the UART
    let expected = [
        0x10000 * 100 + letter,
        // Before, two entries of the page table.
        2 * 100 + 2 * 16_384 * (10 + 100) + letter, // neither cache has any of it
        8 * 2048 * 10 + 2048 * 100 + letter,        // L2 has it from the second time on
        256 * (10 + 100) + letter,                  // L1 has it from the second time on
        // Each line is fetched twice, and written back but for those that L2 still has.
        2 * 16_384 * (10 + 100) + (2 * 16_384 - 4096) * 100 + letter,
    ];
    for (i, (more, expected)) in more.iter().zip(expected).enumerate() {
        assert!(
            (more - expected).abs() <= 2,
            "{i}: {more} ns, not {expected}"
        );
    }
}

#[test]
fn accesses_take_what_the_caches_say() {
    reads_as_arithmetic_says("caches-arithmetic", "qemu-system-aarch64");
}

#[test]
fn accesses_take_what_the_caches_say_on_another_qemu() {
    let Some(program) = other_qemu() else { return };
    reads_as_arithmetic_says("caches-other-qemu", &program);
}

/// Only the boot loader matters: up to its kernel's first words.
const TO_THE_KERNEL: [(&str, &str); 2] = [
    ("pattern = \"APP_READY\"", "pattern = \"Linux version\""),
    (
        "application = \"Starting kiosk\"",
        "application = \"U-Boot\"",
    ),
];

#[test]
fn a_boot_loader_without_caches_waits_for_each_access() {
    let dir = scratch("caches-off");
    let with = |name: &str, more: &str| {
        let target = on_board(&dir.join(name), more, &TO_THE_KERNEL);
        let boot = json(bootlap(&dir).args(["boot", "--json"]).arg(target));
        assert_eq!(boot["identical"], true);
        (
            boot["ready_ns"].as_f64().unwrap(),
            boot["machine"].to_string(),
        )
    };
    let on = with("on", CACHES);
    assert!(
        on.1.contains("L1D 32 KiB, L2 256 KiB, memory 100 ns"),
        "{}",
        on.1
    );
    let off = |ns: u32| {
        let more = format!("memory-latency = \"{ns} ns\"\ncaches = \"off-in-bootloader\"");
        with(&format!("off-{ns}"), &more)
    };
    let [none, one, two] = [0, 50, 100].map(off);
    assert!(
        two.1.contains("data uncached in the boot loader"),
        "{}",
        two.1
    );
    let (first, second) = (one.0 - none.0, two.0 - one.0);
    assert!(
        (second / first - 1.0).abs() < 0.01,
        "{first} and {second} ns"
    );
    assert!(two.0 > 3.0 * on.0, "{} and {} ns", two.0, on.0);
}

#[test]
fn caches_that_cannot_be_are_told() {
    let dir = scratch("caches-wrong");
    bare_guest(
        &dir,
        &READER,
        "program = \"qemu-system-aarch64\"\n[board]\nlike = \"cortex-a7\"\nl2-cache = \"3 ways\"",
    );
    let said = failure(bootlap(&dir).args(["boot", "."]), 2);
    assert!(said.contains("write it as \"16 KiB, 4 ways\""), "{said}");
}
