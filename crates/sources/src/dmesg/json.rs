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
use crate::quoted::string;
use crate::text::{Line, Reader, Sheet, Skip, seconds_ns};

/// A record on the way.
pub(crate) struct JsonReader<'h> {
    log: DmesgReader<'h>,
    ns: Option<i64>,
    task: Option<u32>,
    text: Option<(Vec<u8>, Evidence)>,
}

impl<'h> JsonReader<'h> {
    pub(crate) fn new(log: DmesgReader<'h>) -> Self {
        Self {
            log,
            ns: None,
            task: None,
            text: None,
        }
    }

    /// Takes one `"key": value` from the front of `rest`; what follows it.
    fn member<'t>(&mut self, rest: &'t [u8], at: Evidence) -> Option<&'t [u8]> {
        let (key, rest) = string(rest)?;
        let rest = rest
            .trim_ascii_start()
            .strip_prefix(b":")?
            .trim_ascii_start();
        if rest.first() == Some(&b'"') {
            let (value, rest) = string(rest)?;
            match key.as_slice() {
                b"msg" => self.text = Some((value, at)),
                b"caller" => {
                    let task = value
                        .strip_prefix(b"T")
                        .and_then(|t| crate::text::decimal(t, 0));
                    self.task = task.and_then(|t| u32::try_from(t).ok());
                }
                // Some versions quote the time.
                b"time" => self.ns = seconds_ns(value.trim_ascii()),
                _ => {}
            }
            return Some(rest);
        }
        let ends = |b: &u8| matches!(b, b',' | b'}' | b']');
        let end = rest.iter().position(ends).unwrap_or(rest.len());
        if key == b"time" {
            self.ns = seconds_ns(rest[..end].trim_ascii());
        }
        Some(&rest[end..])
    }

    /// A record is complete.
    fn close(&mut self, sheet: &mut Sheet<'_>) -> Result<(), Skip> {
        let (ns, task, text) = (self.ns.take(), self.task.take(), self.text.take());
        let Some((text, at)) = text else {
            return Ok(());
        };
        let Some(ns) = ns else {
            return Err(NO_TIME);
        };
        let stamp = Stamp::new(ns, RESOLUTION_NS);
        self.log.count_kernel();
        let lines = text
            .split(|b| *b == b'\n')
            .filter(|l| !l.trim_ascii().is_empty());
        lines
            .into_iter()
            .try_for_each(|line| self.log.logged(line, 0, (stamp, task), at, sheet))
    }
}

const NO_TIME: Skip = Skip::lost(
    "record-without-time",
    "these records have no time, so they are on no timeline: run dmesg without -t",
);

impl Reader for JsonReader<'_> {
    fn line(&mut self, line: &Line<'_>, sheet: &mut Sheet<'_>) -> Result<(), Skip> {
        let mut rest = line.text;
        let mut result = Ok(());
        loop {
            rest = rest.trim_ascii_start();
            rest = match rest.first() {
                None => return result,
                Some(b'{' | b'[' | b']' | b',' | b':') => &rest[1..],
                Some(b'}') => {
                    result = result.and(self.close(sheet));
                    &rest[1..]
                }
                Some(_) if rest.starts_with(b"\"dmesg\"") => &rest[7..],
                Some(_) => match self.member(rest, line.at) {
                    Some(rest) => rest,
                    None => {
                        return Err(Skip::unknown(
                            "expected the JSON that `dmesg --json` prints, a member a line",
                        ));
                    }
                },
            };
        }
    }

    fn finish(&mut self, sheet: &mut Sheet<'_>) {
        if self.ns.is_some() && self.close(sheet).is_ok() {
            self.ns = None;
        }
        self.log.finish(sheet);
    }
}
