//! Numbers as people read them: four digits, and the unit that fits.

use bootlap_analysis::Predicted;

/// A duration: `5.177 s`, `181.4 ms`, `18.14 ms`, `1.814 ms`, `42.00 µs`,
/// `16 ns`. Seconds have three decimals, smaller units four digits in all.
pub fn duration(ns: i64) -> String {
    let (sign, ns) = ("−".repeat(usize::from(ns < 0)), ns.unsigned_abs());
    // A value that rounds to 1000 of a unit is shown as 1 of the next one.
    let text = if ns < 1_000 {
        format!("{ns} ns")
    } else if ns < 999_950 {
        scaled(ns, 1_000, four_digits(ns), "µs")
    } else if ns < 999_950_000 {
        scaled(ns, 1_000_000, four_digits(ns / 1_000), "ms")
    } else {
        scaled(ns, 1_000_000_000, 3, "s")
    };
    sign + &text
}

/// A change: like [`duration`], with a `+` where it grew.
pub fn change(ns: i64) -> String {
    match ns {
        1.. => format!("+{}", duration(ns)),
        _ => duration(ns),
    }
}

/// A predicted time, which is never shown without the word:
/// `predicted 2.310 s ± 200.0 ms`.
pub fn predicted(time: Predicted) -> String {
    let (ns, error_ns) = (time.predicted_ns(), time.error_ns());
    format!("predicted {} ± {}", duration(ns), duration(error_ns))
}

/// From here on a moment is of a wall clock: no machine runs for three years.
const WALL_NS: i64 = 100_000_000_000_000_000;

/// A moment of a boot: seconds, with six decimals as the kernel has them; of a
/// wall clock the time of day, as logs have it.
pub fn moment(ns: i64) -> String {
    if ns >= WALL_NS {
        let (seconds, micros) = (ns / 1_000_000_000, ns / 1_000 % 1_000_000);
        let [h, m, s] = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
        return format!("{h:02}:{m:02}:{s:02}.{micros:06}");
    }
    let sign = if ns < 0 { "−" } else { "" };
    format!("{sign}{}", decimal(ns.unsigned_abs(), 1_000_000_000, 6))
}

/// The same in a sentence, with its unit.
pub fn moment_in_words(ns: i64) -> String {
    let unit = if ns >= WALL_NS { "" } else { " s" };
    moment(ns) + unit
}

/// Seconds for programs: `-0.000005000`, to the last nanosecond.
pub fn exact_seconds(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let text = decimal(ns.unsigned_abs(), 1_000_000_000, 9);
    format!("{sign}{text}")
}

/// A share of a whole: `61.8 %`; nothing of nothing is `–`.
pub fn share(part: i64, whole: i64) -> String {
    if whole <= 0 {
        return "–".to_owned();
    }
    percent(part as f64 / whole as f64)
}

/// A share given as a fraction: `61.8 %`.
pub fn percent(fraction: f64) -> String {
    if !fraction.is_finite() {
        return "–".to_owned();
    }
    format!("{:.1} %", fraction * 100.0).replace('-', "−")
}

/// How many times as fast: `4.9×`, from 10 on `12×`.
pub fn times(before: i64, after: i64) -> Option<String> {
    if before <= 0 || after <= 0 {
        return None;
    }
    let ratio = before as f64 / after as f64;
    Some(match ratio {
        r if r >= 9.95 => format!("{r:.0}×"),
        r if r >= 1.095 => format!("{r:.1}×"),
        r => format!("{r:.3}×"),
    })
}

/// A count with its thousands apart: `1 487 332 101`. The gaps are no-break
/// spaces, so that no line ends inside a number.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{a0}');
        }
        text.push(digit);
    }
    text
}

