//! Decompressing where reading would be cheaper.

use bootlap_model::TrackKind;

use super::{Rule, RuleMeta};
use crate::boot::{Found, evidence, total_ns};
use crate::{Boot, Finding, Saving, SavingKind};

/// Shorter than this is not worth a line, ns.
const WORTH_IT_NS: i64 = 1_000_000;

/// The boot loader decompresses the kernel.
///
/// Without compression the kernel is only copied. How fast this machine copies
/// is taken from the same boot: the boot loader moves the initramfs, too.
pub(super) struct KernelCompression;

impl Rule for KernelCompression {
    fn meta(&self) -> &'static RuleMeta {
        &RuleMeta {
            name: "kernel-compression",
            title: "the boot loader decompresses the kernel",
        }
    }

    fn check(&self, boot: &Boot<'_>, out: &mut Vec<Finding>) {
        let unpacks = boot.spans(TrackKind::Bootloader, "uncompress kernel");
        let copy_ns = copy_ns_per_byte(boot).zip(kernel_bytes(boot));
        let copy_ns = copy_ns.map_or(0, |(rate, bytes)| (rate * bytes as f64) as i64);
        let ns = total_ns(&unpacks).saturating_sub(copy_ns);
        if ns < WORTH_IT_NS {
            return;
        }
        out.push(Finding {
            rule: self.meta().name.into(),
            title: "U-Boot decompresses the kernel, slowly".into(),
            why: format!(
                "it takes {} ms; a copy would take about {} ms",
                total_ns(&unpacks) / 1_000_000,
                copy_ns / 1_000_000
            ),
            saving: Saving {
                ns,
                kind: SavingKind::ThisBoot,
                basis: "the decompression minus a copy at this boot loader's speed; slow storage \
                        takes some of it back for reading more"
                    .into(),
            },
            fix: "store the kernel uncompressed in the FIT (compression = \"none\")".into(),
            recipe: boot.recipe("kernel-compression=none").ok(),
            at_ns: unpacks.first().map(|u| [u.start_ns, u.end_ns]),
            evidence: evidence(&unpacks),
        });
    }
}

fn kernel_bytes(boot: &Boot<'_>) -> Option<usize> {
    boot.target.map(|(_, parts)| parts.kernel.bytes.len())
}

/// From moving the initramfs: ns per byte.
fn copy_ns_per_byte(boot: &Boot<'_>) -> Option<f64> {
    let copies = boot.spans(TrackKind::Bootloader, "load ramdisk");
    let rate = |copy: &Found<'_>| {
        let bytes: f64 = boot.timeline.arg(copy.span, "bytes")?.parse().ok()?;
        (bytes > 0.0).then(|| copy.ns() as f64 / bytes)
    };
    copies.iter().find_map(rate)
}

/// The kernel decompresses the initramfs.
///
/// The saving is the share of unpacking that decompressing has: what is left
/// is writing the files, at the speed at which the boot loader copies.
pub(super) struct InitramfsCompression;

impl Rule for InitramfsCompression {
    fn meta(&self) -> &'static RuleMeta {
        &RuleMeta {
            name: "initramfs-compression",
            title: "the kernel decompresses the initramfs",
        }
    }

    fn check(&self, boot: &Boot<'_>, out: &mut Vec<Finding>) {
        let Ok(recipe) = boot.recipe("initramfs-compression=none") else {
            return;
        };
        let unpacks = boot.spans(TrackKind::Kernel, "unpack initramfs");
        let write_ns = copy_ns_per_byte(boot).zip(initramfs_bytes(boot));
        let write_ns = write_ns.map_or(0, |(rate, bytes)| (rate * bytes as f64) as i64);
        let ns = total_ns(&unpacks).saturating_sub(write_ns);
        if ns < WORTH_IT_NS {
            return;
        }
        out.push(Finding {
            rule: self.meta().name.into(),
            title: "the kernel decompresses the initramfs".into(),
            why: format!("unpacking takes {} ms", total_ns(&unpacks) / 1_000_000),
            saving: Saving {
                ns,
                kind: SavingKind::ThisBoot,
                basis: "unpacking minus writing the files; slow storage takes some of it back \
                        for reading more"
                    .into(),
            },
            fix: "store the initramfs uncompressed, or as lz4 where storage is slow".into(),
            recipe: Some(recipe),
            at_ns: unpacks.first().map(|u| [u.start_ns, u.end_ns]),
            evidence: evidence(&unpacks),
        });
    }
}

fn initramfs_bytes(boot: &Boot<'_>) -> Option<usize> {
    boot.target.and_then(|(_, parts)| parts.initramfs_bytes())
}
