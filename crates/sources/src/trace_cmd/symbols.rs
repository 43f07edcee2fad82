//! Which function an address is in: the kernel's own list (`/proc/kallsyms`).
//!
//! ```text
//! ffffffff81000000 T _stext
//! ffffffffc0a10000 t fuse_init [fuse]
//! ```

use crate::text;
use crate::trace::Function;

/// The functions of a kernel, by address.
#[derive(Default)]
pub(super) struct Symbols {
    list: Vec<u8>,
    /// Address, and where the name begins in the list.
    starts: Vec<(u64, u32)>,
}

impl Symbols {
    /// Takes the list.
    pub(super) fn parse(list: &[u8]) -> Self {
        let mut starts = Vec::new();
        let mut at = 0;
        for line in list.split(|b| *b == b'\n') {
            let space = memchr::memchr(b' ', line).unwrap_or(0);
            let address = u64::from_str_radix(text::valid(&line[..space]), 16);
            let kind = line.get(space + 1).copied().unwrap_or(0);
            // All are 0 where they are secret (kptr_restrict).
            if let (Ok(address @ 1..), b't' | b'T' | b'w' | b'W', Ok(name)) =
                (address, kind, u32::try_from(at + space + 3))
            {
                starts.push((address, name));
            }
            at += line.len() + 1;
        }
        // Of several names of an address the first is the one: stable.
        starts.sort_by_key(|(address, _)| *address);
        starts.dedup_by_key(|(address, _)| *address);
        Self {
            list: list.to_vec(),
            starts,
        }
    }

    /// The function that `address` is in.
    pub(super) fn function(&self, address: u64) -> Option<Function<'_>> {
        let next = self.starts.partition_point(|(start, _)| *start <= address);
        let (_, from) = *self.starts.get(next.checked_sub(1)?)?;
        let line = self.list.get(from as usize..)?;
        let len = memchr::memchr(b'\n', line).unwrap_or(line.len());
        let line = text::valid(&line[..len]);
        let (name, module) = match line.split_once(['\t', ' ']) {
            Some((name, module)) => (name, module.trim().trim_matches(['[', ']'])),
            None => (line.trim(), ""),
        };
        Some(Function {
            name,
            module: Some(module).filter(|m| !m.is_empty()),
            args: "",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_functions() {
        let list = b"0000000000000000 T secret\n0000000000000010 T a\n0000000000000018 D data\n20 t b\t[m]\n20 t c\nbad\n";
        let symbols = Symbols::parse(list);
        let name = |at| symbols.function(at).map(|f| (f.name, f.module));
        assert_eq!(name(0x0f), None);
        assert_eq!(name(0x1f), Some(("a", None)));
        assert_eq!(name(0x20), Some(("b", Some("m"))));
        assert_eq!(name(u64::MAX), Some(("b", Some("m"))));
    }
}
