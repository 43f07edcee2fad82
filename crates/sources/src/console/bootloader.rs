//! What U-Boot (and barebox, and GRUB) say while they load the kernel.
//!
//! ```text
//! U-Boot 2023.01+dfsg-2+deb12u3 (Jun 22 2026 - 08:38:07 +0000)
//! Loading Environment from Flash... OK
//! Hit any key to stop autoboot:  2 \b\b\b 1 \b\b\b 0
//! ## Loading kernel from FIT Image at 04100000 ...
//!      Compression:  gzip compressed
//!      Data Size:    11225723 Bytes = 10.7 MiB
//!    Verifying Hash Integrity ... crc32+ OK
//!    Uncompressing Kernel Image
//!    Loading Ramdisk to 5dcc0000, end 5ddb1090 ... OK
//! 11225723 bytes read in 512 ms (20.9 MiB/s)
//!
//! Starting kernel ...
//! ```
//!
//! U-Boot prints what it is about to do, does it, and prints how it went in
//! the same line. So a stage is the time *between two bytes of a line*: from
//! the last byte before the result to the first byte of it. Only stamped
//! consoles tell. Stages whose line has no result (`Uncompressing Kernel
//! Image` since 2019.10) last until the next line begins.

use bootlap_model::{Evidence, Milestone, Stamp, TrackKind};
use memchr::memmem;

use super::image::{Images, Part};
use super::line::{Between, Line, apart};
use super::out::{Out, shown};

const TRACK: (TrackKind, &str) = (TrackKind::Bootloader, "boot loader");

/// A stage that the next line ends.
struct Open {
    name: &'static str,
    start: Option<Stamp>,
    /// It ended some time before the next line.
    before: bool,
    args: Vec<(&'static str, String)>,
    evidence: Evidence,
}

/// What was understood of the boot loader so far.
#[derive(Default)]
pub(crate) struct BootLoader {
    images: Images,
    open: Option<Open>,
    /// A stage of the line before ended with this line.
    was_open: bool,
    pub(crate) seen: bool,
    pub(crate) handed_over: bool,
}

impl BootLoader {
    /// Whether the line is the banner of a boot loader.
    pub(crate) fn is_banner(text: &[u8]) -> bool {
        let digit = |rest: &[u8]| rest.first().is_some_and(u8::is_ascii_digit);
        if let Some(rest) = text.strip_prefix(b"U-Boot ") {
            let stages: [&[u8]; 3] = [b"SPL ", b"TPL ", b"VPL "];
            let stage = stages.iter().find_map(|s| rest.strip_prefix(*s));
            return digit(stage.unwrap_or(rest));
        }
        // GRUB says it before anything else; of a PC's firmware it ends the part that is
        // known (`GRUB loading` is the boot sector's, which only some disks have).
        text.starts_with(b"Welcome to GRUB!") || text.strip_prefix(b"barebox ").is_some_and(digit)
    }

    /// Looks at one line that is not blank.
    pub(crate) fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) {
        self.was_open = self.open.is_some();
        self.end_open(line.first(), out);
        let indent = line.text.len() - line.text.trim_ascii_start().len();
        let line = &line.part(indent..line.text.len());
        let text = line.text.trim_ascii_end();
        if Self::is_banner(text) {
            self.seen = true;
            let at = line.evidence(out.file);
            out.wire_milestone(Milestone::BootloaderStart, line.first(), at);
        } else if text.starts_with(b"Starting kernel") {
            self.handed_over = true;
            let at = line.evidence(out.file);
            out.wire_milestone(Milestone::BootloaderHandover, line.first(), at);
        } else if !self.images.line(text) {
            self.stage(line, text, out);
        }
    }

    /// The boot loader's last line was long ago.
    pub(crate) fn end_open(&mut self, at: Option<Stamp>, out: &mut Out<'_>) {
        if let Some(open) = self.open.take() {
            let mut at = at;
            if let (true, Some(start), Some(at)) = (open.before, open.start, &mut at) {
                at.err_ns = apart(start, *at);
            }
            span(out, open.name, (open.start, at), &open.args, open.evidence);
        }
    }

    fn stage(&mut self, line: &Line<'_>, text: &[u8], out: &mut Out<'_>) {
        let starts = |with: &str| text.starts_with(with.as_bytes());
        if is_autoboot(text) {
            self.autoboot(line, text, out);
        } else if starts("Loading Environment from ") {
            self.environment(line, text, out);
        } else if starts("Verifying Hash Integrity ... ") {
            self.hashes(line, text, out);
        } else if starts("Verifying Checksum ... ") {
            let mut args = self.images.args(None, Part::Size);
            args.push(("algo", "crc32".to_owned()));
            self.told(line, "hash check", args, out);
        } else if starts("Uncompressing ") {
            let args = self.images.args(Some("kernel"), Part::Compression);
            self.until_result_or_next(line, "uncompress kernel", args, out);
        } else if starts("Loading Kernel Image") || starts("XIP Kernel Image") {
            let args = self.images.args(Some("kernel"), Part::Size);
            self.until_result_or_next(line, "load kernel", args, out);
        } else if starts("Loading Ramdisk to ") {
            self.told(line, "load ramdisk", moved_bytes(text, 0), out);
        } else if starts("Loading Device Tree to ") {
            self.told(line, "load device tree", moved_bytes(text, 1), out);
        } else {
            self.storage(line, text, out);
        }
    }

