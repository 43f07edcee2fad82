//! Dates as log tools write them.
//!
//! ```text
//! Apr 27 19:48:56          Apr 27 19:48:56.842914            local time, no year
//! 2026-04-27T19:48:56+0000 2026-04-27T19:48:56.842914+02:00  with the zone's offset
//! Mon 2026-04-27 19:48:56 UTC    Mon 2026-04-27 19:48:56.842914 CEST
//! 1777319336.842914                                          s since 1970
//! ```
//!
//! A zone that is a name other than UTC is not looked up: its times are taken
//! as they are written, which is right among themselves. Without a year, times
//! count from the 1st of January of a leap year (so that the 29th of February
//! has a place); the caller makes them count from the first day that it saw.

use crate::calendar::{self, SECOND_NS, Wall};
use crate::text;

/// A moment of the wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) ns: i64,
    /// What its last digit is worth.
    pub(crate) err_ns: u32,
    /// It counts from 1970; else from a year that is not told.
    pub(crate) has_year: bool,
}

const DAY_NS: i64 = 86_400 * SECOND_NS;

/// A leap year, and the days from 1970 to its first.
const LEAP_YEAR: (i64, i64) = (1972, 730);

/// The moment that `line` begins with, and what follows after a space.
pub(crate) fn leading(line: &str) -> Option<(Moment, &str)> {
    match line.as_bytes().first()? {
        b'0'..=b'9' => iso(line).or_else(|| unix(line)),
        b'A'..=b'Z' => month_first(line).or_else(|| weekday_first(line)),
        _ => None,
    }
}

/// `1777319336.842914`.
fn unix(line: &str) -> Option<(Moment, &str)> {
    let (number, rest) = line.split_once(' ')?;
    let (whole, fraction) = number.split_once('.')?;
    if whole.len() < 8 || fraction.len() < 3 {
        return None;
    }
    let moment = Moment {
        ns: text::seconds_ns(number.as_bytes())?,
        err_ns: text::resolution_ns(number.as_bytes(), SECOND_NS as u64),
        has_year: true,
    };
    Some((moment, rest))
}

/// `2026-04-27T19:48:56.842914+0000`, never without a zone.
fn iso(line: &str) -> Option<(Moment, &str)> {
    let wall = calendar::iso(line.as_bytes())?;
    let (stamp, rest) = line.split_at_checked(wall.len)?;
    let zoned = stamp.as_bytes()[10] == b'T' && stamp[11..].contains(['+', '-', 'Z']);
    let rest = rest.strip_prefix(' ').filter(|_| zoned)?;
    Some((of_1970(wall), rest))
}

/// `Apr 27 19:48:56`, the day padded with a space.
fn month_first(line: &str) -> Option<(Moment, &str)> {
    let (leap_year, first_day) = LEAP_YEAR;
    let wall = calendar::syslog(line.as_bytes(), leap_year)?;
    let moment = Moment {
        ns: wall.ns - first_day * DAY_NS,
        err_ns: wall.err_ns,
        has_year: false,
    };
    Some((moment, line.get(wall.len..)?.strip_prefix(' ')?))
}

/// `Mon 2026-04-27 19:48:56 UTC`.
fn weekday_first(line: &str) -> Option<(Moment, &str)> {
    let line = line.get(3..)?.strip_prefix(' ')?;
    let mut wall = calendar::iso(line.as_bytes())?;
    let rest = line.get(wall.len..)?.strip_prefix(' ')?;
    let (zone, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let (east_s, _) = calendar::zone(zone.as_bytes());
    wall.ns = wall.ns.checked_sub(east_s * SECOND_NS)?;
    (!zone.is_empty() && zone.len() < 8).then(|| (of_1970(wall), rest))
}

fn of_1970(wall: Wall) -> Moment {
    Moment {
        ns: wall.ns,
        err_ns: wall.err_ns,
        has_year: true,
    }
}

/// The start of the day that `ns` is in.
pub(crate) fn midnight_ns(ns: i64) -> i64 {
    ns.div_euclid(DAY_NS).saturating_mul(DAY_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_one_moment() {
        let s = 1_777_319_336_000_000_000;
        for (text, fraction, err_ns) in [
            ("2026-04-27T19:48:56+0000 rest", 0, 1_000_000_000),
            ("2026-04-27T21:48:56.842914+02:00 rest", 842_914_000, 1_000),
            ("2026-04-27T19:48:56.842Z rest", 842_000_000, 1_000_000),
            ("Mon 2026-04-27 19:48:56 UTC rest", 0, 1_000_000_000),
            (
                "Mon 2026-04-27 19:48:56.842914 CEST rest",
                842_914_000,
                1_000,
            ),
            ("1777319336.842914 rest", 842_914_000, 1_000),
        ] {
            let (moment, rest) = leading(text).unwrap();
            assert_eq!((moment.ns, moment.err_ns), (s + fraction, err_ns), "{text}");
            assert!(moment.has_year && rest == "rest", "{text}");
        }
        let (a, _) = leading("Feb 29 00:00:01 x").unwrap();
        let (b, _) = leading("Mar  1 00:00:01.5 x").unwrap();
        assert_eq!(b.ns - a.ns, DAY_NS + 500_000_000);
        assert!(!a.has_year);
    }

    #[test]
    fn what_is_no_date() {
        for text in [
            "",
            "May be wrong 1",
            "Mon 2026-13-27 19:48:56 UTC x",
            "9223372036854775807.000000 x",
            "12.345 x",
            "19:48:56 x",
            "Apr 99 19:48:56 x",
            "2026-04-27T19:48 x",
        ] {
            assert_eq!(leading(text), None, "{text}");
        }
    }
}
