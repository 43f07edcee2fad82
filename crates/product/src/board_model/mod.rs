//! `[board]` of a `target.toml`: how fast the real board is that the target
//! stands for, so that a simulated boot can be turned into a predicted one.
//!
//! ```toml
//! [board]
//! name = "SAMA5D3 Xplained"
//! instructions-per-second = { bootloader = 80e6, kernel = 300e6 }
//! baud = 115200
//! storage-bandwidth = "10 MB/s"
//! storage-latency = "1 ms"
//! storage-write-bandwidth = "4 MB/s"
//! storage-flush = "5 ms"
//! error = 0.15
//! ```
//!
//! `clock` and `cycles-per-instruction` may stand for the instructions per second,
//! `like` takes what is not said from the [`catalogue`], and [`memory`] has the keys of
//! caches. A value that differs from phase to phase is a table by phase. It is read as
//! it stands and checked afterwards, so mistakes are told with the line of the
//! key itself.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::mistake::{Mistake, wrong};

mod catalogue;
mod memory;

pub use memory::{CacheSize, MemoryModel};

/// The phases, in the order of a boot, as reports name them.
const PHASES: [&str; 6] = [
    "firmware",
    "bootloader",
    "kernel",
    "initramfs",
    "userspace",
    "application",
];

/// What nearly every console runs at.
const BAUD: u32 = 115_200;

/// What a model that nobody calibrated is trusted to: the CPUs of one speed
/// differ by that much in what they do in a cycle.
const ERROR: f64 = 0.3;

/// A real board, as far as a boot's time depends on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BoardModel {
    /// What people call it.
    pub name: String,
    /// Instructions per second.
    pub instructions_per_second: ByPhase,
    /// Bits per second of its console; a byte takes ten.
    pub baud: u32,
    /// Bytes per second that storage is read at; empty if nobody said.
    #[serde(default)]
    pub storage_bandwidth: ByPhase,
    /// Seconds that a read takes before its first byte; empty if nobody said.
    #[serde(default)]
    pub storage_latency: ByPhase,
    /// Bytes per second that storage is written at; empty: as it is read.
    #[serde(default, skip_serializing_if = "ByPhase::is_empty")]
    pub storage_write_bandwidth: ByPhase,
    /// Seconds that a flush takes.
    #[serde(default)]
    pub storage_flush_s: f64,
    /// What memory takes; `None`: no longer than an instruction does anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryModel>,
    /// How far a prediction may be off, as a share of what depends on the
    /// board's speed.
    pub error: ByPhase,
}

impl BoardModel {
    /// What a `[board]` alone means, as it is written in a target.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(fragment: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Alone {
            board: BoardTable,
        }
        let alone: Alone = toml_edit::de::from_str(fragment).map_err(|e| e.to_string())?;
        alone
            .board
            .model()
            .map_err(|e| format!("{}: {}", e.key, e.message))
    }

    /// Lines of `[board]` for storage and memory, each with its key: what no log of a boot
    /// tells.
    pub fn hardware(&self) -> Vec<(&'static str, String)> {
        let by_phase = |values: &ByPhase, unit: f64, word: &str| {
            let cell = |(phase, value): (&String, &f64)| {
                let value = (value / unit * 1e6).round() / 1e6;
                format!("{phase} = \"{value} {word}\"")
            };
            let cells: Vec<String> = values.0.iter().map(cell).collect();
            format!("{{ {} }}", cells.join(", "))
        };
        let mut lines = Vec::new();
        for (key, values, unit, word) in [
            ("storage-bandwidth", &self.storage_bandwidth, 1e6, "MB/s"),
            ("storage-latency", &self.storage_latency, 1e-3, "ms"),
            (
                "storage-write-bandwidth",
                &self.storage_write_bandwidth,
                1e6,
                "MB/s",
            ),
        ] {
            if !values.is_empty() {
                lines.push((key, by_phase(values, unit, word)));
            }
        }
        if self.storage_flush_s > 0.0 {
            let ms = (self.storage_flush_s * 1e9).round() / 1e6;
            lines.push(("storage-flush", format!("\"{ms} ms\"")));
        }
        lines.extend(self.memory.iter().flat_map(MemoryModel::lines));
        lines
    }

    /// Which model it is, in eight digits: boards that differ in what a boot takes differ
    /// here, whatever they are called.
    pub fn id(&self) -> String {
        let mut lived = self.clone();
        lived.name.clear();
        lived.error = ByPhase::default();
        let text = toml_edit::ser::to_string(&lived).unwrap_or_default();
        HEXLOWER.encode(&Sha256::digest(text)[..4])
    }
}

