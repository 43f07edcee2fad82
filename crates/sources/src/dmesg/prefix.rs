//! The prefixes that programs give to kernel lines; [`printk`] knows those of
//! the kernel itself.
//!
//! ```text
//! kern  :info  : [    0.000000] a            dmesg -x
//! [    0.000000 <    0.000012>] a            dmesg -d: since the line before, too
//! [<    0.000012>] a                         dmesg -t -d: only that
//! [Sat Nov 21 13:05:59 2026] a               dmesg -T, and with -d
//! [Nov21 13:05] a                            dmesg -e, -H: a new minute …
//! [  +0.000012] a                            … and since the line before
//! 2026-11-21T13:05:59,123456+00:00 a         dmesg --time-format iso
//! 6,339,5140900,-;a                          /dev/kmsg: level, number, µs, flags
//! [0.000000] a                               white space was lost on the way
//! [Sat Nov 21 13:05:59 2026] [    0.000000] a    several formats (util-linux ≥ 2.41)
//! ```

use crate::calendar::{self, Wall};
use crate::console::{numbers, printk};
use crate::text::{decimal, seconds_ns};

/// What a prefix says of when its line was logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// ns since the kernel's clock started.
    Kernel(i64),
    /// ns since 1970.
    Wall(i64),
    /// ns since the line before.
    Since(i64),
    /// A minute of the wall clock, in ns since 1970, within which it was.
    Minute(i64),
    /// Nothing.
    None,
}

/// The prefix of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// When.
    pub(crate) time: Time,
    /// How exact that is.
    pub(crate) err_ns: u32,
    /// The task that logged it, if the line says so.
    pub(crate) task: Option<u32>,
    /// Where the message begins.
    pub(crate) body: usize,
}

/// What `dmesg -x` calls the facilities.
const FACILITIES: [&[u8]; 12] = [
    b"kern",
    b"user",
    b"mail",
    b"daemon",
    b"auth",
    b"syslog",
    b"lpr",
    b"news",
    b"uucp",
    b"cron",
    b"authpriv",
    b"ftp",
];

/// The prefix at the start of `text`, if there is one; the best of them, if
/// `--time-format` was given several times.
pub(crate) fn parse(text: &[u8]) -> Option<Prefix> {
    let mut best = one(text)?;
    for _ in 0..2 {
        let rest = &text[best.body..];
        let next = match best.time {
            Time::Kernel(_) if has_another(rest) => one(rest),
            Time::Wall(_) if printk::parse(rest).is_some() => one(rest),
            _ => None,
        };
        let Some(next) = next else { break };
        let body = best.body + next.body;
        best = match next.time {
            Time::Kernel(_) => Prefix { body, ..next },
            _ => Prefix { body, ..best },
        };
    }
    Some(best)
}

/// Whether another of `dmesg`'s times follows the kernel's.
#[inline]
pub(crate) fn has_another(rest: &[u8]) -> bool {
    match rest {
        [b'[', b'M' | b'T' | b'W' | b'F' | b'S', _, _, b' ', ..] => bracket(rest).is_some(),
        [b'[', b'<', ..] | [b'[', b' ', b' ', b'+', ..] => bracket(rest).is_some(),
        [b'2', b'0', _, _, b'-', ..] => iso(rest).is_some(),
        _ => false,
    }
}

fn one(text: &[u8]) -> Option<Prefix> {
    let said = decoded_len(text).unwrap_or_else(|| numbers::level_len(text));
    let rest = &text[said..];
    if let Some(kernel) = printk::parse(rest) {
        return Some(Prefix {
            time: Time::Kernel(kernel.ns),
            err_ns: printk::RESOLUTION_NS,
            task: kernel.task,
            body: said + kernel.body,
        });
    }
    let found = match rest.first()? {
        b'[' => bracket(rest),
        b'0'..=b'9' if said == 0 => kmsg(rest).or_else(|| iso(rest)),
        b'0'..=b'9' => iso(rest),
        _ => None,
    };
    match found {
        Some(prefix) => Some(Prefix {
            body: said + prefix.body,
            ..prefix
        }),
        None if said > 0 => Some(Prefix {
            time: Time::None,
            err_ns: 0,
            task: None,
            body: said,
        }),
        None => None,
    }
}

/// `kern  :info  : `: the length.
fn decoded_len(text: &[u8]) -> Option<usize> {
    let word = |text: &[u8]| -> Option<usize> {
        let n = text.iter().take_while(|b| b.is_ascii_lowercase()).count();
        let spaces = text[n..].iter().take_while(|b| **b == b' ').count();
        (n > 0 && spaces < 8 && text.get(n + spaces) == Some(&b':')).then_some(n + spaces + 1)
    };
    if !text.first()?.is_ascii_lowercase() {
        return None;
    }
    let facility = word(text)?;
    let name = text[..facility - 1].trim_ascii_end();
    let is_facility = FACILITIES.contains(&name) || name.starts_with(b"local");
    let level = facility + word(&text[facility..])?;
    (is_facility && text.get(level) == Some(&b' ')).then_some(level + 1)
}

