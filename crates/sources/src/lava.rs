//! LAVA: the log of a test job, with the board's console in it.
//!
//! ```text
//! - {"dt": "2024-01-01T12:00:00.123456", "lvl": "info", "msg": "start: 2.4 uboot-action (timeout 00:05:00) [common]"}
//! - {"dt": "2024-01-01T12:00:01.000000", "lvl": "target", "msg": "U-Boot 2023.01 (Jun 22 2026 - 08:38:07 +0000)"}
//! - {"dt": "2024-01-01T12:00:05.500000", "lvl": "target", "msg": "[    0.000000] Linux version 6.1.0"}
//! - {"dt": "2024-01-01T12:00:09.000000", "lvl": "results", "msg": {"case": "login-action", "result": "pass"}}
//! - {dt: '2019-01-01T12:00:05.500000', lvl: target, msg: '[    0.000000] Linux version'}
//! ```
//!
//! Written by the LAVA dispatcher as a YAML list, an entry a line: JSON within
//! it today, flow YAML (which folds long lines) by old versions; some tools
//! write it in block form, a member a line. The console is what has the level
//! `target`; the rest is what LAVA does, needs no place on the timeline, and
//! counts as used.
//!
//! `dt` is the dispatcher's wall clock (UTC, µs) when it had read the complete
//! line, and it reads in bursts: many lines have nearly one time.

use bootlap_model::{ClockKind, Evidence, Stamp, Timeline};

use crate::calendar::Wall;
use crate::quoted;
use crate::stamped::{Of, Stamped};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "lava",
    title: "log of a LAVA job",
    looks_like: "lines of `- {\"dt\": \"2024-01-01T12:00:00.123456\", \"lvl\": \"target\", \"msg\": \"text\"}`",
    sniff,
    read,
    together: None,
};

/// Longer entries are kept up to here.
const MAX_ENTRY: usize = 256 * 1024;

fn sniff(head: &[u8]) -> Sniff {
    let is_entry = |line: &[u8]| {
        let entry = line.strip_prefix(b"- ").unwrap_or_default();
        let members = Members::of(entry);
        members.dt.is_some() && (members.lvl.is_some() || !entry.starts_with(b"{"))
    };
    let (entries, all) = text::count_lines(head, 500, is_entry);
    match entries {
        0 => Sniff::NO,
        n if n * 4 >= all => Sniff::SURE,
        _ => Sniff::MAYBE,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut reader = LavaReader {
        console: Stamped::new(input.hints, ClockKind::HostRealtime, Of::End),
        entry: None,
    };
    text::read(input, &SOURCE, out, &mut reader)
}

struct LavaReader<'h> {
    console: Stamped<'h>,
    /// An entry that may go on in the next line.
    entry: Option<(Vec<u8>, Evidence)>,
}

const NO_ENTRY: Skip = Skip::unknown(
    "expected an entry of a LAVA log: `- {\"dt\": …, \"lvl\": \"target\", \"msg\": …}`",
);

impl Reader for LavaReader<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        if let Some(entry) = line.text.strip_prefix(b"- ") {
            self.close(import);
            if entry.starts_with(b"{")
                && entry.ends_with(b"}")
                && self.entry(entry, line.at, import)
            {
                return Ok(());
            }
            self.entry = Some((entry.to_vec(), line.at));
            return Ok(());
        }
        if matches!(line.text, b"---" | b"..." | b"[" | b"]") {
            return Ok(());
        }
        let goes_on = line.text.starts_with(b" ");
        let Some((entry, at)) = self.entry.as_mut().filter(|_| goes_on) else {
            return Err(NO_ENTRY);
        };
        let room = MAX_ENTRY.saturating_sub(entry.len());
        let text = line.text.trim_ascii();
        // YAML folds a line end into a space; in block form it ends a member.
        let fold = if entry.starts_with(b"{") { b' ' } else { b'\n' };
        entry.push(fold);
        entry.extend_from_slice(&text[..text.len().min(room)]);
        at.end = line.at.end;
        Ok(())
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.close(import);
        self.console.finish(import);
    }
}

impl LavaReader<'_> {
    /// The entry that was being collected is complete.
    fn close(&mut self, import: &mut Import<'_>) {
        if let Some((entry, at)) = self.entry.take()
            && !self.entry(&entry, at, import)
        {
            import.skip(at, NO_ENTRY);
        }
    }

    /// Takes an entry; `false` if it is none.
    fn entry(&mut self, entry: &[u8], at: Evidence, import: &mut Import<'_>) -> bool {
        let members = Members::of(entry);
        let (Some(dt), Some(lvl)) = (&members.dt, &members.lvl) else {
            return false;
        };
        let Some(wall) = Wall::parse(dt) else {
            return false;
        };
        let Some(msg) = members.msg.filter(|_| lvl == b"target") else {
            return true;
        };
        let stamp = Stamp::new(wall.ns, wall.err_ns);
        for line in msg.split(|b| *b == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            self.console.raw(line, Some(stamp), at, import);
        }
        true
    }
}

