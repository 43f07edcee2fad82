//! Programs and shared objects (ELF), as far as an initramfs has to know them: what they need to
//! run, and what in them is only for debuggers.
//!
//! Both widths and both byte orders; the layout is that of the System V ABI's generic part. The
//! kernel starts a program by its program headers alone, so everything that these cover stays where
//! it is.

mod packed;
mod strip;
mod symbols;

pub use packed::packed;
pub use strip::{Strip, strip};

use object::{Object, ObjectSection};

use super::bytes;

/// The end of the header's identification.
const IDENT: &[u8] = b"\x7fELF";
const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
/// More entries than any real file has; a bound against hostile ones.
const MOST: usize = 10_000;
/// Longest name of a library or an interpreter, in bytes.
const NAME: usize = 4096;

/// Where fields are and how they are read.
#[derive(Clone, Copy)]
struct Elf<'d> {
    data: &'d [u8],
    wide: bool,
    big: bool,
}

/// A segment.
struct Segment {
    kind: u32,
    offset: usize,
    address: u64,
    size: usize,
}

impl<'d> Elf<'d> {
    fn new(data: &'d [u8]) -> Option<Self> {
        if !data.starts_with(IDENT) {
            return None;
        }
        let wide = match data.get(4)? {
            1 => false,
            2 => true,
            _ => return None,
        };
        let big = match data.get(5)? {
            1 => false,
            2 => true,
            _ => return None,
        };
        Some(Self { data, wide, big })
    }

    fn u16(&self, at: usize) -> Option<u16> {
        let two = bytes::array(self.data, at)?;
        Some(match self.big {
            true => u16::from_be_bytes(two),
            false => u16::from_le_bytes(two),
        })
    }

    fn u32(&self, at: usize) -> Option<u32> {
        match self.big {
            true => bytes::be32(self.data, at),
            false => bytes::le32(self.data, at),
        }
    }

    /// An address or an offset: as wide as the file's class.
    fn word(&self, at: usize) -> Option<u64> {
        match (self.wide, self.big) {
            (true, true) => bytes::be64(self.data, at),
            (true, false) => bytes::le64(self.data, at),
            (false, _) => self.u32(at).map(u64::from),
        }
    }

    fn size(&self, at: usize) -> Option<usize> {
        usize::try_from(self.word(at)?).ok()
    }

    /// `narrow` in 32-bit files, `wide` in 64-bit ones.
    fn pick(&self, narrow: usize, wide: usize) -> usize {
        if self.wide { wide } else { narrow }
    }

    fn kind(&self) -> Option<u16> {
        self.u16(16)
    }

    /// The segments, or nothing if one of them makes no sense.
    fn segments(&self) -> Option<Vec<Segment>> {
        let start = self.size(self.pick(28, 32))?;
        let each = usize::from(self.u16(self.pick(42, 54))?);
        let count = usize::from(self.u16(self.pick(44, 56))?);
        if count > 0 && each < self.pick(32, 56) {
            return None;
        }
        let mut all = Vec::new();
        for i in 0..count.min(MOST) {
            let at = start.checked_add(i.checked_mul(each)?)?;
            let field = |narrow, wide| at.checked_add(self.pick(narrow, wide));
            all.push(Segment {
                kind: self.u32(at)?,
                offset: self.size(field(4, 8)?)?,
                address: self.word(field(8, 16)?)?,
                size: self.size(field(16, 32)?)?,
            });
        }
        Some(all)
    }
}

/// What a program cannot run without: the interpreter that the kernel starts for it, and the
/// libraries that this loads.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// A path, as `/lib/ld-linux-aarch64.so.1`.
    pub interpreter: Option<Vec<u8>>,
    /// Names, as `libc.so.6`.
    pub libraries: Vec<Vec<u8>>,
}

/// What the program or library in `data` needs; `None` if it is neither.
pub fn needs(data: &[u8]) -> Option<Needs> {
    let elf = Elf::new(data)?;
    let segments = elf.segments()?;
    let mut needs = Needs::default();
    for segment in &segments {
        match segment.kind {
            PT_INTERP => {
                let name = bytes::c_str(data, segment.offset, NAME);
                needs.interpreter = name.map(<[u8]>::to_vec);
            }
            PT_DYNAMIC => libraries(&elf, segment, &segments, &mut needs.libraries),
            _ => {}
        }
    }
    Some(needs)
}

/// The modules that the kernel's module in `data` needs, as it says itself; `None` if it is none.
pub fn module_needs(data: &[u8]) -> Option<Vec<String>> {
    let file = object::File::parse(data).ok()?;
    let info = file.section_by_name(".modinfo")?.data().ok()?;
    let lines = info.split(|byte| *byte == 0);
    let lists = lines.filter_map(|line| line.strip_prefix(b"depends="));
    let lists: Vec<_> = lists.map(String::from_utf8_lossy).collect();
    let names = lists.iter().flat_map(|list| list.split(','));
    let names = names.filter(|name| !name.is_empty());
    Some(names.map(str::to_owned).collect())
}

fn libraries(elf: &Elf<'_>, dynamic: &Segment, segments: &[Segment], out: &mut Vec<Vec<u8>>) {
    let step = elf.pick(4, 8);
    let count = (dynamic.size / (2 * step)).min(MOST);
    let (mut names, mut strings) = (Vec::new(), None);
    for i in 0..count {
        let at = dynamic.offset.saturating_add(i * 2 * step);
        let (Some(tag), Some(value)) = (elf.word(at), elf.word(at.saturating_add(step))) else {
            break;
        };
        match tag {
            0 => break,
            DT_NEEDED => names.push(value),
            DT_STRTAB => strings = Some(value),
            _ => {}
        }
    }
    // Addresses in memory, which the segments say the place of.
    let place = |address: u64| {
        segments.iter().filter(|s| s.kind == PT_LOAD).find_map(|s| {
            let into = usize::try_from(address.checked_sub(s.address)?).ok()?;
            (into < s.size).then(|| s.offset.checked_add(into))?
        })
    };
    for name in names {
        let at = strings.and_then(|s| place(s.checked_add(name)?));
        out.extend(
            at.and_then(|at| bytes::c_str(elf.data, at, NAME))
                .map(<[u8]>::to_vec),
        );
    }
}

#[cfg(test)]
mod tests;
