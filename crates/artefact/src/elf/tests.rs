use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol};
use proptest::prelude::*;

use super::*;

/// `static int counter; int module_init_here(int a) { counter += a; return counter; }`, by gcc 12
/// for x86-64: `-g -Os -c`, and `-g -Os -shared -fPIC -nostdlib -Wl,-z,noseparate-code`.
const OBJECT: &[u8] = include_bytes!("../testdata/debug.o");
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
        object in any::<bool>(),
        at in prop_oneof![0usize..64, any::<usize>()],
        value in any::<u8>(),
        end in any::<usize>(),
    ) {
        let mut bytes = if object { OBJECT } else { LIBRARY }.to_vec();
        // The headers of sections stand last.
        let at = at % bytes.len();
        bytes[at] = value;
        let _ = (strip(&bytes, Strip::All), needs(&bytes));
        bytes.truncate(end % bytes.len());
        let _ = (strip(&bytes, Strip::Debug), needs(&bytes));
    }
}