/// A number for each phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByPhase(BTreeMap<String, f64>);

impl ByPhase {
    /// Each number, made another.
    fn map(self, to: impl Fn(f64) -> f64) -> Self {
        Self(self.0.into_iter().map(|(p, n)| (p, to(n))).collect())
    }

    /// The same number for all phases.
    pub fn all(value: f64) -> Self {
        Self([(PHASES[0].to_owned(), value)].into())
    }

    /// Whether nobody said anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of this phase (`bootloader`, `kernel` …). A phase that has
    /// none runs as the one before it; those before the first that has one run
    /// as that one.
    pub fn of(&self, phase: &str) -> Option<f64> {
        let place = PHASES.iter().position(|p| *p == phase)?;
        let named = |p: &&str| self.0.get(*p).copied();
        let before = PHASES[..=place].iter().rev().find_map(named);
        before.or_else(|| PHASES[place..].iter().find_map(named))
    }
}

/// `[board]` as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BoardTable {
    like: Option<Like>,
    name: Option<String>,
    instructions_per_second: Option<Written>,
    clock: Option<Scalar>,
    cycles_per_instruction: Option<Written>,
    baud: Option<u32>,
    storage_bandwidth: Option<Written>,
    storage_latency: Option<Written>,
    storage_write_bandwidth: Option<Written>,
    storage_flush: Option<Scalar>,
    memory_latency: Option<Scalar>,
    l1_instruction_cache: Option<String>,
    l1_data_cache: Option<String>,
    l2_cache: Option<String>,
    l2_latency: Option<Scalar>,
    cache_line: Option<Scalar>,
    caches: Option<String>,
    error: Option<Written>,
}

/// Names of the catalogue; what the first says, counts.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a name of the catalogue, or a list of them"
)]
enum Like {
    One(String),
    Several(Vec<String>),
}

impl Like {
    fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

/// A value, or one for each phase.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a value, or a table of values by phase: { bootloader = …, kernel = … }"
)]
enum Written {
    One(Scalar),
    ByPhase(BTreeMap<String, Scalar>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a number, or a text with a unit")]
enum Scalar {
    Whole(i64),
    Number(f64),
    Text(String),
}

/// What kind of quantity a value is.
#[derive(Clone, Copy)]
struct Quantity {
    /// Units and what one of them is; empty for a plain number.
    units: &'static [(&'static str, f64)],
    /// The least and the most that is taken for no mistake.
    limits: (f64, f64),
    /// How to write it.
    example: &'static str,
}

