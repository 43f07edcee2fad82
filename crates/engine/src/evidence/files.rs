//! Paths to pieces of evidence: files, folders, archives, standard input.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use bootlap_lab::Run;
use bootlap_model::{Evidence, EvidenceFile, FileId, Severity, Timeline};
use bootlap_report::Texts;
use bootlap_sources::HEAD_LEN;
use bootlap_sources::bundle::{self, Limits, Member, Opener};
use bootlap_sources::ingest::{Format, Given, Piece, Taken};
use bootlap_wire::stamps::{self, Record};

use super::cuts;
use crate::failure::{Exit, Failure};

/// A folder is of one boot; deeper or larger ones are something else.
const MAX_DEPTH: usize = 6;
const MAX_FILES: usize = 2_000;
/// Standard input cannot be read twice, so it is kept.
const MAX_STDIN: u64 = 4 << 30;
/// Evidence that is kept to show its lines.
const MAX_TEXT: usize = 128 << 20;

/// Something given, opened.
pub(super) struct Opened {
    name: String,
    pieces: Vec<Kept>,
    /// The files on disk behind it.
    paths: Vec<PathBuf>,
    /// Looks into it; knows what went wrong.
    opener: Opener,
}

/// A piece, and where its bytes are.
struct Kept {
    name: String,
    bytes: Bytes,
}

enum Bytes {
    /// A file, packed or not.
    File(PathBuf),
    /// In memory.
    Here(Vec<u8>),
    /// A run's stamps; evidence counts the console's bytes.
    Stamps { stamps: Vec<u8>, console: Vec<u8> },
}

impl Opened {
    /// A recorded run; `alone`: nothing else is looked at.
    pub(super) fn run(run: &Run, alone: bool) -> Result<Self, Failure> {
        let name = run.dir.display().to_string();
        let mut stamps = Vec::new();
        run.stamps()?
            .read_to_end(&mut stamps)
            .map_err(|e| cannot_read(&name, &e))?;
        let console = run.console()?;
        let piece = Kept {
            name: if alone {
                "console".to_owned()
            } else {
                format!("{name}/console")
            },
            bytes: Bytes::Stamps { stamps, console },
        };
        Ok(Self {
            name,
            pieces: vec![piece],
            // Whatever a run consists of, its folder is kept as it is.
            paths: Vec::new(),
            opener: Opener::default(),
        })
    }

    /// A file, a folder, or `-`.
    pub(super) fn path(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let mut opened = Self {
            name: name.clone(),
            pieces: Vec::new(),
            paths: Vec::new(),
            opener: Opener::new(Limits::default()),
        };
        if name == "-" {
            let mut bytes = Vec::new();
            let stdin = io::stdin().lock().take(MAX_STDIN);
            BufReader::new(stdin)
                .read_to_end(&mut bytes)
                .map_err(|e| cannot_read("standard input", &e))?;
            let kept = Bytes::Here(bytes);
            opened.add(name, kept).map_err(|e| cannot_read("-", &e))?;
            return Ok(opened);
        }
        if let Some((file, number)) = cuts::numbered(path) {
            let kept = Bytes::Here(cuts::read(&file, number)?);
            opened.paths.push(file);
            let added = opened.add(name.clone(), kept);
            added.map_err(|e| cannot_read(&name, &e))?;
            return Ok(opened);
        }
        if !path.is_dir() {
            opened.paths.push(path.to_owned());
            let kept = Bytes::File(path.to_owned());
            let added = opened.add(name.clone(), kept);
            added.map_err(|e| cannot_read(&name, &e))?;
            return Ok(opened);
        }
        let mut files = Vec::new();
        walk(path, 0, &mut files).map_err(|e| cannot_read(&name, &e))?;
        if files.len() > MAX_FILES {
            let why = format!("{name} has more than {MAX_FILES} files");
            return Err(
                Failure::new(Exit::Usage, why).hint("name the folder or the files of one boot")
            );
        }
        opened.paths.clone_from(&files);
        for file in files {
            let name = file.display().to_string();
            let added = opened.add(name.clone(), Bytes::File(file));
            added.map_err(|e| cannot_read(&name, &e))?;
        }
        Ok(opened)
    }

    /// Adds a file, or the members of an archive.
    fn add(&mut self, name: String, bytes: Bytes) -> io::Result<()> {
        let members = match self.opener.open(bytes.raw()?)? {
            bundle::Opened::Members(members) => Some(members),
            bundle::Opened::Stream(_) => None,
        };
        let Some(members) = members else {
            // Damage of a stream shows when it is read.
            self.pieces.push(Kept { name, bytes });
            return Ok(());
        };
        let kept = |m: Member| Kept {
            name: format!("{name}/{}", m.name),
            bytes: Bytes::Here(m.bytes),
        };
        self.pieces.extend(members.into_iter().map(kept));
        Ok(())
    }

