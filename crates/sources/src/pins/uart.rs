//! Serial consoles on a pin: which baud rate, and which bytes.
//!
//! A byte is a start bit (active), eight data bits, the lowest first, and a
//! stop bit (idle); between bytes the line idles. So every active pulse is a
//! whole number of bits, and the shortest ones are one bit: of the usual baud
//! rates the one is taken whose bits fit the pulses and whose bytes are text
//! with stop bits where they belong. The bit's length is then measured, since
//! boards are up to 3 % off. RS-232 levels, and some level shifters, are
//! inverted: both senses are tried.

use bootlap_model::{ClockId, Evidence, Severity, SpanEnd, TrackKind};

use super::edges::{Edges, Level};
use super::{Pin, Recording};
use crate::console::Session;
use crate::text::Import;

/// The usual ones, and some that boot ROMs use.
const BAUD_RATES: [u32; 27] = [
    1_200, 2_400, 4_800, 9_600, 14_400, 19_200, 28_800, 31_250, 38_400, 57_600, 74_880, 115_200,
    128_000, 230_400, 250_000, 256_000, 345_600, 460_800, 500_000, 576_000, 921_600, 1_000_000,
    1_500_000, 2_000_000, 3_000_000, 3_500_000, 4_000_000,
];
/// So many changes decide.
const SAMPLE: usize = 100_000;
/// Fewer bytes are no console.
const MIN_BYTES: usize = 8;
/// Text that arrives later is another burst, on a pin that is shown as spans.
const SILENCE_NS: i64 = 50_000_000;
/// More lines of one pin are not shown.
const MAX_LINES: usize = 10_000;

/// How bytes are sent on a pin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Uart {
    bit_ns: f64,
    /// The line idles low.
    inverted: bool,
}

/// What was sent.
pub(super) struct Heard {
    uart: Uart,
    /// When its start bit began, and the byte.
    pub(super) bytes: Vec<(i64, u8)>,
    /// Bytes without a stop bit.
    garbled: usize,
    /// The pin changed more often than was kept.
    cut: bool,
}

/// How a pin sends bytes, if it does.
pub(super) fn find(edges: &Edges, resolution_ns: u32) -> Option<Uart> {
    if edges.len() < 2 * MIN_BYTES {
        return None;
    }
    let mut best: Option<(f64, Uart)> = None;
    for inverted in [false, true] {
        for baud in BAUD_RATES {
            let nominal = Uart {
                bit_ns: 1e9 / f64::from(baud),
                inverted,
            };
            // Two samples a bit are too few to tell pulses apart.
            if nominal.bit_ns < 2.0 * f64::from(resolution_ns) {
                continue;
            }
            let Some(uart) = nominal.fitted(edges, resolution_ns) else {
                continue;
            };
            let heard = uart.heard(edges, edges.len().min(SAMPLE), i64::MAX);
            if let Some(score) = heard.score()
                && best.is_none_or(|(most, _)| score > most)
            {
                best = Some((score, uart));
            }
        }
    }
    best.map(|(_, uart)| uart)
}

impl Uart {
    /// The same with the bit as long as the pulses say; `None` if they do not
    /// fit.
    fn fitted(self, edges: &Edges, resolution_ns: u32) -> Option<Self> {
        let mut uart = self;
        // Once more with the better length, which counts long pulses right.
        for _ in 0..2 {
            let (mut bits, mut ns, mut pulses, mut ones, mut odd) = (0.0, 0.0, 0, 0, 0);
            for i in 1..edges.len().min(SAMPLE) - 1 {
                let (start, level) = edges.get(i);
                if !uart.is_active(level) {
                    continue;
                }
                let long = edges.get(i + 1).0.saturating_sub(start) as f64;
                let n = (long / uart.bit_ns).round();
                if n > 9.0 {
                    continue;
                }
                pulses += 1;
                let slack = 0.25 * uart.bit_ns + f64::from(resolution_ns);
                if n < 1.0 || (long - n * uart.bit_ns).abs() > slack {
                    odd += 1;
                    continue;
                }
                ones += usize::from(n == 1.0);
                bits += n;
                ns += long;
            }
            if pulses < MIN_BYTES || ones * 20 < pulses || odd * 20 > pulses {
                return None;
            }
            uart.bit_ns = ns / bits;
        }
        let off = (uart.bit_ns / self.bit_ns - 1.0).abs();
        (off < 0.08).then_some(uart)
    }

    fn is_active(&self, level: Level) -> bool {
        // A pin that nobody drives idles.
        match level {
            Level::Low => !self.inverted,
            Level::High => self.inverted,
            Level::Unknown => false,
        }
    }

    /// Where bit `k` of a byte that began at `start_ns` is looked at.
    fn middle(&self, start_ns: i64, k: u32) -> i64 {
        start_ns.saturating_add(((f64::from(k) + 0.5) * self.bit_ns) as i64)
    }

    /// The bytes of the whole recording, which ends at `end_ns`.
    pub(super) fn decode(self, edges: &Edges, end_ns: i64) -> Heard {
        self.heard(edges, edges.len(), end_ns)
    }

