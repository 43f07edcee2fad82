//! `bootlap explain`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::Evidence;

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap explain loop_init --kernel ~/src/linux
  bootlap explain --kernel ~/src/linux --config /boot/config-6.1.0 --log dmesg.txt
  bootlap explain --kernel ~/src/linux --log runs/board --limit 10 --json")]
pub(crate) struct Explain {
    /// Initcalls or functions, as logs name them.
    #[arg(value_name = "SYMBOL", required_unless_present = "log")]
    pub(crate) symbols: Vec<String>,
    /// The kernel's source tree, unpacked; it is only read.
    #[arg(long, value_name = "DIR")]
    pub(crate) kernel: PathBuf,
    /// The options that it was built with [default: .config in the tree].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The folder below arch/, or the compiler's name for it [default: from the
    /// options, the log, or this machine].
    #[arg(long, value_name = "ARCH")]
    pub(crate) arch: Option<String>,
    /// Evidence of one boot with initcall_debug: its initcalls, or the times
    /// of SYMBOL (repeatable).
    #[arg(long, value_name = "RUN|FILE")]
    pub(crate) log: Vec<PathBuf>,
    /// Number of rows; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) limit: usize,
    /// Print the result as JSON (docs/schema/explain.json).
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) evidence: Evidence,
}
