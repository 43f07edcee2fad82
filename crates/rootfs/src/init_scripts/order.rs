//! Who waits for whom.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::facility::Facilities;
use super::folder::{Folder, Script};
use super::header::Header;
use crate::did_you_mean;

/// So many requirements that nobody meets are told; each takes a look at all names.
const MOST_MISSING: usize = 16;

/// Why a script waits for another one; the strongest reason first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Its header requires this name.
    Required(String),
    /// The other's header says that it starts before this name.
    Before(String),
    /// Its header would have this name first.
    Should(String),
    /// One of the two has no header, so their numbers count.
    Number,
    /// What starts at level S starts before the rest.
    Boot,
    /// It starts after all others.
    All,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Required(name) => write!(f, "Required-Start: {name}"),
            Why::Before(name) => write!(f, "the other's X-Start-Before: {name}"),
            Why::Should(name) => write!(f, "Should-Start: {name}"),
            Why::Number => write!(f, "by number, as one of them has no header"),
            Why::Boot => write!(f, "level S comes first"),
            Why::All => write!(f, "Required-Start: $all"),
        }
    }
}

/// That a script waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// For which script, by its place in the list.
    pub on: usize,
    /// Why.
    pub why: Why,
}

/// What each script waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// For each script, without what follows from other waits.
    pub waits: Vec<Vec<Wait>>,
    /// What was taken for granted, a sentence each.
    pub notes: Vec<String>,
}

/// Why there is no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderError {
    /// Nobody provides what is required: a sentence each.
    Missing(Vec<String>),
    /// Scripts that wait for each other in a circle: each with the next one and why.
    Cycle(Vec<(String, String, Why)>),
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderError::Missing(what) => f.write_str(&what.join("\n")),
            OrderError::Cycle(chain) => {
                write!(f, "scripts wait for each other in a circle:")?;
                for (script, on, why) in chain {
                    write!(f, "\n  {script} waits for {on} ({why})")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for OrderError {}

impl OrderError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        let Self::Cycle(chain) = self else {
            return "add the script that provides it, or write Should-Start if it is not needed"
                .to_owned();
        };
        let weakest = chain.iter().max_by(|a, b| a.2.cmp(&b.2));
        match weakest {
            Some((script, on, Why::Number)) => {
                format!("give {script} or {on}, whichever has none, an LSB header")
            }
            Some((script, on, Why::Before(name))) => {
                format!("take {name} out of the X-Start-Before of {on}, if {script} allows it")
            }
            Some((script, on, Why::Boot)) => {
                format!("have {script} start at another level than S, or {on} at S, too")
            }
            Some((script, _, Why::Should(name) | Why::Required(name))) => {
                format!("the least needed may be {name} in the header of {script}: take it out")
            }
            Some((script, _, Why::All)) => format!("say in {script} what it needs instead of $all"),
            None => String::new(),
        }
    }
}

/// Works out what each script of a folder waits for. A facility means the scripts that are there
/// for it; if there are none, it is taken for granted, as `insserv` does. A script
/// without a header stays, by its number, after all with a lower one and before all
/// with a higher one.
///
/// # Errors
/// If a required name is nobody's, or scripts wait for each other.
pub fn order(folder: &Folder) -> Result<Order, OrderError> {
    let mut graph = Graph::new(folder);
    for at in 0..folder.scripts.len() {
        graph.header(at);
    }
    if !graph.missing.is_empty() {
        return Err(graph.missing());
    }
    graph.numbers();
    graph.boot_first();
    graph.last();
    let sequence = graph.sequence()?;
    Ok(Order {
        waits: graph.reduced(&sequence),
        notes: graph.notes,
    })
}

struct Graph<'a> {
    folder: &'a Folder,
    scripts: &'a [Script],
    providers: BTreeMap<&'a str, Vec<usize>>,
    /// What the facilities that headers name stand for.
    meanings: BTreeMap<&'a str, Vec<usize>>,
    /// For each script the ones that it waits for.
    waits: Vec<BTreeMap<usize, Why>>,
    /// Scripts that start after all others.
    last: Vec<usize>,
    missing: Vec<(usize, String)>,
    notes: Vec<String>,
}

/// For each facility that a header names and that there is, the scripts.
fn meanings<'a>(
    scripts: &'a [Script],
    facilities: &Facilities,
    providers: &BTreeMap<&str, Vec<usize>>,
) -> BTreeMap<&'a str, Vec<usize>> {
    let headers = scripts.iter().filter_map(|s| s.header.as_ref());
    let names = headers.flat_map(|h| [&h.required_start, &h.should_start, &h.start_before]);
    let named: BTreeSet<&str> = names.flatten().map(String::as_str).collect();
    let known = |name: &&str| {
        name.starts_with('$') && (facilities.knows(name) || providers.contains_key(name))
    };
    let meaning = |name| {
        let names = facilities.scripts(name).into_iter();
        let scripts = names.filter_map(|name| providers.get(name)).flatten();
        // Once each, however many of its names they provide.
        let scripts: BTreeSet<usize> = scripts.copied().collect();
        (name, scripts.into_iter().collect())
    };
    named.into_iter().filter(known).map(meaning).collect()
}

