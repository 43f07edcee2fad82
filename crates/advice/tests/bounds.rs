//! Whatever a log says: no saving is longer than the boot, no phase leaves it, and nothing
//! that was not asked for makes a boot a failed one.

use std::fs;
use std::path::Path;

use bootlap_advice::{Boot, SavingKind, advise};
use bootlap_analysis::{costs, extent, phases};
use proptest::prelude::*;

#[path = "common/logs.rs"]
mod logs;

use logs::read;

/// All lines that the cases of the rules have, without their times.
fn pool() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    let texts = files.iter().map(|file| fs::read_to_string(file).unwrap());
    let lines = texts.flat_map(|text| {
        let lines = text.lines().map(|line| match line.rsplit_once("] ") {
            Some((_, said)) if line.starts_with('[') => said.to_owned(),
            _ => String::new(),
        });
        lines.filter(|said| !said.is_empty()).collect::<Vec<_>>()
    });
    let mut all: Vec<String> = lines.collect();
    all.sort();
    all.dedup();
    all
}

proptest! {
    #[test]
    fn no_saving_exceeds_its_boot(
        steps in prop::collection::vec((any::<prop::sample::Index>(), 0..3_000_000u64), 1..80),
    ) {
        let pool = pool();
        let mut log = String::from("[    0.000000] Linux version 6.1.0 (a@b)\n");
        let mut us = 0;
        for (line, step) in steps {
            us += step;
            let (s, us) = (us / 1_000_000, us % 1_000_000);
            log.push_str(&format!("[{s:5}.{us:06}] {}\n", line.get(&pool)));
        }
        let timeline = read(&[&log]);
        let Some(extent) = extent(&timeline) else { return Ok(()) };
        for phase in phases(&timeline) {
            prop_assert!(extent.start.ns <= phase.start.ns && phase.end.ns <= extent.end.ns);
        }
        for cost in costs(&timeline, 20) {
            prop_assert!(cost.duration_ns <= extent.duration_ns(), "{cost:?}");
        }
        for finding in advise(&Boot::new(&timeline)) {
            if finding.saving.kind == SavingKind::ThisBoot {
                let all = extent.last.ns - extent.start.ns;
                prop_assert!(finding.saving.ns <= all, "{finding:?}");
            }
        }
    }
}
