//! A kernel (`vmlinux`) with nothing in its file but what is loaded.
//!
//! A linker puts each segment of a kernel at a multiple of 2 MiB in the file, and what is zero
//! until the kernel runs lies in the last one in full: of the 66 MB of Debian's kernel for amd64,
//! 35 are neither. Whoever starts a `vmlinux` clears what a segment has in
//! memory beyond the file, so both can go.

use super::super::bytes;

const IDENT: &[u8] = b"\x7fELF\x02\x01";
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
/// Segments of any real kernel, and a bound.
const MOST: usize = 64;
const PT_LOAD: u32 = 1;
/// A segment's place in the file and its address are the same within a page.
const PAGE: usize = 4096;

struct Segment {
    header: Vec<u8>,
    offset: usize,
    address: u64,
    bytes: usize,
    align: u64,
    loaded: bool,
    /// Where it goes.
    to: usize,
}

/// `data` with its segments close together and without zeros at their ends; `None` if it is no
/// 64-bit little-endian ELF file, if segments lie in each other, or if that is no smaller.
/// Sections (symbols, debugging) are left out.
pub fn packed(data: &[u8]) -> Option<Vec<u8>> {
    if !data.starts_with(IDENT) {
        return None;
    }
    let mut segments = segments(data)?;
    let mut end = HEADER + segments.len() * PROGRAM_HEADER;
    for segment in segments.iter_mut().filter(|s| s.loaded) {
        let content = data.get(segment.offset..segment.offset.checked_add(segment.bytes)?)?;
        segment.bytes = content
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |at| at + 1);
        let within = usize::try_from(segment.address).ok()? % PAGE;
        segment.to = end.next_multiple_of(PAGE).checked_add(within)?;
        segment.align = segment.align.min(PAGE as u64);
        end = segment.to + segment.bytes;
    }
    // What is not loaded, a note, lies in what is.
    for at in 0..segments.len() {
        let (offset, bytes) = (segments[at].offset, segments[at].bytes);
        if segments[at].loaded || bytes == 0 {
            continue;
        }
        let around = segments.iter().find(|s| {
            s.loaded && s.offset <= offset && offset.saturating_add(bytes) <= s.offset + s.bytes
        })?;
        segments[at].to = around.to + (offset - around.offset);
    }
    if end >= data.len() {
        return None;
    }
    let mut out = vec![0; end];
    out[..HEADER].copy_from_slice(data.get(..HEADER)?);
    put(&mut out, 32, HEADER as u64);
    put(&mut out, 40, 0);
    // No sections: their size, number, and the one of names.
    out[58..64].fill(0);
    for (nth, segment) in segments.iter().enumerate() {
        let at = HEADER + nth * PROGRAM_HEADER;
        out[at..at + PROGRAM_HEADER].copy_from_slice(&segment.header);
        put(&mut out, at + 8, segment.to as u64);
        put(&mut out, at + 32, segment.bytes as u64);
        put(&mut out, at + 48, segment.align);
        if segment.loaded {
            let content = &data[segment.offset..segment.offset + segment.bytes];
            out[segment.to..segment.to + segment.bytes].copy_from_slice(content);
        }
    }
    Some(out)
}

fn segments(data: &[u8]) -> Option<Vec<Segment>> {
    let start = usize::try_from(bytes::le64(data, 32)?).ok()?;
    let each = usize::from(bytes::le16(data, 54)?);
    let count = usize::from(bytes::le16(data, 56)?);
    if each != PROGRAM_HEADER || count == 0 || count > MOST {
        return None;
    }
    let mut all: Vec<Segment> = Vec::new();
    for nth in 0..count {
        let at = start.checked_add(nth * PROGRAM_HEADER)?;
        let header = data.get(at..at.checked_add(PROGRAM_HEADER)?)?;
        all.push(Segment {
            offset: usize::try_from(bytes::le64(header, 8)?).ok()?,
            address: bytes::le64(header, 16)?,
            bytes: usize::try_from(bytes::le64(header, 32)?).ok()?,
            align: bytes::le64(header, 48)?,
            loaded: bytes::le32(header, 0)? == PT_LOAD,
            header: header.to_vec(),
            to: 0,
        });
    }
    let mut places: Vec<(usize, usize)> = all
        .iter()
        .filter(|s| s.loaded)
        .map(|s| (s.offset, s.bytes))
        .collect();
    places.sort_unstable();
    let apart = places.windows(2).all(|two| {
        two[0]
            .0
            .checked_add(two[0].1)
            .is_some_and(|end| end <= two[1].0)
    });
    apart.then_some(all)
}

fn put(out: &mut [u8], at: usize, word: u64) {
    out[at..at + 8].copy_from_slice(&word.to_le_bytes());
}
