//! What a command gives, worked out by the shell alone: tests that must hold, and the value.
//!
//! Tests are commands that are joined by `&&`. Those that read a file or set a variable are
//! among them, in their order.

use std::collections::BTreeSet;

use super::OURS;
use super::syntax::{Command, List, Simple, What, Word};

/// What all rules look at.
pub(super) struct Script<'s> {
    pub(super) text: &'s str,
    /// Names of functions, which may be called instead of programs.
    pub(super) taken: &'s BTreeSet<String>,
    /// Words may be parted elsewhere than at blanks.
    pub(super) odd_parting: bool,
}

/// Bytes that are the same in all locales, and that neither `echo` nor a pattern reads its own
/// way; for a bracket expression.
const PLAIN: &str = "A-Za-z0-9_./:,=@%+-";

/// How a value is got, and by which tests it is known to be that of the command.
#[derive(Debug, Default)]
pub(super) struct Fast {
    pub(super) tests: Vec<String>,
    /// What stands for the value, inside or outside double quotes.
    pub(super) value: String,
    /// The command's exit status may not be 0; then this test holds where it is.
    pub(super) succeeds: Option<String>,
    /// Nothing of it is written.
    pub(super) quiet: bool,
    /// It is the value once it is parted at blanks.
    pub(super) parted: bool,
    /// Processes that the command starts.
    pub(super) forks: usize,
}

/// Gives out names of variables.
#[derive(Default)]
pub(super) struct Names(usize);

impl Names {
    pub(super) fn next(&mut self) -> String {
        self.0 += 1;
        format!("{OURS}{}", self.0)
    }
}

/// A word that is a path, or a part of one: its tests, if it must be looked at, and its text.
pub(super) struct Path {
    pub(super) tests: Vec<String>,
    pub(super) text: String,
}

/// What stands at a place that one word must come of, and not an option.
pub(super) fn path(script: &Script<'_>, word: &Word) -> Option<Path> {
    let mut tests = Vec::new();
    for (n, piece) in word.pieces.iter().enumerate() {
        let name = match &piece.what {
            What::Text(text) => {
                let plain = |c: char| c.is_ascii_alphanumeric() || "_./:,=@%+-".contains(c);
                if text.chars().any(|c| !plain(c)) || (n == 0 && text.starts_with('-')) {
                    return None;
                }
                continue;
            }
            What::Parameter(name) if is_kept(name) => name,
            _ => return None,
        };
        if !piece.quoted && script.odd_parting {
            return None;
        }
        // One that is not set may end the shell (`set -u`): the old command's, not ours.
        match (n, piece.quoted) {
            (0, true) => tests.push(format!("case ${{{name}-}} in /*) ;; *) false ;; esac")),
            (0, false) => {
                tests.push(format!(
                    "case ${{{name}-}} in *[!{PLAIN}]*) false ;; /*) ;; *) false ;; esac"
                ));
            }
            (_, true) => tests.push(format!("[ \"${{{name}+x}}\" ]")),
            (_, false) => tests.push(format!(
                "[ \"${{{name}+x}}\" ] && case ${{{name}}} in *[!{PLAIN}]*) false ;; esac"
            )),
        }
    }
    // Unquoted and empty, it would be no word at all; then the first test failed.
    let text = script.text[word.range.clone()].to_owned();
    (!word.pieces.is_empty()).then_some(Path { tests, text })
}

/// Whether a word of plain bytes is one word.
fn stays_one(script: &Script<'_>, word: &Word) -> bool {
    !script.odd_parting || word.pieces.iter().all(|piece| piece.quoted)
}

/// Whether a parameter is the same after tests: not so `$?` and `$_`.
fn is_kept(name: &str) -> bool {
    name != "_" && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Files that are longer than a line on all systems: to read their first is of no use.
const LONG: [&str; 12] = [
    "/proc/mounts",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/modules",
    "/proc/partitions",
    "/proc/filesystems",
    "/proc/devices",
    "/proc/mtd",
    "/etc/passwd",
    "/etc/group",
    "/etc/fstab",
    "/proc/net/dev",
];

/// Files in which there is no byte of zero. A shell drops these from what it reads, and `grep`
/// and `cut` do not; from other files, only what these do not see is taken.
const TEXTS: [&str; 4] = [
    "/proc/cmdline",
    "/proc/version",
    "/proc/uptime",
    "/proc/loadavg",
];

/// Which line of a file is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Only,
    First,
}

