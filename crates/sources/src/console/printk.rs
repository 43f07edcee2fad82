//! The prefix of a kernel log line.
//!
//! ```text
//! [    0.123456] smp: Bringing up secondary CPUs ...
//! [    0.123456][    T1] calling  init_fs+0x0/0x10 @ 1        CONFIG_PRINTK_CALLER: a task
//! [    0.123456][    C0] random: crng init done               … or a CPU in an interrupt
//! <6>[    0.123456] usb usb1: New USB device found            raw level: dmesg -r, netconsole
//! login: [   12.345678] random: crng init done                glued to what user space wrote
//! [    0.123456@0] Amlogic: the CPU                           vendors' kernels say more:
//! [    0.123456] <0>.(1)[1:swapper/0]MediaTek: CPU, task
//! [    0.123456]  [0:      swapper/0:    1] Samsung: CPU, task
//! [    0.123456] c0      1 Qualcomm, Google: CPU, task
//! [    0.123456s][pid:1,cpu0,swapper/0]HiSilicon: task, CPU
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
    if let Some((id, len)) = vendor(&text[body..]) {
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

/// The length of `<6>`, or 0.
pub(crate) fn level_len(text: &[u8]) -> usize {
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
    let digits = digits(&rest[spaces..])?;
    let dot = spaces + digits;
    if dot < 5 || digits > 9 || rest.get(dot) != Some(&b'.') {
        return None;
    }
    let fraction = &rest[dot + 1..];
    let places = self::digits(fraction)?;
    if places != 6 && places != 9 {
        return None;
    }
    let ends = match fraction[places..] {
        [b']', ..] => 1,
        // HiSilicon.
        [b's', b']', ..] => 2,
        // Amlogic.
        [b'@', cpu, b']', ..] if cpu.is_ascii_digit() => 3,
        _ => return None,
    };
    let s = number(&rest[spaces..dot]);
    let us = number(&fraction[..6]);
    let ns = number(&fraction[6..places]);
    let ns = s * 1_000_000_000 + us * 1_000 + ns;
    Some((ns, 1 + dot + 1 + places + ends))
}

/// What vendors' kernels put before the text: the task, and the length.
#[inline]
fn vendor(body: &[u8]) -> Option<(Option<u32>, usize)> {
    match body {
        [b'c', cpu, b' ', ..] if cpu.is_ascii_digit() => qualcomm(body),
        [b'<', ..] | [b' ' | b'.' | b'-', b'(', ..] | [b'(', b'0'..=b'9', ..] => mediatek(body),
        [b'[', b'p', b'i', b'd', b':', ..] | [b'[', _, _, _, _, b':', _, _, b':', ..] => {
            hisilicon(body)
        }
        [b'[', b'0'..=b'9', ..]
        | [b' ' | b'A'..=b'Z', b'[', b'0'..=b'9' | b' ', ..]
        | [b'[', b' ', ..] => samsung(body),
        _ => None,
    }
}

/// `c%d %6d `.
fn qualcomm(body: &[u8]) -> Option<(Option<u32>, usize)> {
    let rest = &body[2..];
    let spaces = rest.iter().take_while(|b| **b == b' ').count();
    let n = digits(&rest[spaces..]).filter(|n| *n <= 9 && spaces + n >= 6)?;
    let end = spaces + n;
    let task = number(&rest[spaces..end]) as u32;
    (rest.get(end) == Some(&b' ')).then_some((Some(task), 2 + end + 1))
}

/// `<0>.(1)[1:swapper/0]`, with less before the parenthesis by version.
fn mediatek(body: &[u8]) -> Option<(Option<u32>, usize)> {
    let level = level_len(body);
    let mut at = level + usize::from(matches!(body.get(level), Some(b' ' | b'.' | b'-')));
    let cpu = body[at..].strip_prefix(b"(")?;
    let n = digits(cpu)?;
    at += 1 + n;
    let task = body[at..].strip_prefix(b")[")?;
    let n = digits(task).filter(|n| *n <= 9)?;
    let end = memchr::memchr(b']', task).filter(|_| task.get(n) == Some(&b':'))?;
    let end = at + 2 + end + 1;
    let space = usize::from(body.get(end) == Some(&b' '));
    Some((Some(number(&task[..n]) as u32), end + space))
}

/// `[0:      swapper/0:    1] `, perhaps with a letter or a space before.
fn samsung(body: &[u8]) -> Option<(Option<u32>, usize)> {
    let start = 1 + usize::from(body[0] != b'[');
    let rest = &body[start..];
    let end = memchr::memchr(b']', rest)?;
    let mut parts = rest[..end].splitn(2, |b| *b == b':');
    let cpu = parts.next()?.trim_ascii();
    // The name of a task may have colons in it: `kworker/0:1`.
    let name = parts.next()?;
    let colon = memchr::memrchr(b':', name)?;
    let task = name[colon + 1..].trim_ascii();
    let is_number = |t: &[u8]| digits(t).is_some_and(|n| n == t.len() && n <= 9);
    if !is_number(cpu) || !is_number(task) {
        return None;
    }
    let end = start + end + 1;
    let space = usize::from(body.get(end) == Some(&b' '));
    Some((Some(number(task) as u32), end + space))
}

/// `[2015:01:01 00:00:00][pid:1,cpu0,swapper/0]`, the date not always.
fn hisilicon(body: &[u8]) -> Option<(Option<u32>, usize)> {
    let at = memchr::memmem::find(&body[..body.len().min(32)], b"[pid:")?;
    let rest = &body[at + 5..];
    let n = digits(rest).filter(|n| *n <= 9)?;
    let end = memchr::memchr(b']', rest).filter(|_| rest.get(n) == Some(&b','))?;
    let end = at + 5 + end + 1;
    let space = usize::from(body.get(end) == Some(&b' '));
    Some((Some(number(&rest[..n]) as u32), end + space))
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
    fn vendors() {
        let ns = 1_234_567_000;
        for (text, task) in [
            ("[    1.234567@0] a", None),
            ("[    1.234567] <0>.(1)[17:swapper/0]a", Some(17)),
            ("[    1.234567]  (1)[17:kworker/0:1]a", Some(17)),
            ("<6>[    1.234567] -(1)[17:init]a", Some(17)),
            ("[    1.234567]  [0:      swapper/0:   17] a", Some(17)),
            ("<6>[    1.234567] I[3:  kworker/3:1:   17] a", Some(17)),
            ("[    1.234567] c0     17 a", Some(17)),
            ("[    1.234567s][pid:17,cpu0,swapper/0]a", Some(17)),
            (
                "[    1.234567s][2015:01:01 00:00:00][pid:17,cpu3,x]a",
                Some(17),
            ),
        ] {
            assert_eq!(parsed(text), Some((ns, task, "a")), "{text}");
        }
        for plain in [
            "[8086:1237] type 00",
            "  DMA zone: 0 pages",
            "(1) x",
            "c1 is x",
        ] {
            let text = format!("[    1.234567] {plain}");
            assert_eq!(parsed(&text), Some((ns, None, plain)));
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
