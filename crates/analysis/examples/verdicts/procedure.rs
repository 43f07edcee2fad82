//! Ways to come to a verdict, and how often each is right.

use std::thread;

use bootlap_analysis::{Effect, Question, Verdict, effect, effect_of_pairs};

use crate::noise::{Machine, Noise, Random, SIGMA_NS};
use crate::plan::{Next, Plan};

/// How boots become a verdict.
#[derive(Clone, Copy)]
pub(crate) struct Procedure {
    pub(crate) looks: Looks,
    pub(crate) design: Design,
}

/// What the boots of both sides have to do with each other.
#[derive(Clone, Copy)]
pub(crate) enum Design {
    /// Two by two, as `try` makes them.
    Pairs,
    /// In turns, and compared all with all.
    Turns,
    /// All of one side first, and taken for boots made in turns: what one must
    /// not do.
    Apart,
    /// All of one side first, as folders of logs come.
    Sessions,
}

#[derive(Clone, Copy)]
pub(crate) enum Looks {
    /// One, at so many boots of each side.
    Once([u32; 2]),
    /// Up to three; the first at so many boots.
    Planned(u32),
    /// The same three, each with the whole error: what one must not do.
    Greedy(u32),
}

/// One experiment.
#[derive(Clone, Copy)]
pub(crate) struct Outcome {
    pub(crate) effect: Effect,
    /// Boots of each side, on average.
    pub(crate) boots: u32,
}

impl Procedure {
    fn limit(self) -> u32 {
        match self.looks {
            Looks::Once(sizes) => sizes[0] + sizes[1],
            Looks::Planned(first) | Looks::Greedy(first) => 8 * first,
        }
    }

    fn ask(self, pairs: &[(i64, i64)], question: &Question) -> Effect {
        match self.design {
            Design::Pairs => effect_of_pairs(pairs, question),
            _ => {
                let (before, after): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
                effect(&before, &after, question)
            }
        }
    }

    /// What `plan` says of boots that are all there, looking only when it does.
    pub(crate) fn tell(self, plan: &Plan, before: &[i64], after: &[i64]) -> Effect {
        let pairs: Vec<(i64, i64)> = before.iter().copied().zip(after.iter().copied()).collect();
        let mut boots = 0;
        loop {
            match plan.next(boots, |question| {
                self.ask(&pairs[..boots as usize], question)
            }) {
                Next::MoreBoots(more) => boots += more,
                Next::Sure(effect) | Next::Limit(effect) => return effect,
            }
        }
    }

    /// An experiment whose machine is `machine`, with a margin of so many σ.
    fn run(self, machine: &mut Machine, margin: f64) -> Outcome {
        let margin_ns = (margin * SIGMA_NS).round() as i64;
        let plan = match self.looks {
            Looks::Once(sizes) => {
                let effect = self.once(machine, sizes, &Question::once(margin_ns));
                let boots = sizes[0].midpoint(sizes[1]);
                return Outcome { effect, boots };
            }
            Looks::Planned(first) | Looks::Greedy(first) => Plan::new(first, margin_ns),
        };
        let greedy = matches!(self.looks, Looks::Greedy(_));
        let (mut pairs, mut boots) = (Vec::new(), 0);
        loop {
            let next = plan.next(boots, |question| match greedy {
                true => self.ask(&pairs, &Question::once(margin_ns)),
                false => self.ask(&pairs, question),
            });
            match next {
                Next::MoreBoots(more) => {
                    pairs.extend((0..more).map(|_| machine.pair()));
                    boots += more;
                }
                Next::Sure(effect) | Next::Limit(effect) => return Outcome { effect, boots },
            }
        }
    }

    fn once(self, machine: &mut Machine, sizes: [u32; 2], question: &Question) -> Effect {
        if let Design::Apart | Design::Sessions = self.design {
            let [before, after] = machine.sessions(sizes);
            let effect = effect(&before, &after, question);
            return match self.design {
                Design::Sessions => effect.of_sessions(&before, &after),
                _ => effect,
            };
        }
        let [few, many] = [sizes[0].min(sizes[1]), sizes[0].max(sizes[1])];
        let pairs: Vec<(i64, i64)> = (0..few).map(|_| machine.pair()).collect();
        if few == many {
            return self.ask(&pairs, question);
        }
        let (mut before, mut after): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
        let of_after = sizes[1] > sizes[0];
        let more = (few..many).map(|_| machine.boot(of_after));
        if of_after {
            after.extend(more)
        } else {
            before.extend(more)
        }
        effect(&before, &after, question)
    }
}

/// What is simulated, and how often.
#[derive(Clone, Copy)]
pub(crate) struct Study {
    pub(crate) procedure: Procedure,
    pub(crate) noise: Noise,
    pub(crate) shift: f64,
    /// How much wider the times are after the change.
    pub(crate) width: f64,
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
    /// The true change is the study's shift.
    pub(crate) fn of(study: &Study, seed: u64) -> Self {
        Self::with_truth(study, study.shift, seed)
    }

    /// The true median difference is `truth` σ.
    pub(crate) fn with_truth(study: &Study, truth: f64, seed: u64) -> Self {
        let half = study.experiments / 2;
        let parts = [(0, half), (half, study.experiments)];
        let parts = thread::scope(|scope| {
            let parts = parts.map(|(from, to)| {
                scope.spawn(move || {
                    (from..to).fold(Rates::default(), |r, i| r.with(study, truth, seed, i))
                })
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

    fn with(mut self, study: &Study, truth: f64, seed: u64, number: u32) -> Self {
        let mut random = Random::new(seed << 32 | u64::from(number));
        let limit = study.procedure.limit();
        let machine = Machine::new(study.noise, study.shift, limit, &mut random);
        let outcome = study
            .procedure
            .run(&mut machine.wider(study.width), study.margin);
        let shift_ns = (truth * SIGMA_NS).round() as i64;
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
            let quarter = outcome.boots * 8 / limit;
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
