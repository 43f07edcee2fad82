//! One line of strace: who, when, and what.

/// What stands in front of what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head<'a> {
    /// Which process, if the line says so.
    pub(super) pid: Option<u32>,
    /// Its name (`-Y`).
    pub(super) comm: &'a [u8],
    /// When, if the line says so.
    pub(super) time: Option<Time>,
    /// The rest of the line.
    pub(super) body: &'a [u8],
}

/// A time as it was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) style: Style,
    pub(super) ns: i64,
    /// What one unit of its last digit is worth.
    pub(super) step_ns: u32,
}

/// Which option printed a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `-ttt`: since 1970-01-01.
    Epoch,
    /// `-t`, `-tt`: since midnight.
    Day,
    /// `-r`: since the line before.
    Delta,
}

/// Seconds since 1970 are never fewer, unless a board has no clock.
const EPOCH_AT_LEAST: i64 = 100_000_000;

/// What stands in front, and what the line says.
#[inline]
pub(super) fn parse(text: &[u8]) -> (Head<'_>, Body<'_>) {
    let head = head(text);
    let body = match body(head.body) {
        // A row's percentage looks like a time.
        Body::Other if is_row(text) => Body::Summary,
        body => body,
    };
    (head, body)
}

/// Takes what is in front off `text`.
pub(super) fn head(text: &[u8]) -> Head<'_> {
    let (pid, comm, rest, column) = pid(text);
    let mut head = Head {
        pid,
        comm,
        time: None,
        body: rest,
    };
    let blanks = rest.iter().take_while(|b| **b == b' ').count();
    // `-r` is right-aligned in six columns, `-ttt` follows the pid's column:
    // so a board without a clock (`-ttt` from 1970) is told from `-r`.
    let aligned = blanks > column;
    if let Some((time, rest)) = time(&rest[blanks..], aligned) {
        head.time = Some(time);
        head.body = fields(rest);
    } else if pid.is_some() || rest[blanks..].starts_with(b"[") {
        head.body = fields(&rest[blanks..]);
    }
    head
}

/// `1234  `, `1234<comm> `, `[pid  1234] `, `[pid 1234<comm>] `: the pid, the
/// name, what follows, and how many blanks belong to the column of the pid.
fn pid(text: &[u8]) -> (Option<u32>, &[u8], &[u8], usize) {
    let none = (None, &text[..0], text, 0);
    let (inside, bracket) = match text.strip_prefix(b"[pid ") {
        Some(rest) => (rest.trim_ascii_start(), true),
        None => (text, false),
    };
    let (digits, mut rest) = digits(inside);
    // More digits are a time.
    if digits.is_empty() || digits.len() > 7 {
        return none;
    }
    let mut comm = &text[..0];
    if let Some(name) = rest.strip_prefix(b"<") {
        let end: &[u8] = if bracket { b">]" } else { b"> " };
        let Some(end) = memchr::memmem::find(&name[..name.len().min(64)], end) else {
            return none;
        };
        (comm, rest) = (&name[..end], &name[end + 1..]);
    }
    let column = if bracket {
        let Some(behind) = rest.strip_prefix(b"]") else {
            return none;
        };
        rest = behind;
        1
    } else if comm.is_empty() {
        6usize.saturating_sub(digits.len()).max(1)
    } else {
        1
    };
    if !rest.starts_with(b" ") {
        return none;
    }
    (u32::try_from(number(digits)).ok(), comm, rest, column)
}

