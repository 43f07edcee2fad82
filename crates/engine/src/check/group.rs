//! The boots that are judged, or judged by.

use std::fs;
use std::path::{Path, PathBuf};

use bootlap_analysis::budget::{Measures, Sample};
use bootlap_lab::{Manifest, Run};
use bootlap_model::Timeline;
use bootlap_report::About;

use crate::evidence::ReadOptions;
use crate::evidence::{self, Recorded};
use crate::failure::{Exit, Failure};
use crate::lab::Lab;

/// Boots of one target, in one kind of time.
pub struct Group {
    /// What they have in common.
    pub about: About,
    /// As they were typed, or would be.
    pub names: Vec<String>,
    boots: Vec<(Measures, Timeline)>,
}

impl Group {
    /// The boots that `paths` tell of: each run is one, files are one together.
    pub fn read(paths: &[PathBuf], how: &ReadOptions) -> Result<Self, Failure> {
        let mut runs = Vec::new();
        let mut files = Vec::new();
        for path in paths {
            match runs_in(path)? {
                Some(found) => runs.extend(found),
                None => files.push(path.clone()),
            }
        }
        match (runs.len(), files.is_empty()) {
            (0, _) => Self::of(vec![(name_of(&files), None, evidence::read(&files, how)?)]),
            // A run and what else tells of that boot.
            (1, false) => {
                let run = runs.remove(0);
                let mut all = vec![run.dir.clone()];
                all.extend(files);
                let recorded = evidence::read(&all, how)?;
                Self::of(vec![(run.dir.display().to_string(), Some(run), recorded)])
            }
            (_, true) => Self::of_runs(&runs, how),
            (_, false) => {
                let why = "these are several runs, and files that could be of any of them";
                let hint = "check the runs alone, or one run with its files";
                Err(Failure::new(Exit::Usage, why).hint(hint))
            }
        }
    }

    /// Boots of a target in so many perturbations, recorded now.
    pub fn boot(lab: &Lab<'_>, target: &Path, perturbations: u32) -> Result<Self, Failure> {
        let bootable = lab.prepare(target)?;
        let name = bootable.target.spec.name.clone();
        let dir = lab.session(&format!("{name}-check"));
        let what = format!("booting {name}, {perturbations} perturbations");
        let all: Vec<_> = (0..perturbations)
            .map(|perturbation| crate::lab::Planned {
                bootable: &bootable,
                dir: dir.join(perturbation.to_string()),
                perturbation,
                append: "",
                patience: None,
            })
            .collect();
        let runs = lab.batch(&what, &all)?;
        lab.progress.note(&format!("recorded in {}", dir.display()));
        Self::of_runs(&runs, &ReadOptions::default())
    }

    fn of_runs(runs: &[Run], how: &ReadOptions) -> Result<Self, Failure> {
        let read = |run: &Run| {
            let recorded = evidence::read(std::slice::from_ref(&run.dir), how)?;
            Ok((run.dir.display().to_string(), Some(run.clone()), recorded))
        };
        Self::of(runs.iter().map(read).collect::<Result<Vec<_>, Failure>>()?)
    }

    fn of(all: Vec<(String, Option<Run>, Recorded)>) -> Result<Self, Failure> {
        let Some((_, _, first)) = all.first() else {
            return Err(Failure::new(Exit::NothingUsable, "there are no boots"));
        };
        let about = first.about.clone();
        let mut group = Self {
            about,
            names: Vec::new(),
            boots: Vec::new(),
        };
        for (name, run, recorded) in all {
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

    /// Whether their time is simulated, so that equal perturbations can be compared.
    pub fn simulated(&self) -> bool {
        self.about.time == "simulated"
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

/// The runs that `path` names: itself, or its children. `None` if it is other
/// evidence.
fn runs_in(path: &Path) -> Result<Option<Vec<Run>>, Failure> {
    if Run::is_run(path) {
        return Ok(Some(vec![Run::open(path)?]));
    }
    let children = folders(path);
    let mut runs: Vec<&PathBuf> = children.iter().filter(|c| Run::is_run(c)).collect();
    if runs.is_empty() {
        let groups = children
            .iter()
            .filter(|c| folders(c).iter().any(|g| Run::is_run(g)));
        let groups: Vec<String> = groups.map(|g| g.display().to_string()).collect();
        if let Some(first) = groups.first() {
            let name = path.display();
            let why = format!("{name} holds {} groups of runs; name one", groups.len());
            let hint = format!("such as {first}");
            return Err(Failure::new(Exit::Usage, why).hint(hint));
        }
        return Ok(None);
    }
    // 2 before 10.
    runs.sort_by_key(|r| {
        let name = r
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        (name.parse::<u64>().unwrap_or(u64::MAX), name)
    });
    let runs = runs.into_iter().map(|r| Run::open(r));
    Ok(Some(runs.collect::<Result<_, _>>()?))
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let dirs = entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir()));
    dirs.map(|e| e.path()).collect()
}

fn name_of(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
    names.join(" + ")
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
    let simulated = recorded.about.time == "simulated";
    measures.perturbation = simulated.then(|| perturbation(&run.manifest));
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