impl<'a> Graph<'a> {
    fn new(folder: &'a Folder) -> Self {
        let scripts = folder.scripts.as_slice();
        let mut providers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, script) in scripts.iter().enumerate() {
            let provided = script.header.iter().flat_map(|h| &h.provides);
            for name in provided.map(String::as_str) {
                providers.entry(name).or_default().push(at);
            }
        }
        // A name that nobody provides may be that of a script.
        for (at, script) in scripts.iter().enumerate() {
            providers.entry(script.base()).or_insert_with(|| vec![at]);
        }
        Self {
            folder,
            scripts,
            meanings: meanings(scripts, &folder.facilities, &providers),
            providers,
            waits: vec![BTreeMap::new(); scripts.len()],
            last: Vec::new(),
            missing: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn wait(&mut self, script: usize, on: usize, why: Why) {
        let Some(waits) = self.waits.get_mut(script) else {
            return;
        };
        let known = waits.entry(on).or_insert_with(|| why.clone());
        if why < *known {
            *known = why;
        }
    }

    /// The scripts that a name stands for; `None` if it is nobody's.
    fn named(&self, name: &str) -> Option<Vec<usize>> {
        match name.starts_with('$') {
            true => self.meanings.get(name).cloned(),
            false => self.providers.get(name).cloned(),
        }
    }

    fn header(&mut self, at: usize) {
        let Some(script) = self.scripts.get(at) else {
            return;
        };
        let empty = Header::default();
        let header = script.header.as_ref().unwrap_or(&empty);
        for name in &header.required_start {
            match (name.as_str(), self.named(name)) {
                ("$null", _) => {}
                ("$all", _) => self.last.push(at),
                (name, None) if self.folder.provided.contains(name) => {}
                (_, None) => self.missing.push((at, name.clone())),
                (_, Some(on)) => {
                    if on.is_empty() {
                        self.granted(name);
                    }
                    for on in on {
                        // It is part of what it waits for, as umountfs is of $local_fs.
                        if on != at || !name.starts_with('$') {
                            self.wait(at, on, Why::Required(name.clone()));
                        }
                    }
                }
            }
        }
        for name in &header.should_start {
            if name == "$all" {
                self.last.push(at);
            }
            for on in self.named(name).unwrap_or_default() {
                if on != at && !self.is_later(at, on) {
                    self.wait(at, on, Why::Should(name.clone()));
                }
            }
        }
        for name in &header.start_before {
            for later in self.named(name).unwrap_or_default() {
                if later != at && !self.is_later(later, at) {
                    self.wait(later, at, Why::Before(name.clone()));
                }
            }
        }
    }

    fn granted(&mut self, facility: &str) {
        let scripts = self.folder.facilities.scripts(facility);
        if scripts
            .iter()
            .any(|name| self.folder.provided.contains(*name))
        {
            return;
        }
        let note = format!("no script here provides {facility}: taken as there from the beginning");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Whether `on` is of a later stage of the boot than `script`.
    fn is_later(&self, script: usize, on: usize) -> bool {
        let of_boot = |at: usize| {
            let script = self.scripts.get(at);
            script.map(|s| s.number.is_none() && s.is_of_boot())
        };
        of_boot(script) == Some(true) && of_boot(on) == Some(false)
    }

    fn numbers(&mut self) {
        let numbers: Vec<Option<u8>> = self.scripts.iter().map(|s| s.number).collect();
        for (at, script) in self.scripts.iter().enumerate() {
            let (None, Some(number)) = (&script.header, script.number) else {
                continue;
            };
            for (other, its) in numbers.iter().enumerate() {
                match its {
                    Some(its) if *its < number => self.wait(at, other, Why::Number),
                    Some(its) if *its > number => self.wait(other, at, Why::Number),
                    _ => {}
                }
            }
        }
    }

    fn boot_first(&mut self) {
        for at in 0..self.scripts.len() {
            for on in 0..self.scripts.len() {
                if self.is_later(on, at) {
                    self.wait(at, on, Why::Boot);
                }
            }
        }
    }

    /// Has those of `$all` wait for whatever does not wait for them.
    fn last(&mut self) {
        self.last.sort_unstable();
        self.last.dedup();
        let last = std::mem::take(&mut self.last);
        let edges: Vec<(usize, usize)> = last
            .iter()
            .flat_map(|at| {
                let behind = self.behind(*at);
                let free = behind.into_iter().enumerate().filter(|(_, behind)| !behind);
                free.map(|(on, _)| (*at, on)).collect::<Vec<_>>()
            })
            .filter(|(_, on)| !last.contains(on))
            .collect();
        for (at, on) in edges {
            self.wait(at, on, Why::All);
        }
    }

    /// Which scripts are `at`, or wait for it in some way.
    fn behind(&self, at: usize) -> Vec<bool> {
        let mut behind = vec![false; self.scripts.len()];
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut behind[at], true) {
                continue;
            }
            let waiting = self.waits.iter().enumerate();
            open.extend(waiting.filter(|(_, w)| w.contains_key(&at)).map(|(i, _)| i));
        }
        behind
    }

