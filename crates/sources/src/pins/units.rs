//! Numbers with units: times and sample rates, exactly.

/// Femtoseconds in a nanosecond.
pub(crate) const FS_PER_NS: i128 = 1_000_000;

/// `text` · 10^`places`, for a decimal number that may have an exponent
/// (`-1.25e-06`); further digits are cut.
pub(crate) fn scaled(text: &[u8], places: i32) -> Option<i128> {
    let text = text.trim_ascii();
    let e = text.iter().position(|b| matches!(b, b'e' | b'E'));
    let (mantissa, exponent) = match e {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let exponent = match exponent {
        Some(digits) => std::str::from_utf8(digits).ok()?.parse::<i32>().ok()?,
        None => 0,
    };
    let (negative, mantissa) = match mantissa {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    let (mut value, mut digits, mut behind) = (0i128, 0, None);
    for byte in mantissa {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                // What is far after the point does not fit and does not matter.
                if behind.is_some_and(|n| n >= 30) {
                    continue;
                }
                value = value
                    .checked_mul(10)?
                    .checked_add(i128::from(byte - b'0'))?;
                behind = behind.map(|n: i32| n + 1);
            }
            b'.' | b',' if behind.is_none() => behind = Some(0),
            _ => return None,
        }
    }
    if digits == 0 {
        return None;
    }
    let shift = exponent
        .checked_add(places)?
        .checked_sub(behind.unwrap_or(0))?;
    let power = 10i128.checked_pow(shift.unsigned_abs());
    let value = match (shift, power) {
        (0.., Some(power)) => value.checked_mul(power)?,
        (0.., None) => (value == 0).then_some(0)?,
        (_, Some(power)) => value / power,
        (_, None) => 0,
    };
    Some(if negative { -value } else { value })
}

/// The power of ten of a unit of time: `us` is −6.
pub(crate) fn time_unit(name: &str) -> Option<i32> {
    Some(match name.trim() {
        "s" | "S" | "sec" | "secs" | "second" | "seconds" => 0,
        "ms" | "msec" | "millisecond" | "milliseconds" => -3,
        "us" | "µs" | "μs" | "usec" | "microsecond" | "microseconds" => -6,
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => -9,
        "ps" | "picosecond" | "picoseconds" => -12,
        "fs" | "femtosecond" | "femtoseconds" => -15,
        _ => return None,
    })
}

/// The sample rate that `text` ends with, in Hz: `at 24 MHz`, `1e+06Hz`.
pub(crate) fn rate_hz(text: &str) -> Option<u64> {
    let text = text.trim();
    let number = text
        .strip_suffix("Hz")
        .or(text.strip_suffix("hz"))?
        .trim_end();
    let (number, places) = match number.as_bytes().last()? {
        b'k' | b'K' => (&number[..number.len() - 1], 3),
        b'm' | b'M' => (&number[..number.len() - 1], 6),
        b'G' => (&number[..number.len() - 1], 9),
        _ => (number, 0),
    };
    let from = number
        .trim_end()
        .rfind([' ', ':', '=', '\t'])
        .map_or(0, |at| at + 1);
    let hz = scaled(number[from..].trim().as_bytes(), places)?;
    u64::try_from(hz).ok().filter(|hz| *hz > 0)
}

/// Recordings are shorter: 36 years.
const LONGEST_NS: i64 = 1 << 60;

/// Femtoseconds as the nearest ns; `None` if that is out of all reason.
pub(crate) fn fs_to_ns(fs: i128) -> Option<i64> {
    let half = if fs < 0 {
        -FS_PER_NS / 2
    } else {
        FS_PER_NS / 2
    };
    let ns = i64::try_from(fs.checked_add(half)? / FS_PER_NS).ok()?;
    (-LONGEST_NS..=LONGEST_NS).contains(&ns).then_some(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(scaled(b"1.25", 3), Some(1250));
        assert_eq!(scaled(b"-1.25e-06", 9), Some(-1250));
        assert_eq!(scaled(b"2e+06", 0), Some(2_000_000));
        assert_eq!(scaled(b"0,5", 1), Some(5));
        assert_eq!(scaled(b"7", -1), Some(0));
        assert_eq!(
            scaled(b"0.000000000000000000000000000000000000001", 15),
            Some(0)
        );
        for bad in [
            "",
            ".",
            "-",
            "e5",
            "1e",
            "1x",
            "1.2.3",
            "9e99999999999",
            "99e99",
            "0x1",
        ] {
            assert_eq!(scaled(bad.as_bytes(), 0), None, "{bad}");
        }
        assert_eq!(scaled(b"0e99", 0), Some(0));
    }

    #[test]
    fn rates() {
        assert_eq!(rate_hz("; Samplerate: 24 MHz"), Some(24_000_000));
        assert_eq!(rate_hz("#Sample rate: 1e+06Hz"), Some(1_000_000));
        assert_eq!(
            rate_hz("Acquisition with 8/8 channels at 12.5 kHz"),
            Some(12_500)
        );
        assert_eq!(rate_hz("Samplerate: 0 Hz"), None);
        assert_eq!(rate_hz("Samplerate: fast"), None);
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        assert_eq!(fs_to_ns(41_700_000), Some(42));
        assert_eq!(fs_to_ns(-1_500_000), Some(-2));
        assert_eq!(fs_to_ns(i128::MAX), None);
    }
}
