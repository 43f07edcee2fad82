//! The beginning of an event's line: who, where, when.
//!
//! ```text
//!          systemd-1       [001] .....    22.555418: initcall_start: func=…   ftrace
//!             bash-1994    (   1994) [000] d..2.  12.345678: …                options/record-tgid
//!             bash-4251    [01] 10152.583854: path_put <-path_walk            no flags: before 2.6.38
//!             bash-1234  [001]  12345.678901123: function: …                  trace-cmd report -t
//!          cat-162       0..... 18089us#: vfs_open <-path_openat              options/latency-format
//!          cat-174       0...1.    42.681917454: funcgraph_entry: …           trace-cmd report -l -t
//! ```
//!
//! A thread's name may hold spaces, dashes and brackets; the flags are one
//! word; the decimals are those of the program that prints them.

use bootlap_model::Stamp;

use crate::text;

/// The beginning of an event's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    pub(crate) comm: &'a str,
    pub(crate) pid: u32,
    pub(crate) cpu: u32,
    pub(crate) time: Time,
    /// What is after it, from its first character on.
    pub(crate) body: &'a str,
}

/// What the line says of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// On the clock of the trace.
    At(Stamp),
    /// Since the trace's first event (latency format).
    Since(Stamp),
    /// Counts of something (`trace_clock` is `counter` or `x86-tsc`).
    Ticks,
}

/// Of interrupts, of the need to schedule, of what interrupts, and how deep.
const FEWEST_FLAGS: usize = 4;

/// The beginning of an event's line, if this is one.
pub(crate) fn parse(line: &str) -> Option<Head<'_>> {
    bracketed(line).or_else(|| latency(line))
}

/// With `[000]`, as nearly all have it.
fn bracketed(line: &str) -> Option<Head<'_>> {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b'[', bytes).find_map(|open| {
        let digits = digits(&bytes[open + 1..]);
        if digits == 0 || bytes.get(open + 1 + digits) != Some(&b']') {
            return None;
        }
        let (comm, pid) = task(without_group(line[..open].trim_ascii_end()))?;
        let cpu = line[open + 1..open + 1 + digits].parse().ok()?;
        let rest = line[open + digits + 2..].trim_ascii_start();
        let found = stamp(rest).or_else(|| {
            let (_flags, rest) = rest.split_once(' ')?;
            stamp(rest.trim_ascii_start())
        });
        // trace-cmd glues large counts to the flags: `d..2.122551717234: `.
        let glued = || stamp(rest.get(5..)?).filter(|_| !rest.starts_with(' '));
        let (time, body) = found.or_else(glued)?;
        Some(Head {
            comm,
            pid,
            cpu,
            time,
            body,
        })
    })
}

/// `12.345678: body`
fn stamp(text: &str) -> Option<(Time, &str)> {
    let bytes = text.as_bytes();
    let colon = bytes
        .iter()
        .position(|b| !b.is_ascii_digit() && *b != b'.')?;
    if bytes[colon] != b':' || colon == 0 {
        return None;
    }
    let number = &bytes[..colon];
    let time = if number.contains(&b'.') {
        let err_ns = text::resolution_ns(number, 1_000_000_000);
        Time::At(Stamp::new(text::seconds_ns(number)?, err_ns))
    } else {
        Time::Ticks
    };
    let mut body = text[colon + 1..].trim_ascii_start();
    // trace-cmd report --ts-diff: `(+29)`.
    if let Some((_, behind)) = body.strip_prefix("(+").and_then(|b| b.split_once(')')) {
        body = behind.trim_ascii_start();
    }
    Some((time, body))
}

