//! How often verdicts are wrong, and how many boots they take: simulates
//! experiments whose truth is known, and prints `docs/tables/verdicts.md`.
//!
//!     scripts/table-verdicts > docs/tables/verdicts.md
//!
//! The seed is fixed: the same table every time, on any machine.

use std::io::{self, Write};

use bootlap_analysis::stats::{Effect, bootstrap, correct};
use bootlap_analysis::{Question, Verdict, effect, effect_of_pairs};

mod history;
mod noise;
mod plan;
mod procedure;
mod shapes;
mod table;

use noise::{Machine, Noise, Random, SIGMA_NS};
use plan::Plan;
use procedure::{Design, Looks, Procedure, Rates, Study};
use table::{Table, percent};

/// Experiments by row of the table of errors; two standard errors of 5 % are
/// 0.2 %.
const MANY: u32 = 40_000;
const EXPERIMENTS: u32 = 10_000;
/// Experiments by row of the bootstrap, which takes a thousand times longer.
const FEW: u32 = 1_000;
/// Boots of each side before the first look.
const FIRST: u32 = 8;

const NOISES: [Noise; 9] = [
    Noise::Normal,
    Noise::LogNormal,
    Noise::Bimodal,
    Noise::Ticks,
    Noise::Outliers,
    Noise::Following(0.5),
    Noise::Linear(3.0),
    Noise::Linear(10.0),
    Noise::Walk(0.5),
];

const PAIRS: Procedure = Procedure {
    looks: Looks::Planned(FIRST),
    design: Design::Pairs,
};
const TURNS: Procedure = Procedure {
    design: Design::Turns,
    ..PAIRS
};

const fn once(boots: u32, design: Design) -> Procedure {
    Procedure {
        looks: Looks::Once([boots, boots]),
        design,
    }
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let tables = [
        ("{errors}", errors()),
        ("{unequal}", unequal()),
        ("{sessions}", sessions()),
        ("{sessions power}", sessions_power()),
        ("{power}", power()),
        ("{needed}", needed()),
        ("{equivalent}", equivalent()),
        ("{steps}", steps()),
        ("{bootstrap}", bootstrapped()),
        ("{greedy}", greedy()),
        ("{recipes}", recipes()),
        ("{false changes}", history::false_changes()),
        ("{true changes}", history::true_changes()),
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
        width: 1.0,
        margin,
        experiments: EXPERIMENTS,
    }
}

