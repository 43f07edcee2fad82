//! A root on a card, whose image is made in the order of a boot.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{bootlap, failure, printed, scratch, with_card};

const ROOT: &str = r#"
"/lib/4.ko" = "package:linux-image-arm64/lib/modules/*/kernel/fs/squashfs/squashfs.ko"

[initramfs.links]
"/bin/sh" = "busybox"

[root]
format = "squashfs"
tree = "root"
"#;

/// Reads what the root's list says, and tells what it has read.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
for module in /lib/*.ko; do /bin/busybox insmod $module; done
until [ -b /dev/mmcblk0 ]; do :; done
/bin/busybox mount -t squashfs -o ro /dev/mmcblk0 /root
while read -r file; do
	/bin/busybox cat /root/$file
done </root/order | /bin/busybox sha256sum
echo CARD_READY
exec /bin/busybox sleep 1000
";

const FILES: usize = 160;

/// The target, and the list of what its boot reads.
fn card(dir: &Path) -> (PathBuf, PathBuf) {
    let target = dir.join("card");
    fs::create_dir_all(target.join("root/app")).unwrap();
    let dirs = ["/dev", "/proc", "/sys", "/root"];
    let text = with_card(&target, "{root}", &dirs, INIT) + ROOT;
    fs::write(target.join("target.toml"), text).unwrap();
    // Every other file, in an order that their names do not have.
    let name = |at: usize| format!("app/{:03}", at * 37 % FILES);
    let mut read = String::new();
    for at in 0..FILES {
        let text: String = (0..3000_usize)
            .map(|n| ((n + 1) * (at + 1) * 0x9e37 % 99_991).to_string())
            .collect();
        fs::write(target.join("root").join(name(at)), text).unwrap();
        if at % 2 == 0 {
            read += &name(at);
            read += "\n";
        }
    }
    fs::write(target.join("root/order"), &read).unwrap();
    let order = dir.join("boot.order");
    fs::write(&order, format!("# what the boot reads\n/order\n{read}")).unwrap();
    (target, order)
}

fn read_by(run: &Path) -> String {
    let console = fs::read(run.join("console")).unwrap();
    let console = String::from_utf8_lossy(&console).into_owned();
    let line = console.lines().find(|line| line.ends_with("  -"));
    line.unwrap_or_else(|| panic!("{console}")).to_owned()
}

/// The run and its manifest.
fn booted(dir: &Path, target: &Path) -> (PathBuf, Value) {
    let said = printed(bootlap(dir).arg("boot").arg(target).arg("--json"));
    let said: Value = serde_json::from_str(&said).unwrap();
    let run = dir.join(said["run"].as_str().unwrap());
    let manifest = fs::read(run.join("manifest.json")).unwrap();
    (run, serde_json::from_slice(&manifest).unwrap())
}

#[test]
fn a_card_in_the_order_of_its_boot_is_read_sooner() {
    let dir = scratch("boot-image");
    let (target, order) = card(&dir);
    let (stock, manifest) = booted(&dir, &target);
    let root = |manifest: &Value| {
        let parts = manifest["parts"].as_array().unwrap();
        parts.iter().find(|p| p["name"] == "root").unwrap().clone()
    };
    let size = root(&manifest)["bytes"].as_u64().unwrap();
    assert!(size.is_power_of_two(), "{size}");

    let order = format!("boot-image={}", order.display());
    let tried = printed(
        bootlap(&dir)
            .arg("try")
            .arg(&target)
            .args([&order, "-k", "5", "--json"]),
    );
    let tried: Value = serde_json::from_str(&tried).unwrap();
    let result = &tried["trials"][0];
    assert_eq!(result["verdict"], "faster", "{tried}");

    // The files are the same ones, and the new target stands on its own.
    printed(
        bootlap(&dir)
            .arg("apply")
            .arg(&target)
            .args([&order, "-o", "faster"]),
    );
    let (faster, changed) = booted(&dir, &dir.join("faster"));
    assert_eq!(read_by(&faster), read_by(&stock));
    assert_ne!(root(&changed)["sha256"], root(&manifest)["sha256"]);

    // So do those of an archive, with owners and times (the top is root's).
    let mut tar = Command::new("tar");
    tar.args(["--owner=7", "--group=8", "--mtime=@1700000000", "-czf"]);
    tar.arg(target.join("root.tgz")).arg("-C");
    printed(tar.arg(target.join("root")).arg("."));
    let text = fs::read_to_string(target.join("target.toml")).unwrap();
    let archive = text.replace(
        "tree = \"root\"",
        "archive = \"root.tgz\"\norder = \"../boot.order\"",
    );
    fs::write(target.join("target.toml"), archive).unwrap();
    let (archived, manifest) = booted(&dir, &target);
    assert_eq!(read_by(&archived), read_by(&stock));
    let argv = manifest["machine"]["argv"].as_array().unwrap();
    let image = argv.iter().find_map(|arg| {
        let rest = arg.as_str()?.strip_prefix("file=")?;
        rest.strip_suffix(",format=raw,if=none,id=card")
    });
    let mut unsquashfs = Command::new("unsquashfs");
    let listed = printed(unsquashfs.args(["-lln", image.unwrap()]).env("TZ", "UTC"));
    let kept = listed
        .lines()
        .filter(|l| l.contains(" 7/8 ") && l.contains("2023-11-14 22:13"));
    assert_eq!(kept.count(), FILES + 2, "{listed}");
    fs::write(target.join("target.toml"), text).unwrap();

    fs::write(dir.join("wrong.order"), "/nothing/of/this\n").unwrap();
    let said = failure(
        bootlap(&dir)
            .arg("try")
            .arg(&target)
            .arg("boot-image=wrong.order"),
        4,
    );
    assert!(said.contains("names nothing that the root holds"), "{said}");
}
