//! What GRUB's scripts load to start it: kernels, and entries that have one.

use std::mem;

use bootlap_artefact::kernel_image::KernelImage;

use super::super::script::{Command, parse};
use super::super::value::Value;
use super::{Item, Offer, Run, path};
use crate::loader::{Entry, bls, efi};
use crate::volume::{MOST_FILE, Place};

impl Run<'_> {
    /// `linux` with the words behind it.
    pub(super) fn kernel(&mut self, words: &[Value], line: usize) {
        let Some((kernel, words)) = words.split_first() else {
            return;
        };
        let at = (self.file != self.config).then(|| (*self.file).clone());
        let known = words
            .iter()
            .filter(|word| word.known && !word.text.is_empty());
        let cmdline: Vec<String> = known.map(|word| for_linux(&word.text)).collect();
        let root = words.iter().find(|word| word.text.starts_with("root="));
        let decides = [Some(kernel), root];
        let doubt = decides
            .into_iter()
            .flatten()
            .find_map(|word| word.doubt.clone());
        let Item {
            entry: before,
            doubt: known,
            ..
        } = mem::take(&mut self.loaded);
        self.loaded = Item {
            entry: Entry {
                kernel: path(&kernel.text),
                cmdline: cmdline.join(" "),
                volume: self.disk_place(&kernel.text).map(|place| place.volume),
                at,
                line: Some(line),
                ..before
            },
            doubt: known.or(doubt),
            ..Item::default()
        };
    }

    /// `chainloader` of a kernel that is a program of UEFI, too; of another one nothing is known.
    pub(super) fn chain(&mut self, words: &[Value], line: usize) {
        let file = words.first().map(|file| file.text.as_str());
        let place = file.and_then(|file| self.disk_place(file));
        let program = place.filter(|_| self.programs > 0).and_then(|place| {
            let files = self.disk.files(place.volume)?;
            files.read(&place.path, MOST_FILE).ok()
        });
        let Some(program) = program else { return };
        self.programs -= 1;
        let unified = efi::unified(&program, "");
        if unified.is_some() || KernelImage::describe(&program).is_ok() {
            self.kernel(words, line);
            let given = words.iter().skip(1).filter(|word| word.known);
            let given: Vec<&str> = given.map(|word| word.text.as_str()).collect();
            self.loaded.entry.cmdline = match unified {
                // Without words of its own it has those that are in it.
                Some(unified) if given.is_empty() => unified.entry.cmdline,
                _ => given.join(" "),
            };
        }
    }

    /// Entries of the Boot Loader Specification, the newest first. GRUB fills variables in.
    pub(super) fn specification(&mut self) {
        let Some(Place { volume, .. }) = self.disk_place("/") else {
            return;
        };
        let Some(files) = self.disk.files(volume) else {
            return;
        };
        for (id, mut entry) in bls::newest_first(bls::entries(volume, files)) {
            if entry.cmdline.is_empty() {
                entry.cmdline = self.variable("default_kernelopts").text;
            }
            let texts = [&mut entry.title, &mut entry.kernel];
            for text in texts.into_iter().chain(&mut entry.initramfs) {
                *text = self.filled(text, str::to_owned);
            }
            entry.cmdline = self.filled(&entry.cmdline, for_linux);
            entry.initramfs.retain(|path| !path.is_empty());
            entry.volume = Some(volume);
            let id = id.trim_end_matches(".conf").to_owned();
            self.offers.push(Offer::Ready(entry, id));
        }
    }

    /// A text with its variables filled in, and then each word as it `becomes`.
    fn filled(&mut self, text: &str, becomes: fn(&str) -> String) -> String {
        if !text.contains('$') {
            return text.to_owned();
        }
        match &*parse(text) {
            [Command::Plain { words, .. }] => {
                let words = self.words(words);
                let known = words.iter().filter(|word| word.known);
                let known: Vec<String> = known.map(|word| becomes(&word.text)).collect();
                known.join(" ")
            }
            _ => text.to_owned(),
        }
    }
}

/// A word as GRUB hands it to Linux: one with spaces in quotes, and codes (`\x20`) as they are.
fn for_linux(word: &str) -> String {
    let mut escaped = String::new();
    for (at, c) in word.char_indices() {
        let code = word.as_bytes().get(at + 1..at + 4).unwrap_or_default();
        let is_code = code.starts_with(b"x") && code[1..].iter().all(u8::is_ascii_hexdigit);
        if matches!(c, '\'' | '"') || c == '\\' && !is_code {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    match word.contains(' ') {
        true => format!("\"{escaped}\""),
        false => escaped,
    }
}
