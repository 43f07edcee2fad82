//! Where in a script the shell can do by itself what it starts programs for, and what stands
//! there then. Each replacement is on the line of what it replaces.

use std::ops::Range;

use super::Beside;
use super::chain::chain;
use super::fast::{Fast, Names, Script, path};
use super::output::output;
use super::syntax::{Command, List, Pipeline, Redirection, Simple, What, Word};

/// A part of the script, and what stands there instead.
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
    /// What was replaced, as people would name it.
    pub(super) old: String,
    /// Processes less; 0 for the parts of an edit that has several.
    pub(super) forks: usize,
}

/// All of a script, in its order.
pub(super) fn edits(text: &str, list: &List, beside: &Beside) -> Vec<Edit> {
    // What the replacements are made of must be the shell's own.
    if ["read", "[", "true", "false"]
        .iter()
        .any(|name| beside.functions.contains(*name))
    {
        return Vec::new();
    }
    let script = Script {
        text,
        taken: &beside.functions,
        odd_parting: beside.odd_parting,
    };
    let mut rules = Rules {
        script,
        names: Names::default(),
        edits: Vec::new(),
    };
    rules.list(list);
    rules
        .edits
        .sort_by_key(|edit| (edit.range.start, edit.range.end));
    rules.edits
}

struct Rules<'s> {
    script: Script<'s>,
    names: Names,
    edits: Vec<Edit>,
}

/// Programs that read their input to its end, whatever it is.
const READERS: [&str; 11] = [
    "grep", "egrep", "fgrep", "sed", "awk", "cut", "tr", "sort", "uniq", "wc", "tail",
];

