//! `bootlap units`: what is started from a target's disk, and what of it can wait.

use bootlap_engine::lab::load;
use bootlap_engine::units::Started;
use bootlap_engine::{Exit, Failure, Progress, TOOL};
use bootlap_model::shell_word;
use bootlap_product::Cache;
use bootlap_report::units::{Starter, json, text};

use crate::args::{Units, cache};
use crate::ui::{self, Ui};

pub(crate) fn run(args: &Units, ui: &Ui) -> Result<Exit, Failure> {
    let target = load(&args.target)?;
    let cache = Cache::at(cache(args.cache.as_deref()));
    let parts = target.parts(&cache, &|what| ui.step(what))?;
    let started = Started::of(&target, &parts)?;
    if args.orderings {
        ui.print(&started.orderings().join(","));
        return Ok(Exit::Ok);
    }
    if args.deferrable {
        ui.print(&started.deferrable().join(","));
        return Ok(Exit::Ok);
    }
    let (name, default, units) = (&target.spec.name, &started.default, &started.units);
    match args.json {
        true => ui.document(json(name, started.starter, default, units, TOOL))?,
        false => ui.print(&text(name, started.starter, default, units, &ui::style())),
    }
    let target = shell_word(args.target.display());
    let (defer, off) = (started.defer(), started.off());
    let first = match started.starter {
        Starter::Systemd => format!("; what has to come first: bootlap first {target}"),
        Starter::Scripts => String::new(),
    };
    ui.note(&format!(
        "what one costs: bootlap try {target} {defer}=NAME, or {off}=NAME; what all of them \
         cost: bootlap defer {target}, and bootlap minimise {target}{first}"
    ));
    Ok(Exit::Ok)
}
