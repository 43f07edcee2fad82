//! Boots of kernels and boot loaders that are built from source here. The builds
//! take long (`make test-built`), and are kept in the cache.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Booted, bootlap, changed_example, json, kiosk, root, scratch, with};
use serde_json::Value;

/// Asserts that each of `gone` is said only before, each of `come` only after.
fn changed(before: &Booted, after: &Booted, gone: &[&str], come: &[&str]) {
    for (texts, with, without) in [(gone, before, after), (come, after, before)] {
        for text in texts {
            assert!(with.says(text), "{text} in {}", with.console);
            assert!(!without.says(text), "{text} in {}", without.console);
        }
    }
}

#[test]
#[ignore = "builds U-Boot: make test-built"]
fn a_boot_loader_is_built_with_what_it_needs() {
    let dir = scratch("built-uboot");
    let stock = with(&dir, "stock", &kiosk(), &["uboot-bootdelay"]);
    let before = Booted::of(&dir, &stock, "1");
    let minimal = with(&dir, "minimal", &stock, &["uboot-minimal"]);
    let after = Booted::of(&dir, &minimal, "1");
    changed(&before, &after, &["Net:"], &[]);
    assert!(after.ready() < before.ready());

    // What the packaged one cannot: `recipes` say which option it lacks.
    let able = "uboot-options=SILENT_CONSOLE=y,ZSTD=y";
    let able = with(&dir, "able", &minimal, &[able]);
    let used = ["uboot-silent", "kernel-compression=zstd"];
    let silent = Booted::of(&dir, &with(&dir, "silent", &able, &used), "1");
    changed(&after, &silent, &["## Loading kernel"], &[]);
    // It gets there; that U-Boot's Zstandard is slow is another matter.
    assert!(silent.says("APP_READY"), "{}", silent.console);
}

#[test]
#[ignore = "builds U-Boot for a card: make test-built"]
fn the_first_stage_starts_the_kernel() {
    let dir = scratch("built-falcon");
    let stock = root().join("targets/orangepi");
    let falcon = with(&dir, "falcon", &stock, &["uboot-falcon"]);
    let (before, after) = (
        Booted::of(&dir, &stock, "1"),
        Booted::of(&dir, &falcon, "1"),
    );
    let uboot = ["Hit any key", "Loading Environment", "Starting kernel"];
    changed(&before, &after, &uboot, &["Direct Linux boot not active"]);
    assert!(
        after.says("U-Boot SPL") && after.says("APP_READY"),
        "{}",
        after.console
    );
    assert!(after.ready() < before.ready());
}

#[test]
#[ignore = "builds U-Boot for a card: make test-built"]
fn drivers_do_not_wait_for_their_suppliers() {
    let dir = scratch("built-devlink");
    // The kernel says how it links devices to those that they need.
    let tells = "ignore_loglevel dyndbg=\\\"file drivers/base/core.c +p\\\"";
    let to = format!("cmdline = \"{tells} ");
    let stock = changed_example(&dir, "orangepi", "cmdline = \"", &to);
    let recipes = ["cmdline-fw-devlink-permissive"];
    let tuned = with(&dir, "tuned", &stock, &recipes);
    let (before, after) = (Booted::of(&dir, &stock, "1"), Booted::of(&dir, &tuned, "1"));
    let waits = "1c19000.usb: Linked as a consumer to 1c19400.phy";
    let does_not = "1c19000.usb: Linked as a sync state only consumer to 1c19400.phy";
    changed(&before, &after, &[waits], &[does_not]);
}

#[test]
#[ignore = "builds two kernels: make test-built"]
fn a_kernel_starts_with_the_initramfs_that_it_holds() {
    let dir = scratch("built-inside");
    let stock = with(
        &dir,
        "stock",
        &kiosk(),
        &["uboot-bootdelay", "kernel-minimal"],
    );
    let inside = with(&dir, "inside", &stock, &["initramfs-builtin"]);
    let (before, after) = (
        Booted::of(&dir, &stock, "1"),
        Booted::of(&dir, &inside, "1"),
    );
    changed(
        &before,
        &after,
        &["## Loading ramdisk", "Freeing initrd memory"],
        &[],
    );
    assert!(after.says("APP_READY"), "{}", after.console);
}

