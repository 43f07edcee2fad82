//! Dates and times of day as logs print them.
//!
//! ```text
//! 2026-11-21T13:05:59.123456+00:00      ISO 8601; a space for the T, a comma for the dot
//! Sat Nov 21 13:05:59 2026              ctime: dmesg -T, logread; with .123: Tera Term
//! Nov 21 13:05:59                       syslog: no year, so it is counted as of 1970
//! 13:05:59.123456                       since midnight
//! ```

/// The nanoseconds of a second.
pub(crate) const SECOND_NS: i64 = 1_000_000_000;

const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// A moment that text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wall {
    /// ns since 1970 (UTC, where the text says how far from it it is), or
    /// since midnight if there is no date.
    pub(crate) ns: i64,
    /// What one unit of its last digit is worth.
    pub(crate) err_ns: u32,
    /// Whether there is a date.
    pub(crate) dated: bool,
    /// How many bytes it takes.
    pub(crate) len: usize,
}

impl Wall {
    /// Of any of the forms above.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        match text.first()? {
            b'0'..=b'9' => iso(text).or_else(|| time_of_day(text)),
            b'A'..=b'Z' | b'a'..=b'z' => ctime(text).or_else(|| syslog(text, 1970)),
            _ => None,
        }
    }
}

/// `2026-11-21T13:05:59.123456+00:00` and its variants; also with `/` or `.`
/// in the date.
pub(crate) fn iso(text: &[u8]) -> Option<Wall> {
    let date = text.get(..11)?;
    let apart = date[4];
    if !b"-/.".contains(&apart) || date[7] != apart || !b"T _".contains(&date[10]) {
        return None;
    }
    let (year, month, day) = (
        number(&date[..4])?,
        number(&date[5..7])?,
        number(&date[8..10])?,
    );
    let days = days(year, month, day)?;
    let mut wall = time_of_day(&text[11..])?.on(days)?;
    wall.len += 11;
    let (zone_s, len) = zone(&text[wall.len..]);
    wall.ns = wall.ns.checked_sub(zone_s * SECOND_NS)?;
    wall.len += len;
    Some(wall)
}

/// `Sat Nov 21 13:05:59 2026`, perhaps with a fraction or a time zone's name
/// before the year.
pub(crate) fn ctime(text: &[u8]) -> Option<Wall> {
    let week_day: [&[u8]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];
    let rest = text.get(4..).filter(|_| text[3] == b' ')?;
    week_day.contains(&&text[..3]).then_some(())?;
    let (month, day, mut len) = month_and_day(rest)?;
    let time = time_of_day(rest.get(len..)?)?;
    len += time.len;
    let mut tail = rest.get(len..)?.strip_prefix(b" ")?;
    len += 1;
    let name = tail.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    if name > 0 && tail.get(name) == Some(&b' ') {
        tail = &tail[name + 1..];
        len += name + 1;
    }
    let year = number(tail.get(..4)?)?;
    let wall = time.on(days(year, month, day)?)?;
    Some(Wall {
        len: 4 + len + 4,
        ..wall
    })
}

/// `Nov 21 13:05:59`, as of `year`.
pub(crate) fn syslog(text: &[u8], year: i64) -> Option<Wall> {
    let (month, day, len) = month_and_day(text)?;
    let time = time_of_day(text.get(len..)?)?;
    let wall = time.on(days(year, month, day)?)?;
    Some(Wall {
        len: len + time.len,
        ..wall
    })
}

/// `13:05:59.123456`.
pub(crate) fn time_of_day(text: &[u8]) -> Option<Wall> {
    let clock = text.get(..8).filter(|t| t[2] == b':' && t[5] == b':')?;
    let (h, m, s) = (
        number(&clock[..2])?,
        number(&clock[3..5])?,
        number(&clock[6..])?,
    );
    // 60: a leap second.
    if h > 23 || m > 59 || s > 60 {
        return None;
    }
    let mut ns = (h * 3600 + m * 60 + s) * SECOND_NS;
    let (mut len, mut err_ns) = (8, SECOND_NS);
    if let Some(b'.' | b',') = text.get(8) {
        let digits = &text[9..];
        let n = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        if n > 0 {
            for digit in digits[..n.min(9)].iter() {
                err_ns /= 10;
                ns += i64::from(digit - b'0') * err_ns;
            }
            len = 9 + n;
        }
    }
    Some(Wall {
        ns,
        err_ns: err_ns as u32,
        dated: false,
        len,
    })
}

