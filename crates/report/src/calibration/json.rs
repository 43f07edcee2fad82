//! `calibrate --json`.

use bootlap_analysis::calibrate::{BaudFrom, Calibration, FittedSpeed, Lived, Stretch};
use schemars::JsonSchema;
use serde::Serialize;

use crate::calibration::CalibrationReport;

/// What a log of a real boot tells of its board.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CalibrationJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// What the board is called.
    pub board: String,
    /// The log of the real board.
    pub log: String,
    /// The boot in the lab that it was compared with.
    pub run: String,
    /// Bits per second of the console.
    pub baud: u32,
    /// How that is known: `seen`, `told` by the user or the target, `assumed`.
    pub baud_from: String,
    /// By phase, in the order of a boot.
    pub speeds: Vec<FittedSpeed>,
    /// The storage's speed; null if the boot loader tells of no reads.
    pub storage: Option<FittedStorageJson>,
    /// What the stretches took on the board, ns.
    pub measured_ns: i64,
    /// What the model makes of them, ns.
    pub predicted_ns: i64,
    /// What a boot in the board's modelled time took from the first to the last line that
    /// its speed rests on, and the board; null if there was none.
    pub lived: Option<Lived>,
    /// `[board]`, for `target.toml`.
    pub fragment: String,
    /// What it rests on, in the order of the boot.
    pub stretches: Vec<Stretch>,
}

/// How fast storage is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FittedStorageJson {
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// What each read takes before its first byte, ns; 0 if not known.
    pub latency_ns: i64,
    /// Reads that it rests on.
    pub reads: usize,
}

/// What `calibrate --json` prints.
///
/// # Errors
/// None for any calibration.
pub fn json(report: &CalibrationReport) -> Result<String, serde_json::Error> {
    crate::json::line(&CalibrationJson::of(report))
}

impl CalibrationJson {
    fn of(report: &CalibrationReport) -> Self {
        let found: &Calibration = &report.calibration;
        let (measured_ns, predicted_ns) = found.totals_ns();
        Self {
            format: crate::json::FORMAT,
            tool: report.tool.clone(),
            board: report.name.clone(),
            log: report.log.clone(),
            run: report.run.clone(),
            baud: found.baud.bits_per_s,
            baud_from: match found.baud.from {
                BaudFrom::Seen => "seen",
                BaudFrom::Told => "told",
                BaudFrom::Assumed => "assumed",
            }
            .to_owned(),
            speeds: found.speeds.clone(),
            storage: found.storage.map(|s| FittedStorageJson {
                bytes_per_second: s.bytes_per_s,
                latency_ns: (s.latency_s * 1e9) as i64,
                reads: s.reads,
            }),
            measured_ns,
            predicted_ns,
            lived: report.lived,
            fragment: report.fragment(),
            stretches: found.stretches.clone(),
        }
    }
}
