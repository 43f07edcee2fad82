//! `bootlap tune`: search for the best set of recipes, prove it, write it out.
//!
//! The boots are the only state: a search that was killed makes the same
//! decisions again from the boots that are there, without booting them again.

mod bench;
mod candidates;

use std::path::Path;
use std::time::{Duration, Instant};

use bootlap_advice::{Boot, Facts, Finding, advise};
use bootlap_analysis::stats::Question;
use bootlap_analysis::tune::{Found, Out, Search, Set};
use bootlap_analysis::{Trial, Verdict};
use bootlap_lab::Mode;
use bootlap_report::tuning::{LeftOut, Tuning, TuningStep};
use bootlap_report::{About, json, text};

use bootlap_product::patchset;
use bootlap_product::recipe::Choice;

use crate::args::Tune;
use crate::commands::advise::{explained_findings, read_explained};
use crate::commands::apply::free_folder;
use crate::commands::report;
use crate::evidence::{self, Recorded};
use crate::exit::{Exit, Failure};
use crate::experiment::{Budget, Experiment, Side, Stop};
use crate::lab::{Bootable, Lab};
use crate::ui::{self, Ui};
use bench::LabBench;
use candidates::Candidates;

/// The layouts of the proof begin here: the search's are lower.
const FRESH: u32 = 200;

pub(crate) fn run(args: &Tune, ui: &Ui) -> Result<Exit, Failure> {
    let lab = Lab::new(&args.lab, ui);
    if args.out.exists() {
        let why = format!("{} exists already", args.out.display());
        let failure = Failure::new(Exit::Usage, why);
        return Err(failure.hint("name a new folder with --out; nothing is written over"));
    }
    let stock = lab.prepare(&args.target)?;
    let lists = [
        ("with", &args.recipe),
        ("only", &args.only),
        ("without", &args.without),
    ];
    let details = lists.iter().flat_map(|(what, names)| {
        let names = names.iter().map(move |name| format!("{what} {name}"));
        names.collect::<Vec<String>>()
    });
    let all = args.all.then(|| "all".to_owned());
    let details = details.chain(all).collect();
    let mut experiment =
        Experiment::open(&lab, "tune", &stock, args.layouts, args.margin, details)?;

    ui.note("0/4 Boot it as it is, and ask the kernel where its time goes");
    let (before, findings) = look(&lab, &mut experiment, &stock)?;
    let all = candidates::candidates(&stock, &findings, args)?;
    let minutes = args.minutes.map(|m| Duration::from_secs(m * 60));
    experiment.limit(Budget {
        boots: args.boots,
        until: minutes.map(|m| Instant::now() + m),
    });
    let mut bench = LabBench::new(
        &lab,
        &stock,
        &all.choices,
        &all.names,
        experiment,
        args.layouts,
    );
    let mut search = Search::new(&all.names);
    let stopped = match search.run(&mut bench) {
        Ok(()) => None,
        Err(Stop::Budget(why)) => Some(why.to_owned()),
        Err(Stop::Failed(failure)) => return Err(failure),
    };
    let found = search.found();
    ui.note("4/4 Prove it: each step again, in boots that the search did not use");
    let proof = prove(&mut bench, &found.order, args.layouts)?;
    let tuned = bench
        .side(&found.set)
        .map_err(|why| Failure::new(Exit::Internal, why))?;
    tuned.bootable.target.write_to(&args.out)?;

    let runs = bench.experiment.dir();
    let tuning = Tuning {
        about: before.about.clone(),
        steps: steps(&all, &found, proof.steps),
        excluded: bench.broken.values().cloned().collect(),
        left_out: left_out(&all, &found, &findings),
        proof: proof.total,
        boots: bench.experiment.boots(),
        stopped,
        out: args.out.display().to_string(),
        runs: runs.display().to_string(),
    };
    let kept: Vec<&Choice> = found.order.iter().map(|c| &all.choices[*c]).collect();
    write_patches(&stock, &tuned.bootable, &kept, &tuning, &args.out)?;
    let page = runs.join("tune.html");
    write_page(&before, &bench, &tuned, &tuning, findings, &page)?;
    let document = json::tuning(&tuning).map_err(|e| Failure::new(Exit::Internal, e))?;
    std::fs::write(runs.join("tune.json"), &document)
        .map_err(|e| Failure::new(Exit::Internal, format!("cannot write tune.json: {e}")))?;
    bench.experiment.finish()?;
    if args.json {
        ui.print(&document);
    } else {
        ui.print(&text::tuning(&tuning, &ui::style()));
        ui.print(&format!(
            "\n  tuned target  {}\n  page          {}\n",
            tuning.out,
            page.display()
        ));
    }
    Ok(Exit::Ok)
}

