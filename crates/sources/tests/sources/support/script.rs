//! Stamped consoles written by hand, as text that people can review.
//!
//! ```text
//! clock host              simulated, virtual or host; first
//! byte 87us               how long each byte takes from now on
//! +2ms                    silence
//! mark user               or kernel
//! "U-Boot 2021.07\r\n"    bytes, with \r \n \t \\ \" and \xHH
//! ```
//!
//! `clock host, chunks from power-on` (or `pattern`, `first-byte`) is version
//! 2: each line of bytes came in one read, and `event gone TEXT` (`sent`,
//! `returned`, `wrong-rate`, `lost`, `new`) is what happened to the recording.

use bootlap_model::Stamp;
use bootlap_wire::stamps::{ChunkWriter, Event, ProbeMark, StampClock, Writer, Zero};

/// The stamped console that `script` describes.
pub(crate) fn stamps(script: &str) -> Vec<u8> {
    let mut lines = script
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'));
    let first = lines.next().unwrap();
    if let Some(zero) = first.strip_prefix("clock host, chunks from ") {
        return chunks(zero, lines);
    }
    let clock = match first {
        "clock simulated" => StampClock::Simulated,
        "clock virtual" => StampClock::Virtual,
        "clock host" => StampClock::Host,
        other => panic!("{other}"),
    };
    let mut writer = Writer::new(Vec::new(), clock).unwrap();
    let (mut ns, mut byte_ns) = (0, 0);
    for line in lines {
        let at = |ns: i64| clock.stamp(ns, ns as u64 / 2);
        if let Some(text) = line.strip_prefix('"').and_then(|l| l.strip_suffix('"')) {
            for byte in unescape(text) {
                ns += byte_ns;
                writer.bytes(at(ns), &[byte]).unwrap();
            }
        } else if let Some(time) = line.strip_prefix('+') {
            ns += nanoseconds(time);
        } else if let Some(time) = line.strip_prefix("byte ") {
            byte_ns = nanoseconds(time);
        } else {
            mark(&mut writer, line, at(ns));
        }
    }
    writer.into_inner()
}

fn chunks<'s>(zero: &str, lines: impl Iterator<Item = &'s str>) -> Vec<u8> {
    let zero = match zero {
        "power-on" => Zero::PowerOn,
        "pattern" => Zero::Pattern,
        "first-byte" => Zero::FirstByte,
        other => panic!("{other}"),
    };
    let mut writer = ChunkWriter::new(Vec::new(), StampClock::Host, zero).unwrap();
    let mut ns = 0;
    for line in lines {
        if let Some(text) = line.strip_prefix('"').and_then(|l| l.strip_suffix('"')) {
            writer.bytes(ns, &unescape(text)).unwrap();
        } else if let Some(time) = line.strip_prefix('+') {
            ns += nanoseconds(time);
        } else {
            let event = line.strip_prefix("event ").unwrap();
            let (name, text) = event.split_once(' ').unwrap_or((event, ""));
            let event = match name {
                "sent" => Event::Sent,
                "gone" => Event::Gone,
                "returned" => Event::Returned,
                "wrong-rate" => Event::WrongRate,
                "lost" => Event::Lost,
                "new" => Event::Other(7),
                other => panic!("{other}"),
            };
            writer.event(ns, event, text).unwrap();
        }
    }
    writer.into_inner()
}

fn mark(writer: &mut Writer<Vec<u8>>, line: &str, at: Stamp) {
    let mark = match line {
        "mark kernel" => ProbeMark::KernelEntry,
        "mark user" => ProbeMark::UserEntry,
        "mark new" => ProbeMark::Other(77),
        other => panic!("{other}"),
    };
    writer.mark(at, mark).unwrap();
}

fn nanoseconds(time: &str) -> i64 {
    let end = time.find(|c: char| !c.is_ascii_digit()).unwrap();
    let unit = match &time[end..] {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        other => panic!("{other}"),
    };
    time[..end].parse::<i64>().unwrap() * unit
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(b) = bytes.next() {
        if b != b'\\' {
            out.push(b);
            continue;
        }
        out.push(match bytes.next().unwrap() {
            b'r' => b'\r',
            b'n' => b'\n',
            b't' => b'\t',
            b'x' => {
                let hex = [bytes.next().unwrap(), bytes.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap()
            }
            other => other,
        });
    }
    out
}
