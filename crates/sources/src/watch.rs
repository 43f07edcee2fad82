//! The byte at which a boot is over: shared by those who record and those who
//! read, so that both agree to the byte, in whatever chunks it came.

use regex::bytes::Regex;

use crate::Hints;
use crate::console::Cleaner;

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