    fn missing(&self) -> OrderError {
        let name = |at: usize| self.scripts.get(at).map_or("", |s| s.name.as_str());
        let sentence = |(at, missing): &(usize, String)| {
            let facility = missing.starts_with('$');
            let meant = match facility {
                true => did_you_mean(missing, self.folder.facilities.names()),
                false => did_you_mean(missing, self.providers.keys().copied()),
            };
            let behind = self.behind(*at).into_iter().enumerate();
            let behind = behind.filter(|(other, behind)| *behind && other != at);
            let behind: Vec<&str> = behind.map(|(other, _)| name(other)).take(4).collect();
            let behind = match behind.as_slice() {
                [] => String::new(),
                some => format!("; behind it wait {}", some.join(", ")),
            };
            let who = name(*at);
            format!("{who} requires {missing}, which no script here provides{meant}{behind}")
        };
        let told = self.missing.iter().take(MOST_MISSING);
        let mut sentences: Vec<String> = told.map(sentence).collect();
        if self.missing.len() > MOST_MISSING {
            let more = self.missing.len() - MOST_MISSING;
            sentences.push(format!(
                "{more} more requirements that no script here meets"
            ));
        }
        OrderError::Missing(sentences)
    }

    /// An order in which each script is after all that it waits for.
    fn sequence(&self) -> Result<Vec<usize>, OrderError> {
        let mut left: Vec<usize> = self.waits.iter().map(BTreeMap::len).collect();
        let mut sequence: Vec<usize> = Vec::new();
        let free = left.iter().enumerate().filter(|(_, left)| **left == 0);
        let mut open: Vec<usize> = free.map(|(at, _)| at).collect();
        while let Some(at) = open.pop() {
            sequence.push(at);
            for (other, waits) in self.waits.iter().enumerate() {
                if waits.contains_key(&at) {
                    left[other] -= 1;
                    if left[other] == 0 {
                        open.push(other);
                    }
                }
            }
        }
        match sequence.len() == self.scripts.len() {
            true => Ok(sequence),
            false => Err(self.cycle(&sequence)),
        }
    }

    /// The shortest circle among the scripts that are not `free`.
    fn cycle(&self, free: &[usize]) -> OrderError {
        let bound = |at: &usize| !free.contains(at);
        let circles = (0..self.scripts.len()).filter(bound);
        let shortest = circles
            .filter_map(|at| self.way_back(at))
            .min_by_key(Vec::len);
        let circle = shortest.unwrap_or_default();
        let name = |at: usize| {
            self.scripts
                .get(at)
                .map_or("", |s| s.name.as_str())
                .to_owned()
        };
        let next = circle.iter().cycle().skip(1);
        let steps = circle.iter().zip(next).filter_map(|(at, on)| {
            let why = self.waits.get(*at)?.get(on)?;
            Some((name(*at), name(*on), why.clone()))
        });
        OrderError::Cycle(steps.collect())
    }

    /// The shortest way from a script through what it waits for to itself.
    fn way_back(&self, start: usize) -> Option<Vec<usize>> {
        let mut from: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = vec![start];
        while !open.is_empty() && !from.contains_key(&start) {
            let mut next = Vec::new();
            for at in open {
                for on in self.waits.get(at)?.keys() {
                    if !from.contains_key(on) {
                        from.insert(*on, at);
                        next.push(*on);
                    }
                }
            }
            open = next;
        }
        let mut way = vec![*from.get(&start)?];
        while let Some(at) = way.last().copied().filter(|at| *at != start) {
            way.push(*from.get(&at)?);
        }
        way.reverse();
        Some(way)
    }

    /// The waits without those that follow from others.
    fn reduced(&self, sequence: &[usize]) -> Vec<Vec<Wait>> {
        let count = self.scripts.len();
        let mut place = vec![0; count];
        for (at, script) in sequence.iter().enumerate() {
            place[*script] = at;
        }
        // For each script all that has ended when it starts.
        let mut before = vec![vec![false; count]; count];
        let mut reduced = vec![Vec::new(); count];
        for at in sequence {
            let mut waits: Vec<(&usize, &Why)> = self.waits[*at].iter().collect();
            waits.sort_by_key(|(on, _)| std::cmp::Reverse(place[**on]));
            let mut all = vec![false; count];
            for (on, why) in waits {
                if all[*on] {
                    continue;
                }
                all[*on] = true;
                for (all, theirs) in all.iter_mut().zip(&before[*on]) {
                    *all |= *theirs;
                }
                reduced[*at].push(Wait {
                    on: *on,
                    why: why.clone(),
                });
            }
            reduced[*at].sort_by_key(|wait| wait.on);
            before[*at] = all;
        }
        reduced
    }
}