/// Boots the target as it is, and once more with the kernel explaining itself.
fn look(
    lab: &Lab<'_>,
    experiment: &mut Experiment<'_, '_>,
    stock: &Bootable,
) -> Result<(Recorded, Vec<Finding>), Failure> {
    let side = Side {
        name: "baseline".to_owned(),
        bootable: stock.clone(),
    };
    let boot = experiment.boot("booting it as it is", &[&side], 1);
    boot.map_err(Stop::failure)?;
    let run = &experiment.runs(&side.name)[0];
    if let Some(failure) = crate::broken::never_ready(run) {
        return Err(failure);
    }
    let before = evidence::read_run(run)?;
    if lab.mode_of(stock) == Mode::Board {
        // Its command line is on the board.
        let findings = advise(&Boot::new(&before.timeline).of(&stock.target, &stock.parts));
        return Ok((before, findings));
    }
    let explained = read_explained(&experiment.explain(stock)?)?;
    let findings = explained_findings(stock, &before, explained.as_ref(), Facts::default());
    Ok((before, findings))
}

/// What the proof says.
struct Proof {
    total: Trial,
    /// Each step on top of those before it.
    steps: Vec<Trial>,
}

/// Boots the start, every step and the end in layouts that were not used yet.
fn prove(
    bench: &mut LabBench<'_, '_, '_>,
    order: &[usize],
    layouts: u32,
) -> Result<Proof, Failure> {
    let internal = |why: String| Failure::new(Exit::Internal, why);
    let mut sides = vec![bench.side(&Set::new()).map_err(internal)?];
    let mut so_far = Set::new();
    for candidate in order {
        so_far.insert(*candidate);
        sides.push(bench.side(&so_far).map_err(internal)?);
    }
    let experiment = &mut bench.experiment;
    experiment.limit(Budget::default());
    experiment.afresh(FRESH);
    let all: Vec<&Side> = sides.iter().collect();
    let boot = experiment.boot("proving each step", &all, layouts);
    boot.map_err(Stop::failure)?;
    let question = Question::once(experiment.margin_ns(&sides[0]));
    let trial = |before: &Side, after: &Side| {
        let trial = experiment.trial(before, after, &question);
        trial.ok_or_else(|| Failure::from(experiment.broken(after)))
    };
    let steps = sides.windows(2).map(|pair| trial(&pair[0], &pair[1]));
    let steps = steps.collect::<Result<Vec<Trial>, Failure>>()?;
    let [first, .., last] = all[..] else {
        return Ok(Proof {
            total: trial(&sides[0], &sides[0])?,
            steps,
        });
    };
    Ok(Proof {
        total: trial(first, last)?,
        steps,
    })
}

fn steps(all: &Candidates, found: &Found, trials: Vec<Trial>) -> Vec<TuningStep> {
    let kept = found.order.iter().zip(trials);
    let steps = kept.map(|(at, trial)| {
        let choice = &all.choices[*at];
        let meta = choice.meta();
        TuningStep {
            recipe: choice.name(),
            title: meta.title.to_owned(),
            risk: meta.risk.to_owned(),
            trial: Trial {
                recipe: choice.name(),
                ..trial
            },
            without: found.without.get(at).copied(),
        }
    });
    steps.collect()
}

