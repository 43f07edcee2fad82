//! The byte at which a boot is over: shared by those who record and those who
//! read, so that both agree to the byte, in whatever chunks it came.

use regex::bytes::Regex;

use crate::Hints;
use crate::cleaner::Cleaner;
use crate::console::bootloader::BootLoader;
use crate::console::printk;

/// A line is watched up to this many bytes; longer ones lose their beginning.
const LINE_LIMIT: usize = 4096;

/// Looks for the end of a boot in a stream of console bytes.
///
/// The pattern is tried on the current line after each byte, so a prompt
/// without a newline counts, and so does only what has been printed. The line
/// is clean text, as the sources read it: colours and other control bytes are
/// left out.
pub struct ReadyWatch {
    pattern: Option<Regex>,
    line: Vec<u8>,
    cleaner: Cleaner,
    in_bootloader: bool,
    answered: bool,
}

/// What the byte that was just seen means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The boot goes on.
    Nothing,
    /// It completes the ready pattern.
    Ready,
    /// The target has given up, and how.
    GaveUp(&'static str),
}

impl ReadyWatch {
    /// A watch for the pattern in `hints`; without one it never sees ready.
    pub fn new(hints: &Hints) -> Self {
        Self {
            pattern: hints.ready.clone(),
            line: Vec::new(),
            cleaner: Cleaner::new(),
            in_bootloader: false,
            answered: false,
        }
    }

    /// The same for a console on which somebody answers: a boot loader that
    /// stops at its prompt is not the end then.
    #[must_use]
    pub fn that_is_answered(mut self) -> Self {
        self.answered = true;
        self
    }

    /// Takes the next byte.
    pub fn byte(&mut self, byte: u8) -> Seen {
        if matches!(byte, b'\n' | b'\r') {
            self.line.clear();
            self.cleaner.line_ends();
            return Seen::Nothing;
        }
        if !self.cleaner.is_text(byte) {
            return Seen::Nothing;
        }
        if self.line.len() == LINE_LIMIT {
            self.line.drain(..LINE_LIMIT / 2);
        }
        self.line.push(byte);
        if self
            .pattern
            .as_ref()
            .is_some_and(|p| p.is_match(&self.line))
        {
            return Seen::Ready;
        }
        self.given_up().map_or(Seen::Nothing, Seen::GaveUp)
    }

    /// Texts after which nothing comes any more.
    fn given_up(&mut self) -> Option<&'static str> {
        match self.line.as_slice() {
            b"U-Boot 20" => self.in_bootloader = true,
            b"Starting kernel" => self.in_bootloader = false,
            b"=> " if self.in_bootloader && !self.answered => {
                return Some("U-Boot stopped at its prompt");
            }
            b"### ERROR ### Please RESET the board ###" => return Some("U-Boot gave up"),
            line if line.ends_with(b"---[ end Kernel panic") => {
                return Some("the kernel panicked");
            }
            _ => {}
        }
        None
    }
}

/// Sees that a machine begins to boot: by the first line of its boot loader,
/// or of its kernel.
///
/// A boot has several banners (SPL, then U-Boot), so one that was not there
/// before is no new boot until a kernel ran.
#[derive(Default)]
pub struct BootWatch {
    banners: Vec<Vec<u8>>,
    kernel: bool,
}

/// What a line means for whose boot it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Began {
    /// The boot goes on.
    No,
    /// A boot begins, the first one seen.
    First,
    /// The machine boots again.
    Again,
}

impl BootWatch {
    /// Takes a whole line of clean text; after [`Began::Again`] it counts from
    /// that line.
    pub fn line(&mut self, text: &[u8]) -> Began {
        let text = text.trim_ascii();
        let kernel = printk::parse(text)
            .is_some_and(|p| p.ns == 0 && text[p.body..].starts_with(b"Linux version "));
        let banner = BootLoader::is_banner(text);
        if !banner && !kernel {
            return Began::No;
        }
        let first = !self.kernel && self.banners.is_empty();
        let again = self.kernel || self.banners.iter().any(|b| b == text);
        if again {
            *self = Self::default();
        }
        self.kernel |= kernel;
        if banner {
            self.banners.push(text.to_owned());
        }
        match (first, again) {
            (true, _) => Began::First,
            (_, true) => Began::Again,
            _ => Began::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready_at(pattern: &str, text: &[u8]) -> Option<usize> {
        let hints = Hints {
            ready: Some(Regex::new(pattern).unwrap()),
            ..Hints::default()
        };
        let mut watch = ReadyWatch::new(&hints);
        text.iter().position(|&b| watch.byte(b) == Seen::Ready)
    }

    #[test]
    fn the_byte_that_completes_the_pattern_counts() {
        assert_eq!(ready_at("login: ", b"kiosk login: "), Some(12));
        assert_eq!(ready_at("^READY", b"not READY\nREADY\n"), Some(14));
        assert_eq!(ready_at("^A READY", b"\x1b[1mA\x1b[0m READY"), Some(14));
    }

    #[test]
    fn a_boot_that_begins_again_is_seen() {
        let restarts = |lines: &[&str]| -> Vec<usize> {
            let mut watch = BootWatch::default();
            let began = lines.iter().map(|l| watch.line(l.as_bytes()));
            let began: Vec<Began> = began.collect();
            assert_eq!(began[0], Began::First);
            (0..began.len())
                .filter(|i| began[*i] == Began::Again)
                .collect()
        };
        let linux = "[    0.000000] Linux version 6.1.0";
        let (spl, uboot) = ("U-Boot SPL 2023.01 (x)", "U-Boot 2023.01 (x)");
        assert_eq!(restarts(&[spl, uboot, linux, "login:"]), [0; 0]);
        assert_eq!(
            restarts(&[spl, uboot, linux, spl, uboot, linux, linux]),
            [3, 6]
        );
        assert_eq!(restarts(&[uboot, "stuck", uboot]), [2]);
        assert_eq!(restarts(&[linux, uboot, linux]), [1]);
        // The log printed again is not a kernel that begins.
        assert_eq!(
            restarts(&[linux, "[    9.000000] Linux version 6.1.0"]),
            [0; 0]
        );
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let mut text = vec![b'x'; 100_000];
        text.extend_from_slice(b"READY");
        assert_eq!(ready_at("READY", &text), Some(text.len() - 1));
        assert_eq!(ready_at("xREADYx", &text), None);
    }

    #[test]
    fn a_target_that_gave_up_is_not_waited_for() {
        let end = |text: &[u8]| {
            let mut watch = ReadyWatch::new(&Hints::default());
            let seen: Vec<Seen> = text.iter().map(|&b| watch.byte(b)).collect();
            *seen.last().unwrap()
        };
        assert!(matches!(end(b"U-Boot 2023.01\n=> "), Seen::GaveUp(_)));
        let mut answered = ReadyWatch::new(&Hints::default()).that_is_answered();
        let text = b"U-Boot 2023.01\n=> ";
        assert!(text.iter().all(|&b| answered.byte(b) == Seen::Nothing));
        assert_eq!(
            end(b"U-Boot 2023.01\nStarting kernel ...\n=> "),
            Seen::Nothing
        );
        assert!(matches!(
            end(b"[1.0] ---[ end Kernel panic"),
            Seen::GaveUp(_)
        ));
    }
}
