//! Files of the initramfs that differ, as a script and as files.

use bootlap_product::initramfs::{Look, What};

use super::changes::{Change, Changes};
use super::quote::{comment, shell};
use super::{Files, below};

/// The files themselves, in `folder`.
pub(super) fn contents(changes: &Changes<'_>, folder: &str, files: &mut Files) {
    for change in &changes.rootfs {
        if let Some(Look::File { executable, bytes }) = change.after.map(What::look) {
            files.file(below(folder, change.path), bytes.to_vec(), executable);
        }
    }
}

/// Drop-ins of systemd once more, where a person looks for them.
pub(super) fn drop_ins(changes: &Changes<'_>, files: &mut Files) {
    for change in &changes.rootfs {
        let after = change.after.map(What::look);
        if let (Some(rest), Some(Look::File { bytes, .. })) = (change.drop_in(), after) {
            files.text(below("plain/systemd", rest), bytes.to_vec());
        }
    }
}

/// A script that makes the changes in a root file system. It finds the files
/// in `folder` beside itself.
pub(super) fn script(changes: &Changes<'_>, folder: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let about = format!(
        "#!/bin/sh\n# Changes the root file system of {} that is unpacked in the folder ROOT.\n",
        comment(&changes.start.spec.name)
    );
    out.extend_from_slice(about.as_bytes());
    for step in changes.steps_with(|c| matches!(c, Change::Rootfs)) {
        out.extend_from_slice(format!("# {}\n", step.line()).as_bytes());
    }
    out.extend_from_slice(b"set -eu\nroot=${1:?usage: $0 ROOT}\n");
    if has_files(changes) {
        out.extend_from_slice(b"here=$(cd -- \"$(dirname -- \"$0\")\" && pwd)\n");
    }
    // What goes, innermost first; a folder that holds more than the target's stays.
    for change in changes.rootfs.iter().rev() {
        let before = change.before.map(What::look);
        let after = change.after.map(What::look);
        let in_the_way =
            after.is_none() || (before == Some(Look::Dir)) != (after == Some(Look::Dir));
        if before.is_some() && in_the_way {
            let at = shell(change.path);
            match (before, after) {
                (Some(Look::Dir), None) => {
                    let (remove, else_leave) = (b"rmdir -- \"$root\"/", b" 2>/dev/null || :");
                    line(&mut out, &[remove, &at, else_leave]);
                }
                (Some(Look::Dir), _) => line(&mut out, &[b"rmdir -- \"$root\"/", &at]),
                (_, None | Some(Look::Dir)) => line(&mut out, &[b"rm -f -- \"$root\"/", &at]),
                _ => {}
            }
        }
    }
    for change in &changes.rootfs {
        let at = shell(change.path);
        match change.after.map(What::look) {
            None => {}
            Some(Look::Node) => {
                let Some(What::Own(own)) = change.after else {
                    continue;
                };
                line(&mut out, &[b"rm -f -- \"$root\"/", &at]);
                let what = own.node();
                line(
                    &mut out,
                    &[b"mknod -- \"$root\"/", &at, b" ", what.as_bytes()],
                );
            }
            Some(Look::Dir) => line(&mut out, &[b"mkdir -p -- \"$root\"/", &at]),
            Some(Look::Link { to }) => {
                line(&mut out, &[b"ln -sfn -- ", &shell(to), b" \"$root\"/", &at]);
            }
            Some(Look::File { executable, .. }) => {
                // Not through a link that is there: that may lead out of ROOT.
                line(&mut out, &[b"rm -f -- \"$root\"/", &at]);
                let from: &[u8] = b"cp -- \"$here\"/";
                line(
                    &mut out,
                    &[from, folder.as_bytes(), b"/", &at, b" \"$root\"/", &at],
                );
                let mode: &[u8] = if executable { b"755" } else { b"644" };
                line(&mut out, &[b"chmod ", mode, b" -- \"$root\"/", &at]);
            }
        }
    }
    out
}

fn has_files(changes: &Changes<'_>) -> bool {
    let mut after = changes.rootfs.iter().filter_map(|c| c.after);
    after.any(|w| matches!(w.look(), Look::File { .. }))
}

fn line(out: &mut Vec<u8>, pieces: &[&[u8]]) {
    out.extend(pieces.concat());
    out.push(b'\n');
}
