//! FAT12, FAT16 and FAT32, read only, with long names.
//!
//! ```text
//! boot sector: sizes │ … │ FATs: which cluster follows which │ (root) │ clusters
//! ```
//!
//! Written here because crates that read FAT also write it, or follow a chain of clusters
//! for ever where an image wants them to.

use std::io;
use std::ops::Range;

use bootlap_rootfs::root_image::ReadAt;

use super::{Files, Volume, pieces};
use crate::window::{Window, number};

/// As many as a folder may have (2 MiB).
const MOST_ENTRIES: usize = 1 << 16;
const ENTRY: usize = 32;
const FOLDER: u8 = 0x10;
const VOLUME: u8 = 0x08;
const LONG: u8 = 0x0f;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Fat12,
    Fat16,
    Fat32,
}

struct Fat {
    window: Window,
    width: Width,
    /// Bytes of a cluster.
    cluster: u64,
    /// Where the first FAT, the root of FAT12 and FAT16, and cluster 2 are.
    fat_at: u64,
    root_at: u64,
    data_at: u64,
    root_bytes: u64,
    root_cluster: u64,
    clusters: u64,
}

#[derive(Clone)]
struct Entry {
    name: String,
    short: String,
    attributes: u8,
    cluster: u64,
    bytes: u64,
}

/// What is there; `None` if it is no FAT.
pub(super) fn open(window: &Window, head: &[u8]) -> Option<Result<Volume, String>> {
    let jump = matches!(head.first(), Some(0xeb | 0xe9));
    let sector = number::<2>(head, 11);
    let per_cluster = number::<1>(head, 13);
    let fats = number::<1>(head, 16);
    let sizes = [512, 1024, 2048, 4096].contains(&sector) && per_cluster.is_power_of_two();
    if !jump || !sizes || !(1..=2).contains(&fats) || head.get(510..512) != Some(&[0x55, 0xaa]) {
        return None;
    }
    let fat = Fat::of(window, head, [sector, per_cluster, fats]);
    Some(
        fat.ok_or_else(|| "its sizes cannot be".to_owned())
            .map(|fat| {
                let at = if fat.width == Width::Fat32 { 67 } else { 39 };
                let id = number::<4>(head, at);
                let entries = fat.entries(None).unwrap_or_default();
                let label = entries.iter().find(|e| e.attributes == VOLUME);
                Volume {
                    kind: "vfat",
                    uuid: format!("{:04X}-{:04X}", id >> 16, id & 0xffff),
                    label: label.map_or_else(String::new, |e| e.short.replace('.', "")),
                    files: Some(Box::new(fat)),
                    trouble: None,
                }
            }),
    )
}

impl Fat {
    fn of(window: &Window, head: &[u8], [sector, per_cluster, fats]: [u64; 3]) -> Option<Self> {
        let either = |short: u64, long: u64| if short != 0 { short } else { long };
        let reserved = number::<2>(head, 14);
        let root_entries = number::<2>(head, 17);
        let sectors = either(number::<2>(head, 19), number::<4>(head, 32));
        let fat_sectors = either(number::<2>(head, 22), number::<4>(head, 36));
        let root_sectors = (root_entries * ENTRY as u64).div_ceil(sector);
        let data = reserved + fats * fat_sectors + root_sectors;
        let clusters = sectors.checked_sub(data)? / per_cluster;
        let width = match clusters {
            0..4085 => Width::Fat12,
            4085..65_525 => Width::Fat16,
            _ => Width::Fat32,
        };
        // Small ones are made as FAT32, too; then the root has no place of its own.
        let width = if root_entries == 0 {
            Width::Fat32
        } else {
            width
        };
        Some(Self {
            window: window.clone(),
            width,
            cluster: per_cluster * sector,
            fat_at: reserved * sector,
            root_at: (reserved + fats * fat_sectors) * sector,
            data_at: data * sector,
            root_bytes: root_entries * ENTRY as u64,
            root_cluster: number::<4>(head, 44),
            clusters,
        })
    }

    /// The cluster behind this one; `None` at the end.
    fn next(&self, cluster: u64) -> io::Result<Option<u64>> {
        let (at, bytes) = match self.width {
            Width::Fat12 => (cluster + cluster / 2, 2),
            Width::Fat16 => (cluster * 2, 2),
            Width::Fat32 => (cluster * 4, 4),
        };
        let mut entry = [0; 4];
        self.window.read_at(self.fat_at + at, &mut entry[..bytes])?;
        let value = number::<4>(&entry, 0);
        let (value, end) = match self.width {
            Width::Fat12 if cluster % 2 == 1 => (value >> 4, 0xff8),
            Width::Fat12 => (value & 0xfff, 0xff8),
            Width::Fat16 => (value, 0xfff8),
            Width::Fat32 => (value & 0x0fff_ffff, 0x0fff_fff8),
        };
        Ok((value < end).then_some(value))
    }

