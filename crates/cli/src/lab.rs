//! From a target's folder to recorded boots.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bootlap_lab::experiment::{self, Job};
use bootlap_lab::{Host, LabError, Manifest, Mode, Outcome, Qemu, QemuSettings, Run, State};
use bootlap_report::clean::clean_bytes;
use bootlap_sources::Hints;
use bootlap_target::recipe::Choice;
use bootlap_target::{Assembly, Cache, Machine, PartHash, Parts, Qemu as QemuSpec, Target};

use crate::args::LabArgs;
use crate::evidence;
use crate::exit::{Exit, Failure};
use crate::ui::Ui;

/// A target that is ready to boot.
#[derive(Clone)]
pub(crate) struct Bootable {
    pub(crate) target: Target,
    pub(crate) parts: Parts,
    assembly: Assembly,
    machine: QemuSpec,
}

/// A boot to be done.
pub(crate) struct Planned<'b> {
    pub(crate) bootable: &'b Bootable,
    pub(crate) dir: PathBuf,
    /// The layout perturbation.
    pub(crate) layout: u32,
    /// More words on the kernel's command line.
    pub(crate) append: &'b str,
}

impl<'b> Planned<'b> {
    /// One layout of the variant called `name`, in a folder of its own.
    pub(crate) fn layout(bootable: &'b Bootable, dir: &Path, name: &str, layout: u32) -> Self {
        Self {
            bootable,
            dir: dir.join(folder_name(name)).join(layout.to_string()),
            layout,
            append: "",
        }
    }
}

/// Where and how targets are booted.
pub(crate) struct Lab<'a> {
    args: &'a LabArgs,
    pub(crate) cache: Cache,
    pub(crate) ui: &'a Ui,
}

impl<'a> Lab<'a> {
    pub(crate) fn new(args: &'a LabArgs, ui: &'a Ui) -> Self {
        Self {
            args,
            cache: cache(args.cache.as_deref()),
            ui,
        }
    }

    /// Whether the host stamps the console, so that only its bytes can be equal.
    pub(crate) fn host_stamps(&self) -> bool {
        self.args.no_probe
    }

    pub(crate) fn mode(&self) -> Mode {
        if self.args.plain {
            Mode::Plain
        } else {
            Mode::Sim
        }
    }

    /// Reads a target, finds its parts and puts them together.
    ///
    /// # Errors
    /// Also if it is a board, which boots what is on it.
    pub(crate) fn prepare(&self, path: &Path) -> Result<Bootable, Failure> {
        self.prepare_target(load(path)?)
    }

    /// The same for a target that was read.
    pub(crate) fn prepare_target(&self, target: Target) -> Result<Bootable, Failure> {
        if let Machine::Board(_) = target.machine {
            return Err(by_hand(&target));
        }
        let parts = self.parts(&target)?;
        self.assemble(target, parts)
    }

    /// The parts of a target, as far as it says what they are.
    pub(crate) fn parts(&self, target: &Target) -> Result<Parts, Failure> {
        Ok(target.parts(&self.cache, &|what| self.ui.step(what))?)
    }

    /// The same with a recipe applied.
    pub(crate) fn with(&self, bootable: &Bootable, recipe: &Choice) -> Result<Bootable, Failure> {
        let target = recipe.apply(&bootable.target, &bootable.parts)?;
        self.assemble(target, bootable.parts.clone())
    }

    fn assemble(&self, target: Target, parts: Parts) -> Result<Bootable, Failure> {
        let Machine::Qemu(machine) = target.machine.clone() else {
            return Err(by_hand(&target));
        };
        let assembly = target.assemble(&parts, &self.cache, &|what| self.ui.step(what))?;
        Ok(Bootable {
            machine,
            target,
            parts,
            assembly,
        })
    }

    /// A folder for the runs of one command; unlike any that is there.
    pub(crate) fn session(&self, name: &str) -> PathBuf {
        new_session(&self.args.runs.join(name))
    }

