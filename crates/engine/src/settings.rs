//! How targets are booted: what the person asked for.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use bootlap_lab::Mode;

use crate::elsewhere::Elsewhere;
use crate::kept::Keeping;
use crate::shared::Sharing;

/// How targets are booted.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The time of emulated targets; `None`: modelled if a target describes a board,
    /// else simulated.
    pub mode: Option<Mode>,
    /// Where runs are recorded.
    pub runs: PathBuf,
    /// The random seed.
    pub seed: u64,
    /// Seconds of the host's time to wait for ready, instead of the target's.
    pub timeout: Option<u64>,
    /// Boot without bootlap's probe; the host stamps the console.
    pub no_probe: bool,
    /// Where packages and compressed images are kept.
    pub cache: PathBuf,
    /// Where boots are kept; `None`: nowhere.
    pub store: Option<PathBuf>,
    /// The store is kept at this size, bytes.
    pub store_bytes: u64,
    /// How kept boots are used.
    pub keeping: Keeping,
    /// The store that others share.
    pub sharing: Option<Sharing>,
    /// Where boots are made, if not here.
    pub elsewhere: Option<Elsewhere>,
    /// How many boots are made at once; else as many as there are processors here, and 16
    /// elsewhere.
    pub at_once: Option<NonZeroUsize>,
}

/// So many boots are asked for at once elsewhere: what machines there are is not known
/// here, and a queue is no loss.
pub(crate) const ELSEWHERE: NonZeroUsize = NonZeroUsize::new(16).expect("it is not 0");

/// The size that a store is kept at, if nobody says: some 30 000 boots.
pub const STORE_BYTES: u64 = 2 << 30;

impl Settings {
    /// Simulated time, with runs and cache in these folders, where boots are kept, too.
    pub fn new(runs: impl Into<PathBuf>, cache: impl Into<PathBuf>) -> Self {
        let cache = cache.into();
        Self {
            mode: Some(Mode::Sim),
            runs: runs.into(),
            seed: 1,
            timeout: None,
            no_probe: false,
            store: Some(cache.join(STORE)),
            cache,
            store_bytes: STORE_BYTES,
            keeping: Keeping::default(),
            sharing: None,
            elsewhere: None,
            at_once: None,
        }
    }
}

/// The store's folder in the cache.
pub const STORE: &str = "store";
