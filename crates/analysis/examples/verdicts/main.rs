//! How often verdicts are wrong, and how many boots they take: simulates
//! experiments whose truth is known, and prints `docs/tables/verdicts.md`.
//!
//!     scripts/table-verdicts > docs/tables/verdicts.md
//!
//! The seed is fixed: the same table every time, on any machine.

use std::io::{self, Write};

use bootlap_analysis::stats::{Effect, bootstrap, correct};
use bootlap_analysis::{Question, Round, Verdict, effect, effect_in_rounds};

mod noise;
mod plan;
mod procedure;
mod shapes;
mod table;

use noise::{Machine, Noise, Random, SIGMA_NS};
use plan::Plan;
use procedure::{Looks, Procedure, Rates, Study};
use table::{Table, percent};

/// Experiments by row of the table of errors; two standard errors of 5 % are
/// 0.2 %.
const MANY: u32 = 40_000;
const EXPERIMENTS: u32 = 10_000;
/// Experiments by row of the bootstrap, which takes a thousand times longer.
const FEW: u32 = 1_000;
/// Boots of each side before the first look.
const FIRST: u32 = 8;
/// What `effect_in_rounds` does.
const ROUNDS: Option<usize> = Some(2);

const NOISES: [Noise; 6] = [
    Noise::Normal,
    Noise::LogNormal,
    Noise::Bimodal,
    Noise::Linear(1.0),
    Noise::Linear(3.0),
    Noise::Walk(0.25),
];

const PLANNED: Procedure = Procedure {
    looks: Looks::Planned(FIRST),
    rounds: None,
};
const IN_ROUNDS: Procedure = Procedure {
    looks: Looks::Planned(FIRST),
    rounds: ROUNDS,
};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let tables = [
        ("{errors}", errors()),
        ("{drift}", drift()),
        ("{power}", power()),
        ("{needed}", needed()),
        ("{equivalent}", equivalent()),
        ("{steps}", steps()),
        ("{bootstrap}", bootstrapped()),
        ("{greedy}", greedy()),
        ("{recipes}", recipes()),
        ("{false clusters}", shapes::false_clusters()),
        ("{true clusters}", shapes::true_clusters()),
        ("{outliers}", shapes::outliers()),
    ];
    let mut page = include_str!("page.md").to_owned();
    for (place, table) in tables {
        page = page.replace(place, table.to_string().trim_end());
    }
    out.write_all(page.as_bytes())
}

fn study(procedure: Procedure, noise: Noise, shift: f64, margin: f64) -> Study {
    Study {
        procedure,
        noise,
        shift,
        margin,
        experiments: EXPERIMENTS,
    }
}

const ERRORS: [&str; 6] = [
    "procedure",
    "times",
    "wrong *faster* or *slower* %",
    "coverage %",
    "wrong *equivalent* %",
    "boots a side",
];

fn error_rows(table: &mut Table, name: &str, procedure: Procedure, noises: &[Noise]) {
    for &noise in noises {
        let rates = |shift, margin, seed| {
            let study = Study {
                experiments: MANY,
                ..study(procedure, noise, shift, margin)
            };
            Rates::of(&study, seed)
        };
        let (same, edge) = (rates(0.0, 0.0, 1), rates(3.0, 3.0, 2));
        let cells = vec![
            noise.text(),
            percent(same.claims(), 2),
            percent(same.coverage(), 2),
            percent(edge.equivalent(), 2),
            percent(same.boots(), 1),
        ];
        table.row(name, cells);
    }
}

fn errors() -> Table {
    let mut table = Table::of(&ERRORS);
    let once = |boots| Procedure {
        looks: Looks::Once(boots),
        rounds: None,
    };
    error_rows(&mut table, "10 + 10 boots", once(10), &NOISES);
    error_rows(&mut table, "16 + 16 boots", once(16), &NOISES);
    error_rows(&mut table, "8, 16, 32", PLANNED, &NOISES);
    error_rows(&mut table, "8, 16, 32 in rounds", IN_ROUNDS, &NOISES);
    table
}

