//! Emulated machines: one for each processor, with the programs that Debian has for it.

use std::borrow::Cow;

use bootlap_artefact::arch::Arch;

/// An emulated machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The processors that it has.
    pub(crate) arch: Arch,
    /// As Debian calls them.
    pub debian: &'static str,
    /// The architecture whose packages have its firmware: a release need not have its own.
    pub packages: &'static str,
    /// QEMU's program, `-M`, `-cpu`.
    pub program: &'static str,
    /// See `program`.
    pub machine: Cow<'static, str>,
    /// See `program`.
    pub cpu: Cow<'static, str>,
    /// Memory in MiB.
    pub memory_mb: u32,
    /// Whether the turns of polled waits can be left out. Some loops of U-Boot for RISC-V
    /// end earlier than they seem to: seen with 2023.01.
    pub skip_waits: bool,
    /// The device of its serial line, as Linux calls it.
    pub console: &'static str,
    /// Whether the kernel finds that by itself, if its command line names none.
    pub(crate) finds_console: bool,
    /// Its UEFI: program and variables.
    pub(crate) uefi: Option<[&'static str; 2]>,
    /// The package of Debian's kernel for it, if the release has one.
    pub(crate) kernel: Option<&'static str>,
    /// Its U-Boot, and whether another program has to start it.
    pub(crate) uboot: Option<(&'static str, bool)>,
}

pub(crate) const MACHINES: [Machine; 5] = [
    Machine {
        arch: Arch::X86_64,
        debian: "amd64",
        packages: "amd64",
        program: "qemu-system-x86_64",
        machine: Cow::Borrowed("q35"),
        cpu: Cow::Borrowed("max"),
        memory_mb: 1024,
        skip_waits: true,
        console: "ttyS0",
        finds_console: false,
        uefi: Some([
            "package:ovmf/usr/share/OVMF/OVMF_CODE_4M.fd",
            "package:ovmf/usr/share/OVMF/OVMF_VARS_4M.fd",
        ]),
        kernel: Some("linux-image-amd64"),
        uboot: None,
    },
    Machine {
        arch: Arch::X86,
        debian: "i386",
        packages: "i386",
        program: "qemu-system-i386",
        machine: Cow::Borrowed("q35"),
        cpu: Cow::Borrowed("max"),
        memory_mb: 1024,
        skip_waits: true,
        console: "ttyS0",
        finds_console: false,
        uefi: None,
        kernel: Some("linux-image-686-pae"),
        uboot: None,
    },
    Machine {
        arch: Arch::Arm64,
        debian: "arm64",
        packages: "arm64",
        program: "qemu-system-aarch64",
        machine: Cow::Borrowed("virt"),
        cpu: Cow::Borrowed("cortex-a57"),
        memory_mb: 1024,
        skip_waits: true,
        console: "ttyAMA0",
        finds_console: true,
        uefi: Some([
            "package:qemu-efi-aarch64/usr/share/AAVMF/AAVMF_CODE.fd",
            "package:qemu-efi-aarch64/usr/share/AAVMF/AAVMF_VARS.fd",
        ]),
        kernel: Some("linux-image-arm64"),
        uboot: Some((
            "package:u-boot-qemu/usr/lib/u-boot/qemu_arm64/u-boot.bin",
            false,
        )),
    },
    Machine {
        arch: Arch::Arm,
        debian: "armhf",
        packages: "armhf",
        program: "qemu-system-arm",
        machine: Cow::Borrowed("virt"),
        cpu: Cow::Borrowed("cortex-a15"),
        memory_mb: 512,
        skip_waits: true,
        console: "ttyAMA0",
        finds_console: true,
        uefi: None,
        kernel: Some("linux-image-armmp"),
        uboot: Some((
            "package:u-boot-qemu/usr/lib/u-boot/qemu_arm/u-boot.bin",
            false,
        )),
    },
    Machine {
        arch: Arch::Riscv,
        debian: "riscv64",
        packages: "amd64",
        program: "qemu-system-riscv64",
        machine: Cow::Borrowed("virt"),
        cpu: Cow::Borrowed("rv64"),
        memory_mb: 1024,
        skip_waits: false,
        console: "ttyS0",
        finds_console: true,
        uefi: None,
        kernel: None,
        uboot: Some((
            "package:u-boot-qemu/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin",
            true,
        )),
    },
];
