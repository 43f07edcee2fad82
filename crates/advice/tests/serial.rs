//! What is advised about a serial console, from kernel logs of machines that have one
//! and of machines that have none.

use std::fmt::Write as _;

use bootlap_advice::{Boot, Finding, SavingKind, advise};

#[path = "common/logs.rs"]
mod logs;

use logs::read;

/// A boot's log. Each line comes 1 ms of work after the one before, and the time that
/// the console took for it; `ttyS0` is enabled after a third of them.
fn log(cmdline: &str, baud: Option<u64>) -> String {
    let mut lines = vec![
        "Linux version 6.1.0 (a@b) (gcc) #1 SMP".to_owned(),
        format!("Kernel command line: {cmdline}"),
    ];
    lines.extend((0..60).map(|i| format!("driver{i} 1000.bus: {}", "found ".repeat(i % 9 + 3))));
    lines.push("printk: console [ttyS0] enabled".into());
    lines.extend((0..120).map(|i| format!("device{i} 2000.bus: {}", "found ".repeat(i % 9 + 3))));
    lines.push("Run /init as init process".into());
    let (mut us, mut log, mut before, mut live) = (0, String::new(), 0, false);
    for line in lines {
        let wire_us = baud.map_or(0, |baud| (line.len() as u64 + 17) * 10_000_000 / baud);
        us += 200;
        if line.starts_with("printk: console") {
            us += before;
            live = true;
        }
        let line = line.trim_end();
        writeln!(log, "[{:5}.{:06}] {line}", us / 1_000_000, us % 1_000_000).unwrap();
        match live {
            true => us += wire_us,
            false => before += wire_us,
        }
    }
    log
}

fn advice(log: &str) -> Vec<Finding> {
    advice_of(&[log])
}

fn advice_of(logs: &[&str]) -> Vec<Finding> {
    let timeline = read(logs);
    advise(&Boot::new(&timeline))
}

fn of<'a>(findings: &'a [Finding], rule: &str) -> Option<&'a Finding> {
    findings.iter().find(|f| f.rule == rule)
}

#[test]
fn what_printing_took_is_told_once_and_of_this_boot() {
    let log = log("console=ttyS0,115200", Some(115_200));
    let advice = advice(&log);
    let quiet = of(&advice, "cmdline-quiet").expect("the kernel prints");
    assert_eq!(quiet.saving.kind, SavingKind::ThisBoot);
    // All but its last line, which nothing follows: 10 bits for each byte.
    let bytes: usize = log.lines().map(|l| l.len() + 2).sum();
    let wire_ns = bytes as i64 * 10_000_000_000 / 115_200;
    let share = quiet.saving.ns * 100 / wire_ns;
    assert!((96..=106).contains(&share), "{share} %");
    // The flush is no silence that anything else could be blamed for.
    let others = advice.iter().filter(|f| !f.rule.starts_with("cmdline-"));
    let blamed: Vec<_> = others.filter(|f| f.saving.ns > 10_000_000).collect();
    assert!(blamed.is_empty(), "{blamed:?}");
}

/// A logger's time was never on the wire, and it is when the logger got the line: of what
/// had been logged before it started, all at once.
#[test]
fn what_a_logger_put_before_the_lines_changes_nothing() {
    let log = log("console=ttyS0,9600", Some(9_600));
    let said = |logs: &[&str]| -> Vec<(String, i64)> {
        let advice = advice_of(logs);
        let rules =
            ["cmdline-console-baud", "cmdline-quiet"].map(|rule| of(&advice, rule).unwrap());
        rules
            .map(|f| (f.why.clone(), f.saving.ns / 1_000_000))
            .into()
    };
    let plain = said(&[&log]);
    assert!(plain[0].0.contains("at 9600 baud"), "{plain:?}");
    let logged = |prefix: &dyn Fn(&str) -> String| -> String {
        let lines = log.lines().map(|line| format!("{}\n", prefix(line)));
        lines.collect()
    };
    for time in ["Nov 21 13:05:59", "2026-11-21T13:05:59.123456+00:00"] {
        let syslog = logged(&|line| format!("{time} host kernel: {line}"));
        assert_eq!(said(&[&syslog]), plain, "{time}");
    }
    let journal = logged(&|line| line.replacen("] ", "] host kernel: ", 1));
    assert_eq!(said(&[&journal]), plain);
    // The same log twice was printed once.
    let console = logged(&|line| format!("{line}\r"));
    assert_eq!(said(&[&log, &console]), plain);
}

#[test]
fn a_machine_without_a_serial_console_gets_no_advice_about_one() {
    let crlf = log("root=/dev/sda1", None).replace('\n', "\r\n");
    for log in [log("root=/dev/sda1", None), crlf] {
        let advice = advice(&log);
        let about = |f: &&Finding| f.saving.kind == SavingKind::PredictedBoard;
        assert_eq!(advice.iter().find(about), None);
        assert_eq!(of(&advice, "cmdline-quiet"), None);
    }
}

#[test]
fn ignore_loglevel_has_to_go_before_quiet_can_help() {
    for words in ["ignore_loglevel", "quiet ignore_loglevel"] {
        let advice = advice(&log(
            &format!("console=ttyS0,115200 {words}"),
            Some(115_200),
        ));
        let quiet = of(&advice, "cmdline-quiet").unwrap();
        assert!(quiet.fix.contains("remove `ignore_loglevel`"), "{quiet:?}");
        assert_eq!(quiet.recipe, None);
    }
}

#[test]
fn a_lost_speed_is_told_with_what_it_costs() {
    let advice = advice(&log("console=ttyS0, 38400n8", Some(9_600)));
    let syntax = of(&advice, "cmdline-console-syntax").unwrap();
    let all = of(&advice, "cmdline-quiet").unwrap().saving.ns;
    // Three quarters of the time that everything took at 9600 baud.
    let share = syntax.saving.ns * 100 / all;
    assert!((74..=78).contains(&share), "{share} %");
    assert!(syntax.fix.contains("9600 baud"), "{}", syntax.fix);
}
