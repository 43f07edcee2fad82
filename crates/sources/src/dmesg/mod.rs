//! The kernel's log: what `dmesg` prints, in any of its ways, and what system
//! loggers write of it.
//!
//! ```text
//! [    0.000000] Linux version 6.12.107+deb13-cloud-amd64 (debian-kernel@lists.debian.org) …
//! [    0.412350] calling  fuse_init+0x0/0x1a0 @ 1
//! [    0.413999] initcall fuse_init+0x0/0x1a0 returned 0 after 1630 usecs
//! [    2.104410] Run /init as init process
//! kern  :info  : [    2.104410] Run /init as init process          dmesg -x
//! 6,339,5140900,-;NET: Registered PF_INET6 protocol family         cat /dev/kmsg
//! Nov 21 13:05:59 host kernel: [    0.123456] smp: Brought up …    syslog
//! ```
//!
//! Times are s since the kernel's clock started, cut to µs; `dmesg -T` and
//! `--time-format iso` make wall-clock times of them. [`prefix`] shows all forms. What the lines mean is
//! understood by the recognisers of [`crate::console`]; initcalls by
//! `initcall_debug` or by `trace_event=initcall:*` with `tp_printk`.
//!
//! Quirks: the first lines of x86 and arm64 have the time 0; some kernels
//! stamp early lines with the CPU's counter, so that the clock steps back
//! once; a buffer that was too small lost its start; a message of several
//! lines has a prefix only on the first (util-linux), or on each (BusyBox).
//!
//! It differs from a console by what is *not* in it: no boot loader, no text
//! of user space, no CR LF.

mod json;
pub(crate) mod prefix;
mod reader;
mod syslog;

use bootlap_model::Timeline;

use self::json::JsonReader;
pub(crate) use self::reader::DmesgReader;
use self::syslog::SyslogReader;
use crate::console::bootloader::BootLoader;
use crate::console::{kernel, printk};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Hints, Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "dmesg",
    title: "kernel log",
    looks_like: "kernel lines only: `[    0.123456] text`, or what dmesg -T, -x, --json or syslog make of them",
    sniff,
    read,
    together: None,
};

/// How many lines of a head are looked at.
const LOOKED_AT: usize = 2_000;

fn sniff(head: &[u8]) -> Sniff {
    if is_json(head) {
        return Sniff::SURE;
    }
    let mut seen = Seen::default();
    for line in text::head_lines(head).take(LOOKED_AT) {
        if !seen.line(line) {
            return Sniff::NO;
        }
    }
    seen.verdict(ends_with_cr(head))
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut reader = reader(input.hints);
    text::read(input, &SOURCE, out, &mut *reader)
}

/// What the lines of a head are.
#[derive(Default)]
struct Seen {
    all: usize,
    /// With a prefix of the kernel's or of `dmesg`'s.
    kernel: usize,
    /// Those of them that only `dmesg` or `/dev/kmsg` writes.
    by_dmesg: usize,
    /// Those with another time in the text: the first is another program's.
    nested: usize,
    /// Those with a host and a program: the journal's.
    journal: usize,
    /// Without the white space that the kernel prints.
    trimmed: usize,
    /// Without a prefix, but with one behind other text: on a console programs print, too.
    glued: usize,
    /// With what only the kernel says.
    certain: usize,
    syslog: usize,
    syslog_of_kernel: usize,
    syslog_with_time: usize,
}

impl Seen {
    /// Counts one line; `false` if it cannot be in a kernel log.
    fn line(&mut self, line: &[u8]) -> bool {
        if BootLoader::is_banner(line.trim_ascii_start()) {
            return false;
        }
        if self.kernel > 0 && is_continued(line) {
            return true;
        }
        self.all += 1;
        if let Some(prefix) = prefix::parse(line) {
            let body = &line[prefix.body..];
            self.kernel += usize::from(prefix.time != prefix::Time::None);
            let own = printk::parse(line).is_some();
            let trimmed = !own && line[0] == b'[' && line[1].is_ascii_digit();
            self.trimmed += usize::from(trimmed);
            self.by_dmesg += usize::from(!own && !trimmed);
            self.nested += usize::from(prefix::parse(body).is_some());
            self.journal += usize::from(has_program(body));
            let certain = kernel::is_first_line(body) || body.starts_with(b"calling  ");
            self.certain += usize::from(certain);
            return !BootLoader::is_banner(body);
        }
        self.glued += usize::from(printk::find_glued(line, 0).is_some());
        if let Some(syslog) = prefix::syslog(line) {
            self.syslog += 1;
            self.syslog_of_kernel += usize::from(syslog.kernel);
            let with_time = syslog.kernel && printk::parse(&line[syslog.body..]).is_some();
            self.syslog_with_time += usize::from(with_time);
        }
        true
    }

