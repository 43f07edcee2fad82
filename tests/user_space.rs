//! User space on a disk, changed: units of systemd, and init scripts.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::disk::{boot, disk, import};
use crate::support::{agent, bootlap, failure, json, printed, root, scratch, succeeded};

/// Units that were put off are started once the boot is over, and the boot is over sooner.
#[test]
#[ignore = "a dozen boots of a PC; make test-images"]
fn units_wait_until_the_boot_is_over() {
    let dir = scratch("import-units");
    import(&dir, &disk("vm-uefi"), "vm", &["--firmware", "direct"]);
    let listed = json(bootlap(&dir).args(["units", "vm", "--json"]));
    assert_eq!(listed["default"], "graphical.target");
    let units = listed["units"].as_array().unwrap();
    let of = |name: &str| units.iter().find(|unit| unit["name"] == name).unwrap();
    assert_eq!(of("systemd-logind.service")["deferrable"], true);
    assert_eq!(of("systemd-journald.service")["early"], true);
    let before = fs::read(dir.join("vm/target.toml")).unwrap();
    let defer = "systemd-defer=systemd-logind.service,e2scrub_reap.service";
    let tried = json(bootlap(&dir).args(["try", "vm", defer, "-k", "5", "--json"]));
    assert_eq!(tried["trials"].as_array().unwrap().len(), 1, "{tried}");
    assert_eq!(tried["trials"][0]["verdict"], "faster", "{tried}");
    assert_eq!(fs::read(dir.join("vm/target.toml")).unwrap(), before);
    succeeded(bootlap(&dir).args(["apply", "vm", defer, "-o", "later"]));
    assert!(dir.join("later/patches/disk.qcow2").is_file());
}

/// An application comes before the early boot, all else follows it, and follows also if it does not
/// come.
#[test]
#[ignore = "a dozen boots of a PC; make test-images"]
fn the_application_comes_first() {
    let dir = scratch("import-first");
    import(
        &dir,
        &disk("appliance"),
        "shipped",
        &["--firmware", "direct"],
    );
    let toml = dir.join("shipped/target.toml");
    let text = fs::read_to_string(&toml).unwrap();
    let pattern = "pattern = \"appliance: the application answers\"";
    let text = text.replace("pattern = \"login: \"", pattern);
    assert!(text.contains(pattern), "{text}");
    fs::write(&toml, text).unwrap();
    let sooner = ["kernel-compression=none", "initramfs-minimal"];
    let mut apply = bootlap(&dir);
    succeeded(
        apply
            .args(["apply", "shipped"])
            .args(sooner)
            .args(["-o", "vm"]),
    );
    let apart = printed(bootlap(&dir).args(["units", "vm", "--orderings"]));
    let ordering = "nginx.service/network-online.target";
    assert!(
        apart.trim().split(',').any(|pair| pair == ordering),
        "{apart}"
    );
    let first = "systemd-first=app.service,nginx.service,health.service";
    // Nobody starts what it waits for, until all else follows.
    let alone = "systemd-first=health.service";
    let tried = json(bootlap(&dir).args(["try", "vm", "-k", "5", "--json", first, alone]));
    assert_eq!(tried["trials"][0]["verdict"], "faster", "{tried}");
    assert_eq!(tried["trials"][1]["verdict"], "slower", "{tried}");
    let apart = format!("systemd-unordered={ordering}");
    let asked = "systemd-on-demand=ssh.service,udisks2.service";
    let mut apply = bootlap(&dir);
    succeeded(apply.args(["apply", "vm", first, &apart, asked, "-o", "all"]));
    assert_eq!(boot(&dir, "all", "2")["identical"], true);
    // And all of it from an image, which the first boot makes.
    let image = format!("resume-image={},health.service", agent("x86-64").display());
    succeeded(bootlap(&dir).args(["apply", "vm", &image, "-o", "image"]));
    let started = boot(&dir, "image", "2");
    assert_eq!(started["identical"], true);
    let run = dir.join(started["run"].as_str().unwrap());
    let console = fs::read(run.join("console")).unwrap();
    let console = String::from_utf8_lossy(&console);
    assert!(!console.contains("the boot goes on"), "{console}");
}

