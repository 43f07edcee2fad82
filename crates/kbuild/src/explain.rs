//! Puts together what is known of a function: where it is, when it is called,
//! what builds it, and what it can wait for.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::delays::{Delay, File};
use crate::dot_config::State;
use crate::kconfig::{Expr, Kind};
use crate::kernel::{Found, Kernel, unique};
use crate::level::{Asked, Level};
use crate::makefile::Guard;
use crate::objects::{Part, Route};
use crate::params::{Param, params};
use crate::source::Source;

/// Places of one name that are worth listing.
const MOST_PLACES: usize = 16;

/// What is known of a symbol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// What was asked for.
    pub asked: Asked,
    /// Where it can be: several where nothing tells which is meant, none where
    /// nothing was found.
    pub places: Vec<Place>,
}

/// A function in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PlaceJson")]
pub struct Place {
    /// Its name.
    #[serde(skip)]
    pub function: String,
    /// The file.
    pub file: String,
    /// The line of its definition; of the macro that makes it, if one does.
    pub line: u32,
    /// `early`, `core`, `core_sync`, `device` …; null if it is no initcall.
    #[schemars(with = "Option<String>")]
    pub level: Option<Level>,
    /// The macro that makes it an initcall.
    pub made_by: Option<Macro>,
    /// The file that is built, if it is another one that includes this.
    pub included_by: Option<String>,
    /// The module that it is in, or would be.
    pub module: String,
    /// Whether it can be a module: `possible`, `bool` (its option has no m),
    /// `always` (no option decides) or `library`.
    #[schemars(with = "String")]
    pub modular: Module,
    /// As what it is built: `y`, `m` or `n`; null without options.
    #[schemars(with = "Option<String>")]
    pub state: Option<State>,
    /// What must hold for it to be built, the outermost first.
    pub conditions: Vec<Condition>,
    /// The options among these that must be on, the one that decides first.
    pub options: Vec<OptionInfo>,
    /// The parameters that its file has.
    pub params: Vec<Param>,
    /// The delays that it can reach in its file.
    pub delays: Vec<Delay>,
}

/// A macro in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "MacroJson")]
pub struct Macro {
    /// Its name.
    pub name: String,
    /// The line.
    pub line: u32,
}

/// Something that must hold for a file to be built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ConditionJson")]
pub struct Condition {
    /// Any of these options, without `CONFIG_`.
    pub any: Vec<String>,
    /// Whether one of them must be on, or all off.
    pub on: bool,
    /// Where it is said: `folder`, `object`, `member` (of an object) or
    /// `source` (by the preprocessor).
    #[schemars(with = "String")]
    pub part: Part,
}

/// Whether something can be a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Module {
    /// It can: the option that decides is a tristate.
    Possible,
    /// The option that decides is a bool.
    Bool,
    /// No option decides: it is there whenever its folder is.
    Always,
    /// It is in a library.
    Library,
}

/// An option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "OptionJson")]
pub struct OptionInfo {
    /// Its name, without `CONFIG_`.
    pub name: String,
    /// `bool`, `tristate`, `string`, `int`, `hex` or `unknown`.
    #[schemars(with = "String")]
    pub kind: Kind,
    /// What it is set to; null without options.
    pub value: Option<String>,
    /// What menus show; null if nobody can choose it.
    pub prompt: Option<String>,
    /// The first sentence of its help.
    pub help: Option<String>,
    /// All of these expressions must hold for it.
    pub depends: Vec<String>,
    /// Options that switch it on; with options known, those that do.
    pub selected_by: Vec<String>,
    /// Where it is defined.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
}

impl Place {
    /// The option that decides.
    pub fn option(&self) -> Option<&OptionInfo> {
        self.options.first()
    }

    /// The option that can make it a module.
    pub fn module_option(&self) -> Option<&OptionInfo> {
        let mut options = self.options.iter();
        options.find(|o| {
            let of_object = |c: &Condition| c.part == Part::Object && c.any.contains(&o.name);
            o.kind == Kind::Tristate && self.conditions.iter().any(of_object)
        })
    }

    /// All delays whose time is known, in ns, limits left out.
    pub fn delay_ns(&self) -> i64 {
        let known = self.delays.iter().filter(|d| d.how != crate::How::Limit);
        let known = known.filter_map(Delay::total_ns);
        known.fold(0_i64, i64::saturating_add)
    }
}

