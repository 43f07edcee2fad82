//! An environment of which nobody knows where it lies or how large it is: in a
//! dump of the flash, or as the text that `printenv` and `fw_printenv` print.
//!
//! Its size is compiled into U-Boot and stands nowhere, but the CRC covers all
//! of it: only the right size makes that come out.

use super::{EnvError, EnvLayout, UbootEnv, le32};

/// Where an environment begins: at a multiple of this, as erase blocks and
/// sectors do.
const STEP: usize = 0x200;
/// Its size is a multiple of this.
const SIZE_STEP: usize = 0x100;
/// Largest one, in bytes; real ones have 4 KiB to 256 KiB.
const SIZE_LIMIT: usize = 1 << 20;
/// Places that are tried with all sizes: other things in flash look like
/// variables too.
const TRIES: usize = 64;

/// An environment that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The variables; of a redundant environment, those of the active copy.
    pub environment: UbootEnv,
    /// Where it lies, in bytes from the start; 0 for text.
    pub offset: usize,
    /// How it lies there; none for text.
    pub layout: Option<EnvLayout>,
}

impl UbootEnv {
    /// Reads an environment out of a dump of the flash that it is in, or out of
    /// what `printenv` printed.
    ///
    /// # Errors
    /// [`EnvError::Nowhere`] if nothing looks like one, [`EnvError::Damaged`] if
    /// something does and its CRC is wrong whatever its size, and the errors of
    /// [`UbootEnv::read`] and [`UbootEnv::from_text`].
    pub fn read_any(bytes: &[u8]) -> Result<Found, EnvError> {
        if let Ok(text) = str::from_utf8(bytes)
            && !text.contains('\0')
        {
            let environment = printed(text)?;
            let layout = None;
            return Ok(Found {
                environment,
                offset: 0,
                layout,
            });
        }
        let mut damaged = None;
        let mut copies: Vec<Found> = Vec::new();
        let mut tries = 0;
        let mut offset = 0;
        while offset < bytes.len() && tries < TRIES && copies.len() < 2 {
            let rest = bytes.get(offset..).unwrap_or_default();
            let mut next = offset.saturating_add(STEP);
            if let Some(end) = variables_end(rest) {
                tries += 1;
                match layout(rest, end) {
                    Some(layout) => {
                        let (environment, flag) = UbootEnv::read(rest, &layout)?;
                        let layout = EnvLayout { flag, ..layout };
                        next = offset.saturating_add(layout.size).next_multiple_of(STEP);
                        copies.push(Found {
                            environment,
                            offset,
                            layout: Some(layout),
                        });
                    }
                    None => damaged = damaged.or(Some(offset)),
                }
            }
            offset = next;
        }
        let mut copies = copies.into_iter();
        match (copies.next(), copies.next(), damaged) {
            (Some(first), Some(second), _) => Ok(active(first, second)),
            (Some(only), None, _) => Ok(only),
            (None, _, Some(offset)) => Err(EnvError::Damaged { offset }),
            (None, _, None) => Err(EnvError::Nowhere),
        }
    }
}

/// The copy that U-Boot takes: the one with the higher flag, which counts up
/// and begins again after 255.
fn active(first: Found, second: Found) -> Found {
    let flag = |found: &Found| found.layout.and_then(|layout| layout.flag);
    match (flag(&first), flag(&second)) {
        (Some(255), Some(0)) => second,
        (Some(0), Some(255)) => first,
        (Some(a), Some(b)) if b > a => second,
        _ => first,
    }
}

/// Where the variables after a CRC (and perhaps a flag) end, if they are some.
fn variables_end(bytes: &[u8]) -> Option<usize> {
    let begins = |at: usize| {
        let name = bytes.get(at..)?.iter().take(64);
        let mut name = name.take_while(|b| b.is_ascii_graphic() && **b != b'=');
        name.next()?;
        let length = 1 + name.count();
        (bytes.get(at + length) == Some(&b'=')).then_some(())
    };
    begins(4).or_else(|| begins(5))?;
    let window = bytes.get(..bytes.len().min(SIZE_LIMIT))?;
    memchr::memmem::find(window.get(4..)?, b"\0\0").map(|at| at + 4 + 2)
}

/// The layout with which the CRC comes out, if there is one.
fn layout(bytes: &[u8], end: usize) -> Option<EnvLayout> {
    let stored = le32(bytes, 0)?;
    let largest = bytes.len().min(SIZE_LIMIT);
    for flag in [None, Some(1)] {
        let header = 4 + usize::from(flag.is_some());
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(bytes.get(header..end.max(header))?);
        let mut done = end.max(header);
        // All of what is there may be one too, however long it is.
        let first = end.next_multiple_of(SIZE_STEP);
        let sizes = (first..largest).step_by(SIZE_STEP).chain([largest]);
        for size in std::iter::once(end).chain(sizes) {
            hasher.update(bytes.get(done..size).unwrap_or_default());
            done = done.max(size);
            let computed = hasher.clone().finalize();
            for big_endian in [false, true] {
                let stored = if big_endian {
                    stored.swap_bytes()
                } else {
                    stored
                };
                if stored == computed {
                    let pad = bytes.get(end..size).and_then(|pad| pad.first());
                    return Some(EnvLayout {
                        size,
                        flag,
                        pad: pad.copied().unwrap_or(0xff),
                        big_endian,
                    });
                }
            }
        }
    }
    None
}

/// What `printenv` or `fw_printenv` printed, with or without the prompt above
/// and the size below.
fn printed(text: &str) -> Result<UbootEnv, EnvError> {
    let mut environment = UbootEnv::new();
    let mut last: Option<(String, String)> = None;
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        let about = line.starts_with("Environment size:")
            || line.ends_with("printenv")
            || line.starts_with('#');
        let named = |(name, _): &(&str, &str)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() && c != '"')
        };
        match line.split_once('=').filter(named) {
            _ if about => {}
            Some((name, value)) => {
                if let Some((name, value)) = last.replace((name.to_owned(), value.to_owned())) {
                    environment.set(&name, &value)?;
                }
            }
            // A value of several lines goes on.
            None => match &mut last {
                Some((_, value)) if !line.is_empty() => {
                    value.push('\n');
                    value.push_str(line);
                }
                _ => {}
            },
        }
    }
    let (name, value) = last.ok_or(EnvError::Nowhere)?;
    environment.set(&name, &value)?;
    Ok(environment)
}

#[cfg(test)]
mod tests;
