//! Many boots, side by side, in an order that favours nobody.
//!
//! Variants are interleaved (A B C, C B A, …) so that whatever drifts on the
//! host touches all alike. In simulated time a boot does not depend on the
//! host, so as many boots run at once as there are cores; in plain time they
//! run one after the other.

mod session;

pub use session::{Question, Session, Variant, plain_name, recorded, variants};

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::{LabError, Run};

/// One boot of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Index of the variant.
    pub variant: usize,
    /// The perturbation or repetition.
    pub perturbation: u32,
}

/// All boots of `variants` × `perturbations`, in ABBA order from a seeded start.
pub fn plan(variants: usize, perturbations: u32, seed: u64) -> Vec<Job> {
    let mut jobs = Vec::new();
    for perturbation in 0..perturbations {
        let mut round: Vec<usize> = (0..variants).collect();
        if (u64::from(perturbation) ^ seed) & 1 == 1 {
            round.reverse();
        }
        jobs.extend(round.into_iter().map(|variant| Job {
            variant,
            perturbation,
        }));
    }
    jobs
}

/// Boots all of `jobs`, at most `at_once` at a time; the results keep their
/// order. `done` is called after each boot.
///
/// # Errors
/// The first failure in the order of the jobs; boots not yet begun are
/// dropped then.
pub fn run<J: Sync>(
    jobs: &[J],
    at_once: NonZeroUsize,
    boot: &(dyn Fn(&J) -> Result<Run, LabError> + Sync),
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Run>, LabError> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let results: Vec<Mutex<Option<Result<Run, LabError>>>> =
        jobs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..at_once.get().min(jobs.len()) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(at) else { break };
                    let result = boot(job);
                    if result.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
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
    use super::*;

    #[test]
    fn rounds_alternate_so_that_drift_cancels() {
        let order: Vec<usize> = plan(2, 4, 0).iter().map(|j| j.variant).collect();
        assert_eq!(order, [0, 1, 1, 0, 0, 1, 1, 0]);
        let order: Vec<usize> = plan(2, 2, 1).iter().map(|j| j.variant).collect();
        assert_eq!(order, [1, 0, 0, 1]);
    }

    #[test]
    fn the_first_failure_stops_the_rest() {
        let boots = AtomicUsize::new(0);
        let boot = |_: &Job| {
            boots.fetch_add(1, Ordering::Relaxed);
            Err(LabError::Machine("broken".into()))
        };
        let one = NonZeroUsize::MIN;
        let result = run(&plan(2, 50, 0), one, &boot, &|| ());
        assert_eq!(result.unwrap_err().to_string(), "broken");
        assert_eq!(boots.into_inner(), 1);
    }
}
