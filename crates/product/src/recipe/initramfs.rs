//! Recipes for what the initramfs holds.
//!
//! All of it is read from storage, checked, decompressed and copied at each
//! boot, whether the boot uses it or not.

use bootlap_artefact::compress::Compression;
use bootlap_artefact::elf::Strip;
use bootlap_artefact::kernel_module::{plain_file, unsigned_file};
use bootlap_kbuild::dot_config::DotConfig;

use super::bootloader_script::variables;
use super::cmdline::{Line, find};
use super::{Listed, Plain, typed_file};
use crate::bootcmd::{BOOTCMD, Commands};
use crate::cmdline;
use crate::initramfs::Look;
use crate::spec::{Initramfs, ModuleCompression, Place, Signatures};
use crate::{Edit, Parts, Target};

fn initramfs(target: &Target) -> Result<&Initramfs, String> {
    let initramfs = target.spec.initramfs.as_ref();
    initramfs.ok_or_else(|| "the target has no initramfs".to_owned())
}

/// Programs and libraries lose what only debuggers read.
///
/// `all` takes the symbol tables, too; what a library exports stays, and what a kernel's module is
/// linked by. Of signed modules nothing goes: their signature would no longer fit.
pub(super) const STRIP_PROGRAMS: Plain = Plain::new(
    "initramfs-strip",
    "programs in the initramfs lose what only debuggers read",
    "back traces without names; keep the unstripped files to read core dumps",
    strip_programs,
)
.takes(&["all", "debug"])
.of_initramfs();

fn strip_programs(target: &Target, _: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let now = initramfs(target)?.strip;
    if now.name() == value || now == Strip::All {
        return Err(format!("initramfs.strip is {} already", now.name()));
    }
    Ok(vec![Edit::set("initramfs.strip", value)])
}

/// Whether the initramfs has a file that this is true of: of its path, and its bytes.
fn has_file(parts: &Parts, is: impl Fn(&[u8], &[u8]) -> bool) -> bool {
    let mut members = parts.initramfs.iter().flatten();
    members.any(|member| match member.what.look() {
        Look::File { bytes, .. } => is(&member.path, bytes),
        _ => false,
    })
}

/// Modules in the initramfs are compressed once, with the archive.
///
/// A distribution compresses each module by itself, on the disk as in the initramfs: what loads one
/// decompresses it once more, most often with XZ. Their names stay, which `modules.dep` has: what
/// loads modules goes by what is in them.
pub(super) const PLAIN_MODULES: Plain = Plain::new(
    "initramfs-plain-modules",
    "modules of the initramfs are compressed with it alone, and not by themselves as well",
    "the initramfs can get larger, which slow storage may take longer to read than a fast CPU to \
     unpack",
    plain_modules,
)
.of_initramfs();

fn plain_modules(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    if initramfs(target)?.module_compression == ModuleCompression::None {
        return Err("initramfs.module-compression is none already".into());
    }
    if !has_file(parts, |path, bytes| plain_file(path, bytes).is_some()) {
        return Err("the initramfs has no module that is compressed by itself".into());
    }
    Ok(vec![Edit::set("initramfs.module-compression", "none")])
}

/// Modules in the initramfs lose their signatures.
///
/// The kernel hashes a module, and checks its signature, before it links it; without one it has
/// nothing to check. It loads such a module unless it was told not to, and then says that it is
/// tainted. One that is compressed by itself (`.ko.xz`) keeps its name, and is compressed with the
/// initramfs alone: what loads modules goes by what is in them.
pub(super) const UNSIGNED: Plain = Plain::new(
    "initramfs-unsigned",
    "modules of the initramfs lose their signatures, which the kernel would check",
    "high: the kernel cannot tell whose these modules are, and is tainted; it refuses them under \
     Secure Boot. Only where the image is checked as a whole",
    unsigned_modules,
)
.of_initramfs()
.only_if_asked();

fn unsigned_modules(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    if initramfs(target)?.signatures == Signatures::None {
        return Err("initramfs.signatures is none already".into());
    }
    if !has_file(parts, |_, bytes| unsigned_file(bytes).is_some()) {
        return Err("the initramfs has no module that is signed".into());
    }
    let forced = parts.kernel_config.as_ref();
    if forced.is_some_and(|config| config.is_on("MODULE_SIG_FORCE")) {
        return Err("the kernel loads no module without a signature (MODULE_SIG_FORCE)".into());
    }
    let line = Line::of(target, parts)?.text;
    let forces = |word: &&str| {
        ["module.sig_enforce", "lockdown"]
            .iter()
            .any(|n| find(word, n).is_some())
    };
    match cmdline::words(&line).into_iter().find(forces) {
        Some(word) => Err(format!(
            "the command line says {word}: the kernel refuses such modules"
        )),
        None => Ok(vec![Edit::set("initramfs.signatures", "none")]),
    }
}

/// The initramfs holds only what a boot opens.
///
/// The value is a list of paths, one a line, which `bootlap touched` makes by
/// watching a boot. Programs' interpreters and libraries, the links on the way,
/// folders and devices stay in any case.
pub(super) const TOUCHED: Plain = Plain::new(
    "initramfs-touched",
    "the initramfs holds only the files that a boot opened",
    "what only other boots need (repair, other hardware, errors) is missing",
    touched,
)
.lists(Listed::Kept)
.of_initramfs();

