//! The other side: makes the boot of one job, on whatever machine this is.

use std::time::Duration;

use bootlap_lab::{HostFiles, Inputs, LabError, Places, Run, node};
use bootlap_store::Exchange;

use super::job::{self, BootJob};
use crate::evidence;
use crate::failure::{Exit, Failure};
use crate::kept::About;

/// Makes the boot that `path` describes, and puts what came of it beside it.
///
/// # Errors
/// If it cannot be made here: also told beside the job.
pub fn boot_job(path: &str) -> Result<(), Failure> {
    let here = |why: String| {
        let why = format!("{}: {why}", node());
        Failure::new(Exit::MachineFailed, why)
    };
    let (exchange, id) = Exchange::of_job(path).ok_or_else(|| {
        let why = format!("{path} is not a job: STORE/jobs/ID");
        Failure::new(Exit::Usage, why)
    })?;
    let text = exchange
        .get(&id, Exchange::JOB)
        .map_err(|e| here(e.to_string()))?;
    let text = text.ok_or_else(|| {
        here(format!("{path} is not there")).hint(
            "--store or --share has to be a place that this machine sees, too, under the same name",
        )
    })?;
    let told = exchange.put(&id, Exchange::BEGUN, node().as_bytes());
    let entry = told
        .map_err(|e| e.to_string())
        .and_then(|()| make(&exchange, &text));
    let put = match entry {
        Ok(entry) => exchange.put(&id, Exchange::RESULT, &entry),
        Err(why) => {
            let refused = exchange.put(
                &id,
                Exchange::REFUSED,
                format!("{}: {why}", node()).as_bytes(),
            );
            return Err(here(match refused {
                Ok(()) => why,
                Err(e) => format!("{why}; and {e}"),
            }));
        }
    };
    put.map_err(|e| here(e.to_string()))
}

/// The entry of the boot, packed.
fn make(exchange: &Exchange, text: &[u8]) -> Result<Vec<u8>, String> {
    let job: BootJob = serde_json::from_slice(text).map_err(|e| other_bootlap(&e.to_string()))?;
    if job.format != job::FORMAT {
        return Err(other_bootlap(&format!("its format is {}", job.format)));
    }
    let temporary = tempfile::Builder::new().prefix("bootlap-job-").tempdir();
    let temporary = temporary.map_err(|e| format!("no folder for it can be made: {e}"))?;
    let mut machine = job.receive(exchange, &Places::below(temporary.path()))?;
    match machine.inputs(&job.manifest.ready_pattern) {
        Some(inputs) if inputs == job.inputs => {}
        Some(inputs) => return Err(not_the_same(&job.inputs, &inputs)),
        None => return Err("its QEMU cannot be read here".to_owned()),
    }
    let m = &job.manifest;
    let hints = evidence::hints(
        Some(&m.ready_pattern),
        m.application_pattern.as_deref(),
        m.marks.iter().map(|(n, p)| (n.as_str(), p.as_str())),
    );
    let patience = Duration::from_millis(job.patience_ms);
    let run = temporary.path().join("run");
    let manifest = job.manifest.begun_here();
    let run = bootlap_lab::boot(&mut machine, &run, manifest, &hints, patience);
    let run = run.map_err(|e| e.to_string())?;
    let looked = machine.host_files();
    let looked = looked.ok_or("what its QEMU reads of this host changed meanwhile")?;
    pack(&job.inputs, looked, &run).map_err(|e| e.to_string())
}

fn pack(inputs: &Inputs, looked: HostFiles, run: &Run) -> Result<Vec<u8>, LabError> {
    let about = About::new(&run.manifest.bootlap, inputs, looked);
    let entry = about.entry(run.files()?)?.to_bytes();
    entry.map_err(|e| LabError::Machine(e.to_string()))
}

fn other_bootlap(why: &str) -> String {
    format!("the job is of another version of bootlap ({why})")
}

/// Why a boot made here would not be the one that is wanted.
fn not_the_same(wanted: &Inputs, here: &Inputs) -> String {
    let short = |value: &str| match value.len() {
        64 => value[..12].to_owned(),
        _ => value.to_owned(),
    };
    let what = |name: &str| match name {
        "program" => "QEMU".to_owned(),
        "probe" => "bootlap's probe".to_owned(),
        "recorder" => "bootlap".to_owned(),
        name => name.to_owned(),
    };
    let differences = wanted.differences(here).into_iter();
    let differences = differences.map(|(name, [there, here])| {
        format!("{} is {} and not {}", what(name), short(here), short(there))
    });
    let differences: Vec<String> = differences.collect();
    format!(
        "this machine would make another boot: {}",
        differences.join("; ")
    )
}
