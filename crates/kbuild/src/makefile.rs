//! Reads a Kbuild file as a list of assignments, each with what it needs.
//!
//! ```text
//! obj-$(CONFIG_USB)      += usbcore.o
//! usbcore-y              := usb.o hub.o
//! ifdef CONFIG_PCI
//!   usbcore-y            += hcd-pci.o
//! endif
//! ```
//!
//! Nothing is executed. A condition on options becomes a [`Guard`]; one whose
//! value is known (the architecture) is decided; of any other both branches are
//! taken, as an object that is listed too often is better than one that is missing.

/// An option that a line needs, or needs to be off.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guard {
    /// Any of these options, without `CONFIG_`.
    pub any: Vec<String>,
    /// Whether one of them must be on, or all of them off.
    pub on: bool,
    /// A module counts as built in: `$(subst m,y,$(CONFIG_X))`, `ifdef`.
    pub as_built_in: bool,
}

impl Guard {
    /// One option that must be on.
    pub(crate) fn on(name: &str) -> Self {
        Self::any(vec![name.to_owned()], true)
    }

    /// Any of these on, or all off.
    pub(crate) fn any(any: Vec<String>, on: bool) -> Self {
        Self {
            any,
            on,
            as_built_in: false,
        }
    }
}

/// `name += value`, in whatever way it is assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// As written: `obj-$(CONFIG_USB)`.
    pub(crate) name: String,
    /// As written, continuation lines joined.
    pub(crate) value: String,
    /// `=` or `:=`, so that what the variable had before is lost.
    pub(crate) replaces: bool,
    /// What the conditionals around it need.
    pub(crate) guards: Vec<Guard>,
}

/// A line of a Kbuild file that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Assignment(Assignment),
    /// `include path`, as written.
    Include(String, Vec<Guard>),
}

/// More conditionals do not stand inside each other.
const DEEPEST: usize = 64;
/// A value longer than this, in bytes, is no list of objects.
const LONGEST: usize = 1 << 18;

/// What a condition says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cond {
    /// Its value is known.
    Known(bool),
    /// It needs all of these.
    Needs(Vec<Guard>),
    /// Nobody knows.
    Unknown,
}

/// A conditional that is open.
struct Frame {
    /// What the branch that is read needs.
    now: Cond,
    /// What the branches after it need, besides their own condition.
    otherwise: Vec<Guard>,
    /// A branch before was certainly taken.
    done: bool,
}

/// Reads the lines of a Kbuild file; `known` says the values of variables.
pub(crate) fn read(text: &str, known: &dyn Fn(&str) -> Option<String>) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    let mut too_deep = 0_usize;
    let mut in_define = false;
    let mut raw = text.lines();
    while let Some(first) = raw.next() {
        let mut line = without_comment(first).to_owned();
        while line.ends_with('\\') && line.len() < LONGEST {
            line.pop();
            let Some(more) = raw.next() else { break };
            line.push(' ');
            line.push_str(without_comment(more).trim());
        }
        let body = line.trim();
        let (keyword, rest) = split_word(body);
        if in_define || keyword == "define" {
            in_define = keyword != "endef";
            continue;
        }
        // A recipe of a rule begins with a tab, and so do some assignments.
        match keyword {
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => {
                if frames.len() >= DEEPEST {
                    too_deep += 1;
                    continue;
                }
                frames.push(Frame::begin(condition(keyword, rest, known)));
            }
            "else" if too_deep == 0 => {
                let (keyword, rest) = split_word(rest);
                let cond = match keyword {
                    "" => Cond::Known(true),
                    keyword => condition(keyword, rest, known),
                };
                if let Some(frame) = frames.last_mut() {
                    frame.turn(cond);
                }
            }
            "endif" => match too_deep {
                0 => {
                    frames.pop();
                }
                _ => too_deep -= 1,
            },
            _ if too_deep > 0 || frames.iter().any(Frame::is_dead) => {}
            "include" | "-include" | "sinclude" => {
                lines.push(Line::Include(rest.trim().to_owned(), needs(&frames)));
            }
            _ => {
                if let Some((name, value)) = assignment(body) {
                    lines.push(Line::Assignment(Assignment {
                        name: name.to_owned(),
                        value: value.to_owned(),
                        replaces: replaces(body),
                        guards: needs(&frames),
                    }));
                }
            }
        }
    }
    lines
}

/// What conditionals need; to them a module is as good as what is built in.
fn needs(frames: &[Frame]) -> Vec<Guard> {
    let mut all: Vec<Guard> = Vec::new();
    for frame in frames {
        all.extend(frame.otherwise.iter().cloned());
        if let Cond::Needs(guards) = &frame.now {
            all.extend(guards.iter().cloned());
        }
    }
    for guard in &mut all {
        guard.as_built_in = true;
    }
    all
}

