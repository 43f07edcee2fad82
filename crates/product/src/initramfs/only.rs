//! An initramfs that holds only what a list names, and what that needs.
//!
//! The list is of paths that a boot opened (`bootlap touched` makes one). To run,
//! a program also needs its interpreter and libraries, and a path needs the
//! folders and links on its way; those are found here, so that a list that was
//! written by hand works too.

use std::collections::BTreeSet;

use bootlap_artefact::elf;

use super::{Found, Look, wrong};
use crate::TargetError;

/// As many links as Linux follows.
const LINKS: usize = 40;

/// Takes everything out of `found` that `list` (a path a line; `#` begins a
/// remark) does not name and nothing that it names needs. Folders and devices
/// stay: they weigh nothing, and scripts write into them.
pub(super) fn keep(found: &mut Found, list: &[u8], name: &str) -> Result<(), TargetError> {
    let mut search = Search {
        found,
        keep: BTreeSet::new(),
        queue: vec![b"init".to_vec()],
    };
    let mut known = 0_usize;
    for line in list.split(|b| *b == b'\n') {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        known += usize::from(search.reach(line));
    }
    if known == 0 {
        return Err(wrong(format!(
            "initramfs.only: {name} names nothing that the initramfs holds; it is a list of \
             paths, one a line, as `bootlap touched` writes it"
        )));
    }
    while let Some(path) = search.queue.pop() {
        search.reach(&path);
    }
    let keep = search.keep;
    let dangling: BTreeSet<Vec<u8>> = found
        .iter()
        .filter(|(path, what)| match what.look() {
            // A link to what is not there may be there at run time, and one to what stays is
            // worth its few bytes.
            Look::Link { .. } => match resolve(found, path) {
                None => true,
                Some(to) => is_light(found, &to) || keep.contains(&to),
            },
            _ => false,
        })
        .map(|(path, _)| path.clone())
        .collect();
    found.retain(|path, what| {
        matches!(what.look(), Look::Dir | Look::Node)
            || what.is_early()
            || keep.contains(path)
            || dangling.contains(path)
    });
    Ok(())
}

fn is_light(found: &Found, path: &[u8]) -> bool {
    let what = found.get(path).map(super::What::look);
    matches!(what, Some(Look::Dir | Look::Node) | None)
}

struct Search<'f> {
    found: &'f Found,
    keep: BTreeSet<Vec<u8>>,
    /// Paths that something needs, still to be reached.
    queue: Vec<Vec<u8>>,
}

impl Search<'_> {
    /// Keeps what `path` names and the links on the way; whether there is such a
    /// thing.
    fn reach(&mut self, path: &[u8]) -> bool {
        let mut way = Vec::new();
        let end = walk(self.found, path, &mut way);
        self.keep.extend(way);
        let Some(end) = end else {
            return false;
        };
        let Some(what) = self.found.get(&end) else {
            return false;
        };
        if let Look::File { bytes, .. } = what.look()
            && self.keep.insert(end)
        {
            self.needs_of(bytes);
        }
        true
    }

    /// Queues what the file cannot run without.
    fn needs_of(&mut self, bytes: &[u8]) {
        if let Some(needs) = elf::needs(bytes) {
            self.queue.extend(needs.interpreter);
            for library in &needs.libraries {
                // Wherever it lies: the loader's search path is its own business.
                let named = |path: &&Vec<u8>| path.rsplit(|b| *b == b'/').next() == Some(library);
                self.queue.extend(self.found.keys().filter(named).cloned());
            }
        }
        if let Some(rest) = bytes.strip_prefix(b"#!") {
            let line = rest.split(|b| *b == b'\n').next().unwrap_or_default();
            let mut words = line
                .split(u8::is_ascii_whitespace)
                .filter(|w| !w.is_empty());
            // A script of `env` names its program second.
            self.queue.extend(words.next().map(<[u8]>::to_vec));
            if let Some(program) = words.next().filter(|w| !w.starts_with(b"-")) {
                let named = |path: &&Vec<u8>| path.rsplit(|b| *b == b'/').next() == Some(program);
                self.queue.extend(self.found.keys().filter(named).cloned());
            }
        }
    }
}

/// What a link at `path` leads to in the end, if that is in the archive.
fn resolve(found: &Found, path: &[u8]) -> Option<Vec<u8>> {
    let end = walk(found, path, &mut Vec::new())?;
    (found.contains_key(&end) || end.is_empty()).then_some(end)
}

/// Follows `path` from the root; the links that it came through go to `way`.
fn walk(found: &Found, path: &[u8], way: &mut Vec<Vec<u8>>) -> Option<Vec<u8>> {
    let mut at: Vec<Vec<u8>> = Vec::new();
    let parts = |path: &[u8]| -> Vec<Vec<u8>> {
        path.split(|b| *b == b'/')
            .rev()
            .map(<[u8]>::to_vec)
            .collect()
    };
    let mut rest = parts(path);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        match part.as_slice() {
            b"" | b"." => continue,
            b".." => {
                at.pop();
                continue;
            }
            _ => at.push(part),
        }
        let here = at.join(&b'/');
        if let Some(Look::Link { to }) = found.get(&here).map(super::What::look) {
            links += 1;
            if links > LINKS {
                return None;
            }
            at.pop();
            if to.starts_with(b"/") {
                at.clear();
            }
            rest.extend(parts(to));
            way.push(here);
        }
    }
    Some(at.join(&b'/'))
}
