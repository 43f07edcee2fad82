//! The times that EFI boot loaders leave in EFI variables.
//!
//! ```text
//! $ xxd /sys/firmware/efi/efivars/LoaderTimeInitUSec-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f
//! 00000000: 0600 0000 3800 3300 3400 3600 3400 3100  ....8.3.4.6.4.1.
//! 00000010: 3100 0000                                1...
//! ```
//!
//! Written by systemd-boot and systemd's EFI stub (GRUB, rEFInd and others do
//! so, too): `LoaderTimeInitUSec` when the loader begins, `LoaderTimeExecUSec`
//! when it starts the kernel, `LoaderTimeMenuUSec` when its menu was left. µs
//! of the processor's counter, in decimal, as UTF-16; in efivarfs after four
//! bytes of attributes. Also as text: `efivar -p`, dumps with the file's name,
//! `LoaderTimeInitUSec=8346411`.
//!
//! Only the name tells which of them a file is; the loader's other variables
//! beside them (`LoaderInfo`, `LoaderEntrySelected`) tell no times. The
//! counter is not reset by some warm reboots: the firmware then seems to take
//! as long as the machine was up before.

use std::io::{self, Read};

use bootlap_model::{
    ClockKind, Evidence, Milestone, Severity, SpanEnd, Stamp, Timeline, TrackKind,
};

use crate::binary::{self, Order};
use crate::parts::{self, Part, Parts, base};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError, together};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "efi",
    title: "times that an EFI boot loader left",
    looks_like: "the EFI variables LoaderTimeInitUSec and LoaderTimeExecUSec",
    sniff,
    read,
    together: together(is_part, read_parts),
};

const UNIT_NS: i64 = 1_000;

/// Four bytes of attributes, 20 digits, a NUL.
const MAX_VARIABLE: u64 = 4 + 2 * 21;

/// No firmware takes ten minutes.
const TOO_LONG_NS: i64 = 600_000_000_000;