    fn verdict(&self, cr: bool) -> Sniff {
        let most = |n: usize| n > 0 && n * 10 >= self.all * 9;
        let half = |n: usize| n * 2 > self.kernel;
        if most(self.kernel) {
            return match () {
                () if half(self.nested) => Sniff::NO,
                () if half(self.journal) => Sniff::MAYBE,
                () if half(self.by_dmesg) => Sniff::percent(85),
                // A console's kernel lines look the same, but for the CR.
                () if cr || self.glued > 0 => Sniff::percent(50),
                () if half(self.trimmed) && self.certain == 0 => Sniff::percent(30),
                () => Sniff::percent(80),
            };
        }
        match most(self.syslog) {
            true if self.syslog_with_time > 0 => Sniff::percent(70),
            true if self.syslog_of_kernel > 0 => Sniff::MAYBE,
            _ => Sniff::NO,
        }
    }
}

/// A reader of any form of the kernel's log.
pub(crate) fn reader(hints: &Hints) -> Box<dyn Reader + '_> {
    Box::new(AnyReader { hints, of: None })
}

/// Whether a line is one of the kernel's log, with a time.
pub(crate) fn is_line(line: &[u8]) -> bool {
    prefix::parse(line).is_some_and(|prefix| prefix.time != prefix::Time::None)
}

/// Whether a line has a host and a program, as the journal writes it.
pub(crate) fn is_of_journal(line: &[u8]) -> bool {
    is_syslog(line) || prefix::parse(line).is_some_and(|prefix| has_program(&line[prefix.body..]))
}

/// `host kernel: a`, `host systemd[1]: a`.
fn has_program(body: &[u8]) -> bool {
    let mut words = body.split(|b| *b == b' ');
    let (host, program) = (words.next(), words.next());
    let program = program.unwrap_or_default();
    host.is_some_and(|h| !h.is_empty() && !h.ends_with(b":"))
        && (program == b"kernel:" || program.ends_with(b"]:"))
}

/// ` SUBSYSTEM=pci`, after a record of `/dev/kmsg`; and what else belongs to
/// the line before. (systemd's `Starting …` is indented by nine.)
fn is_continued(line: &[u8]) -> bool {
    let indent = line.iter().take_while(|b| **b == b' ').count();
    line[0] == b'\t' || (1..9).contains(&indent)
}

/// Whether a line is one of a system logger: the kernel's, or of a program
/// with a process's number.
pub(crate) fn is_syslog(line: &[u8]) -> bool {
    prefix::syslog(line).is_some_and(|s| {
        let tag = line[s.tag..s.body].trim_ascii_end();
        s.kernel || tag.ends_with(b"]:")
    })
}

fn is_json(head: &[u8]) -> bool {
    let start = head.trim_ascii_start();
    let start = &start[..start.len().min(400)];
    let has = |what: &[u8]| memchr::memmem::find(start, what).is_some();
    start.first() == Some(&b'{')
        && (has(b"\"dmesg\"") || has(b"\"pri\"") && has(b"\"time\"") && has(b"\"msg\""))
}

/// Whether most lines end with CR LF.
fn ends_with_cr(head: &[u8]) -> bool {
    let lines = memchr::memchr_iter(b'\n', head).count();
    let cr = memchr::memmem::find_iter(head, b"\r\n").count();
    cr * 2 > lines
}

/// The reader that the first line asks for.
struct AnyReader<'h> {
    hints: &'h Hints,
    of: Option<Box<dyn Reader + 'h>>,
}

impl Reader for AnyReader<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let hints = self.hints;
        let of = self.of.get_or_insert_with(|| {
            if line.text.trim_ascii_start().starts_with(b"{") {
                return Box::new(JsonReader::new(DmesgReader::new(hints)));
            }
            let is_plain = prefix::parse(line.text).is_some();
            if !is_plain && prefix::syslog(line.text).is_some() {
                return Box::new(SyslogReader::new(hints));
            }
            Box::new(DmesgReader::new(hints))
        });
        of.line(line, import)
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        if let Some(of) = &mut self.of {
            of.finish(import);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::detect;

    #[test]
    fn where_programs_print_among_the_kernel_it_is_a_console() {
        let kernel: String = (0..40)
            .map(|n| format!("[    1.{n:03}000] usb 1-1: device {n}\n"))
            .collect();
        let is = |text: &str| detect(text.as_bytes()).map(|source| source.name);
        assert_eq!(is(&kernel), Some("dmesg"));
        // The rest of a message, or a time that a message tells, is none of theirs.
        let rest = format!("{kernel}the rest of it\n[    2.000000] at [    1.500000] it was\n");
        assert_eq!(is(&rest), Some("dmesg"));
        let among = format!("{kernel}Loading drivers...[    2.000000] st: Version 20101219\n ok\n");
        assert_eq!(is(&among), Some("console"));
    }
}