/// A large count in short: `1.487 G`, `892.0 M`, `12.40 k`, `981`.
pub fn short_count(n: u64) -> String {
    let (unit, name) = match n {
        0..1_000 => return n.to_string(),
        1_000..999_950 => (1_000, "k"),
        999_950..999_950_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    let decimals = match n / unit {
        0..10 => 3,
        10..100 => 2,
        _ => 1,
    };
    format!("{} {name}", decimal(n, unit, decimals))
}

/// Decimals that make four digits of `value`, which is in thousandths.
fn four_digits(thousandths: u64) -> usize {
    match thousandths {
        0..9_999 => 3,
        9_999..99_995 => 2,
        _ => 1,
    }
}

fn scaled(ns: u64, unit: u64, decimals: usize, name: &str) -> String {
    format!("{} {name}", decimal(ns, unit, decimals))
}

/// `value / unit`, rounded half up to `decimals`; exact, without floats.
fn decimal(value: u64, unit: u64, decimals: usize) -> String {
    let scale = 10_u128.pow(decimals as u32);
    let rounded = (u128::from(value) * scale * 2 + u128::from(unit)) / (u128::from(unit) * 2);
    let (whole, rest) = (rounded / scale, rounded % scale);
    format!("{whole}.{rest:0decimals$}")
}

/// A recipe as it is typed; of a long list only the first, and how many there are.
pub fn recipe(name: &str) -> String {
    const FEW: usize = 3;
    let members = name.split(',').count();
    match name.split_once(',') {
        Some((first, _)) if members > FEW => format!("{first},… ({members})"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_four_digits_and_a_unit_that_fits() {
        for (ns, text) in [
            (0, "0 ns"),
            (16, "16 ns"),
            (999, "999 ns"),
            (1_000, "1.000 µs"),
            (42_000, "42.00 µs"),
            (999_949, "999.9 µs"),
            (999_950, "1.000 ms"),
            (1_814_000, "1.814 ms"),
            (9_998_999, "9.999 ms"),
            (9_999_500, "10.00 ms"),
            (18_140_000, "18.14 ms"),
            (181_440_000, "181.4 ms"),
            (999_949_999, "999.9 ms"),
            (999_950_000, "1.000 s"),
            (5_177_000_000, "5.177 s"),
            (61_000_499_999, "61.000 s"),
            (-2_785_500_000, "−2.786 s"),
            (i64::MIN, "−9223372036.855 s"),
        ] {
            assert_eq!(duration(ns), text, "{ns}");
        }
    }

    #[test]
    fn changes_say_which_way() {
        assert_eq!(change(12_000_000), "+12.00 ms");
        assert_eq!(change(-12_000_000), "−12.00 ms");
        assert_eq!(change(0), "0 ns");
    }

    #[test]
    fn moments_shares_and_ratios() {
        assert_eq!(moment(1_645_596_499), "1.645596");
        assert_eq!(moment(-5_000), "−0.000005");
        assert_eq!(moment(1_795_266_246_196_580_999), "13:04:06.196580");
        assert_eq!(
            moment_in_words(1_795_266_246_196_580_999),
            "13:04:06.196580"
        );
        assert_eq!(moment_in_words(1_500_000_000), "1.500000 s");
        assert_eq!(exact_seconds(-5_001), "-0.000005001");
        assert_eq!(exact_seconds(i64::MAX), "9223372036.854775807");
        assert_eq!(share(1, 3), "33.3 %");
        assert_eq!(share(1, 0), "–");
        assert_eq!(percent(f64::NAN), "–");
        assert_eq!(times(5_177, 1_043).unwrap(), "5.0×");
        assert_eq!(times(4_000, 100).unwrap(), "40×");
        assert_eq!(times(1_000, 990).unwrap(), "1.010×");
        assert_eq!(times(1, 0), None);
    }

    #[test]
    fn counts() {
        assert_eq!(count(981), "981");
        assert_eq!(count(1_487_332_101), "1\u{a0}487\u{a0}332\u{a0}101");
        assert_eq!(short_count(981), "981");
        assert_eq!(short_count(12_400), "12.40 k");
        assert_eq!(short_count(1_487_332_101), "1.487 G");
    }
}
