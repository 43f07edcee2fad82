//! Reads the shell language of POSIX, and nothing else: what only bash understands, or what is
//! not understood here, makes the whole script unread. Time and depth are bounded, as scripts
//! come from anybody's image.

use super::syntax::{Command, List, Pipeline, Redirection, Simple, What, Word};

/// Deeper scripts are not read.
const DEEPEST: usize = 48;
const RESERVED: [&str; 16] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "{",
    "}", "!", "in",
];

/// Why a script is not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unread {
    pub(super) at: usize,
    pub(super) why: &'static str,
}

pub(super) type Read<T> = Result<T, Unread>;

pub(super) fn read(text: &str) -> Read<List> {
    let mut reader = Reader {
        text,
        at: 0,
        end: text.len(),
        depth: 0,
        documents: Vec::new(),
    };
    let list = reader.list(&[])?;
    match reader.at == reader.end {
        true => Ok(list),
        false => Err(reader.fail("a word that ends nothing here")),
    }
}

pub(super) struct Reader<'s> {
    pub(super) text: &'s str,
    pub(super) at: usize,
    pub(super) end: usize,
    depth: usize,
    /// Here-documents whose lines come after this one: the word that ends each, and whether
    /// tabs before it do not count.
    pub(super) documents: Vec<(String, bool)>,
}

impl<'s> Reader<'s> {
    pub(super) fn fail(&self, why: &'static str) -> Unread {
        Unread { at: self.at, why }
    }

    pub(super) fn byte(&self, ahead: usize) -> u8 {
        let at = self.at + ahead;
        match at < self.end {
            true => self.text.as_bytes()[at],
            false => 0,
        }
    }

    fn is(&self, text: &str) -> bool {
        let rest = &self.text.as_bytes()[self.at..self.end];
        rest.starts_with(text.as_bytes())
    }

    fn eat(&mut self, text: &str) -> bool {
        let is = self.is(text);
        if is {
            self.at += text.len();
        }
        is
    }

    pub(super) fn expect(&mut self, text: &str, why: &'static str) -> Read<()> {
        match self.eat(text) {
            true => Ok(()),
            false => Err(self.fail(why)),
        }
    }

