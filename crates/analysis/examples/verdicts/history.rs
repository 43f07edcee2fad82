//! How often a history names a change where there is none, and how soon where
//! there is one.

use bootlap_analysis::changes::{Kind, Sensitivity, changes};

use crate::noise::{Machine, Noise, Random, SIGMA_NS};
use crate::table::{Table, percent};

/// Histories of each kind.
const HISTORIES: u32 = 1_000;
const LENGTHS: [u32; 5] = [10, 20, 50, 100, 300];
const SOON: [u32; 4] = [1, 2, 3, 5];

const NOISES: [Noise; 8] = [
    Noise::Normal,
    Noise::LogNormal,
    Noise::Bimodal,
    Noise::Ticks,
    Noise::Outliers,
    Noise::Following(0.3),
    Noise::Following(0.5),
    Noise::Walk(0.25),
];

/// Where the history of so many results changed, σ later from `step` on.
fn places(noise: Noise, results: u32, step: Option<(u32, f64)>, seed: u64) -> Vec<usize> {
    let mut random = Random::new(16 << 32 | seed);
    let mut machine = Machine::new(noise, 0.0, results, &mut random);
    let series = (0..results).map(|at| {
        let by = step
            .filter(|(from, _)| at >= *from)
            .map_or(0.0, |(_, by)| by);
        (machine.boot(false) as f64 + by * SIGMA_NS).round()
    });
    let series: Vec<f64> = series.collect();
    let changes = changes(&series, Kind::Measured(0.0), &Sensitivity::default());
    changes.iter().map(|c| c.at).collect()
}

/// Changes in 100 results that are none.
pub(crate) fn false_changes() -> Table {
    let heads = LENGTHS.map(|n| format!("{n} results"));
    let mut table = Table::new([vec!["times".to_owned()], heads.to_vec()].concat());
    for noise in NOISES {
        let cells = LENGTHS.map(|results| {
            let found = (0..HISTORIES).map(|i| places(noise, results, None, i.into()).len());
            let found: usize = found.sum();
            percent(100.0 * found as f64 / f64::from(HISTORIES * results), 2)
        });
        table.row(&noise.text(), cells.to_vec());
    }
    table
}

/// Steps of 5 σ that are named, at their place or next to it.
pub(crate) fn true_changes() -> Table {
    let heads = SOON.map(|n| format!("after {n}"));
    let first = ["times".to_owned(), "results before".to_owned()];
    let mut table = Table::new([first.to_vec(), heads.to_vec()].concat());
    for noise in [NOISES[0], NOISES[1], NOISES[4], NOISES[5]] {
        for before in [10, 20, 50] {
            let cells = SOON.map(|after| {
                let found = (0..HISTORIES).filter(|&i| {
                    let at = places(noise, before + after, Some((before, 5.0)), i.into());
                    at.iter().any(|at| at.abs_diff(before as usize) <= 1)
                });
                percent(100.0 * found.count() as f64 / f64::from(HISTORIES), 0)
            });
            table.row(
                &noise.text(),
                [vec![before.to_string()], cells.to_vec()].concat(),
            );
        }
    }
    table
}