/// What the kernel of these tests has besides what the kiosk needs.
const MORE: &str = "PROC_SYSCTL MD_AUTODETECT EXT4_USE_FOR_EXT2 NET_CORE \
    MISC_FILESYSTEMS PCI PCI_HOST_GENERIC NETDEVICES ETHERNET NET_VENDOR_INTEL E1000 PACKET IP_PNP \
    IP_PNP_DHCP BLOCK BLK_DEV BLK_DEV_LOOP MD BLK_DEV_MD MMC MMC_BLOCK MMC_SDHCI MMC_SDHCI_PCI \
    VIRTIO_MENU VIRTIO_MMIO \
    EXT4_FS SCSI BLK_DEV_SD ATA SATA_AHCI INIT_ON_ALLOC_DEFAULT_ON DEBUG_KERNEL \
    SOFTLOCKUP_DETECTOR RTC_CLASS RTC_DRV_PL031 GPIOLIB GPIO_PL061 INPUT INPUT_EVDEV \
    INPUT_KEYBOARD KEYBOARD_GPIO SQUASHFS ISO9660_FS FUSE_FS OVERLAY_FS TUN DUMMY \
    HW_RANDOM HW_RANDOM_VIRTIO WATCHDOG SOFT_WATCHDOG CONFIGFS_FS AUTOFS_FS MSDOS_FS NLS_UTF8 \
    BRIDGE VLAN_8021Q VIRTIO_INPUT VIRTIO_BALLOON ZRAM CRYPTO CRYPTO_SHA512 CRYPTO_LZ4 \
    CRYPTO_DEFLATE CRYPTO_MD4 CRYPTO_CBC BINFMT_MISC IPV6 VETH MACVLAN";

/// Of these, what nothing else of them needs.
const LEAVES: &str = "E1000 BLK_DEV_LOOP BLK_DEV_MD RTC_DRV_PL031 GPIO_PL061 INPUT_EVDEV \
    KEYBOARD_GPIO SQUASHFS ISO9660_FS FUSE_FS OVERLAY_FS TUN DUMMY HW_RANDOM_VIRTIO SOFT_WATCHDOG \
    CONFIGFS_FS AUTOFS_FS MSDOS_FS NLS_UTF8 BRIDGE VLAN_8021Q VIRTIO_INPUT VIRTIO_BALLOON ZRAM \
    CRYPTO_MD4 CRYPTO_CBC BINFMT_MISC VETH MACVLAN SATA_AHCI";

/// `kernel-options` that gives `names` this value.
fn options(names: &str, value: &str) -> String {
    let all: Vec<String> = names
        .split_whitespace()
        .map(|n| format!("{n}={value}"))
        .collect();
    format!("kernel-options={}", all.join(","))
}

/// A machine with a network card and an AHCI controller, whose kernel is the
/// kiosk's smallest one with all of [`MORE`], and whose `init` says what it sees.
fn machine(dir: &Path) -> PathBuf {
    let tree = dir.join("tree");
    fs::create_dir_all(&tree).unwrap();
    let init = "#!/bin/sh\n/bin/busybox mount -t proc proc /proc\n\
                /bin/busybox mount -t sysfs sysfs /sys\n\
                /bin/busybox mount -t devtmpfs dev /dev\n\
                echo loop devices: $(/bin/busybox ls /dev | /bin/busybox grep -c '^loop[0-9]')\n\
                echo watchdog: $(/bin/busybox cat /proc/sys/kernel/watchdog)\n\
                echo ignore_sss: $(/bin/busybox cat /sys/module/libahci/parameters/ignore_sss)\n\
                echo APP_READY\n/bin/busybox sleep 1000\n";
    fs::write(tree.join("init"), init).unwrap();
    fs::set_permissions(tree.join("init"), fs::Permissions::from_mode(0o755)).unwrap();
    let text = fs::read_to_string(kiosk().join("target.toml")).unwrap();
    // The kiosk's files stay out: its kernel is chosen by [initramfs] being there.
    let kept = text.split("[initramfs.files]").next().unwrap();
    let (before, check) = kept.split_once("# No script missed").unwrap();
    let (_, after) = check.split_once("\n\n").unwrap();
    let text = format!(
        "{before}\n{after}[initramfs.files]\n\
         \"/bin/busybox\" = \"package:busybox-static/bin/busybox\"\n\
         [initramfs.links]\n\"/bin/sh\" = \"busybox\"\n"
    );
    let text = text
        .replace("application = \"Starting kiosk\"", "")
        .replace(
            "memory-mb = 512",
            "memory-mb = 512\nargs = [\"-nic\", \"user,model=e1000\", \"-device\", \
             \"ich9-ahci\"]",
        )
        // One that makes random numbers.
        .replace("cpu = \"cortex-a57\"", "cpu = \"max\"")
        .replace(
            "cmdline = \"",
            "cmdline = \"initcall_debug ignore_loglevel ip=dhcp ",
        )
        .replace(
            "tree = \"initramfs\"",
            &format!("tree = \"{}\"", tree.display()),
        )
        .replacen("name = ", &format!("outside = [{tree:?}]\nname = "), 1);
    let target = dir.join("machine");
    fs::create_dir_all(&target).unwrap();
    fs::write(target.join("target.toml"), text).unwrap();
    let more = options(MORE, "y");
    with(
        dir,
        "built",
        &target,
        &["bootloader-none", "kernel-minimal", &more],
    )
}

