use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol};
use proptest::prelude::*;

use super::*;

/// `static int counter; int module_init_here(int a) { counter += a; return counter; }`, by gcc 12
/// for x86-64: `-g -Os -c`, and `-g -Os -shared -fPIC -nostdlib -Wl,-z,noseparate-code`.
const OBJECT: &[u8] = include_bytes!("../testdata/debug.o");
/// `static int helper(int a)` adds to a `static int counter`, `init_module` calls it, and `.modinfo`
/// says `depends=`: by gcc 12 for x86-64, `-g -Os -fno-pic -c`.
const MODULE: &[u8] = include_bytes!("../testdata/module.o");
const LIBRARY: &[u8] = include_bytes!("../testdata/debug.so");

fn sections(data: &[u8]) -> Vec<String> {
    let file = object::File::parse(data).unwrap();
    let named = file.sections().map(|s| s.name().unwrap().to_owned());
    named.filter(|n| !n.is_empty()).collect()
}

fn section(data: &[u8], name: &str) -> Option<Vec<u8>> {
    let file = object::File::parse(data).unwrap();
    let section = file.section_by_name(name)?;
    Some(section.data().unwrap().to_vec())
}

#[test]
fn a_module_keeps_its_symbols_and_loses_debug_sections() {
    for how in [Strip::Debug, Strip::All] {
        let less = strip(OBJECT, how).unwrap();
        assert!(less.len() < OBJECT.len() * 3 / 4, "{}", less.len());
        let left = sections(&less);
        assert!(!left.iter().any(|n| n.contains("debug")), "{left:?}");
        for name in [".text", ".rela.text", ".symtab", ".strtab", ".shstrtab"] {
            assert_eq!(section(&less, name), section(OBJECT, name), "{name}");
        }
        let file = object::File::parse(&*less).unwrap();
        let symbols: Vec<&str> = file.symbols().filter_map(|s| s.name().ok()).collect();
        assert!(symbols.contains(&"module_init_here"), "{symbols:?}");
        assert_eq!(strip(&less, how), None, "nothing is left to do");
    }
}

#[test]
fn a_module_keeps_the_symbols_that_it_is_linked_by() {
    let names = |data: &[u8]| {
        let file = object::File::parse(data).unwrap();
        let names = file
            .symbols()
            .filter_map(|s| s.name().ok().map(str::to_owned));
        names.filter(|name| !name.is_empty()).collect::<Vec<_>>()
    };
    let debug = strip(MODULE, Strip::Debug).unwrap();
    assert!(names(&debug).iter().any(|name| name.starts_with("helper")));
    let less = strip(MODULE, Strip::All).unwrap();
    assert!(less.len() < debug.len(), "{}", less.len());
    assert_eq!(names(&less), ["init_module"]);
    assert_eq!(module_needs(&less), Some(Vec::new()));
    for name in [".text", ".modinfo"] {
        assert_eq!(section(&less, name), section(MODULE, name), "{name}");
    }
    // What is linked is what was linked: the same places take the address of the same sections.
    let linked = |data: &[u8]| {
        let file = object::File::parse(data).unwrap();
        let place = |symbol: object::SymbolIndex| {
            let symbol = file.symbol_by_index(symbol).unwrap();
            let section = symbol.section_index().unwrap();
            let section = file.section_by_index(section).unwrap();
            (section.name().unwrap().to_owned(), symbol.address())
        };
        let text = file.section_by_name(".text").unwrap();
        let all = text.relocations().map(|(at, one)| match one.target() {
            object::RelocationTarget::Symbol(symbol) => (at, place(symbol), one.addend()),
            other => panic!("{other:?}"),
        });
        all.collect::<Vec<_>>()
    };
    assert_eq!(linked(&less), linked(MODULE));
    assert!(!linked(MODULE).is_empty());
    assert_eq!(strip(&less, Strip::All), None, "nothing is left to do");
}

#[test]
fn a_library_keeps_what_it_exports() {
    let debug = strip(LIBRARY, Strip::Debug).unwrap();
    let all = strip(LIBRARY, Strip::All).unwrap();
    assert!(all.len() < debug.len() && debug.len() < LIBRARY.len());
    for (less, symtab) in [(&debug, true), (&all, false)] {
        let left = sections(less);
        assert!(!left.iter().any(|n| n.contains("debug")), "{left:?}");
        assert_eq!(left.iter().any(|n| n == ".symtab"), symtab);
        assert_eq!(left.iter().any(|n| n == ".strtab"), symtab);
        for name in [".text", ".dynsym", ".dynstr", ".dynamic", ".comment"] {
            assert_eq!(section(less, name), section(LIBRARY, name), "{name}");
        }
        let file = object::File::parse(&**less).unwrap();
        let exported = file.dynamic_symbols().filter_map(|s| s.name().ok());
        assert!(exported.into_iter().any(|n| n == "module_init_here"));
    }
    assert_eq!(strip(LIBRARY, Strip::None), None);
}

#[test]
fn a_stripped_program_runs() {
    let program = fs::read(std::env::current_exe().unwrap()).unwrap();
    let less = strip(&program, Strip::All).unwrap();
    assert!(less.len() < program.len() / 2);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("program");
    fs::write(&path, &less).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let out = Command::new(&path).arg("--list").output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(said.contains("a_stripped_program_runs"), "{out:?}");
}

