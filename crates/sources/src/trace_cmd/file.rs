//! The parts of a `trace.dat` file, of both versions.
//!
//! Version 6 has everything in a fixed order; the options name the clock.
//! Version 7 has sections, found by a list of options, whose contents are those
//! of version 6; a section may be compressed (`zstd` or `zlib`), and so are
//! then the pages of each CPU, in pieces.

use std::borrow::Cow;
use std::io::Read;

use super::bytes::{Bytes, Order};
use super::format::Formats;
use super::symbols::Symbols;
use crate::text;

/// How files of any version begin.
pub(super) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// No recording of a boot is larger; it has to fit into memory.
pub(super) const MAX_BYTES: u64 = 1 << 30;
const MAX_CPUS: u32 = 8_192;
const MAX_OPTIONS: usize = 10_000;

const OPTION_BUFFER: u16 = 3;
const OPTION_CLOCK: u16 = 4;
const HEADER_INFO: u16 = 16;
const FTRACE_EVENTS: u16 = 17;
const EVENT_FORMATS: u16 = 18;
const KALLSYMS: u16 = 19;
const CMDLINES: u16 = 21;

/// What a file says, its events not yet read.
pub(super) struct File<'f> {
    pub(super) order: Order,
    pub(super) formats: Formats,
    pub(super) symbols: Symbols,
    /// `pid name` lines.
    pub(super) names: Vec<(u32, String)>,
    /// The name of the trace clock; empty if it is not said.
    pub(super) clock: String,
    pub(super) cpus: Vec<Cpu<'f>>,
    pub(super) troubles: Vec<Trouble>,
}

/// The pages of one CPU.
pub(super) struct Cpu<'f> {
    pub(super) cpu: u32,
    pub(super) pages: Cow<'f, [u8]>,
    pub(super) page_size: usize,
    /// Where they are in the file.
    pub(super) offset: u64,
    /// How long they are there, if they are compressed.
    pub(super) packed: Option<u64>,
}

/// What could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The file ends before all of it was read.
    Cut,
    /// It is compressed in a way that is not known.
    Compression,
    /// Another buffer (`trace-cmd record -B`) of a version 6 file.
    OtherBuffer,
    /// This is of no version that is known.
    Version,
}

/// Reads all but the events of `data`.
pub(super) fn read(data: &[u8]) -> File<'_> {
    let mut file = File {
        order: Order {
            big_endian: false,
            long: 8,
        },
        formats: Formats::default(),
        symbols: Symbols::default(),
        names: Vec::new(),
        clock: String::new(),
        cpus: Vec::new(),
        troubles: Vec::new(),
    };
    if file.beginning(data).is_none() && !file.troubles.contains(&Trouble::Version) {
        file.troubles.push(Trouble::Cut);
    }
    file
}

impl<'f> File<'f> {
    fn beginning(&mut self, data: &'f [u8]) -> Option<()> {
        let mut bytes = Bytes {
            data,
            at: MAGIC.len(),
            order: self.order,
        };
        let version = bytes.string()?;
        let ends = bytes.take(2)?;
        self.order = Order {
            big_endian: ends[0] == 1,
            long: if ends[1] == 4 { 4 } else { 8 },
        };
        bytes.order = self.order;
        let page_size = bytes.u32()?;
        match version {
            "6" => self.version_6(bytes, page_size),
            "7" => self.version_7(bytes),
            _ => {
                self.troubles.push(Trouble::Version);
                None
            }
        }
    }

    fn version_6(&mut self, mut bytes: Bytes<'f>, page_size: u32) -> Option<()> {
        self.headers(&mut bytes)?;
        self.ftrace_events(&mut bytes)?;
        self.event_formats(&mut bytes)?;
        self.kallsyms(&mut bytes)?;
        let printk = bytes.u32()?;
        bytes.take(printk.into())?;
        self.cmdlines(&mut bytes)?;
        let cpus = bytes.u32()?.min(MAX_CPUS);
        let mut kind = bytes.take(10)?;
        if kind.starts_with(b"options") {
            for _ in 0..MAX_OPTIONS {
                let id = bytes.u16()?;
                if id == 0 {
                    break;
                }
                let len = bytes.u32()?;
                let data = bytes.take(len.into())?;
                match id {
                    OPTION_CLOCK => self.clock = chosen(data),
                    OPTION_BUFFER => self.troubles.push(Trouble::OtherBuffer),
                    _ => {}
                }
            }
            kind = bytes.take(10)?;
        }
        if !kind.starts_with(b"flyrecord") {
            self.troubles.push(Trouble::Version);
            return None;
        }
        for cpu in 0..cpus {
            let (offset, len) = (bytes.u64()?, bytes.u64()?);
            self.plain_cpu(bytes, cpu, (offset, len), page_size);
        }
        Some(())
    }

