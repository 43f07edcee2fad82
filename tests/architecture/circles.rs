//! Files that import each other, directly or through others.
//!
//! A folder's module and those in it belong together: only imports between files
//! of which neither is above the other count. What a module hands on (`pub use`)
//! counts as imported from where it is.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Module, ModulePath};

/// Groups of files in which each reaches each other: the imports within each group,
/// as `a.rs -> b.rs`.
pub(super) fn circles(modules: &BTreeMap<ModulePath, Module>) -> Vec<Vec<String>> {
    let edges: BTreeMap<&ModulePath, BTreeSet<ModulePath>> = modules
        .iter()
        .map(|(at, module)| (at, imports(at, module, modules)))
        .collect();
    let reached: BTreeMap<&ModulePath, BTreeSet<ModulePath>> = modules
        .keys()
        .map(|start| (start, reached(start, &edges)))
        .collect();
    let mut groups: BTreeSet<BTreeSet<&ModulePath>> = BTreeSet::new();
    for start in modules.keys().filter(|m| reached[m].contains(*m)) {
        let there = reached[start].iter();
        groups.insert(there.filter(|m| reached[m].contains(start)).collect());
    }
    let shown = |at: &ModulePath| modules[at].file.display().to_string();
    let within = |group: BTreeSet<&ModulePath>| {
        let from = group
            .iter()
            .flat_map(|from| edges[from].iter().map(move |to| (*from, to)));
        from.filter(|(_, to)| group.contains(to))
            .map(|(from, to)| format!("{} -> {}", shown(from), shown(to)))
            .collect()
    };
    groups.into_iter().map(within).collect()
}

/// All modules on the way from `start`.
fn reached(
    start: &ModulePath,
    edges: &BTreeMap<&ModulePath, BTreeSet<ModulePath>>,
) -> BTreeSet<ModulePath> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<&ModulePath> = edges[start].iter().collect();
    while let Some(at) = next.pop() {
        if seen.insert(at.clone()) {
            next.extend(&edges[at]);
        }
    }
    seen
}

fn imports(
    at: &ModulePath,
    module: &Module,
    modules: &BTreeMap<ModulePath, Module>,
) -> BTreeSet<ModulePath> {
    let targets = module.paths.iter().filter_map(|path| {
        let absolute = absolute(at, path, modules)?;
        Some(home(absolute, modules, 0))
    });
    targets
        .filter(|to| !to.starts_with(at) && !at.starts_with(to))
        .collect()
}

/// A path from the crate's root on, if it leads into the crate.
fn absolute(
    at: &ModulePath,
    path: &[String],
    modules: &BTreeMap<ModulePath, Module>,
) -> Option<ModulePath> {
    let mut base = at.clone();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => (base, rest) = (Vec::new(), &path[1..]),
        "self" => rest = &path[1..],
        "super" => {
            while rest.first().is_some_and(|s| s == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        first => {
            base.push(first.to_owned());
            if !modules.contains_key(&base) {
                return None;
            }
            rest = &path[1..];
        }
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// The module that has what this path names, wherever it is handed on.
fn home(path: ModulePath, modules: &BTreeMap<ModulePath, Module>, depth: usize) -> ModulePath {
    let known = (0..=path.len())
        .rev()
        .find(|n| modules.contains_key(&path[..*n]));
    let at = path[..known.unwrap_or(0)].to_vec();
    let Some(name) = path.get(at.len()) else {
        return at;
    };
    let handed_on = modules[&at].names.get(name);
    let target = handed_on.and_then(|to| absolute(&at, to, modules));
    match target {
        Some(target) if depth < 8 => home(target, modules, depth + 1),
        _ => at,
    }
}
