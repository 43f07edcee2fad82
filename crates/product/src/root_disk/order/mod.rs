//! The members of a tar archive in another order, each byte for byte as it was.

use std::collections::{HashMap, HashSet};

use bootlap_rootfs::layout::folders_of;
use tar::{Archive, EntryType};

const BLOCK: u64 = 512;
/// Two blocks of zeros.
const END: [u8; 2 * BLOCK as usize] = [0; 2 * BLOCK as usize];

/// A member with all headers in front of it.
struct Member<'a> {
    bytes: &'a [u8],
    path: Vec<u8>,
    kind: Kind,
}

enum Kind {
    /// Says something about what follows.
    Global,
    Folder,
    /// Another name of a file that has to come first.
    HardLink(Vec<u8>),
    Other,
}

/// `archive` with the files that `list` names in front, in its order; before them their
/// folders, after them all other folders, then all other files, each as they were. A
/// path a line; `#` begins a remark.
///
/// # Errors
/// If it is no archive, ends too soon, or the list names nothing that is in it.
pub(super) fn ordered(archive: &[u8], list: &[u8]) -> Result<Vec<u8>, String> {
    let members = members(archive)?;
    let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, member) in members.iter().enumerate() {
        places.entry(&member.path).or_default().push(at);
    }
    let mut out = Out {
        members: &members,
        places: &places,
        done: vec![false; members.len()],
        bytes: Vec::with_capacity(archive.len()),
    };
    let lines = list.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let paths: Vec<&[u8]> = lines.map(plain).collect();
    let on_the_way: HashSet<&[u8]> = paths.iter().flat_map(|path| folders_of(path)).collect();
    out.put_all(|member| matches!(member.kind, Kind::Global));
    out.put_all(|member| {
        matches!(member.kind, Kind::Folder)
            && (member.path.is_empty() || on_the_way.contains(&member.path[..]))
    });
    let known = paths.iter().filter(|path| out.put_path(path)).count();
    if known == 0 {
        return Err(
            "root.order names nothing that the root holds; it is a list of paths, one \
                    a line, as `bootlap layout --for boot-image` writes it"
                .to_owned(),
        );
    }
    out.put_all(|member| matches!(member.kind, Kind::Folder));
    out.put_all(|_| true);
    out.bytes.extend_from_slice(&END);
    Ok(out.bytes)
}

struct Out<'a> {
    members: &'a [Member<'a>],
    places: &'a HashMap<&'a [u8], Vec<usize>>,
    done: Vec<bool>,
    bytes: Vec<u8>,
}

impl Out<'_> {
    fn put_all(&mut self, which: impl Fn(&Member<'_>) -> bool) {
        let members = self.members;
        for (at, _) in members.iter().enumerate().filter(|(_, m)| which(m)) {
            self.put(at);
        }
    }

    /// All that has this path: of several members the last one counts, so they stay
    /// in their order. Whether there is any.
    fn put_path(&mut self, path: &[u8]) -> bool {
        let Some(places) = self.places.get(path) else {
            return false;
        };
        for at in places {
            self.put(*at);
        }
        true
    }

    fn put(&mut self, at: usize) {
        if std::mem::replace(&mut self.done[at], true) {
            return;
        }
        let members = self.members;
        let member = &members[at];
        if let Kind::HardLink(to) = &member.kind {
            self.put_path(to);
        }
        self.bytes.extend_from_slice(member.bytes);
    }
}

/// Without what may stand in front of it and after it.
fn plain(mut path: &[u8]) -> &[u8] {
    while let Some(less) = path.strip_prefix(b"./").or(path.strip_prefix(b"/")) {
        path = less;
    }
    path.strip_suffix(b"/").unwrap_or(path)
}

fn members(archive: &[u8]) -> Result<Vec<Member<'_>>, String> {
    let broken = |e: std::io::Error| format!("it is no whole tar archive: {e}");
    let mut all = Vec::new();
    let mut begin = 0_u64;
    for entry in Archive::new(archive).entries().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let header = entry.header();
        let stored = match header.entry_type() {
            // Its size is that of the file, its bytes are fewer.
            EntryType::GNUSparse => header.entry_size().map_err(broken)?,
            _ => entry.size(),
        };
        let end = entry
            .raw_file_position()
            .checked_add(stored)
            .and_then(|end| end.checked_next_multiple_of(BLOCK));
        let range = end.and_then(|end| {
            let range = usize::try_from(begin).ok()?..usize::try_from(end).ok()?;
            archive.get(range)
        });
        let bytes = range.ok_or("it is no whole tar archive: it ends within a file")?;
        let linked = || entry.link_name_bytes().unwrap_or_default();
        let kind = match header.entry_type() {
            EntryType::XGlobalHeader => Kind::Global,
            EntryType::Directory => Kind::Folder,
            EntryType::Link => Kind::HardLink(plain(&linked()).to_vec()),
            _ => Kind::Other,
        };
        all.push(Member {
            bytes,
            path: plain(&entry.path_bytes()).to_vec(),
            kind,
        });
        begin = end.unwrap_or(begin);
    }
    if all.is_empty() {
        return Err("it is no tar archive, or an empty one".to_owned());
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
