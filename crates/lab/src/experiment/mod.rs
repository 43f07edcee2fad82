//! Many boots, side by side, in an order that favours nobody.
//!
//! Variants are interleaved (A B C, C B A, …) so that whatever drifts on the
//! host touches all alike. In simulated time a boot does not depend on the
//! host, so as many boots run at once as there are cores; in plain time they
//! run one after the other.

mod session;

pub use session::{Question, Session, Variant, plain_name, recorded, variants};

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{LabError, Run};

/// One boot of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Index of the variant.
    pub variant: usize,
    /// The perturbation or repetition.
    pub perturbation: u32,
}

/// All boots of `variants` × `perturbations`, round by round. Whether a round
/// goes forwards or backwards is drawn (from the seed: the same each time): so
/// if a change does nothing, each difference within a round is as likely to
/// have either sign, whatever the machine does meanwhile.
pub fn plan(variants: usize, perturbations: u32, seed: u64) -> Vec<Job> {
    let mut jobs = Vec::new();
    for perturbation in 0..perturbations {
        let mut round: Vec<usize> = (0..variants).collect();
        if is_drawn(seed, perturbation) {
            round.reverse();
        }
        jobs.extend(round.into_iter().map(|variant| Job {
            variant,
            perturbation,
        }));
    }
    jobs
}

/// A fair bit for each round: the finaliser of SplitMix64 (Steele, Lea, Flood
/// 2014).
fn is_drawn(seed: u64, round: u32) -> bool {
    let step = u64::from(round)
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut z = seed.wrapping_add(step);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) & 1 == 1
}

/// What came of asking for a boot.
#[derive(Clone, Debug)]
pub enum Attempt {
    /// It was made, or is kept.
    Done(Box<Run>),
    /// Somebody else makes it now.
    Busy,
    /// It is for others to make.
    ForOthers,
}

/// Whether to wait for a boot that somebody else makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// There are others to be made.
    No,
    /// It is the only one left.
    Yes,
}

/// Boots all of `jobs`, at most `at_once` at a time; the results keep their
/// order, `None` where a boot is for others to make. One that is busy is asked for again
/// when the others are done. `done` is called after each boot.
///
/// # Errors
/// The first failure in the order of the jobs; boots not yet begun are
/// dropped then.
pub fn run<J: Sync>(
    jobs: &[J],
    at_once: NonZeroUsize,
    boot: &(dyn Fn(&J, Wait) -> Result<Attempt, LabError> + Sync),
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Option<Run>>, LabError> {
    let left: VecDeque<(usize, Wait)> = (0..jobs.len()).map(|at| (at, Wait::No)).collect();
    let left = Mutex::new(left);
    let left = || left.lock().unwrap_or_else(PoisonError::into_inner);
    let stop = AtomicBool::new(false);
    type Came = Result<Option<Run>, LabError>;
    let results: Vec<Mutex<Option<Came>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..at_once.get().min(jobs.len()) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let next = left().pop_front();
                    let Some((at, wait)) = next else { break };
                    let result = match boot(&jobs[at], wait) {
                        Ok(Attempt::Busy) => {
                            left().push_back((at, Wait::Yes));
                            continue;
                        }
                        Ok(Attempt::Done(run)) => Ok(Some(*run)),
                        Ok(Attempt::ForOthers) => Ok(None),
                        Err(e) => {
                            stop.store(true, Ordering::Relaxed);
                            Err(e)
                        }
                    };
                    *results[at].lock().expect("no panic while held") = Some(result);
                    done();
                }
            });
        }
    });
    let results = results
        .into_iter()
        .filter_map(|m| m.into_inner().expect("no panic while held"));
    results.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::{Manifest, Mode};

    #[test]
    fn the_order_of_each_round_is_drawn_and_the_same_each_time() {
        let firsts = |seed| -> Vec<usize> {
            let jobs = plan(2, 1000, seed);
            let rounds = jobs.chunks(2);
            assert!(rounds.clone().all(|round| {
                round[0].variant != round[1].variant
                    && round[0].perturbation == round[1].perturbation
            }));
            rounds.map(|round| round[0].variant).collect()
        };
        let order = firsts(0);
        assert_eq!(order, firsts(0));
        assert_ne!(order, firsts(1));
        // Either comes first as often, and neither the one that did last time.
        let backwards: usize = order.iter().sum();
        let turns = order.windows(2).filter(|w| w[0] != w[1]).count();
        assert!(
            backwards.abs_diff(500) < 50 && turns.abs_diff(500) < 50,
            "{backwards} {turns}"
        );
    }

    #[test]
    fn the_first_failure_stops_the_rest() {
        let boots = AtomicUsize::new(0);
        let boot = |_: &Job, _| {
            boots.fetch_add(1, Ordering::Relaxed);
            Err(LabError::Machine("broken".into()))
        };
        let one = NonZeroUsize::MIN;
        let result = run(&plan(2, 50, 0), one, &boot, &|| ());
        assert_eq!(result.unwrap_err().to_string(), "broken");
        assert_eq!(boots.into_inner(), 1);
    }

    #[test]
    fn what_others_make_is_waited_for_last_and_the_order_of_results_stays() {
        let asked = Mutex::new(Vec::new());
        let boot = |job: &Job, wait| {
            asked.lock().unwrap().push(job.perturbation);
            let mut manifest = Manifest::new("t", Mode::Sim);
            manifest.perturbation = job.perturbation;
            let dir = Default::default();
            Ok(match (job.perturbation, wait) {
                (0, Wait::No) => Attempt::Busy,
                (2, _) => Attempt::ForOthers,
                _ => Attempt::Done(Box::new(Run { dir, manifest })),
            })
        };
        let runs = run(&plan(1, 4, 0), NonZeroUsize::MIN, &boot, &|| ()).unwrap();
        assert_eq!(asked.into_inner().unwrap(), [0, 1, 2, 3, 0]);
        let made = runs
            .iter()
            .map(|r| r.as_ref().map(|r| r.manifest.perturbation));
        assert_eq!(made.collect::<Vec<_>>(), [Some(0), Some(1), None, Some(3)]);
    }
}
