//! What is booted: a target with all that it is made of, and one boot of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bootlap_lab::experiment::plain_name;
use bootlap_lab::{Limit, Mode, Model};
use bootlap_product::{Assembly, Board as BoardSpec, Parts, Qemu as QemuSpec, Target};

/// A target that is ready to boot.
#[derive(Clone)]
pub struct Bootable {
    /// Its description.
    pub target: Target,
    /// What it is made of: what recipes leave as it is, many share.
    pub parts: Arc<Parts>,
    pub(crate) how: How,
    /// How it is measured.
    pub(crate) mode: Mode,
    /// The board whose time it is booted in, in modelled time.
    pub(crate) model: Option<Model>,
}

impl Bootable {
    /// How it is measured.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether words can be added to its kernel's command line.
    pub fn takes_words(&self) -> bool {
        match &self.how {
            How::Qemu(_, assembly) => assembly.has_cmdline(),
            How::Board(_) => false,
        }
    }

    /// The same for a boot that prints much more than others do, to tell what else takes time:
    /// what it prints takes none.
    #[must_use]
    pub fn explaining(self) -> Self {
        Self {
            model: self.model.map(Model::with_fast_console),
            ..self
        }
    }

    /// The same, measured by its instructions alone.
    #[must_use]
    pub fn simulated(self) -> Self {
        Self {
            mode: Mode::Sim,
            model: None,
            ..self
        }
    }
}

/// What boots it.
#[derive(Clone)]
pub(crate) enum How {
    /// QEMU is given the parts, put together.
    Qemu(Box<QemuSpec>, Box<Assembly>),
    /// The board's owner has said how to put parts onto it.
    Board(Box<BoardSpec>),
}

/// A boot to be done.
pub struct Planned<'b> {
    /// What is booted.
    pub bootable: &'b Bootable,
    /// The folder of the run.
    pub dir: PathBuf,
    /// The perturbation.
    pub perturbation: u32,
    /// More words on the kernel's command line.
    pub append: &'b str,
    /// How long to wait for ready at most; else as long as the target says.
    pub patience: Option<Duration>,
    /// When it is given up, where the guest's time is counted.
    pub limit: Option<Limit>,
    /// How often this boot must have been made before a kept one is taken for it.
    pub times: usize,
}

impl<'b> Planned<'b> {
    /// One perturbation of the variant called `name`, in a folder of its own.
    pub fn perturbed(bootable: &'b Bootable, dir: &Path, name: &str, perturbation: u32) -> Self {
        let name: String = plain_name(name).chars().take(100).collect();
        Self {
            bootable,
            dir: dir.join(name).join(perturbation.to_string()),
            perturbation,
            append: "",
            patience: None,
            limit: None,
            times: 1,
        }
    }
}

/// The words that move code and data about without changing what is done: a
/// parameter that nobody reads, of varying length. Kernels take lines of 1024
/// to 4096 bytes, so lengths repeat: 449 is a prime, so not before that many.
pub(crate) fn padding(perturbation: u32) -> String {
    match perturbation {
        0 => String::new(),
        n => format!("bootlap.layout={}", "x".repeat((7 * n as usize) % 449)),
    }
}

/// The same where the command line is on a disk: more memory by some MiB, from whose end
/// firmware, boot loaders and the kernel take what they need.
pub(crate) fn more_memory_mb(perturbation: u32) -> u32 {
    2 * (perturbation % 449)
}