    /// The bytes of the first `len` changes.
    fn heard(self, edges: &Edges, len: usize, end_ns: i64) -> Heard {
        let mut heard = Heard {
            uart: self,
            bytes: Vec::new(),
            garbled: 0,
            cut: edges.cut,
        };
        // The first level is no change: a byte may have begun before it.
        let mut i = 1;
        while i < len {
            let (start_ns, level) = edges.get(i);
            let idle_before = !self.is_active(edges.get(i - 1).1);
            if !self.is_active(level) || !idle_before {
                i += 1;
                continue;
            }
            if self.middle(start_ns, 9) > end_ns {
                break;
            }
            let mut at = i;
            let mut active = |k: u32| {
                let ns = self.middle(start_ns, k);
                while at + 1 < len && edges.get(at + 1).0 <= ns {
                    at += 1;
                }
                self.is_active(edges.get(at).1)
            };
            if !active(0) {
                // A glitch.
                i += 1;
                continue;
            }
            let mut byte = 0u8;
            for k in 0..8 {
                byte |= u8::from(!active(k + 1)) << k;
            }
            if !active(9) {
                heard.bytes.push((start_ns, byte));
            } else if byte != 0 {
                heard.garbled += 1;
            }
            // Else a break: the line of a board without power.
            i = at.max(i) + 1;
        }
        heard
    }
}

impl Heard {
    /// How good it is; `None` if it is no text.
    fn score(&self) -> Option<f64> {
        let n = self.bytes.len();
        let text =
            |b: &&(i64, u8)| matches!(b.1, b'\t' | b'\n' | b'\r' | 0x08 | 0x1b | b' '..=b'~');
        let text = self.bytes.iter().filter(text).count();
        let mut different: Vec<u8> = self.bytes.iter().map(|(_, b)| *b).collect();
        different.sort_unstable();
        different.dedup();
        // A clock decodes to nothing but U.
        let console = n >= MIN_BYTES && different.len() >= 4 && text * 10 >= n * 8;
        if !console || self.garbled * 10 > n {
            return None;
        }
        Some((text as f64 - 2.0 * self.garbled as f64) / n as f64)
    }

    /// The usual baud rate that is nearest.
    fn baud(&self) -> u32 {
        let off = |baud: &u32| (1e9 / f64::from(*baud) / self.uart.bit_ns).ln().abs();
        let nearest = |a: &u32, b: &u32| off(a).total_cmp(&off(b));
        BAUD_RATES.into_iter().min_by(nearest).unwrap_or_default()
    }

    /// What was found, for people: `D2: 115200 baud, 8N1, 1234 bytes`.
    pub(super) fn text(&self, pin: &Pin) -> String {
        let inverted = if self.uart.inverted { " inverted" } else { "" };
        let (baud, bytes) = (self.baud(), self.bytes.len());
        format!("{}: {baud} baud 8N1{inverted}, {bytes} bytes", pin.name)
    }

    /// Says what was lost.
    pub(super) fn tell(&self, pin: &Pin, import: &mut Import<'_>) {
        for _ in 0..self.garbled {
            import.notice(
                "garbled-bytes",
                Severity::DataLoss,
                pin.at,
                "these serial bytes have no stop bit, and are left out: sample faster, or look for noise on the line",
            );
        }
        if self.cut {
            import.notice(
                "serial-text-cut",
                Severity::DataLoss,
                pin.at,
                "the pin changed more often than is kept, so the end of its text is missing: split the recording",
            );
        }
    }

    /// Reads it as the console that it is.
    pub(super) fn read(
        &self,
        pin: &str,
        recording: &Recording<'_>,
        clock: ClockId,
        import: &mut Import<'_>,
    ) {
        let label = format!("{} (serial text on {pin})", recording.label);
        let names = (&label[..], recording.source);
        let timeline = &mut *import.timeline;
        let mut session = Session::on_clock(timeline, recording.hints, names, clock);
        for (ns, byte) in &self.bytes {
            session.byte(*byte, recording.stamp(*ns));
        }
        session.finish();
    }

