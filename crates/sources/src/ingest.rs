//! Many pieces of evidence of one boot → one timeline.
//!
//! Each piece is told by its content and read by its source; pieces of one
//! folder or archive that are parts of one recording are read together. Then
//! the moments that the user described are looked for where no source has
//! found them, and the clocks are joined ([`crate::align`]).

use std::io::{self, BufRead, Read};

use bootlap_model::{FileId, Mark, MarkKind, Milestone, Span, Timeline, TrackKind};

use crate::align::{self, Declared};
use crate::registry::{HEAD_LEN, part_of, ranking};
use crate::{Hints, Input, Sniff, Source, SourceError};

/// One file, or one member of an archive: it can be opened as often as needed.
pub struct Piece<'a> {
    /// What people call it.
    pub name: String,
    /// Its bytes from the beginning.
    pub open: Box<dyn Fn() -> io::Result<Box<dyn BufRead + 'a>> + 'a>,
}

/// The pieces that were given as one: a file, a folder, an archive.
pub struct Given<'a> {
    /// What people call it.
    pub name: String,
    /// What is in it, in the order of names.
    pub pieces: Vec<Piece<'a>>,
}

/// What became of a piece, or of the pieces that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// What people call it.
    pub name: String,
    /// The names of its parts, if several were read together.
    pub parts: Vec<String>,
    /// The format, or why there is none.
    pub format: Format,
    /// Its files in the timeline.
    pub files: Vec<FileId>,
}

/// Which format a piece has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// This one.
    Known {
        /// The source's short name.
        source: &'static str,
        /// How sure that is.
        confidence: Sniff,
    },
    /// None of those known; the nearest, best first.
    Unknown {
        /// Short names, with how sure their sources were.
        nearest: Vec<(&'static str, Sniff)>,
    },
    /// It could not be read.
    Unreadable {
        /// What went wrong.
        why: String,
    },
    /// There are no bytes in it.
    Empty,
}

/// What the user says beyond the bytes.
#[derive(Default)]
pub struct Options {
    /// The moments to look for.
    pub hints: Hints,
    /// Read everything as this format.
    pub format: Option<&'static dyn Source>,
    /// How clocks relate, by the user's word.
    pub declared: Vec<Declared>,
}

/// Below this, a piece is better called unknown than read: a text in which
/// nothing was recognised.
const LEAST: Sniff = Sniff::percent(21);

/// Reads all that was given into `out`.
///
/// # Errors
/// If what the user declared about clocks cannot be applied; says why.
pub fn ingest(
    given: Vec<Given<'_>>,
    options: &Options,
    out: &mut Timeline,
) -> Result<Vec<Taken>, String> {
    let mut all = Vec::new();
    let (given, named) = match options.format {
        None => named_parts(given),
        Some(_) => (given, Vec::new()),
    };
    for group in named {
        group.read_each(options, out, &mut all);
    }
    for given in given {
        read_given(given, options, out, &mut all);
    }
    look_for_hints(&options.hints, out);
    align::align(out, &options.declared)?;
    Ok(all)
}

fn read_given(given: Given<'_>, options: &Options, out: &mut Timeline, all: &mut Vec<Taken>) {
    let Given { name, pieces } = given;
    let of_many = pieces.len() > 1;
    let mut groups: Vec<Group<'_>> = Vec::new();
    for piece in pieces {
        let found = match options.format {
            Some(source) => Ok(Found::Source(source, Sniff::CERTAIN)),
            None => look(&piece, of_many),
        };
        let (source, confidence) = match found {
            Ok(Found::Source(source, confidence)) => (source, confidence),
            Ok(Found::Nothing(format)) => {
                all.push(Taken::none(piece.name, format));
                continue;
            }
            Err(e) => {
                let why = e.to_string();
                all.push(Taken::none(piece.name, Format::Unreadable { why }));
                continue;
            }
        };
        let same = |g: &&mut Group<'_>| g.source.info().name == source.info().name;
        let group = groups.iter_mut().find(same);
        match group.filter(|_| source.reads_together()) {
            Some(group) => {
                group.pieces.push(piece);
                group.confidence = group.confidence.max(confidence);
            }
            None => groups.push(Group {
                source,
                confidence,
                pieces: vec![piece],
            }),
        }
    }
    for group in groups {
        let together = group.pieces.len() > 1;
        let label = if together {
            name.clone()
        } else {
            group.pieces[0].name.clone()
        };
        all.push(group.read(label, options, out));
    }
}

/// Files that were given one by one, but are parts of one recording by their
/// names (`strace.log.*`): apart from the rest, by source.
fn named_parts<'a>(given: Vec<Given<'a>>) -> (Vec<Given<'a>>, Vec<Group<'a>>) {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut rest = Vec::new();
    for mut given in given {
        let piece = given.pieces.pop();
        let alone = given.pieces.is_empty();
        let source = piece.as_ref().filter(|_| alone);
        let source = source.and_then(|p| part_of(&p.name, &head(p).ok()?));
        match (source, piece) {
            (Some(source), Some(piece)) => {
                let same = |g: &&mut Group<'_>| g.source.info().name == source.info().name;
                match groups.iter_mut().find(same) {
                    Some(group) => group.pieces.push(piece),
                    None => groups.push(Group {
                        source,
                        confidence: Sniff::SURE,
                        pieces: vec![piece],
                    }),
                }
            }
            (_, piece) => {
                given.pieces.extend(piece);
                rest.push(given);
            }
        }
    }
    let (groups, lone): (Vec<_>, Vec<_>) = groups.into_iter().partition(|g| g.pieces.len() > 1);
    for piece in lone.into_iter().flat_map(|g| g.pieces) {
        rest.push(Given {
            name: piece.name.clone(),
            pieces: vec![piece],
        });
    }
    (rest, groups)
}