    /// The wait ends with the line, because the countdown is in it; where the
    /// prompt is a line of its own (`CONFIG_AUTOBOOT_KEYED`), with the next.
    fn autoboot(&mut self, line: &Line<'_>, text: &[u8], out: &mut Out<'_>) {
        let evidence = line.evidence(out.file);
        let name = "autoboot wait";
        if line.is_stamped_at_end() {
            self.between(line, (0, 0), name, Vec::new(), out);
            return;
        }
        if text.last().is_some_and(u8::is_ascii_digit) && line.ended.is_some() {
            span(out, name, (line.first(), line.ended), &[], evidence);
            return;
        }
        self.open = Some(Open {
            name,
            start: line.first(),
            before: false,
            args: Vec::new(),
            evidence,
        });
    }

    /// `crc32+ sha256,rsa2048:my-key+ OK`: U-Boot prints an algorithm's name,
    /// computes, and prints `+ ` or `- `.
    fn hashes(&mut self, line: &Line<'_>, text: &[u8], out: &mut Out<'_>) {
        let mut from = b"Verifying Hash Integrity ... ".len();
        let mut algos = Vec::new();
        let evidence = line.evidence(out.file);
        let verdict = |w: &[u8]| matches!(w, b"+ " | b"- ");
        while let Some(len) = text[from..].windows(2).position(verdict) {
            let place = from + len;
            let algo = shown(text[from..place].trim_ascii_start()).into_owned();
            let mut args = self.images.args(None, Part::Size);
            if let Between::Moments(start, end) = line.between(place.saturating_sub(1), place)
                && !line.is_stamped_at_end()
            {
                args.push(("algo", algo));
                span(out, "hash check", (start, end), &args, evidence);
            } else {
                algos.push(algo);
            }
            from = place + 1;
        }
        // Where only the line has a stamp, its hashes are one stage.
        if !algos.is_empty() {
            let mut args = self.images.args(None, Part::Size);
            args.push(("algo", algos.join(" ")));
            self.between(line, (0, 0), "hash check", args, out);
        }
    }

    /// `Loading Environment from Flash... *** Warning - bad CRC, using default …`
    fn environment(&mut self, line: &Line<'_>, text: &[u8], out: &mut Out<'_>) {
        let Some(place) = result_of(text) else { return };
        let from = b"Loading Environment from ".len();
        let device = shown(&text[from..place]);
        let args = vec![
            ("from", device.trim_end_matches('.').to_owned()),
            ("result", shown(&text[place..]).into_owned()),
        ];
        self.told(line, "load environment", args, out);
    }

