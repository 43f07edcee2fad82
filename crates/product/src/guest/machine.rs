//! A kernel of the distribution with BusyBox, in a QEMU of this host.

use std::env;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use bootlap_image::early::file_system_modules;

use crate::initramfs::{Found, What, of_guest};
use crate::packages::Store;
use crate::{Cache, Progress, TargetError};

/// No file system takes longer to read.
const LIMIT: Duration = Duration::from_secs(3600);
/// What the console may say, bytes.
const MOST_SAID: u64 = 1 << 20;
const INIT: &[u8] = include_bytes!("init.sh");

/// A machine that this host may have a QEMU for.
struct Machine {
    program: &'static str,
    package: &'static str,
    architecture: &'static str,
    kernel: &'static str,
    options: &'static [&'static str],
    console: &'static str,
}

const MACHINES: [Machine; 2] = [
    Machine {
        program: "qemu-system-x86_64",
        package: "qemu-system-x86",
        architecture: "amd64",
        kernel: "linux-image-amd64",
        options: &["-machine", "pc", "-cpu", "max"],
        console: "ttyS0",
    },
    Machine {
        program: "qemu-system-aarch64",
        package: "qemu-system-arm",
        architecture: "arm64",
        kernel: "linux-image-arm64",
        options: &["-machine", "virt", "-cpu", "cortex-a72"],
        console: "ttyAMA0",
    },
];

/// A disk of the guest: a part of a file.
pub(super) struct Disk<'p> {
    pub(super) path: &'p Path,
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) read_only: bool,
}

/// What the guest finds besides its programs: paths, and what is there.
pub(crate) type Given = Vec<(String, Vec<u8>)>;

/// Runs it with a file system of this kind, these files and disks to its end; why not, if it was
/// not done.
pub(super) fn run(
    kind: &str,
    given: Given,
    disks: &[Disk<'_>],
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<(), TargetError> {
    let wrong = |why: String| TargetError::artefact("disk", why);
    let machine = MACHINES.iter().find(|m| is_there(m.program));
    let machine = machine.ok_or_else(|| {
        let [first, _] = &MACHINES;
        wrong(format!(
            "its file system is mounted by a guest in {}, which is missing; Debian and Ubuntu have it \
             in {}",
            first.program, first.package
        ))
    })?;
    let folder = tempfile::tempdir().map_err(|e| TargetError::io("make", &env::temp_dir(), e))?;
    let (kernel, initramfs) = machine.images(kind, given, cache, progress)?;
    let packed = folder.path().join("initramfs");
    fs::write(&packed, initramfs).map_err(|e| TargetError::io("write", &packed, e))?;
    let mut command = Command::new(machine.program);
    command.args(["-nodefaults", "-no-user-config", "-no-reboot"]);
    command.args(["-display", "none", "-serial", "stdio", "-m", "512"]);
    // Not by KVM, which hangs on some hosts. What is written is of this time on.
    command.args(["-accel", "tcg", "-rtc", "base=2020-01-01"]);
    command.args(machine.options);
    command.arg("-kernel").arg(kernel);
    command.arg("-initrd").arg(&packed);
    let words = format!(
        "console={} quiet panic=-1 cryptomgr.notests mitigations=off",
        machine.console
    );
    command.args(["-append", &words]);
    for (n, disk) in disks.iter().enumerate() {
        let name = disk.path.display().to_string().replace(',', ",,");
        let Disk { start, bytes, .. } = disk;
        let state = if disk.read_only { "on" } else { "off" };
        command.arg("-blockdev").arg(format!(
            "driver=raw,node-name=d{n},read-only={state},offset={start},size={bytes},\
             file.driver=file,file.filename={name},file.locking=off"
        ));
        let device = format!("virtio-blk-pci,drive=d{n}");
        command.args(["-device", &device]);
    }
    let said = said(&mut command).map_err(|e| wrong(format!("{}: {e}", machine.program)))?;
    let end = said.lines().find_map(|line| {
        let (_, end) = line.split_once("bootlap: ")?;
        Some(end.trim().to_owned())
    });
    match end.as_deref() {
        Some("done") => Ok(()),
        Some(why) => Err(wrong(why.to_owned())),
        None => Err(wrong(format!(
            "the guest that mounts its file system ended early: {}",
            said.lines().last().unwrap_or("it said nothing")
        ))),
    }
}

fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// What it says until it ends, or says or takes too much.
fn said(command: &mut Command) -> io::Result<String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    let out = child.stdout.take();
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = out.map(|out| out.take(MOST_SAID).read_to_end(&mut bytes));
        // Nobody waits for it any more where it came too late.
        let _ = send.send(read.transpose().map(|_| bytes));
    });
    let said = receive.recv_timeout(LIMIT);
    if said.as_ref().map_or(true, |read| {
        read.as_ref().is_ok_and(|all| all.len() as u64 == MOST_SAID)
    }) {
        child.kill()?;
    }
    child.wait()?;
    let said = said.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "it did not end"))??;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

impl Machine {
    /// The kernel's file, and the initramfs.
    fn images(
        &self,
        kind: &str,
        given: Given,
        cache: &Cache,
        progress: Progress<'_>,
    ) -> Result<(PathBuf, Vec<u8>), TargetError> {
        let store = Store::new(cache, self.architecture);
        let fetched = |package: &str, path: &str| {
            let file = store.file(package, path, progress)?;
            let missing = || TargetError::MissingPart(format!("{package} has no {path}"));
            Ok(file.ok_or_else(missing)?.0)
        };
        let image = fetched(self.kernel, "boot/vmlinuz-*")?;
        let folder = fetched(self.kernel, "lib/modules/*")?;
        let busybox = fetched("busybox-static", "bin/busybox")?;
        let program = fs::read(&busybox).map_err(|e| TargetError::io("read", &busybox, e))?;
        let file = |executable, bytes| What::File { executable, bytes };
        let mut found = Found::from([
            (b"init".to_vec(), file(true, INIT.to_vec())),
            (b"bin/busybox".to_vec(), file(true, program)),
            (b"kind".to_vec(), file(false, format!("{kind}\n").into())),
        ]);
        found.extend(["dev", "proc", "root"].map(|path| (path.into(), What::Dir)));
        let given = given.into_iter();
        found.extend(given.map(|(path, bytes)| (path.into_bytes(), file(false, bytes))));
        let wanted = ["virtio_pci", "virtio_blk"].iter();
        let wanted = wanted.chain(file_system_modules(kind));
        let wanted: Vec<String> = wanted.map(|name| (*name).to_owned()).collect();
        Ok((image, of_guest(found, &folder, &wanted)?))
    }
}
