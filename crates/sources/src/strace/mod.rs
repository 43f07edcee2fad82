//! System calls, as strace prints them.
//!
//! ```text
//! 9393  07:31:07.594409 execve("/usr/bin/sh", ["sh", "-c", "ls /"...], 0x7ffe4d3e2968 /* 35 vars */) = 0 <0.000528>
//! 9393  07:31:07.600113 vfork( <unfinished ...>
//! 9394  07:31:07.600301 openat(AT_FDCWD, "/etc/ld.so.preload", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000008>
//! 9393  07:31:07.600424 <... vfork resumed>) = 9394 <0.000286>
//! 9394  07:31:07.604010 +++ exited with 0 +++
//! 9393  07:31:07.604055 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=9394, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
//! ```
//!
//! Times, by option, with 0, 3, 6 or 9 digits after the point: `-ttt` seconds
//! since 1970, `-t` and `-tt` the time of day, `-r` seconds since the line
//! before (of any process: so no file of `-ff -r` can be put in order), `-T`
//! how long each call took. The time of a line is that of the call's
//! beginning, or for `<... x resumed>` of its end.
//!
//! Each process becomes a span, from the end of the call that made it to its
//! exit, named by the program that it executed last, else as its parent; the
//! threads are apart. It carries sums of all its calls: `syscalls` (those that
//! took longest in all), `syscall_us` (time in calls, waiting or not),
//! `wait_us` (the part of it in calls that waited), `opens`, `failed_opens`,
//! `enoent` (calls that failed because there is no such file). Single calls
//! become spans if they took [`WORTH_NS`], or waited for [`WORTH_WAIT_NS`].
//! Without `-T` a call on one line has no end, but `until_next_us`. What was done with which
//! file is [`crate::accesses`]'.
//!
//! Quirks: with `-o -f` each line begins with the pid (`-Y`: and the name);
//! without `-o` only while there are several processes, as `[pid 9394] `, and
//! what the program and strace print lands in the middle of calls. A thread
//! that executes a program goes on under its process's number (`superseded
//! by execve`). `-q` leaves `attached` out, `-qqq` the exits. Before 5.2
//! `resumed> ` had a blank after it. `-i`, `-n`, `-k`, `-y`, `-C` are
//! understood; `-c` alone has no times. With `-z` lines come in the order in
//! which calls ended, and the end of a call that another got in between of is
//! on a line of its own.

mod calls;
mod clock;
mod emit;
mod files;
mod line;
mod process;
mod record;
mod trace;

use std::collections::HashSet;

use bootlap_model::{ClockId, Severity, Stamp, Timeline};
use foldhash::fast::FixedState;

use self::clock::{FileClock, Shared};
use self::line::{Body, CallEnd, Head, Style};
use self::trace::Trace;
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError, together};

/// A call that took so long is shown by itself.
const WORTH_NS: i64 = 1_000_000;

/// A call that waited so long is.
const WORTH_WAIT_NS: i64 = 100_000;

/// Processes that were announced are remembered up to here.
const MAX_ANNOUNCED: usize = 65_536;

const UNKNOWN: Skip = Skip::unknown(
    "expected lines of strace: what the traced program prints lands between them unless strace writes to a file; run strace again with -o FILE",
);

const NO_TIMES: Skip = Skip::lost(
    "no-times",
    "these lines have no times; run strace again with -f -ttt -T",
);

const TOO_MANY: Skip = Skip::lost(
    "too-many-processes",
    "only the first 65536 processes were read: trace a part of the boot",
);

const OF_ANY_FILE: Skip = Skip::lost(
    "relative-times-in-parts",
    "with -ff -r, times count from the line before in any of the files, so nobody can put them in order; run strace again with -ff -ttt",
);

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "strace",
    title: "system calls (strace)",
    looks_like: "lines of `1234 07:31:07.595482 brk(NULL) = 0x5604735cd000`",
    sniff,
    read,
    together: together(is_part, read_parts),
};

