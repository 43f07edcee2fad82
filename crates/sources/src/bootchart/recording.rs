//! All members of one recording, put together when all are read.

use std::io::{self, BufRead, Read};

use bootlap_model::{ClockId, ClockKind, Severity, Stamp};

use super::accounts::{self, Times};
use super::assemble::Assembly;
use super::blocks::{Blocks, JIFFY_ERR_NS, JIFFY_NS};
use super::disks::Disks;
use super::family::{Commands, Paternity};
use super::header::Header;
use super::member::Member;
use super::memory::Memory;
use super::pacct::{self, Account};
use super::ps::{Ps, Tasks};
use super::stat::Stat;
use super::svg::Svg;
use super::table::Table;
use crate::parts::{Part, Parts};
use crate::text::{Import, Line, Reader, Skip};
use crate::{HEAD_LEN, binary};

#[derive(Default)]
pub(super) struct Recording {
    header: Header,
    stat: Stat,
    disks: Disks,
    memory: Memory,
    ps: Ps,
    tasks: Tasks,
    paternity: Paternity,
    commands: Commands,
    accounts: Vec<Account>,
}

impl Parts for Recording {
    fn part(&mut self, file: Part<'_>, import: &mut Import<'_>) -> io::Result<()> {
        let Part { name, bytes } = file;
        let head = binary::head(bytes, HEAD_LEN as u64)?;
        let known = Member::of(&head).map(|(member, _)| member);
        let bytes = &mut head.chain(bytes);
        let reader: &mut dyn Reader = match known.or_else(|| Member::named(name)) {
            Some(Member::Header) => &mut self.header,
            Some(Member::Stat) => &mut self.stat,
            Some(Member::Disks | Member::Empty) => &mut self.disks,
            Some(Member::Memory) => &mut self.memory,
            Some(Member::Ps) => &mut self.ps,
            Some(Member::Tasks) => &mut self.tasks,
            Some(Member::Paternity) => &mut self.paternity,
            Some(Member::CpuInfo) => &mut CpuInfo,
            Some(Member::Svg) => &mut Svg::default(),
            Some(Member::Commands) => {
                return import.read(&mut NulsAsTabs::new(bytes), &mut self.commands);
            }
            Some(Member::Accounts) => {
                self.accounts.append(&mut pacct::read(bytes, import)?);
                return Ok(());
            }
            None => &mut Unknown,
        };
        import.read(bytes, reader)
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        let (table, blocks) = self.processes(import);
        let sampled = self.clock(import);
        if let Some(clock) = sampled {
            self.stat.counters(clock, import);
            self.disks.counters(clock, import);
            self.memory.counters(clock, import);
        }
        let (exits, found) = accounts::matched(&self.accounts, table, blocks, import);
        let mut spans = Vec::new();
        if let Some(clock) = sampled {
            let assembly = Assembly {
                clock,
                blocks,
                table,
                paternity: &self.paternity,
                commands: &self.commands,
                exits: &exits,
                facts: self.header.args(import),
                relative: self.is_relative(),
            };
            spans = assembly.add(import);
        }
        let times = Times {
            uptime: sampled.map(|clock| (clock, blocks)),
            booted_s: self.stat.booted_s(),
            exits: &exits,
            found: &found,
            table,
            spans: &spans,
        };
        times.add(&self.accounts, import);
        self.too_short(table, import);
    }
}

impl Recording {
    /// Who was sampled, and when.
    fn processes(&self, import: &mut Import<'_>) -> (&Table, &Blocks) {
        if self.ps.table.processes.is_empty() {
            return (&self.tasks.table, &self.tasks.blocks);
        }
        if let Some((at, _)) = self.tasks.blocks.ends {
            let remedy = "the processes are in proc_ps.log and in taskstats.log: those of proc_ps.log are used, which knows when each began";
            import.notice("bootchart-processes-twice", Severity::Info, at, remedy);
        }
        (&self.ps.table, &self.ps.blocks)
    }

    /// The members that have samples.
    fn sampled(&self) -> impl Iterator<Item = &Blocks> {
        let all = [
            &self.ps.blocks,
            &self.tasks.blocks,
            &self.stat.blocks,
            &self.disks.blocks,
            &self.memory.blocks,
        ];
        all.into_iter().filter(|blocks| blocks.ends.is_some())
    }