    /// What the sources get.
    pub(super) fn given(&self) -> Given<'_> {
        let opener = &self.opener;
        let pieces = self.pieces.iter().map(|kept| Piece {
            name: kept.name.clone(),
            open: Box::new(|| kept.bytes.unpacked(opener)),
        });
        Given {
            name: self.name.clone(),
            pieces: pieces.collect(),
        }
    }

    /// Says what went wrong on the way to the bytes, now that they were read.
    pub(super) fn note_troubles(&self, taken: &[Taken], timeline: &mut Timeline) {
        let mine = taken.iter().filter(|t| t.name.starts_with(&self.name));
        let file = mine.flat_map(|t| t.files.first()).next();
        let at = file.map(|file| Evidence::whole(*file, 0));
        for trouble in self.opener.troubles() {
            timeline.notice(trouble.code, Severity::DataLoss, at, &trouble.remedy);
        }
    }
}

impl Bytes {
    fn raw(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(match self {
            Bytes::File(path) => Box::new(BufReader::with_capacity(HEAD_LEN, File::open(path)?)),
            Bytes::Here(bytes) | Bytes::Stamps { stamps: bytes, .. } => {
                Box::new(Cursor::new(&bytes[..]))
            }
        })
    }

    fn unpacked(&self, opener: &Opener) -> io::Result<Box<dyn BufRead + '_>> {
        let raw = self.raw()?;
        if let Bytes::Stamps { .. } = self {
            return Ok(raw);
        }
        match opener.open(raw)? {
            bundle::Opened::Stream(stream) => Ok(stream),
            bundle::Opened::Members(_) => Ok(Box::new(io::empty())),
        }
    }

    /// The bytes that evidence counts in what `source` read, if there are at
    /// most `room`.
    fn text(&self, source: &str, room: usize) -> Option<Vec<u8>> {
        if let Bytes::Stamps { console, .. } = self {
            return Some(console.clone()).filter(|text| text.len() <= room);
        }
        let mut text = Vec::new();
        let stream = self.unpacked(&Opener::default()).ok()?;
        if source == "stamps" {
            return console(stream, room);
        }
        stream.take(room as u64 + 1).read_to_end(&mut text).ok()?;
        (text.len() <= room).then_some(text)
    }
}

/// Sources whose files have no lines that anybody could read.
const WITHOUT_LINES: [&str; 3] = ["perfetto", "trace-cmd", "pack"];

/// The raw evidence of all files, where it is text and not too much. What a source made
/// of a file (the text on a pin) has another name, and no bytes of its own.
pub(super) fn texts(opened: Vec<Opened>, timeline: &Timeline) -> Texts {
    let pieces = opened.into_iter().flat_map(|o| o.pieces);
    let pieces: HashMap<String, Bytes> = pieces.map(|p| (p.name, p.bytes)).collect();
    let files = timeline.file_ids().zip(timeline.files.clone());
    let files: Vec<_> = files.collect();
    Texts::reading(move || {
        let mut room = MAX_TEXT;
        let text = |(id, file): (FileId, EvidenceFile)| {
            let piece = pieces.get(&file.name);
            let piece = piece.filter(|_| !WITHOUT_LINES.contains(&&*file.source))?;
            let text = piece.text(&file.source, room)?;
            room -= text.len();
            Some((id, text))
        };
        files.into_iter().filter_map(text).collect()
    })
}

/// What a stamped console said, if that is at most `room`.
fn console(stamped: impl BufRead, room: usize) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for record in stamps::Reader::new(stamped).ok()? {
        if let Record::Byte { byte, .. } = record.ok()? {
            text.push(byte);
            if text.len() > room {
                return None;
            }
        }
    }
    Some(text)
}

/// The files that evidence was read from: those that were named, and those of
/// a folder that some source understood.
pub(super) fn read_from(opened: &[Opened], taken: &[Taken]) -> Vec<PathBuf> {
    let understood = |file: &str| {
        let known = taken
            .iter()
            .filter(|t| matches!(t.format, Format::Known { .. }));
        let mut names = known.flat_map(|t| t.parts.iter().chain([&t.name]));
        names.any(|name| {
            let rest = name.strip_prefix(file);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                || file
                    .strip_suffix(name.as_str())
                    .is_some_and(|f| f.ends_with('/'))
        })
    };
    let files = opened.iter().flat_map(|o| {
        let alone = o.paths.len() == 1;
        let named = o.paths.iter().map(move |path| (path, alone));
        named.filter(|(path, alone)| *alone || understood(&path.display().to_string()))
    });
    files.map(|(path, _)| path.clone()).collect()
}

/// The files below `dir`, in the order of their names; links are not followed.
fn walk(dir: &Path, depth: usize, all: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(&entry.path(), depth + 1, all)?;
        } else if kind.is_file() {
            all.push(entry.path());
        }
        if all.len() > MAX_FILES {
            break;
        }
    }
    Ok(())
}

fn cannot_read(name: &str, e: &io::Error) -> Failure {
    Failure::new(Exit::Usage, format!("cannot read {name}: {e}"))
}
