//! `bootlap history`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::Evidence;
use super::recorded::recorded;

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap history add kiosk-check@last --to boot-history
  bootlap history show boot-history -o trend.html")]
pub(crate) struct History {
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Subcommand)]
pub(crate) enum Action {
    /// Keep the numbers of these boots as the result of a commit.
    Add(Add),
    /// Show each number over the commits, and where it changed.
    Show(Show),
}

#[derive(ClapArgs)]
pub(crate) struct Add {
    /// Runs, folders of runs, or evidence of one boot.
    #[arg(required = true, value_name = "RUN|FILE", value_parser = recorded())]
    pub(crate) inputs: Vec<PathBuf>,
    /// The history's folder; one for each target and machine.
    #[arg(long, value_name = "DIR")]
    pub(crate) to: PathBuf,
    /// The commit that was booted [default: the one checked out here].
    #[arg(long, value_name = "COMMIT")]
    pub(crate) commit: Option<String>,
    /// Its date, which orders the history [default: the commit's, otherwise now].
    #[arg(long, value_name = "RFC3339")]
    pub(crate) date: Option<String>,
    #[command(flatten)]
    pub(crate) evidence: Evidence,
}

#[derive(ClapArgs)]
pub(crate) struct Show {
    /// The history's folder.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Print the history as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print all results as a table for Apache Otava.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// The file to write with the trends: .html or .md.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Leave out changes below this, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    pub(crate) least: f64,
}
