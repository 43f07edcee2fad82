//! A file that holds several boots, such as a console recorded over night: where each
//! begins, and how one of them is named and read.
//!
//! `boot.log#2` is the second boot of `boot.log`. It is the same file with the lines of the
//! other boots blank, so line numbers and places stay what an editor shows. Where a boot
//! ends, the format's own source knows: it says that another one begins
//! (`another-boot`), and what is behind is read in the same way.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use bootlap_model::Timeline;
use bootlap_sources::HEAD_LEN;
use bootlap_sources::boot_table;
use bootlap_sources::bundle::{Limits, Opened, Opener};
use bootlap_sources::ingest::{Format, Given, Options, Piece, Taken, ingest};

use crate::failure::{Exit, Failure};

/// What a source calls the place where it stopped.
pub(super) const ANOTHER: &str = "another-boot";

/// More boots than this are told apart in files of their own.
const MOST: usize = 200;

/// Boots of a file that is larger are not told apart beyond this.
const MAX_TEXT: u64 = 4 << 30;

/// How much is read at first to see whether another boot begins; boots are seldom longer.
const FIRST: usize = 256 << 10;

/// What `path` names: the N-th boot of a file, if no file has that very name.
pub(super) fn numbered(path: &Path) -> Option<(PathBuf, usize)> {
    if path.exists() {
        return None;
    }
    let (file, number) = path.to_str()?.rsplit_once('#')?;
    let number = number.parse().ok().filter(|n| *n > 0)?;
    Some((PathBuf::from(file), number))
}

/// What to call the N-th boot of a file, counted from 1.
fn name(file: &Path, number: usize) -> PathBuf {
    PathBuf::from(format!("{}#{number}", file.display()))
}

/// The boots of a file, if it holds several: `boot.log#1`, `boot.log#2` …; else the file.
pub(super) fn each(file: &Path) -> Vec<PathBuf> {
    match file.is_file().then(|| known(file)) {
        Some(Ok(found)) if !found.is_empty() => {
            (1..=found.len()).map(|number| name(file, number)).collect()
        }
        _ => vec![file.to_owned()],
    }
}

/// The text of a file with everything blank but its N-th boot.
///
/// # Errors
/// If the file cannot be read, or has fewer boots.
pub(super) fn read(file: &Path, number: usize) -> Result<Vec<u8>, Failure> {
    let found = known(file)?;
    match found.get(number - 1) {
        Some(boot) => Ok(only(text(file)?, boot)),
        None => {
            let shown = file.display();
            let (has, hint) = match found.len() {
                0 => ("one boot is".to_owned(), format!("name {shown} itself")),
                many => (
                    format!("{many} boots are"),
                    format!("name {shown}#1 to {shown}#{many}"),
                ),
            };
            let why = format!("{has} in {shown}, and no number {number}");
            Err(Failure::new(Exit::Usage, why).hint(hint))
        }
    }
}

/// What a file says, unpacked and as UTF-8; nothing of an archive or of another file that
/// is no text, such as a `trace.dat`: those can be large, and are of one boot.
fn text(file: &Path) -> Result<Vec<u8>, Failure> {
    let opener = Opener::new(Limits::default());
    let read = || -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let raw = BufReader::new(File::open(file)?);
        if let Opened::Stream(stream) = opener.open(Box::new(raw))? {
            let mut stream = stream.take(MAX_TEXT);
            (&mut stream).take(HEAD_LEN as u64).read_to_end(&mut text)?;
            match text.contains(&0) {
                true => text.clear(),
                false => _ = stream.read_to_end(&mut text)?,
            }
        }
        Ok(text)
    };
    let cannot = |e| Failure::new(Exit::Usage, format!("cannot read {}: {e}", file.display()));
    read().map_err(cannot)
}

