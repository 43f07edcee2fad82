//! A `.config`: which options a kernel was built with.

use std::collections::HashMap;

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

/// The options of one build.
///
/// ```text
/// # Linux/arm64 6.1.0 Kernel Configuration
/// CONFIG_SMP=y
/// CONFIG_BLK_DEV_LOOP=m
/// # CONFIG_PREEMPT is not set
/// CONFIG_HZ=250
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    values: HashMap<String, String>,
    arch: Option<String>,
}

impl Config {
    /// Reads a `.config`; lines that are not understood say nothing.
    pub fn parse(text: &str) -> Self {
        let mut config = Self::default();
        for line in text.lines() {
            let line = line.trim();
            if let Some(rest) = line.strip_prefix("# Linux/") {
                let arch = rest.split(' ').next().unwrap_or_default();
                config.arch = Some(source_arch(arch).to_owned());
            }
            let set = line.strip_prefix("CONFIG_").and_then(|l| l.split_once('='));
            if let Some((name, value)) = set {
                let value = value.trim().trim_matches('"');
                config.values.insert(name.to_owned(), value.to_owned());
            }
        }
        config
    }

    /// Whether it says anything.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What an option (without `CONFIG_`) is set to, as text.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Whether an option is on; numbers and texts are.
    pub fn state(&self, name: &str) -> State {
        match self.value(name) {
            None | Some("n") => State::No,
            Some("m") => State::Module,
            Some(_) => State::Yes,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_states() {
        let text = "# Linux/x86_64 6.1.0 Kernel Configuration\nCONFIG_A=y\nCONFIG_B=m\n\
                    # CONFIG_C is not set\nCONFIG_HZ=250\nCONFIG_N=\"a b\"\nnonsense\n";
        let config = Config::parse(text);
        assert_eq!(config.arch(), Some("x86"));
        let states = ["A", "B", "C", "HZ", "X"].map(|n| config.state(n).text());
        assert_eq!(states, ["y", "m", "n", "y", "n"]);
        assert_eq!(config.value("N"), Some("a b"));
        assert_eq!(Config::parse("CONFIG_ARM=y").arch(), Some("arm"));
    }
}
