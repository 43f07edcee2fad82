//! coreboot's timestamps, as its `cbmem` program prints them.
//!
//! ```text
//! 27 entries total:
//!
//!    0:1st timestamp                                     2,229 (0)
//!   11:start of bootblock                                64,231 (62,002)
//!   12:end of bootblock                                  65,253 (1,022)
//! 1101:jumping to kernel                                 1,142,626 (17,740)
//!
//! Total Time: 1,142,591
//! ```
//!
//! `cbmem -t`; `cbmem -T` prints the same as `id`, tab, µs, tab, µs since the
//! row before, tab, name. µs since the counter began (the TSC, mostly at
//! reset).
//!
//! | quirk | from |
//! | --- | --- |
//! | no names | 2012 and 2013 |
//! | no `(delta)` after the first row | all of them |
//! | not in the order of ids, or of time | ids are those of stages |
//! | times before zero, printed as a number just below 2⁶⁴ | the management engine (ids 940 to 997) runs before the CPU |
//! | ids from 1000 | the payload: depthcharge, the hypervisor |

use bootlap_model::{ClockId, ClockKind, Evidence, Milestone, SpanEnd, Stamp, Timeline, TrackKind};

use crate::steps::{self, Step};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "cbmem",
    title: "coreboot's timestamps",
    looks_like: "`N entries total:`, then lines of `id:name time (delta)`: the output of cbmem -t or -T",
    sniff,
    read,
    together: None,
};

/// coreboot counts µs here.
const UNIT_NS: i64 = 1_000;

/// coreboot's own table ends at 1000 entries.
const MAX_STEPS: usize = 10_000;

/// No boot takes 100 days, so it is a time before zero or damage.
const MAX_US: u64 = 100 * 86_400 * 1_000_000;

/// Stages that begin and end at two ids, in the order of a boot.
const STAGES: [(u32, u32, &str); 27] = [
    (11, 12, "bootblock"),
    (5, 6, "verified boot"),
    (503, 504, "initialise TPM"),
    (505, 506, "verify keyblock"),
    (507, 510, "verify firmware body"),
    (13, 14, "load romstage"),
    (1, 4, "romstage"),
    (2, 3, "initialise RAM"),
    (950, 951, "FSP memory init"),
    (940, 941, "wait for management engine"),
    (948, 949, "management engine firmware sync"),
    (515, 518, "embedded controller sync"),
    (100, 101, "postcar"),
    (8, 9, "load ramstage"),
    (15, 16, "LZMA decompression"),
    (17, 18, "LZ4 decompression"),
    (954, 955, "FSP silicon init"),
    (31, 40, "enumerate devices"),
    (40, 50, "configure devices"),
    (50, 60, "enable devices"),
    (60, 70, "initialise devices"),
    (65, 67, "option ROMs"),
    (956, 957, "FSP after PCI enumeration"),
    (958, 959, "FSP ready to boot"),
    (960, 961, "FSP end of firmware"),
    (942, 943, "end of POST to management engine"),
    (90, 99, "load payload"),
];

const FIRST: u32 = 0;
const PAYLOAD_JUMP: u32 = 99;
const DEPTHCHARGE_START: u32 = 1000;
const KERNEL_JUMP: u32 = 1101;

const ANOTHER: Skip = Skip::lost(
    "another-boot",
    "this table is of another boot, and only the first was read: `FILE#2` names the second",
);

