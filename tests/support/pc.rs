//! The kiosk's application on a PC.

use std::fs;
use std::path::{Path, PathBuf};

use super::kiosk;

/// A PC without a boot loader, with Debian's kernel for clouds and the kiosk's
/// application.
const PC: &str = r#"format = 1
name = "pc"
summary = "the kiosk on a PC"
[ready]
pattern = "APP_READY"
application = "Starting kiosk"
timeout-s = 600
[machine]
kind = "qemu"
program = "qemu-system-x86_64"
machine = "q35"
cpu = "qemu64"
memory-mb = 512
[packages]
architecture = "amd64"
[kernel]
image = "package:linux-image-cloud-amd64/boot/vmlinuz-*"
cmdline = "console=ttyS0,115200 kprobe_event=p:watched,clocksource_watchdog tp_printk"
[initramfs]
compression = "gzip"
tree = "TREE"
dirs = ["/dev", "/proc", "/sys", "/run", "/tmp", "/root", "/var/log", "/sbin", "/usr/sbin"]
[initramfs.files]
"/bin/busybox" = "package:busybox-static/bin/busybox"
"/usr/share/fonts/dejavu" = "package:fonts-dejavu-core/usr/share/fonts/truetype/dejavu"
[initramfs.links]
"/bin/sh" = "busybox"
"#;

/// The PC as a target of its own in `dir`.
pub(crate) fn pc(dir: &Path) -> PathBuf {
    let target = dir.join("pc");
    fs::create_dir_all(&target).unwrap();
    let tree = kiosk().join("initramfs");
    let text = PC.replace("TREE", &tree.display().to_string()).replacen(
        "name = ",
        &format!("outside = [{tree:?}]\nname = "),
        1,
    );
    fs::write(target.join("target.toml"), text).unwrap();
    target
}
