//! Variants of one target, booted side by side until it is known how they
//! differ.
//!
//! All that an experiment knows is in its folder: asking the same again after
//! a crash finds the boots that were made, and makes the others.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bootlap_analysis::experiment::{Trial, trial};
use bootlap_analysis::groups::Margin;
use bootlap_analysis::predicted_saving;
use bootlap_analysis::stats::{self, ALPHA, Effect, Question, looks};
use bootlap_lab::experiment::{self, Session};
use bootlap_lab::{Limit, Mode, Run};
use bootlap_model::Timeline;
use bootlap_product::BoardModel;

use crate::board_model;
use crate::bootable::{Bootable, Planned};
use crate::broken::Broken;
use crate::evidence::Recorded;
use crate::evidence::{self, TOOL};
use crate::explained::{EXPLAIN, read_explained};
use crate::failure::Failure;
use crate::lab::Lab;

/// What counts as no change if nobody says otherwise: 0.05 % of the boot.
pub const MARGIN: Margin = Margin::Share(0.0005);
/// How many times as long as the first side's boots a boot may take.
const PATIENCE: u32 = 10;
/// And so much longer in any case: the host may be busy.
const AT_LEAST: Duration = Duration::from_secs(20);
/// As often as long as the slowest boot of the experiment one may take by its own time.
const LIMIT: i64 = 4;
/// And so much longer, ns: what hangs in short boots may still be on its way.
const LIMIT_AT_LEAST_NS: i64 = 2_000_000_000;
/// And so much longer where something comes behind ready, however short the boot is.
const LATER_NS: i64 = 60_000_000_000;

/// One side of a comparison.
#[derive(Clone)]
pub struct Side {
    /// Its name, e.g. that of a recipe.
    pub name: String,
    /// What is booted.
    pub bootable: Bootable,
}

/// What came of comparing a side with the first.
pub enum Compared {
    /// It boots, and differs so.
    Measured(Box<Trial>),
    /// It does not boot.
    Broken(Box<Broken>),
}

/// Why an experiment did not go on.
pub enum Stop {
    /// The next boots would be more than were allowed.
    Budget(&'static str),
    /// Something broke.
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failed(failure)
    }
}

impl Stop {
    /// What is an error where no budget was set.
    pub fn failure(self) -> Failure {
        match self {
            Stop::Budget(what) => Failure::new(crate::failure::Exit::Internal, what),
            Stop::Failed(failure) => failure,
        }
    }
}

/// How much an experiment may cost.
#[derive(Clone, Copy, Default)]
pub struct Budget {
    /// Most boots.
    pub boots: Option<usize>,
    /// No boot begins after this.
    pub until: Option<Instant>,
}

/// An experiment under way.
pub struct Experiment<'l, 'a> {
    lab: &'l Lab<'a>,
    session: Session,
    mode: Mode,
    /// The board that the target stands for.
    board: Option<BoardModel>,
    budget: Budget,
    /// Boots of each side before the first look.
    first: u32,
    /// A smaller change counts as none.
    margin: Margin,
    /// The number of the first perturbation.
    from: u32,
    booted: BTreeMap<String, Booted>,
    boots: usize,
}

/// The boots of one side, by perturbation.
#[derive(Default)]
struct Booted {
    runs: Vec<Run>,
    timelines: Vec<Timeline>,
    /// One that went on until what has to come behind ready, if anything has to.
    later: Option<Run>,
}

impl Booted {
    /// Whether it got ready, and what has to come behind that did not.
    fn fell_short(&self) -> bool {
        self.later.as_ref().is_some_and(|run| run.ready().is_none())
    }

    /// Whether it makes no sense to boot it any more.
    fn is_broken(&self, mode: Mode) -> bool {
        let never = self.runs.iter().all(|run| run.ready().is_none());
        // In simulated time one boot tells; else it may have been bad luck.
        let enough = if mode.repeats() { 1 } else { 2 };
        never && self.runs.len() >= enough || self.fell_short()
    }
}

