//! Logical volumes of LVM2.
//!
//! What lies in one piece on one physical volume, as one does that was never extended, is read
//! and changed like a partition. Others are named and not read.
//!
//! Source: what `pvcreate`, `vgcreate` and `lvcreate` 2.03.16 write; `scripts/make-disk` writes
//! the same, and lvm2 takes that as its own.

mod text;

use crate::window::{Window, number};

use self::text::Section;

/// Of all places that an image has for metadata, these are looked at.
const MOST_AREAS: usize = 4;
/// No volume group has as much to say about itself.
const MOST_TEXT: u64 = 4 << 20;
/// The label is in one of the first sectors.
const LABEL_SECTORS: u64 = 4;
const SECTOR: u64 = 512;
/// What a place for metadata begins with, before the text that goes round behind it.
const AREA_HEADER: u64 = 512;
const AREA_MAGIC: &[u8] = b"\x20LVM2\x20x[5A%r0N*>";

/// A logical volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Logical {
    /// Of its group and itself: `debian-vg/root`.
    pub(crate) name: String,
    /// Where it lies in its physical volume, in bytes; none if it is in several pieces.
    pub(crate) place: Option<(u64, u64)>,
}

/// The logical volumes on a physical volume; none if it is no such volume.
///
/// # Errors
/// Why they cannot be told.
pub(crate) fn volumes(part: &Window) -> Result<Vec<Logical>, String> {
    let Some((label, at)) = label(part) else {
        return Ok(Vec::new());
    };
    let cut = || "its LVM header is cut off".to_owned();
    let header = number::<4>(&label, 20);
    let header = part.up_to(at + header, SECTOR as usize);
    let header = header.map_err(|_| cut())?;
    let own = header.get(..32).ok_or_else(cut)?;
    let own = String::from_utf8_lossy(own).into_owned();
    // Two lists of places, each with an end of zeros: for data, and for metadata.
    let mut places = (40..)
        .step_by(16)
        .map(|at| (number::<8>(&header, at), number::<8>(&header, at + 8)));
    let _ = places.by_ref().take(MOST_AREAS).find(|(at, _)| *at == 0);
    let areas = places.take(MOST_AREAS).take_while(|(at, _)| *at > 0);
    let mut why = "it has no place for LVM's metadata".to_owned();
    for (at, bytes) in areas {
        match metadata(part, at, bytes).and_then(|text| Section::read(&text)) {
            Ok(all) => return group(&all, &own),
            Err(e) => why = e,
        }
    }
    Err(why)
}

/// The sector with the label, and where it is.
fn label(part: &Window) -> Option<(Vec<u8>, u64)> {
    (0..LABEL_SECTORS).find_map(|sector| {
        let at = sector * SECTOR;
        let label = part.up_to(at, SECTOR as usize).ok()?;
        let is_one = label.starts_with(b"LABELONE") && label.get(24..32) == Some(b"LVM2 001");
        is_one.then_some((label, at))
    })
}

/// The newest text in a place for metadata. It is written in a ring behind the header.
fn metadata(part: &Window, at: u64, bytes: u64) -> Result<String, String> {
    let wrong = || "its LVM metadata are damaged".to_owned();
    let area = part.part(at, bytes);
    let header = area.up_to(0, SECTOR as usize).map_err(|_| wrong())?;
    if header.get(4..20) != Some(AREA_MAGIC) {
        return Err(wrong());
    }
    let (start, size) = (number::<8>(&header, 40), number::<8>(&header, 48));
    let is_ignored = number::<4>(&header, 60) & 1 != 0;
    if is_ignored
        || start < AREA_HEADER
        || start >= area.bytes()
        || size > MOST_TEXT.min(area.bytes())
    {
        return Err(wrong());
    }
    let first = size.min(area.bytes() - start);
    let read = |at: u64, bytes: u64| area.up_to(at, bytes as usize).map_err(|_| wrong());
    let mut text = read(start, first)?;
    text.extend(read(AREA_HEADER, size - first)?);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The logical volumes of the group that the metadata are of.
fn group(all: &Section, own: &str) -> Result<Vec<Logical>, String> {
    let (name, group) = all
        .sections()
        .next()
        .ok_or("its LVM metadata name no group")?;
    let sectors = |section: &Section, key: &str| section.number(key).unwrap_or_default();
    let extent = sectors(group, "extent_size").saturating_mul(SECTOR);
    let is_own = |volume: &Section| {
        let id = volume.text("id").unwrap_or_default();
        id.bytes().filter(|b| *b != b'-').eq(own.bytes())
    };
    let mut physical = group.within("physical_volumes");
    let (own, first) = physical
        .find(|(_, volume)| is_own(volume))
        .map(|(name, volume)| (name, sectors(volume, "pe_start").saturating_mul(SECTOR)))
        .ok_or("its LVM metadata do not name it")?;
    // Others are parts of these.
    let logical = group.within("logical_volumes");
    let logical = logical.filter(|(_, volume)| volume.lists("status", "VISIBLE"));
    let logical = logical.map(|(of, volume)| Logical {
        name: format!("{name}/{of}"),
        place: one_piece(volume, own).and_then(|(at, extents)| {
            let at = first.checked_add(at.checked_mul(extent)?)?;
            Some((at, extents.checked_mul(extent)?))
        }),
    });
    Ok(logical.collect())
}

/// The extents of `own` in which a logical volume lies: the first, and how many in a row.
fn one_piece(volume: &Section, own: &str) -> Option<(u64, u64)> {
    let mut segments: Vec<&Section> = volume.sections().map(|(_, segment)| segment).collect();
    segments.sort_by_key(|segment| segment.number("start_extent"));
    let mut piece: Option<(u64, u64)> = None;
    for segment in segments {
        let extents = segment.number("extent_count")?;
        if segment.text("type")? != "striped" || segment.number("stripe_count")? != 1 {
            return None;
        }
        let at = segment.stripe().filter(|(of, _)| *of == own)?.1;
        piece = match piece {
            None => Some((at, extents)),
            Some((first, so_far)) if first.checked_add(so_far)? == at => {
                Some((first, so_far.checked_add(extents)?))
            }
            Some(_) => return None,
        };
    }
    piece
}

#[cfg(test)]
mod tests;
