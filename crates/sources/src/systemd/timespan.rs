//! Lengths of time as systemd writes them.
//!
//! ```text
//! 23.321s    132ms    4min 60ms    1min 2.345s    2month 1w 3d 4h    44us    0
//! ```
//!
//! From `format_timespan()`; cut (not rounded) to 1 ms, or 1 µs where it shows
//! `us`. Zero parts are left out, so `4min` is exact to 1 ms too.

/// A length of time, and what its last digit is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timespan {
    pub(crate) ns: i64,
    pub(crate) err_ns: u32,
}

const MS: u32 = 1_000_000;

/// The longer names first.
const UNITS: [(&str, i64); 22] = [
    ("months", 2_629_800_000_000_000),
    ("month", 2_629_800_000_000_000),
    ("weeks", 604_800_000_000_000),
    ("week", 604_800_000_000_000),
    ("years", 31_557_600_000_000_000),
    ("year", 31_557_600_000_000_000),
    ("days", 86_400_000_000_000),
    ("day", 86_400_000_000_000),
    ("min", 60_000_000_000),
    ("usec", 1_000),
    ("msec", 1_000_000),
    ("sec", 1_000_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("y", 31_557_600_000_000_000),
    ("w", 604_800_000_000_000),
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
];

/// The length of time that all of `text` is.
pub(crate) fn timespan(text: &str) -> Option<Timespan> {
    let (span, rest) = leading(text)?;
    rest.trim().is_empty().then_some(span)
}

/// The length of time that `text` begins with, and what follows.
pub(crate) fn leading(text: &str) -> Option<(Timespan, &str)> {
    let mut rest = text.trim_start();
    let mut span: Option<Timespan> = None;
    while let Some((part, behind)) = part(rest) {
        let so_far = span.unwrap_or(Timespan { ns: 0, err_ns: MS });
        span = Some(Timespan {
            ns: so_far.ns.saturating_add(part.ns),
            err_ns: so_far.err_ns.min(part.err_ns),
        });
        rest = behind.trim_start();
    }
    if span.is_none()
        && let Some(behind) = rest.strip_prefix('0')
        && !behind.starts_with(|c: char| c.is_alphanumeric() || c == '.')
    {
        return Some((Timespan { ns: 0, err_ns: MS }, behind));
    }
    Some((span?, rest))
}

/// `2.345s`, and what follows.
fn part(text: &str) -> Option<(Timespan, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(end);
    let (name, unit_ns) = UNITS.iter().find(|(name, _)| {
        let behind = rest.strip_prefix(name);
        behind.is_some_and(|b| !b.starts_with(|c: char| c.is_alphanumeric()))
    })?;
    let dot = number.find('.').unwrap_or(number.len());
    let whole: i64 = number[..dot].parse().ok()?;
    let mut ns = whole.saturating_mul(*unit_ns);
    let mut step = *unit_ns;
    for digit in number.get(dot + 1..).unwrap_or_default().bytes() {
        if !digit.is_ascii_digit() {
            return None;
        }
        step /= 10;
        ns = ns.saturating_add(step.saturating_mul(i64::from(digit - b'0')));
    }
    let err_ns = u32::try_from(step).unwrap_or(MS).clamp(1, MS);
    Some((Timespan { ns, err_ns }, &rest[name.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_systemd_writes() {
        let ns = |text| timespan(text).map(|t| (t.ns, t.err_ns));
        assert_eq!(ns("23.321s"), Some((23_321_000_000, MS)));
        assert_eq!(ns("132ms"), Some((132_000_000, MS)));
        assert_eq!(ns("4min 60ms"), Some((240_060_000_000, MS)));
        assert_eq!(ns("1min 2.345s"), Some((62_345_000_000, MS)));
        assert_eq!(
            ns("2month 1w 3d"),
            Some(((2 * 2_629_800 + 604_800 + 3 * 86_400) * 1_000_000_000, MS))
        );
        assert_eq!(ns("44us"), Some((44_000, 1_000)));
        assert_eq!(ns("44µs"), Some((44_000, 1_000)));
        assert_eq!(ns("1.5ms"), Some((1_500_000, 100_000)));
        assert_eq!(ns("0"), Some((0, MS)));
        assert_eq!(ns("9223372036854775807y"), Some((i64::MAX, MS)));
        for bad in [
            "",
            "s",
            "12",
            "1.2.3s",
            "5 units",
            "0x",
            "-3s",
            "1.5fortnight",
        ] {
            assert_eq!(ns(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_follows() {
        let (span, rest) = leading(" 1min 24.481s foo.service").unwrap();
        assert_eq!((span.ns, rest), (84_481_000_000, "foo.service"));
    }
}
