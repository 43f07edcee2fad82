//! Reads the Kconfig files of a tree, each once, from the top one on.

use std::collections::HashSet;

use super::expr::Expr;
use super::lex::{Token, tokens};
use super::{Kconfig, Kind, Symbol};
use crate::tree::{Tree, normal, text};

/// A chain of `source` that is longer goes in circles.
const DEEPEST: usize = 16;
/// More menus than this do not stand inside each other.
const MOST_OPEN: usize = 128;
/// A first sentence that is longer is cut, in bytes.
const MOST_HELP: usize = 240;
/// No tree has more Kconfig files.
const MOST_FILES: usize = 20_000;

/// Reads all options from the top Kconfig on, for the architecture `arch`.
pub fn read(tree: &dyn Tree, arch: &str) -> Kconfig {
    let mut reader = Reader {
        tree,
        arch,
        kconfig: Kconfig::default(),
        open: Vec::new(),
        seen: HashSet::new(),
    };
    reader.file("Kconfig", 0);
    reader.kconfig
}

/// What stands around the line that is read.
enum Open {
    If(Option<Expr>),
    Menu(Vec<Expr>),
    Choice(Vec<Expr>),
}

/// What attributes belong to.
enum Current {
    Nothing,
    Config(String),
    /// A menu or a choice: the innermost one that is open.
    Group,
    /// A comment, or what is not known.
    Other,
}

struct Reader<'t> {
    tree: &'t dyn Tree,
    arch: &'t str,
    kconfig: Kconfig,
    open: Vec<Open>,
    seen: HashSet<String>,
}

