//! A layer for Yocto (BitBake).

use bootlap_artefact::compress::Compression;
use bootlap_artefact::hash::Hash;

use super::changes::{Change, Changes};
use super::quote::{bitbake, comment};
use super::{Files, config, disk_root, image, plain, rootfs};

/// The series whose variables and classes the layer uses: overrides are
/// written with a colon since 3.4, and all of these do.
const SERIES: &str =
    "kirkstone langdale mickledore nanbield scarthgap styhead walnascar whinlatter wrynose";

pub(super) fn write(changes: &Changes<'_>, files: &mut Files) {
    let slug = &changes.slug;
    let layer = layer(slug);
    let before = files.0.len();
    if let Some(text) = config::linux(changes) {
        files.text(
            format!("{layer}/recipes-kernel/linux/files/bootlap-{slug}.cfg"),
            text,
        );
        files.text(
            format!("{layer}/recipes-kernel/linux/linux-%.bbappend"),
            kernel_append(slug),
        );
    }
    let environment = plain::environment(changes);
    let uboot = config::uboot(changes);
    if environment.is_some() || uboot.is_some() {
        files.text(
            format!("{layer}/recipes-bsp/u-boot/u-boot%.bbappend"),
            uboot_append(changes, uboot.is_some(), environment.is_some()),
        );
    }
    let in_files = |name: &str| format!("{layer}/recipes-bsp/u-boot/files/bootlap-{slug}{name}");
    if let Some(text) = uboot {
        files.text(in_files(".cfg"), text);
    }
    if let Some(text) = environment {
        files.text(in_files("-env.txt"), text);
    }
    if !changes.rootfs.is_empty() {
        let folder = format!("{layer}/files/bootlap-{slug}");
        files.script(
            format!("{folder}/initramfs.sh"),
            rootfs::script(changes, "rootfs"),
        );
        rootfs::contents(changes, &format!("{folder}/rootfs"), files);
        files.text(
            format!("{layer}/classes/bootlap-{slug}.bbclass"),
            image_class(slug, "initramfs.sh"),
        );
    }
    if !changes.disk_root().is_empty() {
        let folder = format!("{layer}/files/bootlap-{slug}-root");
        files.script(
            format!("{folder}/root.sh"),
            disk_root::script(changes, "root"),
        );
        disk_root::contents(changes, &format!("{folder}/root"), files);
        files.text(
            format!("{layer}/classes/bootlap-{slug}-root.bbclass"),
            image_class(&format!("{slug}-root"), "root.sh"),
        );
    }
    if let Some(text) = settings(changes) {
        files.text(format!("{layer}/conf/bootlap-{slug}.conf"), text);
    }
    if files.0.len() > before {
        files.text(format!("{layer}/conf/layer.conf"), layer_conf(changes));
    }
}

/// The layer's folder.
pub(super) fn layer(slug: &str) -> String {
    format!("yocto/meta-bootlap-{slug}")
}

fn layer_conf(changes: &Changes<'_>) -> String {
    let slug = &changes.slug;
    // Without a recipe of its own, BBFILES has appends only.
    format!(
        "# What makes {} boot faster.\n\
         BBPATH .= \":${{LAYERDIR}}\"\n\
         BBFILES += \"${{LAYERDIR}}/recipes-*/*/*.bbappend\"\n\
         BBFILE_COLLECTIONS += \"bootlap-{slug}\"\n\
         BBFILE_PATTERN_bootlap-{slug} = \"^${{LAYERDIR}}/\"\n\
         BBFILE_PATTERN_IGNORE_EMPTY_bootlap-{slug} = \"1\"\n\
         BBFILE_PRIORITY_bootlap-{slug} = \"10\"\n\
         LAYERDEPENDS_bootlap-{slug} = \"core\"\n\
         LAYERSERIES_COMPAT_bootlap-{slug} = \"{SERIES}\"\n\
         BOOTLAP_LAYER := \"${{LAYERDIR}}\"\n",
        comment(&changes.start.spec.name)
    )
}

/// `linux-%` also meets linux-firmware and linux-libc-headers.
fn kernel_append(slug: &str) -> String {
    format!(
        "FILESEXTRAPATHS:prepend := \"${{THISDIR}}/files:\"\n\
         # Recipes that build a kernel, and not linux-firmware or linux-libc-headers.\n\
         SRC_URI:append = \"${{@' file://bootlap-{slug}.cfg' if \
         bb.data.inherits_class('kernel', d) else ''}}\"\n"
    )
}