/// What a distribution does for any machine: without it the login comes sooner, and all that was
/// put off behind it.
#[test]
#[ignore = "dozens of boots of a PC; make test-images"]
fn what_is_done_for_other_machines_is_left_out() {
    let dir = scratch("import-early");
    import(&dir, &disk("vm-uefi"), "vm", &["--firmware", "direct"]);
    let recipes = ["initramfs-minimal", "systemd-coldplug-later"];
    let args = [&["try", "vm", "-k", "5", "--json"][..], &recipes].concat();
    let tried = json(bootlap(&dir).args(args));
    let trials = tried["trials"].as_array().unwrap();
    assert_eq!(trials.len(), recipes.len(), "{tried}");
    for trial in trials {
        assert_eq!(trial["verdict"], "faster", "{trial}");
    }
}

/// Init scripts are listed, rewritten and moved without a boot.
#[test]
fn init_scripts_are_listed_and_changed() {
    let dir = scratch("init-scripts");
    let image = dir.join("small.img");
    fs::copy(root().join("fuzz/seeds/disk/scripts"), &image).unwrap();
    // Room for what is written.
    let file = File::options().write(true).open(&image).unwrap();
    file.set_len(64 << 10).unwrap();
    fs::create_dir(dir.join("small")).unwrap();
    let text = format!(
        "format = 1\nname = \"small\"\n\n[ready]\npattern = \"x\"\n\n[machine]\nkind = \"qemu\"\n\
         program = \"qemu-system-aarch64\"\nmachine = \"virt\"\ncpu = \"cortex-a57\"\n\
         memory-mb = 128\n\n[disk]\nimage = {image:?}\n"
    );
    fs::write(dir.join("small/target.toml"), text).unwrap();
    let listed = json(bootlap(&dir).args(["units", "small", "--json"]));
    assert_eq!(listed["starter"], "scripts");
    assert_eq!(listed["default"], "/etc/init.d/rcS");
    let names: Vec<&Value> = listed["units"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), 3, "{listed}");
    assert_eq!(names[1]["name"], "S10net");
    let later = printed(bootlap(&dir).args(["units", "small", "--deferrable"]));
    assert_eq!(later.trim(), "S05udev,S10net,S20web");
    let recipes = [
        "initscripts-builtins",
        "initscripts-coldplug-later",
        "initscripts-defer=S20web",
    ];
    let mut apply = bootlap(&dir);
    succeeded(
        apply
            .args(["apply", "small"])
            .args(recipes)
            .args(["-o", "new"]),
    );
    let new = fs::read_to_string(dir.join("new/target.toml")).unwrap();
    assert!(new.contains("_bootlap1"), "{new}");
    assert!(new.contains(" --subsystem-match=block "), "{new}");
    assert!(
        new.contains("later = \"bootlap-later: all is started\""),
        "{new}"
    );
    assert!(dir.join("new/patches/disk.qcow2").is_file());
    // What is rewritten and then taken away is not where it was.
    let with = |recipes: &[&str]| {
        let mut apply = bootlap(&dir);
        let apply = apply.args(["apply", "small"]).args(recipes);
        succeeded(apply.args(["-o", "moved"]));
        let new = fs::read_to_string(dir.join("moved/target.toml")).unwrap();
        fs::remove_dir_all(dir.join("moved")).unwrap();
        new
    };
    let written = "/etc/init.d/S10net\" = ";
    assert!(with(&["initscripts-builtins"]).contains(written));
    let off = with(&["initscripts-builtins", "initscripts-off=S10net"]);
    assert!(!off.contains(written), "{off}");
    let later = with(&["initscripts-builtins", "initscripts-defer=S10net"]);
    assert!(!later.contains(written), "{later}");
    let there = later.split_once("/etc/bootlap-later.d/S10net\" = ");
    assert!(there.unwrap().1.contains("_bootlap1"), "{later}");
    let failed = failure(
        bootlap(&dir).args(["try", "small", "initscripts-off=S99none"]),
        2,
    );
    assert!(failed.contains("bootlap units"), "{failed}");
}

