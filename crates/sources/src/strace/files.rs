//! Calls as [`crate::accesses`] reads them: `AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC`,
//! with `-y` `3</etc/passwd>, "root"..., 4096`.

use std::borrow::Cow;

use super::process::string;
use crate::accesses::{Arg, Args};
use crate::text::valid;

/// The arguments of a call as strace prints them.
pub(super) struct Printed<'a>(pub(super) &'a [u8]);

impl Args for Printed<'_> {
    fn get(&self, place: usize) -> Arg<'_> {
        let mut rest = self.0;
        for _ in 0..place {
            let len = length(rest);
            let Some(next) = rest.get(len + 1..) else {
                return Arg::Unknown;
            };
            rest = next.trim_ascii_start();
        }
        argument(rest[..length(rest)].trim_ascii())
    }
}

fn argument(text: &[u8]) -> Arg<'_> {
    match text.first() {
        None => Arg::Unknown,
        Some(b'"') => match string(text) {
            // What is cut off is another file's name.
            Some((_, rest)) if rest.starts_with(b"...") => Arg::Unknown,
            Some((path, _)) => Arg::Path(Cow::Owned(String::from_utf8_lossy(&path).into_owned())),
            None => Arg::Unknown,
        },
        Some(b'[') => match string(text) {
            Some((first, _)) => Arg::List(Cow::Owned(String::from_utf8_lossy(&first).into_owned())),
            None => Arg::Unknown,
        },
        Some(b'0'..=b'9' | b'-') => {
            let (value, path) = numbered(valid(text));
            value.map_or(Arg::Unknown, |value| Arg::Number { value, path })
        }
        Some(_) => match valid(text).strip_prefix("AT_FDCWD") {
            Some(rest) => Arg::Number {
                value: -100,
                path: rest.strip_prefix('<').and_then(|r| r.strip_suffix('>')),
            },
            None => Arg::Words(valid(text)),
        },
    }
}

/// `3`, `3</etc/passwd>`, `0x20`; with `-yy` `3</dev/pts/0<char 136:0>>`.
fn numbered(text: &str) -> (Option<i64>, Option<&str>) {
    let (number, path) = match text.split_once('<') {
        Some((number, path)) => (
            number,
            path.strip_suffix('>')
                .map(|path| match path.split_once('<') {
                    Some((path, _)) => path,
                    None => path,
                }),
        ),
        None => (text, None),
    };
    let value = match number.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    };
    (value, path)
}

/// Until the comma behind the first argument, or the end.
fn length(text: &[u8]) -> usize {
    let (mut depth, mut quoted, mut at) = (0u32, false, 0);
    while at < text.len() {
        match text[at] {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// What a call returned, an error as the kernel's number of it: `3`, `3</etc/passwd>`,
/// `-1 ENOENT (No such file or directory)`.
pub(super) fn returned(ret: &[u8]) -> Option<i64> {
    let text = valid(ret);
    if let Some(error) = text.strip_prefix("-1 ") {
        return Some(match error.split(' ').next() {
            Some("ENOENT") => -2,
            Some("ENOTDIR") => -20,
            _ => -1,
        });
    }
    let end = text.find([' ', '<']).unwrap_or(text.len());
    numbered(&text[..end]).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_between_commas() {
        let args = Printed(br#"AT_FDCWD, "/a \"b\", c", {st_mode=S_IFREG, x=[1, 2]}, 0"#);
        let number = |value| Arg::Number { value, path: None };
        assert_eq!(args.get(0), number(-100));
        assert_eq!(args.get(1), Arg::Path("/a \"b\", c".into()));
        assert_eq!(args.get(3), number(0));
        assert_eq!(args.get(4), Arg::Unknown);
        let open = Printed(br#"AT_FDCWD</root>, "etc", O_RDONLY|O_CLOEXEC"#);
        assert_eq!(
            open.get(0),
            Arg::Number {
                value: -100,
                path: Some("/root")
            }
        );
        assert_eq!(open.get(2), Arg::Words("O_RDONLY|O_CLOEXEC"));
        assert_eq!(
            Printed(br#"3</etc/x>, "root"..., 4096"#).get(0),
            Arg::Number {
                value: 3,
                path: Some("/etc/x")
            }
        );
        assert_eq!(Printed(br#""/very/lo"..., O_RDONLY"#).get(0), Arg::Unknown);
    }

    #[test]
    fn results() {
        assert_eq!(returned(b"3</etc/x>"), Some(3));
        assert_eq!(returned(b"-1 ENOENT (No such file or directory)"), Some(-2));
        assert_eq!(returned(b"-1 EACCES (Permission denied)"), Some(-1));
        assert_eq!(returned(b"0x7f00"), Some(0x7f00));
        assert_eq!(returned(b"?"), None);
    }
}
