//! What the steps change, sorted by what it means for a build.

use bootlap_artefact::arch::Arch;
use bootlap_artefact::compress::Compression;
use bootlap_artefact::hash::Hash;
use bootlap_artefact::kernel_image::KernelImage;
use bootlap_artefact::uboot_env::UbootEnv;
use bootlap_product::cmdline;
use bootlap_product::{How, Machine, Parts, Target, TargetError};
use bootlap_product::{Place, Spec, Unpacker};

use super::disk_root_change::DiskRoot;
use super::quote::{comment, slug};
use super::rootfs_change::RootfsChange;
use super::{Measured, Step};

/// One change of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A word of the command line came, or `--` and all after it.
    WordAdded(String),
    /// A word of the command line went.
    WordRemoved(String),
    /// A variable of the boot loader has this value, or is gone.
    Variable(String, Option<String>),
    /// How the boot loader checks what it reads.
    Hash(Hash),
    /// Where the kernel is loaded.
    Load(u64),
    /// There is no boot loader any more.
    NoBootloader,
    /// How the kernel is packed in the FIT.
    Kernel(Compression),
    /// What is started is inside the kernel's file, which would unpack itself.
    Unpacked(Unpacker),
    /// The kernel unpacks itself from this.
    UnpacksItself(Compression),
    /// How the initramfs is packed.
    Initramfs(Compression),
    /// The kernel is built with the initramfs inside.
    BuiltIn,
    /// Files of the initramfs; which, the rootfs changes say.
    Rootfs,
    /// Something on the disk, by its key, and its value: `disk.qcow2` carries it.
    Disk(String, String),
    /// Something else of `target.toml`, by its key: no file here carries it.
    Other(String),
}

/// A step with what it changes.
pub(super) struct StepChanges<'a> {
    pub(super) step: &'a Step,
    pub(super) changes: Vec<Change>,
    /// What it is worth, in words.
    pub(super) worth: String,
}

impl StepChanges<'_> {
    /// `recipe uboot-bootdelay saves 2.000 s (simulated; 95 %: 1.999 s to 2.001 s)`
    pub(super) fn line(&self) -> String {
        format!("recipe {}: {}", comment(&self.step.recipe), self.worth)
    }
}

/// Everything that a patch set is made of.
pub(super) struct Changes<'a> {
    /// The target's name, for files.
    pub(super) slug: String,
    pub(super) start: &'a Target,
    pub(super) tuned: Target,
    pub(super) steps: Vec<StepChanges<'a>>,
    pub(super) rootfs: Vec<RootfsChange<'a>>,
    /// The kernel's processor family, if the target has a kernel.
    pub(super) arch: Option<Arch>,
    /// Whether the FIT holds an initramfs.
    pub(super) has_initramfs: bool,
    /// The boot loader's environment as it is to be, `bootargs` included.
    pub(super) environment: Option<UbootEnv>,
    /// Variables that are to change or to go (no value).
    pub(super) variables: Vec<(String, String)>,
}

impl<'a> Changes<'a> {
    pub(super) fn of(
        start: &'a Target,
        parts: &'a Parts,
        tuned_parts: &'a Parts,
        steps: &'a [Step],
    ) -> Result<Self, TargetError> {
        let mut tuned = start.clone();
        let mut with_changes = Vec::new();
        for step in steps {
            let next = tuned.with(&step.edits)?;
            let changes = between(&tuned.spec, &next.spec, step);
            with_changes.push(StepChanges {
                step,
                changes,
                worth: worth(step.measured.as_ref(), &start.machine),
            });
            tuned = next;
        }
        let arch = match &tuned_parts.kernel {
            Some(kernel) => {
                let plain = kernel.unwrapped()?;
                KernelImage::describe(&plain).ok().and_then(|k| k.arch)
            }
            None => None,
        };
        let place = tuned.spec.initramfs.as_ref().map(|i| i.place);
        let environment = environment(&tuned.spec)?;
        let before = self::environment(&start.spec)?;
        let variables = match (&before, &environment) {
            (Some(before), Some(after)) => variables(before, after),
            _ => Vec::new(),
        };
        Ok(Self {
            slug: slug(&start.spec.name),
            start,
            steps: with_changes,
            // An initramfs that goes does not go file by file.
            rootfs: match tuned_parts.initramfs {
                Some(_) => RootfsChange::between(parts, tuned_parts),
                None => Vec::new(),
            },
            arch,
            has_initramfs: tuned_parts.initramfs.is_some() && place == Some(Place::Beside),
            environment,
            variables,
            tuned,
        })
    }

