//! The configuration that a build is asked for, and whether it got it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bootlap_kbuild::dot_config::DotConfig;

use super::{Build, Make};
use crate::TargetError;
use crate::part::Find;

/// What was asked for.
pub(super) struct Wanted {
    base: Base,
    options: BTreeMap<String, String>,
}

enum Base {
    /// The text of a `.config`.
    File(String),
    /// What `make` knows by this name.
    Named(String),
}

impl Wanted {
    /// What `build` asks for, and what bootlap itself does on top of it.
    pub(super) fn of(
        key: &str,
        build: &Build,
        more: Vec<(String, String)>,
        finder: &dyn Find,
    ) -> Result<Self, TargetError> {
        let named = build.config.ends_with("config") && !build.config.contains(['/', '.']);
        let base = match named {
            true => Base::Named(build.config.clone()),
            false => {
                let at = format!("{key}.build.config");
                let (path, _) = finder.path(&at, &build.config)?;
                let bytes = fs::read(&path).map_err(|e| TargetError::io("read", &path, e))?;
                // What is broken is told before minutes of building.
                DotConfig::read(&bytes).map_err(|e| TargetError::artefact(&build.config, e))?;
                Base::File(String::from_utf8_lossy(&bytes).into_owned())
            }
        };
        for (name, value) in &build.options {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
            if name.is_empty() || !name.bytes().all(plain) || value.contains(['\n', '"', '\\']) {
                let why = format!("{name} = {value:?} is no option; write NAME = \"y\"");
                return Err(TargetError::artefact(&format!("{key}.build.options"), why));
            }
        }
        let mut options = build.options.clone();
        options.extend(more);
        Ok(Self { base, options })
    }

    /// Another configuration has another one.
    pub(super) fn identity(&self) -> String {
        match &self.base {
            Base::File(text) => format!("{text}\n{}", self.lines()),
            Base::Named(name) => format!("{name}\n{}", self.lines()),
        }
    }

    /// The options as lines of a `.config`.
    fn lines(&self) -> String {
        let line = |(name, value): (&String, &String)| match written(value) {
            None => format!("# CONFIG_{name} is not set\n"),
            Some(value) => format!("CONFIG_{name}={value}\n"),
        };
        self.options.iter().map(line).collect()
    }

    /// Writes `.config` into `work`, and checks that all that was asked for is
    /// in it: Kconfig drops in silence what depends on something that is off.
    pub(super) fn write(
        &self,
        key: &str,
        make: &Make,
        tree: &Path,
        work: &Path,
    ) -> Result<(), TargetError> {
        let put = |name: &str, text: &str| {
            let path = work.join(name);
            fs::write(&path, text).map_err(|e| TargetError::io("write", &path, e))
        };
        let lines = self.lines();
        let own = work.join("bootlap.options");
        put("bootlap.options", &lines)?;
        let base = match &self.base {
            Base::File(text) => text.clone(),
            Base::Named(name) => {
                make.configure(key, tree, work, name, &own)?;
                let path = work.join(".config");
                fs::read_to_string(&path).map_err(|e| TargetError::io("read", &path, e))?
            }
        };
        put(".config", &format!("{base}\n{lines}"))?;
        make.configure(key, tree, work, "olddefconfig", &own)?;
        let path = work.join(".config");
        let got = fs::read(&path).map_err(|e| TargetError::io("read", &path, e))?;
        let got = DotConfig::read(&got).map_err(|e| TargetError::artefact(key, e))?;
        self.check(key, &got)
    }

    fn check(&self, key: &str, got: &DotConfig) -> Result<(), TargetError> {
        let mut others = Vec::new();
        for (name, value) in &self.options {
            let wanted = written(value).unwrap_or_else(|| "n".to_owned());
            let became = got.get(name).unwrap_or("n");
            if became != wanted {
                others.push(format!("CONFIG_{name}={wanted} became {became}"));
            }
        }
        if others.is_empty() {
            return Ok(());
        }
        let why = format!(
            "Kconfig gave other values than asked for: {}; what such an option depends on is \
             off, or another option selects it; look for it in `make menuconfig`",
            others.join(", ")
        );
        let at = format!("{key}.build.options");
        Err(TargetError::artefact(&at, why))
    }
}

/// A value as Kconfig writes it; `None` for an option that is off.
fn written(value: &str) -> Option<String> {
    let number = value.strip_prefix("0x").unwrap_or(value);
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_hexdigit());
    let is_number = is_number && value.starts_with(|c: char| c.is_ascii_digit());
    match value {
        "n" => None,
        "y" | "m" => Some(value.to_owned()),
        _ if is_number => Some(value.to_owned()),
        _ => Some(format!("\"{value}\"")),
    }
}
