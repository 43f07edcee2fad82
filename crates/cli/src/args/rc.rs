//! `bootlap rc`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::Evidence;

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap rc rootfs/etc/init.d
  bootlap rc rootfs/etc/rcS.d -o rootfs/etc/bootlap-rc.plan
  bootlap rc rootfs/etc/rcS.d --times rc.log --cpus 2")]
pub(crate) struct Rc {
    /// The folder of init scripts, in a copy of the target's root.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// The plan to write, for bootlap-agent rc.
    #[arg(short, long, value_name = "PLAN")]
    pub(crate) out: Option<PathBuf>,
    /// The folder's place on the target [default: its path from etc/ on, otherwise /etc/init.d].
    #[arg(long, value_name = "DIR")]
    pub(crate) on_target: Option<String>,
    /// Evidence of how long each script took: the agent's log, a kernel's log, a
    /// run (repeatable).
    #[arg(long, value_name = "FILE|RUN")]
    pub(crate) times: Vec<PathBuf>,
    /// The target's number of CPUs.
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) cpus: u16,
    /// Print the order as JSON (docs/schema/rc.json).
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) evidence: Evidence,
}
