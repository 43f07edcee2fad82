//! What GRUB's scripts ask of the disk: file systems by their names, files, its environment.

use super::super::condition::Ask;
use super::{Answer, NO, Run, UNKNOWN, YES, path};
use crate::volume::Place;

impl Run<'_> {
    /// What `grub-editenv` wrote: `saved_entry=…`.
    pub(super) fn load_environment(&mut self, words: &[&str]) -> Answer {
        let mut words = words.iter().copied();
        let mut file = format!("{}/grubenv", self.variable("prefix").text);
        let mut names = Vec::new();
        while let Some(word) = words.next() {
            match word.strip_prefix("--file=") {
                Some(named) => named.clone_into(&mut file),
                None if matches!(word, "-f" | "--file") => {
                    words.next().unwrap_or_default().clone_into(&mut file);
                }
                None if word.starts_with('-') => {}
                None => names.push(word),
            }
        }
        let text = self
            .disk_place(&file)
            .and_then(|place| self.disk.text(&place));
        let Some(text) = text else {
            return NO;
        };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some((name, value)) = line.split_once('=')
                && (names.is_empty() || names.contains(&name))
            {
                self.set(name, value.replace("\\\\", "\\").as_str().into());
            }
        }
        YES
    }

    /// Looks for a file system, and sets a variable to its device.
    pub(super) fn search(&mut self, command: &str, words: &[&str]) -> Answer {
        let plain: Vec<&str> = words
            .iter()
            .copied()
            .filter(|w| !w.starts_with('-'))
            .collect();
        let has = |names: [&str; 2]| words.iter().any(|word| names.contains(word));
        let (wanted, variable) = match command {
            "search" => (
                plain.last(),
                words.iter().find_map(|w| w.strip_prefix("--set=")),
            ),
            _ => (plain.first(), plain.get(1).copied()),
        };
        let Some(wanted) = wanted else {
            return UNKNOWN;
        };
        let volume = if command.ends_with("uuid") || has(["--fs-uuid", "-u"]) {
            self.disk.by_uuid(wanted)
        } else if command.ends_with("label") || has(["--label", "-l"]) {
            self.disk.by_label(wanted)
        } else if command.ends_with("file") || has(["--file", "-f"]) {
            self.disk.by_file(wanted)
        } else {
            None
        };
        // It may be on another disk.
        let Some(volume) = volume else {
            return UNKNOWN;
        };
        let name = self.disk.name(volume);
        self.set(variable.unwrap_or("root"), name.as_str().into());
        YES
    }

    /// Asks a device for what it is called.
    pub(super) fn probe(&mut self, words: &[&str]) -> Answer {
        let has = |names: [&str; 2]| words.iter().any(|word| names.contains(word));
        let device = words.iter().rev().find(|word| !word.starts_with('-'));
        let volume = device.and_then(|device| self.disk.volume(device));
        let value = volume.and_then(|volume| {
            let names = self.disk.names(volume)?;
            let name = if has(["--fs-uuid", "-u"]) {
                names.uuid
            } else if has(["--label", "-l"]) {
                names.label
            } else if words.contains(&"--part-uuid") {
                names.partuuid
            } else {
                return None;
            };
            Some(name.into()).filter(|_| !name.is_empty())
        });
        let Some(value) = value else {
            return UNKNOWN;
        };
        if let Some(name) = words.iter().find_map(|word| word.strip_prefix("--set=")) {
            self.set(name, value);
        }
        YES
    }

    /// The place of `(hd0,gpt2)/boot/vmlinuz`; without a device, of `$root`.
    pub(super) fn disk_place(&self, file: &str) -> Option<Place> {
        let behind = file.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let volume = match behind {
            Some((device, _)) if !device.is_empty() => self.disk.volume(device),
            _ => self.disk.volume(&self.variable("root").text),
        };
        Some(Place {
            volume: volume?,
            path: path(file).trim_start_matches('/').to_owned(),
        })
    }
}

impl Ask for Run<'_> {
    fn is_file(&self, path: &str) -> Option<bool> {
        let place = self.disk_place(path)?;
        Some(self.disk.files(place.volume)?.has(&place.path))
    }

    fn is_folder(&self, path: &str) -> Option<bool> {
        let place = self.disk_place(path)?;
        Some(self.disk.files(place.volume)?.list(&place.path).is_ok())
    }

    fn is_empty(&self, path: &str) -> Option<bool> {
        let place = self.disk_place(path)?;
        let bytes = self.disk.files(place.volume)?.read(&place.path, 1);
        Some(bytes.is_ok_and(|bytes| bytes.is_empty()) || !self.is_file(path)?)
    }
}
