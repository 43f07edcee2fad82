//! Many pieces of evidence of one boot → one timeline.
//!
//! Each piece is detected by its content and read by its source; pieces of one
//! folder or archive that are parts of one recording are read together. Then
//! the moments that the user described are looked for where no source has
//! found them, kernel lines get the time that a serial console took for them
//! (`serial`), the clocks are joined ([`crate::align`]), and what several files
//! tell of becomes one span (`same`).

use std::io::{self, BufRead, Read};

use bootlap_model::{FileId, Mark, MarkKind, Milestone, Span, Timeline, TrackKind};

use crate::HEAD_LEN;
use crate::align::{self, Declared};
use crate::bug_report;
use crate::commands;
use crate::console;
use crate::registry::{part_of, ranking};
use crate::{Hints, Input, Sniff, Source, SourceError, Timeless, jump, same, serial, timeless};

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
        /// A known kind of log that has no times, if it is one.
        timeless: Option<Timeless>,
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
    pub format: Option<&'static Source>,
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
    for group in grouped(given, options.format, &mut all) {
        group.read(options, out, &mut all);
    }
    out.awaited |= options.hints.ready.is_some();
    look_for_hints(&options.hints, out);
    jump::mend(out);
    serial::charge(out);
    align::align(out, &options.declared)?;
    same::merge(out);
    Ok(all)
}

/// What a piece is.
struct Detected {
    source: &'static Source,
    confidence: Sniff,
    /// Its name says so, and so that it is a part of something.
    by_name: bool,
}

/// Pieces that one source reads: one, or the parts of one recording.
struct Group<'a> {
    detected: Detected,
    /// The folder or archive that they are of; `None` if each was given by
    /// itself.
    given: Option<String>,
    pieces: Vec<Piece<'a>>,
}

/// Tells what each piece is, and which belong together: those of one source
/// in one folder or archive, and those that are parts by their names
/// (`strace.log.*`). What is no evidence goes to `all`.
fn grouped<'a>(
    given: Vec<Given<'a>>,
    format: Option<&'static Source>,
    all: &mut Vec<Taken>,
) -> Vec<Group<'a>> {
    let several = given.iter().map(|g| g.pieces.len()).sum::<usize>() > 1;
    let mut groups: Vec<Group<'a>> = Vec::new();
    for Given { name, pieces } in given {
        let given = (pieces.len() > 1).then_some(name);
        let of_report = pieces.iter().any(|p| bug_report::names_it(&p.name));
        for piece in pieces {
            if of_report && bug_report::is_copied(&piece.name) {
                all.push(Taken {
                    name: piece.name,
                    parts: Vec::new(),
                    format: Format::Unreadable {
                        why: bug_report::COPIED.to_owned(),
                    },
                    files: Vec::new(),
                });
                continue;
            }
            let detected = match look(&piece, format, several) {
                Ok(detected) => detected,
                Err(format) => {
                    all.push(Taken {
                        name: piece.name,
                        parts: Vec::new(),
                        format,
                        files: Vec::new(),
                    });
                    continue;
                }
            };
            let belongs = |g: &&mut Group<'_>| {
                g.detected.source.name == detected.source.name
                    && g.given == given
                    && (given.is_some()
                        || g.detected.by_name && detected.by_name && !g.has(&piece.name))
            };
            let together = detected.source.reads_together();
            match groups.iter_mut().find(belongs).filter(|_| together) {
                Some(group) => {
                    group.pieces.push(piece);
                    group.detected.confidence = group.detected.confidence.max(detected.confidence);
                }
                None => groups.push(Group {
                    detected,
                    given: given.clone(),
                    pieces: vec![piece],
                }),
            }
        }
    }
    groups
}

/// What a piece is, by its first bytes; or why it is nothing that is known.
fn look(
    piece: &Piece<'_>,
    format: Option<&'static Source>,
    several: bool,
) -> Result<Detected, Format> {
    let detected = |source, confidence, by_name| Detected {
        source,
        confidence,
        by_name,
    };
    if let Some(source) = format {
        return Ok(detected(source, Sniff::CERTAIN, false));
    }
    let mut head = Vec::new();
    let unreadable = |e: io::Error| Format::Unreadable { why: e.to_string() };
    let mut stream = (piece.open)().map_err(unreadable)?;
    skip_blank_lines(&mut stream).map_err(unreadable)?;
    let read = (&mut stream).take(HEAD_LEN as u64).read_to_end(&mut head);
    read.map_err(unreadable)?;
    if head.is_empty() {
        return Err(Format::Empty);
    }
    // A lone file is detected by its content alone.
    if several && let Some(source) = part_of(&piece.name, &head) {
        return Ok(detected(source, Sniff::SURE, true));
    }
    let ranked = ranking(&head);
    let first = ranked.first().copied();
    let more = match first {
        Some((source, _)) if source.name == "dmesg" => goes_on(&head, &mut stream)?,
        _ => None,
    };
    match (more, first) {
        (Some(more), _) => Ok(detected(more, Sniff::LIKELY, false)),
        (None, Some((source, sniff))) if sniff >= LEAST => Ok(detected(source, sniff, false)),
        _ if further_on(&mut stream).map_err(unreadable)? => {
            Ok(detected(&console::CONSOLE, Sniff::LIKELY, false))
        }
        _ => {
            let nearest = ranked.iter().map(|(s, sniff)| (s.name, *sniff));
            let nearest = nearest.take(3).collect();
            let timeless = timeless(&head);
            Err(Format::Unknown { nearest, timeless })
        }
    }
}