    /// Over blanks, comments and lines that go on.
    fn blanks(&mut self) {
        loop {
            match self.byte(0) {
                b' ' | b'\t' => self.at += 1,
                b'\\' if self.byte(1) == b'\n' => self.at += 2,
                b'#' => {
                    while self.at < self.end && self.byte(0) != b'\n' {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// The end of a line, and the here-documents behind it.
    fn newline(&mut self) -> Read<()> {
        self.at += 1;
        for (word, tabs) in std::mem::take(&mut self.documents) {
            loop {
                if self.at >= self.end {
                    return Err(self.fail("a here-document does not end"));
                }
                let rest = &self.text[self.at..self.end];
                let line = rest.split('\n').next().unwrap_or_default();
                self.at = (self.at + line.len() + 1).min(self.end);
                let line = if tabs {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                if line == word {
                    break;
                }
            }
        }
        Ok(())
    }

    fn newlines(&mut self) -> Read<()> {
        self.blanks();
        while self.byte(0) == b'\n' {
            self.newline()?;
            self.blanks();
        }
        Ok(())
    }

    /// The word that begins here, if it has no quotes or expansions and stands alone.
    fn peek(&self) -> &'s str {
        let rest = &self.text[self.at..self.end];
        let ends = |c: char| " \t\n;&|<>()".contains(c);
        let word = rest.split(ends).next().unwrap_or_default();
        match word.contains(['\\', '\'', '"', '$', '`']) {
            true => "",
            false => word,
        }
    }

    fn reserved(&mut self, word: &str) -> Read<()> {
        match self.peek() == word {
            true => {
                self.at += word.len();
                Ok(())
            }
            false => Err(self.fail("a compound command that does not go on as it should")),
        }
    }

    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fail("too deep"));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Up to one of these words, which stays, or what cannot begin a command.
    pub(super) fn list(&mut self, until: &[&str]) -> Read<List> {
        self.deeper(|reader| reader.list_inside(until))
    }

    fn list_inside(&mut self, until: &[&str]) -> Read<List> {
        let mut list = List::default();
        loop {
            self.newlines()?;
            let over = self.at >= self.end || self.is(")") || self.is(";;");
            if over || until.contains(&self.peek()) {
                return Ok(list);
            }
            self.pipeline(&mut list)?;
            self.blanks();
            while self.is("&&") || self.is("||") {
                list.joined = true;
                self.at += 2;
                self.newlines()?;
                self.pipeline(&mut list)?;
                self.blanks();
            }
            match self.byte(0) {
                b';' if self.byte(1) != b';' => self.at += 1,
                b'&' if self.byte(1) == b'>' => return Err(self.fail("&> of bash")),
                b'&' => {
                    list.joined = true;
                    self.at += 1;
                }
                b'\n' | b';' | b')' => {}
                _ if self.at >= self.end => {}
                _ => return Err(self.fail("a command that does not end")),
            }
        }
    }

    fn pipeline(&mut self, list: &mut List) -> Read<()> {
        let negated = self.peek() == "!";
        if negated {
            self.at += 1;
            self.blanks();
        }
        let start = self.at;
        let mut commands = vec![self.command()?];
        let mut end = self.at;
        loop {
            self.blanks();
            if !self.is("|") || self.is("||") {
                break;
            }
            if self.is("|&") {
                return Err(self.fail("|& of bash"));
            }
            self.at += 1;
            self.newlines()?;
            commands.push(self.command()?);
            end = self.at;
        }
        // Blanks behind it are not a part of it.
        let end = self.text[..end].trim_end_matches([' ', '\t']).len();
        list.pipelines.push(Pipeline {
            range: start..end,
            negated,
            commands,
        });
        Ok(())
    }

    fn command(&mut self) -> Read<Command> {
        self.deeper(Self::command_inside)
    }

    fn command_inside(&mut self) -> Read<Command> {
        let start = self.at;
        if self.is("((") {
            return Err(self.fail("(( of bash"));
        }
        if self.eat("(") {
            let body = self.list(&[])?;
            self.expect(")", "a ( that is not closed")?;
            return self.compound(vec![body]);
        }
        match self.peek() {
            "{" => {
                self.at += 1;
                let body = self.list(&["}"])?;
                self.reserved("}")?;
                self.compound(vec![body])
            }
            "if" => self.condition(),
            word @ ("while" | "until") => {
                self.at += word.len();
                let head = self.list(&["do"])?;
                let body = self.body()?;
                self.compound(vec![head, body])
            }
            "for" => self.every(start),
            "case" => self.cases(start),
            "[[" | "function" | "select" | "coproc" | "time" => Err(self.fail("a word of bash")),
            word if RESERVED.contains(&word) => Err(self.fail("a word that is out of place")),
            word if is_name(word) && self.is_function(word) => {
                self.at += word.len();
                self.blanks();
                self.at += 1;
                self.blanks();
                self.expect(")", "a function's ( that is not closed")?;
                self.newlines()?;
                let body = self.command()?;
                match body {
                    Command::Simple(_) => Err(self.fail("a function whose body has no braces")),
                    body => Ok(body),
                }
            }
            _ => self.simple(),
        }
    }

    fn is_function(&self, name: &str) -> bool {
        let rest = &self.text[self.at + name.len()..self.end];
        rest.trim_start_matches([' ', '\t']).starts_with('(')
    }

    fn condition(&mut self) -> Read<Command> {
        self.reserved("if")?;
        let mut bodies = Vec::new();
        loop {
            bodies.push(self.list(&["then"])?);
            self.reserved("then")?;
            bodies.push(self.list(&["elif", "else", "fi"])?);
            match self.peek() {
                "elif" => self.at += 4,
                "else" => {
                    self.at += 4;
                    bodies.push(self.list(&["fi"])?);
                    self.reserved("fi")?;
                    return self.compound(bodies);
                }
                _ => {
                    self.reserved("fi")?;
                    return self.compound(bodies);
                }
            }
        }
    }

    fn body(&mut self) -> Read<List> {
        self.newlines()?;
        self.reserved("do")?;
        let body = self.list(&["done"])?;
        self.reserved("done")?;
        Ok(body)
    }

    fn every(&mut self, start: usize) -> Read<Command> {
        self.reserved("for")?;
        self.blanks();
        let name = self.peek();
        if !is_name(name) {
            return Err(self.fail("for without a name"));
        }
        self.at += name.len();
        self.newlines()?;
        let mut words = Vec::new();
        if self.peek() == "in" {
            self.at += 2;
            self.blanks();
            while self.begins_word() {
                words.push(self.word()?);
                self.blanks();
            }
        }
        if self.is(";") && !self.is(";;") {
            self.at += 1;
        }
        let bodies = vec![self.body()?];
        self.redirections(&mut Vec::new())?;
        let range = start..self.at;
        Ok(Command::Head {
            range,
            words,
            bodies,
        })
    }

    fn cases(&mut self, start: usize) -> Read<Command> {
        self.reserved("case")?;
        self.blanks();
        let word = self.word()?;
        self.newlines()?;
        self.reserved("in")?;
        let mut bodies = Vec::new();
        loop {
            self.newlines()?;
            if self.peek() == "esac" {
                break;
            }
            if self.eat("(") {
                self.blanks();
            }
            loop {
                self.word()?;
                self.blanks();
                if !self.eat("|") {
                    break;
                }
                self.blanks();
            }
            self.expect(")", "a pattern of case that does not end")?;
            bodies.push(self.list(&["esac"])?);
            if !self.eat(";;") {
                break;
            }
            if self.is("&") {
                return Err(self.fail(";;& of bash"));
            }
        }
        self.newlines()?;
        self.reserved("esac")?;
        self.redirections(&mut Vec::new())?;
        Ok(Command::Head {
            range: start..self.at,
            words: vec![word],
            bodies,
        })
    }

    fn compound(&mut self, bodies: Vec<List>) -> Read<Command> {
        self.redirections(&mut Vec::new())?;
        Ok(Command::Compound { bodies })
    }

    /// Those that follow, and not the blanks behind the last.
    fn redirections(&mut self, all: &mut Vec<Redirection>) -> Read<()> {
        loop {
            let before = self.at;
            self.blanks();
            if !self.redirection(all)? {
                self.at = before;
                return Ok(());
            }
        }
    }

    /// One, if there is one.
    fn redirection(&mut self, all: &mut Vec<Redirection>) -> Read<bool> {
        let start = self.at;
        let mut ahead = 0;
        while self.byte(ahead).is_ascii_digit() {
            ahead += 1;
        }
        if !matches!(self.byte(ahead), b'<' | b'>') {
            return Ok(false);
        }
        self.at += ahead;
        let operators = ["<<-", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">"];
        let Some(operator) = operators.iter().find(|operator| self.is(operator)) else {
            return Ok(false);
        };
        self.at += operator.len();
        if self.is("<") || self.is("(") {
            return Err(self.fail("a redirection of bash"));
        }
        self.blanks();
        if !self.begins_word() {
            return Err(self.fail("a redirection to nothing"));
        }
        let to = self.word()?;
        if operator.starts_with("<<") {
            let word = to.pieces.iter().map(|piece| match &piece.what {
                What::Text(text) => Some(text.as_str()),
                _ => None,
            });
            let word: Option<String> = word.collect();
            let word = word.ok_or_else(|| self.fail("a here-document's odd end"))?;
            self.documents.push((word, *operator == "<<-"));
        }
        all.push(Redirection {
            operator: self.text[start..start + ahead + operator.len()].to_owned(),
            to,
        });
        Ok(true)
    }

    fn simple(&mut self) -> Read<Command> {
        let start = self.at;
        let mut simple = Simple::default();
        loop {
            let before = self.at;
            self.blanks();
            if self.redirection(&mut simple.redirections)? {
                continue;
            }
            if !self.begins_word() {
                self.at = before;
                break;
            }
            let name = self.peek_assigned();
            let mut word = self.word()?;
            match name {
                Some(name) if simple.words.is_empty() => {
                    drop_text(&mut word, name + 1);
                    simple.assigned.push(word);
                }
                _ => simple.words.push(word),
            }
            if self.is("(") {
                return Err(self.fail("a ( behind a word"));
            }
        }
        if self.at == start {
            return Err(self.fail("no command where one should be"));
        }
        simple.range = start..self.at;
        Ok(Command::Simple(simple))
    }

    /// The length of the name that `NAME=` here gives a value.
    fn peek_assigned(&self) -> Option<usize> {
        let rest = &self.text[self.at..self.end];
        let ends = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let name = rest.split(ends).next()?;
        (is_name(name) && rest[name.len()..].starts_with('=')).then_some(name.len())
    }

    pub(super) fn begins_word(&self) -> bool {
        self.at < self.end && !b"\n;&|<>()\0".contains(&self.byte(0))
    }
}

/// Takes `NAME=` away from an assignment.
fn drop_text(word: &mut Word, bytes: usize) {
    word.range.start += bytes;
    let Some(first) = word.pieces.first_mut() else {
        return;
    };
    first.range.start += bytes;
    if let What::Text(text) = &mut first.what {
        text.drain(..bytes);
        if text.is_empty() {
            word.pieces.remove(0);
        }
    }
}

/// Whether it can name a variable.
pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let first = bytes.next();
    first.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
