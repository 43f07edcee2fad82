//! `bootlap calibrate`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::LabArgs;
use super::recorded::recorded;

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap calibrate board.log --target my-board -o board.toml
  bootlap calibrate @last --target my-board --name 'rev C'")]
pub(crate) struct Calibrate {
    /// A log of one boot of the real board, with times: a run of `bootlap
    /// capture`, grabserial's output, a dmesg.
    #[arg(required = true, value_name = "LOG", value_parser = recorded())]
    pub(crate) log: Vec<PathBuf>,
    /// The target that describes what the board boots.
    #[arg(short, long, value_name = "TARGET", required_unless_present = "run")]
    pub(crate) target: Option<PathBuf>,
    /// A recorded boot of the target in QEMU, instead of booting it now.
    #[arg(long, value_name = "RUN", value_parser = recorded())]
    pub(crate) run: Option<PathBuf>,
    /// The board's name.
    #[arg(long, default_value = "the board")]
    pub(crate) name: String,
    /// The console's speed, if it is no serial line or the log does not show it.
    #[arg(long, value_name = "BITS/S", value_parser = clap::value_parser!(u32).range(50..))]
    pub(crate) baud: Option<u32>,
    /// Write `[board]` to a new file; targets are never changed.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Read the log as this format instead of detecting it.
    #[arg(long = "as", value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Print the calibration as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}
