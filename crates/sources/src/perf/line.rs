//! The lines of `perf script`.
//!
//! ```text
//!               sh 12268  1465.305507:     500000 cpu-clock:      7f3a5d26999a _dl_lookup_symbol_x+0x2a (/usr/…/ld.so)
//! sh 12283  1466.442625:     500000 cpu-clock:
//!  ffffffff821f5127 exc_page_fault+0xd7 ([kernel.kallsyms])
//!  lto do764tasmoq 25337/26447 [000]  4279.070919576: cpu-clock:                       -F pid,tid --ns
//!               sh 12298 [000]  1467.618583: sched:sched_process_fork: comm=sh pid=12298 child_comm=sh child_pid=12300
//!               sh 12298 [000]  1467.618570: PERF_RECORD_FORK(12300:12300):(12298:12298)
//! ```

use bootlap_model::Stamp;

use crate::text;

/// The beginning of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head<'a> {
    pub(super) comm: &'a str,
    pub(super) pid: Option<u32>,
    /// The thread, which is what the recording is of.
    pub(super) tid: u32,
    pub(super) cpu: Option<u32>,
    pub(super) at: Stamp,
    /// As `sched:sched_switch`; empty if it was not asked for.
    pub(super) event: &'a str,
    pub(super) rest: &'a str,
}

/// A long line has many colons, and is not searched back from each.
const LONGEST_TIME: usize = 40;

/// The beginning of an event, if this line is one.
pub(super) fn head(line: &str) -> Option<Head<'_>> {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b':', bytes).find_map(|colon| {
        let near = colon.saturating_sub(LONGEST_TIME);
        let from = near + memchr::memrchr(b' ', &bytes[near..colon])? + 1;
        let number = &bytes[from..colon];
        if !number.contains(&b'.') {
            return None;
        }
        let err_ns = text::resolution_ns(number, 1_000_000_000);
        let at = Stamp::new(text::seconds_ns(number)?, err_ns);
        let mut before = line[..from].trim_ascii_end();
        let mut cpu = None;
        if let Some((rest, inside)) = before.strip_suffix(']').and_then(|b| b.rsplit_once('[')) {
            cpu = Some(inside.trim_ascii().parse().ok()?);
            before = rest.trim_ascii_end();
        }
        let (comm, ids) = before.rsplit_once(' ')?;
        let (pid, tid) = match ids.split_once('/') {
            Some((pid, tid)) => (Some(id(pid)?), id(tid)?),
            None => (None, id(ids)?),
        };
        let comm = comm.trim_ascii();
        let (event, rest) = event(line[colon + 1..].trim_ascii_start());
        (!comm.is_empty()).then_some(Head {
            comm,
            pid,
            tid,
            cpu,
            at,
            event,
            rest,
        })
    })
}

/// A number; -1 is what has no process, and no thread either.
fn id(text: &str) -> Option<u32> {
    match text {
        "-1" => Some(0),
        _ => text.parse().ok(),
    }
}

/// `[period] event: rest`
fn event(text: &str) -> (&str, &str) {
    let (mut text, mut word) = (text, first_word(text));
    while !word.0.is_empty() && word.0.bytes().all(|b| b.is_ascii_digit()) {
        (text, word) = (word.1, first_word(word.1));
    }
    let (first, behind) = word;
    match first.strip_suffix(':') {
        Some(event) => (event, behind),
        // `PERF_RECORD_FORK(1:1):(2:2)`, or `PERF_RECORD_COMM exec: sh:1/1`.
        None if first.starts_with("PERF_RECORD_") => {
            let end = first.find(['(', ':']).unwrap_or(first.len());
            (&first[..end], text[end..].trim_ascii())
        }
        None => ("", text),
    }
}

fn first_word(text: &str) -> (&str, &str) {
    let (first, behind) = text.split_once(' ').unwrap_or((text, ""));
    (first, behind.trim_ascii_start())
}

/// `sched:sched_switch` without `sched:`, if it is a tracepoint: after the
/// colon of other events are letters that say what of (`cycles:ppp`).
pub(super) fn tracepoint(event: &str) -> Option<&str> {
    let (_group, name) = event.split_once(':')?;
    let is_modifier = |b: u8| b"ukhGHpPSDWeIb".contains(&b);
    (!name.is_empty() && !name.bytes().all(is_modifier)).then_some(name)
}

/// `7f3a5d26999a name+0x2a (file)`: the name, of a stack's row or a sample.
pub(super) fn symbol(row: &str) -> Option<&str> {
    let row = row.trim_ascii();
    let (first, rest) = row.split_once(' ').unwrap_or((row, ""));
    let is_address = !first.is_empty() && first.bytes().all(|b| b.is_ascii_hexdigit());
    let name = if is_address { rest } else { row };
    let name = name.split(" (/").next().unwrap_or(name);
    let name = name.split(" ([").next().unwrap_or(name);
    let name = name.rfind("+0x").map_or(name, |offset| &name[..offset]);
    let name = name.trim_ascii();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neither a stack of calls nor a square of time.
    #[test]
    fn long_lines() {
        let numbers = format!("sh 1 1.5: {}cycles: x", "1 ".repeat(100_000));
        assert_eq!(
            head(&numbers).map(|h| (h.event, h.rest)),
            Some(("cycles", "x"))
        );
        assert_eq!(head(&"a:".repeat(1_000_000)), None);
    }

    #[test]
    fn heads() {
        let of = |line| head(line).map(|h| (h.comm, h.tid, h.cpu, h.at.ns, h.event, h.rest));
        assert_eq!(
            of("   sh 12268  1465.305507:     500000 cpu-clock:      7f3a x+0x2a (/ld.so)"),
            Some((
                "sh",
                12268,
                None,
                1_465_305_507_000,
                "cpu-clock",
                "7f3a x+0x2a (/ld.so)"
            ))
        );
        assert_eq!(
            of(" lto do 7 25337/26447 [000]  4279.070919576: cpu-clock:u: "),
            Some((
                "lto do 7",
                26447,
                Some(0),
                4_279_070_919_576,
                "cpu-clock:u",
                ""
            ))
        );
        assert_eq!(
            of("a 1 [001] 1.5: PERF_RECORD_FORK(12300:12301):(12298:12299)"),
            Some((
                "a",
                1,
                Some(1),
                1_500_000_000,
                "PERF_RECORD_FORK",
                "(12300:12301):(12298:12299)"
            ))
        );
        assert_eq!(
            of("a 1 1.5: PERF_RECORD_COMM exec: sh:12/12").map(|h| (h.4, h.5)),
            Some(("PERF_RECORD_COMM", "exec: sh:12/12"))
        );
        assert_eq!(of("a b-1 [001] .... 1.5: x: y"), None);
        assert_eq!(of("1.5: cpu-clock:"), None);
        assert_eq!(of("12:34:56.789: x"), None);
    }

    #[test]
    fn names() {
        assert_eq!(tracepoint("sched:sched_switch"), Some("sched_switch"));
        assert_eq!(tracepoint("cycles:ppp"), None);
        assert_eq!(tracepoint("cpu-clock"), None);
        let row = "\tffffffff821f5127 exc_page_fault+0xd7 ([kernel.kallsyms])";
        assert_eq!(symbol(row), Some("exc_page_fault"));
        assert_eq!(
            symbol(" 80 a::b(c, d)+0x1 (/x (deleted))"),
            Some("a::b(c, d)")
        );
        assert_eq!(symbol("\t7f [unknown] ([unknown])"), Some("[unknown]"));
        assert_eq!(symbol("\tmain"), Some("main"));
        assert_eq!(symbol("  "), None);
    }
}