/// A line of a file, in a new variable; `filtered` is for what other programs would read.
///
/// A shell reads one byte at a time. Numbers below `/proc/sys` can only be read at once, so
/// they would always be read twice.
fn line(
    script: &Script<'_>,
    file: &Word,
    names: &mut Names,
    lines: Lines,
    filtered: bool,
) -> Option<Fast> {
    let path = path(script, file)?;
    let text = file.text().unwrap_or_default();
    let of_names = ["osrelease", "hostname", "ostype"];
    let is_number =
        text.starts_with("/proc/sys/") && !of_names.iter().any(|name| text.ends_with(name));
    let is_long = lines == Lines::Only && LONG.contains(&text.as_str());
    if is_long || is_number || filtered && !TEXTS.contains(&text.as_str()) {
        return None;
    }
    let mut tests = path.tests;
    let file = path.text;
    let (name, rest) = (names.next(), names.next());
    tests.push(format!("[ -f {file} ] && [ -r {file} ]"));
    let over = match lines {
        Lines::Only => format!(" && ! IFS= read -r {rest} && [ -z \"${rest}\" ]"),
        Lines::First => String::new(),
    };
    tests.push(format!("{{ IFS= read -r {name}{over}; }} <{file}"));
    if filtered {
        // Other bytes are no text to `grep`, or several to a character.
        tests.push(format!("case ${name} in *[!\\ -~]*) false ;; esac"));
    }
    Some(Fast {
        tests,
        value: format!("${{{name}}}"),
        ..Fast::default()
    })
}

/// What `$(…)` is, if the shell can tell.
pub(super) fn output(script: &Script<'_>, list: &List, names: &mut Names) -> Option<Fast> {
    let [pipeline] = &list.pipelines[..] else {
        return None;
    };
    if list.joined || pipeline.negated {
        return None;
    }
    let simple = pipeline.commands.iter().map(|command| match command {
        Command::Simple(simple) => Some(simple),
        _ => None,
    });
    let commands: Vec<&Simple> = simple.collect::<Option<_>>()?;
    let fast = chain(script, &commands, names).or_else(|| match &commands[..] {
        [one] => single(script, one, names),
        _ => None,
    });
    // A subshell, and each of a pipeline's commands in another; the last one may be it.
    fast.filter(|fast| !fast.quiet).map(|fast| Fast {
        forks: commands.len(),
        ..fast
    })
}

/// A command without assignments that no function stands for.
struct Plain<'s> {
    name: String,
    operands: &'s [Word],
    /// The file that it has as its input.
    input: Option<&'s Word>,
    /// What it writes goes nowhere.
    quiet: bool,
}

fn plain<'s>(script: &Script<'_>, simple: &'s Simple) -> Option<Plain<'s>> {
    let (first, operands) = simple.words.split_first()?;
    let name = first.text()?;
    if !simple.assigned.is_empty() || script.taken.contains(&name) {
        return None;
    }
    let (mut input, mut quiet) = (None, false);
    for redirection in &simple.redirections {
        let to = redirection.to.text();
        match (redirection.operator.as_str(), to.as_deref()) {
            ("<" | "0<", _) if input.is_none() => input = Some(&redirection.to),
            (">" | "1>", Some("/dev/null")) => quiet = true,
            ("2>", Some("/dev/null")) | ("2>&", Some("1")) => {}
            _ => return None,
        }
    }
    Some(Plain {
        name,
        operands,
        input,
        quiet,
    })
}

/// A line from a file or `echo`, through `grep` and `cut`.
pub(super) fn chain(script: &Script<'_>, commands: &[&Simple], names: &mut Names) -> Option<Fast> {
    let (first, rest) = commands.split_first()?;
    let mut fast = source(script, &plain(script, first)?, !rest.is_empty(), names)?;
    for command in rest {
        let command = plain(script, command)?;
        let options = options(&command.name, command.operands)?;
        let reads_a_file = command.input.is_some() || command.operands.len() != options.used;
        if reads_a_file || fast.quiet {
            return None;
        }
        fast.quiet = command.quiet || options.quiet;
        filter(options.what, &mut fast, names);
    }
    Some(fast)
}

