use std::os::unix::fs::symlink;

use bootlap_artefact::compress::Compression;

use super::*;
use crate::packages::CONTROL;
use crate::target::tests::{PLAIN, parse};

/// A cache in which the package `p` holds what `fill` puts there, and a target
/// beside it.
fn scratch(text: &str, fill: impl FnOnce(&Path)) -> (tempfile::TempDir, Target) {
    let scratch = tempfile::tempdir().unwrap();
    let package = scratch.path().join("cache/packages/arm64/unpacked/p");
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join(CONTROL), "Version: 1-2\n").unwrap();
    fill(&package);
    let dir = scratch.path().join("t");
    fs::create_dir(&dir).unwrap();
    let target = Target::parse(dir, text.to_owned(), "t.toml").unwrap();
    (scratch, target)
}

/// The kernel that `name` names, as its origin and content.
fn kernel(name: &str, fill: impl FnOnce(&Path)) -> Result<(String, String), String> {
    let text = PLAIN.replace("\"Image\"", &format!("{name:?}"));
    let packages = "[packages]\narchitecture = 'arm64'\n[kernel]";
    let (scratch, target) = scratch(&text.replace("[kernel]", packages), fill);
    let cache = Cache::at(scratch.path().join("cache"));
    let parts = target.parts(&cache, &|_| {}).map_err(|e| e.to_string())?;
    let kernel = parts.kernel.expect("every emulated machine has one");
    let text = String::from_utf8(kernel.bytes.to_vec()).unwrap();
    Ok((kernel.origin, text))
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_file_of_a_package_is_found_by_pattern() {
    let boot = |p: &Path| {
        put(&p.join("boot/vmlinuz-6.1-a"), "a");
        put(&p.join("boot/vmlinuz-6.1-b"), "b");
        put(&p.join("boot/vmlinux+(x)"), "x");
    };
    let found = kernel("package:p/boot/vmlinuz-*", boot).unwrap();
    assert_eq!(found, ("p 1-2 /boot/vmlinuz-6.1-b".into(), "b".into()));
    assert_eq!(kernel("package:p/boot/vmlinux+(x)", boot).unwrap().1, "x");
    let merged = |p: &Path| put(&p.join("usr/bin/tool"), "t");
    assert_eq!(
        kernel("package:p/bin/tool", merged).unwrap().0,
        "p 1-2 /usr/bin/tool"
    );
}

#[test]
fn a_disk_that_is_not_as_it_is_said_to_be_is_no_raw_one() {
    let said = |format: &str| {
        let text = format!("{PLAIN}\n[disk]\nimage = \"disk\"\n{format}");
        let (scratch, target) = scratch(&text, |_| {});
        fs::write(scratch.path().join("t/disk"), b"QFI\xfb\0\0\0\x03").unwrap();
        fs::write(scratch.path().join("t/Image"), "").unwrap();
        let cache = Cache::at(scratch.path().join("cache"));
        target.parts(&cache, &|_| {}).map_err(|e| e.to_string())
    };
    let raw = said("").map(|_| ()).unwrap_err();
    assert!(
        raw.contains("it is qcow2, and disk.format says raw"),
        "{raw}"
    );
    assert!(said("format = \"qcow2\"\n").is_ok());
}

#[test]
fn links_of_a_package_stay_in_it() {
    let links = |p: &Path| {
        put(&p.join("usr/lib/x"), "x");
        symlink("/usr/lib/x", p.join("absolute")).unwrap();
        symlink("../../../../../usr/./lib/x", p.join("usr/relative")).unwrap();
        symlink("/absolute", p.join("twice")).unwrap();
        symlink("/usr/lib", p.join("lib")).unwrap();
        symlink("/etc/hostname", p.join("host")).unwrap();
        symlink("loop", p.join("loop")).unwrap();
    };
    for name in ["absolute", "usr/relative", "twice"] {
        assert_eq!(
            kernel(&format!("package:p/{name}"), links).unwrap().1,
            "x",
            "{name}"
        );
    }
    for name in ["host", "loop"] {
        let said = kernel(&format!("package:p/{name}"), links).unwrap_err();
        assert!(
            said.contains("is a link to a file of another package"),
            "{said}"
        );
    }
}

#[test]
fn what_is_missing_is_named_with_its_key() {
    for (name, want) in [
        (
            "gone",
            "missing part: kernel.image names gone, which is not in ",
        ),
        ("", "missing part: kernel.image names , which is no file"),
        ("/", "missing part: kernel.image names /, which is no file"),
        (
            "package:p",
            "missing part: kernel.image: write package:NAME/path, not package:p",
        ),
        (
            "package:p/gone",
            "missing part: kernel.image: package p 1-2 holds no gone",
        ),
        (
            "package:p/",
            "missing part: kernel.image names package:p/, which is no file",
        ),
        (
            "package:p/.bootlap-control",
            "missing part: kernel.image: package p 1-2 holds no",
        ),
        (
            "package:../p/x",
            "missing part: kernel.image: \"..\" is no name of a package",
        ),
        (
            "package:-o/x",
            "missing part: kernel.image: \"-o\" is no name of a package",
        ),
    ] {
        let said = kernel(name, |_| {}).unwrap_err();
        assert!(said.starts_with(want), "{said}\n{want}");
    }
    let text = PLAIN.replace("\"Image\"", "\"package:p/x\"");
    let (scratch, target) = scratch(&text, |_| {});
    let cache = Cache::at(scratch.path().join("cache"));
    let said = target.parts(&cache, &|_| {}).err().unwrap().to_string();
    assert!(
        said.contains("there is no [packages] section: add one"),
        "{said}"
    );
}

#[test]
fn the_size_of_a_wrapped_kernel_is_that_of_the_kernel() {
    let part = |bytes: Vec<u8>| Parts {
        kernel: Some(Part::new("k", bytes)),
        ..Parts::default()
    };
    let spec = parse(PLAIN).unwrap().spec;
    let kernel = vec![0; 100_000];
    let gzip = Compression::Gzip.compress(&kernel).unwrap();
    assert_eq!(part(kernel).kernel_bytes(&spec), Some(100_000));
    assert_eq!(
        part(gzip[..gzip.len() / 2].to_vec()).kernel_bytes(&spec),
        None
    );
    assert_eq!(part(gzip).kernel_bytes(&spec), Some(100_000));
}
