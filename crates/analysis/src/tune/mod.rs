//! The search for the best set of changes.
//!
//! Trying all sets of n changes costs 2ⁿ experiments. This costs about as many
//! as there are changes, because boots get faster mostly by changes that do not
//! know of each other; where they do (a kernel that is not compressed is
//! cheap only once nobody hashes it), a step-wise search notices:
//!
//! 1. *Screen*: each change alone, a glance of few boots. What breaks the
//!    target is out; what does not apply may later, on top of another.
//! 2. *Combine*: what looked good is added, the largest saving first, as long
//!    as each step still helps.
//! 3. *Settle*: from that set, every change is left out once, and every other
//!    one is added or put in the place of its like. A change stays only if the
//!    boot is surely slower without it. Each move starts the round again.
//!
//! What did nothing alone is put in all at once: one boot tells that none of it helps
//! now, and only if it does is it halved. A glance that shows ten times what counts as
//! nothing needs no second look: boots are spent on what is near the margin.
//!
//! What a [`Bench`] measures may be a real target or a model; the search
//! itself is a pure function of its answers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::stats::{Effect, Verdict};

/// A set of changes: indices of candidates, in order.
pub type Set = BTreeSet<usize>;

/// One change that could be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// As it is typed: `kernel-compression=none`.
    pub name: String,
    /// What it is one way of: `kernel-compression`. A set holds at most one
    /// candidate of a kind.
    pub kind: String,
}

/// How well a difference has to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Few boots: is it worth a closer look?
    Glance,
    /// As many as a verdict needs.
    Sure,
}

/// What came of a set.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// How it differs from the set it was compared with.
    Measured(Effect),
    /// It cannot be put together, and why.
    Refused(String),
    /// It did not boot to ready, or the target's check failed; and why.
    Broken(String),
}

/// Boots sets of changes.
pub trait Bench {
    /// Why it takes no more orders: a budget that is spent, a machine that
    /// broke.
    type Stop;

    /// Boots `from` and each of `to`, and says how each differs from `from`.
    /// Verdicts of one call are corrected for being several.
    ///
    /// # Errors
    /// If nothing more can be booted. What was measured before stays so.
    fn compare(&mut self, from: &Set, to: &[Set], depth: Depth) -> Result<Vec<Fate>, Self::Stop>;

    /// Tells who waits what happens next.
    fn step(&mut self, what: &Step<'_>);
}

/// What the search is doing.
#[derive(Debug)]
pub enum Step<'a> {
    /// Looking at each candidate alone.
    Screening(usize),
    /// Adding those that looked good.
    Combining(usize),
    /// Trying all sets that differ from this one by a change.
    Settling(&'a Set),
    /// A change is taken in.
    Added(usize, Effect),
    /// A change takes the place of its like.
    Swapped(usize, Effect),
    /// A change is given up: what leaving it out does.
    Dropped(usize, Effect),
    /// A change is out for good.
    Out(usize, &'a Fate),
}

/// What became of a candidate that is not in the set.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// It broke the target alone or together with what was kept.
    Broken(String),
    /// It could not be applied to what was kept.
    Refused(String),
    /// It does not help, alone or with the others; the last that was measured
    /// of it.
    NoGain(Option<Effect>),
    /// This other one is better, of its kind or instead of it.
    Replaced(usize),
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct Found {
    /// The best set.
    pub set: Set,
    /// The same in the order in which it was put together, which is that of
    /// the savings as they were seen.
    pub order: Vec<usize>,
    /// What leaving out each of it costs: sure, or clear at a glance; missing if the
    /// search was stopped before that was seen.
    pub without: BTreeMap<usize, Effect>,
    /// What became of the others.
    pub out: BTreeMap<usize, Out>,
}

/// A search under way: when it is stopped, what it found so far is here.
pub struct Search<'c> {
    candidates: &'c [Candidate],
    found: Found,
    /// What each candidate saves alone, ns; those that were measured.
    alone_ns: BTreeMap<usize, i64>,
    /// How often each was taken in: noise must not let one come and go for
    /// ever.
    taken: BTreeMap<usize, u32>,
}

/// A candidate that comes in, and what goes for it.
type Move = (usize, Option<usize>);

/// A candidate that was given up so often is not taken in again.
const CHANCES: u32 = 2;

impl<'c> Search<'c> {
    /// A search among `candidates`, the most promising first.
    pub fn new(candidates: &'c [Candidate]) -> Self {
        Self {
            candidates,
            found: Found {
                set: Set::new(),
                order: Vec::new(),
                without: BTreeMap::new(),
                out: BTreeMap::new(),
            },
            alone_ns: BTreeMap::new(),
            taken: BTreeMap::new(),
        }
    }

    /// What was found so far.
    pub fn found(self) -> Found {
        self.found
    }

