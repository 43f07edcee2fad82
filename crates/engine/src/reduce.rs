//! The part of a recipe's list that a target needs, or takes: found by booting it with less
//! and less of the list (`analysis::reduce`).

use std::fs;
use std::path::PathBuf;

use bootlap_analysis::Trial;
use bootlap_analysis::groups::Margin;
use bootlap_analysis::reduce::{Part, reduce};
use bootlap_product::recipe::{Choice, List, Listed};
use bootlap_product::{TargetError, sha256};

use crate::bootable::Bootable;
use crate::broken::Broken;
use crate::experiment::{Compared, Experiment, Side, Stop};
use crate::failure::{Exit, Failure};
use crate::lab::Lab;

/// Boots of a part where time is not counted: one may pass, or fail, by chance.
const REAL_TIME: u32 = 2;
/// Digits of a list's hash that its folder is named by.
const HASH: usize = 12;

/// What to reduce, and how well it is to be known what that changes.
pub struct ReduceOptions {
    /// The recipe with its list, as it is typed: `initramfs-touched=touched.txt`.
    pub recipe: String,
    /// Perturbations of each side for the comparison at the end; 0 for none.
    pub perturbations: u32,
    /// A smaller change counts as none.
    pub margin: Margin,
    /// What is looked for.
    pub goal: Goal,
}

/// What a part of a list is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The target gets ready, and passes its check.
    Ready,
    /// It does, and no later than with less of it: of changes that only move work.
    Sooner,
}

/// What came of it.
pub struct Reduced {
    /// The target as it is.
    pub stock: Bootable,
    /// The recipe's name, without the list.
    pub recipe: &'static str,
    /// What was looked for.
    pub goal: Goal,
    /// The list with which the target still gets ready.
    pub list: List,
    /// What is not in it any more.
    pub left_out: Vec<String>,
    /// How many lists were booted, this one and the whole one among them.
    pub tried: usize,
    /// How the target with this list differs from what the search began with; `None` if that
    /// is the same.
    pub trial: Option<Trial>,
}

/// Looks for the smallest list of what stays with which `stock` still gets ready and passes
/// its check, or for the largest list of what is changed.
///
/// # Errors
/// If the recipe takes no list, the target does not get ready with what the search starts
/// from (a list of what stays, as it is; without the recipe otherwise), or does not with what
/// was found, in another perturbation.
pub fn reduce_list(
    lab: &Lab<'_>,
    stock: Bootable,
    options: &ReduceOptions,
) -> Result<Reduced, Failure> {
    let choice = Choice::parse(&options.recipe)?;
    let whole = choice.list()?;
    // With less of what has to be named the target gets ready as well, only later.
    let goal = match whole.listed {
        Listed::Needed => Goal::Sooner,
        Listed::Kept | Listed::Changed => options.goal,
    };
    let mut details = vec![options.recipe.clone(), whole.members.join("\n")];
    if goal == Goal::Sooner {
        details.push("sooner".to_owned());
    }
    let experiment = Experiment::open(
        lab,
        "reduce",
        &stock,
        options.perturbations.max(1),
        options.margin,
        details,
    )?;
    let lists = experiment.dir().join("lists");
    fs::create_dir_all(&lists).map_err(|e| TargetError::io("create", &lists, e))?;
    let mut bench = Bench {
        lab,
        stock: &stock,
        choice: &choice,
        whole: &whole,
        lists,
        experiment,
        boots: match stock.mode().repeats() {
            true => 1,
            false => REAL_TIME,
        },
        tried: 0,
        goal,
        best_ns: i64::MAX,
    };
    let all: Part = (0..whole.members.len()).collect();
    let base = bench.side(&all)?;
    bench
        .experiment
        .boot("booting it", &[&base], bench.boots)
        .map_err(Stop::failure)?;
    bench.tried += 1;
    if !bench.experiment.works(&base.name) {
        return Err(bench.experiment.broken(&base).into());
    }
    bench.best_ns = bench.ready_ns(&base).unwrap_or(i64::MAX);
    let at_once = lab.at_once(stock.mode()).get();
    let kept = reduce(all.len(), at_once, |parts| bench.passes(parts))?;
    let found = bench.side(&kept)?;
    let trial = match kept == all || options.perturbations == 0 {
        true => None,
        false => {
            let before = match whole.listed {
                Listed::Needed => bench.side(&Part::new())?,
                Listed::Kept | Listed::Changed => base,
            };
            Some(bench.compared(&before, &found, options.perturbations)?)
        }
    };
    let (list, left_out) = bench.divided(&kept);
    let Bench {
        experiment, tried, ..
    } = bench;
    experiment.finish()?;
    Ok(Reduced {
        recipe: choice.meta().name,
        goal,
        stock,
        list,
        left_out,
        tried,
        trial,
    })
}

/// Boots parts of a list. A part is what is *left alone*: of a list of what stays its
/// members, of a list of changes those that are not made. So a larger part is always the
/// safer one.
struct Bench<'b, 'l, 'a> {
    lab: &'b Lab<'a>,
    stock: &'b Bootable,
    choice: &'b Choice,
    whole: &'b List,
    /// Where lists are written that are files.
    lists: PathBuf,
    experiment: Experiment<'l, 'a>,
    /// Boots of a part.
    boots: u32,
    tried: usize,
    goal: Goal,
    /// When the target was ready with the best part so far.
    best_ns: i64,
}

