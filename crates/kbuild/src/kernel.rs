//! A kernel's source tree, indexed: what builds each file, what each option
//! is, and where initcalls are.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::thread;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::{memmem, memrchr};

use crate::dot_config::{DotConfig, State};
use crate::initcall::{Finder, Macros, Site, macros, quick};
use crate::kconfig::{self, Kconfig};
use crate::makefile::Guard;
use crate::objects::{Objects, Route, walk};
use crate::source::{Source, name_at};
use crate::tree::{Tree, join, text};

/// Threads that read sources, at most.
const MOST_THREADS: usize = 8;
/// Files that include each other stand no deeper.
const DEEPEST: usize = 3;
/// Header folders do not lie deeper, and there are no more headers.
const DEEPEST_HEADERS: usize = 10;
const MOST_HEADERS: usize = 40_000;

/// Why a folder is no tree to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelError {
    /// It has no `Makefile` and `Kconfig` of a kernel.
    NoTree,
    /// It has no such architecture; these are there.
    NoArch(String, Vec<String>),
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelError::NoTree => f.write_str("no Makefile and Kconfig of a Linux kernel in it"),
            KernelError::NoArch(arch, there) => {
                write!(f, "no folder arch/{arch}; there are {}", there.join(", "))
            }
        }
    }
}

impl std::error::Error for KernelError {}

/// An indexed source tree.
pub struct Kernel<'t> {
    pub(crate) tree: &'t dyn Tree,
    /// The folder below `arch/`.
    pub arch: String,
    /// The options that it was built with, if they are known.
    pub config: Option<DotConfig>,
    /// `6.1.0`, from the top Makefile.
    pub version: Option<String>,
    /// What builds each file.
    pub objects: Objects,
    /// The options.
    pub kconfig: Kconfig,
    finder: Finder,
}

/// An initcall, and the file that it was found in.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The file with the text.
    pub(crate) file: String,
    /// The file that is built, which may include the other.
    pub(crate) object: String,
    pub(crate) site: Site,
}

impl<'t> Kernel<'t> {
    /// Reads the Kbuild files, the options and the headers of a tree.
    ///
    /// # Errors
    /// If it is no tree of a kernel, or not one for `arch`.
    pub fn open(
        tree: &'t dyn Tree,
        arch: &str,
        config: Option<DotConfig>,
    ) -> Result<Self, KernelError> {
        let top = text(tree, "Makefile").ok_or(KernelError::NoTree)?;
        if tree.read("Kconfig").is_none() {
            return Err(KernelError::NoTree);
        }
        let archs = tree.list("arch").into_iter().filter(|e| e.is_dir);
        let archs: Vec<String> = archs.map(|e| e.name).collect();
        if !archs.iter().any(|a| a == arch) {
            return Err(KernelError::NoArch(arch.to_owned(), archs));
        }
        let (objects, (kconfig, finder)) = thread::scope(|scope| {
            let objects = scope.spawn(|| walk(tree, arch, config.as_ref()));
            let others = (
                kconfig::read(tree, arch),
                Finder::new(header_macros(tree, arch)),
            );
            // Neither reader panics; if one does nonetheless, nothing is known.
            (objects.join().unwrap_or_default(), others)
        });
        Ok(Self {
            version: version(&top),
            arch: arch.to_owned(),
            tree,
            config,
            objects,
            kconfig,
            finder,
        })
    }

    /// As what a route builds, with what the source file itself needs.
    pub(crate) fn state(&self, route: &Route, guards: &[Guard]) -> State {
        let Some(config) = &self.config else {
            return State::Yes;
        };
        let seen = guards.iter().all(|g| {
            let on = g.any.iter().any(|n| config.state(n) != State::No);
            on == g.on
        });
        match seen {
            true => route.state(config),
            false => State::No,
        }
    }

    /// As what a file is built, at most.
    pub(crate) fn state_of(&self, file: &str, guards: &[Guard]) -> State {
        let routes = self.objects.get(file).into_iter().flatten();
        let states = routes.map(|r| self.state(r, guards));
        states.max().unwrap_or(State::No)
    }

    /// The initcalls of these names: where the options are known, first those
    /// that are built, and if a name is not among them, `everywhere` else.
    pub(crate) fn initcalls(
        &self,
        names: &HashSet<String>,
        everywhere: bool,
    ) -> HashMap<String, Vec<Found>> {
        let (built, others): (Vec<&str>, Vec<&str>) = self.partition();
        let mut all: HashMap<String, Vec<Found>> = HashMap::new();
        let mut missing = names.clone();
        let others = match everywhere {
            true => others,
            false => Vec::new(),
        };
        for files in [built, others] {
            if missing.is_empty() {
                break;
            }
            let wanted = |name: &str| missing.contains(name);
            let found = in_threads(&files, |file| {
                let mut found = Vec::new();
                self.scan(file, file, &[], 0, &wanted, &mut found);
                found
            });
            for each in found {
                all.entry(each.site.function.clone())
                    .or_default()
                    .push(each);
            }
            missing.retain(|name| !all.contains_key(name));
        }
        all
    }