impl Rules<'_> {
    fn list(&mut self, list: &List) {
        for pipeline in &list.pipelines {
            if let Some(edit) = self.pipeline(pipeline) {
                self.edits.push(edit);
                continue;
            }
            for command in &pipeline.commands {
                self.command(command);
            }
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => match self.simple(simple) {
                Some(edit) => self.edits.push(edit),
                None => self.inside(simple),
            },
            Command::Head {
                range,
                words,
                bodies,
            } => {
                self.head(range, words);
                for body in bodies {
                    self.list(body);
                }
            }
            Command::Compound { bodies } => {
                for body in bodies {
                    self.list(body);
                }
            }
        }
    }

    /// What runs to make the words of a command.
    fn inside(&mut self, simple: &Simple) {
        let redirected = simple.redirections.iter().map(|r| &r.to);
        let words = simple
            .assigned
            .iter()
            .chain(&simple.words)
            .chain(redirected);
        for piece in words.flat_map(|word| &word.pieces) {
            // In backquotes, what a quote or a backslash means depends on what is around them.
            let backquoted = self.script.text[piece.range.start..].starts_with('`');
            if let What::Output(list) = &piece.what
                && !backquoted
            {
                self.list(list);
            }
        }
    }

    /// A command as it stands in the script, if it can stand behind an `else`.
    fn old(&self, range: &Range<usize>) -> Option<&str> {
        let old = &self.script.text[range.clone()];
        (!old.contains("$?") && !old.contains("${?") && !old.contains('\n')).then_some(old)
    }

    /// `if TESTS; then FAST; else OLD; fi`
    fn instead(
        &self,
        range: &Range<usize>,
        tests: &[String],
        fast: &str,
        forks: usize,
    ) -> Option<Edit> {
        let old = self.old(range)?;
        let tests = tests.join(" && ");
        Some(Edit {
            range: range.clone(),
            text: format!("if {tests}; then {fast}; else {old}; fi"),
            old: old.to_owned(),
            forks,
        })
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Option<Edit> {
        let simple = pipeline.commands.iter().map_while(|command| match command {
            Command::Simple(simple) if !has_document(&simple.redirections) => Some(simple),
            _ => None,
        });
        let commands: Vec<&Simple> = simple.collect();
        if commands.len() == pipeline.commands.len()
            && let Some(fast) = chain(&self.script, &commands, &mut self.names)
            && fast.quiet
            && let Some(succeeds) = &fast.succeeds
        {
            let forks = commands.len();
            return self.instead(&pipeline.range, &fast.tests, succeeds, forks);
        }
        self.useless_cat(pipeline, &commands)
    }

    /// `cat FILE | grep …`: the file is the input of what reads it.
    fn useless_cat(&self, pipeline: &Pipeline, commands: &[&Simple]) -> Option<Edit> {
        let [cat, reader, ..] = commands else {
            return None;
        };
        let name = |command: &Simple| command.words.first().and_then(Word::text);
        let (first, second) = (name(cat)?, name(reader)?);
        let plain = cat.redirections.is_empty() && cat.assigned.is_empty();
        let taken = [&first, &second]
            .into_iter()
            .any(|name| self.script.taken.contains(name));
        let redirected = reader.redirections.iter().any(|r| r.operator.contains('<'));
        let [_, file] = &cat.words[..] else {
            return None;
        };
        let reads = READERS.contains(&second.as_str()) && !redirected;
        if first != "cat" || !plain || !reads || taken {
            return None;
        }
        let path = path(&self.script, file)?;
        let mut tests = path.tests;
        let file = path.text;
        tests.push(format!("[ -f {file} ] && [ -r {file} ]"));
        let text = self.script.text;
        let command = &text[reader.range.clone()];
        let rest = &text[reader.range.end..pipeline.range.end];
        self.instead(
            &pipeline.range,
            &tests,
            &format!("{command} <{file}{rest}"),
            1,
        )
    }

    fn simple(&mut self, simple: &Simple) -> Option<Edit> {
        if has_document(&simple.redirections) {
            return None;
        }
        self.needless(simple).or_else(|| self.values(simple))
    }

    /// A command that has nothing to do: what it would make is there, or what it would remove
    /// is not.
    fn needless(&self, simple: &Simple) -> Option<Edit> {
        let (name, operands) = simple.words.split_first()?;
        let name = name.text()?;
        let quiet = simple
            .redirections
            .iter()
            .all(|r| r.operator == "2>" && r.to.text().is_some_and(|to| to == "/dev/null"));
        if self.script.taken.contains(&name) || !quiet || !simple.assigned.is_empty() {
            return None;
        }
        let (first, rest) = operands.split_first()?;
        let option = first.text();
        let mut tests = Vec::new();
        match (name.as_str(), option.as_deref()) {
            ("mkdir", Some("-p")) if !rest.is_empty() => {
                for word in rest {
                    let path = path(&self.script, word)?;
                    tests.extend(path.tests);
                    tests.push(format!("[ -d {} ]", path.text));
                }
            }
            ("rm", Some("-f" | "-rf" | "-fr")) if !rest.is_empty() => {
                for word in rest {
                    tests.extend(self.absent(word)?);
                }
            }
            ("touch", _) if rest.is_empty() => {
                tests.extend(self.absent(first)?);
                let file = &self.script.text[first.range.clone()];
                // Not `:`, at whose failure the shell would end.
                tests.push(format!("{{ true >{file}; }} 2>/dev/null"));
            }
            _ => return None,
        }
        self.instead(&simple.range, &tests, ":", 1)
    }

    /// Tests by which there is nothing at a path, and it could be there.
    fn absent(&self, word: &Word) -> Option<Vec<String>> {
        let path = path(&self.script, word)?;
        let mut tests = path.tests;
        let folder = folder(word)?;
        let text = path.text;
        tests.push(format!(
            "[ -d {folder} ] && [ -x {folder} ] && ! [ -e {text} ] && ! [ -L {text} ]"
        ));
        Some(tests)
    }

    /// A command whose words have the output of others.
    fn values(&mut self, simple: &Simple) -> Option<Edit> {
        let is_pure = |what: &What| !matches!(what, What::Output(_) | What::Other);
        let redirected = simple.redirections.iter().flat_map(|r| &r.to.pieces);
        let first = simple.words.iter().take(1).flat_map(|word| &word.pieces);
        // Without a word, the status is that of the last output.
        if !redirected.chain(first).all(|piece| is_pure(&piece.what)) {
            return None;
        }
        let to_files = simple
            .redirections
            .iter()
            .any(|r| !r.operator.contains('&') && r.to.text().is_none_or(|to| to != "/dev/null"));
        let in_assigned = simple.assigned.iter().flat_map(|word| &word.pieces);
        let in_assigned = in_assigned.into_iter().any(|piece| !is_pure(&piece.what));
        if to_files && in_assigned {
            return None;
        }
        let alone = simple.words.is_empty();
        let mut tests = Vec::new();
        let mut forks = 0;
        let mut new = String::new();
        let mut at = simple.range.start;
        let mut words: Vec<&Word> = simple.assigned.iter().chain(&simple.words).collect();
        words.sort_by_key(|word| word.range.start);
        for piece in words.into_iter().flat_map(|word| &word.pieces) {
            match &piece.what {
                What::Output(list) => {
                    let fast = self.fast(list, piece.quoted)?;
                    tests.extend(fast.tests);
                    tests.extend(fast.succeeds.filter(|_| alone));
                    forks += fast.forks;
                    new.push_str(&self.script.text[at..piece.range.start]);
                    new.push_str(&fast.value);
                    at = piece.range.end;
                }
                What::Other => return None,
                _ => {}
            }
        }
        if forks == 0 {
            return None;
        }
        new.push_str(&self.script.text[at..simple.range.end]);
        // A sum of numbers needs none.
        if tests.is_empty() {
            tests.push("true".to_owned());
        }
        self.instead(&simple.range, &tests, &new, forks)
    }

    fn fast(&mut self, list: &List, quoted: bool) -> Option<Fast> {
        let fast = output(&self.script, list, &mut self.names)?;
        let as_it_is = !fast.parted || !(quoted || self.script.odd_parting);
        as_it_is.then_some(fast)
    }

    /// `for x in $(…)` and `case $(…) in`: the output is got before.
    fn head(&mut self, range: &Range<usize>, words: &[Word]) {
        let text = self.script.text;
        let pieces: Vec<_> = words.iter().flat_map(|word| &word.pieces).collect();
        let of_status = text[range.clone()].contains("$?");
        if of_status || pieces.iter().any(|piece| piece.what == What::Other) {
            return;
        }
        let mut before = String::new();
        let mut inside = Vec::new();
        let (mut forks, mut old) = (0, Vec::new());
        for piece in pieces {
            let What::Output(list) = &piece.what else {
                continue;
            };
            let Some(command) = self.old(&piece.range).map(str::to_owned) else {
                return;
            };
            let Some(fast) = self.fast(list, piece.quoted) else {
                return;
            };
            let name = fast.value.strip_prefix("${");
            let Some(name) = name.and_then(|name| name.strip_suffix('}')) else {
                return;
            };
            let tests = fast.tests.join(" && ");
            before += &format!("if {tests}; then :; else {name}={command} || :; fi; ");
            forks += fast.forks;
            old.push(command);
            inside.push((piece.range.clone(), fast.value.clone()));
        }
        if inside.is_empty() {
            return;
        }
        let edit = |range, text: &str, forks| Edit {
            range,
            text: text.to_owned(),
            old: old.join(" "),
            forks,
        };
        let (start, end) = (range.start, range.end);
        self.edits
            .push(edit(start..start, &format!("{{ {before}"), forks));
        for (range, value) in inside {
            self.edits.push(edit(range, &value, 0));
        }
        self.edits.push(edit(end..end, "; }", 0));
    }
}

/// The folder that a path is in, between double quotes.
fn folder(word: &Word) -> Option<String> {
    let mut all = String::new();
    for piece in &word.pieces {
        match &piece.what {
            What::Text(text) => all.push_str(text),
            What::Parameter(name) => all += &format!("${{{name}}}"),
            _ => return None,
        }
    }
    Some(
        match (all.rsplit_once('/'), word.only().map(|piece| &piece.what)) {
            (_, Some(What::Parameter(name))) => format!("\"${{{name}%/*}}\""),
            // What is behind the last slash may have one.
            (Some((_, name)), _) if name.contains('$') => return None,
            (Some(("", _)), _) => "/".to_owned(),
            (Some((folder, _)), _) => format!("\"{folder}\""),
            (None, _) if all.contains('$') => return None,
            (None, _) => ".".to_owned(),
        },
    )
}

fn has_document(redirections: &[Redirection]) -> bool {
    redirections.iter().any(|r| r.operator.contains("<<"))
}
