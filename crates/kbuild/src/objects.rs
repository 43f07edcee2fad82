//! Which options build which source file: Kbuild walked from the top.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::Serialize;

use crate::dot_config::{DotConfig, State};
use crate::makefile::{Assignment, Guard, Line, options, read};
use crate::tree::{Tree, join, normal, text};
use crate::words::{arguments, key, reference, words};

/// Folders do not lie deeper.
const DEEPEST: usize = 24;
/// Ways that lead to one folder and are followed.
const MOST_WAYS: usize = 8;
/// No tree has more, of folders and of objects.
const MOST: usize = 400_000;
/// Values that one word can have.
const MOST_VALUES: usize = 512;
/// Words that are looked at in all: variables that name each other could make
/// more than anybody waits for.
const MOST_WORDS: usize = 4_000_000;
/// The same of one list.
const MOST_WORDS_OF_LIST: usize = 50_000;
/// Variables that name variables.
const MOST_NESTED: usize = 12;

/// Where a condition of a route stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// On the line that enters a folder.
    Folder,
    /// On the line of the object, or of the module that it is a part of.
    Object,
    /// On the line that makes it a part of a larger object.
    Member,
    /// In the source file itself, by the preprocessor.
    Source,
}

/// A condition, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The condition.
    pub guard: Guard,
    /// Where it stands.
    pub part: Part,
}

/// One way in which a source file gets into a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// All that it needs, the outermost first.
    pub steps: Vec<Arc<Step>>,
    /// What the module is called, or would be.
    pub module: String,
    /// Listed as `obj-$(…)`, so that it can be a module; libraries cannot.
    pub is_object: bool,
}

impl Route {
    /// As what it is built with these options.
    pub fn state(&self, config: &DotConfig) -> State {
        let mut least = State::Yes;
        for step in &self.steps {
            let any = step.guard.any.iter().map(|name| config.state(name));
            let on = any.max().unwrap_or(State::No);
            let holds = match step.guard.on {
                false if on == State::No => State::Yes,
                false => State::No,
                // A folder that modules are in holds what is built in, too:
                // what is a module is decided at the object.
                true if on == State::Module
                    && (step.part != Part::Object || step.guard.as_built_in) =>
                {
                    State::Yes
                }
                true => on,
            };
            least = least.min(holds);
        }
        least
    }
}

/// The ways to each source file.
pub type Objects = BTreeMap<String, Vec<Route>>;

/// Walks Kbuild from the top for `arch`; options that `config` knows decide
/// only what cannot be read otherwise (`BITS`).
pub fn walk(tree: &dyn Tree, arch: &str, config: Option<&DotConfig>) -> Objects {
    let mut walker = Walker {
        tree,
        arch,
        bits: bits(arch, config),
        config,
        files: HashMap::new(),
        lists: HashMap::new(),
        ways: HashMap::new(),
        objects: Objects::new(),
        left: MOST,
        words_left: Cell::new(MOST_WORDS),
        of_list: Cell::new(0),
    };
    walker.top();
    let arch_dir = format!("arch/{arch}");
    if !walker.ways.contains_key(&arch_dir) {
        walker.folder(&arch_dir, &[], 0);
    }
    walker.objects
}

fn bits(arch: &str, config: Option<&DotConfig>) -> Vec<String> {
    let wide = config.map(|c| c.state("64BIT") == State::Yes);
    let bits: &[&str] = match (wide, arch) {
        (Some(true), _) | (None, "arm64") => &["64"],
        (Some(false), _) | (None, "arm") => &["32"],
        (None, _) => &["64", "32"],
    };
    bits.iter().map(|b| (*b).to_owned()).collect()
}

/// The variables of one folder: what was assigned, by name without the option.
#[derive(Default)]
struct Folder {
    /// `obj-` holds `obj-y`, `obj-m` and `obj-$(…)`.
    values: HashMap<String, Vec<(Vec<Guard>, String)>>,
}

struct Walker<'t> {
    tree: &'t dyn Tree,
    arch: &'t str,
    bits: Vec<String>,
    config: Option<&'t DotConfig>,
    files: HashMap<String, Arc<Folder>>,
    lists: HashMap<String, BTreeSet<String>>,
    ways: HashMap<String, usize>,
    objects: Objects,
    left: usize,
    words_left: Cell<usize>,
    of_list: Cell<usize>,
}

