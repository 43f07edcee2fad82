//! Bytes that look as if sent at another rate.
//!
//! A receiver that samples too fast or too slowly sees framing errors (which
//! come as NUL) and mostly bytes with the high bit set or control bytes; a
//! console at the right rate has hardly any, UTF-8 apart.

/// Bytes that are judged together.
const WINDOW: usize = 256;
/// With fewer nothing can be said: a reset leaves some noise on the line.
const FEWEST: usize = 48;

/// Looks at the bytes of one boot.
#[derive(Default)]
pub(super) struct Garbage {
    seen: usize,
    odd_seen: usize,
    /// Bytes of a UTF-8 sequence that are still to come.
    following: u8,
    said: bool,
}

impl Garbage {
    /// Takes bytes; says once when they are garbage.
    pub(super) fn look(&mut self, bytes: &[u8]) -> bool {
        for &byte in bytes {
            self.seen += 1;
            self.odd_seen += self.odd(byte);
            if self.seen == WINDOW {
                // What is older counts half.
                self.seen /= 2;
                self.odd_seen /= 2;
            }
        }
        let garbage = self.seen >= FEWEST && self.odd_seen * 10 >= self.seen * 3;
        let news = garbage && !self.said;
        self.said |= garbage;
        news
    }

    /// How many bytes this one shows to be odd: itself, and one that should
    /// have begun a character of UTF-8.
    fn odd(&mut self, byte: u8) -> usize {
        if self.following > 0 && matches!(byte, 0x80..0xc0) {
            self.following -= 1;
            return 0;
        }
        let broken = usize::from(self.following > 0);
        self.following = match byte {
            0xc2..0xe0 => 1,
            0xe0..0xf0 => 2,
            0xf0..0xf5 => 3,
            _ => 0,
        };
        let plain = matches!(
            byte,
            b'\t' | b'\n' | b'\r' | 0x07 | 0x08 | 0x1b | b' '..=b'~'
        );
        broken + usize::from(!plain && self.following == 0)
    }
}

/// Rates to try, those that boards use most first.
pub(super) fn other_rates(baud: u32) -> String {
    let common = [115_200, 1_500_000, 921_600, 57_600, 38_400, 9_600];
    let others = common.iter().filter(|b| **b != baud).take(3);
    let others: Vec<String> = others.map(u32::to_string).collect();
    others.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a receiver makes of `text` when it samples `ratio` times as fast as
    /// the sender sends: 8N1, idle high.
    fn at_another_rate(text: &[u8], ratio: f64) -> Vec<u8> {
        let mut wire = vec![true; 20];
        for byte in text {
            wire.push(false);
            wire.extend((0..8).map(|bit| byte >> bit & 1 == 1));
            wire.push(true);
        }
        wire.extend([true; 40]);
        let level = |at: f64| wire.get(at as usize).copied().unwrap_or(true);
        let (mut at, step, mut out) = (0.0, 1.0 / ratio, Vec::new());
        while (at as usize) < wire.len() {
            if level(at) {
                at += step / 8.0;
                continue;
            }
            let bit = |i: usize| level(at + step * (1.5 + i as f64));
            let byte = (0..8).fold(0, |byte, i| byte | u8::from(bit(i)) << i);
            let stop = level(at + step * 9.5);
            out.push(if stop { byte } else { 0 });
            at += step * 9.5;
            while !stop && !level(at) && (at as usize) < wire.len() {
                at += step / 8.0;
            }
        }
        out
    }

    const LOG: &[u8] = b"U-Boot 2023.01 (Jan 09 2023)\r\n\r\nDRAM:  1 GiB\r\n\
        [    0.000000] Booting Linux on physical CPU 0x0000000000 [0x410fd083]\r\n\
        [    0.000000] Linux version 6.1.0 (gcc-12) #1 SMP Debian 6.1.55-1\r\n";

    #[test]
    fn logs_are_no_garbage_and_logs_at_another_rate_are() {
        assert_eq!(at_another_rate(LOG, 1.0), LOG);
        assert!(!Garbage::default().look(LOG));
        assert!(
            !Garbage::default().look(
                "\u{1b}[1;32mGrüße, 世界 ✓ — готово\r\n"
                    .repeat(20)
                    .as_bytes()
            )
        );
        for ratio in [0.083_333, 0.5, 2.0, 3.0, 12.0, 13.02] {
            let seen = at_another_rate(&LOG.repeat(8), ratio);
            assert!(Garbage::default().look(&seen), "{ratio}");
        }
    }

    #[test]
    fn noise_at_a_reset_is_let_pass_and_garbage_is_said_once() {
        let mut garbage = Garbage::default();
        assert!(!garbage.look(&[0, 0xff, 0xfe, 0, 0x80]));
        assert!(!garbage.look(LOG));
        assert!(garbage.look(&[0xfe; 300]));
        assert!(!garbage.look(&[0xfe; 300]));
    }

    #[test]
    fn other_rates_are_named() {
        assert_eq!(other_rates(115_200), "1500000, 921600, 57600");
    }
}
