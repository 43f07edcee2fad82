//! What vendors' kernels put between the time and the text of a line of their log.
//!
//! ```text
//! [    0.123456] <0>.(1)[1:swapper/0]MediaTek: CPU, task
//! [    0.123456]  [0:      swapper/0:    1] Samsung: CPU, task
//! [    0.123456] c0      1 Qualcomm, Google, Unisoc: CPU, task
//! [    0.123456] (CPU:0-pid:1:swapper/0) others: CPU, task
//! [    0.123456s][pid:1,cpu0,swapper/0]HiSilicon: task, CPU
//! ```

use super::numbers::{digits, level_len, number};

/// The task, and the length of all that stands before the text.
#[inline]
pub(super) fn prefix(body: &[u8]) -> Option<(Option<u32>, usize)> {
    match body {
        [b'c', cpu, b' ', ..] if cpu.is_ascii_digit() => qualcomm(body),
        [b'(', b'C', b'P', b'U', b':', ..] => in_parentheses(body),
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

/// `(CPU:0-pid:1:swapper/0) `.
fn in_parentheses(body: &[u8]) -> Option<(Option<u32>, usize)> {
    let cpu = digits(&body[5..])?;
    let task = body[5 + cpu..].strip_prefix(b"-pid:")?;
    let n = digits(task).filter(|n| *n <= 9)?;
    let end = memchr::memchr(b')', task).filter(|_| task.get(n) == Some(&b':'))?;
    let end = 5 + cpu + 5 + end + 1;
    let space = usize::from(body.get(end) == Some(&b' '));
    Some((Some(number(&task[..n]) as u32), end + space))
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

#[cfg(test)]
mod tests {
    use super::super::printk;

    #[test]
    fn they_are_no_part_of_the_text() {
        let ns = 1_234_567_000;
        for (text, task) in [
            ("[    1.234567] <0>.(1)[17:swapper/0]a", Some(17)),
            ("[    1.234567]  (1)[17:kworker/0:1]a", Some(17)),
            ("<6>[    1.234567] -(1)[17:init]a", Some(17)),
            ("[    1.234567]  [0:      swapper/0:   17] a", Some(17)),
            ("<6>[    1.234567] I[3:  kworker/3:1:   17] a", Some(17)),
            ("[    1.234567] c0     17 a", Some(17)),
            ("[    1.234567] (CPU:0-pid:17:kworker/0:1) a", Some(17)),
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
            "(CPU:0) x",
            "c1 is x",
        ] {
            let text = format!("[    1.234567] {plain}");
            assert_eq!(parsed(&text), Some((ns, None, plain)));
        }
    }

    fn parsed(text: &str) -> Option<(i64, Option<u32>, &str)> {
        let p = printk::parse(text.as_bytes())?;
        Some((p.ns, p.task, &text[p.body..]))
    }
}
