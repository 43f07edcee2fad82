//! Builds of a small tree of our own, whose makefile knows the three targets
//! that a kernel's has: `make tables` builds real kernels.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use super::*;
use crate::target::tests::PLAIN;
use crate::{Cache, Target, TargetError};

/// `O=` and `.config` as Kbuild has them. `DEEP` depends on `BASE`, and an
/// image needs a `main.txt` without the word `broken`.
const MAKEFILE: &str = r#"
allnoconfig:
	cp $(KCONFIG_ALLCONFIG) $(O)/.config
	echo "CONFIG_OWN=y" >> $(O)/.config
olddefconfig:
	grep -q '^CONFIG_BASE=y' $(O)/.config || sed -i '/CONFIG_DEEP/d' $(O)/.config
Image:
	@echo "  CC      main.o"
	@if grep -q broken main.txt; then echo "main.txt:1: error: broken is broken"; exit 1; fi
	cat main.txt $(O)/.config > $(O)/Image
	if [ -e $(O)/initramfs.cpio ]; then cat $(O)/initramfs.cpio >> $(O)/Image; fi
"#;

fn scratch(options: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("Makefile"), MAKEFILE).unwrap();
    fs::write(tree.join("main.txt"), "all is well\n").unwrap();
    let build = format!(
        "image = \"build:Image\"\n[kernel.build]\nsource = \"tree\"\narchitecture = \"x86\"\n\
         config = \"allnoconfig\"\noptions = {{ {options} }}\n"
    );
    // [kernel] is its last section.
    let text = format!("{}{build}", PLAIN.replace("image = \"Image\"\n", ""));
    fs::write(dir.path().join("target.toml"), text).unwrap();
    dir
}

fn built(dir: &Path) -> Result<Built, TargetError> {
    let target = Target::load(dir).unwrap();
    let cache = Cache::at(dir.join("cache"));
    let mut all = target.builds(&cache, &|_| {})?;
    assert_eq!(all.len(), 1);
    Ok(all.remove(0).1)
}

#[test]
fn what_was_built_is_kept_until_something_changes() {
    let dir = scratch("BASE = \"y\", DEEP = \"y\", NAME = \"a b\"");
    let first = built(dir.path()).unwrap();
    assert!(!first.kept);
    assert!(first.config.is_on("DEEP") && first.config.is_on("OWN"));
    assert_eq!(first.config.text("NAME"), Some("a b"));
    let image = fs::read_to_string(&first.image).unwrap();
    assert!(image.starts_with("all is well\n"), "{image}");
    let again = built(dir.path()).unwrap();
    assert!(again.kept && again.image == first.image);
    fs::write(dir.path().join("tree/main.txt"), "all is very well\n").unwrap();
    let other = built(dir.path()).unwrap();
    assert!(!other.kept && other.image != first.image);
    // The parts of a target are what was built.
    let target = Target::load(dir.path()).unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    let said = RefCell::new(Vec::new());
    let progress = |text: &str| said.borrow_mut().push(text.to_owned());
    let parts = target.parts(&cache, &progress).unwrap();
    assert!(said.borrow().is_empty(), "{said:?}");
    assert!(parts.kernel_config.unwrap().is_on("BASE"));
    assert!(parts.kernel.unwrap().bytes.starts_with(b"all is very well"));
}

#[test]
fn errors_show_the_line_and_leave_the_log() {
    let dir = scratch("BASE = \"y\"");
    fs::write(dir.path().join("tree/main.txt"), "broken\n").unwrap();
    let said = built(dir.path()).unwrap_err().to_string();
    assert!(
        said.contains("main.txt:1: error: broken is broken"),
        "{said}"
    );
    let (_, log) = said.rsplit_once(": ").unwrap();
    assert!(fs::read_to_string(log).unwrap().contains("CC      main.o"));
    // What failed is tried again, and leaves nothing behind once it works.
    fs::write(dir.path().join("tree/main.txt"), "mended\n").unwrap();
    built(dir.path()).unwrap();
    assert!(!Path::new(log).exists());
}

#[test]
fn an_option_that_kconfig_drops_is_an_error() {
    let dir = scratch("DEEP = \"y\"");
    let said = built(dir.path()).unwrap_err().to_string();
    assert!(said.contains("CONFIG_DEEP=y became n"), "{said}");
}

#[test]
fn what_cannot_be_built_is_told_before() {
    let why = |from: &str, to: &str| {
        let dir = scratch("");
        let path = dir.path().join("target.toml");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).unwrap();
        built(dir.path()).unwrap_err().to_string()
    };
    assert!(why("\"x86\"", "\"z80\"").contains("z80 is none of arm64, arm"));
    assert!(why("source = \"tree\"", "source = \"no\"").contains("kernel.build.source"));
    assert!(why("\"build:Image\"", "\"build:../Image\"").contains("no path inside"));
    assert!(why("options = {  }", "options = { A = \"a\\nb\" }").contains("is no option"));
    assert!(why("\"allnoconfig\"", "\"none.config\"").contains("kernel.build.config"));
}

#[test]
fn a_kernel_can_hold_the_initramfs() {
    let dir = scratch("");
    let without = built(dir.path()).unwrap();
    let file = dir.path().join("target.toml");
    let text = fs::read_to_string(&file).unwrap();
    let inside = "[initramfs]\nplace = \"kernel\"\nfiles.\"/init\" = \"init\"\n";
    fs::write(&file, format!("{text}{inside}")).unwrap();
    let with = |init: &str| {
        fs::write(dir.path().join("init"), init).unwrap();
        let built = built(dir.path()).unwrap();
        (fs::read(&built.image).unwrap(), built)
    };
    let (image, first) = with("the first program");
    assert_ne!(first.image, without.image);
    assert_eq!(
        first.config.text("INITRAMFS_SOURCE"),
        Some("initramfs.cpio")
    );
    assert!(first.config.is_on("INITRAMFS_COMPRESSION_NONE"));
    let holds = |image: &[u8], text: &str| memchr::memmem::find(image, text.as_bytes()).is_some();
    assert!(holds(&image, "the first program") && holds(&image, "dev/console"));
    // Another file in it is another kernel, the same one the same.
    let (image, second) = with("another program");
    assert!(holds(&image, "another program") && second.image != first.image);
    assert!(with("the first program").1.kept);
    // It is given to the kernel only once.
    let target = Target::load(dir.path()).unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    let parts = target.parts(&cache, &|_| {}).unwrap();
    let pack = &|_: &str, bytes: &[u8], _| Ok(bytes.to_vec());
    let packed = parts.packed_initramfs(&target.spec, pack).unwrap();
    assert!(packed.is_none());
}

#[test]
fn only_a_kernel_that_is_built_holds_an_initramfs() {
    let text = format!("{PLAIN}[initramfs]\nplace = \"kernel\"\n");
    let why = crate::target::tests::parse(&text).unwrap_err().to_string();
    assert!(why.contains("[kernel.build]"), "{why}");
}
