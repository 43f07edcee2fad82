//! As `arbitrary`, for logs of which lines have times: whatever the bytes, no
//! panic, every line accounted for, and the same in any chunks.

use std::io::BufReader;

use crate::support::dump::dump;
use crate::support::{is_sound, read_bytes};
use bootlap_sources::{Hints, named};
use proptest::prelude::*;

/// What lines begin with.
const PREFIXES: [&str; 34] = [
    "[    0.123456] ",
    "[    9.000001][    T1] ",
    "[    0.000000] ",
    "[99999.999999] ",
    "[999999999.999999] ",
    "<6>[    0.200000] ",
    "kern  :info  : [    0.300000] ",
    "[    0.400000 <    0.000012>] ",
    "[<    0.000012>] ",
    "[Sat Nov 21 13:05:59 2026] ",
    "[Nov21 13:05] ",
    "[  +0.000012] ",
    "2026-11-21T13:05:59,123456+00:00 ",
    "6,339,5140900,-;",
    "6,339,9223372036854775807,-;",
    "[    0.500000] c0      1 ",
    "[    0.600000] <0>.(1)[1:swapper/0]",
    "Nov 21 13:05:59 host kernel: [    0.700000] ",
    "Jan  1 00:00:05 host systemd[1]: ",
    "{\"time\": 0.8, \"msg\": \"",
    "[0.000001 0.000001] ",
    "[2.391972 2.384627] ",
    "[1.000000 -1.391972] ",
    "[9223372036.854775807 0.1] ",
    "lab [0.500000 0.400000] ",
    "[23:59:59.100000 0.000001] ",
    "[00:00:00.100000 0.000001] ",
    "12:00:00.123 ",
    "00:00:01 ",
    "1700000000.123456 ",
    "0.000012 ",
    "- {\"dt\": \"2024-01-01T12:00:00.5\", \"lvl\": \"target\", \"msg\": \"",
    " ",
    "",
];

/// What comes behind.
const TEXTS: [&str; 27] = [
    "Linux version 6.1.0",
    "Booting Linux on physical CPU 0x0",
    "calling  a+0x0/0x1 @ 1",
    "calling  b+0x0/0x1 [m] @ 2",
    "initcall a+0x0/0x1 returned 0 after 5 usecs",
    "initcall b+0x0/0x1 [m] returned -1 after 999999999999999 usecs",
    "initcall_start: func=a+0x0/0x1 [m]",
    "initcall_finish: func=a+0x0/0x1 [m] ret=0",
    "initcall_level: level=fs",
    "probe of x returned 517 after 7 usecs",
    "clocksource: Switched to clocksource x",
    "Freeing unused kernel memory: 4K",
    "Run /init as init process",
    "reboot: Restarting system",
    "init: starting service 'x'...",
    "init: Service 'x' (pid 1) exited with status 0",
    "init: Command 'x' took 99999999999999999999ms",
    "systemd[1]: systemd 257 running in system mode",
    "systemd[1]: Startup finished in 9s.",
    "[BOOT TRACKER] - ID:300, start_kernel = 9223372036854775807",
    "BOOT_METRIC: CLOCK_BRIDGE_GTC_US=9 CLOCK_BRIDGE_MONOTONIC_US=8",
    "U-Boot 2023.01",
    "Hit any key to stop autoboot:  0",
    "   Verifying Hash Integrity ... crc32+ OK",
    "Starting x: OK",
    "READY",
    "The inlinepat: \"x\" was matched at 1.5",
];

const ENDS: [&str; 5] = ["\n", "\r\n", "\"}\n", "", "\0\u{1b}[1m\n"];

fn log() -> impl Strategy<Value = Vec<u8>> {
    let garbage = prop::collection::vec(any::<u8>(), 0..12);
    let text = prop_oneof![
        6 => prop::sample::select(&TEXTS[..]).prop_map(|t| t.as_bytes().to_vec()),
        1 => garbage,
    ];
    // Most lines of a log begin alike.
    let all = prop::sample::select(&PREFIXES[..]);
    let prefix = prop_oneof![3 => Just(None), 1 => all.clone().prop_map(Some)];
    let end = prop_oneof![6 => Just("\n"), 1 => prop::sample::select(&ENDS[..])];
    let lines = prop::collection::vec((prefix, text, end), 0..40);
    (all, lines).prop_map(|(most, lines)| {
        let line = |(prefix, text, end): (Option<&str>, Vec<u8>, &str)| {
            let prefix = prefix.unwrap_or(most).as_bytes();
            [prefix, &text[..], end.as_bytes()].concat()
        };
        lines.into_iter().flat_map(line).collect()
    })
}

fn hints() -> Hints {
    Hints {
        ready: regex::bytes::Regex::new("READY$").ok(),
        ..Hints::default()
    }
}

fn check(source: &str, bytes: &[u8]) -> Result<(), TestCaseError> {
    let source = named(source).unwrap();
    let whole = read_bytes(source, bytes, &hints());
    is_sound("", &whole);
    let in_ones = BufReader::with_capacity(1, bytes);
    let in_ones = read_bytes(source, in_ones, &hints());
    prop_assert_eq!(dump(&whole, true), dump(&in_ones, true));
    source.sniff(bytes);
    Ok(())
}

proptest! {
    #[test]
    fn kernel_logs(bytes in log()) {
        check("dmesg", &bytes)?;
    }

    #[test]
    fn grabserial_logs(bytes in log()) {
        check("grabserial", &bytes)?;
    }

    #[test]
    fn lava_logs(bytes in log()) {
        check("lava", &bytes)?;
    }

    #[test]
    fn logs_with_times(bytes in log()) {
        check("ts", &bytes)?;
    }

    #[test]
    fn kernel_logs_of_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check("dmesg", &bytes)?;
    }
}