fn sniff(head: &[u8]) -> Sniff {
    // With -k most lines are stack frames.
    let (details, _) = text::count_lines(head, 200, is_detail);
    let (found, all) = text::count_lines(head, 200, is_strace);
    let all = all - details;
    match found {
        0 if begins_long(head) => Sniff::SURE,
        0 => Sniff::NO,
        _ if found * 5 >= all * 4 => Sniff::SURE,
        // The program prints too, or it is `-C`.
        3.. if found * 4 >= all => Sniff::percent(75),
        _ => Sniff::MAYBE,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut reader = StraceReader::new(false);
    text::read(input, &SOURCE, out, &mut reader)?;
    emit::emit(reader.trace, false, out);
    Ok(())
}

fn is_part(name: &str, head: &[u8]) -> bool {
    pid_of_name(name).is_some() && sniff(head) >= Sniff::LIKELY
}

/// The files of `strace -ff -o name`: `name.9417`, `name.9418` …
fn read_parts(parts: Vec<Input<'_>>, out: &mut Timeline) -> Result<(), SourceError> {
    let split = parts.len() > 1;
    let mut reader = StraceReader::new(split);
    for part in parts {
        reader.file = File {
            pid_of_name: pid_of_name(part.label),
            ..File::default()
        };
        text::read(part, &SOURCE, out, &mut reader)?;
    }
    emit::emit(reader.trace, split, out);
    Ok(())
}

/// The process whose calls a file has that is called `name.9417`, packed or not.
fn pid_of_name(name: &str) -> Option<u32> {
    let packed = [".gz", ".xz", ".zst", ".bz2"];
    let plain = packed.iter().find_map(|ending| name.strip_suffix(ending));
    plain.unwrap_or(name).rsplit_once('.')?.1.parse().ok()
}

/// Whether hardly anything but strace prints such a line.
fn is_strace(text: &[u8]) -> bool {
    match line::parse(text).1 {
        Body::Call(_, rest) => {
            rest.end == CallEnd::Unfinished
                || matches!(rest.end, CallEnd::Returned { ret, .. } if is_result(ret))
        }
        Body::Resumed(..) => true,
        Body::Exit(text) => {
            text.starts_with(b"exited with ")
                || text.starts_with(b"killed by SIG")
                || text.starts_with(b"superseded by ")
        }
        Body::Signal(text) => text.starts_with(b"SIG") || text.starts_with(b"stopped by "),
        Body::Message(_) | Body::Summary => true,
        Body::Detail | Body::Other => false,
    }
}

fn is_detail(text: &[u8]) -> bool {
    line::parse(text).1 == Body::Detail
}

/// `0`, `-1 ENOENT (…)`, `0x7f…`, `?`, `3</dev/null>`.
fn is_result(ret: &[u8]) -> bool {
    matches!(ret, [b'0'..=b'9' | b'?', ..] | [b'-', b'0'..=b'9', ..])
}

/// With `-s` large and `-v`, one line can fill the head.
fn begins_long(head: &[u8]) -> bool {
    let head = line::head(&head[..head.len().min(256)]);
    head.time.is_some() && head.body.starts_with(b"execve(\"")
}

/// What is known of one file.
#[derive(Default)]
struct File {
    clock: FileClock,
    /// The process that the file is about, by its name (`-ff`).
    pid_of_name: Option<u32>,
    /// Who lines without a pid are about.
    nameless: Option<u32>,
    /// Some lines have pids.
    pids: bool,
    /// The last number and whose it was.
    last: Option<(u32, u32)>,
    /// Whose call was cut by something else that was printed.
    torn: Option<u32>,
}

pub(crate) struct StraceReader {
    trace: Trace,
    clocks: Shared,
    file: File,
    split: bool,
    /// Children that strace or their parents announced.
    announced: HashSet<u32, FixedState>,
}

impl Reader for StraceReader {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let (head, body) = line::parse(line.text);
        if let Some(process) = self.file.torn
            && (head.pid, head.time) == (None, None)
            && let Some(rest) = line::continuation(line.text)
        {
            self.continued(process, rest, line);
            return Ok(());
        }
        match body {
            Body::Detail => return Ok(()),
            Body::Summary => {
                summary(line, import);
                return Ok(());
            }
            Body::Message(text) => {
                self.message(text);
                return Ok(());
            }
            Body::Other => return Err(UNKNOWN),
            _ => {}
        }
        let Some(time) = head.time else {
            let timed = self.file.clock.style().is_some();
            return Err(if timed { UNKNOWN } else { NO_TIMES });
        };
        if self.split && time.style == Style::Delta {
            return Err(OF_ANY_FILE);
        }
        let own_ns = self.trace.last_ns(match head.pid {
            None => self.file.nameless,
            Some(pid) => match self.file.last {
                Some((last, process)) if last == pid => Some(process),
                _ => self.trace.of_pid(pid),
            },
        });
        let shared = &mut self.clocks;
        let now = self.file.clock.now(time, own_ns, line, shared, import);
        let (clock, now) = now.ok_or(UNKNOWN)?;
        let process = self.process(&head, &body, (clock, now), line)?;
        self.file.torn = None;
        self.trace.seen(process, now);
        self.happened(process, body, now, line, import);
        Ok(())
    }
}

