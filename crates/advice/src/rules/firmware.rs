//! What runs before the boot loader on PCs and on machines that do not exist.

use bootlap_model::Milestone;

use super::stages::{before_kernel, begins, contains, stage, until};
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &BOOT_MENU,
    &OPTION_ROM,
    &NETWORK_FIRST,
    &SLOW_FIRMWARE,
    &KEXEC,
    &VIRTUAL_UEFI,
    &NO_LOADER,
];

rule! {
    /// The firmware waits for somebody to open its menu.
    ///
    /// **Why.** SeaBIOS, coreboot's payloads and PC firmware offer a menu for some
    /// seconds at each boot.
    ///
    /// **Evidence.** The time of the line `Press ESC for boot menu.` (F10, F12).
    ///
    /// **Fix.** Set the wait to 0: SeaBIOS `etc/boot-menu-wait`, QEMU
    /// `-boot menu=off`, coreboot's runtime options, the firmware's setup.
    ///
    /// **Risk.** Other media are harder to choose; one report says that PXE then
    /// failed.
    ///
    /// **Figures.** 6 to 2 s (PC Engines apu2, coreboot).
    BOOT_MENU = "firmware-boot-menu", Firmware, boot_menu
}

fn boot_menu(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let offers = |t: &str| t.starts_with("Press ") && t.to_ascii_lowercase().contains("boot menu");
    let wait = stage(&lines, offers)?;
    let finding = wait
        .found("the firmware waits for somebody to open its menu")
        .why(format!("that line stands for {} ms", wait.ms()))
        .saves(wait.ns, "from that line to the next")
        .fix("set the menu's wait to 0 (SeaBIOS: `etc/boot-menu-wait`; QEMU: `-boot menu=off`)");
    Some(finding)
}

rule! {
    /// The firmware runs iPXE's option ROM.
    ///
    /// **Why.** A network card's ROM is loaded, initialised and waits for Ctrl-B, also
    /// when nothing boots from the network.
    ///
    /// **Evidence.** The time of lines with `iPXE` before the kernel; nothing is said
    /// where iPXE then loads something.
    ///
    /// **Fix.** QEMU: `-device virtio-net-pci,romfile=`; on a board, switch the option
    /// ROM off in the setup.
    ///
    /// **Risk.** No network boot.
    ///
    /// **Figures.** None is published.
    OPTION_ROM = "firmware-option-rom", Firmware, option_rom
}

fn option_rom(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let loads = ["Next server:", "Filename: ", "http://10.", "... ok"];
    if lines.iter().any(|l| contains(l.text, &loads)) {
        return None;
    }
    let rom = stage(&lines, |t| t.contains("iPXE"))?;
    let finding = rom
        .found("the firmware runs iPXE's option ROM, and nothing boots from the network")
        .why(format!("its lines take {} ms", rom.ms()))
        .saves(rom.ns, "these lines, each until the next")
        .fix("leave the ROM out (QEMU: `romfile=` of the card), or disable it in the setup");
    Some(finding)
}

rule! {
    /// UEFI firmware tries the network first.
    ///
    /// **Why.** PXE waits for DHCP answers with long time-outs before the next entry of
    /// `BootOrder` is tried.
    ///
    /// **Evidence.** `>>Start PXE over IPv4` (or HTTP), and the time from there to the
    /// entry that is loaded: `BdsDxe: loading Boot…`. Nothing is said where a boot file
    /// came.
    ///
    /// **Fix.** `efibootmgr --bootorder` with the disk first; switch the network stack
    /// off in the setup.
    ///
    /// **Risk.** No network boot as a rescue, unless it comes second.
    ///
    /// **Figures.** None is published: the time-outs of DHCP.
    NETWORK_FIRST = "firmware-network-first", Firmware, network_first
}

