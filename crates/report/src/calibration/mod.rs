//! A calibrated board as a piece of `target.toml`.

mod json;
mod text;

pub use json::{CalibrationJson, FittedStorageJson, json};
pub use text::text;

use bootlap_analysis::Calibration;
use bootlap_analysis::calibrate::{BaudFrom, FittedSpeed, Lived};
use bootlap_analysis::phase::PhaseName;

use crate::clean::clean;
use crate::json::id;

/// A calibration, and what it was made from.
pub struct CalibrationReport {
    /// What to call the board.
    pub name: String,
    /// The log, as the user typed it.
    pub log: String,
    /// The boot in the lab that it was compared with.
    pub run: String,
    /// What came of it.
    pub calibration: Calibration,
    /// Keys of `[board]` and their values that the target had, and no log tells.
    pub kept: Vec<(&'static str, String)>,
    /// What a boot in the board's time took against the log, if there was one.
    pub lived: Option<Lived>,
    /// The version of bootlap.
    pub tool: String,
}

impl CalibrationReport {
    /// `[board]`, to be pasted into `target.toml`.
    pub fn fragment(&self) -> String {
        let calibration = &self.calibration;
        let speeds = &calibration.speeds;
        let table = |value: &dyn Fn(&FittedSpeed) -> String| {
            let cells: Vec<String> = speeds
                .iter()
                .map(|s| format!("{} = {}", id(&s.phase), value(s)))
                .collect();
            format!("{{ {} }}", cells.join(", "))
        };
        let mut lines = vec![
            format!(
                "# Estimated by `bootlap calibrate` from {}.",
                clean(&self.log)
            ),
            "[board]".to_owned(),
            format!("name = {}", quoted(&self.name)),
            format!(
                "instructions-per-second = {}",
                table(&|s| format!("{:.1}e6", s.insns_per_s / 1e6))
            ),
            format!("baud = {}{}", calibration.baud.bits_per_s, baud_note(self)),
        ];
        if let Some(storage) = &calibration.storage {
            let rate = storage.bytes_per_s / 1e6;
            let loader = id(&PhaseName::Bootloader);
            lines.push(format!(
                "storage-bandwidth = {{ {loader} = \"{rate:.3} MB/s\" }}"
            ));
            if storage.latency_s > 0.0 {
                let ms = storage.latency_s * 1e3;
                lines.push(format!("storage-latency = {{ {loader} = \"{ms:.2} ms\" }}"));
            }
        }
        for (key, value) in &self.kept {
            let fitted = format!("{key} = ");
            if !lines.iter().any(|line| line.starts_with(&fitted)) {
                lines.push(format!("{key} = {value}"));
            }
        }
        lines.push(format!("error = {}", table(&|s| rounded_up(s.error))));
        lines.join("\n") + "\n"
    }
}

fn baud_note(report: &CalibrationReport) -> &'static str {
    match report.calibration.baud.from {
        BaudFrom::Seen => "",
        BaudFrom::Told => "  # as it was told",
        BaudFrom::Assumed => "  # assumed: nothing in the log tells",
    }
}

/// An error is never made smaller.
fn rounded_up(error: f64) -> String {
    format!("{:.2}", ((error * 100.0).ceil() / 100.0).min(1.0))
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let clean = clean(text);
    let text = clean.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}
