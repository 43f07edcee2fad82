//! Searches for the best set of recipes, proves it, and writes it out.
//!
//! The boots are the only state: a search that was killed makes the same
//! decisions again from the boots that are there, without booting them again.

mod bench;
mod beside;
mod candidates;
mod lists;
mod read_ahead;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bootlap_advice::{Facts, Finding, advise};
use bootlap_analysis::groups::Margin;
use bootlap_analysis::stats::Question;
use bootlap_analysis::tune::{Found, Out, Search, Set, is_clear};
use bootlap_analysis::{Trial, Verdict};
use bootlap_lab::{Mode, Run};
use bootlap_patchset as patchset;
use bootlap_product::recipe::Choice;
use bootlap_product::{Edit, Target};
use bootlap_report::About;
use bootlap_report::tuning::{self, LeftOut, Tuning, TuningStep, Waterfall};

use crate::bootable::Bootable;
use crate::evidence::{self, Recorded};
use crate::experiment::{Budget, Experiment, Side, Stop};
use crate::explained::explained_findings;
use crate::failure::{Exit, Failure};
use crate::lab::Lab;
use crate::output::{self, free_folder};
use crate::touched::touched;
use bench::LabBench;
use candidates::{Candidates, LIST};

/// The perturbations of the proof begin here: the search's are lower.
const FRESH: u32 = 200;

/// Perturbations of the target as it is that tell what differs for no reason.
const NOISE: u32 = 4;

/// Boots of each step in the proof, where time is counted and the step is clear.
const PROOF: u32 = 4;

/// What to search, and how long.
pub struct TuneOptions {
    /// The folder of the tuned target, which must not exist.
    pub out: PathBuf,
    /// Recipes to try beside those that the boot suggests.
    pub recipes: Vec<String>,
    /// Try the recipes that are only tried when asked for, too.
    pub all: bool,
    /// Try these recipes and no others.
    pub only: Vec<String>,
    /// Recipes that must not be tried.
    pub without: Vec<String>,
    /// Most boots.
    pub boots: Option<usize>,
    /// Most minutes.
    pub minutes: Option<u64>,
    /// Perturbations of each side.
    pub perturbations: u32,
    /// A smaller change counts as none.
    pub margin: Margin,
    /// Documents of earlier searches, to show beside this one.
    pub beside: Vec<PathBuf>,
}

/// What came of a search.
pub struct Tuned {
    /// Each step, and what it saves.
    pub tuning: Tuning,
    /// The page that shows it.
    pub page: PathBuf,
}

/// Tunes `target`: the tuned one, its patch set, a page and a document are
/// written.
///
/// # Errors
/// If `options.out` exists, the target does not boot, or a recipe that was asked
/// for does not apply.
pub fn tune(lab: &Lab<'_>, target: &Path, options: &TuneOptions) -> Result<Tuned, Failure> {
    if options.out.exists() {
        let why = format!("{} exists already", options.out.display());
        let failure = Failure::new(Exit::Usage, why);
        return Err(failure.hint("name a new folder with --out; nothing is written over"));
    }
    let earlier = beside::earlier(&options.beside)?;
    let stock = lab.prepare(target)?;
    let mut experiment = Experiment::open(
        lab,
        "tune",
        &stock,
        options.perturbations,
        options.margin,
        details(options),
    )?;

    lab.progress
        .note("0/4 Boot it as it is, and ask the kernel where its time goes");
    let (before, findings) = look(&mut experiment, &stock)?;
    // Nobody has said that a board may boot with a watcher in it.
    let emulated = stock.mode() != Mode::Board;
    let touched = match emulated && candidates::wants_list(candidates::TOUCHED, options) {
        true => watch(lab, &mut experiment, &stock)?,
        false => None,
    };
    let (lists, boots) = lists::found(lab, &stock, &findings, options)?;
    let mut all =
        candidates::candidates(lab, &stock, &findings, touched.as_deref(), &lists, options)?;
    let minutes = options.minutes.map(|m| Duration::from_secs(m * 60));
    experiment.limit(Budget {
        boots: options.boots.map(|most| most.saturating_sub(boots)),
        until: minutes.map(|m| Instant::now() + m),
    });
    let mut bench = LabBench::new(
        lab,
        &stock,
        &all.choices,
        &all.names,
        experiment,
        options.perturbations,
    );
    let mut search = Search::new(&all.names);
    let searched = search.run(&mut bench);
    let mut found = search.found();
    let added = searched.and_then(|()| read_ahead::add(&mut bench, &mut found, &mut all, options));
    let stopped = match added {
        Ok(()) => None,
        Err(Stop::Budget(why)) => Some(why.to_owned()),
        Err(Stop::Failed(failure)) => return Err(failure),
    };
    lab.progress
        .note("4/4 Prove it: each step again, in boots that the search did not use");
    let proof = prove(&mut bench, &found, options.perturbations)?;
    let instructions = beside::instructions_alone(&mut bench, &found.order)?;
    let tuned = bench
        .side(&found.set)
        .map_err(|why| Failure::new(Exit::Internal, why))?;
    write_target(&tuned.bootable.target, touched.as_deref(), &options.out)?;

    let runs = bench.experiment.dir();
    let tuning = Tuning {
        beside: instructions.into_iter().chain(earlier).collect(),
        about: before.about.clone(),
        steps: steps(&all, &found, proof.steps),
        excluded: bench.broken.values().cloned().collect(),
        left_out: left_out(&all, &found, &findings),
        proof: proof.total,
        boots: bench.experiment.boots() + boots,
        stopped,
        out: options.out.display().to_string(),
        runs: runs.display().to_string(),
    };
    let kept: Vec<&Choice> = found.order.iter().map(|c| &all.choices[*c]).collect();
    write_patches(lab, &stock, &tuned.bootable, &kept, &tuning, &options.out)?;
    let page = runs.join("tune.html");
    write_page(&before, &bench, &tuned, &tuning, findings, &page)?;
    let document = tuning::json(&tuning).map_err(|e| Failure::new(Exit::Internal, e))?;
    output::write_text(&runs.join("tune.json"), &document)?;
    bench.experiment.finish()?;
    Ok(Tuned { tuning, page })
}

