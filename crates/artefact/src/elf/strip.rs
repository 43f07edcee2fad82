//! Leaves out of a program what only debuggers and linkers read.
//!
//! The names of functions, line numbers and types are often more than half of a program, and all of
//! it is read, decompressed and copied at each boot when it lies in an initramfs.
//!
//! Sections keep their numbers: one that goes becomes an empty one (`SHT_NULL`), since symbols and
//! relocations refer to others by number. What segments cover is not touched. Whatever looks
//! unusual (data after the last section, as self-extracting programs and signed modules have it; a
//! section inside of another) is left as it is.

use serde::{Deserialize, Serialize};

use super::Elf;
use super::symbols::{is_debug, needed_only};

const ET_REL: u16 = 1;
const ET_EXEC: u16 = 2;
const ET_DYN: u16 = 3;
const SHT_NULL: u32 = 0;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_RELA: u32 = 4;
const SHT_NOBITS: u32 = 8;
const SHT_REL: u32 = 9;
const SHT_SYMTAB_SHNDX: u32 = 18;
const SHF_ALLOC: u64 = 2;

/// How much goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strip {
    /// Nothing.
    #[default]
    None,
    /// What debuggers read.
    Debug,
    /// Also the names of functions; in kernel modules those that they are not linked by.
    All,
}

impl Strip {
    /// As it is written in `target.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Strip::None => "none",
            Strip::Debug => "debug",
            Strip::All => "all",
        }
    }
}

/// A section header and where it stands.
struct Section {
    header: usize,
    kind: u32,
    flags: u64,
    offset: usize,
    size: usize,
    link: usize,
    info: usize,
    align: usize,
    debug: bool,
    goes: bool,
}

/// `data` without what `how` takes away; `None` if that is nothing, or if it is no ELF file that
/// can be stripped.
pub fn strip(data: &[u8], how: Strip) -> Option<Vec<u8>> {
    if how == Strip::None {
        return None;
    }
    let elf = Elf::new(data)?;
    let relocatable = match elf.kind()? {
        ET_REL => true,
        ET_EXEC | ET_DYN => false,
        _ => return None,
    };
    let table = Table::read(&elf)?;
    let mut sections = table.sections(&elf)?;
    let names = elf.u16(elf.pick(50, 62)).map(usize::from)?;
    let fixed = fixed_end(&elf, &sections, relocatable)?;
    if !is_usual(data, &table, &sections, fixed) {
        return None;
    }
    if relocatable
        && how == Strip::All
        && let Some(less) = needed_only(data)
    {
        return Some(less);
    }
    choose(&mut sections, names, how == Strip::All && !relocatable);
    if !sections.iter().any(|s| s.goes) {
        return None;
    }
    let out = rebuilt(&elf, &table, &sections, fixed)?;
    (out.len() < data.len()).then_some(out)
}

/// The table of section headers.
struct Table {
    start: usize,
    each: usize,
    count: usize,
}

impl Table {
    fn read(elf: &Elf<'_>) -> Option<Self> {
        let table = Self {
            start: elf.size(elf.pick(32, 40))?,
            each: usize::from(elf.u16(elf.pick(46, 58))?),
            count: usize::from(elf.u16(elf.pick(48, 60))?),
        };
        // None at all, or so many that the number stands elsewhere.
        (table.count > 0 && table.each == elf.pick(40, 64) && table.end()? <= elf.data.len())
            .then_some(table)
    }

    fn end(&self) -> Option<usize> {
        self.start.checked_add(self.each.checked_mul(self.count)?)
    }

    fn sections(&self, elf: &Elf<'_>) -> Option<Vec<Section>> {
        let names = usize::from(elf.u16(elf.pick(50, 62))?);
        let offset_of = |index: usize| {
            let header = self.start.checked_add(index.checked_mul(self.each)?)?;
            elf.size(header.checked_add(elf.pick(16, 24))?)
        };
        let strings = offset_of(names).filter(|_| names < self.count)?;
        let section = |index: usize| {
            let header = self.start.checked_add(index.checked_mul(self.each)?)?;
            let at = |narrow, wide| header.checked_add(elf.pick(narrow, wide));
            let name = strings.checked_add(elf.u32(header)? as usize)?;
            let name = super::bytes::c_str(elf.data, name, super::NAME).unwrap_or_default();
            Some(Section {
                header,
                kind: elf.u32(at(4, 4)?)?,
                flags: elf.word(at(8, 8)?)?,
                offset: elf.size(at(16, 24)?)?,
                size: elf.size(at(20, 32)?)?,
                link: elf.u32(at(24, 40)?)? as usize,
                info: elf.u32(at(28, 44)?)? as usize,
                align: elf.size(at(32, 48)?)?,
                debug: is_debug(name),
                goes: false,
            })
        };
        (0..self.count).map(section).collect()
    }
}

impl Section {
    /// Whether it has bytes in the file.
    fn has_bytes(&self) -> bool {
        !matches!(self.kind, SHT_NULL | SHT_NOBITS) && self.size > 0
    }

    fn end(&self) -> Option<usize> {
        self.offset.checked_add(self.size)
    }
}