impl Frame {
    fn begin(now: Cond) -> Self {
        Self {
            done: now == Cond::Known(true),
            now,
            otherwise: Vec::new(),
        }
    }

    /// `else`
    fn turn(&mut self, next: Cond) {
        // "Not both" is no guard; nothing is said then.
        if let Cond::Needs(guards) = &self.now
            && let [guard] = guards.as_slice()
        {
            self.otherwise
                .push(Guard::any(guard.any.clone(), !guard.on));
        }
        self.now = match self.done {
            true => Cond::Known(false),
            false => next,
        };
        self.done |= self.now == Cond::Known(true);
    }

    fn is_dead(&self) -> bool {
        self.now == Cond::Known(false)
    }
}

fn condition(keyword: &str, rest: &str, known: &dyn Fn(&str) -> Option<String>) -> Cond {
    let rest = rest.trim();
    match keyword {
        "ifdef" | "ifndef" => {
            let wanted = keyword == "ifdef";
            if let Some(name) = rest.strip_prefix("CONFIG_") {
                return Cond::Needs(vec![Guard::any(vec![name.to_owned()], wanted)]);
            }
            match known(rest) {
                Some(value) => Cond::Known(value.is_empty() != wanted),
                None => Cond::Unknown,
            }
        }
        "ifeq" | "ifneq" => match sides(rest) {
            Some((a, b)) => compare(keyword == "ifeq", a.trim(), b.trim(), known),
            None => Cond::Unknown,
        },
        _ => Cond::Unknown,
    }
}

/// The sides of `(a,b)` or `"a" "b"`.
fn sides(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix('(') {
        let inner = inner.trim_end().strip_suffix(')')?;
        let mut open = 0_usize;
        let comma = inner.find(|c| {
            match c {
                '(' | '{' => open += 1,
                ')' | '}' => open = open.saturating_sub(1),
                _ => {}
            }
            c == ',' && open == 0
        })?;
        return Some((inner.get(..comma)?, inner.get(comma + 1..)?));
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut parts = text.split(quote);
    Some((parts.nth(1)?, parts.nth(1)?))
}

fn compare(equal: bool, a: &str, b: &str, known: &dyn Fn(&str) -> Option<String>) -> Cond {
    let (a, b) = if a.contains("CONFIG_") || b.is_empty() {
        (a, b)
    } else if b.contains("CONFIG_") {
        (b, a)
    } else {
        (a, b)
    };
    let names = options(a);
    if names.is_empty() {
        return match (literal(a, known), literal(b, known)) {
            (Some(a), Some(b)) => Cond::Known((a == b) == equal),
            _ => Cond::Unknown,
        };
    }
    let each = names.iter().map(|n| Guard::on(n));
    let any = |on: bool| {
        let any = names.clone();
        Cond::Needs(vec![Guard::any(any, on)])
    };
    let said = b.chars().all(|c| c == 'y') && b.len() == names.len();
    match (equal, b) {
        (true, "") => any(false),
        (false, "") => any(true),
        // `$(filter y m,$(CONFIG_A))` against what it found.
        _ if a.contains("filter") => Cond::Unknown,
        (true, _) if said => Cond::Needs(each.collect()),
        (true, "m") => any(true),
        (false, "y") if names.len() == 1 => any(false),
        (true, "n") => any(false),
        (false, "n") => any(true),
        _ => Cond::Unknown,
    }
}

/// The options that a text names, without `CONFIG_`, each once.
pub(crate) fn options(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for piece in text.split("CONFIG_").skip(1) {
        let end = piece
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(piece.len());
        let name = piece.get(..end).unwrap_or_default();
        if !name.is_empty() && !found.iter().any(|f| f == name) {
            found.push(name.to_owned());
        }
    }
    found
}

/// A text without variables, once those that are known are put in.
fn literal(text: &str, known: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(rest.get(..at)?);
        let after = rest.get(at + 1..)?;
        let close = match after.chars().next()? {
            '(' => ')',
            '{' => '}',
            _ => return None,
        };
        let end = after.find(close)?;
        out.push_str(&known(after.get(1..end)?)?);
        rest = after.get(end + 1..)?;
    }
    out.push_str(rest);
    Some(out)
}

/// Whether an assignment is none that adds, or that only sets what is not set.
fn replaces(body: &str) -> bool {
    let before = body.split('=').next().unwrap_or_default();
    !before.ends_with(['+', '?'])
}

