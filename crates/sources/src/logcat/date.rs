//! The times of logcat: dates with or without year and zone, and seconds.

use crate::calendar::{self, SECOND_NS, number};
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
    /// The same, and through suspend: the clock of the boot's own events.
    Boottime,
}

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

/// `01-31 03:00:31.590`, perhaps with ` +0100` after it.
fn date(text: &str, year: Option<i64>) -> Option<(When, &str)> {
    let bytes = text.as_bytes();
    let day = bytes.get(..6).filter(|d| d[2] == b'-' && d[5] == b' ')?;
    let (month, day) = (number(&day[..2])?, number(&day[3..5])?);
    let days = calendar::days(year.unwrap_or(1970), month, day)?;
    let mut wall = calendar::time_of_day(&bytes[6..])?.on(days)?;
    let mut rest = text.get(6 + wall.len..)?;
    if let Some((east_s, behind)) = zone(rest) {
        wall.ns = wall.ns.checked_sub(east_s * SECOND_NS)?;
        rest = behind;
    }
    let when = When {
        scale: match year {
            Some(_) => Scale::Epoch,
            None => Scale::NoYear,
        },
        ns: wall.ns,
        err_ns: wall.err_ns,
    };
    (rest.is_empty() || rest.starts_with(' ')).then_some((when, rest))
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

/// ` +0100`: s east of Greenwich, and what follows.
fn zone(text: &str) -> Option<(i64, &str)> {
    let behind = text.strip_prefix(' ')?;
    let (east_s, len) = calendar::zone(behind.as_bytes());
    let rest = &behind[len..];
    let whole = rest.is_empty() || rest.starts_with(' ');
    (len == 5 && whole).then_some((east_s, rest))
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
