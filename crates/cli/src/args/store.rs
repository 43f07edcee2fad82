//! `bootlap store`: its arguments.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap store list
  bootlap store verify
  bootlap store clean --to 500MB")]
pub(crate) struct Store {
    #[command(subcommand)]
    pub(crate) action: Action,
    /// The folder of kept boots [default: $BOOTLAP_STORE, or store in the cache].
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) store: Option<PathBuf>,
    /// The cache that it is in.
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) cache: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(crate) enum Action {
    /// List the boots: what, how long, when and where it was made, when it was used.
    List {
        /// Print the list as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Read all boots, and take away those that are not what was written.
    Verify {
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Take over the boots of other stores, such as those of shards.
    Merge {
        /// Their folders.
        #[arg(required = true, value_name = "DIR")]
        from: Vec<PathBuf>,
    },
    /// Take away the boots that were used longest ago.
    Clean {
        /// Leave at most so much.
        #[arg(long, value_name = "SIZE", value_parser = size, default_value = "2GB")]
        to: u64,
        /// Take all away; a store that was distrusted is trusted again.
        #[arg(long, conflicts_with = "to")]
        all: bool,
    },
}

/// Bytes, as 500MB or 2GB.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let units = [
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1000),
        ("", 1),
    ];
    let said = units.iter().find_map(|(unit, of)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        (number >= 0.0 && number.is_finite()).then(|| (number * f64::from(*of)) as u64)
    });
    said.ok_or_else(|| "write a size, such as 500MB or 2GB".to_owned())
}
