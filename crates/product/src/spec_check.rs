//! What a well-formed `target.toml` can still get wrong.

use bootlap_artefact::compress::Compression;
use toml_edit::Document;

use crate::machine::Machine;
use crate::mistake::{Mistake, pattern, wrong};
use crate::spec::{Flash, Medium, Place, RootFormat, Spec, Starter, Uimage, Unpacker};

/// Largest environment that is taken for one, in bytes; real ones have 4 KiB to
/// 256 KiB.
const ENVIRONMENT_LIMIT: u64 = 16 << 20;

/// Why this bootlap cannot read a description of another format.
pub(crate) fn unknown_format(text: &str) -> Option<String> {
    let doc = Document::parse(text).ok()?;
    let format = doc.get("format")?.as_integer()?;
    (format != 1).then(|| {
        format!(
            "format {format} is not known to this bootlap, which reads format 1; use a newer one"
        )
    })
}

/// The parser's message in one line, with the way out where it has none.
pub(crate) fn with_mend(message: &str) -> String {
    let said = message.trim().replace('\n', "; ");
    let mend = if said.starts_with("missing field") {
        "add it; docs/targets.md explains every key"
    } else if said.starts_with("invalid type") && said.contains("expected a string") {
        "put it in quotes"
    } else if said.starts_with("invalid float") {
        "put text in quotes"
    } else if said.starts_with("invalid type: string") && said.contains("expected u") {
        "write the number without quotes"
    } else if said.contains("expected u") {
        "write a whole number that is not negative"
    } else if said.starts_with("duplicate key") {
        "remove one of the two"
    } else {
        return said;
    };
    format!("{said}; {mend}")
}

/// What boots it, or the first thing that cannot work.
pub(crate) fn check(spec: &Spec) -> Result<Machine, Mistake> {
    let name = spec.name.as_str();
    if matches!(name, "" | "." | "..") || name.contains(|c: char| c == '/' || c.is_control()) {
        return wrong(
            "name",
            "runs are kept in a folder of this name; use letters, digits and dashes",
        );
    }
    patterns(spec)?;
    let machine = spec.machine.machine()?;
    if spec.ready.timeout_s == 0 {
        return wrong(
            "ready.timeout-s",
            "0 is too little to boot with; write 1 or more",
        );
    }
    parts(spec, &machine)?;
    let arch = spec.packages.as_ref().map_or("any", |p| &p.architecture);
    if !crate::packages::is_name(arch) {
        return wrong(
            "packages.architecture",
            format!("{arch:?} is no architecture; say it as dpkg does: arm64, armhf, amd64"),
        );
    }
    bootloader(spec, &machine)?;
    compression(spec, &machine)?;
    root(spec, &machine)?;
    disk(spec, &machine)?;
    Ok(machine)
}

/// The disk that is made, and the arguments that attach it.
fn root(spec: &Spec, machine: &Machine) -> Result<(), Mistake> {
    let attached = match machine {
        Machine::Qemu(qemu) => qemu.args.iter().any(|arg| arg.contains("{root}")),
        Machine::Board(_) => false,
    };
    let Some(root) = &spec.root else {
        return match attached {
            true => wrong(
                "machine.args",
                "{root} is the disk that is made of a [root] section, and there is none; add one",
            ),
            false => Ok(()),
        };
    };
    if let Machine::Board(_) = machine {
        return wrong(
            "root",
            "a board boots what is on it; remove [root], or describe the device for QEMU",
        );
    }
    if !attached {
        return wrong(
            "root",
            "nothing attaches the disk: name it {root} in machine.args, as in `-drive \
             file={root},format=raw,if=none,id=root`",
        );
    }
    let named = root.tree.is_some()
        || !root.files.is_empty()
        || !root.links.is_empty()
        || !root.dirs.is_empty();
    if root.archive.is_some() && named {
        return wrong(
            "root.archive",
            "the archive has all that is in the root; remove tree, files, links and dirs, or \
             archive",
        );
    }
    if root.archive.is_none() && !named {
        return wrong(
            "root",
            "nothing says what is in it; write archive = \"rootfs.tar\", or tree and files",
        );
    }
    let packed = root.options.iter().any(|option| option.starts_with("-z"));
    if packed && root.order.is_some() && root.format == RootFormat::Erofs {
        return wrong(
            "root.options",
            "mkfs.erofs puts files into an order only if it does not compress them; remove -z, or \
             order",
        );
    }
    Ok(())
}

