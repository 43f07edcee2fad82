//! An initramfs: archives of cpio, one after the other, compressed or not.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use bootlap_artefact::compress::Compression;
use bootlap_artefact::cpio::{self, DIRECTORY, REGULAR, SYMLINK, TYPE_MASK};

use super::walk::{Tree, walk};
use super::{Files, Volume, pieces};

pub(super) const KIND: &str = "cpio";
/// What all of it may unpack to, bytes.
const MOST: usize = 512 << 20;

/// By path without a leading slash; the top is the empty one.
struct Archive(BTreeMap<String, Node>);

enum Node {
    Folder,
    File(Vec<u8>),
    Link(String),
    Other,
}

/// What is in these bytes, if they are an initramfs.
pub(super) fn open(bytes: &[u8]) -> Option<Volume> {
    let mut nodes = BTreeMap::from([(String::new(), Node::Folder)]);
    let mut rest = bytes;
    let mut left = MOST;
    let mut unpacked;
    while !rest.is_empty() {
        let archive = match cpio::read(rest) {
            Ok(archive) => {
                rest = archive.rest;
                archive
            }
            Err(_) => {
                let packed = Compression::detect(rest);
                if packed == Compression::None {
                    break;
                }
                (unpacked, rest) = packed.decompress_first(rest, left).ok()?;
                left -= unpacked.len();
                cpio::read(&unpacked).ok()?
            }
        };
        for entry in archive.entries {
            let path: Vec<String> = pieces(&entry.path()).map(str::to_owned).collect();
            let node = match entry.mode & TYPE_MASK {
                DIRECTORY => Node::Folder,
                REGULAR => Node::File(entry.data.into_owned()),
                SYMLINK => Node::Link(String::from_utf8_lossy(&entry.data).into_owned()),
                _ => Node::Other,
            };
            nodes.insert(path.join("/"), node);
        }
        let zeros = rest.iter().take_while(|byte| **byte == 0).count();
        rest = &rest[zeros..];
    }
    (nodes.len() > 1).then(|| Volume {
        kind: KIND,
        uuid: String::new(),
        label: String::new(),
        files: Some(Box::new(Archive(nodes))),
        trouble: None,
    })
}

impl Tree for Archive {
    type Node = String;

    fn child(&self, folder: &String, name: &str) -> io::Result<String> {
        let path = match folder.as_str() {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        match self.0.contains_key(&path) {
            true => Ok(path),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn target(&self, path: &String) -> io::Result<Option<String>> {
        Ok(match self.0.get(path) {
            Some(Node::Link(to)) => Some(to.clone()),
            _ => None,
        })
    }
}

impl Files for Archive {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let top = walk(self, &String::new(), folder, true)?;
        if !matches!(self.0.get(&top), Some(Node::Folder)) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let below = match top.as_str() {
            "" => String::new(),
            top => format!("{top}/"),
        };
        let paths = self.0.range(below.clone()..).map(|(path, _)| path);
        let paths = paths.take_while(|path| path.starts_with(&below));
        let names = paths.filter_map(|path| path.strip_prefix(&below));
        let names = names.filter(|name| !name.is_empty() && !name.contains('/'));
        Ok(names.map(str::to_owned).collect())
    }

    fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        match self.0.get(&walk(self, &String::new(), path, true)?) {
            Some(Node::File(bytes)) => {
                let wanted = usize::try_from(most).unwrap_or(usize::MAX);
                Ok(bytes[..bytes.len().min(wanted)].to_vec())
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn place(&self, _: &str) -> io::Result<Vec<Range<u64>>> {
        Err(io::Error::other("it is in an archive"))
    }

    fn link(&self, path: &str) -> Option<String> {
        let at = walk(self, &String::new(), path, false).ok()?;
        self.target(&at).ok()?
    }
}
