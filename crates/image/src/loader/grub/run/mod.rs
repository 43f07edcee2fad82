//! GRUB's scripts, run: variables, functions, other files, and the menu that comes of it.
//!
//! What only the machine knows is not made up: a condition that asks for it counts as not met,
//! and what it would have set is in doubt from then on.

mod asks;
mod loads;

use std::collections::HashMap;
use std::mem;
use std::rc::Rc;

use super::condition;
use super::disk::Disk;
use super::foresee::Foreseen;
use super::script::{Command, Piece, Script, Word, parse};
use super::value::{Doubt, Value};
use crate::loader::Entry;
use crate::volume::Place;

/// Commands altogether: loops and functions repeat them.
const MOST_COMMANDS: usize = 20_000;
/// Bytes that variables may become altogether: `set a=$a$a` doubles.
const MOST_FILLED: usize = 4 << 20;
/// Files, functions, menus and blocks that are open at a time.
const MOST_OPEN: usize = 100;
/// Programs of UEFI that are looked into.
const MOST_PROGRAMS: usize = 64;
/// Entries of a menu: more than anybody chooses from.
const MOST_ENTRIES: usize = 1024;

/// How a command went.
#[derive(Clone, Debug)]
struct Answer {
    /// `None` if only the machine knows.
    met: Option<bool>,
    doubt: Doubt,
}

const YES: Answer = Answer {
    met: Some(true),
    doubt: None,
};
const NO: Answer = Answer {
    met: Some(false),
    doubt: None,
};
const UNKNOWN: Answer = Answer {
    met: None,
    doubt: None,
};

/// Where it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    On,
    /// Behind the loop.
    Break,
    /// At the loop's next turn.
    Continue,
    /// Behind the function, or the file.
    Return,
    /// Nowhere.
    Stop,
}

/// An item of a menu before it is opened.
#[derive(Clone)]
enum Offer {
    /// What is run to start it, or to show more of them, with its words: its title first.
    Entry(Vec<Value>, Script, Rc<Place>),
    Submenu(Vec<Value>, Script, Rc<Place>),
    /// One that is ready, with its id.
    Ready(Entry, String),
}

/// An entry, and how `default` can name it.
#[derive(Default)]
pub(super) struct Item {
    pub(super) entry: Entry,
    /// Its place in the menu, and in the submenus.
    pub(super) place: Vec<usize>,
    /// Its title and its id.
    pub(super) names: Vec<String>,
    /// What decides what it starts.
    pub(super) doubt: Doubt,
}

/// What a configuration comes to.
pub(super) struct Menu {
    /// The file that has it: another one may have led to it.
    pub(super) config: Rc<Place>,
    /// The entries, with those of submenus.
    pub(super) items: Vec<Item>,
    pub(super) default: Value,
    pub(super) timeout: String,
    /// What decides which items there are, and the first place that this is so for.
    pub(super) doubt: Option<(usize, Rc<str>)>,
    /// Whether it starts what it has loaded without asking anybody.
    pub(super) starts: bool,
}

/// Runs the configuration at this place.
pub(super) fn run(disk: Disk<'_>, config: Place) -> Menu {
    let root = disk.name(config.volume);
    let folder = config
        .path
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    let prefix = format!("({root})/{folder}");
    let variables = [("root", root.as_str()), ("prefix", prefix.as_str())];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.into()));
    let config = Rc::new(config);
    let mut run = Run {
        disk,
        file: config.clone(),
        config,
        variables: HashMap::from(variables),
        functions: HashMap::new(),
        parameters: Vec::new(),
        offers: Vec::new(),
        doubt: None,
        in_menu: false,
        loaded: Item::default(),
        boots: false,
        status: YES,
        flow: Flow::On,
        open: 0,
        commands: MOST_COMMANDS,
        filled: MOST_FILLED,
        programs: MOST_PROGRAMS,
    };
    let file = run.file.clone();
    run.file(&file);
    let starts = run.boots && !run.loaded.entry.kernel.is_empty();
    let mut items = Vec::new();
    if starts {
        items.push(mem::take(&mut run.loaded));
    } else {
        let offers = mem::take(&mut run.offers);
        run.menu(offers, &[], &mut items);
    }
    Menu {
        config: run.config.clone(),
        items,
        default: run.variable("default"),
        timeout: run.variable("timeout").text,
        doubt: run.doubt.take(),
        starts,
    }
}

