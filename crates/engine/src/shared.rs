//! A store that a team shares, asked as long as it answers: one that does not costs the
//! boots that it would have saved, and nothing else.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use bootlap_store::{Share, Signer, Signers, Store, StoreError};

use crate::progress::Progress;

/// How a shared store is used.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// A folder, or a URL.
    pub place: String,
    /// Whether boots that are made here are put there.
    pub push: bool,
    /// The SSH key that signs them.
    pub sign: Option<PathBuf>,
    /// The file of allowed signers: boots of others are not taken.
    pub trust: Option<PathBuf>,
}

/// A shared store in use.
pub(crate) struct Shared {
    share: Share,
    pulls: Asked,
    pushes: Asked,
    /// The user was told of a boot that was left there.
    told: AtomicBool,
}

/// Whether it is asked any more.
struct Asked(AtomicBool);

impl Shared {
    pub(crate) fn new(sharing: &Sharing) -> Self {
        let signer = sharing.sign.as_ref().map(Signer::new);
        let signers = sharing.trust.as_ref().map(Signers::new);
        Self {
            share: Share::at(&sharing.place, signer, signers),
            pulls: Asked(AtomicBool::new(true)),
            pushes: Asked(AtomicBool::new(sharing.push)),
            told: AtomicBool::new(false),
        }
    }

    /// Takes over what is there under `key`; whether that is something.
    pub(crate) fn pull(&self, key: &str, store: &Store, progress: &dyn Progress) -> bool {
        let pull = || self.share.pull(key, store);
        let Some(pulled) = self.pulls.ask(pull, "taken from it", &self.share, progress) else {
            return false;
        };
        if let Some(why) = pulled.refused
            && !self.told.swap(true, Ordering::Relaxed)
        {
            progress.note(&format!(
                "bootlap: a boot of the shared store is not taken: {why}"
            ));
        }
        pulled.new > 0
    }

    /// Puts an entry there.
    pub(crate) fn push(&self, key: &str, path: &Path, store: &Store, progress: &dyn Progress) {
        let push = || self.share.push(key, path, store);
        let _ = self.pushes.ask(push, "put there", &self.share, progress);
    }
}

impl Asked {
    /// Asks, unless an answer failed before; says so once.
    fn ask<T>(
        &self,
        what: impl FnOnce() -> Result<T, StoreError>,
        how: &str,
        share: &Share,
        progress: &dyn Progress,
    ) -> Option<T> {
        if !self.0.load(Ordering::Relaxed) {
            return None;
        }
        match what() {
            Ok(answer) => Some(answer),
            Err(e) => {
                if self.0.swap(false, Ordering::Relaxed) {
                    let place = share.place();
                    progress.note(&format!(
                        "bootlap: goes on without the shared store {place}, and nothing more is \
                         {how}: {e}"
                    ));
                }
                None
            }
        }
    }
}
