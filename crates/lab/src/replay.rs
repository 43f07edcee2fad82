//! The `replay` machine: plays a recorded run again.

use std::time::Instant;

use bootlap_wire::stamps::{Header, Reader, Record};
use serde_json::json;

use crate::{LabError, Machine, MachineEvent, MachineInfo, Run};

/// A recorded run as a machine; as fast as it can be read.
pub struct Replay {
    run: Run,
    records: Option<Reader<std::io::BufReader<std::fs::File>>>,
}

impl Replay {
    /// A machine that will say what `run` said.
    pub fn new(run: Run) -> Self {
        Self { run, records: None }
    }

    fn broken(&self, why: impl std::fmt::Display) -> LabError {
        LabError::Machine(format!(
            "{} cannot be replayed: {why}",
            self.run.dir.display()
        ))
    }
}

impl Machine for Replay {
    fn power_on(&mut self) -> Result<MachineInfo, LabError> {
        let reader = Reader::new(self.run.stamps()?).map_err(|e| self.broken(e))?;
        let clock: Header = reader.header();
        self.records = Some(reader);
        Ok(MachineInfo {
            clock,
            facts: json!({
                "kind": "replay",
                "recorded": self.run.manifest.machine,
            }),
        })
    }

    fn next(&mut self, _: Instant) -> Result<MachineEvent, LabError> {
        let end = || Ok(MachineEvent::Stopped("the recording ends here".into()));
        let Some(reader) = &mut self.records else {
            return end();
        };
        let mut batch: Vec<Record> = Vec::with_capacity(4096);
        while batch.len() < 4096 {
            match reader.record() {
                Ok(Some(record)) => batch.push(record),
                Ok(None) => break,
                Err(e) => return Err(self.broken(e)),
            }
        }
        if batch.is_empty() {
            return end();
        }
        Ok(MachineEvent::Console(batch))
    }

    fn power_off(&mut self) {
        self.records = None;
    }
}
