//! Partition tables: GPT, MBR with logical partitions, both at once, or none; and the logical
//! volumes of LVM on them, which are listed as if they were partitions.
//!
//! What is read is what a boot loader would find. Checksums of a GPT are not asked for:
//! firmware may refuse such a table, so it is said, but what it names is still looked at.

use std::collections::HashSet;

use crate::lvm;
use crate::window::{Window, number};

/// More partitions than anybody has.
const MOST: usize = 256;

/// Logical volumes have no numbers of their own, and these are nobody else's.
const FIRST_LOGICAL: u32 = 1001;

/// How a disk is divided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it is.
    pub kind: TableKind,
    /// In the order of their numbers.
    pub partitions: Vec<Partition>,
    /// The same bytes are an ISO 9660, too: an image for CDs and sticks.
    pub iso: bool,
    /// What is odd about it.
    pub odd: Vec<String>,
}

/// Kinds of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableKind {
    /// None: a file system without partitions, or nothing.
    #[default]
    None,
    /// DOS partitions.
    Mbr,
    /// GUID partitions.
    Gpt,
    /// GUID partitions, and some of them in the MBR, too.
    Hybrid,
}

impl TableKind {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "no partition table",
            Self::Mbr => "MBR",
            Self::Gpt => "GPT",
            Self::Hybrid => "GPT with a hybrid MBR",
        }
    }
}

/// A partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// As Linux numbers it; 0 for the whole disk, where there is no table or it is an ISO 9660,
    /// too. Logical volumes of LVM are numbered from
    /// 1001 on, behind all partitions.
    pub number: u32,
    /// Its first byte.
    pub start: u64,
    /// Its size, as far as the image has it.
    pub bytes: u64,
    /// The boot loader's own: GRUB's core on a GPT.
    pub bios_boot: bool,
    /// Its name in a GPT, or a logical volume's with its group: `debian-vg/root`.
    pub name: String,
    /// `PARTUUID`, as Linux writes it.
    pub partuuid: String,
}

impl Partition {
    /// Whether it is a logical volume of LVM.
    pub fn is_logical(&self) -> bool {
        self.number >= FIRST_LOGICAL
    }

    /// A logical volume's device, as the device mapper calls it.
    pub(crate) fn mapped(&self) -> Option<String> {
        let (group, volume) = self.name.split_once('/').filter(|_| self.is_logical())?;
        let [group, volume] = [group, volume].map(|name| name.replace('-', "--"));
        Some(format!("/dev/mapper/{group}-{volume}"))
    }

    /// Whether it is a logical volume with this device.
    pub(crate) fn is_called(&self, device: &str) -> bool {
        let by_group = device.strip_prefix("/dev/").filter(|_| self.is_logical());
        by_group == Some(&self.name) || self.mapped().is_some_and(|mapped| mapped == device)
    }
}

impl Table {
    /// Of something without one.
    pub(crate) fn without(bytes: u64) -> Self {
        let whole = Partition {
            number: 0,
            start: 0,
            bytes,
            bios_boot: false,
            name: String::new(),
            partuuid: String::new(),
        };
        Self {
            partitions: vec![whole],
            ..Self::default()
        }
    }
}

const BIOS_BOOT: &str = "21686148-6449-6e6f-744e-656564454649";

