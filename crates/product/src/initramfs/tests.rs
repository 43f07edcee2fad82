use std::os::unix::fs::symlink;

use bootlap_artefact::compress::Compression;

use super::*;
use crate::example::PLAIN;
use crate::{Cache, Target};

/// The entries for the rest of a description, in a folder that `fill` fills.
fn entries(rest: &str, fill: impl FnOnce(&Path)) -> Result<Vec<Entry>, String> {
    allowing(&[], rest, fill)
}

/// The same, where the description names these with `outside`.
fn allowing(outside: &[&str], rest: &str, fill: impl FnOnce(&Path)) -> Result<Vec<Entry>, String> {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("outside = {outside:?}\n{PLAIN}");
    let text = text.replace("\"Image\"", "\"target.toml\"") + "[initramfs]\n";
    fs::write(dir.path().join("target.toml"), text + rest).unwrap();
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
    let one = |e: &Entry| match e.what.look() {
        Look::Dir => format!("{}/", text(&e.path)),
        Look::Node => format!("{} node", text(&e.path)),
        Look::Link { to } => format!("{} -> {}", text(&e.path), text(to)),
        Look::File { executable, bytes } => {
            let x = if executable { "*" } else { "" };
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
fn what_lies_outside_of_the_target_has_to_be_named() {
    let secret = tempfile::tempdir().unwrap();
    file(&secret.path().join("key"), 0o600);
    let key = secret.path().join("key").display().to_string();
    let said = entries(&format!("files.'/k' = '{key}'\n"), |_| {}).unwrap_err();
    assert!(
        said.contains("lies outside of DIR: copy it there"),
        "{said}"
    );
    assert!(said.contains(&format!("outside = [{key:?}]")), "{said}");
    // A link leads as far as a path does, and `..` as far as a whole path.
    let linked = |dir: &Path| symlink(&key, dir.join("mine")).unwrap();
    let said = entries("files.'/k' = 'mine'\n", linked).unwrap_err();
    assert!(said.contains("lies outside"), "{said}");
    let said = entries("tree = '..'\n", |_| {}).unwrap_err();
    assert!(
        said.contains("initramfs.tree names .., which lies"),
        "{said}"
    );
    let asked = format!("files.'/k' = '{key}'\n");
    let got = allowing(&[&key], &asked, |_| {}).unwrap();
    assert_eq!(shown(&got), ["k x"]);
    let all = secret.path().display().to_string();
    assert_eq!(shown(&allowing(&[&all], &asked, |_| {}).unwrap()), ["k x"]);
    assert!(allowing(&["/nowhere"], &asked, |_| {}).is_err());
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
fn modules_that_are_compressed_by_themselves_can_be_plain() {
    let packed = Compression::Xz.compress(b"module").unwrap();
    let of = |how: &str| {
        let rest = format!("tree = \"t\"\nmodule-compression = \"{how}\"\n");
        let entries = entries(&rest, |dir| {
            fs::create_dir(dir.join("t")).unwrap();
            for name in ["a.ko.xz", "firmware.bin.xz"] {
                fs::write(dir.join("t").join(name), &packed).unwrap();
            }
        });
        let entries = entries.unwrap().into_iter().map(|entry| entry.what);
        let bytes = entries.map(|what| match what.look() {
            Look::File { bytes, .. } => bytes.to_vec(),
            _ => Vec::new(),
        });
        bytes.collect::<Vec<_>>()
    };
    assert_eq!(of("kept"), [packed.clone(), packed.clone()]);
    assert_eq!(of("none"), [b"module".to_vec(), packed.clone()]);
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
            "DIR/t/s: it is neither a file, a folder nor a link; make devices",
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

mod own_images {
    use super::*;
    use bootlap_artefact::compress::Compression;
    use bootlap_artefact::cpio;

    const OF: &str = "image = 'own.img'\n";

    fn member(name: &str, mode: u32, data: &'static [u8]) -> cpio::Entry<'static> {
        cpio::Entry {
            mtime: 7,
            uid: 3,
            ..cpio::Entry::new(name.as_bytes().to_vec(), mode, data)
        }
    }

    /// As `find . | cpio -o` makes one: devices, hard links, odd names.
    fn members() -> Vec<cpio::Entry<'static>> {
        let mut console = member("./dev/console", cpio::CHAR_DEVICE | 0o600, b"");
        console.rdev = (5, 1);
        let mut sh = member("./bin/sh", cpio::REGULAR | 0o4755, b"busybox");
        sh.link = Some(0);
        let mut ls = sh.clone();
        ls.name = b"./bin/ls"[..].into();
        vec![
            member(".", cpio::DIRECTORY | 0o755, b""),
            member("./bin", cpio::DIRECTORY | 0o711, b""),
            sh,
            ls,
            member("./dev", cpio::DIRECTORY | 0o755, b""),
            console,
            member("./a\n b", cpio::REGULAR | 0o644, b"odd"),
            member("./init", cpio::SYMLINK | 0o777, b"bin/sh"),
        ]
    }

    fn from(image: &[u8], rest: &str) -> Result<Vec<Entry>, String> {
        entries(&format!("{OF}{rest}"), |dir| {
            fs::write(dir.join("own.img"), image).unwrap();
            fs::write(dir.join("list"), "/init\n# remark\n/gone\n").unwrap();
            fs::create_dir(dir.join("t")).unwrap();
            fs::write(dir.join("t/more"), "x").unwrap();
        })
    }

    const ALL: [&str; 7] = [
        "a\\n b odd",
        "bin/",
        "bin/ls* busybox",
        "bin/sh* busybox",
        "dev/",
        "dev/console node",
        "init -> bin/sh",
    ];

    #[test]
    fn every_packing_gives_the_same_and_it_is_written_as_it_was() {
        let plain = cpio::write(&members()).unwrap();
        for compression in Compression::ALL {
            if matches!(compression, Compression::Lzo | Compression::Lz4) {
                continue;
            }
            let mut image = compression.compress(&plain).unwrap();
            // Images are padded to the blocks of their flash.
            image.resize(image.len().next_multiple_of(512), 0);
            let got = from(&image, "").unwrap();
            assert_eq!(shown(&got), ALL, "{compression}");
            let archives = archives(&got).unwrap();
            assert!(archives.early.is_empty());
            let again = cpio::read(&archives.rest).unwrap().entries;
            let console = again.iter().find(|e| &*e.name == b"dev/console").unwrap();
            assert_eq!((console.rdev, console.uid, console.mtime), ((5, 1), 3, 7));
            let names = again.iter().filter(|e| e.link.is_some()).count();
            assert_eq!(names, 2, "one file with two names");
            let sh = again.iter().find(|e| &*e.name == b"bin/sh").unwrap();
            assert_eq!((sh.mode & 0o7777, &*sh.data), (0o4755, &b"busybox"[..]));
        }
    }

    #[test]
    fn archives_follow_each_other_and_microcode_stays_in_front() {
        let microcode = [
            member("kernel", cpio::DIRECTORY | 0o755, b""),
            member("kernel/x86", cpio::DIRECTORY | 0o755, b""),
            member("kernel/x86/code.bin", cpio::REGULAR | 0o644, b"uc"),
        ];
        let later = [
            member("a\n b", cpio::REGULAR | 0o600, b"newer"),
            member("kernel/other", cpio::REGULAR | 0o600, b""),
        ];
        let early = cpio::write(&microcode).unwrap();
        for compression in [
            Compression::Gzip,
            Compression::Bzip2,
            Compression::Lzma,
            Compression::Xz,
            Compression::Lz4Legacy,
            Compression::Zstd,
        ] {
            let first = compression
                .compress(&cpio::write(&members()).unwrap())
                .unwrap();
            let second = Compression::Gzip
                .compress(&cpio::write(&later).unwrap())
                .unwrap();
            let image = [&early[..], &first, &[0; 8], &second].concat();
            let got = from(&image, "").unwrap();
            let got_shown = shown(&got);
            assert_eq!(got_shown[0], "a\\n b newer", "{compression}");
            assert_eq!(got.len(), ALL.len() + 4, "{got_shown:?}");
            let archives = archives(&got).unwrap();
            assert!(archives.early == early, "{compression}");
            let rest = cpio::read(&archives.rest).unwrap();
            let rest: Vec<_> = rest.entries.iter().map(|e| e.path().into_owned()).collect();
            assert!(rest.contains(&"kernel/other".to_owned()), "{rest:?}");
            assert!(
                !rest.contains(&"kernel/x86/code.bin".to_owned()),
                "{rest:?}"
            );
        }
    }

    #[test]
    fn what_is_named_goes_over_the_image() {
        let image = cpio::write(&members()).unwrap();
        let rest = "dirs = ['/bin', '/proc']\nfiles.'/bin/ls' = 't/more'\nlinks.'/init' = 'x'\n\
                    tree = 't'\n";
        let got = from(&image, rest).unwrap();
        let want = [
            "a\\n b odd",
            "bin/",
            "bin/ls x",
            "bin/sh* busybox",
            "dev/",
            "dev/console node",
            "init -> x",
            "more x",
            "proc/",
        ];
        assert_eq!(shown(&got), want);
        let What::Own(bin) = &got[1].what else {
            panic!("the image says the mode of /bin");
        };
        assert_eq!(bin.mode & 0o7777, 0o711);
        let why = from(&image, "dirs = ['/init']\n").unwrap_err();
        assert!(why.contains("/init is a link to bin/sh"), "{why}");
    }

    #[test]
    fn only_what_a_list_names_and_what_that_needs() {
        let image = cpio::write(&members()).unwrap();
        let got = from(&image, "only = 'list'\n").unwrap();
        let want = [
            "bin/",
            "bin/sh* busybox",
            "dev/",
            "dev/console node",
            "init -> bin/sh",
        ];
        assert_eq!(shown(&got), want);
        let why = entries("dirs = ['/x']\nonly = 'list'\n", |dir| {
            fs::write(dir.join("list"), "/nothing\n").unwrap();
        });
        assert!(why.unwrap_err().contains("list names nothing"));
    }

    #[test]
    fn needs_and_links_on_the_way_are_found() {
        let got = entries("tree = 't'\nonly = 'list'\n", |dir| {
            let t = dir.join("t");
            file(&t.join("usr/lib/python3"), 0o755);
            file(&t.join("usr/lib/other"), 0o755);
            file(&t.join("opt/script"), 0o755);
            fs::write(t.join("opt/script"), "#!/usr/bin/env python3\n").unwrap();
            file(&t.join("usr/bin/env"), 0o755);
            symlink("/usr/lib", t.join("lib")).unwrap();
            symlink("gone", t.join("dangling")).unwrap();
            symlink("usr/lib/other", t.join("unused")).unwrap();
            symlink("../opt/script", t.join("usr/tool")).unwrap();
            symlink("loop", t.join("loop")).unwrap();
            fs::write(dir.join("list"), "/usr/tool\n").unwrap();
        });
        let want = [
            "dangling -> gone",
            "lib -> /usr/lib",
            "loop -> loop",
            "opt/",
            "opt/script* #!/usr/bin/env python3\\n",
            "usr/",
            "usr/bin/",
            "usr/bin/env* x",
            "usr/lib/",
            "usr/lib/python3* x",
            "usr/tool -> ../opt/script",
        ];
        assert_eq!(shown(&got.unwrap()), want);
    }

    #[test]
    fn a_broken_image_is_named_with_what_is_wrong() {
        let plain = cpio::write(&members()).unwrap();
        let packed = Compression::Gzip.compress(&plain).unwrap();
        let mut odd = members();
        odd[2].mode = 0;
        let mut out = members();
        out[2].name = b"../x"[..].into();
        for (image, want) in [
            (vec![], "is empty"),
            (b"hello".to_vec(), "not a newc cpio archive"),
            (
                plain[..plain.len() / 2].to_vec(),
                "cut short in the entry at byte",
            ),
            (packed[..packed.len() / 2].to_vec(), "not valid gzip data"),
            (
                [&plain[..], b"junk"].concat(),
                "neither an archive nor compressed",
            ),
            (
                Compression::Gzip.compress(b"hello").unwrap(),
                "not a newc cpio archive",
            ),
            (cpio::write(&odd).unwrap(), "which no file has"),
            (cpio::write(&out).unwrap(), ".. leads out of it"),
        ] {
            let why = from(&image, "").unwrap_err();
            assert!(why.contains(want), "{why}\n{want}");
            assert!(
                why.contains("own.img") || why.contains("initramfs"),
                "{why}"
            );
        }
    }
}
