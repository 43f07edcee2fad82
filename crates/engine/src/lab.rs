//! From a target's folder to recorded boots.

use bootlap_model::shell_word;
use std::fs;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bootlap_lab::experiment::{self, Attempt, Question, Session, Wait};
use bootlap_lab::{Board, LabError, Manifest, Mode, Model, Places, Qemu, QemuSettings, Run, node};
use bootlap_product::recipe::Choice;
use bootlap_product::{Board as BoardSpec, Boot, Cache, Edit, Machine, PartHash, Parts, Target};
use bootlap_sources::Hints;
use bootlap_store::Store;

use crate::bootable::{Bootable, How, Planned, more_memory_mb, padding};
use crate::elsewhere::Runner;
use crate::evidence;
use crate::failure::{Exit, Failure};
use crate::first_boot::{FirstBoot, FirstBoots, WORD, comes_before};
use crate::forewarned;
use crate::kept::{Keeper, Made, Wanted};
use crate::progress::Progress;
use crate::settings::{ELSEWHERE, Settings};
use crate::shard::Shard;
use crate::shared::Shared;

/// Where and how targets are booted.
pub struct Lab<'a> {
    settings: Settings,
    /// Boots that need not be made.
    keeper: Option<Keeper>,
    /// Where they are made, if not here.
    runner: Option<Runner>,
    /// Packages and compressed images.
    pub cache: Cache,
    /// Who is told how far it is.
    pub progress: &'a dyn Progress,
    /// Set by Ctrl-C, where a board has to be switched off first, or jobs called back.
    stop: Arc<AtomicBool>,
    /// Ctrl-C sets it from now on.
    listens: AtomicBool,
    /// SHA-256 of the target that was last put onto the board.
    installed: Mutex<Option<String>>,
    first_boots: FirstBoots,
}

impl<'a> Lab<'a> {
    /// A lab that tells `progress` how far it is.
    pub fn new(settings: Settings, progress: &'a dyn Progress) -> Self {
        let stop = Arc::default();
        let store = settings.store.as_ref();
        let runner = store.zip(settings.elsewhere.clone()).map(|(dir, how)| {
            let whole = || std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
            let place = match &settings.sharing {
                Some(sharing) => sharing.place.clone(),
                None => whole().display().to_string(),
            };
            Runner::new(how, &place, Arc::clone(&stop))
        });
        let shared = settings.sharing.as_ref().map(Shared::new);
        let store = store.map(|dir| Store::at(dir, settings.store_bytes));
        Self {
            runner,
            cache: Cache::at(settings.cache.clone()),
            keeper: store.map(|store| Keeper::new(store, shared, settings.keeping.clone())),
            settings,
            progress,
            stop,
            listens: AtomicBool::new(false),
            installed: Mutex::default(),
            first_boots: FirstBoots::default(),
        }
    }

    /// The random seed.
    pub fn seed(&self) -> u64 {
        self.settings.seed
    }

    /// Whether the host stamps the console, so that only its bytes can be equal.
    pub fn host_stamps(&self) -> bool {
        self.settings.no_probe
    }

    /// Whether the other boots of a batch are for others to make.
    pub fn makes_a_share(&self) -> bool {
        self.settings.keeping.shard.is_some()
    }

    /// Whether equal boots of emulated targets are to be bit-identical.
    pub fn repeats(&self) -> bool {
        self.settings.mode.is_none_or(Mode::repeats)
    }

    /// How this emulated target is measured.
    fn mode_for(&self, target: &Target) -> Mode {
        let own = match target.board {
            // The probe makes it.
            Some(_) if !self.settings.no_probe => Mode::Modelled,
            _ => Mode::Sim,
        };
        self.settings.mode.unwrap_or(own)
    }

    /// Reads a target, finds its parts and puts them together.
    ///
    /// # Errors
    /// Also if it is a board, which boots what is on it.
    pub fn prepare(&self, path: &Path) -> Result<Bootable, Failure> {
        self.prepare_target(load(path)?)
    }

