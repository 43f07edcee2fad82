//! `.tgz`, `.tar.gz`: an archive as bootchart makes them, for the tools that read
//! those.
//!
//! ```text
//! header  proc_stat.log  proc_diskstats.log  proc_ps.log
//! ```
//!
//! The processes of a boot, from whatever evidence saw them ([`tasks`]), are listed
//! as often as the evidence itself looked, else every 200 ms ([`samples`]). CPUs and
//! disks are what was counted, else CPUs are what the processes used ([`counted`]).
//! Blocks begin with a time in 1/100 s, as in
//! `crates/sources/src/bootchart`, which reads them back.
//!
//! What the format cannot say: of CPU time only the total of a process is known, so
//! it grows evenly and is all user time; threads are in their processes; a boot that
//! this one is compared with is not in it. Times are those of the reference clock;
//! if one is negative all are moved by whole seconds, and the title says so.

mod counted;
mod members;
mod samples;
mod tasks;

use std::io::{self, Write};

use bootlap_model::Axis;
use bootlap_report::Report;
use bootlap_report::table::By;
use bootlap_report::{Sink, SinkError};
use libdeflater::{CompressionLvl, Compressor};

/// The format's times are in hundredths of a second.
const JIFFY_NS: i64 = 10_000_000;

/// The format.
pub(crate) const BOOTCHART: Sink = Sink {
    name: "bootchart",
    title: "an archive for the tools that draw bootchart's",
    extensions: &["tgz", "tar.gz"],
    choices: &[],
    write,
};

fn write(report: &Report<'_>, _: Option<By>, out: &mut dyn Write) -> Result<(), SinkError> {
    let timeline = report.timeline;
    let tasks = tasks::of(timeline, report.answers.processes(false));
    if tasks.all.is_empty() {
        return Err(SinkError::NoProcesses);
    }
    let axis = Axis::of(timeline);
    let samples = samples::Samples::of(&tasks, &samples::own(timeline, &axis));
    let listed = members::list(&tasks, &samples);
    let rates = counted::Rates {
        timeline,
        axis: &axis,
        samples: &samples,
        end_ns: tasks.last.saturating_mul(JIFFY_NS),
    };
    let cpus = counted::cpus(&rates, &tasks, &listed.used);
    let archive = archive(&[
        ("header", members::header(report, &tasks, &samples)),
        ("proc_stat.log", members::blocks(&samples, &cpus)),
        (
            "proc_diskstats.log",
            members::blocks(&samples, &counted::disks(&rates)),
        ),
        ("proc_ps.log", listed.text),
    ])?;
    Ok(out.write_all(&gzip(&archive)?)?)
}

/// Members in a tar archive of nobody and no time, so that equal boots are equal.
fn archive(members: &[(&str, String)]) -> io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, text) in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, name, text.as_bytes())?;
    }
    archive.into_inner()
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressor = Compressor::new(CompressionLvl::default());
    let mut out = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let len = compressor.gzip_compress(bytes, &mut out);
    out.truncate(len.map_err(io::Error::other)?);
    Ok(out)
}