    /// Boots once; `layout` 0 is the target as described.
    pub(crate) fn boot(
        &self,
        bootable: &Bootable,
        dir: &Path,
        layout: u32,
        append: &str,
    ) -> Result<Run, LabError> {
        let words = [append, &perturbation(layout)].join(" ");
        let boot = bootable.assembly.boot(words.trim())?;
        let settings = QemuSettings {
            spec: bootable.machine.clone(),
            dir: bootable.target.dir.display().to_string(),
            mode: self.mode(),
            seed: self.args.seed,
            probe: !self.args.no_probe,
        };
        let manifest = Manifest {
            layout,
            append: append.to_owned(),
            ..self.manifest(&bootable.target, &bootable.assembly.parts, self.mode())
        };
        let hints = hints(&bootable.target);
        let mut machine = Qemu::new(settings, boot);
        let timeout = self.timeout(&bootable.target);
        bootlap_lab::boot(&mut machine, dir, manifest, &hints, timeout)
    }

    /// Boots all that is planned, side by side where that changes nothing; the
    /// runs in the order of the plan.
    pub(crate) fn batch(&self, what: &str, plan: &[Planned<'_>]) -> Result<Vec<Run>, Failure> {
        self.ui.count(what, plan.len());
        let boot = |p: &Planned<'_>| self.boot(p.bootable, &p.dir, p.layout, p.append);
        let done = || self.ui.one_done();
        Ok(experiment::run(plan, self.at_once(), &boot, &done)?)
    }

    /// Boots every variant in these layouts; the runs of each variant, in the
    /// order of layouts.
    pub(crate) fn boots(
        &self,
        what: &str,
        variants: &[(String, &Bootable)],
        layouts: u32,
        dir: &Path,
    ) -> Result<Vec<Vec<Run>>, Failure> {
        let jobs = experiment::plan(variants.len(), layouts, self.args.seed);
        let planned = |job: &Job| {
            let (name, bootable) = &variants[job.variant];
            Planned::layout(bootable, dir, name, job.layout)
        };
        let plan: Vec<Planned<'_>> = jobs.iter().map(planned).collect();
        let runs = self.batch(what, &plan)?;
        let mut sorted: Vec<Vec<Run>> = variants.iter().map(|_| Vec::new()).collect();
        for (job, run) in jobs.iter().zip(runs) {
            sorted[job.variant].push(run);
        }
        Ok(sorted)
    }

    /// Boots that may run side by side: simulated time does not depend on what
    /// else the host does.
    fn at_once(&self) -> NonZeroUsize {
        match self.mode() {
            Mode::Sim => std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            Mode::Plain | Mode::Board => NonZeroUsize::MIN,
        }
    }

    /// How long to wait for ready.
    pub(crate) fn timeout(&self, target: &Target) -> Duration {
        let seconds = self.args.timeout.unwrap_or(target.spec.ready.timeout_s);
        Duration::from_secs(seconds)
    }

    /// What is known of a boot before it begins.
    pub(crate) fn manifest(&self, target: &Target, parts: &[PartHash], mode: Mode) -> Manifest {
        let spec = &target.spec;
        let marks = spec
            .mark
            .iter()
            .map(|m| (m.name.clone(), m.pattern.clone()));
        Manifest {
            format: bootlap_lab::FORMAT,
            bootlap: env!("CARGO_PKG_VERSION").to_owned(),
            state: State::Unfinished,
            target: spec.name.clone(),
            target_path: target.typed().display().to_string(),
            target_sha256: target.sha256(),
            ready_pattern: spec.ready.pattern.clone(),
            application_pattern: spec.ready.application.clone(),
            marks: marks.collect(),
            edits: target.edits.clone(),
            append: String::new(),
            parts: parts.to_vec(),
            mode,
            seed: self.args.seed,
            layout: 0,
            machine: serde_json::Value::Null,
            host: Host::here(),
            started: jiff::Timestamp::now().to_string(),
            wall_ms: 0,
            outcome: None,
            console_sha256: String::new(),
            capture: None,
            faults: Vec::new(),
        }
    }
}

/// Why a board cannot be booted with other parts than those that are on it.
fn by_hand(target: &Target) -> Failure {
    let failure = Failure::new(
        Exit::Usage,
        format!(
            "{} is a board: it boots what is on it, and bootlap cannot put changed parts there",
            target.spec.name
        ),
    );
    failure.hint(format!(
        "`bootlap apply {} RECIPE -o DIR` writes down what to change; make that change on the \
         board by hand,\n         and compare `bootlap boot` of before and after",
        target.typed().display()
    ))
}

/// A folder below `dir` named by the time; unlike any that is there.
pub(crate) fn new_session(dir: &Path) -> PathBuf {
    let now = jiff::Zoned::now().strftime("%Y-%m-%d_%H-%M-%S").to_string();
    (1..)
        .map(|n| match n {
            1 => dir.join(&now),
            n => dir.join(format!("{now}-{n}")),
        })
        .find(|dir| !dir.exists())
        .expect("there are endless names")
}

/// Reads a target's description.
pub(crate) fn load(path: &Path) -> Result<Target, Failure> {
    Target::load(path).map_err(|e| {
        let missing = !path.exists();
        let failure = Failure::from(e);
        if missing {
            failure.hint("name a folder that holds a target.toml, such as targets/kiosk")
        } else {
            failure
        }
    })
}

/// The cache that was asked for, or the user's.
pub(crate) fn cache(asked: Option<&Path>) -> Cache {
    let from_env = |name| std::env::var_os(name).filter(|v| !v.is_empty());
    let root = asked
        .map(Path::to_owned)
        .or_else(|| from_env("BOOTLAP_CACHE").map(PathBuf::from))
        .or_else(|| from_env("XDG_CACHE_HOME").map(|d| PathBuf::from(d).join("bootlap")))
        .or_else(|| from_env("HOME").map(|d| PathBuf::from(d).join(".cache/bootlap")))
        .unwrap_or_else(|| PathBuf::from(".cache/bootlap"));
    Cache::at(root)
}

/// What the target says of its console.
pub(crate) fn hints(target: &Target) -> Hints {
    let spec = &target.spec;
    evidence::hints(
        Some(&spec.ready.pattern),
        spec.ready.application.as_deref(),
        spec.mark
            .iter()
            .map(|m| (m.name.as_str(), m.pattern.as_str())),
    )
}

/// The words that move code and data about without changing what is done: a
/// parameter that nobody reads, of varying length.
fn perturbation(layout: u32) -> String {
    match layout {
        0 => String::new(),
        n => format!("bootlap.layout={}", "x".repeat(7 * n as usize)),
    }
}

/// A folder name for a variant.
fn folder_name(variant: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_+.=".contains(c) {
            c
        } else {
            '_'
        }
    };
    variant.chars().map(plain).take(100).collect()
}

