//! The code of a crate as syntax: its modules without their tests, and the paths
//! that each one names, in macros as well.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, File, Item, UseTree};

/// A module by its path from the crate's root; the root's is empty.
pub(super) type ModulePath = Vec<String>;

/// A module in a file of its own.
pub(super) struct Module {
    pub(super) file: PathBuf,
    /// What it names: whole paths, as they are written.
    pub(super) paths: BTreeSet<Vec<String>>,
    /// What its `use` items call by a name of its own.
    pub(super) names: BTreeMap<String, Vec<String>>,
}

/// All modules of the crate at `src` that are more than tests.
pub(super) fn modules(src: &Path) -> BTreeMap<ModulePath, Module> {
    let root = ["lib.rs", "main.rs"].map(|name| src.join(name));
    let root = root.into_iter().find(|f| f.exists()).expect("a root");
    let mut found = BTreeMap::new();
    read(root, src.to_owned(), Vec::new(), &mut found);
    found
}

/// Reads a module's file; those below it are in `folder`.
fn read(
    file: PathBuf,
    folder: PathBuf,
    path: ModulePath,
    found: &mut BTreeMap<ModulePath, Module>,
) {
    let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let syntax = without_tests(&text);
    for item in &syntax.items {
        let Item::Mod(module) = item else { continue };
        if module.content.is_some() {
            continue;
        }
        let name = module.ident.to_string();
        let below = folder.join(&name);
        let mut file = folder.join(format!("{name}.rs"));
        if !file.exists() {
            file = below.join("mod.rs");
        }
        let path = [path.clone(), vec![name]].concat();
        read(file, below, path, found);
    }
    let mut paths = BTreeSet::new();
    collect(syntax.to_token_stream(), &mut paths);
    let mut names = BTreeMap::new();
    for item in &syntax.items {
        if let Item::Use(item) = item {
            used(&item.tree, &mut Vec::new(), &mut |path, name| {
                paths.insert(path.to_vec());
                names.insert(name.to_owned(), path.to_vec());
            });
        }
    }
    let module = Module { file, paths, names };
    found.insert(path, module);
}

/// A file's syntax without what only tests have.
fn without_tests(text: &str) -> File {
    let mut syntax = syn::parse_file(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    drop_tests(&mut syntax.items);
    syntax
}

/// All that a file names outside of its tests, one way of writing it or another.
pub(super) fn paths_in(text: &str) -> BTreeSet<Vec<String>> {
    let syntax = without_tests(text);
    let mut paths = BTreeSet::new();
    collect(syntax.to_token_stream(), &mut paths);
    uses_in(&syntax.items, &mut paths);
    paths
}

fn uses_in(items: &[Item], paths: &mut BTreeSet<Vec<String>>) {
    for item in items {
        match item {
            Item::Use(item) => used(&item.tree, &mut Vec::new(), &mut |path, _| {
                paths.insert(path.to_vec());
            }),
            Item::Mod(module) => {
                let (_, items) = module
                    .content
                    .as_ref()
                    .map_or((None, &[][..]), |(brace, items)| {
                        (Some(brace), items.as_slice())
                    });
                uses_in(items, paths);
            }
            _ => {}
        }
    }
}

fn drop_tests(items: &mut Vec<Item>) {
    items.retain(|item| !is_test(attributes(item)));
    for item in items {
        if let Item::Mod(module) = item
            && let Some((_, items)) = &mut module.content
        {
            drop_tests(items);
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|a| {
        let list = a.meta.require_list();
        a.path().is_ident("cfg") && list.is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

/// The leaves of a `use`: each path, and the name that it gets.
fn used(tree: &UseTree, above: &mut Vec<String>, leaf: &mut dyn FnMut(&[String], &str)) {
    match tree {
        UseTree::Path(path) => {
            above.push(path.ident.to_string());
            used(&path.tree, above, leaf);
            above.pop();
        }
        UseTree::Name(name) => one(above, &name.ident.to_string(), None, leaf),
        UseTree::Rename(name) => {
            let as_name = name.rename.to_string();
            one(above, &name.ident.to_string(), Some(&as_name), leaf);
        }
        UseTree::Glob(_) => leaf(above, "*"),
        UseTree::Group(group) => {
            for tree in &group.items {
                used(tree, above, leaf);
            }
        }
    }
}

fn one(
    above: &mut Vec<String>,
    ident: &str,
    name: Option<&str>,
    leaf: &mut dyn FnMut(&[String], &str),
) {
    if ident == "self" {
        let last = above.last().cloned().unwrap_or_default();
        leaf(above, name.unwrap_or(&last));
        return;
    }
    above.push(ident.to_owned());
    leaf(above, name.unwrap_or(ident));
    above.pop();
}

/// Every `a::b::c` of some tokens, also within macros, which syntax does not show.
fn collect(tokens: TokenStream, paths: &mut BTreeSet<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                if colons != 2 {
                    flush(&mut path, paths);
                }
                path.push(ident.to_string());
                colons = 0;
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            TokenTree::Group(group) => {
                flush(&mut path, paths);
                colons = 0;
                collect(group.stream(), paths);
            }
            _ => {
                flush(&mut path, paths);
                colons = 0;
            }
        }
    }
    flush(&mut path, paths);
}

fn flush(path: &mut Vec<String>, paths: &mut BTreeSet<Vec<String>>) {
    let path = std::mem::take(path);
    if path.len() > 1 {
        paths.insert(path);
    }
}
