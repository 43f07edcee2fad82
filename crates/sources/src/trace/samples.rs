//! Samples of what ran: how many, of which program, over time.

use std::collections::BTreeMap;

use bootlap_model::{Severity, Stamp, Sym};

use super::event::Moment;
use super::tally::Tally;
use crate::text::Import;

/// Programs whose samples are shown over time.
const SHOWN: usize = 20;
/// Programs that are told apart.
const MAX_PROGRAMS: usize = 1_000;
/// Functions of a thread that are told apart.
const MAX_FUNCTIONS: usize = 500;
/// Functions of a thread that are named.
const NAMED: usize = 5;

/// The samples of one thread.
#[derive(Default)]
pub(super) struct Samples {
    pub(super) count: u64,
    pub(super) last: Option<Stamp>,
    functions: BTreeMap<Sym, u64>,
}

impl Samples {
    pub(super) fn add(&mut self, at: Stamp, symbol: Option<Sym>) {
        self.count += 1;
        if self.last.is_none_or(|last| last.ns < at.ns) {
            self.last = Some(at);
        }
        if let Some(symbol) = symbol
            && (self.functions.len() < MAX_FUNCTIONS || self.functions.contains_key(&symbol))
        {
            *self.functions.entry(symbol).or_default() += 1;
        }
    }

    /// `memmove 12, cap_capable 5`: those that were met most.
    pub(super) fn hot(&self, import: &Import<'_>) -> String {
        let mut functions: Vec<_> = self.functions.iter().collect();
        functions.sort_by_key(|(symbol, count)| (std::cmp::Reverse(**count), **symbol));
        let named = functions.iter().take(NAMED);
        let named = named.map(|(symbol, count)| {
            let name = import.timeline.text(**symbol);
            format!("{name} {count}")
        });
        named.collect::<Vec<_>>().join(", ")
    }
}

/// The samples of all programs.
#[derive(Default)]
pub(super) struct Programs(BTreeMap<String, (Option<Moment>, Tally)>);

impl Programs {
    pub(super) fn add(&mut self, comm: &str, now: &Moment) {
        if !self.0.contains_key(comm) {
            if self.0.len() >= MAX_PROGRAMS {
                return;
            }
            self.0.insert(comm.to_owned(), Default::default());
        }
        if let Some((first, tally)) = self.0.get_mut(comm) {
            first.get_or_insert(*now);
            tally.add(now.at.ns);
        }
    }

    pub(super) fn finish(&mut self, import: &mut Import<'_>) {
        let mut all: Vec<_> = std::mem::take(&mut self.0).into_iter().collect();
        all.sort_by_key(|(_, (_, tally))| std::cmp::Reverse(tally.total));
        for (i, (comm, (first, tally))) in all.iter().enumerate() {
            let Some(first) = first else {
                continue;
            };
            if i >= SHOWN {
                import.notice(
                    "programs-with-few-samples",
                    Severity::Info,
                    first.evidence,
                    "only the twenty programs with most samples are shown over time; the processes of all have their count",
                );
                continue;
            }
            let (unit, samples) = tally.samples("samples");
            let name = format!("samples of {comm}");
            import.counter(first.clock, (&name, &unit), samples, first.evidence);
        }
    }
}
