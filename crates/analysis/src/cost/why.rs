//! One sentence on what the machine did.

use bootlap_model::{Span, Timeline, TrackKind};

use crate::known::{BEFORE_CLOCK, HEAD, Known, PRINTING};

/// From this share on a stretch counts as waiting.
const WAITS: f64 = 0.5;

/// What something known did, if it is one of those that people ask about.
pub(super) fn of(timeline: &Timeline, known: &Known) -> Option<String> {
    if let Some(stage) = known.stage() {
        let said = match stage {
            BEFORE_CLOCK => "the kernel sets up memory before its clock runs",
            HEAD => "the kernel image unpacks itself or sets up its first page tables",
            PRINTING => "the kernel waits until each byte is sent",
            _ => return None,
        };
        return Some(said.to_owned());
    }
    let span = known.span()?;
    let arg = |key: &str| timeline.arg(span, key);
    let said = match (timeline.kind_of(span), timeline.text(span.name)) {
        (TrackKind::Bootloader, "autoboot wait") => "U-Boot counts down bootdelay".to_owned(),
        (TrackKind::Bootloader, "load environment") => {
            "U-Boot reads and checks its environment".to_owned()
        }
        (TrackKind::Bootloader, "hash check") => {
            let algo = arg("algo").unwrap_or("the hash");
            let image = arg("image").unwrap_or("an image");
            format!(
                "U-Boot computes {algo} of the {image}{}",
                size(arg("bytes"))
            )
        }
        (TrackKind::Bootloader, "uncompress kernel") => {
            format!("U-Boot decompresses the kernel{}", size(arg("bytes")))
        }
        (TrackKind::Bootloader, "menu countdown") => {
            format!(
                "{} waits at its menu",
                arg("loader").unwrap_or("the boot loader")
            )
        }
        (TrackKind::Bootloader, "read kernel") => "GRUB reads the kernel".to_owned(),
        (TrackKind::Bootloader, "read initrd") => "GRUB reads the initramfs".to_owned(),
        (TrackKind::Bootloader, name) => {
            let size = size(arg("bytes"));
            if let Some(what) = name.strip_prefix("load ") {
                format!("U-Boot copies the {what} to where the kernel wants it{size}")
            } else if name.starts_with("read ") {
                format!("U-Boot reads from storage{size}")
            } else {
                return None;
            }
        }
        (TrackKind::Firmware, Span::LOAD_IMAGES) => {
            format!(
                "the machine reads them from its storage{}",
                size(arg("bytes"))
            )
        }
        (TrackKind::Kernel, Span::LOG_FLUSH) => {
            let (console, baud) = (arg("console").unwrap_or("a console"), arg("baud"));
            let baud = baud.map_or(String::new(), |b| format!(" at {b} baud"));
            format!(
                "enabling {console} prints what was logged before{}{baud}",
                size(arg("bytes"))
            )
        }
        (TrackKind::Kernel, Span::UNPACK_INITRAMFS) => {
            "the kernel decompresses and unpacks the initramfs".to_owned()
        }
        (TrackKind::Kernel, "wait for root device") => {
            "the kernel waits for the device of the root filesystem".to_owned()
        }
        (TrackKind::Kernel, Span::ADDRESS_WAIT) => {
            "the kernel asks a server for an address, and waits for its answer".to_owned()
        }
        (TrackKind::Kernel, "protect kernel memory") => {
            "the kernel write-protects its memory and walks the page tables".to_owned()
        }
        (TrackKind::Kernel, "calibrate delay loop") => {
            "the kernel measures its delay loop, which lpj= would tell".to_owned()
        }
        (TrackKind::Kernel, name) if name.starts_with("mount XFS on ") => {
            "the kernel reads the file system's head and its log, and replays that if need be"
                .to_owned()
        }
        (TrackKind::Kernel, name) if name.starts_with("attach UBI on ") => {
            "the kernel looks through the flash for UBI's volumes".to_owned()
        }
        (TrackKind::Userspace, name) if name.starts_with(Span::START_JOB) => {
            "systemd said on the console that it waits for it".to_owned()
        }
        (TrackKind::Initcall, _) => "the kernel runs this initcall".to_owned(),
        (TrackKind::Function, _) => {
            format!("done by {}", timeline.text(timeline.track_of(span).name))
        }
        // Stages between events that the evidence names, and sums of many of a kind.
        _ => match (arg("from"), arg("to"), arg("count")) {
            (Some(from), Some(to), _) => format!("between its events {from} and {to}"),
            (None, Some(to), _) => format!("until its event {to}"),
            (_, None, Some(count)) => format!("{count} of them, as its log says"),
            _ => return None,
        },
    };
    Some(said)
}

/// `, 11225723 bytes`.
fn size(bytes: Option<&str>) -> String {
    bytes.map_or(String::new(), |b| format!(", {b} bytes"))
}

/// Joins what is known of the deed with what was counted.
///
/// `waited_ns` is how long the CPU waited for disks, if that is worth a word.
pub(super) fn sentence(
    did: Option<String>,
    insns: Option<u64>,
    idle: Option<f64>,
    waited_ns: Option<i64>,
) -> String {
    let worked = match (insns, idle) {
        (_, Some(idle)) if idle >= WAITS => Some(format!("waits: {} idle", percent(idle))),
        (Some(insns), _) if insns > 0 => Some(format!("works: {} instructions", millions(insns))),
        _ => None,
    };
    let waited =
        waited_ns.map(|ns| format!("waits {} ms for disks", grouped(ns as u64 / 1_000_000)));
    let known: Vec<String> = [did, worked, waited].into_iter().flatten().collect();
    match known.is_empty() {
        true => "nothing tells what the machine did".to_owned(),
        false => known.join("; "),
    }
}

/// Never rounds up to all: 100 % means that nothing ran.
fn percent(share: f64) -> String {
    let percent = (share * 100.0).floor().clamp(0.0, 100.0);
    format!("{percent:.0} %")
}

/// A count as people say it: `1 000 M`, `12.5 M`, `830 k`, `12`.
fn millions(insns: u64) -> String {
    match insns {
        0..1_000 => insns.to_string(),
        1_000..1_000_000 => format!("{} k", insns / 1_000),
        1_000_000..100_000_000 => format!("{:.1} M", insns as f64 / 1e6),
        _ => format!("{} M", grouped(insns / 1_000_000)),
    }
}

/// Digits in groups of three.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_as_people_say_them() {
        let said = [0, 999, 1_000, 12_500_000, 625_000_000, 1_000_000_000].map(millions);
        assert_eq!(said, ["0", "999", "1 k", "12.5 M", "625 M", "1 000 M"]);
    }

    #[test]
    fn a_sentence_says_what_is_known_and_no_more() {
        assert_eq!(
            sentence(None, Some(5), Some(0.978), None),
            "waits: 97 % idle"
        );
        assert_eq!(
            sentence(
                Some("U-Boot counts down bootdelay".into()),
                Some(1_000_000_000),
                Some(0.0),
                Some(20_000_000),
            ),
            "U-Boot counts down bootdelay; works: 1 000 M instructions; waits 20 ms for disks"
        );
        assert_eq!(sentence(Some("waits".into()), Some(0), None, None), "waits");
        assert_eq!(
            sentence(None, None, None, None),
            "nothing tells what the machine did"
        );
    }
}