    /// What differs in the root on the disk.
    pub(super) fn disk_root(&self) -> DiskRoot<'_> {
        DiskRoot::between(&self.start.spec, &self.tuned.spec)
    }

    /// Whether any step made a change like this.
    pub(super) fn any(&self, like: impl Fn(&Change) -> bool) -> bool {
        self.steps.iter().flat_map(|s| &s.changes).any(like)
    }

    /// Steps with a change like this, in order.
    pub(super) fn steps_with(
        &self,
        like: impl Fn(&Change) -> bool + Copy,
    ) -> impl Iterator<Item = &StepChanges<'a>> {
        self.steps
            .iter()
            .filter(move |s| s.changes.iter().any(like))
    }

    /// The command line before and after, if it changed, or if who gives it to
    /// the kernel did.
    pub(super) fn cmdline(&self) -> Option<[&str; 2]> {
        let before = &self.start.spec.kernel.as_ref()?.cmdline;
        let after = &self.tuned.spec.kernel.as_ref()?.cmdline;
        let other = before != after || self.any(|c| *c == Change::NoBootloader);
        other.then_some([before, after])
    }

    /// Whether the image that the boot loader reads is another one.
    pub(super) fn image(&self) -> bool {
        let packs = |c: &Change| {
            matches!(
                c,
                Change::Hash(_)
                    | Change::Load(_)
                    | Change::Kernel(_)
                    | Change::Unpacked(_)
                    | Change::Initramfs(_)
            )
        };
        self.tuned.spec.fit.is_some() && self.arch.is_some() && self.any(packs)
    }

    pub(super) fn kernel_compression(&self) -> Compression {
        let kernel = self.tuned.spec.kernel.as_ref();
        kernel.map_or(Compression::None, |k| k.compression)
    }

    pub(super) fn initramfs_compression(&self) -> Compression {
        let initramfs = self.tuned.spec.initramfs.as_ref();
        initramfs.map_or(Compression::None, |i| i.compression)
    }

    /// The environment's size, if the target has it in a flash of its own. Of a
    /// board, a target may say only some variables: an image of these alone
    /// would take away what it boots with.
    pub(super) fn environment_size(&self) -> Option<u64> {
        Some(self.tuned.spec.flash.as_ref()?.environment_size)
    }
}

/// The boot loader's whole environment, as the target's flash gets it.
pub(super) fn environment(spec: &Spec) -> Result<Option<UbootEnv>, TargetError> {
    let Some(bootloader) = &spec.bootloader else {
        return Ok(None);
    };
    let mut environment = UbootEnv::new();
    let own = bootloader.environment.iter();
    let own = own.map(|(name, value)| (name.as_str(), value.as_str()));
    let bootargs = spec.kernel.iter().map(|k| ("bootargs", k.cmdline.as_str()));
    for (name, value) in own.chain(bootargs) {
        let set = environment.set(name, value);
        set.map_err(|e| TargetError::artefact("U-Boot's environment", e))?;
    }
    Ok(Some(environment))
}

/// Variables with another value, and those that are gone, with none.
fn variables(before: &UbootEnv, after: &UbootEnv) -> Vec<(String, String)> {
    let changed = after.iter().filter(|(n, v)| before.get(n) != Some(v));
    let gone = before.iter().filter(|(n, _)| after.get(n).is_none());
    let gone = gone.map(|(n, _)| (n, ""));
    let own = |(n, v): (&str, &str)| (n.to_owned(), v.to_owned());
    changed.chain(gone).map(own).collect()
}

