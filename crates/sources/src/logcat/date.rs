//! The times of logcat: dates with or without year and zone, and seconds.

use crate::text::{decimal, resolution_ns};

/// A time in front of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct When {
    pub(super) scale: Scale,
    pub(super) ns: i64,
    pub(super) err_ns: u32,
}

/// What a time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// Days of an unknown year, counted as 1970.
    NoYear,
    /// Since 1970 (`-v year`, `-v epoch`).
    Epoch,
    /// Since the kernel's start (`-v monotonic`).
    Monotonic,
}

const SECOND_NS: i64 = 1_000_000_000;

/// Seconds below are since the start, above since 1970: in 1973 there was no
/// Android.
const EPOCH_AT_LEAST: i64 = 100_000_000 * SECOND_NS;

/// The time that `line` begins with, and what follows.
pub(super) fn when(line: &str) -> Option<(When, &str)> {
    match line.as_bytes() {
        [b'0'..=b'9', b'0'..=b'9', b'-', ..] => date(line, None),
        [b'0'..=b'9', _, _, _, b'-', ..] => {
            let (year, rest) = line.split_at_checked(5)?;
            date(rest, Some(year[..4].parse().ok()?))
        }
        _ => seconds(line.trim_start()),
    }
}

/// `01-31 03:00:31.590`, perhaps with ` +0100` behind it.
fn date(text: &str, year: Option<i64>) -> Option<(When, &str)> {
    let (month, day) = (two(text, 0)?, two(text, 3)?);
    let bytes = text.as_bytes();
    let marks = [(2, b'-'), (5, b' '), (8, b':'), (11, b':')];
    if marks.iter().any(|(at, mark)| bytes.get(*at) != Some(mark)) {
        return None;
    }
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (hour, minute) = (two(text, 6)?, two(text, 9)?);
    let rest = text.get(12..)?;
    let end = rest.find(' ').unwrap_or(rest.len());
    let (second, mut rest) = rest.split_at(end);
    let second_ns = decimal(second.as_bytes(), 9).filter(|ns| (0..=61 * SECOND_NS).contains(ns))?;
    let days = days(year.unwrap_or(1970), month, day)?;
    let mut at = days * 86_400 + hour * 3_600 + minute * 60;
    if let Some(east) = zone(rest) {
        at -= east;
        rest = &rest[6..];
    }
    let ns = at.checked_mul(SECOND_NS)?.checked_add(second_ns)?;
    let scale = if year.is_some() {
        Scale::Epoch
    } else {
        Scale::NoYear
    };
    let err_ns = resolution_ns(second.as_bytes(), SECOND_NS as u64);
    Some((When { scale, ns, err_ns }, rest))
}

/// `1795268008.590`, `31.590`.
fn seconds(text: &str) -> Option<(When, &str)> {
    let (number, rest) = text.split_at(text.find(' ')?);
    if !number.contains('.') || !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let ns = decimal(number.as_bytes(), 9)?;
    let scale = if ns < EPOCH_AT_LEAST {
        Scale::Monotonic
    } else {
        Scale::Epoch
    };
    let err_ns = resolution_ns(number.as_bytes(), SECOND_NS as u64);
    Some((When { scale, ns, err_ns }, rest))
}

/// Seconds east of Greenwich: ` +0100`.
fn zone(rest: &str) -> Option<i64> {
    let sign = match rest.as_bytes().get(..2)? {
        b" +" => 1,
        b" -" => -1,
        _ => return None,
    };
    let whole = rest.as_bytes().get(6).is_none_or(|b| *b == b' ');
    let (hours, minutes) = (two(rest, 2)?, two(rest, 4)?);
    whole.then_some(sign * (hours * 3_600 + minutes * 60))
}

fn two(text: &str, at: usize) -> Option<i64> {
    let digits = text.as_bytes().get(at..at + 2)?;
    let digit = |b: u8| b.is_ascii_digit().then(|| i64::from(b - b'0'));
    Some(digit(digits[0])? * 10 + digit(digits[1])?)
}

/// Days since 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1900..=2200).contains(&year) {
        return None;
    }
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leaps = |y: i64| y / 4 - y / 100 + y / 400;
    let leap = leaps(year) > leaps(year - 1);
    let behind = if leap && month > 2 { 1 } else { 0 };
    let years = (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
    Some(years + BEFORE[month as usize - 1] + behind + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let ns =
            |text: &str| when(text).map(|(w, rest)| (w.ns / 1_000_000, w.err_ns, rest.to_owned()));
        let is = |ms, err, rest: &str| Some((ms, err, rest.to_owned()));
        assert_eq!(
            ns("01-01 03:00:31.590  1 x"),
            is(10_831_590, 1_000_000, "  1 x")
        );
        assert_eq!(
            ns("1970-01-02 00:00:00.000001 +0100 y"),
            is(82_800_000, 1_000, " y")
        );
        assert_eq!(
            ns("2024-03-01 00:00:00.000 z"),
            is(1_709_251_200_000, 1_000_000, " z")
        );
        assert_eq!(ns("   31.590 z"), is(31_590, 1_000_000, " z"));
        for bad in [
            "13-01 00:00:00.000 x",
            "01-01 x",
            "31 x",
            "x",
            "9999-01-01 00:00:00.0 x",
        ] {
            assert_eq!(ns(bad), None, "{bad}");
        }
    }
}
