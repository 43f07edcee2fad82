//! What is left of a recipe's list: `reduce`.

use bootlap_analysis::Trial;
use schemars::JsonSchema;
use serde::Serialize;

use crate::json::{FORMAT, line};
use crate::terminal::{Ink, Line, MARGIN, Page, Style};
use crate::trials::{self, TrialJson};

/// As many members are shown; the file and the document have all.
const MOST_SHOWN: usize = 12;

/// What the members of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// What stays.
    Stays,
    /// What is changed.
    Changes,
    /// What has to be named for a change to help.
    Needed,
}

impl Says {
    fn name(self) -> &'static str {
        match self {
            Self::Stays => "stays",
            Self::Changes => "changes",
            Self::Needed => "needed",
        }
    }
}

/// What a search for the smallest list, or the largest, came to.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The target's name.
    pub target: String,
    /// How it was measured: `sim`, `modelled`, `plain` or `board`.
    pub mode: String,
    /// The recipe's name.
    pub recipe: String,
    /// What the list says.
    pub says: Says,
    /// Whether it also had to be ready no later than with less of it.
    pub sooner: bool,
    /// The list that was found.
    pub list: Vec<String>,
    /// What is not in it any more.
    pub left_out: Vec<String>,
    /// How many lists were booted.
    pub tried: usize,
    /// How the target with it differs from the one that the search began with, unless that
    /// is the same.
    pub trial: Option<Trial>,
}

/// The smallest list of what stays, or the largest of what is changed, with which a target
/// gets ready and passes its check: `bootlap reduce --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReducedJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The target's name.
    pub target: String,
    /// How it was measured: `sim`, `modelled`, `plain` or `board`.
    pub mode: String,
    /// The recipe's name.
    pub recipe: String,
    /// What the list says: `stays`, `changes` or `needed`.
    pub says: String,
    /// The list that was found, in its order.
    pub list: Vec<String>,
    /// What is not in it any more. Of a list of what stays, each member of `list` was left
    /// out alone and the target did not get ready; of a list of changes, each of these was
    /// made in addition, and it did not; of what is needed, each member of `list` was left out
    /// alone, and it got ready later or not.
    pub left_out: Vec<String>,
    /// How many lists were booted.
    pub tried: usize,
    /// Before: the whole list, or the target without the recipe. After: with `list`. Null if
    /// these are the same.
    pub trial: Option<TrialJson>,
}

/// What `reduce --json` prints.
///
/// # Errors
/// None for any outcome.
pub fn json(reduced: &Reduced, tool: &str) -> Result<String, serde_json::Error> {
    line(&ReducedJson {
        format: FORMAT,
        tool: tool.to_owned(),
        target: reduced.target.clone(),
        mode: reduced.mode.clone(),
        recipe: reduced.recipe.clone(),
        says: reduced.says.name().to_owned(),
        list: reduced.list.clone(),
        left_out: reduced.left_out.clone(),
        tried: reduced.tried,
        trial: reduced.trial.as_ref().map(trials::trial),
    })
}

/// What is not in the list any more, and what that changes.
pub fn text(reduced: &Reduced, style: &Style) -> String {
    let mut page = Page::new(style);
    let (left, all) = (
        reduced.list.len(),
        reduced.list.len() + reduced.left_out.len(),
    );
    let line = page.subject(&reduced.recipe);
    let tried = reduced.tried;
    let keeps = match reduced.says {
        Says::Changes => "takes",
        Says::Stays | Says::Needed => "needs",
    };
    let found = format!(" {keeps} {left} of {all}, found by booting {tried} lists");
    page.line(line.with(&found, Ink::Plain));
    let indent = Line::indented(MARGIN + 2);
    let why = match (reduced.left_out.is_empty(), reduced.says) {
        (_, Says::Needed) if left == 0 => "It gets ready no sooner with any of them.",
        (_, Says::Needed) => {
            "It gets ready soonest with these; without any one of them it does so later, or not, \
             or fails its check:"
        }
        (false, Says::Changes) if reduced.sooner => {
            "It does not take these: with any one of them as well, it gets ready later, or not, or \
             fails its check:"
        }
        (true, Says::Stays) => "Without any one of them it does not get ready, or fails its check.",
        (true, Says::Changes) => "It gets ready with all of these changes, and passes its check.",
        (false, Says::Stays) => {
            "It gets ready without these, and passes its check; without any one more it does not:"
        }
        (false, Says::Changes) => {
            "It does not take these: with any one of them as well, it does not get ready, or fails \
             its check:"
        }
    };
    page.wrapped(indent, why, Ink::Plain);
    let shown = match reduced.says {
        Says::Needed => &reduced.list,
        Says::Stays | Says::Changes => &reduced.left_out,
    };
    for member in shown.iter().take(MOST_SHOWN) {
        page.line(Line::indented(MARGIN + 4).with(member, Ink::Faint));
    }
    let more = shown.len().saturating_sub(MOST_SHOWN);
    if more > 0 {
        let more = format!("and {more} more (--json has all)");
        page.line(Line::indented(MARGIN + 4).with(&more, Ink::Faint));
    }
    if reduced.says == Says::Stays && !reduced.left_out.is_empty() {
        let implied = "What the rest needs stays without being named.";
        page.wrapped(Line::indented(MARGIN + 2), implied, Ink::Plain);
    }
    let mut text = page.finish();
    if let Some(trial) = &reduced.trial {
        text.push('\n');
        text.push_str(&trials::text(std::slice::from_ref(trial), style));
    }
    text
}
