//! How the kernel is built: what is read, unpacked and initialised at all.

use super::seen::{configs, is_kernels, is_off, options_on};
use super::{Rule, rule};
use crate::lines::Line;
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &SLOW_COMPRESSION,
    &GZIP,
    &FOR_SIZE,
    &ONE_CPU,
    &THUMB,
    &TICK,
    &MODULE_COMPRESSION,
    &SYMBOLS,
    &OWN_CONFIG,
    &XIP,
    &SUBSYSTEMS,
    &DEBUG_INFO,
];

/// A finding about an option; nothing but a comparison tells what it costs.
fn built(title: &str, why: String, depends: &str, fix: &str) -> Finding {
    Finding::new(title).why(why).saves_unknown(depends).fix(fix)
}

/// How long the image unpacked itself, if it said so on a console.
fn unpacking<'a>(boot: &Boot<'a>) -> Option<Line<'a>> {
    let texts = ["Uncompressing Linux...", "Decompressing Linux..."];
    let line = texts.iter().find_map(|text| boot.line(text))?;
    (line.ns() > 0).then_some(line)
}

/// A finding about the image's compression.
fn compression(boot: &Boot<'_>, title: &str, options: &[&str], fix: &str) -> Finding {
    let finding = Finding::new(title)
        .why(format!("the kernel is built with {}", configs(options)))
        .fix(fix)
        .saves_unknown(
            "it is reading plus unpacking: bytes divided by the storage's speed, and the CPU's time",
        );
    match unpacking(boot) {
        Some(line) => finding
            .saves(
                line.ns(),
                "at most: from that line to the next; a larger image is read longer",
            )
            .at(Some(line.at()))
            .seen([line.evidence]),
        None => finding,
    }
}

rule! {
    /// The kernel is compressed so well that unpacking it is slow.
    ///
    /// **Why.** LZMA, XZ and bzip2 make the smallest images, and unpack three to ten times
    /// slower than gzip, on one CPU.
    ///
    /// **Evidence.** `CONFIG_KERNEL_XZ`, `CONFIG_KERNEL_LZMA` or `CONFIG_KERNEL_BZIP2` in the
    /// `.config`. How long, `Uncompressing Linux...` on a stamped console shows.
    ///
    /// **Fix.** `CONFIG_KERNEL_LZO`, `_LZ4` or `_ZSTD`, whichever boots fastest from this
    /// storage.
    ///
    /// **Risk.** The image becomes larger: mind the partition.
    ///
    /// **Figures.** AM335x, 1 GHz, to user space: lzma 2.167 s, xz 1.999 s, gzip 1.451 s, lzo
    /// 1.416 s, lz4 1.462 s; AT91SAM9263, 200 MHz, in all: 14.2, 11.9, 8.8, 8.7, 9.4 s. On
    /// x86 xz to zstd saved 2 s (Facebook).
    SLOW_COMPRESSION = "config-kernel-compression", Kernel, slow_compression
}

fn slow_compression(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["KERNEL_XZ", "KERNEL_LZMA", "KERNEL_BZIP2"]);
    if on.is_empty() {
        return None;
    }
    let title = "the kernel is compressed so well that unpacking it is slow";
    let fix = "build it with CONFIG_KERNEL_LZO, _LZ4 or _ZSTD, whichever boots fastest here";
    Some(compression(boot, title, &on, fix))
}

rule! {
    /// The kernel is compressed with gzip where a faster one exists.
    ///
    /// **Why.** LZ4 and LZO unpack several times faster than gzip, and the image becomes a
    /// quarter larger: on fast storage they win.
    ///
    /// **Evidence.** `CONFIG_KERNEL_GZIP=y` where the `.config` offers `CONFIG_KERNEL_LZ4` or
    /// `CONFIG_KERNEL_LZO`.
    ///
    /// **Fix.** `CONFIG_KERNEL_LZ4=y`, if the storage reads some 40 MB/s and more; measure.
    ///
    /// **Risk.** None but the size.
    ///
    /// **Figures.** 7 times as fast and 25 % larger on x86 (Ubuntu 19.10); 0.5–1 s with the
    /// ramdisk (Android). Contradicting: on slow SD lz4 was slower in all than gzip, 6.017
    /// against 5.516 s (AM335x), 9.368 against 8.795 s (AT91SAM9263).
    GZIP = "config-kernel-lz4", Kernel, gzip
}

