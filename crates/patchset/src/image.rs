//! The image that the boot loader reads: its description for `mkimage`, and the
//! script that makes it.

use bootlap_artefact::compress::Compression;
use bootlap_artefact::hash::Hash;
use bootlap_product::Starter;

use super::changes::{Change, Changes};
use super::quote::comment;

/// How files with this compression are called, and the command that makes one
/// of `$1` into `$2`.
fn packing(compression: Compression) -> (&'static str, &'static str) {
    match compression {
        Compression::Gzip => (".gz", "gzip -n -9 -c \"$1\" >\"$2\""),
        Compression::Bzip2 => (".bz2", "bzip2 -9 -c \"$1\" >\"$2\""),
        // The kernel allocates the dictionary; it knows no CRC-64.
        Compression::Lzma => (
            ".lzma",
            "xz --format=lzma --lzma1=preset=9,dict=1MiB -c \"$1\" >\"$2\"",
        ),
        Compression::Xz => (
            ".xz",
            "xz --check=crc32 --lzma2=dict=1MiB -c \"$1\" >\"$2\"",
        ),
        Compression::Lz4 => (".lz4", "lz4 -q -f -9 \"$1\" \"$2\""),
        // The only LZ4 that the kernel reads; a boot loader reads the other.
        Compression::Lz4Legacy => (".lz4", "lz4 -q -f -l -9 \"$1\" \"$2\""),
        Compression::Zstd => (".zst", "zstd -q -f -19 \"$1\" -o \"$2\""),
        Compression::None | Compression::Lzo => ("", "cp -- \"$1\" \"$2\""),
    }
}

/// The ending of a file with this compression: `.gz`.
pub(super) fn ending(compression: Compression) -> &'static str {
    packing(compression).0
}

/// How the kernel wants an initramfs that is packed like this.
fn for_kernel(compression: Compression) -> Compression {
    match compression {
        Compression::Lz4 => Compression::Lz4Legacy,
        other => other,
    }
}

/// The description, for `mkimage -f`.
pub(super) fn its(changes: &Changes<'_>) -> Option<String> {
    let fit = changes.tuned.spec.fit.as_ref()?;
    let arch = changes.arch?.uboot_name();
    let mut about = String::new();
    for step in changes.steps_with(|c| {
        matches!(
            c,
            Change::Hash(_) | Change::Load(_) | Change::Kernel(_) | Change::Initramfs(_)
        )
    }) {
        about += &format!("// {}\n", step.line());
    }
    let hash = match fit.hash {
        Hash::None => String::new(),
        hash => format!(
            "\t\t\thash-1 {{\n\t\t\t\talgo = \"{}\";\n\t\t\t}};\n",
            hash.name()
        ),
    };
    let kernel = changes.kernel_compression();
    let load = cells(fit.load_address);
    let kernel = format!(
        "\t\tkernel-1 {{\n\
         \t\t\tdescription = \"kernel\";\n\
         \t\t\tdata = /incbin/(\"kernel{}\");\n\
         \t\t\ttype = \"kernel\";\n\
         \t\t\tarch = \"{arch}\";\n\
         \t\t\tos = \"linux\";\n\
         \t\t\tcompression = \"{}\";\n\
         \t\t\tload = <{load}>;\n\
         \t\t\tentry = <{load}>;\n\
         {hash}\
         \t\t}};\n",
        ending(kernel),
        kernel.fit_name().unwrap_or("none"),
    );
    let (ramdisk, its_name) = if changes.has_initramfs {
        // Its compression is the kernel's business, whatever it is.
        let ramdisk = format!(
            "\t\tramdisk-1 {{\n\
             \t\t\tdescription = \"initramfs\";\n\
             \t\t\tdata = /incbin/(\"initramfs.cpio{}\");\n\
             \t\t\ttype = \"ramdisk\";\n\
             \t\t\tarch = \"{arch}\";\n\
             \t\t\tos = \"linux\";\n\
             \t\t\tcompression = \"none\";\n\
             {hash}\
             \t\t}};\n",
            ending(changes.initramfs_compression()),
        );
        (ramdisk, "\t\t\tramdisk = \"ramdisk-1\";\n")
    } else {
        (String::new(), "")
    };
    Some(format!(
        "/dts-v1/;\n\n\
         // The image of {}, for mkimage; make-images.sh makes the files in it.\n\
         {about}\
         / {{\n\
         \tdescription = \"made by bootlap\";\n\
         \t#address-cells = <1>;\n\n\
         \timages {{\n\
         {kernel}{ramdisk}\
         \t}};\n\n\
         \tconfigurations {{\n\
         \t\tdefault = \"conf-1\";\n\
         \t\tconf-1 {{\n\
         \t\t\tdescription = \"made by bootlap\";\n\
         \t\t\tkernel = \"kernel-1\";\n\
         {its_name}\
         \t\t}};\n\
         \t}};\n\
         }};\n",
        comment(&changes.start.spec.name),
    ))
}

