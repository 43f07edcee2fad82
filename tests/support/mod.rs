//! What whole-program tests share: the real binary, the real kiosk, real boots.

pub(crate) mod board;
pub(crate) mod disk;
pub(crate) mod pc;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use bootlap_product::{Boot, Cache, Target};
use bootlap_wire::stamps::{HEADER_LEN, RECORD_LEN, Record, StampClock};
use serde_json::Value;

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The example target.
pub(crate) fn kiosk() -> PathBuf {
    root().join("targets/kiosk")
}

/// An empty folder of this test's own, in cargo's folder for temporary files.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// The binary under test, in `dir`.
pub(crate) fn bootlap(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bootlap"));
    command.current_dir(dir).arg("--quiet");
    command
}

/// Runs to success.
pub(crate) fn succeeded(command: &mut Command) -> Output {
    let out = command.output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{command:?} failed: {said}");
    out
}

/// Runs to success; what it printed.
pub(crate) fn printed(command: &mut Command) -> String {
    String::from_utf8(succeeded(command).stdout).unwrap()
}

/// Each console byte of a run, with the time at which it had left the machine, ns.
pub(crate) fn console_bytes(run: &Path, clock: StampClock) -> Vec<(u8, i64)> {
    let stamps = fs::read(run.join("console.stamps")).unwrap();
    let (records, rest) = stamps[HEADER_LEN..].as_chunks::<RECORD_LEN>();
    assert!(rest.is_empty());
    let records = records.iter().map(|record| Record::decode(record, clock));
    let bytes = records.filter_map(|record| match record {
        Record::Byte { at, byte, .. } => Some((byte, at.ns)),
        _ => None,
    });
    bytes.collect()
}

/// bootlap-agent for an architecture, built as its users build it.
pub(crate) fn agent(arch: &str) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock();
    let dir = root().join("agent");
    let mut make = Command::new("make");
    succeeded(make.arg("-C").arg(&dir).arg(format!("ARCH={arch}")));
    dir.join(format!("build/{arch}/bootlap-agent"))
}

/// Runs to success and reads the JSON that it printed, which must follow the
/// schema that is checked in for the command.
pub(crate) fn json(command: &mut Command) -> Value {
    let out = succeeded(command);
    let value: Value = serde_json::from_slice(&out.stdout).unwrap();
    let file = root().join(format!("docs/schema/{}.json", schema_of(command, &value)));
    let schema = fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let schema = serde_json::from_slice(&schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new(), "{command:?}");
    value
}

/// The name of the schema of what a command prints with `--json`.
fn schema_of(command: &Command, value: &Value) -> String {
    let args: Vec<_> = command.get_args().map(|a| a.to_string_lossy()).collect();
    let name = args.iter().find(|a| !a.starts_with('-')).unwrap();
    match &**name {
        // Boots of a board are a series.
        "boot" if value.get("boots").is_some() => "series",
        "boot" => "report",
        "show" if !args.iter().any(|a| *a == "--by") => "report",
        name => name,
    }
    .to_owned()
}

/// Runs to the failure with this exit code; what it said on standard error.
pub(crate) fn failure(command: &mut Command, code: i32) -> String {
    let Output { status, stderr, .. } = command.output().unwrap();
    let said = String::from_utf8_lossy(&stderr).into_owned();
    assert_eq!(status.code(), Some(code), "{command:?} said: {said}");
    said
}

/// A copy of the kiosk's description with `from` replaced by `to`; its other
/// files are named where they are.
pub(crate) fn changed_kiosk(dir: &Path, from: &str, to: &str) -> PathBuf {
    changed_example(dir, "kiosk", from, to)
}

/// The same of another example, whose scripts are the kiosk's.
pub(crate) fn changed_example(dir: &Path, name: &str, from: &str, to: &str) -> PathBuf {
    let folder = root().join("targets").join(name);
    let text = fs::read_to_string(folder.join("target.toml")).unwrap();
    assert!(text.contains(from), "{name} no longer says {from}");
    let tree = format!("tree = \"{}\"", kiosk().join("initramfs").display());
    let outside = format!("outside = [{:?}]\nname = ", kiosk().join("initramfs"));
    let text = text
        .replace(from, to)
        .replace("outside = [\"../kiosk/initramfs\"]\n", "")
        .replacen("name = ", &outside, 1)
        .replace("tree = \"initramfs\"", &tree)
        .replace("tree = \"../kiosk/initramfs\"", &tree);
    let target = dir.join("target");
    fs::create_dir_all(&target).unwrap();
    fs::write(target.join("target.toml"), text).unwrap();
    target
}

