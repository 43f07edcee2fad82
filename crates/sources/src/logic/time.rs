//! The times of rows: a column, or counted.

use bootlap_model::{Evidence, Severity};

use crate::pins::units::{fs_to_ns, scaled, time_unit};
use crate::text::{Import, Skip};

/// What a time column's heading says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heading {
    /// Times, in 10 to this power seconds if it says.
    Time(Option<i32>),
    /// Numbers of samples.
    Samples,
}

impl Heading {
    /// Of `Time [s]`, `Time(ms)`, `microseconds`, `Sample`; `None` for others.
    pub(super) fn of(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase();
        let counts = [
            "sample",
            "samples",
            "ticks",
            "sample number",
            "sample index",
            "index",
        ];
        if counts.contains(&&name[..]) {
            return Some(Heading::Samples);
        }
        // sigrok's column is called by its unit; `s` would be a pin.
        if let Some(unit) = time_unit(&name).filter(|_| name.len() > 3) {
            return Some(Heading::Time(Some(unit)));
        }
        let rest = ["timestamp", "time", "x-axis"]
            .iter()
            .find_map(|w| name.strip_prefix(w))?;
        let rest = rest.trim_matches(|c: char| !c.is_alphanumeric());
        match rest {
            "" | "stamp" => Some(Heading::Time(None)),
            unit => time_unit(unit).map(|unit| Heading::Time(Some(unit))),
        }
    }
}

/// Tells when each row was.
pub(super) struct Times {
    heading: Option<Heading>,
    /// The power of ten of the unit, once it is known.
    unit: Option<i32>,
    rate_hz: Option<u64>,
    /// sigrok's times are sums of a rounded period, in its unit.
    period: Option<i128>,
    rows: u64,
    /// What counts as zero: the first number of a sample, the first date.
    zero: Option<i128>,
    /// The number of the sample before.
    latest: Option<i128>,
    /// The most digits after the point.
    digits: u32,
}

impl Times {
    pub(super) fn new(heading: Option<Heading>, rate_hz: Option<u64>, sigrok: bool) -> Self {
        let mut unit = match heading {
            Some(Heading::Time(unit)) => unit,
            _ => None,
        };
        let mut period = None;
        if let (Some(hz), true, Some(Heading::Time(_))) = (rate_hz, sigrok, heading) {
            // The largest unit of which a period is at least one.
            let fits = |p: &i32| hz <= 10u64.pow(p.unsigned_abs());
            let finest = [-3, -6, -9, -12].into_iter().find(fits);
            unit = unit.or(finest);
            let per_second = unit.and_then(|u| 10i128.checked_pow(u.unsigned_abs()));
            period = per_second.map(|n| n / i128::from(hz)).filter(|p| *p > 0);
        }
        Self {
            heading,
            unit,
            rate_hz,
            period,
            rows: 0,
            zero: None,
            latest: None,
            digits: 0,
        }
    }

    /// What the last digit of a time is worth.
    pub(super) fn resolution_ns(&self) -> u64 {
        let places = self.unit.unwrap_or(-9).saturating_sub_unsigned(self.digits);
        let behind = u32::try_from(places.saturating_add(9)).unwrap_or(0);
        10u64.checked_pow(behind).unwrap_or(u64::MAX)
    }

    /// The time of the next row, where only the rows are counted.
    pub(super) fn next_row(&mut self) -> Result<i64, Skip> {
        let row = i128::from(self.rows);
        self.rows += 1;
        self.sample(row)
    }

    fn sample(&self, n: i128) -> Result<i64, Skip> {
        let Some(hz) = self.rate_hz else {
            return Err(Skip::lost(
                "no-sample-rate",
                "nothing says how far apart these rows are: export with a time column (sigrok-cli -O csv:time=true), or with the comments at the top",
            ));
        };
        let fs = n
            .checked_mul(1_000_000_000_000_000)
            .map(|fs| fs / i128::from(hz));
        fs.and_then(fs_to_ns).ok_or(NO_TIME)
    }