fn gzip(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["KERNEL_GZIP"]);
    if on.is_empty() || !(is_off(boot, "KERNEL_LZ4") || is_off(boot, "KERNEL_LZO")) {
        return None;
    }
    let title = "the kernel is compressed with gzip where a faster one exists";
    let fix = "try CONFIG_KERNEL_LZ4 or CONFIG_KERNEL_LZO; on slow storage gzip may stay ahead";
    Some(compression(boot, title, &on, fix))
}

rule! {
    /// The kernel is built to be small, not fast.
    ///
    /// **Why.** `-Os` makes it load faster and run slower; the latter costs longer.
    ///
    /// **Evidence.** `CONFIG_CC_OPTIMIZE_FOR_SIZE=y`.
    ///
    /// **Fix.** `CONFIG_CC_OPTIMIZE_FOR_PERFORMANCE=y`, and compare the whole boot.
    ///
    /// **Risk.** The image grows by some 10 %.
    ///
    /// **Figures.** `-Os`: starting the kernel -94 ms, init -44 ms, login +1.815 s (SAMA5D3);
    /// -52 ms to load, +159 ms to init (BeagleBone Black, 5.11). An older note on eLinux has
    /// it 20 ms better.
    FOR_SIZE = "config-optimize-size", Kernel, for_size
}

fn for_size(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["CC_OPTIMIZE_FOR_SIZE"]);
    let why = format!("it is built with {}", configs(&on));
    let depends = "loading against running: the references disagree; compare the whole boot";
    let fix = "build with CONFIG_CC_OPTIMIZE_FOR_PERFORMANCE=y and compare";
    (!on.is_empty()).then(|| {
        built(
            "the kernel is built to be small, not fast",
            why,
            depends,
            fix,
        )
    })
}

rule! {
    /// A kernel for several CPUs runs on one.
    ///
    /// **Why.** Locks, per-CPU areas and the start of other CPUs are of no use there.
    ///
    /// **Evidence.** `smp: Brought up 1 node, 1 CPU` without `maxcpus=` or `nosmp`; or
    /// `SMP: Total of 1 processors activated`. Not on arm64, whose kernels cannot be built
    /// otherwise.
    ///
    /// **Fix.** `CONFIG_SMP=n`, if all variants of the product have one CPU.
    ///
    /// **Risk.** Other variants use one CPU only.
    ///
    /// **Figures.** 188 KB of the compressed image (BeagleBone Black); no time is published.
    ONE_CPU = "config-no-smp", Kernel, one_cpu
}

fn one_cpu(boot: &Boot<'_>) -> Option<Finding> {
    let limits = ["maxcpus", "nosmp", "nr_cpus"];
    let is_limited = limits.iter().any(|p| boot.parameter(p).is_some());
    let is_arm64 = boot.line("Booting Linux on physical CPU 0x0000").is_some()
        || !options_on(boot, &["ARM64"]).is_empty();
    let says = |t: &str| {
        t.ends_with("Brought up 1 node, 1 CPU") || t.contains("Total of 1 processors activated")
    };
    let line = boot.lines().iter().find(|l| says(l.text))?;
    // Who knows neither cannot say that nobody asked for it.
    if is_limited || is_arm64 || boot.facts().cmdline.is_none() {
        return None;
    }
    let finding = built(
        "a kernel for several CPUs runs on one",
        format!("`{}`", line.text),
        "a smaller image and no locks: it depends on the CPU; try it",
        "build with CONFIG_SMP=n, if all variants of the product have one CPU",
    );
    Some(finding.seen([line.evidence]))
}