/// Up to where nothing may move.
fn fixed_end(elf: &Elf<'_>, sections: &[Section], relocatable: bool) -> Option<usize> {
    let header = elf.pick(52, 64);
    let programs = elf.size(elf.pick(28, 32))?;
    let each = usize::from(elf.u16(elf.pick(42, 54))?);
    let count = usize::from(elf.u16(elf.pick(44, 56))?);
    let mut end = header;
    if count > 0 {
        end = end.max(programs.checked_add(each.checked_mul(count)?)?);
    }
    for segment in elf.segments()? {
        if segment.size > 0 {
            end = end.max(segment.offset.checked_add(segment.size)?);
        }
    }
    if !relocatable {
        for section in sections {
            if section.flags & SHF_ALLOC != 0 && section.has_bytes() {
                end = end.max(section.end()?);
            }
        }
    }
    (end <= elf.data.len()).then_some(end)
}

/// Whether sections follow each other, and nothing follows them.
fn is_usual(data: &[u8], table: &Table, sections: &[Section], fixed: usize) -> bool {
    let Some(table_end) = table.end() else {
        return false;
    };
    let mut places: Vec<(usize, usize)> = vec![(table.start, table_end)];
    for section in sections.iter().filter(|s| s.has_bytes()) {
        match section.end() {
            Some(end) if end <= data.len() => {
                if end > fixed {
                    places.push((section.offset, end));
                }
            }
            _ => return false,
        }
    }
    places.sort_unstable();
    let apart = places.windows(2).all(|pair| match pair {
        [before, after] => before.1 <= after.0,
        _ => true,
    });
    let end = places.last().map_or(fixed, |p| p.1).max(fixed);
    // Some linkers fill up the last page.
    let behind = data.get(end..).unwrap_or_default();
    apart
        && places.iter().all(|p| p.0 >= fixed)
        && behind.len() < 16
        && behind.iter().all(|b| *b == 0)
}

/// Marks what goes.
fn choose(sections: &mut [Section], names: usize, symbols: bool) {
    let can_go = |s: &Section| s.flags & SHF_ALLOC == 0 && s.kind != SHT_NULL;
    let mut goes: Vec<bool> = sections
        .iter()
        .map(|s| {
            let symbol = symbols && matches!(s.kind, SHT_SYMTAB | SHT_SYMTAB_SHNDX);
            can_go(s) && (s.debug || symbol)
        })
        .collect();
    let gone = |goes: &[bool], index: usize| goes.get(index).copied().unwrap_or_default();
    // Relocations of what is gone.
    for (index, section) in sections.iter().enumerate() {
        let of_gone = matches!(section.kind, SHT_REL | SHT_RELA)
            && section.info != 0
            && gone(&goes, section.info);
        if can_go(section)
            && of_gone
            && let Some(goes) = goes.get_mut(index)
        {
            *goes = true;
        }
    }
    // Names that nothing is left to ask for.
    let asked_by = |index: usize, goes: &[bool], kept: bool| {
        let asks = |(i, s): (usize, &Section)| s.link == index && gone(goes, i) != kept;
        sections.iter().enumerate().any(asks)
    };
    let strings: Vec<usize> = (0..sections.len())
        .filter(|i| {
            sections
                .get(*i)
                .is_some_and(|s| s.kind == SHT_STRTAB && can_go(s))
        })
        .filter(|i| *i != names && asked_by(*i, &goes, false) && !asked_by(*i, &goes, true))
        .collect();
    for index in strings {
        if let Some(goes) = goes.get_mut(index) {
            *goes = true;
        }
    }
    for (section, goes) in sections.iter_mut().zip(goes) {
        section.goes = goes;
    }
}

/// The file without what goes.
fn rebuilt(elf: &Elf<'_>, table: &Table, sections: &[Section], fixed: usize) -> Option<Vec<u8>> {
    let mut out = elf.data.get(..fixed)?.to_vec();
    let mut headers = elf.data.get(table.start..table.end()?)?.to_vec();
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|i| sections.get(*i).map(|s| s.offset));
    for index in order {
        let section = sections.get(index)?;
        let at = section.header.checked_sub(table.start)?;
        if section.goes {
            headers.get_mut(at..at.checked_add(table.each)?)?.fill(0);
            continue;
        }
        if section.kind == SHT_NULL || section.flags & SHF_ALLOC != 0 && section.offset < fixed {
            continue;
        }
        let offset = if section.has_bytes() && section.end()? > fixed {
            let offset = out.len().checked_next_multiple_of(section.align.max(1))?;
            // A hostile alignment must not make a small file a large one.
            if offset > elf.data.len() {
                return None;
            }
            out.resize(offset, 0);
            out.extend_from_slice(elf.data.get(section.offset..section.end()?)?);
            offset
        } else {
            // Nothing in the file: the place only has to be within it.
            section.offset.min(out.len())
        };
        put_word(elf, &mut headers, at.checked_add(elf.pick(16, 24))?, offset)?;
    }
    let start = out.len().checked_next_multiple_of(8)?;
    out.resize(start, 0);
    out.extend_from_slice(&headers);
    put_word(elf, &mut out, elf.pick(32, 40), start)?;
    Some(out)
}

/// Writes an offset at `at`.
fn put_word(elf: &Elf<'_>, out: &mut [u8], at: usize, value: usize) -> Option<()> {
    let (narrow, wide) = (u32::try_from(value).ok(), value as u64);
    let bytes: Vec<u8> = match (elf.wide, elf.big) {
        (true, true) => wide.to_be_bytes().to_vec(),
        (true, false) => wide.to_le_bytes().to_vec(),
        (false, true) => narrow?.to_be_bytes().to_vec(),
        (false, false) => narrow?.to_le_bytes().to_vec(),
    };
    let place = out.get_mut(at..at.checked_add(bytes.len())?)?;
    place.copy_from_slice(&bytes);
    Some(())
}