/// `comm-pid   0d..2. 123us+: body`, or with a time as elsewhere.
fn latency(line: &str) -> Option<Head<'_>> {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b':', bytes).find_map(|colon| {
        let (before, body) = (&line[..colon], line[colon + 1..].trim_ascii_start());
        let (place, time) = match before.len().checked_sub(3).map(|i| &bytes[i..colon]) {
            Some([b'u', b's', _]) => since(&before[..colon - 3])?,
            Some([_, b'u', b's']) => since(&before[..colon - 2])?,
            Some([.., digit]) if digit.is_ascii_digit() => {
                let (place, number) = before.rsplit_once(' ')?;
                let (time, _) = stamp(&line[colon - number.len()..])?;
                (place, time)
            }
            _ => return None,
        };
        let (who, place) = place.trim_ascii_end().rsplit_once(' ')?;
        let cpu = digits(place.as_bytes());
        // A time of day (`17:54:28`, in logcat's `long`) has no flags behind its hour.
        let flags = &place[cpu..];
        if flags.len() < FEWEST_FLAGS || flags.contains(':') {
            return None;
        }
        let (comm, pid) = task(who.trim_ascii_end())?;
        Some(Head {
            comm,
            pid,
            cpu: place[..cpu].parse().ok()?,
            time,
            body,
        })
    })
}

/// `… 123` in µs: what is before the number, and the number.
fn since(text: &str) -> Option<(&str, Time)> {
    let from = text.rfind(|c: char| !c.is_ascii_digit())? + 1;
    let ns = text::decimal(&text.as_bytes()[from..], 3)?;
    let place = text.get(..from)?;
    Some((place, Time::Since(Stamp::new(ns, 1_000))))
}

/// `name-123`
pub(super) fn task(text: &str) -> Option<(&str, u32)> {
    let (comm, pid) = text.rsplit_once('-')?;
    let is_pid = !pid.is_empty() && pid.len() <= 10 && digits(pid.as_bytes()) == pid.len();
    let comm = comm.trim_ascii_start();
    (is_pid && !comm.is_empty()).then_some((comm, pid.parse().ok()?))
}

/// Less ` (  1234)` or ` (-------)`: the thread group.
fn without_group(text: &str) -> &str {
    let Some((before, group)) = text.strip_suffix(')').and_then(|t| t.rsplit_once('(')) else {
        return text;
    };
    let group = group.trim_ascii();
    if group.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        before.trim_ascii_end()
    } else {
        text
    }
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: &str) -> (&str, u32, u32, i64, &str) {
        let head = parse(line).unwrap();
        let ns = match head.time {
            Time::At(at) | Time::Since(at) => at.ns,
            Time::Ticks => -1,
        };
        (head.comm, head.pid, head.cpu, ns, head.body)
    }

    #[test]
    fn heads() {
        assert_eq!(
            at("         systemd-1       [001] .....    22.555418: initcall_level: level=fs"),
            ("systemd", 1, 1, 22_555_418_000, "initcall_level: level=fs")
        );
        assert_eq!(
            at("  a [1] b-c-1994    (  1994) [012] d..2  12.345678: x: y"),
            ("a [1] b-c", 1994, 12, 12_345_678_000, "x: y")
        );
        assert_eq!(
            at("  <...>-7 (-------) [000] 12.000000001: x: y"),
            ("<...>", 7, 0, 12_000_000_001, "x: y")
        );
        assert_eq!(
            at("     cat-162       0..... 18089us#: vfs_open <-path_openat"),
            ("cat", 162, 0, 18_089_000, "vfs_open <-path_openat")
        );
        assert_eq!(
            at("  <idle>-0         1dN.1   12us : x"),
            ("<idle>", 0, 1, 12_000, "x")
        );
        assert_eq!(
            at("kworker/0:1-7         0d..1.    42.681917454: x: y"),
            ("kworker/0:1", 7, 0, 42_681_917_454, "x: y")
        );
        assert_eq!(
            at("  <idle>-0     [000] d..2.    80.798445: (+29)    x: y").4,
            "x: y"
        );
        assert_eq!(at("  a-1 [001] .....            6: schedule <-x").3, -1);
        assert_eq!(at("  a-1 [001] d..2.122551717234: x: y").4, "x: y");
    }

    #[test]
    fn what_is_none() {
        for line in [
            "",
            "[    0.123456] calling  a+0x0/0x1 @ 1",
            "sh 12283 [000]  1466.442625: sched:sched_switch: prev_comm=sh",
            "a-x [000] 1.000000: x",
            "a-1 [000] .... x: y",
            "a-99999999999 [000] .... 1.0: y",
            "12us: x",
            "[ 08-25 17:54:28.819 17537:17537 I/cameraserver ]",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