/// Where the boots of a file are. Who reads all of them looks only once.
fn known(file: &Path) -> Result<Arc<Vec<Range<usize>>>, Failure> {
    type Known = HashMap<(PathBuf, u64, Option<SystemTime>), Arc<Vec<Range<usize>>>>;
    static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let about = file.metadata().ok();
    let length = about.as_ref().map_or(0, std::fs::Metadata::len);
    let key = (
        file.to_owned(),
        length,
        about.and_then(|a| a.modified().ok()),
    );
    if let Some(found) = known.lock().ok().and_then(|k| k.get(&key).cloned()) {
        return Ok(found);
    }
    let found = Arc::new(boots_in(&text(file)?));
    if let Ok(mut known) = known.lock() {
        known.insert(key, Arc::clone(&found));
    }
    Ok(found)
}

/// The bytes of each boot in `text`, in order; nothing if there are fewer than two.
fn boots_in(text: &[u8]) -> Vec<Range<usize>> {
    if let Some((_, mut rows)) = boot_table::rows(text) {
        rows.truncate(MOST);
        return rows;
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut begin = 0;
    while let Some(next) = another(&text[begin..]).filter(|_| found.len() < MOST) {
        let piece = begin..begin + next;
        match found.last_mut() {
            Some(last) if is_copy(&text[piece.clone()], &text[last.clone()]) => {
                last.end = piece.end;
            }
            _ => found.push(piece.clone()),
        }
        begin = piece.end;
    }
    match found.last_mut() {
        None => {}
        Some(last) if is_copy(&text[begin..], &text[last.clone()]) => last.end = text.len(),
        Some(_) => found.push(begin..text.len()),
    }
    if found.len() < 2 { Vec::new() } else { found }
}

/// Where the line begins at which `text` goes on into another boot.
fn another(text: &[u8]) -> Option<usize> {
    let mut length = FIRST.min(text.len());
    loop {
        if let Some(at) = another_within(&text[..length]) {
            return Some(at);
        }
        if length == text.len() {
            return None;
        }
        length = (2 * length).min(text.len());
    }
}

fn another_within(text: &[u8]) -> Option<usize> {
    let piece = Piece {
        name: String::new(),
        open: Box::new(|| Ok(Box::new(Cursor::new(text)))),
    };
    let given = Given {
        name: String::new(),
        pieces: vec![piece],
    };
    let mut timeline = Timeline::default();
    let taken = ingest(vec![given], &Options::default(), &mut timeline).ok()?;
    // Places in what is decoded first are none in the file.
    let whole =
        |t: &Taken| matches!(&t.format, Format::Known { source, .. } if *source != "stamps");
    if !taken.iter().all(whole) {
        return None;
    }
    let notices = timeline.notices.iter().filter(|n| n.code == ANOTHER);
    let at = notices.flat_map(|n| &n.first).map(|e| e.start).min()?;
    let at = usize::try_from(at).ok()?.min(text.len());
    let begin = text[..at]
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |n| n + 1);
    (begin > 0).then_some(begin)
}

/// Whether `later` is the kernel's log of the boot before, printed once more (`dmesg` typed
/// at a prompt): most of its lines that have a time are there already. A log of another
/// boot has other times.
fn is_copy(later: &[u8], before: &[u8]) -> bool {
    let seen: BTreeSet<&[u8]> = timed(before).collect();
    let (mut all, mut known) = (0, 0);
    for line in timed(later).take(200) {
        all += 1;
        known += usize::from(seen.contains(line));
    }
    all >= 3 && known * 10 >= all * 9
}

/// Lines with a time of the kernel that is not its zero, from their bracket on.
fn timed(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|b| *b == b'\n').filter_map(|line| {
        let line = line.trim_ascii_end();
        let from = &line[line.iter().position(|b| *b == b'[')?..];
        let time = from[1..].trim_ascii_start();
        let length = time.iter().position(|b| *b == b']')?;
        let number = &time[..length];
        let digits = number.iter().all(|b| b.is_ascii_digit() || *b == b'.');
        let zero = number.iter().all(|b| matches!(b, b'0' | b'.'));
        (digits && !zero).then_some(from)
    })
}

