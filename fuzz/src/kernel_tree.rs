//! A kernel's source tree: Kbuild, Kconfig and C that mean harm.

use bootlap_kbuild::{Asked, DotConfig, Kernel, MemoryTree};

/// Stands before each file of an input, with its path behind it.
pub const MARK: &str = "%% ";

/// Reads the tree in `input`, and explains what it may define.
pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut tree = MemoryTree::of([
        ("Makefile", "VERSION = 6\nPATCHLEVEL = 1\nobj-y += a.o\n"),
        ("arch/x86/Kbuild", "obj-y += ../../\n"),
    ]);
    let (all, files) = match text.split_once(MARK) {
        None => (&*text, ""),
        Some((all, files)) => (all, files),
    };
    // What names no file is all of them.
    for path in ["Kbuild", "Kconfig", "a.c", "include/a.h"] {
        tree.files.insert(path.to_owned(), all.as_bytes().to_vec());
    }
    for file in files.split(MARK).filter(|f| !f.is_empty()) {
        let (path, text) = file.split_once('\n').unwrap_or((file, ""));
        tree.files.insert(path.to_owned(), text.as_bytes().to_vec());
    }
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"_.+[] ".contains(c));
    let names = words.filter(|w| w.contains("_init") || w.contains("_setup"));
    let mut asked: Vec<Asked> = names.take(12).map(Asked::parse).collect();
    asked.push(Asked::parse("a_init"));
    let options = text
        .lines()
        .filter(|l| DotConfig::read(l.as_bytes()).is_ok());
    let options: Vec<&str> = options.collect();
    let config = DotConfig::read(options.join("\n").as_bytes()).ok();
    for config in [None, config] {
        let Ok(kernel) = Kernel::open(&tree, "x86", config) else {
            return;
        };
        let explained = kernel.explain(&asked, true);
        assert_eq!(explained.len(), asked.len());
        for place in explained.iter().flat_map(|e| &e.places) {
            let file = tree.files.get(&place.file).expect("it was read");
            let lines = file.iter().filter(|b| **b == b'\n').count() + 1;
            assert!(place.line >= 1 && place.line as usize <= lines);
        }
    }
}
