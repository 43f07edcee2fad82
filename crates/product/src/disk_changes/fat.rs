//! Files of FAT, by mtools.

use std::env;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use bootlap_image::Found;
use bootlap_image::table::Partition;

use super::{Change, Place};
use crate::TargetError;

/// Equal changes make equal blocks: everything that is written is of this time (2020).
const TIME: Duration = Duration::from_secs(1_577_836_800);

/// Makes the changes; what the tools said of them.
pub(super) fn change(
    image: &Path,
    partition: &Partition,
    found: &Found,
    volume: usize,
    changes: &[(&Place, &Change)],
) -> Result<String, TargetError> {
    let device = format!("{}@@{}", image.display(), partition.start);
    let files = found.files(volume);
    let mut said = String::new();
    for (place, change) in changes {
        // They would stand for other files.
        if place.path.contains(['*', '?', '[', ']', ':']) {
            return Err(TargetError::artefact(
                "disk",
                format!("{}: a name on FAT has none of * ? [ ] :", place.path),
            ));
        }
        let to = format!("::{}", place.path);
        match change {
            Change::Link(_) => {
                return Err(TargetError::artefact(
                    "disk.links",
                    format!("{}:{}: FAT has no links", place.partition, place.path),
                ));
            }
            Change::Nothing if files.is_some_and(|files| !files.has(&place.path)) => {}
            // Room is refused before (`no_room`).
            Change::Room(_) => {}
            Change::Nothing => said += &run("mdel", &["-i", &device, &to])?,
            Change::File { bytes, .. } => {
                let (above, _) = place.split();
                let mut at = String::new();
                for name in above.split('/').filter(|name| !name.is_empty()) {
                    at = format!("{at}/{name}");
                    if files.is_none_or(|files| files.list(&at).is_err()) {
                        // Another change may have made it.
                        run("mmd", &["-D", "s", "-i", &device, &format!("::{at}")])?;
                    }
                }
                let written = || {
                    let mut source = tempfile::NamedTempFile::new()?;
                    source.write_all(bytes)?;
                    File::set_modified(source.as_file(), SystemTime::UNIX_EPOCH + TIME)?;
                    Ok(source)
                };
                let source = written().map_err(|e| TargetError::io("make", &env::temp_dir(), e))?;
                let source = source.path().display().to_string();
                said += &run("mcopy", &["-o", "-m", "-i", &device, &source, &to])?;
            }
        }
    }
    Ok(said)
}

fn run(program: &str, args: &[&str]) -> Result<String, TargetError> {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .env("SOURCE_DATE_EPOCH", "1577836800");
    // It refuses disks that were made for other machines.
    command.env("MTOOLS_SKIP_CHECK", "1").env("LC_ALL", "C");
    let done = command.output().map_err(|e| {
        TargetError::artefact(
            "disk",
            format!("cannot run {program}: {e}; Debian and Ubuntu have it in mtools"),
        )
    })?;
    Ok(String::from_utf8_lossy(&done.stderr).into_owned())
}
