//! Kinds of logs that people have and that say nothing of time: known, with what would.

use crate::console::bootloader::BootLoader;
use crate::text;

/// A kind of log without times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeless {
    /// What it is, as a part of a sentence: `coreboot's console`.
    pub what: &'static str,
    /// What to do to have times.
    pub remedy: &'static str,
}

/// How a kind's lines look, and how many of them make such a log.
struct Kind {
    is_line: fn(&str) -> bool,
    enough: usize,
    is: Timeless,
}

const CAPTURE: &str =
    "record the console with `bootlap capture`, which stamps each byte, or through `ts '%.s'`";

const KINDS: [Kind; 6] = [
    Kind {
        is_line: |l| {
            let levels = [
                "[DEBUG]", "[INFO ]", "[NOTE ]", "[SPEW ]", "[ERROR]", "[WARN ]",
            ];
            levels.iter().any(|level| l.starts_with(level))
                || l.starts_with("coreboot-") && l.contains(" starting")
        },
        enough: 3,
        is: Timeless {
            what: "coreboot's console",
            remedy: "`cbmem -t` prints when each of its stages began (CONFIG_COLLECT_TIMESTAMPS)",
        },
    },
    Kind {
        is_line: |l| {
            let levels = ["NOTICE:  BL", "INFO:    BL", "VERBOSE: BL", "ERROR:   BL"];
            levels.iter().any(|level| l.starts_with(level))
        },
        enough: 2,
        is: Timeless {
            what: "Trusted Firmware's console",
            remedy: CAPTURE,
        },
    },
    Kind {
        is_line: |l| {
            let mut chars = l.chars();
            let level = chars.next().is_some_and(|c| "DIEFM".contains(c));
            level && chars.as_str().starts_with("/TC:") || l.contains(" TEE-CORE:")
        },
        enough: 2,
        is: Timeless {
            what: "OP-TEE's trace",
            remedy: CAPTURE,
        },
    },
    Kind {
        is_line: |l| {
            l.starts_with("rc ") && l.contains(" logging started at ")
                || l.trim_start().starts_with("OpenRC ") && l.contains(" is starting up ")
        },
        enough: 1,
        is: Timeless {
            what: "OpenRC's log",
            remedy: "rc_logger writes no times: record the console with `bootlap capture`, or run bootlap-agent collect",
        },
    },
    Kind {
        is_line: |l| l.starts_with("Linux version ") || l.starts_with("Kernel command line: "),
        enough: 1,
        is: Timeless {
            what: "a kernel log without times",
            remedy: "boot with `printk.time=1` (CONFIG_PRINTK_TIME)",
        },
    },
    Kind {
        is_line: |l| BootLoader::is_banner(l.as_bytes()),
        enough: 1,
        is: Timeless {
            what: "a boot loader's console",
            remedy: CAPTURE,
        },
    },
];

/// What `head`, the first bytes of a file, is a log of that has no times; `None` for
/// nothing that is known. What stands before all lines (`[info] `, `> `) is left out.
pub fn timeless(head: &[u8]) -> Option<Timeless> {
    let lines: Vec<&str> = text::head_lines(head)
        .take(2_000)
        .map(text::valid)
        .collect();
    let prefix = common_prefix(&lines);
    let count = |kind: &Kind| {
        let is = |line: &&&str| {
            let text = line.strip_prefix(prefix).unwrap_or(line);
            (kind.is_line)(line) || (kind.is_line)(text)
        };
        lines.iter().filter(is).count()
    };
    KINDS.iter().find(|k| count(k) >= k.enough).map(|k| k.is)
}

/// What all lines begin with, up to a blank that ends it.
fn common_prefix<'a>(lines: &[&'a str]) -> &'a str {
    let Some((first, rest)) = lines.split_first() else {
        return "";
    };
    let same = |a: &str, b: &str| {
        let equal = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b);
        equal.count()
    };
    let len = rest.iter().map(|line| same(first, line)).min().unwrap_or(0);
    let end = first.as_bytes()[..len].iter().rposition(|b| *b == b' ');
    first.get(..end.map_or(0, |at| at + 1)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(text: &str) -> Option<&'static str> {
        timeless(text.as_bytes()).map(|t| t.what)
    }

    #[test]
    fn kinds_are_told_apart() {
        for (text, is) in [
            (
                "[NOTE ]  coreboot-24.02 starting\n[DEBUG]  CPU: a\n[INFO ]  b\n",
                "coreboot's console",
            ),
            (
                "NOTICE:  BL1: v2.8\nNOTICE:  BL2: v2.8\n",
                "Trusted Firmware's console",
            ),
            ("D/TC:0 0 a:1\nI/TC: OP-TEE version\n", "OP-TEE's trace"),
            (
                "rc sysinit logging started at Tue May 26 17:19:05 2026\n",
                "OpenRC's log",
            ),
            (
                "Linux version 6.1.0\nMemory: 1K\n",
                "a kernel log without times",
            ),
            (
                "\nU-Boot 2023.01 (Jan 22 2023)\nDRAM: 1 GiB\n",
                "a boot loader's console",
            ),
            (
                "[info] *** BIOS\n[info] U-Boot 2023.01 (Jan 22 2023)\n",
                "a boot loader's console",
            ),
        ] {
            assert_eq!(what(text), Some(is), "{text}");
        }
        for text in ["", "\n", "hello\nworld\n", "[DEBUG] one\n"] {
            assert_eq!(what(text), None, "{text}");
        }
    }
}
