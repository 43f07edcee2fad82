//! KFI and KFT: every kernel function that was entered, with its duration.
//!
//! ```text
//! Kernel Instrumentation Run ID 0
//! Filters:
//!         500 usecs minimum execution time
//! Number of entries after filters = 1757
//! Logging started at 6785045 usec by entry to function start_kernel
//! Logging stopped at 8423650 usec by entry to function to_userspace
//!  Entry      Delta      PID            Function                    Called At
//! --------   --------   -----   -------------------------   --------------------------
//!      14       8687       0                  setup_arch   start_kernel+0x35
//! 1638605          0     145              filemap_nopage   do_no_page+0xef
//!     256          8     -1i                profile_tick   timer_interrupt+0x40
//! ```
//!
//! Printed by `/proc/kfi` and `/proc/kft` of kernels with the Kernel Function
//! Instrumentation (2.4) or Trace (2.6) patch, built with
//! `-finstrument-functions`; the input of `scripts/kd`. Entry and delta are µs,
//! counted from the start trigger; *Logging started at* counts from the zero of
//! the CPU's counter, so with that line entries are put on the trace clock, and
//! without it they are relative.
//!
//! - The kernel prints addresses (`c0008f14`); `scripts/addr2sym` makes names of
//!   them. Unresolved ones stay as they are.
//! - An exit that was not seen: delta 0 (KFI marks open entries so, so a call
//!   within 1 µs looks the same), −1 (also as 4294967295), or `no exit`. −2 is
//!   an entry of the stack watch, which has no duration at all.
//! - PID −1, or a suffix `i`, is interrupt context.
//! - Behind the caller there may be the frame pointer and three arguments.
//! - `kd -c` prints a tree of the same calls with their times, which is read
//!   too. `kd` alone prints sums (`Function Count Time Average Local`): these
//!   have no times, so they are no events.

mod row;

use bootlap_model::Timeline;
use bootlap_model::{ClockId, ClockKind, Evidence, Milestone, Severity, SpanEnd, Stamp, TrackKind};

use self::row::{Column, Delta, Row};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// Stamps are whole µs.
const RESOLUTION_NS: u32 = 1_000;

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "kfi",
    title: "KFI/KFT function log",
    looks_like: "rows of entry, delta, PID, function and caller, below a heading that says so",
    sniff,
    read,
    together: None,
};

fn sniff(head: &[u8]) -> Sniff {
    let heading = |l: &[u8]| row::heading(text::valid(l)).is_some();
    let tells = |l: &[u8]| heading(l) || is_title(text::valid(l));
    let (titles, _) = text::count_lines(head, 200, tells);
    let mut lines = text::head_lines(head).take(200);
    let columns = lines.find_map(|l| row::heading(text::valid(l))).flatten();
    let is_row = |l: &[u8]| {
        let line = text::valid(l);
        row::parse(line).is_some()
            || columns
                .as_ref()
                .is_some_and(|c| row::parse_columns(c, line).is_some())
    };
    let known = |l: &[u8]| is_row(l) || tells(l) || preamble(text::valid(l)).is_some();
    let (rows, all) = text::count_lines(head, 200, is_row);
    let (known, _) = text::count_lines(head, 200, known);
    match (titles, rows) {
        _ if known * 2 < all => Sniff::NO,
        (0, 0) => Sniff::NO,
        (0, _) if rows >= 3 && rows * 10 >= all * 9 => Sniff::percent(70),
        (0, _) => Sniff::NO,
        _ => Sniff::percent(95),
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    text::read(input, &SOURCE, out, &mut KfiReader::default())
}

/// What has been read of a log so far.
#[derive(Default)]
pub(crate) struct KfiReader {
    /// When logging started, on the trace clock.
    started_ns: Option<i64>,
    trace: Option<ClockId>,
    relative: Option<ClockId>,
    /// The columns of a table that `kd` printed.
    columns: Option<Vec<Column>>,
    /// How many entries the preamble promised, and where.
    promised: Option<(u64, Evidence)>,
    rows: u64,
}

impl Reader for KfiReader {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let text = line.str();
        if let Some(columns) = row::heading(text) {
            self.columns = columns.filter(|c| !c.is_empty());
            return Ok(());
        }
        if let Some(columns) = &self.columns {
            if let Some(row) = row::parse_columns(columns, text) {
                if !row::has_times(columns) {
                    return Err(SUMMARY);
                }
                return self.call(&row, line.at, import);
            }
        } else if let Some(row) = row::parse(text) {
            return self.call(&row, line.at, import);
        }
        let Some(fact) = preamble(text) else {
            return Err(Skip::unknown(
                "expected entry, delta, PID, function and caller, as /proc/kft prints them",
            ));
        };
        self.fact(fact, line.at, import)
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.end_run(import);
    }
}