/// A copy of a disk with a btrfs behind its three partitions.
fn with_btrfs(dir: &Path, disk: &Path) -> PathBuf {
    let tree = dir.join("tree");
    fs::create_dir_all(tree.join("usr/lib")).unwrap();
    fs::create_dir_all(tree.join("etc")).unwrap();
    let release = tree.join("usr/lib/os-release");
    fs::write(&release, "NAME=Tiny\n").unwrap();
    fs::set_permissions(&release, PermissionsExt::from_mode(0o640)).unwrap();
    symlink("usr/lib", tree.join("lib")).unwrap();
    symlink("service", tree.join("etc/was-a-link")).unwrap();
    for name in ["gone", "service", "stays"] {
        fs::write(tree.join("etc").join(name), name.repeat(5000)).unwrap();
    }
    let part = dir.join("btrfs");
    File::create(&part).unwrap().set_len(128 << 20).unwrap();
    let mut make = Command::new("mkfs.btrfs");
    make.env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin");
    succeeded(make.args(["-q", "--rootdir"]).arg(&tree).arg(&part));
    let image = dir.join("disk.img");
    fs::copy(disk, &image).unwrap();
    let end = fs::metadata(&image).unwrap().len();
    let out = File::options().write(true).open(&image).unwrap();
    let bytes = fs::read(&part).unwrap();
    out.write_all_at(&bytes, end).unwrap();
    let lines = format!("start={}, size={}, type=83\n", end / 512, bytes.len() / 512);
    let mut divide = Command::new("sfdisk");
    divide.env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin");
    divide.args(["-q", "--append", "--no-reread"]).arg(&image);
    divide.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = divide.spawn().unwrap();
    let mut lines_in = child.stdin.take().unwrap();
    lines_in.write_all(lines.as_bytes()).unwrap();
    drop(lines_in);
    assert!(child.wait().unwrap().success());
    image
}