    /// The time of a row whose time column is `cell`.
    pub(super) fn of(
        &mut self,
        cell: &str,
        at: Evidence,
        import: &mut Import<'_>,
    ) -> Result<i64, Skip> {
        if self.heading == Some(Heading::Samples) {
            let n = scaled(cell.as_bytes(), 0).ok_or(NO_TIME)?;
            if self.latest == Some(n) {
                return Err(Skip::lost(
                    "times-do-not-run",
                    "these rows all have one time, because sigrok-cli learnt the sample rate too late: save as .sr first (sigrok-cli … -o x.sr), and make the CSV of that",
                ));
            }
            self.latest = Some(n);
            let first = *self.zero.get_or_insert(n);
            return self.sample(n.saturating_sub(first));
        }
        if cell.contains(':') {
            let ns = date_ns(cell).ok_or(NO_TIME)?;
            let since = ns.saturating_sub(*self.zero.get_or_insert(ns));
            return i64::try_from(since).map_err(|_| NO_TIME);
        }
        if let Some(period) = self.period {
            let time = scaled(cell.as_bytes(), 0).ok_or(NO_TIME)?;
            if time > 0 && time % period == 0 {
                return self.sample(time / period - 1);
            }
            self.period = None;
        }
        let behind = cell.find(['.', ',']).map_or(0, |dot| cell.len() - dot - 1);
        let exponent = cell.contains(['e', 'E']);
        if !exponent {
            self.digits = self.digits.max(u32::try_from(behind).unwrap_or(0).min(15));
        }
        let zero = || scaled(cell.as_bytes(), 15) == Some(0);
        let unit = match self.unit {
            Some(unit) => unit,
            None if behind == 0 && !exponent && zero() => return Ok(0),
            None => {
                let unit = if behind > 0 || exponent { 0 } else { -6 };
                self.unit = Some(unit);
                import.notice(
                    "no-time-unit",
                    Severity::Notice,
                    at,
                    if unit == 0 {
                        "the file does not say what its times count: they have a point, and were taken as seconds"
                    } else {
                        "the file does not say what its times count, and they were taken as µs: export with a heading (`Time [s]`) if that is wrong"
                    },
                );
                unit
            }
        };
        let fs = scaled(cell.as_bytes(), unit.saturating_add(15));
        fs.and_then(fs_to_ns).ok_or(NO_TIME)
    }
}

/// A date and time of ISO 8601 as ns since 1970, in whatever zone it is.
fn date_ns(cell: &str) -> Option<i128> {
    let (date, time) = cell.split_once(['T', ' '])?;
    let number = |text: Option<&str>| text?.parse::<i64>().ok().filter(|n| (0..=9999).contains(n));
    let mut date = date.split('-');
    let (year, month, day) = (
        number(date.next())?,
        number(date.next())?,
        number(date.next())?,
    );
    let end = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let mut time = time[..end].split(':');
    let (hour, minute) = (number(time.next())?, number(time.next())?);
    let second_ns = scaled(time.next()?.as_bytes(), 9)?;
    // Days since 1970-03-01, with the leap day last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    let minutes = (days * 24 + hour) * 60 + minute;
    second_ns.checked_add(i128::from(minutes).checked_mul(60_000_000_000)?)
}

const NO_TIME: Skip = Skip::unknown("expected a time in the first column: `0.000125,1,0`");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings() {
        let seconds = Some(Heading::Time(Some(0)));
        for name in [
            "Time [s]", "Time[s]", "Time (s)", "Time(s)", "seconds", "time_s",
        ] {
            assert_eq!(Heading::of(name), seconds, "{name}");
        }
        assert_eq!(Heading::of("microseconds"), Some(Heading::Time(Some(-6))));
        assert_eq!(Heading::of("Time (ms)"), Some(Heading::Time(Some(-3))));
        assert_eq!(Heading::of("Time"), Some(Heading::Time(None)));
        assert_eq!(Heading::of("samples"), Some(Heading::Samples));
        for pin in ["Timer", "s", "timeout", "Channel 0", "D0", "logic"] {
            assert_eq!(Heading::of(pin), None, "{pin}");
        }
    }

    #[test]
    fn dates() {
        let a = date_ns("2021-02-28T23:59:59.999999999+00:00").unwrap();
        let b = date_ns("2021-03-01T00:00:00.000000001Z").unwrap();
        assert_eq!(b - a, 2);
        let leap =
            date_ns("2024-03-01 00:00:00").unwrap() - date_ns("2024-02-28 00:00:00").unwrap();
        assert_eq!(leap, 2 * 86_400_000_000_000);
        assert_eq!(date_ns("12:00"), None);
    }

    #[test]
    fn samples_are_counted() {
        let mut times = Times::new(None, Some(24_000_000), true);
        let rows: Vec<i64> = (0..4).map(|_| times.next_row().unwrap()).collect();
        assert_eq!(rows, [0, 42, 83, 125]);
        assert!(Times::new(None, None, true).next_row().is_err());
    }
}