fn touched(target: &Target, _: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let initramfs = initramfs(target)?;
    if value.is_empty() {
        return Err(
            "it needs a list of paths, as in initramfs-touched=touched.txt; `bootlap \
             touched` makes one"
                .into(),
        );
    }
    if let Some(list) = &initramfs.only {
        return Err(format!("initramfs.only is {list} already"));
    }
    Ok(vec![Edit::set("initramfs.only", typed_file(value)?)])
}

/// What makes U-Boot's scripts start the kernel without a ramdisk.
fn named_nowhere(target: &Target) -> Result<Vec<Edit>, String> {
    let spec = &target.spec;
    let Some(uboot) = &spec.bootloader else {
        return Ok(Vec::new());
    };
    if spec.uimage.is_some() {
        return Err(
            "U-Boot's scripts copy and name the ramdisk's uImage: take that out of bootcmd, or \
             pack a FIT"
                .into(),
        );
    }
    if !uboot.environment.contains_key(BOOTCMD) {
        return Err(
            "the environment has no bootcmd, and the one that U-Boot was built with may name the \
             ramdisk; write it there"
                .into(),
        );
    }
    Ok(variables(
        Commands::of(&uboot.environment).without_ramdisk(),
    ))
}

/// The initramfs is part of the kernel's image, uncompressed there.
///
/// The image is compressed as a whole, so an archive that is compressed as well
/// is unpacked twice, for some bytes less. One image is also loaded and checked
/// in one go, and no boot loader moves the second one.
pub(super) const BUILT_IN: Plain = Plain::new(
    "initramfs-builtin",
    "the initramfs is part of the kernel's image, uncompressed in it",
    "each change of a file in it needs the kernel built again",
    built_in,
)
.only_if_asked();

fn built_in(target: &Target, _: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let initramfs = initramfs(target)?;
    let spec = &target.spec;
    if initramfs.place == Place::Kernel {
        return Err("the initramfs is part of the kernel already".into());
    }
    if spec.kernel.as_ref().is_none_or(|k| k.build.is_none()) {
        return Err(
            "the kernel is not built from source; describe it in [kernel.build], or let \
             kernel-minimal do it"
                .into(),
        );
    }
    let mut edits = named_nowhere(target)?;
    edits.push(Edit::set("initramfs.place", "kernel"));
    if initramfs.compression != Compression::None {
        edits.push(Edit::set("initramfs.compression", "none"));
    }
    Ok(edits)
}

/// There is no initramfs: the kernel mounts its root itself.
///
/// That needs the driver of the root's device and its file system in the kernel,
/// not in modules, and nothing to do before (decryption, RAID, a choice between
/// two systems). What an initramfs costs is read, checked, unpacked and freed
/// again; without, the root comes as much sooner.
pub(super) const NO_INITRAMFS: Plain = Plain::new(
    "initramfs-none",
    "the kernel mounts its root without an initramfs",
    "a root that is encrypted, on RAID, or whose driver is a module is not found",
    no_initramfs,
);

/// File systems that products have their root on, and their options.
const ROOTS: [(&str, &str); 11] = [
    ("ext4", "EXT4_FS"),
    ("ext2", "EXT2_FS"),
    ("squashfs", "SQUASHFS"),
    ("erofs", "EROFS_FS"),
    ("btrfs", "BTRFS_FS"),
    ("xfs", "XFS_FS"),
    ("f2fs", "F2FS_FS"),
    ("ubifs", "UBIFS_FS"),
    ("jffs2", "JFFS2_FS"),
    ("cramfs", "CRAMFS"),
    ("nfs", "ROOT_NFS"),
];

/// Why a kernel with these options could not mount the root of `line`.
fn cannot_mount(line: &str, config: &DotConfig) -> Option<String> {
    let words = cmdline::words(line);
    let wanted = words
        .iter()
        .rev()
        .find_map(|w| cmdline::value_of(w, "rootfstype"));
    let named = |name: &str| wanted.is_none_or(|w| w.split(',').any(|w| w == name));
    let known: Vec<_> = ROOTS.iter().filter(|(name, _)| named(name)).collect();
    let built_in = known.iter().any(|(_, option)| config.is_on(option));
    // One that is not listed may be built in.
    let unlisted = known.is_empty();
    (!built_in && !unlisted).then(|| {
        let (_, option) = known[0];
        format!(
            "the kernel has no file system of a root built in, as CONFIG_{option}=y and the driver \
             of its device would; kernel-options sets both, if it is built from source"
        )
    })
}

fn no_initramfs(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    if target.spec.initramfs.is_none() {
        return Err("the target is without an initramfs already".into());
    }
    let kernel = target.spec.kernel.as_ref();
    let line = kernel.map_or("", |k| &*k.cmdline);
    let has_root = |w: &&str| cmdline::value_of(w, "root").is_some();
    if !cmdline::words(line).iter().any(has_root) {
        return Err("no root= on the command line: the initramfs is the root".into());
    }
    let mut edits = named_nowhere(target)?;
    match parts
        .kernel_config
        .as_ref()
        .and_then(|c| cannot_mount(line, c))
    {
        Some(why) => Err(why),
        None => {
            edits.push(Edit::remove("initramfs"));
            Ok(edits)
        }
    }
}