/// Everything else in brackets.
fn bracket(text: &[u8]) -> Option<Prefix> {
    let end = memchr::memchr(b']', &text[..text.len().min(80)])?;
    let inner = &text[1..end];
    let (stamp, delta) = match memchr::memchr(b'<', inner) {
        Some(at) => (inner[..at].trim_ascii(), Some(&inner[at + 1..])),
        None => (inner.trim_ascii(), None),
    };
    let delta = match delta {
        Some(delta) => Some(micros(delta.strip_suffix(b">")?.trim_ascii())?),
        None => None,
    };
    let (time, err_ns) = match (stamp, delta) {
        ([], Some(delta)) => (Time::Since(delta), printk::RESOLUTION_NS),
        ([b'+', delta @ ..], None) => (Time::Since(micros(delta)?), printk::RESOLUTION_NS),
        ([b'0'..=b'9', ..], _) => (Time::Kernel(micros(stamp)?), printk::RESOLUTION_NS),
        _ => of_calendar(stamp)?,
    };
    let kernel = printk::behind_time(text, 0, end + 1);
    Some(Prefix {
        time,
        err_ns,
        task: kernel.task,
        body: kernel.body,
    })
}

fn of_calendar(stamp: &[u8]) -> Option<(Time, u32)> {
    if let Some(wall) = calendar::ctime(stamp) {
        // With a fraction it is a terminal program's.
        let whole = wall.len == stamp.len() && wall.err_ns == 1_000_000_000;
        return whole.then_some((Time::Wall(wall.ns), wall.err_ns));
    }
    // `Nov21 13:05`, `Nov 1 13:05`.
    let (date, clock) = stamp.split_at_checked(stamp.len().checked_sub(5)?)?;
    let (month, day, _) = calendar::month_and_day(date)?;
    let clock = [clock, b":00"].concat();
    let days = calendar::days(1970, month, day)?;
    let minute = calendar::time_of_day(&clock)?.on(days)?;
    Some((Time::Minute(minute.ns), u32::MAX))
}

/// `12.345678`: ns; the kernel and `dmesg` give six digits.
fn micros(text: &[u8]) -> Option<i64> {
    let dot = memchr::memchr(b'.', text)?;
    (text.len() - dot == 7).then(|| seconds_ns(text))?
}

/// `2026-11-21T13:05:59,123456+00:00 `; with a dot it is another program's.
fn iso(text: &[u8]) -> Option<Prefix> {
    let wall = calendar::iso(text)?;
    let comma = text.get(19) == Some(&b',') && wall.err_ns == 1_000 && wall.len > 26;
    (comma && text.get(wall.len) == Some(&b' ')).then(|| {
        let kernel = printk::behind_time(text, 0, wall.len);
        Prefix {
            time: Time::Wall(wall.ns),
            err_ns: wall.err_ns,
            task: kernel.task,
            body: kernel.body,
        }
    })
}

/// A record as `/dev/kmsg` gives it.
fn kmsg(text: &[u8]) -> Option<Prefix> {
    let end = memchr::memchr(b';', &text[..text.len().min(120)])?;
    let mut fields = text[..end].split(|b| *b == b',');
    let mut number = || decimal(fields.next()?, 0).filter(|n| *n >= 0);
    let (_level, _number, us) = (number()?, number()?, number()?);
    let flags = fields.next()?;
    let caller = fields.find_map(|f| f.strip_prefix(b"caller=T"));
    let task = caller.and_then(|t| u32::try_from(decimal(t, 0)?).ok());
    let ns = us.checked_mul(1_000)?;
    (flags.len() <= 2).then_some(Prefix {
        time: Time::Kernel(ns),
        err_ns: printk::RESOLUTION_NS,
        task,
        body: end + 1,
    })
}

/// A line that a system logger wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Syslog {
    /// When the logger got it.
    pub(crate) received: Wall,
    /// Whether the kernel said it.
    pub(crate) kernel: bool,
    /// Where the message begins, the kernel's own prefix included.
    pub(crate) body: usize,
    /// Where the program's name begins.
    pub(crate) tag: usize,
}

