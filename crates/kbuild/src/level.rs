//! The levels of initcalls, in the order in which a kernel calls them.

use serde::{Serialize, Serializer};

/// When an initcall is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level {
    /// `early`, `core`, `device` …
    pub name: &'static str,
    /// After all of its level, which is `core_sync` and its like.
    pub sync: bool,
}

/// Names of levels, with the digits of their sections.
const LEVELS: [(&str, &str); 12] = [
    ("console", "con"),
    ("security", "security"),
    ("early", "early"),
    ("pure", "0"),
    ("core", "1"),
    ("postcore", "2"),
    ("arch", "3"),
    ("subsys", "4"),
    ("fs", "5"),
    ("rootfs", "rootfs"),
    ("device", "6"),
    ("late", "7"),
];

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text())
    }
}

impl Level {
    /// The level of `device`, which is that of modules that are built in.
    pub(crate) const DEVICE: Level = Level {
        name: "device",
        sync: false,
    };

    /// What a macro means that takes a function and is a level's own:
    /// `fs_initcall`, `late_initcall_sync`, `module_init`.
    pub(crate) fn of_macro(name: &str) -> Option<Self> {
        if matches!(name, "module_init" | "__initcall" | "device_initcall") {
            return Some(Self::DEVICE);
        }
        let (level, sync) = match name.strip_suffix("_initcall_sync") {
            Some(level) => (level, true),
            None => (name.strip_suffix("_initcall")?, false),
        };
        Self::named(level).map(|l| Self { sync, ..l })
    }

    /// The level of an `__define_initcall(fn, id)`, or of the end of a name
    /// `__initcall__kmod_…`: `6`, `4s`, `early`.
    pub(crate) fn of_section(id: &str) -> Option<Self> {
        let found = |id: &str| LEVELS.iter().find(|(_, i)| *i == id);
        let (level, sync) = match (found(id), id.strip_suffix('s')) {
            (Some(level), _) => (level, false),
            (None, Some(id)) => (found(id)?, true),
            (None, None) => return None,
        };
        Some(Self {
            name: level.0,
            sync,
        })
    }

    fn named(name: &str) -> Option<Self> {
        let found = LEVELS.iter().find(|(n, _)| *n == name)?;
        Some(Self {
            name: found.0,
            sync: false,
        })
    }

    /// `core`, `core_sync`
    pub fn text(self) -> String {
        let end = if self.sync { "_sync" } else { "" };
        format!("{}{end}", self.name)
    }
}

/// What stands in a log, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The function's name, without what compilers append.
    pub function: String,
    /// The module, if that is known; built-in ones have names, too.
    pub module: Option<String>,
    /// The level, if that is known.
    pub level: Option<String>,
    /// The line of the macro, if that is known.
    pub line: Option<u32>,
}

impl Asked {
    /// Takes a symbol apart: `foo_init+0x0/0x20 [foo]`, `foo_init.cfi_jt`,
    /// `__initcall__kmod_foo__123_456_foo_init6`.
    pub fn parse(symbol: &str) -> Self {
        let symbol = symbol.trim();
        let (symbol, module) = match symbol.split_once(" [") {
            Some((symbol, module)) => (symbol.trim(), Some(module.trim_end_matches(']'))),
            None => (symbol, None),
        };
        let symbol = symbol.split('+').next().unwrap_or_default();
        let module = module.map(str::to_owned);
        if let Some(asked) = symbol
            .strip_prefix("__initcall__kmod_")
            .and_then(of_section)
        {
            return asked;
        }
        // Before Linux 5.12: `__initcall_foo_init6`
        if let Some(rest) = symbol.strip_prefix("__initcall_") {
            let (function, level) = without_level(rest);
            return Self {
                function: plain(function).to_owned(),
                module,
                level,
                line: None,
            };
        }
        Self {
            function: plain(symbol).to_owned(),
            module,
            ..Self::default()
        }
    }
}

/// `foo__123_456_foo_init6`: a module, a counter, a line, a function, a level.
fn of_section(rest: &str) -> Option<Asked> {
    let starts = rest.match_indices("__").map(|(at, _)| at);
    for at in starts {
        let (module, after) = rest.split_at_checked(at)?;
        let mut parts = after.get(2..)?.splitn(3, '_');
        let (counter, line, function) = (parts.next()?, parts.next()?, parts.next());
        let (Some(function), Ok(_), Ok(line)) =
            (function, counter.parse::<u32>(), line.parse::<u32>())
        else {
            continue;
        };
        let (function, level) = without_level(function);
        return Some(Asked {
            function: plain(function).to_owned(),
            module: Some(module.to_owned()),
            level,
            line: Some(line),
        });
    }
    None
}

fn without_level(text: &str) -> (&str, Option<String>) {
    let ids = LEVELS.iter().map(|(_, id)| *id);
    let with_sync = ids.clone().map(|id| format!("{id}s"));
    for id in with_sync.chain(ids.map(str::to_owned)) {
        if let Some(function) = text.strip_suffix(id.as_str())
            && !function.is_empty()
        {
            return (function, Level::of_section(&id).map(Level::text));
        }
    }
    (text, None)
}

/// Without `.cfi_jt`, `.isra.0`, `.constprop.1`, `.llvm.123`.
fn plain(symbol: &str) -> &str {
    symbol.split('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_and_sections_name_levels() {
        let of = |name| Level::of_macro(name).map(Level::text);
        assert_eq!(of("module_init").as_deref(), Some("device"));
        assert_eq!(of("core_initcall_sync").as_deref(), Some("core_sync"));
        assert_eq!(of("console_initcall").as_deref(), Some("console"));
        assert_eq!(of("my_initcall"), None);
        let of = |id| Level::of_section(id).map(Level::text);
        assert_eq!(of("4s").as_deref(), Some("subsys_sync"));
        assert_eq!(of("rootfs").as_deref(), Some("rootfs"));
        assert_eq!(of("x"), None);
    }

    #[test]
    fn symbols_of_logs() {
        let asked = Asked::parse("loop_init+0x0/0x1000 [loop]");
        assert_eq!(
            (asked.function.as_str(), asked.module.as_deref()),
            ("loop_init", Some("loop"))
        );
        assert_eq!(Asked::parse("a_init.cfi_jt").function, "a_init");
        assert_eq!(Asked::parse("a_init.isra.0+0x0/0x1").function, "a_init");
        let asked = Asked::parse("__initcall__kmod_a__b__123_456_foo_init4s");
        assert_eq!(asked.function, "foo_init");
        assert_eq!(asked.module.as_deref(), Some("a__b"));
        assert_eq!(
            (asked.line, asked.level.as_deref()),
            (Some(456), Some("subsys_sync"))
        );
        // Without its end it is no name that a linker makes.
        assert_eq!(Asked::parse("__initcall__kmod_").function, "_kmod_");
    }
}
