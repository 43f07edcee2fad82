//! Uses of files, in any order and over each other, become the extents of a pack.

use std::collections::BTreeMap;

use super::{Extent, File, LONGEST_EXTENT, Pack};

/// Bytes of a file were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// When, on the clock of all others.
    pub ns: i64,
    /// Its place in the files that are handed over.
    pub file: usize,
    /// The first byte.
    pub start: u64,
    /// Behind the last byte; pages end after the file.
    pub end: u64,
}

/// What is being put together: one extent.
struct Grown {
    ns: i64,
    file: usize,
    start: u64,
    end: u64,
}

/// Puts `uses` of `files` into `pack`: each byte once, when it was used first, and
/// one behind the other as one extent. Files that were not used are left out.
pub fn fill(pack: &mut Pack, files: &[File], mut uses: Vec<Use>) {
    uses.sort_by_key(|each| each.ns);
    let began = uses.first().map_or(0, |each| each.ns);
    let mut known: Vec<BTreeMap<u64, u64>> = files.iter().map(|_| BTreeMap::new()).collect();
    let mut last: Vec<Option<usize>> = vec![None; files.len()];
    let mut all: Vec<Grown> = Vec::new();
    for each in uses {
        let (Some(file), Some(known)) = (files.get(each.file), known.get_mut(each.file)) else {
            continue;
        };
        // The block device has no end that is known here.
        let end = match file.path.is_empty() {
            true => each.end.min(i64::MAX as u64 - LONGEST_EXTENT),
            false => each.end.min(file.size),
        };
        for (start, end) in missing(known, each.start, end) {
            match last[each.file].and_then(|at| all.get_mut(at)) {
                Some(grown) if grown.end == start => grown.end = end,
                Some(grown) if grown.start == end => grown.start = start,
                _ => {
                    last[each.file] = Some(all.len());
                    let (ns, file) = (each.ns, each.file);
                    all.push(Grown {
                        ns,
                        file,
                        start,
                        end,
                    });
                }
            }
        }
    }
    let mut number: Vec<Option<usize>> = vec![None; files.len()];
    for grown in all {
        let file = *number[grown.file].get_or_insert_with(|| {
            pack.files.push(files[grown.file].clone());
            pack.files.len() - 1
        });
        let us = u32::try_from(grown.ns.abs_diff(began) / 1000).unwrap_or(u32::MAX);
        let mut start = grown.start;
        while start < grown.end {
            let length = (grown.end - start).min(LONGEST_EXTENT) as u32;
            pack.extents.push(Extent {
                start,
                length,
                file,
                us,
            });
            start += u64::from(length);
        }
    }
    pack.began_ns = began.max(0) as u64;
}

/// What of `start..end` is not known yet; it is from now on.
fn missing(known: &mut BTreeMap<u64, u64>, start: u64, end: u64) -> Vec<(u64, u64)> {
    let mut new = Vec::new();
    if start >= end {
        return new;
    }
    let (mut at, mut first, mut behind) = (start, start, end);
    let before = known.range(..=start).next_back();
    let before = before.filter(|(_, known_end)| **known_end >= start);
    let touching = before.into_iter().chain(known.range(start + 1..=end));
    let mut gone = Vec::new();
    for (&from, &to) in touching {
        if from > at {
            new.push((at, from));
        }
        at = at.max(to);
        first = first.min(from);
        behind = behind.max(to);
        gone.push(from);
    }
    if at < end {
        new.push((at, end));
    }
    for from in gone {
        known.remove(&from);
    }
    known.insert(first, behind);
    new
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(path: &str, size: u64) -> File {
        File {
            inode: 1,
            size,
            mtime_ns: 2,
            path: path.as_bytes().to_vec(),
            system: 0,
        }
    }

    fn of(files: &[File], uses: &[(i64, usize, u64, u64)]) -> Pack {
        let mut pack = Pack::default();
        let uses = uses.iter().map(|&(ns, file, start, end)| Use {
            ns,
            file,
            start,
            end,
        });
        fill(&mut pack, files, uses.collect());
        pack
    }

    #[test]
    fn in_the_order_of_first_use_and_once() {
        let files = [
            file("a", 10_000),
            file("b", 100),
            file("unused", 5),
            file("", 0),
        ];
        let uses = [
            (9_000, 0, 4096, 8192),
            (5_000, 3, 4096, 8192),
            (7_000, 1, 0, 4096),
            (8_000, 0, 0, 4096),
            (10_000, 0, 8192, 12288),
            (11_000, 0, 0, 12288),
            (12_000, 9, 0, 1),
        ];
        let pack = of(&files, &uses);
        let names: Vec<&[u8]> = pack.files.iter().map(|f| &f.path[..]).collect();
        assert_eq!(names, [&b""[..], b"b", b"a"]);
        let extents: Vec<_> = pack
            .extents
            .iter()
            .map(|e| (e.file, e.start, e.length, e.us))
            .collect();
        assert_eq!(
            extents,
            [(0, 4096, 4096, 0), (1, 0, 100, 2), (2, 0, 10_000, 3)]
        );
        assert_eq!(pack.began_ns, 5_000);
    }

    #[test]
    fn large_ones_are_cut() {
        let pack = of(&[file("a", 5 << 30)], &[(0, 0, 0, u64::MAX)]);
        assert_eq!(pack.extents.len(), 5);
        assert!(of(&[file("a", 0)], &[(0, 0, 0, 4096)]).files.is_empty());
        assert!(of(&[], &[]).extents.is_empty());
    }

    proptest! {
        /// Exactly the bytes that were used, each once, at its first use or before.
        #[test]
        fn each_byte_once(
            uses in prop::collection::vec((0..50_i64, 0..2_usize, 0..60_u64, 0..60_u64), 0..40)
        ) {
            let files = [file("a", 50), file("b", 40)];
            let mut pack = Pack::default();
            let ns = |us: i64| us * 1000;
            let uses: Vec<_> = uses.into_iter().map(|(us, file, start, length)| Use {
                ns: ns(us), file, start, end: start + length,
            }).collect();
            fill(&mut pack, &files, uses.clone());
            let began = uses.iter().map(|u| u.ns).min().unwrap_or(0);
            for (index, file) in files.iter().enumerate() {
                for byte in 0..file.size {
                    let its = uses.iter().filter(|u| u.file == index && (u.start..u.end).contains(&byte));
                    let first = its.map(|u| (u.ns - began) / 1000).min();
                    let within: Vec<_> = pack.extents.iter().filter(|e| {
                        pack.files[e.file].path == file.path
                            && (e.start..e.start + u64::from(e.length)).contains(&byte)
                    }).collect();
                    prop_assert_eq!(within.len(), usize::from(first.is_some()));
                    if let (Some(first), Some(extent)) = (first, within.first()) {
                        prop_assert!(i64::from(extent.us) <= first);
                    }
                }
            }
            prop_assert!(pack.extents.is_sorted_by_key(|e| e.us));
            let inside = pack.extents.iter().all(|e| e.start + u64::from(e.length) <= pack.files[e.file].size);
            prop_assert!(inside);
        }
    }
}
