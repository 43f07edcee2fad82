//! One comparison with looks, as `try` makes several at once.

use bootlap_analysis::stats::{ALPHA, looks};
use bootlap_analysis::{Effect, Question};

/// How an experiment goes on until its verdict is sure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Boots of each side before the first look. The last is after four times
    /// as many, which is the limit.
    pub(crate) first: u32,
    /// Within this distance of 0 a change is equivalent to none, ns.
    pub(crate) margin_ns: i64,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    /// Boot each side so many times more, then ask again.
    MoreBoots(u32),
    /// The verdict is sure.
    Sure(Effect),
    /// The limit is reached, and the verdict is *unknown*.
    Limit(Effect),
}

impl Plan {
    /// The usual error, and as many boots as `first` says.
    pub(crate) fn new(first: u32, margin_ns: i64) -> Self {
        Self { first, margin_ns }
    }

    /// What to do after `boots` of each side, counting those that never got
    /// ready. `ask` answers the question with the times so far; it is called
    /// when it is time to look, and not in between: a look that the plan does
    /// not know of spends error that nobody counted.
    pub(crate) fn next(&self, boots: u32, ask: impl FnOnce(&Question) -> Effect) -> Next {
        let looks = looks(self.first);
        let [.., last] = looks;
        let due = looks.iter().find(|l| l.boots >= boots).unwrap_or(&last);
        if boots < due.boots {
            return Next::MoreBoots(due.boots - boots);
        }
        let effect = ask(&Question {
            margin_ns: self.margin_ns,
            alpha: ALPHA,
            stage: due.stage,
        });
        match looks.iter().find(|l| l.boots > boots) {
            _ if effect.is_sure() => Next::Sure(effect),
            Some(next) => Next::MoreBoots(next.boots - boots),
            None => Next::Limit(effect),
        }
    }
}
