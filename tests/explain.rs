//! `bootlap explain`: what a source tree says of initcalls.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{bootlap, failure, json, printed, root, scratch};
use serde_json::Value;

fn tree() -> PathBuf {
    root().join("tests/kernel-tree")
}

fn explain(dir: &Path, args: &[&str]) -> Command {
    let mut command = bootlap(dir);
    command
        .arg("explain")
        .args(args)
        .arg("--kernel")
        .arg(tree());
    command
}

/// The first place of each symbol.
fn places(document: &Value) -> Vec<&Value> {
    let symbols = document["symbols"].as_array().unwrap();
    symbols.iter().map(|s| &s["places"][0]).collect()
}

fn config(dir: &Path, text: &str) -> String {
    fs::write(dir.join("config"), text).unwrap();
    "config".to_owned()
}

const X86: &str = "# Linux/x86 6.1.7 Kernel Configuration\nCONFIG_X86=y\nCONFIG_LAMP=y\n\
                   CONFIG_LAMP_PCI=y\nCONFIG_PROC=y\n";

#[test]
fn a_driver_has_all_that_the_tree_knows() {
    let dir = scratch("explain-driver");
    let config = config(&dir, X86);
    let args = ["lamp_driver_init", "--config", &config, "--json"];
    let document = json(&mut explain(&dir, &args));
    assert_eq!(
        (&document["version"], &document["arch"]),
        (&"6.1.7".into(), &"x86".into())
    );
    let place = places(&document)[0];
    assert_eq!(place["file"], "drivers/lamp/core.c");
    assert_eq!(place["level"], "device");
    assert_eq!(place["made_by"]["name"], "module_lamp_driver");
    assert_eq!(
        (&place["modular"], &place["state"]),
        (&"possible".into(), &"y".into())
    );
    assert_eq!(place["module"], "lamp_pci");
    let option = &place["options"][0];
    assert_eq!(
        (&option["name"], &option["prompt"]),
        (&"LAMP_PCI".into(), &"Lamps on PCI".into())
    );
    assert_eq!(option["help"], "Say Y here if your lamp is in a slot.");
    assert_eq!(
        option["depends"],
        serde_json::json!(["LAMP", "PCI || COMPILE_TEST"])
    );
    assert_eq!(place["options"][1]["name"], "LAMP");
    assert_eq!(
        place["params"][0]["description"],
        "How often to switch it on"
    );
    let delays = place["delays"].as_array().unwrap();
    let shown: Vec<String> = delays
        .iter()
        .map(|d| format!("{} {} {} {}", d["call"], d["ns"], d["in_loop"], d["times"]))
        .collect();
    assert_eq!(
        shown,
        [
            "\"wait_for_completion_timeout(&lamp->lit, HZ / 2)\" 500000000 false null",
            "\"msleep(20)\" 20000000 true null",
            "\"udelay(100)\" 100000 true 10",
            "\"mdelay(WARM_UP_MS)\" 50000000 false null",
        ]
    );
    let path = ["lamp_driver_init", "lamp_probe", "lamp_reset"];
    assert_eq!(delays[3]["path"], serde_json::json!(path));
}

