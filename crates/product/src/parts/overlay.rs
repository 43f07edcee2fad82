//! What a target changes on its disk, as a file: a qcow2 whose backing file is the image.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Parts;
use crate::TargetError;

impl Parts {
    /// Writes what is changed on the disk to `to`; false if nothing is.
    ///
    /// # Errors
    /// If qemu-img or qemu-io cannot be run, or there is no room.
    pub fn write_overlay(&self, to: &Path) -> Result<bool, TargetError> {
        let Some(disk) = self.disk.as_ref().filter(|disk| !disk.patches.is_empty()) else {
            return Ok(false);
        };
        let failed = |e| TargetError::io("write", to, e);
        let mut create = Command::new("qemu-img");
        create.args([
            "create",
            "-q",
            "-f",
            "qcow2",
            "-F",
            disk.format.name(),
            "-b",
        ]);
        run(create.arg(&disk.path).arg(to), &[])?;
        let folder = tempfile::tempdir().map_err(failed)?;
        let mut commands = String::new();
        for (n, patch) in disk.patches.iter().enumerate() {
            let bytes = folder.path().join(n.to_string());
            fs::write(&bytes, &patch.bytes).map_err(failed)?;
            let (at, length) = (patch.at, patch.bytes.len());
            commands += &format!("write -q -s {} {at} {length}\n", bytes.display());
        }
        let mut write = Command::new("qemu-io");
        run(write.args(["-f", "qcow2"]).arg(to), commands.as_bytes())?;
        File::open(to)
            .and_then(|file| file.sync_all())
            .map_err(failed)?;
        Ok(true)
    }
}

/// Runs one of QEMU's tools with commands to read.
fn run(command: &mut Command, commands: &[u8]) -> Result<(), TargetError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let wrong = |why: String| TargetError::artefact("disk", why);
    let missing = |e| {
        wrong(format!(
            "cannot run {program}: {e}; Debian and Ubuntu have it in qemu-utils"
        ))
    };
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(missing)?;
    let written = child
        .stdin
        .take()
        .map(|mut input| input.write_all(commands));
    let done = child.wait_with_output().map_err(missing)?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    // qemu-io says on stdout what did not work, and ends well.
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    let broken = written.is_some_and(|written| written.is_err());
    match done.status.success() && !broken && !told.contains("failed") {
        true => Ok(()),
        false => Err(wrong(format!("{program}: {}{}", said.trim(), told.trim()))),
    }
}
