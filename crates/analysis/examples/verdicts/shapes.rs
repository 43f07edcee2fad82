//! How often a sample is said to have two clusters, or outliers.

use bootlap_analysis::Shape;

use crate::noise::{Random, SIGMA_NS};
use crate::table::{Table, percent};

const SAMPLES: u32 = 10_000;
const SIZES: [usize; 6] = [8, 12, 16, 20, 32, 50];

/// How one boot's time is drawn, σ.
type Draw = fn(&mut Random) -> f64;

fn two(random: &mut Random, apart: f64, share: f64) -> f64 {
    let z = random.normal();
    z + if random.uniform() < share { apart } else { 0.0 }
}

const ONE: [(&str, Draw); 5] = [
    ("normal", |r| r.normal()),
    ("uniform", |r| r.uniform() * 12f64.sqrt()),
    ("skewed (log-normal)", |r| (0.75 * r.normal()).exp()),
    ("exponential", |r| -r.uniform().ln()),
    ("heavy tails (Student, 3)", |r| {
        let chi: f64 = (0..3).map(|_| r.normal().powi(2)).sum();
        r.normal() / (chi / 3.0).sqrt()
    }),
];

const TWO: [(&str, Draw); 7] = [
    ("50 : 50, 3 σ apart", |r| two(r, 3.0, 0.5)),
    ("50 : 50, 4 σ apart", |r| two(r, 4.0, 0.5)),
    ("50 : 50, 6 σ apart", |r| two(r, 6.0, 0.5)),
    ("50 : 50, 10 σ apart", |r| two(r, 10.0, 0.5)),
    ("70 : 30, 4 σ apart", |r| two(r, 4.0, 0.3)),
    ("70 : 30, 6 σ apart", |r| two(r, 6.0, 0.3)),
    ("70 : 30, 10 σ apart", |r| two(r, 10.0, 0.3)),
];

fn sample(draw: Draw, size: usize, random: &mut Random) -> Vec<i64> {
    let values = (0..size).map(|_| (2e9 + SIGMA_NS * draw(random)).round() as i64);
    values.collect()
}

/// The share of samples that `says` something of.
fn rate(draw: Draw, size: usize, says: impl Fn(Vec<i64>, &mut Random) -> bool) -> String {
    let said = (0..SAMPLES).filter(|&i| {
        let mut random = Random::new(0x5a_0000_0000 | u64::from(i));
        let values = sample(draw, size, &mut random);
        says(values, &mut random)
    });
    percent(100.0 * said.count() as f64 / f64::from(SAMPLES), 1)
}

fn rates(draw: Draw, says: impl Fn(Vec<i64>, &mut Random) -> bool + Copy) -> Vec<String> {
    SIZES.map(|size| rate(draw, size, says)).to_vec()
}

fn head() -> Vec<String> {
    let sizes = SIZES.map(|size| format!("{size} boots"));
    [vec!["times".to_owned()], sizes.to_vec()].concat()
}

/// Two clusters said where there is one.
pub(crate) fn false_clusters() -> Table {
    let mut table = Table::new(head());
    for (name, draw) in ONE {
        table.row(name, rates(draw, |v, _| Shape::of(&v).modes.is_some()));
    }
    table
}

/// Two clusters said where there are two; one more row has an outlier besides.
pub(crate) fn true_clusters() -> Table {
    let mut table = Table::new(head());
    for (name, draw) in TWO {
        table.row(name, rates(draw, |v, _| Shape::of(&v).modes.is_some()));
    }
    let hung = rates(TWO[2].1, |mut values, random| {
        values[0] += (SIGMA_NS * (10.0 + 20.0 * random.uniform())) as i64;
        Shape::of(&values).modes.is_some()
    });
    table.row("50 : 50, 6 σ apart, one boot 10 to 30 σ late", hung);
    table
}

/// Samples with a flagged boot.
pub(crate) fn outliers() -> Table {
    let mut table = Table::new(head());
    for (name, draw) in [ONE[0], ONE[2]] {
        let name = format!("{name}, as it is");
        table.row(
            &name,
            rates(draw, |v, _| !Shape::of(&v).outliers.is_empty()),
        );
    }
    let late = rates(ONE[0].1, |mut values, _| {
        values[0] += (10.0 * SIGMA_NS) as i64;
        Shape::of(&values).outliers.contains(&0)
    });
    table.row("normal, one boot 10 σ late: it is flagged", late);
    table
}