struct Run<'d> {
    disk: Disk<'d>,
    /// The file that is being run, and the one that the menu is of.
    file: Rc<Place>,
    config: Rc<Place>,
    variables: HashMap<String, Value>,
    functions: HashMap<String, (Script, Rc<Place>)>,
    /// `$1` and so on.
    parameters: Vec<Value>,
    offers: Vec<Offer>,
    doubt: Option<(usize, Rc<str>)>,
    /// Whether an item of the menu is being run.
    in_menu: bool,
    /// What is loaded to be started, and whether that was asked for.
    loaded: Item,
    boots: bool,
    /// `$?`
    status: Answer,
    flow: Flow,
    /// What may still be opened, run and filled in.
    open: usize,
    commands: usize,
    filled: usize,
    programs: usize,
}

impl Run<'_> {
    /// Opens what a menu offers: each with the variables as they are when the menu is shown.
    fn menu(&mut self, offers: Vec<Offer>, above: &[usize], items: &mut Vec<Item>) {
        for (n, offer) in offers.into_iter().enumerate() {
            if items.len() >= MOST_ENTRIES || self.open >= MOST_OPEN {
                return;
            }
            let place = [above, &[n]].concat();
            let (words, body, file, shows) = match offer {
                Offer::Ready(entry, id) => {
                    let names = vec![entry.title.clone(), id];
                    items.push(Item {
                        entry,
                        place,
                        names,
                        doubt: None,
                    });
                    continue;
                }
                Offer::Entry(words, body, file) => (words, body, file, false),
                Offer::Submenu(words, body, file) => (words, body, file, true),
            };
            let variables = self.variables.clone();
            let title = words.first().map(|w| w.text.clone()).unwrap_or_default();
            let id = words.iter().position(|word| word.text == "--id");
            let id = id.and_then(|at| words.get(at + 1));
            let id = id.or_else(|| words.iter().find(|word| word.text.starts_with("--id=")));
            let id = id.map(|word| word.text.trim_start_matches("--id=").to_owned());
            self.parameters = words;
            self.file = file;
            self.in_menu = true;
            self.flow = Flow::On;
            self.loaded = Item::default();
            self.open += 1;
            self.run(&body);
            if shows {
                let offers = mem::take(&mut self.offers);
                self.menu(offers, &place, items);
            } else {
                let Item { entry, doubt, .. } = mem::take(&mut self.loaded);
                items.push(Item {
                    entry: Entry {
                        title: title.clone(),
                        ..entry
                    },
                    place,
                    names: std::iter::once(title).chain(id).collect(),
                    doubt,
                });
            }
            self.open -= 1;
            self.variables = variables;
        }
    }

    /// Runs a file; says whether there is one.
    fn file(&mut self, place: &Rc<Place>) -> bool {
        let Some(text) = self.disk.text(place) else {
            return false;
        };
        let Some(left) = self.filled.checked_sub(text.len()) else {
            return false;
        };
        self.filled = left;
        let before = mem::replace(&mut self.file, place.clone());
        self.run(&parse(&text));
        if self.flow == Flow::Return {
            self.flow = Flow::On;
        }
        self.file = before;
        true
    }

    /// Runs commands; says how the last of them went.
    fn run(&mut self, script: &Script) -> Answer {
        let mut last = YES;
        self.open += 1;
        for command in script.iter() {
            if self.open > MOST_OPEN {
                self.flow = Flow::Stop;
            }
            if self.flow != Flow::On {
                break;
            }
            self.spend(1);
            last = self.command(command);
            self.status = last.clone();
        }
        self.open -= 1;
        last
    }

    fn command(&mut self, command: &Command) -> Answer {
        match command {
            Command::Plain {
                words,
                line,
                source,
            } => {
                let words = self.words(words);
                let answer = self.plain(&words, *line);
                if answer.met.is_some() {
                    return answer;
                }
                let doubt = Some(source.clone());
                for name in set_by_option(&words) {
                    let doubt = doubt.clone();
                    self.set(
                        name,
                        Value {
                            doubt,
                            ..Value::unknown()
                        },
                    );
                }
                Answer { doubt, ..answer }
            }
            Command::If { arms, otherwise } => self.condition(arms, otherwise),
            Command::For { name, words, body } => {
                let mut last = YES;
                for value in self.words(words) {
                    self.variables.insert(name.clone(), value);
                    last = self.turn(body);
                    if self.flow != Flow::On {
                        break;
                    }
                }
                self.loop_ends();
                last
            }
            Command::While {
                until,
                condition,
                body,
            } => {
                while self.run(condition).met == Some(!until) && self.flow == Flow::On {
                    self.turn(body);
                    // Both may be empty.
                    self.spend(1);
                }
                self.loop_ends();
                YES
            }
            Command::Function { name, body } => {
                let function = (body.clone(), self.file.clone());
                self.functions.insert(name.clone(), function);
                YES
            }
            Command::Block { words, body } => {
                let words = self.words(words);
                let Some((command, rest)) = words.split_first() else {
                    return YES;
                };
                let (rest, body, file) = (rest.to_vec(), body.clone(), self.file.clone());
                match command.text.as_str() {
                    "menuentry" => self.offers.push(Offer::Entry(rest, body, file)),
                    "submenu" => self.offers.push(Offer::Submenu(rest, body, file)),
                    _ => {}
                }
                YES
            }
        }
    }

    /// Counts commands that were run or looked at; there is an end to them.
    fn spend(&mut self, commands: usize) {
        self.commands = self.commands.saturating_sub(commands);
        if self.commands == 0 {
            self.flow = Flow::Stop;
        }
    }

    /// A turn of a loop.
    fn turn(&mut self, body: &Script) -> Answer {
        let answer = self.run(body);
        if self.flow == Flow::Continue {
            self.flow = Flow::On;
        }
        answer
    }

    fn loop_ends(&mut self) {
        if self.flow == Flow::Break {
            self.flow = Flow::On;
        }
    }

    fn condition(&mut self, arms: &[(Script, Script)], otherwise: &Script) -> Answer {
        let mut doubt = None;
        let mut chosen = otherwise;
        for (condition, body) in arms {
            let answer = self.run(condition);
            doubt = doubt.or(answer.doubt);
            if answer.met == Some(true) {
                chosen = body;
                break;
            }
        }
        let Some(doubt) = doubt else {
            return self.run(chosen);
        };
        let bodies = arms.iter().map(|(_, body)| body).chain([otherwise]);
        let foreseen = Foreseen::of(bodies);
        self.spend(foreseen.commands);
        if foreseen.offers {
            let place = self.offers.len();
            self.doubt.get_or_insert_with(|| (place, doubt.clone()));
        }
        if foreseen.starts {
            self.loaded.doubt.get_or_insert_with(|| doubt.clone());
        }
        let answer = self.run(chosen);
        for name in foreseen.sets {
            let mut value = self.variable(&name);
            value.doubt.get_or_insert_with(|| doubt.clone());
            self.variables.insert(name, value);
        }
        answer
    }

    fn variable(&self, name: &str) -> Value {
        if let Ok(n) = name.parse::<usize>() {
            let parameter = n.checked_sub(1).and_then(|n| self.parameters.get(n));
            return parameter.cloned().unwrap_or_else(|| "".into());
        }
        match (name, self.variables.get(name)) {
            (_, Some(value)) => value.clone(),
            ("#", _) => self.parameters.len().to_string().as_str().into(),
            ("@" | "*", _) => {
                let all: Vec<&str> = self.parameters.iter().map(|p| p.text.as_str()).collect();
                all.join(" ").as_str().into()
            }
            ("?", _) => match self.status.met {
                Some(met) => if met { "0" } else { "1" }.into(),
                None => Value::unknown(),
            },
            ("grub_platform" | "grub_cpu" | "cmdpath", _) => Value::unknown(),
            (name, _) if name.starts_with("net_") || name.starts_with("pxe_") => Value::unknown(),
            // GRUB tells scripts what it can do.
            (name, _) if name.starts_with("feature_") => "y".into(),
            _ => "".into(),
        }
    }

    fn set(&mut self, name: &str, value: Value) {
        self.variables.insert(name.to_owned(), value);
    }

    /// Words with their variables filled in.
    fn words(&mut self, words: &[Word]) -> Vec<Value> {
        let mut filled = Vec::new();
        for word in words {
            let mut current: Option<Value> = None;
            let mut doubt = None;
            for piece in &word.0 {
                let (value, quoted) = match piece {
                    Piece::Text { text, .. } => (text.as_str().into(), true),
                    Piece::Variable { name, quoted } => (self.variable(name), *quoted),
                };
                let Some(left) = self.filled.checked_sub(value.text.len()) else {
                    continue;
                };
                self.filled = left;
                let parts: Vec<&str> = match quoted {
                    true => vec![value.text.as_str()],
                    false => value.text.split_whitespace().collect(),
                };
                // Unquoted, an empty one is no word, but one that is not known may be.
                let parts = match parts.is_empty() && !value.known {
                    true => vec![""],
                    false => parts,
                };
                for (n, part) in parts.into_iter().enumerate() {
                    if n > 0 {
                        filled.extend(current.take());
                    }
                    let current = current.get_or_insert_with(|| "".into());
                    current.text.push_str(part);
                    current.known &= value.known;
                }
                doubt = doubt.or(value.doubt);
            }
            if let Some(current) = &mut current {
                current.doubt = doubt;
            }
            filled.extend(current);
        }
        filled
    }

    fn plain(&mut self, words: &[Value], line: usize) -> Answer {
        let nots = words.iter().take_while(|word| word.text == "!").count();
        let answer = self.without_not(&words[nots..], line);
        Answer {
            met: answer.met.map(|met| met ^ (nots % 2 == 1)),
            ..answer
        }
    }

    fn without_not(&mut self, words: &[Value], line: usize) -> Answer {
        let Some((command, rest)) = words.split_first() else {
            return YES;
        };
        if let Some((body, file)) = self.functions.get(&command.text).cloned() {
            return self.call(&body, &file, rest);
        }
        let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
        match command.text.as_str() {
            "[" | "test" => {
                let end = usize::from(command.text == "[" && texts.last() == Some(&"]"));
                let terms = &rest[..rest.len() - end];
                return Answer {
                    met: condition::holds(terms, self),
                    doubt: terms.iter().find_map(|word| word.doubt.clone()),
                };
            }
            "true" | "export" | "insmod" | "echo" | "save_env" | "sleep" => {}
            // Nobody holds a key.
            "false" | "keystatus" => return NO,
            "set" => {
                if let Some(word) = rest.first() {
                    self.assign(word);
                }
            }
            "unset" => {
                for name in texts {
                    self.variables.remove(name);
                }
            }
            "setparams" => self.parameters = rest.to_vec(),
            "shift" => drop(self.parameters.drain(..self.parameters.len().min(1))),
            "eval" => return self.run(&parse(&texts.join(" "))),
            "break" => self.flow = Flow::Break,
            "continue" => self.flow = Flow::Continue,
            "return" => {
                self.flow = Flow::Return;
                let is_no = texts.first().is_some_and(|code| *code != "0");
                return if is_no { NO } else { YES };
            }
            "exit" | "halt" | "reboot" => {
                self.loaded = Item::default();
                self.flow = Flow::Stop;
            }
            "boot" => (self.boots, self.flow) = (true, Flow::Stop),
            "load_env" => return self.load_environment(&texts),
            "search" | "search.fs_uuid" | "search.fs_label" | "search.file" => {
                return self.search(&command.text, &texts);
            }
            "probe" => return self.probe(&texts),
            "source" | "." => {
                let place = texts.first().and_then(|path| self.disk_place(path));
                let found = place.is_some_and(|place| self.file(&Rc::new(place)));
                return if found { YES } else { NO };
            }
            "configfile" | "normal" if !self.in_menu => {
                let place = texts.first().and_then(|path| self.disk_place(path));
                let Some(place) = place.filter(|place| self.disk.text(place).is_some()) else {
                    return NO;
                };
                self.config = Rc::new(place);
                self.offers.clear();
                let config = self.config.clone();
                self.file(&config);
                self.flow = Flow::Stop;
            }
            "linux" | "linuxefi" | "linux16" | "kernel" => self.kernel(rest, line),
            "initrd" | "initrdefi" | "initrd16" => {
                let paths = texts.iter().map(|word| path(word));
                self.loaded.entry.initramfs.extend(paths);
            }
            "devicetree" => {
                let file = texts.first().copied().unwrap_or_default();
                self.loaded.entry.devicetree = path(file);
            }
            "chainloader" => self.chain(rest, line),
            "blscfg" => self.specification(),
            _ => {
                if self.assign(command) {
                    return YES;
                }
                return UNKNOWN;
            }
        }
        YES
    }

    /// Of `name=value`; says whether it is that.
    fn assign(&mut self, word: &Value) -> bool {
        let Some((name, text)) = word.text.split_once('=') else {
            return false;
        };
        let text = text.to_owned();
        self.set(
            name,
            Value {
                text,
                ..word.clone()
            },
        );
        true
    }

    fn call(&mut self, body: &Script, file: &Rc<Place>, words: &[Value]) -> Answer {
        let parameters = mem::replace(&mut self.parameters, words.to_vec());
        let before = mem::replace(&mut self.file, file.clone());
        let answer = self.run(body);
        if self.flow == Flow::Return {
            self.flow = Flow::On;
        }
        self.file = before;
        self.parameters = parameters;
        answer
    }
}

/// The variables that a command sets by its option: `--set=root`, `--set 1:label`.
fn set_by_option(words: &[Value]) -> Vec<&str> {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let behind = texts
        .windows(2)
        .filter(|two| two[0] == "--set")
        .map(|two| two[1]);
    let joined = texts.iter().filter_map(|word| word.strip_prefix("--set="));
    let all = behind.chain(joined);
    // Where it is not that of a search, whose other disk has a name of its own.
    let all = all.filter(|_| texts.first() != Some(&"search"));
    all.map(|name| name.rsplit(':').next().unwrap_or(name))
        .collect()
}

/// Without the device in front: `(hd0,gpt2)/vmlinuz`.
fn path(word: &str) -> String {
    let behind = word.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    behind.map_or(word, |(_, path)| path).to_owned()
}
