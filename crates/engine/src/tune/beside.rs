//! Other axes of time, to stand beside the one of the search: what pays depends on them.

use std::fs;
use std::path::PathBuf;

use bootlap_lab::Mode;
use bootlap_report::tuning::{Fall, Waterfall};

use super::bench::LabBench;
use super::ladder;
use crate::experiment::{Side, Stop};
use crate::failure::{Exit, Failure};

/// What earlier searches kept.
pub(super) fn earlier(documents: &[PathBuf]) -> Result<Vec<Waterfall>, Failure> {
    let read = |path: &PathBuf| {
        let failed = |why: String| {
            let failure = Failure::new(Exit::Usage, format!("{}: {why}", path.display()));
            failure.hint("--beside takes the tune.json that an earlier search wrote to its runs")
        };
        let document = fs::read(path).map_err(|e| failed(e.to_string()))?;
        Waterfall::read(&document).map_err(|e| failed(e.to_string()))
    };
    documents.iter().map(read).collect()
}

/// What the steps found in modelled time save by instructions alone, from one boot each:
/// so it is seen what the board makes of them. `None` in any other time, or if one is not
/// ready there.
pub(super) fn instructions_alone(
    bench: &mut LabBench<'_, '_, '_>,
    order: &[usize],
) -> Result<Option<Waterfall>, Failure> {
    if bench.stock.mode() != Mode::Modelled {
        return Ok(None);
    }
    let sides: Vec<Side> = ladder(bench, order)?
        .into_iter()
        .map(|side| Side {
            name: format!("simulated {}", side.name),
            bootable: side.bootable.simulated(),
        })
        .collect();
    let all: Vec<&Side> = sides.iter().collect();
    let boot = bench
        .experiment
        .boot("the same steps in simulated time", &all, 1);
    boot.map_err(Stop::failure)?;
    let ready = |side: &Side| Some(bench.experiment.runs(&side.name).first()?.ready()?.ns);
    let times: Option<Vec<i64>> = sides.iter().map(ready).collect();
    let Some([before_ns, .., after_ns]) = times.as_deref() else {
        return Ok(None);
    };
    let pairs = times.as_deref().unwrap_or_default().windows(2);
    let steps = pairs.zip(order).map(|(pair, at)| Fall {
        recipe: bench.names[*at].name.clone(),
        saved_ns: pair[0] - pair[1],
    });
    Ok(Some(Waterfall {
        axis: "simulated time".to_owned(),
        before_ns: *before_ns,
        after_ns: *after_ns,
        steps: steps.collect(),
        left_out: Vec::new(),
    }))
}
