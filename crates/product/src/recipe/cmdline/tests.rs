use crate::parts::FirmwareParts;
use crate::recipe::Choice;
use crate::target::tests::{PLAIN, parse};
use crate::{Parts, Target};

const NO_PARTS: Parts = Parts {
    kernel_config: None,
    bootloader: None,
    devicetree: None,
    kernel: None,
    initramfs: None,
    root: None,
    whole_initramfs: None,
    firmware: FirmwareParts {
        image: None,
        variables: None,
        payload: None,
    },
    disk: None,
};

fn target(line: &str) -> Target {
    parse(&PLAIN.replace("a b", line)).unwrap()
}

/// The command line that a recipe makes of `line`, or why it does not.
fn with(line: &str, recipe: &str) -> Result<String, String> {
    let choice = Choice::parse(recipe).map_err(|e| e.to_string())?;
    let target = target(line);
    let edits = choice.edits(&target, &NO_PARTS)?;
    assert_eq!((edits.len(), &*edits[0].key), (1, "kernel.cmdline"));
    let changed = target.with(&edits).unwrap();
    // What is done is done.
    let again = choice.edits(&changed, &NO_PARTS).unwrap_err();
    assert!(again.contains("already"), "{recipe}: {again}");
    Ok(edits[0].value.clone())
}

#[test]
fn a_line_that_the_boot_waits_for_is_not_hidden() {
    let ready = parse(PLAIN).unwrap().spec.ready.pattern;
    let apply = |line: &str, pattern: &str, recipe: &str| {
        let text = PLAIN.replace("a b", line).replace(&ready, pattern);
        let edits = Choice::parse(recipe).unwrap();
        edits.edits(&parse(&text).unwrap(), &NO_PARTS)
    };
    let started = "Run .* as init process";
    for (line, pattern, recipe) in [
        ("a", started, "cmdline-quiet"),
        ("a", started, "cmdline-loglevel=3"),
        ("quiet ignore_loglevel", started, "cmdline-less-debug"),
        (
            "debug",
            "Freeing unused kernel (image|memory)",
            "cmdline-quiet",
        ),
    ] {
        let why = apply(line, pattern, recipe).unwrap_err();
        assert!(why.contains("ready.pattern"), "{recipe}: {why}");
    }
    for (line, pattern, recipe) in [
        ("a", "login: ", "cmdline-quiet"),
        ("a", "R", "cmdline-quiet"),
        ("a", "init.*ready", "cmdline-quiet"),
        ("a", started, "cmdline-loglevel=7"),
        // It is hidden already, so it is not what the boot waits for.
        ("quiet", started, "cmdline-loglevel=3"),
        ("a", started, "cmdline-no-audit"),
    ] {
        apply(line, pattern, recipe).unwrap();
    }
}