/// A guest mounts a disk as it is, and as a target changes it: they differ in what the target
/// names, and in the folders that these are in.
#[test]
fn a_changed_disk_differs_where_it_was_told_to() {
    let dir = scratch("disk-differs");
    // Each name with mode, owner, size, and what is in it.
    let init = "#!/bin/busybox sh\nb=/bin/busybox\n$b mount -t devtmpfs dev /dev\n\
        while read -r m; do $b insmod /modules/$m; done </modules/order\n\
        until [ -b /dev/vda4 ]; do $b sleep 0.1; done\n\
        $b mount -t ext4 -o ro,noload /dev/vda1 /root/1\n\
        $b mount -t squashfs -o ro /dev/vda2 /root/2\n\
        $b mount -t btrfs -o ro /dev/vda4 /root/4\n\
        cd /root\n\
        $b find . ! -name lost+found | $b xargs $b stat -c '= %n %a %u:%g %F %h %N'\n\
        $b find . -type f | $b xargs $b md5sum | $b sed 's/\\(.*\\)  \\(.*\\)/= \\2 \\1/'\n\
        echo 'listed all'\n";
    let image = with_btrfs(&dir, &disk("router"));
    let before = bootlap_product::fingerprint(&image).unwrap();
    let target = format!(
        "format = 1\nname = \"look\"\n\n[ready]\npattern = \"listed all\"\ntimeout-s = 300\n\n\
         [machine]\nkind = \"qemu\"\nprogram = \"qemu-system-aarch64\"\nmachine = \"virt\"\n\
         cpu = \"cortex-a57\"\nmemory-mb = 512\n\n[packages]\narchitecture = \"arm64\"\n\n\
         [kernel]\nimage = \"package:linux-image-arm64/boot/vmlinu*\"\n\
         cmdline = \"quiet console=ttyAMA0\"\n\n[initramfs]\ncompression = \"none\"\n\
         tree = \"initramfs\"\n\
         modules = [\"virtio_pci\", \"virtio_blk\", \"crc32c_generic\", \"ext4\", \"squashfs\", \"btrfs\"]\n\
         dirs = [\"/dev\", \"/root\", \"/root/1\", \"/root/2\", \"/root/4\"]\n\
         files = {{ \"/bin/busybox\" = \"package:busybox-static/bin/busybox\" }}\n\n\
         [disk]\nimage = {image:?}\n"
    );
    // What is in a link's place stays in its folder, which the link on the way leads to.
    let changes = "remove = [\"2:/etc/init.d/S70ddns\", \"1:/boot/extlinux/extlinux.conf\", \
         \"4:/etc/gone\"]\n\n\
         [disk.texts]\n\"4:/lib/os-release\" = \"NAME=Other\\n\"\n\
         \"4:/etc/new/conf\" = \"#!/bin/sh\\n\"\n\"4:/etc/was-a-link\" = \"x\\n\"\n\"2:/etc/init.d/S60usb\" = \"#!/bin/sh\\n\"\n\
         \"2:/etc/new/conf\" = \"x\\n\"\n\"1:/boot/new\" = \"#!/bin/sh\\n\"\n\n\
         [disk.links]\n\"2:/sbin/more\" = \"../bin/busybox\"\n\"4:/etc/service\" = \"/dev/null\"\n";
    for (name, text) in [("look", target.clone()), ("changed", target + changes)] {
        let tree = dir.join(name).join("initramfs");
        fs::create_dir_all(&tree).unwrap();
        fs::write(tree.join("init"), init).unwrap();
        let mode = PermissionsExt::from_mode(0o755);
        fs::set_permissions(tree.join("init"), mode).unwrap();
        fs::write(dir.join(name).join("target.toml"), text).unwrap();
    }
    let listed = |target: &str| {
        let booted = boot(&dir, target, "1");
        let run = dir.join(booted["run"].as_str().unwrap());
        let console = fs::read(run.join("console")).unwrap();
        let console = String::from_utf8_lossy(&console).replace('\r', "");
        let lines = console.lines().filter_map(|line| line.strip_prefix("= ./"));
        let lines = lines.map(|line| line.split_once(' ').unwrap_or((line, "")));
        let mut all = std::collections::BTreeMap::<String, String>::new();
        for (name, what) in lines {
            *all.entry(name.to_owned()).or_default() += what;
        }
        all
    };
    let (old, new) = (listed("look"), listed("changed"));
    assert!(old.len() > 300, "{} names", old.len());
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differ: Vec<&str> = names
        .into_iter()
        .filter(|name| old.get(*name) != new.get(*name))
        .map(String::as_str)
        .collect();
    let told = [
        "1/boot/extlinux/extlinux.conf",
        "1/boot/new",
        // It has a folder more.
        "2/etc",
        "2/etc/init.d/S60usb",
        "2/etc/init.d/S70ddns",
        "2/etc/new",
        "2/etc/new/conf",
        "2/sbin/more",
        "4/etc/gone",
        "4/etc/new",
        "4/etc/new/conf",
        "4/etc/service",
        "4/etc/was-a-link",
        "4/usr/lib/os-release",
    ];
    assert_eq!(differ, told);
    // Written over, it keeps its mode.
    assert!(new["4/usr/lib/os-release"].starts_with("640 "), "{new:?}");
    assert!(new["4/etc/new/conf"].starts_with("755 0:0"), "{new:?}");
    assert!(new["2/etc/init.d/S60usb"].starts_with("755 0:0"), "{new:?}");
    assert!(new["1/boot/new"].starts_with("755 0:0"), "{new:?}");
    assert_eq!(bootlap_product::fingerprint(&image).unwrap(), before);
}

/// Of a router's thirty scripts, three are needed for its page, and the rest can be later.
#[test]
#[ignore = "a hundred boots; make test-images"]
fn scripts_run_once_the_boot_is_over() {
    let dir = scratch("import-router");
    import(&dir, &disk("router"), "router", &["--firmware", "direct"]);
    let file = dir.join("router/target.toml");
    let text = fs::read_to_string(&file).unwrap();
    let page = "pattern = \"router: the page answers\"";
    fs::write(&file, text.replace("pattern = \"login: \"", page)).unwrap();
    let later = json(bootlap(&dir).args(["defer", "router", "-k", "5", "--json"]));
    let needed = ["S06hostname", "S20network", "S90web", "S95health"];
    assert_eq!(later["left_out"], serde_json::json!(needed));
    assert_eq!(later["trial"]["verdict"], "faster", "{later}");
    let fewest = || json(bootlap(&dir).args(["minimise", "router", "-k", "5", "--json"]));
    let first = fewest();
    assert_eq!(first["left_out"], serde_json::json!(needed[..3]));
    assert_eq!(first["list"], fewest()["list"]);
    let builtins = ["try", "router", "initscripts-builtins", "-k", "5", "--json"];
    let tried = json(bootlap(&dir).args(builtins));
    assert_eq!(tried["trials"][0]["verdict"], "faster", "{tried}");
}

