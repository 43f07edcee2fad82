//! U-Boot's environment: the variables that decide what it boots and how long it waits.
//!
//! Format: U-Boot's `include/env_internal.h`, `tools/mkenvimage.c`. A CRC-32, in redundant
//! environments a flag byte, then `name=value` strings that each end in a NUL, one more NUL, and
//! padding up to the size that is compiled into U-Boot. The CRC covers everything after itself
//! and the flag, padding included, so the size must be right: with another one U-Boot says `bad
//! CRC, using default environment` and boots something else.

mod any;

pub use any::Found;

use super::bytes::{array, le32};

/// Variables in order. Names are unique, not empty and without `=`; values are text without NUL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UbootEnv {
    variables: Vec<(String, String)>,
}

/// How an environment lies in flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvLayout {
    /// Bytes in all: `CONFIG_ENV_SIZE`.
    pub size: usize,
    /// The flag byte of a redundant environment (1 is active), `None` if there is only one copy.
    pub flag: Option<u8>,
    /// What fills the rest; `mkenvimage` takes 0xff.
    pub pad: u8,
    /// The CRC is big-endian, as on PowerPC and big-endian MIPS.
    pub big_endian: bool,
}

/// What is wrong with an environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvError {
    /// The variables do not fit.
    #[error(
        "environment needs {needed} bytes and has {size}; shorten it or raise the size here and in u-boot"
    )]
    TooBig {
        /// Bytes it would take.
        needed: usize,
        /// Bytes there are.
        size: usize,
    },
    /// There is not even room for the CRC.
    #[error("environment of {0} bytes is too short to be one; check offset and size")]
    Cut(usize),
    /// It is damaged, or its size or kind is not what was said.
    #[error(
        "environment has crc {stored:08x} but its bytes give {computed:08x}; check offset, size and whether it is redundant"
    )]
    Crc {
        /// The CRC in the image.
        stored: u32,
        /// The CRC of its bytes.
        computed: u32,
    },
    /// A line or string without `=`.
    #[error("environment entry {index} (`{text}`) is not name=value; correct it")]
    NoValue {
        /// Which, counted from 1.
        index: usize,
        /// Its beginning.
        text: String,
    },
    /// A name or value that cannot be stored.
    #[error(
        "environment variable `{0}` cannot be stored; names need text without `=`, values text without NUL"
    )]
    Variable(String),
    /// Nothing looks like an environment.
    #[error(
        "no environment is in it; give what `printenv` prints, or a dump of the flash with the environment"
    )]
    Nowhere,
    /// Something does, but no size makes its CRC right.
    #[error(
        "variables begin at {offset:#x}, but with no size up to 1 MiB is their crc right: they are damaged or cut off; read the whole environment out of the flash again"
    )]
    Damaged {
        /// Where, in bytes from the start.
        offset: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("environment variable `{0}` is not UTF-8 text; set it again in u-boot and save")]
    NotText(String),
}

impl EnvLayout {
    /// One copy of `size` bytes, little-endian, padded as `mkenvimage -s size` does.
    pub fn single(size: usize) -> EnvLayout {
        EnvLayout {
            size,
            flag: None,
            pad: 0xff,
            big_endian: false,
        }
    }

    fn header(&self) -> usize {
        4 + usize::from(self.flag.is_some())
    }
}

impl UbootEnv {
    /// An environment without variables.
    pub fn new() -> UbootEnv {
        UbootEnv::default()
    }

    /// The variables of the text that `mkenvimage` takes: `name=value` lines, `#` comments, empty
    /// lines. A backslash at the end of a line puts a newline into the value.
    ///
    /// # Errors
    /// [`EnvError::NoValue`] or [`EnvError::Variable`].
    pub fn from_text(text: &str) -> Result<UbootEnv, EnvError> {
        let mut env = UbootEnv::new();
        let mut lines = text.lines().enumerate();
        while let Some((index, line)) = lines.next() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut entry = line.to_owned();
            while entry.ends_with('\\') {
                let Some((_, more)) = lines.next() else { break };
                entry.pop();
                entry.push('\n');
                entry.push_str(more);
            }
            let (name, value) = split(&entry, index + 1)?;
            env.set(name, value)?;
        }
        Ok(env)
    }

    /// The environment in the first `layout.size` bytes of `image`. Of `layout.flag` only whether
    /// there is one counts. Returned with it: the flag byte found.
    ///
    /// # Errors
    /// [`EnvError::Cut`], [`EnvError::Crc`], [`EnvError::NoValue`] or [`EnvError::NotText`].
    pub fn read(image: &[u8], layout: &EnvLayout) -> Result<(UbootEnv, Option<u8>), EnvError> {
        let image = image.get(..layout.size).ok_or(EnvError::Cut(image.len()))?;
        let data = image
            .get(layout.header()..)
            .ok_or(EnvError::Cut(image.len()))?;
        let stored = le32(image, 0).ok_or(EnvError::Cut(image.len()))?;
        let stored = if layout.big_endian {
            stored.swap_bytes()
        } else {
            stored
        };
        let computed = crc32fast::hash(data);
        if stored != computed {
            return Err(EnvError::Crc { stored, computed });
        }
        let mut env = UbootEnv::new();
        let strings = data
            .split(|&byte| byte == 0)
            .take_while(|string| !string.is_empty());
        for (index, string) in strings.enumerate() {
            let name = string.split(|&byte| byte == b'=').next().unwrap_or(string);
            let text = str::from_utf8(string)
                .map_err(|_| EnvError::NotText(String::from_utf8_lossy(name).into_owned()))?;
            let (name, value) = split(text, index + 1)?;
            env.set(name, value)?;
        }
        let flag = layout.flag.and(array::<1>(image, 4)).map(|[flag]| flag);
        Ok((env, flag))
    }

    /// The image.
    ///
    /// # Errors
    /// [`EnvError::TooBig`] if the variables and two NULs do not fit in `layout.size`.
    pub fn to_bytes(&self, layout: &EnvLayout) -> Result<Vec<u8>, EnvError> {
        let mut out = vec![0; layout.header()];
        for (name, value) in &self.variables {
            out.extend_from_slice(format!("{name}={value}\0").as_bytes());
        }
        out.push(0);
        if out.len() > layout.size {
            return Err(EnvError::TooBig {
                needed: out.len(),
                size: layout.size,
            });
        }
        out.resize(layout.size, layout.pad);
        let crc = crc32fast::hash(&out[layout.header()..]);
        let crc = if layout.big_endian {
            crc.to_be_bytes()
        } else {
            crc.to_le_bytes()
        };
        out[..4].copy_from_slice(&crc);
        if let Some(flag) = layout.flag {
            out[4] = flag;
        }
        Ok(out)
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.variables.iter().find(|(n, _)| n == name)?;
        Some(value)
    }

    /// Sets `name`, in place if it exists, else after the others.
    ///
    /// # Errors
    /// [`EnvError::Variable`] if the environment cannot hold it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), EnvError> {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(EnvError::Variable(name.to_owned()));
        }
        match self.variables.iter_mut().find(|(n, _)| n == name) {
            Some(variable) => variable.1 = value.to_owned(),
            None => self.variables.push((name.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// Removes `name`; says whether it was there.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.variables.len();
        self.variables.retain(|(n, _)| n != name);
        self.variables.len() != before
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(n, v)| (n.as_str(), v.as_str()))
    }
}

fn split(text: &str, index: usize) -> Result<(&str, &str), EnvError> {
    text.split_once('=').ok_or_else(|| EnvError::NoValue {
        index,
        text: text.chars().take(40).collect(),
    })
}

#[cfg(test)]
mod tests;
