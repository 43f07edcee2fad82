//! What a boot loader on a disk is told, changed in place: a file's bytes for as many others,
//! so that nothing else on the disk changes, neither sizes nor checksums.

use std::ops::Range;

use crate::Found;
use crate::loader::{Loader, script};

/// Bytes that stand at a place of the image instead of those that are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Where, from the image's start.
    pub at: u64,
    /// What.
    pub bytes: Vec<u8>,
}

impl Found {
    /// Has the menu of the loader that runs last wait so many seconds, or as few as it can.
    ///
    /// # Errors
    /// If there is no such line, or no room for the number.
    pub fn with_wait(&self, seconds: u32) -> Result<Vec<Patch>, String> {
        let (loader, _) = self
            .default()
            .ok_or("no boot loader with a menu was found")?;
        let config = loader.config.as_ref();
        let config = config.ok_or_else(|| format!("{} has no configuration", loader.name))?;
        let files = self.files(config.volume);
        let files = files.ok_or("its file system cannot be read")?;
        let unread = |e: std::io::Error| format!("/{}: {e}", config.path);
        let was = files.read(&config.path, 1 << 20).map_err(unread)?;
        let is = with_wait(loader, &was, seconds)?;
        let places = files.place(&config.path).map_err(unread)?;
        let partition = &self.table.partitions[config.volume];
        let mut patches = Vec::new();
        for range in differing(&was, &is) {
            patches.extend(
                patched(&places, partition.start, range, &is).ok_or_else(|| {
                    format!("where /{} is on the disk cannot be told", config.path)
                })?,
            );
        }
        Ok(patches)
    }
}

/// The configuration with another wait, as long as it was.
fn with_wait(loader: &Loader, was: &[u8], seconds: u32) -> Result<Vec<u8>, String> {
    // What stands in front of a number, and the number.
    let tenths = seconds.saturating_mul(10);
    let keys: &[(&[u8], u32)] = match loader.name {
        "GRUB" => &[(b"set timeout=", seconds), (b"timeout=", seconds)],
        "systemd-boot" => &[(b"timeout ", seconds)],
        // It waits whole seconds, and for ever with 0, whatever `prompt` says (2023.01).
        "U-Boot" => &[(b"timeout ", tenths.max(1))],
        // Without a prompt nobody is asked, but for a menu, for which 0 is for ever.
        "SYSLINUX" => &[
            (b"timeout ", tenths.max(1)),
            (b"prompt ", u32::from(seconds > 0)),
        ],
        script::NAME => {
            return Err(
                "a script has no menu; what U-Boot waits for a key is `bootdelay` in its \
                 environment"
                    .to_owned(),
            );
        }
        name => return Err(format!("how {name} is told to wait is not known here")),
    };
    let mut is = was.to_vec();
    let mut found = false;
    let mut at = 0;
    for line in was.split_inclusive(|byte| *byte == b'\n') {
        let indent = line.len() - line.trim_ascii_start().len();
        let small = line[indent..].to_ascii_lowercase();
        let key = keys.iter().find(|(key, _)| small.starts_with(key));
        if let Some((key, value)) = key {
            let value = value.to_string();
            let start = indent + key.len();
            let room = line[start..].trim_ascii_end().len();
            if value.len() > room {
                return Err(format!(
                    "there is no room for {value} where its configuration has {}",
                    String::from_utf8_lossy(line[start..].trim_ascii_end())
                ));
            }
            let number = &mut is[at + start..at + start + room];
            number.fill(b' ');
            number[..value.len()].copy_from_slice(value.as_bytes());
            found = true;
        }
        at += line.len();
    }
    match found {
        true => Ok(is),
        false => Err(format!("{}'s configuration sets no timeout", loader.name)),
    }
}

/// Where two texts of one length differ.
fn differing(was: &[u8], is: &[u8]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, _) in was.iter().zip(is).enumerate().filter(|(_, (a, b))| a != b) {
        match ranges.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => ranges.push(at..at + 1),
        }
    }
    ranges
}

/// A piece of a file as pieces of the image.
fn patched(
    places: &[Range<u64>],
    partition: u64,
    mut piece: Range<usize>,
    bytes: &[u8],
) -> Option<Vec<Patch>> {
    let mut patches = Vec::new();
    let mut from = 0;
    for place in places {
        let length = usize::try_from(place.end - place.start).ok()?;
        if piece.start < from + length && !piece.is_empty() {
            let end = piece.end.min(from + length);
            patches.push(Patch {
                at: partition + place.start + (piece.start - from) as u64,
                bytes: bytes.get(piece.start..end)?.to_vec(),
            });
            piece.start = end;
        }
        from += length;
    }
    piece.is_empty().then_some(patches)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &'static str, was: &str, seconds: u32) -> Result<String, String> {
        let loader = Loader {
            name,
            ..Loader::default()
        };
        let is = with_wait(&loader, was.as_bytes(), seconds)?;
        assert_eq!(is.len(), was.len());
        Ok(String::from_utf8(is).unwrap())
    }

    #[test]
    fn each_loader_is_told_in_its_own_words() {
        let grub = "set timeout=10\nif x\n  set timeout=5 # as is\nfi\ntimeout=5\n";
        let is = of("GRUB", grub, 0).unwrap();
        assert_eq!(
            is,
            "set timeout=0 \nif x\n  set timeout=0        \nfi\ntimeout=0\n"
        );
        let boot = of("systemd-boot", "#timeout 3\ntimeout menu-force\n", 0).unwrap();
        assert_eq!(boot, "#timeout 3\ntimeout 0         \n");
        let uboot = "prompt 1\n\ttimeout 50\n";
        assert_eq!(of("U-Boot", uboot, 0).unwrap(), "prompt 1\n\ttimeout 1 \n");
        assert_eq!(of("U-Boot", uboot, 3).unwrap(), "prompt 1\n\ttimeout 30\n");
        let syslinux = "PROMPT 1\nTIMEOUT 50\n";
        assert_eq!(
            of("SYSLINUX", syslinux, 2).unwrap(),
            "PROMPT 1\nTIMEOUT 20\n"
        );
        assert_eq!(
            of("SYSLINUX", syslinux, 0).unwrap(),
            "PROMPT 0\nTIMEOUT 1 \n"
        );
        assert!(
            of("GRUB", "set timeout=5\n", 10)
                .unwrap_err()
                .contains("no room for 10")
        );
        assert!(
            of("GRUB", "insmod ext2\n", 0)
                .unwrap_err()
                .contains("sets no timeout")
        );
    }

    #[test]
    fn a_piece_of_a_file_is_found_in_its_blocks() {
        let bytes = b"0123456789";
        let places = [100..104, 50..54, 200..202];
        let found = patched(&places, 1000, 3..9, bytes).unwrap();
        let patch = |at, bytes: &[u8]| Patch {
            at,
            bytes: bytes.to_vec(),
        };
        assert_eq!(
            found,
            [patch(1103, b"3"), patch(1050, b"4567"), patch(1200, b"8")]
        );
        assert_eq!(patched(&places, 0, 8..11, bytes), None);
        assert_eq!(differing(b"abcdef", b"axxdeX"), [1..3, 5..6]);
    }
}