impl Wall {
    /// The same time on a day, counted from 1970-01-01.
    pub(crate) fn on(self, days: i64) -> Option<Self> {
        let midnight = days.checked_mul(86_400)?.checked_mul(SECOND_NS)?;
        Some(Self {
            ns: self.ns.checked_add(midnight)?,
            dated: true,
            ..self
        })
    }
}

/// `Nov 21 ` or `Nov  1 `, and the length.
pub(crate) fn month_and_day(text: &[u8]) -> Option<(i64, i64, usize)> {
    let name = text.get(..3)?;
    let month = MONTHS.iter().position(|m| m.eq_ignore_ascii_case(name))? + 1;
    let rest = &text[3..];
    let spaces = rest.iter().take_while(|b| **b == b' ').count();
    let digits = rest[spaces..].iter().take_while(|b| b.is_ascii_digit());
    let digits = digits.count();
    let day = number(&rest[spaces..spaces + digits]).filter(|_| digits <= 2 && spaces <= 2)?;
    let end = spaces + digits;
    (rest.get(end) == Some(&b' ')).then_some((month as i64, day, 3 + end + 1))
}

/// `Z`, `+01:00`, `+0100` or `+01`: s east of UTC, and the length; 0 for both
/// if there is none.
pub(crate) fn zone(text: &[u8]) -> (i64, usize) {
    let sign = match text.first() {
        Some(b'Z') => return (0, 1),
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return (0, 0),
    };
    let part = |from: usize| text.get(from..from + 2).and_then(number);
    let Some(h) = part(1) else { return (0, 0) };
    let (m, len) = match (text.get(3), part(3), part(4)) {
        (Some(b':'), _, Some(m)) => (m, 6),
        (_, Some(m), _) => (m, 5),
        _ => (0, 3),
    };
    (sign * (h * 3600 + m * 60), len)
}

/// The value of up to 9 digits; `None` if there is none, or something else.
pub(crate) fn number(digits: &[u8]) -> Option<i64> {
    let all = !digits.is_empty() && digits.len() <= 9 && digits.iter().all(u8::is_ascii_digit);
    let push = |n: i64, d: &u8| n * 10 + i64::from(d - b'0');
    all.then(|| digits.iter().fold(0, push))
}

/// Days from 1970-01-01 to a day of the Gregorian calendar.
pub(crate) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || year > 9999 {
        return None;
    }
    // Years that begin with March, so that the leap day is the last.
    let (y, m) = match month {
        ..3 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let (era, y) = (y.div_euclid(400), y.rem_euclid(400));
    let of_year = (153 * m + 2) / 5 + day - 1;
    Some(era * 146_097 + y * 365 + y / 4 - y / 100 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(text: &str) -> Option<(i64, u32, usize)> {
        let wall = Wall::parse(text.as_bytes())?;
        Some((wall.ns / 1_000_000, wall.err_ns, wall.len))
    }

    #[test]
    fn moments() {
        let (ms, us) = (1_795_266_359_123, 1_000);
        assert_eq!(s("2026-11-21T13:05:59.123456+00:00 x"), Some((ms, us, 32)));
        assert_eq!(s("2026-11-21 14:05:59,123456+0100"), Some((ms, us, 31)));
        let whole = ms - 123;
        assert_eq!(s("2026-11-21T13:05:59Z"), Some((whole, 1_000_000_000, 20)));
        assert_eq!(
            s("Sat Nov 21 13:05:59 2026] x"),
            Some((whole, 1_000_000_000, 24))
        );
        assert_eq!(s("Sat Nov 21 13:05:59.123 2026"), Some((ms, 1_000_000, 28)));
        let of_1970 = (324 * 86_400 + 13 * 3600 + 5 * 60 + 59) * 1000;
        assert_eq!(s("Nov 21 13:05:59 x"), Some((of_1970, 1_000_000_000, 15)));
        assert_eq!(s("Jan  1 00:00:05 x"), Some((5000, 1_000_000_000, 15)));
        assert_eq!(s("00:00:01.5"), Some((1500, 100_000_000, 10)));
        for no in [
            "2026-13-21T13:05:59",
            "25:00:00",
            "Nov 21",
            "1:2:3",
            "Foo 21 13:05:59",
        ] {
            assert_eq!(s(no), None, "{no}");
        }
    }

    #[test]
    fn calendar_days() {
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!(days(2000, 3, 1), Some(11_017));
        assert_eq!(days(1969, 12, 31), Some(-1));
        assert_eq!(days(2026, 0, 1), None);
    }
}