impl<'l, 'a> Experiment<'l, 'a> {
    /// Begins the experiment that `kind` (a command) and `details` describe, or
    /// goes on with it if it was interrupted.
    pub fn open(
        lab: &'l Lab<'a>,
        kind: &str,
        stock: &Bootable,
        first: u32,
        margin: Margin,
        mut details: Vec<String>,
    ) -> Result<Self, Failure> {
        details.push(format!("margin {margin:?}"));
        let session = lab.experiment(kind, stock, first, details, TOOL)?;
        Ok(Self {
            lab,
            session,
            mode: stock.mode(),
            board: stock.target.board.clone(),
            budget: Budget::default(),
            first,
            margin,
            from: 0,
            booted: BTreeMap::new(),
            boots: 0,
        })
    }

    /// From now on it may cost so much altogether.
    pub fn limit(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// From here on other perturbations are booted: what was measured before does not
    /// count for what is measured now.
    pub fn afresh(&mut self, from: u32) {
        self.from = from;
        self.booted.clear();
    }

    /// Its folder.
    pub fn dir(&self) -> PathBuf {
        self.session.dir().to_owned()
    }

    /// Boots so far.
    pub fn boots(&self) -> usize {
        self.boots
    }

    /// Boots the stock target once more with the kernel explaining itself; nothing if that
    /// cannot be asked of it, or it did not get ready.
    pub fn explain(&mut self, stock: &Bootable) -> Result<Option<Recorded>, Failure> {
        if !stock.takes_words() {
            return Ok(None);
        }
        let stock = stock.clone().explaining();
        let run = self.boot_once("booting with initcall_debug", "explained", &stock, EXPLAIN)?;
        read_explained(&run)
    }

    /// Boots a target once, to learn of another than how long it takes.
    pub fn boot_once(
        &mut self,
        what: &str,
        name: &str,
        bootable: &Bootable,
        append: &str,
    ) -> Result<Run, Failure> {
        let plan = [Planned {
            append,
            ..Planned::perturbed(bootable, self.session.dir(), name, 0)
        }];
        let mut runs = self.lab.batch(what, &plan)?;
        self.boots += 1;
        Ok(runs.remove(0))
    }

    /// All that was asked is answered.
    pub fn finish(self) -> Result<(), Failure> {
        Ok(self.session.finish()?)
    }

    /// The runs of a side, as far as it was booted.
    pub fn runs(&self, name: &str) -> &[Run] {
        self.booted.get(name).map_or(&[], |booted| &booted.runs)
    }

    /// Whether each boot of a side got ready, and what has to come behind that did.
    pub fn works(&self, name: &str) -> bool {
        self.booted.get(name).is_some_and(|side| {
            let ready = side.runs.iter().all(|run| run.ready().is_some());
            ready && !side.runs.is_empty() && !side.fell_short()
        })
    }

    /// How `others` differ from `base`: boots until each verdict is sure, or
    /// the limit of four times `first` boots is reached. The verdicts hold
    /// together (Holm), and so often as is looked at them.
    pub fn compare(
        &mut self,
        what: &str,
        base: &Side,
        others: &[Side],
    ) -> Result<Vec<Compared>, Stop> {
        let mut trials: Vec<Option<Trial>> = others.iter().map(|_| None).collect();
        let mut open: Vec<usize> = (0..others.len()).collect();
        for look in looks(self.first) {
            let sides = open.iter().map(|at| &others[*at]);
            let sides: Vec<&Side> = std::iter::once(base).chain(sides).collect();
            self.boot(what, &sides, look.boots)?;
            self.check_base(base)?;
            let question = Question {
                margin_ns: self.margin_ns(base),
                alpha: ALPHA,
                stage: look.stage,
            };
            for at in open {
                trials[at] = self.trial(base, &others[at], &question);
            }
            // All anew: what was sure need not be so beside what came since.
            let unsure = corrected(&trials).into_iter().enumerate();
            let unsure = unsure.filter(|(_, effect)| effect.is_none_or(|e| !e.is_sure()));
            let booted = unsure.filter(|(at, _)| !self.is_broken(&others[*at]));
            open = booted.map(|(at, _)| at).collect();
            if open.is_empty() {
                break;
            }
        }
        Ok(self.compared(trials, others))
    }

    /// How `others` differ from `base` after one look at so many boots. Their
    /// verdicts hold together (Holm); a glance at fewer than four boots has none,
    /// and what counts as no change is then what the baseline's own boots differ
    /// by.
    pub fn once(
        &mut self,
        what: &str,
        base: &Side,
        others: &[Side],
        boots: u32,
    ) -> Result<Vec<Compared>, Stop> {
        let sides: Vec<&Side> = std::iter::once(base).chain(others).collect();
        self.boot(what, &sides, boots)?;
        self.check_base(base)?;
        let question = Question::once(match boots {
            0..4 => self.noise_ns(base),
            _ => self.margin_ns(base),
        });
        // The same perturbations of both, however many there are of either.
        let few = boots as usize;
        let trials = others
            .iter()
            .map(|side| self.trial_of(base, side, &question, few));
        Ok(self.compared(trials.collect(), others))
    }

    /// What came of `others`, with verdicts that hold together.
    fn compared(&self, trials: Vec<Option<Trial>>, others: &[Side]) -> Vec<Compared> {
        let effects = corrected(&trials);
        let all = trials.into_iter().zip(effects).zip(others);
        all.map(|((trial, effect), side)| match trial.zip(effect) {
            Some((trial, effect)) => Compared::Measured(Box::new(Trial { effect, ..trial })),
            None => Compared::Broken(Box::new(self.broken(side))),
        })
        .collect()
    }

    fn is_broken(&self, side: &Side) -> bool {
        let booted = self.booted.get(&side.name);
        booted.is_some_and(|booted| booted.is_broken(self.mode))
    }

    /// How `after` differs from `before`, from all boots of both that are there.
    pub fn trial(&self, before: &Side, after: &Side, question: &Question) -> Option<Trial> {
        self.trial_of(before, after, question, usize::MAX)
    }

    fn trial_of(
        &self,
        before: &Side,
        after: &Side,
        question: &Question,
        few: usize,
    ) -> Option<Trial> {
        let (before, name) = (self.booted.get(&before.name)?, &after.name);
        let after = self.booted.get(name).filter(|side| !side.fell_short())?;
        // Rounds are booted together: a side never counts boots that the other
        // has not.
        let rounds = before.timelines.len().min(after.timelines.len()).min(few);
        let before: Vec<&Timeline> = before.timelines.iter().take(rounds).collect();
        let after: Vec<&Timeline> = after.timelines.iter().take(rounds).collect();
        let mut trial = trial(name, &before, &after, question)?;
        let on_board = |boots: &[&Timeline]| {
            let model = self.board.as_ref()?;
            board_model::predicted(boots.first()?, model)
        };
        let sides = on_board(&before).zip(on_board(&after));
        trial.predicted = sides.map(|(before, after)| predicted_saving(&before, &after));
        Some(trial)
    }

    /// What counts as no change of a boot like that of `base`, ns.
    pub fn margin_ns(&self, base: &Side) -> i64 {
        self.margin.of(self.ready_ns(base).unwrap_or(0))
    }

    /// How far apart boots are for no reason, ns: twice the largest distance from the
    /// median of their side, but no less than what counts as no change. Time that is
    /// real drifts, so there it is only what boots of `base` say.
    fn noise_ns(&self, base: &Side) -> i64 {
        let sides: Vec<&Booted> = match self.mode.repeats() {
            true => self.booted.values().collect(),
            false => self.booted.get(&base.name).into_iter().collect(),
        };
        let farthest = sides.iter().filter_map(|side| {
            let times = side.runs.iter().filter_map(|r| Some(r.ready()?.ns));
            let times: Vec<i64> = times.collect();
            let middle = stats::median(&times)?;
            times.iter().map(|ns| ns.abs_diff(middle)).max()
        });
        let farthest = i64::try_from(farthest.max().unwrap_or(0)).unwrap_or(i64::MAX);
        farthest.saturating_mul(2).max(self.margin_ns(base))
    }

    fn ready_ns(&self, side: &Side) -> Option<i64> {
        self.runs(&side.name)
            .iter()
            .find_map(|run| Some(run.ready()?.ns))
    }

    /// A baseline that does not boot leaves nothing to compare with.
    fn check_base(&self, base: &Side) -> Result<(), Failure> {
        let short = self.booted.get(&base.name).is_some_and(Booted::fell_short);
        match self.ready_ns(base) {
            Some(_) if !short => Ok(()),
            _ => Err(self.broken(base).into()),
        }
    }

    /// What to say of a side that does not boot.
    pub fn broken(&self, side: &Side) -> Broken {
        let runs = self.runs(&side.name);
        let later = self
            .booted
            .get(&side.name)
            .and_then(|side| side.later.as_ref());
        let later = || {
            let broken = Broken::of(later?)?;
            let why = format!("it did, but what has to come later did not: {}", broken.why);
            Some(Broken { why, ..broken })
        };
        let found = runs.iter().find_map(Broken::of).or_else(later);
        found.unwrap_or_else(|| Broken {
            why: format!("{} was not booted", side.name),
            cause: None,
            tail: Vec::new(),
            run: self.dir(),
            ready: String::new(),
            target: side.name.clone(),
        })
    }

    /// Boots all sides until each has `boots` boots. The first round comes
    /// first: a side that does not get ready in it is booted no more. Not so where
    /// others make a share of each round, and have not made it yet.
    pub fn boot(&mut self, what: &str, sides: &[&Side], boots: u32) -> Result<(), Stop> {
        let sides = &once_each(sides, |side| &side.name)[..];
        self.warm_up(sides)?;
        if !self.lab.makes_a_share() {
            self.rounds(what, sides, 0..boots.min(1))?;
            self.look_later(sides)?;
        }
        self.rounds(what, sides, 0..boots)
    }

    /// Boots each side that got ready once more, until what has to come behind that.
    fn look_later(&mut self, sides: &[&Side]) -> Result<(), Stop> {
        let mut awaiting = Vec::new();
        for side in sides {
            let booted = self.booted.get(&side.name);
            let open = booted.is_some_and(|b| b.later.is_none() && !b.is_broken(self.mode));
            if let (true, Some(later)) = (open, self.lab.awaiting_later(&side.bootable)?) {
                let dir = self.session.folder(&side.name).map_err(Failure::from)?;
                awaiting.push((&side.name, later, dir));
            }
        }
        if awaiting.is_empty() {
            return Ok(());
        }
        self.afford(awaiting.len())?;
        let patience = self.patience();
        let limit = self.given_up_at(LATER_NS);
        let plan = awaiting.iter().map(|(name, later, dir)| Planned {
            dir: dir.join("later"),
            patience,
            limit,
            ..Planned::perturbed(later, dir, name, 0)
        });
        let plan: Vec<Planned<'_>> = plan.collect();
        let runs = self.lab.batch("looking at what comes later", &plan)?;
        self.boots += runs.len();
        for ((name, ..), run) in awaiting.iter().zip(runs) {
            self.booted.entry((*name).clone()).or_default().later = Some(run);
        }
        Ok(())
    }

    /// The first boot of a program on a computer is slower than the next: its
    /// files are read from a disk. In simulated time that cannot be seen.
    fn warm_up(&mut self, sides: &[&Side]) -> Result<(), Stop> {
        if self.mode.repeats() {
            return Ok(());
        }
        let fresh = sides.iter().filter(|s| !self.booted.contains_key(&s.name));
        let dir = self.session.dir().join("warm-up");
        let plan: Vec<Planned<'_>> = fresh
            .map(|side| Planned::perturbed(&side.bootable, &dir, &side.name, self.from))
            .collect();
        if !plan.is_empty() {
            self.afford(plan.len())?;
            self.boots += plan.len();
            self.lab.batch("warming up", &plan)?;
        }
        Ok(())
    }

    fn rounds(
        &mut self,
        what: &str,
        sides: &[&Side],
        perturbations: Range<u32>,
    ) -> Result<(), Stop> {
        let mode = self.mode;
        // In this order, the baseline first, whatever is booted first.
        for side in sides {
            self.session.folder(&side.name).map_err(Failure::from)?;
        }
        let mut jobs: Vec<(usize, Planned<'_>)> = Vec::new();
        let (patience, limit) = (self.patience(), self.given_up_at(LIMIT_AT_LEAST_NS));
        let order = experiment::plan(sides.len(), perturbations.end, self.lab.seed());
        for job in order {
            let side = sides[job.variant];
            let booted = self.booted.entry(side.name.clone()).or_default();
            let known = booted.runs.len();
            if (job.perturbation as usize) < known || (known > 0 && booted.is_broken(mode)) {
                continue;
            }
            let dir = self.session.folder(&side.name).map_err(Failure::from)?;
            let perturbation = self.from + job.perturbation;
            jobs.push((
                job.variant,
                Planned {
                    dir: dir.join(perturbation.to_string()),
                    patience,
                    limit,
                    ..Planned::perturbed(&side.bootable, &dir, &side.name, perturbation)
                },
            ));
        }
        if jobs.is_empty() {
            return Ok(());
        }
        self.afford(jobs.len())?;
        let (variants, plan): (Vec<usize>, Vec<Planned<'_>>) = jobs.into_iter().unzip();
        let runs = self.lab.batch(what, &plan)?;
        self.boots += runs.len();
        for (variant, run) in variants.into_iter().zip(runs) {
            let timeline = evidence::read_run(&run).map(|r| r.timeline);
            let booted = self.booted.entry(sides[variant].name.clone()).or_default();
            // One that printed nothing has no timeline, and is no boot.
            booted.timelines.push(timeline.unwrap_or_default());
            booted.runs.push(run);
        }
        Ok(())
    }

    /// A side that hangs is not waited for as long as the target allows, if it
    /// is known how long others take.
    fn patience(&self) -> Option<Duration> {
        let walls = self.ready().map(|run| run.manifest.wall_ms);
        let longest = Duration::from_millis(walls.max()?);
        Some(longest * PATIENCE + AT_LEAST)
    }

    /// The same in the guest's time, where that is counted, unless the user waits.
    fn given_up_at(&self, at_least_ns: i64) -> Option<Limit> {
        let slowest = self.ready().filter_map(|run| Some(run.ready()?.ns)).max()?;
        let ns = slowest.saturating_mul(LIMIT).saturating_add(at_least_ns);
        let counted = self.mode.repeats() && !self.lab.waits_as_told();
        counted.then(|| Limit::at(ns))
    }

    /// All boots so far that got ready.
    fn ready(&self) -> impl Iterator<Item = &Run> {
        let runs = self.booted.values().flat_map(|booted| &booted.runs);
        runs.filter(|run| run.ready().is_some())
    }

    fn afford(&self, boots: usize) -> Result<(), Stop> {
        let too_many = self
            .budget
            .boots
            .is_some_and(|most| self.boots + boots > most);
        if too_many {
            return Err(Stop::Budget("the boots that were allowed are used up"));
        }
        match self.budget.until {
            Some(until) if Instant::now() >= until => {
                Err(Stop::Budget("the time that was allowed is used up"))
            }
            _ => Ok(()),
        }
    }
}

/// The effects of several trials, corrected for being several (Holm).
fn corrected(trials: &[Option<Trial>]) -> Vec<Option<Effect>> {
    let mut effects: Vec<Effect> = trials.iter().flatten().map(|t| t.effect).collect();
    stats::correct(&mut effects);
    let mut effects = effects.into_iter();
    let each = trials.iter();
    each.map(|trial| trial.as_ref().and_then(|_| effects.next()))
        .collect()
}

/// Those of a list, each once: what is asked for twice would be booted twice in the same
/// folder, and counted twice.
fn once_each<'s, T>(all: &[&'s T], name: impl Fn(&T) -> &str) -> Vec<&'s T> {
    let mut each: Vec<&T> = Vec::new();
    for one in all {
        if !each.iter().any(|known| name(known) == name(one)) {
            each.push(one);
        }
    }
    each
}

#[cfg(test)]
mod tests {
    use super::once_each;

    #[test]
    fn what_is_named_twice_is_booted_once() {
        let [a, b, c] = ["a", "b", "c"].map(str::to_owned);
        let each = once_each(&[&a, &b, &a, &c, &b], |name| name.as_str());
        assert_eq!(each, ["a", "b", "c"]);
    }
}