fn drift() -> Table {
    let each = |rounds| Procedure {
        rounds: Some(rounds),
        ..PLANNED
    };
    let rows = [
        ("all boots", PLANNED),
        ("four rounds", each(4)),
        ("two rounds", each(2)),
        ("one round", each(1)),
    ];
    let noises = [
        Noise::Normal,
        Noise::Linear(3.0),
        Noise::Linear(10.0),
        Noise::Walk(0.25),
        Noise::Walk(0.5),
    ];
    let heads = noises.map(Noise::text);
    let mut table = Table::new([vec!["compared among".to_owned()], heads.to_vec()].concat());
    for (name, procedure) in rows {
        let cells = noises.map(|noise| {
            let same = Rates::of(&study(procedure, noise, 0.0, 0.0), 3);
            let faster = Rates::of(&study(procedure, noise, -1.0, 0.0), 4);
            format!(
                "{:.1} · {:.0} · {:.1}",
                same.claims(),
                faster.faster(),
                faster.boots()
            )
        });
        table.row(name, cells.to_vec());
    }
    table
}

fn power() -> Table {
    let mut table = Table::of(&[
        "change, noise 1 %",
        "procedure",
        "found by 8 boots %",
        "by 16 %",
        "by 32 %",
        "the wrong way %",
        "coverage %",
        "boots a side",
    ]);
    for shift in [0.5, 1.0, 2.0, 3.0] {
        for (name, procedure) in [("all boots", PLANNED), ("in rounds", IN_ROUNDS)] {
            let rates = Rates::of(&study(procedure, Noise::Normal, -shift, 0.0), 5);
            let [first, second, last] = rates.by_look();
            let wrong = rates.claims() - rates.faster();
            let cells = vec![
                name.to_owned(),
                percent(first, 1),
                percent(second, 1),
                percent(last, 1),
                percent(wrong, 2),
                percent(rates.coverage(), 1),
                percent(rates.boots(), 1),
            ];
            table.row(&format!("−{shift} %"), cells);
        }
    }
    table
}

fn needed() -> Table {
    let mut table = Table::of(&["change, noise 1 %", "80 % sure", "90 % sure", "99 % sure"]);
    let sizes: Vec<u32> = (4..=20)
        .chain((22..=40).step_by(2))
        .chain((48..=200).step_by(8))
        .collect();
    for shift in [0.5, 1.0, 2.0, 3.0] {
        let mut sizes = sizes.iter();
        let mut power = (0.0, 0);
        let cells = [80.0, 90.0, 99.0].map(|wanted| {
            while power.0 < wanted {
                let Some(&boots) = sizes.next() else { break };
                let procedure = Procedure {
                    looks: Looks::Once(boots),
                    rounds: None,
                };
                let rates = Rates::of(&study(procedure, Noise::Normal, -shift, 0.0), 6);
                power = (rates.faster(), boots);
            }
            match power.0 < wanted {
                true => "more than 200".to_owned(),
                false => power.1.to_string(),
            }
        });
        table.row(&format!("−{shift} %"), cells.to_vec());
    }
    table
}

fn equivalent() -> Table {
    let mut table = Table::of(&[
        "margin, noise 1 %",
        "procedure",
        "*equivalent* %",
        "*faster* or *slower* %",
        "boots a side",
    ]);
    for margin in [0.5, 1.0, 2.0, 3.0] {
        for (name, procedure) in [("all boots", PLANNED), ("in rounds", IN_ROUNDS)] {
            let rates = Rates::of(&study(procedure, Noise::Normal, 0.0, margin), 7);
            let cells = vec![
                name.to_owned(),
                percent(rates.equivalent(), 1),
                percent(rates.claims(), 2),
                percent(rates.boots(), 1),
            ];
            table.row(&format!("± {margin} %"), cells);
        }
    }
    table
}

