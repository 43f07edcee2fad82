use std::os::unix::fs::symlink;

use super::*;
use crate::{Cache, Target};

const TEXT: &str = r#"format = 1
name = "t"
ready.pattern = "READY"
[machine]
kind = "qemu"
program = "qemu"
machine = "virt"
cpu = "max"
memory-mb = 64
[kernel]
image = "target.toml"
cmdline = ""
[initramfs]
"#;

/// The entries for the rest of a description, in a folder that `fill` fills.
fn entries(rest: &str, fill: impl FnOnce(&Path)) -> Result<Vec<Entry>, String> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("target.toml"), format!("{TEXT}{rest}")).unwrap();
    fill(dir.path());
    let target = Target::load(dir.path()).map_err(|e| e.to_string())?;
    let cache = Cache::at(dir.path().join("cache"));
    let parts = target.parts(&cache, &|_| {}).map_err(|e| {
        let dir = dir.path().display().to_string();
        e.to_string().replace(&dir, "DIR")
    })?;
    Ok(parts.initramfs.unwrap())
}

fn shown(entries: &[Entry]) -> Vec<String> {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let one = |e: &Entry| match &e.what {
        What::Dir => format!("{}/", text(&e.path)),
        What::Link { to } => format!("{} -> {}", text(&e.path), text(to)),
        What::File { executable, bytes } => {
            let x = if *executable { "*" } else { "" };
            format!("{}{x} {}", text(&e.path), text(bytes))
        }
    };
    entries.iter().map(one).collect()
}

fn file(path: &Path, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "x").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn files_folders_links_and_odd_names() {
    let rest = "tree = 'tree'\ndirs = ['/', '//proc/', './var/log']\n\
                files.'/lib/data' = 'data'\nfiles.'/bin/tool' = 'link'\n\
                files.'/' = 'more'\nlinks.'/bin/sh' = 'tool'\n";
    let got = entries(rest, |dir| {
        file(&dir.join("tree/init"), 0o755);
        file(&dir.join("tree/etc/secret"), 0o600);
        let odd = OsStr::from_bytes(b"a\xff\n b");
        file(&dir.join("tree/etc").join(odd), 0o644);
        symlink(OsStr::from_bytes(b"/x\xfe"), dir.join("tree/etc/l")).unwrap();
        symlink(".", dir.join("tree/etc/loop")).unwrap();
        symlink("gone", dir.join("tree/etc/dangling")).unwrap();
        file(&dir.join("data/sub/f"), 0o010);
        fs::set_permissions(dir.join("data/sub/f"), fs::Permissions::from_mode(0o654)).unwrap();
        file(&dir.join("tool-1.2"), 0o755);
        symlink("tool-1.2", dir.join("link")).unwrap();
        file(&dir.join("more/top"), 0o644);
    });
    assert_eq!(
        shown(&got.unwrap()),
        [
            "bin/",
            "bin/sh -> tool",
            "bin/tool* x",
            "etc/",
            "etc/a\\xff\\n b x",
            "etc/dangling -> gone",
            "etc/l -> /x\\xfe",
            "etc/loop -> .",
            "etc/secret x",
            "init* x",
            "lib/",
            "lib/data/",
            "lib/data/sub/",
            "lib/data/sub/f* x",
            "proc/",
            "top x",
            "var/",
            "var/log/",
        ]
    );
}

#[test]
fn the_order_in_which_files_were_made_does_not_matter() {
    let names = ["b", "a/z", "a.b", "a/a/a", "c/1"];
    let made = |order: &mut dyn Iterator<Item = &&str>| {
        let names: Vec<&str> = order.copied().collect();
        entries("tree = 't'\n", |dir| {
            for name in names {
                file(&dir.join("t").join(name), 0o644);
            }
        })
        .unwrap()
    };
    let forth = made(&mut names.iter());
    assert_eq!(forth, made(&mut names.iter().rev()));
    let paths: Vec<&[u8]> = forth.iter().map(|e| e.path.as_slice()).collect();
    assert!(paths.is_sorted(), "{paths:?}");
}

#[test]
fn a_tree_may_be_a_link() {
    let got = entries("tree = 'link'\n", |dir| {
        file(&dir.join("real/init"), 0o755);
        symlink("real", dir.join("link")).unwrap();
    });
    assert_eq!(shown(&got.unwrap()), ["init* x"]);
}

#[test]
fn what_cannot_work_is_named() {
    let nothing: fn(&Path) = |_| {};
    type Case = (&'static str, fn(&Path), &'static str);
    let cases: [Case; 10] = [
        (
            "dirs = ['/a/../b']\n",
            nothing,
            "initramfs: initramfs.dirs: \"/a/../b\" cannot be a place",
        ),
        (
            "files.'/..' = 'target.toml'\n",
            nothing,
            "initramfs: initramfs.files.\"/..\": \"/..\" cannot",
        ),
        (
            "files.'/' = 'target.toml'\n",
            nothing,
            "initramfs: initramfs.files.\"/\": the root cannot be a file",
        ),
        (
            "links.'/' = 'x'\n",
            nothing,
            "initramfs: initramfs.links.\"/\": a link needs a place",
        ),
        (
            "links.'/x' = ''\n",
            nothing,
            "initramfs: initramfs.links.\"/x\": a link needs a place",
        ),
        (
            "tree = 'target.toml'\n",
            nothing,
            "initramfs: initramfs.tree names target.toml, which is no folder",
        ),
        (
            "tree = 'gone'\n",
            nothing,
            "missing part: initramfs.tree names gone, which is not in DIR",
        ),
        (
            "links.'/bin' = 'usr/bin'\nfiles.'/bin/sh' = 'target.toml'\n",
            nothing,
            "initramfs: /bin/sh cannot be created, as /bin is a link; put it into the folder",
        ),
        (
            "files.'/bin' = 'target.toml'\ndirs = ['/bin/deep/er']\n",
            nothing,
            "initramfs: /bin/deep/er cannot be created, as /bin is a file",
        ),
        (
            "tree = 't'\n",
            |dir| {
                fs::create_dir(dir.join("t")).unwrap();
                drop(std::os::unix::net::UnixListener::bind(dir.join("t/s")).unwrap());
            },
            "initramfs: DIR/t/s is neither a file, a folder nor a link; make devices",
        ),
    ];
    for (rest, fill, want) in cases {
        let said = entries(rest, fill).unwrap_err();
        assert!(said.starts_with(want), "{said}\n{want}");
    }
}

#[test]
fn nothing_is_an_initramfs_too() {
    assert_eq!(entries("", |_| {}).unwrap(), []);
}
