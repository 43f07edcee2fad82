//! Loops that only wait for a timer: their turns are left out, and nothing else changes.

use std::path::Path;

use bootlap_wire::stamps::StampClock;
use serde_json::Value;

use crate::support::{
    bare_guest, bootlap, changed_kiosk, console_bytes, failure, json, kiosk, scratch,
};

/// Each console byte with its time, ns, and the instructions until ready.
fn recorded(dir: &Path, target: &Path) -> (Vec<(u8, i64)>, u64) {
    let mut command = bootlap(dir);
    let boot: Value = json(command.args(["boot", "--json", "-n", "1"]).arg(target));
    let run = dir.join(boot["run"].as_str().unwrap());
    (
        console_bytes(&run, StampClock::Simulated),
        boot["instructions"].as_u64().unwrap(),
    )
}

#[test]
fn a_boot_without_its_waits_has_the_same_bytes_at_the_same_times() {
    let dir = scratch("waits-same");
    let run = changed_kiosk(&dir, "[machine]", "[machine]\nskip-waits = false");
    let (bytes, fewer) = recorded(&dir, &kiosk());
    let (all_bytes, all) = recorded(&dir, &run);
    assert_eq!(bytes, all_bytes);
    // U-Boot counts down for two seconds, at 500 M instructions each.
    assert!(
        (950_000_000..1_050_000_000).contains(&(all - fewer)),
        "{all} and {fewer}"
    );
}

/// Waits six times for 0x8000 ticks; the fifth time it is content with half of them, and no
/// word that it holds says where that ends.
const CONTENT_WITH_LESS: [u32; 20] = [
    0xd280_0004, //        mov  x4, #0
    0xd280_0006, //        mov  x6, #0
    0xd53b_e041, // round: mrs  x1, cntvct_el0
    0xd290_0002, //        mov  x2, #0x8000
    0x8b02_0023, //        add  x3, x1, x2
    0xd53b_e040, // wait:  mrs  x0, cntvct_el0
    0xcb01_0005, //        sub  x5, x0, x1
    0x9ac6_20a5, //        lsl  x5, x5, x6
    0xeb02_00bf, //        cmp  x5, x2
    0x54ff_ff83, //        b.lo wait
    0x9100_0484, //        add  x4, x4, #1
    0xf100_109f, //        cmp  x4, #4
    0x9a9f_17e6, //        cset x6, eq
    0xf100_189f, //        cmp  x4, #6
    0x54ff_fe81, //        b.ne round
    0xd2a1_2000, //        mov  x0, #0x9000000
    0x5280_0a41, //        mov  w1, #'R'
    0xb900_0001, //        str  w1, [x0]
    0xd503_207f, // halt:  wfi
    0x17ff_ffff, //        b    halt
];

#[test]
fn a_wait_that_was_foretold_wrongly_is_an_error_that_says_what_to_do() {
    let dir = scratch("waits-wrong");
    let target = |more: &str| {
        let machine = format!("program = \"qemu-system-aarch64\"\n{more}");
        bare_guest(&dir, &CONTENT_WITH_LESS, &machine);
    };
    target("");
    let said = failure(bootlap(&dir).args(["boot", "-n", "1", "."]), 5);
    assert!(
        said.contains("ended earlier than it was foretold"),
        "{said}"
    );
    target("skip-waits = false");
    let (bytes, _) = recorded(&dir, Path::new("."));
    assert_eq!(bytes.len(), 1);
}
