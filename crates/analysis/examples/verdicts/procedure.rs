//! Ways to come to a verdict, and how often each is right.

use std::thread;

use bootlap_analysis::stats::{blocks, effect_in_blocks};
use bootlap_analysis::{Effect, Question, Round, Verdict};

use crate::noise::{Machine, Noise, Random, SIGMA_NS};
use crate::plan::{Next, Plan};

/// How boots become a verdict.
#[derive(Clone, Copy)]
pub(crate) struct Procedure {
    pub(crate) looks: Looks,
    /// Rounds that are compared among themselves; `None`: all boots are.
    pub(crate) rounds: Option<usize>,
}

#[derive(Clone, Copy)]
pub(crate) enum Looks {
    /// One, at so many boots of each side.
    Once(u32),
    /// Up to three; the first at so many boots.
    Planned(u32),
    /// The same three, each with the whole error: what one must not do.
    Greedy(u32),
}

/// One experiment.
#[derive(Clone, Copy)]
pub(crate) struct Outcome {
    pub(crate) effect: Effect,
    /// Boots of each side.
    pub(crate) boots: u32,
}

impl Procedure {
    fn limit(self) -> u32 {
        match self.looks {
            Looks::Once(boots) => boots,
            Looks::Planned(first) | Looks::Greedy(first) => 4 * first,
        }
    }

    fn ask(self, rounds: &[Round], question: &Question) -> Effect {
        let each = self.rounds.unwrap_or(usize::MAX);
        effect_in_blocks(&blocks(rounds, each), question)
    }

    /// What `plan` says of boots that are all there, looking only when it does.
    pub(crate) fn tell(self, plan: &Plan, before: &[i64], after: &[i64]) -> Effect {
        let mut boots = 0;
        loop {
            let round = || Round {
                before: before[..boots as usize].to_vec(),
                after: after[..boots as usize].to_vec(),
            };
            match plan.next(boots, |question| self.ask(&[round()], question)) {
                Next::MoreBoots(more) => boots += more,
                Next::Sure(effect) | Next::Limit(effect) => return effect,
            }
        }
    }

    /// An experiment with a true change of `shift` σ and a margin of so many.
    fn run(self, noise: Noise, shift: f64, margin: f64, random: &mut Random) -> Outcome {
        let margin_ns = (margin * SIGMA_NS).round() as i64;
        let mut machine = Machine::new(noise, shift, 2 * self.limit(), random);
        let mut rounds = Vec::new();
        let plan = match self.looks {
            Looks::Once(boots) => {
                rounds.extend((0..boots.div_ceil(2)).map(|_| machine.round()));
                let effect = self.ask(&rounds, &Question::once(margin_ns));
                return Outcome { effect, boots };
            }
            Looks::Planned(first) | Looks::Greedy(first) => Plan::new(first, margin_ns),
        };
        let greedy = matches!(self.looks, Looks::Greedy(_));
        let mut boots = 0;
        loop {
            let next = plan.next(boots, |question| match greedy {
                true => self.ask(&rounds, &Question::once(margin_ns)),
                false => self.ask(&rounds, question),
            });
            match next {
                Next::MoreBoots(more) => {
                    rounds.extend((0..more.div_ceil(2)).map(|_| machine.round()));
                    boots += more;
                }
                Next::Sure(effect) | Next::Limit(effect) => return Outcome { effect, boots },
            }
        }
    }
}

/// What is simulated, and how often.
#[derive(Clone, Copy)]
pub(crate) struct Study {
    pub(crate) procedure: Procedure,
    pub(crate) noise: Noise,
    pub(crate) shift: f64,
    pub(crate) margin: f64,
    pub(crate) experiments: u32,
}

/// Counted outcomes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rates {
    experiments: u32,
    faster: u32,
    slower: u32,
    equivalent: u32,
    covered: u32,
    boots: u64,
    /// Claims of faster or slower by the number of boots: up to 1/4, 1/2, all.
    by: [u32; 3],
}

impl Rates {
    pub(crate) fn of(study: &Study, seed: u64) -> Self {
        let half = study.experiments / 2;
        let parts = [(0, half), (half, study.experiments)];
        let parts = thread::scope(|scope| {
            let parts = parts.map(|(from, to)| {
                scope
                    .spawn(move || (from..to).fold(Rates::default(), |r, i| r.with(study, seed, i)))
            });
            parts.map(|part| part.join().expect("a simulation does not fail"))
        });
        let [a, b] = parts;
        Self {
            experiments: a.experiments + b.experiments,
            faster: a.faster + b.faster,
            slower: a.slower + b.slower,
            equivalent: a.equivalent + b.equivalent,
            covered: a.covered + b.covered,
            boots: a.boots + b.boots,
            by: [0, 1, 2].map(|i| a.by[i] + b.by[i]),
        }
    }

    fn with(mut self, study: &Study, seed: u64, number: u32) -> Self {
        let mut random = Random::new(seed << 32 | u64::from(number));
        let outcome = study
            .procedure
            .run(study.noise, study.shift, study.margin, &mut random);
        let shift_ns = (study.shift * SIGMA_NS).round() as i64;
        let [low, high] = outcome.effect.interval_ns;
        self.experiments += 1;
        self.covered += u32::from(low <= shift_ns && shift_ns <= high);
        self.boots += u64::from(outcome.boots);
        let count = match outcome.effect.verdict {
            Verdict::Faster => &mut self.faster,
            Verdict::Slower => &mut self.slower,
            Verdict::Equivalent => &mut self.equivalent,
            Verdict::Unknown => return self,
        };
        *count += 1;
        if outcome.effect.verdict != Verdict::Equivalent {
            let limit = study.procedure.limit();
            let quarter = outcome.boots * 4 / limit;
            for (at, share) in [1, 2, 4].into_iter().enumerate() {
                self.by[at] += u32::from(quarter <= share);
            }
        }
        self
    }

    fn share(self, count: u32) -> f64 {
        100.0 * f64::from(count) / f64::from(self.experiments.max(1))
    }

    /// *Faster* or *slower*, %.
    pub(crate) fn claims(self) -> f64 {
        self.share(self.faster + self.slower)
    }

    /// *Faster*, %.
    pub(crate) fn faster(self) -> f64 {
        self.share(self.faster)
    }

    /// *Equivalent*, %.
    pub(crate) fn equivalent(self) -> f64 {
        self.share(self.equivalent)
    }

    /// The interval holds the true change, %.
    pub(crate) fn coverage(self) -> f64 {
        self.share(self.covered)
    }

    /// Boots of each side, on average.
    pub(crate) fn boots(self) -> f64 {
        self.boots as f64 / f64::from(self.experiments.max(1))
    }

    /// *Faster* or *slower* said by the first, second and last look, %.
    pub(crate) fn by_look(self) -> [f64; 3] {
        self.by.map(|count| self.share(count))
    }
}
