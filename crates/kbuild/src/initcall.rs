//! Finds initcalls in C, those that macros make included.
//!
//! ```text
//! module_init(loop_init);                  loop_init
//! module_platform_driver(foo_driver);      foo_driver_init
//! #define FOO(name) subsys_initcall(name##_setup)
//! FOO(bar);                                bar_setup
//! ```
//!
//! A tree's own macros are read from its headers and expanded, so that those
//! which a kernel version adds need not be known here.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;

use crate::level::Level;
use crate::makefile::Guard;
use crate::number::next_directive;
use crate::source::{Source, byte, close, is_name, name_at, parts, skip_space};

/// Macros that use each other stand no deeper.
const DEEPEST: usize = 10;
/// Initcalls of one line.
const MOST_OF_LINE: usize = 32;
/// Macros that one line uses, all in all.
const MOST_EXPANSIONS: usize = 200;
/// A macro's text, in bytes, that is read.
const LONGEST_MACRO: usize = 16 * 1024;

/// An initcall in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// The function that is called.
    pub(crate) function: String,
    pub(crate) level: Level,
    /// The macro as it stands in the file.
    pub(crate) made_by: String,
    /// What the macro was given: drivers and functions.
    pub(crate) given: Vec<String>,
    /// The line of the macro.
    pub(crate) line: u32,
    /// What the preprocessor needs to see it.
    pub(crate) guards: Vec<Guard>,
    /// Only where the file is a module.
    pub(crate) only_module: bool,
}

/// A macro with parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Macro {
    params: Vec<String>,
    body: String,
}

impl Macro {
    /// Whether its text has what ends in an initcall.
    pub(crate) fn mentions_init(&self) -> bool {
        WORDS.iter().any(|w| self.body.contains(w))
    }
}

/// Macros by name.
pub(crate) type Macros = HashMap<String, Macro>;

/// Finds what may be initcalls quickly.
pub(crate) struct Finder {
    macros: Macros,
    words: AhoCorasick,
}

/// Words of which one is in every macro that makes an initcall.
const WORDS: [&str; 3] = ["initcall", "module_", "builtin_"];

/// Whether macros of a file can make initcalls.
pub(crate) fn quick() -> AhoCorasick {
    automaton(WORDS.iter().map(|w| (*w).to_owned()).collect())
}

fn automaton(words: Vec<String>) -> AhoCorasick {
    let none: [&str; 0] = [];
    // A few hundred short words: none of the limits can be met.
    AhoCorasick::new(words)
        .or_else(|_| AhoCorasick::new(none))
        .expect("an automaton of nothing")
}

/// The macros with parameters of a file whose text has one of the words.
pub(crate) fn macros(source: &Source) -> Vec<(String, Macro)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = next_directive(source, at) {
        let directive = source.directive(start);
        at = directive.end.max(start + 1);
        if directive.keyword != "define" || directive.rest.len() > LONGEST_MACRO {
            continue;
        }
        let from = source.skip_space(directive.rest.start);
        let name = source.name_at(from).to_owned();
        let open = from + name.len();
        if name.is_empty() || byte(&source.code, open) != b'(' || Level::of_macro(&name).is_some() {
            continue;
        }
        let Some(args) = source.arguments(open) else {
            continue;
        };
        let body = source.slice(args.end + 1..directive.rest.end);
        if !WORDS.iter().any(|w| body.contains(w)) && !body.contains("_init") {
            continue;
        }
        let params = parts(source.slice(args));
        let params = params.iter().filter(|p| !p.is_empty());
        // `args...` is a parameter called `args`.
        let params = params.map(|p| p.trim_end_matches("...").trim().to_owned());
        let params = params.collect();
        let body = body.to_owned();
        found.push((name, Macro { params, body }));
    }
    found
}

impl Finder {
    /// A finder that knows the macros of the tree's headers; those that can
    /// make no initcall are left out.
    pub(crate) fn new(all: Macros) -> Self {
        let mut macros = Macros::new();
        // A macro that uses one of them is one.
        for _ in 0..DEEPEST {
            let before = macros.len();
            for (name, macro_) in &all {
                if !macros.contains_key(name) && makes_initcalls(&macro_.body, &macros) {
                    macros.insert(name.clone(), macro_.clone());
                }
            }
            if macros.len() == before {
                break;
            }
        }
        let mut words: Vec<String> = WORDS.iter().map(|w| (*w).to_owned()).collect();
        let others = macros
            .keys()
            .filter(|n| !WORDS.iter().any(|w| n.contains(w)));
        words.extend(others.cloned());
        words.sort();
        Self {
            words: automaton(words),
            macros,
        }
    }

