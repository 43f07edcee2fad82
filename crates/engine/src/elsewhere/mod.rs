//! Boots on other machines.
//!
//! Which machine, and when, is for an engine that people have: any command that runs
//! another one somewhere and waits for it (`srun`, `ssh HOST`, `docker run`, `kubectl
//! run`). A boot becomes a *job* in a folder that both sides see; the command runs
//! `bootlap boot-job` there; what comes back is a run with all that it depends on, checked
//! as a kept boot is. So it does not matter where a boot was made, in which order results
//! come, or how often a machine died before.

mod job;
mod worker;

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bootlap_lab::{LabError, Qemu, Run, run_until};
use bootlap_model::shell_word;
use bootlap_store::{Entry, Exchange};

use crate::kept::{Made, Wanted, as_made, read_entry};
use crate::progress::Progress;
use job::BootJob;
pub use worker::boot_job;

/// How long to wait before a boot is tried again whose machine died or refused it: engines
/// take their time to see that a machine is gone.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(8),
];
/// So often it is tried.
const ATTEMPTS: usize = PAUSES.len() + 1;
/// So much longer than the boot itself may take may its machine be silent.
const SLACK: Duration = Duration::from_secs(120);
/// How often it is looked whether a boot has begun. In a queue it may wait for ever.
const LOOK: Duration = Duration::from_secs(2);

/// How other machines are reached.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    /// The command of a shell, which runs what follows it on another machine; or with
    /// `{job}` where `boot-job JOB` belongs.
    pub command: String,
    /// bootlap, as it is called there.
    pub program: PathBuf,
}

/// Has boots made on other machines.
pub(crate) struct Runner {
    elsewhere: Elsewhere,
    exchange: Exchange,
    /// Set by Ctrl-C: jobs are called back before the program ends.
    stop: Arc<AtomicBool>,
}

/// Why a job came to nothing.
enum Lost {
    /// Another machine may do better.
    Here(String),
    /// Nobody can help it.
    Everywhere(LabError),
}

impl From<LabError> for Lost {
    fn from(e: LabError) -> Self {
        Lost::Everywhere(e)
    }
}

impl Runner {
    /// Jobs are put into `place`: a folder, or a URL.
    pub(crate) fn new(elsewhere: Elsewhere, place: &str, stop: Arc<AtomicBool>) -> Self {
        Self {
            elsewhere,
            exchange: Exchange::at(place),
            stop,
        }
    }

    /// Has the boot made, wherever that is.
    pub(crate) fn make(
        &self,
        wanted: &Wanted<'_>,
        machine: &Qemu,
        progress: &dyn Progress,
    ) -> Result<Made, LabError> {
        let mut why = String::new();
        for attempt in 0..ATTEMPTS {
            let id = format!("{:.12}-{:016x}", wanted.inputs.key(), random());
            let made = self.attempt(&id, wanted, machine);
            self.exchange.remove(&id);
            match made {
                Ok(made) => return Ok(made),
                Err(Lost::Everywhere(e)) => return Err(e),
                Err(Lost::Here(_)) if self.stop.load(Ordering::Relaxed) => {
                    let why = "interrupted; start it again, and it goes on from here";
                    return Err(LabError::Machine(why.into()));
                }
                Err(Lost::Here(is)) => why = is,
            }
            if let Some(pause) = PAUSES.get(attempt) {
                progress.note(&format!(
                    "bootlap: a boot is tried again ({} of {ATTEMPTS}): {why}",
                    attempt + 2
                ));
                std::thread::sleep(*pause);
            }
        }
        Err(LabError::Machine(format!(
            "a boot could not be made elsewhere in {ATTEMPTS} attempts, the last time since {why}\n\
             \x20        See whether `{}` finds its job there, and leave out --on to boot here",
            self.command("ID")
        )))
    }

    fn attempt(&self, id: &str, wanted: &Wanted<'_>, machine: &Qemu) -> Result<Made, Lost> {
        let failed = |e: &dyn std::fmt::Display| LabError::Machine(e.to_string());
        let patience = u64::try_from(wanted.patience.as_millis()).unwrap_or(u64::MAX);
        let (inputs, manifest) = (wanted.inputs, &wanted.manifest);
        let job = BootJob::send(machine, inputs, manifest, patience, &self.exchange);
        let job = job.map_err(|e| failed(&e))?;
        let job = serde_json::to_vec(&job).map_err(|e| failed(&e))?;
        self.exchange
            .put(id, Exchange::JOB, &job)
            .map_err(|e| failed(&e))?;
        let ran = self.run(id, wanted.patience);
        if let Ok(Some(result)) = self.exchange.get(id, Exchange::RESULT) {
            let node = self.exchange.get(id, Exchange::BEGUN).ok().flatten();
            let node = String::from_utf8_lossy(&node.unwrap_or_default()).into_owned();
            return received(&result, node, wanted);
        }
        let refused = self.exchange.get(id, Exchange::REFUSED).ok().flatten();
        Err(Lost::Here(match (refused, ran) {
            (Some(why), _) => String::from_utf8_lossy(&why).into_owned(),
            (None, Err(why)) => why,
            (None, Ok(())) => format!("`{}` ended without a result", self.command("JOB")),
        }))
    }

    /// Runs the job until its command ends.
    fn run(&self, id: &str, patience: Duration) -> Result<(), String> {
        let mut begun: Option<Instant> = None;
        let mut looked = Instant::now();
        let mut enough = || {
            if self.stop.load(Ordering::Relaxed) {
                return Some("was stopped".to_owned());
            }
            if begun.is_none() && looked.elapsed() > LOOK {
                looked = Instant::now();
                begun = self.exchange.has(id, Exchange::BEGUN).then(Instant::now);
            }
            let most = patience + SLACK;
            let silent = begun.is_some_and(|at| at.elapsed() > most);
            silent.then(|| format!("began, but said nothing for {} s", most.as_secs()))
        };
        run_until(&self.command(id), None, &[], &mut enough).map(drop)
    }

    fn command(&self, id: &str) -> String {
        let Elsewhere { command, program } = &self.elsewhere;
        let job = format!("boot-job {}", shell_word(self.exchange.job(id)));
        match command.contains("{job}") {
            true => command.replace("{job}", &job),
            false => format!("{command} {} {job}", shell_word(program.display())),
        }
    }
}

/// A run of what came back, checked as a kept boot is.
fn received(result: &[u8], node: String, wanted: &Wanted<'_>) -> Result<Made, Lost> {
    let entry = Entry::of(result).map_err(|e| Lost::Here(e.to_string()))?;
    let (about, was) = read_entry(&entry, &wanted.inputs.key()).map_err(Lost::Here)?;
    if let Some(name) = about.changed(wanted.places) {
        return Err(Lost::Here(format!(
            "it was made where {name}, which its QEMU reads, is not the same as here"
        )));
    }
    let manifest = as_made(&wanted.manifest, &was);
    let run = Run::place(wanted.dir, manifest, &entry.files).map_err(LabError::from)?;
    Ok(Made {
        run,
        host_files: Some(about.into_host_files()),
        node,
    })
}

fn random() -> u64 {
    RandomState::new().hash_one(())
}
