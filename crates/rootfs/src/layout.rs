//! Lists that make the files of a boot lie in an image in the order of their use.
//!
//! What the makers of images take differs, and was tried:
//!
//! - `mksquashfs -sort` (4.5.1): a path and a priority a line, the highest first;
//!   blanks, backslashes and a `#` in front are escaped with a backslash, and a name
//!   with a line's end cannot be written.
//! - `mke2fs -d FOLDER` (1.47.0, 1.47.2): by name, whatever order the folder has;
//!   `mke2fs -d TAR` (from 1.47.1 on): as the members are in the archive.
//! - `mkfs.erofs FOLDER` (1.5): by name; `mkfs.erofs --tar=f --sort=none
//!   -E^inline_data` (1.8.6): as in the archive, as long as nothing is compressed.
//!
//! So one list is for mksquashfs, and one is for tar, of which the archive is made.

use std::collections::HashSet;

use crate::root_image::Entry;

/// Priorities of mksquashfs: what is not in the list has 0.
const HIGHEST: usize = 32767;

/// A list, and what could not be put into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The bytes of the file; names need not be UTF-8.
    pub bytes: Vec<u8>,
    /// How many files of the boot are in it.
    pub files: usize,
    /// How many are not: their names cannot be written, or they do not exist.
    pub left_out: usize,
}

/// For `mksquashfs FOLDER IMAGE -sort LIST`: `paths` in the order of their use, from
/// the folder on.
pub fn for_mksquashfs(paths: &[&[u8]]) -> List {
    let mut list = List::default();
    let mut seen = HashSet::new();
    let fits = |path: &&&[u8]| !path.is_empty() && !path.contains(&b'\n');
    let once: Vec<&[u8]> = paths
        .iter()
        .filter(fits)
        .filter(|path| seen.insert(**path))
        .copied()
        .collect();
    list.left_out = paths.iter().filter(|path| !fits(path)).count();
    for (index, path) in once.iter().enumerate() {
        // More files than priorities: neighbours share one.
        let priority = match once.len() {
            0..=HIGHEST => HIGHEST - index,
            count => HIGHEST - index * HIGHEST / count,
        };
        escape_blanks(path, &mut list.bytes);
        list.bytes
            .extend_from_slice(format!(" {priority}\n").as_bytes());
        list.files += 1;
    }
    list
}

fn escape_blanks(path: &[u8], out: &mut Vec<u8>) {
    for (index, byte) in path.iter().enumerate() {
        let first = index == 0 && *byte == b'#';
        // What C's isspace takes for a blank.
        if first || matches!(byte, b'\\' | b' ' | b'\t' | b'\r' | 0x0b | 0x0c) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
}

/// For the recipe `boot-image`: a path a line, as a list that people write.
pub fn for_boot_image(paths: &[&[u8]]) -> List {
    let mut list = List::default();
    let mut seen = HashSet::new();
    for path in paths.iter().filter(|path| seen.insert(**path)) {
        // Nobody means blanks at the end of a line.
        if path.is_empty() || path.contains(&b'\n') || path.trim_ascii() != *path {
            list.left_out += 1;
            continue;
        }
        list.bytes.push(b'/');
        list.bytes.extend_from_slice(path);
        list.bytes.push(b'\n');
        list.files += 1;
    }
    list
}

/// For `tar --no-recursion --files-from=LIST`: the folders on the way to `paths`, these
/// in the order of their use, then all other folders and files; nothing is missing and
/// nothing is twice.
pub fn for_tar(paths: &[&[u8]], entries: &[Entry]) -> List {
    let mut list = List::default();
    let (folders, files): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|e| e.is_folder);
    let exists: HashSet<&[u8]> = files.iter().map(|e| &e.path[..]).collect();
    let (mut on_the_way, mut used) = (HashSet::new(), HashSet::new());
    let mut boot = Vec::new();
    for path in paths {
        if !exists.contains(path) {
            list.left_out += 1;
        } else if used.insert(*path) {
            on_the_way.extend(folders_of(path));
            boot.push(*path);
        }
    }
    list.files = boot.len();
    list.bytes.extend_from_slice(b"./\n");
    let (first, later): (Vec<&[u8]>, Vec<&[u8]>) = folders
        .iter()
        .map(|e| &e.path[..])
        .partition(|path| on_the_way.contains(path));
    let others = files.iter().map(|e| &e.path[..]);
    let others = others.filter(|path| !used.contains(path));
    for path in first.into_iter().chain(boot).chain(later).chain(others) {
        escape_lines(path, &mut list.bytes);
    }
    list
}