/// The exact coverage, which only the numbers of boots decide.
fn steps() -> Table {
    let sizes = [4u32, 6, 8, 10, 12, 16, 20, 32];
    let heads = sizes.map(|n| format!("{n} + {n}"));
    let mut table = Table::new([vec!["compared among".to_owned()], heads.to_vec()].concat());
    let exact = |effect: Effect| percent(100.0 * effect.confidence, 1);
    let times = |n: u32| -> Vec<i64> { (0..i64::from(n)).collect() };
    let all = sizes.map(|n| exact(effect(&times(n), &times(n), &Question::once(0))));
    table.row("all boots", all.to_vec());
    let rounds = sizes.map(|n| {
        let round = Round {
            before: times(2),
            after: times(2),
        };
        let rounds = vec![round; n as usize / 2];
        exact(effect_in_rounds(&rounds, &Question::once(0)))
    });
    table.row("two rounds", rounds.to_vec());
    table
}

fn bootstrapped() -> Table {
    let mut table = Table::of(&["times", "boots", "bootstrap %", "test turned round %"]);
    for noise in [Noise::Normal, Noise::LogNormal] {
        for boots in [8u32, 10, 16] {
            let covered = |from: u32, to: u32| {
                let holds = (from..to).filter(|&i| {
                    let mut random = Random::new(8 << 32 | u64::from(i));
                    let mut machine = Machine::new(noise, 0.0, 2 * boots, &mut random);
                    let mut all = Round::default();
                    for _ in 0..boots / 2 {
                        let round = machine.round();
                        all.before.extend(round.before);
                        all.after.extend(round.after);
                    }
                    let interval = bootstrap::interval(&all.before, &all.after, u64::from(i));
                    interval.is_some_and(|[low, high]| low <= 0 && 0 <= high)
                });
                holds.count()
            };
            let held: usize = std::thread::scope(|scope| {
                let half = scope.spawn(|| covered(0, FEW / 2));
                covered(FEW / 2, FEW) + half.join().expect("a simulation does not fail")
            });
            let once = Procedure {
                looks: Looks::Once(boots),
                rounds: None,
            };
            let ours = Rates::of(&study(once, noise, 0.0, 0.0), 8);
            let cells = vec![
                format!("{boots} + {boots}"),
                percent(100.0 * held as f64 / f64::from(FEW), 1),
                percent(ours.coverage(), 1),
            ];
            table.row(&noise.text(), cells);
        }
    }
    table
}

fn greedy() -> Table {
    let mut table = Table::of(&["looks after 8, 16 and 32 boots", "wrong %", "coverage %"]);
    let greedy = Procedure {
        looks: Looks::Greedy(FIRST),
        rounds: None,
    };
    for (name, procedure) in [("each with 5 %", greedy), ("as planned", PLANNED)] {
        let rates = Rates::of(&study(procedure, Noise::Normal, 0.0, 0.0), 9);
        let cells = vec![percent(rates.claims(), 2), percent(rates.coverage(), 2)];
        table.row(name, cells);
    }
    table
}

/// Six recipes that change nothing, tried against one baseline: each goes on
/// until it is sure by itself, and all are corrected at the end.
fn recipes() -> Table {
    const RECIPES: usize = 6;
    let mut wrong = [0u32; 2];
    for i in 0..EXPERIMENTS {
        let mut random = Random::new(10 << 32 | u64::from(i));
        let mut sides = || -> Vec<i64> {
            let boots = (0..4 * FIRST).map(|_| (SIGMA_NS * random.normal()).round() as i64);
            boots.collect()
        };
        let baseline = sides();
        let mut effects: Vec<Effect> = Vec::new();
        for _ in 0..RECIPES {
            effects.push(PLANNED.tell(&Plan::new(FIRST, 0), &baseline, &sides()));
        }
        let claims = |effects: &[Effect]| effects.iter().any(|e| e.verdict != Verdict::Unknown);
        wrong[0] += u32::from(claims(&effects));
        correct(&mut effects);
        wrong[1] += u32::from(claims(&effects));
    }
    let mut table = Table::of(&["six recipes that change nothing", "any claim %"]);
    for (name, wrong) in [("each by itself", wrong[0]), ("corrected (Holm)", wrong[1])] {
        let share = 100.0 * f64::from(wrong) / f64::from(EXPERIMENTS);
        table.row(name, vec![percent(share, 2)]);
    }
    table
}