/// Reads the table of a disk.
pub fn read(disk: &Window) -> Table {
    let mut odd = Vec::new();
    let head = disk.up_to(0, 512).unwrap_or_default();
    let mbr = match is_mbr(&head) {
        true => mbr(disk, &head, &mut odd),
        false => Vec::new(),
    };
    let sectors = [512, 4096];
    let gpt = sectors
        .into_iter()
        .find_map(|sector| gpt(disk, sector, &mut odd));
    let (kind, mut partitions) = match gpt {
        Some(partitions) => match mbr.iter().any(|p| p.1 != 0xee) {
            true => (TableKind::Hybrid, partitions),
            false => (TableKind::Gpt, partitions),
        },
        None if !mbr.is_empty() => {
            let partitions = mbr.into_iter().map(|(partition, _)| partition).collect();
            (TableKind::Mbr, partitions)
        }
        None => (TableKind::None, Table::without(disk.bytes()).partitions),
    };
    for partition in &mut partitions {
        let left = disk.bytes().saturating_sub(partition.start);
        if partition.bytes > left {
            let what = if left == 0 { "begins" } else { "ends" };
            odd.push(format!(
                "partition {} {what} behind the image, which was cut off or is not all of it",
                partition.number
            ));
            partition.bytes = left;
        }
    }
    overlaps(&partitions, &mut odd);
    let iso = disk.up_to(0x8001, 5).is_ok_and(|magic| magic == b"CD001");
    // Sticks and CDs have the same files: the ISO begins where the disk does, and some of its
    // makers put their partition behind the first sector.
    if iso && partitions.iter().all(|p| p.start != 0) {
        partitions.insert(0, Table::without(disk.bytes()).partitions.remove(0));
    }
    let logical = logical_volumes(disk, &partitions, &mut odd);
    partitions.extend(logical);
    Table {
        kind,
        partitions,
        iso,
        odd,
    }
}

/// The logical volumes on the partitions, as far as each lies in one piece.
fn logical_volumes(
    disk: &Window,
    partitions: &[Partition],
    odd: &mut Vec<String>,
) -> Vec<Partition> {
    let mut found = Vec::new();
    for partition in partitions {
        let volumes = lvm::volumes(&disk.part(partition.start, partition.bytes));
        let volumes = volumes.unwrap_or_else(|why| {
            odd.push(format!("partition {}: {why}", partition.number));
            Vec::new()
        });
        for volume in volumes {
            let is_there = |(at, bytes): &(u64, u64)| {
                at.checked_add(*bytes)
                    .is_some_and(|end| end <= partition.bytes)
            };
            let Some((at, bytes)) = volume.place.filter(is_there) else {
                odd.push(format!(
                    "the logical volume {} is not read: it does not lie in one piece on this disk",
                    volume.name
                ));
                continue;
            };
            found.push(Partition {
                start: partition.start + at,
                bytes,
                name: volume.name,
                ..Partition::default()
            });
        }
    }
    found.truncate(MOST);
    for (number, volume) in (FIRST_LOGICAL..).zip(&mut found) {
        volume.number = number;
    }
    found
}

fn overlaps(partitions: &[Partition], odd: &mut Vec<String>) {
    let mut by_place: Vec<&Partition> = partitions.iter().filter(|p| p.bytes > 0).collect();
    by_place.sort_by_key(|p| p.start);
    for pair in by_place.windows(2) {
        if pair[0].start + pair[0].bytes > pair[1].start {
            odd.push(format!(
                "partitions {} and {} overlap",
                pair[0].number, pair[1].number
            ));
        }
    }
}

/// A boot sector that has a table: a FAT's first sector ends in the same way.
fn is_mbr(head: &[u8]) -> bool {
    let Some(entries) = head.get(446..510) else {
        return false;
    };
    if head.get(510..512) != Some(&[0x55, 0xaa]) {
        return false;
    }
    let states = entries.chunks(16).all(|entry| matches!(entry[0], 0 | 0x80));
    let some = entries
        .chunks(16)
        .any(|entry| entry[4] != 0 && number::<4>(entry, 12) > 0);
    states && some
}