/// How many lines of the console of a failed boot are shown.
const TAIL: usize = 8;
/// And how many bytes of each.
const TAIL_WIDTH: usize = 200;

/// What to tell about a run that never got ready: why, the last lines of its
/// console, and what to do.
pub(crate) fn never_ready(run: &Run) -> Option<Failure> {
    let Some(Outcome::NeverReady(why)) = &run.manifest.outcome else {
        return None;
    };
    let console = run.console().unwrap_or_default();
    let lines: Vec<String> = console
        .split(|b| *b == b'\n')
        .map(|line| {
            clean_bytes(&line[..line.len().min(TAIL_WIDTH)])
                .trim_end()
                .to_owned()
        })
        .filter(|line| !line.is_empty())
        .collect();
    let tail = &lines[lines.len().saturating_sub(TAIL)..];
    let shown = if tail.is_empty() {
        "the console stayed empty".to_owned()
    } else {
        let tail: Vec<String> = tail.iter().map(|l| format!("  | {l}")).collect();
        format!("its console ends with\n{}", tail.join("\n"))
    };
    let failure = Failure::new(
        Exit::NeverReady,
        format!("{} never got ready: {why}; {shown}", run.manifest.target),
    );
    Some(failure.hint(format!(
        "look at {}, check the ready pattern `{}`, or give it longer with --timeout",
        run.dir.join("console").display(),
        run.manifest.ready_pattern
    )))
}