impl Reader<'_> {
    fn file(&mut self, path: &str, depth: usize) {
        if depth > DEEPEST || self.seen.len() >= MOST_FILES || !self.seen.insert(path.to_owned()) {
            return;
        }
        let Some(text) = text(self.tree, path) else {
            return;
        };
        let around = self.open.len();
        let mut current = Current::Nothing;
        let mut lines = Lines::of(&text);
        while let Some((number, line)) = lines.next_joined() {
            let tokens = tokens(&line);
            let Some(Token::Word(keyword)) = tokens.first() else {
                continue;
            };
            let rest = tokens.get(1..).unwrap_or_default();
            match keyword.as_str() {
                "help" | "---help---" => {
                    let help = lines.help();
                    if let (Current::Config(name), Some(help)) = (&current, help) {
                        let symbol = self.symbol(name);
                        symbol.help.get_or_insert(help);
                    }
                }
                "source" | "rsource" | "osource" | "orsource" => {
                    self.source(keyword, rest, path, depth);
                    current = Current::Nothing;
                }
                "config" | "menuconfig" => {
                    current = self.config(rest, path, number);
                }
                "menu" | "choice" | "if" if self.open.len() >= MOST_OPEN => return,
                "menu" => {
                    self.open.push(Open::Menu(Vec::new()));
                    current = Current::Group;
                }
                "choice" => {
                    self.open.push(Open::Choice(Vec::new()));
                    current = Current::Group;
                }
                "if" => {
                    self.open.push(Open::If(Expr::from_tokens(rest)));
                    current = Current::Nothing;
                }
                "endmenu" | "endchoice" | "endif" => {
                    if self.open.len() > around {
                        self.open.pop();
                    }
                    current = Current::Nothing;
                }
                "comment" | "mainmenu" => current = Current::Other,
                attribute => self.attribute(attribute, rest, &current),
            }
        }
        self.open.truncate(around);
    }

    fn symbol(&mut self, name: &str) -> &mut Symbol {
        self.kconfig.symbols.entry(name.to_owned()).or_default()
    }

    fn config(&mut self, rest: &[Token], path: &str, line: u32) -> Current {
        let Some(Token::Word(name)) = rest.first() else {
            return Current::Other;
        };
        let around: Vec<Expr> = self.open.iter().flat_map(Open::needs).collect();
        let symbol = self.symbol(name);
        if symbol.file.is_empty() {
            symbol.file = path.to_owned();
            symbol.line = line;
        }
        for needed in around {
            if !symbol.depends.contains(&needed) {
                symbol.depends.push(needed);
            }
        }
        Current::Config(name.clone())
    }

    fn attribute(&mut self, attribute: &str, rest: &[Token], current: &Current) {
        let on = rest
            .first()
            .is_some_and(|t| *t == Token::Word("on".to_owned()));
        let depends = || Expr::from_tokens(rest.get(1..).unwrap_or_default());
        let name = match current {
            Current::Config(name) => name,
            Current::Group => {
                if attribute == "depends" && on {
                    let group = self.open.last_mut();
                    if let (Some(Open::Menu(list) | Open::Choice(list)), Some(e)) =
                        (group, depends())
                    {
                        list.push(e);
                    }
                }
                return;
            }
            Current::Nothing | Current::Other => return,
        };
        let kind = match attribute {
            "bool" | "boolean" | "def_bool" => Kind::Bool,
            "tristate" | "def_tristate" => Kind::Tristate,
            "string" => Kind::String,
            "int" => Kind::Int,
            "hex" => Kind::Hex,
            _ => Kind::Unknown,
        };
        let when = condition(rest);
        match attribute {
            "depends" if on => {
                if let Some(needed) = depends() {
                    let symbol = self.symbol(name);
                    if !symbol.depends.contains(&needed) {
                        symbol.depends.push(needed);
                    }
                }
            }
            "select" => {
                if let Some(Token::Word(selected)) = rest.first() {
                    let by = (name.clone(), when);
                    self.symbol(selected).selected_by.push(by);
                }
            }
            _ => {}
        }
        let symbol = self.symbol(name);
        if kind != Kind::Unknown && (symbol.kind == Kind::Unknown || kind == Kind::Tristate) {
            symbol.kind = kind;
        }
        let asks = kind != Kind::Unknown && !attribute.starts_with("def_");
        if let (true, Some(Token::Text(prompt))) = (asks || attribute == "prompt", rest.first())
            && symbol.prompt.is_none()
        {
            symbol.prompt = Some(prompt.clone());
            symbol.prompt_if = condition(rest);
        }
    }

    /// `source "drivers/*/Kconfig"`; a path is from the top, or with `rsource`
    /// from the file it stands in.
    fn source(&mut self, keyword: &str, rest: &[Token], from: &str, depth: usize) {
        let (Some(Token::Text(path)) | Some(Token::Word(path))) = rest.first() else {
            return;
        };
        let mut path = path.clone();
        for variable in ["SRCARCH", "ARCH"] {
            path = path.replace(&format!("$({variable})"), self.arch);
            path = path.replace(&format!("${{{variable}}}"), self.arch);
            path = path.replace(&format!("${variable}"), self.arch);
        }
        path = path.replace("$(srctree)/", "");
        if keyword.ends_with("rsource") {
            let dir = from.rsplit_once('/').map_or("", |(dir, _)| dir);
            path = format!("{dir}/{path}");
        }
        let Some(path) = normal(&path) else {
            return;
        };
        for file in self.matching(&path) {
            self.file(&file, depth + 1);
        }
    }

    /// The files that a path with `*` means.
    fn matching(&self, path: &str) -> Vec<String> {
        if !path.contains('*') {
            return vec![path.to_owned()];
        }
        let mut found = vec![String::new()];
        for part in path.split('/') {
            let mut next = Vec::new();
            for dir in &found {
                let with = |name: &str| match dir.as_str() {
                    "" => name.to_owned(),
                    dir => format!("{dir}/{name}"),
                };
                if !part.contains('*') {
                    next.push(with(part));
                    continue;
                }
                let names = self.tree.list(dir).into_iter().map(|e| e.name);
                next.extend(names.filter(|n| glob(part, n)).map(|n| with(&n)));
            }
            next.truncate(MOST_FILES);
            found = next;
        }
        found
    }
}

impl Open {
    fn needs(&self) -> Vec<Expr> {
        match self {
            Open::If(e) => e.iter().cloned().collect(),
            Open::Menu(all) | Open::Choice(all) => all.clone(),
        }
    }
}

/// What stands behind `if`.
fn condition(tokens: &[Token]) -> Option<Expr> {
    let at = tokens
        .iter()
        .position(|t| *t == Token::Word("if".to_owned()))?;
    Expr::from_tokens(tokens.get(at + 1..)?)
}

/// Whether `name` is what `pattern` means; `*` is any text.
fn glob(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        if let Some(part) = last.replace(part) {
            let Some(at) = rest.find(part) else {
                return false;
            };
            rest = rest.get(at + part.len()..).unwrap_or_default();
        }
    }
    last.map_or(rest.is_empty(), |part: &str| rest.ends_with(part))
}