#[test]
fn what_recipes_make_of_a_line() {
    for (line, recipe, want) in [
        ("a", "cmdline-quiet", "a quiet"),
        ("loglevel=7 -- s", "cmdline-quiet", "loglevel=7 quiet -- s"),
        ("a", "cmdline-no-crypto-tests", "a cryptomgr.notests"),
        (
            "a",
            "cmdline-rcu-expedited",
            "a rcupdate.rcu_expedited=1 rcupdate.rcu_normal_after_boot=1",
        ),
        (
            "rcupdate.rcu_expedited=1",
            "cmdline-rcu-expedited",
            "rcupdate.rcu_expedited=1 rcupdate.rcu_normal_after_boot=1",
        ),
        ("a", "cmdline-no-audit", "a audit=0"),
        (
            "root=/dev/sda",
            "cmdline-no-raid-autodetect",
            "root=/dev/sda raid=noautodetect",
        ),
        (
            "a",
            "cmdline-no-i8042",
            "a i8042.noaux i8042.nokbd i8042.nomux i8042.nopnp",
        ),
        (
            "a",
            "cmdline-trust-entropy",
            "a random.trust_cpu=on random.trust_bootloader=on",
        ),
        ("a", "cmdline-no-spinup-stagger", "a libahci.ignore_sss=1"),
        ("a", "cmdline-no-zeroing", "a init_on_alloc=0"),
        (
            "a",
            "cmdline-no-kstack-offset",
            "a randomize_kstack_offset=off",
        ),
        ("a", "cmdline-no-watchdog", "a nowatchdog"),
        ("a", "cmdline-no-timer-check", "a no_timer_check"),
        ("a", "cmdline-tsc-reliable", "a tsc=reliable"),
        (
            "a",
            "cmdline-fw-devlink-permissive",
            "a fw_devlink=permissive",
        ),
        ("a", "cmdline-lpj=123", "a lpj=123"),
        ("a", "cmdline-loglevel", "a loglevel=3"),
        ("quiet a", "cmdline-loglevel=2", "quiet a loglevel=2"),
        ("loglevel=8 a", "cmdline-loglevel=4", "loglevel=4 a"),
        (
            "a",
            "cmdline-initcall-blacklist=x_init",
            "a initcall_blacklist=x_init",
        ),
        (
            "initcall_blacklist=x a",
            "cmdline-initcall-blacklist=y,x",
            "initcall_blacklist=x,y a",
        ),
        ("a", "cmdline-async-probe=*", "a driver_async_probe=*"),
        ("a", "cmdline-async-probe=*,b", "a driver_async_probe=*,b"),
        (
            "a",
            "cmdline-deferred-probe-timeout",
            "a deferred_probe_timeout=0",
        ),
        (
            "deferred_probe_timeout=30 a",
            "cmdline-deferred-probe-timeout=5",
            "deferred_probe_timeout=5 a",
        ),
        (
            "deferred_probe_timeout=-1",
            "cmdline-deferred-probe-timeout",
            "deferred_probe_timeout=0",
        ),
        (
            "root=/dev/a",
            "cmdline-rootfstype=ext4",
            "root=/dev/a rootfstype=ext4",
        ),
        (
            "console=ttyS0",
            "cmdline-8250-uarts",
            "console=ttyS0 8250.nr_uarts=1",
        ),
        (
            "console=tty0 console=ttyS0,115200",
            "cmdline-console-size",
            "console=tty0 console=ttyS0,115200 systemd.tty.rows.console=24 \
             systemd.tty.columns.console=80 systemd.tty.rows.ttyS0=24 systemd.tty.columns.ttyS0=80",
        ),
        (
            "ip=dhcp a",
            "cmdline-ip-static=10.0.0.2:10.0.0.1::255.0.0.0::eth0:off",
            "ip=10.0.0.2:10.0.0.1::255.0.0.0::eth0:off a",
        ),
        (
            "console=tty0 console=ttyS0,115200n8r",
            "cmdline-console-baud",
            "console=tty0 console=ttyS0,921600n8r",
        ),
        ("a", "cmdline-max-loop=2", "a max_loop=2"),
        (
            "debug initcall_debug a earlycon=pl011,0x9000000 ignore_loglevel memtest=3 \
             loglevel=8 kmemleak=on usb.dyndbg=+p kmemleak=off loglevel=5 -- debug",
            "cmdline-less-debug",
            "a kmemleak=off loglevel=5 -- debug",
        ),
        ("ip=dhcp a", "cmdline-no-ip", "a"),
        (
            "console=tty0 console=ttyAMA0,115200",
            "cmdline-no-tty-console",
            "console=ttyAMA0,115200",
        ),
        ("rootdelay=5 a", "cmdline-no-rootdelay", "a"),
        ("rootdelay=5 a", "cmdline-rootwait", "a rootwait"),
        ("rootdelay=5 rootwait", "cmdline-rootwait", "rootwait"),
    ] {
        assert_eq!(with(line, recipe).as_deref(), Ok(want), "{recipe}");
    }
}

