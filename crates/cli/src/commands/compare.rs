//! `bootlap compare`: two groups of boots, from wherever they come.

use std::path::{Path, PathBuf};

use bootlap_analysis::groups::{Boot, correct_totals};
use bootlap_analysis::{Groups, Trial};
use bootlap_engine::Progress;
use bootlap_engine::evidence::group::{self, Group};
use bootlap_engine::evidence::{self, Recorded, TOOL};
use bootlap_engine::output;
use bootlap_engine::{Exit, Failure};
use bootlap_report::Style;
use bootlap_report::groups::{self, Compared, GroupsReport};

use super::common_end;
use crate::args::Compare;
use crate::ui::Ui;

pub(crate) fn run(args: &Compare, ui: &Ui) -> Result<Exit, Failure> {
    for path in &args.out {
        check(path, args)?;
    }
    let sides = sides(args, ui)?;
    let (baseline, variants) = sides
        .split_first()
        .ok_or_else(|| Failure::new(Exit::NothingUsable, "nothing to compare"))?;
    ui.step("Comparing");
    let mut all: Vec<Groups> = Vec::new();
    for variant in variants {
        let compared = bootlap_analysis::groups(&boots(baseline), &boots(variant), args.margin);
        all.extend(compared);
    }
    correct_totals(&mut all);
    let compared = all
        .into_iter()
        .zip(variants)
        .map(|(groups, variant)| Compared {
            groups,
            sides: [baseline.about.clone(), variant.about.clone()],
        });
    let report = GroupsReport {
        tool: TOOL.to_owned(),
        margin: args.margin,
        comparisons: compared.collect(),
    };
    let limit = match args.limit {
        0 => usize::MAX,
        limit => limit,
    };
    for path in &args.out {
        write(path, &report, baseline, variants, args)?;
        ui.note(&format!("wrote {}", path.display()));
    }
    ui.show(
        args.json,
        || groups::json(&report),
        |style| groups::text(&report, args.by, limit, style),
    )?;
    Ok(Exit::Ok)
}

/// The first group, and those that it is compared with.
fn sides(args: &Compare, ui: &Ui) -> Result<Vec<Group>, Failure> {
    let read = |path: &Path, word: &str| {
        ui.step(&format!("Reading {}", path.display()));
        group::group(path, word, &args.evidence.options())
    };
    let Some(after) = &args.after else {
        if !group::is_experiment(&args.before) {
            let why = format!(
                "{} is no experiment, so it needs something to be compared with",
                args.before.display()
            );
            return Err(Failure::new(Exit::Usage, why).hint("bootlap compare BEFORE AFTER"));
        }
        ui.step(&format!("Reading {}", args.before.display()));
        return group::experiment(&args.before, &args.evidence.options());
    };
    for path in [&args.before, after] {
        if group::is_experiment(path) {
            let why = format!("{} is a whole experiment", path.display());
            let hint =
                "alone it is compared with its own baseline; or name the folders of two variants";
            return Err(Failure::new(Exit::Usage, why).hint(hint));
        }
    }
    Ok(vec![read(&args.before, "before")?, read(after, "after")?])
}

fn boots(group: &Group) -> Vec<Boot<'_>> {
    let boots = group.boots.iter().map(|boot| Boot {
        timeline: &boot.timeline,
        awaited: boot.awaited,
        made_ns: boot.made_ns,
        perturbation: boot.perturbation,
    });
    boots.collect()
}

/// What a file can be, by its extension.
fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_lowercase()
}