/// The disk as it is shipped, and what starts what is on it.
fn disk(spec: &Spec, machine: &Machine) -> Result<(), Mistake> {
    let emulated = matches!(machine, Machine::Qemu(_));
    let sections = [
        ("disk", spec.disk.is_some()),
        ("firmware", spec.firmware.is_some()),
    ];
    for (section, there) in sections {
        if there && !emulated {
            return wrong(
                section,
                format!(
                    "a board boots what is on it; remove [{section}], or describe the device for \
                     QEMU"
                ),
            );
        }
    }
    let room = spec.disk.iter().flat_map(|disk| &disk.room);
    if let Some((place, _)) = room.into_iter().find(|(_, mib)| **mib == 0) {
        return wrong(
            "disk.room",
            format!("{place} has 0 MiB, which hold nothing; write 1 or more"),
        );
    }
    if spec.loader.is_some() && (spec.disk.is_none() || spec.kernel.is_some()) {
        return wrong(
            "loader",
            "[loader] is for the boot loader on a [disk], which does not run with a [kernel]; \
             remove it",
        );
    }
    let Some(firmware) = &spec.firmware else {
        return Ok(());
    };
    if spec.disk.is_none() || spec.kernel.is_some() {
        return wrong(
            "firmware",
            "[firmware] is for a machine that starts what is on its [disk], without [kernel]; \
             remove it, or add a [disk] and remove [kernel]",
        );
    }
    if firmware.variables.is_some() && firmware.image.is_none() {
        return wrong(
            "firmware.variables",
            "variables are those of a program; name it in firmware.image",
        );
    }
    Ok(())
}

fn patterns(spec: &Spec) -> Result<(), Mistake> {
    pattern("ready.pattern", &spec.ready.pattern)?;
    if let Some(later) = &spec.ready.later {
        pattern("ready.later", later)?;
    }
    if let Some(application) = &spec.ready.application {
        pattern("ready.application", application)?;
    }
    for (i, mark) in spec.mark.iter().enumerate() {
        pattern(&format!("mark.{i}.pattern"), &mark.pattern)?;
    }
    Ok(())
}

/// What an emulated machine cannot do without; a board has its parts on it.
fn parts(spec: &Spec, machine: &Machine) -> Result<(), Mistake> {
    if let Machine::Board(_) = machine {
        return Ok(());
    }
    let missing = |key: &str, name: &str| {
        let message = format!("missing field `{name}`; add it; docs/targets.md explains every key");
        wrong(key, message)
    };
    match (&spec.kernel, &spec.bootloader) {
        (None, None) if spec.disk.is_some() => of_disk(spec),
        (None, _) => missing("kernel", "kernel"),
        (Some(kernel), _) if kernel.image.is_none() => missing("kernel.image", "image"),
        (_, Some(bootloader)) if bootloader.image.is_none() => missing("bootloader.image", "image"),
        _ => Ok(()),
    }
}

/// What is on a disk is not made here.
fn of_disk(spec: &Spec) -> Result<(), Mistake> {
    if let Some(initramfs) = &spec.initramfs
        && initramfs.on_disk().is_none()
    {
        return wrong(
            "initramfs.image",
            "without a [kernel] the machine starts what is on its [disk], and all that can be \
             changed is the initramfs that the loader there loads: name it as \
             \"disk:PARTITION:/PATH\", or remove [initramfs]",
        );
    }
    let sections = [
        ("root", spec.root.is_some()),
        ("flash", spec.flash.is_some()),
    ];
    match sections.iter().find(|(_, there)| *there) {
        Some((section, _)) => wrong(
            section,
            format!(
                "without a [kernel] the machine starts what is on its [disk], and [{section}] is \
                 not used; remove it, or name a kernel"
            ),
        ),
        None => Ok(()),
    }
}

