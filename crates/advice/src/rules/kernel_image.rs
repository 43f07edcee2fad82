//! How the kernel is built: what is read, unpacked and initialised at all.

use super::checks;
use super::seen::{configs, is_kernels, is_off, options_on};
use crate::lines::{Begin, Line};
use crate::{Boot, Finding};

checks! {
    "config-kernel-compression" => slow_compression,
    "config-kernel-lz4" => gzip,
    "config-optimize-size" => for_size,
    "config-no-smp" => one_cpu,
    "config-thumb2" => thumb,
    "config-hz" => tick,
    "config-module-compression" => module_compression,
    "config-kallsyms-all" => symbols,
    "config-ikconfig" => own_config,
    "config-xip-kernel" => xip,
    "config-unused-subsystems" => subsystems,
    "config-module-strip" => debug_info,
}

/// A finding about an option; nothing but a comparison tells what it costs.
fn built(why: String, depends: &str) -> Finding {
    Finding::new().why(why).saves_unknown(depends)
}

/// How long the image unpacked itself, if it said so on a console.
fn unpacking<'a>(boot: &Boot<'a>) -> Option<Line<'a>> {
    let line = boot.line(["Uncompressing Linux...", "Decompressing Linux..."])?;
    (line.ns() > 0).then_some(line)
}

/// A finding about the image's compression.
fn compression(boot: &Boot<'_>, options: &[&str]) -> Finding {
    let finding = Finding::new()
        .why(format!("the kernel is built with {}", configs(options)))
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

fn slow_compression(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["KERNEL_XZ", "KERNEL_LZMA", "KERNEL_BZIP2"]);
    if on.is_empty() {
        return None;
    }
    Some(compression(boot, &on))
}

fn gzip(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["KERNEL_GZIP"]);
    if on.is_empty() || !(is_off(boot, "KERNEL_LZ4") || is_off(boot, "KERNEL_LZO")) {
        return None;
    }
    Some(compression(boot, &on))
}

fn for_size(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["CC_OPTIMIZE_FOR_SIZE"]);
    let why = format!("it is built with {}", configs(&on));
    let depends = "loading against running: the references disagree; compare the whole boot";
    (!on.is_empty()).then(|| built(why, depends))
}

fn one_cpu(boot: &Boot<'_>) -> Option<Finding> {
    let limits = ["maxcpus", "nosmp", "nr_cpus"];
    let is_limited = limits.iter().any(|p| boot.parameter(p).is_some());
    let is_arm64 = boot.line("Booting Linux on physical CPU 0x0000").is_some()
        || !options_on(boot, &["ARM64"]).is_empty();
    let node = "Brought up 1 node, 1 CPU";
    let says = |t: &str| t.ends_with(node) || !t.contains(node);
    let line = boot.line(([node, "Total of 1 processors activated"], says))?;
    // Who knows neither cannot say that nobody asked for it.
    if is_limited || is_arm64 || boot.facts().cmdline.is_none() {
        return None;
    }
    let finding = built(
        format!("`{}`", line.text),
        "a smaller image and no locks: it depends on the CPU; try it",
    );
    Some(finding.seen([line.evidence]))
}

fn thumb(boot: &Boot<'_>) -> Option<Finding> {
    if !is_off(boot, "THUMB2_KERNEL") || options_on(boot, &["ARM"]).is_empty() {
        return None;
    }
    Some(built(
        "the kernel is built without CONFIG_THUMB2_KERNEL".to_owned(),
        "a fifth of the image less to read and to unpack",
    ))
}

fn tick(boot: &Boot<'_>) -> Option<Finding> {
    let hz = boot.kernel_config()?.number("HZ");
    hz.filter(|hz| (1..=100).contains(hz))?;
    Some(built(
        "the kernel is built with CONFIG_HZ=100: a sleep of 1 ms takes up to 20 ms".to_owned(),
        "it depends on how often drivers sleep for short times while they probe; try it",
    ))
}

fn module_compression(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["MODULE_COMPRESS_XZ", "MODULE_COMPRESS_GZIP"]);
    // Since 6.12 the format is chosen apart from whether all are compressed.
    if on.is_empty() || is_off(boot, "MODULE_COMPRESS_ALL") {
        return None;
    }
    let finding = built(
        format!("the kernel is built with {}", configs(&on)),
        "it depends on how many modules the boot loads, and on their size",
    );
    Some(finding.recipe(boot.recipe("initramfs-plain-modules")))
}

fn symbols(boot: &Boot<'_>) -> Option<Finding> {
    let needed = options_on(boot, &["LIVEPATCH", "PROVE_LOCKING", "LOCK_STAT"]);
    if !needed.is_empty() || options_on(boot, &["KALLSYMS_ALL"]).is_empty() {
        return None;
    }
    Some(built(
        "it is built with CONFIG_KALLSYMS_ALL".to_owned(),
        "some 100 KB to 2 MB of the image, at the speed of storage and decompression",
    ))
}

fn own_config(boot: &Boot<'_>) -> Option<Finding> {
    if options_on(boot, &["IKCONFIG"]).is_empty() {
        return None;
    }
    Some(built(
        "it is built with CONFIG_IKCONFIG".to_owned(),
        "30 to 60 KB of the image: it matters where storage is very slow",
    ))
}

fn xip(boot: &Boot<'_>) -> Option<Finding> {
    let is_found = |t: &str| t.contains(": Found ") && t.contains("devices at 0x");
    let line = boot.line(("-bit bank", is_found))?;
    if !is_off(boot, "XIP_KERNEL") {
        return None;
    }
    let finding = built(
        format!(
            "`{}`, and the kernel is built without CONFIG_XIP_KERNEL",
            line.text
        ),
        "the time to copy and to unpack, less what slower execution takes back",
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

fn subsystems(boot: &Boot<'_>) -> Option<Finding> {
    let first = |(text, option): &(&'static str, &'static str)| {
        let line = boot.line(Begin(*text)).filter(|l| is_kernels(boot, l))?;
        Some((*option, line))
    };
    let mut found: Vec<(&str, Line<'_>)> = SUBSYSTEM_LINES.iter().filter_map(first).collect();
    found.sort_by_key(|(_, line)| line.start_ns);
    let seen_end = super::seen::init_ns(boot).is_some();
    if found.len() < 3 || !seen_end {
        return None;
    }
    let names: Vec<&str> = found.iter().map(|(option, _)| *option).collect();
    let finding = built(
        format!(
            "{} register themselves before the first program",
            configs(&names)
        ),
        "boot with `initcall_debug`: their initcalls show it",
    );
    Some(finding.seen(found.iter().map(|(_, line)| line.evidence)))
}

fn debug_info(boot: &Boot<'_>) -> Option<Finding> {
    let on = options_on(boot, &["DEBUG_INFO", "MODULES"]);
    if on.len() < 2 {
        return None;
    }
    Some(built(
        "the kernel is built with CONFIG_DEBUG_INFO".to_owned(),
        "nothing, if they were stripped; else nine tenths of what loading them takes",
    ))
}