const SUMMARY: Skip = Skip {
    code: "summary-only",
    severity: Severity::DataLoss,
    remedy: "these sums of kd do not say when a function ran: give the log that kd read, and `bootlap show --by functions` prints this table",
};

const OUT_OF_RANGE: Skip = Skip::lost(
    "time-out-of-range",
    "the times of these lines are centuries: is the file damaged?",
);

impl KfiReader {
    /// Takes one call of a function.
    fn call(&mut self, row: &Row<'_>, at: Evidence, import: &mut Import<'_>) -> Result<(), Skip> {
        self.rows += 1;
        let (clock, base_ns) = self.clock(at, import);
        let stamp = |ns: Option<i64>| match ns {
            Some(ns) => Ok(Stamp::new(ns, RESOLUTION_NS)),
            None => Err(OUT_OF_RANGE),
        };
        let start = stamp(base_ns.checked_add(row.entry_ns))?;
        let end = match row.delta {
            Delta::Ns(ns) => SpanEnd::At(stamp(start.ns.checked_add(ns))?),
            Delta::NoExit => {
                import.notice(
                    "exit-not-seen",
                    Severity::Info,
                    at,
                    "these functions have no end: they were still running when logging stopped, or their exit was not logged",
                );
                SpanEnd::Unknown
            }
            Delta::StackWatch => {
                import.notice(
                    "stack-watch",
                    Severity::Info,
                    at,
                    "these entries were logged for the depth of the stack, and have no duration",
                );
                SpanEnd::Unknown
            }
        };
        if row::is_address(row.function) {
            import.notice(
                "unresolved-address",
                Severity::Notice,
                at,
                "these functions are addresses: resolve the log with scripts/addr2sym and the kernel's System.map, and read it again",
            );
        }
        let track = match row.pid {
            Some("-1") => "interrupt".to_owned(),
            _ if row.interrupt => "interrupt".to_owned(),
            Some(pid) => format!("pid {pid}"),
            None => "calls".to_owned(),
        };
        let facts = [("pid", row.pid), ("caller", row.caller), ("args", row.args)];
        let args: Vec<_> = facts
            .iter()
            .filter_map(|(k, v)| Some((*k, (*v)?)))
            .collect();
        let track = (TrackKind::Function, &track[..]);
        import.span(clock, track, row.function, (start, end), &args, at);
        match row.function {
            "start_kernel" => import.milestone(clock, start, Milestone::KernelEntry, at),
            // A function of the KFI patch, called right before init is run.
            "to_userspace" => import.milestone(clock, start, Milestone::InitStart, at),
            _ => {}
        }
        Ok(())
    }

    /// The clock of the entries, and what to add to them.
    fn clock(&mut self, at: Evidence, import: &mut Import<'_>) -> (ClockId, i64) {
        let (timeline, file) = (&mut *import.timeline, import.file);
        if let Some(started_ns) = self.started_ns {
            let new = || timeline.add_clock(ClockKind::Trace, file);
            return (*self.trace.get_or_insert_with(new), started_ns);
        }
        if let Some(clock) = self.relative {
            return (clock, 0);
        }
        let clock = timeline.add_clock(ClockKind::Relative, file);
        self.relative = Some(clock);
        import.notice(
            "no-start-time",
            Severity::Notice,
            at,
            "the log does not say when logging started (`Logging started at … usec`), so its times count from the start trigger: keep the lines above the table",
        );
        (clock, 0)
    }

    /// Takes a line above the table.
    fn fact(&mut self, fact: Fact<'_>, at: Evidence, import: &mut Import<'_>) -> Result<(), Skip> {
        match fact {
            Fact::Run => {
                self.end_run(import);
                *self = Self {
                    trace: self.trace,
                    relative: self.relative,
                    ..Self::default()
                };
            }
            Fact::Entries(n) => self.promised = Some((n, at)),
            Fact::Started(ns) => self.started_ns = Some(ns),
            Fact::Stopped(ns, why) => self.stopped(ns, why, at, import),
            Fact::Filtered => import.notice(
                "calls-filtered",
                Severity::Info,
                at,
                "the log was filtered: calls that it leaves out count as time of their callers",
            ),
            Fact::NoLog => {
                return Err(Skip::lost(
                    "no-log",
                    "the kernel had not finished a log when this was read: read /proc/kft again when its stop trigger has come",
                ));
            }
            Fact::LeftOut => {
                return Err(Skip::lost(
                    "rows-left-out",
                    "somebody shortened this log by hand here: give the whole file",
                ));
            }
            Fact::Layout => {}
        }
        Ok(())
    }