/// The members of an entry that matter.
#[derive(Default)]
struct Members {
    dt: Option<Vec<u8>>,
    lvl: Option<Vec<u8>>,
    msg: Option<Vec<u8>>,
}

impl Members {
    /// Of an entry in any of its forms; what cannot be read is left out.
    fn of(entry: &[u8]) -> Self {
        let mut members = Self::default();
        let flow = entry.starts_with(b"{");
        let mut rest = entry.strip_prefix(b"{").unwrap_or(entry);
        loop {
            let Some((key, after)) = key(rest) else {
                return members;
            };
            let after = after.trim_ascii_start();
            let (value, next) = value(after, flow);
            match key.as_slice() {
                b"dt" => members.dt = value,
                b"lvl" => members.lvl = value,
                b"msg" => members.msg = value,
                _ => {}
            }
            let ends = |b: &u8| if flow { *b == b',' } else { *b == b'\n' };
            match next.iter().position(ends) {
                Some(end) => rest = &next[end + 1..],
                None => return members,
            }
        }
    }
}

/// A key, and what follows its colon.
fn key(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let text = text.trim_ascii_start();
    let (key, rest) = match text.first()? {
        b'"' => quoted::string(text)?,
        b'\'' => single_quoted(text)?,
        _ => {
            let n = text
                .iter()
                .take_while(|b| b.is_ascii_alphanumeric())
                .count();
            (text[..n].to_vec(), &text[n..])
        }
    };
    let rest = rest.trim_ascii_start().strip_prefix(b":")?;
    (!key.is_empty()).then_some((key, rest))
}

/// A value, and what follows it; no text for a map or a list.
fn value(text: &[u8], flow: bool) -> (Option<Vec<u8>>, &[u8]) {
    let quoted = match text.first() {
        Some(b'"') => quoted::string(text),
        Some(b'\'') => single_quoted(text),
        Some(b'{' | b'[') => return (None, behind_nested(text)),
        _ => {
            let ends = |b: &u8| {
                if flow {
                    matches!(b, b',' | b'}')
                } else {
                    *b == b'\n'
                }
            };
            let end = text.iter().position(ends).unwrap_or(text.len());
            Some((text[..end].trim_ascii_end().to_vec(), &text[end..]))
        }
    };
    match quoted {
        Some((value, rest)) => (Some(value), rest),
        None => (None, b""),
    }
}

/// `'it''s'`, of YAML.
fn single_quoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"'")?;
    let mut value = Vec::new();
    loop {
        let end = memchr::memchr(b'\'', rest)?;
        value.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix(b"'") {
            Some(more) => {
                value.push(b'\'');
                rest = more;
            }
            None => return Some((value, rest)),
        }
    }
}

/// What follows a map or a list.
fn behind_nested(text: &[u8]) -> &[u8] {
    let (mut depth, mut i) = (0usize, 0);
    while i < text.len() {
        match text[i] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return &text[i + 1..];
                }
            }
            b'"' => match quoted::string(&text[i..]) {
                Some((_, rest)) => {
                    i = text.len() - rest.len();
                    continue;
                }
                None => return b"",
            },
            _ => {}
        }
        i += 1;
    }
    b""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(entry: &str) -> (Option<String>, Option<String>, Option<String>) {
        let m = Members::of(entry.as_bytes());
        let text = |v: Option<Vec<u8>>| v.map(|v| String::from_utf8(v).unwrap());
        (text(m.dt), text(m.lvl), text(m.msg))
    }

    fn some(dt: &str, lvl: &str, msg: &str) -> (Option<String>, Option<String>, Option<String>) {
        (
            Some(dt.to_owned()),
            Some(lvl.to_owned()),
            Some(msg.to_owned()),
        )
    }

    #[test]
    fn entries() {
        let expected = some("2024-01-01T00:00:00.5", "target", "a, \"b\": c");
        for entry in [
            r#"{"dt": "2024-01-01T00:00:00.5", "lvl": "target", "msg": "a, \"b\": c"}"#,
            r#"{"dt": "2024-01-01T00:00:00.5", "lvl": "target", "ns": {"x": ["}"]}, "msg": "a, \"b\": c"}"#,
            r#"{dt: '2024-01-01T00:00:00.5', lvl: target, msg: 'a, "b": c'}"#,
            "dt: '2024-01-01T00:00:00.5'\nlvl: target\nmsg: 'a, \"b\": c'",
        ] {
            assert_eq!(members(entry), expected, "{entry}");
        }
        let it = "{dt: 2024-01-01T00:00:00.5, lvl: target, msg: it}";
        assert_eq!(members(it), some("2024-01-01T00:00:00.5", "target", "it"));
        let map = r#"{"dt": "x", "lvl": "results", "msg": {"case": "a", "dt": "y"}}"#;
        assert_eq!(
            members(map),
            (Some("x".to_owned()), Some("results".to_owned()), None)
        );
        for torn in [
            "",
            "{",
            "{\"dt\": \"",
            "{'dt': '",
            "{\"msg\": {\"a\": \"",
            "{{{{",
        ] {
            assert_eq!(members(torn).2, None, "{torn}");
        }
    }
}