#[test]
fn options_and_architecture_choose_between_places() {
    let dir = scratch("explain-choice");
    let config = config(&dir, X86);
    let symbols = [
        "board_setup",
        "lamp_setup",
        "clock_init.cfi_jt",
        "proc_init",
    ];
    let args = [&symbols[..], &["--config", &config, "--json"]].concat();
    let document = json(&mut explain(&dir, &args));
    let files: Vec<&Value> = places(&document).iter().map(|p| &p["file"]).collect();
    assert_eq!(
        files,
        [
            "arch/x86/board.c",
            "drivers/lamp/new.c",
            "kernel/clock.c",
            "kernel/proc.c"
        ]
    );
    let [board, _, clock, proc] = places(&document)[..] else {
        panic!("{document}")
    };
    assert_eq!(
        (&board["level"], &board["modular"]),
        (&"arch".into(), &"always".into())
    );
    assert_eq!(clock["included_by"], "kernel/all.c");
    assert_eq!(clock["level"], "postcore_sync");
    assert_eq!(proc["options"][0]["name"], "PROC");

    let document = json(&mut explain(
        &dir,
        &["board_setup", "lamp_setup", "--arch", "aarch64", "--json"],
    ));
    assert_eq!(places(&document)[0]["file"], "arch/arm64/board.c");
    assert_eq!(places(&document)[0]["options"][0]["name"], "OF");
    // Nothing tells which of two is meant.
    assert_eq!(
        document["symbols"][1]["places"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn a_log_makes_a_worklist() {
    let dir = scratch("explain-log");
    let config = config(&dir, X86);
    let log = "\
[    0.000000] Linux version 6.1.7 (a@b) (x86_64-linux-gnu-gcc) #1 SMP
[    0.100000] calling  board_setup+0x0/0x20 @ 1
[    0.110000] initcall board_setup+0x0/0x20 returned 0 after 10000 usecs
[    0.200000] calling  lamp_driver_init+0x0/0x20 @ 1
[    0.800000] initcall lamp_driver_init+0x0/0x20 returned 0 after 600000 usecs
[    0.900000] calling  elsewhere_init+0x0/0x20 @ 1
[    0.900100] initcall elsewhere_init+0x0/0x20 returned 0 after 100 usecs
[    1.000000] Run /sbin/init as init process
";
    fs::write(dir.join("dmesg.txt"), log).unwrap();
    let args = ["--log", "dmesg.txt", "--config", &config];
    let document = json(&mut explain(&dir, &[&args[..], &["--json"]].concat()));
    let rows = document["symbols"].as_array().unwrap();
    let rows: Vec<(&str, u64, usize)> = rows
        .iter()
        .map(|r| {
            let places = r["places"].as_array().unwrap().len();
            (
                r["function"].as_str().unwrap(),
                r["time_ns"].as_u64().unwrap() / 1_000_000,
                places,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("lamp_driver_init", 600, 1),
            ("board_setup", 10, 1),
            ("elsewhere_init", 0, 0)
        ]
    );

    let out = explain(&dir, &args).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let widths = text.lines().map(unicode_width::UnicodeWidthStr::width);
    assert!(widths.max().unwrap() <= 80, "{text}");
    assert!(
        text.contains("LAMP_PCI") && text.contains("1 not found"),
        "{text}"
    );

    // The log says the architecture, and the time of one symbol.
    let one = ["lamp_driver_init", "--log", "dmesg.txt", "--json"];
    let document = json(&mut explain(&dir, &one));
    assert_eq!(document["arch"], "x86");
    assert_eq!(document["symbols"][0]["time_ns"], 600_000_000);
}

#[test]
fn people_read_it_in_eighty_columns() {
    let dir = scratch("explain-text");
    let config = config(&dir, X86);
    let out = explain(&dir, &["lamp_driver_init", "--config", &config])
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let widths = text.lines().map(unicode_width::UnicodeWidthStr::width);
    assert!(widths.max().unwrap() <= 80, "{text}");
    for part in [
        "drivers/lamp/core.c:38",
        "device: module_lamp_driver in line 38",
        "CONFIG_LAMP_PCI=y (tristate)",
        "could be one: CONFIG_LAMP_PCI=m",
        "lamp_pci.tries (int, line 6)",
        "mdelay(WARM_UP_MS)",
    ] {
        assert!(
            text.contains(part) || text.replace('\n', " ").contains(part),
            "{part}: {text}"
        );
    }
}

#[test]
fn what_is_no_tree_is_said() {
    let dir = scratch("explain-wrong");
    let run = |args: &[&str], code| {
        let mut command = bootlap(&dir);
        command.arg("explain").args(args);
        failure(&mut command, code)
    };
    assert!(run(&["x", "--kernel", "nowhere"], 2).contains("unpacked source tree"));
    assert!(run(&["x", "--kernel", "."], 2).contains("no Makefile and Kconfig"));
    let said = failure(&mut explain(&dir, &["x", "--arch", "vax"]), 2);
    assert!(
        said.contains("arch/vax") && said.contains("arm64, x86"),
        "{said}"
    );
    failure(
        &mut explain(&dir, &["nothing_of_this_name", "--arch", "x86"]),
        4,
    );
    config(&dir, "nothing\n");
    let said = failure(&mut explain(&dir, &["x", "--config", "config"]), 4);
    assert!(said.contains("CONFIG_"), "{said}");
}

/// A trace of `function_graph`, with absolute times and threads.
const TRACE: &str = "\
# tracer: function_graph
#
#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
#      |          |     |    |           |   |                     |   |   |   |
    1.000000 |   0)  swapper-1    |               |  lamp_driver_init() {
    1.000100 |   0)  swapper-1    |               |    lamp_probe() {
    1.000200 |   0)  swapper-1    | # 2000.000 us |      __const_udelay();
    1.002300 |   0)  swapper-1    | # 2000.000 us |      __const_udelay();
    1.004400 |   0)  swapper-1    |               |      msleep() {
    1.004500 |   0)  swapper-1    | * 29900.00 us |        schedule_timeout();
    1.034500 |   0)  swapper-1    | * 30100.00 us |      }
    1.034600 |   0)  swapper-1    | * 34500.00 us |    }
    1.034700 |   0)  swapper-1    | * 34700.00 us |  }
    1.034800 |   0)  swapper-1    |               |  other_init() {
    1.034900 |   0)  swapper-1    | # 5000.000 us |    __const_udelay();
    1.040000 |   0)  swapper-1    | # 5200.000 us |  }
";

#[test]
fn a_trace_of_functions_says_which_delays_came() {
    let dir = scratch("explain-trace");
    let config = config(&dir, X86);
    fs::write(dir.join("trace.txt"), TRACE).unwrap();
    let args = [
        "lamp_driver_init",
        "--config",
        &config,
        "--log",
        "trace.txt",
    ];
    let document = json(explain(&dir, &args).arg("--json"));
    let waits = &document["symbols"][0]["waits"];
    // What msleep calls to sleep is its own time, and the other function's is not this one's.
    let expected = serde_json::json!([
        {"function": "msleep", "how": "sleep", "count": 1, "time_ns": 30_100_000},
        {"function": "__const_udelay", "how": "busy", "count": 2, "time_ns": 4_000_000},
    ]);
    assert_eq!(waits, &expected);
    let text = printed(&mut explain(&dir, &args));
    assert!(
        text.contains("30.10 ms asleep in 1 call of msleep"),
        "{text}"
    );
    assert!(
        text.contains("4.000 ms busy in 2 calls of __const_udelay"),
        "{text}"
    );
}
