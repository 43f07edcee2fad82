//! The kernel's command line, split as the kernel splits it (`next_arg` in
//! Linux's `lib/cmdline.c`).

/// The words that the kernel itself reads. A space inside double quotes does
/// not end a word; what follows `--` is for the first program.
pub fn words(cmdline: &str) -> Vec<&str> {
    let all = split(&cmdline[..end(cmdline)]);
    all.into_iter().map(|(_, word)| word).collect()
}

/// `cmdline` with `more` where it is read: by the kernel before a `--`, and what
/// `more` has after one by the first program.
pub fn with(cmdline: &str, more: &str) -> String {
    let (line, more) = (halves(cmdline), halves(more));
    let joined = |parts: &[&str]| {
        let parts: Vec<&str> = parts.iter().copied().filter(|p| !p.is_empty()).collect();
        parts.join(" ")
    };
    let init = joined(&[line.1, more.1]);
    let dashes = if init.is_empty() { "" } else { "--" };
    joined(&[line.0, more.0, dashes, &init])
}

/// The same, of `more` only what is not there yet.
pub(crate) fn with_missing(cmdline: &str, more: &str) -> String {
    let (line, more) = (halves(cmdline), halves(more));
    let missing = |there: &str, more: &str| {
        let there: Vec<&str> = split(there).into_iter().map(|(_, word)| word).collect();
        let more = split(more).into_iter().map(|(_, word)| word);
        let missing: Vec<&str> = more.filter(|word| !there.contains(word)).collect();
        missing.join(" ")
    };
    let (kernel, init) = (missing(line.0, more.0), missing(line.1, more.1));
    match (kernel.is_empty(), init.is_empty()) {
        (true, true) => cmdline.to_owned(),
        _ => with(cmdline, &format!("{kernel} -- {init}")),
    }
}

/// What the kernel leaves to the first program: `--` and the words behind it.
pub fn of_init(cmdline: &str) -> &str {
    cmdline[end(cmdline)..].trim()
}

/// What the kernel reads, and what it leaves to the first program.
fn halves(cmdline: &str) -> (&str, &str) {
    let (kernel, init) = cmdline.split_at(end(cmdline));
    (
        kernel.trim(),
        init.strip_prefix("--").unwrap_or(init).trim(),
    )
}

/// `cmdline` with each word that the kernel reads put through `change`: what it
/// gives nothing for goes.
pub(crate) fn changed(cmdline: &str, change: impl FnMut(&str) -> Option<String>) -> String {
    let (kernel, init) = cmdline.split_at(end(cmdline));
    let kept: Vec<String> = words(kernel).into_iter().filter_map(change).collect();
    with(init, &kept.join(" "))
}

/// The value of `word` if it is the parameter `name` with one.
pub(crate) fn value_of<'w>(word: &'w str, name: &str) -> Option<&'w str> {
    let value = word.split_once('=')?.1;
    is_parameter(word, name).then_some(value)
}

/// Whether `word` is the parameter `name`, alone or with a value. The kernel
/// takes `-` and `_` in names for the same.
pub fn is_parameter(word: &str, name: &str) -> bool {
    let own = word.split('=').next().unwrap_or(word);
    let same = |a: u8, b: u8| a == b || matches!((a, b), (b'-', b'_') | (b'_', b'-'));
    own.len() == name.len() && own.bytes().zip(name.bytes()).all(|(a, b)| same(a, b))
}

/// The device of the console that `word` asks for, without its settings: `ttyS0`.
pub fn console_of(word: &str) -> Option<&str> {
    let device = value_of(word, "console")?.split(',').next()?;
    (!device.is_empty()).then_some(device)
}

/// Whether a console's device is a screen: `tty0`.
pub fn is_screen(device: &str) -> bool {
    let number = device.strip_prefix("tty");
    number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
}

/// The speed of the serial console in baud, as `console=` says it.
pub fn console_baud(cmdline: &str) -> Option<u32> {
    words(cmdline).into_iter().find_map(|word| {
        // The speed is last: `ttyS0,115200n8`, `uart8250,mmio,0xff5e0000,115200`.
        let (_, options) = word.strip_prefix("console=")?.rsplit_once(',')?;
        let digits: String = options.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok().filter(|baud| *baud > 0)
    })
}

/// Where the kernel stops reading.
fn end(cmdline: &str) -> usize {
    let words = split(cmdline).into_iter();
    let mut marks = words.filter(|(_, word)| *word == "--");
    marks.next().map_or(cmdline.len(), |(at, _)| at)
}

/// Words and where they begin.
fn split(cmdline: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let (mut start, mut quoted) = (None, false);
    for (at, c) in cmdline.char_indices() {
        if c == '"' {
            quoted = !quoted;
        }
        if c.is_ascii_whitespace() && !quoted {
            words.extend(start.take().map(|s| (s, &cmdline[s..at])));
        } else {
            start.get_or_insert(at);
        }
    }
    words.extend(start.map(|s| (s, &cmdline[s..])));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        let line = "  a dyndbg=\"file x quiet\"\tb\n\"c d\"=1 \"open e";
        let want = ["a", "dyndbg=\"file x quiet\"", "b", "\"c d\"=1", "\"open e"];
        assert_eq!(words(line), want);
        assert!(words(" ").is_empty());
    }

    #[test]
    fn what_follows_two_dashes_is_for_init() {
        assert_eq!(words("a -- quiet"), ["a"]);
        assert_eq!(words("a x=-- b --c"), ["a", "x=--", "b", "--c"]);
        assert_eq!(with("a -- s", "quiet"), "a quiet -- s");
        assert_eq!(with("-- s", "quiet"), "quiet -- s");
        assert_eq!(with("a  b ", " c "), "a  b c");
        assert_eq!(with("", "c"), "c");
        assert_eq!(with("a", ""), "a");
        assert_eq!(with("a -- s", "b -- t"), "a b -- s t");
        assert_eq!(with("a", "-- t"), "a -- t");
    }

    #[test]
    fn what_is_there_is_not_put_there_again() {
        assert_eq!(with_missing(" a  -- s", "a -- s"), " a  -- s");
        assert_eq!(with_missing("a -- s", "s b a -- a s"), "a s b -- s a");
        assert_eq!(with_missing("", "a -- s"), "a -- s");
        assert_eq!(with_missing("a", "--"), "a");
    }

    #[test]
    fn words_change_and_go_but_not_those_of_init() {
        let change = |word: &str| match word {
            "a" => None,
            "b" => Some("c=1".to_owned()),
            other => Some(other.to_owned()),
        };
        assert_eq!(
            changed("a  b x=\"a b\" a -- a b", change),
            "c=1 x=\"a b\" -- a b"
        );
        assert_eq!(changed("a", change), "");
        assert_eq!(changed("", change), "");
        assert_eq!(value_of("log-level=3=4", "log_level"), Some("3=4"));
        assert_eq!(value_of("log_level", "log_level"), None);
    }

    #[test]
    fn names_end_at_the_equals_sign() {
        assert!(is_parameter("quiet", "quiet"));
        assert!(is_parameter("log-buf-len=1M", "log_buf_len"));
        assert!(!is_parameter("quieter", "quiet"));
        assert!(!is_parameter("x=quiet", "quiet"));
    }
}
