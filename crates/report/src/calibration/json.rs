//! `calibrate --json`.

use bootlap_analysis::calibrate::{BaudFrom, Calibration, Stretch};
use schemars::JsonSchema;
use serde::Serialize;

use crate::calibration::CalibrationReport;
use crate::json::id;

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
    pub speeds: Vec<FittedSpeedJson>,
    /// The storage's speed; null if the boot loader tells of no reads.
    pub storage: Option<FittedStorageJson>,
    /// What the stretches took on the board, ns.
    pub measured_ns: i64,
    /// What the model makes of them, ns.
    pub predicted_ns: i64,
    /// `[board]`, for `target.toml`.
    pub fragment: String,
    /// What it rests on, in the order of the boot.
    pub stretches: Vec<StretchJson>,
}

/// How fast the board is in one phase.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FittedSpeedJson {
    /// `firmware`, `bootloader`, `kernel`, `initramfs`, `userspace`, `application`.
    pub phase: String,
    /// Instructions per second.
    pub instructions_per_second: f64,
    /// How far stretches lie from that, as a share.
    pub error: f64,
    /// Stretches that it rests on.
    pub used: usize,
    /// Stretches that are much slower or faster, and were left out.
    pub left_out: usize,
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

/// From one line to the next that both boots print.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StretchJson {
    /// The phase that most of it belongs to.
    pub phase: String,
    /// The line that it begins with.
    pub from: String,
    /// The line that ends it.
    pub to: String,
    /// Instructions in the lab, without loops that wait.
    pub instructions: u64,
    /// Bytes that the board printed.
    pub console_bytes: u64,
    /// What takes as long on every machine, ns.
    pub wait_ns: i64,
    /// What it took on the board, ns.
    pub measured_ns: i64,
    /// What the model makes of it, ns.
    pub predicted_ns: i64,
    /// Whether the speed does not rest on it.
    pub left_out: bool,
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
        let speeds = found.speeds.iter().map(|s| FittedSpeedJson {
            phase: id(&s.phase),
            instructions_per_second: s.insns_per_s,
            error: s.error,
            used: s.used,
            left_out: s.left_out,
        });
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
            speeds: speeds.collect(),
            storage: found.storage.map(|s| FittedStorageJson {
                bytes_per_second: s.bytes_per_s,
                latency_ns: (s.latency_s * 1e9) as i64,
                reads: s.reads,
            }),
            measured_ns,
            predicted_ns,
            fragment: report.fragment(),
            stretches: found.stretches.iter().map(stretch).collect(),
        }
    }
}

fn stretch(stretch: &Stretch) -> StretchJson {
    StretchJson {
        phase: id(&stretch.phase),
        from: stretch.from.clone(),
        to: stretch.to.clone(),
        instructions: stretch.instructions,
        console_bytes: stretch.bytes,
        wait_ns: stretch.wait_ns,
        measured_ns: stretch.board_ns,
        predicted_ns: stretch.predicted_ns,
        left_out: stretch.left_out,
    }
}
