//! `dmesg --json`, line by line: one object a record.
//!
//! ```text
//! {
//!    "dmesg": [
//!       {
//!          "pri": 5,
//!          "time":     0.000000,
//!          "caller": "T1",
//!          "msg": "Linux version 6.12.107 …"
//!       },{
//! ```
//!
//! Printed by util-linux ≥ 2.38; `jq -c '.dmesg[]'` makes a line of each.

use bootlap_model::{Evidence, Stamp};

use super::reader::DmesgReader;
use crate::console::printk::RESOLUTION_NS;
use crate::json::{Item, Json};
use crate::text::{Import, Line, Reader, Skip, decimal, seconds_ns};

/// The records of a log.
pub(crate) struct JsonReader<'h> {
    log: DmesgReader<'h>,
    json: Json,
    record: Record,
}

/// A record on the way.
#[derive(Default)]
struct Record {
    ns: Option<i64>,
    task: Option<u32>,
    text: Option<(Box<[u8]>, Evidence)>,
}

impl Record {
    fn field(&mut self, key: &[u8], value: &[u8], at: Evidence) {
        match key {
            b"msg" => self.text = Some((value.into(), at)),
            b"caller" => {
                let task = value.strip_prefix(b"T").and_then(|t| decimal(t, 0));
                self.task = task.and_then(|t| u32::try_from(t).ok());
            }
            // Some versions quote the time.
            b"time" => self.ns = seconds_ns(value.trim_ascii()),
            _ => {}
        }
    }

    /// All of it is there.
    fn close(self, log: &mut DmesgReader<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let Some((text, at)) = self.text else {
            return Ok(());
        };
        let Some(ns) = self.ns else {
            return Err(NO_TIME);
        };
        let stamp = Stamp::new(ns, RESOLUTION_NS);
        log.count_kernel();
        text.split(|b| *b == b'\n')
            .filter(|l| !l.trim_ascii().is_empty())
            .try_for_each(|line| log.logged(line, 0, (stamp, self.task), at, import))
    }
}

impl<'h> JsonReader<'h> {
    pub(crate) fn new(log: DmesgReader<'h>) -> Self {
        Self {
            log,
            json: Json::default(),
            record: Record::default(),
        }
    }
}

const NO_TIME: Skip = Skip::lost(
    "record-without-time",
    "these records have no time, so they are on no timeline: run dmesg without -t",
);

const EXPECTED: Skip =
    Skip::unknown("expected the JSON that `dmesg --json` prints, a member a line");

/// What follows the `"dmesg":` of the object around all records.
fn inside_all(line: &[u8]) -> Option<&[u8]> {
    let key = b"\"dmesg\"";
    let behind = &line[memchr::memmem::find(line, key)? + key.len()..];
    behind.trim_ascii_start().strip_prefix(b":")
}

impl Reader for JsonReader<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let Self { log, json, record } = self;
        let inside = inside_all(line.text);
        if inside.is_some() {
            json.reset();
        }
        let mut result = Ok(());
        let clean = json.line(inside.unwrap_or(line.text), &mut |item| match item {
            Item::Begin(_) => *record = Record::default(),
            Item::Field(key, value) => record.field(key, value, line.at),
            Item::End(_) => result = result.and(std::mem::take(record).close(log, import)),
        });
        match clean {
            true => result,
            false => Err(EXPECTED),
        }
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        // The last record of a log that was cut, if all that counts is there.
        let record = std::mem::take(&mut self.record);
        if record.ns.is_some() {
            let _ = record.close(&mut self.log, import);
        }
        self.log.finish(import);
    }
}
