//! Plain files, for a build by hand.

use bootlap_artefact::uboot_env::UbootEnv;

use super::changes::{Change, Changes};
use super::quote::comment;
use super::{Files, config, disk_root, image, rootfs};

pub(super) fn write(changes: &Changes<'_>, files: &mut Files) {
    if let Some(text) = cmdline(changes) {
        files.text("plain/cmdline.txt", text);
    }
    if let Some(text) = environment(changes) {
        files.text("plain/uboot-env.txt", text);
    }
    if let Some(text) = variables(changes) {
        files.text("plain/uboot-env-set.txt", text);
    }
    if let Some(text) = config::uboot(changes) {
        files.text("plain/uboot.config", text);
    }
    if let Some(text) = config::linux(changes) {
        files.text("plain/linux.config", text);
    }
    if changes.image()
        && let Some(text) = image::its(changes)
    {
        files.text("plain/image.its", text);
    }
    if let Some(text) = image::script(changes, environment(changes).is_some()) {
        files.script("plain/make-images.sh", text);
    }
    if !changes.rootfs.is_empty() {
        files.script("plain/initramfs.sh", rootfs::script(changes, "initramfs"));
        rootfs::contents(changes, "plain/initramfs", files);
        rootfs::drop_ins(changes, files);
    }
    if !changes.disk_root().is_empty() {
        files.script("plain/root.sh", disk_root::script(changes, "root"));
        disk_root::contents(changes, "plain/root", files);
    }
}

/// The command line before and after, or none if it did not change or is no
/// line.
pub(super) fn cmdline(changes: &Changes<'_>) -> Option<String> {
    let [before, after] = changes.cmdline()?;
    if [before, after].iter().any(|l| l.contains(char::is_control)) {
        return None;
    }
    let mut about = String::new();
    for step in changes.steps_with(is_word) {
        about += &format!("# {}\n", step.line());
        for change in &step.changes {
            about += &match change {
                Change::WordAdded(word) => format!("#   adds {}\n", comment(word)),
                Change::WordRemoved(word) => format!("#   removes {}\n", comment(word)),
                _ => String::new(),
            };
        }
    }
    Some(format!(
        "# The kernel's command line of {}.\n{about}before: {before}\nafter: {after}\n",
        comment(&changes.start.spec.name)
    ))
}

fn is_word(change: &Change) -> bool {
    matches!(change, Change::WordAdded(_) | Change::WordRemoved(_))
}

fn is_variable(change: &Change) -> bool {
    is_word(change) || matches!(change, Change::Variable(..))
}

/// The whole environment as `mkenvimage` takes it; none if no variable changed,
/// the target may not know all of it, or its format cannot hold one of them.
pub(super) fn environment(changes: &Changes<'_>) -> Option<String> {
    let environment = changes.environment.as_ref()?;
    changes.environment_size()?;
    if changes.variables.is_empty() {
        return None;
    }
    let mut text = format!(
        "# U-Boot's whole environment for {}, as mkenvimage takes it.\n",
        comment(&changes.start.spec.name)
    );
    for step in changes.steps_with(is_variable) {
        text += &format!("# {}\n", step.line());
    }
    for (name, value) in environment.iter() {
        // A backslash before a line break puts it into the value.
        text += &format!("{name}={}\n", value.replace('\n', "\\\n"));
    }
    // A name that begins with #, a value that ends in a backslash, …
    let read_back = UbootEnv::from_text(&text).ok()?;
    (read_back == *environment).then_some(text)
}

/// Only what changes, as `fw_setenv --script` takes it. An empty value removes
/// the variable.
fn variables(changes: &Changes<'_>) -> Option<String> {
    if changes.variables.is_empty() {
        return None;
    }
    let mut text = format!(
        "# What changes in U-Boot's environment of {}, for a running board:\n\
         # fw_setenv --script uboot-env-set.txt (that of libubootenv).\n",
        comment(&changes.start.spec.name)
    );
    for step in changes.steps_with(is_variable) {
        text += &format!("# {}\n", step.line());
    }
    for (name, value) in &changes.variables {
        let odd = |c: char| c.is_control() || c == '\\';
        if name.contains(|c: char| odd(c) || c.is_whitespace() || c == '#') || value.contains(odd) {
            return None;
        }
        text += &format!("{name}={value}\n");
    }
    Some(text)
}

/// Whether the environment changed in a way that its text cannot say.
pub(super) fn loses_environment(changes: &Changes<'_>) -> bool {
    let lost = changes.environment_size().is_some() && environment(changes).is_none();
    !changes.variables.is_empty() && (lost || variables(changes).is_none())
}