impl Kernel<'_> {
    /// What is known of these symbols, in their order. With `everywhere` also
    /// functions that are no initcalls are looked for, and initcalls that the
    /// options leave out; a log has neither, and looking takes seconds.
    pub fn explain(&self, asked: &[Asked], everywhere: bool) -> Vec<Explained> {
        let names: HashSet<String> = asked.iter().map(|a| a.function.clone()).collect();
        let initcalls = self.initcalls(&names, everywhere);
        let others = unique(
            asked
                .iter()
                .map(|a| a.function.as_str())
                .filter(|n| !initcalls.contains_key(*n)),
        );
        let functions = match others.is_empty() || !everywhere {
            true => HashMap::new(),
            false => self.functions(&others),
        };
        let mut files: HashMap<String, Option<Source>> = HashMap::new();
        asked
            .iter()
            .map(|asked| {
                let mut explained = Explained {
                    asked: asked.clone(),
                    places: Vec::new(),
                };
                if let Some(found) = initcalls.get(&asked.function) {
                    for found in self.chosen(asked, found) {
                        explained.places.extend(self.place(found, &mut files));
                    }
                } else if let Some(found) = functions.get(&asked.function) {
                    let best = found.iter().map(|(f, _)| self.state_of(f, &[])).max();
                    let best = found
                        .iter()
                        .filter(|(f, _)| Some(self.state_of(f, &[])) == best);
                    for (file, line) in best.take(MOST_PLACES) {
                        let name = &asked.function;
                        explained
                            .places
                            .extend(self.function(name, file, *line, &mut files));
                    }
                }
                explained
            })
            .collect()
    }

    /// The places that all that is known leaves.
    fn chosen<'f>(&self, asked: &Asked, found: &'f [Found]) -> Vec<&'f Found> {
        let mut left: Vec<&Found> = found.iter().collect();
        let mut keep = |wanted: &dyn Fn(&Found) -> bool| {
            if left.iter().any(|f| wanted(f)) {
                left.retain(|f| wanted(f));
            }
        };
        if let Some(module) = &asked.module {
            let module = module.replace('-', "_");
            keep(&|f| self.routes(f).iter().any(|r| r.module == module));
        }
        if let Some(line) = asked.line {
            keep(&|f| f.site.line == line);
        }
        let states = found
            .iter()
            .map(|f| self.state_of(&f.object, &f.site.guards));
        let best = match asked.module.is_some() {
            true => None,
            false => states.max(),
        };
        keep(&|f| best.is_some_and(|b| self.state_of(&f.object, &f.site.guards) == b));
        if let Some(level) = &asked.level {
            keep(&|f| f.site.level.text() == *level);
        }
        if asked.module.is_none() {
            keep(&|f| !f.site.only_module);
        }
        left.dedup_by(|a, b| a.file == b.file && a.site.line == b.site.line);
        left.truncate(MOST_PLACES);
        left
    }

    fn routes(&self, found: &Found) -> &[Route] {
        self.objects.get(&found.object).map_or(&[], Vec::as_slice)
    }

    fn source<'f>(
        &self,
        file: &str,
        files: &'f mut HashMap<String, Option<Source>>,
    ) -> Option<&'f Source> {
        // One is enough: what is asked for rarely comes from one file twice.
        if !files.contains_key(file) {
            files.clear();
            files.insert(file.to_owned(), self.tree.read(file).map(Source::new));
        }
        files.get(file)?.as_ref()
    }

    fn place(&self, found: &Found, files: &mut HashMap<String, Option<Source>>) -> Option<Place> {
        let source = self.source(&found.file, files)?;
        let file = File::new(source);
        let site = &found.site;
        let mut place = self.built(&found.object, &site.guards);
        place.line = file.line_of(&site.function).unwrap_or(site.line);
        place.function = site.function.clone();
        place.file = found.file.clone();
        place.level = Some(site.level);
        place.made_by = Some(Macro {
            name: site.made_by.clone(),
            line: site.line,
        });
        place.included_by = (found.file != found.object).then(|| found.object.clone());
        place.params = params(source);
        place.delays = file.delays(&site.function, &site.given);
        Some(place)
    }

    /// A function that is no initcall.
    fn function(
        &self,
        name: &str,
        path: &str,
        line: u32,
        files: &mut HashMap<String, Option<Source>>,
    ) -> Option<Place> {
        let source = self.source(path, files)?;
        let file = File::new(source);
        let mut place = self.built(path, &[]);
        place.function = name.to_owned();
        place.file = path.to_owned();
        place.line = line;
        place.params = params(source);
        place.delays = file.delays(name, &[]);
        Some(place)
    }

    /// What is known of a file that is built.
    fn built(&self, object: &str, guards: &[Guard]) -> Place {
        let routes = self.objects.get(object).into_iter().flatten();
        // The way that is taken; where several could be, the shortest.
        let route = routes.max_by_key(|r| {
            let state = self.state(r, guards);
            (state, std::cmp::Reverse(r.steps.len()))
        });
        let steps = route.map_or(&[][..], |r| r.steps.as_slice());
        let of_route = steps.iter().map(|s| Condition {
            any: s.guard.any.clone(),
            on: s.guard.on,
            part: s.part,
        });
        let of_source = guards.iter().map(|g| Condition {
            any: g.any.clone(),
            on: g.on,
            part: Part::Source,
        });
        let conditions: Vec<Condition> = of_route.chain(of_source).collect();
        let state = route.map_or(State::No, |r| self.state(r, guards));
        Place {
            function: String::new(),
            file: String::new(),
            line: 0,
            level: None,
            made_by: None,
            included_by: None,
            options: self.options(&conditions),
            modular: self.modular(route),
            conditions,
            state: self.config.as_ref().map(|_| state),
            module: route.map_or(String::new(), |r| r.module.clone()),
            params: Vec::new(),
            delays: Vec::new(),
        }
    }

    /// The options that must be on: the innermost of Kbuild decides, and what
    /// the source file itself asks comes last.
    fn options(&self, conditions: &[Condition]) -> Vec<OptionInfo> {
        let (source, kbuild): (Vec<&Condition>, Vec<&Condition>) = conditions
            .iter()
            .filter(|c| c.on)
            .partition(|c| c.part == Part::Source);
        let mut options: Vec<OptionInfo> = Vec::new();
        for condition in kbuild.into_iter().rev().chain(source) {
            // Of several that would do, those that are on come first.
            let mut any: Vec<&String> = condition.any.iter().collect();
            if let Some(config) = &self.config {
                any.sort_by_key(|n| std::cmp::Reverse(config.state(n)));
            }
            for name in any {
                if !options.iter().any(|o| o.name == *name) {
                    options.push(self.option(name));
                }
            }
        }
        options
    }

    fn modular(&self, route: Option<&Route>) -> Module {
        if route.is_some_and(|r| !r.is_object) {
            return Module::Library;
        }
        let steps = route.map_or(&[][..], |r| r.steps.as_slice());
        let object = steps.iter().filter(|s| s.part == Part::Object);
        let object = object.map(|s| &s.guard).filter(|g| g.on);
        let (fixed, object): (Vec<&Guard>, Vec<&Guard>) = object.partition(|g| g.as_built_in);
        let object: Vec<&String> = object.into_iter().flat_map(|g| &g.any).collect();
        let tristate = |name: &&String| {
            let symbol = self.kconfig.get(name);
            symbol.is_some_and(|s| s.kind == Kind::Tristate)
        };
        match object.iter().any(tristate) {
            true => Module::Possible,
            false if object.is_empty() && fixed.is_empty() => Module::Always,
            false => Module::Bool,
        }
    }

    /// What is known of an option.
    pub fn option(&self, name: &str) -> OptionInfo {
        let symbol = self.kconfig.get(name);
        let config = self.config.as_ref();
        let mut selected_by: Vec<String> = Vec::new();
        for (by, when) in symbol.into_iter().flat_map(|s| &s.selected_by) {
            let does = config.is_none_or(|c| {
                let holds = when.as_ref().is_none_or(|e| e.eval(c) != State::No);
                c.state(by) != State::No && holds
            });
            if does && !selected_by.contains(by) {
                selected_by.push(by.clone());
            }
        }
        selected_by.sort();
        let defined = symbol.filter(|s| !s.file.is_empty());
        let value = config.map(|c| c.value(name).unwrap_or("n").to_owned());
        OptionInfo {
            name: name.to_owned(),
            kind: symbol.map_or(Kind::Unknown, |s| s.kind),
            value,
            prompt: symbol.and_then(|s| s.prompt.clone()),
            help: symbol.and_then(|s| s.help.clone()),
            depends: symbol.map_or(Vec::new(), |s| {
                s.depends.iter().map(Expr::to_string).collect()
            }),
            selected_by,
            file: defined.map(|s| s.file.clone()),
            line: defined.map(|s| s.line),
        }
    }
}