fn bootloader(spec: &Spec, machine: &Machine) -> Result<(), Mistake> {
    let emulated = matches!(machine, Machine::Qemu(_));
    if spec.fit.is_some() && spec.uimage.is_some() {
        return wrong(
            "uimage",
            "[fit] and [uimage] are two ways to pack the kernel; remove one of them",
        );
    }
    let Some(bootloader) = &spec.bootloader else {
        let sections = [
            ("flash", spec.flash.is_some()),
            ("fit", spec.fit.is_some()),
            ("uimage", spec.uimage.is_some()),
        ];
        // They would be ignored, and a recipe for them would change nothing.
        for (section, there) in sections {
            if there && emulated {
                return wrong(
                    section,
                    format!(
                        "[{section}] is for a boot loader, and there is none; add a [bootloader] \
                         section, or remove [{section}] to start the kernel directly"
                    ),
                );
            }
        }
        return Ok(());
    };
    let image = spec.fit.is_some() || spec.uimage.is_some();
    let sections = [
        ("[flash] section", spec.flash.is_some()),
        ("[fit] section (or a [uimage])", image),
    ];
    for (section, there) in sections {
        if !there && emulated {
            return wrong(
                "bootloader",
                format!(
                    "a boot loader needs a {section} that says where it finds the kernel; or \
                     remove [bootloader] to start the kernel directly"
                ),
            );
        }
    }
    if bootloader.environment.contains_key("bootargs") {
        return wrong(
            "bootloader.environment.bootargs",
            "bootargs is made from kernel.cmdline; move its value there",
        );
    }
    if let Some(uimage) = &spec.uimage {
        started_by(spec, uimage)?;
    }
    match &spec.flash {
        Some(flash) => self::flash(flash).and_then(|()| places(spec, flash, emulated)),
        None => Ok(()),
    }
}

/// SPL knows nothing but what the uImage holds.
fn started_by(spec: &Spec, uimage: &Uimage) -> Result<(), Mistake> {
    let kernel = spec.kernel.as_ref();
    let has_tree = kernel.is_some_and(|k| k.devicetree.is_some());
    let is_sd = spec.flash.as_ref().is_some_and(|f| f.medium == Medium::Sd);
    match uimage.started_by {
        Starter::Uboot if uimage.memory_address.is_some() => wrong(
            "uimage.memory-address",
            "U-Boot tells the kernel where memory is; remove it, or write started-by = \"spl\"",
        ),
        Starter::Uboot => Ok(()),
        Starter::Spl if !has_tree => wrong(
            "uimage.started-by",
            "SPL gives the kernel the device tree in the uImage; name it in kernel.devicetree",
        ),
        Starter::Spl if !is_sd => wrong(
            "uimage.started-by",
            "U-Boot in NOR flash has no first stage; write medium = \"sd\" in [flash], or remove \
             it",
        ),
        Starter::Spl if uimage.memory_address.is_none() => wrong(
            "uimage",
            "missing field `memory-address`; add it: SPL tells the kernel nothing of its memory",
        ),
        Starter::Spl if kernel.is_some_and(|k| k.compression != Compression::None) => wrong(
            "kernel.compression",
            "SPL unpacks nothing; remove it, and the kernel unpacks itself",
        ),
        Starter::Spl => Ok(()),
    }
}

/// Each image has a place, and each place an image.
fn places(spec: &Spec, flash: &Flash, emulated: bool) -> Result<(), Mistake> {
    let by_uboot = |u: &Uimage| u.started_by == Starter::Uboot;
    let initramfs = spec.uimage.as_ref().is_some_and(by_uboot) && spec.initramfs.is_some();
    let places = [
        (
            "fit-offset",
            flash.fit_offset,
            spec.fit.is_some(),
            "a [fit]",
        ),
        (
            "kernel-offset",
            flash.kernel_offset,
            spec.uimage.is_some(),
            "a [uimage]",
        ),
        (
            "initramfs-offset",
            flash.initramfs_offset,
            initramfs,
            "a [uimage] and an [initramfs]",
        ),
    ];
    for (key, offset, wanted, what) in places {
        let dotted = format!("flash.{key}");
        match offset {
            None if wanted && emulated => {
                return wrong(
                    "flash",
                    format!(
                        "missing field `{key}`; add it: with {what}, it says where in the second \
                         bank that lies"
                    ),
                );
            }
            Some(_) if !wanted && emulated => {
                return wrong(
                    &dotted,
                    format!("{key} is for {what}, and there is none; remove it"),
                );
            }
            Some(offset) if offset >= flash.bank_size => {
                let image = key.trim_end_matches("-offset");
                let image = if image == "fit" { "FIT" } else { image };
                return wrong(
                    &dotted,
                    format!(
                        "the {image} at {offset:#x} is outside of the bank of {:#x}; offsets \
                         count from the start of the second bank",
                        flash.bank_size
                    ),
                );
            }
            _ => {}
        }
    }
    Ok(())
}