    /// Whether a file can have initcalls.
    pub(crate) fn may_have(&self, text: &[u8]) -> bool {
        self.words.is_match(text)
    }

    /// The initcalls of a file, in order.
    pub(crate) fn sites(&self, source: &Source) -> Vec<Site> {
        let macros = Known {
            local: macros(source).into_iter().collect(),
            headers: &self.macros,
        };
        let mut sites = Vec::new();
        let mut conditions = Conditions::default();
        let code = &source.code;
        let mut at = 0;
        while at < code.len() {
            let start = skip_blank(code, at);
            if byte(code, start) == b'#' {
                let directive = source.directive(start);
                conditions.directive(directive.keyword, source.slice(directive.rest));
                at = directive.end.max(start + 1);
                continue;
            }
            let name = source.name_at(start);
            let is_one = !name.is_empty() && (macros.get(name).is_some() || is_primitive(name));
            let open = skip_blank(code, start + name.len());
            if is_one
                && byte(code, open) == b'('
                && let Some(args) = source.arguments(open)
            {
                let end = args.end;
                let text = source.slice(args);
                let mut made = Made {
                    found: Vec::new(),
                    left: MOST_EXPANSIONS,
                };
                expand(name, text, &macros, 0, &mut made);
                for (function, level) in made.found {
                    sites.push(Site {
                        function,
                        level,
                        made_by: name.to_owned(),
                        given: names(text),
                        line: source.line(start),
                        guards: conditions.guards(),
                        only_module: conditions.only_module(),
                    });
                }
                at = end;
            }
            at = next_line(code, at);
        }
        sites
    }
}

fn is_primitive(name: &str) -> bool {
    name.starts_with("__define_initcall") || Level::of_macro(name).is_some()
}

fn makes_initcalls(body: &str, macros: &Macros) -> bool {
    calls(body).any(|(name, _)| is_primitive(name) || macros.contains_key(name))
}

/// The names in `text` that a bracket follows, and where that is.
fn calls(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let code = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < code.len() {
            let name = name_at(code, at);
            if name.is_empty() {
                at += 1;
                // Digits and what hangs on them are no names.
                while byte(code, at - 1).is_ascii_digit() && is_name(byte(code, at)) {
                    at += 1;
                }
                continue;
            }
            at += name.len();
            let open = skip_space(code, at);
            if byte(code, open) == b'(' {
                return Some((name, open));
            }
        }
        None
    })
}

/// The macros that a file can use: its own hide those of the headers.
struct Known<'a> {
    local: Macros,
    headers: &'a Macros,
}

impl Known<'_> {
    fn get(&self, name: &str) -> Option<&Macro> {
        self.local.get(name).or_else(|| self.headers.get(name))
    }
}

/// What a line makes, and how much more of it is looked at.
struct Made {
    found: Vec<(String, Level)>,
    left: usize,
}

/// What `name(args)` makes.
fn expand(name: &str, args: &str, macros: &Known<'_>, depth: usize, made: &mut Made) {
    if depth > DEEPEST || made.found.len() >= MOST_OF_LINE || made.left == 0 {
        return;
    }
    made.left -= 1;
    let given = parts(args);
    let first = given.first().copied().unwrap_or_default();
    let level = match name.starts_with("__define_initcall") {
        true => given.get(1).and_then(|id| Level::of_section(id)),
        false => Level::of_macro(name),
    };
    if let Some(level) = level {
        let whole = first.bytes().all(is_name) && !first.is_empty();
        if whole && !made.found.iter().any(|(f, l)| f == first && *l == level) {
            made.found.push((first.to_owned(), level));
        }
        return;
    }
    let Some(macro_) = macros.get(name) else {
        return;
    };
    let body = substituted(macro_, &given);
    if body.len() > LONGEST_MACRO * 2 {
        return;
    }
    for (name, open) in calls(&body) {
        if !is_primitive(name) && macros.get(name).is_none() {
            continue;
        }
        if let Some(end) = close(body.as_bytes(), open, LONGEST_MACRO) {
            let args = body.get(open + 1..end).unwrap_or_default();
            expand(name, args, macros, depth + 1, made);
        }
    }
}

