//! Rules that look at the files of a target's initramfs.

use bootlap_advice::{Boot, Finding, SavingKind, find};
use bootlap_model::{
    ClockKind, Evidence, Milestone, Request, RequestKind, Stamp, TimeKind, Timeline,
};
use bootlap_product::{Cache, Parts, Target};

const TARGET: &str = r#"format = 1
name = "t"
ready.pattern = "READY"
[machine]
kind = "qemu"
program = "qemu"
machine = "virt"
cpu = "max"
memory-mb = 64
[kernel]
image = "Image"
cmdline = "console=ttyS0"
[initramfs]
tree = "root"
"#;

fn target(files: &[(&str, &[u8])]) -> (Target, Parts) {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write("target.toml", TARGET.as_bytes());
    write("Image", &[0; 100]);
    write("root/keep", b"");
    for (name, bytes) in files {
        write(&format!("root{name}"), bytes);
    }
    let target = Target::load(dir.path()).unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    let parts = target.parts(&cache, &|_| {}).unwrap();
    (target, parts)
}

fn findings(rule: &str, files: &[(&str, &[u8])]) -> Vec<Finding> {
    let (target, parts) = target(files);
    let timeline = Timeline::default();
    let boot = Boot::new(&timeline).of(&target, &parts);
    find(rule).unwrap().check(&boot)
}

/// Whether the rule finds something in a script `/init`, and leaves open how
/// much it saves.
fn in_script(rule: &str, text: &str) -> bool {
    let found = findings(rule, &[("/init", text.as_bytes())]);
    let whole = |f: &Finding| !f.why.is_empty() && !f.fix.is_empty();
    assert!(
        found
            .iter()
            .all(|f| f.saving.kind == SavingKind::Unknown && whole(f))
    );
    !found.is_empty()
}

#[test]
fn scripts_are_read() {
    let sh = |text: &str| format!("#!/bin/sh\n{text}\n");
    let hits = |rule: &str, text: &str| in_script(rule, &sh(text));
    assert!(hits("script-sleep", "modprobe x; sleep 2"));
    assert!(!hits("script-sleep", "# sleep 2\necho sleep 2"));
    assert!(!hits("script-sleep", "sleep $N"));
    assert!(!hits("script-sleep", "sleep 3600"));
    assert!(hits(
        "script-wait-loop",
        "while ! [ -e /dev/video0 ]; do sleep 1; done"
    ));
    assert!(!hits(
        "script-wait-loop",
        "while read -r line; do echo /dev/x; done"
    ));
    assert!(hits(
        "script-useless-cat",
        "x=`cat /proc/cmdline`\ncat /a | grep b\ny=$(cat /c)"
    ));
    assert!(!hits(
        "script-useless-cat",
        "cat /a /b | sort\ncat /etc/motd\ncat < /x"
    ));
    let word = "x=$(expr $x + 1)\n";
    assert!(hits("script-external-tools", &word.repeat(5)));
    assert!(!hits("script-external-tools", &word.repeat(4)));
    assert!(hits("script-interpreter", "python3 /usr/bin/setup.py"));
    assert!(!hits("script-interpreter", "echo python3"));
    assert!(hits("script-mdev", "mount -t devtmpfs dev /dev\nmdev -s"));
    assert!(!hits("script-mdev", "mount -t tmpfs dev /dev\nmdev -s"));
    assert!(in_script("script-bash", "#!/bin/bash\necho"));
    assert!(!in_script("script-bash", "#!/bin/sh\nexec /bin/bash"));
}

#[test]
fn only_what_runs_at_boot_is_a_start_up_script() {
    let script = b"#!/bin/sh\nsleep 2\n";
    assert_eq!(
        findings("script-sleep", &[("/etc/init.d/S10x", script)]).len(),
        1
    );
    assert_eq!(findings("script-sleep", &[("/usr/bin/tool", script)]), []);
    // Neither text nor a script.
    assert_eq!(
        findings("script-sleep", &[("/init", b"#!/bin/sh\n\xff sleep 2")]),
        []
    );
    assert_eq!(findings("script-sleep", &[("/init", b"sleep 2")]), []);
}

