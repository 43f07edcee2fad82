//! The rules: what each looks for in a boot, one file per family.
//!
//! A rule is a section of `docs/rules.md` and a function with its name in a family's
//! `checks!`. What a rule says of itself, that page says once: a finding takes its
//! title and its fix from there, unless the function knows better.

mod pages;

mod accesses;
mod android;
mod android_init;
mod android_properties;
mod board_firmware;
mod bootloader;
mod compression;
mod console;
mod devices;
mod disk_waits;
mod disks;
mod early;
mod filesystems;
mod firmware;
mod initcalls;
mod initramfs;
mod kernel;
mod kernel_debug;
mod kernel_image;
mod kernel_tests;
mod legacy;
mod messages;
mod pc_loaders;
mod probing;
mod programs;
mod python;
mod resume;
mod root_wait;
mod screens;
mod script_files;
mod script_folder;
mod scripts;
mod security;
mod seen;
mod slow_units;
mod stages;
mod systemd;
mod systemd_manager;
mod uboot_config;
mod uboot_devices;
mod uboot_images;
mod units;

use std::cmp::Reverse;
use std::sync::LazyLock;

use crate::{Boot, Finding, SavingKind};

pub use pages::{Layer, Page};
pub(crate) use seen::ms;

/// One rule of the catalogue.
pub struct Rule {
    /// Its name, e.g. `uboot-bootdelay`.
    pub name: &'static str,
    /// What the guide says of it.
    pub page: Page,
    check: Check,
}

/// What a rule's function finds.
type Check = fn(&Boot<'_>) -> Vec<Finding>;

impl Rule {
    /// Looks at a boot; what saves too little to be worth a line is left out.
    pub fn check(&self, boot: &Boot<'_>) -> Vec<Finding> {
        let mut found = (self.check)(boot);
        for finding in &mut found {
            self.name.clone_into(&mut finding.rule);
            finding.without_printing(boot);
        }
        found.retain(|f| f.saving.kind == SavingKind::Unknown || f.saving.ns >= WORTH_IT_NS);
        for finding in &mut found {
            if finding.title.is_empty() {
                finding.title = self.page.finding_title();
            }
            if finding.fix.is_empty() {
                finding.fix = self.page.fix();
            }
        }
        found
    }
}

/// The checks of a family: the rule's name, and a function that returns an option
/// or a list of findings.
macro_rules! checks {
    ($($name:literal => $check:expr,)+) => {
        pub(super) const CHECKS: &[(&str, $crate::rules::Check)] =
            &[$(($name, |boot| ($check)(boot).into_iter().collect())),+];
    };
}
use checks;

/// The families, in the order of a boot.
const FAMILIES: &[&[(&str, Check)]] = &[
    accesses::CHECKS,
    android_init::CHECKS,
    android_properties::CHECKS,
    android::CHECKS,
    firmware::CHECKS,
    board_firmware::CHECKS,
    pc_loaders::CHECKS,
    uboot_devices::CHECKS,
    uboot_config::CHECKS,
    bootloader::CHECKS,
    uboot_images::CHECKS,
    compression::CHECKS,
    kernel::CHECKS,
    kernel_debug::CHECKS,
    kernel_image::CHECKS,
    kernel_tests::CHECKS,
    initcalls::CHECKS,
    legacy::CHECKS,
    devices::CHECKS,
    probing::CHECKS,
    disk_waits::CHECKS,
    disks::CHECKS,
    early::CHECKS,
    root_wait::CHECKS,
    security::CHECKS,
    messages::CHECKS,
    screens::CHECKS,
    console::CHECKS,
    initramfs::CHECKS,
    filesystems::CHECKS,
    scripts::CHECKS,
    script_folder::CHECKS,
    script_files::CHECKS,
    programs::CHECKS,
    python::CHECKS,
    systemd::CHECKS,
    systemd_manager::CHECKS,
    slow_units::CHECKS,
    resume::CHECKS,
];

/// All rules, in the order of a boot.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    static ALL: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let pages = pages::all();
        let checks = FAMILIES.iter().copied().flatten();
        let rules = checks.map(|(name, check)| Rule {
            name,
            page: *pages
                .get(name)
                .expect("a test looks for the page of each rule"),
            check: *check,
        });
        rules.collect()
    });
    ALL.iter()
}

/// The rule of this name.
pub fn find(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.name == name)
}

/// Less than this is not worth a line, ns.
const WORTH_IT_NS: i64 = 1_000_000;

/// Everything that the rules find, the largest first: by what it saves on the clock of this boot,
/// or, where nobody can say without trying, by how long what it is about takes. What only a real
/// board would show comes after that, and last what has no time at all. Among equals, what is
/// known is before what is to be tried, and what lies nearest to the product is first.
pub fn advise(boot: &Boot<'_>) -> Vec<Finding> {
    let mut findings: Vec<(Layer, Finding)> = Vec::new();
    for rule in all() {
        findings.extend(rule.check(boot).into_iter().map(|f| (rule.page.layer, f)));
    }
    findings.sort_by_key(|(layer, f)| {
        let clock = match f.saving.kind {
            SavingKind::Unknown if f.takes_ns > 0 => SavingKind::ThisBoot,
            kind => kind,
        };
        let size = f.saving.ns.max(f.takes_ns);
        (clock, Reverse(size), f.saving.kind, *layer)
    });
    findings.into_iter().map(|(_, finding)| finding).collect()
}
