//! `bootlap check`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::recorded::recorded;
use super::{Evidence, LabArgs};

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap check runs/kiosk/2026-11-21_20-20-23 --budget budget.toml --init
  bootlap check targets/kiosk --budget budget.toml --junit boot.xml
  bootlap check candidate --baseline released --budget budget.toml --github

docs/check.md explains budgets, and what is compared with what.")]
pub(crate) struct Check {
    /// Runs, folders of runs, a target (bootlap boots it), or evidence of one boot.
    #[arg(required = true, value_name = "RUN|FILE|TARGET", value_parser = recorded())]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file with the limits.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) budget: PathBuf,
    /// The baseline for regressions: a run, a folder of runs, a target.
    #[arg(long, value_name = "RUN|TARGET", conflicts_with = "history",
          value_parser = recorded())]
    pub(crate) baseline: Option<PathBuf>,
    /// The baseline from results over commits: those since the last change.
    #[arg(long, value_name = "DIR")]
    pub(crate) history: Option<PathBuf>,
    /// A limit that cannot be judged counts as broken.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write a first budget from these boots instead; it must not exist.
    #[arg(long, conflicts_with_all = ["baseline", "history", "strict", "junit", "github", "json"])]
    pub(crate) init: bool,
    /// How far above these boots the first budget's limits are, in percent.
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = percent,
          requires = "init")]
    pub(crate) headroom: f64,
    /// Write the result as JUnit, a test case per limit.
    #[arg(long, value_name = "FILE.xml")]
    pub(crate) junit: Option<PathBuf>,
    /// A file to write: .md has the verdict, for a merge request; .html, .svg and others are the
    /// report of the first boot (repeatable).
    #[arg(short, long, value_name = "FILE", conflicts_with = "init")]
    pub(crate) out: Vec<PathBuf>,
    /// Print errors for GitHub Actions after the text.
    #[arg(long, conflicts_with = "json")]
    pub(crate) github: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Perturbations, if a target is booted; fewer than 6 prove nothing.
    #[arg(short = 'k', long, alias = "layouts", value_name = "K", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) perturbations: u32,
    #[command(flatten)]
    pub(crate) evidence: Evidence,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

/// `5`, `5%` or `5 %`.
fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse() {
        Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent),
        _ => Err("write a percentage, such as 5 or 0.5%".to_owned()),
    }
}