#[test]
fn programs_are_looked_at() {
    let elf = |parts: &[&[u8]]| [&[b"\x7fELF" as &[u8]], parts].concat().concat();
    let hits = |rule: &str, path: &str, bytes: &[u8]| !findings(rule, &[(path, bytes)]).is_empty();
    let symbols = elf(&[b"code", b"\0.symtab\0.strtab\0"]);
    assert!(hits("app-strip", "/init", &symbols));
    assert!(!hits(
        "app-strip",
        "/init",
        &elf(&[b"code", b"\0.dynsym\0"])
    ));
    assert!(!hits("app-strip", "/notes", b"\0.symtab\0"));
    let dynamic = elf(&[b"\0/lib/ld-linux-aarch64.so.1\0"]);
    assert!(hits("app-dynamic", "/init", &dynamic));
    assert!(!hits("app-dynamic", "/usr/bin/vi", &dynamic), "not at boot");
    assert!(!hits("app-dynamic", "/init", &symbols));
    assert!(hits("app-upx", "/init", &elf(&[b"....UPX!"])));
    assert!(!hits("app-upx", "/init", &symbols));
    assert!(!hits("app-upx", "/lib/x.ko", &elf(&[b"....UPX!"])));
}

#[test]
fn init_scripts_on_a_disk_that_start_programs() {
    let disk = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/disk/scripts");
    let (start, _) = TARGET.split_once("[kernel]").unwrap();
    let text = format!("{start}[disk]\nimage = {disk:?}\n");
    let dir = tempfile::tempdir().unwrap();
    let target = Target::parse(dir.path().to_owned(), text, "target.toml").unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    let parts = target.parts(&cache, &|_| {}).unwrap();
    let timeline = Timeline::default();
    let found = find("script-builtins")
        .unwrap()
        .check(&Boot::new(&timeline).of(&target, &parts));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].recipe.as_deref(), Some("initscripts-builtins"));
    assert!(
        found[0].why.starts_with("2 commands in 1 init scripts"),
        "{}",
        found[0].why
    );
    assert_eq!(found[0].saving.kind, SavingKind::Unknown);
    assert!(findings("script-builtins", &[]).is_empty());
}

/// The disk's file system begins with it. Of its only module the source is read, or the block
/// before that.
fn found_in_modules(read: u64) -> Vec<Finding> {
    let dir = tempfile::tempdir().unwrap();
    let image = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/disk/python");
    let text = format!(
        "format = 1\nname = \"t\"\n\n[ready]\npattern = \"x\"\n\n[machine]\nkind = \"qemu\"\n\
         program = \"qemu-system-aarch64\"\nmachine = \"virt\"\ncpu = \"max\"\nmemory-mb = 64\n\n\
         [disk]\nimage = {image:?}\n"
    );
    std::fs::write(dir.path().join("target.toml"), text).unwrap();
    let target = Target::load(dir.path()).unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    let parts = target.parts(&cache, &|_| {}).unwrap();
    let source = parts.checked_modules()[0].source[0].start;
    let mut timeline = Timeline::default();
    let file = timeline.add_file("console", "test");
    let clock = timeline.add_lab_clock(ClockKind::QemuVirtual, TimeKind::Modelled, file);
    let evidence = Evidence::whole(file, 0);
    let ready = Stamp::new(2_000_000_000, 0);
    timeline.add_milestone(clock, ready, Milestone::Ready, evidence);
    timeline.requests.push(Request {
        clock,
        done: Stamp::new(1_000_000_000, 0),
        took_ns: 0,
        waited_ns: 0,
        kind: RequestKind::Read,
        disk: 0,
        offset: source - 1024 + read,
        bytes: 1024,
        evidence,
    });
    let boot = Boot::new(&timeline).of(&target, &parts);
    find("python-checked-modules").unwrap().check(&boot)
}

#[test]
fn sources_that_are_read_to_be_checked_are_told() {
    let found = found_in_modules(1024);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].recipe.as_deref(), Some("python-unchecked"));
    assert!(
        found[0].why.contains("source of 1 compiled modules, 2 KB"),
        "{}",
        found[0].why
    );
    assert_eq!(found_in_modules(0), []);
}
