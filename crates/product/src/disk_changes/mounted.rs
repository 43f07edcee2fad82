//! Files of what only a kernel knows: a guest mounts and changes it.

use std::path::Path;

use bootlap_image::Found;
use bootlap_image::table::Partition;

use super::{Change, Place, place_on};
use crate::guest::{self, Given};
use crate::{Cache, Progress, TargetError};

/// Makes the changes; the guest looks whether they are there.
pub(super) fn change(
    image: &Path,
    partition: &Partition,
    (found, volume): (&Found, usize),
    changes: &[(&Place, &Change)],
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<(), TargetError> {
    let mut files = Given::new();
    for (n, (place, change)) in changes.iter().enumerate() {
        let (folder, name) = place_on(found.files(volume), place)?;
        let mut put = |name: &str, bytes: &[u8]| {
            files.push((format!("changes/{n:06}/{name}"), bytes.to_vec()));
        };
        put("path", format!("{folder}/{name}\n").as_bytes());
        match change {
            Change::File { bytes, executable } => {
                put("file", bytes);
                put("mode", if *executable { b"755" } else { b"644" });
            }
            Change::Link(to) => put("link", to.as_bytes()),
            // Refused before (`no_room`).
            Change::Nothing | Change::Room(_) => put("nothing", b""),
        }
    }
    let kind = found.volumes[volume].kind;
    guest::change(image, partition, kind, files, cache, progress)
}
