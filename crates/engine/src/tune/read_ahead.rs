//! What the tuned boot reads of its disk, read ahead. The list is known only once all else is, so
//! it is tried last.

use std::fs;
use std::path::Path;

use bootlap_analysis::Verdict;
use bootlap_analysis::tune::{Bench, Candidate, Depth, Fate, Found, Out, Set, Step};
use bootlap_lab::{Mode, Run};
use bootlap_product::recipe::Choice;
use bootlap_report::tuning::LeftOut;
use bootlap_rootfs::layout;

use super::TuneOptions;
use super::bench::LabBench;
use super::candidates::{Candidates, PRELOAD, wants_list};
use crate::evidence::{disk_files, read_run};
use crate::experiment::Stop;
use crate::failure::{Exit, Failure};

const LIST: &str = "reads.txt";

/// Adds the recipe to what was found, if it saves time: where disks take time, and nobody has
/// named a list or said to do without.
pub(super) fn add(
    bench: &mut LabBench<'_, '_, '_>,
    found: &mut Found,
    all: &mut Candidates,
    options: &TuneOptions,
) -> Result<(), Stop> {
    let stock = bench.stock;
    if !wants_list(PRELOAD, options) {
        return Ok(());
    }
    if stock.mode() != Mode::Modelled || stock.target.spec.disk.is_none() {
        if !options.only.is_empty() {
            all.refused.push(not_tried(
                "only a [disk] in the time of a [board] takes time",
            ));
        }
        return Ok(());
    }
    let choice = match list_of(bench, &found.set) {
        Ok(choice) => choice,
        Err(failure) => {
            all.refused.push(not_tried(&failure.message));
            return Ok(());
        }
    };
    let at = all.choices.len();
    let candidate = Candidate {
        name: format!("{PRELOAD}={LIST}"),
        kind: PRELOAD.to_owned(),
    };
    for (choices, names) in [
        (&mut all.choices, &mut all.names),
        (&mut bench.choices, &mut bench.names),
    ] {
        choices.push(choice.clone());
        names.push(candidate.clone());
    }
    let more: Set = found.set.iter().copied().chain([at]).collect();
    let fate = bench
        .compare(&found.set, &[more], Depth::Sure)?
        .into_iter()
        .next();
    let out = match fate {
        Some(Fate::Measured(effect)) if effect.verdict == Verdict::Faster => {
            bench.step(&Step::Added(at, effect));
            found.set.insert(at);
            found.order.push(at);
            return Ok(());
        }
        Some(Fate::Measured(effect)) => Out::NoGain(Some(effect)),
        Some(Fate::Refused(why)) => Out::Refused(why),
        Some(Fate::Broken(why)) => Out::Broken(why),
        None => Out::NoGain(None),
    };
    found.out.insert(at, out);
    Ok(())
}

fn not_tried(why: &str) -> LeftOut {
    LeftOut {
        recipe: PRELOAD.to_owned(),
        why: format!("not tried: {why}"),
        saved_ns: None,
    }
}

/// The recipe with what a boot of `set` read, as a list beside the boots.
fn list_of(bench: &mut LabBench<'_, '_, '_>, set: &Set) -> Result<Choice, Failure> {
    let internal = |why: String| Failure::new(Exit::Internal, why);
    let side = bench.side(set).map_err(internal)?;
    let run = bench.experiment.runs(&side.name).first();
    let run = run.ok_or_else(|| internal(format!("no boot of {} is kept", side.name)))?;
    let path = bench.experiment.dir().join(LIST);
    write_list(run, &path)?;
    Ok(Choice::parse(&format!("{PRELOAD}={}", path.display()))?)
}

fn write_list(run: &Run, path: &Path) -> Result<(), Failure> {
    let read = disk_files::of_run(run, &read_run(run)?.timeline)?;
    let paths = read.on_root(disk_files::is_mostly_read)?;
    let paths: Vec<&[u8]> = paths.iter().map(|path| path.as_bytes()).collect();
    fs::write(path, layout::for_boot_image(&paths).bytes).map_err(|e| {
        let why = format!("cannot write {}: {e}", path.display());
        Failure::new(Exit::Internal, why)
    })
}