/// The first bytes of a piece.
fn head(piece: &Piece<'_>) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let stream = (piece.open)()?;
    stream.take(HEAD_LEN as u64).read_to_end(&mut head)?;
    Ok(head)
}

impl Taken {
    fn none(name: String, format: Format) -> Self {
        Self {
            name,
            parts: Vec::new(),
            format,
            files: Vec::new(),
        }
    }
}

/// Pieces of one source: one, or those that belong together.
struct Group<'a> {
    source: &'static dyn Source,
    confidence: Sniff,
    pieces: Vec<Piece<'a>>,
}

impl Group<'_> {
    fn read(self, name: String, options: &Options, out: &mut Timeline) -> Taken {
        let first = out.files.len();
        let format = match self.read_into(options, out) {
            Ok(()) => Format::Known {
                source: self.source.info().name,
                confidence: self.confidence,
            },
            Err(SourceError::NotThisFormat { .. }) => Format::Unknown {
                nearest: vec![(self.source.info().name, self.confidence)],
            },
            Err(e) => Format::Unreadable { why: e.to_string() },
        };
        let parts = self.pieces.into_iter().map(|p| p.name);
        let parts: Vec<String> = parts.collect();
        Taken {
            name,
            format,
            files: out.file_ids().skip(first).collect(),
            parts: if parts.len() > 1 { parts } else { Vec::new() },
        }
    }

    /// Reads the parts together, but tells of each by itself.
    fn read_each(self, options: &Options, out: &mut Timeline, all: &mut Vec<Taken>) {
        let taken = self.read(String::new(), options, out);
        if taken.parts.len() != taken.files.len() {
            return all.push(Taken {
                name: taken.parts.first().cloned().unwrap_or_default(),
                ..taken
            });
        }
        for (name, file) in taken.parts.into_iter().zip(taken.files) {
            all.push(Taken {
                name,
                parts: Vec::new(),
                format: taken.format.clone(),
                files: vec![file],
            });
        }
    }

    fn read_into(&self, options: &Options, out: &mut Timeline) -> Result<(), SourceError> {
        let opened: io::Result<Vec<_>> = self.pieces.iter().map(|p| (p.open)()).collect();
        let mut opened = opened?;
        let mut parts = self.pieces.iter().zip(&mut opened).map(|(p, bytes)| Input {
            label: &p.name,
            bytes,
            hints: &options.hints,
        });
        if self.source.reads_together() {
            return self.source.read_parts(parts.collect(), out);
        }
        parts.try_for_each(|part| self.source.read(part, out))
    }
}

enum Found {
    Source(&'static dyn Source, Sniff),
    Nothing(Format),
}

/// What a piece is, by its first bytes.
fn look(piece: &Piece<'_>, of_many: bool) -> io::Result<Found> {
    let head = head(piece)?;
    if head.is_empty() {
        return Ok(Found::Nothing(Format::Empty));
    }
    if of_many && let Some(source) = part_of(&piece.name, &head) {
        return Ok(Found::Source(source, Sniff::SURE));
    }
    let ranked = ranking(&head);
    Ok(match ranked.first() {
        Some(&(source, sniff)) if sniff >= LEAST => Found::Source(source, sniff),
        _ => {
            let nearest = ranked.iter().map(|(s, sniff)| (s.info().name, *sniff));
            let nearest = nearest.take(3).collect();
            Found::Nothing(Format::Unknown { nearest })
        }
    })
}

/// Looks for the moments that the user described in all text, where the
/// sources have not found them.
fn look_for_hints(hints: &Hints, out: &mut Timeline) {
    let ready = hints.ready.as_ref().map(|p| (Milestone::Ready, p));
    let application = hints.application.as_ref();
    let application = application.map(|p| (Milestone::ApplicationStart, p));
    for (milestone, pattern) in ready.into_iter().chain(application) {
        let kind = MarkKind::Milestone(milestone);
        if out.milestone(milestone).is_none() {
            mark_first(pattern, kind, milestone.text(), out);
        }
    }
    for (name, pattern) in &hints.marks {
        let known = |m: &Mark| m.kind == MarkKind::Named && out.text(m.name) == name;
        if !out.marks.iter().any(known) {
            mark_first(pattern, MarkKind::Named, name, out);
        }
    }
}

fn mark_first(pattern: &regex::bytes::Regex, kind: MarkKind, name: &str, out: &mut Timeline) {
    let matches = |l: &&Span| pattern.is_match(out.text(l.name).as_bytes());
    let line = out.spans_of(TrackKind::Console).find(matches);
    let Some((clock, at, evidence)) = line.map(|l| (l.clock, l.start, l.evidence)) else {
        return;
    };
    let name = out.symbols.intern(name);
    out.marks.push(Mark {
        clock,
        at,
        kind,
        name,
        evidence,
    });
}
