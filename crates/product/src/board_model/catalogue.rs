//! Boards that a target can be `like`: `catalogue.toml`, with the source of each number.

use std::collections::BTreeMap;

use super::BoardTable;
use crate::mistake::{Mistake, wrong};

const CATALOGUE: &str = include_str!("catalogue.toml");

/// The boards by name.
pub(super) fn all() -> BTreeMap<String, BoardTable> {
    toml_edit::de::from_str(CATALOGUE).expect("the catalogue is tested")
}

/// The board of this name, for `board.like`.
pub(super) fn board(name: &str) -> Result<BoardTable, Mistake> {
    let mut all = all();
    match all.remove(name) {
        Some(board) => Ok(board),
        None => {
            let known: Vec<String> = all.into_keys().collect();
            let known = known.join(", ");
            wrong(
                "board.like",
                format!("{name} is not in the catalogue; known are {known}"),
            )
        }
    }
}

impl BoardTable {
    /// What is not said here is taken from `other`.
    pub(super) fn or(self, other: BoardTable) -> BoardTable {
        // A speed is one thing, however it is written.
        let own_speed = self.instructions_per_second.is_some();
        let own_cycles = self.clock.is_some() || self.cycles_per_instruction.is_some();
        let (speed, clock, cycles) = match (own_speed, own_cycles) {
            (true, _) => (
                self.instructions_per_second,
                self.clock,
                self.cycles_per_instruction,
            ),
            (false, true) => (
                None,
                self.clock.or(other.clock),
                self.cycles_per_instruction.or(other.cycles_per_instruction),
            ),
            (false, false) => (
                other.instructions_per_second,
                other.clock,
                other.cycles_per_instruction,
            ),
        };
        BoardTable {
            like: self.like,
            name: self.name.or(other.name),
            instructions_per_second: speed,
            clock,
            cycles_per_instruction: cycles,
            baud: self.baud.or(other.baud),
            storage_bandwidth: self.storage_bandwidth.or(other.storage_bandwidth),
            storage_latency: self.storage_latency.or(other.storage_latency),
            storage_write_bandwidth: self
                .storage_write_bandwidth
                .or(other.storage_write_bandwidth),
            storage_flush: self.storage_flush.or(other.storage_flush),
            memory_latency: self.memory_latency.or(other.memory_latency),
            l1_instruction_cache: self.l1_instruction_cache.or(other.l1_instruction_cache),
            l1_data_cache: self.l1_data_cache.or(other.l1_data_cache),
            l2_cache: self.l2_cache.or(other.l2_cache),
            l2_latency: self.l2_latency.or(other.l2_latency),
            cache_line: self.cache_line.or(other.cache_line),
            caches: self.caches.or(other.caches),
            error: self.error.or(other.error),
        }
    }
}