/// A time and what follows it and a blank.
fn time(text: &[u8], aligned: bool) -> Option<(Time, &[u8])> {
    let negative = aligned && text.starts_with(b"-");
    let (whole, rest) = digits(&text[usize::from(negative)..]);
    if whole.is_empty() || whole.len() > 18 {
        return None;
    }
    let mut style = Style::Day;
    let (seconds, rest) = match rest.strip_prefix(b":") {
        Some(rest) => time_of_day(whole, rest)?,
        None => {
            let seconds = number(whole);
            let epoch = seconds >= EPOCH_AT_LEAST || !aligned;
            style = if epoch { Style::Epoch } else { Style::Delta };
            (seconds, rest)
        }
    };
    let (fraction, rest) = match rest.strip_prefix(b".") {
        Some(rest) => digits(rest),
        None => (&rest[..0], rest),
    };
    let rest = rest.strip_prefix(b" ")?;
    let (ns, step_ns) = fraction_ns(fraction);
    let ns = seconds.checked_mul(1_000_000_000)?.checked_add(ns)?;
    let ns = if negative { -ns } else { ns };
    Some((Time { style, ns, step_ns }, rest))
}

/// Behind `HH:`: seconds since midnight and what follows.
fn time_of_day<'a>(hours: &[u8], rest: &'a [u8]) -> Option<(i64, &'a [u8])> {
    let (minutes, rest) = digits(rest);
    let (seconds, rest) = digits(rest.strip_prefix(b":")?);
    if hours.len() != 2 || minutes.len() != 2 || seconds.len() != 2 {
        return None;
    }
    let seconds = number(hours) * 3_600 + number(minutes) * 60 + number(seconds);
    Some((seconds, rest))
}

/// The digits after a decimal point as ns, and what the last is worth.
fn fraction_ns(digits: &[u8]) -> (i64, u32) {
    let (mut ns, mut step) = (0, 1_000_000_000);
    for digit in digits.iter().take(9) {
        step /= 10;
        ns += i64::from(digit - b'0') * step;
    }
    (ns, step as u32)
}

/// Takes off what stands between the time and the call: `(+     0.000123) `
/// (`-r` with `-t`), `[  59] ` (`-n`), `[00007fcc8ab25ad7] ` (`-i`).
fn fields(mut text: &[u8]) -> &[u8] {
    text = text.trim_ascii_start();
    if let Some(rest) = text.strip_prefix(b"(+")
        && let Some(end) = rest.iter().take(32).position(|b| *b == b')')
    {
        text = rest[end + 1..].trim_ascii_start();
    }
    while let Some(rest) = text.strip_prefix(b"[") {
        let of_field = |b: &&u8| b.is_ascii_hexdigit() || matches!(b, b' ' | b'?' | b'x');
        let end = rest.iter().take(24).take_while(of_field).count();
        match rest.get(end..end + 2) {
            Some(b"] ") if end > 0 => text = rest[end + 2..].trim_ascii_start(),
            _ => break,
        }
    }
    text
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body<'a> {
    /// `name(args…`
    Call(&'a [u8], Rest<'a>),
    /// `<... name resumed>…`
    Resumed(&'a [u8], Rest<'a>),
    /// The text between `---`.
    Signal(&'a [u8]),
    /// The text between `+++`.
    Exit(&'a [u8]),
    /// What strace says of itself and of a process: attached, detached.
    Message(&'a [u8]),
    /// Belongs to the line before: stack frames (`-k`), dumps (`-e write`).
    Detail,
    /// A row of a summary (`-c`).
    Summary,
    /// None of these.
    Other,
}

/// The arguments of a call and how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rest<'a> {
    pub(super) args: &'a [u8],
    pub(super) end: CallEnd<'a>,
}

/// How a call ended on this line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEnd<'a> {
    /// `) = ret <took>`
    Returned { ret: &'a [u8], took_ns: Option<i64> },
    /// `<unfinished ...>`, `<detached ...>`: it goes on.
    Unfinished,
    /// The line is cut: something else was printed into it, perhaps that this
    /// process was attached.
    Torn(Option<u32>),
}

/// What `text`, without what stands in front, says.
fn body(text: &[u8]) -> Body<'_> {
    match text {
        [b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'?', ..] => call(text),
        [b'<', ..] => resumed(text),
        [b'-', b'-', b'-', b' ', ..] => {
            let inside = text.strip_suffix(b" ---");
            inside.map_or(Body::Other, |t| Body::Signal(&t[4.min(t.len())..]))
        }
        [b'+', b'+', b'+', b' ', ..] => {
            let inside = text.strip_suffix(b" +++");
            inside.map_or(Body::Other, |t| Body::Exit(&t[4.min(t.len())..]))
        }
        [b' ', b'>' | b'|', b' ', ..] => Body::Detail,
        [b'-', ..] if is_rule(text) => Body::Summary,
        [b'%', ..] if text.starts_with(b"% time ") => Body::Summary,
        [b'[', ..] if text.starts_with(b"[ Process PID=") => Body::Message(text),
        [b'/', ..] => message(text).map_or(Body::Other, Body::Message),
        _ => Body::Other,
    }
}

fn call(text: &[u8]) -> Body<'_> {
    let named = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'?';
    let end = text.iter().position(|b| !named(b)).unwrap_or(text.len());
    if text.get(end) == Some(&b'(') && end <= 48 {
        return Body::Call(&text[..end], rest(&text[end + 1..]));
    }
    match message(text) {
        Some(message) => Body::Message(message),
        None => Body::Other,
    }
}