#[test]
fn what_recipes_refuse() {
    for (line, recipe, want) in [
        (
            "ignore-loglevel",
            "cmdline-quiet",
            "cmdline-less-debug takes it away",
        ),
        ("loglevel=3", "cmdline-quiet", "as quiet already"),
        ("fips=1", "cmdline-no-crypto-tests", "FIPS 140"),
        ("cryptomgr.notests=1", "cmdline-no-crypto-tests", "already"),
        (
            "rcupdate.rcu_normal=1",
            "cmdline-rcu-expedited",
            "the opposite",
        ),
        ("audit=1", "cmdline-no-audit", "has audit=1 already"),
        (
            "root=/dev/md0",
            "cmdline-no-raid-autodetect",
            "may be such an array",
        ),
        ("notsc", "cmdline-tsc-reliable", "forbids"),
        ("a", "cmdline-loglevel=9", "a number from 0 to 7"),
        (
            "quiet",
            "cmdline-loglevel=4",
            "quiet on the command line is as quiet already",
        ),
        (
            "loglevel=7 quiet loglevel=0",
            "cmdline-loglevel",
            "loglevel=0 on the",
        ),
        ("ignore_loglevel", "cmdline-loglevel", "overrides it"),
        (
            "a",
            "cmdline-initcall-blacklist",
            "with commas between them, as in",
        ),
        (
            "a",
            "cmdline-initcall-blacklist=a,,b",
            "with commas between them, as in",
        ),
        (
            "a",
            "cmdline-initcall-blacklist=a b",
            "cannot stand on a command line",
        ),
        (
            "a",
            "cmdline-initcall-blacklist=a\"b",
            "cannot stand on a command line",
        ),
        (
            "a",
            "cmdline-initcall-blacklist=a\n",
            "cannot stand on a command line",
        ),
        (
            "a",
            "cmdline-initcall-blacklist=ä",
            "cannot stand on a command line",
        ),
        (
            "a",
            "cmdline-async-probe=$(x)",
            "cannot stand on a command line",
        ),
        (
            "a",
            "cmdline-deferred-probe-timeout=-1",
            "a number from 0 to 3600",
        ),
        ("a", "cmdline-rootfstype=ext4", "there is no root="),
        (
            "root=/a",
            "cmdline-rootfstype",
            "as in cmdline-rootfstype=ext4",
        ),
        (
            "console=ttyS2,9600",
            "cmdline-8250-uarts=2",
            "needs 3 ports",
        ),
        ("a", "cmdline-8250-uarts=65", "from 0 to 64"),
        ("a", "cmdline-console-size", "names no console="),
        ("console=tty0", "cmdline-console-size", "is a screen"),
        ("console=hvc0", "cmdline-console-size=24", "from 1 to 999"),
        (
            "a",
            "cmdline-ip-static=10.0.0.2:::::eth0:off",
            "there is no ip=",
        ),
        (
            "ip=dhcp",
            "cmdline-ip-static=10.0.0.2",
            "as in cmdline-ip-static",
        ),
        (
            "ip=dhcp",
            "cmdline-ip-static=10.0.0.2:::::eth0:dhcp",
            "as in cmdline-ip",
        ),
        (
            "ip=dhcp",
            "cmdline-ip-static=eth0",
            "as in cmdline-ip-static",
        ),
        ("console=ttyS0", "cmdline-console-baud", "names a speed"),
        (
            "console=ttyS0,1500000",
            "cmdline-console-baud",
            "is as fast already",
        ),
        ("a", "cmdline-max-loop=0", "from 1 to 256"),
        (
            "a",
            "cmdline-less-debug",
            "without parameters for debugging already",
        ),
        ("a ip", "cmdline-no-ip", "without ip= already"),
        (
            "ip=dhcp root=/dev/nfs",
            "cmdline-no-ip",
            "root=/dev/nfs needs the network",
        ),
        ("console=tty0", "cmdline-no-tty-console", "only console"),
        ("console=ttyS0", "cmdline-no-tty-console", "already"),
        ("-- rootdelay=5", "cmdline-no-rootdelay", "already"),
    ] {
        let why = with(line, recipe).unwrap_err();
        assert!(why.contains(want), "{recipe} on {line}: {why}");
    }
}

#[test]
fn a_list_that_the_kernel_would_cut_is_refused() {
    let long = "d".repeat(256);
    let why = with("a", &format!("cmdline-async-probe={long}")).unwrap_err();
    assert!(why.contains("256 characters"), "{why}");
    let longer = "d".repeat(1001);
    assert!(with("a", &format!("cmdline-async-probe={longer}")).is_err());
}

#[test]
fn parameters_of_x86_are_for_x86() {
    let text = format!("{PLAIN}[packages]\narchitecture = 'arm64'\n");
    for recipe in [
        "cmdline-no-i8042",
        "cmdline-no-timer-check",
        "cmdline-tsc-reliable",
    ] {
        let choice = Choice::parse(recipe).unwrap();
        let why = choice.edits(&parse(&text).unwrap(), &NO_PARTS).unwrap_err();
        assert!(why.contains("only x86"), "{why}");
        let amd64 = parse(&text.replace("arm64", "amd64")).unwrap();
        assert!(choice.edits(&amd64, &NO_PARTS).is_ok());
    }
}