    /// Whether the times count from the start of the recording. Nothing runs
    /// in the first moments of a kernel, and nothing starts in the future.
    fn is_relative(&self) -> bool {
        const SOON_NS: i64 = 5 * JIFFY_NS;
        const SLACK_NS: i64 = 1_000_000_000;
        let soon = |blocks: &Blocks| blocks.times.first().is_some_and(|first| *first <= SOON_NS);
        let last = self.ps.blocks.times.last().copied().unwrap_or(0);
        let future = |start_ns: i64| start_ns > last.saturating_add(SLACK_NS);
        let processes = &self.ps.table.processes;
        let starts = processes.iter().filter_map(|p| p.start_ns);
        let most = starts.filter(|start| future(*start)).count() * 2 > processes.len();
        self.sampled().any(soon) || most
    }

    /// The clock of all samples: one kernel's uptime. With it the marks of
    /// where the recording begins and ends.
    fn clock(&self, import: &mut Import<'_>) -> Option<ClockId> {
        let (at, _) = self.sampled().find_map(|blocks| blocks.ends)?;
        let kind = if self.is_relative() {
            let remedy = "the times of this recording count from its own start (bootchartd start, or -r), so they are not on the axis of other evidence: boot with init=/sbin/bootchartd";
            import.notice("bootchart-start-unknown", Severity::Notice, at, remedy);
            ClockKind::Relative
        } else {
            ClockKind::Boottime
        };
        let clock = import.timeline.add_clock(kind, at.file);
        let window = |blocks: &Blocks| Some((blocks.window()?, blocks.ends?));
        let windows: Vec<_> = self.sampled().filter_map(window).collect();
        let first = windows.iter().min_by_key(|((first, _), _)| *first)?;
        let last = windows.iter().max_by_key(|((_, last), _)| *last)?;
        let begins = (first.0.0, first.1.0, "bootchart starts");
        let ends = (last.0.1, last.1.1, "bootchart ends");
        for (ns, at, name) in [begins, ends] {
            import.mark(clock, Stamp::new(ns, JIFFY_ERR_NS), name, at);
        }
        Some(clock)
    }

    /// Says which forks no sample saw.
    fn too_short(&self, table: &Table, import: &mut Import<'_>) {
        let by_pid = table.index();
        for (child, at) in &self.paternity.forks {
            if by_pid.of(*child).is_empty() && !table.processes.is_empty() {
                let remedy = "these processes began and ended between two samples, so nothing but their parent is known: record with strace -f or the sched events of ftrace to see them";
                import.notice("gone-between-samples", Severity::Info, *at, remedy);
            }
        }
    }
}

/// `proc_cpuinfo.log`: `/proc/cpuinfo` once, or sampled. It has no events.
struct CpuInfo;

impl Reader for CpuInfo {
    fn line(&mut self, line: &Line<'_>, _sheet: &mut Import<'_>) -> Result<(), Skip> {
        let known = line.text.contains(&b':') || super::blocks::stamp_ns(line.text).is_some();
        let unknown = Skip::unknown("expected lines of /proc/cpuinfo: `model name : …`");
        known.then_some(()).ok_or(unknown)
    }
}

/// A file of which neither bytes nor name tell which member it is.
struct Unknown;

impl Reader for Unknown {
    fn line(&mut self, _line: &Line<'_>, _sheet: &mut Import<'_>) -> Result<(), Skip> {
        Err(Skip::unknown(
            "expected a member of a bootchart archive (header, proc_stat.log, proc_ps.log, …) or systemd-bootchart's SVG",
        ))
    }
}

/// Bytes with a tab for each NUL: the arguments of a command line stay apart.
struct NulsAsTabs<'a> {
    inner: &'a mut dyn BufRead,
    buffer: Vec<u8>,
    at: usize,
}

impl<'a> NulsAsTabs<'a> {
    fn new(inner: &'a mut dyn BufRead) -> Self {
        Self {
            inner,
            buffer: Vec::new(),
            at: 0,
        }
    }
}

impl Read for NulsAsTabs<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.len().min(to.len());
        to[..n].copy_from_slice(&self.buffer[self.at..self.at + n]);
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for NulsAsTabs<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.buffer.len() {
            let chunk = self.inner.fill_buf()?;
            self.buffer.clear();
            let tab = |b: &u8| if *b == 0 { b'\t' } else { *b };
            self.buffer.extend(chunk.iter().map(tab));
            let n = chunk.len();
            self.inner.consume(n);
            self.at = 0;
        }
        Ok(&self.buffer[self.at..])
    }

    fn consume(&mut self, n: usize) {
        self.at += n;
    }
}
