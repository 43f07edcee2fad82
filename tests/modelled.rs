//! Boots in modelled time: a board's speed, its serial line and its flash, and still the
//! same to the last bit.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bootlap_wire::stamps::StampClock;
use serde_json::Value;

use crate::support::{
    bare_guest, bootlap, console_bytes, failure, json, kiosk, on_board, printed, scratch,
};

fn boot(dir: &Path, target: &Path, boots: &str) -> Value {
    let mut command = bootlap(dir);
    json(command.args(["boot", "--json", "-n", boots]).arg(target))
}

fn ready_ns(boot: &Value) -> f64 {
    boot["ready_ns"].as_f64().unwrap()
}

/// When each console byte had left the machine, ns, and the manifest.
fn recorded(dir: &Path, boot: &Value) -> (Vec<i64>, Value) {
    let run = dir.join(boot["run"].as_str().unwrap());
    let bytes = console_bytes(&run, StampClock::Modelled);
    let manifest = fs::read(run.join("manifest.json")).unwrap();
    let times = bytes.into_iter().map(|(_, ns)| ns).collect();
    (times, serde_json::from_slice(&manifest).unwrap())
}

/// What a byte takes at the rate that the guest programmed last, ns.
fn byte_ns(manifest: &Value) -> f64 {
    let of = |key: &str| manifest["machine"]["model"]["uart"][key].as_str().unwrap();
    assert_eq!(of("programmed"), "yes", "Linux programs the UART");
    of("byte_ps").parse::<f64>().unwrap() / 1000.0
}

#[test]
fn two_boots_are_the_same_and_bytes_take_their_time() {
    let dir = scratch("modelled");
    let target = on_board(&dir, "baud = 115200\nstorage-bandwidth = \"20 MB/s\"", &[]);
    let two = boot(&dir, &target, "2");
    assert_eq!(two["identical"], true);
    assert_eq!(
        (&two["time"], &two["mode"]),
        (&"modelled".into(), &"modelled".into())
    );
    assert_eq!(two["clocks"][0]["time"], "modelled");
    let machine = two["machine"].as_str().unwrap();
    assert!(
        machine.contains("500 M instructions/s, console at 1152"),
        "{machine}"
    );
    assert!(machine.ends_with("flash at 20.0 MB/s"), "{machine}");
    let board = format!("board {}: 500 M", two["model"].as_str().unwrap());
    assert!(machine.contains(&board), "{machine}");
    // What was lived is not predicted once more.
    assert!(two["predicted"].is_null());
    // Nor is a board found by comparing it with itself.
    let log = "[0.000100 0.000100] U-Boot 2023.01\n[1.000000 0.999900] Starting kernel ...\n";
    fs::write(dir.join("board.log"), log).unwrap();
    let mut command = bootlap(&dir);
    command.args([
        "calibrate",
        "board.log",
        "--run",
        two["run"].as_str().unwrap(),
    ]);
    let said = failure(&mut command, 2);
    assert!(said.contains("--simulated"), "{said}");

    let (bytes, manifest) = recorded(&dir, &two);
    let gaps: Vec<i64> = bytes.windows(2).map(|w| w[1] - w[0]).collect();
    let programmed_ns = byte_ns(&manifest);
    // Until Linux programs its rate, U-Boot's console is the target's.
    let rates = [programmed_ns, 10.0 * 1e9 / 115_200.0];
    let is_one = |gap: &i64| rates.iter().any(|ns| (*gap as f64 - ns).abs() <= 1.0);
    let busy = gaps
        .iter()
        .filter(|gap| (**gap as f64) < 1.5 * programmed_ns);
    let (exact, all) = (busy.clone().filter(|g| is_one(g)).count(), busy.count());
    assert!(
        exact * 100 >= all * 99,
        "{exact} of {all} gaps are a byte's time"
    );
    let least = *gaps.iter().min().unwrap() as f64;
    assert!(
        least >= rates[0].min(rates[1]) - 1.0,
        "{least} ns between two bytes"
    );
}

