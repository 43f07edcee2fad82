use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::example::PLAIN;

fn text() -> String {
    let initramfs = r#"
[initramfs]
compression = "none"
tree = "tree"
[initramfs.files]
"/lib/a b.so" = "tree/file"
"#;
    PLAIN.to_owned() + initramfs
}

/// A target in a folder of its own within a scratch folder.
fn scratch(text: &str) -> (tempfile::TempDir, Target) {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("t");
    fs::create_dir_all(dir.join("tree/empty")).unwrap();
    fs::write(dir.join("target.toml"), text).unwrap();
    fs::write(dir.join("Image"), "kernel").unwrap();
    fs::write(dir.join("tree/file"), "x").unwrap();
    fs::set_permissions(dir.join("tree/file"), fs::Permissions::from_mode(0o750)).unwrap();
    symlink("../proc/mounts", dir.join("tree/mtab")).unwrap();
    symlink("/nowhere", dir.join("tree/dangling")).unwrap();
    let target = Target::load(&dir).unwrap();
    (scratch, target)
}

/// Everything in a folder: path, kind and content.
fn listing(dir: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        let name = path.file_name().unwrap().display().to_string();
        if meta.is_symlink() {
            all.push(format!(
                "{name} -> {}",
                fs::read_link(&path).unwrap().display()
            ));
        } else if meta.is_dir() {
            all.push(format!("{name}/"));
            all.extend(listing(&path).iter().map(|below| format!("{name}/{below}")));
        } else {
            let mode = meta.permissions().mode() & 0o777;
            let text = fs::read(&path).unwrap().escape_ascii().to_string();
            all.push(format!("{name} {mode:o} {text}"));
        }
    }
    all.sort();
    all
}

#[test]
fn the_copy_is_the_same_but_for_the_edits() {
    let (scratch, target) = scratch(&text());
    let before = listing(&target.dir);
    let changed = target.with(&[Edit::set("kernel.cmdline", "b")]).unwrap();
    let out = scratch.path().join("new/deep/out");
    changed.write_to(&out).unwrap();
    assert_eq!(listing(&target.dir), before, "the original is as it was");
    let want: Vec<String> = before
        .iter()
        .map(|l| l.replace("cmdline = \\\"a b\\\"", "cmdline = \\\"b\\\""))
        .collect();
    assert_eq!(listing(&out), want);
    assert_eq!(
        Target::load(&out).unwrap().spec.kernel.unwrap().cmdline,
        "b"
    );
}

#[test]
fn what_exists_is_not_written_over() {
    let (scratch, target) = scratch(&text());
    let out = scratch.path().join("out");
    symlink("/nowhere/at/all", &out).unwrap();
    for out in [&out, &target.dir, &target.dir.join("Image")] {
        let said = target.write_to(out).unwrap_err().to_string();
        assert!(said.contains("exists already: name a new folder"), "{said}");
    }
}

#[test]
fn the_targets_own_folder_is_never_written_to() {
    let (scratch, target) = scratch(&text());
    let before = listing(scratch.path());
    let link = scratch.path().join("t/../other-way");
    for out in [
        target.dir.join("out"),
        target.dir.join("a/b/c"),
        target.dir.join("tree/out"),
        target.dir.join("new/../out"),
        scratch.path().join("new/../t/out"),
    ] {
        let said = target.write_to(&out).unwrap_err().to_string();
        assert!(
            said.contains("lies inside the target's own folder"),
            "{said}"
        );
        assert_eq!(listing(scratch.path()), before);
    }
    symlink(&target.dir, &link).unwrap();
    let said = target.write_to(&link.join("out")).unwrap_err().to_string();
    assert!(said.contains("lies inside"), "{said}");
    // A name that only begins in the same way is no such folder.
    target.write_to(&scratch.path().join("t-tuned")).unwrap();
}

#[test]
fn what_cannot_be_copied_is_named_and_nothing_is_left() {
    let (scratch, target) = scratch(&text());
    let socket = target.dir.join("tree/socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let out = scratch.path().join("out");
    let said = target.write_to(&out).unwrap_err().to_string();
    let want = format!("cannot copy {}: neither a file", socket.display());
    assert!(said.starts_with(&want), "{said}");
    assert!(!out.exists());
}

#[test]
fn unreadable_files_are_named() {
    let (scratch, target) = scratch(&text());
    let file = target.dir.join("secret");
    fs::write(&file, "x").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&file).is_ok() {
        return; // root may read everything
    }
    let said = target.write_to(&scratch.path().join("out")).unwrap_err();
    assert!(said.to_string().contains("secret"), "{said}");
}

#[test]
fn parts_outside_of_the_folder_are_still_found() {
    let text = text()
        .replace("\"Image\"", "\"../common/./Image\"")
        .replace("\"tree/file\"", "\"tree/../../common/lib\" # why");
    let (scratch, target) = scratch(&format!("outside = [\"../common\"]\n{text}"));
    let common = scratch.path().join("common");
    fs::create_dir(&common).unwrap();
    fs::write(common.join("Image"), "k").unwrap();
    fs::write(common.join("lib"), "l").unwrap();
    let out = scratch.path().join("far/away/out");
    target.write_to(&out).unwrap();
    let copy = Target::load(&out).unwrap();
    let common = fs::canonicalize(&common).unwrap();
    assert_eq!(
        copy.spec.kernel.clone().unwrap().image.unwrap(),
        common.join("Image").display().to_string()
    );
    let files = copy.spec.initramfs.clone().unwrap().files;
    assert_eq!(
        files["/lib/a b.so"],
        common.join("lib").display().to_string()
    );
    assert!(copy.text.contains("# why"));
    let lib = common.join("lib");
    assert!(copy.allows(&lib) && !copy.allows(common.parent().unwrap()));
    assert!(copy.spec.outside.iter().all(|o| o.starts_with('/')));
}

#[test]
fn a_long_chain_of_folders_is_copied() {
    let (scratch, target) = scratch(&text());
    let mut deep = target.dir.join("tree");
    for _ in 0..200 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("big"), vec![7; 3 << 20]).unwrap();
    let out = scratch.path().join("out");
    target.write_to(&out).unwrap();
    let copy = out
        .join(deep.strip_prefix(&target.dir).unwrap())
        .join("big");
    assert_eq!(fs::metadata(copy).unwrap().len(), 3 << 20);
}

#[test]
fn a_disk_stays_where_it_is() {
    let start = PLAIN.find("[kernel]").unwrap();
    let disk = "[firmware]\nimage = \"fw.bin\"\n[disk]\nimage = \"disk.img\"\n";
    let (scratch, target) = scratch(&format!("{}{disk}", &PLAIN[..start]));
    fs::write(target.dir.join("disk.img"), "all of a disk").unwrap();
    fs::write(target.dir.join("fw.bin"), "firmware").unwrap();
    let out = scratch.path().join("out");
    target.write_to(&out).unwrap();
    assert!(!out.join("disk.img").exists() && out.join("fw.bin").exists());
    let copy = Target::load(&out).unwrap();
    let named = copy.spec.disk.unwrap().image;
    assert_eq!(fs::read(&named).unwrap(), b"all of a disk");
    assert_eq!(copy.spec.firmware.unwrap().image.unwrap(), "fw.bin");
}
