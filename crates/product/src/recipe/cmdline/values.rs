//! Parameters with a value.

use std::net::Ipv4Addr;

use super::{Line, QUIET_LEVEL, find, is_plain, name_of, with_parameter};
use crate::cmdline::{self, is_parameter, value_of};
use crate::recipe::{Listed, Recipe, RecipeMeta};
use crate::{Edit, Parts, Target};

/// Gives a parameter a value.
pub(in crate::recipe) struct Valued {
    meta: &'static RecipeMeta,
    /// The value if none is typed; empty: one is needed.
    default: &'static str,
    /// Whether it is a list of names that are independent of each other.
    lists: bool,
    /// The command line with the value in it.
    apply: fn(line: &str, value: &str) -> Result<String, String>,
}

impl Recipe for Valued {
    fn meta(&self) -> &RecipeMeta {
        self.meta
    }

    fn listed(&self) -> Option<Listed> {
        self.lists.then_some(Listed::Changed)
    }

    fn edits(&self, target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
        let line = Line::of(target, parts)?;
        let value = if value.is_empty() {
            self.default
        } else {
            value
        };
        // An empty one is refused with an example, by the recipe itself.
        if !value.is_empty() && !is_plain(value) {
            return Err(format!(
                "{value:?} cannot stand on a command line; use letters, digits and signs, \
                 without spaces and quotes"
            ));
        }
        let changed = (self.apply)(&line.text, value)?;
        if changed == line.text {
            return Err(format!("the command line says {value} already"));
        }
        line.set_if_ready_is_seen(changed)
    }
}

fn has_already(word: &str) -> String {
    format!("the command line has {word} already")
}

/// A whole number between `min` and `max`.
fn number(value: &str, min: u64, max: u64, example: &str) -> Result<u64, String> {
    let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    let number = value
        .parse()
        .ok()
        .filter(|n| digits && (min..=max).contains(n));
    number.ok_or_else(|| format!("it needs a number from {min} to {max}, as in {example}"))
}

/// A list with a comma between names that `good` takes.
fn names<'v>(value: &'v str, good: fn(u8) -> bool, example: &str) -> Result<Vec<&'v str>, String> {
    let names: Vec<&str> = value.split(',').collect();
    let all = names.iter().all(|n| !n.is_empty() && n.bytes().all(good));
    match all {
        true => Ok(names),
        false => Err(format!(
            "it needs names with commas between them, as in {example}"
        )),
    }
}

/// `line` with `more` added to the list that the parameter `name` has.
fn with_names(line: &str, name: &str, more: &[&str]) -> Result<String, String> {
    let words = cmdline::words(line);
    let lists = words.iter().filter_map(|w| value_of(w, name));
    let mut all: Vec<&str> = lists.flat_map(|l| l.split(',')).collect();
    all.retain(|n| !n.is_empty());
    let known = all.len();
    for new in more {
        if !all.contains(new) {
            all.push(new);
        }
    }
    if all.len() == known {
        return Err(has_already(find(line, name).unwrap_or(name)));
    }
    Ok(with_parameter(line, &format!("{name}={}", all.join(","))))
}

/// The kernel takes the speed of its delay loop as given.
///
/// Takes the number from the log of an earlier boot:
/// `Calibrating delay loop... 262.96 BogoMIPS (lpj=1314816)`. Kernels that
/// derive it from a timer (`(skipped), value calculated using timer
/// frequency`) do not measure anything and gain nothing.
pub(in crate::recipe) const LPJ: Valued = Valued {
    meta: &RecipeMeta {
        name: "cmdline-lpj",
        title: "the kernel does not calibrate its delay loop",
        risk: "delays are wrong if the CPU runs at another speed than when it was measured",
        values: &[""],
    },
    default: "",
    lists: false,
    apply: |line, value| {
        // 0 is what the kernel takes for *not given*.
        if number(value, 1, u64::MAX, "").is_err() {
            return Err(
                "it needs the number that the kernel found, as in cmdline-lpj=1314816; \
                 `bootlap advise` reads it from a boot"
                    .into(),
            );
        }
        match find(line, "lpj") {
            Some(word) => Err(has_already(word)),
            None => Ok(cmdline::with(line, &format!("lpj={value}"))),
        }
    },
};

