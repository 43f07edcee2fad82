//! `bootlap tune`.

use std::path::PathBuf;

use bootlap_analysis::groups::Margin;
use clap::Args;

use super::LabArgs;

#[derive(Args)]
#[command(after_help = "Examples:
  bootlap tune targets/kiosk --out kiosk-tuned
  bootlap tune targets/kiosk --without fit-no-hash --minutes 10 --out kiosk-tuned
  bootlap tune my-board --recipe ours/fonts-later.toml --out my-board-tuned
  bootlap tune targets/kiosk --all --out kiosk-tuned

A search that is interrupted goes on when it is started again in the same way.")]
pub(crate) struct Tune {
    /// The target's folder.
    pub(crate) target: PathBuf,
    /// The folder to write the tuned target to; it must not exist.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// A recipe to try as well: NAME=VALUE, or a file of your own (repeatable).
    #[arg(long, value_name = "RECIPE")]
    pub(crate) recipe: Vec<String>,
    /// Search the whole catalogue: also what builds a kernel or boot loader from
    /// source, for minutes, and what takes the boot loader away.
    #[arg(long, conflicts_with = "only")]
    pub(crate) all: bool,
    /// Search among these recipes and no others (repeatable).
    #[arg(long, value_name = "RECIPE")]
    pub(crate) only: Vec<String>,
    /// A recipe that must not be used (repeatable).
    #[arg(long, value_name = "RECIPE")]
    pub(crate) without: Vec<String>,
    /// Search with at most so many boots; the proof comes on top.
    #[arg(long, value_name = "N")]
    pub(crate) boots: Option<usize>,
    /// Search for at most so long; the proof comes on top.
    #[arg(long, value_name = "M")]
    pub(crate) minutes: Option<u64>,
    /// Perturbations on each side before the first verdict; fewer than 6
    /// prove nothing.
    #[arg(short = 'k', long, alias = "layouts", value_name = "K", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(6..=200))]
    pub(crate) perturbations: u32,
    /// A smaller change counts as none, in shares of the boot or in time.
    #[arg(long, value_name = "0.05%|5ms", default_value = "0.05%",
          value_parser = super::compare::margin)]
    pub(crate) margin: Margin,
    /// The outcome as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}