/// What else it is that begins like a kernel's log: a console, where user space writes between its
/// lines, or the text of several commands.
fn goes_on(head: &[u8], stream: &mut dyn BufRead) -> Result<Option<&'static Source>, Format> {
    let mut rest = head.chain(stream.take(LOOKED_THROUGH));
    let mut line = Vec::new();
    let unreadable = |e: io::Error| Format::Unreadable { why: e.to_string() };
    loop {
        line.clear();
        let mut most = (&mut rest).take(HEAD_LEN as u64);
        if most.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            return Ok(None);
        }
        if console::is_user_spaces(&line) {
            return Ok(Some(&console::CONSOLE));
        }
        if commands::goes_on(&line) {
            return Ok(Some(&commands::SOURCE));
        }
    }
}

/// Goes to the first line with something in it: what a file is does not show before.
fn skip_blank_lines(stream: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = stream.fill_buf()?;
        let blank = buffer.iter().take_while(|b| b.is_ascii_whitespace());
        let blank = blank.count();
        if blank == buffer.len() && blank > 0 {
            stream.consume(blank);
            continue;
        }
        // A format that is no text can begin with the byte of a line's end.
        if blank > 0 && ranking(buffer).first().is_some_and(|r| r.1 >= Sniff::SURE) {
            return Ok(());
        }
        // What the first line begins with is its own.
        let lines = buffer[..blank].iter().rposition(|b| *b == b'\n');
        stream.consume(lines.map_or(0, |newline| newline + 1));
        return Ok(());
    }
}

/// So far a log is looked for behind what somebody else printed before it.
const LOOKED_THROUGH: u64 = 32 << 20;

/// Whether a console's log begins further on in a text: terminal programs go on writing
/// into one file for years.
fn further_on(stream: &mut dyn BufRead) -> io::Result<bool> {
    let mut stream = stream.take(LOOKED_THROUGH);
    let mut part = Vec::new();
    loop {
        part.clear();
        (&mut stream).take(HEAD_LEN as u64).read_to_end(&mut part)?;
        if part.is_empty() || part.contains(&0) {
            return Ok(false);
        }
        if console::CONSOLE.sniff(&part) >= LEAST {
            return Ok(true);
        }
    }
}

impl Group<'_> {
    /// Whether a piece of this name is in it. The parts of one recording have
    /// names of their own; of two files called alike each is of another.
    fn has(&self, name: &str) -> bool {
        self.pieces.iter().any(|p| p.name == name)
    }

    /// Reads the pieces, and says what became of them: of a folder's or an
    /// archive's as one, of those that were given one by one of each.
    fn read(self, options: &Options, out: &mut Timeline, all: &mut Vec<Taken>) {
        let first = out.files.len();
        let Detected {
            source, confidence, ..
        } = self.detected;
        let format = match self.read_into(options, out) {
            Ok(()) => Format::Known {
                source: source.name,
                confidence,
            },
            Err(SourceError::NotThisFormat { .. }) => Format::Unknown {
                nearest: vec![(source.name, confidence)],
                timeless: None,
            },
            Err(e) => Format::Unreadable { why: e.to_string() },
        };
        let files: Vec<FileId> = out.file_ids().skip(first).collect();
        let names = self.pieces.into_iter().map(|p| p.name);
        let names: Vec<String> = names.collect();
        if let Some(name) = self.given.filter(|_| names.len() > 1) {
            all.push(Taken {
                name,
                parts: names,
                format,
                files,
            });
            return;
        }
        let alone = names.len() == 1;
        all.extend(names.into_iter().map(|name| {
            let is_its = |id: &&FileId| alone || out.file(**id).name == name;
            Taken {
                files: files.iter().filter(is_its).copied().collect(),
                parts: Vec::new(),
                format: format.clone(),
                name,
            }
        }));
    }

    fn read_into(&self, options: &Options, out: &mut Timeline) -> Result<(), SourceError> {
        let opened: io::Result<Vec<_>> = self.pieces.iter().map(|p| (p.open)()).collect();
        let mut opened = opened?;
        let parts = self.pieces.iter().zip(&mut opened).map(|(p, bytes)| Input {
            label: &p.name,
            bytes,
            hints: &options.hints,
        });
        self.detected.source.read_parts(parts.collect(), out)
    }
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
    out.add_mark(clock, at, kind, name, evidence);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_found_behind_what_was_printed_before_it() {
        let log = "[    0.000000] Linux version 6.1.0\n[    0.500000] Run /init as init process\n";
        let read = |before: String| {
            let text = before + log;
            let open = || Ok(Box::new(text.as_bytes()) as Box<dyn BufRead>);
            let piece = Piece {
                name: "capture".into(),
                open: Box::new(open),
            };
            let given = Given {
                name: "capture".into(),
                pieces: vec![piece],
            };
            let mut timeline = Timeline::default();
            let taken = ingest(vec![given], &Options::default(), &mut timeline).unwrap();
            let known = matches!(
                taken[0].format,
                Format::Known {
                    source: "console",
                    ..
                }
            );
            (known, timeline.milestone(Milestone::InitStart).is_some())
        };
        assert_eq!(read("a test of the memory\n".repeat(20_000)), (true, true));
        // What is no text is no console.
        assert_eq!(read("\0".repeat(400_000)), (false, false));
    }
}