/// `text` with everything blank but one boot.
fn only(mut text: Vec<u8>, boot: &Range<usize>) -> Vec<u8> {
    let blank = |bytes: &mut [u8]| {
        for byte in bytes.iter_mut().filter(|b| **b != b'\n') {
            *byte = b' ';
        }
    };
    // Each row of a table needs the heading.
    let from = boot_table::rows(&text).map_or(0, |(heading, _)| heading.end);
    blank(&mut text[from..boot.start]);
    text.truncate(boot.end);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A console of one boot, `ms` slower than another.
    fn boot(ms: u32) -> String {
        let lines = [
            "[    0.000000] Linux version 6.1.0 (cc) #1".to_owned(),
            format!("[    0.{:03}000] smp: Brought up 1 node", 100 + ms),
            format!("[    0.{:03}000] Freeing unused kernel memory", 300 + ms),
            format!("[    0.{:03}000] Run /sbin/init as init process", 310 + ms),
            format!("[    0.{:03}000] random: crng init done", 500 + ms),
        ];
        lines.join("\n") + "\n"
    }

    fn cut(text: &str) -> Vec<&str> {
        let found = boots_in(text.as_bytes());
        found.into_iter().map(|boot| &text[boot]).collect()
    }

    #[test]
    fn each_boot_of_a_file_is_found() {
        let (a, b, c) = (boot(0), boot(1), boot(2));
        assert_eq!(cut(&[&*a, &b, &c].concat()), [&*a, &*b, &*c]);
        assert!(cut(&a).is_empty());
        assert!(cut("").is_empty());
    }

    #[test]
    fn a_log_printed_again_is_no_boot() {
        let (a, b) = (boot(0), boot(1));
        assert!(cut(&[&*a, &a].concat()).is_empty());
        // It stays with the boot whose log it is.
        let twice = [&*a, &a].concat();
        assert_eq!(cut(&[&*twice, &b].concat()), [&*twice, &*b]);
    }

    #[test]
    fn a_quiet_boot_begins_where_the_clock_begins_anew_after_an_end() {
        let quiet = "[    0.016000] Failed to access perfctr msr (MSR c1 is 0)\nwelcome\n";
        for end in [
            "reboot: Restarting system",
            "reboot: Power down",
            "Restarting system.",
        ] {
            let a = format!("{}[   12.000000] {end}\n", boot(0));
            assert_eq!(cut(&[&*a, quiet].concat()), [&*a, quiet], "{end}");
        }
        // A CPU whose clock is not set yet says so, too.
        let on = format!("{}[   12.000000] random: 7 urandom warnings\n", boot(0));
        assert!(cut(&[&*on, quiet].concat()).is_empty());
    }

    #[test]
    fn boots_longer_than_a_first_look_are_found() {
        let long = |ms: u32| {
            let late = |n: u32| {
                format!(
                    "[   {:9.6}] usb: device {n}\n",
                    1.0 + f64::from(n * 2_u32 + ms) / 1e3
                )
            };
            boot(ms) + &(0..20_000).map(late).collect::<String>()
        };
        let (a, b) = (long(0), long(1));
        assert!(a.len() > 2 * FIRST);
        assert_eq!(cut(&[&*a, &b].concat()), [&*a, &*b]);
    }

    #[test]
    fn what_is_no_text_is_not_even_read() {
        let dir = std::env::temp_dir().join(format!("bootlap-cuts-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let file = dir.join("log");
        let both = [boot(0), boot(1)].concat();
        std::fs::write(&file, &both).unwrap();
        assert_eq!(text(&file).unwrap(), both.as_bytes());
        assert_eq!(each(&file), [name(&file, 1), name(&file, 2)]);
        let file = dir.join("binary");
        std::fs::write(&file, ["\0", &both].concat()).unwrap();
        assert_eq!(text(&file).unwrap(), b"");
        assert_eq!(each(&file), [file]);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn what_is_blank_moves_no_line() {
        let text = b"one\ntwo\r\nthree\nfour\n".to_vec();
        assert_eq!(only(text, &(4..15)), b"   \ntwo\r\nthree\n");
    }

    #[test]
    fn a_number_is_no_name() {
        let number = |path: &str| numbered(Path::new(path)).map(|(_, number)| number);
        assert_eq!(number("/none/boot.log#2"), Some(2));
        assert_eq!(number("/none/boot.log#0"), None);
        assert_eq!(number("/none/boot#b.log"), None);
        assert_eq!(number("/none/boot.log"), None);
    }
}