    fn version_7(&mut self, mut bytes: Bytes<'f>) -> Option<()> {
        let packing = Packing::named(bytes.string()?);
        let _packing_version = bytes.string()?;
        let mut next = bytes.u64()?;
        let mut buffers = Vec::new();
        let mut names = None;
        for _ in 0..MAX_OPTIONS {
            let options = self.section(bytes, next, packing)?;
            let mut options = Bytes {
                data: &options,
                at: 0,
                order: self.order,
            };
            next = 0;
            while let (Some(id), Some(len)) = (options.u16(), options.u32()) {
                let data = options.take(len.into())?;
                let number = self.order.number(data);
                match id {
                    0 => {
                        next = number;
                        break;
                    }
                    OPTION_BUFFER => buffers.push(data.to_vec()),
                    OPTION_CLOCK => self.clock = chosen(data),
                    HEADER_INFO | FTRACE_EVENTS | EVENT_FORMATS | KALLSYMS => {
                        self.described(bytes, (id, number), packing)?;
                    }
                    CMDLINES => names = Some(number),
                    _ => {}
                }
            }
            if next == 0 {
                break;
            }
        }
        if let Some(at) = names {
            self.described(bytes, (CMDLINES, at), packing)?;
        }
        for buffer in buffers {
            self.buffer(bytes, &buffer, packing)?;
        }
        Some(())
    }

    /// A section that describes something: the contents are as in version 6.
    fn described(
        &mut self,
        bytes: Bytes<'f>,
        (id, at): (u16, u64),
        packing: Option<Packing>,
    ) -> Option<()> {
        let data = self.section(bytes, at, packing)?;
        let mut section = Bytes {
            data: &data,
            at: 0,
            order: self.order,
        };
        match id {
            HEADER_INFO => self.headers(&mut section),
            FTRACE_EVENTS => self.ftrace_events(&mut section),
            EVENT_FORMATS => self.event_formats(&mut section),
            KALLSYMS => self.kallsyms(&mut section),
            _ => self.cmdlines(&mut section),
        }
    }