/// `strace: Process 1234 attached`, with the path that strace was called by;
/// `Process 1234 attached` before 4.7; `strace: [ Process PID=1234 runs in 32
/// bit mode. ]`.
fn message(text: &[u8]) -> Option<&[u8]> {
    let colon = memchr::memmem::find(&text[..text.len().min(200)], b": ");
    if let Some(colon) = colon
        && text[..colon].ends_with(b"strace")
        && !text[..colon].contains(&b' ')
    {
        return Some(&text[colon + 2..]);
    }
    attached(text).is_some().then_some(text)
}

/// The process that `Process 1234 attached` (detached, resumed …) is about.
pub(super) fn attached(text: &[u8]) -> Option<u32> {
    let (pid, rest) = digits(text.strip_prefix(b"Process ")?);
    let verbs = ["attached", "detached", "suspended", "resumed"];
    let rest = rest.strip_prefix(b" ")?;
    verbs
        .iter()
        .any(|v| rest.starts_with(v.as_bytes()))
        .then(|| u32::try_from(number(pid)).ok())?
}

/// `<... wait4 resumed>…`, `<... wait4 resumed> …`.
fn resumed(text: &[u8]) -> Body<'_> {
    let Some(inside) = text.strip_prefix(b"<... ") else {
        return Body::Other;
    };
    let Some(end) = memchr::memmem::find(&inside[..inside.len().min(80)], b" resumed>") else {
        return Body::Other;
    };
    Body::Resumed(&inside[..end], rest(&inside[end + b" resumed>".len()..]))
}

/// The rest of a call, on a line of its own.
pub(super) fn continuation(text: &[u8]) -> Option<Rest<'_>> {
    let rest = rest(text);
    (!matches!(rest.end, CallEnd::Torn(_))).then_some(rest)
}

/// Arguments, and from their end how the call ended.
fn rest(text: &[u8]) -> Rest<'_> {
    let mut text = text.trim_ascii_end();
    let mut took_ns = None;
    if text.ends_with(b">")
        && let Some(open) = memchr::memrchr(b'<', text)
    {
        match &text[open + 1..text.len() - 1] {
            b"unfinished ..." | b"detached ..." => {
                return Rest {
                    args: text[..open].trim_ascii_end(),
                    end: CallEnd::Unfinished,
                };
            }
            // A thread that executes a program, in its own file (-ff).
            inside if inside.starts_with(b"pid changed to ") => {
                return Rest {
                    args: text[..open].trim_ascii_end(),
                    end: CallEnd::Unfinished,
                };
            }
            b"unavailable" => text = text[..open].trim_ascii_end(),
            inside => {
                took_ns = duration_ns(inside);
                if took_ns.is_some() {
                    text = text[..open].trim_ascii_end();
                }
            }
        }
    }
    if let Some((args, ret)) = result(text) {
        let end = CallEnd::Returned { ret, took_ns };
        return Rest { args, end };
    }
    torn(text)
}

