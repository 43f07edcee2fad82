//! Records of the archive of `bootlap-agent collect`: `agent/src/collect/wire.h`
//! says what is in each.

#![expect(
    missing_docs,
    reason = "the fields are those of wire.h, which documents them"
)]

use std::borrow::Cow;

use crate::bytes::{Order, u16_at, u32_at, u64_at};

/// How an archive begins.
pub const MAGIC: &[u8] = b"bootlap\x01";
const HEAD: usize = 4;
/// A number that nobody told.
const UNKNOWN: u32 = u32::MAX;

/// What a record says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    Start {
        ticks: u32,
        cpus: u32,
        /// The collector itself.
        pid: u32,
    },
    /// Something that is known of the machine.
    Fact {
        name: Cow<'a, str>,
        value: Cow<'a, str>,
    },
    Fork {
        ns: i64,
        parent: u32,
        pid: u32,
        tgid: u32,
    },
    Exec {
        ns: i64,
        pid: u32,
        arguments: Cow<'a, str>,
    },
    Name {
        ns: i64,
        pid: u32,
        name: Cow<'a, str>,
    },
    /// Between these times the kernel's log counted `log_us`.
    LogClock {
        from_ns: i64,
        to_ns: i64,
        log_us: i64,
    },
    /// How long a thread ran that began meanwhile, until its end or until `ns`.
    Ran {
        ns: i64,
        pid: u32,
        ran_ns: i64,
    },
    Exit {
        ns: i64,
        pid: u32,
        /// As wait(2) tells it, where the kernel told it.
        status: Option<u32>,
    },
    Account(Account<'a>),
    Live(Live<'a>),
    Sample(Sample<'a>),
    Mark {
        ns: i64,
        name: Cow<'a, str>,
    },
    Lost {
        count: u32,
        what: Cow<'a, str>,
    },
    Cost(Cost),
    End {
        ns: i64,
    },
}

/// What the kernel accounts a thread for when it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Account<'a> {
    /// When it was read.
    pub ns: i64,
    pub pid: u32,
    /// User and system, µs.
    pub cpu_us: i64,
    /// Runnable, and no CPU was free.
    pub cpu_wait_ns: u64,
    /// Waiting for its disk.
    pub io_wait_ns: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// As wait(2) tells it, where the kernel told it.
    pub status: Option<u32>,
    pub name: Cow<'a, str>,
}

/// What the collector used itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// When it was asked.
    pub ns: i64,
    pub user_us: u64,
    pub system_us: u64,
    /// How often it looked.
    pub wake_ups: u32,
    /// Bytes of its buffer, and how many of them it filled.
    pub buffer: u32,
    pub filled: u32,
}

/// A process that lives.
#[derive(Clone, Debug, PartialEq)]
pub struct Live<'a> {
    /// When it was looked at.
    pub ns: i64,
    pub pid: u32,
    pub parent: u32,
    /// Since which tick it lives.
    pub start: u64,
    /// User and system.
    pub ticks: u64,
    pub name: Cow<'a, str>,
}

/// Something that is looked at in intervals.
#[derive(Clone, Debug, PartialEq)]
pub enum Sample<'a> {
    /// Ticks of user, nice, system, idle, iowait, irq, softirq, steal.
    Cpu {
        ns: i64,
        ticks: [u64; 8],
        running: u32,
        blocked: u32,
    },
    Disk {
        ns: i64,
        sectors_read: u64,
        sectors_written: u64,
        busy_ms: u64,
        name: Cow<'a, str>,
    },
    /// KiB: total, free, available, buffers, cached.
    Memory { ns: i64, kib: [u64; 5] },
    /// µs in which some, or all, waited for it.
    Pressure {
        ns: i64,
        some_us: u64,
        full_us: u64,
        name: Cow<'a, str>,
    },
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// No such kind.
    Kind,
    /// It ends before its fields do.
    Short,
}

/// A record and its place.
pub struct Record<'a> {
    pub content: Result<Content<'a>, RecordError>,
    pub start: u64,
    pub end: u64,
    pub line: u32,
}

/// The records of an archive, up to the first that is cut off.
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Records<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let (at, line) = (MAGIC.len().min(bytes.len()), 0);
        Self { bytes, at, line }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let start = self.at;
        let kind = *self.bytes.get(start)?;
        let len = usize::from(u16_at(self.bytes, start + 2, Order::Little)?);
        let end = start + HEAD + len;
        let payload = self.bytes.get(start + HEAD..end)?;
        self.at = end;
        self.line = self.line.saturating_add(1);
        let mut fields = Fields { payload, at: 0 };
        Some(Record {
            content: fields.content(kind),
            start: start as u64,
            end: end as u64,
            line: self.line,
        })
    }
}