/// The console shows only messages that matter more than this level.
///
/// 3 shows what is critical, 4 errors too (as `quiet` does), 0 nothing but a
/// panic. All of it stays in the log for `dmesg`.
pub(in crate::recipe) const LOGLEVEL: Valued = Valued {
    meta: &RecipeMeta {
        name: "cmdline-loglevel",
        title: "the kernel prints only messages that matter more than this level",
        risk: "a kernel that hangs early says less about where",
        values: &[""],
    },
    default: "3",
    lists: false,
    apply: |line, value| {
        let wanted = number(value, 0, 7, "cmdline-loglevel=3")?;
        if let Some(word) = find(line, "ignore_loglevel") {
            return Err(format!(
                "{word} on the command line overrides it; cmdline-less-debug takes it away"
            ));
        }
        // The last of them counts.
        let level = |word: &&str| {
            if is_parameter(word, "quiet") {
                return Some(u64::from(QUIET_LEVEL));
            }
            value_of(word, "loglevel")?.parse().ok()
        };
        let words = cmdline::words(line);
        match words.iter().rev().find_map(|w| Some((w, level(w)?))) {
            Some((word, level)) if level <= wanted => {
                Err(format!("{word} on the command line is as quiet already"))
            }
            Some((word, _)) if is_parameter(word, "loglevel") => {
                Ok(with_parameter(line, &format!("loglevel={value}")))
            }
            _ => Ok(cmdline::with(line, &format!("loglevel={value}"))),
        }
    },
};

/// Some initcalls are not run.
///
/// For a built-in driver that the product does not have, and that looks for its
/// hardware at each boot: `bootlap show --by initcalls` says what each costs.
/// The kernel says `initcall NAME blacklisted` for each. Needs
/// `CONFIG_KALLSYMS`; to build the kernel without the driver is better.
pub(in crate::recipe) const INITCALL_BLACKLIST: Valued = Valued {
    meta: &RecipeMeta {
        name: "cmdline-initcall-blacklist",
        title: "the kernel does not run these initcalls",
        risk: "what the initcall sets up is missing, and what relies on it may crash",
        values: &[""],
    },
    default: "",
    lists: true,
    apply: |line, value| {
        let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
        let example = "cmdline-initcall-blacklist=btrfs_init,raid6_select_algo";
        let names = names(value, good, example)?;
        with_names(line, "initcall_blacklist", &names)
    },
};

/// Drivers are probed beside each other.
///
/// A driver that asks for it, or is named here, is probed by a thread of its
/// own; `*` means all but those that follow. The kernel reads 255 characters.
/// Since 4.20, with `*` since 5.18.
pub(in crate::recipe) const ASYNC_PROBE: Valued = Valued {
    meta: &RecipeMeta {
        name: "cmdline-async-probe",
        title: "these drivers are probed beside the others; * means all",
        risk: "devices get other numbers from boot to boot; a driver may rely on the order",
        values: &[""],
    },
    default: "",
    lists: false,
    apply: |line, value| {
        let good = |b: u8| b.is_ascii_alphanumeric() || b"_-.:+*".contains(&b);
        let names = names(value, good, "cmdline-async-probe=ahci,sdhci-pltfm")?;
        let changed = with_names(line, "driver_async_probe", &names)?;
        let list =
            find(&changed, "driver_async_probe").and_then(|w| value_of(w, "driver_async_probe"));
        match list {
            Some(list) if list.len() > 255 => Err(format!(
                "the list would have {} characters, and the kernel reads 255",
                list.len()
            )),
            _ => Ok(changed),
        }
    },
};