    /// Searches to the end.
    ///
    /// # Errors
    /// If the bench stops; [`found`](Self::found) has the best set so far.
    pub fn run<B: Bench>(&mut self, bench: &mut B) -> Result<(), B::Stop> {
        self.screen(bench)?;
        self.combine(bench)?;
        while self.settle(bench)? {}
        Ok(())
    }

    fn screen<B: Bench>(&mut self, bench: &mut B) -> Result<(), B::Stop> {
        bench.step(&Step::Screening(self.candidates.len()));
        let sets: Vec<Set> = (0..self.candidates.len()).map(|c| Set::from([c])).collect();
        let fates = bench.compare(&Set::new(), &sets, Depth::Glance)?;
        for (candidate, fate) in fates.into_iter().enumerate() {
            match &fate {
                Fate::Measured(effect) => {
                    let saved_ns = effect.shift_ns.saturating_neg();
                    self.alone_ns.insert(candidate, saved_ns);
                    let out = Out::NoGain(Some(*effect));
                    self.found.out.insert(candidate, out);
                }
                Fate::Broken(_) | Fate::Refused(_) => self.give_up(candidate, fate, bench),
            }
        }
        Ok(())
    }

    /// Candidates that cannot be used are looked at no more.
    fn give_up<B: Bench>(&mut self, candidate: usize, fate: Fate, bench: &mut B) {
        bench.step(&Step::Out(candidate, &fate));
        let out = match fate {
            Fate::Broken(why) => Out::Broken(why),
            Fate::Refused(why) => Out::Refused(why),
            Fate::Measured(effect) => Out::NoGain(Some(effect)),
        };
        self.found.out.insert(candidate, out);
    }

    /// Adds what saves alone, the largest saving first, while it helps.
    fn combine<B: Bench>(&mut self, bench: &mut B) -> Result<(), B::Stop> {
        let saves = self.alone_ns.iter().filter(|(_, ns)| **ns > 0);
        let mut order: Vec<usize> = saves.map(|(candidate, _)| *candidate).collect();
        order.sort_by_key(|c| (Reverse(self.alone_ns[c]), *c));
        bench.step(&Step::Combining(order.len()));
        for candidate in order {
            if self.like(candidate).is_some() {
                continue;
            }
            let more = self.with(candidate);
            let fate = compare_one(bench, &self.found.set, &more, Depth::Glance)?;
            match fate {
                Fate::Measured(effect) if is_promising(&effect) => {
                    bench.step(&Step::Added(candidate, effect));
                    self.take((candidate, None));
                }
                Fate::Measured(_) => {}
                // Alone it did boot: another set may still take it.
                broken => self.give_up(candidate, broken, bench),
            }
        }
        Ok(())
    }

    /// One round around the set; whether the set changed.
    fn settle<B: Bench>(&mut self, bench: &mut B) -> Result<bool, B::Stop> {
        bench.step(&Step::Settling(&self.found.set));
        if self.improve(bench)? {
            return Ok(true);
        }
        self.prune(bench)
    }

    /// Adds or swaps in what helps, the largest saving first.
    fn improve<B: Bench>(&mut self, bench: &mut B) -> Result<bool, B::Stop> {
        let out = |is: &dyn Fn(&Out) -> bool| -> Vec<usize> {
            let out = self.found.out.iter().filter(|(_, out)| is(out));
            let out = out.map(|(candidate, _)| *candidate);
            out.filter(|c| self.has_a_chance(*c)).collect()
        };
        let usable = out(&|out| matches!(out, Out::NoGain(_) | Out::Replaced(_)));
        let refused = out(&|out| matches!(out, Out::Refused(_)));
        let (idle, others): (Vec<usize>, Vec<usize>) =
            usable.into_iter().partition(|c| self.did_nothing(*c));
        let mut moves: Vec<Move> = others.iter().map(|c| (*c, self.like(*c))).collect();
        // What did not apply by itself may do so on top of what is kept.
        let on_top = refused.iter().filter(|c| !self.alone_ns.contains_key(c));
        moves.extend(on_top.map(|c| (*c, self.like(*c))));
        // What does not go together with one of the set may be better than that.
        let alone = refused.iter().filter(|c| self.alone_ns.contains_key(c));
        moves.extend(alone.flat_map(|c| self.found.set.iter().map(|other| (*c, Some(*other)))));
        let sets: Vec<Set> = moves.iter().map(|m| self.moved(*m)).collect();
        let glances = compare_all(bench, &self.found.set, &sets, Depth::Glance)?;
        let mut hopes: Vec<(Move, Effect)> = Vec::new();
        for (it, fate) in moves.into_iter().zip(glances) {
            self.glanced(it, fate, &mut hopes);
        }
        self.halve(bench, &idle, &mut hopes)?;
        hopes.sort_unstable_by_key(|(it, effect)| (effect.shift_ns, *it));
        let mut changed = false;
        for (it, glance) in hopes {
            let effect = match changed {
                false => self.sure(bench, it, glance)?,
                true => self.again(bench, it)?,
            };
            if let Some(effect) = effect {
                let (candidate, instead) = it;
                bench.step(&match instead {
                    Some(_) => Step::Swapped(candidate, effect),
                    None => Step::Added(candidate, effect),
                });
                self.take(it);
                changed = true;
            }
        }
        Ok(changed)
    }

