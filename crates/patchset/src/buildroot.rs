//! An external tree for Buildroot (`BR2_EXTERNAL`).

use bootlap_artefact::compress::Compression;

use super::changes::{Change, Changes};
use super::quote::comment;
use super::{Files, config, disk_root, image, plain, rootfs};

pub(super) fn write(changes: &Changes<'_>, files: &mut Files) {
    let slug = &changes.slug;
    let board = format!("buildroot/board/{slug}");
    let external = external(slug);
    let here = format!("$(BR2_EXTERNAL_{external}_PATH)/board/{slug}");
    let mut options = Vec::new();
    if let Some(text) = config::linux(changes) {
        files.text(format!("{board}/linux.fragment"), text);
        options.push(format!(
            "BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES=\"{here}/linux.fragment\""
        ));
    }
    if let Some(text) = config::uboot(changes) {
        files.text(format!("{board}/uboot.fragment"), text);
        options.push(format!(
            "BR2_TARGET_UBOOT_CONFIG_FRAGMENT_FILES=\"{here}/uboot.fragment\""
        ));
    }
    let image = changes.image();
    let environment = plain::environment(changes);
    if image || environment.is_some() {
        options.push("BR2_PACKAGE_HOST_UBOOT_TOOLS=y".to_owned());
    }
    if let (Some(text), Some(size)) = (environment, changes.environment_size()) {
        files.text(format!("{board}/uboot-env.txt"), text);
        options.push("BR2_PACKAGE_HOST_UBOOT_TOOLS_ENVIMAGE=y".to_owned());
        options.push(format!(
            "BR2_PACKAGE_HOST_UBOOT_TOOLS_ENVIMAGE_SOURCE=\"{here}/uboot-env.txt\""
        ));
        options.push(format!(
            "BR2_PACKAGE_HOST_UBOOT_TOOLS_ENVIMAGE_SIZE=\"{size:#x}\""
        ));
    }
    if changes.has_initramfs && (image || changes.any(|c| matches!(c, Change::Initramfs(_)))) {
        options.push("BR2_TARGET_ROOTFS_CPIO=y".to_owned());
        options.push(format!(
            "BR2_TARGET_ROOTFS_CPIO_{}=y",
            compression_option(changes.initramfs_compression())
        ));
    }
    if !changes.disk_root().is_empty() {
        files.script(
            format!("{board}/post-build.sh"),
            disk_root::script(changes, "root"),
        );
        disk_root::contents(changes, &format!("{board}/root"), files);
        options.push(format!(
            "BR2_ROOTFS_POST_BUILD_SCRIPT=\"{here}/post-build.sh\""
        ));
    }
    // What Buildroot puts together is the root; the initramfs beside it is made otherwise.
    if !changes.rootfs.is_empty() && changes.tuned.spec.disk.is_none() {
        files.script(
            format!("{board}/post-build.sh"),
            rootfs::script(changes, "rootfs"),
        );
        rootfs::contents(changes, &format!("{board}/rootfs"), files);
        options.push(format!(
            "BR2_ROOTFS_POST_BUILD_SCRIPT=\"{here}/post-build.sh\""
        ));
    }
    if image {
        let its = image::its(changes).unwrap_or_default();
        files.text(format!("{board}/image.its"), its);
        let script = image::script(changes, false).unwrap_or_default();
        files.script(format!("{board}/make-images.sh"), script);
        files.script(format!("{board}/post-image.sh"), post_image(changes));
        options.push("BR2_PACKAGE_HOST_UBOOT_TOOLS_FIT_SUPPORT=y".to_owned());
        options.push(format!(
            "BR2_ROOTFS_POST_IMAGE_SCRIPT=\"{here}/post-image.sh\""
        ));
    }
    if options.is_empty() {
        return;
    }
    // Buildroot makes a menu of Kconfig and a variable of make out of this, so
    // it is said with nothing but the plain name.
    files.text(
        "buildroot/external.desc",
        format!("name: {external}\ndesc: what makes {slug} boot faster\n"),
    );
    files.text(
        "buildroot/Config.in",
        format!("# No packages of its own: configs/{slug}.fragment says what is used of this.\n"),
    );
    files.text(
        "buildroot/external.mk",
        format!("# No packages of its own: configs/{slug}.fragment says what is used of this.\n"),
    );
    let name = comment(&changes.start.spec.name);
    let mut about = format!(
        "# What makes {name} boot faster:\n\
         # support/kconfig/merge_config.sh .config FRAGMENT\n\
         # Where your configuration has such a line already, write both values into one,\n\
         # with a space between.\n"
    );
    for step in &changes.steps {
        about += &format!("# {}\n", step.line());
    }
    // Buildroot's symbols have no prefix, so readers that look for the equals
    // sign first (Kconfiglib) would find symbols in comments.
    let mut fragment = about.replace('=', " ");
    fragment += &options.join("\n");
    fragment.push('\n');
    files.text(format!("buildroot/configs/{slug}.fragment"), fragment);
}

/// The name of the external tree, in variables.
pub(super) fn external(slug: &str) -> String {
    format!("BOOTLAP_{}", slug.to_ascii_uppercase().replace('-', "_"))
}

/// How `BR2_TARGET_ROOTFS_CPIO_…` calls a compression.
fn compression_option(compression: Compression) -> String {
    match compression {
        Compression::Lz4Legacy => "LZ4".to_owned(),
        other => other.name().to_ascii_uppercase(),
    }
}

/// Buildroot has made kernel and initramfs; this puts them together.
fn post_image(changes: &Changes<'_>) -> String {
    let initramfs = match changes.has_initramfs {
        true => " \"$BINARIES_DIR/rootfs.cpio\"",
        false => "",
    };
    format!(
        "#!/bin/sh\n\
         # Makes image.itb for {}. BOOTLAP_KERNEL is the kernel's file among the images,\n\
         # not compressed.\n\
         set -eu\n\
         : \"${{BINARIES_DIR:?is set by Buildroot, which runs this}}\"\n\
         exec \"$(dirname -- \"$0\")/make-images.sh\" \\\n\
         \t\"$BINARIES_DIR/${{BOOTLAP_KERNEL:-Image}}\"{initramfs} \"$BINARIES_DIR\"\n",
        comment(&changes.start.spec.name),
    )
}
