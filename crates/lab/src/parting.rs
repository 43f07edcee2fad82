//! Where two recordings of what should be one boot part.

use bootlap_wire::stamps::{HEADER_LEN, RECORD_LEN, Record, StampClock};

use crate::run::STAMPS;

/// As much of a line as is shown.
const SHOWN: usize = 60;

/// Says where a run's file called `name` is another than it was.
pub fn parting(was: &[u8], is: &[u8], name: &str) -> String {
    let same = was.iter().zip(is).take_while(|(a, b)| a == b).count();
    if name != STAMPS || same < HEADER_LEN {
        return format!("{name} differs from byte {same} on");
    }
    let at = (same - HEADER_LEN) / RECORD_LEN;
    let [was, is] = [was, is].map(|bytes| records(bytes).take(at + 1).collect::<Vec<_>>());
    let mut line: Vec<u8> = Vec::new();
    for record in is.iter().take(at) {
        match record {
            Record::Byte { byte: b'\n', .. } => line.clear(),
            Record::Byte { byte, .. } => line.push(*byte),
            _ => {}
        }
    }
    let line = String::from_utf8_lossy(&line[line.len().saturating_sub(SHOWN)..]).into_owned();
    let [was, is] = [was.get(at), is.get(at)].map(|record| record.map_or("the end".into(), said));
    format!(
        "record {at} was {was} and is {is}, behind `{}`",
        line.trim()
    )
}

fn records(stamps: &[u8]) -> impl Iterator<Item = Record> {
    let (records, _) = stamps
        .get(HEADER_LEN..)
        .unwrap_or_default()
        .as_chunks::<RECORD_LEN>();
    records
        .iter()
        .map(|r| Record::decode(r, StampClock::Simulated))
}

fn said(record: &Record) -> String {
    let seconds = |ns: i64| ns as f64 / 1e9;
    match record {
        Record::Byte { at, byte } => {
            format!("{:?} at {:.9} s", char::from(*byte), seconds(at.ns))
        }
        Record::Mark { at, .. } => format!("a mark at {:.9} s", seconds(at.ns)),
        Record::Detail { first, second, .. } => format!("a disk's {first}, {second}"),
        Record::Event { at, .. } => format!("an event at {:.9} s", seconds(at.ns)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bootlap_model::Stamp;
    use bootlap_wire::stamps::Writer;

    fn stamps(text: &[u8], late_ns: i64) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), StampClock::Simulated).unwrap();
        for (i, byte) in text.iter().enumerate() {
            let late = if i < 9 { 0 } else { late_ns };
            let at = Stamp::new(1000 * i as i64 + late, 0);
            writer.record(Record::Byte { at, byte: *byte }).unwrap();
        }
        writer.into_inner()
    }

    #[test]
    fn the_first_record_that_differs_is_told_with_its_line() {
        let was = stamps(b"U-Boot\nLinux version", 0);
        let is = stamps(b"U-Boot\nLinux version", 7);
        assert_eq!(
            parting(&was, &is, STAMPS),
            "record 9 was 'n' at 0.000009000 s and is 'n' at 0.000009007 s, behind `Li`"
        );
        let short = stamps(b"U-Boot\nLinux", 0);
        assert_eq!(
            parting(&was, &short, STAMPS),
            "record 12 was ' ' at 0.000012000 s and is the end, behind `Linux`"
        );
        assert_eq!(
            parting(b"ab", b"ac", "console"),
            "console differs from byte 1 on"
        );
    }
}
