//! What a rule found.

use bootlap_model::Evidence;
use serde::Serialize;

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The rule, e.g. `uboot-bootdelay`.
    pub rule: String,
    /// What is wrong, in one line.
    pub title: String,
    /// What this boot showed.
    pub why: String,
    /// What to expect from the change.
    pub saving: Saving,
    /// What to do by hand.
    pub fix: String,
    /// The recipe that does it, if there is one and it applies.
    pub recipe: Option<String>,
    /// The interval that the time goes into: ns on the axis.
    pub at_ns: Option<[i64; 2]>,
    /// The lines that show it.
    pub evidence: Vec<Evidence>,
    /// How long what it is about takes, ns, where nobody can say how much of that goes; or 0.
    pub takes_ns: i64,
}

/// The expected saving.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Saving {
    /// Nanoseconds; 0 where nothing is known.
    pub ns: i64,
    /// Of which kind of time.
    pub kind: SavingKind,
    /// How it was computed.
    pub basis: String,
    /// Whose text it is, if the time is what a serial console takes for some.
    pub printed: Option<Printer>,
}

impl Saving {
    /// Whether it is a bound: nobody knows how much of it there is to be had. The
    /// basis begins with that.
    pub fn is_bound(&self) -> bool {
        self.kind != SavingKind::Unknown && self.basis.starts_with("at most")
    }
}

/// Who prints on a console.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Printer {
    /// All of them.
    Everybody,
    /// The kernel's log.
    Kernel,
    /// A boot loader.
    Bootloader,
    /// systemd, one line a unit.
    Systemd,
}

impl Printer {
    /// Whether some text is of both.
    pub fn shares_with(self, other: Self) -> bool {
        self == other || self == Self::Everybody || other == Self::Everybody
    }
}

/// Which time would be saved: these never mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SavingKind {
    /// On the clock of the boot that was looked at.
    ThisBoot,
    /// Predicted for a real board; an emulated machine does not show it.
    PredictedBoard,
    /// Nothing in the evidence says how much.
    Unknown,
}

/// Rules put findings together in this way; [`advise`](crate::advise) adds the
/// rule's name.
impl Finding {
    /// Title and fix are those of the rule's page if nothing else is said.
    pub(crate) fn new() -> Self {
        Self {
            rule: String::new(),
            title: String::new(),
            why: String::new(),
            saving: Saving {
                ns: 0,
                kind: SavingKind::Unknown,
                basis: "nothing that was seen says how much; try it".into(),
                printed: None,
            },
            fix: String::new(),
            recipe: None,
            at_ns: None,
            evidence: Vec::new(),
            takes_ns: 0,
        }
    }

    pub(crate) fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    pub(crate) fn why(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    fn saving(mut self, ns: i64, kind: SavingKind, basis: impl Into<String>) -> Self {
        self.saving = Saving {
            ns,
            kind,
            basis: basis.into(),
            printed: None,
        };
        self
    }

    /// On the clock of this boot.
    pub(crate) fn saves(self, ns: i64, basis: impl Into<String>) -> Self {
        self.saving(ns, SavingKind::ThisBoot, basis)
    }

    /// On a real board only.
    pub(crate) fn saves_on_board(self, ns: i64, basis: impl Into<String>) -> Self {
        self.saving(ns, SavingKind::PredictedBoard, basis)
    }

    /// It is about something that takes so long.
    pub(crate) fn takes(mut self, ns: i64) -> Self {
        self.takes_ns = ns;
        self
    }

    /// Not known how much; `why` says so, and what it depends on.
    pub(crate) fn saves_unknown(self, why: impl Into<String>) -> Self {
        self.saving(0, SavingKind::Unknown, why)
    }

    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }

    /// What [`Boot::recipe`](crate::Boot::recipe) said.
    pub(crate) fn recipe<E>(mut self, recipe: Result<String, E>) -> Self {
        self.recipe = recipe.ok();
        self
    }

    pub(crate) fn at(mut self, interval: Option<[i64; 2]>) -> Self {
        self.at_ns = interval;
        self
    }

    pub(crate) fn seen(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence = evidence.into_iter().collect();
        self
    }
}