/// `u-boot%` meets u-boot-imx and the like, and u-boot-tools.
fn uboot_append(changes: &Changes<'_>, config: bool, environment: bool) -> String {
    let slug = &changes.slug;
    let mut fetch = String::new();
    if config {
        fetch += &format!(" file://bootlap-{slug}.cfg");
    }
    if environment {
        fetch += &format!(" file://bootlap-{slug}-env.txt");
    }
    let only = |what: &str| {
        format!("${{@bb.utils.contains('PROVIDES', 'virtual/bootloader', '{what}', '', d)}}")
    };
    let mut text = format!(
        "FILESEXTRAPATHS:prepend := \"${{THISDIR}}/files:\"\n\
         # Recipes that build a boot loader, and not u-boot-tools.\n\
         SRC_URI:append = \"{}\"\n",
        only(&fetch)
    );
    let size = changes.environment_size().filter(|_| environment);
    if let Some(size) = size {
        text += &format!(
            "DEPENDS:append = \"{}\"\n\n\
             # Where unpacked files are depends on the series.\n\
             BOOTLAP_ENV = \"${{@d.getVar('UNPACKDIR') or d.getVar('WORKDIR')}}/bootlap-{slug}-env.txt\"\n\
             do_deploy:append() {{\n\
             \tif [ -e \"${{BOOTLAP_ENV}}\" ]; then\n\
             \t\tmkenvimage -s {size:#x} -o \"${{DEPLOYDIR}}/bootlap-{slug}-env.bin\" \"${{BOOTLAP_ENV}}\"\n\
             \tfi\n\
             }}\n",
            only(" u-boot-tools-native")
        );
    }
    text
}

fn image_class(slug: &str, script: &str) -> String {
    let function = format!("bootlap_{}", slug.replace('-', "_"));
    format!(
        "# Changes the root file system of the image that inherits this.\n\
         ROOTFS_POSTPROCESS_COMMAND:append = \" {function};\"\n\
         {function}() {{\n\
         \tsh \"${{BOOTLAP_LAYER}}/files/bootlap-{slug}/{script}\" \"${{IMAGE_ROOTFS}}\"\n\
         }}\n"
    )
}

/// What a machine's or a user's configuration says.
fn settings(changes: &Changes<'_>) -> Option<String> {
    let mut body = String::new();
    for step in &changes.steps {
        let settings = step.changes.iter().filter_map(|c| setting(changes, c));
        let settings: Vec<String> = settings.collect();
        if !settings.is_empty() {
            body += &format!("\n# {}\n{}\n", step.line(), settings.join("\n"));
        }
    }
    (!body.is_empty()).then(|| {
        format!(
            "# What makes {} boot faster. In local.conf, or the machine's configuration:\n\
             # require conf/bootlap-{}.conf\n{body}",
            comment(&changes.start.spec.name),
            changes.slug
        )
    })
}

fn setting(changes: &Changes<'_>, change: &Change) -> Option<String> {
    match change {
        Change::Kernel(compression) => {
            let ending = fit_class_packs(*compression)?;
            let name = compression.name();
            Some(format!(
                "FIT_KERNEL_COMP_ALG = \"{name}\"\nFIT_KERNEL_COMP_ALG_EXTENSION = \"{ending}\""
            ))
        }
        Change::Hash(Hash::Sha1 | Hash::Sha256) => {
            let hash = changes.tuned.spec.fit.as_ref()?.hash;
            Some(format!("FIT_HASH_ALG = \"{}\"", hash.name()))
        }
        Change::Load(address) => Some(format!(
            "UBOOT_LOADADDRESS = \"{address:#x}\"\nUBOOT_ENTRYPOINT = \"{address:#x}\""
        )),
        Change::Initramfs(compression) => Some(format!(
            "INITRAMFS_FSTYPES = \"cpio{}\"",
            image::ending(*compression)
        )),
        // Of boot loaders that Yocto writes a configuration for; U-Boot has
        // its environment.
        Change::WordAdded(word) if changes.environment.is_none() => {
            Some(format!("APPEND:append = \" {}\"", bitbake(word)?))
        }
        Change::WordRemoved(word) if changes.environment.is_none() => {
            Some(format!("APPEND:remove = \"{}\"", bitbake(word)?))
        }
        _ => None,
    }
}

/// The ending that the FIT class wants for a kernel packed like this, if it
/// can do that.
fn fit_class_packs(compression: Compression) -> Option<&'static str> {
    match compression {
        Compression::None => Some(""),
        Compression::Gzip => Some(".gz"),
        _ => None,
    }
}

/// What the layer cannot do, in Markdown.
pub(super) fn limits(changes: &Changes<'_>) -> Vec<String> {
    let mut limits = Vec::new();
    if changes.any(|c| matches!(c, Change::Hash(Hash::None | Hash::Crc32))) {
        limits.push(
            "The FIT classes (`kernel-fitimage`, `kernel-fit-image`) always write a SHA hash: no \
             variable turns it off. Make the image from `plain/image.its` instead, with the \
             deployed kernel and initramfs."
                .to_owned(),
        );
    }
    for step in &changes.steps {
        for change in &step.changes {
            match change {
                Change::Kernel(compression) if fit_class_packs(*compression).is_none() => {
                    limits.push(format!(
                        "The FIT classes pack a kernel with gzip or not at all, and not with \
                         {compression}. Make the image from `plain/image.its` instead."
                    ));
                }
                Change::WordAdded(word) | Change::WordRemoved(word)
                    if changes.environment.is_none() && bitbake(word).is_none() =>
                {
                    limits.push(
                        "A word of the command line cannot stand in a string of BitBake's: take \
                         it from `plain/cmdline.txt`."
                            .to_owned(),
                    );
                }
                _ => {}
            }
        }
    }
    limits.dedup();
    limits
}