/// System V's init and OpenRC start what was put off by init's table: the folder of the one may be
/// run in the order of a file of its own, and the other has no order of names.
#[test]
#[ignore = "boots of two PCs; make test-images"]
fn scripts_come_later_by_the_table_of_init() {
    for (name, later) in [("sysv", "S01ssh,S09urandom"), ("openrc", "ssh,urandom")] {
        let dir = scratch(&format!("import-{name}"));
        import(&dir, &disk(name), "shipped", &["--firmware", "direct"]);
        let listed = json(bootlap(&dir).args(["units", "shipped", "--json"]));
        let scripts = listed["units"].as_array().unwrap();
        assert!(scripts.iter().all(|s| s["deferrable"] == true), "{listed}");
        let sooner = ["kernel-compression=none", "initramfs-minimal"];
        let defer = format!("initscripts-defer={later}");
        let mut apply = bootlap(&dir);
        let apply = apply.args(["apply", "shipped", &defer]).args(sooner);
        succeeded(apply.args(["-o", "later"]));
        // Ready is only what comes once all of them are started.
        let toml = dir.join("later/target.toml");
        let text = fs::read_to_string(&toml).unwrap();
        let all = "bootlap-later: all is started";
        assert!(text.contains(&format!("later = \"{all}\"")), "{text}");
        let text = text.replace("pattern = \"login: \"", &format!("pattern = {all:?}"));
        fs::write(&toml, text).unwrap();
        let booted = boot(&dir, "later", "1");
        assert_eq!(booted["extent"]["ready"], true, "{booted}");
        let run = PathBuf::from(booted["run"].as_str().unwrap());
        let console = fs::read(dir.join(run).join("console")).unwrap();
        let console = String::from_utf8_lossy(&console);
        let login = console.find("login: ").unwrap();
        let ssh = console
            .find("Starting OpenBSD Secure Shell server")
            .unwrap();
        assert!(login < ssh, "{console}");
        let phases = booted["phases"].as_array().unwrap();
        let names: Vec<_> = phases.iter().map(|phase| &phase["name"]).collect();
        assert_eq!(
            names,
            ["firmware", "kernel", "initramfs", "userspace"],
            "{booted}"
        );
    }
}

/// An initramfs in which systemd runs is reduced to what mounts the root, which is entered by a
/// program of its own.
#[test]
#[ignore = "boots of a PC; make test-images"]
fn an_initramfs_of_dracut_is_reduced() {
    let dir = scratch("import-dracut");
    import(&dir, &disk("dracut"), "shipped", &["--firmware", "direct"]);
    let sooner = ["kernel-compression=none", "initramfs-compression=none"];
    let apply = |from: &str, recipes: &[&str], to: &str| {
        let mut apply = bootlap(&dir);
        succeeded(apply.args(["apply", from]).args(recipes).args(["-o", to]));
        let booted = boot(&dir, to, "1");
        assert_eq!(booted["extent"]["ready"], true, "{booted}");
        let phases = booted["phases"].as_array().unwrap();
        let initramfs = phases.iter().find(|phase| phase["name"] == "initramfs");
        let at = |key: &str| initramfs.unwrap()[key].as_i64().unwrap();
        at("end_ns") - at("start_ns")
    };
    let whole = apply("shipped", &sooner, "whole");
    let reduced = apply("whole", &["initramfs-minimal"], "reduced");
    assert!(reduced < whole / 2, "{whole} ns, then {reduced} ns");
}
