//! The patch set's README: what each change is, what it saves, and in which
//! order a person carries it over.

use std::path::Path;

use bootlap_product::Unpacker;

use super::changes::{Change, Changes};
use super::quote::{comment, markdown};
use super::{PatchFile, buildroot, config, image, plain, yocto};

pub(super) fn text(changes: &Changes<'_>, files: &[PatchFile]) -> String {
    let has = |path: &str| files.iter().any(|f| f.path == Path::new(path));
    let under = |folder: &str| files.iter().any(|f| f.path.starts_with(folder));
    let mut text = format!(
        "# Patch set for {}\n\n\
         What was changed, and the same changes as files: for a build by hand (`plain/`)",
        markdown(&changes.start.spec.name)
    );
    for (folder, what) in [
        (
            "buildroot",
            "as an external tree for Buildroot (`buildroot/`)",
        ),
        ("yocto", "as a layer for Yocto (`yocto/`)"),
    ] {
        if under(folder) {
            text += &format!(", {what}");
        }
    }
    text += ".\nTake one of them; each has all changes that it can have.\n\n## The changes\n\n";
    for (number, step) in changes.steps.iter().enumerate() {
        text += &format!(
            "{}. **{}**: {}.\n   {}.\n   Risk: {}.\n",
            number + 1,
            markdown(&step.step.recipe),
            markdown(&step.step.title),
            first_upper(&step.worth),
            markdown(&step.step.risk),
        );
        for change in &step.changes {
            text += &format!("   - {}\n", said(change));
        }
    }
    let steps = by_hand(changes, &has);
    if !steps.is_empty() {
        text += "\n## By hand\n\n";
        text += &numbered(&steps);
    }
    if under("buildroot") {
        text += "\n## Buildroot\n\n";
        text += &numbered(&with_buildroot(changes, &has));
    }
    if under("yocto") {
        text += "\n## Yocto\n\n";
        text += &numbered(&with_yocto(changes, &has));
    }
    if changes.any(|c| matches!(c, Change::Disk(..))) {
        text += THE_DISK;
    }
    let limits = limits(changes);
    if !limits.is_empty() {
        text += "\n## What these files do not carry\n\n";
        for limit in limits {
            text += &format!("- {limit}\n");
        }
    }
    text
}

/// How what is changed on a disk gets into a product.
const THE_DISK: &str = "
## The disk

`disk.qcow2` is what differs from the image, which is as it was. Boot it as it is, or make one \
image of both: `qemu-img convert -O raw disk.qcow2 new.img`. What builds the image makes the \
same changes with `root.sh`, as said above. What boot loaders are told there:

- the menu: `GRUB_TIMEOUT=0` in `/etc/default/grub` and `update-grub`, `timeout 0` in \
systemd-boot's `loader.conf`, or `TIMEOUT 1` in `extlinux.conf`
- the command line: `GRUB_CMDLINE_LINUX` in `/etc/default/grub` and `update-grub`, `options` in \
the entry below `loader/entries`, or `append` in `extlinux.conf`
";