/// What was asked: another question is another experiment.
fn details(options: &TuneOptions) -> Vec<String> {
    let lists = [
        ("with", &options.recipes),
        ("only", &options.only),
        ("without", &options.without),
    ];
    let details = lists.iter().flat_map(|(what, names)| {
        let names = names.iter().map(move |name| format!("{what} {name}"));
        names.collect::<Vec<String>>()
    });
    details
        .chain(options.all.then(|| "all".to_owned()))
        .collect()
}

/// Boots the target as it is, and once more with the kernel explaining itself.
fn look(
    experiment: &mut Experiment<'_, '_>,
    stock: &Bootable,
) -> Result<(Recorded, Vec<Finding>), Failure> {
    let side = Side {
        name: "baseline".to_owned(),
        bootable: stock.clone(),
    };
    let boots = if stock.mode().repeats() { NOISE } else { 1 };
    let boot = experiment.boot("booting it as it is", &[&side], boots);
    boot.map_err(Stop::failure)?;
    let run = &experiment.runs(&side.name)[0];
    if let Some(failure) = crate::broken::never_ready(run) {
        return Err(failure);
    }
    let before = evidence::read_run(run)?;
    if stock.mode() == Mode::Board {
        // Its command line is on the board.
        let findings = advise(&before.boot().of(&stock.target, &stock.parts));
        return Ok((before, findings));
    }
    let explained = experiment.explain(stock)?;
    let findings = explained_findings(stock, &before, explained.as_ref(), Facts::default());
    Ok((before, findings))
}

/// The list of the initramfs' files that a boot opens, kept beside the boots; `None` if
/// it has none that could be watched.
fn watch(
    lab: &Lab<'_>,
    experiment: &mut Experiment<'_, '_>,
    stock: &Bootable,
) -> Result<Option<PathBuf>, Failure> {
    let baseline = experiment.runs("baseline").first();
    let ready_ns = baseline.and_then(Run::ready).map_or(0, |ready| ready.ns);
    let dir = experiment.dir();
    let watched = touched(lab, stock, ready_ns, &dir.join("touched-init"), |watched| {
        experiment.boot_once("watching which files it opens", "touched", watched, "")
    });
    match watched {
        Ok(list) => {
            let path = dir.join(LIST);
            fs::write(&path, list).map_err(|e| {
                Failure::new(
                    Exit::Internal,
                    format!("cannot write {}: {e}", path.display()),
                )
            })?;
            Ok(Some(path))
        }
        Err(why) => {
            lab.progress.note(&format!(
                "    {}: not tried: {}",
                candidates::TOUCHED,
                why.message
            ));
            Ok(None)
        }
    }
}

/// What the proof says.
struct Proof {
    total: Trial,
    /// Each step on top of those before it.
    steps: Vec<Trial>,
}