/// Seconds in `<0.000528>`, with 0, 3, 6 or 9 digits after the point.
fn duration_ns(text: &[u8]) -> Option<i64> {
    let (whole, rest) = digits(text);
    let fraction = match rest.strip_prefix(b".") {
        Some(fraction) => digits(fraction),
        None => (rest, rest),
    };
    if whole.is_empty() || whole.len() > 9 || !fraction.1.is_empty() {
        return None;
    }
    Some(number(whole) * 1_000_000_000 + fraction_ns(fraction.0).0)
}

/// `args) = ret`, the parenthesis and the sign perhaps apart. The last one
/// counts: a string among the arguments can hold the same.
fn result(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut until = text.len();
    while let Some(sign) = memchr::memrchr(b'=', &text[..until]) {
        until = sign;
        if text.get(sign + 1) != Some(&b' ') || sign == 0 || text[sign - 1] != b' ' {
            continue;
        }
        let before = text[..sign].trim_ascii_end();
        if let Some((b')', args)) = before.split_last() {
            return Some((args, &text[sign + 2..]));
        }
    }
    None
}

/// Without an end; what strace says of a process may have been printed in.
fn torn(text: &[u8]) -> Rest<'_> {
    let mut rest = Rest {
        args: text,
        end: CallEnd::Torn(None),
    };
    if let Some(at) = memchr::memmem::rfind(text, b"Process ")
        && let Some(pid) = attached(&text[at..])
    {
        let is_new = text.ends_with(b" attached");
        rest.args = before_message(&text[..at]);
        rest.end = CallEnd::Torn(is_new.then_some(pid));
    }
    rest
}

/// What comes before `strace: ` or `/usr/bin/strace: `.
fn before_message(text: &[u8]) -> &[u8] {
    let Some(text) = text.strip_suffix(b"strace: ") else {
        return text.trim_ascii_end();
    };
    let of_path = |b: &&u8| b.is_ascii_alphanumeric() || b"/._-+".contains(b);
    let path = text.iter().rev().take_while(of_path).count();
    let path = &text[text.len() - path..];
    let path = memchr::memchr(b'/', path).map_or(0, |at| path.len() - at);
    text[..text.len() - path].trim_ascii_end()
}

/// `------ ----------- …`
fn is_rule(text: &[u8]) -> bool {
    text.starts_with(b"------ ") && text.iter().all(|b| matches!(b, b'-' | b' '))
}

/// ` 51.78    0.062631        3914        16         4 wait4`
fn is_row(text: &[u8]) -> bool {
    let mut words = text.split(|b| *b == b' ').filter(|w| !w.is_empty());
    let mut decimal = || {
        let (whole, rest) = digits(words.next().unwrap_or_default());
        !whole.is_empty() && rest.starts_with(b".")
    };
    decimal() && decimal() && words.clone().count() >= 2 && words.clone().count() <= 4
}

/// Takes the digits that `text` begins with off.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| !b.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

/// Up to 18 digits as a number.
pub(super) fn number(digits: &[u8]) -> i64 {
    let digits = digits.iter().take(18).take_while(|d| d.is_ascii_digit());
    digits.fold(0, |n, d| n * 10 + i64::from(d - b'0'))
}

