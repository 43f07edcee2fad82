//! `bootlap units`: what systemd starts on a target's disk, and what of it can wait.

use bootlap_engine::lab::load;
use bootlap_engine::{Exit, Failure, Progress, TOOL};
use bootlap_model::shell_word;
use bootlap_product::recipe::Choice;
use bootlap_product::{Cache, Parts, Target};
use bootlap_report::units::{self, UnitJson};

use crate::args::{Units, cache};
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Units, ui: &Ui) -> Result<Exit, Failure> {
    let target = load(&args.target)?;
    let cache = Cache::at(cache(args.cache.as_deref()));
    let parts = target.parts(&cache, &|what| ui.step(what))?;
    let found = parts.units().map_err(|why| {
        Failure::new(Exit::NothingUsable, format!("{}: {why}", target.spec.name))
            .hint("it looks at a [disk] with systemd on it: docs/user-space.md")
    })?;
    let applies = |recipe: &str, name: &str| applies(recipe, name, &target, &parts);
    let unit = |(name, unit): (&String, &bootlap_product::Unit)| {
        let starts = |other: &bootlap_product::Unit| {
            other.wants.contains(name) || other.requires.contains(name)
        };
        let all = found.started.iter().filter(|(_, other)| starts(other));
        UnitJson {
            name: name.clone(),
            description: unit.description.clone(),
            started_by: all.map(|(name, _)| name.clone()).collect(),
            needed_by: found.need(name).into_iter().map(str::to_owned).collect(),
            early: unit.early,
            deferrable: applies("systemd-defer", name),
            maskable: applies("systemd-mask", name),
        }
    };
    let all: Vec<UnitJson> = found.started.iter().map(unit).collect();
    let name = &target.spec.name;
    if args.deferrable {
        let later = all.iter().filter(|unit| unit.deferrable);
        let names: Vec<&str> = later.map(|unit| unit.name.as_str()).collect();
        ui.print(&names.join(","));
        return Ok(Exit::Ok);
    }
    match args.json {
        true => ui.document(units::json(name, &found.default, &all, TOOL))?,
        false => ui.print(&units::text(name, &found.default, &all, &ui::style())),
    }
    let target = shell_word(args.target.display());
    ui.note(&format!(
        "what a unit costs: bootlap try {target} systemd-defer=UNIT, or systemd-mask=UNIT"
    ));
    Ok(Exit::Ok)
}

/// Whether a recipe applies to one unit alone.
fn applies(recipe: &str, name: &str, target: &Target, parts: &Parts) -> bool {
    let choice = Choice::parse(&format!("{recipe}={name}"));
    choice.is_ok_and(|choice| choice.edits(target, parts).is_ok())
}