/// `a` and `a/b` of `a/b/c`. A boot goes through them to its files: they belong in
/// front, where a disk that seeks is anyway.
pub fn folders_of(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| &path[..at])
}

/// The dot in front, so that no name is an option.
fn escape_lines(path: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"./");
    for byte in path {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            byte => out.push(*byte),
        }
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(list: &List) -> &str {
        std::str::from_utf8(&list.bytes).unwrap()
    }

    #[test]
    fn names_are_written_as_mksquashfs_reads_them() {
        let paths: [&[u8]; 8] = [
            b"usr/bin/app",
            b"d a/sp ace",
            b"b/back\\slash",
            b"#top",
            b"b/#hash",
            b"a\nb",
            b"usr/bin/app",
            b"ta\tb",
        ];
        let list = for_mksquashfs(&paths);
        let expected = "usr/bin/app 32767\nd\\ a/sp\\ ace 32766\nb/back\\\\slash 32765\n\
                        \\#top 32764\nb/#hash 32763\nta\\\tb 32762\n";
        assert_eq!(text(&list), expected);
        assert_eq!((list.files, list.left_out), (6, 1));
        assert_eq!(for_mksquashfs(&[]), List::default());
    }

    #[test]
    fn more_files_than_priorities() {
        let names: Vec<String> = (0..100_000).map(|i| format!("f{i}")).collect();
        let paths: Vec<&[u8]> = names.iter().map(|n| n.as_bytes()).collect();
        let list = for_mksquashfs(&paths);
        let lines = text(&list).lines().map(|l| l.split_once(' ').unwrap());
        let priorities: Vec<i32> = lines.map(|(_, p)| p.parse().unwrap()).collect();
        assert_eq!(priorities.len(), 100_000);
        assert!(priorities.is_sorted_by(|a, b| a >= b));
        assert_eq!((priorities[0], priorities[99_999]), (32767, 1));
    }

    fn entry(path: &str, is_folder: bool) -> Entry {
        Entry {
            path: path.as_bytes().to_vec(),
            is_folder,
        }
    }

    #[test]
    fn an_archive_has_all_of_the_folder() {
        let entries = [
            entry("-a", false),
            entry("etc", true),
            entry("etc/a\nb", false),
            entry("etc/c\\d", false),
            entry("dev", true),
            entry("z", false),
        ];
        let list = for_tar(&[b"z", b"gone", b"etc/c\\d", b"z"], &entries);
        assert_eq!(
            text(&list),
            "./\n./etc\n./z\n./etc/c\\\\d\n./dev\n./-a\n./etc/a\\nb\n"
        );
        assert_eq!((list.files, list.left_out), (2, 1));
    }

    proptest! {
        #[test]
        fn nothing_is_missing_or_twice(
            names in prop::collection::btree_set("[a-c]{1,3}", 0..20),
            used in prop::collection::vec("[a-d]{1,3}", 0..20),
        ) {
            let entries: Vec<_> = names.iter().map(|name| entry(name, false)).collect();
            let paths: Vec<&[u8]> = used.iter().map(|p| p.as_bytes()).collect();
            let list = for_tar(&paths, &entries);
            let mut lines: Vec<&str> = text(&list).lines().skip(1).collect();
            lines.sort_unstable();
            let all: Vec<String> = names.iter().map(|name| format!("./{name}")).collect();
            prop_assert_eq!(lines, all);
        }
    }
}