/// Refuses what could not be written, or would be lost, before anything is
/// read.
fn check(path: &Path, args: &Compare) -> Result<(), Failure> {
    let known = ["html", "htm", "svg", "md", "markdown", "json", "csv", "txt"];
    if !known.contains(&extension(path).as_str()) {
        let why = format!(
            "{}: the extension says what to write, and can be .html, .svg, .md, .json, .csv or .txt",
            path.display()
        );
        return Err(Failure::new(Exit::Usage, why));
    }
    let inputs = [Some(&args.before), args.after.as_ref()];
    let whole = path.canonicalize();
    for input in inputs.into_iter().flatten() {
        let inside = whole.as_ref().is_ok_and(|whole| {
            let input = input.canonicalize();
            input.is_ok_and(|input| whole.starts_with(&input))
        });
        if inside {
            let why = format!(
                "{} exists among what is compared; it stays as it is",
                path.display()
            );
            return Err(Failure::new(Exit::Usage, why).hint("name another file with -o"));
        }
    }
    Ok(())
}

fn write(
    path: &Path,
    report: &GroupsReport,
    baseline: &Group,
    variants: &[Group],
    args: &Compare,
) -> Result<(), Failure> {
    let text = match extension(path).as_str() {
        "html" | "htm" | "svg" => return page(path, report, baseline, variants, args),
        "md" | "markdown" => groups::markdown(report),
        "json" => groups::json(report).map_err(|e| Failure::new(Exit::Internal, e))?,
        "csv" => groups::csv(report).map_err(|e| Failure::new(Exit::Internal, e))?,
        _ => {
            let style = Style::wide(100);
            groups::text(report, None, usize::MAX, &style)
        }
    };
    output::write_text(path, &text)
}

/// The page of the two most typical boots, with what was found of the groups.
fn page(
    path: &Path,
    all: &GroupsReport,
    baseline: &Group,
    variants: &[Group],
    args: &Compare,
) -> Result<(), Failure> {
    let pair = all.comparisons.first().zip(variants.first());
    let typical = pair.and_then(|(compared, variant)| {
        let [before, after] = compared.groups.sides.each_ref().map(|s| s.typical);
        Some((
            compared,
            [
                baseline.boots.get(before?)?.path.clone(),
                variant.boots.get(after?)?.path.clone(),
            ],
        ))
    });
    let Some((compared, paths)) = typical else {
        let why = format!(
            "cannot write {}: no boot of a side can be shown",
            path.display()
        );
        return Err(Failure::new(Exit::NothingUsable, why));
    };
    let [before, after] = paths;
    let before = shown(compared, 0, before, args)?;
    let after = shown(compared, 1, after, args)?;
    let mut page = after.report(Vec::new());
    page.groups = groups::first(all);
    page.trials = all.comparisons.iter().filter_map(trial).collect();
    output::write(&page.against(before.report(Vec::new())), path)
}

/// The typical boot of a side as it was compared.
fn shown(
    compared: &Compared,
    side: usize,
    path: PathBuf,
    args: &Compare,
) -> Result<Recorded, Failure> {
    let about = &compared.sides[side];
    let count = about.boots.len();
    let mut boot = evidence::read(&[path], &args.evidence.options())?;
    common_end::follow(&compared.groups, side, &mut boot);
    if count > 1 {
        let name = std::mem::take(&mut boot.about.target);
        boot.about.target = format!("{}, the most typical of {count}: {name}", about.word);
    }
    Ok(boot)
}

/// A comparison in the form that the page has for what was tried.
fn trial(compared: &Compared) -> Option<Trial> {
    let groups = &compared.groups;
    let total = groups.total.as_ref()?;
    let failed = groups.sides.each_ref().map(|s| s.failed().count());
    let phases = groups
        .phases
        .iter()
        .map(bootlap_analysis::groups::Row::delta);
    Some(Trial {
        recipe: match compared.sides[1].word.as_str() {
            "after" => compared.sides[1].path.clone(),
            word => word.to_owned(),
        },
        before_ns: total.before_ns?,
        after_ns: total.after_ns?,
        effect: total.effect?,
        not_ready: failed,
        phases: phases.collect(),
        parts: groups.places.clone(),
        moved: groups.moved.clone(),
        predicted: None,
    })
}
