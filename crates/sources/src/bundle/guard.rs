//! The limits that no archive gets past.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::rc::Rc;

/// How much may come out of one thing that a user gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Archives and packings in each other.
    pub nesting: usize,
    /// Members of archives, in total.
    pub members: usize,
    /// Bytes of all members together, which are kept in memory.
    pub member_bytes: u64,
    /// Unpacked bytes, in total; a stream is not kept.
    pub unpacked_bytes: u64,
    /// Unpacked lines, in total: each becomes an event, which takes more memory than a
    /// short line.
    pub lines: u64,
    /// Unpacked bytes from which on the ratio is looked at.
    pub suspicious_bytes: u64,
    /// Unpacked bytes per packed byte: logs have up to 50, bombs thousands.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            nesting: 4,
            members: 10_000,
            member_bytes: 1 << 30,
            unpacked_bytes: 16 << 30,
            lines: 5_000_000,
            suspicious_bytes: 4 << 20,
            ratio: 250,
        }
    }
}

/// Something that went wrong on the way in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Stable kebab-case name.
    pub code: &'static str,
    /// What happened and what to do next.
    pub remedy: String,
}

/// Counts what goes in and comes out, and stops it at the limits.
#[derive(Clone, Default)]
pub(super) struct Guard {
    limits: Limits,
    state: Rc<State>,
}

#[derive(Default)]
struct State {
    packed: Cell<u64>,
    unpacked: Cell<u64>,
    lines: Cell<u64>,
    members: Cell<usize>,
    member_bytes: Cell<u64>,
    troubles: RefCell<Vec<Trouble>>,
}

impl Guard {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: Rc::default(),
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn troubles(&self) -> Vec<Trouble> {
        self.state.troubles.borrow().clone()
    }

    /// Remembers a kind of trouble, once.
    pub(super) fn trouble(&self, code: &'static str, remedy: &str) {
        let mut all = self.state.troubles.borrow_mut();
        if all.iter().all(|t| t.code != code) {
            all.push(Trouble {
                code,
                remedy: remedy.to_owned(),
            });
        }
    }

    /// Counts what is read from the file itself.
    pub(super) fn count_packed<R: Read>(&self, inner: R) -> impl Read + use<R> {
        Counting {
            inner,
            state: Rc::clone(&self.state),
        }
    }

    /// Stops what is unpacked at the limits, and at damage.
    pub(super) fn watch<R: Read>(&self, inner: R) -> impl Read + use<R> {
        Watched {
            inner,
            guard: self.clone(),
            over: false,
        }
    }

    /// Whether one more member may be taken.
    pub(super) fn another_member(&self) -> bool {
        let n = self.state.members.get() + 1;
        self.state.members.set(n);
        let fits = n <= self.limits.members;
        if !fits {
            let most = self.limits.members;
            let text = format!(
                "the archive has more than {most} files, and only the first were read: unpack it and give those of the boot"
            );
            self.trouble("too-many-members", &text);
        }
        fits
    }

    /// Reads a member whole; `None` if it does not fit.
    pub(super) fn read_member(&self, member: &mut dyn Read) -> Option<Vec<u8>> {
        let used = self.state.member_bytes.get();
        let room = self.limits.member_bytes.saturating_sub(used);
        let mut bytes = Vec::new();
        let read = self.watch(member).take(room + 1).read_to_end(&mut bytes);
        self.state.member_bytes.set(used + bytes.len() as u64);
        if read.is_err() {
            self.damaged();
        }
        if bytes.len() as u64 > room {
            let most = self.limits.member_bytes >> 20;
            let text = format!(
                "the archive's files are larger than {most} MiB together, and not all were read: unpack it and give those of the boot"
            );
            self.trouble("archive-too-large", &text);
            return None;
        }
        Some(bytes)
    }

    pub(super) fn damaged(&self) {
        self.trouble(
            "archive-damaged",
            "it is damaged or cut off, and only what comes before the damage was read: copy it again",
        );
    }

    /// Whether what was unpacked is still what a log may be.
    fn allows(&self, bytes: &[u8]) -> bool {
        let unpacked = self.state.unpacked.get() + bytes.len() as u64;
        self.state.unpacked.set(unpacked);
        let lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
        let lines = self.state.lines.get() + lines;
        self.state.lines.set(lines);
        let packed = self.state.packed.get().max(1);
        let bomb = unpacked > self.limits.suspicious_bytes && unpacked / packed > self.limits.ratio;
        if bomb || lines > self.limits.lines || unpacked > self.limits.unpacked_bytes {
            self.trouble(
                "unpacks-too-large",
                "it unpacks to far more than a log does, and only its beginning was read: if that is right, unpack it and give the file",
            );
            return false;
        }
        true
    }
}

struct Counting<R> {
    inner: R,
    state: Rc<State>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.state.packed.set(self.state.packed.get() + n as u64);
        Ok(n)
    }
}

struct Watched<R> {
    inner: R,
    guard: Guard,
    over: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.over {
            return Ok(0);
        }
        match self.inner.read(buf) {
            Ok(n) if self.guard.allows(&buf[..n]) => Ok(n),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            Ok(_) => {
                self.over = true;
                Ok(0)
            }
            Err(_) => {
                self.over = true;
                self.guard.damaged();
                Ok(0)
            }
        }
    }
}