/// Writes what a person carries into a build of their own.
fn write_patches(
    stock: &Bootable,
    tuned: &Bootable,
    choices: &[&Choice],
    tuning: &Tuning,
    out: &Path,
) -> Result<(), Failure> {
    let time = match tuning.about.time.as_str() {
        "simulated" => patchset::Time::Simulated,
        _ => patchset::Time::Measured,
    };
    let mut target = stock.target.clone();
    let mut patches = Vec::new();
    for (choice, step) in choices.iter().zip(&tuning.steps) {
        let known = target.edits.len();
        target = choice.apply(&target, &stock.parts)?;
        let effect = step.trial.effect;
        let [low, high] = effect.interval_ns;
        patches.push(patchset::Step {
            recipe: step.recipe.clone(),
            title: step.title.clone(),
            risk: step.risk.clone(),
            edits: target.edits[known..].to_vec(),
            measured: Some(patchset::Measured {
                saved_ns: effect.shift_ns.saturating_neg(),
                interval_ns: [high, low].map(i64::saturating_neg),
                time,
            }),
        });
    }
    let files = patchset::files(&stock.target, &stock.parts, &tuned.parts, &patches)?;
    Ok(patchset::write(&files, &free_folder(out))?)
}

/// Why each of the others was left out.
fn left_out(all: &Candidates, found: &Found, findings: &[Finding]) -> Vec<LeftOut> {
    use bootlap_advice::SavingKind::PredictedBoard;
    use bootlap_report::format::duration;
    let mut left: Vec<LeftOut> = Vec::new();
    for (at, out) in &found.out {
        let recipe = all.names[*at].name.clone();
        let kind = &all.names[*at].kind;
        let of_board = findings
            .iter()
            .find(|f| f.recipe.as_ref() == Some(&recipe) && f.saving.kind == PredictedBoard);
        let (mut why, saved_ns) = match out {
            Out::Broken(_) => continue,
            Out::Refused(why) => (format!("does not apply to what was kept: {why}"), None),
            Out::Replaced => {
                let same = |c: &&usize| all.names[**c].kind == *kind;
                let better = found.set.iter().find(same);
                let better = better.map_or("another value", |c| &all.names[*c].name);
                (format!("{better} is better"), None)
            }
            Out::NoGain(None) => ("not booted".to_owned(), None),
            Out::NoGain(Some(effect)) => {
                let saved_ns = effect.shift_ns.saturating_neg();
                let why = match effect.verdict {
                    Verdict::Slower => format!("slower by {}", duration(effect.shift_ns)),
                    _ if effect.shift_ns > effect.margin_ns => {
                        format!("slower by about {}", duration(effect.shift_ns))
                    }
                    _ => "no sure gain".to_owned(),
                };
                (why, Some(saved_ns))
            }
        };
        if let Some(finding) = of_board {
            why += &format!(
                " here; on a board it is predicted to save {} ({})",
                duration(finding.saving.ns),
                finding.saving.basis
            );
        }
        left.push(LeftOut {
            recipe,
            why,
            saved_ns,
        });
    }
    left.extend(all.refused.iter().cloned());
    left
}

/// The page: the tuned boot against the start, with every step.
fn write_page(
    before: &Recorded,
    bench: &LabBench<'_, '_, '_>,
    tuned: &Side,
    tuning: &Tuning,
    findings: Vec<Finding>,
    page: &Path,
) -> Result<(), Failure> {
    let Some(run) = bench.experiment.runs(&tuned.name).first() else {
        return Ok(());
    };
    let after = evidence::read_run(run)?;
    let mut shown = after.report(Vec::new());
    shown.about = About {
        path: tuning.out.clone(),
        ..shown.about
    };
    shown.trials = tuning.steps.iter().map(|step| step.trial.clone()).collect();
    shown.steps = true;
    shown.before = Some(Box::new(before.report(findings)));
    report::write(&shown, page)
}
