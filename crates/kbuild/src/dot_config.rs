//! `.config`: what Kconfig wrote for a kernel, U-Boot, barebox or BusyBox.
//!
//! ```text
//! CONFIG_HZ=250
//! CONFIG_DEFAULT_HOSTNAME="(none)"
//! CONFIG_CRYPTO_SHA256_ARM64=m
//! # CONFIG_KASAN is not set
//! ```

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

/// What an option is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Off.
    No,
    /// A module.
    Module,
    /// Built in.
    Yes,
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.text())
    }
}

impl State {
    /// As `.config` writes it.
    pub fn text(self) -> &'static str {
        match self {
            State::No => "n",
            State::Module => "m",
            State::Yes => "y",
        }
    }
}

/// The options of a configuration, by name without `CONFIG_`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DotConfig {
    options: BTreeMap<String, String>,
    /// What the heading of a kernel's says.
    arch: Option<String>,
}

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DotConfigError {
    /// A line that Kconfig does not write.
    #[error(
        "line {line}: `{text}` is neither CONFIG_NAME=value nor `# CONFIG_NAME is not set`; take the file that the build used"
    )]
    Line {
        /// Its number, from 1.
        line: usize,
        /// Its beginning.
        text: String,
    },
    /// No option at all.
    #[error("no CONFIG_ option is in it; take the .config of the build, or /boot/config-*")]
    Empty,
    /// Bytes that are not text.
    #[error("line {0} is not UTF-8 text; take the .config of the build, unpacked")]
    NotText(usize),
}

impl DotConfig {
    /// Reads a `.config`.
    ///
    /// # Errors
    /// If it is not one, or is damaged; nothing is guessed.
    pub fn read(bytes: &[u8]) -> Result<Self, DotConfigError> {
        let mut options = BTreeMap::new();
        let mut arch = None;
        for (at, line) in bytes.split(|b| *b == b'\n').enumerate() {
            let line = str::from_utf8(line).map_err(|_| DotConfigError::NotText(at + 1))?;
            let line = line.trim();
            let wrong = || DotConfigError::Line {
                line: at + 1,
                text: line.chars().take(60).collect(),
            };
            if let Some(comment) = line.strip_prefix('#') {
                if let Some(heading) = comment.trim().strip_prefix("Linux/") {
                    let name = heading.split(' ').next().unwrap_or_default();
                    arch = Some(source_arch(name).to_owned());
                }
                if let Some(name) = comment.trim().strip_suffix(" is not set")
                    && let Some(name) = name.strip_prefix("CONFIG_")
                {
                    options.insert(name.to_owned(), "n".to_owned());
                }
                continue;
            }
            if line.is_empty() {
                continue;
            }
            let (name, value) = line.split_once('=').ok_or_else(wrong)?;
            let name = name.strip_prefix("CONFIG_").ok_or_else(wrong)?;
            let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
            if name.is_empty() || !name.bytes().all(plain) || !is_value(value) {
                return Err(wrong());
            }
            options.insert(name.to_owned(), value.to_owned());
        }
        match options.is_empty() {
            true => Err(DotConfigError::Empty),
            false => Ok(Self { options, arch }),
        }
    }

    /// The value of an option, named without `CONFIG_`, as it is written: `y`,
    /// `m`, `n`, a number, a text in quotes. `None` if the file does not name
    /// it: then the option does not exist there, or what it depends on is off.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// Whether it is built in.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name) == Some("y")
    }

    /// Whether it is a module.
    pub fn is_module(&self, name: &str) -> bool {
        self.get(name) == Some("m")
    }

    /// Whether it is on; numbers and texts are.
    pub fn state(&self, name: &str) -> State {
        match self.get(name) {
            None | Some("n") => State::No,
            Some("m") => State::Module,
            Some(_) => State::Yes,
        }
    }

    /// What a makefile sees of it: texts without their quotes, nothing of an
    /// option that is off.
    pub fn value(&self, name: &str) -> Option<&str> {
        let value = self.get(name).filter(|v| *v != "n");
        value.map(|v| v.trim_matches('"'))
    }

    /// Its text without the quotes.
    pub fn text(&self, name: &str) -> Option<&str> {
        let quoted = self.get(name)?.strip_prefix('"')?;
        quoted.strip_suffix('"')
    }

    /// Its number, decimal or hexadecimal.
    pub fn number(&self, name: &str) -> Option<i64> {
        let value = self.get(name)?;
        match value.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        }
    }

    /// All options and their values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let options = self.options.iter();
        options.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The folder below `arch/` that it is for, if it says so.
    pub fn arch(&self) -> Option<&str> {
        let by_option = [
            ("X86", "x86"),
            ("ARM64", "arm64"),
            ("ARM", "arm"),
            ("RISCV", "riscv"),
            ("PPC", "powerpc"),
            ("MIPS", "mips"),
            ("S390", "s390"),
            ("LOONGARCH", "loongarch"),
        ];
        let on = by_option.iter().find(|(o, _)| self.state(o) == State::Yes);
        self.arch.as_deref().or(on.map(|(_, arch)| *arch))
    }
}