fn sniff(head: &[u8]) -> Sniff {
    if variable(head).is_some() {
        return Sniff::percent(95);
    }
    if is_text_variable(head) {
        return Sniff::LIKELY;
    }
    let named = |l: &[u8]| Which::of(text::valid(l)).is_some();
    let known = |l: &[u8]| named(l) || hex(text::valid(l)).is_some() || is_frame(text::valid(l));
    let (known, all) = text::count_lines(head, 100, known);
    let (named, _) = text::count_lines(head, 100, named);
    match named {
        0 => Sniff::NO,
        _ if known * 2 >= all => Sniff::SURE,
        _ => Sniff::MAYBE,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    parts::read_one(input, &SOURCE, out, Times::default())
}

fn is_part(name: &str, _head: &[u8]) -> bool {
    About::of(base(name)) != About::Unknown
}

fn read_parts(parts: Vec<Input<'_>>, out: &mut Timeline) -> Result<(), SourceError> {
    parts::read_all(parts, &SOURCE, out, Times::default())
}

/// What the name of a part says.
#[derive(Clone, Copy, PartialEq)]
enum About {
    Time(Which),
    /// A variable that tells no time.
    Other,
    Unknown,
}

impl About {
    fn of(name: &str) -> Self {
        match Which::of(name) {
            Some(which) => Self::Time(which),
            None if is_variable_name(name) => Self::Other,
            None => Self::Unknown,
        }
    }
}

/// The place of all of a small file.
fn whole_of(import: &Import<'_>, bytes: &[u8]) -> Evidence {
    Evidence::whole(import.file, bytes.len() as u64)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Init,
    Menu,
    Exec,
}

const NAMES: [(Which, &str, &str); 3] = [
    (Which::Init, "LoaderTimeInitUSec", "boot loader begins"),
    (Which::Menu, "LoaderTimeMenuUSec", "boot menu is left"),
    (
        Which::Exec,
        "LoaderTimeExecUSec",
        "boot loader starts the kernel",
    ),
];

impl Which {
    fn of(name: &str) -> Option<Self> {
        let known = NAMES.iter().find(|(_, known, _)| name.contains(known));
        known.map(|(which, ..)| *which)
    }
}

/// What was read of one boot.
#[derive(Default)]
struct Times {
    known: Vec<(Which, i64, Evidence)>,
    /// The first of the loader's other variables.
    others: Option<Evidence>,
}

impl Times {
    fn add(&mut self, which: Option<Which>, us: u64, at: Evidence) -> Result<(), Skip> {
        let which = which.ok_or(Skip::lost(
            "which-variable",
            "only the name of an EFI variable tells what its time is of: keep the names, and give the files of one folder together",
        ))?;
        let ns = i64::try_from(us)
            .ok()
            .and_then(|us| us.checked_mul(UNIT_NS));
        let ns = ns.ok_or(Skip::lost(
            "impossible-time",
            "these times are longer than any boot: is the variable what it seems to be?",
        ))?;
        if self.known.iter().any(|(known, ..)| *known == which) {
            return Err(Skip::lost(
                "time-given-twice",
                "there are two times for one moment, and only the first was used: read one boot at a time",
            ));
        }
        self.known.push((which, ns, at));
        Ok(())
    }

    fn get(&self, which: Which) -> Option<(Stamp, Evidence)> {
        let found = self.known.iter().find(|(w, ..)| *w == which);
        found.map(|(_, ns, at)| (Stamp::new(*ns, UNIT_NS as u32), *at))
    }
}

impl Parts for Times {
    fn part(&mut self, file: Part<'_>, import: &mut Import<'_>) -> io::Result<()> {
        let Part { name, bytes } = file;
        let head = binary::head(bytes, MAX_VARIABLE + 1)?;
        let about = About::of(name);
        // `LoaderConfigTimeout` is a number, too.
        let other = about == About::Other;
        let which = match about {
            About::Time(which) => Some(which),
            About::Other | About::Unknown => None,
        };
        if let (Some(us), false) = (variable(&head), other) {
            let at = whole_of(import, &head);
            import.count_lines(1);
            if let Err(skip) = self.add(which, us, at) {
                import.skip(at, skip);
            }
        } else if is_text_variable(&head) || (is_attributes(&head) && other) {
            import.count_lines(1);
            self.others.get_or_insert(whole_of(import, &head));
        } else {
            let mut reader = Dump {
                times: self,
                which,
                bytes: Vec::new(),
                at: None,
            };
            import.read(&mut head.chain(bytes), &mut reader)?;
        }
        Ok(())
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        if self.known.is_empty() {
            if let Some(at) = self.others {
                import.notice(
                    "no-loader-times",
                    Severity::Notice,
                    at,
                    "the boot loader left no times: systemd-boot leaves some where it can tell how fast the processor's counter is, which in QEMU without KVM it cannot",
                );
            }
            return;
        }
        let clock = import.clock(ClockKind::Firmware);
        for (which, _, name) in NAMES {
            if let Some((stamp, at)) = self.get(which) {
                import.mark(clock, stamp, name, at);
            }
        }
        let (init, exec) = (self.get(Which::Init), self.get(Which::Exec));
        if let Some((begin, at)) = init {
            import.milestone(clock, begin, Milestone::FirmwareDone, at);
            import.milestone(clock, begin, Milestone::BootloaderStart, at);
            let track = (TrackKind::Firmware, "firmware");
            let zero = Stamp::new(0, UNIT_NS as u32);
            import.span(
                clock,
                track,
                "firmware",
                (zero, SpanEnd::At(begin)),
                &[],
                at,
            );
            if begin.ns > TOO_LONG_NS {
                import.notice(
                    "counter-not-reset",
                    Severity::Notice,
                    at,
                    "the processor's counter was not reset by a warm reboot, so the firmware seems to take too long: switch the machine off and on, and read the times again",
                );
            }
        }
        if let Some((end, at)) = exec {
            import.milestone(clock, end, Milestone::BootloaderHandover, at);
        }
        if let (Some((begin, at)), Some((end, _))) = (init, exec) {
            let track = (TrackKind::Bootloader, "boot loader");
            import.span(
                clock,
                track,
                "boot loader",
                (begin, SpanEnd::At(end)),
                &[],
                at,
            );
        }
    }
}

/// The number in a variable as efivarfs shows it.
fn variable(bytes: &[u8]) -> Option<u64> {
    let fits = is_attributes(bytes) && bytes.len() as u64 <= MAX_VARIABLE;
    fits.then(|| utf16_number(&bytes[4..]))?
}

/// Whether it begins like a file of efivarfs.
fn is_attributes(bytes: &[u8]) -> bool {
    const ALL: u32 = 0x7f;
    let attributes = binary::u32_at(bytes, 0, Order::Little);
    attributes.is_some_and(|a| a != 0 && a <= ALL)
}

/// `LoaderInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f`.
fn is_variable_name(label: &str) -> bool {
    let mut groups = label.rsplit('-');
    let is = |len: usize| move |g: &str| g.len() == len && g.bytes().all(|b| b.is_ascii_hexdigit());
    [12, 4, 4, 4, 8]
        .into_iter()
        .all(|len| groups.next().is_some_and(is(len)))
        && groups.next().is_some()
}

/// Another variable of a boot loader: plain text in UTF-16, of which the
/// beginning will do.
fn is_text_variable(bytes: &[u8]) -> bool {
    let text = bytes.get(4..).unwrap_or_default();
    let text = &text[..text.len().min(40) & !1];
    let plain = |pair: &[u8]| pair[1] == 0 && matches!(pair[0], 0 | b' '..=b'~');
    is_attributes(bytes) && text.len() >= 4 && text[0] != 0 && text.chunks_exact(2).all(plain)
}

/// Decimal digits in UTF-16, with or without a NUL after them.
fn utf16_number(bytes: &[u8]) -> Option<u64> {
    let digits = bytes.strip_suffix(&[0, 0]).unwrap_or(bytes);
    if digits.is_empty() || !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).try_fold(0u64, |n, pair| {
        let digit =
            (pair[1] == 0 && pair[0].is_ascii_digit()).then(|| u64::from(pair[0] - b'0'))?;
        n.checked_mul(10)?.checked_add(digit)
    })
}

