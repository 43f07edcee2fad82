//! Scripts that run scripts, made into one.
//!
//! What is known before U-Boot starts is put in: variables that nothing
//! changes, and the scripts that `run` names. What only the boot can tell stays
//! as it is written.

use std::collections::{BTreeMap, BTreeSet};

use super::read::RESERVED;
use super::{Item, Joint, Piece, Script, ScriptError, Statement, Word};

/// How many scripts may run each other.
const RUN_LIMIT: usize = 16;
/// Most statements of a flat script; a script can run another twice, and that
/// one a third twice, and so on.
const ITEM_LIMIT: usize = 1000;

/// Variables that U-Boot's commands set by themselves, whatever the
/// environment says.
const SET_BY_UBOOT: [&str; 20] = [
    "bootargs",
    "bootfile",
    "dnsip",
    "ethact",
    "ethaddr",
    "fdtcontroladdr",
    "fileaddr",
    "filesize",
    "gatewayip",
    "hostname",
    "ipaddr",
    "kernel_comp_size",
    "netmask",
    "rootpath",
    "serverip",
    "stderr",
    "stdin",
    "stdout",
    "tftpblocksize",
    "ver",
];

/// Commands that only read the variables that they name.
const READERS: [&str; 5] = ["run", "echo", "printenv", "test", "itest"];

/// The environment, and which of its variables never change.
pub struct Scope<'e> {
    environment: &'e BTreeMap<String, String>,
    /// Names that may change; none if all may.
    changed: Option<BTreeSet<String>>,
}

/// The scripts that can be run from the variable `start` on, by name. The
/// second value: whether others may be, as a name is only known at run time.
pub fn reachable(
    start: &str,
    environment: &BTreeMap<String, String>,
) -> (BTreeMap<String, Script>, bool) {
    let mut found = BTreeMap::new();
    let mut next = vec![start.to_owned()];
    let mut unsure = false;
    while let Some(name) = next.pop() {
        if found.contains_key(&name) {
            continue;
        }
        let Some(text) = environment.get(&name) else {
            continue;
        };
        let Ok(script) = Script::parse(text) else {
            unsure = true;
            continue;
        };
        script.for_each(&mut |words| {
            if let Some(names) = run(words) {
                for name in names {
                    match name.text() {
                        Some(name) => next.push(name),
                        None => unsure = true,
                    }
                }
            }
        });
        found.insert(name, script);
    }
    (found, unsure)
}

/// The names that a `run` runs.
fn run(words: &[Word]) -> Option<&[Word]> {
    let (command, names) = words.split_first()?;
    (command.bare() == Some("run") && !names.is_empty()).then_some(names)
}

impl<'e> Scope<'e> {
    /// What the scripts from `start` on leave as it is.
    pub fn of(start: &str, environment: &'e BTreeMap<String, String>) -> Self {
        let (scripts, mut unsure) = reachable(start, environment);
        let mut changed: BTreeSet<String> = SET_BY_UBOOT.map(str::to_owned).into();
        for script in scripts.values() {
            loop_variables(script, &mut changed);
            script.for_each(&mut |words| unsure |= !changes(words, &mut changed));
        }
        Self {
            environment,
            changed: (!unsure).then_some(changed),
        }
    }

    /// The value of a variable that nothing changes.
    fn constant(&self, name: &str) -> Option<&'e str> {
        let changed = self.changed.as_ref()?;
        let value = self.environment.get(name)?;
        (!changed.contains(name)).then_some(value)
    }

    /// The word with what is known put in.
    fn known(&self, word: &Word) -> Word {
        let mut known = Word(Vec::new());
        for piece in &word.0 {
            known.push(match piece {
                Piece::Variable { name, quoted } => match self.constant(name) {
                    // `$` and a value after it would be a variable of that name.
                    Some(value) if is_plain(value) && (*quoted || !known.ends_in_dollar()) => {
                        Piece::Text {
                            text: value.to_owned(),
                            quoted: *quoted,
                        }
                    }
                    _ => piece.clone(),
                },
                Piece::Text { .. } => piece.clone(),
            });
        }
        known
    }

    /// What the word is at run time, if that is known.
    pub fn value(&self, word: &Word) -> Option<String> {
        self.known(word).text()
    }
}

/// Whether a value means the same wherever it stands: one word, nothing in it
/// that the shell would read.
fn is_plain(value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:,+@%^-".contains(c);
    !value.is_empty() && value.chars().all(plain)
}

fn loop_variables(script: &Script, changed: &mut BTreeSet<String>) {
    for item in &script.0 {
        match &item.statement {
            Statement::Command(_) => {}
            Statement::If { arms, otherwise } => {
                let inner = arms.iter().flat_map(|(condition, then)| [condition, then]);
                inner
                    .chain(otherwise)
                    .for_each(|script| loop_variables(script, changed));
            }
            Statement::For { name, body, .. } => {
                changed.insert(name.clone());
                loop_variables(body, changed);
            }
            Statement::While {
                condition, body, ..
            } => {
                loop_variables(condition, changed);
                loop_variables(body, changed);
            }
        }
    }
}