/// The folder below `arch/` of what people and compilers call an architecture.
pub fn source_arch(name: &str) -> &str {
    match name {
        "x86_64" | "amd64" | "i386" | "i486" | "i586" | "i686" => "x86",
        "aarch64" => "arm64",
        "armv6l" | "armv7l" | "armhf" | "armel" => "arm",
        "riscv64" | "riscv32" => "riscv",
        "ppc" | "ppc64" | "ppc64le" | "powerpc64" | "powerpc64le" => "powerpc",
        "mips64" | "mipsel" | "mips64el" => "mips",
        "s390x" => "s390",
        "loongarch64" | "loong64" => "loongarch",
        "sparc64" | "sparc32" => "sparc",
        other => other,
    }
}

/// `y`, a number, a text in quotes: what a cut line ends in is none of these.
fn is_value(value: &str) -> bool {
    if let Some(text) = value.strip_prefix('"') {
        return text.ends_with('"') && !text.ends_with("\\\"");
    }
    let digits = value.strip_prefix('-').unwrap_or(value);
    let is_hex = |d: &str| !d.is_empty() && d.bytes().all(|b| b.is_ascii_hexdigit());
    matches!(value, "y" | "m" | "n")
        || value.strip_prefix("0x").is_some_and(is_hex)
        || !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_states_and_a_heading_names_the_architecture() {
        let text = b"# Linux/x86_64 6.1.0 Kernel Configuration\nCONFIG_A=y\nCONFIG_B=m\n\
                     # CONFIG_C is not set\nCONFIG_HZ=250\n";
        let config = DotConfig::read(text).unwrap();
        assert_eq!(config.arch(), Some("x86"));
        assert_eq!((config.value("HZ"), config.value("C")), (Some("250"), None));
        let states = ["A", "B", "C", "HZ", "X"].map(|n| config.state(n).text());
        assert_eq!(states, ["y", "m", "n", "y", "n"]);
        let arm = DotConfig::read(b"CONFIG_ARM=y").unwrap();
        assert_eq!(arm.arch(), Some("arm"));
    }

    #[test]
    fn values_of_every_kind() {
        let text = b"#\n# Linux/arm64 6.1.0 Kernel Configuration\n#\nCONFIG_HZ=250\n\
            CONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\nCONFIG_T=\"a=b \\\"c\"\n\
            CONFIG_X=0xffffffc0\nCONFIG_N=-1\r\n\n";
        let config = DotConfig::read(text).unwrap();
        assert!(config.is_on("A") && config.is_module("B"));
        assert_eq!(config.get("C"), Some("n"));
        assert_eq!(config.get("D"), None);
        assert_eq!(config.number("HZ"), Some(250));
        assert_eq!(config.number("X"), Some(0xffff_ffc0));
        assert_eq!(config.number("N"), Some(-1));
        assert_eq!(config.text("T"), Some("a=b \\\"c"));
        assert_eq!(config.iter().count(), 7);
    }

    #[test]
    fn what_is_broken_is_named_by_its_line() {
        let why = |text: &[u8]| DotConfig::read(text).unwrap_err().to_string();
        assert!(why(b"CONFIG_A=y\nCONFIG_B=ye").starts_with("line 2: `CONFIG_B=ye`"));
        assert!(why(b"CONFIG_A=\"cut").starts_with("line 1"));
        assert!(why(b"CONFIG_A").starts_with("line 1"));
        assert!(why(b"A=y").starts_with("line 1"));
        assert!(why(b"CONFIG_=y").starts_with("line 1"));
        assert!(why(b"CONFIG_A=y\n\xff").starts_with("line 2 is not UTF-8"));
        assert!(why(b"# nothing\n").contains("no CONFIG_ option"));
    }
}