    /// Up to `most` bytes of a chain of clusters.
    fn chain(&self, first: u64, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut at = Some(first);
        while let Some(cluster) = at.filter(|_| (bytes.len() as u64) < most) {
            if !(2..self.clusters + 2).contains(&cluster) {
                return Err(damaged());
            }
            let left = most - bytes.len() as u64;
            let here = usize::try_from(self.cluster.min(left)).map_err(io::Error::other)?;
            let start = bytes.len();
            bytes.resize(start + here, 0);
            let place = self.data_at + (cluster - 2) * self.cluster;
            self.window.read_at(place, &mut bytes[start..])?;
            at = self.next(cluster)?;
        }
        Ok(bytes)
    }

    /// A folder's entries; `None` is the root.
    fn entries(&self, folder: Option<u64>) -> io::Result<Vec<Entry>> {
        let most = (MOST_ENTRIES * ENTRY) as u64;
        let bytes = match (folder, self.width) {
            (Some(cluster), _) => self.chain(cluster, most)?,
            (None, Width::Fat32) => self.chain(self.root_cluster, most)?,
            (None, _) => {
                let bytes = usize::try_from(self.root_bytes).map_err(io::Error::other)?;
                self.window.up_to(self.root_at, bytes)?
            }
        };
        let mut entries = Vec::new();
        let mut long: Vec<u16> = Vec::new();
        for entry in bytes.chunks_exact(ENTRY) {
            match (entry[0], entry[11]) {
                (0, _) => break,
                (0xe5, _) => long.clear(),
                (_, LONG) => {
                    // The last piece of a name comes first.
                    let units = [&entry[1..11], &entry[14..26], &entry[28..32]].concat();
                    let units = units.chunks_exact(2).map(|u| number::<2>(u, 0) as u16);
                    long.splice(0..0, units.take_while(|u| !matches!(u, 0 | 0xffff)));
                    long.truncate(260);
                }
                (_, attributes) => {
                    let short = short_name(entry);
                    let name = match long.is_empty() {
                        true => short.clone(),
                        false => String::from_utf16_lossy(&long),
                    };
                    long.clear();
                    entries.push(Entry {
                        name,
                        short,
                        attributes,
                        cluster: number::<2>(entry, 20) << 16 | number::<2>(entry, 26),
                        bytes: number::<4>(entry, 28),
                    });
                }
            }
        }
        Ok(entries)
    }

    fn find(&self, path: &str) -> io::Result<Option<Entry>> {
        let mut at: Option<Entry> = None;
        for piece in pieces(path) {
            let folder = match &at {
                None => None,
                Some(entry) if entry.attributes & FOLDER != 0 => Some(entry.cluster),
                Some(_) => return Err(io::ErrorKind::NotADirectory.into()),
            };
            let is_it = |entry: &Entry| {
                let named = |name: &str| name.eq_ignore_ascii_case(piece);
                entry.attributes & VOLUME == 0 && (named(&entry.name) || named(&entry.short))
            };
            let found = self.entries(folder)?.into_iter().find(is_it);
            at = Some(found.ok_or(io::ErrorKind::NotFound)?);
        }
        Ok(at)
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a chain of clusters is damaged")
}

fn short_name(entry: &[u8]) -> String {
    let trimmed = |bytes: &[u8], lower: bool| {
        let text: String = bytes.iter().map(|b| char::from(*b)).collect();
        let text = text.trim_end().to_owned();
        if lower { text.to_lowercase() } else { text }
    };
    let case = entry[12];
    let name = trimmed(&entry[..8], case & 0x08 != 0);
    let extension = trimmed(&entry[8..11], case & 0x10 != 0);
    match extension.is_empty() {
        true => name,
        false => format!("{name}.{extension}"),
    }
}

impl Files for Fat {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let folder = match self.find(folder)? {
            None => None,
            Some(entry) if entry.attributes & FOLDER != 0 => Some(entry.cluster),
            Some(_) => return Err(io::ErrorKind::NotADirectory.into()),
        };
        let entries = self.entries(folder)?.into_iter();
        let entries = entries.filter(|e| e.attributes & VOLUME == 0);
        let mut names: Vec<String> = entries.map(|e| e.name).collect();
        names.retain(|name| !matches!(name.as_str(), "." | ".."));
        names.sort();
        Ok(names)
    }

    fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        match self.find(path)? {
            Some(entry) if entry.attributes & FOLDER == 0 => {
                let wanted = entry.bytes.min(most);
                match wanted {
                    0 => Ok(Vec::new()),
                    _ => self.chain(entry.cluster, wanted),
                }
            }
            _ => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn place(&self, path: &str) -> io::Result<Vec<Range<u64>>> {
        let entry = self.find(path)?.ok_or(io::ErrorKind::IsADirectory)?;
        let mut places = Vec::new();
        let mut at = Some(entry.cluster).filter(|_| entry.bytes > 0);
        let mut left = entry.bytes.div_ceil(self.cluster);
        while let Some(cluster) = at.filter(|_| left > 0) {
            if !(2..self.clusters + 2).contains(&cluster) {
                return Err(damaged());
            }
            let start = self.data_at + (cluster - 2) * self.cluster;
            places.push(start..start + self.cluster);
            at = self.next(cluster)?;
            left -= 1;
        }
        Ok(places)
    }

    fn link(&self, _: &str) -> Option<String> {
        None
    }
}
