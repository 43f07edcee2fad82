//! What a first boot leaves on a target's disk, for the boots that are measured.
//!
//! Systems do things once, at their first boot: they make keys and ids, grow a file system, fill
//! caches, or make an image that later starts come from. A target with `disk.state =
//! "after-first-boot"` is booted until it switches itself off or restarts. What it wrote is kept,
//! by what that boot depends on, and the others find it on their disk.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bootlap_lab::{LabError, Limit, Manifest, Outcome, Qemu, QemuSettings};
use bootlap_product::{
    Boot, Cache, DiskState, PartHash, Patch, Target, TargetError, fingerprint, sha256,
};
use bootlap_sources::Hints;

use crate::progress::Progress;

/// On the kernel's command line it tells user space that this is one, where the machine gives the
/// kernel its words.
pub(crate) const WORD: &str = "bootlap.first-boot";
/// The folder in a run's that has the first boot.
const FOLDER: &str = "first-boot";
/// One that has not ended by itself after so long of its own time, ns, does not.
const LIMIT_NS: i64 = 1_800_000_000_000;
/// The target's key that asks for one.
const KEY: &str = "disk.state";

/// Those that are being made: equal ones are made once.
#[derive(Default)]
pub(crate) struct FirstBoots(Mutex<HashMap<String, Arc<Mutex<()>>>>);

/// A first boot.
pub(crate) struct FirstBoot<'a> {
    pub(crate) settings: QemuSettings,
    pub(crate) boot: Boot,
    /// What it is made of, with the hash of the disk.
    pub(crate) parts: &'a [PartHash],
    /// Of the boot that it comes before.
    pub(crate) manifest: &'a Manifest,
    /// Of the same.
    pub(crate) dir: &'a Path,
    pub(crate) patience: Duration,
}

/// Whether a target's boots come after a first one.
pub(crate) fn comes_before(target: &Target) -> bool {
    let disk = target.spec.disk.as_ref();
    disk.is_some_and(|disk| disk.state == DiskState::AfterFirstBoot)
}

impl FirstBoots {
    /// In what the disk differs from the image after that boot.
    pub(crate) fn left_by(
        &self,
        first: FirstBoot<'_>,
        cache: &Cache,
        progress: &dyn Progress,
    ) -> Result<Vec<Patch>, LabError> {
        let FirstBoot {
            settings,
            boot,
            parts,
            manifest,
            dir,
            patience,
        } = first;
        let files = settings.files();
        let settings = QemuSettings {
            limit: Some(Limit::at(LIMIT_NS)),
            ..settings
        };
        let mut machine = Qemu::new(settings, boot);
        // Its end is no pattern.
        let inputs = machine.inputs("").ok_or_else(|| {
            wrong(
                "what a first boot leaves can be kept only where the guest's time is counted and \
                 nothing outside reaches it: leave out --plain, --no-probe, and networks in \
                 machine.args",
            )
        })?;
        let mut known = inputs.key();
        for part in parts {
            known += &part.sha256;
        }
        for (_, path) in &files {
            known += &fingerprint(path)?;
        }
        let key = sha256(known.as_bytes());
        let own = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(key.clone()).or_default())
        };
        let _made_once = own.lock().unwrap_or_else(PoisonError::into_inner);
        let packed = cache.bytes("first-boots", &key, || {
            progress.step("booting once for what a first boot leaves on the disk");
            let manifest = Manifest {
                ready_pattern: String::new(),
                append: String::new(),
                ..manifest.begun_here()
            };
            let dir = dir.join(FOLDER);
            let left = left(&mut machine, manifest, &dir, patience);
            left.map_err(|e| TargetError::artefact(KEY, e))
        })?;
        Patch::unpack(&packed)
            .ok_or_else(|| wrong("what was kept of the first boot is damaged; try again"))
    }
}

/// Boots, and says what is different on the disk then.
fn left(
    machine: &mut Qemu,
    manifest: Manifest,
    dir: &Path,
    patience: Duration,
) -> Result<Vec<u8>, LabError> {
    let run = bootlap_lab::boot(machine, dir, manifest, &Hints::default(), patience)?;
    let why = match &run.manifest.outcome {
        Some(Outcome::NeverReady(why)) => why.as_str(),
        _ => "it was cut short",
    };
    if !Qemu::ended_by_itself(why) {
        return Err(LabError::Machine(format!(
            "a first boot is over when the machine switches itself off or restarts, and this one \
             did not: {why}; `bootlap show {}` has what it printed",
            dir.display()
        )));
    }
    let left = machine.left_on_disk();
    let left = left.map_err(|e| LabError::Machine(format!("cannot read the disk again: {e}")))?;
    let left = left.ok_or_else(|| LabError::Machine("no disk was attached to it".into()))?;
    Ok(Patch::pack(&left))
}

fn wrong(why: &str) -> LabError {
    TargetError::artefact(KEY, why).into()
}