fn network_first(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let came = lines
        .iter()
        .any(|l| l.text.contains("NBP file downloaded successfully"));
    let starts = [">>Start PXE over", ">>Start HTTP Boot over"];
    let tries = until(
        &lines,
        |t| begins(t, &starts),
        |t| t.starts_with("BdsDxe: loading Boot"),
    );
    let tries = tries.filter(|_| !came)?;
    let finding = tries
        .found("the firmware tries to boot over the network first, in vain")
        .why(format!("it gives up after {} ms", tries.ms()))
        .saves(
            tries.ns,
            "from the first attempt to the entry that is loaded",
        )
        .fix("put the disk first: `efibootmgr --bootorder`, or switch the network stack off");
    Some(finding)
}

/// What systemd or the firmware's own table say that it took.
fn firmware_ns(boot: &Boot<'_>) -> Option<(i64, [i64; 2])> {
    let begin = boot.moment(&[Milestone::PowerOn])?;
    let end = boot.moment(&[Milestone::FirmwareDone])?;
    let ns = end.saturating_sub(begin);
    (ns > 0).then_some((ns, [begin, end]))
}

/// A PC's firmware that takes longer has something to switch off.
const SLOW_NS: i64 = 5_000_000_000;

rule! {
    /// The firmware takes more than five seconds.
    ///
    /// **Why.** Memory tests, waits for disks and keyboards, network stacks, logos: most
    /// of it can be switched off, and no change below the firmware gives it back.
    ///
    /// **Evidence.** The firmware's part by systemd (`Startup finished in … (firmware)`),
    /// ACPI's FPDT or the EFI variables of the loader.
    ///
    /// **Fix.** Fast boot on; USB, network stack and compatibility support off; as the
    /// board's maker, coreboot or Slim Bootloader instead.
    ///
    /// **Risk.** No keyboard before the system runs; harder to enter the setup.
    ///
    /// **Figures.** 31 of 50 s were firmware (ThinkPad E14); 3 s of an apu2.
    SLOW_FIRMWARE = "firmware-slow", Firmware, slow_firmware
}

fn slow_firmware(boot: &Boot<'_>) -> Option<Finding> {
    let (ns, at) = firmware_ns(boot).filter(|(ns, _)| *ns > SLOW_NS)?;
    let finding = Finding::new("the firmware takes more than five seconds")
        .why(format!(
            "{} ms from power-on to the boot loader",
            ns / 1_000_000
        ))
        .saves_unknown("it depends on what its setup lets you switch off")
        .fix("switch on fast boot; switch off network stack, USB boot and compatibility support")
        .at(Some(at));
    Some(finding)
}

rule! {
    /// Restarts go through slow firmware.
    ///
    /// **Why.** Where a machine is restarted for updates, `kexec` starts the new kernel
    /// without firmware and boot loader, and `systemctl soft-reboot` only user space.
    ///
    /// **Evidence.** Firmware of more than 5 s, as for `firmware-slow`. A cold start
    /// gains nothing, and whether restarts matter nobody can see from a boot.
    ///
    /// **Fix.** `kexec -l` and `systemctl kexec`.
    ///
    /// **Risk.** Devices are not reset; some drivers do not come back.
    ///
    /// **Figures.** 160 to 59 s until login (a server), 47 to 22 s (a desktop), 31 of
    /// 50 s (ThinkPad E14).
    KEXEC = "firmware-kexec", Firmware, kexec
}

fn kexec(boot: &Boot<'_>) -> Option<Finding> {
    let (ns, at) = firmware_ns(boot).filter(|(ns, _)| *ns > SLOW_NS)?;
    let loader = boot.moment(&[Milestone::KernelClockStart, Milestone::KernelEntry]);
    let all_ns = loader.map_or(ns, |k| k.saturating_sub(at[0]));
    let finding = Finding::new("restarts go through slow firmware, where kexec does without")
        .why(format!("{} ms pass before the kernel", all_ns / 1_000_000))
        .saves_unknown("a restart saves firmware and boot loader; a start from power-off nothing")
        .fix("restart with `kexec -l …` and `systemctl kexec`, or `systemctl soft-reboot`")
        .at(Some(at));
    Some(finding)
}

/// Whether the machine is a virtual one, by what its kernel prints.
fn is_virtual(boot: &Boot<'_>) -> bool {
    let says = [
        "DMI: QEMU",
        "Hypervisor detected: ",
        "Machine model: linux,dummy-virt",
        "DMI: Amazon EC2",
        "DMI: Google Google Compute Engine",
    ];
    boot.lines().iter().any(|l| contains(l.text, &says))
}

