//! A line of a file, or a word, through `grep`, `cut` and `awk`.

use super::fast::{Fast, Names, PLAIN, Script, is_kept, path, stays_one};
use super::syntax::{Simple, What, Word};

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

/// A command without assignments that no function stands for.
pub(super) struct Plain<'s> {
    pub(super) name: String,
    pub(super) operands: &'s [Word],
    /// The file that it has as its input.
    input: Option<&'s Word>,
    /// What it writes goes nowhere.
    quiet: bool,
}

pub(super) fn plain<'s>(script: &Script<'_>, simple: &'s Simple) -> Option<Plain<'s>> {
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
