//! `bootlap apply`: a changed copy of a target, and its patch set.

use bootlap_model::shell_word;
use std::fs;
use std::path::{Path, PathBuf};

use bootlap_engine::Progress;
use bootlap_engine::evidence;
use bootlap_engine::lab::load;
use bootlap_engine::output::free_folder;
use bootlap_engine::tries::parse;
use bootlap_engine::{Exit, Failure};
use bootlap_patchset::{self as patchset, Measured, Step, Time};
use bootlap_product::{Cache, How, Machine, Parts, Target};
use bootlap_report::FORMAT;
use bootlap_report::apply::{AppliedJson, EditJson, applied};
use serde_json::Value;

use crate::args::{Apply, cache};
use crate::ui::Ui;

pub(crate) fn run(args: &Apply, ui: &Ui) -> Result<Exit, Failure> {
    let choices = parse(&args.recipes)?;
    let start = load(&args.target)?;
    let trials = match &args.measured {
        Some(file) => Some(Trials::read(file, &start.spec.name)?),
        None => None,
    };
    let cache = Cache::at(cache(args.cache.as_deref()));
    let parts = start.parts(&cache, &|what| ui.step(what))?;
    let mut target = start.clone();
    let mut tuned_parts: Option<Parts> = None;
    let mut steps = Vec::new();
    for choice in &choices {
        let changed = choice.apply(&target, tuned_parts.as_ref().unwrap_or(&parts))?;
        let known = target.edits.len();
        let edits = &changed.edits[known..];
        if changed.has_other_parts(known) {
            tuned_parts = Some(changed.parts(&cache, &|what| ui.step(what))?);
        }
        let meta = choice.meta();
        steps.push(Step {
            recipe: choice.name(),
            title: meta.title.to_owned(),
            risk: meta.risk.to_owned(),
            edits: edits.to_vec(),
            measured: trials.as_ref().and_then(|t| t.of(&choice.name())),
        });
        target = changed;
    }
    let tuned_parts = tuned_parts.as_ref().unwrap_or(&parts);
    let files = patchset::files(&start, &parts, tuned_parts, &steps)?;
    target.write_to(&args.out)?;
    let folder = free_folder(&args.out);
    patchset::write(&files, &folder)?;
    let mut written: Vec<PathBuf> = files.iter().map(|f| folder.join(&f.path)).collect();
    let overlay = folder.join("disk.qcow2");
    if tuned_parts.write_overlay(&overlay)? {
        written.push(overlay);
    }
    if args.json {
        ui.print(&document(&target, &args.out, &written)?);
    } else {
        for edit in &target.edits {
            ui.print(&edit.to_string());
        }
        for path in &written {
            ui.print(&format!("wrote {}", path.display()));
        }
    }
    ui.note(&said(&target, &args.out, &folder));
    Ok(Exit::Ok)
}

fn said(target: &Target, out: &Path, folder: &Path) -> String {
    let (out, folder) = (shell_word(out.display()), folder.display());
    let about = format!("{folder}/README.md says how to carry it into another build.");
    match target.machine {
        Machine::Qemu(_) => format!("wrote {out}; boot it with `bootlap boot {out}`. {about}"),
        Machine::Board(_) => format!(
            "wrote {out}, which says what is to be on the board. Put it there by hand: bootlap \
             cannot. {about}\nThen `bootlap boot {out}` measures it"
        ),
    }
}

fn document(target: &Target, out: &Path, written: &[PathBuf]) -> Result<String, Failure> {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    let inside = |path: &PathBuf| shown(path.strip_prefix(out).unwrap_or(path));
    let edits = target.edits.iter().map(|edit| EditJson {
        key: edit.key.clone(),
        value: (edit.how != How::Remove).then(|| edit.value.clone()),
    });
    applied(&AppliedJson {
        format: FORMAT,
        tool: evidence::TOOL.to_owned(),
        target: target.spec.name.clone(),
        out: shown(out),
        edits: edits.collect(),
        files: written.iter().map(inside).collect(),
    })
    .map_err(|e| Failure::new(Exit::Internal, e))
}

/// What `bootlap try --json` printed (docs/schema/try.json).
struct Trials {
    time: Time,
    trials: Vec<Value>,
}

impl Trials {
    fn read(file: &Path, target: &str) -> Result<Self, Failure> {
        let shown = file.display();
        let read = |e| Failure::new(Exit::Usage, format!("cannot read {shown}: {e}"));
        let bytes = fs::read(file).map_err(read)?;
        let hint = "`bootlap try TARGET RECIPE… --json > FILE` writes it";
        let not =
            |why: String| Failure::new(Exit::NothingUsable, format!("{shown}: {why}")).hint(hint);
        let value: Value = serde_json::from_slice(&bytes)
            .map_err(|e| not(format!("not what `bootlap try --json` prints: {e}")))?;
        let trials = value["trials"].as_array();
        let trials = trials.ok_or_else(|| not("there are no `trials` in it".to_owned()))?;
        let of = value["target"].as_str().unwrap_or_default();
        if of != target {
            return Err(not(format!("it is about {of:?}, and not about {target:?}")));
        }
        let time = match value["mode"].as_str() {
            Some("sim") => Time::Simulated,
            Some("modelled") => Time::Modelled,
            _ => Time::Measured,
        };
        Ok(Self {
            time,
            trials: trials.clone(),
        })
    }

    /// What this recipe saved by itself.
    fn of(&self, recipe: &str) -> Option<Measured> {
        let trial = self.trials.iter().find(|t| t["recipe"] == recipe)?;
        let bound = |i: usize| trial["interval_ns"][i].as_i64();
        Some(Measured {
            saved_ns: trial["saved_ns"].as_i64()?,
            interval_ns: [bound(0)?, bound(1)?],
            time: self.time,
        })
    }
}
