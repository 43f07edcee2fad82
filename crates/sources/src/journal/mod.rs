//! The systemd journal, as `journalctl` prints it.
//!
//! ```text
//! {"MESSAGE":"Starting devices.service - …","__MONOTONIC_TIMESTAMP":"5622406","UNIT":"devices.service", …
//! __MONOTONIC_TIMESTAMP=5622406                                              -o export
//! [    5.622406] host systemd[1]: Starting devices.service - …               -o short-monotonic
//! Apr 27 19:48:58 host systemd[1]: Starting devices.service - …              -o short; syslog files
//! Mon 2026-04-27 19:48:58.664271 UTC [s=5963…;i=665;b=cbf7…;m=55ca86;…]      -o verbose
//! ```
//!
//! `-o json` (also `-pretty`, `-sse`, `-seq`), `export` and `verbose` have all
//! times of a message ([`clocks`]); `short-monotonic` and `short-delta` have one,
//! which for kernel messages is the kernel's own up to systemd 253 and the time
//! of receipt later (seen in 252 and 257); the other short forms have the wall
//! clock's only. All are told by their lines. `-o cat` has no times and is not
//! of this format.
//!
//! Messages become console text; the kernel's are understood as on a console
//! (initcalls, milestones); what the service manager says of units becomes
//! spans. Of a journal with several boots the first one that has its beginning is
//! taken; where nothing tells boots apart ([`next_boot`]), the kernel's first line and
//! a second `Startup finished` do.

mod clocks;
mod date;
mod emit;
mod export;
mod messages;
mod next_boot;
mod row;
mod short;

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use bootlap_model::{Severity, Timeline};

use self::next_boot::NextBoot;
use self::row::Row;
use crate::json::{Item, Json};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "journal",
    title: "systemd journal",
    looks_like: "what `journalctl` prints (json, export, short-monotonic …), or a syslog file",
    sniff,
    read,
    together: None,
};

/// How much is looked at to tell the export format from text.
const PEEK: u64 = 4096;

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut head = Vec::new();
    (&mut *input.bytes).take(PEEK).read_to_end(&mut head)?;
    let mut bytes = io::Cursor::new(&head).chain(input.bytes);
    if export::is_export(&head) {
        return read_export(&mut bytes, input.label, out);
    }
    let input = Input {
        label: input.label,
        bytes: &mut bytes,
        hints: input.hints,
    };
    text::read(input, &SOURCE, out, &mut JournalReader::default())
}

fn read_export(
    bytes: &mut dyn BufRead,
    label: &str,
    out: &mut Timeline,
) -> Result<(), SourceError> {
    let mut import = Import::new(out, label, SOURCE.name);
    let mut collected = Collected::default();
    export::read(bytes, &mut import, &mut collected)?;
    collected.finish(&mut import);
    import.finish();
    Ok(())
}

fn sniff(head: &[u8]) -> Sniff {
    if export::is_export(head) {
        return Sniff::percent(97);
    }
    let begin = head.iter().position(|b| *b > b' ' && *b != 0x1e);
    let start = &head[begin.unwrap_or(0)..];
    let start = start.strip_prefix(b"data: ").unwrap_or(start);
    if start.starts_with(b"{") {
        let keys: [&[u8]; 3] = [
            b"\"__REALTIME_TIMESTAMP\"",
            b"\"__MONOTONIC_TIMESTAMP\"",
            b"\"__CURSOR\"",
        ];
        let has = |key: &&[u8]| memchr::memmem::find(start, key).is_some();
        return match keys.iter().any(has) {
            true => Sniff::percent(97),
            false => Sniff::NO,
        };
    }
    let mut shorts = Shorts::default();
    for line in text::head_lines(head).take(200) {
        if is_verbose(text::valid(line)).is_some() {
            return Sniff::percent(97);
        }
        shorts.line(line);
    }
    shorts.sniff()
}

/// What the first lines have in common, if they are messages.
#[derive(Default)]
struct Shorts {
    lines: usize,
    messages: usize,
    /// With the host of the first one.
    of_host: usize,
    /// From the kernel, or with a pid.
    named: usize,
    kernels: usize,
    monotonic: usize,
    host: Option<Box<str>>,
}

impl Shorts {
    fn line(&mut self, line: &[u8]) {
        let indented = line.starts_with(b"   ");
        if marker(text::valid(line)).is_some() || (indented && self.messages > 0) {
            return;
        }
        self.lines += 1;
        if let Some(short) = short::parse(line) {
            let host = self.host.get_or_insert_with(|| short.host.into());
            self.messages += 1;
            self.of_host += usize::from(&**host == short.host);
            self.kernels += usize::from(short.row.is_kernels());
            self.named += usize::from(short.row.is_kernels() || !short.row.pid.is_empty());
            self.monotonic += usize::from(short.row.mono_ns.is_some());
        }
    }

