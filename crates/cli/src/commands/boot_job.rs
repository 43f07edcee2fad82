//! `bootlap boot-job`: makes the boot of a job, for a bootlap on another machine.

use bootlap_engine::{Exit, Failure, boot_job};

use crate::args::BootJob;

pub(crate) fn run(args: &BootJob) -> Result<Exit, Failure> {
    boot_job(&args.job)?;
    Ok(Exit::Ok)
}