    /// The same for a target that was read.
    pub fn prepare_target(&self, target: Target) -> Result<Bootable, Failure> {
        if let Machine::Board(BoardSpec { install: None, .. }) = target.machine {
            return Err(by_hand(&target));
        }
        // Once: a second listener would take the first Ctrl-C for the second.
        if (self.runner.is_some() || matches!(target.machine, Machine::Board(_)))
            && !self.listens.swap(true, Ordering::Relaxed)
        {
            self.progress.stop_when_asked(&self.stop)?;
        }
        if self.repeats() {
            forewarned::note(&target, self.progress);
        }
        let parts = self.parts(&target)?;
        self.assemble(target, Arc::new(parts))
    }

    /// The parts of a target, as far as it says what they are.
    pub fn parts(&self, target: &Target) -> Result<Parts, Failure> {
        Ok(target.parts(&self.cache, &|what| self.progress.step(what))?)
    }

    /// The same with recipes applied, one after the other.
    pub fn with<'r>(
        &self,
        bootable: &Bootable,
        recipes: impl IntoIterator<Item = &'r Choice>,
    ) -> Result<Bootable, Failure> {
        let (mut target, mut parts) = (bootable.target.clone(), bootable.parts.clone());
        for recipe in recipes {
            let known = target.edits.len();
            target = recipe.apply(&target, &parts)?;
            if target.has_other_parts(known) {
                parts = Arc::new(self.parts(&target)?);
            }
        }
        self.assemble(target, parts)
    }

    /// The same, booted until what has to come behind ready; `None` if nothing has to.
    pub fn awaiting_later(&self, bootable: &Bootable) -> Result<Option<Bootable>, Failure> {
        let Some(later) = &bootable.target.spec.ready.later else {
            return Ok(None);
        };
        let target = bootable.target.with(&[Edit::set("ready.pattern", later)])?;
        Ok(Some(Bootable {
            target,
            ..bootable.clone()
        }))
    }

    fn assemble(&self, target: Target, parts: Arc<Parts>) -> Result<Bootable, Failure> {
        let (how, mode) = match target.machine.clone() {
            Machine::Board(spec) => (How::Board(Box::new(spec)), Mode::Board),
            Machine::Qemu(spec) => {
                let progress = |what: &str| self.progress.step(what);
                let assembly = target.assemble(&parts, &self.cache, &progress)?;
                let how = How::Qemu(Box::new(spec), Box::new(assembly));
                (how, self.mode_for(&target))
            }
        };
        let model = self.model(&target)?;
        Ok(Bootable {
            target,
            parts,
            how,
            mode,
            model,
        })
    }

    /// A folder for the runs of one command.
    pub fn session(&self, name: &str) -> PathBuf {
        claim(&self.settings.runs.join(name))
    }

    /// The folder of an experiment that `kind` (a command) makes, begun now or
    /// when it was interrupted.
    pub fn experiment(
        &self,
        kind: &str,
        stock: &Bootable,
        first: u32,
        mut details: Vec<String>,
        tool: &str,
    ) -> Result<Session, Failure> {
        let target = &stock.target;
        let sessions = self
            .settings
            .runs
            .join(format!("{}-{kind}", target.spec.name));
        if let How::Qemu(_, assembly) = &stock.how {
            let parts = assembly.parts.iter();
            details.extend(parts.map(|p| format!("{} {}", p.name, p.sha256)));
        }
        details.push(format!("first look after {first} boots"));
        let question = Question {
            kind: kind.to_owned(),
            target: target.spec.name.clone(),
            target_sha256: target.sha256(),
            mode: stock.mode().name().to_owned(),
            seed: self.settings.seed,
            details,
        };
        let new = new_session(&sessions);
        let (session, resumed) = Session::open(&sessions, &new, &question, tool)?;
        if resumed {
            self.progress.note(&format!(
                "going on with what was interrupted, in {}",
                session.dir().display()
            ));
        }
        Ok(session)
    }

    /// Boots once, unless that was recorded before; perturbation 0 is the target as
    /// described.
    fn boot(
        &self,
        planned: &Planned<'_>,
        wait: Wait,
        board: &Mutex<Option<Board>>,
    ) -> Result<Attempt, LabError> {
        let Planned { bootable, dir, .. } = planned;
        let (target, mode) = (&bootable.target, bootable.mode());
        let parts = match &bootable.how {
            How::Qemu(_, assembly) => assembly.parts.as_slice(),
            How::Board(_) => &[],
        };
        let manifest = Manifest {
            perturbation: planned.perturbation,
            append: planned.append.to_owned(),
            ..self.manifest(target, parts, mode)
        };
        if let Some(run) = experiment::recorded(dir, &manifest)? {
            return Ok(Attempt::Done(Box::new(run)));
        }
        let hints = hints(target);
        let most = self.timeout(target);
        let timeout = planned.patience.map_or(most, |p| p.min(most));
        let mut run = match &bootable.how {
            How::Qemu(spec, assembly) => {
                let mut spec = (**spec).clone();
                let words = match assembly.has_cmdline() {
                    true => [planned.append, &padding(planned.perturbation)].join(" "),
                    false => {
                        spec.memory_mb += more_memory_mb(planned.perturbation);
                        planned.append.to_owned()
                    }
                };
                let boot = assembly.boot(words.trim())?;
                let shown = |path: Option<&Path>| {
                    path.map_or_else(String::new, |path| path.display().to_string())
                };
                let mut settings = QemuSettings {
                    spec,
                    places: Places {
                        dir: target.dir.display().to_string(),
                        root: shown(assembly.root()),
                        disk: shown(assembly.disk().map(|(path, _)| path)),
                    },
                    attached: assembly.disk().map(|(_, attached)| attached.clone()),
                    mode,
                    model: bootable.model,
                    seed: self.settings.seed,
                    probe: !self.settings.no_probe,
                    limit: planned.limit,
                };
                if comes_before(target) {
                    let first = FirstBoot {
                        settings: settings.clone(),
                        // One for all perturbations, unless they are of the machine.
                        boot: assembly.boot(match assembly.has_cmdline() {
                            true => WORD,
                            false => "",
                        })?,
                        parts,
                        manifest: &manifest,
                        dir,
                        patience: most,
                    };
                    let left = self
                        .first_boots
                        .left_by(first, &self.cache, self.progress)?;
                    if let Some(attached) = &mut settings.attached {
                        attached.patches = left;
                    }
                }
                match self.emulate(planned, settings, boot, manifest, timeout, wait)? {
                    Attempt::Done(run) => *run,
                    not_made => return Ok(not_made),
                }
            }
            How::Board(spec) => {
                let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
                let board = board.get_or_insert_with(|| {
                    Board::new((**spec).clone(), target.dir.clone(), self.stop.clone())
                });
                self.install(planned, spec)?;
                bootlap_lab::boot(board, dir, manifest, &hints, timeout)?
            }
        };
        if self.stop.load(Ordering::Relaxed) {
            let why = "interrupted; start it again in the same way, and it goes on from here";
            return Err(LabError::Machine(why.into()));
        }
        check(&mut run, target)?;
        Ok(Attempt::Done(Box::new(run)))
    }

    /// Boots in QEMU, unless that boot is kept.
    fn emulate(
        &self,
        planned: &Planned<'_>,
        settings: QemuSettings,
        boot: Boot,
        manifest: Manifest,
        patience: Duration,
        wait: Wait,
    ) -> Result<Attempt, LabError> {
        let hints = hints(&planned.bootable.target);
        let places = settings.places.clone();
        let mut machine = Qemu::new(settings, boot);
        let inputs = machine.inputs(&manifest.ready_pattern);
        let wanted = |manifest, inputs| Wanted {
            inputs,
            dir: &planned.dir,
            manifest,
            places: &places,
            times: planned.times,
            patience,
            limit: planned.limit,
        };
        let mut make = |manifest| {
            if let (Some(runner), Some(inputs)) = (&self.runner, &inputs) {
                return runner.make(&wanted(manifest, inputs), &machine, self.progress);
            }
            let run = bootlap_lab::boot(&mut machine, &planned.dir, manifest, &hints, patience)?;
            Ok(Made {
                run,
                host_files: machine.host_files(),
                node: node(),
            })
        };
        match (&self.keeper, &inputs) {
            (Some(keeper), Some(inputs)) => {
                keeper.boot(wanted(manifest, inputs), wait, self.progress, make)
            }
            _ => Ok(Attempt::Done(Box::new(make(manifest)?.run))),
        }
    }

    /// Puts a variant onto the board, unless it is there.
    fn install(&self, planned: &Planned<'_>, spec: &BoardSpec) -> Result<(), LabError> {
        let Some(command) = &spec.install else {
            return Ok(());
        };
        let target = &planned.bootable.target;
        let wanted = target.sha256();
        let mut installed = self
            .installed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if *installed == Some(wanted.clone()) {
            return Ok(());
        }
        *installed = None;
        // SESSION/VARIANT/PERTURBATION
        let mut above = planned.dir.ancestors().skip(1);
        let variant = above.next().and_then(Path::file_name).unwrap_or_default();
        let session = above.next().unwrap_or(Path::new("."));
        let folder = session.join("targets").join(variant);
        if !folder.exists() {
            target.write_to(&folder)?;
        }
        let variant = variant.to_string_lossy();
        bootlap_lab::install(command, &target.dir, &folder, &variant, &self.stop)?;
        *installed = Some(wanted);
        Ok(())
    }

    /// The board whose time a target is booted in; `None` in any other time.
    fn model(&self, target: &Target) -> Result<Option<Model>, Failure> {
        if self.mode_for(target) != Mode::Modelled {
            return Ok(None);
        }
        let missing = || {
            let name = &target.spec.name;
            let why = format!("{name} has no [board] whose time could be modelled");
            Failure::new(Exit::Usage, why).hint(
                "describe the board in target.toml, or let `bootlap calibrate` do it \
                 (docs/modelled-time.md); without --modelled the time is simulated",
            )
        };
        let board = target.board.as_ref().ok_or_else(missing)?;
        if self.settings.no_probe {
            let why = "modelled time is made by bootlap's probe";
            return Err(Failure::new(Exit::Usage, why).hint("leave out --no-probe"));
        }
        Ok(Some(Model::of(board)))
    }

    /// Boots all that is planned, side by side where that changes nothing; the
    /// runs in the order of the plan.
    pub fn batch(&self, what: &str, plan: &[Planned<'_>]) -> Result<Vec<Run>, Failure> {
        let Some(first) = plan.first() else {
            return Ok(Vec::new());
        };
        let mode = first.bootable.mode();
        self.progress.count(what, plan.len());
        let board = Mutex::new(None);
        let boot = |planned: &Planned<'_>, wait| self.boot(planned, wait, &board);
        let done = || self.progress.one_done();
        let runs = experiment::run(plan, self.at_once(mode), &boot, &done);
        let board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Whatever happened, the board is switched off.
        let off = board.map_or(Ok(()), |board: Board| board.finish());
        let runs = runs?;
        off?;
        let wanted = runs.len();
        let runs: Vec<Run> = runs.into_iter().flatten().collect();
        match self.settings.keeping.shard {
            Some(shard) if runs.len() < wanted => Err(share_is_done(shard, runs.len(), wanted)),
            _ => Ok(runs),
        }
    }

    /// Boots that may run side by side: simulated time does not depend on what else the
    /// host does.
    pub(crate) fn at_once(&self, mode: Mode) -> NonZeroUsize {
        let asked = self.settings.at_once;
        match mode {
            Mode::Sim | Mode::Modelled if self.runner.is_some() => asked.unwrap_or(ELSEWHERE),
            Mode::Sim | Mode::Modelled => {
                let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
                asked.unwrap_or_else(cores)
            }
            Mode::Plain | Mode::Board => NonZeroUsize::MIN,
        }
    }

    /// Whether the user has said how long to wait for ready.
    pub(crate) fn waits_as_told(&self) -> bool {
        self.settings.timeout.is_some()
    }

    /// How long to wait for ready.
    pub fn timeout(&self, target: &Target) -> Duration {
        let seconds = self.settings.timeout.unwrap_or(target.spec.ready.timeout_s);
        Duration::from_secs(seconds)
    }

    /// What is known of a boot before it begins.
    pub fn manifest(&self, target: &Target, parts: &[PartHash], mode: Mode) -> Manifest {
        let spec = &target.spec;
        let marks = spec
            .mark
            .iter()
            .map(|m| (m.name.clone(), m.pattern.clone()));
        Manifest {
            target_path: target.typed().display().to_string(),
            target_sha256: target.sha256(),
            ready_pattern: spec.ready.pattern.clone(),
            application_pattern: spec.ready.application.clone(),
            marks: marks.collect(),
            edits: target.edits.clone(),
            parts: parts.to_vec(),
            seed: self.settings.seed,
            board: target.board.clone(),
            ..Manifest::new(&spec.name, mode)
        }
    }
}

