//! Recipes for the kernel's command line on the real kiosk: the kernel says
//! that it read the parameters, and does what they ask for.

use crate::support::pc::pc;
use crate::support::{Booted, changed_kiosk, scratch, with};

#[test]
fn the_kernel_does_what_the_parameters_say() {
    let dir = scratch("recipes-cmdline");
    let words = "initcall_debug rootdelay=3 ip=dhcp console=tty0 deferred_probe_timeout=30";
    let from = "cmdline = \"console=ttyAMA0,115200\"";
    let to = format!("cmdline = \"{words} console=ttyAMA0,115200\"");
    let stock = changed_kiosk(&dir, from, &to);
    let recipes = [
        "cmdline-less-debug",
        "cmdline-no-ip",
        "cmdline-no-tty-console",
        "cmdline-rootwait",
        "cmdline-deferred-probe-timeout",
        "cmdline-console-baud=460800",
        "cmdline-rcu-expedited",
        "cmdline-no-audit",
        "cmdline-no-crypto-tests",
        "cmdline-8250-uarts",
        "cmdline-initcall-blacklist=load_system_certificate_list",
        "cmdline-trust-entropy",
    ];
    let tuned = with(&dir, "tuned", &stock, &recipes);
    let console = |target| Booted::of(&dir, target, "1").console;
    let (before, after) = (console(&stock), console(&tuned));

    let line = after.lines().find(|l| l.contains("Kernel command line:"));
    let line = line.unwrap().trim_end();
    let want = "deferred_probe_timeout=0 console=ttyAMA0,460800 rootwait \
                rcupdate.rcu_expedited=1 rcupdate.rcu_normal_after_boot=1 audit=0 \
                cryptomgr.notests 8250.nr_uarts=1 \
                initcall_blacklist=load_system_certificate_list random.trust_cpu=on \
                random.trust_bootloader=on";
    assert!(
        line.contains(&format!("Kernel command line: {want}")),
        "{line}"
    );

    // Said only without, or only with.
    for gone in [
        "Loading compiled-in X.509 certificates",
        "audit: initializing netlink",
    ] {
        assert!(before.contains(gone), "{gone}: {before}");
        assert!(!after.contains(gone), "{gone}: {after}");
    }
    for come in [
        "No expedited grace period (rcu_normal_after_boot).",
        "audit: disabled",
        "8250/16550 driver, 1 ports",
    ] {
        assert!(!before.contains(come), "{come}: {before}");
        assert!(after.contains(come), "{come}: {after}");
    }
}

#[test]
fn what_only_pcs_know_is_done_on_one() {
    let dir = scratch("recipes-pc");
    let stock = pc(&dir);
    let recipes = [
        "cmdline-no-i8042",
        "cmdline-no-timer-check",
        "cmdline-tsc-reliable",
        "cmdline-trust-entropy",
    ];
    let tuned = with(&dir, "tuned", &stock, &recipes);
    let console = |target| Booted::of(&dir, target, "1").console;
    let (before, after) = (console(&stock), console(&tuned));
    let silent = console(&with(&dir, "silent", &tuned, &["cmdline-loglevel=6"]));
    let tells = "PCI: Using configuration type 1";
    assert!(after.contains(tells) && !silent.contains(tells), "{silent}");
    let keyboard = "serio: i8042 KBD port";
    assert!(before.contains(keyboard) && !after.contains(keyboard));
    let words = "no_timer_check tsc=reliable random.trust_cpu=on random.trust_bootloader=on";
    assert!(after.contains(words), "{after}");
    // The kernel looks after the counter twice a second; a probe in it tells.
    let watched = "watched: (clocksource_watchdog";
    assert!(before.contains(watched) && !after.contains(watched));
    // The kernel lists what it does not know.
    assert!(!after.contains("Unknown kernel command line"), "{after}");
    // It says nothing of its check but how long it takes: ten ticks.
    let (before, after) = (timer_check(&before), timer_check(&after));
    assert!(
        before > 0.010 && after < 0.001,
        "{before} s, then {after} s"
    );
}

/// Seconds from the line in front of the timer's check to the next one.
fn timer_check(console: &str) -> f64 {
    let stamp = |line: &str| {
        let stamp = line.trim_start_matches(['[', ' ']).split(']').next();
        stamp.unwrap().parse::<f64>().unwrap()
    };
    let lines = console.lines();
    let mut from = lines.skip_while(|line| !line.contains("..TIMER: "));
    let start = stamp(from.next().unwrap());
    stamp(from.next().unwrap()) - start
}