impl StraceReader {
    fn new(split: bool) -> Self {
        Self {
            trace: Trace::new(),
            clocks: Shared::default(),
            file: File::default(),
            split,
            announced: HashSet::with_hasher(FixedState::with_seed(0)),
        }
    }

    fn happened(
        &mut self,
        process: u32,
        body: Body<'_>,
        now: Stamp,
        line: &Line<'_>,
        import: &mut Import<'_>,
    ) {
        let whole = match body {
            Body::Call(name, rest) => {
                match rest.end {
                    CallEnd::Torn(child) => {
                        self.file.torn = Some(process);
                        child.into_iter().for_each(|c| self.announce(c));
                    }
                    // With -z the rest may be on the next line.
                    CallEnd::Unfinished => self.file.torn = Some(process),
                    CallEnd::Returned { .. } => {}
                }
                self.trace.call(process, name, rest, now, line.at)
            }
            Body::Resumed(name, rest) => {
                let now = Some(now);
                let begun = self.trace.resumed(process, Some(name), rest, now, line.at);
                if !begun {
                    import.notice(
                        "call-without-beginning",
                        Severity::Info,
                        line.at,
                        "the beginnings of these calls are not in the file",
                    );
                }
                true
            }
            Body::Exit(text) => {
                self.trace.exit(process, text, now);
                true
            }
            Body::Signal(text) => {
                self.trace.signal(text);
                true
            }
            _ => true,
        };
        if !whole {
            import.notice(
                "call-without-end",
                Severity::Notice,
                line.at,
                "the calls before these lines have no result in the file: something else was printed into it; run strace again with -o FILE",
            );
        }
    }

    /// The rest of a call that the program or strace printed into.
    fn continued(&mut self, process: u32, rest: line::Rest<'_>, line: &Line<'_>) {
        self.file.torn = None;
        if let CallEnd::Returned { .. } = rest.end {
            self.trace.resumed(process, None, rest, None, line.at);
        }
    }

    fn message(&mut self, text: &[u8]) {
        let Some(pid) = line::attached(text) else {
            return;
        };
        if text.ends_with(b" attached") {
            self.announce(pid);
        } else if text.ends_with(b" detached") {
            self.trace.detached(pid);
        }
    }

    fn announce(&mut self, pid: u32) {
        if self.announced.len() < MAX_ANNOUNCED {
            self.announced.insert(pid);
        }
    }