/// A macro's text with its parameters put in, and `##` taken out.
fn substituted(macro_: &Macro, given: &[&str]) -> String {
    let code = macro_.body.as_bytes();
    let mut out = String::with_capacity(macro_.body.len() * 2);
    let mut at = 0;
    while at < code.len() {
        let name = name_at(code, at);
        if !name.is_empty() {
            let param = macro_.params.iter().position(|p| p == name);
            match param.and_then(|p| given.get(p)) {
                Some(value) => out.push_str(value),
                None => out.push_str(name),
            }
            at += name.len();
        } else if byte(code, at) == b'#' && byte(code, at + 1) == b'#' {
            out.truncate(out.trim_end_matches([' ', '\t', '\n', '\\']).len());
            at = skip_space(code, at + 2);
        } else {
            // The text is ASCII: it was masked.
            out.push(char::from(byte(code, at)));
            at += 1;
            while byte(code, at - 1).is_ascii_digit() && is_name(byte(code, at)) {
                out.push(char::from(byte(code, at)));
                at += 1;
            }
        }
        if out.len() > LONGEST_MACRO * 4 {
            break;
        }
    }
    out
}

/// All names in a text.
fn names(text: &str) -> Vec<String> {
    let pieces = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names = pieces.filter(|p| p.starts_with(|c: char| !c.is_ascii_digit()));
    names.map(str::to_owned).take(MOST_OF_LINE).collect()
}

fn skip_blank(code: &[u8], mut at: usize) -> usize {
    while matches!(byte(code, at), b' ' | b'\t') {
        at += 1;
    }
    at
}