/// From power-on (or the boot loader's first sign) to the kernel.
fn before_kernel_ns(boot: &Boot<'_>) -> Option<[i64; 2]> {
    let begin = boot.moment(&[Milestone::PowerOn, Milestone::BootloaderStart])?;
    let end = boot.moment(&[Milestone::KernelEntry, Milestone::BootloaderHandover])?;
    (end > begin).then_some([begin, end])
}

rule! {
    /// A virtual machine boots through UEFI firmware.
    ///
    /// **Why.** OVMF initialises a PC that does not exist; a hypervisor can start the
    /// kernel itself.
    ///
    /// **Evidence.** The kernel prints `efi: EFI v…` on a machine whose DMI names QEMU, or
    /// that detects a hypervisor.
    ///
    /// **Fix.** QEMU's `-kernel` (or `microvm`); SeaBIOS where a disk must boot.
    ///
    /// **Risk.** No Secure Boot; the kernel lies outside of the disk image.
    ///
    /// **Figures.** To the kernel's entry: OVMF 1.27 s, SeaBIOS 0.39 s (Proxmox, QEMU).
    VIRTUAL_UEFI = "firmware-uefi-vm", Firmware, virtual_uefi
}

fn virtual_uefi(boot: &Boot<'_>) -> Option<Finding> {
    let line = boot
        .lines()
        .iter()
        .find(|l| l.text.starts_with("efi: EFI v"))?;
    if !is_virtual(boot) {
        return None;
    }
    let finding = Finding::new("a virtual machine boots through UEFI firmware")
        .why("the kernel was started by UEFI, and the machine is a virtual one")
        .fix("start the kernel directly (QEMU: `-kernel`, `-initrd`, `-append`), or use SeaBIOS")
        .recipe(boot.recipe("bootloader-none"))
        .seen([line.evidence]);
    Some(match before_kernel_ns(boot) {
        Some(at) => finding
            .saves(
                at[1].saturating_sub(at[0]),
                "all that was before the kernel",
            )
            .at(Some(at)),
        None => finding.saves_unknown("what is before the kernel is not in this evidence"),
    })
}

rule! {
    /// A virtual machine boots through a boot loader.
    ///
    /// **Why.** A hypervisor can put kernel and initramfs into memory itself; then no
    /// boot loader reads, checks and unpacks them.
    ///
    /// **Evidence.** The kernel says that the machine is a virtual one
    /// (`linux,dummy-virt`, QEMU's DMI), and a boot loader was seen before it: its whole
    /// time, up to where the kernel's image starts, which may have to unpack itself.
    ///
    /// **Fix.** QEMU's `-kernel`, `-initrd`, `-append`.
    ///
    /// **Risk.** What the boot loader decides (A/B, signatures) is not decided any more.
    ///
    /// **Figures.** None but this boot's own; 552 ms are what U-Boot took on a SAMA5D3
    /// after all else was done.
    NO_LOADER = "bootloader-none", Bootloader, no_loader
}

fn no_loader(boot: &Boot<'_>) -> Option<Finding> {
    let recipe = boot.recipe("bootloader-none");
    if recipe.is_err() && !is_virtual(boot) || boot.line("efi: EFI v").is_some() {
        return None;
    }
    let begin = boot.moment(&[Milestone::BootloaderStart])?;
    let end = match boot.moment(&[Milestone::KernelImage]) {
        Some(image) => image,
        None => before_kernel_ns(boot)?[1],
    };
    let ns = end.saturating_sub(begin);
    let finding = Finding::new("a virtual machine boots through a boot loader")
        .why(format!("the boot loader takes {} ms", ns / 1_000_000))
        .saves(
            ns,
            "all of the boot loader; the machine loads the images before it starts",
        )
        .fix("start the kernel directly (QEMU: `-kernel`, `-initrd`, `-append`)")
        .recipe(recipe)
        .at(Some([begin, end]));
    Some(finding)
}