    /// Who a line is about.
    fn process(
        &mut self,
        head: &Head<'_>,
        body: &Body<'_>,
        now: (ClockId, Stamp),
        line: &Line<'_>,
    ) -> Result<u32, Skip> {
        let Some(pid) = head.pid else {
            return self.nameless(body, now, line).ok_or(TOO_MANY);
        };
        if let Some((last, process)) = self.file.last
            && last == pid
            && self.trace.lives(process)
        {
            return Ok(process);
        }
        self.file.pids = true;
        let known = self.trace.of_pid(pid);
        let process = match known {
            // A number is used again when its process is gone.
            Some(known) if self.trace.lives(known) || !begins(body) => known,
            None if self.is_nameless(pid) => {
                let nameless = self.file.nameless.unwrap_or_default();
                self.trace.name_pid(nameless, pid);
                nameless
            }
            _ => self.trace.add(Some(pid), now, line.at).ok_or(TOO_MANY)?,
        };
        if !head.comm.is_empty() {
            let p = &mut self.trace.processes[process as usize];
            if p.programs.is_empty() && p.comm.is_empty() {
                p.comm = head.comm.to_vec();
            }
        }
        self.file.last = Some((pid, process));
        Ok(process)
    }

    /// Whether the process that had no number until now is `pid`: without
    /// `-o` numbers appear when there is a second process.
    fn is_nameless(&self, pid: u32) -> bool {
        let nameless = self.file.nameless;
        nameless.is_some_and(|n| self.trace.processes[n as usize].pid.is_none())
            && !self.announced.contains(&pid)
            && !self
                .trace
                .forks
                .iter()
                .rev()
                .take(64)
                .any(|f| f.child == pid)
    }

    /// Who a line without a number is about: the only process that is there.
    fn nameless(&mut self, body: &Body<'_>, now: (ClockId, Stamp), line: &Line<'_>) -> Option<u32> {
        if self.file.pids {
            self.file.pids = false;
            self.file.last = None;
            let by_call = match body {
                Body::Resumed(name, _) => self.trace.in_call(name),
                _ => None,
            };
            let found = self.trace.only_one().or(by_call);
            self.file.nameless = found.or(self.file.nameless);
        }
        if self.file.nameless.is_none() {
            let pid = self.file.pid_of_name;
            self.file.nameless = self.trace.add(pid, now, line.at);
        }
        self.file.nameless
    }
}

/// Whether a line can be the first of a process: one that is gone still
/// prints how it ended.
fn begins(body: &Body<'_>) -> bool {
    matches!(body, Body::Call(..))
}

fn summary(line: &Line<'_>, import: &mut Import<'_>) {
    if line.text.starts_with(b"% time ") {
        import.notice(
            "summary-without-times",
            Severity::Info,
            line.at,
            "a summary of calls (strace -c) says nothing of when; run strace again with -f -ttt -T",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::tried::survives;

    /// Pieces that make sense together now and then.
    const PIECES: &[&str] = &[
        "1 ",
        "2 ",
        "[pid 3] ",
        "4<x> ",
        "\n",
        "\n",
        "\r\n",
        "00:00:01.5 ",
        "23:59:59 ",
        "1795268000.25 ",
        "     0.000010 ",
        "execve(\"/bin/a\", [\"a\"], 0)",
        "clone(flags=SIGCHLD",
        "clone3({CLONE_THREAD}",
        "vfork(",
        "read(0, ",
        ")",
        " = 0",
        " = 1",
        " = 3",
        " = ?",
        " = -1 ENOENT (No)",
        " <0.002000>",
        " <9999999.9>",
        " <unfinished ...>",
        "<... read resumed>",
        "<... execve resumed>",
        "+++ exited with 0 +++",
        "+++ superseded by execve in pid 2 +++",
        "--- SIGCHLD {si_pid=2, si_utime=1, si_stime=1} ---",
        "exit_group(0)",
        "strace: Process 2 attached",
        "Process 3 detached",
        "\u{fffd}",
        "9223372036.9 ",
    ];

    proptest! {
        #[test]
        fn whatever_the_lines(picks in prop::collection::vec(0..PIECES.len(), 0..120)) {
            let text: String = picks.iter().map(|i| PIECES[*i]).collect();
            survives(&SOURCE, text.as_bytes());
        }
    }
}
