//! The plan that `bootlap-agent rc` carries out: `agent/src/rc/plan.h` says what it
//! looks like, and both sides' tests read one file.

use std::fmt::Write;

/// Most scripts that the agent has room for.
pub const MAX_SCRIPTS: usize = 512;
const MAX_EDGES: usize = 16_384;
/// Most bytes of a script's name.
pub const MAX_NAME: usize = 127;
const MAX_DIR: usize = 511;
const MAX_BYTES: usize = 256 * 1024;

/// What starts, in order: each after all that it waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The folder on the target.
    pub dir: String,
    /// The scripts.
    pub scripts: Vec<Planned>,
}

/// A script of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Its file's name.
    pub name: String,
    /// Nothing runs beside it.
    pub alone: bool,
    /// The places of those that it waits for, all above its own.
    pub after: Vec<usize>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A number or a name is beyond what the agent takes.
    #[error("{0}")]
    TooMuch(String),
    /// The bytes are no plan.
    #[error("line {line} of the plan: {why}")]
    NoPlan {
        /// The line, from 1 on.
        line: usize,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Plan {
    /// The file's text.
    ///
    /// # Errors
    /// If the agent could not read it: too many scripts, a name with a blank.
    pub fn to_text(&self) -> Result<String, PlanError> {
        let too_much = |why: String| Err(PlanError::TooMuch(why));
        let edges: usize = self.scripts.iter().map(|s| s.after.len()).sum();
        if self.scripts.len() > MAX_SCRIPTS || edges > MAX_EDGES {
            return too_much(format!(
                "{} scripts that wait {edges} times: bootlap-agent takes {MAX_SCRIPTS} and {MAX_EDGES}",
                self.scripts.len()
            ));
        }
        if !is_dir(&self.dir) {
            return too_much(format!("{:?} is no folder that a plan can name", self.dir));
        }
        let mut text = format!("bootlap-rc 1\ndir {}\n", self.dir);
        for (at, script) in self.scripts.iter().enumerate() {
            if !is_name(&script.name) || script.after.iter().any(|before| *before >= at) {
                return too_much(format!("{:?} cannot be in a plan here", script.name));
            }
            let _ = write!(text, "script {}", script.name);
            text.push_str(if script.alone { " alone" } else { "" });
            text.push_str(if script.after.is_empty() {
                ""
            } else {
                " after"
            });
            for before in &script.after {
                let _ = write!(text, " {before}");
            }
            text.push('\n');
        }
        let crc = crc32fast::hash(text.as_bytes());
        let _ = writeln!(text, "end {} {crc:08x}", self.scripts.len());
        match text.len() < MAX_BYTES {
            true => Ok(text),
            false => too_much(format!("the plan is longer than {MAX_BYTES} bytes")),
        }
    }

    /// Reads what [`Plan::to_text`] wrote.
    ///
    /// # Errors
    /// Says which line is not what it should be.
    pub fn parse(bytes: &[u8]) -> Result<Self, PlanError> {
        let no_plan = |line, why| PlanError::NoPlan { line, why };
        let text = std::str::from_utf8(bytes).map_err(|_| no_plan(1, "it is no text"))?;
        let body = text
            .strip_suffix('\n')
            .ok_or(no_plan(1, "its end is missing"))?;
        let (body, end) = body
            .rsplit_once('\n')
            .ok_or(no_plan(1, "it is too short"))?;
        let mut lines = body.split('\n');
        if lines.next() != Some("bootlap-rc 1") {
            return Err(no_plan(1, "it is no plan that this version knows"));
        }
        let dir = lines.next().and_then(|line| line.strip_prefix("dir "));
        let dir = dir.filter(|dir| is_dir(dir));
        let mut plan = Plan {
            dir: dir.ok_or(no_plan(2, "it names no folder"))?.to_owned(),
            scripts: Vec::new(),
        };
        for (at, line) in lines.enumerate() {
            let script = planned(line, at).ok_or(no_plan(at + 3, "it is damaged"))?;
            plan.scripts.push(script);
        }
        let crc = crc32fast::hash(format!("{body}\n").as_bytes());
        match end == format!("end {} {crc:08x}", plan.scripts.len()) {
            true => Ok(plan),
            false => Err(no_plan(plan.scripts.len() + 3, "the checksum differs")),
        }
    }
}

/// The script in a line, the `at`th one.
fn planned(line: &str, at: usize) -> Option<Planned> {
    let mut words = line.strip_prefix("script ")?.split(' ').peekable();
    let name = words.next().filter(|name| is_name(name))?.to_owned();
    let alone = words.next_if_eq(&"alone").is_some();
    let mut after = Vec::new();
    if let Some(word) = words.next() {
        words.peek().filter(|_| word == "after")?;
        for word in words {
            let is_number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
            let before: usize = word.parse().ok().filter(|_| is_number)?;
            (before < at).then(|| after.push(before))?;
        }
    }
    (at < MAX_SCRIPTS).then_some(Planned { name, alone, after })
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| !c.is_control() && c != ' ' && c != '/';
    !name.is_empty() && !name.starts_with('.') && name.len() <= MAX_NAME && name.chars().all(plain)
}

fn is_dir(dir: &str) -> bool {
    dir.starts_with('/') && dir.len() <= MAX_DIR && !dir.contains(|c: char| c.is_control())
}
