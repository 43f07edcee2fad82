//! One line of logcat, in whatever format it was asked for.

use super::date::{When, when};

/// What one line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// When, if the format has times.
    pub(super) when: Option<When>,
    pub(super) pid: Option<u32>,
    pub(super) tid: Option<u32>,
    pub(super) tag: &'a str,
    pub(super) text: &'a str,
}

/// A line of any format but `long`; its pieces in the order of `-v`:
///
/// ```text
/// 01-01 03:00:31.590  1520  1520 I Zygote  : text          threadtime
/// 01-01 03:00:31.590  root  1520  1520 I Zygote  : text    with -v uid
/// 01-01 03:00:31.590 I/Zygote  ( 1520): text               time
/// I/Zygote  ( 1520): text                                  brief
/// I/Zygote  : text                                         tag
/// I( 1520) text  (Zygote)                                  process
/// I( 1520: 1520) text                                      thread
/// 2026-01-01 03:00:31.590  1520-1520  Zygote  com.a.b  I  text    Android Studio
/// 01-01 03:00:31.590 1520-1520/com.a.b I/Zygote: text             before 2022
/// ```
pub(super) fn entry(line: &str) -> Option<Entry<'_>> {
    let (when, rest) = match when(line) {
        Some((when, rest)) => (Some(when), rest.trim_start()),
        None => (None, line),
    };
    let mut entry = slashed(rest).or_else(|| match when {
        Some(_) => columns(rest).or_else(|| studio(rest)),
        None => enclosed(rest),
    })?;
    entry.when = when;
    Some(entry)
}

/// `[ 01-01 03:00:31.590  1520: 1520 I/Zygote   ]`, the text on lines of its
/// own (`long`).
pub(super) fn long_head(line: &str) -> Option<Entry<'_>> {
    let inside = line.strip_prefix("[ ")?.strip_suffix(']')?.trim_end();
    let (when, rest) = when(inside)?;
    let (ids, rest) = rest.split_at(rest.find(|c: char| c.is_ascii_uppercase())?);
    let mut ids = ids.rsplit(':').map(|id| id.trim().parse().ok());
    let (tid, pid) = (ids.next()?, ids.next()?);
    let rest = rest.strip_prefix(level)?.strip_prefix('/')?;
    Some(Entry {
        when: Some(when),
        pid,
        tid,
        tag: rest.trim(),
        text: "",
    })
}

/// The letters of the levels.
fn level(c: char) -> bool {
    matches!(c, 'V' | 'D' | 'I' | 'W' | 'E' | 'F' | 'A' | 'S')
}

/// `1520  1520 I Zygote  : text`, perhaps with a user in front.
fn columns(rest: &str) -> Option<Entry<'_>> {
    let mut rest = rest;
    let mut words: [&str; 4] = [""; 4];
    let mut n = 0;
    let after = loop {
        let end = rest.find(' ')?;
        let word = &rest[..end];
        rest = rest[end..].trim_start();
        if n >= 2 && word.len() == 1 && word.starts_with(level) {
            break rest;
        }
        *words.get_mut(n)? = word;
        n += 1;
    };
    let (tag, text) = tag_and_text(after)?;
    let id = |word: &str| word.parse::<u32>().ok();
    Some(Entry {
        when: None,
        pid: Some(id(words[n - 2])?),
        tid: Some(id(words[n - 1])?),
        tag,
        text,
    })
}

/// `1520-1521  Zygote   com.a.b   I  text`, `1520-1521/com.a.b I/Zygote: text`.
fn studio(rest: &str) -> Option<Entry<'_>> {
    let (ids, rest) = rest.split_once(' ')?;
    let (ids, package) = match ids.split_once('/') {
        Some((ids, package)) => (ids, Some(package)),
        None => (ids, None),
    };
    let (pid, tid) = ids.split_once('-')?;
    let (pid, tid) = (pid.parse().ok()?, tid.parse().ok()?);
    let entry = match package {
        Some(_) => slashed(rest)?,
        None => padded(rest)?,
    };
    Some(Entry {
        pid: Some(pid),
        tid: Some(tid),
        ..entry
    })
}

/// `Zygote   com.a.b   I  text`: the level stands alone, two spaces before the text.
fn padded(rest: &str) -> Option<Entry<'_>> {
    let mut letters = rest.match_indices(level);
    let (at, _) = letters.find(|(at, _)| {
        rest[..*at].ends_with(' ')
            && (rest[at + 1..].starts_with("  ") || rest[at + 1..].is_empty())
    })?;
    let names = rest[..at].trim();
    let (tag, _package) = names.rsplit_once(' ').unwrap_or((names, ""));
    Some(Entry {
        when: None,
        pid: None,
        tid: None,
        tag: tag.trim_end(),
        text: rest[at + 1..].trim_start(),
    })
}