    fn sniff(&self) -> Sniff {
        let most = |n: usize| n > 0 && n * 10 >= self.lines * 9;
        // The kernel's own log has words with a colon in the same places, but
        // not one host, and no `kernel:`.
        let host = self.host.as_deref().unwrap_or_default();
        let told = self.named * 2 >= self.messages && (!host.is_empty() || self.kernels > 0);
        if !most(self.messages) || !most(self.of_host) || !told {
            return Sniff::NO;
        }
        match (self.messages, self.monotonic) {
            (1..3, _) => Sniff::percent(70),
            // A syslog file of kernel messages alone is the kernel's log.
            (n, 0) if self.kernels == n => Sniff::percent(66),
            (_, 0) => Sniff::percent(88),
            _ => Sniff::percent(92),
        }
    }
}

/// `-- Boot cbf717ef… --` and other lines that journalctl writes between
/// messages; `Some(true)` if another boot begins.
fn marker(text: &str) -> Option<bool> {
    let inside = text.trim().strip_prefix("-- ")?;
    let boot = inside.starts_with("Boot ") || inside.starts_with("Reboot");
    let known = [
        "Logs begin",
        "Journal begins",
        "No entries",
        "cursor:",
        "Data was",
    ];
    let other = known.iter().any(|k| inside.starts_with(k)) || inside.ends_with(" --");
    (boot || other).then_some(boot)
}

/// The head of a message of `-o verbose`: `date zone [s=…;b=…]`.
fn is_verbose(text: &str) -> Option<()> {
    let (_, rest) = date::leading(text)?;
    (rest.starts_with("[s=") && rest.ends_with(']')).then_some(())
}

/// The messages so far, by boot.
#[derive(Default)]
struct Collected {
    boots: Vec<Boot>,
    index: HashMap<Box<str>, usize>,
    /// How many times another boot began, where no message says of which boot it is.
    begun: u32,
    next_boot: NextBoot,
}

#[derive(Default)]
struct Boot {
    rows: Vec<Row>,
    /// Its beginning is there.
    begins: bool,
}

/// No journal has more boots that matter.
const MAX_BOOTS: usize = 4096;

impl Collected {
    /// Adds a message that says of which boot it is.
    fn add(&mut self, row: Row, boot: Box<str>, import: &mut Import<'_>) {
        let Some(at) = row.at else { return };
        if row.logged_ns.is_none() && row.mono_ns.is_none() && row.real_ns.is_none() {
            for _ in 0..row.lines {
                import.skip(
                    at,
                    Skip::lost(
                        "no-time",
                        "these messages have no time: use `journalctl -b -o json` or `-o short-monotonic`",
                    ),
                );
            }
            return;
        }
        let next = self.boots.len().min(MAX_BOOTS - 1);
        let index = *self.index.entry(boot).or_insert(next);
        if index == self.boots.len() {
            self.boots.push(Boot::default());
        }
        let boot = &mut self.boots[index];
        boot.begins |= next_boot::is_its_beginning(&row);
        boot.rows.push(row);
    }

    /// Adds a message that does not: it is of the boot of the one before, or begins another.
    fn add_next(&mut self, row: Row, import: &mut Import<'_>) {
        if self.next_boot.begins_with(&row) {
            self.begun += 1;
        }
        self.add(row, self.now(), import);
    }

    /// A line between messages says that another boot begins.
    fn begin(&mut self) {
        self.next_boot = NextBoot::default();
        self.begun += 1;
    }

    /// What the boot is called that is being read, where no message says it.
    fn now(&self) -> Box<str> {
        self.begun.to_string().into()
    }

    /// The last message of that boot.
    fn last(&mut self) -> Option<&mut Row> {
        let now = *self.index.get(&self.now())?;
        self.boots[now].rows.last_mut()
    }

    /// There are no more: takes the first boot that has its beginning, else the one with
    /// the most messages.
    fn finish(self, import: &mut Import<'_>) {
        let first = self.boots.iter().position(|boot| boot.begins);
        let most = || (0..self.boots.len()).max_by_key(|i| self.boots[*i].rows.len());
        let first = first.or_else(most).unwrap_or(0);
        for (i, boot) in self.boots.into_iter().enumerate() {
            if i == first {
                emit::emit(boot.rows, import);
                continue;
            }
            for row in boot.rows {
                let Some(at) = row.at else { continue };
                for _ in 0..row.lines {
                    import.skip(at, if i < first { EARLIER } else { ANOTHER });
                }
            }
        }
    }
}

const ANOTHER: Skip = Skip {
    code: "another-boot",
    severity: Severity::Notice,
    remedy: "the journal holds several boots, and only the first one was read: `FILE#2` names the second (or ask for one with `journalctl -b -1`)",
};