impl Bench<'_, '_, '_> {
    /// The list that leaves `part` alone, and the members that are not in it.
    fn divided(&self, part: &Part) -> (List, Vec<String>) {
        let in_list = |at: &usize| part.contains(at) == (self.whole.listed != Listed::Changed);
        let all = self.whole.members.iter().enumerate();
        let (members, rest): (Vec<_>, Vec<_>) = all.partition(|(at, _)| in_list(at));
        let names =
            |list: Vec<(usize, &String)>| list.into_iter().map(|(_, m)| m.clone()).collect();
        let listed = self.whole.listed;
        (
            List {
                listed,
                members: names(members),
            },
            names(rest),
        )
    }

    fn side(&self, part: &Part) -> Result<Side, Failure> {
        let (list, _) = self.divided(part);
        if list.members.is_empty() && list.listed != Listed::Kept {
            let name = "nothing-changed".to_owned();
            let bootable = self.stock.clone();
            return Ok(Side { name, bootable });
        }
        // The same list has the same name when an interrupted search goes on.
        let hash = sha256(list.members.join("\n").as_bytes());
        let (members, all) = (list.members.len(), self.whole.members.len());
        let name = format!("{members}-of-{all}-{}", &hash[..HASH]);
        let choice = self.choice.with_list(&list, &self.lists.join(&name))?;
        let bootable = self.lab.with(self.stock, [&choice])?;
        Ok(Side { name, bootable })
    }

    fn passes(&mut self, parts: &[Part]) -> Result<Vec<bool>, Failure> {
        let mut sides = Vec::new();
        for part in parts {
            sides.push(match self.side(part) {
                Ok(side) => Some(side),
                Err(failure) if failure.exit == Exit::Internal => return Err(failure),
                // What cannot be put together, or built, does not boot either.
                Err(_) => None,
            });
        }
        let there: Vec<&Side> = sides.iter().flatten().collect();
        self.experiment
            .boot("leaving parts out", &there, self.boots)
            .map_err(Stop::failure)?;
        self.tried += there.len();
        let passes: Vec<bool> = sides
            .iter()
            .map(|side| side.as_ref().is_some_and(|side| self.is_good(side)))
            .collect();
        if let Some(at) = passes.iter().position(|passes| *passes) {
            let ready = sides[at].as_ref().and_then(|side| self.ready_ns(side));
            self.best_ns = ready.unwrap_or(self.best_ns);
            let (list, left_out) = self.divided(&parts[at]);
            let (stays, goes) = (list.members.len(), left_out.len());
            self.lab.progress.note(&match list.listed {
                Listed::Kept => format!("  ready with {stays:>4}, without {goes}"),
                Listed::Changed | Listed::Needed => {
                    format!("  ready with {stays:>4} of {}", stays + goes)
                }
            });
        }
        Ok(passes)
    }

    fn is_good(&self, side: &Side) -> bool {
        let works = self.experiment.works(&side.name);
        works
            && match (self.goal, self.ready_ns(side)) {
                (Goal::Ready, _) => true,
                (Goal::Sooner, None) => false,
                (Goal::Sooner, Some(ready_ns)) => {
                    // Where time is not counted, boots differ for no reason.
                    let noise_ns = match self.stock.mode().repeats() {
                        true => 0,
                        false => self.experiment.margin_ns(side),
                    };
                    ready_ns <= self.best_ns.saturating_add(noise_ns)
                }
            }
    }

    /// When it was ready: the mean of its boots.
    fn ready_ns(&self, side: &Side) -> Option<i64> {
        let runs = self.experiment.runs(&side.name);
        let all: Vec<i64> = runs
            .iter()
            .filter_map(|run| Some(run.ready()?.ns))
            .collect();
        let count = i64::try_from(all.len()).ok().filter(|count| *count > 0)?;
        Some(all.iter().sum::<i64>() / count)
    }

    /// How `after` differs from `before`, which must get ready in each perturbation.
    fn compared(&mut self, before: &Side, after: &Side, boots: u32) -> Result<Trial, Failure> {
        let sides = std::slice::from_ref(after);
        let compared = self
            .experiment
            .once("comparing with before", before, sides, boots);
        let compared = compared.map_err(Stop::failure)?.into_iter().next();
        let failed = self
            .experiment
            .runs(&after.name)
            .iter()
            .find_map(Broken::of);
        match (compared, failed) {
            (Some(Compared::Measured(trial)), None) => Ok(Trial {
                recipe: self.choice.meta().name.to_owned(),
                ..*trial
            }),
            (_, failed) => {
                let broken = failed.unwrap_or_else(|| self.experiment.broken(after));
                let Failure { message, .. } = Failure::from(broken);
                Err(Failure::new(Exit::NeverReady, message).hint(
                    "it got ready with this list once, and not in each perturbation: what gets \
                     it ready depends on chance",
                ))
            }
        }
    }
}
