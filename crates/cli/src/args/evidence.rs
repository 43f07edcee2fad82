//! What was recorded, to be read: `show`, `inspect` and `report`.

use std::path::PathBuf;

use bootlap_engine::evidence::ReadOptions;
use bootlap_report::table::By;
use clap::Args as ClapArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::recorded::recorded;

/// What `--by` takes: these tables.
pub(super) fn by(tables: &'static [By]) -> impl TypedValueParser<Value = By> {
    let value = |by: &By| PossibleValue::new(by.names().0).help(by.names().1);
    let named = |name: String| tables.iter().copied().find(|by| by.text() == name);
    PossibleValuesParser::new(tables.iter().map(value)).try_map(move |name| named(name).ok_or("?"))
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap show boot.log
  bootlap show @last --by initcalls --limit 10
  bootlap show kiosk@2 dmesg.txt plot.json --ready 'login:'

@last is the last run in the folder runs, @2 the one before it, kiosk@last the last of kiosk.")]
pub(crate) struct Show {
    /// Evidence of one boot: runs, files, archives, folders, or `-`.
    #[arg(required = true, value_name = "RUN|FILE", value_parser = recorded())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Show a table of these instead of the summary.
    #[arg(long, value_parser = by(By::ALL))]
    pub(crate) by: Option<By>,
    /// Number of rows; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) limit: usize,
    /// Only rows whose name or text matches.
    #[arg(long, value_name = "REGEX")]
    pub(crate) grep: Option<String>,
    /// Leave out processes that bootchart leaves out, and say which.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Print the table's rows, or the whole report, as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) evidence: Evidence,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap inspect boot.log
  bootlap inspect logs/ --json")]
pub(crate) struct Inspect {
    /// Files, archives, folders, runs, or `-`.
    #[arg(required = true, value_name = "FILE", value_parser = recorded())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Print the list as JSON.
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
    /// Read all files as this format instead of detecting it.
    #[arg(long = "as", value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Two lines of the same moment, to align the clocks of their files.
    #[arg(long, value_name = "FILE:LINE=FILE:LINE")]
    pub(crate) align: Vec<String>,
    /// Seconds to add to a file's times to match the first file.
    #[arg(long, value_name = "FILE=SECONDS")]
    pub(crate) offset: Vec<String>,
}

impl Evidence {
    /// The same for the engine.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            ready: self.ready.clone(),
            format: self.format.clone(),
            align: self.align.clone(),
            offset: self.offset.clone(),
        }
    }
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap report @last -o boot.html
  bootlap report @last --before @2 -o change.html -o -
  bootlap report dmesg.txt plot.json --by units -o units.svg
  bootlap report runs/gateway/2026-11-21_17-45-27 --each -o boots.html")]
pub(crate) struct Report {
    /// Evidence of one boot: runs, files, archives, folders, or `-`. A folder or file with
    /// several boots makes a page of all of them (.html), other formats are of the first.
    #[arg(required = true, value_name = "RUN|FILE", value_parser = recorded())]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write; its extension selects the format (repeatable). `-` is standard output
    /// as Markdown, `-.svg` as SVG, and so on.
    #[arg(
        short,
        long,
        required = true,
        value_name = "FILE",
        allow_hyphen_values = true
    )]
    pub(crate) out: Vec<PathBuf>,
    /// What the boot is called, instead of its target's or files' names.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// What a picture (.svg) or stacks (.folded) show. Default of pictures: the first
    /// of units, processes, initcalls, phases that the boot has.
    #[arg(long, value_parser = by(By::ALL))]
    pub(crate) by: Option<By>,
    /// A run to compare with.
    #[arg(long, value_name = "RUN", value_parser = recorded())]
    pub(crate) before: Option<PathBuf>,
    /// Of several boots, write the page of each, too: beside the page of all of them, as
    /// `boots-1.html` and so on.
    #[arg(long, conflicts_with_all = ["before", "by"])]
    pub(crate) each: bool,
    #[command(flatten)]
    pub(crate) evidence: Evidence,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap serve                     reports below this folder
  bootlap serve bootlap-here --port 0
  ssh -L 8017:127.0.0.1:8017 lab    and then in a browser here: http://127.0.0.1:8017/")]
pub(crate) struct Serve {
    /// The folder with reports (.html, at any depth).
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The port; 0 takes any that is free.
    #[arg(long, value_name = "N", default_value_t = 8017)]
    pub(crate) port: u16,
}