/// Reads dumps and `name=number`.
struct Dump<'t> {
    times: &'t mut Times,
    which: Option<Which>,
    bytes: Vec<u8>,
    at: Option<Evidence>,
}

impl Dump<'_> {
    /// What was dumped up to here.
    fn end(&mut self, import: &mut Import<'_>) {
        let bytes = std::mem::take(&mut self.bytes);
        let Some(at) = self.at.take() else { return };
        let added = match variable(&bytes).or_else(|| utf16_number(&bytes)) {
            Some(us) => self.times.add(self.which, us, at),
            None => Err(UNKNOWN),
        };
        if let Err(skip) = added {
            import.skip(at, skip);
        }
    }
}

const UNKNOWN: Skip = Skip::unknown(
    "expected `LoaderTimeInitUSec=8346411`, or the name of the variable and a dump of its bytes",
);

impl Reader for Dump<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let text = line.str().trim();
        if let Some(bytes) = hex(text) {
            if self.bytes.len() as u64 <= MAX_VARIABLE {
                self.bytes.extend(bytes);
            }
            self.at.get_or_insert(line.at);
            return Ok(());
        }
        self.end(import);
        let which = Which::of(text);
        let value = text.rsplit([':', '=', ' ', '\t']).next();
        let us = value.and_then(|v| v.trim_matches('"').parse().ok());
        match (which, us) {
            (Some(which), Some(us)) => self.times.add(Some(which), us, line.at),
            (None, Some(us)) if value == Some(text) => {
                self.times.add(self.which.take(), us, line.at)
            }
            (Some(which), None) => {
                self.which = Some(which);
                Ok(())
            }
            _ if is_frame(text) => Ok(()),
            _ => Err(UNKNOWN),
        }
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.end(import);
    }
}

/// What `efivar -p` prints around the value, and the ends of dumps.
fn is_frame(text: &str) -> bool {
    let text = text.trim();
    [
        "GUID:",
        "Name:",
        "Attributes:",
        "Value:",
        "Non-Volatile",
        "Boot Service",
        "Runtime Service",
    ]
    .iter()
    .any(|w| text.starts_with(w))
        || (text.len() == 8 && text.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The bytes of a line of `hexdump -C`, `xxd` or `efivar -p`.
fn hex(text: &str) -> Option<Vec<u8>> {
    let (offset, rest) = text.split_once([' ', ':'])?;
    let is_offset = offset.len() == 8 && offset.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_offset {
        return None;
    }
    // The text column is after a bar, or after two spaces (xxd).
    let rest = rest.split('|').next()?.trim_start_matches([' ', ':']);
    let words = rest.split_whitespace();
    let mut bytes = Vec::new();
    for word in words {
        let even = word.len() == 2 || word.len() == 4;
        if !even || !word.bytes().all(|b| b.is_ascii_hexdigit()) || bytes.len() >= 16 {
            break;
        }
        let pairs = word.as_bytes().chunks_exact(2);
        bytes.extend(pairs.filter_map(|p| u8::from_str_radix(text::valid(p), 16).ok()));
    }
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn variables() {
        let with = |text| [&[6, 0, 0, 0][..], &utf16(text)].concat();
        assert_eq!(variable(&with("8346411\0")), Some(8_346_411));
        assert_eq!(variable(&with("1")), Some(1));
        for bad in ["", "\0", "1x", "99999999999999999999", "1\0x"] {
            assert_eq!(variable(&with(bad)), None, "{bad:?}");
        }
        assert_eq!(variable(&[0; 6]), None);
        assert_eq!(variable(b"1234567"), None);
    }

    #[test]
    fn other_variables() {
        let with = |text| [&[6, 0, 0, 0][..], &utf16(text)].concat();
        assert!(is_text_variable(&with("systemd-boot 257.13-1~deb13u1\0")));
        assert!(!is_text_variable(&with("a")));
        assert!(!is_text_variable(b"plain text, \n and more of it"));
        let guid = "-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";
        assert!(is_variable_name(&format!("efivars/LoaderFeatures{guid}")));
        assert!(!is_variable_name(guid.trim_start_matches('-')));
        assert!(!is_variable_name("some-file-name"));
    }

    #[test]
    fn dumps() {
        let xxd = "00000000: 0600 0000 3800 3300  ....8.3.";
        assert_eq!(hex(xxd), Some(vec![6, 0, 0, 0, 0x38, 0, 0x33, 0]));
        let canonical = "00000000  31 00 32 00 00 00  |1.2...|";
        assert_eq!(hex(canonical), Some(vec![0x31, 0, 0x32, 0, 0, 0]));
        assert_eq!(hex("12 34"), None);
    }
}