/// The end of one share of an experiment: no failure, but nothing more can be said here.
fn share_is_done(shard: Shard, made: usize, wanted: usize) -> Failure {
    let why = format!("shard {shard} is done: {made} of {wanted} boots are in the store");
    Failure::new(Exit::Ok, why).hint(
        "put the stores of all shards together (`bootlap store merge DIR...`), and give the \
         same command without --shard",
    )
}

/// Runs the target's own check of a boot, if it has one.
pub fn check(run: &mut Run, target: &Target) -> Result<(), LabError> {
    if let Some(command) = &target.spec.ready.check {
        bootlap_lab::check(run, command, &target.dir)?;
    }
    Ok(())
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
        "say in machine.install how a changed target gets onto it (docs/boards.md); or let \
         `bootlap apply {} RECIPE -o DIR`\n         write down what to change, do that by hand, and \
         compare `bootlap boot` of before and after",
        shell_word(target.typed().display())
    ))
}

/// A folder below `dir` named by the time; unlike any that is there.
pub fn new_session(dir: &Path) -> PathBuf {
    let now = bootlap_lab::clock::now().to_zoned(jiff::tz::TimeZone::system());
    let now = now.strftime("%Y-%m-%d_%H-%M-%S").to_string();
    (1..)
        .map(|n| match n {
            1 => dir.join(&now),
            n => dir.join(format!("{now}-{n}")),
        })
        .find(|dir| !dir.exists())
        .expect("there are endless names")
}