/// The process that a call returned: `1234`, or after it the number in the
/// name space of strace: `12 /* 1234 in strace's PID NS */`.
pub(super) fn returned_pid(ret: &[u8]) -> Option<u32> {
    let (own, mut rest) = digits(ret);
    if own.is_empty() || own.len() > 9 {
        return None;
    }
    let mut pid = own;
    if let Some(comment) = rest.strip_prefix(b"<")
        && let Some(end) = memchr::memchr(b'>', comment)
    {
        rest = &comment[end + 1..]; // -Y: 1234<comm>
    }
    if let Some(comment) = rest.strip_prefix(b" /* ")
        && comment.ends_with(b" in strace's PID NS */")
    {
        pid = digits(comment).0;
    }
    u32::try_from(number(pid)).ok().filter(|pid| *pid > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_prefixes() {
        let (pid, us) = (Some(9405), 1_000);
        let day = |ns: i64, step: u32| Some((Style::Day, 36_000_000_000_000 + ns, step));
        let cases: &[(&str, _, _)] = &[
            ("9405  10:00:00.000001 b()", pid, day(1_000, us)),
            ("9405  10:00:00 b()", pid, day(0, 1_000_000_000)),
            (
                "[pid  9405] 10:00:00.001 b()",
                pid,
                day(1_000_000, 1_000_000),
            ),
            (
                "9405<a b> 10:00:00.000000001 (+     0.5) [  59] [00007f] b()",
                pid,
                day(1, 1),
            ),
            ("[pid  9405<a>] 10:00:00.000001 b()", pid, day(1_000, us)),
            (
                "9405  1.000001 b()",
                pid,
                Some((Style::Epoch, 1_000_001_000, us)),
            ),
            (
                "1.000001 b()",
                None,
                Some((Style::Epoch, 1_000_001_000, us)),
            ),
            (
                "9405       1.000001 b()",
                pid,
                Some((Style::Delta, 1_000_001_000, us)),
            ),
            (
                "     1.000001 b()",
                None,
                Some((Style::Delta, 1_000_001_000, us)),
            ),
            ("    -0.000001 b()", None, Some((Style::Delta, -1_000, us))),
            (
                "9405       0 b()",
                pid,
                Some((Style::Delta, 0, 1_000_000_000)),
            ),
            ("9405 b()", pid, None),
            ("[00007f] b()", None, None),
            ("b()", None, None),
        ];
        for (text, pid, time) in cases {
            let head = head(text.as_bytes());
            let found = head.time.map(|t| (t.style, t.ns, t.step_ns));
            assert_eq!((head.pid, found), (*pid, *time), "{text}");
            assert_eq!(head.body, b"b()", "{text}");
        }
    }

    #[track_caller]
    fn returns(text: &str, expected_args: &str, expected: &str, took: Option<i64>) {
        let Body::Call(_, rest) = body(text.as_bytes()) else {
            panic!("{text}: no call");
        };
        let CallEnd::Returned { ret, took_ns } = rest.end else {
            panic!("{text}: {:?}", rest.end);
        };
        let texts = [rest.args, ret].map(crate::text::valid);
        assert_eq!(
            (texts, took_ns),
            ([expected_args, expected], took),
            "{text}"
        );
    }

    #[test]
    fn results_are_behind_the_last_parenthesis() {
        returns(
            "brk(NULL)         = 0x55 <0.000007>",
            "NULL",
            "0x55",
            Some(7_000),
        );
        returns("write(1, \") = 7\", 5) = 5", "1, \") = 7\", 5", "5", None);
        returns("open(\"a\") = 3</a>", "\"a\"", "3</a>", None);
        returns(
            "poll([], 0) = 1 ([{fd=3}]) <1>",
            "[], 0",
            "1 ([{fd=3}])",
            Some(1_000_000_000),
        );
        returns("pause() = ? <unavailable>", "", "?", None);
        returns(
            "f(1) = -1 EPERM (a = b) <0.5>",
            "1",
            "-1 EPERM (a = b)",
            Some(500_000_000),
        );
    }

    #[test]
    fn numbers_of_children() {
        assert_eq!(returned_pid(b"12"), Some(12));
        assert_eq!(returned_pid(b"12<sh>"), Some(12));
        assert_eq!(returned_pid(b"2 /* 502 in strace's PID NS */"), Some(502));
        for none in ["0", "-1 EAGAIN (x)", "?", "", "99999999999"] {
            assert_eq!(returned_pid(none.as_bytes()), None, "{none}");
        }
    }
}
