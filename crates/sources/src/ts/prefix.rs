//! The times that programs put before a line of a console.

use crate::calendar::Wall;
use crate::text::{resolution_ns, seconds_ns};

/// What a time counts, as far as the line itself tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// A date and a time of day: ns since 1970.
    Dated,
    /// A time of day, or hours since something: ns.
    Clock,
    /// Seconds since 1970.
    Epoch,
    /// Seconds since something.
    Seconds,
}

/// The prefix of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub(crate) form: Form,
    pub(crate) ns: i64,
    pub(crate) err_ns: u32,
    /// Terminal programs put brackets around it, and write it when the line
    /// begins; filters do not, and write it when the line is complete.
    pub(crate) bracketed: bool,
    /// Where the console's text begins.
    pub(crate) text: usize,
}

/// 2001: a smaller number of seconds is none since 1970.
const EPOCH_NS: i64 = 1_000_000_000_000_000_000;

/// The prefix at the start of `line`, if there is one.
pub(crate) fn parse(line: &[u8]) -> Option<Prefix> {
    let (open, close) = match line.first()? {
        b'[' => (1, Some(b']')),
        b'(' => (1, Some(b')')),
        b'<' => (1, Some(b'>')),
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => (0, None),
        _ => return None,
    };
    let spaces = match close {
        Some(_) => line[open..].iter().take_while(|b| **b == b' ').count(),
        None => 0,
    };
    let start = open + spaces;
    let (form, ns, err_ns, len) = time(&line[start..])?;
    let mut end = start + len;
    if let Some(close) = close {
        let pad = line[end..].iter().take_while(|b| **b == b' ').count();
        end += pad;
        if line.get(end) != Some(&close) {
            return None;
        }
        end += 1;
    }
    Some(Prefix {
        form,
        ns,
        err_ns,
        bracketed: close.is_some(),
        text: separator(line, end, close.is_some())?,
    })
}

fn time(text: &[u8]) -> Option<(Form, i64, u32, usize)> {
    if let Some(wall) = Wall::parse(text) {
        let form = if wall.dated { Form::Dated } else { Form::Clock };
        return Some((form, wall.ns, wall.err_ns, wall.len));
    }
    let is_number = |b: &&u8| b.is_ascii_digit() || **b == b'.';
    let len = text.iter().take_while(is_number).count();
    let number = &text[..len];
    let dot = memchr::memchr(b'.', number)?;
    if dot == 0 || dot + 1 == len {
        return None;
    }
    let ns = seconds_ns(number)?;
    let err_ns = resolution_ns(number, 1_000_000_000).max(1);
    let form = if ns >= EPOCH_NS {
        Form::Epoch
    } else {
        Form::Seconds
    };
    Some((form, ns, err_ns, len))
}

/// Where the text begins: after one space, tab, `:`, `|`, `,`, `;`, `>`, `->` or `-->`
/// with a space.
fn separator(line: &[u8], end: usize, closed: bool) -> Option<usize> {
    match line[end..] {
        [] => Some(end),
        [b' ', b'-', b'-', b'>', ..] => {
            Some(end + 4 + usize::from(line.get(end + 4) == Some(&b' ')))
        }
        [b' ', b'-', b'>', b' ', ..] => Some(end + 4),
        [b' ', b'|' | b'>', b' ', ..] => Some(end + 3),
        [b':' | b'|' | b',' | b';' | b'>', b' ', ..] => Some(end + 2),
        [b' ' | b'\t' | b'|' | b';', ..] => Some(end + 1),
        _ => closed.then_some(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<(Form, i64, u32, &str)> {
        let p = parse(line.as_bytes())?;
        Some((p.form, p.ns, p.err_ns, &line[p.text..]))
    }

    #[test]
    fn prefixes() {
        let (ms, us) = (1_000_000, 1_000);
        let day = 43_200_123_000_000;
        for line in [
            "[12:00:00.123] a",
            "12:00:00.123 a",
            "12:00:00.123: a",
            "12:00:00.123 > a",
            "12:00:00.123\ta",
            "12:00:00.123 --> a",
            "12:00:00.123 -> a",
            "[12:00:00.123]a",
        ] {
            assert_eq!(parsed(line), Some((Form::Clock, day, ms, "a")), "{line}");
        }
        let epoch = 1_700_000_000_123_456_000;
        assert_eq!(
            parsed("1700000000.123456 a"),
            Some((Form::Epoch, epoch, us, "a"))
        );
        assert_eq!(
            parsed("2023-11-14T22:13:20.123456+00:00  a"),
            Some((Form::Dated, epoch, us, " a"))
        );
        assert_eq!(
            parsed("[    1.234567] [    0.000000] a"),
            Some((Form::Seconds, 1_234_567_000, us, "[    0.000000] a"))
        );
        let second = 1_000_000_000;
        for line in ["Jan  1 00:00:05 a", "jan  1 00:00:05 a"] {
            let at = 5 * i64::from(second);
            assert_eq!(parsed(line), Some((Form::Dated, at, second as u32, "a")));
        }
    }

    #[test]
    fn others() {
        for line in [
            "12:00:00abc",
            "[2.391972 2.384627] a",
            "    7.719145 |   1)   swapper",
            "1. a list",
            "[1.5",
            "U-Boot 2023.01",
            "",
        ] {
            assert_eq!(parsed(line), None, "{line}");
        }
    }
}
