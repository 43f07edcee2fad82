//! The boots that are judged, or judged by.

use std::path::{Path, PathBuf};

use bootlap_analysis::budget::{Measures, Sample};
use bootlap_lab::{Manifest, Run};
use bootlap_model::{TimeKind, Timeline};
use bootlap_report::About;

use crate::evidence::ReadOptions;
use crate::evidence::boots::boots;
use crate::evidence::group::model;
use crate::evidence::names::Names;
use crate::evidence::{self, Recorded};
use crate::failure::{Exit, Failure};
use crate::lab::Lab;

/// Boots of one target, in one kind of time.
pub struct Group {
    /// What they have in common.
    pub about: About,
    /// As they were typed, or would be; whole paths from what they share.
    pub names: Vec<String>,
    /// The files of the first of them.
    pub first: Vec<PathBuf>,
    boots: Vec<(Measures, Timeline)>,
    /// The board in whose time they were made, where that was modelled.
    pub model: Option<String>,
}

impl Group {
    /// The boots that `paths` tell of.
    pub fn read(paths: &[PathBuf], how: &ReadOptions) -> Result<Self, Failure> {
        let boots = boots(paths)?;
        let names = Names::of(&boots.concat());
        let first = boots.first().cloned().unwrap_or_default();
        let read = |boot: Vec<PathBuf>| {
            let run = boot.iter().find(|p| Run::is_run(p));
            let run = run.map(|p| Run::open(p)).transpose()?;
            Ok((name_of(&boot, &names), run, evidence::read(&boot, how)?))
        };
        let boots = boots.into_iter().map(read);
        Self::of(first, boots.collect::<Result<Vec<_>, Failure>>()?)
    }

    /// Boots of a target in so many perturbations, recorded now.
    pub fn boot(lab: &Lab<'_>, target: &Path, perturbations: u32) -> Result<Self, Failure> {
        let bootable = lab.prepare(target)?;
        let name = bootable.target.spec.name.clone();
        let dir = lab.session(&format!("{name}-check"));
        let what = format!("booting {name}, {perturbations} perturbations");
        let all: Vec<_> = (0..perturbations)
            .map(|perturbation| crate::bootable::Planned {
                bootable: &bootable,
                dir: dir.join(perturbation.to_string()),
                perturbation,
                append: "",
                patience: None,
                limit: None,
                times: 1,
            })
            .collect();
        let runs = lab.batch(&what, &all)?;
        lab.progress.note(&format!("recorded in {}", dir.display()));
        Self::of_runs(&runs, &ReadOptions::default())
    }

    fn of_runs(runs: &[Run], how: &ReadOptions) -> Result<Self, Failure> {
        let dirs: Vec<PathBuf> = runs.iter().map(|run| run.dir.clone()).collect();
        let names = Names::of(&dirs);
        let read = |run: &Run| {
            let recorded = evidence::read(std::slice::from_ref(&run.dir), how)?;
            let name = names.short(&run.dir.display().to_string());
            Ok((name, Some(run.clone()), recorded))
        };
        let first = dirs.first().cloned().into_iter().collect();
        Self::of(
            first,
            runs.iter().map(read).collect::<Result<Vec<_>, Failure>>()?,
        )
    }

    fn of(files: Vec<PathBuf>, all: Vec<(String, Option<Run>, Recorded)>) -> Result<Self, Failure> {
        let Some((_, _, first)) = all.first() else {
            return Err(Failure::new(Exit::NothingUsable, "there are no boots"));
        };
        let about = first.about.clone();
        let mut group = Self {
            about,
            names: Vec::new(),
            first: files,
            boots: Vec::new(),
            model: model_of(all[0].1.as_ref()),
        };
        for (name, run, recorded) in all {
            if model_of(run.as_ref()) != group.model {
                let why = format!(
                    "{name} and {} were made in the time of different boards: they cannot be compared",
                    group.names[0]
                );
                return Err(Failure::new(Exit::Usage, why));
            }
            if recorded.about.time != group.about.time {
                let why = format!(
                    "{name} has {} time and {} has {}: they cannot be compared",
                    recorded.about.time, group.names[0], group.about.time
                );
                return Err(Failure::new(Exit::Usage, why));
            }
            let measures = measures(run.as_ref(), &recorded)?;
            group.names.push(name);
            group.boots.push((measures, recorded.timeline));
        }
        Ok(group)
    }

    /// Whether equal boots take equal time, so that equal perturbations can be compared.
    pub fn repeats(&self) -> bool {
        TimeKind::named(&self.about.time).is_some_and(TimeKind::repeats)
    }

    /// What was measured of each.
    pub fn measures(&self) -> Vec<Measures> {
        self.boots.iter().map(|b| b.0.clone()).collect()
    }

    /// For judging.
    pub fn samples(&self) -> Vec<Sample<'_>> {
        let boots = self.boots.iter();
        boots
            .map(|(measures, timeline)| Sample {
                measures: measures.clone(),
                timeline: Some(timeline),
            })
            .collect()
    }
}

fn model_of(run: Option<&Run>) -> Option<String> {
    model(&run?.manifest)
}

fn name_of(files: &[PathBuf], names: &Names) -> String {
    let names = files.iter().map(|f| names.short(&f.display().to_string()));
    names.collect::<Vec<_>>().join(" + ")
}

/// What was measured of one boot, by its run where there is one.
fn measures(run: Option<&Run>, recorded: &Recorded) -> Result<Measures, Failure> {
    let mut measures = Measures::of(&recorded.timeline);
    let Some(run) = run else {
        return Ok(measures);
    };
    // The recorder knows the byte that meant ready.
    if let Some(ready) = run.ready() {
        measures.ready_ns = Some(ready.ns);
        measures.instructions = ready.instructions;
    }
    measures.console_bytes = Some(run.console()?.len() as u64);
    let repeats = recorded.timeline.time().repeats();
    measures.perturbation = repeats.then(|| perturbation(&run.manifest));
    Ok(measures)
}

/// The perturbation of a run, whoever asked for it: the lab, or a word on the command
/// line.
fn perturbation(manifest: &Manifest) -> String {
    let words = manifest.append.split_whitespace();
    let by_word = words.filter_map(|w| w.strip_prefix("bootlap.layout="));
    let by_word: usize = by_word.map(|x| x.len() / 7).sum();
    (manifest.perturbation as usize + by_word).to_string()
}