    /// What a move does to the set, if it surely helps; a glance at it is known.
    fn sure<B: Bench>(
        &mut self,
        bench: &mut B,
        it: Move,
        glance: Effect,
    ) -> Result<Option<Effect>, B::Stop> {
        if is_clear(&glance) {
            return Ok(Some(glance));
        }
        let more = self.moved(it);
        let fate = compare_one(bench, &self.found.set, &more, Depth::Sure)?;
        Ok(match fate {
            Fate::Measured(effect) if effect.verdict == Verdict::Faster => Some(effect),
            _ => None,
        })
    }

    /// The same for a move that a glance at an earlier set spoke for. One glance more tells
    /// whether it still helps; what is not clear waits for the next round. With a round for
    /// each move, all that applies only on top of the first one would be booted for each of
    /// them again.
    fn again<B: Bench>(&mut self, bench: &mut B, it: Move) -> Result<Option<Effect>, B::Stop> {
        let (candidate, instead) = it;
        let gone = instead.is_some_and(|other| !self.found.set.contains(&other));
        let like = self.like(candidate);
        let another = like.is_some() && like != instead;
        if gone || another || self.found.set.contains(&candidate) {
            return Ok(None);
        }
        let more = self.moved(it);
        let fate = compare_one(bench, &self.found.set, &more, Depth::Glance)?;
        Ok(match fate {
            Fate::Measured(effect) if is_promising(&effect) && is_clear(&effect) => Some(effect),
            _ => None,
        })
    }

    /// Notes what a glance at the set after a move showed.
    fn glanced(&mut self, it: Move, fate: Fate, hopes: &mut Vec<(Move, Effect)>) {
        // With another set it may do, if it does not boot or apply.
        let Fate::Measured(effect) = fate else {
            return;
        };
        if is_promising(&effect) {
            hopes.push((it, effect));
        }
        if let (candidate, None) = it {
            let out = Out::NoGain(Some(effect));
            self.found.out.insert(candidate, out);
        }
    }

    /// Glances at the set with all of `idle` at once, and at halves of them where that
    /// does anything.
    fn halve<B: Bench>(
        &mut self,
        bench: &mut B,
        idle: &[usize],
        hopes: &mut Vec<(Move, Effect)>,
    ) -> Result<(), B::Stop> {
        let Some(first) = idle.first() else {
            return Ok(());
        };
        let more: Set = self.found.set.iter().chain(idle).copied().collect();
        let fate = compare_one(bench, &self.found.set, &more, Depth::Glance)?;
        if idle.len() == 1 {
            self.glanced((*first, None), fate, hopes);
            return Ok(());
        }
        match fate {
            Fate::Measured(effect) if is_nothing(&effect) => Ok(()),
            _ => {
                let (one, other) = idle.split_at(idle.len() / 2);
                self.halve(bench, one, hopes)?;
                self.halve(bench, other, hopes)
            }
        }
    }

    /// Whether it showed nothing when it was looked at last, and could be put in beside
    /// all others: it has no like.
    fn did_nothing(&self, candidate: usize) -> bool {
        let kind = &self.candidates[candidate].kind;
        let alone = self.candidates.iter().filter(|c| c.kind == *kind).count() == 1;
        let last = self.found.out.get(&candidate);
        alone && matches!(last, Some(Out::NoGain(Some(effect))) if is_nothing(effect))
    }