    /// The files in which functions of these names are defined.
    pub(crate) fn functions(&self, names: &[String]) -> HashMap<String, Vec<(String, u32)>> {
        let words = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(names);
        let Ok(words) = words else {
            return HashMap::new();
        };
        let mut all: HashMap<String, Vec<(String, u32)>> = HashMap::new();
        let (built, others) = self.partition();
        for files in [built, others] {
            if names.iter().all(|n| all.contains_key(n)) {
                break;
            }
            let found = in_threads(&files, |file| {
                let text = self.tree.read(file).filter(|t| words.is_match(t));
                let Some(text) = text else {
                    return Vec::new();
                };
                let source = Source::new(text);
                let bodies = source.bodies().into_iter();
                let wanted = bodies.filter(|b| b.is_function && names.contains(&b.name));
                wanted
                    .map(|b| (b.name, ((*file).to_owned(), source.line(b.at))))
                    .collect()
            });
            for (name, place) in found {
                all.entry(name).or_default().push(place);
            }
        }
        all
    }

    /// The files that are built with the options, and the others.
    fn partition(&self) -> (Vec<&str>, Vec<&str>) {
        let files = self.objects.keys().map(String::as_str);
        files.partition(|f| self.state_of(f, &[]) != State::No)
    }

    fn scan(
        &self,
        file: &str,
        object: &str,
        guards: &[Guard],
        depth: usize,
        wanted: &dyn Fn(&str) -> bool,
        found: &mut Vec<Found>,
    ) {
        let Some(text) = self.tree.read(file) else {
            return;
        };
        let includes = includes_code(&text);
        if !includes && !self.finder.may_have(&text) {
            return;
        }
        let source = Source::new(text);
        for mut site in self.finder.sites(&source) {
            if wanted(&site.function) {
                site.guards.extend_from_slice(guards);
                found.push(Found {
                    file: file.to_owned(),
                    object: object.to_owned(),
                    site,
                });
            }
        }
        if !includes || depth >= DEEPEST {
            return;
        }
        let dir = file.rsplit_once('/').map_or("", |(dir, _)| dir);
        for name in included(&source) {
            let near = join(dir, &name).filter(|p| self.tree.read(p).is_some());
            if let Some(path) = near.or_else(|| join("", &name)) {
                self.scan(&path, object, guards, depth + 1, wanted, found);
            }
        }
    }
}

/// Whether a file may include another file with code.
fn includes_code(text: &[u8]) -> bool {
    memmem::find_iter(text, b".c\"").any(|end| {
        let before = text.get(..end).unwrap_or_default();
        let start = memrchr(b'\n', before).map_or(0, |at| at + 1);
        let line = before.get(start..).unwrap_or_default().trim_ascii_start();
        let rest = line.strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
        rest.is_some_and(|rest| rest.starts_with(b"include"))
    })
}

/// The files with code that a file includes: `#include "rt.c"`.
fn included(source: &Source) -> Vec<String> {
    let text = String::from_utf8_lossy(&source.text);
    let lines = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start();
        let name = rest
            .strip_prefix("include")?
            .trim_start()
            .strip_prefix('"')?;
        let name = name.split('"').next()?;
        name.ends_with(".c").then(|| name.to_owned())
    });
    lines.take(64).collect()
}

/// Does `work` on each file, on several threads; results come in the order of
/// the files.
fn in_threads<T: Send>(files: &[&str], work: impl Fn(&&str) -> Vec<T> + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, |n| n.get().min(MOST_THREADS));
    let share = files.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let parts = files.chunks(share).map(|part| {
            let work = &work;
            scope.spawn(move || part.iter().flat_map(work).collect::<Vec<T>>())
        });
        let parts: Vec<_> = parts.collect();
        let done = parts.into_iter().map(|p| p.join().unwrap_or_default());
        done.flatten().collect()
    })
}

/// The macros of the headers that all of a kernel may use, and of those beside
/// the architecture's code.
fn header_macros(tree: &dyn Tree, arch: &str) -> Macros {
    let mut paths = Vec::new();
    for dir in ["include".to_owned(), format!("arch/{arch}")] {
        headers(tree, &dir, 0, &mut paths);
    }
    let words = quick();
    let mut all = Macros::new();
    for path in paths {
        let Some(text) = tree.read(&path).filter(|t| words.is_match(t)) else {
            continue;
        };
        for (name, macro_) in macros(&Source::new(text)) {
            // What a module does differently comes first or second; the one
            // that makes an initcall is what counts.
            let makes = |m: &crate::initcall::Macro| m.mentions_init();
            if makes(&macro_) || !all.contains_key(&name) {
                all.insert(name, macro_);
            }
        }
    }
    all
}

fn headers(tree: &dyn Tree, dir: &str, depth: usize, paths: &mut Vec<String>) {
    if depth > DEEPEST_HEADERS {
        return;
    }
    for entry in tree.list(dir) {
        if paths.len() >= MOST_HEADERS {
            return;
        }
        let path = format!("{dir}/{}", entry.name);
        let generated = matches!(entry.name.as_str(), "uapi" | "dt-bindings" | "boot" | "dts");
        if entry.is_dir && !generated {
            headers(tree, &path, depth + 1, paths);
        } else if !entry.is_dir && entry.name.ends_with(".h") {
            paths.push(path);
        }
    }
}

/// `6.1.0` from `VERSION = 6` and the lines after it.
fn version(makefile: &str) -> Option<String> {
    let value = |name: &str| {
        let mut lines = makefile.lines().take(20);
        lines.find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    let (version, patch) = (value("VERSION")?, value("PATCHLEVEL")?);
    let sub = value("SUBLEVEL").unwrap_or_default();
    let extra = value("EXTRAVERSION").unwrap_or_default();
    Some(format!("{version}.{patch}.{sub}{extra}"))
}

/// Names, each once.
pub(crate) fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: BTreeSet<&str> = names
        .filter(|n| !n.is_empty() && name_at(n.as_bytes(), 0) == *n)
        .collect();
    names.into_iter().map(str::to_owned).collect()
}