    fn stopped(&mut self, ns: i64, why: &str, at: Evidence, import: &mut Import<'_>) {
        if why.trim() == "log full" {
            import.notice(
                "log-full",
                Severity::DataLoss,
                at,
                "the log was full before its stop trigger came, so the rest of the boot is missing: raise `logentries`, or `filter mintime`",
            );
        }
        if self.started_ns.is_some() {
            let (clock, _) = self.clock(at, import);
            import.mark(clock, Stamp::new(ns, RESOLUTION_NS), "logging stops", at);
        }
    }

    fn end_run(&mut self, import: &mut Import<'_>) {
        if let Some((promised, at)) = self.promised
            && self.rows != promised
        {
            import.notice(
                "entries-missing",
                Severity::DataLoss,
                at,
                "the log holds another number of entries than its own count says: was it copied completely?",
            );
        }
    }
}

/// What a line above the table says.
#[derive(Debug, PartialEq)]
enum Fact<'a> {
    /// Another log begins.
    Run,
    /// So many entries follow.
    Entries(u64),
    /// Logging started, in ns of the trace clock.
    Started(i64),
    /// Logging stopped then, and by what.
    Stopped(i64, &'a str),
    /// Calls were left out by a rule.
    Filtered,
    /// There was no log to print.
    NoLog,
    /// `.` for rows cut out of an example.
    LeftOut,
    /// Nothing that matters here.
    Layout,
}

/// Whether only KFI prints this.
fn is_title(line: &str) -> bool {
    let titles = [
        "Kernel Instrumentation Run ID",
        "Number of entries after filters",
    ];
    let logging = line.starts_with("Logging st") && line.contains(" usec by ");
    logging || titles.iter().any(|t| line.trim_start().starts_with(t))
}

fn preamble(line: &str) -> Option<Fact<'_>> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("Logging started at ") {
        let (us, _) = rest.split_once(" usec")?;
        return Some(Fact::Started(text::decimal(us.as_bytes(), 3)?));
    }
    if let Some(rest) = line.strip_prefix("Logging stopped at ") {
        let (us, why) = rest.split_once(" usec")?;
        let why = why.strip_prefix(" by ").unwrap_or(why);
        return Some(Fact::Stopped(text::decimal(us.as_bytes(), 3)?, why));
    }
    if let Some((what, n)) = line.rsplit_once('=')
        && let Ok(n) = n.trim().parse()
    {
        let counter = what.contains("filter count")
            || what.starts_with("Total entries filtered")
            || what.starts_with("Entries not found");
        return match what.trim() {
            "Number of entries after filters" => Some(Fact::Entries(n)),
            _ => counter.then_some(Fact::Layout),
        };
    }
    if line.starts_with("Kernel Instrumentation Run ID") {
        return Some(Fact::Run);
    }
    let no_log = [
        "No logging run registered",
        "Logging not yet triggered",
        "Logging is running",
    ];
    if no_log.contains(&line) {
        return Some(Fact::NoLog);
    }
    let filter = [
        "usecs minimum execution time",
        "usecs maximum execution time",
        "-entry function list",
        "no functions in interrupt context",
        "no functions NOT in interrupt context",
    ];
    let line = line.strip_prefix("Filters:").map_or(line, str::trim_start);
    if filter.iter().any(|f| line.ends_with(f)) {
        return Some(Fact::Filtered);
    }
    if line == "." || line == "..." {
        return Some(Fact::LeftOut);
    }
    is_layout(line).then_some(Fact::Layout)
}

/// Headings, rulers, and the configuration that the log was made with.
fn is_layout(line: &str) -> bool {
    let words = [
        "",
        "Filter Counters:",
        "function list",
        "new",
        "begin",
        "end",
    ];
    let config = [
        "trigger ",
        "filter ",
        "logentries ",
        "logsize ",
        "autorepeat",
        "$ ",
    ];
    let ruler = line.starts_with("----") && line.bytes().all(|b| matches!(b, b'-' | b' '));
    // `----------- !!!! start --------------` in the tree of kd -c -i.
    let thread = line.starts_with("-----------") && line.ends_with("-----------");
    ruler || thread || words.contains(&line) || config.iter().any(|c| line.starts_with(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_above_the_table() {
        let started = "Logging started at 6785045 usec by entry to function start_kernel";
        assert_eq!(preamble(started), Some(Fact::Started(6_785_045_000)));
        assert_eq!(
            preamble("Logging stopped at 12 usec by log full"),
            Some(Fact::Stopped(12_000, "log full"))
        );
        assert_eq!(
            preamble("Number of entries after filters = 1757"),
            Some(Fact::Entries(1757))
        );
        assert_eq!(
            preamble("Filters: 500 usecs minimum execution time"),
            Some(Fact::Filtered)
        );
        assert_eq!(
            preamble("Execution time filter count = 5"),
            Some(Fact::Layout)
        );
        for other in [
            "Entries = x",
            "a = 5",
            "Logging started at x usec by y",
            "-- me",
        ] {
            assert_eq!(preamble(other), None, "{other}");
        }
    }
}