/// How to make the legacy uImages that changed, in Markdown; none if none did.
pub(super) fn uimage(changes: &Changes<'_>) -> Option<String> {
    let uimage = changes.tuned.spec.uimage.as_ref()?;
    if uimage.started_by == Starter::Spl {
        return Some(format!(
            "What SPL starts: a uImage, loaded at {:#x}, of the device tree (with the command \
             line, the initramfs's place and the memory in it), the kernel and the initramfs. \
             `bootlap build` says where U-Boot's options are; SPL looks for the uImage where it \
             would look for U-Boot.",
            uimage.load_address
        ));
    }
    let arch = changes.arch?.uboot_name();
    let mkimage = format!("mkimage -A {arch} -O linux");
    let mut commands = Vec::new();
    if changes.any(|c| matches!(c, Change::Load(_) | Change::Kernel(_) | Change::Unpacked(_))) {
        let kernel = changes.kernel_compression();
        commands.push(format!(
            "`{mkimage} -T kernel -C {} -a {:#x} -e {:#x} -n kernel -d KERNEL uImage`",
            kernel.fit_name().unwrap_or("none"),
            uimage.load_address,
            uimage.entry.unwrap_or(uimage.load_address),
        ));
    }
    if changes.has_initramfs && changes.any(|c| matches!(c, Change::Initramfs(_))) {
        commands.push(format!(
            "`{mkimage} -T ramdisk -C none -n initramfs -d INITRAMFS.cpio{} uInitramfs`",
            ending(for_kernel(changes.initramfs_compression()))
        ));
    }
    let commands = commands.join(" and ");
    (!commands.is_empty()).then(|| format!("The uImages. Make them with {commands}."))
}

/// An address as one cell, or as two if it needs them.
fn cells(address: u64) -> String {
    let (high, low) = (address >> 32, address & 0xffff_ffff);
    if high == 0 {
        format!("{low:#x}")
    } else {
        format!("{high:#x} {low:#x}")
    }
}

/// The script that makes what the boot loader reads; none if that is as before.
pub(super) fn script(changes: &Changes<'_>, with_environment: bool) -> Option<String> {
    let size = changes.environment_size();
    let size = size.filter(|_| with_environment && !changes.variables.is_empty());
    let image = changes.image();
    if size.is_none() && !image {
        return None;
    }
    let name = comment(&changes.start.spec.name);
    let initramfs = image && changes.has_initramfs;
    let mut names = Vec::new();
    if image {
        names.push("KERNEL");
    }
    if initramfs {
        names.push("INITRAMFS.cpio");
    }
    names.push("OUT");
    let usage = names.join(" ");
    let mut out = format!(
        "#!/bin/sh\n\
         # Makes what the boot loader of {name} reads, in the folder OUT.\n\
         # KERNEL and INITRAMFS.cpio are not compressed.\n\
         set -eu\n\
         if [ $# -ne {} ]; then\n\
         \techo \"usage: $0 {usage}\" >&2\n\
         \texit 2\n\
         fi\n\
         here=$(cd -- \"$(dirname -- \"$0\")\" && pwd)\n",
        names.len(),
    );
    let out_at = names.len();
    out += &format!("out=${out_at}\nmkdir -p -- \"$out\"\n");
    if image {
        let kernel = changes.kernel_compression();
        let initramfs_as = for_kernel(changes.initramfs_compression());
        out += &function("pack_kernel", kernel);
        if initramfs {
            out += &function("pack_initramfs", initramfs_as);
        }
        out += &format!("pack_kernel \"$1\" \"$out/kernel{}\"\n", ending(kernel));
        if initramfs {
            out += &format!(
                "pack_initramfs \"$2\" \"$out/initramfs.cpio{}\"\n",
                ending(initramfs_as)
            );
        }
        // mkimage looks for what it includes beside the description.
        out += "cp -- \"$here/image.its\" \"$out/image.its\"\n\
                (cd -- \"$out\" && mkimage -q -f image.its image.itb)\n";
    }
    if let Some(size) = size {
        out +=
            &format!("mkenvimage -s {size:#x} -o \"$out/uboot-env.bin\" \"$here/uboot-env.txt\"\n");
    }
    Some(out)
}

fn function(name: &str, compression: Compression) -> String {
    format!("{name}() {{\n\t{}\n}}\n", packing(compression).1)
}