/// Where nothing changed, and where the change is just as large as the margin.
fn errors() -> Table {
    let mut table = Table::of(&[
        "procedure",
        "times",
        "wrong *faster* or *slower* %",
        "coverage %",
        "wrong *equivalent* %",
        "boots a side",
    ]);
    for (name, procedure) in [
        ("8 + 8 boots, in turns", once(8, Design::Turns)),
        ("16 + 16 boots, in turns", once(16, Design::Turns)),
        ("8 pairs", once(8, Design::Pairs)),
        ("16 pairs", once(16, Design::Pairs)),
        ("8, 16, 32 pairs", PAIRS),
    ] {
        for noise in NOISES {
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
    table
}

/// Sides that vary and count differently.
fn unequal() -> Table {
    const SIZES: [[u32; 2]; 9] = [
        [4, 4],
        [6, 6],
        [8, 8],
        [16, 16],
        [30, 4],
        [4, 30],
        [32, 8],
        [8, 32],
        [64, 16],
    ];
    const PAIRED: [u32; 3] = [8, 16, 32];
    let heads = SIZES.map(|[n, m]| format!("{n} + {m}"));
    let paired = PAIRED.map(|n| format!("{n} pairs"));
    let first = ["times".to_owned(), "spread".to_owned()];
    let mut table = Table::new([first.to_vec(), heads.to_vec(), paired.to_vec()].concat());
    for noise in [Noise::Normal, Noise::LogNormal, Noise::Bimodal] {
        for width in [1.0, 3.0, 10.0] {
            let middle = middle(noise, width);
            let cell = |procedure: Procedure| {
                // The median difference is 0.
                let study = Study {
                    width,
                    ..study(procedure, noise, -middle, 0.0)
                };
                let rates = Rates::with_truth(&study, 0.0, 12);
                format!("{:.1} · {:.1}", rates.claims(), rates.coverage())
            };
            let turns = SIZES.map(|sizes| {
                cell(Procedure {
                    looks: Looks::Once(sizes),
                    design: Design::Turns,
                })
            });
            let paired = PAIRED.map(|boots| cell(once(boots, Design::Pairs)));
            let cells = [
                vec![format!("1 : {width}")],
                turns.to_vec(),
                paired.to_vec(),
            ];
            table.row(&noise.text(), cells.concat());
        }
    }
    table
}

/// The median difference between boots of two widths, σ.
fn middle(noise: Noise, width: f64) -> f64 {
    let mut random = Random::new(13);
    let mut machine = Machine::new(noise, 0.0, 2, &mut random).wider(width);
    let mut all: Vec<i64> = (0..400_000)
        .map(|_| machine.boot(true) - machine.boot(false))
        .collect();
    all.sort_unstable();
    all[all.len() / 2] as f64 / SIGMA_NS
}

/// All boots of one side made before all of the other.
fn sessions() -> Table {
    const SIZES: [u32; 4] = [4, 8, 16, 32];
    let heads = SIZES.map(|n| format!("{n} + {n}"));
    let mut table = Table::new([vec!["times".to_owned()], heads.to_vec()].concat());
    for noise in [
        Noise::Normal,
        Noise::Offset(0.5),
        Noise::Offset(1.0),
        Noise::Following(0.3),
        Noise::Following(0.5),
        Noise::Following(0.8),
        Noise::Linear(1.0),
        Noise::Linear(3.0),
        Noise::Linear(10.0),
        Noise::Walk(0.25),
        Noise::Walk(0.5),
    ] {
        let cells = SIZES.map(|boots| {
            let claims = |design| {
                let rates = Rates::of(&study(once(boots, design), noise, 0.0, 0.0), 14);
                rates.claims()
            };
            format!(
                "{:.1} → {:.1}",
                claims(Design::Apart),
                claims(Design::Sessions)
            )
        });
        table.row(&noise.text(), cells.to_vec());
    }
    table
}

fn sessions_power() -> Table {
    const SIZES: [u32; 4] = [4, 8, 16, 32];
    let heads = SIZES.map(|n| format!("{n} + {n}"));
    let mut table = Table::new([vec!["change".to_owned()], heads.to_vec()].concat());
    for shift in [1.0, 2.0, 3.0, 4.0, 6.0] {
        let cells = SIZES.map(|boots| {
            let faster = |design| {
                Rates::of(&study(once(boots, design), Noise::Normal, -shift, 0.0), 15).faster()
            };
            format!(
                "{:.0} · {:.0}",
                faster(Design::Pairs),
                faster(Design::Sessions)
            )
        });
        table.row(&format!("−{shift} %"), cells.to_vec());
    }
    table
}

fn power() -> Table {
    let mut table = Table::of(&[
        "change, noise 1 %",
        "compared",
        "found by 8 boots %",
        "by 16 %",
        "by 32 %",
        "the wrong way %",
        "coverage %",
        "boots a side",
    ]);
    for shift in [0.5, 1.0, 2.0, 3.0] {
        for (name, procedure, noise) in [
            ("pairs", PAIRS, Noise::Normal),
            ("pairs, drifting by 10 σ", PAIRS, Noise::Linear(10.0)),
            ("all with all", TURNS, Noise::Normal),
            ("all with all, drifting by 10 σ", TURNS, Noise::Linear(10.0)),
        ] {
            let rates = Rates::of(&study(procedure, noise, -shift, 0.0), 5);
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
                let pairs = once(boots, Design::Pairs);
                let rates = Rates::of(&study(pairs, Noise::Normal, -shift, 0.0), 6);
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
        "*equivalent* %",
        "*faster* or *slower* %",
        "boots a side",
    ]);
    for margin in [0.5, 1.0, 2.0, 3.0] {
        let rates = Rates::of(&study(PAIRS, Noise::Normal, 0.0, margin), 7);
        let cells = vec![
            percent(rates.equivalent(), 1),
            percent(rates.claims(), 2),
            percent(rates.boots(), 1),
        ];
        table.row(&format!("± {margin} %"), cells);
    }
    table
}

/// The exact coverage, which only the numbers of boots decide.
fn steps() -> Table {
    let sizes = [4u32, 6, 8, 10, 12, 16, 20, 32];
    let heads = sizes.map(|n| format!("{n} + {n}"));
    let mut table = Table::new([vec!["compared".to_owned()], heads.to_vec()].concat());
    let exact = |effect: Effect| percent(100.0 * effect.confidence, 1);
    // Times whose differences are all different.
    let times =
        |n: u32, by: i64| -> Vec<i64> { (1..=i64::from(n)).map(|i| i * i * by + i).collect() };
    let all = sizes.map(|n| exact(effect(&times(n, 1000), &times(n, 997), &Question::once(0))));
    table.row("all with all", all.to_vec());
    let pairs = sizes.map(|n| {
        let pairs: Vec<(i64, i64)> = times(n, 1000).into_iter().map(|t| (0, t)).collect();
        exact(effect_of_pairs(&pairs, &Question::once(0)))
    });
    table.row("pairs", pairs.to_vec());
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
                    let (before, after): (Vec<i64>, Vec<i64>) =
                        (0..boots).map(|_| machine.pair()).unzip();
                    let interval = bootstrap::interval(&before, &after, u64::from(i));
                    interval.is_some_and(|[low, high]| low <= 0 && 0 <= high)
                });
                holds.count()
            };
            let held: usize = std::thread::scope(|scope| {
                let half = scope.spawn(|| covered(0, FEW / 2));
                covered(FEW / 2, FEW) + half.join().expect("a simulation does not fail")
            });
            let ours = Rates::of(&study(once(boots, Design::Turns), noise, 0.0, 0.0), 8);
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
        ..PAIRS
    };
    for (name, procedure) in [("each with 5 %", greedy), ("as planned", PAIRS)] {
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
            effects.push(PAIRS.tell(&Plan::new(FIRST, 0), &baseline, &sides()));
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