/// As [`with_storage`], of a machine with an SD card; `image` is the card's.
pub(crate) fn with_card(target: &Path, image: &str, dirs: &[&str], init: &str) -> String {
    let drive = format!("file={image},format=raw,if=none,id=card");
    let args = [
        "-device",
        "sdhci-pci",
        "-drive",
        &drive,
        "-device",
        "sd-card,drive=card",
    ];
    let host = ["cqhci", "sdhci", "sdhci-pci"].map(|name| format!("drivers/mmc/host/{name}"));
    with_storage(target, &args, &host, dirs, init)
}

/// Writes the initramfs of a machine with storage, and gives its target's text up to
/// within `[initramfs.files]`: `modules` are the kernel's, in the order in which the
/// program `init` finds them in `/lib`.
pub(crate) fn with_storage(
    target: &Path,
    args: &[&str],
    modules: &[impl AsRef<str>],
    dirs: &[&str],
    init: &str,
) -> String {
    let folder = target.join("initramfs");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("init"), init).unwrap();
    fs::set_permissions(folder.join("init"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut text = format!(
        r#"format = 1
name = "card"

[ready]
pattern = "CARD_READY"

[machine]
kind = "qemu"
program = "qemu-system-aarch64"
machine = "virt"
cpu = "cortex-a57"
memory-mb = 512
args = {args:?}

[packages]
architecture = "arm64"

[kernel]
image = "package:linux-image-arm64/boot/vmlinuz-*"
cmdline = "console=ttyAMA0,115200 quiet cryptomgr.notests"

[initramfs]
tree = "initramfs"
dirs = {dirs:?}

[initramfs.files]
"/bin/busybox" = "package:busybox-static/bin/busybox"
"#
    );
    for (at, module) in modules.iter().enumerate() {
        let kernel = "package:linux-image-arm64/lib/modules/*/kernel";
        text += &format!(
            "\"/lib/{at:02}.ko\" = \"{kernel}/{}.ko\"\n",
            module.as_ref()
        );
    }
    text
}

/// A wrapper of the QEMU that this host does not have; if there is none, says why.
#[allow(clippy::print_stderr)]
pub(crate) fn other_qemu() -> Option<String> {
    let script = root().join("scripts/other-qemu");
    let out = Command::new(&script).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    if out.status.code() == Some(77) {
        eprintln!("SKIPPED: {said}");
        return None;
    }
    assert!(out.status.success(), "{} failed: {said}", script.display());
    Some(String::from_utf8(out.stdout).unwrap().trim().to_owned())
}

/// A boot, what its console said, and its run.
pub(crate) struct Booted {
    pub(crate) json: Value,
    pub(crate) console: String,
    pub(crate) run: PathBuf,
}

impl Booted {
    pub(crate) fn of(dir: &Path, target: &Path, boots: &str) -> Self {
        let mut command = bootlap(dir);
        command.args(["boot", "--json", "-n", boots]).arg(target);
        let json = json(&mut command);
        let run = dir.join(json["run"].as_str().unwrap());
        let console = fs::read(run.join("console")).unwrap();
        Self {
            json,
            console: String::from_utf8_lossy(&console).into_owned(),
            run,
        }
    }

    pub(crate) fn ready(&self) -> i64 {
        self.json["ready_ns"].as_i64().unwrap()
    }

    pub(crate) fn says(&self, text: &str) -> bool {
        self.console.contains(text)
    }
}

/// A copy of `target` with these recipes, of which none applies once more.
pub(crate) fn with(dir: &Path, name: &str, target: &Path, recipes: &[&str]) -> PathBuf {
    let out = dir.join(name);
    let mut apply = bootlap(dir);
    let apply = apply.arg("apply").arg(target).args(recipes);
    json(apply.arg("--json").arg("-o").arg(&out));
    for recipe in recipes {
        let mut again = bootlap(dir);
        let again = again.arg("apply").arg(&out).args([recipe, "-o", "again"]);
        let said = failure(again, 2);
        assert!(said.contains("already"), "{recipe}: {said}");
    }
    out
}

/// The kiosk on a board, without its countdown; `more` are lines of `[board]`.
pub(crate) fn on_board(dir: &Path, more: &str, changes: &[(&str, &str)]) -> PathBuf {
    let board = format!("[board]\ninstructions-per-second = 500e6\n{more}\n\n[kernel]");
    let target = changed_kiosk(dir, "[kernel]", &board);
    let file = target.join("target.toml");
    let mut text = fs::read_to_string(&file).unwrap();
    for (from, to) in [("bootdelay = \"2\"", "bootdelay = \"0\"")]
        .iter()
        .chain(changes)
    {
        assert!(text.contains(from), "the kiosk no longer says {from}");
        text = text.replace(from, to);
    }
    fs::write(file, text).unwrap();
    target
}

/// Code of a bare guest: prints `R` and halts.
pub(crate) const READY: [u32; 5] = [
    0xd2a1_2009, //       mov x9, #0x9000000
    0x5280_0a41, //       mov w1, #'R'
    0xb900_0121, //       str w1, [x9]
    0xd503_207f, // halt: wfi
    0x17ff_ffff, //       b   halt
];

/// A target that boots nothing but this code, which prints `R` at its end, on Arm's
/// `virt`; `machine` is more of `[machine]`, and other tables behind it.
pub(crate) fn bare_guest(dir: &Path, code: &[u32], machine: &str) {
    let mut image = vec![0; 64];
    image[..4].copy_from_slice(&0x1400_0010_u32.to_le_bytes()); // b +64
    image[56..60].copy_from_slice(b"ARM\x64");
    image.extend(code.iter().flat_map(|word| word.to_le_bytes()));
    fs::create_dir_all(dir).unwrap();
    fs::write(dir.join("Image"), image).unwrap();
    let text = format!(
        "format = 1\nname = \"bare\"\n[ready]\npattern = \"R\"\ntimeout-s = 60\n\
         [kernel]\nimage = \"Image\"\ncmdline = \"\"\n[machine]\nkind = \"qemu\"\n\
         machine = \"virt\"\ncpu = \"cortex-a57\"\nmemory-mb = 64\n{machine}\n"
    );
    fs::write(dir.join("target.toml"), text).unwrap();
}

/// A file system of a few kB, until it is dropped.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts it in the new folder `at`; `None`, and a word why, where that is not allowed.
    pub(crate) fn at(at: &Path, size: &str) -> Option<Self> {
        fs::create_dir(at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
            .arg(at)
            .stderr(Stdio::null())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(at.to_owned()));
        }
        #[allow(clippy::print_stderr)]
        {
            eprintln!("not run: a full disk needs a small tmpfs, and only root may mount one");
        }
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// The processes whose command line contains `text`.
pub(crate) fn processes_with(text: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|e| fs::read(e.path().join("cmdline")).ok())
        .map(|c| String::from_utf8_lossy(&c).replace('\0', " "))
        .filter(|c| c.contains(text))
        .collect()
}

/// What a target without a boot loader starts, as files in `dir`: `kernel`, `initrd`;
/// its command line.
pub(crate) fn direct(target: &Target, dir: &Path) -> String {
    let env = |name| std::env::var_os(name).map(PathBuf::from);
    let cache = env("BOOTLAP_CACHE")
        .or_else(|| Some(env("XDG_CACHE_HOME")?.join("bootlap")))
        .or_else(|| Some(env("HOME")?.join(".cache/bootlap")));
    let cache = Cache::at(cache.expect("a home"));
    let parts = target.parts(&cache, &|_| {}).unwrap();
    let assembly = target.assemble(&parts, &cache, &|_| {}).unwrap();
    let Boot::Direct {
        kernel,
        initramfs,
        cmdline,
        ..
    } = assembly.boot("").unwrap()
    else {
        panic!("it has a boot loader");
    };
    fs::write(dir.join("kernel"), &kernel.bytes).unwrap();
    fs::write(dir.join("initrd"), &initramfs.unwrap().bytes).unwrap();
    cmdline
}