/// Drivers give up sooner on what they depend on.
///
/// Kernels with modules wait 10 s after the last initcall for drivers that
/// others need; a console or a network card that waits for an optional supplier
/// comes as late. 0 ends the wait with the initcalls.
pub(in crate::recipe) const DEFERRED_PROBE_TIMEOUT: Valued = Valued {
    meta: &RecipeMeta {
        name: "cmdline-deferred-probe-timeout",
        title: "drivers wait this many seconds for what they depend on, and not 10",
        risk: "a driver whose supplier is a module that comes later fails",
        values: &[""],
    },
    default: "0",
    lists: false,
    apply: |line, value| {
        let seconds = number(value, 0, 3600, "cmdline-deferred-probe-timeout=0")?;
        let there = find(line, "deferred_probe_timeout");
        let set = there.and_then(|w| value_of(w, "deferred_probe_timeout"));
        match (there, set.and_then(|v| v.parse::<i64>().ok())) {
            (Some(word), Some(now)) if now >= 0 && now.unsigned_abs() <= seconds => {
                Err(has_already(word))
            }
            _ => Ok(with_parameter(
                line,
                &format!("deferred_probe_timeout={seconds}"),
            )),
        }
    },
};

/// The root's file system is named.
///
/// Otherwise the kernel tries each built-in one in turn; each reads a
/// superblock, and some complain on the console.
pub(in crate::recipe) const ROOTFSTYPE: Valued = Valued {
    meta: &RecipeMeta {
        name: "cmdline-rootfstype",
        title: "the kernel does not try one file system after the other on the root",
        risk: "a root of another type is not mounted",
        values: &[""],
    },
    default: "",
    lists: false,
    apply: |line, value| {
        let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        names(value, good, "cmdline-rootfstype=ext4")?;
        if find(line, "root").is_none() {
            return Err("there is no root= on the command line, so the kernel mounts none".into());
        }
        match find(line, "rootfstype") {
            Some(word) => Err(has_already(word)),
            None => Ok(cmdline::with(line, &format!("rootfstype={value}"))),
        }
    },
};

/// systemd takes the size of the terminal on the kernel's console as given.
///
/// Since version 257 it asks the terminal (`ESC [ 6 n`) each time that it sets up the console or a
/// login there, and waits for an answer. On a serial line without a terminal none comes.
pub(in crate::recipe) const CONSOLE_SIZE: Valued = Valued {
    meta: &RecipeMeta {
        name: "cmdline-console-size",
        title: "systemd takes the size of the console's terminal as given",
        risk: "a terminal of another size is used as if it had this one",
        values: &[""],
    },
    default: "24x80",
    lists: false,
    apply: |line, value| {
        let example = "cmdline-console-size=24x80";
        let (rows, columns) = value.split_once('x').unwrap_or((value, ""));
        let rows = number(rows, 1, 999, example)?;
        let columns = number(columns, 1, 999, example)?;
        let tty = find(line, "console").and_then(cmdline::console_of);
        let tty = tty.ok_or("the command line names no console=; add it")?;
        if cmdline::is_screen(tty) {
            return Err(format!(
                "console={tty} is a screen, whose size nobody has to be asked for"
            ));
        }
        if let Some(word) = find(line, "systemd.tty.rows.console") {
            return Err(has_already(word));
        }
        let line = ["console", tty].iter().fold(line.to_owned(), |line, tty| {
            let line = cmdline::with(&line, &format!("systemd.tty.rows.{tty}={rows}"));
            cmdline::with(&line, &format!("systemd.tty.columns.{tty}={columns}"))
        });
        Ok(line)
    },
};

/// The kernel looks for fewer serial ports.
///
/// `CONFIG_SERIAL_8250_RUNTIME_UARTS` is 4 at least and 32 with some
/// distributions: each port that is not there is probed and registered.
pub(in crate::recipe) const UARTS_8250: Valued = Valued {
    meta: &RecipeMeta {
        name: "cmdline-8250-uarts",
        title: "the kernel looks for this many 8250 serial ports only",
        risk: "further serial ports are missing",
        values: &[""],
    },
    default: "1",
    lists: false,
    apply: |line, value| {
        let ports = number(value, 0, 64, "cmdline-8250-uarts=1")?;
        for word in cmdline::words(line) {
            let device = value_of(word, "console").unwrap_or_default();
            let port = device
                .split(',')
                .next()
                .and_then(|d| d.strip_prefix("ttyS"));
            if let Some(port) = port.and_then(|p| p.parse::<u64>().ok())
                && port >= ports
            {
                return Err(format!(
                    "{word} is the console, so it needs {} ports at least",
                    port.saturating_add(1)
                ));
            }
        }
        match find(line, "8250.nr_uarts") {
            Some(word) => Err(has_already(word)),
            None => Ok(cmdline::with(line, &format!("8250.nr_uarts={ports}"))),
        }
    },
};

