//! Which processes ended without being seen to: not all exits are told where the
//! kernel's queue ran over, and none where processes are only looked at in
//! intervals. At the end the collector looks at all that live.

use std::collections::{BTreeMap, HashSet};

use bootlap_wire::archive::{Content, Live};

/// What the looks at all processes say.
#[derive(Default)]
pub(super) struct Looks {
    /// Who was there in the last one.
    alive: HashSet<u32>,
    /// When that began.
    since_ns: i64,
    looking: bool,
    /// Some of it did not fit into the archive.
    incomplete: bool,
}

/// A process or thread of which no exit was told so far.
struct Seen {
    last_ns: i64,
    /// The process that it is a thread of.
    process: u32,
}

impl Looks {
    /// Takes the next record.
    pub(super) fn see(&mut self, content: &Content<'_>) {
        let Content::Live(live) = content else {
            self.looking = false;
            self.incomplete |= matches!(content, Content::Lost { what, .. } if what == "records");
            return;
        };
        if !self.looking {
            self.alive.clear();
            self.since_ns = live.ns;
        }
        self.looking = true;
        self.alive.insert(live.pid);
    }

    /// Processes that have ended by the last look without an exit in `told`,
    /// which is in order of time but for looks; and when each was seen last.
    pub(super) fn gone<'c, 'a: 'c>(
        &self,
        collector: u32,
        told: impl Iterator<Item = (i64, &'c Content<'a>)>,
    ) -> Vec<(u32, i64)> {
        // It sees itself, or it did not look.
        if self.incomplete || !self.alive.contains(&collector) {
            return Vec::new();
        }
        let mut open: BTreeMap<u32, Seen> = BTreeMap::new();
        for (ns, content) in told {
            see(ns, content, &mut open);
        }
        let gone = open.into_iter();
        // Who came after the look was not there to be seen.
        let missed = |seen: &Seen| seen.last_ns < self.since_ns;
        let gone = gone.filter(|(_, seen)| missed(seen) && !self.alive.contains(&seen.process));
        gone.map(|(pid, seen)| (pid, seen.last_ns)).collect()
    }
}

fn see(ns: i64, content: &Content<'_>, open: &mut BTreeMap<u32, Seen>) {
    let mut spoken_of = |pid: u32, process: u32| {
        let seen = open.entry(pid).or_insert(Seen {
            last_ns: ns,
            process,
        });
        seen.last_ns = seen.last_ns.max(ns);
    };
    match content {
        Content::Fork {
            parent, pid, tgid, ..
        } => {
            spoken_of(*parent, *parent);
            let (last_ns, process) = (ns, *tgid);
            open.insert(*pid, Seen { last_ns, process });
        }
        Content::Name { pid, .. } | Content::Exec { pid, .. } => spoken_of(*pid, *pid),
        Content::Exit { pid, .. } => {
            open.remove(pid);
        }
        // Where it began; that it was looked at is told at the end.
        Content::Live(Live {
            pid, ns: looked, ..
        }) if *looked != ns => spoken_of(*pid, *pid),
        Content::Live(Live { pid, .. }) => {
            if let Some(seen) = open.get_mut(pid) {
                seen.last_ns = seen.last_ns.max(ns);
            }
        }
        _ => {}
    }
}
