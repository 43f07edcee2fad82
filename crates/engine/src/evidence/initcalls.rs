//! The initcalls of a boot, and which options stand behind them, where the kernel
//! was built from source here.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bootlap_kbuild::{Asked, DiskTree, Explained, Kernel, Module};
use bootlap_model::{Axis, Timeline, TrackKind};
use bootlap_product::{Cache, Target};
use bootlap_report::explain::ExplainRow;

use crate::failure::Failure;
use crate::progress::Progress;

/// Device probes have spans among the initcalls, named by their devices.
const PROBES: &str = "device probes";

/// From here on an initcall is worth looking up, ns.
const WORTH_NS: i64 = 1_000_000;

/// The initcalls of a boot, the slowest first.
pub fn all(timeline: &Timeline) -> Vec<ExplainRow> {
    let axis = Axis::of(timeline);
    let mut rows = Vec::new();
    for span in timeline.spans_of(TrackKind::Initcall) {
        if timeline.text(timeline.track_of(span).name) == PROBES {
            continue;
        }
        let mut row = ExplainRow::of(timeline.text(span.name));
        let fact = |key| timeline.arg(span, key).map(str::to_owned);
        let asked = &mut row.explained.asked;
        asked.module = fact("module").or(asked.module.take());
        asked.level = fact("level").or(asked.level.take());
        row.time_ns = axis.span(span).and_then(|placed| placed.duration_ns());
        rows.push(row);
    }
    rows.sort_by_key(|row| Reverse(row.time_ns.unwrap_or(i64::MAX)));
    rows
}

/// Of each initcall that takes long, the option that would take it away; nothing
/// for a kernel that was not built here.
pub fn options(
    target: &Target,
    timeline: &Timeline,
    cache: &Cache,
    progress: &dyn Progress,
) -> Result<BTreeMap<String, String>, Failure> {
    let none = BTreeMap::new();
    let built = target.builds(cache, &|what| progress.step(what))?;
    let Some((_, built)) = built.into_iter().find(|(section, _)| *section == "kernel") else {
        return Ok(none);
    };
    let calls = all(timeline).into_iter();
    let long = calls.filter(|call| call.time_ns.is_none_or(|ns| ns >= WORTH_NS));
    let asked: Vec<Asked> = long.map(|call| call.explained.asked).collect();
    let arch = built.config.arch().map(str::to_owned);
    let (Some(arch), false) = (arch, asked.is_empty()) else {
        return Ok(none);
    };
    progress.step(&format!("reading {}", built.tree.display()));
    // Without the source there is less advice, and no reason to fail.
    let Ok(tree) = DiskTree::open(&built.tree) else {
        return Ok(none);
    };
    let Ok(kernel) = Kernel::open(&tree, &arch, Some(built.config)) else {
        return Ok(none);
    };
    let explained = kernel.explain(&asked, false);
    Ok(explained.iter().filter_map(switch).collect())
}

/// A function and its option, if a menu offers to switch that off.
fn switch(explained: &Explained) -> Option<(String, String)> {
    let [place] = &explained.places[..] else {
        return None;
    };
    let option = place.option()?;
    let free = option.prompt.is_some() && option.selected_by.is_empty();
    let decides = matches!(place.modular, Module::Possible | Module::Bool);
    (free && decides).then(|| (explained.asked.function.clone(), option.name.clone()))
}
