//! `bootlap doctor`: what of this machine bootlap can use.

use schemars::JsonSchema;
use serde::Serialize;

use crate::terminal::{Ink, Line, MARGIN, Page, Style};

/// What `doctor --json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DoctorJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// What was looked at, in groups.
    pub checks: Vec<CheckedJson>,
    /// The one command that installs all that is missing; `null` if nothing is.
    pub mend: Option<String>,
}

/// Something that was looked at.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedJson {
    /// With what it belongs: `boots`, `tools`, `files`, `time`.
    pub group: String,
    /// What it is.
    pub name: String,
    /// How it is.
    pub state: CheckState,
    /// What was found, or what does not work without it.
    pub found: String,
    /// The Debian package that has it, where it is missing.
    pub package: Option<String>,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// As it should be.
    Ok,
    /// Not there; what needs it does not work.
    Missing,
    /// There, and of no use as it is.
    Broken,
}

impl DoctorJson {
    /// Whether no boot can be made here.
    pub fn is_ill(&self) -> bool {
        let any = |group, state| {
            let mut checks = self.checks.iter();
            checks.any(|c| c.group == group && c.state == state)
        };
        !any("boots", CheckState::Ok) || any("files", CheckState::Broken)
    }
}

/// What `doctor --json` prints.
///
/// # Errors
/// None for any document.
pub fn json(document: &DoctorJson) -> Result<String, serde_json::Error> {
    crate::json::line(document)
}

/// The same for people.
pub fn text(document: &DoctorJson, style: &Style) -> String {
    let mut page = Page::new(style);
    let widest = document.checks.iter().map(|c| c.name.chars().count()).max();
    let widest = widest.unwrap_or(0);
    let mut group = "";
    for check in &document.checks {
        if check.group != group {
            group = &check.group;
            page.heading(group);
        }
        let (mark, ink) = match check.state {
            CheckState::Ok => ("ok     ", Ink::Good),
            CheckState::Missing => ("missing", Ink::Faint),
            CheckState::Broken => ("broken ", Ink::Bad),
        };
        let name = format!("  {:widest$}  ", check.name);
        let line = Line::indented(MARGIN)
            .with(mark, ink)
            .with(&name, Ink::Plain);
        page.wrapped(line, &check.found, Ink::Plain);
    }
    page.blank();
    match &document.mend {
        Some(command) => {
            page.wrapped(
                Line::indented(MARGIN),
                "what is missing comes with",
                Ink::Plain,
            );
            page.wrapped(Line::indented(MARGIN + 2), command, Ink::Command);
        }
        None => page.wrapped(Line::indented(MARGIN), "nothing is missing", Ink::Plain),
    }
    page.finish()
}
