//! Init scripts that run one after the other in the order of their names: `S40network`.

use std::cmp::Reverse;

use bootlap_model::{Evidence, Milestone};
use bootlap_product::script_number;

use super::checks;
use super::stages::since_kernel;
use crate::{Boot, Finding};

checks! {
    "script-slow-file" => slow_file,
    "script-builtins" => builtins,
}

/// A run that takes less is not worth moving.
const WORTH_MOVING_NS: i64 = 50_000_000;
/// Findings beyond these are not the next thing to do.
const AT_MOST: usize = 8;

/// A script that was named, until the next one was.
struct Ran<'a> {
    name: &'a str,
    at: [i64; 2],
    evidence: Evidence,
}

/// `S40network` in a line that tells of it, with its path in front or not.
fn script(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    // Most lines need not be taken apart.
    let numbered = |pair: &[u8]| pair[0] == b'S' && pair[1].is_ascii_digit();
    if !text.as_bytes().windows(2).any(numbered) {
        return None;
    }
    let mut words = text.split(|c| !is_part(c));
    words.find(|word| script_number(word).is_some())
}

fn ran<'a>(boot: &Boot<'a>) -> Vec<Ran<'a>> {
    let ready = boot.moment(&[Milestone::Ready]).unwrap_or(i64::MAX);
    let mut all: Vec<Ran<'a>> = Vec::new();
    for line in since_kernel(boot).iter() {
        let Some(name) = script(line.text).filter(|_| line.start_ns < ready) else {
            continue;
        };
        if all.last().is_some_and(|last| last.name == name) {
            continue;
        }
        if let Some(last) = all.last_mut() {
            last.at[1] = line.start_ns;
        }
        all.push(Ran {
            name,
            at: [line.start_ns, ready],
            evidence: line.evidence,
        });
    }
    // One name more than once is no order of scripts. The last one is what ready came of.
    let mut names: Vec<&str> = all.iter().map(|ran| ran.name).collect();
    names.sort_unstable();
    let in_order = all.is_sorted_by_key(|ran| ran.name) && names.windows(2).all(|w| w[0] != w[1]);
    match in_order && all.len() > 2 {
        true => {
            all.pop();
            all
        }
        false => Vec::new(),
    }
}

fn slow_file(boot: &Boot<'_>) -> Vec<Finding> {
    let mut slow = ran(boot);
    slow.retain(|ran| ran.at[1] - ran.at[0] >= WORTH_MOVING_NS);
    slow.sort_by_key(|ran| Reverse(ran.at[1] - ran.at[0]));
    let finding = |ran: Ran<'_>| {
        let ns = ran.at[1] - ran.at[0];
        Finding::new()
            .titled(format!("the init script {} is slow", ran.name))
            .why(format!(
                "it takes {} ms, and the next one waits",
                ns / 1_000_000
            ))
            .saves(
                ns,
                "at most: until the next script is named, if it runs after the application",
            )
            .recipe(boot.recipe(&format!("initscripts-defer={}", ran.name)))
            .at(Some(ran.at))
            .seen([ran.evidence])
    };
    slow.into_iter().take(AT_MOST).map(finding).collect()
}

fn builtins(boot: &Boot<'_>) -> Option<Finding> {
    let recipe = boot.recipe("initscripts-builtins");
    let (_, parts) = boot.target().filter(|_| recipe.is_ok())?;
    let (scripts, commands) = parts.spared()?;
    Some(
        Finding::new()
            .why(format!(
                "{commands} commands in {scripts} init scripts start programs for what the shell \
                 can do itself"
            ))
            .saves_unknown("which of them run, and how often, a text does not tell")
            .recipe(recipe),
    )
}
