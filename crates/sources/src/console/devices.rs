//! Stages of a device or a volume, which the lines that begin and end them name.
//!
//! ```text
//! [    1.210000] ubi0: attaching mtd5
//! [    3.410000] ubi0: attached mtd5 (name "rootfs", size 120 MiB)
//! [    3.351456] XFS (sda2): Mounting V5 Filesystem
//! [    8.779565] XFS (sda2): Ending clean mount
//! [    9.100000] XFS (sdb1): Ending recovery (logdev: internal)
//! ```
//!
//! Several may be on their way at once, and others print meanwhile.

use bootlap_model::{Evidence, SpanEnd};

use super::out::{Moment, Out, STAGES, shown};

/// No machine begins more at a time.
const MAX_BEGUN: usize = 64;

/// What is on its way.
#[derive(Default)]
pub(crate) struct Devices {
    begun: Vec<(String, Moment, Evidence)>,
}

/// What a line says of a stage.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    Begins(String),
    Ends(String),
}

impl Devices {
    /// Looks at one kernel line.
    pub(crate) fn line(&mut self, body: &[u8], moment: &Moment, at: Evidence, out: &mut Out<'_>) {
        match turn(body) {
            Some(Turn::Begins(name)) => {
                // One that begins anew has not ended.
                self.begun.retain(|(begun, ..)| *begun != name);
                if self.begun.len() < MAX_BEGUN {
                    self.begun.push((name, *moment, at));
                }
            }
            Some(Turn::Ends(name)) => {
                let place = self.begun.iter().position(|(begun, ..)| *begun == name);
                let Some((name, began, mut evidence)) = place.map(|at| self.begun.remove(at))
                else {
                    return;
                };
                if moment.ns >= began.ns {
                    evidence.end = at.end;
                    let moments = (began.stamp(), SpanEnd::At(moment.stamp()));
                    let span = out.printk_span(STAGES, &name, moments.0, moments.1, &[], evidence);
                    out.count_start(span, &began);
                    out.count_end(span, moment);
                }
            }
            None => {}
        }
    }
}

fn turn(body: &[u8]) -> Option<Turn> {
    if let Some(rest) = body.strip_prefix(b"XFS (") {
        let end = memchr::memchr(b')', rest)?;
        let said = rest[end..].strip_prefix(b"): ")?;
        let name = format!("mount XFS on {}", shown(&rest[..end]));
        return match () {
            () if said.starts_with(b"Mounting ") => Some(Turn::Begins(name)),
            () if said.starts_with(b"Ending clean mount") => Some(Turn::Ends(name)),
            () if said.starts_with(b"Ending recovery") => Some(Turn::Ends(name)),
            () => None,
        };
    }
    // `UBI: attaching mtd5 to ubi0` before Linux 4.0.
    let colon = memchr::memchr(b':', body)?;
    let is_ubi = |name: &[u8]| {
        name == b"UBI"
            || name
                .strip_prefix(b"ubi")
                .is_some_and(|n| !n.is_empty() && n.iter().all(u8::is_ascii_digit))
    };
    let said = body[colon..]
        .strip_prefix(b": ")
        .filter(|_| is_ubi(&body[..colon]))?;
    let mut words = said.split(|b| *b == b' ');
    let (verb, device) = (words.next()?, words.next()?);
    let name = format!("attach UBI on {}", shown(device));
    match verb {
        b"attaching" => Some(Turn::Begins(name)),
        b"attached" => Some(Turn::Ends(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_what_begins_and_ends() {
        let begins = |name: &str| Some(Turn::Begins(name.to_owned()));
        let ends = |name: &str| Some(Turn::Ends(name.to_owned()));
        for (line, turn_) in [
            (
                "XFS (sda2): Mounting V5 Filesystem",
                begins("mount XFS on sda2"),
            ),
            (
                "XFS (dm-0): Mounting V5 Filesystem 5e7f05ef-1",
                begins("mount XFS on dm-0"),
            ),
            ("XFS (sda2): Starting recovery (logdev: internal)", None),
            (
                "XFS (sda2): Ending recovery (logdev: internal)",
                ends("mount XFS on sda2"),
            ),
            ("XFS (sda2): Ending clean mount", ends("mount XFS on sda2")),
            ("XFS (sda2", None),
            ("ubi0: attaching mtd5", begins("attach UBI on mtd5")),
            (
                "ubi0: attached mtd5 (name \"rootfs\", size 120 MiB)",
                ends("attach UBI on mtd5"),
            ),
            ("UBI: attached mtd5 to ubi0", ends("attach UBI on mtd5")),
            ("ubi0: scanning is finished", None),
            ("usb: attached mtd5 (name", None),
        ] {
            assert_eq!(turn(line.as_bytes()), turn_, "{line}");
        }
    }
}
