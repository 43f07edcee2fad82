//! How targets are booted: what all commands that boot have in common.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use bootlap_engine::{
    Elsewhere, Exit, Failure, Keeping, Lab, STORE, STORE_BYTES, Settings, Shard, Sharing,
};
use bootlap_lab::Mode;
use clap::Args as ClapArgs;

use super::store::size;
use crate::ui::Ui;

/// How targets are booted.
#[derive(ClapArgs, Clone)]
pub(crate) struct LabArgs {
    /// Use real time instead of simulated time (noisy).
    #[arg(long)]
    pub(crate) plain: bool,
    /// Boot in the time of the board that the target describes: the default if it
    /// describes one.
    #[arg(long, conflicts_with = "plain")]
    pub(crate) modelled: bool,
    /// Boot in simulated time also if the target describes a board.
    #[arg(long, conflicts_with_all = ["plain", "modelled"])]
    pub(crate) simulated: bool,
    /// The folder for runs.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Seconds of real time to wait for ready, instead of the target's.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// Boot without bootlap's probe; the host stamps the console.
    #[arg(long)]
    pub(crate) no_probe: bool,
    /// The folder for packages and compressed images [default: $BOOTLAP_CACHE,
    /// or bootlap in the user's cache folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) kept: KeptArgs,
    #[command(flatten)]
    pub(crate) spread: SpreadArgs,
}

/// Where boots are made.
#[derive(ClapArgs, Clone)]
#[command(next_help_heading = "Many machines")]
pub(crate) struct SpreadArgs {
    /// Make boots through a command that runs another one on some machine, such as `srun -n1`
    /// or `ssh HOST`; the store has to be a folder that both see.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) on: Option<String>,
    /// So many boots at once [default: one for each processor; 16 with --on].
    #[arg(short = 'j', long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Make the K-th of N shares of the boots, and stop.
    #[arg(long, value_name = "K/N", conflicts_with = "fresh")]
    pub(crate) shard: Option<Shard>,
}

/// Which boots need not be made.
#[derive(ClapArgs, Clone)]
#[command(next_help_heading = "Kept boots")]
pub(crate) struct KeptArgs {
    /// Make each boot, also if it was made before, and compare.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// The folder of kept boots, or `none` [default: $BOOTLAP_STORE, or store in the cache].
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Keep the store at this size [default: 2GB].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) store_size: Option<u64>,
    /// Make one kept boot in N again, to see that it is the same; 0: none.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) recheck: u32,
    /// A store that others share: a folder, s3://, gs://, az:// or https:// [default:
    /// $BOOTLAP_SHARE].
    #[arg(long, value_name = "PLACE")]
    pub(crate) share: Option<String>,
    /// Take boots from the shared store, and put none there.
    #[arg(long)]
    pub(crate) no_push: bool,
    /// Sign the boots that are put there with this SSH key.
    #[arg(long, value_name = "KEY")]
    pub(crate) sign: Option<PathBuf>,
    /// Take only boots that are signed by those in this file (ssh-keygen's ALLOWED SIGNERS).
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: Option<PathBuf>,
}

impl KeptArgs {
    /// The shared store that was asked for.
    fn sharing(&self) -> Option<Sharing> {
        let from_env = || {
            std::env::var("BOOTLAP_SHARE")
                .ok()
                .filter(|v| !v.is_empty())
        };
        let place = self.share.clone().or_else(from_env)?;
        let place = match place.contains("://") {
            true => place,
            // Other machines have other current folders.
            false => std::path::absolute(&place).map_or(place, |p| p.display().to_string()),
        };
        Some(Sharing {
            place,
            push: !self.no_push,
            sign: self.sign.clone(),
            trust: self.trust.clone(),
        })
    }
}

/// The folder of kept boots that was asked for, or the one in the cache; `None`: boots
/// are not kept.
pub(crate) fn store(asked: Option<&Path>, cache: &Path) -> Option<PathBuf> {
    let from_env = || std::env::var_os("BOOTLAP_STORE").filter(|v| !v.is_empty());
    let asked = asked.map(Path::to_owned);
    let store = asked.or_else(|| from_env().map(PathBuf::from));
    let store = store.unwrap_or_else(|| cache.join(STORE));
    (store != Path::new("none")).then_some(store)
}

impl LabArgs {
    /// The lab that is asked for.
    ///
    /// # Errors
    /// If boots are to be spread that are not kept.
    pub(crate) fn lab<'u>(&self, ui: &'u Ui) -> Result<Lab<'u>, Failure> {
        let cache = cache(self.cache.as_deref());
        let store = store(self.kept.store.as_deref(), &cache);
        let spread = &self.spread;
        if store.is_none() && (spread.on.is_some() || spread.shard.is_some()) {
            let why = "boots of many machines meet in the store, and there is none";
            return Err(Failure::new(Exit::Usage, why).hint("name a folder with --store"));
        }
        let program = || std::env::current_exe().unwrap_or_else(|_| "bootlap".into());
        let settings = Settings {
            mode: match () {
                () if self.modelled => Some(Mode::Modelled),
                () if self.simulated => Some(Mode::Sim),
                () if self.plain => Some(Mode::Plain),
                () => None,
            },
            runs: self.runs.clone(),
            seed: self.seed,
            timeout: self.timeout,
            no_probe: self.no_probe,
            store,
            store_bytes: self.kept.store_size.unwrap_or(STORE_BYTES),
            keeping: Keeping {
                fresh: self.kept.fresh,
                recheck: self.kept.recheck,
                shard: spread.shard,
            },
            sharing: self.kept.sharing(),
            elsewhere: spread.on.clone().map(|command| Elsewhere {
                command,
                program: program(),
            }),
            at_once: spread.jobs,
            cache,
        };
        Ok(Lab::new(settings, ui))
    }
}

/// The cache that was asked for, or the user's.
pub(crate) fn cache(asked: Option<&Path>) -> PathBuf {
    let from_env = |name| std::env::var_os(name).filter(|v| !v.is_empty());
    asked
        .map(Path::to_owned)
        .or_else(|| from_env("BOOTLAP_CACHE").map(PathBuf::from))
        .or_else(|| from_env("XDG_CACHE_HOME").map(|d| PathBuf::from(d).join("bootlap")))
        .or_else(|| from_env("HOME").map(|d| PathBuf::from(d).join(".cache/bootlap")))
        .unwrap_or_else(|| PathBuf::from(".cache/bootlap"))
}