/// What begins a chain: the line of a file, a word, or a filter of the line of a file.
fn source(
    script: &Script<'_>,
    command: &Plain<'_>,
    filtered: bool,
    names: &mut Names,
) -> Option<Fast> {
    let operands = command.operands;
    // `cat < FILE` is `cat FILE`.
    let file = |rest: &[Word]| matches!((rest, command.input), ([], Some(_)) | ([_], None));
    let mut fast = match command.name.as_str() {
        "cat" if file(operands) => {
            let file = operands.first().or(command.input)?;
            line(script, file, names, Lines::Only, filtered)?
        }
        "head" => {
            let texts: Vec<String> = operands.iter().map_while(Word::text).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let rest = match texts[..] {
                ["-1" | "-n1", ..] => &operands[1..],
                ["-n", "1", ..] => &operands[2..],
                _ => return None,
            };
            if !file(rest) {
                return None;
            }
            let file = rest.first().or(command.input)?;
            line(script, file, names, Lines::First, filtered)?
        }
        "echo" if command.input.is_none() => echoed(script, operands)?,
        name => {
            let options = options(name, operands)?;
            let rest = &operands[options.used..];
            if !file(rest) {
                return None;
            }
            let file = rest.first().or(command.input)?;
            let mut fast = line(script, file, names, Lines::Only, true)?;
            fast.quiet = options.quiet;
            filter(options.what, &mut fast, names);
            fast
        }
    };
    fast.quiet |= command.quiet;
    Some(fast)
}

/// `echo "$x"` and `echo $x`, where `$x` is nothing that either would change.
fn echoed(script: &Script<'_>, operands: &[Word]) -> Option<Fast> {
    let [word] = operands else {
        return None;
    };
    let piece = word.only()?;
    let What::Parameter(name) = &piece.what else {
        return None;
    };
    if !is_kept(name) || !stays_one(script, word) {
        return None;
    }
    // A blank in an unquoted one would part it.
    let blank = if piece.quoted { "\\ " } else { "" };
    Some(Fast {
        tests: vec![format!(
            "case ${{{name}-}} in ''|-*|*[!{blank}{PLAIN}]*) false ;; esac"
        )],
        value: format!("${{{name}}}"),
        ..Fast::default()
    })
}

/// What a filter's operands say.
struct Options {
    /// How many of them it takes, without the file.
    used: usize,
    quiet: bool,
    what: Filter,
}

enum Filter {
    /// Lines with this text, or that begin with it.
    Having { text: String, at_start: bool },
    /// A part between delimiters, from 1.
    Field { number: usize, delimiter: char },
    /// The first word.
    Word,
}

fn options(name: &str, operands: &[Word]) -> Option<Options> {
    let texts: Vec<String> = operands.iter().map_while(Word::text).collect();
    let (mut at, mut quiet) = (0, false);
    let what = match name {
        "grep" => {
            let mut fixed = false;
            while let Some(option) = texts.get(at).filter(|text| text.starts_with('-')) {
                match option.as_str() {
                    "-F" => fixed = true,
                    "-q" => quiet = true,
                    "-E" => {}
                    _ => return None,
                }
                at += 1;
            }
            let pattern = texts.get(at)?;
            at += 1;
            let (at_start, text) = match pattern.strip_prefix('^') {
                Some(rest) if !fixed => (true, rest),
                _ => (false, pattern.as_str()),
            };
            let plain = |c: char| c.is_ascii_alphanumeric() || "_/:,=@% ".contains(c);
            if text.is_empty() || !text.chars().all(plain) {
                return None;
            }
            Filter::Having {
                text: text.to_owned(),
                at_start,
            }
        }
        "cut" => {
            let (mut delimiter, mut number) = (None, None);
            while let Some(option) = texts.get(at).filter(|text| text.starts_with('-')) {
                let (kind, mut value) = (option.get(..2)?, option.get(2..)?.to_owned());
                at += 1;
                if value.is_empty() {
                    value = texts.get(at)?.clone();
                    at += 1;
                }
                match kind {
                    "-d" => delimiter = Some(value),
                    "-f" => number = value.parse().ok().filter(|n| (1..=4).contains(n)),
                    _ => return None,
                }
            }
            let delimiter: char = delimiter?.parse().ok()?;
            if !":=,/.-_@ ".contains(delimiter) {
                return None;
            }
            Filter::Field {
                number: number?,
                delimiter,
            }
        }
        "awk" => {
            at = 1;
            let program: String = texts.first()?.split_whitespace().collect();
            if program != "{print$1}" {
                return None;
            }
            Filter::Word
        }
        _ => return None,
    };
    let used = at;
    Some(Options { used, quiet, what })
}