/// Adds the variables that a command may change; `false` if it may change any.
///
/// Dozens of commands can put a result into a variable that they are given the
/// name of, so any name among the words counts, unless the command is known
/// only to read.
fn changes(words: &[Word], changed: &mut BTreeSet<String>) -> bool {
    let Some(command) = words.first().and_then(Word::text) else {
        return false;
    };
    // Network commands set what a server says.
    const ANYTHING: [&str; 10] = [
        "source", "dhcp", "bootp", "pxe", "sysboot", "bootflow", "askenv", "editenv", "rarpboot",
        "loadenv",
    ];
    if ANYTHING.contains(&command.as_str()) {
        return false;
    }
    let mut arguments = words.iter().skip(1);
    if command == "env" {
        let sub = arguments.next().and_then(Word::text);
        match sub.as_deref() {
            Some("exists" | "print" | "save" | "run") => return true,
            Some("set" | "delete") => {}
            _ => return false,
        }
    }
    if READERS.contains(&command.as_str()) {
        return true;
    }
    if let Some((name, _)) = command.split_once('=') {
        changed.insert(name.to_owned());
    }
    let sets = matches!(command.as_str(), "setenv" | "env" | "setexpr");
    for argument in arguments {
        match argument.text() {
            Some(name) => drop(changed.insert(name)),
            // The name itself is only known at run time.
            None if sets && is_first_name(words, argument) => return false,
            None => {}
        }
    }
    true
}

/// Whether the word is where `setenv` and its kin have the name.
fn is_first_name(words: &[Word], word: &Word) -> bool {
    let flag = |w: &&Word| {
        w.text()
            .is_some_and(|t| t.starts_with('-') || t == "set" || t == "delete")
    };
    let mut names = words.iter().skip(1).skip_while(flag);
    names.next().is_some_and(|first| std::ptr::eq(first, word))
}

/// The script in the variable `start` with everything put in that is known
/// before the boot: constant variables, the scripts that it runs, and the
/// branches of conditions that can be decided.
///
/// # Errors
/// If there is no such script, it cannot be read, or the flat one would be too
/// large.
pub fn flatten(start: &str, environment: &BTreeMap<String, String>) -> Result<Script, ScriptError> {
    let text = environment.get(start);
    let text = text.ok_or_else(|| ScriptError::Missing(start.to_owned()))?;
    let mut flattener = Flattener {
        scope: Scope::of(start, environment),
        running: vec![start.to_owned()],
        items: 0,
    };
    let flat = flattener.list(&Script::parse(text)?)?;
    if flat.to_string().len() > super::SIZE_LIMIT {
        return Err(ScriptError::TooLong);
    }
    Ok(flat)
}

struct Flattener<'e> {
    scope: Scope<'e>,
    /// Scripts that are in the middle of being run.
    running: Vec<String>,
    items: usize,
}

