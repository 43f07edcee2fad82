//! Small binary files: read as a whole up to a limit.

use std::io::{self, BufRead, Read};

pub(crate) use bootlap_wire::bytes::{Order, c_str, u16_at, u32_at, u64_at};

/// The first `n` bytes, or all if there are fewer. They are taken out of
/// `bytes`: chain them in front to read on.
pub(crate) fn head(bytes: &mut dyn BufRead, n: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    bytes.take(n).read_to_end(&mut head)?;
    Ok(head)
}

/// All bytes up to `limit`, and whether there are more.
pub(crate) fn all(bytes: &mut dyn BufRead, limit: u64) -> io::Result<(Vec<u8>, bool)> {
    let kept = head(bytes, limit)?;
    let more = !bytes.fill_buf()?.is_empty();
    Ok((kept, more))
}