/// Puts a filter behind `fast`.
fn filter(what: Filter, fast: &mut Fast, names: &mut Names) {
    let of = std::mem::take(&mut fast.value);
    let new = names.next();
    fast.succeeds = None;
    match what {
        Filter::Having { text, at_start } => {
            let text = text.replace(' ', "\\ ");
            let before = if at_start { "" } else { "*" };
            fast.tests.push(format!("{new}="));
            fast.tests
                .push(format!("case {of} in {before}{text}*) {new}={of} ;; esac"));
            fast.succeeds = Some(format!("[ -n \"${new}\" ]"));
        }
        Filter::Field { number, delimiter } => {
            let delimiter = match delimiter {
                ' ' => "\\ ".to_owned(),
                plain => plain.to_string(),
            };
            fast.tests.push(format!("{new}={of}"));
            for _ in 1..number {
                fast.tests.push(format!(
                    "case ${new} in *{delimiter}*) ;; *) false ;; esac && {new}=${{{new}#*{delimiter}}}"
                ));
            }
            fast.tests.push(format!("{new}=${{{new}%%{delimiter}*}}"));
        }
        Filter::Word => {
            fast.tests.push(format!("{new}={of}"));
            fast.tests
                .push(format!("case ${new} in [\\ \\\t]*) false ;; esac"));
            fast.tests.push(format!("{new}=${{{new}%%[\\ \\\t]*}}"));
        }
    }
    fast.value = format!("${{{new}}}");
}

/// A command alone.
fn single(script: &Script<'_>, simple: &Simple, names: &mut Names) -> Option<Fast> {
    if !simple.redirections.is_empty() {
        return None;
    }
    let Plain { name, operands, .. } = plain(script, simple)?;
    let text = |n: usize| operands.get(n).and_then(Word::text);
    let parameter = |n: usize| match &operands.get(n)?.only()?.what {
        What::Parameter(name) if is_kept(name) && stays_one(script, &operands[n]) => {
            Some(name.clone())
        }
        _ => None,
    };
    match (name.as_str(), operands.len()) {
        ("expr", 3) if text(0).as_deref() == Some("match") => matched(script, operands, names),
        ("expr", 3 | 5) => sum(script, operands),
        ("basename", 1 | 2) => {
            let of = parameter(0)?;
            let new = names.next();
            let mut tests = vec![
                format!("case ${{{of}-}} in ''|-*|*/|*[!{PLAIN}]*) false ;; esac"),
                format!("{new}=${{{of}##*/}}"),
            ];
            if operands.len() == 2 {
                let suffix = text(1)?;
                let plain = |c: char| c.is_ascii_alphanumeric() || "._".contains(c);
                if suffix.is_empty() || !suffix.chars().all(plain) {
                    return None;
                }
                tests.push(format!("[ \"${new}\" != {suffix} ]"));
                tests.push(format!("{new}=${{{new}%{suffix}}}"));
            }
            Some(Fast {
                tests,
                value: format!("${{{new}}}"),
                ..Fast::default()
            })
        }
        ("dirname", 1) => {
            let of = parameter(0)?;
            let new = names.next();
            Some(Fast {
                tests: vec![
                    format!(
                        "case ${{{of}-}} in -*|*/|*//*|*[!{PLAIN}]*) false ;; ?*/*) ;; *) false ;; \
                         esac"
                    ),
                    format!("{new}=${{{of}%/*}}"),
                ],
                value: format!("${{{new}}}"),
                ..Fast::default()
            })
        }
        ("uname", 1) | ("hostname", 0) => {
            let file = match text(0).as_deref() {
                Some("-r") => "osrelease",
                Some("-s") => "ostype",
                Some("-n") | None => "hostname",
                _ => return None,
            };
            let (file, new) = (format!("/proc/sys/kernel/{file}"), names.next());
            Some(Fast {
                tests: vec![
                    format!("[ -r {file} ]"),
                    format!("IFS= read -r {new} <{file}"),
                    format!("[ -n \"${new}\" ]"),
                ],
                value: format!("${{{new}}}"),
                ..Fast::default()
            })
        }
        ("seq", 1 | 2) => {
            let number = |n| text(n)?.parse::<u32>().ok();
            let (from, to) = match operands.len() {
                1 => (1, number(0)?),
                _ => (number(0)?, number(1)?),
            };
            if from > to || to - from >= 64 {
                return None;
            }
            let new = names.next();
            let all: Vec<String> = (from..=to).map(|n| n.to_string()).collect();
            Some(Fast {
                tests: vec![format!("{new}='{}'", all.join(" "))],
                value: format!("${{{new}}}"),
                parted: true,
                ..Fast::default()
            })
        }
        _ => None,
    }
}

