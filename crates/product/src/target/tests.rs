use super::*;
pub(crate) use crate::example::{FLASH, PLAIN, kiosk, parse};

/// The place and the message for `PLAIN` with `from` replaced by `to`.
fn mistake(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    match parse(&text.replace(from, to)) {
        Err(e @ TargetError::Spec { .. }) => e.to_string(),
        other => panic!("{to}: {other:?}"),
    }
}

#[test]
fn mistakes_are_told_with_their_line_and_the_mend() {
    for (from, to, want) in [
        (
            "cpu =",
            "cpuu =",
            "t.toml:11: unknown field `cpuu`, expected one of `kind`",
        ),
        (
            "\"max\"",
            "7",
            "t.toml:11: invalid type: integer `7`, expected a string; put it in quotes",
        ),
        (
            "64",
            "\"64\"",
            "t.toml:12: invalid type: string \"64\", expected u32; write the number without quotes",
        ),
        (
            "64",
            "-1",
            "t.toml:12: invalid value: integer `-1`, expected u32; write a whole number",
        ),
        (
            "64",
            "99999999999",
            "t.toml:12: invalid value: integer `99999999999`, expected u32",
        ),
        ("64", "0", "t.toml:12: 0 is too little"),
        (
            "pattern = \"READY\"",
            "",
            "t.toml:4: missing field `pattern`; add it; docs/targets.md",
        ),
        (
            "[ready]\npattern = \"READY\"\n",
            "",
            "t.toml:1: missing field `ready`; add it",
        ),
        (
            "READY",
            "a(b",
            "t.toml:5: not a regular expression: unclosed group; put a backslash",
        ),
        (
            "READY",
            ".*",
            "t.toml:5: the pattern matches the empty line",
        ),
        (
            "READY\"",
            "x\"\napplication = \"[\"",
            "t.toml:6: not a regular expression",
        ),
        (
            "\"qemu\"\nprog",
            "\"board\"\nprog",
            "t.toml:8: unknown variant `board`, expected one of `qemu`, `serial`, `command`",
        ),
        (
            "name = \"t\"",
            "name = \"a/b\"",
            "t.toml:2: runs are kept in a folder of this name",
        ),
        (
            "format = 1",
            "format = 2\nnew = 1",
            "t.toml:1: format 2 is not known to this bootlap",
        ),
        (
            "format = 1",
            "format = 'x'",
            "t.toml:1: invalid type: string \"x\", expected u32",
        ),
        ("cpu", "machine", "t.toml:11: duplicate key"),
        ("[kernel]", "[ready]", "t.toml:14: duplicate key"),
        (
            "\"Image\"",
            "Image",
            "t.toml:15: invalid float, expected `inf`; put text in quotes",
        ),
        (
            "\"Image\"",
            "vmlinuz",
            "t.toml:15: string values must be quoted",
        ),
        ("\"Image\"", "\"Image", "t.toml:15: invalid basic string"),
        ("[kernel]", "kernel = 1\n[x]", "t.toml:14: "),
        (
            "[kernel]",
            "[kernel]\ncompression = \"zip\"",
            "t.toml:15: unknown variant `zip`, expected one of `none`",
        ),
        (
            "[kernel]",
            "[kernel]\ncompression = \"gzip\"",
            "t.toml:15: kernel.compression says how the kernel is packed in a FIT",
        ),
        (
            "[kernel]",
            "[packages]\narchitecture = '../x'\n[kernel]",
            "t.toml:15: \"../x\" is no architecture",
        ),
        (
            "[kernel]",
            "[[mark]]\nname = 'a'\npattern = 'a'\n[[mark]]\nname = 'b'\npattern = '('\n[kernel]",
            "t.toml:19: not a regular expression",
        ),
        (
            "[kernel]",
            "[initramfs]\ncompression = 'lzo'\n[kernel]",
            "t.toml:15: lzo can be read but not written",
        ),
        (
            "cpu =",
            "icount-shift = 11\ncpu =",
            "t.toml:11: icount-shift is a power of two",
        ),
        (
            "[kernel]",
            "[fit]\nhash = 'none'\nload-address = 0\n[kernel]",
            "t.toml:14: [fit] is for a boot loader",
        ),
    ] {
        let said = mistake(PLAIN, from, to);
        assert!(said.starts_with(want), "{to}:\n{said}\n{want}");
        assert!(!said.contains('\n'), "{said}");
    }
}

