//! What is compressed for a target, kept by its content: the strongest ways take a minute.

use bootlap_artefact::compress::Compression;

use crate::{Cache, Progress, TargetError};

/// `bytes`, known by `sha256`, compressed; progress calls them `what`.
pub(crate) fn compressed(
    what: &str,
    bytes: &[u8],
    sha256: impl FnOnce() -> String,
    compression: Compression,
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<Vec<u8>, TargetError> {
    if compression == Compression::None {
        return Ok(bytes.to_vec());
    }
    let key = format!("{}.{compression}", sha256());
    cache.bytes("compressed", &key, || {
        let mib = bytes.len() >> 20;
        progress(&format!(
            "compressing the {what} ({mib} MiB) with {compression}"
        ));
        compression
            .compress(bytes)
            .map_err(|e| TargetError::artefact(what, e))
    })
}