/// Boots the start, every step and the end in perturbations that were not used yet.
fn prove(
    bench: &mut LabBench<'_, '_, '_>,
    found: &Found,
    perturbations: u32,
) -> Result<Proof, Failure> {
    let sides = ladder(bench, &found.order)?;
    let exact = bench.stock.mode().repeats();
    let experiment = &mut bench.experiment;
    experiment.limit(Budget::default());
    experiment.afresh(FRESH);
    let all: Vec<&Side> = sides.iter().collect();
    // Which steps are near the margin, other boots have told: these do not decide how
    // many there are of them.
    let clear = |step: &usize| found.without.get(step).is_some_and(is_clear);
    let near = sides.windows(2).zip(&found.order);
    let near = near.filter(|(_, step)| !exact || !clear(step));
    let near = near.flat_map(|(pair, _)| pair);
    let whole: Vec<&Side> = sides
        .first()
        .into_iter()
        .chain(sides.last())
        .chain(near)
        .collect();
    for (sides, boots) in [(&all, perturbations.min(PROOF)), (&whole, perturbations)] {
        let boot = experiment.boot("proving each step", sides, boots);
        boot.map_err(Stop::failure)?;
    }
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

/// The start, and each step on top of those before it.
fn ladder(bench: &mut LabBench<'_, '_, '_>, order: &[usize]) -> Result<Vec<Side>, Failure> {
    let internal = |why: String| Failure::new(Exit::Internal, why);
    let mut sides = vec![bench.side(&Set::new()).map_err(internal)?];
    let mut so_far = Set::new();
    for candidate in order {
        so_far.insert(*candidate);
        sides.push(bench.side(&so_far).map_err(internal)?);
    }
    Ok(sides)
}

fn steps(all: &Candidates, found: &Found, trials: Vec<Trial>) -> Vec<TuningStep> {
    let kept = found.order.iter().zip(trials);
    let steps = kept.map(|(at, trial)| {
        let choice = &all.choices[*at];
        let meta = choice.meta();
        TuningStep {
            recipe: all.names[*at].name.clone(),
            title: meta.title.to_owned(),
            risk: meta.risk.to_owned(),
            trial: Trial {
                recipe: all.names[*at].name.clone(),
                ..trial
            },
            without: found.without.get(at).copied(),
        }
    });
    steps.collect()
}

/// Writes the tuned target. The list of touched files goes with it: runs are thrown away.
fn write_target(target: &Target, touched: Option<&Path>, out: &Path) -> Result<(), Failure> {
    let only = target
        .spec
        .initramfs
        .as_ref()
        .and_then(|i| i.only.as_deref());
    let is_list = |list: &&Path| {
        let list = fs::canonicalize(list).ok();
        list.is_some_and(|list| only.is_some_and(|only| Path::new(only) == list))
    };
    let Some(list) = touched.filter(is_list) else {
        return Ok(target.write_to(out)?);
    };
    let own = target.with(&[Edit::set("initramfs.only", LIST)])?;
    own.write_to(out)?;
    let copied = fs::copy(list, out.join(LIST)).map(drop);
    copied.map_err(|e| {
        let why = format!("cannot copy {} to {}: {e}", list.display(), out.display());
        Failure::new(Exit::Internal, why)
    })
}

/// Writes what a person carries into a build of their own.
fn write_patches(
    lab: &Lab<'_>,
    stock: &Bootable,
    tuned: &Bootable,
    choices: &[&Choice],
    tuning: &Tuning,
    out: &Path,
) -> Result<(), Failure> {
    let time = match tuning.about.time.as_str() {
        "simulated" => patchset::Time::Simulated,
        "modelled" => patchset::Time::Modelled,
        _ => patchset::Time::Measured,
    };
    let mut so_far = stock.clone();
    let mut patches = Vec::new();
    for (choice, step) in choices.iter().zip(&tuning.steps) {
        let known = so_far.target.edits.len();
        so_far = lab.with(&so_far, [*choice])?;
        let effect = step.trial.effect;
        let [low, high] = effect.interval_ns;
        patches.push(patchset::Step {
            recipe: step.recipe.clone(),
            title: step.title.clone(),
            risk: step.risk.clone(),
            edits: so_far.target.edits[known..].to_vec(),
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
        let of_board = findings
            .iter()
            .find(|f| f.recipe.as_ref() == Some(&recipe) && f.saving.kind == PredictedBoard);
        let (mut why, saved_ns) = match out {
            Out::Broken(_) => continue,
            Out::Refused(why) => (format!("does not apply to what was kept: {why}"), None),
            Out::Replaced(by) => (format!("{} is better", all.names[*by].name), None),
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
    let runs = page.parent().unwrap_or(Path::new(""));
    // Beside the page: equal searches have equal pages, and both can be moved.
    let beside = |run: &str| {
        let inside = Path::new(run).strip_prefix(runs).unwrap_or(Path::new(run));
        inside.display().to_string()
    };
    shown.about = About {
        path: tuning.out.clone(),
        run: beside(&shown.about.run),
        ..shown.about
    };
    shown.trials = tuning.steps.iter().map(|step| step.trial.clone()).collect();
    shown.steps = true;
    shown.waterfalls = std::iter::once(Waterfall::of(tuning))
        .chain(tuning.beside.iter().cloned())
        .collect();
    let mut before = before.report(findings);
    before.about.run = beside(&before.about.run);
    output::write(&shown.against(before), page)
}