#[test]
fn mistakes_about_the_root() {
    let disk = "memory-mb = 64\nargs = [\"-drive\", \"file={root},if=none\"]\n";
    let with = |section: &str| PLAIN.replace("memory-mb = 64\n", disk) + section;
    let said = |text: &str| parse(text).unwrap_err().to_string();
    let squashfs = "[root]\nformat = \"squashfs\"\n";
    let tree = format!("{squashfs}tree = \"root\"\n");
    assert!(parse(&with(&tree)).is_ok());
    for (text, want) in [
        (with(""), "there is none; add one"),
        (PLAIN.to_owned() + &tree, "nothing attaches the disk"),
        (with(squashfs), "nothing says what is in it"),
        (with(&format!("{tree}archive = \"a.tar\"\n")), "remove tree"),
        (
            with(
                "[root]\nformat = \"erofs\"\narchive = \"a.tar\"\norder = \"o\"\n\
                 options = [\"-zlz4\"]\n",
            ),
            "does not compress",
        ),
    ] {
        let said = said(&text);
        assert!(said.contains(want), "{said}");
    }
}

#[test]
fn mistakes_about_the_boot_loader() {
    let text = format!("{PLAIN}{FLASH}");
    for (from, to, want) in [
        ("[flash]", "[flush]", "t.toml:22: unknown field `flush`"),
        (
            "hash = \"crc32\"",
            "hash = \"md5\"",
            "t.toml:29: unknown variant `md5`",
        ),
        (
            "0x1000\nfit",
            "0x1001000\nfit",
            "t.toml:25: the environment of 0x1001000 bytes at 0x0 does not fit",
        ),
        (
            "0x0\n",
            "0x7fffffffffffffff\n",
            "t.toml:25: the environment of 0x1000 bytes at 0x7f",
        ),
        (
            "fit-offset = 0x1000",
            "fit-offset = 0x100000",
            "t.toml:26: the FIT at 0x100000 is outside",
        ),
        (
            "{ bootdelay",
            "{ bootargs = 'x', bootdelay",
            "t.toml:20: bootargs is made from kernel.cmdline",
        ),
        (
            "{ bootdelay = \"2\" }",
            "{ bootdelay = 2 }",
            "t.toml:20: invalid type: integer `2`, expected a string; put it in quotes",
        ),
        (
            "cmdline",
            "compression = 'xz'\ncmdline",
            "t.toml:16: U-Boot cannot unpack xz; use none, gzip",
        ),
        (
            "cmdline",
            "compression = 'lzo'\ncmdline",
            "t.toml:16: U-Boot cannot unpack lzo; use none, gzip",
        ),
    ] {
        let said = mistake(&text, from, to);
        assert!(said.starts_with(want), "{to}:\n{said}\n{want}");
    }
    for section in ["flash", "fit"] {
        let start = text.find(&format!("[{section}]")).unwrap();
        let end = text[start..].find("\n\n").map_or(text.len(), |e| start + e);
        let said = mistake(&text, &text[start..end], "");
        let want = format!("t.toml:18: a boot loader needs a [{section}] section");
        assert!(said.starts_with(&want), "{said}");
    }
}

#[test]
fn mistakes_about_the_disk() {
    let start = PLAIN.find("[kernel]").unwrap();
    let (machine, kernel) = PLAIN.split_at(start);
    let disk = "[disk]\nimage = \"disk.img\"\n";
    let firmware = "[firmware]\nvariables = \"vars\"\n";
    assert!(parse(&format!("{machine}{disk}")).is_ok());
    assert!(parse(&format!("{PLAIN}{disk}")).is_ok());
    for (text, want) in [
        (machine.to_owned(), "missing field `kernel`"),
        (
            format!("{machine}{disk}[initramfs]\n"),
            "t.toml:16: without a [kernel] the machine starts what is on its [disk]",
        ),
        (
            format!("{machine}{disk}bus = \"ide\"\n"),
            "t.toml:16: unknown variant `ide`, expected one of `virtio-blk`",
        ),
        (
            format!("{machine}{disk}format = \"vmdk\"\n"),
            "t.toml:16: unknown variant `vmdk`, expected `raw` or `qcow2`",
        ),
        (
            format!("{machine}{disk}state = \"used\"\n"),
            "t.toml:16: unknown variant `used`, expected `as-shipped` or `after-first-boot`",
        ),
        (
            format!("{machine}{disk}[disk.room]\n\"1:/a\" = 0\n"),
            "t.toml:16: 1:/a has 0 MiB, which hold nothing",
        ),
        (
            format!("{machine}{disk}{firmware}"),
            "t.toml:17: variables are those of a program",
        ),
        (
            format!("{machine}{kernel}{disk}{firmware}"),
            "t.toml:19: [firmware] is for a machine that starts what is on its [disk]",
        ),
    ] {
        let said = parse(&text).unwrap_err().to_string();
        assert!(said.contains(want), "{said}\n{want}");
    }
}

#[test]
fn no_prefix_and_no_damage_panics() {
    let text = format!("{PLAIN}{FLASH}");
    for end in 0..text.len() {
        let _ = parse(&text[..end]);
        let mut damaged = text.clone().into_bytes();
        damaged[end] = b"\"[]{}=.#\n\0\xc3"[end % 11];
        if let Ok(damaged) = String::from_utf8(damaged) {
            let _ = parse(&damaged);
        }
    }
}