    /// Leaves each change out once. The one that is missed least goes, unless
    /// all are missed.
    fn prune<B: Bench>(&mut self, bench: &mut B) -> Result<bool, B::Stop> {
        let set = self.found.set.clone();
        let without = |left_out: &usize| -> Set {
            let rest = set.iter().filter(|c| *c != left_out);
            rest.copied().collect()
        };
        let sets: Vec<Set> = set.iter().map(without).collect();
        let glances = bench.compare(&set, &sets, Depth::Glance)?;
        self.found.without.clear();
        let mut unclear: Vec<usize> = Vec::new();
        for (candidate, fate) in set.iter().zip(glances) {
            match fate {
                Fate::Measured(effect) if effect.shift_ns > 0 && is_clear(&effect) => {
                    self.found.without.insert(*candidate, effect);
                }
                Fate::Measured(_) => unclear.push(*candidate),
                // Without it the target does not boot: it is needed.
                Fate::Broken(_) | Fate::Refused(_) => {}
            }
        }
        let sets: Vec<Set> = unclear.iter().map(without).collect();
        let fates = compare_all(bench, &set, &sets, Depth::Sure)?;
        let mut useless: Vec<(i64, usize, Effect)> = Vec::new();
        for (candidate, fate) in unclear.iter().zip(fates) {
            if let Fate::Measured(effect) = fate {
                self.found.without.insert(*candidate, effect);
                if effect.verdict != Verdict::Slower {
                    useless.push((effect.shift_ns, *candidate, effect));
                }
            }
        }
        useless.sort_by_key(|(shift_ns, candidate, _)| (*shift_ns, *candidate));
        let Some((_, candidate, effect)) = useless.first() else {
            return Ok(false);
        };
        bench.step(&Step::Dropped(*candidate, *effect));
        self.found.set.remove(candidate);
        self.found.order.retain(|c| c != candidate);
        self.found.without.clear();
        let out = Out::NoGain(Some(reversed(effect)));
        self.found.out.insert(*candidate, out);
        Ok(true)
    }

    /// The set with `candidate`, instead of its like.
    fn with(&self, candidate: usize) -> Set {
        self.moved((candidate, self.like(candidate)))
    }

    /// The set after a move.
    fn moved(&self, (candidate, instead): Move) -> Set {
        let rest = self.found.set.iter().filter(|c| Some(**c) != instead);
        rest.copied().chain([candidate]).collect()
    }

    /// The candidate of the same kind that is in the set.
    fn like(&self, candidate: usize) -> Option<usize> {
        let kind = &self.candidates[candidate].kind;
        let mut set = self.found.set.iter();
        set.find(|c| **c != candidate && self.candidates[**c].kind == *kind)
            .copied()
    }

    fn has_a_chance(&self, candidate: usize) -> bool {
        self.taken.get(&candidate).is_none_or(|n| *n < CHANCES)
    }

    fn take(&mut self, it: Move) {
        let (candidate, instead) = it;
        *self.taken.entry(candidate).or_default() += 1;
        if let Some(instead) = instead {
            self.found.out.insert(instead, Out::Replaced(candidate));
        }
        self.found.set = self.moved(it);
        match self.found.order.iter().position(|c| Some(*c) == instead) {
            Some(at) => self.found.order[at] = candidate,
            None => self.found.order.push(candidate),
        }
        self.found.out.remove(&candidate);
        self.found.without.clear();
        // Its like could only come instead of it.
        let kind = &self.candidates[candidate].kind;
        for (other, out) in &mut self.found.out {
            let same = self.candidates[*other].kind == *kind;
            if same && matches!(out, Out::NoGain(_) | Out::Replaced(_)) {
                *out = Out::Replaced(candidate);
            }
        }
    }
}

/// What a bench says of these sets; nothing is ordered if there are none.
fn compare_all<B: Bench>(
    bench: &mut B,
    from: &Set,
    to: &[Set],
    depth: Depth,
) -> Result<Vec<Fate>, B::Stop> {
    match to {
        [] => Ok(Vec::new()),
        to => bench.compare(from, to, depth),
    }
}

fn compare_one<B: Bench>(
    bench: &mut B,
    from: &Set,
    to: &Set,
    depth: Depth,
) -> Result<Fate, B::Stop> {
    let mut fates = bench.compare(from, std::slice::from_ref(to), depth)?;
    Ok(fates
        .pop()
        .unwrap_or_else(|| Fate::Refused("it was not booted".into())))
}

/// Whether a glance says that it saves more than what counts as equal.
fn is_promising(effect: &Effect) -> bool {
    effect.shift_ns < effect.margin_ns.saturating_neg()
}

/// How many times what counts as equal needs no second look.
const CLEAR: i64 = 10;

/// Whether an effect is so large that a glance leaves no doubt.
pub fn is_clear(effect: &Effect) -> bool {
    let clear = u64::try_from(effect.margin_ns.saturating_mul(CLEAR)).unwrap_or(u64::MAX);
    effect.shift_ns.unsigned_abs() > clear
}

/// Whether a glance shows no more than what counts as equal.
fn is_nothing(effect: &Effect) -> bool {
    i64::try_from(effect.shift_ns.unsigned_abs()).is_ok_and(|ns| ns <= effect.margin_ns)
}

/// The effect of taking a change in, from that of leaving it out.
fn reversed(effect: &Effect) -> Effect {
    let [low, high] = effect.interval_ns;
    Effect {
        shift_ns: effect.shift_ns.saturating_neg(),
        interval_ns: [high, low].map(i64::saturating_neg),
        verdict: match effect.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            same => same,
        },
        ..*effect
    }
}

#[cfg(test)]
mod tests;
