//! `bootlap build`: what a target builds from source.

use std::fs;

use bootlap_engine::Progress;
use bootlap_engine::TOOL;
use bootlap_engine::lab::load;
use bootlap_engine::{Exit, Failure};
use bootlap_product::Cache;
use bootlap_report::FORMAT;
use bootlap_report::builds::{self, BuildsJson, BuiltJson};

use crate::args::{Build, cache};
use crate::ui::Ui;

pub(crate) fn run(args: &Build, ui: &Ui) -> Result<Exit, Failure> {
    let target = load(&args.target)?;
    let built = target.builds(&Cache::at(cache(args.cache.as_deref())), &|what| {
        ui.step(what)
    })?;
    if built.is_empty() {
        let why = format!("{} builds nothing from source", target.spec.name);
        return Err(Failure::new(Exit::Usage, why)
            .hint("name an image `build:…` and say how in [kernel.build]: docs/builds.md"));
    }
    let rows = built.into_iter().map(|(section, built)| {
        let count = |of: &str| {
            built
                .config
                .iter()
                .filter(|(_, value)| *value == of)
                .count()
        };
        BuiltJson {
            section: section.to_owned(),
            bytes: fs::metadata(&built.image).map_or(0, |m| m.len()),
            image: built.image.display().to_string(),
            origin: built.origin,
            tree: built.tree.display().to_string(),
            config: built.config_path.display().to_string(),
            built_in: count("y"),
            modules: count("m"),
            kept: built.kept,
        }
    });
    let document = BuildsJson {
        format: FORMAT,
        tool: TOOL.to_owned(),
        target: target.spec.name.clone(),
        builds: rows.collect(),
    };
    ui.show(
        args.json,
        || builds::json(&document),
        |style| builds::text(&document.builds, style),
    )?;
    Ok(Exit::Ok)
}