const EARLIER: Skip = Skip {
    code: "end-of-an-earlier-boot",
    severity: Severity::Info,
    remedy: "these messages are the end of an earlier boot, and are left out: the boot that begins behind them was read",
};

const EXPECTED: Skip = Skip::unknown(
    "expected messages as `journalctl` prints them: use `journalctl -b -o json` or `-o short-monotonic`",
);

/// Reads a journal that is text.
#[derive(Default)]
pub(crate) struct JournalReader {
    collected: Collected,
    json: Json,
    /// The message whose fields are being read, and its boot.
    row: Row,
    boot: Box<str>,
    in_verbose: bool,
}

impl JournalReader {
    fn json(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Option<Result<(), Skip>> {
        let text = line.text.trim_ascii();
        let text = text.strip_prefix(b"data: ").unwrap_or(text);
        if !self.json.inside() && !text.starts_with(b"{") {
            return None;
        }
        let (row, boot, collected) = (&mut self.row, &mut self.boot, &mut self.collected);
        if self.json.inside() {
            row.lines += 1;
        }
        // A line counts with the first message that ends in it.
        let mut lines = 1;
        let clean = self.json.line(text, &mut |item| match item {
            Item::Begin(_) => {
                *row = Row {
                    at: Some(line.at),
                    lines,
                    err_ns: 1_000,
                    ..Row::default()
                };
                *boot = Box::default();
            }
            Item::Field(key, value) => row.field(key, value, boot),
            Item::End(_) => {
                lines = 0;
                if let Some(at) = &mut row.at {
                    at.end = at.end.max(line.at.end);
                }
                collected.add(std::mem::take(row), std::mem::take(boot), import);
            }
        });
        if clean {
            return Some(Ok(()));
        }
        self.json.reset();
        if lines == 0 {
            // A message ended in this line, which is used by that.
            import.notice(EXPECTED.code, EXPECTED.severity, line.at, EXPECTED.remedy);
            return Some(Ok(()));
        }
        Some(Err(EXPECTED))
    }

    fn flush_verbose(&mut self, import: &mut Import<'_>) {
        if std::mem::take(&mut self.in_verbose) {
            let (row, boot) = (
                std::mem::take(&mut self.row),
                std::mem::take(&mut self.boot),
            );
            self.collected.add(row, boot, import);
        }
    }

    fn verbose(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> bool {
        let text = line.str();
        if is_verbose(text).is_some() {
            self.flush_verbose(import);
            self.in_verbose = true;
            self.row = Row {
                at: Some(line.at),
                lines: 1,
                err_ns: 1_000,
                ..Row::default()
            };
            let cursor = text
                .rsplit_once('[')
                .map_or("", |(_, c)| c.trim_end_matches(']'));
            for part in cursor.split(';') {
                let us = |hex| i64::from_str_radix(hex, 16).ok()?.checked_mul(1_000);
                match part.split_once('=') {
                    Some(("m", hex)) => self.row.mono_ns = us(hex),
                    Some(("t", hex)) => self.row.real_ns = us(hex),
                    Some(("b", id)) => self.boot = id.into(),
                    _ => {}
                }
            }
            return true;
        }
        if !self.in_verbose || !text.starts_with("    ") {
            return false;
        }
        self.row.lines += 1;
        self.row.at.get_or_insert(line.at).end = line.at.end;
        let field = line.text.trim_ascii_start();
        if let Some(equals) = memchr::memchr(b'=', field) {
            self.row
                .field(&field[..equals], &field[equals + 1..], &mut self.boot);
        }
        true
    }

    fn short(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> bool {
        let Some(short) = short::parse(line.text) else {
            return false;
        };
        let mut row = short.row;
        row.at = Some(line.at);
        row.lines = 1;
        self.collected.add_next(row, import);
        true
    }
}

impl Reader for JournalReader {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        if let Some(result) = self.json(line, import) {
            return result;
        }
        if self.verbose(line, import) {
            return Ok(());
        }
        self.flush_verbose(import);
        if let Some(boot) = marker(line.str()) {
            if boot {
                self.collected.begin();
            }
            return Ok(());
        }
        if self.short(line, import) {
            return Ok(());
        }
        // A message of several lines is indented up to where its text begins.
        if line.text.starts_with(b"    ")
            && let Some(row) = self.collected.last()
        {
            row.more(line.text.trim_ascii());
            return Ok(());
        }
        match line.str() {
            "]" | "[" => Ok(()),
            _ => Err(EXPECTED),
        }
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.flush_verbose(import);
        if self.json.inside() {
            let (row, boot) = (
                std::mem::take(&mut self.row),
                std::mem::take(&mut self.boot),
            );
            if let Some(at) = row.at {
                export::cut(at, import);
                self.collected.add(row, boot, import);
            }
        }
        std::mem::take(&mut self.collected).finish(import);
    }
}