#[test]
fn quiet_saves_what_its_bytes_take() {
    let dir = scratch("modelled-quiet");
    let loud = on_board(&dir.join("loud"), "", &[]);
    let quiet = on_board(
        &dir.join("quiet"),
        "",
        &[("ttyAMA0,115200", "ttyAMA0,115200 quiet")],
    );
    let quiet_target = quiet.clone();
    let [loud, quiet] = [loud, quiet].map(|target| {
        let boot = boot(&dir, &target, "1");
        let (bytes, manifest) = recorded(&dir, &boot);
        (ready_ns(&boot), bytes.len() as f64, byte_ns(&manifest))
    });
    let (saved_ns, bytes_ns) = (loud.0 - quiet.0, (loud.1 - quiet.1) * loud.2);
    assert!(bytes_ns > 1e9, "the kernel prints for {bytes_ns} ns");
    let off = saved_ns / bytes_ns - 1.0;
    assert!(
        off.abs() < 0.05,
        "saved {saved_ns} ns, the bytes take {bytes_ns} ns"
    );

    // What the kernel prints to explain itself is not what its initcalls take.
    let mut command = bootlap(&dir);
    let advice = json(command.args(["advise", "--json"]).arg(&quiet_target));
    let findings = advice["findings"].as_array().unwrap();
    let named = |initcall: &str| {
        let mut whys = findings.iter().filter_map(|f| f["why"].as_str());
        whys.any(|why| why.contains(initcall))
    };
    assert!(named("initcall crypto_algapi_init"), "{findings:?}");
    // It adds a line to /proc, and nothing else.
    assert!(!named("proc_execdomains_init"), "{findings:?}");
}

#[test]
fn compression_pays_from_the_bandwidth_on_that_arithmetic_tells() {
    let dir = scratch("modelled-flash");
    // Only the boot loader matters here, whose reads are told once the kernel runs.
    let ends = ("pattern = \"APP_READY\"", "pattern = \"Linux version\"");
    let starts = (
        "application = \"Starting kiosk\"",
        "application = \"U-Boot\"",
    );
    let named = |name: &str, bandwidth: &str, compression: &str| {
        let dir = dir.join(format!("{name}-{compression}"));
        let compression = format!("compression = {compression:?}\ncmdline");
        let changes = [
            ends,
            starts,
            ("compression = \"gzip\"\ncmdline", &compression),
        ];
        let target = on_board(&dir, bandwidth, &changes);
        let booted = boot(&dir, &target, "1");
        let (_, manifest) = recorded(&dir, &booted);
        let lines = manifest["machine"]["model"]["flash"]["lines"].as_str();
        let run = dir.join(booted["run"].as_str().unwrap());
        (
            ready_ns(&booted),
            lines.map(|n| n.parse::<f64>().unwrap()),
            run,
        )
    };
    // Enough to see how many lines each reads, and too fast to matter.
    let fast = "storage-bandwidth = \"1000 GB/s\"";
    let [gzip, none] = ["gzip", "none"].map(|c| named("fast", fast, c));
    let at_full_speed = gzip.2.clone();
    let (work_ns, more_lines) = (gzip.0 - none.0, none.1.unwrap() - gzip.1.unwrap());
    assert!(
        work_ns > 0.0 && more_lines > 0.0,
        "{work_ns} ns for {more_lines} lines"
    );
    let crossing = 64.0 * more_lines / (work_ns / 1e9);
    for (name, factor, gzip_pays) in [("slower", 0.95, true), ("faster", 1.05, false)] {
        let bandwidth = format!(
            "storage-bandwidth = \"{:.3} MB/s\"",
            crossing * factor / 1e6
        );
        let [gzip, none] = ["gzip", "none"].map(|c| named(name, &bandwidth, c).0);
        assert_eq!(
            gzip < none,
            gzip_pays,
            "{bandwidth}: gzip {gzip}, none {none} ns"
        );
    }

    // A board of another speed is another measure.
    let slow = named("slow", "storage-bandwidth = \"20 MB/s\"", "gzip").2;
    let mut command = bootlap(&dir);
    let said = printed(command.arg("compare").args([&at_full_speed, &slow]));
    assert!(said.contains("in the time of different boards"), "{said}");
    let budget = "format = 1\n[limits]\ntotal = \"3600 s\"\n";
    fs::write(dir.join("boot-budget.toml"), budget).unwrap();
    let mut command = bootlap(&dir);
    command.args(["check", "-b", "boot-budget.toml", "--baseline"]);
    let said = failure(command.args([&at_full_speed, &slow]), 2);
    assert!(said.contains("in the time of different boards"), "{said}");
    let add = |run: &Path| {
        let mut command = bootlap(&dir);
        command.args(["history", "add", "--commit", "c", "--to", "past"]);
        command.arg(run);
        command
    };
    printed(&mut add(&at_full_speed));
    let said = failure(&mut add(&slow), 2);
    assert!(said.contains("in the time of board"), "{said}");
}