const SPEED: Quantity = Quantity {
    units: &[],
    limits: (1e3, 1e11),
    example: "write a number such as 300e6",
};
const BANDWIDTH: Quantity = Quantity {
    units: &[
        ("kB/s", 1e3),
        ("MB/s", 1e6),
        ("GB/s", 1e9),
        ("KiB/s", 1024.0),
        ("MiB/s", 1_048_576.0),
        ("GiB/s", 1_073_741_824.0),
        ("B/s", 1.0),
    ],
    limits: (1.0, 1e13),
    example: "write it as \"10 MB/s\"; known are B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s and GiB/s",
};
const LATENCY: Quantity = Quantity {
    units: &[
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
    ],
    limits: (0.0, 60.0),
    example: "write it as \"1 ms\"; known are ns, us, ms and s",
};
const CLOCK: Quantity = Quantity {
    units: &[("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9), ("Hz", 1.0)],
    limits: (1e4, 1e11),
    example: "write it as \"400 MHz\"; known are Hz, kHz, MHz and GHz",
};
const CYCLES: Quantity = Quantity {
    units: &[],
    limits: (0.05, 1000.0),
    example: "write the cycles of an average instruction, such as 1.3",
};
const SHARE: Quantity = Quantity {
    units: &[],
    limits: (0.0, 1.0),
    example: "write a share such as 0.15 for 15 %",
};

impl BoardTable {
    /// What it means, or the first mistake in it.
    pub(crate) fn model(&self) -> Result<BoardModel, Mistake> {
        let mut table = self.clone();
        for name in self.like.iter().flat_map(Like::names) {
            table = table.or(catalogue::board(name)?);
        }
        table.own_model()
    }

    fn own_model(&self) -> Result<BoardModel, Mistake> {
        let name = self.name.as_deref().unwrap_or("the board").trim();
        if name.is_empty() || name.chars().any(char::is_control) {
            return wrong("board.name", "that is no name; write what people call it");
        }
        let baud = self.baud.unwrap_or(BAUD);
        if !(50..=100_000_000).contains(&baud) {
            return wrong(
                "board.baud",
                format!("{baud} bits per second is no console's speed; most run at 115200"),
            );
        }
        let optional = |key, written: &Option<Written>, quantity| match written {
            Some(written) => by_phase(key, written, quantity),
            None => Ok(ByPhase::default()),
        };
        Ok(BoardModel {
            name: name.to_owned(),
            instructions_per_second: self.speed()?,
            baud,
            storage_bandwidth: optional("storage-bandwidth", &self.storage_bandwidth, BANDWIDTH)?,
            storage_latency: optional("storage-latency", &self.storage_latency, LATENCY)?,
            storage_write_bandwidth: optional(
                "storage-write-bandwidth",
                &self.storage_write_bandwidth,
                BANDWIDTH,
            )?,
            storage_flush_s: match &self.storage_flush {
                Some(scalar) => value("board.storage-flush", scalar, LATENCY)?,
                None => 0.0,
            },
            memory: memory::model(self)?,
            error: match &self.error {
                Some(written) => by_phase("error", written, SHARE)?,
                None => ByPhase::all(ERROR),
            },
        })
    }
}

impl BoardTable {
    /// Instructions per second, as they are written or by the clock.
    fn speed(&self) -> Result<ByPhase, Mistake> {
        match (
            &self.instructions_per_second,
            &self.clock,
            &self.cycles_per_instruction,
        ) {
            (Some(speed), None, None) => by_phase("instructions-per-second", speed, SPEED),
            (Some(_), ..) => wrong(
                "board.instructions-per-second",
                "the speed is there twice; remove this key, or clock and cycles-per-instruction",
            ),
            (None, Some(clock), Some(cycles)) => {
                let hz = value("board.clock", clock, CLOCK)?;
                let cycles = by_phase("cycles-per-instruction", cycles, CYCLES)?;
                Ok(cycles.map(|cycles| hz / cycles))
            }
            (None, Some(_), None) => wrong(
                "board.clock",
                "says nothing of the speed without cycles-per-instruction; write both, or \
                 instructions-per-second alone",
            ),
            (None, None, _) => wrong(
                "board",
                "missing field `instructions-per-second`; estimate it with `bootlap calibrate`, \
                 write a guess such as 300e6, or take a board of the catalogue, such as like = \
                 \"am335x\"; docs/board-model.md explains every key",
            ),
        }
    }
}

fn by_phase(key: &str, written: &Written, quantity: Quantity) -> Result<ByPhase, Mistake> {
    let key = format!("board.{key}");
    match written {
        Written::One(scalar) => Ok(ByPhase::all(value(&key, scalar, quantity)?)),
        Written::ByPhase(table) if table.is_empty() => {
            wrong(&key, "the table is empty; name a phase, or remove the key")
        }
        Written::ByPhase(table) => {
            let mut values = BTreeMap::new();
            for (phase, scalar) in table {
                let key = format!("{key}.{phase}");
                if !PHASES.contains(&phase.as_str()) {
                    let known = PHASES.join(", ");
                    return wrong(&key, format!("{phase} is no phase; known are {known}"));
                }
                values.insert(phase.clone(), value(&key, scalar, quantity)?);
            }
            Ok(ByPhase(values))
        }
    }
}

fn value(key: &str, scalar: &Scalar, quantity: Quantity) -> Result<f64, Mistake> {
    let number = match scalar {
        Scalar::Whole(n) if quantity.units.is_empty() => Some(*n as f64),
        Scalar::Number(n) if quantity.units.is_empty() => Some(*n),
        Scalar::Text(text) if !quantity.units.is_empty() => with_unit(text, quantity.units),
        _ => None,
    };
    let (least, most) = quantity.limits;
    match number {
        Some(n) if (least..=most).contains(&n) => Ok(n),
        Some(_) => wrong(
            key,
            format!("that is out of all proportion; {}", quantity.example),
        ),
        None => wrong(key, quantity.example),
    }
}

/// `10 MB/s` in the unit that all others are counted in.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    units.iter().find_map(|(unit, size)| {
        let number: f64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        Some(number * size)
    })
}

#[cfg(test)]
mod tests;