/// `expr match STRING '.*TEXT.*'`: the string's length, or 0.
fn matched(script: &Script<'_>, operands: &[Word], names: &mut Names) -> Option<Fast> {
    let pattern = operands[2].text()?;
    let text = pattern.strip_prefix(".*")?.strip_suffix(".*")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_/:,=@% ".contains(c);
    if text.is_empty() || !text.chars().all(plain) {
        return None;
    }
    let piece = operands[1].only().filter(|piece| piece.quoted)?;
    let mut fast = match &piece.what {
        What::Output(list) => output(script, list, names)?,
        What::Parameter(name) if is_kept(name) => Fast {
            tests: vec![format!("[ \"${{{name}-}}\" ]")],
            value: format!("${{{name}}}"),
            ..Fast::default()
        },
        _ => return None,
    };
    let (of, new) = (fast.value, names.next());
    // A character is a byte, and expr does not take it for an operator.
    fast.tests.push(format!(
        "case {of} in ''|-*|*[!\\ {PLAIN}]*) false ;; [A-Za-z0-9]*\\ *) ;; *) false ;; esac"
    ));
    fast.tests.push(format!("{new}={of}"));
    let text = text.replace(' ', "\\ ");
    fast.tests.push(format!(
        "case ${new} in *{text}*) {new}=${{#{new}}} ;; *) {new}=0 ;; esac"
    ));
    fast.value = format!("${{{new}}}");
    fast.succeeds = Some(format!("[ \"${new}\" != 0 ]"));
    Some(fast)
}

/// `expr A + B \* C` and its like, of numbers that are no octal ones.
fn sum(script: &Script<'_>, operands: &[Word]) -> Option<Fast> {
    let operators = operands.iter().skip(1).step_by(2).map(Word::text);
    let operators: Vec<String> = operators.collect::<Option<_>>()?;
    let known = |operator: &String| ["+", "-", "*", "/", "%"].contains(&operator.as_str());
    if operands.len().is_multiple_of(2) || operators.is_empty() || !operators.iter().all(known) {
        return None;
    }
    // What 32 bits hold.
    let products = operators.iter().filter(|operator| *operator == "*").count();
    let long = match products {
        0 => "?????????",
        1 => "?????",
        _ => "????",
    };
    let mut tests = Vec::new();
    let mut number = |word: &Word| match &word.only()?.what {
        What::Parameter(name) if is_kept(name) && stays_one(script, word) => {
            tests.push(format!(
                "case ${{{name}-}} in ''|*[!0-9]*|0?*|{long}*) false ;; esac"
            ));
            Some(format!("${{{name}}}"))
        }
        What::Text(text) => {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            let plain =
                digits && text.len() < long.len() && (text == "0" || !text.starts_with('0'));
            plain.then(|| text.clone())
        }
        _ => None,
    };
    let numbers = operands.iter().step_by(2).map(&mut number);
    let numbers: Vec<String> = numbers.collect::<Option<_>>()?;
    let (first, rest) = numbers.split_first()?;
    let mut value = first.clone();
    for (operator, number) in operators.iter().zip(rest) {
        let is_divisor = matches!(operator.as_str(), "/" | "%");
        if is_divisor && !number.starts_with(|c| matches!(c, '1'..='9')) {
            return None;
        }
        value += &format!(" {operator} {number}");
    }
    let value = format!("$(({value}))");
    Some(Fast {
        tests,
        succeeds: Some(format!("[ {value} != 0 ]")),
        value,
        ..Fast::default()
    })
}