#[test]
fn what_follows_the_sections_is_not_lost() {
    let signed = [OBJECT, b"~Module signature appended~\n"].concat();
    assert_eq!(strip(&signed, Strip::All), None);
    for other in [&b""[..], b"#!/bin/sh\n", b"\x7fELF", &LIBRARY[..100]] {
        assert_eq!(strip(other, Strip::All), None);
    }
}

#[test]
fn needs_of_programs() {
    assert_eq!(needs(LIBRARY), Some(Needs::default()));
    assert_eq!(needs(b"#!/bin/sh\n"), None);
    let program = fs::read(std::env::current_exe().unwrap()).unwrap();
    let needs = needs(&program).unwrap();
    let file = object::File::parse(&*program).unwrap();
    if file.section_by_name(".interp").is_some() {
        let interpreter = needs.interpreter.unwrap();
        assert!(interpreter.starts_with(b"/"), "{interpreter:?}");
        assert!(!needs.libraries.is_empty());
        assert!(
            needs
                .libraries
                .iter()
                .all(|l| memchr::memmem::find(l, b".so").is_some())
        );
    }
}

proptest! {
    #[test]
    fn damage_never_panics(
        which in 0usize..3,
        at in prop_oneof![0usize..64, any::<usize>()],
        value in any::<u8>(),
        end in any::<usize>(),
    ) {
        let mut bytes = [OBJECT, MODULE, LIBRARY][which].to_vec();
        // The headers of sections stand last.
        let at = at % bytes.len();
        bytes[at] = value;
        let _ = (strip(&bytes, Strip::All), needs(&bytes));
        bytes.truncate(end % bytes.len());
        let _ = (strip(&bytes, Strip::Debug), needs(&bytes));
    }
}

/// What is in memory once all segments are loaded: address, bytes in memory, what they are.
fn loaded(data: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
    let number = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
    let count = u16::from_le_bytes(data[56..58].try_into().unwrap());
    let headers = (0..usize::from(count)).map(|nth| number(32) as usize + nth * 56);
    let segment = |at: usize| {
        let (start, bytes) = (number(at + 8) as usize, number(at + 32) as usize);
        let mut content = data[start..start + bytes].to_vec();
        content.resize(number(at + 40) as usize, 0);
        (number(at + 24), number(at + 40), content)
    };
    headers.map(segment).collect()
}

/// A kernel of segments, given as kind, place in the file, bytes there, and in memory.
fn kernel(segments: &[(u32, usize, usize, u64)]) -> Vec<u8> {
    let end = segments.iter().map(|s| s.1 + s.2).max().unwrap_or(0);
    let mut file = vec![0; end.max(64 + 56 * segments.len())];
    file[..6].copy_from_slice(b"\x7fELF\x02\x01");
    file[32..40].copy_from_slice(&64u64.to_le_bytes());
    file[54..56].copy_from_slice(&56u16.to_le_bytes());
    file[56..58].copy_from_slice(&(segments.len() as u16).to_le_bytes());
    for (nth, (kind, start, bytes, memory)) in segments.iter().enumerate() {
        let at = 64 + nth * 56;
        let words = [*start as u64, *start as u64, 0x100_0000 + *start as u64];
        let words = words.into_iter().chain([*bytes as u64, *memory, 0x20_0000]);
        file[at..at + 4].copy_from_slice(&kind.to_le_bytes());
        for (word, to) in words.zip((at + 8..).step_by(8)) {
            file[to..to + 8].copy_from_slice(&word.to_le_bytes());
        }
    }
    file
}

#[test]
fn a_packed_kernel_is_the_same_in_memory() {
    let (text, data) = (0x20_0000, 0x40_0010);
    let note = (4, text + 0x100, 20, 20);
    let segments = [
        (1, text, 0x9000, 0x9000),
        (1, data, 0x8000, 0x40_0000),
        note,
    ];
    let mut file = kernel(&segments);
    file[text + 5..text + 0x9000].fill(7);
    file[data..data + 0x1234].fill(9);
    let less = packed(&file).unwrap();
    assert!(less.len() < 0xd000, "{:#x}", less.len());
    assert_eq!(loaded(&less), loaded(&file));
    assert_eq!(packed(&less), None, "nothing is left to do");
}

#[test]
fn what_cannot_be_packed_is_left() {
    let file = kernel(&[(1, 0x20_0000, 0x9000, 0x9000), (1, 0x20_1000, 16, 16)]);
    assert_eq!(packed(&file), None, "segments in each other");
    let file = kernel(&[(1, 0x20_0000, 0x9000, 0x9000), (4, 0x30_0000, 16, 16)]);
    assert_eq!(packed(&file), None, "a note outside");
    assert_eq!(packed(OBJECT), None);
    assert_eq!(packed(&[]), None);
}

proptest! {
    #[test]
    fn whatever_it_is_given_what_is_loaded_stays(
        places in prop::collection::vec((0usize..40, 0usize..3), 1..6),
        cut in 0usize..400,
    ) {
        let segments = places.iter().scan(0x1000, |at, (pages, gap)| {
            let start = *at + gap * 0x777;
            *at = start + pages * 100;
            Some((1, start, pages * 100, 9000))
        });
        let segments: Vec<_> = segments.collect();
        let mut file = kernel(&segments);
        for (nth, byte) in file.iter_mut().enumerate().skip(0x1000) {
            *byte = if nth % 500 < cut { nth as u8 } else { 0 };
        }
        if let Some(less) = packed(&file) {
            prop_assert!(less.len() < file.len());
            prop_assert_eq!(loaded(&less), loaded(&file));
        }
    }
}
