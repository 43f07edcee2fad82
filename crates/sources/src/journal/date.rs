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

const DAY_NS: i64 = 86_400_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The moment that `line` begins with, and what follows behind a space.
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
        err_ns: text::resolution_ns(number.as_bytes(), SECOND_NS),
        has_year: true,
    };
    Some((moment, rest))
}

/// `2026-04-27T19:48:56.842914+0000`.
fn iso(line: &str) -> Option<(Moment, &str)> {
    let (stamp, rest) = line.split_once(' ')?;
    let (date, time) = stamp.split_once('T')?;
    let zone = time.find(['+', '-', 'Z'])?;
    let (time, zone) = time.split_at(zone);
    let mut moment = at(days(date)?, time)?;
    let offset = zone_offset_ns(zone)?;
    moment.ns = moment.ns.checked_sub(offset)?;
    moment.has_year = true;
    Some((moment, rest))
}

/// `Apr 27 19:48:56`, the day padded with a space.
fn month_first(line: &str) -> Option<(Moment, &str)> {
    let month = MONTHS.iter().position(|m| line.starts_with(m))?;
    let rest = line.get(3..)?.strip_prefix(' ')?.trim_start();
    let (day, rest) = rest.split_once(' ')?;
    let (time, rest) = rest.trim_start().split_once(' ')?;
    let day = number(day).filter(|d| (1..=31).contains(d))?;
    // 1972 was a leap year.
    let days = days_of(1972, month as i64 + 1, day)? - days_of(1972, 1, 1)?;
    Some((at(days, time)?, rest))
}

/// `Mon 2026-04-27 19:48:56 UTC`.
fn weekday_first(line: &str) -> Option<(Moment, &str)> {
    let mut words = line.splitn(5, ' ');
    let day = words.next()?;
    let (date, time, zone) = (words.next()?, words.next()?, words.next()?);
    let rest = words.next().unwrap_or_default();
    let named = day.len() == 3 && !zone.is_empty() && zone.len() < 8;
    let mut moment = at(days(date).filter(|_| named)?, time)?;
    moment.has_year = true;
    if zone.starts_with(['+', '-']) {
        moment.ns = moment.ns.checked_sub(zone_offset_ns(zone)?)?;
    }
    Some((moment, rest))
}

/// `19:48:56.842914` of a day.
fn at(days: i64, time: &str) -> Option<Moment> {
    let mut parts = time.splitn(3, ':');
    let (h, m, s) = (parts.next()?, parts.next()?, parts.next()?);
    let whole = s.split(['.', ',']).next()?;
    if h.len() != 2 || m.len() != 2 || whole.len() != 2 {
        return None;
    }
    let minutes = number(h)?.checked_mul(60)?.checked_add(number(m)?)?;
    let ns = minutes.checked_mul(60_000_000_000)?;
    let ns = ns.checked_add(text::seconds_ns(s.as_bytes())?)?;
    Some(Moment {
        ns: days.checked_mul(DAY_NS)?.checked_add(ns)?,
        err_ns: text::resolution_ns(s.as_bytes(), SECOND_NS),
        has_year: false,
    })
}

/// `+0200`, `-05:30`, `Z`.
fn zone_offset_ns(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let (sign, digits) = zone.split_at_checked(1)?;
    let digits = digits.replace(':', "");
    let hours = number(digits.get(..2)?)?;
    let minutes = number(digits.get(2..4).unwrap_or("00"))?;
    let ns = (hours * 60 + minutes) * 60_000_000_000;
    Some(if sign == "-" { -ns } else { ns })
}

/// `2026-04-27` as days since 1970.
fn days(date: &str) -> Option<i64> {
    let mut parts = date.splitn(3, '-').map(number);
    days_of(parts.next()??, parts.next()??, parts.next()??)
}

/// Days from 1970-01-01, by the proleptic Gregorian calendar.
fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years that begin in March have their leap day at the end.
    let y = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(y * 365 + y / 4 - y / 100 + y / 400 + of_year - 719_468)
}

fn number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
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