/// ```text
/// Nov 21 13:05:59 host kernel: [    0.123456] a                  rsyslog, syslog-ng
/// 2026-11-21T13:05:59.123456+00:00 host kernel: [    0.1…        rsyslog since 8.2204
/// Jan  1 00:00:05 host kern.info kernel: [    0.123456] a        BusyBox
/// Thu Jan  1 00:00:05 1970 kern.info kernel: [    0.123456] a    OpenWrt's logread
/// ```
pub(crate) fn syslog(text: &[u8]) -> Option<Syslog> {
    let level = numbers::level_len(text);
    let received = Wall::parse(&text[level..]).filter(|w| w.dated)?;
    let mut at = level + received.len;
    // Between the time and the name: the host, the facility.
    for _ in 0..4 {
        let rest = text.get(at..)?.strip_prefix(b" ")?;
        at += 1;
        let n = memchr::memchr(b' ', rest).unwrap_or(rest.len());
        let word = &rest[..n];
        if let Some(name) = word.strip_suffix(b":") {
            let known = |b: &u8| b.is_ascii_alphanumeric() || b"-_./[]()@:".contains(b);
            if name.is_empty() || !name.iter().all(known) || name[0] == b'[' {
                return None;
            }
            let end = at + n;
            return Some(Syslog {
                received,
                kernel: name == b"kernel",
                body: end + usize::from(n < rest.len()),
                tag: at,
            });
        }
        if word.is_empty() || word[0] == b'[' {
            return None;
        }
        at += n;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(Time, u32, &str)> {
        let p = parse(text.as_bytes())?;
        Some((p.time, p.err_ns, &text[p.body..]))
    }

    #[test]
    fn prefixes() {
        let us = 1_000;
        let at = Time::Kernel(1_250_012_000);
        for text in [
            "[    1.250012] a",
            "<6>[    1.250012] a",
            "kern  :info  : [    1.250012] a",
            "daemon:notice: [    1.250012] a",
            "[    1.250012 <    0.000012>] a",
            "[1.250012] a",
            "6,339,1250012,-;a",
            "6,339,1250012,-,caller=T1;a",
            "[    1.250012] <0>.(1)[1:swapper/0]a",
            "[Sat Nov 21 13:05:59 2026] [    1.250012] a",
            "[    1.250012] [Sat Nov 21 13:05:59 2026] a",
            "[    1.250012] 2026-11-21T13:05:59,250012+00:00 [<    0.000012>] a",
            "2026-11-21T13:05:59,250012+00:00 [    1.250012] a",
        ] {
            assert_eq!(parsed(text), Some((at, us, "a")), "{text}");
        }
        let wall = 1_795_266_359_000_000_000;
        let second = 1_000_000_000;
        for text in [
            "[Sat Nov 21 13:05:59 2026] a",
            "kern  :info  : [Sat Nov 21 13:05:59 2026] a",
            "[Sat Nov 21 13:05:59 2026 <    0.000012>] a",
        ] {
            assert_eq!(
                parsed(text),
                Some((Time::Wall(wall), second, "a")),
                "{text}"
            );
        }
        let iso = "2026-11-21T13:05:59,000000+00:00 a";
        assert_eq!(parsed(iso), Some((Time::Wall(wall), us, "a")));
        assert_eq!(
            parsed("[  +0.000012] a"),
            Some((Time::Since(12_000), us, "a"))
        );
        assert_eq!(
            parsed("[<    0.000012>] a"),
            Some((Time::Since(12_000), us, "a"))
        );
        let minute = (324 * 86_400 + 13 * 3600 + 5 * 60) * 1_000_000_000;
        let soon = Some((Time::Minute(minute), u32::MAX, "a"));
        assert_eq!(parsed("[Nov21 13:05] a"), soon);
        assert_eq!(parsed("<6>a"), Some((Time::None, 0, "a")));
    }

    #[test]
    fn other_prefixes() {
        for text in [
            "[Sat Nov 21 13:05:59.123 2026] a",
            "2026-11-21T13:05:59.123456+00:00 a",
            "[2.391972 2.384627] a",
            "[  OK  ] Started a",
            "[12:00:00.123456] a",
            "note: this: a",
            "a",
            "",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn loggers() {
        let read = |text: &str| {
            let s = syslog(text.as_bytes())?;
            Some((s.kernel, text[s.body..].to_owned()))
        };
        for text in [
            "Nov 21 13:05:59 host kernel: [    0.123456] a",
            "2026-11-21T13:05:59.123456+00:00 host kernel: [    0.123456] a",
            "Jan  1 00:00:05 host kern.info kernel: [    0.123456] a",
            "Thu Jan  1 00:00:05 1970 kern.info kernel: [    0.123456] a",
        ] {
            assert_eq!(
                read(text),
                Some((true, "[    0.123456] a".to_owned())),
                "{text}"
            );
        }
        let systemd = "Nov 21 13:05:59 host systemd[1]: Started x.";
        assert_eq!(read(systemd), Some((false, "Started x.".to_owned())));
        assert_eq!(read("Nov 21 13:05:59 [    0.123456] a: b"), None);
        assert_eq!(read("2026-11-21T13:05:59 U-Boot 2023.01"), None);
    }
}
