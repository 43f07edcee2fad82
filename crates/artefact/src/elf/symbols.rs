//! Takes the symbols out of a kernel's module that nothing in it refers to.
//!
//! A kernel that can trace its functions looks for the name of each function of a module that it loads
//! (`test_for_valid_rec` in kernel/trace/ftrace.c), and goes through all of the module's symbols each
//! time: of the 122 M instructions that Debian's 6.1 takes to load ext4, 45 M. The module is linked
//! by the symbols that relocations name and by the global ones; the names of the others are for back
//! traces.

use std::collections::BTreeSet;

use object::build::Id;
use object::build::elf::{Builder, SectionData};
use object::elf::STB_LOCAL;

/// Of relocations that a patch for a running kernel brings (linux/livepatch.h).
const SHF_RELA_LIVEPATCH: u64 = 0x0010_0000;

/// The module without them, and without what debuggers read; `None` if `data` is no module, or one
/// that patches a running kernel, which needs them all.
pub(super) fn needed_only(data: &[u8]) -> Option<Vec<u8>> {
    let mut module = Builder::read(data).ok()?;
    let mut named = BTreeSet::new();
    let mut is_module = false;
    for section in &mut module.sections {
        let name = section.name.strip_prefix(b".rela");
        let name = name.or_else(|| section.name.strip_prefix(b".rel"));
        section.delete = is_debug(name.unwrap_or(&section.name));
        is_module |= *section.name == b".modinfo"[..];
        if section.sh_flags.0 & SHF_RELA_LIVEPATCH != 0 {
            return None;
        }
        let SectionData::Relocation(relocations) = &section.data else {
            continue;
        };
        if !section.delete {
            let symbols = relocations.iter().filter_map(|one| one.symbol);
            named.extend(symbols.map(|symbol| symbol.index()));
        }
    }
    let mut goes = false;
    for symbol in &mut module.symbols {
        symbol.delete = symbol.st_bind() == STB_LOCAL && !named.contains(&symbol.id().index());
        goes |= symbol.delete;
    }
    if !is_module || !goes {
        return None;
    }
    let mut out = Vec::new();
    module.write(&mut out).ok()?;
    Some(out)
}

/// Whether only debuggers read a section of that name.
pub(super) fn is_debug(name: &[u8]) -> bool {
    let starts: [&[u8]; 6] = [
        b".debug",
        b".zdebug",
        b".stab",
        b".gdb_index",
        b".gnu.debuglto_",
        b".gnu_debugdata",
    ];
    starts.iter().any(|start| name.starts_with(start))
}