fn sniff(head: &[u8]) -> Sniff {
    let is_row = |l: &[u8]| row(text::valid(l)).is_some();
    let (rows, all) = text::count_lines(head, 200, is_row);
    let total = |l: &[u8]| is_heading(text::valid(l).trim());
    let (headings, _) = text::count_lines(head, 200, total);
    let known = |l: &[u8]| row(text::valid(l)).is_some_and(|r| is_known(r.name));
    let (known, _) = text::count_lines(head, 200, known);
    match (headings, rows) {
        (0, 0..=2) => Sniff::NO,
        (1.., 1..) if rows * 2 >= all => Sniff::percent(95),
        // Without a heading: the form is rare, and some names are nobody else's.
        (_, 5..) if known >= 2 && rows * 5 >= all * 4 => Sniff::SURE,
        (_, _) if known * 4 >= rows && rows * 5 >= all * 4 => Sniff::SURE,
        _ => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    text::read(input, &SOURCE, out, &mut Table::default())
}

/// Names that no other program prints.
fn is_known(name: &str) -> bool {
    let words = [
        "1st timestamp",
        "bootblock",
        "romstage",
        "ramstage",
        "selfboot",
    ];
    words.iter().any(|w| name.contains(w))
}

fn is_heading(line: &str) -> bool {
    let number = line.strip_suffix(" entries total:");
    number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

#[derive(Default)]
struct Table {
    steps: Vec<(u32, Step)>,
    /// The table's last line was met; what comes next is of another boot.
    ended: bool,
    /// So it did.
    over: bool,
}

impl Reader for Table {
    fn line(&mut self, line: &Line<'_>, _sheet: &mut Import<'_>) -> Result<(), Skip> {
        let text = line.str();
        if is_heading(text.trim()) {
            self.over |= !self.steps.is_empty();
            return if self.over { Err(ANOTHER) } else { Ok(()) };
        }
        if text.trim_start().starts_with("Total Time:") {
            self.ended = true;
            return Ok(());
        }
        let Some(row) = row(text) else {
            return Err(Skip::unknown(
                "expected `11:start of bootblock  64,231 (62,002)`",
            ));
        };
        let again = row.id == FIRST && self.steps.iter().any(|(id, _)| *id == FIRST);
        self.over |= self.ended || again;
        if self.over {
            return Err(ANOTHER);
        }
        if self.steps.len() >= MAX_STEPS {
            return Err(Skip::lost(
                "too-many-timestamps",
                "only the first 10000 timestamps were read: is the file what it seems to be?",
            ));
        }
        let ns = since_zero(row.us).ok_or(Skip::lost(
            "impossible-time",
            "cbmem cannot print times before zero on this machine: update cbmem",
        ))?;
        let step = Step {
            ns,
            name: named(row.id, row.name),
            id: row.id.to_string(),
            at: line.at,
        };
        self.steps.push((row.id, step));
        Ok(())
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        let mut steps = std::mem::take(&mut self.steps);
        steps.sort_by_key(|(_, step)| step.ns);
        let clock = import.clock(ClockKind::Firmware);
        before_the_first(&steps, clock, import);
        stages(&steps, clock, import);
        milestones(&steps, clock, import);
        let steps: Vec<Step> = steps.into_iter().map(|(_, step)| step).collect();
        let track = (TrackKind::Firmware, "coreboot");
        steps::write(import, clock, track, UNIT_NS as u32, &steps);
    }
}

/// Adds the time before the first timestamp: the counter began at reset, and something
/// ran.
fn before_the_first(steps: &[(u32, Step)], clock: ClockId, import: &mut Import<'_>) {
    let Some((_, first)) = steps.first().filter(|(_, step)| step.ns > 0) else {
        return;
    };
    let track = (TrackKind::Firmware, "coreboot");
    let stamp = |ns| Stamp::new(ns, UNIT_NS as u32);
    let ends = (stamp(0), SpanEnd::At(stamp(first.ns)));
    let name = steps::between("counter's zero", &first.name);
    import.span(clock, track, &name, ends, &[("id", &first.id)], first.at);
}

/// Adds the stages of which both ends are known; each id is there once, but
/// for those of decompression.
fn stages(steps: &[(u32, Step)], clock: ClockId, import: &mut Import<'_>) {
    let track = (TrackKind::Firmware, "coreboot stages");
    let stamp = |step: &Step| Stamp::new(step.ns, UNIT_NS as u32);
    for (first, last, name) in STAGES {
        let mut open: Option<&Step> = None;
        for (id, step) in steps.iter().filter(|(id, _)| [first, last].contains(id)) {
            if *id == first {
                open = Some(step);
            } else if let Some(start) = open.take() {
                let ends = (stamp(start), SpanEnd::At(stamp(step)));
                let ids = format!("{first}-{last}");
                import.span(clock, track, name, ends, &[("id", &ids)], start.at);
            }
        }
    }
}

fn milestones(steps: &[(u32, Step)], clock: ClockId, import: &mut Import<'_>) {
    for (wanted, milestone) in [
        (PAYLOAD_JUMP, Milestone::FirmwareDone),
        (DEPTHCHARGE_START, Milestone::BootloaderStart),
        (KERNEL_JUMP, Milestone::BootloaderHandover),
    ] {
        if let Some((_, step)) = steps.iter().find(|(id, _)| *id == wanted) {
            let at: Evidence = step.at;
            let moment = Stamp::new(step.ns, UNIT_NS as u32);
            import.milestone(clock, moment, milestone, at);
        }
    }
}

/// cbmem prints times before zero as unsigned numbers.
fn since_zero(us: u64) -> Option<i64> {
    let us = us as i64;
    (us.unsigned_abs() <= MAX_US).then(|| us * UNIT_NS)
}

/// The name; old programs print none.
fn named(id: u32, name: &str) -> String {
    if !name.is_empty() {
        return name.to_owned();
    }
    let begins = STAGES.iter().find(|s| s.0 == id);
    let ends = STAGES.iter().find(|s| s.1 == id);
    match (begins, ends) {
        (Some((.., stage)), _) => format!("{stage} begins"),
        (_, Some((.., stage))) => format!("{stage} ends"),
        _ => format!("timestamp {id}"),
    }
}

struct Row<'a> {
    id: u32,
    us: u64,
    name: &'a str,
}

fn row(line: &str) -> Option<Row<'_>> {
    for_programs(line).or_else(|| for_people(line))
}

