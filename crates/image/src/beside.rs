//! A kernel that lies beside the image and not on it, and how the build that made both starts
//! them: Buildroot's `start-qemu.sh`, OpenEmbedded's `*.qemuboot.conf`.

use bootlap_artefact::arch::Arch;

/// A kernel beside an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// The processor that it is for, if it says so.
    pub arch: Option<Arch>,
    /// Whether it has an initramfs.
    pub has_initramfs: bool,
    /// How the build starts it, if that is known.
    pub script: Option<Script>,
}

/// How a build starts what it made. Empty is what it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The file that says so.
    pub name: String,
    /// QEMU's `-M`.
    pub machine: String,
    /// QEMU's `-cpu`.
    pub cpu: String,
    /// QEMU's `-m`, MiB.
    pub memory_mb: Option<u32>,
    /// The kernel's file.
    pub kernel: String,
    /// The initramfs's file.
    pub initramfs: String,
    /// The device tree's file.
    pub devicetree: String,
    /// The disk's file.
    pub disk: String,
    /// The kernel's command line.
    pub cmdline: String,
}

/// Buildroot's script: the command that it ends with.
pub fn start_qemu(name: &str, text: &str) -> Option<Script> {
    let text = text.replace("\\\n", " ");
    let is_qemu = |word: &String| word.contains("qemu-system-");
    let commands = text.lines().filter_map(shlex::split);
    let words = commands
        .filter_map(|words| Some(words[words.iter().position(is_qemu)?..].to_vec()))
        .find(|words| words.len() > 1)?;
    let mut script = Script {
        name: name.to_owned(),
        ..Script::default()
    };
    let mut words = words.into_iter().skip(1);
    while let Some(word) = words.next() {
        let at = match word.trim_start_matches('-') {
            "M" | "machine" => &mut script.machine,
            "cpu" => &mut script.cpu,
            "kernel" => &mut script.kernel,
            "initrd" => &mut script.initramfs,
            "dtb" => &mut script.devicetree,
            "append" => &mut script.cmdline,
            "m" => {
                script.memory_mb = words.next().and_then(|size| mib(&size));
                continue;
            }
            "drive" => {
                let given = words.next().unwrap_or_default();
                let file = given.split(',').find_map(|w| w.strip_prefix("file="));
                file.unwrap_or_default().clone_into(&mut script.disk);
                continue;
            }
            "hda" | "sd" => &mut script.disk,
            _ => continue,
        };
        *at = words.next().unwrap_or_default();
    }
    (!script.kernel.is_empty()).then_some(script)
}

/// OpenEmbedded's settings for `runqemu`, which adds where the root is.
pub fn qemuboot(name: &str, text: &str) -> Option<Script> {
    let value = |key: &str| {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        let found = lines.into_iter().find(|(name, _)| name.trim() == key);
        found.map_or("", |(_, value)| value.trim())
    };
    // `-machine virt`, or `-cpu IvyBridge -machine q35,i8042=off` in one.
    let machine = [value("qb_machine"), value("qb_cpu")].join(" ");
    let option = |names: [&str; 2]| {
        let mut words = machine.split_whitespace();
        words.find(|word| names.contains(word))?;
        words.next().map(str::to_owned)
    };
    let kernel = match value("qb_default_kernel") {
        "" | "none" => value("kernel_imagetype"),
        kernel => kernel,
    };
    if kernel.is_empty() {
        return None;
    }
    let root = match value("qb_kernel_root") {
        "" => "/dev/vda",
        root => root,
    };
    let mut cmdline = format!("root={root} rw {}", value("qb_kernel_cmdline_append"));
    if !cmdline.contains("console=") {
        // `115200;ttyS0 115200;ttyS1`
        let first = value("serial_consoles").split_whitespace().next();
        let terminal = first.and_then(|one| one.split_once(';'));
        if let Some((baud, terminal)) = terminal {
            cmdline += &format!(" console={terminal},{baud}");
        }
    }
    let size = value("qb_mem").split_whitespace().nth(1);
    Some(Script {
        name: name.to_owned(),
        machine: option(["-machine", "-M"]).unwrap_or_default(),
        cpu: option(["-cpu", "--cpu"]).unwrap_or_default(),
        memory_mb: size.and_then(mib),
        kernel: kernel.to_owned(),
        cmdline: cmdline.split_whitespace().collect::<Vec<_>>().join(" "),
        devicetree: value("qb_dtb").to_owned(),
        ..Script::default()
    })
}

/// QEMU counts memory in MiB, unless it says otherwise.
fn mib(size: &str) -> Option<u32> {
    match size.strip_suffix(['G', 'g']) {
        Some(gib) => gib.parse::<u32>().ok()?.checked_mul(1024),
        None => size.trim_end_matches(['M', 'm']).parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buildroots_script_is_read() {
        let text = "#!/bin/sh\n\nBINARIES_DIR=\"${0%/*}/\"\ncd \"${BINARIES_DIR}\"\n\
                    if ${mode_serial}; then\n    EXTRA_ARGS='-nographic'\nfi\n\
                    export PATH=\"/build/host/bin:${PATH}\"\n\
                    exec qemu-system-aarch64 -M virt -cpu cortex-a53 -nographic -smp 1 \\\n\
                    -m 256M -kernel Image -append \"rootwait root=/dev/vda console=ttyAMA0\" \
                    -netdev user,id=eth0 -device virtio-net-device,netdev=eth0 \
                    -drive file=rootfs.ext4,if=none,format=raw,id=hd0 \
                    -device virtio-blk-device,drive=hd0  ${EXTRA_ARGS} \"$@\"\n";
        let script = start_qemu("start-qemu.sh", text).unwrap();
        let want = Script {
            name: "start-qemu.sh".to_owned(),
            machine: "virt".to_owned(),
            cpu: "cortex-a53".to_owned(),
            memory_mb: Some(256),
            kernel: "Image".to_owned(),
            disk: "rootfs.ext4".to_owned(),
            cmdline: "rootwait root=/dev/vda console=ttyAMA0".to_owned(),
            ..Script::default()
        };
        assert_eq!(script, want);
        assert_eq!(start_qemu("x", "echo qemu-system-arm\nls 'open"), None);
    }

    #[test]
    fn openembeddeds_settings_are_read() {
        let text = "[config_bsp]\nqb_cpu = -cpu IvyBridge -machine q35,i8042=off\n\
                    qb_mem = -m 256\nqb_kernel_cmdline_append = swiotlb=0 \n\
                    qb_default_kernel = bzImage\nqb_kernel_root = /dev/vda\n\
                    serial_consoles = 115200;ttyS0 115200;ttyS1\n";
        let script = qemuboot("a.qemuboot.conf", text).unwrap();
        assert_eq!(
            (script.machine.as_str(), script.cpu.as_str()),
            ("q35,i8042=off", "IvyBridge")
        );
        assert_eq!(
            (script.memory_mb, script.kernel.as_str()),
            (Some(256), "bzImage")
        );
        assert_eq!(
            script.cmdline,
            "root=/dev/vda rw swiotlb=0 console=ttyS0,115200"
        );
        assert_eq!(qemuboot("x", "a = b\n"), None);
    }
}