/// Prints `R` and halts.
const PRINTER: [u32; 5] = [
    0xd2a1_2000, //       mov x0, #0x9000000
    0x5280_0a41, //       mov w1, #'R'
    0xb900_0001, //       str w1, [x0]
    0xd503_207f, // halt: wfi
    0x17ff_ffff, //       b   halt
];

/// A machine that starts with its images in memory gives no boot loader's time away.
#[test]
fn images_that_no_boot_loader_reads_take_their_time_all_the_same() {
    let dir = scratch("modelled-direct");
    let ready = |name: &str, more: &str| {
        let dir = dir.join(name);
        let board = format!(
            "program = \"qemu-system-aarch64\"\n[board]\ninstructions-per-second = 500e6\n{more}"
        );
        bare_guest(&dir, &PRINTER, &board);
        ready_ns(&boot(&dir, Path::new("."), "2"))
    };
    let free = ready("free", "");
    let read = ready(
        "read",
        "storage-bandwidth = \"64 kB/s\"\nstorage-latency = \"3 ms\"",
    );
    // 84 bytes are two lines of 64.
    assert_eq!(read - free, 3e6 + 2e6);
}

/// Programs its UART to rates of nonsense two thousand times, a byte each; switches its
/// caches on and off 65,536 times; and prints `R` as soon as there is place.
const NONSENSE: [u32; 28] = [
    0xd2a1_2009, //         mov x9, #0x9000000
    0xd280_fa02, //         mov x2, #2000
    0xb900_253f, // again:  str wzr, [x9, #0x24]
    0xb900_293f, //         str wzr, [x9, #0x28]
    0x5280_0e01, //         mov w1, #0x70
    0xb900_2d21, //         str w1, [x9, #0x2c]
    0x529f_ffe1, //         mov w1, #0xffff
    0xb900_2521, //         str w1, [x9, #0x24]
    0xb900_2d21, //         str w1, [x9, #0x2c]
    0x5280_0f01, //         mov w1, #'x'
    0xb900_0121, //         str w1, [x9]
    0xf100_0442, //         subs x2, x2, #1
    0x54ff_fec1, //         b.ne again
    0xd538_1003, //         mrs x3, sctlr_el1
    0xb27e_0064, //         orr x4, x3, #4
    0xd2a0_0022, //         mov x2, #0x10000
    0xd518_1004, // caches: msr sctlr_el1, x4
    0xd503_3fdf, //         isb
    0xd518_1003, //         msr sctlr_el1, x3
    0xd503_3fdf, //         isb
    0xf100_0442, //         subs x2, x2, #1
    0x54ff_ff61, //         b.ne caches
    0xb940_1921, // full:   ldr w1, [x9, #0x18]
    0x372f_ffe1, //         tbnz w1, #5, full
    0x5280_0a41, //         mov w1, #'R'
    0xb900_0121, //         str w1, [x9]
    0xd503_207f, // halt:   wfi
    0x17ff_ffff, //         b halt
];

#[test]
fn a_guest_that_plays_with_its_uart_and_caches_gets_ready_all_the_same() {
    let dir = scratch("modelled-nonsense");
    let caches = "memory-latency = \"90 ns\"\nl1-data-cache = \"16 KiB, 4 ways\"";
    let board = format!(
        "program = \"qemu-system-aarch64\"\n[board]\ninstructions-per-second = 500e6\n{caches}"
    );
    bare_guest(&dir, &NONSENSE, &board);
    let booted = boot(&dir, Path::new("."), "2");
    assert_eq!(booted["identical"], true);
    // It is told of eight rates, not of thousands.
    let (_, manifest) = recorded(&dir, &booted);
    let rates = manifest["machine"]["model"]["uart"]["rates"].as_array();
    assert!(rates.unwrap().len() <= 8);
}