/// What one step changes.
fn between(before: &Spec, after: &Spec, step: &Step) -> Vec<Change> {
    let mut changes = Vec::new();
    if let (Some(b), Some(a)) = (&before.kernel, &after.kernel) {
        let [added, removed] = word_changes(&b.cmdline, &a.cmdline);
        changes.extend(removed.into_iter().map(|w| Change::WordRemoved(w.into())));
        changes.extend(added.into_iter().map(|w| Change::WordAdded(w.into())));
        // What a machine starts by itself is not packed.
        if a.compression != b.compression && after.bootloader.is_some() {
            changes.push(Change::Kernel(a.compression));
        }
        let other = b.unpacked_by != a.unpacked_by;
        match (a.unpacked_by, a.compression) {
            (Unpacker::Machine, packed) if other || packed != b.compression => {
                changes.push(match packed {
                    Compression::None => Change::Unpacked(a.unpacked_by),
                    packed => Change::UnpacksItself(packed),
                });
            }
            (Unpacker::Bootloader, _) if other => changes.push(Change::Unpacked(a.unpacked_by)),
            _ => {}
        }
    }
    if before.bootloader.is_some() && after.bootloader.is_none() {
        changes.push(Change::NoBootloader);
    }
    if let (Some(b), Some(a)) = (&before.bootloader, &after.bootloader) {
        for (name, value) in &a.environment {
            if b.environment.get(name) != Some(value) {
                changes.push(Change::Variable(name.clone(), Some(value.clone())));
            }
        }
        let gone = b.environment.keys();
        let gone = gone.filter(|name| !a.environment.contains_key(*name));
        changes.extend(gone.map(|name| Change::Variable(name.clone(), None)));
    }
    if let (Some(b), Some(a)) = (&before.fit, &after.fit) {
        if a.hash != b.hash {
            changes.push(Change::Hash(a.hash));
        }
        if a.load_address != b.load_address {
            changes.push(Change::Load(a.load_address));
        }
    }
    if let (Some(b), Some(a)) = (&before.uimage, &after.uimage)
        && a.load_address != b.load_address
    {
        changes.push(Change::Load(a.load_address.into()));
    }
    if let (Some(b), Some(a)) = (&before.initramfs, &after.initramfs)
        && a.compression != b.compression
    {
        changes.push(Change::Initramfs(a.compression));
    }
    for edit in &step.edits {
        if changes.contains(&Change::NoBootloader) && edit.how == How::Remove {
            continue;
        }
        if edit.key.starts_with("disk.") || edit.key.starts_with("loader.") {
            changes.push(Change::Disk(edit.key.clone(), edit.value.clone()));
            continue;
        }
        // What is on the disk already is no file to carry.
        if edit.value.starts_with("disk:") {
            continue;
        }
        changes.extend(by_key(&edit.key).filter(|c| !changes.contains(c)));
    }
    changes
}

/// What can only be told from the key of an edit.
fn by_key(key: &str) -> Option<Change> {
    const KNOWN: [&str; 10] = [
        "outside",
        "ready.later",
        "kernel.cmdline",
        "kernel.compression",
        "kernel.unpacked-by",
        "bootloader.environment.",
        "fit.hash",
        "fit.load-address",
        "uimage.load-address",
        "initramfs.compression",
    ];
    let rootfs = [
        "initramfs.image",
        "initramfs.only",
        "initramfs.minimal",
        "initramfs.module-compression",
        "initramfs.signatures",
        "initramfs.strip",
        "initramfs.files",
        "initramfs.links",
        "initramfs.tree",
        "initramfs.dirs",
    ];
    if rootfs.iter().any(|start| key.starts_with(start)) {
        return Some(Change::Rootfs);
    }
    if key == "initramfs.place" {
        return Some(Change::BuiltIn);
    }
    let known = KNOWN.iter().any(|start| key.starts_with(start));
    (!known).then(|| Change::Other(key.to_owned()))
}

/// Words that came, and words that went. What is for the first program is one.
fn word_changes<'t>(before: &'t str, after: &'t str) -> [Vec<&'t str>; 2] {
    let all = |line| {
        let init = Some(cmdline::of_init(line)).filter(|init| !init.is_empty());
        cmdline::words(line)
            .into_iter()
            .chain(init)
            .collect::<Vec<_>>()
    };
    let (before, after) = (all(before), all(after));
    let less = |from: &[&'t str], what: &[&str]| {
        let mut what = what.to_vec();
        let mut rest = from.to_vec();
        rest.retain(|word| match what.iter().position(|w| w == word) {
            Some(at) => {
                what.swap_remove(at);
                false
            }
            None => true,
        });
        rest
    };
    [less(&after, &before), less(&before, &after)]
}

/// What a step is worth, in words.
fn worth(measured: Option<&Measured>, machine: &Machine) -> String {
    let Some(m) = measured else {
        let how = match machine {
            Machine::Qemu(_) => "`bootlap try` measures it",
            Machine::Board(_) => "boot without it and with it",
        };
        return format!("not measured here; {how}");
    };
    let does = if m.saved_ns < 0 { "costs" } else { "saves" };
    let [low, high] = m.interval_ns;
    format!(
        "{does} {} ({}; 95 %: {} to {})",
        duration(m.saved_ns.saturating_abs()),
        m.time.name(),
        duration(low),
        duration(high)
    )
}

/// `2.001 s` or `23.456 ms`, rounded towards zero.
fn duration(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let us = ns.unsigned_abs() / 1000;
    if us >= 1_000_000 {
        let ms = us / 1000;
        format!("{sign}{}.{:03} s", ms / 1000, ms % 1000)
    } else {
        format!("{sign}{}.{:03} ms", us / 1000, us % 1000)
    }
}
