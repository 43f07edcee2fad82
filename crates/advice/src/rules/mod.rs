//! The rule catalogue, one file per family.
//!
//! A rule is its page and a function: the doc comment in front of it is what
//! `bootlap rules NAME` and `docs/rules.md` show, so a rule cannot be without
//! one. Its function looks at a [`Boot`] and returns what it found.

mod board_firmware;
mod bootloader;
mod compression;
mod console;
mod devices;
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
mod root_wait;
mod script_files;
mod scripts;
mod security;
mod seen;
mod stages;
mod systemd;
mod systemd_devices;
mod systemd_manager;
mod systemd_network;
mod systemd_services;
mod systemd_storage;
mod uboot_config;
mod uboot_devices;
mod uboot_images;
mod units;

use std::cmp::Reverse;

use crate::{Boot, Finding, SavingKind};

/// One rule of the catalogue.
pub struct Rule {
    /// Its name, e.g. `uboot-bootdelay`.
    pub name: &'static str,
    /// What it is about.
    pub layer: Layer,
    /// The lines of its page, in Markdown; the first says what it looks for.
    pub page: &'static [&'static str],
    check: fn(&Boot<'_>) -> Vec<Finding>,
}

/// What a rule is about, in the order in which the references work: what lies
/// nearest to the product and costs least risk comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The application and what it is made of.
    Application,
    /// Start-up scripts, service managers, daemons.
    Userspace,
    /// The root filesystem and how it is stored.
    Filesystem,
    /// The initramfs.
    Initramfs,
    /// The kernel, its configuration and command line.
    Kernel,
    /// The boot loader.
    Bootloader,
    /// What runs before the boot loader.
    Firmware,
}

impl Layer {
    /// The word that people see.
    pub fn text(self) -> &'static str {
        match self {
            Layer::Application => "application",
            Layer::Userspace => "user space",
            Layer::Filesystem => "filesystem",
            Layer::Initramfs => "initramfs",
            Layer::Kernel => "kernel",
            Layer::Bootloader => "boot loader",
            Layer::Firmware => "firmware",
        }
    }
}

impl Rule {
    /// What it looks for, in one line.
    pub fn title(&self) -> &'static str {
        let first = self.page.first().map_or("", |line| line.trim());
        first.strip_suffix('.').unwrap_or(first)
    }

    /// Looks at a boot; what saves too little to be worth a line is left out.
    pub fn check(&self, boot: &Boot<'_>) -> Vec<Finding> {
        let mut found = (self.check)(boot);
        found.retain(|f| f.saving.kind == SavingKind::Unknown || f.saving.ns >= WORTH_IT_NS);
        for finding in &mut found {
            self.name.clone_into(&mut finding.rule);
        }
        found
    }
}

/// A rule: its page, `STATIC = "name", Layer, function`. The function returns
/// an option or a list of findings.
macro_rules! rule {
    ($(#[doc = $page:literal])+ $id:ident = $name:literal, $layer:ident, $check:path) => {
        $(#[doc = $page])+
        static $id: $crate::Rule = $crate::Rule {
            name: $name,
            layer: $crate::Layer::$layer,
            page: &[$($page),+],
            check: |boot| $check(boot).into_iter().collect(),
        };
    };
}
use rule;

/// The families, in the order of a boot.
const FAMILIES: &[&[&Rule]] = &[
    firmware::RULES,
    board_firmware::RULES,
    pc_loaders::RULES,
    uboot_devices::RULES,
    uboot_config::RULES,
    bootloader::RULES,
    uboot_images::RULES,
    compression::RULES,
    kernel::RULES,
    kernel_debug::RULES,
    kernel_image::RULES,
    kernel_tests::RULES,
    initcalls::RULES,
    legacy::RULES,
    devices::RULES,
    probing::RULES,
    disks::RULES,
    early::RULES,
    root_wait::RULES,
    security::RULES,
    messages::RULES,
    console::RULES,
    initramfs::RULES,
    filesystems::RULES,
    scripts::RULES,
    script_files::RULES,
    programs::RULES,
    systemd::RULES,
    systemd_manager::RULES,
    systemd_devices::RULES,
    systemd_storage::RULES,
    systemd_network::RULES,
    systemd_services::RULES,
];

/// All rules, in the order of a boot.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().copied().flatten().copied()
}

/// The rule of this name.
pub fn find(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.name == name)
}

/// Less than this is not worth a line, ns.
const WORTH_IT_NS: i64 = 1_000_000;

/// Everything that the rules find, the largest saving first. What only a real
/// board would show comes after what this boot shows, and last what nobody can
/// say without trying; among equals, what lies nearest to the product is first.
pub fn advise(boot: &Boot<'_>) -> Vec<Finding> {
    let mut findings: Vec<(Layer, Finding)> = Vec::new();
    for rule in all() {
        findings.extend(rule.check(boot).into_iter().map(|f| (rule.layer, f)));
    }
    findings.sort_by_key(|(layer, f)| (f.saving.kind, Reverse(f.saving.ns), *layer));
    findings.into_iter().map(|(_, finding)| finding).collect()
}
