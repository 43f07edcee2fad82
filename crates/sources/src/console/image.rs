//! The images that U-Boot describes before it checks and unpacks them.
//!
//! ```text
//! ## Loading kernel from FIT Image at 04100000 ...        ## Booting kernel from Legacy Image at …
//!      Compression:  gzip compressed                         Image Type:   ARM Linux Kernel Image (gzip compressed)
//!      Data Size:    11225723 Bytes = 10.7 MiB               Data Size:    11225723 Bytes = 10.7 MiB
//! ```

use memchr::memmem;

use super::out::shown;

/// What is known of one image.
#[derive(Default)]
struct Image {
    name: &'static str,
    bytes: Option<String>,
    compression: Option<String>,
}

/// Which facts an event wants.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// How large it is.
    Size,
    /// That, and how it is compressed.
    Compression,
}

/// The images described so far, the one spoken of now last.
#[derive(Default)]
pub(crate) struct Images {
    all: Vec<Image>,
}

impl Images {
    /// Takes one line; `false` if it is about something else.
    pub(crate) fn line(&mut self, text: &[u8]) -> bool {
        if let Some(heading) = text.strip_prefix(b"## ") {
            let name = named(heading);
            // The kernel is unpacked last, when others have been spoken of.
            self.all.retain(|i| i.name == "kernel" && name != "kernel");
            self.all.push(Image {
                name,
                ..Image::default()
            });
            return true;
        }
        let Some((key, value)) = split(text) else {
            return false;
        };
        let Some(image) = self.all.last_mut() else {
            return false;
        };
        match key {
            b"Data Size" => {
                let digits = value.iter().take_while(|b| b.is_ascii_digit()).count();
                let digits = shown(&value[..digits]).into_owned();
                image.bytes = Some(digits).filter(|d| !d.is_empty());
            }
            b"Compression" => image.compression = Some(first_word(value)),
            b"Image Type" => {
                let inner = memchr::memchr(b'(', value).map(|i| &value[i + 1..]);
                image.compression = inner.map(first_word);
            }
            _ => return false,
        }
        true
    }

    /// Facts about the image called `name`, or about the current one.
    pub(crate) fn args(&self, name: Option<&str>, part: Part) -> Vec<(&'static str, String)> {
        let image = match name {
            Some(name) => self.all.iter().rfind(|i| i.name == name),
            None => self.all.last(),
        };
        let mut args = Vec::new();
        let Some(image) = image else { return args };
        if !image.name.is_empty() {
            args.push(("image", image.name.to_owned()));
        }
        args.extend(image.bytes.clone().map(|b| ("bytes", b)));
        if part == Part::Compression {
            args.extend(image.compression.clone().map(|c| ("compression", c)));
        }
        args
    }
}

/// Which image a heading is about; empty for a file that is none.
fn named(heading: &[u8]) -> &'static str {
    let has = |word: &[u8]| memmem::find(heading, word).is_some();
    if has(b"kernel") || heading.starts_with(b"Booting image") {
        "kernel"
    } else if has(b"amdisk") {
        "ramdisk"
    } else if has(b"fdt") || has(b"Device Tree") {
        "fdt"
    } else {
        ""
    }
}

/// `Key:   value`.
fn split(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memchr(b':', text)?;
    Some((&text[..colon], text[colon + 1..].trim_ascii()))
}

fn first_word(text: &[u8]) -> String {
    let end = text.iter().position(|b| matches!(b, b' ' | b')'));
    shown(&text[..end.unwrap_or(text.len())]).into_owned()
}
