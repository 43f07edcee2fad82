//! What a boot reads from its disk is read before it is asked for.

use std::fs;

use bootlap_image::units::MASKS;

use super::systemd::{disk_of, text_at};
use super::{Plain, systemd_first, typed_file};
use crate::initramfs::PRELOAD;
use crate::{Edit, Parts, Target};

/// The files that a boot reads are read ahead, in the order of their use.
///
/// The value is a list of paths, one a line, which `bootlap layout --for preload` makes of a run.
/// A boot reads a file when it needs it, and the CPU waits meanwhile; with this, `cat` reads all of
/// them in the background from the moment at which the root is mounted (`initramfs.minimal`), or
/// from systemd's first unit on. It pays where a disk takes time: in modelled time, not in
/// simulated.
pub(super) const PRELOADED: Plain = Plain::new(
    "preload",
    "the files that a boot reads are read before they are asked for",
    "memory holds them, and the disk is busy with them, also in a boot that needs others; make the \
     list anew after an update",
    preloaded,
)
.takes(&[""]);

/// The kernel takes two megabytes of arguments and environment, mostly.
const MOST: usize = 1 << 20;
const UNIT: &str = "bootlap-preload.service";
/// What starts it: whichever of them the boot begins with.
const BY: [&str; 2] = ["sysinit.target", systemd_first::TARGET];

fn preloaded(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    if value.is_empty() {
        return Err(
            "it needs a list of paths, as in preload=reads.txt; `bootlap layout RUN --for preload` \
             makes one of a run"
                .into(),
        );
    }
    let disk = disk_of(parts)?;
    let partition = disk.root_partition()?;
    let list = list(&typed_file(value)?)?;
    let place = format!("{partition}:/{PRELOAD}");
    let there = target.spec.disk.as_ref();
    if there.is_some_and(|disk| disk.texts.contains_key(&place)) {
        return Err(format!("{place} is there already"));
    }
    let mut edits = vec![Edit::set(&format!("disk.texts.{place:?}"), list)];
    let initramfs = target.spec.initramfs.as_ref();
    let mut members = parts.initramfs.iter().flatten();
    if initramfs.is_some_and(|initramfs| initramfs.minimal.is_some())
        && members.any(|member| member.path.ends_with(b"/cat"))
    {
        return Ok(edits);
    }
    disk.units()?;
    edits.push(text_at(partition, UNIT, unit()));
    edits.extend(BY.map(|by| {
        let link = format!("{partition}:{MASKS}/{by}.wants/{UNIT}");
        Edit::set(&format!("disk.links.{link:?}"), format!("../{UNIT}"))
    }));
    Ok(edits)
}

/// The list for the target: paths from the root on, without a slash in front. A shell takes it to
/// pieces, so that names that it would take otherwise are left out.
fn list(file: &str) -> Result<String, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("cannot read {file}: {e}"))?;
    let lines = text.lines().map(str::trim);
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-:@,=%".contains(c);
    let paths = lines.filter_map(|line| line.strip_prefix('/'));
    let paths = paths.filter(|path| !path.is_empty() && path.chars().all(plain));
    let list: String = paths.map(|path| format!("{path}\n")).collect();
    match list.len() {
        0 => Err(format!(
            "{file} lists no path from / on; `bootlap layout RUN --for preload` writes such a list"
        )),
        length if length > MOST => Err(format!(
            "{file} lists {length} bytes of paths, and {MOST} fit; leave out what is read last"
        )),
        _ => Ok(list),
    }
}

/// systemd takes `$$` for a dollar.
fn unit() -> String {
    format!(
        "[Unit]\nDescription=Read ahead what the boot reads\nDefaultDependencies=no\n\n\
         [Service]\nWorkingDirectory=/\n\
         ExecStart=/bin/sh -c 'exec cat $$(cat {PRELOAD}) >/dev/null'\nSuccessExitStatus=1\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_take_otherwise_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("reads.txt");
        let file = file.to_str().unwrap();
        fs::write(
            file,
            "# a boot\n/bin/sh\n/a b\n/x$(reboot)\n /lib/a++.so \n/*\nc\n",
        )
        .unwrap();
        assert_eq!(list(file).unwrap(), "bin/sh\nlib/a++.so\n");
        fs::write(file, "bin/sh\n").unwrap();
        assert!(list(file).unwrap_err().contains("lists no path"));
    }
}