    /// Adds a span for a stage that its own line tells the end of: from the
    /// last byte of `... ` to the first byte of the result.
    fn told(
        &mut self,
        line: &Line<'_>,
        name: &'static str,
        args: Vec<(&'static str, String)>,
        out: &mut Out<'_>,
    ) {
        if let Some(place) = result_of(line.text) {
            self.between(line, (place - 1, place), name, args, out);
        }
    }

    /// Adds a span for what happened between two bytes.
    fn between(
        &mut self,
        line: &Line<'_>,
        (from, to): (usize, usize),
        name: &'static str,
        args: Vec<(&'static str, String)>,
        out: &mut Out<'_>,
    ) {
        let evidence = line.evidence(out.file);
        match line.between(from, to) {
            // The time since the line before is that stage's, nearly all.
            Between::Moments(Some(start), Some(end))
                if self.was_open && line.is_stamped_at_end() =>
            {
                let start = Stamp::new(end.ns, start.err_ns);
                span(out, name, (Some(start), Some(end)), &args, evidence);
            }
            Between::Moments(start, end) => span(out, name, (start, end), &args, evidence),
            Between::UntilNext(start) => {
                self.open = Some(Open {
                    name,
                    start: Some(start),
                    before: true,
                    args,
                    evidence,
                });
            }
        }
    }

    fn until_result_or_next(
        &mut self,
        line: &Line<'_>,
        name: &'static str,
        args: Vec<(&'static str, String)>,
        out: &mut Out<'_>,
    ) {
        if memmem::find(line.text, b"... ").is_some() {
            self.told(line, name, args, out);
            return;
        }
        self.open = Some(Open {
            name,
            start: line.last().or(line.first()),
            before: false,
            args,
            evidence: line.evidence(out.file),
        });
    }

    fn storage(&mut self, line: &Line<'_>, text: &[u8], out: &mut Out<'_>) {
        if let Some((bytes, ms)) = bytes_read(text) {
            // The time is U-Boot's own, in ms; the line comes right after.
            let end = line.first();
            let start = end.map(|e| Stamp::new(e.ns.saturating_sub(ms * 1_000_000), 1_000_000));
            let at = line.evidence(out.file);
            let args = [("bytes", bytes)];
            span(out, "read file", (start, end), &args, at);
            return;
        }
        if text.starts_with(b"MMC read: ") {
            self.told(line, "read mmc", Vec::new(), out);
        } else if text.starts_with(b"NAND read: ") {
            // Followed by " 5242880 bytes read: OK".
            self.open_after(line, "read nand", out);
        } else if text.starts_with(b"device ") && memmem::find(text, b" offset 0x").is_some() {
            // `sf read`, followed by "SF: 1048576 bytes @ 0x0 Read: OK".
            self.open_after(line, "read flash", out);
        }
    }

    fn open_after(&mut self, line: &Line<'_>, name: &'static str, out: &Out<'_>) {
        let size = memmem::find(line.text, b"size 0x").map(|i| i + b"size 0x".len());
        let bytes = size.and_then(|i| hex(&line.text[i..]));
        self.open = Some(Open {
            name,
            start: line.last().or(line.first()),
            before: false,
            args: bytes
                .map(|b| ("bytes", b.to_string()))
                .into_iter()
                .collect(),
            evidence: line.evidence(out.file),
        });
    }
}

/// Where the result begins in `Doing something ... OK`.
fn result_of(text: &[u8]) -> Option<usize> {
    let place = memmem::find(text, b"... ")? + b"... ".len();
    (place < text.len()).then_some(place)
}

fn span(
    out: &mut Out<'_>,
    name: &str,
    moments: (Option<Stamp>, Option<Stamp>),
    args: &[(&'static str, String)],
    evidence: Evidence,
) {
    let args: Vec<_> = args.iter().map(|(k, v)| (*k, v.as_str())).collect();
    out.wire_span(TRACK, name, moments, &args, evidence);
}

fn is_autoboot(text: &[u8]) -> bool {
    // U-Boot; barebox ("Hit m for menu or any key to stop autoboot:  3").
    let hit = text.starts_with(b"Hit ") && memmem::find(text, b"stop autoboot").is_some();
    let press = text.starts_with(b"Press ") && memmem::find(text, b"abort autoboot").is_some();
    hit || press || text.starts_with(b"Autoboot in ") || text.starts_with(b"autoboot in ")
}

/// `to 5dcc0000, end 5ddb1090`: how many bytes were moved; U-Boot names the
/// first byte after a ramdisk, but the `last` byte of a device tree.
fn moved_bytes(text: &[u8], last: u64) -> Vec<(&'static str, String)> {
    let number_after = |word: &[u8]| hex(&text[memmem::find(text, word)? + word.len()..]);
    let bytes = number_after(b" to ")
        .zip(number_after(b", end "))
        .and_then(|(from, to)| to.checked_sub(from)?.checked_add(last));
    let arg = |b: u64| ("bytes", b.to_string());
    bytes.map(arg).into_iter().collect()
}

/// The hexadecimal number that `text` begins with.
fn hex(text: &[u8]) -> Option<u64> {
    let n = text.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    u64::from_str_radix(std::str::from_utf8(&text[..n]).ok()?, 16).ok()
}

/// `11225723 bytes read in 512 ms (20.9 MiB/s)`: bytes and ms.
fn bytes_read(text: &[u8]) -> Option<(String, i64)> {
    let text = std::str::from_utf8(text).ok()?;
    let (bytes, rest) = text.split_once(" bytes read in ")?;
    let (ms, _) = rest.split_once(" ms")?;
    let bytes: u64 = bytes.parse().ok()?;
    let ms: u32 = ms.parse().ok()?;
    Some((bytes.to_string(), i64::from(ms)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banners() {
        for yes in [
            "U-Boot 2023.01+dfsg-2 (Jun 22 2026)",
            "U-Boot SPL 2021.07 (Aug 01)",
            "U-Boot 1.1.6 (x)",
            "barebox 2023.05.0 #1",
        ] {
            assert!(BootLoader::is_banner(yes.as_bytes()), "{yes}");
        }
        for no in ["U-Boot script", "U-Boot SPL", "barebox:/"] {
            assert!(!BootLoader::is_banner(no.as_bytes()), "{no}");
        }
    }

    #[test]
    fn sizes() {
        let arg = |n: &str| vec![("bytes", n.to_owned())];
        let ramdisk = b"Loading Ramdisk to 5dcc0000, end 5ddb1090 ... OK";
        assert_eq!(moved_bytes(ramdisk, 0), arg("987280"));
        let dt = b"Loading Device Tree to 000000005dbbd000, end 000000005dcbffff ... OK";
        assert_eq!(moved_bytes(dt, 1), arg("1060864"));
        assert_eq!(moved_bytes(b" to 2, end 1", 0), []);
        assert_eq!(
            bytes_read(b"11225723 bytes read in 512 ms (20.9 MiB/s)"),
            Some(("11225723".to_owned(), 512))
        );
    }
}
