//! Slim Bootloader's measure points.
//!
//! ```text
//! Loader Performance Info
//! =======================
//!
//!  Id   | Time (ms)  | Delta (ms) | Description
//! ------+------------+------------+---------------------------
//!  1000 |       2 ms |       2 ms | Reset vector
//!  1080 |      31 ms |      15 ms | Load Stage1B
//!  10A0 |      82 ms |      51 ms | Verify Stage1B
//! ```
//!
//! Printed by `perf` in the OsLoader's shell, and on the debug port before the
//! operating system is started. ms of the CPU's counter since reset; most
//! points are written down when what they name is done. Ids are hexadecimal.
//!
//! | quirk | from |
//! | --- | --- |
//! | no `Description` | before 2019 |
//! | `CSME Performance Info`, a second table | the management engine's own clock |

use bootlap_model::{ClockId, ClockKind, Milestone, Stamp, Timeline, TrackKind};

use crate::steps::{self, Step};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "slimboot",
    title: "Slim Bootloader's measure points",
    looks_like: "a table of `Id | Time (ms) | Delta (ms) | Description`",
    sniff,
    read,
    together: None,
};

const UNIT_NS: i64 = 1_000_000;

/// The table has 128 places.
const MAX_STEPS: usize = 10_000;

fn sniff(head: &[u8]) -> Sniff {
    let (headings, _) = text::count_lines(head, 500, |l| is_heading(text::valid(l)));
    let known = |l: &[u8]| {
        let line = text::valid(l);
        is_heading(line) || is_frame(line) || row(line).is_some()
    };
    let (known, all) = text::count_lines(head, 500, known);
    match (headings, known * 2 >= all) {
        (0, _) => Sniff::NO,
        (_, true) => Sniff::percent(95),
        (_, false) => Sniff::percent(55),
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    text::read(input, &SOURCE, out, &mut Tables::default())
}

/// Whose clock it is.
#[derive(Clone, Copy, Default, PartialEq)]
enum Whose {
    #[default]
    Loader,
    Engine,
}

#[derive(Default)]
struct Tables {
    whose: Whose,
    loader: Vec<(u32, Step)>,
    engine: Vec<(u32, Step)>,
    /// Headings seen of each.
    headings: [u32; 2],
}

impl Reader for Tables {
    fn line(&mut self, line: &Line<'_>, _sheet: &mut Import<'_>) -> Result<(), Skip> {
        let text = line.str();
        if text.contains("Performance Info") {
            let engine = text.contains("CSME");
            self.whose = if engine { Whose::Engine } else { Whose::Loader };
            return Ok(());
        }
        if is_heading(text) {
            self.headings[self.whose as usize] += 1;
            return Ok(());
        }
        if is_frame(text) {
            return Ok(());
        }
        let Some((id, ns, name)) = row(text) else {
            return Err(Skip::unknown(
                "expected `10A0 |  82 ms |  51 ms | Verify Stage1B`",
            ));
        };
        if self.headings[self.whose as usize] > 1 {
            return Err(Skip::lost(
                "another-boot",
                "the table is there again, and only the first was read: cut the file here to see the second",
            ));
        }
        let name = if name.is_empty() {
            format!("{id:04X}")
        } else {
            name.to_owned()
        };
        let step = Step {
            ns,
            name,
            id: format!("{id:04X}"),
            at: line.at,
        };
        let steps = match self.whose {
            Whose::Loader => &mut self.loader,
            Whose::Engine => &mut self.engine,
        };
        if steps.len() >= MAX_STEPS {
            return Err(Skip::lost(
                "too-many-points",
                "only the first 10000 measure points were read: is the file what it seems to be?",
            ));
        }
        steps.push((id, step));
        Ok(())
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        for (steps, track) in [
            (&mut self.loader, "Slim Bootloader"),
            (&mut self.engine, "CSME"),
        ] {
            if steps.is_empty() {
                continue;
            }
            steps.sort_by_key(|(_, step)| step.ns);
            // The engine counts from the start of its own ROM.
            let kind = ClockKind::Firmware;
            let clock = import.timeline.add_clock(kind, import.file);
            if track != "CSME" {
                milestones(steps, clock, import);
            }
            let steps: Vec<Step> = steps.drain(..).map(|(_, step)| step).collect();
            let track = (TrackKind::Firmware, track);
            steps::write(import, clock, track, UNIT_NS as u32, &steps);
        }
    }
}

/// Stage 2 ends where the payload (OsLoader) takes over.
fn milestones(steps: &[(u32, Step)], clock: ClockId, import: &mut Import<'_>) {
    const END_OF_STAGE2: u32 = 0x31f0;
    if let Some((_, step)) = steps.iter().find(|(id, _)| *id == END_OF_STAGE2) {
        let at = Stamp::new(step.ns, UNIT_NS as u32);
        import.milestone(clock, at, Milestone::FirmwareDone, step.at);
    }
}

fn is_heading(line: &str) -> bool {
    let mut columns = line.split('|').map(str::trim);
    columns.next() == Some("Id") && columns.next() == Some("Time (ms)")
}

/// Lines under headings and around the table, and the command.
fn is_frame(line: &str) -> bool {
    let line = line.trim();
    let drawn = line.len() > 5 && line.bytes().all(|b| b"-+=|".contains(&b));
    drawn || line.ends_with("> perf") || line.contains("Performance Info")
}

/// id, ns and description.
fn row(line: &str) -> Option<(u32, i64, &str)> {
    let mut columns = line.splitn(4, '|').map(str::trim);
    let id = u32::from_str_radix(columns.next()?, 16).ok()?;
    let ms = |column: &str| column.strip_suffix("ms")?.trim().parse::<i64>().ok();
    let time = ms(columns.next()?)?;
    ms(columns.next()?)?;
    let ns = time.checked_mul(UNIT_NS)?;
    Some((id, ns, columns.next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        assert_eq!(
            row(" 10A0 |      82 ms |      51 ms | Verify Stage1B"),
            Some((0x10a0, 82_000_000, "Verify Stage1B"))
        );
        assert_eq!(row(" 1000 |  2 ms | 2 ms"), Some((0x1000, 2_000_000, "")));
        for bad in [
            "",
            "Id | Time (ms) | Delta (ms)",
            "1000 | 2 | 2",
            "1000 | 99999999999999999 ms | 1 ms",
        ] {
            assert_eq!(row(bad), None, "{bad}");
        }
    }
}