/// Where time stands still nobody waits for the target's timeout, of a minute here.
#[test]
fn a_guest_that_sleeps_for_good_is_told() {
    let dir = scratch("modelled-asleep");
    let board = "program = \"qemu-system-aarch64\"\n[board]\ninstructions-per-second = 500e6";
    bare_guest(&dir, &PRINTER[3..], board);
    let mut command = bootlap(&dir);
    let said = failure(command.args(["boot", "-n", "1", "."]), 6);
    assert!(said.contains("no timer is left to wake it"), "{said}");
}

/// A megabyte by way of the tty's interrupts: nothing is lost, and nothing waits for
/// more than the line.
/// The target with this script as its first program, instead of the kiosk's files.
fn with_init(target: &Path, script: &str) {
    let file = target.join("target.toml");
    let text = fs::read_to_string(&file).unwrap();
    let (outside, tree) = ("outside = [", "tree = ");
    let own = text
        .lines()
        .filter(|l| !l.starts_with(outside))
        .map(|line| match line.starts_with(tree) {
            true => "tree = \"initramfs\"",
            false => line,
        });
    fs::write(&file, own.collect::<Vec<_>>().join("\n")).unwrap();
    let init = target.join("initramfs/init");
    fs::create_dir_all(init.parent().unwrap()).unwrap();
    fs::write(&init, script).unwrap();
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The same lines twice: the second time, they are among those that were read last.
#[test]
fn what_a_program_reads_in_flash_takes_its_time() {
    let dir = scratch("modelled-nor");
    let board = "storage-bandwidth = \"100 kB/s\"";
    let target = on_board(&dir, board, &[("ttyAMA0,115200", "ttyAMA0,115200 quiet")]);
    let read = "i=0; while [ $i -lt 50 ]; do /bin/busybox devmem $((0x4200000 + i*64)) 32 \
                >/dev/null; i=$((i+1)); done";
    let script = format!(
        "#!/bin/sh\n/bin/busybox mount -t devtmpfs none /dev\nexec </dev/console \
         >/dev/console 2>&1\n/bin/busybox devmem 0x4100000 32\n\
         echo mark 1\n{read}\necho mark 2\n{read}\necho mark 3\n\
         echo Starting kiosk\necho APP_READY\nwhile :; do /bin/busybox sleep 9; done\n"
    );
    with_init(&target, &script);
    let booted = boot(&dir, &target, "1");
    let run = dir.join(booted["run"].as_str().unwrap());
    let bytes = console_bytes(&run, StampClock::Modelled);
    let text: Vec<u8> = bytes.iter().map(|(byte, _)| *byte).collect();
    // The beginning of a FIT, which is a device tree.
    let magic = u32::from_le_bytes(0xd00d_feed_u32.to_be_bytes());
    let said = String::from_utf8_lossy(&text);
    assert!(said.contains(&format!("0x{magic:08X}")), "{said}");
    let at = [b"mark 1", b"mark 2", b"mark 3"].map(|mark| {
        let at = text.windows(6).position(|w| w == mark);
        bytes[at.expect("the guest printed it") + 5].1
    });
    let longer = ((at[1] - at[0]) - (at[2] - at[1])) as f64;
    let wanted = 50.0 * 640.0 * 1e3;
    assert!(
        (longer / wanted - 1.0).abs() < 0.05,
        "{longer} ns, not {wanted}"
    );
}

#[test]
fn a_program_that_prints_a_megabyte_gets_the_whole_line() {
    let dir = scratch("modelled-tty");
    let target = on_board(&dir, "", &[("ttyAMA0,115200", "ttyAMA0,115200 quiet")]);
    let line = "0123456789".repeat(6);
    let script = format!(
        "#!/bin/sh\n/bin/busybox mount -t devtmpfs none /dev\nexec </dev/console \
         >/dev/console 2>&1\ni=0\nwhile [ $i -lt 16384 ]; do echo \"$i {line}\"; \
         i=$((i+1)); done\necho Starting kiosk\necho APP_READY\n\
         while :; do /bin/busybox sleep 9; done\n"
    );
    with_init(&target, &script);

    let booted = boot(&dir, &target, "1");
    let run = dir.join(booted["run"].as_str().unwrap());
    let console = String::from_utf8_lossy(&fs::read(run.join("console")).unwrap()).into_owned();
    let numbers = console
        .lines()
        .filter_map(|l| l.trim().strip_suffix(&format!(" {line}")));
    let numbers: Vec<usize> = numbers.map(|n| n.parse().unwrap()).collect();
    assert_eq!(numbers, (0..16_384).collect::<Vec<_>>());

    let (bytes, manifest) = recorded(&dir, &booted);
    let busy = bytes.windows(2).map(|w| (w[1] - w[0]) as f64);
    let line_ns = byte_ns(&manifest);
    let printing: Vec<f64> = busy.skip(console.find("0 0123").unwrap()).collect();
    let share = printing.len() as f64 * line_ns / printing.iter().sum::<f64>();
    assert!(share > 0.99, "the line was busy for {share} of the time");
}

/// A PC that prints: its kernel polls its UART at ports, its shell waits for interrupts.
const PC: &str = r#"format = 1
name = "pc"
summary = "a PC that prints"
[ready]
pattern = "APP_READY"
timeout-s = 600
[machine]
kind = "qemu"
program = "qemu-system-x86_64"
machine = "q35"
cpu = "qemu64"
memory-mb = 512
[board]
instructions-per-second = 1e9
[packages]
architecture = "amd64"
[kernel]
image = "package:linux-image-cloud-amd64/boot/vmlinuz-*"
cmdline = "console=ttyS0,115200"
[initramfs]
compression = "gzip"
tree = "initramfs"
dirs = ["/dev"]
[initramfs.files]
"/bin/busybox" = "package:busybox-static/bin/busybox"
"#;

#[test]
fn a_pcs_uart_at_ports_takes_its_time() {
    let dir = scratch("modelled-pc");
    let target = dir.join("pc");
    fs::create_dir_all(&target).unwrap();
    fs::write(target.join("target.toml"), PC).unwrap();
    let script = "#!/bin/busybox sh\n/bin/busybox mount -t devtmpfs none /dev\n\
                  exec >/dev/console 2>&1\ni=0\nwhile [ $i -lt 300 ]; do\n\
                  echo \"line $i, which is a little longer than the queue of its UART\"\n\
                  i=$((i+1))\ndone\necho APP_READY\n\
                  while :; do /bin/busybox sleep 9; done\n";
    with_init(&target, script);

    let two = boot(&dir, &target, "2");
    assert_eq!(two["identical"], true);
    let run = dir.join(two["run"].as_str().unwrap());
    let console = String::from_utf8_lossy(&fs::read(run.join("console")).unwrap()).into_owned();
    for n in 0..300 {
        assert!(
            console.contains(&format!("line {n}, which")),
            "line {n} is lost"
        );
    }
    let (times, manifest) = recorded(&dir, &two);
    let byte_ns = byte_ns(&manifest);
    assert!((byte_ns - 10e9 / 115_200.0).abs() < 1.0, "{byte_ns}");
    let gaps = times.windows(2).map(|w| (w[1] - w[0]) as f64);
    let busy: Vec<f64> = gaps.filter(|gap| *gap < 1.5 * byte_ns).collect();
    let exact = busy
        .iter()
        .filter(|gap| (*gap - byte_ns).abs() <= 1.0)
        .count();
    let share = exact as f64 / busy.len() as f64;
    assert!(
        busy.len() > 30_000 && share > 0.99,
        "{share} of {}",
        busy.len()
    );
}

#[test]
fn a_model_needs_a_board() {
    let dir = scratch("modelled-none");
    let mut command = bootlap(&dir);
    let said = failure(command.args(["boot", "--modelled"]).arg(kiosk()), 2);
    assert!(
        said.contains("kiosk has no [board]") && said.contains("calibrate"),
        "{said}"
    );
    let target = on_board(&dir, "", &[]);
    let mut command = bootlap(&dir);
    let said = failure(
        command
            .args(["boot", "--modelled", "--no-probe"])
            .arg(&target),
        2,
    );
    assert!(said.contains("made by bootlap's probe"), "{said}");
}