#[test]
#[ignore = "builds a kernel: make test-built"]
fn what_only_built_kernels_know_is_done() {
    let dir = scratch("built-cmdline");
    let stock = machine(&dir);
    let address = "cmdline-ip-static=10.0.2.15:10.0.2.2::255.255.255.0::eth0:off";
    let recipes = [
        "cmdline-max-loop=1",
        address,
        "cmdline-lpj=250000",
        "cmdline-no-zeroing",
        "cmdline-no-watchdog",
        "cmdline-no-spinup-stagger",
        "cmdline-trust-entropy",
        "cmdline-fw-devlink-permissive",
        "cmdline-async-probe=e1000",
    ];
    let tuned = with(&dir, "tuned", &stock, &recipes);
    let (before, after) = (Booted::of(&dir, &stock, "1"), Booted::of(&dir, &tuned, "1"));
    changed(
        &before,
        &after,
        &[
            "loop devices: 8",
            "Sending DHCP requests",
            "heap alloc:on",
            "watchdog: 1",
            "ignore_sss: 0",
        ],
        &[
            "loop devices: 1",
            "preset value",
            "heap alloc:off",
            "watchdog: 0",
            "ignore_sss: 1",
            "random: crng init done",
        ],
    );
    assert!(after.says("fw_devlink=permissive driver_async_probe=e1000"));
    assert!(
        !after.says("Unknown kernel command line"),
        "{}",
        after.console
    );
    // It is probed beside the others.
    let took = |boot: &Booted| initcalls(&boot.json)["e1000_init_module"];
    assert!(took(&after) * 10 < took(&before));
    assert!(after.ready() < before.ready());

    // Advice finds the driver, and in the source the option that builds it.
    let advice = json(bootlap(&dir).args(["advise", "--json"]).arg(&stock));
    let mut findings = advice["findings"].as_array().unwrap().iter();
    let slow = findings.find(|f| f["recipe"] == "kernel-options=E1000=n");
    assert_eq!(slow.unwrap_or(&advice)["rule"], "initcall-slow");
}

/// Initcalls of a boot, with their times.
fn initcalls(boot: &Value) -> BTreeMap<String, i64> {
    let spans = boot["spans"].as_array().unwrap().iter();
    let calls = spans.filter(|s| s["track"] == "initcall");
    calls
        .map(|s| {
            let at = |key: &str| s[key].as_i64().unwrap();
            let name = s["name"].as_str().unwrap().to_owned();
            (name, at("end_ns") - at("start_ns"))
        })
        .collect()
}