fn first_upper(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

fn numbered(steps: &[String]) -> String {
    let lines = steps.iter().enumerate();
    lines.map(|(i, s)| format!("{}. {s}\n", i + 1)).collect()
}

/// A change in words.
fn said(change: &Change) -> String {
    match change {
        Change::WordAdded(word) => {
            let instead = match (config::built_in(word), word.as_str()) {
                (Some(option), _) => format!(" (or built in: `{option}`)"),
                (None, "systemd.condition_needs_update=no") => {
                    " (or, as the last step of the root: `touch etc/.updated var/.updated`)"
                        .to_owned()
                }
                (None, _) => String::new(),
            };
            format!("the command line gets {}{instead}", markdown(word))
        }
        Change::WordRemoved(word) => format!("the command line loses {}", markdown(word)),
        Change::Variable(name, Some(value)) => format!(
            "U-Boot's variable {} becomes {}",
            markdown(name),
            markdown(value)
        ),
        Change::Variable(name, None) => format!("U-Boot's variable {} goes", markdown(name)),
        Change::Hash(hash) => format!("the FIT's images have the hash: {}", hash.name()),
        Change::Load(address) => format!("the kernel is loaded at {address:#x}"),
        Change::NoBootloader => "the boot loader goes".to_owned(),
        Change::Unpacked(Unpacker::Machine) => "the virtual machine gets the kernel's `vmlinux` \
                                                (`CONFIG_PVH=y`, `make vmlinux`), not a bzImage"
            .to_owned(),
        Change::UnpacksItself(packed) => format!(
            "the kernel unpacks itself from {packed} (`CONFIG_KERNEL_{}=y`)",
            packed.to_string().to_uppercase()
        ),
        Change::Unpacked(_) => {
            "U-Boot gets the kernel's `Image` (`make Image`), not what unpacks itself".to_owned()
        }
        Change::Kernel(compression) => format!("the kernel's compression: {compression}"),
        Change::Initramfs(compression) => format!("the initramfs's compression: {compression}"),
        Change::BuiltIn => "the kernel is built with the initramfs inside \
                            (`CONFIG_INITRAMFS_SOURCE`; Buildroot: \
                            `BR2_TARGET_ROOTFS_INITRAMFS=y`; OpenEmbedded: \
                            `INITRAMFS_IMAGE_BUNDLE = \"1\"`)"
            .to_owned(),
        Change::Rootfs => "files of the initramfs".to_owned(),
        Change::Disk(key, value) => match key.as_str() {
            "loader.cmdline" => {
                format!(
                    "the boot loader on the disk gives the kernel {}",
                    markdown(value)
                )
            }
            "loader.timeout-s" => format!("its menu waits {value} s, or as few as it can"),
            "disk.python-modules" => {
                "Python's modules are compiled with `python3 -m compileall -f \
                                      --invalidation-mode unchecked-hash`"
                    .to_owned()
            }
            "disk.state" => "measured are the boots behind the first one, which ends when the \
                             machine switches itself off or restarts"
                .to_owned(),
            "disk.remove" => format!("{} is not on the disk", markdown(value)),
            key => {
                let (how, place) = key
                    .trim_start_matches("disk.")
                    .split_once('.')
                    .unwrap_or(("", key));
                let place = markdown(place.trim_matches('"'));
                match how {
                    "links" => format!("{place} on the disk is a link to {}", markdown(value)),
                    "texts" => format!("{place} on the disk is written"),
                    "room" => format!("{place} on the disk has {value} MiB set aside"),
                    _ => format!("{place} on the disk is {}'s content", markdown(value)),
                }
            }
        },
        Change::Other(key) => format!("{} of target.toml", markdown(key)),
    }
}

fn by_hand(changes: &Changes<'_>, has: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut steps = Vec::new();
    if has("plain/uboot.config") {
        steps.push(
            "Build U-Boot with `plain/uboot.config`: \
             `scripts/kconfig/merge_config.sh .config uboot.config && make`."
                .to_owned(),
        );
    }
    if has("plain/linux.config") {
        steps.push(
            "Build the kernel with `plain/linux.config`: \
             `scripts/kconfig/merge_config.sh .config linux.config && make`."
                .to_owned(),
        );
    }
    if has("plain/initramfs.sh") {
        steps.push(
            "Unpack the root file system and change it: `plain/initramfs.sh ROOT`; then pack it \
             again: `cd ROOT && find . | LC_ALL=C sort | cpio -o -H newc --owner=0:0`."
                .to_owned(),
        );
    }
    if has("plain/root.sh") {
        steps.push(
            "Change the root where your image is put together, before it is made: \
             `plain/root.sh ROOT` as root. With mkosi, from `mkosi.finalize`: \
             `root.sh \"$BUILDROOT\"`; with debos, an action `run` with `chroot: false` and \
             `root.sh \"$ROOTDIR\"`; with mmdebstrap, `--customize-hook='plain/root.sh \"$1\"'`."
                .to_owned(),
        );
        let gone = changes.disk_root();
        let gone: Vec<&str> = gone.rc_services().into_iter().collect();
        if !gone.is_empty() {
            steps.push(format!(
                "With OpenWrt's image builder, `make image FILES=plain/root \
                 DISABLED_SERVICES='{}'` does the same.",
                gone.iter()
                    .map(|name| comment(name))
                    .collect::<Vec<_>>()
                    .join(" ")
            ));
        }
    }
    if has("plain/make-images.sh") {
        let mut makes = Vec::new();
        if changes.image() {
            makes.push("`image.itb`");
        }
        if has("plain/uboot-env.txt") {
            makes.push("`uboot-env.bin`");
        }
        steps.push(format!(
            "Make {} with `plain/make-images.sh`, which says what it wants. It uses `mkimage` \
             and `mkenvimage` of u-boot-tools, `dtc` and the compressors.",
            makes.join(" and ")
        ));
        steps.push("Write them to where the old ones are.".to_owned());
    }
    if has("plain/uboot-env-set.txt") {
        steps.push(
            "On a board that runs, the variables alone do: \
             `fw_setenv --script plain/uboot-env-set.txt` (libubootenv; the `fw_setenv` of \
             U-Boot's own tools wants a space in place of the first `=`)."
                .to_owned(),
        );
    }
    if has("plain/cmdline.txt") && changes.environment.is_none() {
        steps.push(
            "Give the kernel the command line `after:` of `plain/cmdline.txt`, where your boot \
             loader keeps it."
                .to_owned(),
        );
    }
    steps
}

fn with_buildroot(changes: &Changes<'_>, has: &dyn Fn(&str) -> bool) -> Vec<String> {
    let slug = &changes.slug;
    let mut steps = vec![
        "Add the tree: `make BR2_EXTERNAL=…/patches/buildroot YOUR_defconfig` (with others: \
         separate them by colons)."
            .to_owned(),
        format!(
            "Merge the fragment: `support/kconfig/merge_config.sh .config \
             $BR2_EXTERNAL_{}_PATH/configs/{slug}.fragment` with that path written out, then \
             `make olddefconfig`.",
            buildroot::external(slug)
        ),
        "`make`.".to_owned(),
    ];
    if changes.image() {
        steps.push(
            "`images/image.itb` is what the boot loader reads. If the kernel's file among the \
             images is not `Image`, say which: `BOOTLAP_KERNEL=… make`."
                .to_owned(),
        );
    }
    if has(&format!("buildroot/board/{slug}/uboot-env.txt")) {
        steps.push("`images/uboot-env.bin` is the environment.".to_owned());
    }
    steps
}

fn with_yocto(changes: &Changes<'_>, has: &dyn Fn(&str) -> bool) -> Vec<String> {
    let slug = &changes.slug;
    let layer = yocto::layer(slug);
    let mut steps = vec![format!(
        "Add the layer: `bitbake-layers add-layer …/patches/{layer}`."
    )];
    if has(&format!("{layer}/conf/bootlap-{slug}.conf")) {
        steps.push(format!(
            "In `local.conf` or the machine's configuration: `require conf/bootlap-{slug}.conf`."
        ));
    }
    if has(&format!("{layer}/classes/bootlap-{slug}.bbclass")) {
        steps.push(format!(
            "In the initramfs's image recipe: `inherit bootlap-{slug}`."
        ));
    }
    if has(&format!("{layer}/classes/bootlap-{slug}-root.bbclass")) {
        steps.push(format!(
            "In the image's recipe: `inherit bootlap-{slug}-root`."
        ));
    }
    if has(&format!("{layer}/recipes-kernel/linux/linux-%.bbappend")) {
        steps.push(
            "The kernel's fragment is for kernels that take `.cfg` files (`kernel-yocto`) and \
             whose recipe's name begins with `linux-`; for another, rename `linux-%.bbappend` \
             and merge the fragment as that kernel wants it."
                .to_owned(),
        );
    }
    if plain::environment(changes).is_some() {
        steps.push(format!(
            "The deployed `bootlap-{slug}-env.bin` is U-Boot's environment: put it into your \
             image where U-Boot reads it. For a U-Boot whose recipe's name does not begin with \
             `u-boot`, rename `u-boot%.bbappend`."
        ));
    }
    steps
}

/// What cannot be had from files, or not from all kinds of them.
fn limits(changes: &Changes<'_>) -> Vec<String> {
    let mut limits = Vec::new();
    if !changes.variables.is_empty() && changes.environment_size().is_none() {
        limits.push(
            "U-Boot's environment as an image: the target has no `[flash]`, so it may not say all \
             variables that the board needs. Set those that change: `plain/uboot-env-set.txt`."
                .to_owned(),
        );
    }
    if plain::loses_environment(changes) {
        limits.push(
            "A variable of U-Boot's has a name or a value that `mkenvimage` or `fw_setenv` cannot \
             read from text: take it from `target.toml`."
                .to_owned(),
        );
    }
    if changes.cmdline().is_some() {
        if plain::cmdline(changes).is_none() {
            limits.push(
                "The command line has characters that no line of text can have: take it from \
                 `target.toml`."
                    .to_owned(),
            );
        }
        if !config::holds_cmdline(changes) {
            limits.push(
                "The command line has characters (one of `$ # ' \" \\` or others) on which make \
                 and Kconfig do not agree: no configuration carries it."
                    .to_owned(),
            );
        }
    }
    let others = changes.steps.iter().flat_map(|s| &s.changes);
    for change in others {
        if let Change::Other(key) = change {
            if key == "initramfs" {
                limits.push(
                    "A boot without an initramfs: what makes the image leaves it out, and what \
                     starts the kernel does not ask for it (`-` instead of its address in `bootm`)."
                        .to_owned(),
                );
                continue;
            }
            limits.push(format!(
                "{} of `target.toml`: see there.",
                markdown(&comment(key))
            ));
        }
    }
    let root = changes.disk_root();
    for (place, mib) in &root.room {
        limits.push(format!(
            "{} on the disk: set it aside where the file system is mounted, \
             `fallocate -l {mib}M FILE`; what packs a folder would leave holes.",
            markdown(place)
        ));
    }
    for place in root.left {
        limits.push(format!(
            "{} on the disk: another partition, or a file of the target's; see there.",
            markdown(place)
        ));
    }
    let none = changes.any(|c| *c == Change::NoBootloader);
    if none {
        limits.push(
            "A boot without a boot loader: here the emulator started the kernel, and neither \
             Buildroot nor Yocto can be told to do that. On a product a first stage does it \
             (Falcon mode: U-Boot's `CONFIG_SPL_OS_BOOT=y`, and `spl export` for what it gives \
             the kernel). Until yours does, what this change saves is not saved."
                .to_owned(),
        );
    }
    let fit = |c: &Change| matches!(c, Change::Hash(_) | Change::Kernel(_) | Change::Load(_));
    if let Some(uimage) = image::uimage(changes) {
        limits.push(uimage);
    } else if changes.any(fit) && !changes.image() && !none {
        limits.push(
            "The image of kernel and initramfs: the target does not have the kernel, so there is \
             no description of it."
                .to_owned(),
        );
    }
    limits.extend(
        yocto::limits(changes)
            .into_iter()
            .map(|l| format!("Yocto: {l}")),
    );
    limits
}