/// Sizes that can be told apart from mistakes before anything is assembled.
fn flash(flash: &Flash) -> Result<(), Mistake> {
    let bank = flash.bank_size;
    match flash.medium {
        Medium::Nor if flash.bootloader_offset != 0 => {
            return wrong(
                "flash.bootloader-offset",
                "the machine starts what stands first in the first bank; remove it, or write \
                 medium = \"sd\"",
            );
        }
        Medium::Sd if !bank.is_power_of_two() => {
            return wrong(
                "flash.bank-size",
                format!("a card of {bank:#x} bytes is not to be had; use a power of two"),
            );
        }
        _ => {}
    }
    let end = flash.environment_offset.checked_add(flash.environment_size);
    if flash.environment_size > ENVIRONMENT_LIMIT || end.is_none_or(|end| end > bank) {
        return wrong(
            "flash.environment-size",
            format!(
                "the environment of {:#x} bytes at {:#x} does not fit into the bank of {bank:#x}; \
                 take CONFIG_ENV_SIZE and CONFIG_ENV_OFFSET of U-Boot, or a larger bank-size",
                flash.environment_size, flash.environment_offset
            ),
        );
    }
    Ok(())
}

fn can_hold_initramfs(spec: &Spec) -> bool {
    let kernel = spec.kernel.as_ref();
    spec.uimage.is_none() && kernel.is_some_and(|k| k.build.is_some())
}

fn compression(spec: &Spec, machine: &Machine) -> Result<(), Mistake> {
    let kernel = spec.kernel.as_ref();
    let unpacker = kernel.map_or(Unpacker::Kernel, |k| k.unpacked_by);
    let kernel = kernel.map_or(Compression::None, |k| k.compression);
    let emulated = matches!(machine, Machine::Qemu(_));
    let packed = spec.fit.is_some() || spec.uimage.is_some();
    let unpacks_itself = unpacker == Unpacker::Machine && kernel == Compression::Lz4;
    if emulated && !packed && kernel != Compression::None && !unpacks_itself {
        return wrong(
            "kernel.compression",
            "kernel.compression says how the kernel is packed in a FIT or a uImage, and there is \
             none; remove it: without a boot loader the machine loads kernel.image as it is (or, \
             with kernel.unpacked-by = \"machine\", what is inside, which can be lz4)",
        );
    }
    if emulated && !packed && unpacker == Unpacker::Bootloader {
        return wrong(
            "kernel.unpacked-by",
            "there is no boot loader to unpack the kernel; remove it, and kernel.image unpacks \
             itself",
        );
    }
    if unpacker == Unpacker::Machine && (packed || !emulated) {
        return wrong(
            "kernel.unpacked-by",
            "only an emulated machine without a boot loader starts what is inside the kernel; \
             write \"bootloader\", or remove it",
        );
    }
    if kernel.fit_name().is_none() || kernel == Compression::Lzo {
        return wrong(
            "kernel.compression",
            format!("U-Boot cannot unpack {kernel}; use none, gzip, bzip2, lzma, lz4 or zstd"),
        );
    }
    match &spec.initramfs {
        Some(i) if i.place == Place::Kernel && !can_hold_initramfs(spec) => wrong(
            "initramfs.place",
            "only a kernel that is built from source can hold the initramfs, and scripts that \
             copy uImages look for one of its own; write [kernel.build], or remove it",
        ),
        Some(i) if i.compression == Compression::Lzo => wrong(
            "initramfs.compression",
            "lzo can be read but not written; use none, gzip, bzip2, lzma, xz, lz4 or zstd",
        ),
        _ => Ok(()),
    }
}