rule! {
    /// An ARM kernel is built in the larger instruction set.
    ///
    /// **Why.** Thumb-2 code is a fifth smaller: less to read, to unpack and to cache.
    ///
    /// **Evidence.** `# CONFIG_THUMB2_KERNEL is not set` with `CONFIG_ARM=y`; the option only
    /// exists where the CPU can do it.
    ///
    /// **Fix.** `CONFIG_THUMB2_KERNEL=y`.
    ///
    /// **Risk.** Assembly in drivers from elsewhere may not build.
    ///
    /// **Figures.** User space: 19 % smaller, 2 % faster (uClibc, GCC 10.3, Bootlin); none
    /// for the kernel.
    THUMB = "config-thumb2", Kernel, thumb
}

fn thumb(boot: &Boot<'_>) -> Option<Finding> {
    if !is_off(boot, "THUMB2_KERNEL") || options_on(boot, &["ARM"]).is_empty() {
        return None;
    }
    Some(built(
        "an ARM kernel is built in the larger instruction set",
        "the kernel is built without CONFIG_THUMB2_KERNEL".to_owned(),
        "a fifth of the image less to read and to unpack",
        "build with CONFIG_THUMB2_KERNEL=y",
    ))
}

rule! {
    /// The kernel's clock ticks so rarely that short waits become long.
    ///
    /// **Why.** A driver that sleeps for 1 ms is woken at the second next tick: at 100 Hz it
    /// sleeps up to 20 ms. Probing hardware is full of such sleeps.
    ///
    /// **Evidence.** `CONFIG_HZ=100` in the `.config`.
    ///
    /// **Fix.** `CONFIG_HZ_250=y` or `CONFIG_HZ_1000=y`, and compare.
    ///
    /// **Risk.** More interrupts from the timer; slow CPUs feel 1000 Hz.
    ///
    /// **Figures.** None is published for booting. The kernel's own documentation: `msleep`
    /// of 1 to 20 ms sleeps about 20 ms.
    TICK = "config-hz", Kernel, tick
}

fn tick(boot: &Boot<'_>) -> Option<Finding> {
    let hz = boot.kernel_config()?.number("HZ");
    hz.filter(|hz| (1..=100).contains(hz))?;
    Some(built(
        "the kernel's clock ticks so rarely that short waits become long",
        "the kernel is built with CONFIG_HZ=100: a sleep of 1 ms takes up to 20 ms".to_owned(),
        "it depends on how often drivers sleep for short times while they probe; try it",
        "build with CONFIG_HZ_250=y or CONFIG_HZ_1000=y and compare",
    ))
}

rule! {
    /// Modules are compressed so well that unpacking them is slow.
    ///
    /// **Why.** Each module that the boot loads is unpacked, with XZ ten times slower than
    /// with zstd; inside of a compressed initramfs it was unpacked once already.
    ///
    /// **Evidence.** `CONFIG_MODULE_COMPRESS_XZ=y` (or `_GZIP`) in the `.config`.
    ///
    /// **Fix.** `CONFIG_MODULE_COMPRESS_ZSTD=y`, or no compression where the filesystem or
    /// the initramfs compresses.
    ///
    /// **Risk.** More storage.
    ///
    /// **Figures.** None is published for time; compressing twice made an image 0.36 MB
    /// larger (dracut-ng).
    MODULE_COMPRESSION = "config-module-compression", Kernel, module_compression
}

fn module_compression(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["MODULE_COMPRESS_XZ", "MODULE_COMPRESS_GZIP"]);
    // Since 6.12 the format is chosen apart from whether all are compressed.
    if on.is_empty() || is_off(boot, "MODULE_COMPRESS_ALL") {
        return None;
    }
    Some(built(
        "modules are compressed so well that unpacking them is slow",
        format!("the kernel is built with {}", configs(&on)),
        "it depends on how many modules the boot loads, and on their size",
        "use CONFIG_MODULE_COMPRESS_ZSTD, or none where something else compresses",
    ))
}