struct Fields<'a> {
    payload: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    fn u32(&mut self) -> Result<u32, RecordError> {
        let number = u32_at(self.payload, self.at, Order::Little).ok_or(RecordError::Short)?;
        self.at += 4;
        Ok(number)
    }

    fn u64(&mut self) -> Result<u64, RecordError> {
        let number = u64_at(self.payload, self.at, Order::Little).ok_or(RecordError::Short)?;
        self.at += 8;
        Ok(number)
    }

    fn ns(&mut self) -> Result<i64, RecordError> {
        // A time after the year 2262 is damage.
        i64::try_from(self.u64()?).map_err(|_| RecordError::Short)
    }

    /// How a process ended.
    fn status(&mut self) -> Result<Option<u32>, RecordError> {
        Ok(Some(self.u32()?).filter(|status| *status != UNKNOWN))
    }

    fn many<const N: usize>(&mut self) -> Result<[u64; N], RecordError> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.u64()?;
        }
        Ok(numbers)
    }

    fn rest(&mut self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.payload.get(self.at..).unwrap_or_default())
    }

    fn fact(&mut self) -> Result<Content<'a>, RecordError> {
        let mut parts = self
            .payload
            .splitn(2, |b| *b == 0)
            .map(String::from_utf8_lossy);
        let (name, value) = (parts.next(), parts.next());
        let (name, value) = name.zip(value).ok_or(RecordError::Short)?;
        Ok(Content::Fact { name, value })
    }

    fn content(&mut self, kind: u8) -> Result<Content<'a>, RecordError> {
        Ok(match kind {
            1 => {
                let [_now, _wall] = self.many()?;
                let (ticks, cpus, pid) = (self.u32()?, self.u32()?, self.u32()?);
                Content::Start { ticks, cpus, pid }
            }
            2 => self.fact()?,
            3 => Content::Fork {
                ns: self.ns()?,
                parent: self.u32()?,
                pid: self.u32()?,
                tgid: self.u32()?,
            },
            4 => Content::Exec {
                ns: self.ns()?,
                pid: self.u32()?,
                arguments: self.rest(),
            },
            5 => {
                let (ns, pid, _tgid) = (self.ns()?, self.u32()?, self.u32()?);
                let status = self.status()?;
                Content::Exit { ns, pid, status }
            }
            6 => Content::Account(self.account()?),
            7 => Content::Live(self.live()?),
            8..=11 => Content::Sample(self.sample(kind)?),
            12 => Content::Mark {
                ns: self.ns()?,
                name: self.rest(),
            },
            13 => Content::Lost {
                count: self.u32()?,
                what: self.rest(),
            },
            14 => Content::Cost(self.cost()?),
            15 => Content::End { ns: self.ns()? },
            16 => Content::Name {
                ns: self.ns()?,
                pid: self.u32()?,
                name: self.rest(),
            },
            17 => Content::LogClock {
                from_ns: self.ns()?,
                to_ns: self.ns()?,
                log_us: self.ns()?,
            },
            18 => Content::Ran {
                ns: self.ns()?,
                pid: self.u32()?,
                ran_ns: self.ns()?,
            },
            _ => return Err(RecordError::Kind),
        })
    }

    fn account(&mut self) -> Result<Account<'a>, RecordError> {
        let (ns, pid, _parent) = (self.ns()?, self.u32()?, self.u32()?);
        let [
            _elapsed,
            user,
            system,
            cpu_wait_ns,
            io_wait_ns,
            read_bytes,
            written_bytes,
        ] = self.many()?;
        let status = self.status()?;
        let cpu_us = i64::try_from(user.saturating_add(system)).unwrap_or(i64::MAX);
        let name = self.rest();
        Ok(Account {
            ns,
            pid,
            cpu_us,
            cpu_wait_ns,
            io_wait_ns,
            read_bytes,
            written_bytes,
            status,
            name,
        })
    }

    fn cost(&mut self) -> Result<Cost, RecordError> {
        Ok(Cost {
            ns: self.ns()?,
            user_us: self.u64()?,
            system_us: self.u64()?,
            wake_ups: self.u32()?,
            buffer: self.u32()?,
            filled: self.u32()?,
        })
    }

    fn live(&mut self) -> Result<Live<'a>, RecordError> {
        let (ns, pid, parent) = (self.ns()?, self.u32()?, self.u32()?);
        let [start, user, system] = self.many()?;
        let _state = self.u32()?;
        let (ticks, name) = (user.saturating_add(system), self.rest());
        Ok(Live {
            ns,
            pid,
            parent,
            start,
            ticks,
            name,
        })
    }

    fn sample(&mut self, kind: u8) -> Result<Sample<'a>, RecordError> {
        let ns = self.ns()?;
        Ok(match kind {
            8 => Sample::Cpu {
                ns,
                ticks: self.many()?,
                running: self.u32()?,
                blocked: self.u32()?,
            },
            9 => {
                let [_reads, sectors_read, _writes, sectors_written, busy_ms] = self.many()?;
                let name = self.rest();
                Sample::Disk {
                    ns,
                    sectors_read,
                    sectors_written,
                    busy_ms,
                    name,
                }
            }
            10 => Sample::Memory {
                ns,
                kib: self.many()?,
            },
            _ => {
                let [some_us, full_us] = self.many()?;
                let name = self.rest();
                Sample::Pressure {
                    ns,
                    some_us,
                    full_us,
                    name,
                }
            }
        })
    }
}
