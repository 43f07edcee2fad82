//! Consoles: what a machine says on its serial line while it boots.
//!
//! ```text
//! U-Boot 2023.01+dfsg-2+deb12u3 (Jun 22 2026 - 08:38:07 +0000)
//! Hit any key to stop autoboot:  0
//! Starting kernel ...
//! [    0.000000] Linux version 6.1.0-50-arm64 (debian-kernel@lists.debian.org) …
//! [    1.665361] Run /init as init process
//! Starting syslogd: OK
//! ```
//!
//! Printed by the boot loader, the kernel and user space in turn; sometimes by
//! two of them at a time, when a kernel line lands in the middle of another.
//!
//! Two sources share one pipeline: bytes → lines ([`line`]) → recognisers
//! ([`bootloader`], [`pc_loader`], [`kernel`], [`userspace`], [`hints`]) → events ([`out`]).
//!
//! - [`STAMPS`] knows when each byte was sent ([`crate::stamps`]), in ns since
//!   power-on. It shows everything.
//! - [`CONSOLE`] has bytes only. Kernel lines carry a time (s since the
//!   kernel's clock started, cut to µs); the other lines have none, and are
//!   skipped and counted.
//!
//! Offsets and lines of events are those of the console bytes in both cases:
//! a run keeps the same bytes raw beside the stamps.

mod analysed;
pub(crate) mod bootloader;
mod clock;
pub(crate) mod daemons;
mod devices;
pub(crate) mod hints;
mod image;
mod initcall;
mod jobs;
pub(crate) mod kernel;
mod late;
pub(crate) mod line;
mod log;
pub(crate) mod numbers;
pub(crate) mod out;
mod pc_loader;
pub(crate) mod printk;
mod reading;
mod sending;
mod session;
mod uptime;
mod userspace;
mod vendor;

use bootlap_model::{Severity, Timeline};

pub(crate) use self::daemons::RC_TRACK;
pub(crate) use self::log::KernelLog;
pub(crate) use self::out::shown;
pub(crate) use self::reading::Reading;
pub(crate) use self::session::Session;

use self::bootloader::BootLoader;
use crate::agent::Printed;
use crate::colours::clean_line;
use crate::{Input, Sniff, Source, SourceError};
use bootlap_wire::stamps::{self, Header, HeaderError, OpenError, Reader, Record};

/// A console with a stamp for each byte.
pub(crate) static STAMPS: Source = Source {
    name: "stamps",
    title: "console with a stamp for each byte",
    looks_like: "the magic number of a file that `bootlap boot` or `bootlap capture` wrote",
    sniff: sniff_stamps,
    read: read_stamps,
    together: None,
};

/// Console bytes without stamps.
pub(crate) static CONSOLE: Source = Source {
    name: "console",
    title: "console bytes",
    looks_like: "text, with kernel lines ([    0.123456] …) or a boot loader's banner",
    sniff,
    read,
    together: None,
};

fn sniff_stamps(head: &[u8]) -> Sniff {
    match Header::decode(head) {
        Ok(_) | Err(HeaderError::Version(_) | HeaderError::Clock(_)) => Sniff::CERTAIN,
        Err(HeaderError::Short(n)) if n >= stamps::MAGIC.len() => Sniff::CERTAIN,
        Err(_) => Sniff::NO,
    }
}

fn read_stamps(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut reader = Reader::new(input.bytes).map_err(|e| match e {
        OpenError::Io(e) => SourceError::Io(e),
        OpenError::Header(e) => SourceError::NotThisFormat {
            format: STAMPS.name,
            why: e.to_string(),
        },
    })?;
    let clock = (reader.header().clock, reader.zero());
    let names = (input.label, STAMPS.name);
    let mut session = Session::new(out, input.hints, names, Some(clock));
    while let Some(record) = reader.record()? {
        match record {
            Record::Byte { at, byte } => session.byte(byte, at),
            Record::Mark { at, mark } => session.probe_mark(mark, at),
            Record::Detail {
                first,
                second,
                code,
            } => session.detail(first, second, code),
            Record::Event { at, event } => session.event(event, at, reader.text()),
        }
    }
    if reader.torn() > 0 {
        session.notice(
            "torn-stamp",
            Severity::Info,
            "the last record is incomplete, because the machine was stopped while it was written: nothing else is lost",
        );
    }
    session.finish();
    Ok(())
}

/// Whether only a console has this line: one of user space's, without the kernel's time.
pub(crate) fn is_user_spaces(line: &[u8]) -> bool {
    if printk::parse(line).is_some() {
        return false;
    }
    let mut text = Vec::new();
    clean_line(line, &mut text);
    let text = text.trim_ascii();
    text.starts_with(b"[  OK  ] ") || hints::is_login_prompt(text)
}

fn sniff(head: &[u8]) -> Sniff {
    if head.is_empty() || !is_text(head) {
        return Sniff::NO;
    }
    let told = |line: &[u8]| {
        let line = line.trim_ascii();
        BootLoader::is_banner(line) || printk::parse(line).is_some() || Printed::is_line(line)
    };
    if head.split(|b| *b == b'\n').any(told) {
        Sniff::LIKELY
    } else {
        Sniff::MAYBE
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let names = (input.label, CONSOLE.name);
    let mut session = Session::new(out, input.hints, names, None);
    loop {
        let bytes = input.bytes.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        session.bytes(bytes);
        let n = bytes.len();
        input.bytes.consume(n);
    }
    session.finish();
    Ok(())
}

/// Whether nearly all bytes are text. Power-up glitches and a wrong baud rate
/// in the boot ROM leave some garbage in real consoles.
fn is_text(head: &[u8]) -> bool {
    let odd = |b: &&u8| !matches!(b, b'\t' | b'\n' | b'\r' | 0x08 | 0x1b | b' '..=b'~' | 0x80..);
    let odd = head.iter().filter(odd).count();
    odd * 10 <= head.len()
}