rule! {
    /// The kernel carries the names of all its symbols.
    ///
    /// **Why.** `CONFIG_KALLSYMS_ALL` adds data to the functions that stack traces need:
    /// some 100 KB to 2 MB to load.
    ///
    /// **Evidence.** `CONFIG_KALLSYMS_ALL=y` without `CONFIG_LIVEPATCH` or lockdep, which
    /// need it.
    ///
    /// **Fix.** `CONFIG_KALLSYMS_ALL=n`.
    ///
    /// **Risk.** Some tracing tools and debuggers find less.
    ///
    /// **Figures.** None is published alone; with other trimming, lz4 and `quiet` 3.35 to
    /// 2.06 s (showmewebcam, Raspberry Pi Zero).
    SYMBOLS = "config-kallsyms-all", Kernel, symbols
}

fn symbols(boot: &Boot<'_>) -> Option<Finding> {
    let needed = options_on(boot, &["LIVEPATCH", "PROVE_LOCKING", "LOCK_STAT"]);
    if !needed.is_empty() || options_on(boot, &["KALLSYMS_ALL"]).is_empty() {
        return None;
    }
    Some(built(
        "the kernel carries the names of all its symbols",
        "it is built with CONFIG_KALLSYMS_ALL".to_owned(),
        "some 100 KB to 2 MB of the image, at the speed of storage and decompression",
        "build with CONFIG_KALLSYMS_ALL=n",
    ))
}

rule! {
    /// The kernel carries its own configuration.
    ///
    /// **Why.** `CONFIG_IKCONFIG` adds the `.config`, 30 to 60 KB compressed, which a
    /// product can keep beside its sources.
    ///
    /// **Evidence.** `CONFIG_IKCONFIG=y`.
    ///
    /// **Fix.** `CONFIG_IKCONFIG=m`, or off.
    ///
    /// **Risk.** `/proc/config.gz` is gone.
    ///
    /// **Figures.** None is published; bytes divided by the speed of storage.
    OWN_CONFIG = "config-ikconfig", Kernel, own_config
}

fn own_config(boot: &Boot<'_>) -> Option<Finding> {
    if options_on(boot, &["IKCONFIG"]).is_empty() {
        return None;
    }
    Some(built(
        "the kernel carries its own configuration",
        "it is built with CONFIG_IKCONFIG".to_owned(),
        "30 to 60 KB of the image: it matters where storage is very slow",
        "build with CONFIG_IKCONFIG=m, or without",
    ))
}

rule! {
    /// A kernel in NOR flash is copied before it runs.
    ///
    /// **Why.** NOR can be executed where it is: nothing to copy, nothing to unpack.
    ///
    /// **Evidence.** `# CONFIG_XIP_KERNEL is not set` (so the architecture can) with parallel
    /// NOR in the log: `Found N x16 devices at 0x0 in ...-bit bank`.
    ///
    /// **Fix.** `CONFIG_XIP_KERNEL=y` with the physical address in
    /// `CONFIG_XIP_PHYS_ADDR`.
    ///
    /// **Risk.** The kernel runs slower (63 ms more to init), the image takes the flash
    /// uncompressed, and writing to that flash needs care.
    ///
    /// **Figures.** 463 ms (405LP, 266 MHz: 1357 to 894 ms), 579 ms (OMAP1510: 689 to
    /// 110 ms).
    XIP = "config-xip-kernel", Kernel, xip
}

fn xip(boot: &Boot<'_>) -> Option<Finding> {
    let is_bank = |l: &&Line<'_>| {
        l.text.contains(": Found ")
            && l.text.contains("devices at 0x")
            && l.text.contains("-bit bank")
    };
    let line = boot.lines().iter().find(is_bank)?;
    if !is_off(boot, "XIP_KERNEL") {
        return None;
    }
    let finding = built(
        "a kernel in NOR flash is copied before it runs",
        format!(
            "`{}`, and the kernel is built without CONFIG_XIP_KERNEL",
            line.text
        ),
        "the time to copy and to unpack, less what slower execution takes back",
        "build with CONFIG_XIP_KERNEL=y, if the kernel is in that flash",
    );
    Some(finding.seen([line.evidence]))
}