/// Partitions with their types.
fn mbr(disk: &Window, head: &[u8], odd: &mut Vec<String>) -> Vec<(Partition, u8)> {
    let id = number::<4>(head, 440);
    let one = |n: u32, base: u64, entry: &[u8]| {
        let kind = entry[4];
        let partition = Partition {
            number: n,
            start: (base + number::<4>(entry, 8)) * 512,
            bytes: number::<4>(entry, 12) * 512,
            bios_boot: false,
            name: String::new(),
            partuuid: format!("{id:08x}-{n:02x}"),
        };
        (partition, kind)
    };
    let mut found = Vec::new();
    let mut extended = None;
    for (n, entry) in (1..).zip(head[446..510].chunks(16)) {
        match entry[4] {
            0 => {}
            0x05 | 0x0f | 0x85 => extended = Some(number::<4>(entry, 8)),
            _ => found.push(one(n, 0, entry)),
        }
    }
    // Each logical partition has a table with itself, and where the next one is.
    let first = extended.unwrap_or_default();
    let (mut seen, mut n) = (HashSet::new(), 5);
    while let Some(at) = extended.take() {
        if !seen.insert(at) || found.len() >= MOST {
            odd.push("its logical partitions lead round in a circle".to_owned());
            break;
        }
        let Ok(table) = disk.up_to(at * 512, 512) else {
            break;
        };
        if table.len() < 512 || table[510..512] != [0x55, 0xaa] {
            break;
        }
        let (this, next) = (&table[446..462], &table[462..478]);
        if this[4] != 0 {
            found.push(one(n, at, this));
            n += 1;
        }
        if next[4] != 0 {
            extended = Some(first + number::<4>(next, 8));
        }
    }
    found
}

fn gpt(disk: &Window, sector: u64, odd: &mut Vec<String>) -> Option<Vec<Partition>> {
    let header = |at: u64| {
        let header = disk.up_to(at, 92).ok()?;
        header.starts_with(b"EFI PART").then_some(header)
    };
    let last = (disk.bytes() / sector).checked_sub(1)? * sector;
    let header = match header(sector) {
        Some(header) => header,
        None => {
            let header = header(last)?;
            odd.push("its first GPT is damaged; the one at its end was read".to_owned());
            header
        }
    };
    let (count, size) = (number::<4>(&header, 80), number::<4>(&header, 84));
    if !(128..=4096).contains(&size) {
        odd.push(format!("its GPT has entries of {size} bytes"));
        return None;
    }
    let table = number::<8>(&header, 72).checked_mul(sector)?;
    let count = usize::try_from(count).unwrap_or(MOST).min(MOST);
    let entries = disk
        .up_to(table, count * usize::try_from(size).ok()?)
        .ok()?;
    let mut found = Vec::new();
    for (n, entry) in (1..).zip(entries.chunks_exact(usize::try_from(size).ok()?)) {
        if entry[..16].iter().all(|byte| *byte == 0) {
            continue;
        }
        let (first, last) = (number::<8>(entry, 32), number::<8>(entry, 40));
        let place = first.checked_mul(sector).zip(
            last.checked_sub(first)
                .and_then(|n| n.checked_add(1)?.checked_mul(sector)),
        );
        let Some((start, bytes)) = place.filter(|(start, _)| *start < disk.bytes()) else {
            odd.push(format!("partition {n} is not on the image"));
            continue;
        };
        found.push(Partition {
            number: n,
            start,
            bytes,
            bios_boot: guid(&entry[..16]) == BIOS_BOOT,
            name: name(&entry[56..128]),
            partuuid: guid(&entry[16..32]),
        });
    }
    Some(found)
}

fn name(utf16: &[u8]) -> String {
    let units = utf16
        .chunks_exact(2)
        .map(|unit| number::<2>(unit, 0) as u16);
    let units = units.take_while(|unit| *unit != 0);
    let chars = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
    chars.filter(|c| !c.is_control()).collect()
}

/// As Linux writes it.
fn guid(bytes: &[u8]) -> String {
    let tail: String = bytes[10..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!(
        "{:08x}-{:04x}-{:04x}-{:02x}{:02x}-{tail}",
        number::<4>(bytes, 0),
        number::<2>(bytes, 4),
        number::<2>(bytes, 6),
        bytes[8],
        bytes[9],
    )
}
