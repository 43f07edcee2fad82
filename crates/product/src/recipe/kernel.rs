//! Recipes that build the kernel.

use super::{Listed, Plain, options};
use crate::{Edit, Machine, Parts, Target};

/// Build a kernel with only what this machine needs.
///
/// A distribution's kernel sets up hardware, network protocols and file systems
/// that a product does not have; most of its time goes there. This one begins
/// with nothing and adds what the target's machine, its console, its initramfs
/// and the programs in it ask for. The boot is the oracle: whether it gets
/// ready and its `check` passes decides, and `kernel.build.options` takes more.
pub(super) const MINIMAL: Plain = Plain::new(
    "kernel-minimal",
    "the kernel is built from source with only what the machine needs",
    "what nobody thought of is missing; updates of the kernel are yours to build",
    minimal,
)
.only_if_asked();

/// Build the kernel with other options.
///
/// Tracing, debugging and self-tests cost in every initcall; drivers that found
/// nothing to drive cost their probe. `bootlap explain` names the option behind
/// an initcall. Kconfig refuses what other options need, and says so.
pub(super) const OPTIONS: Plain = Plain::new(
    "kernel-options",
    "the kernel is built with other options",
    "what needed the option is missing; updates of the kernel are yours to build",
    options,
)
.lists(Listed::Changed)
.only_if_asked();

/// Compile the kernel for size (`-Os`).
///
/// Less to load and to decompress, and slower code. Others measured a kernel
/// that started sooner and a login that came later, so measure to the end.
pub(super) const OPTIMIZE_SIZE: Plain = Plain::new(
    "kernel-optimize-size",
    "the kernel is compiled for size",
    "slower code in all that the kernel does afterwards",
    optimize_size,
)
.only_if_asked();

/// `package:` of a kernel of the distribution, and where its source is.
const PACKAGED: &str = "package:linux-image-";
const SOURCE: &str = "package:linux-source/usr/src/linux-source-*.tar.xz";

/// What nearly every product with BusyBox in an initramfs needs: the C library
/// and shells (futexes, epoll, timers, signals, tmpfs), a log, device nodes.
const COMMON: &[&str] = &[
    "EXPERT",
    "MULTIUSER",
    "PRINTK",
    "PRINTK_TIME",
    "BUG",
    "FUTEX",
    "EPOLL",
    "SIGNALFD",
    "TIMERFD",
    "EVENTFD",
    "POSIX_TIMERS",
    "SHMEM",
    "SYSVIPC",
    "BLK_DEV_INITRD",
    "RD_GZIP",
    "RD_LZ4",
    "RD_ZSTD",
    "BINFMT_ELF",
    "BINFMT_SCRIPT",
    "TTY",
    "UNIX98_PTYS",
    "DEVTMPFS",
    "PROC_FS",
    "SYSFS",
    "TMPFS",
    "NET",
    "UNIX",
    "INET",
    "HIGH_RES_TIMERS",
    "NO_HZ_IDLE",
    "KALLSYMS",
    "CC_OPTIMIZE_FOR_PERFORMANCE",
];

/// QEMU's `virt` machine for arm64: its UART and the firmware's interface.
const VIRT_ARM64: &[&str] = &[
    "SERIAL_AMBA_PL011",
    "SERIAL_AMBA_PL011_CONSOLE",
    "ARM64_VA_BITS_39",
];

fn minimal(target: &Target, _: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let kernel = target.spec.kernel.as_ref();
    let kernel = kernel.ok_or("the target has no kernel")?;
    if kernel.build.is_some() {
        return Err("the kernel is built from source already; see kernel.build.options".into());
    }
    if !kernel
        .image
        .as_deref()
        .is_some_and(|i| i.starts_with(PACKAGED))
    {
        return Err(
            "the kernel is no package of the distribution, so its source is not known; \
             describe it in [kernel.build]"
                .into(),
        );
    }
    let packages = target.spec.packages.as_ref();
    let is_virt = match &target.machine {
        Machine::Qemu(qemu) => qemu.machine.split(',').next() == Some("virt"),
        Machine::Board(_) => false,
    };
    if !is_virt || packages.is_none_or(|p| p.architecture != "arm64") {
        return Err(
            "what hardware the machine has is only known of QEMU's virt for arm64; describe \
             your kernel in [kernel.build]"
                .into(),
        );
    }
    if target.spec.initramfs.is_none() {
        return Err("the target has no initramfs, and what its root is on is not known".into());
    }
    let mut edits = vec![
        Edit::set("kernel.image", "build:arch/arm64/boot/Image"),
        Edit::set("kernel.build.source", SOURCE),
        Edit::set("kernel.build.architecture", "arm64"),
        Edit::set("kernel.build.config", "allnoconfig"),
    ];
    for option in COMMON.iter().chain(VIRT_ARM64) {
        edits.push(Edit::set(&format!("kernel.build.options.{option}"), "y"));
    }
    Ok(edits)
}

/// The edits that give the kernel's build these options.
fn with_options(target: &Target, wanted: &[(&str, &str)]) -> Result<Vec<Edit>, String> {
    let kernel = target.spec.kernel.as_ref();
    let build = kernel.and_then(|k| k.build.as_ref()).ok_or(
        "the kernel is not built from source; describe it in [kernel.build], or let \
         kernel-minimal do it",
    )?;
    options::set("kernel", &build.options, wanted)
}

fn options(target: &Target, _: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let example = "kernel-options=FTRACE=n,RAID6_PQ_BENCHMARK=n";
    let wanted = options::parse(value, example)?;
    with_options(target, &wanted)
}

fn optimize_size(target: &Target, _: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let size = ("CC_OPTIMIZE_FOR_SIZE", "y");
    let speed = ("CC_OPTIMIZE_FOR_PERFORMANCE", "n");
    with_options(target, &[speed, size])
}
