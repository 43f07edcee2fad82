//! The prefix of a kernel log line.
//!
//! ```text
//! [    0.123456] smp: Bringing up secondary CPUs ...
//! [    0.123456][    T1] calling  init_fs+0x0/0x10 @ 1        CONFIG_PRINTK_CALLER: a task
//! [    0.123456][    C0] random: crng init done               … or a CPU in an interrupt
//! <6>[    0.123456] usb usb1: New USB device found            raw level: dmesg -r, netconsole
//! login: [   12.345678] random: crng init done                glued to what user space wrote
//! ```
//!
//! Printed by `kernel/printk/printk.c` (`print_time`: `[%5lu.%06lu]`), in s
//! since the kernel's clock started, cut (not rounded) to µs.

/// The resolution of the times: they are cut to µs.
pub(crate) const RESOLUTION_NS: u32 = 1_000;

/// The prefix of a kernel log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// ns since the kernel's clock started, a multiple of 1000.
    pub(crate) ns: i64,
    /// The task that printed it, if the kernel says so.
    pub(crate) task: Option<u32>,
    /// Where the message begins.
    pub(crate) body: usize,
}

/// The prefix at the start of `text`, if there is one.
pub(crate) fn parse(text: &[u8]) -> Option<Prefix> {
    let level = level_len(text);
    let (ns, len) = time(&text[level..])?;
    let mut body = level + len;
    let mut task = None;
    if let Some((is_task, id, len)) = caller(&text[body..]) {
        task = Some(id).filter(|_| is_task);
        body += len;
    }
    if text.get(body) == Some(&b' ') {
        body += 1;
    }
    Some(Prefix { ns, task, body })
}

/// Where in `text`, behind its first byte, a kernel line begins: user space
/// and the kernel share the console, and neither waits for the other's line.
pub(crate) fn find_glued(text: &[u8]) -> Option<usize> {
    let mut from = 1;
    while let Some(i) = memchr::memchr(b'[', text.get(from..)?) {
        let at = from + i;
        if time(&text[at..]).is_some_and(|(_, len)| text.get(at + len) == Some(&b' ')) {
            return Some(at - level_before(&text[..at]));
        }
        from = at + 1;
    }
    None
}

/// The length of `<6>`, or 0.
fn level_len(text: &[u8]) -> usize {
    match text {
        [b'<', d, b'>', ..] if d.is_ascii_digit() => 3,
        [b'<', d, e, b'>', ..] if d.is_ascii_digit() && e.is_ascii_digit() => 4,
        _ => 0,
    }
}

/// The length of the `<6>` that `text` ends with, or 0. (A kernel line cannot
/// begin at 0 here: that would be a prefix, not glue.)
fn level_before(text: &[u8]) -> usize {
    match text {
        [_, .., b'<', d, b'>'] if d.is_ascii_digit() => 3,
        _ => 0,
    }
}

/// `[%5lu.%06lu]`: the time in ns and the length.
fn time(text: &[u8]) -> Option<(i64, usize)> {
    let rest = text.strip_prefix(b"[")?;
    let spaces = rest.iter().take_while(|b| **b == b' ').count();
    let digits = digits(&rest[spaces..])?;
    let dot = spaces + digits;
    if dot < 5 || digits > 9 || rest.get(dot) != Some(&b'.') {
        return None;
    }
    let micros = rest.get(dot + 1..dot + 7)?;
    if rest.get(dot + 7) != Some(&b']') || !micros.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let s = number(&rest[spaces..dot]);
    let us = number(micros);
    Some((s * 1_000_000_000 + us * 1_000, dot + 9))
}

/// `[    T1]` or `[ C0]`: whether it is a task, its number, the length.
fn caller(text: &[u8]) -> Option<(bool, u32, usize)> {
    let rest = text.strip_prefix(b"[")?;
    let spaces = rest.iter().take_while(|b| **b == b' ').count();
    let is_task = match rest.get(spaces)? {
        b'T' => true,
        b'C' => false,
        _ => return None,
    };
    let from = spaces + 1;
    let n = digits(&rest[from..]).filter(|n| *n <= 9)?;
    if rest.get(from + n) != Some(&b']') {
        return None;
    }
    let id = number(&rest[from..from + n]) as u32;
    Some((is_task, id, from + n + 2))
}

/// How many digits `text` begins with, if any.
fn digits(text: &[u8]) -> Option<usize> {
    let n = text.iter().take_while(|b| b.is_ascii_digit()).count();
    (n > 0).then_some(n)
}

/// The value of at most 9 digits.
fn number(digits: &[u8]) -> i64 {
    let digit = |n: i64, d: &u8| n * 10 + i64::from(d - b'0');
    digits.iter().fold(0, digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(i64, Option<u32>, &str)> {
        let p = parse(text.as_bytes())?;
        Some((p.ns, p.task, &text[p.body..]))
    }

    #[test]
    fn prefixes() {
        assert_eq!(parsed("[    0.123456] a"), Some((123_456_000, None, "a")));
        assert_eq!(
            parsed("<7>[   12.000001] a"),
            Some((12_000_001_000, None, "a"))
        );
        assert_eq!(parsed("[    0.000000][    T1] a"), Some((0, Some(1), "a")));
        assert_eq!(parsed("[    0.000000][ C0]   a"), Some((0, None, "  a")));
        assert_eq!(
            parsed("[12345.678901]"),
            Some((12_345_678_901_000, None, ""))
        );
    }

    #[test]
    fn other_brackets_are_no_prefix() {
        for text in [
            "[  OK  ] Started foo.",
            "[ ok ]",
            "[2.391972 2.384627] [    0.378676] omap2",
            "[    12.345] (II) Xorg",
            "[99999999999999999999.000000] x",
            "[    0.12345",
            "",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn glue() {
        let find = |text: &str| find_glued(text.as_bytes());
        assert_eq!(find("login: [   12.345678] random"), Some(7));
        assert_eq!(find("login: <6>[   12.345678] random"), Some(7));
        assert_eq!(find("[2.391972 2.384627] [    0.378676] omap2"), Some(20));
        assert_eq!(find("[   12.345678] random [mem 0x0-0x1] x"), None);
        assert_eq!(find("["), None);
    }
}
