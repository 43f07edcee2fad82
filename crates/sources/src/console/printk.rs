//! The prefix of a kernel log line.
//!
//! ```text
//! [    0.123456] smp: Bringing up secondary CPUs ...
//! [    0.123456][    T1] calling  init_fs+0x0/0x10 @ 1        CONFIG_PRINTK_CALLER: a task
//! [    0.123456][    C0] random: crng init done               … or a CPU in an interrupt
//! <6>[    0.123456] usb usb1: New USB device found            raw level: dmesg -r, netconsole
//! login: [   12.345678] random: crng init done                glued to what user space wrote
//! [    0.123456@0] Amlogic: the CPU                           vendors' kernels say more
//! [    0.123456 / 01-01 00:00:00.009] LG: the hardware clock
//! ```
//!
//! What vendors put behind the time, [`vendor`] knows.
//!
//! Printed by `kernel/printk/printk.c` (`print_time`: `[%5lu.%06lu]`), in s
//! since the kernel's clock started, cut (not rounded) to µs.

use super::numbers::{digits, level_len, number};
use super::vendor;

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
#[inline]
pub(crate) fn parse(text: &[u8]) -> Option<Prefix> {
    let level = level_len(text);
    let (ns, len) = plain_time(&text[level..]).or_else(|| time(&text[level..]))?;
    Some(behind_time(text, ns, level + len))
}

/// The rest of a prefix, of which the time ends before `body`.
pub(crate) fn behind_time(text: &[u8], ns: i64, mut body: usize) -> Prefix {
    let mut task = None;
    if let Some((is_task, id, len)) = caller(&text[body..]) {
        task = Some(id).filter(|_| is_task);
        body += len;
    }
    if text.get(body) == Some(&b' ') {
        body += 1;
    }
    if let Some((id, len)) = vendor::prefix(&text[body..]) {
        task = task.or(id);
        body += len;
    }
    Prefix { ns, task, body }
}

/// Where in `text`, not before `from` and not before its second byte, a kernel
/// line begins: user space and the kernel share the console, and neither waits
/// for the other's line.
pub(crate) fn find_glued(text: &[u8], from: usize) -> Option<usize> {
    let mut from = from.max(1);
    while let Some(i) = memchr::memchr(b'[', text.get(from..)?) {
        let at = from + i;
        if time(&text[at..]).is_some_and(|(_, len)| text.get(at + len) == Some(&b' ')) {
            return Some(at - level_before(&text[..at]));
        }
        from = at + 1;
    }
    None
}

/// The length of the `<6>` that `text` ends with, or 0. (A kernel line cannot
/// begin at 0 here: that would be a prefix, not glue.)
fn level_before(text: &[u8]) -> usize {
    match text {
        [_, .., b'<', d, b'>'] if d.is_ascii_digit() => 3,
        _ => 0,
    }
}

/// `[%5lu.%06lu]` with at most five digits before the dot, as nearly all are:
/// the time in ns and the length.
#[inline]
fn plain_time(text: &[u8]) -> Option<(i64, usize)> {
    let field: &[u8; 14] = text.first_chunk()?;
    if (field[0], field[6], field[13]) != (b'[', b'.', b']') {
        return None;
    }
    let (mut s, mut us, mut odd) = (0u32, 0u32, false);
    let spaces = field[1..5].iter().take_while(|b| **b == b' ').count();
    // Behind the spaces all are digits.
    for &byte in &field[1 + spaces..6] {
        let digit = byte.wrapping_sub(b'0');
        odd |= digit > 9;
        s = s.wrapping_mul(10).wrapping_add(u32::from(digit));
    }
    for &byte in &field[7..13] {
        let digit = byte.wrapping_sub(b'0');
        odd |= digit > 9;
        us = us.wrapping_mul(10).wrapping_add(u32::from(digit));
    }
    if odd {
        return None;
    }
    let us = i64::from(s) * 1_000_000 + i64::from(us);
    Some((us * 1_000, 14))
}

/// `[%5lu.%06lu]` in all its variants: the time in ns and the length.
fn time(text: &[u8]) -> Option<(i64, usize)> {
    let rest = text.strip_prefix(b"[")?;
    let spaces = rest.iter().take_while(|b| **b == b' ').count();
    let whole = digits(&rest[spaces..])?;
    let dot = spaces + whole;
    if dot < 5 || whole > 9 || rest.get(dot) != Some(&b'.') {
        return None;
    }
    let fraction = &rest[dot + 1..];
    let places = digits(fraction)?;
    if places != 6 && places != 9 {
        return None;
    }
    let ends = match fraction[places..] {
        [b']', ..] => 1,
        // HiSilicon.
        [b's', b']', ..] => 2,
        // Amlogic.
        [b'@', cpu, b']', ..] if cpu.is_ascii_digit() => 3,
        // LG.
        [b' ', b'/', b' ', ref clock @ ..] if clock.get(18) == Some(&b']') => 3 + 18 + 1,
        _ => return None,
    };
    let s = number(&rest[spaces..dot]);
    let us = number(&fraction[..6]);
    let ns = number(&fraction[6..places]);
    let ns = s * 1_000_000_000 + us * 1_000 + ns;
    Some((ns, 1 + dot + 1 + places + ends))
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
    fn times_of_vendors() {
        for text in [
            "[    1.234567@0] a",
            "[    1.234567s]a",
            "[    1.234567 / 01-01 00:00:00.009] a",
        ] {
            assert_eq!(parsed(text), Some((1_234_567_000, None, "a")), "{text}");
        }
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
        let find = |text: &str| find_glued(text.as_bytes(), 0);
        assert_eq!(find("login: [   12.345678] random"), Some(7));
        assert_eq!(find("login: <6>[   12.345678] random"), Some(7));
        assert_eq!(find("[2.391972 2.384627] [    0.378676] omap2"), Some(20));
        assert_eq!(find("[   12.345678] random [mem 0x0-0x1] x"), None);
        assert_eq!(find("["), None);
    }
}