/// Lines, of which a backslash at the end joins two.
struct Lines<'a> {
    lines: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            lines: text.lines().enumerate().peekable(),
        }
    }

    /// A line with its number.
    fn next_joined(&mut self) -> Option<(u32, String)> {
        let (number, line) = self.lines.next()?;
        let mut joined = line.to_owned();
        while joined.ends_with('\\') {
            joined.pop();
            let Some((_, more)) = self.lines.next() else {
                break;
            };
            joined.push_str(more);
        }
        Some((number as u32 + 1, joined))
    }

    /// Passes over a help text, which is indented as its first line is; its
    /// first sentence is what is worth showing, or its first line.
    fn help(&mut self) -> Option<String> {
        let mut first: Option<(usize, String)> = None;
        let mut complete = false;
        while let Some((_, line)) = self.lines.peek() {
            let body = line.trim();
            if body.is_empty() {
                complete |= first.is_some();
                self.lines.next();
                continue;
            }
            let indent = indentation(line);
            match &mut first {
                None if indent == 0 => return None,
                None => first = Some((indent, body.to_owned())),
                Some((least, _)) if indent < *least => break,
                Some((_, text)) if !complete => {
                    complete = text.ends_with(['.', ':', '!']) || text.len() > MOST_HELP;
                    if !complete {
                        text.push(' ');
                        text.push_str(body);
                    }
                }
                Some(_) => {}
            }
            self.lines.next();
        }
        first.map(|(_, text)| sentence(&text))
    }
}

/// The first sentence of a text.
fn sentence(text: &str) -> String {
    match text.find(". ") {
        Some(at) if at > 8 => text.get(..=at).unwrap_or(text).to_owned(),
        _ if text.len() > MOST_HELP => format!("{text} …"),
        _ => text.to_owned(),
    }
}

fn indentation(line: &str) -> usize {
    let mut columns = 0;
    for c in line.chars() {
        match c {
            ' ' => columns += 1,
            '\t' => columns = (columns / 8 + 1) * 8,
            _ => break,
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::MemoryTree;

    fn needs(symbol: &Symbol) -> Vec<String> {
        symbol.depends.iter().map(Expr::to_string).collect()
    }

    #[test]
    fn options_have_what_stands_around_them() {
        let top =
            "mainmenu \"x\"\nsource \"arch/$(SRCARCH)/Kconfig\"\nsource \"drivers/*/Kconfig\"\n";
        let block = "\
menuconfig BLK
\tbool \"Block \\\"devices\\\"\" if EXPERT
\tdefault y
\thelp
\t  Say Y here. It is
\t  often needed.

\t  config NOT_AN_OPTION

if BLK
menu \"Disks\"
\tdepends on PCI || \\
\t\tUSB
config LOOP
\ttristate \"Loop\"
\tselect CRC if !UML
\tdepends on A
\t---help---
\t  A loop device can be used
\t  as a disk.
endmenu
endif
config AFTER
\tdef_bool y
";
        let tree = MemoryTree::of([
            ("Kconfig", top),
            ("arch/x86/Kconfig", "config X86\n\tdef_bool y\n"),
            ("arch/arm/Kconfig", "config ARM\n\tdef_bool y\n"),
            ("drivers/block/Kconfig", block),
        ]);
        let kconfig = read(&tree, "x86");
        assert!(kconfig.get("ARM").is_none() && kconfig.get("NOT_AN_OPTION").is_none());
        assert_eq!(kconfig.get("X86").unwrap().kind, Kind::Bool);
        let blk = kconfig.get("BLK").unwrap();
        assert_eq!(blk.prompt.as_deref(), Some("Block \"devices\""));
        assert_eq!(blk.prompt_if.as_ref().unwrap().to_string(), "EXPERT");
        assert_eq!(blk.help.as_deref(), Some("Say Y here."));
        let disk = kconfig.get("LOOP").unwrap();
        assert_eq!(needs(disk), ["BLK", "PCI || USB", "A"]);
        assert_eq!((disk.kind, disk.line), (Kind::Tristate, 14));
        let help = "A loop device can be used as a disk.";
        assert_eq!(disk.help.as_deref(), Some(help));
        let by = &kconfig.get("CRC").unwrap().selected_by;
        assert_eq!((by.len(), by[0].0.as_str()), (1, "LOOP"));
        assert_eq!(needs(kconfig.get("AFTER").unwrap()), Vec::<String>::new());
    }

    #[test]
    fn circles_and_rubbish_end() {
        let tree = MemoryTree::of([
            (
                "Kconfig",
                "source \"Kconfig\"\nsource \"a\"\nendif\nendmenu\nconfig\n help\n",
            ),
            ("a", "source \"Kconfig\"\nif\nif (\nconfig A\nbool\n"),
        ]);
        assert_eq!(read(&tree, "x").symbols.len(), 1);
    }

    #[test]
    fn globs() {
        assert!(glob("*", "abc") && glob("a*c", "abc") && glob("*b*", "abc"));
        assert!(!glob("a*d", "abc") && !glob("ab", "abc") && !glob("a*bc*c", "abc"));
    }
}
