//! What `$(…)` is: the end of a chain, or what `expr`, `basename` and their like give.

use super::chain::{Plain, chain, plain};
use super::fast::{Fast, Names, PLAIN, Script, is_kept, stays_one};
use super::syntax::{Command, List, Simple, What, Word};

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