/// The same, made at once, so that another bootlap that begins in the same second
/// gets another. If it cannot be made, what writes into it says why.
fn claim(family: &Path) -> PathBuf {
    let _ = fs::create_dir_all(family);
    loop {
        let dir = new_session(family);
        match fs::create_dir(&dir) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            _ => return dir,
        }
    }
}

/// Reads a target's description.
pub fn load(path: &Path) -> Result<Target, Failure> {
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

/// What the target says of its console.
pub fn hints(target: &Target) -> Hints {
    let spec = &target.spec;
    evidence::hints(
        Some(&spec.ready.pattern),
        spec.ready.application.as_deref(),
        spec.mark
            .iter()
            .map(|m| (m.name.as_str(), m.pattern.as_str())),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread;

    use super::claim;

    #[test]
    fn all_who_begin_in_the_same_second_have_folders_of_their_own() {
        let runs = tempfile::tempdir().unwrap();
        let family = runs.path().join("kiosk");
        let claims: Vec<_> = thread::scope(|scope| {
            let one = || (0..10).map(|_| claim(&family)).collect::<Vec<_>>();
            let all: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
            all.into_iter().flat_map(|t| t.join().unwrap()).collect()
        });
        assert!(claims.iter().all(|dir| dir.is_dir()));
        assert_eq!(claims.iter().collect::<BTreeSet<_>>().len(), 80);
    }
}