    /// The contents of the section at `at`.
    fn section(
        &mut self,
        bytes: Bytes<'f>,
        at: u64,
        packing: Option<Packing>,
    ) -> Option<Cow<'f, [u8]>> {
        let mut bytes = bytes.from(at)?;
        let (_id, flags, _name) = (bytes.u16()?, bytes.u16()?, bytes.u32()?);
        let len = bytes.u64()?;
        let data = bytes.take(len)?;
        if flags & 1 == 0 {
            return Some(Cow::Borrowed(data));
        }
        let mut packed = Bytes {
            data,
            at: 0,
            order: self.order,
        };
        let mut out = Vec::new();
        self.piece(&mut packed, packing, &mut out)?;
        Some(Cow::Owned(out))
    }

    /// One compressed piece, added to `out`.
    fn piece(
        &mut self,
        bytes: &mut Bytes<'_>,
        packing: Option<Packing>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let (packed, plain) = (bytes.u32()?, bytes.u32()?);
        let packed = bytes.take(packed.into())?;
        let room = MAX_BYTES.saturating_sub(out.len() as u64);
        let len = u64::from(plain).min(room);
        let done = match packing {
            Some(Packing::Zstd) => {
                let mut zstd = zstd::stream::read::Decoder::new(packed).ok();
                zstd.as_mut().map(|z| z.take(len).read_to_end(out).is_ok())
            }
            Some(Packing::Zlib) => {
                let zlib = flate2::read::ZlibDecoder::new(packed);
                Some(zlib.take(len).read_to_end(out).is_ok())
            }
            None => None,
        };
        if done != Some(true) {
            self.troubles.push(Trouble::Compression);
            return None;
        }
        Some(())
    }

    /// The pages of all CPUs of a buffer of version 7.
    fn buffer(&mut self, bytes: Bytes<'f>, option: &[u8], packing: Option<Packing>) -> Option<()> {
        let mut option = Bytes {
            data: option,
            at: 0,
            order: self.order,
        };
        let section = option.u64()?;
        let (_name, clock) = (option.string()?, option.string()?);
        if self.clock.is_empty() {
            self.clock = chosen(clock.as_bytes());
        }
        let (page_size, cpus) = (option.u32()?, option.u32()?.min(MAX_CPUS));
        let mut header = bytes.from(section)?;
        let (_id, flags) = (header.u16()?, header.u16()?);
        for _ in 0..cpus {
            let cpu = option.u32()?;
            let (offset, len) = (option.u64()?, option.u64()?);
            if len == 0 {
                continue;
            }
            if flags & 1 == 0 {
                self.plain_cpu(bytes, cpu, (offset, len), page_size);
            } else {
                self.packed_cpu(bytes, cpu, (offset, len), page_size, packing);
            }
        }
        Some(())
    }

    fn plain_cpu(&mut self, bytes: Bytes<'f>, cpu: u32, (offset, len): (u64, u64), page_size: u32) {
        let Some(mut from) = bytes.from(offset) else {
            return self.troubles.push(Trouble::Cut);
        };
        let rest = (from.data.len() - from.at) as u64;
        if rest < len {
            self.troubles.push(Trouble::Cut);
        }
        let pages = from.take(len.min(rest)).unwrap_or_default();
        self.cpus.push(Cpu {
            cpu,
            pages: Cow::Borrowed(pages),
            page_size: page_size as usize,
            offset,
            packed: None,
        });
    }

    fn packed_cpu(
        &mut self,
        bytes: Bytes<'f>,
        cpu: u32,
        (offset, len): (u64, u64),
        page_size: u32,
        packing: Option<Packing>,
    ) {
        let mut pages = Vec::new();
        let mut unpack = || {
            let mut from = bytes.from(offset)?;
            let pieces = from.u32()?;
            for _ in 0..pieces {
                self.piece(&mut from, packing, &mut pages)?;
            }
            Some(())
        };
        if unpack().is_none() && !self.troubles.contains(&Trouble::Compression) {
            self.troubles.push(Trouble::Cut);
        }
        self.cpus.push(Cpu {
            cpu,
            pages: Cow::Owned(pages),
            page_size: page_size as usize,
            offset,
            packed: Some(len),
        });
    }

    /// `header_page` and `header_event`: how pages and events begin, which is
    /// the same in all kernels that `trace-cmd` knows.
    fn headers(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        for _ in 0..2 {
            let _name = bytes.string()?;
            let len = bytes.u64()?;
            bytes.take(len)?;
        }
        Some(())
    }

    fn ftrace_events(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        let count = bytes.u32()?;
        for _ in 0..count {
            let len = bytes.u64()?;
            self.formats.add(text::valid(bytes.take(len)?));
        }
        Some(())
    }

    fn event_formats(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        let systems = bytes.u32()?;
        for _ in 0..systems {
            let _system = bytes.string()?;
            self.ftrace_events(bytes)?;
        }
        Some(())
    }

    fn kallsyms(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        let len = bytes.u32()?;
        self.symbols = Symbols::parse(bytes.take(len.into())?);
        Some(())
    }

    fn cmdlines(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        let len = bytes.u64()?;
        let lines = bytes.take(len)?.split(|b| *b == b'\n');
        let names = lines.filter_map(|line| {
            let (pid, comm) = text::valid(line).split_once(' ')?;
            Some((pid.parse().ok()?, comm.to_owned()))
        });
        self.names.extend(names);
        Some(())
    }
}

/// How sections are compressed.
#[derive(Clone, Copy)]
enum Packing {
    Zstd,
    Zlib,
}

impl Packing {
    fn named(name: &str) -> Option<Self> {
        match name {
            "zstd" => Some(Self::Zstd),
            "zlib" => Some(Self::Zlib),
            _ => None,
        }
    }
}

/// The clock of `[local] global counter …`, or the only one.
fn chosen(names: &[u8]) -> String {
    let names = text::valid(names).trim_end_matches(['\0', '\n', ' ']);
    let chosen = names
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    chosen.map_or(names, |(name, _)| name).to_owned()
}
