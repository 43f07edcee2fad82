//! The command line.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

/// Makes Linux boot fast, and proves it.
#[derive(Parser)]
#[command(
    version,
    max_term_width = 90,
    after_help = "Exit codes: 0 ok, 1 internal error, 2 usage, 3 budget or regression, \
                  4 nothing usable in the input, 5 the machine failed, 6 it never got ready."
)]
pub(crate) struct Args {
    /// No progress on standard error.
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// The whole loop on an example target: boot, explain, change, prove.
    Demo(Demo),
    /// Boot a target and record it (or play a recorded run again).
    Boot(Boot),
    /// Say what each file is, what was understood of it, and what was not.
    Inspect(Inspect),
    /// Show where the time of a boot goes: a run, logs, or any mix of them.
    Show(Show),
    /// Write a report of a boot: .html, .json or .txt.
    Report(Report),
    /// Say what to change in a target, and what that should save.
    Advise(Advise),
    /// Measure recipes against the target as it is.
    Try(Try),
    /// Write a changed copy of a target.
    Apply(Apply),
    /// List the recipes.
    Recipes(Catalogue),
    /// List the rules behind the advice.
    Rules(Catalogue),
}

/// How targets are booted.
#[derive(ClapArgs, Clone)]
pub(crate) struct LabArgs {
    /// Ordinary time instead of simulated time: noisy.
    #[arg(long)]
    pub(crate) plain: bool,
    /// Where runs are recorded.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Seed of everything drawn by chance.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Seconds of the host's time to wait for ready, instead of the target's.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// Boot without bootlap's probe; the host stamps the console.
    #[arg(long)]
    pub(crate) no_probe: bool,
    /// Where packages and compressed images are kept [default:
    /// $BOOTLAP_CACHE, or bootlap in the user's cache folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct Demo {
    /// The target's folder.
    #[arg(default_value = "targets/kiosk")]
    pub(crate) target: PathBuf,
    /// Layout perturbations on each side of an experiment; fewer than 4 prove nothing.
    #[arg(short = 'k', long, value_name = "K", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(4..=1000))]
    pub(crate) layouts: u32,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

#[derive(ClapArgs)]
pub(crate) struct Boot {
    /// The target's folder, or a recorded run to play again.
    pub(crate) target: PathBuf,
    /// How often [default: 2 in simulated time, to see that they are equal; else 1].
    #[arg(short = 'n', long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) boots: Option<u32>,
    /// More words on the kernel's command line.
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub(crate) append: String,
    /// The report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum By {
    /// Phases and their parts.
    Phases,
    /// Everything that lasted.
    Spans,
    /// Kernel initcalls.
    Initcalls,
    /// Units of systemd, and what ready waited for.
    Units,
    /// Processes, as a tree.
    Processes,
    /// Functions, as KFI's kd counts them.
    Functions,
    /// Silences of the console.
    Gaps,
    /// Console lines with the time since the line before.
    Deltas,
}

#[derive(ClapArgs)]
pub(crate) struct Show {
    /// Evidence of one boot: runs, files, archives, folders, or `-`.
    #[arg(required = true, value_name = "RUN|FILE")]
    pub(crate) inputs: Vec<PathBuf>,
    /// A table of these instead of the summary.
    #[arg(long)]
    pub(crate) by: Option<By>,
    /// How many rows; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) limit: usize,
    /// Only rows whose name or text matches.
    #[arg(long, value_name = "REGEX")]
    pub(crate) grep: Option<String>,
    /// Leave out processes that bootchart leaves out, and say which.
    #[arg(long)]
    pub(crate) prune: bool,
    /// As JSON: the rows of the table, or the whole report.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) evidence: Evidence,
}

#[derive(ClapArgs)]
pub(crate) struct Inspect {
    /// Files, archives, folders, runs, or `-`.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The list as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) evidence: Evidence,
}

/// What the user says of evidence that no target describes.
#[derive(ClapArgs, Clone, Default)]
pub(crate) struct Evidence {
    /// The pattern that means ready, for logs that no target describes.
    #[arg(long, value_name = "REGEX")]
    pub(crate) ready: Option<String>,
    /// Read all files as this format instead of looking what they are.
    #[arg(long = "as", value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Two lines tell of one moment: joins the clocks of their files.
    #[arg(long, value_name = "FILE:LINE=FILE:LINE")]
    pub(crate) align: Vec<String>,
    /// Add seconds to the times of a file, to get those of the first file.
    #[arg(long, value_name = "FILE=SECONDS")]
    pub(crate) offset: Vec<String>,
}

#[derive(ClapArgs)]
pub(crate) struct Report {
    /// Evidence of one boot: runs, files, archives, folders, or `-`.
    #[arg(required = true, value_name = "RUN|FILE")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write; its extension says which format.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// A run to compare with.
    #[arg(long, value_name = "RUN")]
    pub(crate) before: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) evidence: Evidence,
}

#[derive(ClapArgs)]
pub(crate) struct Advise {
    /// The target's folder (it is booted), or a recorded run.
    pub(crate) target: PathBuf,
    /// The findings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

#[derive(ClapArgs)]
pub(crate) struct Try {
    /// The target's folder.
    pub(crate) target: PathBuf,
    /// Recipes, each measured on its own: NAME or NAME=VALUE; `bootlap recipes` lists them.
    #[arg(required = true, value_name = "RECIPE")]
    pub(crate) recipes: Vec<String>,
    /// Measure all of them together as well.
    #[arg(long)]
    pub(crate) together: bool,
    /// Layout perturbations on each side; fewer than 4 prove nothing.
    #[arg(short = 'k', long, value_name = "K", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(4..=1000))]
    pub(crate) layouts: u32,
    /// The results as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
}

#[derive(ClapArgs)]
pub(crate) struct Apply {
    /// The target's folder.
    pub(crate) target: PathBuf,
    /// Recipes, applied one after the other.
    #[arg(required = true, value_name = "RECIPE")]
    pub(crate) recipes: Vec<String>,
    /// The folder to write; it must not exist.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Where packages and compressed images are kept.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct Catalogue {
    /// The list as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