impl Walker<'_> {
    /// The top Makefile's lists of folders, and the top Kbuild.
    fn top(&mut self) {
        let mut folder = Folder::default();
        self.read_into("Makefile", "", &mut folder, 0);
        let lists = [
            "init-", "core-", "drivers-", "net-", "libs-", "virt-", "head-",
        ];
        for list in lists {
            for (word, guards) in self.list(&folder, list) {
                let steps = steps(&[], &guards, Part::Folder);
                if let Some(dir) = word.strip_suffix('/').and_then(normal) {
                    self.folder(&dir, &steps, 0);
                } else if let Some((dir, object)) = word.rsplit_once('/') {
                    self.object(dir, object, &steps, &Folder::default(), true, 0);
                }
            }
        }
        self.folder("", &[], 0);
    }

    fn folder(&mut self, dir: &str, before: &[Arc<Step>], depth: usize) {
        let ways = self.ways.entry(dir.to_owned()).or_default();
        *ways += 1;
        if *ways > MOST_WAYS || depth > DEEPEST || self.left == 0 {
            return;
        }
        self.left -= 1;
        let Some(folder) = self.kbuild(dir) else {
            return;
        };
        for (list, is_object) in [("obj-", true), ("lib-", false), ("extra-", false)] {
            for (word, guards) in self.list(&folder, list) {
                if let Some(inner) = word.strip_suffix('/') {
                    if let Some(inner) = join(dir, inner)
                        && inner != dir
                    {
                        let steps = steps(before, &guards, Part::Folder);
                        self.folder(&inner, &steps, depth + 1);
                    }
                } else {
                    let steps = steps(before, &guards, Part::Object);
                    self.object(dir, &word, &steps, &folder, is_object, 0);
                }
            }
        }
    }

    /// An object is made of others, or of the source of its name.
    fn object(
        &mut self,
        dir: &str,
        word: &str,
        steps_so_far: &[Arc<Step>],
        folder: &Folder,
        is_object: bool,
        depth: usize,
    ) {
        let Some(stem) = word.strip_suffix(".o") else {
            return;
        };
        if self.left == 0 || depth > 2 {
            return;
        }
        self.left -= 1;
        let members = self.list(folder, &format!("{stem}-"));
        let name = stem.rsplit('/').next().unwrap_or(stem).replace('-', "_");
        if members.is_empty() {
            self.source(dir, stem, steps_so_far, &name, is_object);
            return;
        }
        for (member, guards) in members {
            let Some(member) = member.strip_suffix(".o").filter(|m| *m != stem) else {
                continue;
            };
            let steps = steps(steps_so_far, &guards, Part::Member);
            self.source(dir, member, &steps, &name, is_object);
        }
    }

    fn source(
        &mut self,
        dir: &str,
        stem: &str,
        steps: &[Arc<Step>],
        module: &str,
        is_object: bool,
    ) {
        let Some(path) = join(dir, &format!("{stem}.c")) else {
            return;
        };
        if !self.exists(&path) {
            return;
        }
        let route = Route {
            steps: steps.to_vec(),
            module: module.to_owned(),
            is_object,
        };
        let routes = self.objects.entry(path).or_default();
        if routes.len() < MOST_WAYS && !routes.contains(&route) {
            routes.push(route);
        }
    }

    fn exists(&mut self, path: &str) -> bool {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        let tree = self.tree;
        let list = self.lists.entry(dir.to_owned()).or_insert_with(|| {
            let files = tree.list(dir).into_iter().filter(|e| !e.is_dir);
            files.map(|e| e.name).collect()
        });
        list.contains(name)
    }

    fn kbuild(&mut self, dir: &str) -> Option<Arc<Folder>> {
        if let Some(folder) = self.files.get(dir) {
            return Some(folder.clone());
        }
        let mut folder = Folder::default();
        // The top Makefile is read as what it is.
        let names: &[&str] = match dir {
            "" => &["Kbuild"],
            _ => &["Kbuild", "Makefile"],
        };
        let path = names.iter().filter_map(|name| join(dir, name));
        let path = path.into_iter().find(|path| self.exists(path))?;
        self.read_into(&path, dir, &mut folder, 0);
        let folder = Arc::new(folder);
        self.files.insert(dir.to_owned(), folder.clone());
        Some(folder)
    }

    /// Reads a file and those that it includes.
    fn read_into(&mut self, path: &str, dir: &str, folder: &mut Folder, depth: usize) {
        if depth > 8 || self.left == 0 {
            return;
        }
        self.left -= 1;
        let Some(text) = text(self.tree, path) else {
            return;
        };
        let arch = self.arch;
        let bits = match self.bits.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        };
        let known = |name: &str| match name {
            "SRCARCH" => Some(arch.to_owned()),
            // On x86 it is what the user typed.
            "ARCH" if arch != "x86" => Some(arch.to_owned()),
            "BITS" => bits.clone(),
            "KBUILD_EXTMOD" | "mixed-build" | "mixed-targets" | "single-build" => {
                Some(String::new())
            }
            _ => None,
        };
        for line in read(&text, &known) {
            match line {
                Line::Assignment(a) => folder.add(a),
                Line::Include(path, guards) if guards.iter().all(|g| g.on) => {
                    for path in path.split_whitespace() {
                        if let Some(path) = self.included(path, dir) {
                            self.read_into(&path, dir, folder, depth + 1);
                        }
                    }
                }
                Line::Include(..) => {}
            }
        }
    }

    /// The path of an `include`, from the top.
    fn included(&self, path: &str, dir: &str) -> Option<String> {
        let path = path
            .replace("$(srctree)/", "")
            .replace("$(src)", dir)
            .replace("$(obj)", dir)
            .replace("$(SRCARCH)", self.arch);
        if path.contains('$') {
            return None;
        }
        normal(&path)
    }

    /// The words of a list, each with what it needs.
    fn list(&self, folder: &Folder, name: &str) -> Vec<(String, Vec<Guard>)> {
        let mut words = Vec::new();
        self.of_list.set(MOST_WORDS_OF_LIST);
        for (guards, value) in folder.values.get(name).into_iter().flatten() {
            self.expand(folder, value, guards, 0, &mut words);
        }
        words
    }

    fn expand(
        &self,
        folder: &Folder,
        value: &str,
        guards: &[Guard],
        depth: usize,
        out: &mut Vec<(String, Vec<Guard>)>,
    ) {
        if depth > MOST_NESTED {
            return;
        }
        for word in words(value) {
            if out.len() >= MOST_VALUES * 8 {
                return;
            }
            self.expand_word(folder, word, guards, depth, out);
        }
    }

    /// One word: text with variables in it, each of which may have several
    /// values.
    fn expand_word(
        &self,
        folder: &Folder,
        word: &str,
        guards: &[Guard],
        depth: usize,
        out: &mut Vec<(String, Vec<Guard>)>,
    ) {
        let (all, of_list) = (self.words_left.get(), self.of_list.get());
        if all == 0 || of_list == 0 {
            return;
        }
        self.words_left.set(all - 1);
        self.of_list.set(of_list - 1);
        let Some((before, inner, after)) = reference(word) else {
            out.push((word.to_owned(), guards.to_vec()));
            return;
        };
        let mut values = Vec::new();
        self.reference(folder, inner, guards, depth + 1, &mut values);
        // A variable that is empty within a word leaves the rest of it.
        if values.is_empty() && !(before.is_empty() && after.is_empty()) {
            values.push((String::new(), guards.to_vec()));
        }
        for (value, guards) in values.into_iter().take(MOST_VALUES) {
            if before.is_empty() && after.is_empty() {
                out.push((value, guards));
            } else if depth < MOST_NESTED && out.len() < MOST_VALUES * 8 {
                let word = format!("{before}{value}{after}");
                self.expand_word(folder, &word, &guards, depth + 1, out);
            }
        }
    }

    /// What `$(inner)` can be.
    fn reference(
        &self,
        folder: &Folder,
        inner: &str,
        guards: &[Guard],
        depth: usize,
        out: &mut Vec<(String, Vec<Guard>)>,
    ) {
        if depth > MOST_NESTED {
            return;
        }
        let mut literal = |text: &str| out.push((text.to_owned(), guards.to_vec()));
        match inner {
            "SRCARCH" | "ARCH" => return literal(self.arch),
            "BITS" => {
                for bits in &self.bits {
                    literal(bits);
                }
                return;
            }
            "srctree" | "objtree" | "src" | "obj" => return literal("."),
            _ => {}
        }
        if let Some(option) = inner.strip_prefix("CONFIG_") {
            let option = option.split(':').next().unwrap_or_default();
            if let Some(value) = self.config.and_then(|c| c.value(option)) {
                literal(value);
            }
            return;
        }
        let Some((function, args)) = inner.split_once([' ', '\t']) else {
            // `$(name:.c=.o)`
            let (name, change) = match inner.split_once(':') {
                Some((name, change)) => (name, change.split_once('=')),
                None => (inner, None),
            };
            let (key, needed) = key(name);
            for (more, value) in folder.values.get(&key).into_iter().flatten() {
                let all: Vec<Guard> = guards.iter().chain(&needed).chain(more).cloned().collect();
                let from = out.len();
                self.expand(folder, value, &all, depth + 1, out);
                if let Some((old, new)) = change {
                    for (word, _) in out.iter_mut().skip(from) {
                        if let Some(stem) = word.strip_suffix(old.trim_start_matches('%')) {
                            *word = format!("{stem}{}", new.trim_start_matches('%'));
                        }
                    }
                }
            }
            return;
        };
        self.function(folder, function, args, guards, depth, out);
    }

    fn function(
        &self,
        folder: &Folder,
        function: &str,
        args: &str,
        guards: &[Guard],
        depth: usize,
        out: &mut Vec<(String, Vec<Guard>)>,
    ) {
        let args = arguments(args);
        let arg = |at: usize| args.get(at).copied().unwrap_or_default();
        let from = out.len();
        match function {
            "addprefix" => {
                self.expand(folder, arg(1), guards, depth + 1, out);
                let mut before = Vec::new();
                self.expand(folder, arg(0), guards, depth + 1, &mut before);
                let before = before.first().map_or("", |(text, _)| text.as_str());
                for (word, _) in out.iter_mut().skip(from) {
                    *word = format!("{before}{word}");
                }
            }
            "addsuffix" => {
                self.expand(folder, arg(1), guards, depth + 1, out);
                for (word, _) in out.iter_mut().skip(from) {
                    word.push_str(arg(0));
                }
            }
            "patsubst" => {
                self.expand(folder, arg(2), guards, depth + 1, out);
                let parts = arg(0).split_once('%').zip(arg(1).split_once('%'));
                let Some(((old, older), (new, newer))) = parts else {
                    return;
                };
                for (word, _) in out.iter_mut().skip(from) {
                    let stem = word.strip_prefix(old).and_then(|w| w.strip_suffix(older));
                    if let Some(stem) = stem {
                        *word = format!("{new}{stem}{newer}");
                    }
                }
            }
            "if" => {
                let mut all = guards.to_vec();
                all.extend(options(arg(0)).iter().map(|n| Guard::on(n)));
                self.expand(folder, arg(1), &all, depth + 1, out);
            }
            "sort" | "strip" | "wildcard" => self.expand(folder, arg(0), guards, depth + 1, out),
            "filter-out" | "filter" => self.expand(folder, arg(1), guards, depth + 1, out),
            "subst" => {
                self.expand(folder, arg(2), guards, depth + 1, out);
                let (old, new) = (arg(0), arg(1));
                if !old.is_empty() {
                    for (word, _) in out.iter_mut().skip(from) {
                        *word = word.replace(old, new);
                    }
                }
            }
            _ => {}
        }
    }
}