/// `11⇥64231⇥62002⇥start of bootblock`.
fn for_programs(line: &str) -> Option<Row<'_>> {
    let mut columns = line.splitn(4, '\t');
    let id = columns.next()?.trim().parse().ok()?;
    let us = signed(columns.next()?)?;
    signed(columns.next()?)?;
    let name = columns.next()?.trim();
    Some(Row { id, us, name })
}

/// `  11:start of bootblock    64,231 (62,002)`. Names of 50 letters touch
/// the number.
fn for_people(line: &str) -> Option<Row<'_>> {
    let (id, rest) = line.trim().split_once(':')?;
    let id = id.parse().ok()?;
    let rest = match rest.rsplit_once(" (") {
        Some((rest, delta)) if delta.strip_suffix(')').is_some_and(|d| signed(d).is_some()) => rest,
        _ => rest,
    };
    let rest = rest.trim_end();
    let digits = |c: char| c.is_ascii_digit() || c == ',';
    let number = rest.trim_end_matches(digits).len();
    let number = match rest[..number].strip_suffix(" -") {
        Some(_) => number - 1,
        None => number,
    };
    let us = signed(&rest[number..])?;
    let name = rest[..number].trim();
    Some(Row { id, us, name })
}

/// A number of any of the shapes, as unsigned as cbmem prints it.
fn signed(text: &str) -> Option<u64> {
    match text.strip_prefix('-') {
        Some(text) => Some(steps::grouped(text)?.wrapping_neg()),
        None => steps::grouped(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<(u32, Option<i64>, &str)> {
        row(line).map(|r| (r.id, since_zero(r.us), r.name))
    }

    #[test]
    fn rows() {
        assert_eq!(
            of("  11:start of bootblock                  64,231 (62,002)"),
            Some((11, Some(64_231_000), "start of bootblock"))
        );
        assert_eq!(
            of("  15:starting LZMA decompress (ignore for x86)    128,419 (16,123)"),
            Some((
                15,
                Some(128_419_000),
                "starting LZMA decompress (ignore for x86)"
            ))
        );
        assert_eq!(of("   1:62,181"), Some((1, Some(62_181_000), "")));
        assert_eq!(
            of(" 990:CSME ROM started execution    -153,000"),
            Some((990, Some(-153_000_000), "CSME ROM started execution"))
        );
        assert_eq!(
            of("990\t18446744073709398616\t0\tCSME ROM started execution"),
            Some((990, Some(-153_000_000), "CSME ROM started execution"))
        );
        assert_eq!(
            of("990\t7686143364045646\t0\tCSME ROM started execution"),
            Some((990, None, "CSME ROM started execution"))
        );
        for bad in ["", "Total Time: 1,2", "x:1", "12:30:45 up 3 min", "1\t2\t3"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