impl Flattener<'_> {
    /// The list, flat; never empty unless `script` is.
    fn list(&mut self, script: &Script) -> Result<Script, ScriptError> {
        let mut flat: Vec<Item> = Vec::new();
        for (i, item) in script.0.iter().enumerate() {
            let next = script.0.get(i + 1).map_or(Joint::Then, |next| next.joint);
            let put = self.statement(&item.statement)?;
            match put {
                Put::Same(statement) => flat.push(Item {
                    joint: item.joint,
                    statement,
                }),
                Put::Instead(list, _) if list.0.is_empty() => {
                    // Nothing succeeds; somebody may want to know that.
                    if item.joint != Joint::Then || next != Joint::Then {
                        flat.push(Item {
                            joint: item.joint,
                            statement: Statement::Command(vec![Word::plain("true")]),
                        });
                    }
                }
                Put::Instead(list, _) if fits(item.joint, &list) => {
                    for (i, mut inner) in list.0.into_iter().enumerate() {
                        if i == 0 {
                            inner.joint = item.joint;
                        }
                        flat.push(inner);
                    }
                }
                Put::Instead(_, kept) => flat.push(Item {
                    joint: item.joint,
                    statement: kept,
                }),
            }
            self.items += 1;
            if self.items.max(flat.len()) > ITEM_LIMIT {
                return Err(ScriptError::TooLong);
            }
        }
        if flat.is_empty() && !script.0.is_empty() {
            flat.push(Item {
                joint: Joint::Then,
                statement: Statement::Command(vec![Word::plain("true")]),
            });
        }
        Ok(Script(flat))
    }

    fn statement(&mut self, statement: &Statement) -> Result<Put, ScriptError> {
        Ok(match statement {
            Statement::Command(words) => self.command(words)?,
            Statement::If { arms, otherwise } => self.condition(arms, otherwise.as_ref())?,
            Statement::For { name, words, body } => Put::Same(Statement::For {
                name: name.clone(),
                words: words.iter().map(|w| self.scope.known(w)).collect(),
                body: self.list(body)?,
            }),
            Statement::While {
                until,
                condition,
                body,
            } => Put::Same(Statement::While {
                until: *until,
                condition: self.list(condition)?,
                body: self.list(body)?,
            }),
        })
    }

    fn command(&mut self, words: &[Word]) -> Result<Put, ScriptError> {
        let mut known: Vec<Word> = words.iter().map(|w| self.scope.known(w)).collect();
        // What was a command must not become an `if`.
        if let (Some(known), Some(word)) = (known.first_mut(), words.first())
            && known.bare().is_some_and(|w| RESERVED.contains(&w))
        {
            *known = word.clone();
        }
        let Some(names) = run(&known) else {
            return Ok(Put::Same(Statement::Command(known)));
        };
        let mut all: Vec<Item> = Vec::new();
        for name in names {
            let Some(list) = self.script(name)? else {
                return Ok(Put::Same(Statement::Command(known)));
            };
            // `run a b` runs b if a went well.
            if !all.is_empty() && !fits(Joint::And, &list) {
                return Ok(Put::Same(Statement::Command(known)));
            }
            let first = all.is_empty();
            for (i, mut item) in list.0.into_iter().enumerate() {
                if i == 0 && !first {
                    item.joint = Joint::And;
                }
                all.push(item);
            }
        }
        Ok(Put::Instead(Script(all), Statement::Command(known)))
    }

    /// The flat script in a variable that nothing changes.
    fn script(&mut self, name: &Word) -> Result<Option<Script>, ScriptError> {
        let Some(name) = name.text() else {
            return Ok(None);
        };
        let script = self.scope.constant(&name).map(Script::parse);
        let Some(Ok(script)) = script else {
            return Ok(None);
        };
        let again = self.running.contains(&name) || self.running.len() > RUN_LIMIT;
        if again || script.0.is_empty() {
            return Ok(None);
        }
        self.running.push(name);
        let flat = self.list(&script);
        self.running.pop();
        flat.map(Some)
    }

    fn condition(
        &mut self,
        arms: &[(Script, Script)],
        otherwise: Option<&Script>,
    ) -> Result<Put, ScriptError> {
        let mut open = Vec::new();
        let mut last = None;
        let mut decided = false;
        for (condition, then) in arms {
            let condition = self.list(condition)?;
            match self.holds(&condition) {
                Some(false) => {}
                Some(true) => {
                    last = Some(self.list(then)?);
                    decided = true;
                    break;
                }
                None => open.push((condition, self.list(then)?)),
            }
        }
        if !decided && let Some(otherwise) = otherwise {
            last = Some(self.list(otherwise)?);
        }
        if !open.is_empty() {
            return Ok(Put::Same(Statement::If {
                arms: open,
                otherwise: last,
            }));
        }
        let always = Script(vec![Item {
            joint: Joint::Then,
            statement: Statement::Command(vec![Word::plain("true")]),
        }]);
        let list = last.unwrap_or_default();
        // What is written if the list cannot stand in its place.
        let then = if list.0.is_empty() {
            always.clone()
        } else {
            list.clone()
        };
        let kept = Statement::If {
            arms: vec![(always, then)],
            otherwise: None,
        };
        Ok(Put::Instead(list, kept))
    }

    /// Whether a condition holds, if that is known before the boot.
    fn holds(&self, condition: &Script) -> Option<bool> {
        let [
            Item {
                statement: Statement::Command(words),
                ..
            },
        ] = condition.0.as_slice()
        else {
            return None;
        };
        let words: Option<Vec<String>> = words.iter().map(Word::text).collect();
        let words = words?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["true"] => Some(true),
            ["false"] => Some(false),
            ["test", "-n", text] => Some(!text.is_empty()),
            ["test", "-z", text] => Some(text.is_empty()),
            ["test", a, "=" | "==", b] => Some(a == b),
            ["test", a, "!=", b] => Some(a != b),
            ["env", "exists", name] => self.scope.constant(name).map(|_| true),
            _ => None,
        }
    }
}

/// What comes in place of a statement.
enum Put {
    /// The statement, with what is known put in.
    Same(Statement),
    /// A list; or, where that would change which commands are run, the
    /// statement.
    Instead(Script, Statement),
}

/// Whether a list means the same after this joint as if it were one command.
/// `&&` and `||` bind alike and to the left, so only what hangs together by
/// the same one does.
fn fits(joint: Joint, list: &Script) -> bool {
    joint == Joint::Then || list.0.iter().skip(1).all(|item| item.joint == joint)
}