#[test]
fn a_file_that_is_no_text_is_an_error_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("target.toml");
    fs::write(&file, b"format = 1\nname = \"caf\xe9\"\n").unwrap();
    let said = Target::load(dir.path()).unwrap_err().to_string();
    assert!(
        said.ends_with("target.toml:2: not UTF-8 text; save the file as UTF-8"),
        "{said}"
    );
    let said = Target::load(&dir.path().join("no"))
        .unwrap_err()
        .to_string();
    assert!(said.starts_with("cannot read "), "{said}");
}

#[test]
fn the_folder_of_a_file_can_be_named() {
    assert!(Target::load(Path::new("no.toml")).is_err());
    let target = kiosk();
    let file = target.dir.join("target.toml");
    assert_eq!(Target::load(&file).unwrap().dir, target.dir);
    assert_eq!(Target::load(&file).unwrap().text, target.text);
}

#[test]
fn edits_keep_comments_order_and_format() {
    let kiosk = kiosk();
    let edits = [
        Edit::set("bootloader.environment.bootdelay", "0"),
        Edit::set("kernel.cmdline", "quiet"),
        Edit::set("fit.hash", "none"),
    ];
    let changed = kiosk.with(&edits).unwrap();
    let want = kiosk
        .text
        .replace("bootdelay = \"2\"", "bootdelay = \"0\"")
        .replace("console=ttyAMA0,115200", "quiet")
        .replace("hash = \"crc32\"", "hash = \"none\"");
    assert_eq!(changed.text, want);
    assert_eq!(changed.edits, edits);
    assert_eq!(changed.spec.kernel.as_ref().unwrap().cmdline, "quiet");
    assert_ne!(changed.sha256(), kiosk.sha256());
    // One edit more, on top; and none at all.
    let more = changed.with(&[Edit::set("name", "x")]).unwrap();
    assert_eq!(more.edits.len(), 4);
    assert_eq!(kiosk.with(&[]).unwrap().text, kiosk.text);
}

#[test]
fn edits_work_however_the_file_is_written() {
    let inline = PLAIN.replace(
        "[kernel]\nimage = \"Image\"\ncmdline = \"a b\"\n",
        "[packages]\narchitecture = 'arm64'\n",
    );
    let kernels = [
        "kernel = { image = 'Image', cmdline = 'a b' }",
        "kernel.image = 'Image'\nkernel.cmdline = 'a b'",
        "kernel = { cmdline = 'a b', image = 'Image' } # why",
    ];
    for kernel in kernels {
        let text = inline.replacen("format = 1\n", &format!("format = 1\n{kernel}\n"), 1);
        let target = parse(&text).unwrap();
        let target = target.with(&[Edit::set("kernel.cmdline", "c")]).unwrap();
        let kernel = target.spec.kernel.unwrap();
        assert_eq!(kernel.cmdline, "c", "{}", target.text);
        assert_eq!(kernel.image.unwrap(), "Image");
    }
    let text = format!("{PLAIN}{FLASH}");
    for environment in [
        "environment = { bootdelay = \"2\" }",
        "",
        "environment.a = 'b'",
    ] {
        let text = text.replace("environment = { bootdelay = \"2\" }", environment);
        let target = parse(&text).unwrap();
        let edit = Edit::set("bootloader.environment.bootdelay", "0");
        let target = target.with(&[edit]).unwrap();
        let environment = &target.spec.bootloader.unwrap().environment;
        assert_eq!(environment["bootdelay"], "0", "{}", target.text);
    }
}

#[test]
fn an_edit_that_does_not_fit_is_an_error() {
    let target = parse(PLAIN).unwrap();
    for (edit, want) in [
        (Edit::set("fit.hash", "none"), "missing field"),
        (
            Edit::set("kernel.nonsense", "1"),
            "unknown field `nonsense`",
        ),
        (
            Edit::set("name.x", "1"),
            "t: name is not what name.x needs it to be",
        ),
        (
            Edit::set("kernel", "1"),
            "t: kernel is not what kernel needs it to be",
        ),
        (Edit::set("machine.memory-mb", "64"), "invalid type: string"),
    ] {
        let said = target.with(&[edit]).unwrap_err().to_string();
        assert!(said.contains(want), "{said}");
    }
}

#[test]
fn windows_line_ends_are_no_mistake() {
    let target = parse(&PLAIN.replace('\n', "\r\n")).unwrap();
    let changed = target.with(&[Edit::set("kernel.cmdline", "c")]).unwrap();
    assert_eq!(changed.spec.kernel.unwrap().cmdline, "c");
}
