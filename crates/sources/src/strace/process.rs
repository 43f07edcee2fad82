//! Processes as a trace shows them.

use bootlap_model::{ClockId, Evidence, Stamp};

use super::calls::Sums;

/// What a call was given is kept up to here, and of `execve` up to there.
const MAX_ARGS: usize = 160;
const MAX_EXEC_ARGS: usize = 2_000;

/// Programs that one process executed, one after the other, are kept up to
/// here.
const MAX_PROGRAMS: usize = 8;

/// A process or a thread.
pub(super) struct Process {
    pub(super) pid: Option<u32>,
    pub(super) clock: ClockId,
    /// The first and the last line.
    pub(super) first: Stamp,
    pub(super) last: Stamp,
    pub(super) at: Evidence,
    pub(super) end: End,
    /// What ended it: `exited with 0`.
    pub(super) exit: Option<String>,
    /// The name that it was given or that strace printed.
    pub(super) comm: Vec<u8>,
    pub(super) programs: Vec<Program>,
    /// Programs that were looked for and not found.
    pub(super) failed_execs: u64,
    /// CPU time that the parent was told of, in ticks of 10 ms.
    pub(super) cpu_ticks: Option<i64>,
    pub(super) sums: Sums,
    /// The call that it is in.
    pub(super) open: OpenCall,
    /// The call that it did before, if nothing tells how long that took.
    pub(super) untimed: OpenCall,
}

/// How a process went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was there when the recording ended.
    Running,
    /// It asked to end; nothing says when it was gone.
    Exiting(Stamp),
    /// It was gone.
    Gone(Stamp),
    /// It lives on without strace; or it is only known that it was made.
    Unseen,
}

/// What a process executed.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) path: Vec<u8>,
    pub(super) cmdline: Vec<u8>,
}

/// The beginning of a call.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) on: bool,
    pub(super) name: u16,
    pub(super) start: Stamp,
    pub(super) args: Vec<u8>,
    pub(super) ret: Vec<u8>,
    pub(super) at: Evidence,
}

impl OpenCall {
    fn none(at: Evidence) -> Self {
        Self {
            on: false,
            name: 0,
            start: Stamp::new(0, 0),
            args: Vec::new(),
            ret: Vec::new(),
            at,
        }
    }

    pub(super) fn set(&mut self, name: u16, start: Stamp, args: &[u8], at: Evidence) {
        self.on = true;
        self.name = name;
        self.start = start;
        self.at = at;
        self.args.clear();
        self.ret.clear();
        self.more(args);
    }

    /// Further arguments, on another line.
    pub(super) fn more(&mut self, args: &[u8]) {
        if self.args.ends_with(b",") && !args.is_empty() {
            self.args.push(b' ');
        }
        let room = MAX_EXEC_ARGS.saturating_sub(self.args.len());
        self.args.extend_from_slice(&args[..args.len().min(room)]);
    }
}

impl Process {
    pub(super) fn new(pid: Option<u32>, clock: ClockId, now: Stamp, at: Evidence) -> Self {
        Self {
            pid,
            clock,
            first: now,
            last: now,
            at,
            end: End::Running,
            exit: None,
            comm: Vec::new(),
            programs: Vec::new(),
            failed_execs: 0,
            cpu_ticks: None,
            sums: Sums::default(),
            open: OpenCall::none(at),
            untimed: OpenCall::none(at),
        }
    }

    /// Whether it may do more.
    pub(super) fn lives(&self) -> bool {
        self.end == End::Running
    }

    /// It executes what these arguments of `execve` name.
    pub(super) fn execute(&mut self, args: &[u8]) -> &Program {
        if self.programs.len() == MAX_PROGRAMS {
            self.programs.pop();
        }
        self.comm.clear();
        self.programs.push(Program::of(args));
        self.programs.last().expect("just added")
    }
}

impl Program {
    /// From `"/bin/ls", ["ls", "-l"], 0x7ffd… /* 35 vars */`, and with a
    /// descriptor in front from `execveat`.
    fn of(args: &[u8]) -> Self {
        let mut program = Self::default();
        let Some((path, rest)) = string(args) else {
            return program;
        };
        program.path = path;
        let list = memchr::memchr(b'[', rest).filter(|at| *at <= 4);
        let mut rest = list.map_or(&rest[..0], |at| &rest[at..]);
        while let Some((arg, next)) = string(rest) {
            if !program.cmdline.is_empty() {
                program.cmdline.push(b' ');
            }
            program.cmdline.extend(arg);
            rest = next;
            if let Some(cut) = rest.strip_prefix(b"...") {
                program.cmdline.extend("…".as_bytes());
                rest = cut;
            }
            if !rest.starts_with(b", \"") {
                break;
            }
        }
        if program.path.is_empty() {
            // fexecve(): the path is that of a descriptor.
            let first = program.cmdline.split(|b| *b == b' ').next();
            program.path = first.unwrap_or_default().to_vec();
        }
        program
    }

    /// The last part of its path.
    pub(super) fn name(&self) -> &[u8] {
        let last = self.path.rsplit(|b| *b == b'/').next();
        last.unwrap_or(&self.path)
    }
}

/// The first string in quotes, without its escapes, and what follows it.
pub(super) fn string(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let begin = memchr::memchr(b'"', text)? + 1;
    let mut out = Vec::new();
    let mut i = begin;
    loop {
        match *text.get(i)? {
            b'"' => return Some((out, &text[i + 1..])),
            b'\\' => {
                let (byte, len) = escape(&text[i + 1..])?;
                out.push(byte);
                i += 1 + len;
            }
            byte => {
                out.push(byte);
                i += 1;
            }
        }
    }
}

/// The byte after a backslash, and how long that is: `n`, `"`, `0`, `177`,
/// `x7f`.
fn escape(text: &[u8]) -> Option<(u8, usize)> {
    let first = *text.first()?;
    let digits = |radix: u32, from: usize, max: usize| {
        let digits = text[from..].iter().take(max);
        let digits = digits.map_while(|b| (*b as char).to_digit(radix));
        digits.fold((0u32, from), |(n, len), d| (n * radix + d, len + 1))
    };
    let (byte, len) = match first {
        b'0'..=b'7' => digits(8, 0, 3),
        b'x' => digits(16, 1, 2),
        b'n' => (u32::from(b'\n'), 1),
        b't' => (u32::from(b'\t'), 1),
        b'r' => (u32::from(b'\r'), 1),
        b'v' => (0x0b, 1),
        b'f' => (0x0c, 1),
        other => (u32::from(other), 1),
    };
    Some((byte as u8, len))
}

/// Arguments or a result as people see them.
pub(super) fn shown(text: &[u8]) -> Box<str> {
    let cut = &text[..text.len().min(MAX_ARGS)];
    let valid = crate::text::valid(cut);
    if valid.len() < text.len() {
        return format!("{valid}…").into();
    }
    valid.into()
}