/// The kernel takes its address as given, and asks no server for one.
///
/// For a root on the network. The value is what `ip=` takes (Linux's
/// `Documentation/admin-guide/nfs/nfsroot.rst`):
/// `CLIENT:SERVER:GATEWAY:NETMASK:HOSTNAME:DEVICE:off`.
pub(in crate::recipe) const IP_STATIC: Valued = Valued {
    meta: &RecipeMeta {
        name: "cmdline-ip-static",
        title: "the kernel takes its address as given instead of asking for one",
        risk: "the same address on every board: only where that is right",
        values: &[""],
    },
    default: "",
    lists: false,
    apply: |line, value| {
        let example = "it needs what ip= takes, as in \
                       cmdline-ip-static=192.168.1.10:192.168.1.1::255.255.255.0::eth0:off";
        let fields: Vec<&str> = value.split(':').collect();
        let address = |i: usize| fields.get(i).copied().unwrap_or_default();
        let given = address(0).parse::<Ipv4Addr>().is_ok();
        let others =
            (1..4).all(|i| address(i).is_empty() || address(i).parse::<Ipv4Addr>().is_ok());
        // Without it the kernel would ask after all.
        let off = matches!(address(6), "off" | "none");
        if !given || !others || !off {
            return Err(example.into());
        }
        match find(line, "ip") {
            None => {
                Err("there is no ip= on the command line, so the kernel asks for no address".into())
            }
            Some(word) if value_of(word, "ip") == Some(value) => Err(has_already(word)),
            Some(_) => Ok(with_parameter(line, &format!("ip={value}"))),
        }
    },
};

/// The serial console runs faster.
///
/// A byte takes ten bit times: 60 kB of messages 5.2 s at 115 200 baud and
/// 0.65 s at 921 600. What reads the console, the boot loader and getty must
/// be told the same.
pub(in crate::recipe) const CONSOLE_BAUD: Valued = Valued {
    meta: &RecipeMeta {
        name: "cmdline-console-baud",
        title: "the kernel's serial console runs at this many baud",
        risk: "what is at the other end, the boot loader and getty need the same speed",
        values: &[
            "921600", "230400", "460800", "1000000", "1500000", "3000000",
        ],
    },
    default: "921600",
    lists: false,
    apply: |line, value| {
        let wanted = number(value, 9600, 12_000_000, "cmdline-console-baud=921600")?;
        let mut refused = Err("no console= on the command line names a speed, as \
                               console=ttyS0,115200 does"
            .to_owned());
        let changed = cmdline::changed(line, |word| {
            let spot = value_of(word, "console").and_then(|v| v.split_once(','));
            if let Some((device, options)) = spot {
                let digits = options.bytes().take_while(u8::is_ascii_digit).count();
                let (speed, flow) = options.split_at(digits);
                match speed.parse::<u64>() {
                    Ok(now) if now >= wanted => {
                        if refused.is_err() {
                            refused = Err(format!("{word} is as fast already"));
                        }
                    }
                    Ok(_) => {
                        refused = Ok(());
                        return Some(format!("{}={device},{value}{flow}", name_of(word)));
                    }
                    Err(_) => {}
                }
            }
            Some(word.to_owned())
        });
        refused.map(|()| changed)
    },
};

/// Loop devices are not made in advance.
///
/// `CONFIG_BLK_DEV_LOOP_MIN_COUNT` is 8: as many block devices are registered
/// at each boot, and each makes a device manager busy. For a kernel with a
/// built-in driver; modules read `loop.max_loop`.
pub(in crate::recipe) const MAX_LOOP: Valued = Valued {
    meta: &RecipeMeta {
        name: "cmdline-max-loop",
        title: "the kernel makes this many loop devices only",
        risk: "no more than these can be used at a time",
        values: &[""],
    },
    default: "1",
    lists: false,
    apply: |line, value| {
        let devices = number(value, 1, 256, "cmdline-max-loop=1")?;
        match find(line, "max_loop") {
            Some(word) => Err(has_already(word)),
            None => Ok(cmdline::with(line, &format!("max_loop={devices}"))),
        }
    },
};