/// `name += value`; `name: rule` is none.
fn assignment(body: &str) -> Option<(&str, &str)> {
    let mut open = 0_usize;
    let equals = body.char_indices().find(|(_, c)| {
        match c {
            '(' | '{' => open += 1,
            ')' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        *c == '=' && open == 0
    })?;
    let value = body.get(equals.0 + 1..)?.trim();
    let name = body
        .get(..equals.0)?
        .trim_end_matches(['+', ':', '?'])
        .trim();
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let name = name.strip_prefix("override ").unwrap_or(name).trim();
    let is_name = !name.is_empty() && !name.contains([':', '"', '\'', '#']);
    // `$(call f,a b)` may have spaces; a shell's command has them elsewhere.
    let outside = name.split("$(").next().unwrap_or_default();
    (is_name && !outside.contains(' ')).then_some((name, value))
}

fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    // `ifeq(` without a space is an error in make, and does occur.
    match text.find(|c: char| c.is_whitespace() || c == '(') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    }
}

fn without_comment(line: &str) -> &str {
    match line.find('#') {
        Some(at) if !line.get(..at).is_some_and(|l| l.ends_with('\\')) => {
            line.get(..at).unwrap_or(line)
        }
        _ => line.trim_end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Option<String> {
        match name {
            "SRCARCH" => Some("x86".to_owned()),
            "KBUILD_EXTMOD" => Some(String::new()),
            _ => None,
        }
    }

    /// `name value [guards]` of each assignment.
    fn shown(text: &str) -> Vec<String> {
        let lines = read(text, &known).into_iter();
        lines
            .map(|line| match line {
                Line::Assignment(a) => {
                    let guards = a.guards.iter().map(|g| {
                        let sign = if g.on { "" } else { "!" };
                        format!(" {sign}{}", g.any.join("|"))
                    });
                    format!("{} = {}{}", a.name, a.value, guards.collect::<String>())
                }
                Line::Include(path, _) => format!("include {path}"),
            })
            .collect()
    }

    #[test]
    fn assignments_continue_and_have_guards() {
        let text = "\
obj-$(CONFIG_A) += a.o \\
\tb.o # comment \\
  \tc.o
ifdef CONFIG_P
  a-y := p.o
else
  a-y := q.o
endif
include $(srctree)/$(src)/x.mk
target: dep
\tgcc -DX=1 \"a\"
a-$(call f,x y) = z.o
";
        assert_eq!(
            shown(text),
            [
                "obj-$(CONFIG_A) = a.o  b.o",
                "a-y = p.o P",
                "a-y = q.o !P",
                "include $(srctree)/$(src)/x.mk",
                "a-$(call f,x y) = z.o",
            ]
        );
    }

    #[test]
    fn conditions() {
        let of = |cond: &str| shown(&format!("{cond}\na=1\nelse\na=2\nendif\n"));
        assert_eq!(of("ifeq ($(CONFIG_A),y)"), ["a = 1 A", "a = 2 !A"]);
        assert_eq!(of("ifneq ($(CONFIG_A),)"), ["a = 1 A", "a = 2 !A"]);
        assert_eq!(
            of("ifeq ($(CONFIG_A)$(CONFIG_B),yy)"),
            ["a = 1 A B", "a = 2"]
        );
        assert_eq!(
            of("ifneq ($(CONFIG_A)$(CONFIG_B),)"),
            ["a = 1 A|B", "a = 2 !A|B"]
        );
        assert_eq!(
            of("ifneq ($(filter y m,$(CONFIG_A)),)"),
            ["a = 1 A", "a = 2 !A"]
        );
        assert_eq!(of("ifeq ($(SRCARCH),x86)"), ["a = 1"]);
        assert_eq!(of("ifneq \"$(SRCARCH)\" \"x86\""), ["a = 2"]);
        assert_eq!(of("ifeq ($(KBUILD_EXTMOD),)"), ["a = 1"]);
        assert_eq!(of("ifdef KBUILD_EXTMOD"), ["a = 2"]);
        assert_eq!(of("ifeq ($(shell x),y)"), ["a = 1", "a = 2"]);
    }

    #[test]
    fn rubbish_ends() {
        let deep = "ifdef CONFIG_A\n".repeat(10_000) + "a = 1\n" + &"endif\n".repeat(10_000);
        assert_eq!(shown(&deep), Vec::<String>::new());
        assert_eq!(shown("else\nendif\n=\n\\"), Vec::<String>::new());
        assert_eq!(shown("define x\na=1\nendef\nb=2"), ["b = 2"]);
    }
}
