//! The bench that the search orders boots from: sets of recipes become targets
//! and are booted.

use std::collections::BTreeMap;

use bootlap_analysis::Effect;
use bootlap_analysis::tune::{Bench, Candidate, Depth, Fate, Set, Step};
use bootlap_product::recipe::Choice;
use bootlap_report::format::{duration, recipe};
use bootlap_report::tuning::Excluded;

use crate::bootable::Bootable;
use crate::experiment::{Compared, Experiment, Side, Stop};
use crate::lab::Lab;

/// Boots of each side for a glance, where time is real.
const GLANCE: u32 = 2;
/// And where it is counted: what differs for no reason is known from all boots so far.
const GLANCE_EXACT: u32 = 1;

pub(super) struct LabBench<'b, 'l, 'a> {
    pub(super) lab: &'b Lab<'a>,
    pub(super) stock: &'b Bootable,
    pub(super) choices: Vec<Choice>,
    pub(super) names: Vec<Candidate>,
    pub(super) experiment: Experiment<'l, 'a>,
    /// Boots of each side for a verdict. One look: what is not surely missed
    /// is dropped, so there is no need to boot until even that is sure.
    perturbations: u32,
    /// Sets that were put together, or why they cannot be.
    sides: BTreeMap<Set, Result<Side, String>>,
    /// What the console of broken boots said, by the set.
    pub(super) broken: BTreeMap<Set, Excluded>,
}

impl<'b, 'l, 'a> LabBench<'b, 'l, 'a> {
    pub(super) fn new(
        lab: &'b Lab<'a>,
        stock: &'b Bootable,
        choices: &[Choice],
        names: &[Candidate],
        experiment: Experiment<'l, 'a>,
        perturbations: u32,
    ) -> Self {
        Self {
            lab,
            stock,
            choices: choices.to_vec(),
            names: names.to_vec(),
            experiment,
            perturbations,
            sides: BTreeMap::new(),
            broken: BTreeMap::new(),
        }
    }

    /// The target with a set of recipes applied, in their order.
    pub(super) fn side(&mut self, set: &Set) -> Result<Side, String> {
        if !self.sides.contains_key(set) {
            let side = self.put_together(set);
            self.sides.insert(set.clone(), side);
        }
        self.sides[set].clone()
    }

    /// The same for many sets, on all cores.
    fn put_all_together(&mut self, sets: &[Set]) {
        let new: Vec<&Set> = sets
            .iter()
            .filter(|s| !self.sides.contains_key(*s))
            .collect();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let share = new.len().div_ceil(cores).max(1);
        let this = &*self;
        let together: Vec<(Set, Result<Side, String>)> = std::thread::scope(|scope| {
            let part = |sets: &[&Set]| -> Vec<_> {
                let sides = sets
                    .iter()
                    .map(|set| ((*set).clone(), this.put_together(set)));
                sides.collect()
            };
            let shares: Vec<_> = new
                .chunks(share)
                .map(|sets| scope.spawn(move || part(sets)))
                .collect();
            let done = shares
                .into_iter()
                .map(|share| share.join().expect("it does not panic"));
            done.flatten().collect()
        });
        self.sides.extend(together);
    }

    fn put_together(&self, set: &Set) -> Result<Side, String> {
        let recipes = set.iter().map(|c| &self.choices[*c]);
        let bootable = self.lab.with(self.stock, recipes);
        let bootable = bootable.map_err(|failure| failure.message)?;
        let name = self.name(set);
        Ok(Side { name, bootable })
    }

    fn name(&self, set: &Set) -> String {
        let names: Vec<&str> = set.iter().map(|c| self.names[*c].name.as_str()).collect();
        match names.as_slice() {
            [] => "baseline".to_owned(),
            names => names.join("+"),
        }
    }

    fn fate(&mut self, set: &Set, compared: Compared) -> Fate {
        match compared {
            Compared::Measured(trial) if trial.not_ready[1] > trial.not_ready[0] => {
                let why = format!("{} boots never got ready", trial.not_ready[1]);
                self.note_broken(set, &why, Vec::new(), None);
                Fate::Broken(why)
            }
            Compared::Measured(trial) => Fate::Measured(trial.effect),
            Compared::Broken(broken) => {
                let run = Some(broken.run.display().to_string());
                self.note_broken(set, &broken.why, broken.tail, run);
                Fate::Broken(broken.why)
            }
        }
    }

    fn note_broken(&mut self, set: &Set, why: &str, tail: Vec<String>, run: Option<String>) {
        let recipe = self.name(set);
        let why = why.to_owned();
        let broken = Excluded {
            recipe,
            why,
            tail,
            run,
        };
        self.broken.insert(set.clone(), broken);
    }

    fn candidate(&self, at: usize) -> String {
        recipe(&self.names[at].name)
    }
}

impl Bench for LabBench<'_, '_, '_> {
    type Stop = Stop;

    fn compare(&mut self, from: &Set, to: &[Set], depth: Depth) -> Result<Vec<Fate>, Stop> {
        let base = self.side(from).map_err(|why| {
            let why = format!("{} cannot be put together: {why}", self.name(from));
            Stop::Failed(crate::failure::Failure::new(
                crate::failure::Exit::Internal,
                why,
            ))
        })?;
        self.put_all_together(to);
        let sides: Vec<Result<Side, String>> = to.iter().map(|set| self.side(set)).collect();
        let there: Vec<Side> = sides
            .iter()
            .filter_map(|s| s.as_ref().ok().cloned())
            .collect();
        let (what, boots) = match depth {
            Depth::Glance if self.stock.mode().repeats() => ("a glance at each", GLANCE_EXACT),
            Depth::Glance => ("a glance at each", GLANCE),
            Depth::Sure => ("leaving out and putting in", self.perturbations),
        };
        let compared = self.experiment.once(what, &base, &there, boots)?;
        let mut compared = compared.into_iter();
        let mut fates = Vec::new();
        for (set, side) in to.iter().zip(sides) {
            let fate = match side {
                Ok(_) => compared.next().map(|compared| self.fate(set, compared)),
                Err(why) => Some(Fate::Refused(why)),
            };
            fates.extend(fate);
        }
        Ok(fates)
    }

    fn step(&mut self, step: &Step<'_>) {
        let saves = |effect: &Effect| duration(effect.shift_ns.saturating_neg());
        let text = match step {
            Step::Screening(n) => format!("1/4 Look at each of {n} recipes by itself"),
            Step::Combining(n) => {
                format!("2/4 Put together what looked good, {n} recipes at most")
            }
            Step::Settling(set) => format!(
                "3/4 Leave out each of {} recipes, put in each other one",
                set.len()
            ),
            Step::Added(at, e) => {
                format!("    + {:<32} saves {:>9}", self.candidate(*at), saves(e))
            }
            Step::Swapped(at, e) => {
                format!("    ~ {:<32} saves {:>9}", self.candidate(*at), saves(e))
            }
            Step::Dropped(at, e) => format!(
                "    - {:<32} saves {:>9}: not needed",
                self.candidate(*at),
                duration(e.shift_ns)
            ),
            Step::Out(at, fate) => {
                let why = match fate {
                    Fate::Broken(why) | Fate::Refused(why) => why.as_str(),
                    Fate::Measured(_) => "does not help",
                };
                format!("    x {:<32} {why}", self.candidate(*at))
            }
        };
        self.lab.progress.note(&text);
    }
}
