//! What is started from a target's disk, by systemd or by init scripts, and what of it can be
//! later or left out.

use std::collections::BTreeSet;

use bootlap_product::recipe::Choice;
use bootlap_product::{Parts, Scripts, Target, Unit, Units};
use bootlap_report::units::{Starter, UnitJson};

use crate::failure::{Exit, Failure};

/// All that is started.
pub struct Started {
    /// What starts it.
    pub starter: Starter,
    /// What the boot aims at: systemd's default target, or the script that runs the others.
    pub default: String,
    /// In the order of names, which with scripts is that in which they run.
    pub units: Vec<UnitJson>,
    /// Those that can come before all else.
    first: Vec<String>,
}

impl Started {
    /// What the disk of a target says.
    ///
    /// # Errors
    /// If there is no disk, or neither systemd nor init scripts on it.
    pub fn of(target: &Target, parts: &Parts) -> Result<Self, Failure> {
        match (parts.units(), parts.scripts()) {
            (Ok(units), _) => Ok(Self::of_systemd(target, parts, &units)),
            (Err(_), Ok(scripts)) => Ok(Self::of_scripts(target, parts, &scripts)),
            (Err(why), Err(_)) => {
                let why = format!("{}: {why}, and no init scripts", target.spec.name);
                Err(Failure::new(Exit::NothingUsable, why).hint(
                    "it looks at a [disk] with systemd or init scripts on it: docs/user-space.md",
                ))
            }
        }
    }

    /// The recipe that leaves units out.
    pub fn off(&self) -> &'static str {
        match self.starter {
            Starter::Systemd => "systemd-mask",
            Starter::Scripts => "initscripts-off",
        }
    }

    /// The recipe that starts them later.
    pub fn defer(&self) -> &'static str {
        match self.starter {
            Starter::Systemd => "systemd-defer",
            Starter::Scripts => "initscripts-defer",
        }
    }

    /// The recipe that starts all later that can be; `None` if nothing can.
    pub fn deferring(&self) -> Option<String> {
        with_list(self.defer(), &self.deferrable())
    }

    /// The recipe that starts all before the rest that can be; `None` if nothing can.
    pub fn coming_first(&self) -> Option<String> {
        let first: Vec<&str> = self.first.iter().map(String::as_str).collect();
        with_list("systemd-first", &first)
    }

    /// The recipe that leaves out all that can be; `None` if nothing can.
    pub fn leaving_out(&self) -> Option<String> {
        with_list(self.off(), &self.dispensable())
    }

    /// Those that can be started later, each by itself and all together.
    pub fn deferrable(&self) -> Vec<&str> {
        let later = self.units.iter().filter(|unit| unit.deferrable);
        later.map(|unit| unit.name.as_str()).collect()
    }

    /// What units wait for and do without, as `systemd-unordered` names it.
    pub fn orderings(&self) -> Vec<String> {
        let all = self.units.iter().flat_map(|unit| {
            let others = unit.waits_for.iter();
            others.map(move |other| format!("{}/{other}", unit.name))
        });
        all.collect()
    }

    /// Those that can be left out together: nothing that stays needs one of them.
    fn dispensable(&self) -> Vec<&str> {
        let names = self.units.iter().map(|unit| unit.name.as_str());
        let mut out: BTreeSet<&str> = names.filter(|name| *name != self.default).collect();
        loop {
            let needed = |unit: &&UnitJson| {
                let all = unit.needed_by.iter();
                all.into_iter().any(|other| !out.contains(other.as_str()))
            };
            let needed = self.units.iter().filter(needed);
            let needed: Vec<&str> = needed.map(|unit| unit.name.as_str()).collect();
            let before = out.len();
            out.retain(|name| !needed.contains(name));
            if out.len() == before {
                return out.into_iter().collect();
            }
        }
    }

    fn of_systemd(target: &Target, parts: &Parts, all: &Units) -> Self {
        let unit = |(name, unit): (&String, &Unit)| {
            let starts = |other: &Unit| other.wants.contains(name) || other.requires.contains(name);
            let others = all.started.iter().filter(|(_, other)| starts(other));
            UnitJson {
                name: name.clone(),
                description: unit.description.clone(),
                started_by: others.map(|(name, _)| name.clone()).collect(),
                needed_by: all.need(name).into_iter().map(str::to_owned).collect(),
                early: unit.early,
                deferrable: applies("systemd-defer", name, target, parts),
                maskable: applies("systemd-mask", name, target, parts),
                on_demand: applies("systemd-on-demand", name, target, parts),
                waits_for: waits_for(name, unit, target, parts, all),
            }
        };
        Self {
            starter: Starter::Systemd,
            default: all.default.clone(),
            first: all
                .started
                .keys()
                .filter(|name| applies("systemd-first", name, target, parts))
                .cloned()
                .collect(),
            units: all.started.iter().map(unit).collect(),
        }
    }

    fn of_scripts(target: &Target, parts: &Parts, all: &Scripts) -> Self {
        let default = all.first.first().cloned();
        let default = default.unwrap_or_else(|| all.init.name().to_owned());
        let unit = |script: &bootlap_product::Script| UnitJson {
            name: script.name.clone(),
            description: script.path.clone(),
            started_by: vec![default.clone()],
            deferrable: applies("initscripts-defer", &script.name, target, parts),
            maskable: applies("initscripts-off", &script.name, target, parts),
            ..UnitJson::default()
        };
        Self {
            starter: Starter::Scripts,
            units: all.started.iter().map(unit).collect(),
            first: Vec::new(),
            default,
        }
    }
}

fn with_list(recipe: &str, members: &[&str]) -> Option<String> {
    (!members.is_empty()).then(|| format!("{recipe}={}", members.join(",")))
}

/// The started units that `systemd-unordered` can part this one from.
fn waits_for(name: &str, unit: &Unit, target: &Target, parts: &Parts, all: &Units) -> Vec<String> {
    if unit.early || name.ends_with(".target") {
        return Vec::new();
    }
    let others = unit.after.union(&unit.wants);
    let others = others.filter(|other| all.started.contains_key(*other));
    let pair = |other: &&String| {
        applies(
            "systemd-unordered",
            &format!("{name}/{other}"),
            target,
            parts,
        )
    };
    others.filter(pair).cloned().collect()
}

/// Whether a recipe applies to one unit alone.
fn applies(recipe: &str, name: &str, target: &Target, parts: &Parts) -> bool {
    let choice = Choice::parse(&format!("{recipe}={name}"));
    choice.is_ok_and(|choice| choice.edits(target, parts).is_ok())
}
