//! The disk, as GRUB names its parts: `hd0,gpt2`.

use crate::table::{Table, TableKind};
use crate::volume::{Files, Place, Volume};

/// The disk that GRUB was started from: its first.
const DISK: &str = "hd0";

#[derive(Clone, Copy)]
pub(super) struct Disk<'d> {
    pub(super) table: &'d Table,
    pub(super) volumes: &'d [Volume],
}

/// What a file system is called.
pub(super) struct Names<'d> {
    pub(super) uuid: &'d str,
    pub(super) label: &'d str,
    pub(super) partuuid: &'d str,
}

impl<'d> Disk<'d> {
    /// What GRUB calls a volume.
    pub(super) fn name(&self, volume: usize) -> String {
        match self.table.partitions.get(volume) {
            Some(partition) if partition.is_logical() => {
                format!("lvm/{}", partition.name.replace('/', "-"))
            }
            Some(partition) if partition.number > 0 => {
                let kind = match self.table.kind {
                    TableKind::Mbr => "msdos",
                    _ => "gpt",
                };
                format!("{DISK},{kind}{}", partition.number)
            }
            _ => DISK.to_owned(),
        }
    }

    /// The volume that a device is: `(hd0,gpt2)`, `hd0,2`.
    pub(super) fn volume(&self, device: &str) -> Option<usize> {
        let device = device.trim_start_matches('(').trim_end_matches(')');
        let mut all = 0..self.volumes.len();
        if let Some(is) = all.clone().find(|volume| self.name(*volume) == device) {
            return Some(is);
        }
        let part = device.strip_prefix(DISK)?.strip_prefix(',')?;
        let number = part.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let number: u32 = number.parse().ok()?;
        all.find(|volume| {
            let partition = self.table.partitions.get(*volume);
            partition.is_some_and(|partition| partition.number == number)
        })
    }

    pub(super) fn by_uuid(&self, uuid: &str) -> Option<usize> {
        let is = |volume: &Volume| volume.uuid.eq_ignore_ascii_case(uuid);
        self.volumes
            .iter()
            .position(is)
            .filter(|_| !uuid.is_empty())
    }

    pub(super) fn by_label(&self, label: &str) -> Option<usize> {
        let is = |volume: &Volume| volume.label == label;
        self.volumes
            .iter()
            .position(is)
            .filter(|_| !label.is_empty())
    }

    pub(super) fn by_file(&self, path: &str) -> Option<usize> {
        let has = |volume: &Volume| volume.files.as_ref().is_some_and(|files| files.has(path));
        self.volumes.iter().position(has)
    }

    pub(super) fn names(&self, volume: usize) -> Option<Names<'d>> {
        let of = self.volumes.get(volume)?;
        let partition = self.table.partitions.get(volume);
        Some(Names {
            uuid: &of.uuid,
            label: &of.label,
            partuuid: partition.map_or("", |partition| &partition.partuuid),
        })
    }

    pub(super) fn files(&self, volume: usize) -> Option<&'d dyn Files> {
        self.volumes.get(volume)?.files.as_deref()
    }

    pub(super) fn text(&self, place: &Place) -> Option<String> {
        self.files(place.volume)?.text(&place.path)
    }
}