impl Folder {
    fn add(&mut self, assignment: Assignment) {
        let (key, mut guards) = key(&assignment.name);
        let plain = guards.clone();
        if key.is_empty() || assignment.value.is_empty() {
            return;
        }
        guards.extend(assignment.guards);
        let values = self.values.entry(key).or_default();
        // `mmu-y := nommu.o` is replaced by `mmu-$(CONFIG_MMU) := memory.o`.
        if let ([guard], true, true) = (plain.as_slice(), assignment.replaces, guards.len() == 1) {
            for (before, _) in values.iter_mut().filter(|(g, _)| g.is_empty()) {
                before.push(Guard::any(guard.any.clone(), !guard.on));
            }
        }
        if values.len() < MOST {
            values.push((guards, assignment.value));
        }
    }
}

fn steps(before: &[Arc<Step>], guards: &[Guard], part: Part) -> Vec<Arc<Step>> {
    let mut all = before.to_vec();
    for guard in guards {
        if !all.iter().any(|s| s.guard == *guard && s.part == part) {
            all.push(Arc::new(Step {
                guard: guard.clone(),
                part,
            }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::MemoryTree;

    fn routes(files: &[(&str, &str)], path: &str) -> Vec<String> {
        let tree = MemoryTree::of(files.iter().copied());
        let objects = walk(&tree, "x86", None);
        let routes = objects.get(path).into_iter().flatten();
        routes
            .map(|route| {
                let steps = route.steps.iter().map(|s| {
                    let sign = if s.guard.on { "" } else { "!" };
                    format!("{sign}{}", s.guard.any.join("|"))
                });
                let steps: Vec<_> = steps.collect();
                format!("{}: {}", route.module, steps.join(" "))
            })
            .collect()
    }

    const TOP: &str = "
ifeq ($(KBUILD_EXTMOD),)
core-y += kernel/
core-$(CONFIG_BLOCK) += block/
endif
drivers-y := drivers/
include $(srctree)/arch/$(SRCARCH)/Makefile
";

    #[test]
    fn routes_go_through_folders_objects_and_members() {
        let files = [
            ("Makefile", TOP),
            (
                "arch/x86/Makefile",
                "drivers-$(CONFIG_PCI) += arch/x86/pci/\n",
            ),
            ("arch/x86/Kbuild", "obj-y += kernel/\n"),
            ("arch/x86/kernel/Makefile", "obj-y += setup_$(BITS).o\n"),
            ("arch/x86/kernel/setup_64.c", ""),
            ("arch/x86/pci/Makefile", "obj-y += init.o\n"),
            ("arch/x86/pci/init.c", ""),
            ("block/Makefile", "obj-y += bio.o\n"),
            ("block/bio.c", ""),
            ("drivers/Makefile", "obj-$(CONFIG_USB) += usb/\n"),
            (
                "drivers/usb/Makefile",
                "obj-$(CONFIG_USB_X) += usb-core.o\nusb-core-y := hub.o\n\
                 usb-core-$(CONFIG_PCI) += $(pci-objs)\npci-objs := ../host/pci.o\n\
                 obj-$(subst m,y,$(CONFIG_LED)) += led.o\nobj- += never.o\n",
            ),
            ("drivers/usb/hub.c", ""),
            ("drivers/usb/led.c", ""),
            ("drivers/usb/never.c", ""),
            ("drivers/host/pci.c", ""),
        ];
        let of = |path: &str| routes(&files, path);
        assert_eq!(of("block/bio.c"), ["bio: BLOCK"]);
        assert_eq!(of("drivers/usb/hub.c"), ["usb_core: USB USB_X"]);
        assert_eq!(of("drivers/host/pci.c"), ["usb_core: USB USB_X PCI"]);
        assert_eq!(of("drivers/usb/led.c"), ["led: USB LED"]);
        assert_eq!(of("drivers/usb/never.c"), Vec::<String>::new());
        assert_eq!(of("arch/x86/kernel/setup_64.c"), ["setup_64: "]);
        assert_eq!(of("arch/x86/pci/init.c"), ["init: PCI"]);
    }

    #[test]
    fn what_is_replaced_needs_the_option_off() {
        let kbuild = "mmu-y := nommu.o\nmmu-$(CONFIG_MMU) := memory.o\nobj-y += $(mmu-y)\n\
                      ifdef CONFIG_LOADER\nobj-$(CONFIG_EFI) += efi.o\nendif\n";
        let files = [
            ("Kbuild", kbuild),
            ("nommu.c", ""),
            ("memory.c", ""),
            ("efi.c", ""),
        ];
        assert_eq!(routes(&files, "nommu.c"), ["nommu: !MMU"]);
        assert_eq!(routes(&files, "memory.c"), ["memory: MMU"]);
        let tree = MemoryTree::of(files);
        let objects = walk(&tree, "x86", None);
        let config = DotConfig::read(b"CONFIG_EFI=y\nCONFIG_LOADER=m\n").unwrap();
        assert_eq!(objects["efi.c"][0].state(&config), State::Yes);
    }

    #[test]
    fn circles_end() {
        let files = [
            (
                "Kbuild",
                "obj-y += a/ a/../ $(x)\nx = $(x) $(y)\ny = $(x)$(x)$(x)$(x)\n",
            ),
            (
                "a/Makefile",
                "obj-y += ../a/ b.o b/\nb-y += b.o\ninclude a/Makefile\n",
            ),
            ("a/b/Makefile", "obj-y += ../\n"),
        ];
        assert_eq!(routes(&files, "a/b.c"), Vec::<String>::new());
    }

    #[test]
    fn states_follow_the_options() {
        let step = |name: &str, part| {
            let guard = Guard::on(name);
            Arc::new(Step { guard, part })
        };
        let route = Route {
            steps: vec![step("A", Part::Folder), step("B", Part::Object)],
            module: "x".to_owned(),
            is_object: true,
        };
        let state = |text: &str| {
            route
                .state(&DotConfig::read(text.as_bytes()).unwrap())
                .text()
        };
        assert_eq!(state("CONFIG_A=m\nCONFIG_B=y\n"), "y");
        assert_eq!(state("CONFIG_A=y\nCONFIG_B=m\n"), "m");
        assert_eq!(state("CONFIG_B=y\n"), "n");
    }
}