fn next_line(code: &[u8], at: usize) -> usize {
    let rest = code.get(at..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(code.len(), |end| at + end + 1)
}

/// The conditionals around a line.
#[derive(Default)]
struct Conditions {
    open: Vec<Vec<Guard>>,
}

/// What stands for `MODULE` among options; no option is called so.
const MODULE: &str = "MODULE";

impl Conditions {
    fn directive(&mut self, keyword: &str, rest: &str) {
        let rest = rest.trim();
        match keyword {
            "ifdef" => self.open.push(defined(rest, true)),
            "ifndef" => self.open.push(defined(rest, false)),
            "if" => self.open.push(condition(rest)),
            "else" | "elif" => {
                if let Some(last) = self.open.last_mut() {
                    let negated = match last.as_slice() {
                        [one] => vec![Guard::any(one.any.clone(), !one.on)],
                        _ => Vec::new(),
                    };
                    *last = negated;
                    if keyword == "elif" {
                        last.extend(condition(rest));
                    }
                }
            }
            "endif" => {
                self.open.pop();
            }
            _ => {}
        }
    }

    fn guards(&self) -> Vec<Guard> {
        let all = self.open.iter().flatten();
        all.filter(|g| !g.any.iter().any(|n| n == MODULE))
            .cloned()
            .collect()
    }

    fn only_module(&self) -> bool {
        let mut all = self.open.iter().flatten();
        all.any(|g| g.on && g.any.iter().any(|n| n == MODULE))
    }
}

fn defined(name: &str, on: bool) -> Vec<Guard> {
    let name = name_at(name.as_bytes(), 0);
    option(name).map_or(Vec::new(), |name| vec![Guard::any(vec![name], on)])
}

/// The option behind a name of the preprocessor.
fn option(name: &str) -> Option<String> {
    if name == MODULE {
        return Some(name.to_owned());
    }
    // The module half of a tristate option is a name of its own.
    let name = name.strip_prefix("CONFIG_")?;
    Some(name.strip_suffix("_MODULE").unwrap_or(name).to_owned())
}

/// `IS_ENABLED(CONFIG_A) && !defined(B)`: what is joined by `&&` alone, or by
/// `||` alone; of anything else nothing is said.
fn condition(text: &str) -> Vec<Guard> {
    let one = |part: &str| -> Option<(String, bool)> {
        let part = part.trim();
        let (part, on) = match part.strip_prefix('!') {
            Some(part) => (part.trim(), false),
            None => (part, true),
        };
        let known = ["IS_ENABLED", "IS_BUILTIN", "IS_REACHABLE", "defined"];
        let inner = known.iter().find_map(|k| part.strip_prefix(k))?.trim();
        let inner = inner.trim_matches(['(', ')', ' ']);
        let whole = inner.bytes().all(is_name);
        option(inner).filter(|_| whole).map(|name| (name, on))
    };
    if text.contains("||") {
        let parts: Option<Vec<_>> = text.split("||").map(one).collect();
        let any = parts.filter(|p| p.iter().all(|(_, on)| *on));
        let mut any: Vec<String> = any.unwrap_or_default().into_iter().map(|p| p.0).collect();
        any.dedup();
        return match any.is_empty() {
            true => Vec::new(),
            false => vec![Guard::any(any, true)],
        };
    }
    let parts = text.split("&&").filter_map(one);
    parts.map(|(name, on)| Guard::any(vec![name], on)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites_with(header: &str, text: &str) -> Vec<String> {
        let all = macros(&Source::new(header.as_bytes().to_vec()));
        let finder = Finder::new(all.into_iter().collect());
        assert!(finder.may_have(text.as_bytes()), "{text}");
        let sites = finder.sites(&Source::new(text.as_bytes().to_vec()));
        let shown = sites.iter().map(|s| {
            let guards = s.guards.iter().map(|g| {
                let sign = if g.on { "" } else { "!" };
                format!(" {sign}{}", g.any.join("|"))
            });
            let guards: String = guards.collect();
            format!(
                "{} {} {}:{}{guards}",
                s.function,
                s.level.text(),
                s.made_by,
                s.line
            )
        });
        shown.collect()
    }

    const HEADER: &str = "
#define module_driver(__driver, __register, __unregister, ...) \\
static int __init __driver##_init(void) \\
{ \\
\treturn __register(&(__driver) , ##__VA_ARGS__); \\
} \\
module_init(__driver##_init);
#define module_platform_driver(__platform_driver) \\
\tmodule_driver(__platform_driver, platform_driver_register, \\
\t\t\tplatform_driver_unregister)
#define module_phy_driver(d) \\
static int __init phy_module_init(void) { return 0; } \\
module_init(phy_module_init);
#define CHIP_END(name) }; builtin_platform_driver(name##_driver)
#define builtin_platform_driver(d) builtin_driver(d, x)
#define builtin_driver(d, x) device_initcall(d ## _init)
#define module_loop(x) module_loop(x) module_init(x)
";

    #[test]
    fn macros_of_the_tree_are_expanded() {
        let text = "
module_platform_driver(foo_driver);
module_phy_driver(list);
CHIP_END(bar)
#define my_init(lvl, fn) lvl##_initcall(fn##_setup)
my_init(fs, disk);
__define_initcall(x_init, 4s);
module_loop(y);
/* module_init(no); */
";
        assert_eq!(
            sites_with(HEADER, text),
            [
                "foo_driver_init device module_platform_driver:2",
                "phy_module_init device module_phy_driver:3",
                "bar_driver_init device CHIP_END:4",
                "disk_setup fs my_init:6",
                "x_init subsys_sync __define_initcall:7",
                "y device module_loop:8",
            ]
        );
    }

    #[test]
    fn conditionals_are_seen() {
        let text = "
#ifdef CONFIG_A
core_initcall(a);
#else
arch_initcall(b);
#endif
#if IS_ENABLED(CONFIG_C) && !defined(CONFIG_D)
late_initcall_sync(c);
#elif defined(CONFIG_E) || defined(CONFIG_E_MODULE)
early_initcall(e);
#endif
#ifndef MODULE
console_initcall(d);
#endif
";
        assert_eq!(
            sites_with("", text),
            [
                "a core core_initcall:3 A",
                "b arch arch_initcall:5 !A",
                "c late_sync late_initcall_sync:8 C !D",
                "e early early_initcall:10 E",
                "d console console_initcall:13",
            ]
        );
    }

    #[test]
    fn macros_that_multiply_end() {
        let header = "#define A(x) A(x) B(x) B(x) module_init(x##a)\n\
                      #define B(x) A(x##x) A(x##x) B(x##x) module_init(x)\n";
        let finder = Finder::new(macros(&Source::new(header.into())).into_iter().collect());
        let sites = finder.sites(&Source::new(
            b"A(q)\nmodule_init(\nmodule_init()\n".to_vec(),
        ));
        assert!(sites.len() <= MOST_OF_LINE);
    }
}
