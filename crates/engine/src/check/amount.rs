//! Times, counts and shares as people write them.

use bootlap_analysis::budget::Unit;

const TIMES: &[(&str, f64)] = &[
    ("s", 1e9),
    ("ms", 1e6),
    ("us", 1e3),
    ("µs", 1e3),
    ("ns", 1.0),
    ("min", 60e9),
];
const COUNTS: &[(&str, f64)] = &[("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)];
const BYTES: &[(&str, f64)] = &[
    ("", 1.0),
    ("B", 1.0),
    ("k", 1e3),
    ("kB", 1e3),
    ("M", 1e6),
    ("MB", 1e6),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
];

/// A share: `0.1 %` is 0.001.
pub(super) fn share(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?;
    let percent: f64 = number.trim().parse().ok()?;
    (0.0..=1e6).contains(&percent).then_some(percent / 100.0)
}

/// A value with its unit, in ns or counts. A time needs one: 2 of what?
pub(super) fn parse(text: &str, unit: Unit) -> Option<i64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && !"._ ".contains(c));
    let (number, name) = text.split_at(end.unwrap_or(text.len()));
    let number: f64 = number.replace(['_', ' '], "").parse().ok()?;
    let units = match unit {
        Unit::Ns => TIMES,
        Unit::Instructions => COUNTS,
        Unit::Bytes => BYTES,
    };
    let (_, factor) = units.iter().find(|(n, _)| *n == name.trim())?;
    let value = (number * factor).round();
    (0.0..9e18).contains(&value).then_some(value as i64)
}

/// A value with three digits, rounded up, as [`parse`] reads it.
pub(super) fn rounded_up(value: f64, unit: Unit) -> String {
    let units: &[(&str, f64)] = match unit {
        Unit::Ns => &[("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)],
        Unit::Instructions | Unit::Bytes => &[("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)],
    };
    let fits = units.iter().find(|(name, factor)| {
        let known = unit != Unit::Bytes || *name != "G";
        known && value >= *factor
    });
    let (name, factor) = *fits.unwrap_or(&units[3]);
    let number = value / factor;
    let decimals = match number {
        n if n >= 100.0 => 0,
        n if n >= 10.0 => 1,
        _ => 2,
    };
    let step = 10_f64.powi(decimals);
    let up = (number * step - 1e-9).ceil() / step;
    let text = format!("{up:.*}", usize::try_from(decimals).unwrap_or(0));
    format!("{text} {name}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        let time = |text| parse(text, Unit::Ns);
        assert_eq!(time("2 s"), Some(2_000_000_000));
        assert_eq!(time("450ms"), Some(450_000_000));
        assert_eq!(time("1.5 µs"), Some(1_500));
        assert_eq!(time("1 min"), Some(60_000_000_000));
        for wrong in [
            "2",
            "-2 s",
            "2 parsecs",
            "",
            "s",
            "1e3 s",
            "1.2.3 s",
            "999999999999 min",
        ] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
        assert_eq!(parse("1.2 G", Unit::Instructions), Some(1_200_000_000));
        assert_eq!(parse("1_000 000", Unit::Instructions), Some(1_000_000));
        assert_eq!(parse("4 k", Unit::Bytes), Some(4_000));
        assert_eq!(parse("4 KiB", Unit::Bytes), Some(4_096));
        assert_eq!(share("0.1 %"), Some(0.001));
        assert_eq!(share("5%"), Some(0.05));
        assert_eq!(
            (share("5"), share("-1 %"), share("x %")),
            (None, None, None)
        );
    }

    #[test]
    fn what_is_rounded_up_is_read_back_as_no_less() {
        for value in [
            1.0, 9.99, 999.0, 1_001.0, 12_345.6, 999_999.0, 1.346e9, 6.4e10,
        ] {
            for unit in [Unit::Ns, Unit::Instructions, Unit::Bytes] {
                let text = rounded_up(value, unit);
                let back = parse(&text, unit).unwrap() as f64;
                assert!(
                    back >= value.floor() && back <= value * 1.02 + 1.0,
                    "{value}: {text}"
                );
            }
        }
        assert_eq!(rounded_up(1_413_544_163.0, Unit::Ns), "1.42 s");
    }
}
