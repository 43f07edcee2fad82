//! What programs do with files: how often they open, read and look for each.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use bootlap_model::{Axis, Evidence, FileUse, Sym, Timeline};
use schemars::JsonSchema;
use serde::Serialize;

/// What all programs did with files, as far as the evidence has their system calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Accesses {
    /// Files, those with most calls first.
    pub files: Vec<FileAccess>,
    /// What was looked for in several folders before it was found, or in vain, but for what
    /// the kernel shows (`/proc`, `/sys`, `/dev`); the most calls first.
    pub searches: Vec<Search>,
}

/// What was done with one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileAccess {
    /// Its path, as far as the evidence knows it.
    pub file: String,
    /// Calls in all: the five counts below.
    pub calls: u64,
    /// How often it was opened.
    pub opens: u64,
    /// How often it was opened, looked at or executed, and was not there.
    pub missing: u64,
    /// How often its name was looked at, and it was there.
    pub looks: u64,
    /// Calls that read it, or listed it if it is a folder.
    pub reads: u64,
    /// Bytes that these gave.
    pub read_bytes: u64,
    /// How often it was mapped into memory.
    pub maps: u64,
    /// How long these calls took, ns, as far as the evidence says.
    pub took_ns: u64,
    /// When the first of them began, on the boot's reference clock; null if unknown.
    pub first_ns: Option<i64>,
    /// How many processes that were.
    pub processes: u64,
    /// What these ran, the most calls first.
    pub programs: Vec<String>,
    /// Where the first of these calls was read.
    #[serde(skip)]
    pub evidence: Evidence,
}

/// Files of one name that a program looked for in folders where they are not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Search {
    /// Who looked.
    pub program: String,
    /// The name, without its folder.
    pub name: String,
    /// How many calls found nothing.
    pub missing: u64,
    /// In how many folders these looked.
    pub places: u64,
    /// Where it was found by the same program; null if nowhere.
    pub found: Option<String>,
    /// Where the first of these calls was read.
    #[serde(skip)]
    pub evidence: Evidence,
}

/// Whether this is no file of a disk, but what the kernel shows.
pub fn is_of_kernel(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("") && matches!(parts.next(), Some("proc" | "sys" | "dev"))
}

/// What was done with which file.
pub fn accesses(timeline: &Timeline) -> Accesses {
    let uses = counted(timeline);
    Accesses {
        files: files(timeline, &uses),
        searches: searches(timeline, &uses),
    }
}

/// The rows that tell most: two recordings of the same boot have the same calls.
fn counted(timeline: &Timeline) -> Vec<&FileUse> {
    let source = |row: &FileUse| &*timeline.file(row.evidence.file).source;
    let mut calls: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &timeline.file_uses {
        *calls.entry(source(row)).or_default() += row.calls();
    }
    let most = calls.iter().max_by_key(|(_, calls)| **calls);
    let Some((&most, _)) = most else {
        return Vec::new();
    };
    let rows = timeline.file_uses.iter();
    rows.filter(|row| source(row) == most).collect()
}

fn files(timeline: &Timeline, uses: &[&FileUse]) -> Vec<FileAccess> {
    let axis = Axis::of(timeline);
    let mut of: BTreeMap<Sym, Vec<&FileUse>> = BTreeMap::new();
    for row in uses {
        of.entry(row.path).or_default().push(row);
    }
    let mut files: Vec<FileAccess> = of
        .into_values()
        .map(|rows| {
            let sum = |of: &dyn Fn(&FileUse) -> u64| rows.iter().map(|row| of(row)).sum();
            let mut programs: BTreeMap<Sym, u64> = BTreeMap::new();
            for row in &rows {
                *programs.entry(row.program).or_default() += row.calls();
            }
            let mut programs: Vec<(Sym, u64)> = programs.into_iter().collect();
            programs.sort_by_key(|(program, calls)| (Reverse(*calls), timeline.text(*program)));
            let first = rows
                .iter()
                .filter_map(|row| Some(axis.at(row.clock, row.first)?.ns))
                .min();
            FileAccess {
                file: timeline.text(rows[0].path).to_owned(),
                calls: sum(&FileUse::calls),
                opens: sum(&|row| row.opens.into()),
                missing: sum(&|row| row.missing.into()),
                looks: sum(&|row| row.looks.into()),
                reads: sum(&|row| row.reads.into()),
                read_bytes: sum(&|row| row.bytes),
                maps: sum(&|row| row.maps.into()),
                took_ns: sum(&|row| row.took_ns),
                first_ns: first,
                processes: rows
                    .iter()
                    .map(|row| row.pid)
                    .collect::<BTreeSet<_>>()
                    .len() as u64,
                programs: programs
                    .iter()
                    .map(|(program, _)| timeline.text(*program).to_owned())
                    .collect(),
                evidence: rows[0].evidence,
            }
        })
        .collect();
    files.sort_by(|a, b| (b.calls, &a.file).cmp(&(a.calls, &b.file)));
    files
}

fn searches(timeline: &Timeline, uses: &[&FileUse]) -> Vec<Search> {
    let name = |row: &FileUse| {
        let path = timeline.text(row.path);
        path.rsplit('/').next().unwrap_or(path)
    };
    let mut of: BTreeMap<(&str, &str), Vec<&FileUse>> = BTreeMap::new();
    // What the kernel shows has the same names in hundreds of folders.
    let is_file = |row: &&&FileUse| !is_of_kernel(timeline.text(row.path));
    for row in uses.iter().filter(is_file) {
        let key = (timeline.text(row.program), name(row));
        of.entry(key).or_default().push(row);
    }
    let mut found: Vec<Search> = of
        .into_iter()
        .filter_map(|((program, name), rows)| {
            let there = |row: &&&FileUse| row.calls() > u64::from(row.missing);
            let places: BTreeSet<Sym> = rows
                .iter()
                .filter(|row| row.missing > 0)
                .map(|row| row.path)
                .collect();
            // One look that found nothing is a question, not a search.
            (places.len() > 1).then(|| Search {
                program: program.to_owned(),
                name: name.to_owned(),
                missing: rows.iter().map(|row| u64::from(row.missing)).sum(),
                places: places.len() as u64,
                found: rows
                    .iter()
                    .find(there)
                    .map(|row| timeline.text(row.path).to_owned()),
                evidence: rows[0].evidence,
            })
        })
        .collect();
    found.sort_by_key(|search| Reverse(search.missing));
    found
}