    /// Shows the text of a pin that is not the console as spans of its own.
    pub(super) fn show(
        &self,
        pin: &Pin,
        recording: &Recording<'_>,
        clock: ClockId,
        import: &mut Import<'_>,
    ) {
        let byte_ns = (10.0 * self.uart.bit_ns) as i64;
        let mut line: Vec<u8> = Vec::new();
        let (mut start, mut end, mut lines) = (0, 0, 0);
        let mut show = |line: &mut Vec<u8>, (start, end), at: Evidence| {
            let text = crate::console::shown(line);
            let text = text.trim();
            if !text.is_empty() && lines < MAX_LINES {
                lines += 1;
                let track = (TrackKind::Signal, &pin.name[..]);
                let times = (recording.stamp(start), SpanEnd::At(recording.stamp(end)));
                import.span(clock, track, text, times, &[], at);
            }
            line.clear();
        };
        for (ns, byte) in &self.bytes {
            let ended = matches!(byte, b'\n' | b'\r');
            if ended || ns.saturating_sub(end) > SILENCE_NS || line.len() >= 200 {
                show(&mut line, (start, end), pin.at);
            }
            if !ended {
                if line.is_empty() {
                    start = *ns;
                }
                line.push(*byte);
            }
            end = ns.saturating_add(byte_ns);
        }
        show(&mut line, (start, end), pin.at);
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::Timeline;
    use proptest::prelude::*;

    use super::*;

    fn edges(changes: impl IntoIterator<Item = (f64, bool)>, sample_ns: i64) -> Edges {
        let file = Timeline::default().add_file("x", "test");
        let at = Evidence::whole(file, 0);
        let mut edges = Edges::default();
        for (ns, high) in changes {
            // Seen by the sample after it.
            let ns = (ns / sample_ns as f64).ceil() as i64 * sample_ns;
            let level = if high { Level::High } else { Level::Low };
            edges.push(ns, level, at, true);
        }
        edges
    }

    /// The line while `bytes` are sent with these gaps.
    fn sent(bytes: &[(u8, u32)], bit_ns: f64, inverted: bool, sample_ns: i64) -> Edges {
        let mut changes = vec![(0.0, !inverted)];
        let mut ns = 1e6;
        for (byte, gap_ns) in bytes {
            ns += f64::from(*gap_ns);
            let bits = (0..8).map(|k| byte >> k & 1 == 1);
            for bit in std::iter::once(false).chain(bits).chain([true]) {
                changes.push((ns, bit != inverted));
                ns += bit_ns;
            }
        }
        edges(changes, sample_ns)
    }

    fn text() -> impl Strategy<Value = Vec<(u8, u32)>> {
        let byte = prop_oneof![9 => b' '..=b'~', 1 => Just(b'\n')];
        let gap = prop_oneof![4 => Just(0u32), 1 => 0..10_000_000u32];
        prop::collection::vec((byte, gap), 60..200)
    }

    proptest! {
        #[test]
        fn what_is_sent_is_heard(
            bytes in text(),
            baud in prop::sample::select(vec![9_600u32, 57_600, 115_200, 460_800, 1_500_000]),
            off in -0.02..0.02f64,
            inverted in any::<bool>(),
            samples_a_bit in 4.0..40.0f64,
        ) {
            let bit_ns = 1e9 / f64::from(baud) * (1.0 + off);
            let sample_ns = (bit_ns / samples_a_bit) as i64;
            let edges = sent(&bytes, bit_ns, inverted, sample_ns);
            let uart = find(&edges, sample_ns as u32);
            let uart = uart.ok_or_else(|| TestCaseError::fail("not found"))?;
            prop_assert_eq!(uart.inverted, inverted);
            let heard = uart.decode(&edges, i64::MAX);
            prop_assert_eq!(heard.baud(), baud);
            let heard: Vec<u8> = heard.bytes.iter().map(|(_, b)| *b).collect();
            let sent: Vec<u8> = bytes.iter().map(|(b, _)| *b).collect();
            prop_assert_eq!(heard, sent);
        }

        #[test]
        fn any_changes_are_looked_at(
            gaps in prop::collection::vec(0..2_000_000i64, 0..400),
            resolution in 0..1_000_000u32,
        ) {
            let mut ns = 0.0;
            let changes = gaps.iter().enumerate().map(|(i, gap)| {
                ns += *gap as f64;
                (ns, i % 2 == 0)
            });
            let edges = edges(changes, 1);
            if let Some(uart) = find(&edges, resolution) {
                uart.decode(&edges, 100_000_000);
            }
        }
    }

    #[test]
    fn clocks_and_buses_are_no_consoles() {
        let clock = (0..5_000).map(|i| (f64::from(i) * 8_680.6, i % 2 == 0));
        assert_eq!(find(&edges(clock, 10), 10), None);
        // A data line of SPI: bits of random bytes in step with a clock.
        let mut seed = 1u32;
        let data = (0..5_000).map(|i| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (f64::from(i) * 1_000.0, seed >> 31 == 1)
        });
        assert_eq!(find(&edges(data, 10), 10), None);
        assert_eq!(find(&Edges::default(), 10), None);
    }

    #[test]
    fn a_break_is_no_byte() {
        let bytes = b"U-Boot 2023.01\r\nDRAM: 1 GiB\r\n\n".map(|b| (b, 0));
        let whole = sent(&bytes, 8_680.6, false, 100);
        let uart = find(&whole, 100).unwrap();
        // The line is pulled low for a long time before the first byte.
        let shift = |(ns, level): (i64, Level)| (ns as f64 + 2e6, level == Level::High);
        let low = [(0.0, true), (10.0, false), (1e6, true)];
        let broken = edges(low.into_iter().chain(whole.iter().skip(1).map(shift)), 1);
        let heard = uart.decode(&broken, i64::MAX);
        assert_eq!((heard.bytes.len(), heard.garbled), (30, 0));
    }
}