/// What subsystems say when they register, that few products need so early.
const SUBSYSTEM_LINES: [(&str, &str); 14] = [
    ("IPVS: ", "IP_VS"),
    ("9pnet: ", "NET_9P"),
    ("8021q: ", "VLAN_8021Q"),
    ("Bridge firewalling registered", "BRIDGE_NETFILTER"),
    ("tun: Universal TUN/TAP", "TUN"),
    ("VFIO - User Level", "VFIO"),
    ("Btrfs loaded", "BTRFS_FS"),
    ("SGI XFS with", "XFS_FS"),
    ("JFS: nTxBlock", "JFS_FS"),
    ("ocfs2: ", "OCFS2_FS"),
    ("NFS: Registering the id_resolver", "NFS_V4"),
    ("Installing knfsd", "NFSD"),
    ("can: controller area network core", "CAN"),
    ("sctp: Hash tables configured", "IP_SCTP"),
];

rule! {
    /// Subsystems are built in that few products need at boot.
    ///
    /// **Why.** Each registers itself, makes caches and prints, before the first program.
    ///
    /// **Evidence.** Three or more of them in the log before the first program: IPVS, 9P,
    /// VLANs, bridges, TUN, VFIO, Btrfs, XFS, JFS, OCFS2, NFS, CAN, SCTP.
    ///
    /// **Fix.** Leave out what the product does not use; the rest as modules.
    ///
    /// **Risk.** What needs them loads them later, or fails without them.
    ///
    /// **Figures.** None is published alone; a boot with `initcall_debug` shows each.
    SUBSYSTEMS = "config-unused-subsystems", Kernel, subsystems
}

fn subsystems(boot: &Boot<'_>) -> Option<Finding> {
    let mut found: Vec<(&str, Line<'_>)> = Vec::new();
    for line in boot.lines().iter().filter(|l| is_kernels(boot, l)) {
        let says = SUBSYSTEM_LINES
            .iter()
            .find(|(text, _)| line.text.starts_with(text));
        if let Some((_, option)) = says
            && !found.iter().any(|(known, _)| known == option)
        {
            found.push((option, *line));
        }
    }
    let seen_end = super::seen::init_ns(boot).is_some();
    if found.len() < 3 || !seen_end {
        return None;
    }
    let names: Vec<&str> = found.iter().map(|(option, _)| *option).collect();
    let finding = built(
        "subsystems are built in that few products need at boot",
        format!(
            "{} register themselves before the first program",
            configs(&names)
        ),
        "boot with `initcall_debug`: their initcalls show it",
        "leave out what the product does not use; build the rest as modules",
    );
    Some(finding.seen(found.iter().map(|(_, line)| line.evidence)))
}

rule! {
    /// Modules may carry debug information.
    ///
    /// **Why.** With `CONFIG_DEBUG_INFO` modules are ten times as large unless they are
    /// stripped when they are installed; reading and unpacking an initramfs of them takes
    /// that much longer.
    ///
    /// **Evidence.** `CONFIG_DEBUG_INFO=y` and `CONFIG_MODULES=y` in the `.config`. Whether
    /// they were stripped it does not say: `file` on a `.ko` does.
    ///
    /// **Fix.** `make INSTALL_MOD_STRIP=1 modules_install`.
    ///
    /// **Risk.** None for the product; keep the unstripped ones for debugging.
    ///
    /// **Figures.** "May save several seconds" (Android).
    DEBUG_INFO = "config-module-strip", Kernel, debug_info
}

fn debug_info(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["DEBUG_INFO", "MODULES"]);
    if on.len() < 2 {
        return None;
    }
    Some(built(
        "modules may carry debug information",
        "the kernel is built with CONFIG_DEBUG_INFO".to_owned(),
        "nothing, if they were stripped; else nine tenths of what loading them takes",
        "install them with `make INSTALL_MOD_STRIP=1 modules_install`; `file NAME.ko` tells whether \
         they are stripped",
    ))
}