#[test]
#[ignore = "builds a kernel: make test-built"]
fn the_kernel_mounts_its_root_sooner() {
    let dir = scratch("built-root");
    let built = machine(&dir);
    let tree = dir.join("tree");
    // A card takes the initramfs' place: one that simulated time waits for.
    fs::create_dir_all(tree.join("bin")).unwrap();
    fs::write(tree.join("bin/init"), "").unwrap();
    let disk = dir.join("disk.img");
    let made = Command::new("mke2fs")
        .args(["-q", "-t", "ext4", "-O", "^has_journal", "-d"])
        .arg(&tree)
        .arg(&disk)
        .arg("8M")
        .status()
        .unwrap();
    assert!(made.success());
    let text = fs::read_to_string(built.join("target.toml")).unwrap();
    let text = text
        .replace("APP_READY", "Kernel panic")
        .replace("ip=dhcp ", "root=/dev/mmcblk0 rootdelay=3 ")
        .replace(
            "\"-nic\"",
            &format!(
                "\"-device\", \"sdhci-pci\", \"-drive\", \"file={},format=raw,if=none,id=d\", \
                 \"-device\", \"sd-card,drive=d\", \"-nic\"",
                disk.display()
            ),
        );
    let stock = dir.join("root");
    fs::create_dir_all(&stock).unwrap();
    fs::write(stock.join("target.toml"), text).unwrap();
    let stock = with(&dir, "disk", &stock, &["initramfs-none"]);
    let recipes = [
        "cmdline-no-rootdelay",
        "cmdline-rootfstype=ext4",
        "cmdline-no-raid-autodetect",
    ];
    let tuned = with(&dir, "tuned", &stock, &recipes);
    let (before, after) = (Booted::of(&dir, &stock, "1"), Booted::of(&dir, &tuned, "1"));
    changed(
        &before,
        &after,
        &[
            "Waiting 3 sec before mounting root device",
            "md: Waiting for all devices to be available before autodetect",
        ],
        &["md: Skipping autodetection of RAID arrays"],
    );
    for boot in [&before, &after] {
        assert!(
            boot.says("Mounted root (ext4 filesystem)"),
            "{}",
            boot.console
        );
    }
    // The kernel tries the others in silence; all that is seen is how long.
    let tried = |boot: &Booted, since: &str| {
        let at = |text: &str| {
            let mut lines = boot.console.lines();
            let line = lines.find(|l| l.contains(text)).unwrap();
            let stamp = line.trim_start_matches(['[', ' ']).split(']').next();
            stamp.unwrap().parse::<f64>().unwrap()
        };
        at("EXT4-fs (mmcblk0): mounted") - at(since)
    };
    let (every, one) = (
        tried(&before, "autorun DONE"),
        tried(&after, "md: Skipping"),
    );
    assert!(one < every, "{one} of {every}");
    let saved = before.ready() - after.ready();
    assert!(saved > 2_900_000_000, "{saved}");
}

#[test]
#[ignore = "builds two kernels: make test-built"]
fn an_option_that_is_off_takes_its_initcalls_away() {
    let dir = scratch("built-explain");
    let stock = machine(&dir);
    // It hangs on one of them.
    let off = options(&format!("{LEAVES} MD_AUTODETECT"), "n");
    let less = with(&dir, "less", &stock, &[&off]);
    let (before, after) = (Booted::of(&dir, &stock, "1"), Booted::of(&dir, &less, "1"));

    let built = |target: &Path| {
        let built = json(bootlap(&dir).args(["build", "--json"]).arg(target));
        let path = |key: &str| built["builds"][0][key].as_str().unwrap().to_owned();
        (path("tree"), path("config"))
    };
    let (tree, config) = built(&stock);
    let mut explain = bootlap(&dir);
    let explain = explain.args(["explain", "--json", "--limit", "0", "--log"]);
    let explain = explain.arg(before.run.join("console"));
    let explained = json(explain.args(["--kernel", &tree, "--config", &config]));
    // What selects an option takes it along.
    let now = fs::read_to_string(built(&less).1).unwrap();
    let is_off = |name: &str| !now.contains(&format!("CONFIG_{name}="));
    let after = initcalls(&after.json);
    let (mut gone, mut should_go) = (BTreeSet::new(), BTreeSet::new());
    for row in explained["symbols"].as_array().unwrap() {
        let function = row["function"].as_str().unwrap();
        let places = row["places"].as_array().unwrap();
        let mut options = places.iter().flat_map(|p| p["options"].as_array().unwrap());
        if options.any(|o| is_off(o["name"].as_str().unwrap())) {
            should_go.insert(function.to_owned());
        }
        if !after.contains_key(function) {
            gone.insert(function.to_owned());
        }
    }
    assert!(gone.len() >= 20, "{gone:?}");
    assert_eq!(gone, should_go);
}