/// `I/Zygote  ( 1520): text`, `I/Zygote  (root: 1520): text`, `I/Zygote  :
/// text`.
fn slashed(rest: &str) -> Option<Entry<'_>> {
    let rest = rest.strip_prefix(level)?.strip_prefix('/')?;
    let with_pid = || {
        let (inside, text) = rest
            .split_once("): ")
            .or_else(|| Some((rest.strip_suffix("):")?, "")))?;
        let (tag, ids) = inside.rsplit_once('(')?;
        let pid = ids.rsplit(':').next()?.trim().parse().ok()?;
        Some((tag.trim_end(), Some(pid), text))
    };
    let without = || {
        let (tag, text) = tag_and_text(rest)?;
        Some((tag, None, text))
    };
    let (tag, pid, text) = with_pid().or_else(without)?;
    Some(Entry {
        when: None,
        pid,
        tid: None,
        tag,
        text,
    })
}

/// `I( 1520) text  (Zygote)`, `I( 1520: 1520) text`.
fn enclosed(rest: &str) -> Option<Entry<'_>> {
    let rest = rest.strip_prefix(level)?.strip_prefix('(')?;
    let (ids, text) = rest.split_once(") ")?;
    let mut ids = ids.splitn(2, ':').map(|id| id.trim().parse().ok());
    let pid = Some(ids.next()??);
    let tid = ids.next().flatten();
    let (text, tag) = match text.strip_suffix(')').and_then(|t| t.rsplit_once("  (")) {
        Some((text, tag)) if tid.is_none() => (text, tag),
        _ => (text, ""),
    };
    Some(Entry {
        when: None,
        pid,
        tid,
        tag,
        text,
    })
}

/// `Zygote  : text`: the tag is padded, and may be empty.
fn tag_and_text(rest: &str) -> Option<(&str, &str)> {
    let (tag, text) = match rest.find(": ") {
        Some(at) => (&rest[..at], &rest[at + 2..]),
        None => (rest.strip_suffix(':')?, ""),
    };
    Some((tag.trim(), text))
}

/// `--------- beginning of main`, `--------- switch to crash`.
pub(super) fn buffer(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("--------- ")?;
    rest.strip_prefix("beginning of ")
        .or_else(|| rest.strip_prefix("switch to "))
        .map(|name| name.trim_start_matches("/dev/log/").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_formats() {
        let p = Some(1520);
        for (line, timed, pid, tag, text) in [
            (
                "01-01 03:00:31.590  1520  1521 I Zygote  : a: b",
                true,
                p,
                "Zygote",
                "a: b",
            ),
            (
                "2026-01-01 03:00:31.590  1520-1521  Zygote                  com.a.b                 I  a: b",
                true,
                p,
                "Zygote",
                "a: b",
            ),
            (
                "2026-01-01 03:00:31.590  1520-1521  a tag                   pid-1520                 E  ",
                true,
                p,
                "a tag",
                "",
            ),
            (
                "01-01 03:00:31.590 1520-1521/com.a.b I/Zygote: a: b",
                true,
                p,
                "Zygote",
                "a: b",
            ),
            (
                "2026-01-01 03:00:31.590 1520-1520/? I/Zygote: a",
                true,
                p,
                "Zygote",
                "a",
            ),
            (
                "01-01 03:00:31.590  root  1520  1521 I Zygote  : a",
                true,
                p,
                "Zygote",
                "a",
            ),
            (
                "01-01 03:00:31.590 10023  1520  1521 I Zygote  :",
                true,
                p,
                "Zygote",
                "",
            ),
            (
                "2026-11-21 03:00:31.590123 +0100  1520  1521 W : a",
                true,
                p,
                "",
                "a",
            ),
            (
                "         31.590  1520  1521 I Zygote  : a",
                true,
                p,
                "Zygote",
                "a",
            ),
            (
                "1795268008.590  1520  1521 I Zygote  : a",
                true,
                p,
                "Zygote",
                "a",
            ),
            (
                "01-01 03:00:31.590 I/Zygote  ( 1520): a",
                true,
                p,
                "Zygote",
                "a",
            ),
            ("I/Zygote  ( 1520): a", false, p, "Zygote", "a"),
            ("I/Zygote  (root: 1520): a", false, p, "Zygote", "a"),
            ("I/Zygote  : a", false, None, "Zygote", "a"),
            ("I( 1520) a  (Zygote)", false, p, "Zygote", "a"),
            ("I( 1520: 1521) a", false, p, "", "a"),
        ] {
            let e = entry(line).unwrap();
            let got = (e.when.is_some(), e.pid, e.tag, e.text);
            assert_eq!(got, (timed, pid, tag, text), "{line}");
        }
        let long = long_head("[ 01-01 03:00:31.590  1520: 1521 I/Zygote   ]").unwrap();
        assert_eq!((long.pid, long.tid, long.tag), (p, Some(1521), "Zygote"));
    }

    #[test]
    fn other_lines() {
        for line in [
            "",
            "I",
            "I/",
            "hello: world",
            "01-01 03:00:31.590",
            "I(x) y",
            "[ a ]",
        ] {
            assert_eq!((entry(line), long_head(line)), (None, None), "{line}");
        }
        assert_eq!(buffer("--------- beginning of /dev/log/main"), Some("main"));
    }
}
