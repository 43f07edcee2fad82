//! A series of boots as a document: `bootlap boot --json` of a board.

use bootlap_analysis::Spread;
use bootlap_analysis::stats::Mode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::json::id;
use crate::series::SeriesReport;

/// Boots of one board: `bootlap boot --json`.
///
/// All times are integer nanoseconds since power-on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SeriesJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The target's name.
    pub target: String,
    /// The machine in a few words.
    pub machine: String,
    /// How it was measured: `board`.
    pub mode: String,
    /// The kind of time: `measured`.
    pub time: String,
    /// Boots that never got ready; they are in no sample.
    pub not_ready: usize,
    /// Times to ready; absent if no boot got there.
    pub ready: Option<Spread>,
    /// Two clusters of times to ready, the faster first; absent where the
    /// times are one.
    pub modes: Option<[Mode; 2]>,
    /// By phase, in the order of a boot.
    pub phases: Vec<PhaseSpreadJson>,
    /// The run of the fastest boot.
    pub fastest: Option<String>,
    /// The run of the slowest boot that got ready.
    pub slowest: Option<String>,
    /// All boots, in order.
    pub boots: Vec<LapJson>,
}

/// A phase in all boots that have it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PhaseSpreadJson {
    /// As in a report: `kernel`.
    pub name: String,
    /// How long it lasted.
    #[serde(flatten)]
    pub spread: Spread,
}

/// One boot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LapJson {
    /// The run's folder.
    pub run: String,
    /// When it was ready; absent if it never was.
    pub ready_ns: Option<i64>,
    /// Its time is far from the others (of its cluster); it counts all the
    /// same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outlier: bool,
    /// Why it never got ready.
    pub why_not: Option<String>,
    /// How long the command that switched the board on took; part of the
    /// boot's time.
    pub power_ms: Option<u64>,
    /// Its phases, in order.
    pub phases: Vec<LapPhaseJson>,
}

/// A phase of one boot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LapPhaseJson {
    /// As in a report: `kernel`.
    pub name: String,
    /// How long it lasted.
    pub duration_ns: i64,
}

/// What `boot --json` prints for a board.
///
/// # Errors
/// None for any series.
pub fn json(report: &SeriesReport) -> Result<String, serde_json::Error> {
    crate::json::line(&SeriesJson::of(report))
}

impl SeriesJson {
    fn of(report: &SeriesReport) -> Self {
        let (about, series) = (&report.about, &report.series);
        let run = |at: Option<usize>| Some(report.laps.get(at?)?.run.clone());
        let laps = series.laps.iter().zip(&report.laps);
        Self {
            format: crate::json::FORMAT,
            tool: about.tool.clone(),
            target: about.target.clone(),
            machine: about.machine.clone(),
            mode: about.mode.clone(),
            time: about.time.clone(),
            not_ready: series.not_ready(),
            ready: series.ready,
            modes: series.modes,
            phases: series
                .phases
                .iter()
                .map(|(name, s)| PhaseSpreadJson {
                    name: id(name),
                    spread: *s,
                })
                .collect(),
            fastest: run(series.fastest),
            slowest: run(series.slowest),
            boots: laps
                .enumerate()
                .map(|(at, (lap, about))| LapJson {
                    run: about.run.clone(),
                    ready_ns: lap.ready_ns,
                    outlier: series.outliers.contains(&at),
                    why_not: about.why_not.clone(),
                    power_ms: about.power_ms,
                    phases: lap
                        .phases
                        .iter()
                        .map(|(name, duration_ns)| LapPhaseJson {
                            name: id(name),
                            duration_ns: *duration_ns,
                        })
                        .collect(),
                })
                .collect(),
        }
    }
}
