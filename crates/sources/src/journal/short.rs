//! One message a line: `journalctl -o short…`, and what syslog daemons write.
//!
//! ```text
//! [    2.008026] host systemd[1]: Detected virtualization qemu.               short-monotonic
//! [    2.008026 <    0.000058 >] host systemd[1]: Detected …                  short-delta
//! Apr 27 19:48:57 host systemd[1]: Detected virtualization qemu.              short, --no-hostname, syslog
//! 2026-04-27T19:48:57.729231+0000 host systemd[1]: Detected …                 short-iso, -precise
//! Mon 2026-04-27 19:48:57 UTC host init.scope[1]: Detected …                  short-full, with-unit
//! 2026-04-27T19:48:59.124817+00:00 host kernel: [    0.000000] Linux version  rsyslog
//! ```

use super::date;
use super::row::Row;
use crate::console::printk;
use crate::text::{resolution_ns, seconds_ns, valid};

/// What a line tells of itself.
pub(crate) struct Short<'t> {
    /// The message, without a place.
    pub(crate) row: Row,
    /// The host, if it is told.
    pub(crate) host: &'t str,
}

/// Takes a line apart.
pub(crate) fn parse(line: &[u8]) -> Option<Short<'_>> {
    let text = valid(line);
    let mut row = Row::default();
    let rest = if let Some((ns, err_ns, rest)) = monotonic(text) {
        row.mono_ns = Some(ns);
        row.err_ns = err_ns;
        rest
    } else {
        let (moment, rest) = date::leading(text)?;
        row.real_ns = Some(moment.ns);
        row.err_ns = moment.err_ns;
        row.yearless = !moment.has_year;
        rest
    };
    let (host, ident, message) = sender(rest)?;
    let (name, pid) = match ident.strip_suffix(']').and_then(|i| i.rsplit_once('[')) {
        Some((name, pid)) => (name, pid),
        None => (ident, ""),
    };
    row.ident = name.into();
    row.pid = pid.into();
    // The text may go on after what is no UTF-8.
    let mut body = &line[text.len() - message.len()..];
    if row.is_kernels() {
        row.kernel = true;
        if let Some(prefix) = printk::parse(body) {
            row.logged_ns = Some(prefix.ns);
            body = &body[prefix.body..];
        }
    }
    row.message = body.into();
    Some(Short { row, host })
}

/// `[    2.008026] ` or `[    2.008026 <    0.000058 >] `.
fn monotonic(text: &str) -> Option<(i64, u32, &str)> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    let mut words = inside.split_whitespace();
    let number = words.next()?;
    let delta = words.all(|w| w.bytes().all(|b| b"<>*-.0123456789".contains(&b)));
    let ns = seconds_ns(number.as_bytes()).filter(|_| delta && number.contains('.'))?;
    let err_ns = resolution_ns(number.as_bytes(), 1_000_000_000);
    Some((ns, err_ns, rest.strip_prefix(' ')?))
}

/// Host, identifier with pid, message. A host has no colon at its end.
fn sender(text: &str) -> Option<(&str, &str, &str)> {
    let (first, rest) = word(text)?;
    if let Some(ident) = first.strip_suffix(':') {
        return Some(("", ident, rest));
    }
    let (second, behind) = word(rest)?;
    if let Some(ident) = second.strip_suffix(':') {
        return Some((first, ident, behind));
    }
    // Identifiers with spaces are rare, and have a pid.
    let end = rest.find("]: ").filter(|e| *e < 80)?;
    Some((first, &rest[..=end], &rest[end + 3..]))
}

/// The first word, and what follows one space.
fn word(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = match text.split_once(' ') {
        Some(parts) => parts,
        None => (text, ""),
    };
    (!word.is_empty()).then_some((word, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> Option<String> {
        let s = parse(line.as_bytes())?;
        let r = s.row;
        let message = String::from_utf8_lossy(&r.message).into_owned();
        let time = (r.mono_ns, r.logged_ns);
        Some(format!(
            "{time:?} {} {} {} {message}",
            s.host, r.ident, r.pid
        ))
    }

    #[test]
    fn senders() {
        let is = |line, expected: &str| assert_eq!(parts(line).as_deref(), Some(expected));
        is(
            "[    2.008026] host systemd[1]: Detected: x",
            "(Some(2008026000), None) host systemd 1 Detected: x",
        );
        is(
            "[    0.000000 <    0.000058 >] host kernel: BIOS",
            "(Some(0), None) host kernel  BIOS",
        );
        is(
            "Apr 27 19:48:56 kernel: Linux version",
            "(None, None)  kernel  Linux version",
        );
        is(
            "2026-04-27T19:48:59.124817+00:00 h kernel: [    0.125000] Linux",
            "(None, Some(125000000)) h kernel  Linux",
        );
        is(
            "[    5.0] h my program[77]: hi",
            "(Some(5000000000), None) h my program 77 hi",
        );
    }

    #[test]
    fn other_lines() {
        for line in [
            "[    0.378676] omap2_mbox_probe platform not supported",
            "[  OK  ] Started foo.",
            "Apr 27 19:48:56 last message repeated 3 times",
            "-- Reboot --",
            "",
        ] {
            assert_eq!(parts(line), None, "{line}");
        }
    }
}
