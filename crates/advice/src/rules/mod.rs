//! The rule catalogue, one file per family.

mod bootloader;
mod compression;
mod console;
mod kernel;

use std::cmp::Reverse;

use crate::{Boot, Finding, SavingKind};

/// What a rule is.
pub struct RuleMeta {
    /// Its name.
    pub name: &'static str,
    /// What it looks for, in one line.
    pub title: &'static str,
}

/// One rule of the catalogue.
pub trait Rule: Sync {
    /// What it is.
    fn meta(&self) -> &'static RuleMeta;
    /// Looks at a boot.
    fn check(&self, boot: &Boot<'_>, out: &mut Vec<Finding>);
}

/// All rules, in the order of a boot.
pub fn all() -> &'static [&'static dyn Rule] {
    &[
        &bootloader::AutobootWait,
        &bootloader::HashCheck,
        &compression::KernelCompression,
        &compression::InitramfsCompression,
        &kernel::CryptoTests,
        &kernel::DelayLoop,
        &console::KernelMessages,
        &console::BootloaderMessages,
    ]
}

/// Everything that the rules find, the largest saving first; what only a real
/// board would show comes after what this boot shows.
pub fn advise(boot: &Boot<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in all() {
        rule.check(boot, &mut findings);
    }
    findings.sort_by_key(|f| {
        let predicted = f.saving.kind == SavingKind::PredictedBoard;
        (predicted, Reverse(f.saving.ns))
    });
    findings
}
