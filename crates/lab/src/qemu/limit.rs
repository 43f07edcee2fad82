//! The moment at which a boot that is not ready is given up, in the guest's own time
//! (`probe/limit.c`): a boot that hangs ends at the same instruction each time.

use serde::{Deserialize, Serialize};

use crate::Outcome;

/// What is said of a boot that was given up begins with this.
const GIVEN_UP: &str = "it was not ready after ";

/// A time since power-on, whole ms. A boot that is ready before is the same without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Limit {
    ms: i64,
}

impl Limit {
    /// An hour: whoever is not ready by then waits for somebody to come. An idle guest is there
    /// in seconds.
    pub const MOST: Self = Self { ms: 3_600_000 };

    /// At so many ns, or less than 1 ms later.
    pub fn at(ns: i64) -> Self {
        Self {
            ms: ns.saturating_add(999_999) / 1_000_000,
        }
    }

    /// When it is, ns.
    pub fn ns(self) -> i64 {
        self.ms.saturating_mul(1_000_000)
    }

    /// What is said of a boot that was given up then.
    pub fn given_up(self) -> String {
        match self {
            Self::MOST => format!("{GIVEN_UP}an hour of its own time"),
            Self { ms } => format!("{GIVEN_UP}{ms} ms of its own time"),
        }
    }

    /// Whether a boot that ended so is one with this limit, or with none: it was not given
    /// up at another.
    pub fn allows(limit: Option<Self>, outcome: Option<&Outcome>) -> bool {
        let this = |why: &str| why == limit.unwrap_or(Self::MOST).given_up();
        given_up(outcome).is_none_or(this)
    }

    /// Whether it got ready, but too late.
    pub fn is_exceeded(self, outcome: Option<&Outcome>) -> bool {
        matches!(outcome, Some(Outcome::Ready(ready)) if ready.ns > self.ns())
    }

    /// Whether a boot was given up so early that it cannot be compared with this one.
    pub fn hides(self, outcome: Option<&Outcome>, boot: Option<&Outcome>) -> bool {
        let went_on = match boot {
            Some(Outcome::Ready(_)) => self.is_exceeded(boot),
            _ => given_up(boot).is_none(),
        };
        given_up(outcome).is_some() && went_on
    }
}

/// Why a boot was given up, if it was.
fn given_up(outcome: Option<&Outcome>) -> Option<&str> {
    match outcome {
        Some(Outcome::NeverReady(why)) if why.starts_with(GIVEN_UP) => Some(why),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadyAt;

    #[test]
    fn boots_are_told_apart_by_where_they_were_given_up() {
        let limit = Limit::at(1_500_000_001);
        assert_eq!(limit.ns(), 1_501_000_000);
        let ready = |ns| {
            let instructions = None;
            Some(Outcome::Ready(ReadyAt { ns, instructions }))
        };
        let never = |why: &str| Some(Outcome::NeverReady(why.to_owned()));
        let (here, late) = (never(&limit.given_up()), ready(2_000_000_000));
        let (early, panicked) = (ready(1_000_000_000), never("the guest panicked"));
        let other = never(&Limit::at(7).given_up());

        for outcome in [&early, &late, &panicked, &here] {
            assert!(Limit::allows(Some(limit), outcome.as_ref()), "{outcome:?}");
        }
        assert!(!Limit::allows(Some(limit), other.as_ref()));
        assert!(!Limit::allows(None, here.as_ref()));
        let at_most = never(&Limit::MOST.given_up());
        assert!(Limit::allows(None, at_most.as_ref()));
        assert!(!Limit::allows(Some(limit), at_most.as_ref()));

        assert!(limit.is_exceeded(late.as_ref()) && !limit.is_exceeded(early.as_ref()));

        // What got ready before should not have been given up: that is a difference.
        assert!(!limit.hides(here.as_ref(), early.as_ref()));
        assert!(!limit.hides(here.as_ref(), here.as_ref()));
        assert!(!limit.hides(early.as_ref(), late.as_ref()));
        assert!(limit.hides(here.as_ref(), late.as_ref()));
        assert!(limit.hides(here.as_ref(), panicked.as_ref()));
    }
}
