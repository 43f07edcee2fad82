//! What runs before the boot loader: firmware of PCs, boards and machines
//! that do not exist.

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
    &COREBOOT_LOG,
    &DEBUG_BUILD,
    &CPU_CLOCK,
    &MEMORY_TRAINING,
    &HDMI,
    &BOOT_ORDER,
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
    /// time.
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
    let end = before_kernel_ns(boot)?[1];
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

rule! {
    /// coreboot prints debug messages.
    ///
    /// **Why.** Each character on the serial console costs ten bit times.
    ///
    /// **Evidence.** Lines of the levels `[DEBUG]` and `[SPEW ]` before the kernel; the
    /// saving is a prediction for a board. From 1 kB on.
    ///
    /// **Fix.** `CONFIG_DEFAULT_CONSOLE_LOGLEVEL=4` or less, or the option `debug_level`
    /// in CMOS; `cbmem -c` shows the messages all the same.
    ///
    /// **Risk.** A board that hangs early says less about where.
    ///
    /// **Figures.** None but the arithmetic: 60 kB are 5.2 s at 115 200 baud.
    COREBOOT_LOG = "firmware-coreboot-loglevel", Firmware, coreboot_log
}

fn coreboot_log(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let detail = stage(&lines, |t| begins(t, &["[DEBUG]", "[SPEW ]"]))?;
    let length = |e: &bootlap_model::Evidence| e.end.saturating_sub(e.start);
    let bytes = detail
        .seen
        .iter()
        .map(length)
        .fold(0_u64, u64::saturating_add);
    let finding = detail
        .found("coreboot prints debug messages on the serial console")
        .why(format!("{} lines, {bytes} bytes", detail.seen.len()))
        .saves_on_board(
            boot.on_the_line_ns(bytes),
            format!("{bytes} bytes at {} baud, ten bits each", boot.baud()),
        )
        .fix("build with CONFIG_DEFAULT_CONSOLE_LOGLEVEL=4 or less; `cbmem -c` still shows all");
    (bytes >= 1000).then_some(finding)
}

rule! {
    /// Trusted Firmware is a debug build.
    ///
    /// **Why.** A debug build is not optimised, asserts, and prints more on the serial
    /// console.
    ///
    /// **Evidence.** `NOTICE:  BL31: v2.8(debug):…` (or BL1, BL2).
    ///
    /// **Fix.** Build with `DEBUG=0`, and `LOG_LEVEL=20` or less.
    ///
    /// **Risk.** Fewer messages when it fails.
    ///
    /// **Figures.** None is published.
    DEBUG_BUILD = "firmware-tfa-debug", Firmware, debug_build
}

fn debug_build(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let is_debug =
        |t: &str| begins(t, &["NOTICE:", "INFO:"]) && t.contains("BL") && t.contains("(debug):");
    let banners = stage(&lines, is_debug)?;
    let finding = banners
        .found("Trusted Firmware is a debug build")
        .why("its banner says `(debug)`")
        .saves_unknown("it depends on how much it prints and checks; build it once without")
        .fix("build Trusted Firmware-A with DEBUG=0 and LOG_LEVEL=20 or less");
    Some(finding)
}

rule! {
    /// The CPU starts below its clock.
    ///
    /// **Why.** Everything up to the kernel's frequency driver runs at the clock that the
    /// boot loader set.
    ///
    /// **Evidence.** U-Boot's `CPU:   i.MX6Q rev1.5 996 MHz (running at 792 MHz)`.
    ///
    /// **Fix.** Raise voltage and PLL in SPL or U-Boot; in the kernel,
    /// `CONFIG_CPU_FREQ_DEFAULT_GOV_PERFORMANCE=y`.
    ///
    /// **Risk.** Voltage first, then clock: a board that skips this is not stable.
    ///
    /// **Figures.** A Raspberry Pi with powersave governor: 35.7 to 11.4 s by
    /// `initial_turbo` (DietPi).
    CPU_CLOCK = "firmware-cpu-clock", Firmware, cpu_clock
}

fn cpu_clock(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let line = lines
        .iter()
        .find(|l| l.text.starts_with("CPU:") && l.text.contains("(running at "))?;
    let (rated, now) = line.text.split_once("(running at ")?;
    let now: u32 = now.split_whitespace().next()?.parse().ok()?;
    let rated = rated.trim_end().strip_suffix("MHz")?;
    let rated: u32 = rated.split_whitespace().next_back()?.parse().ok()?;
    let finding = Finding::new("the CPU starts below its clock")
        .why(format!(
            "it is a CPU for {rated} MHz, and runs at {now} MHz"
        ))
        .saves_unknown("at most that ratio of what is computed before the kernel's cpufreq driver")
        .fix("raise voltage and clock in the boot loader, or use the performance governor early")
        .at(Some(line.at()))
        .seen([line.evidence]);
    (now < rated).then_some(finding)
}

rule! {
    /// Memory is trained at each boot.
    ///
    /// **Why.** The training of DDR memory finds nearly the same values at each boot; some
    /// controllers can keep them.
    ///
    /// **Evidence.** NXP's SPL: from `DDRINFO: start DRAM init` to
    /// `DDRINFO: ddrmix config done`, from 100 ms on.
    ///
    /// **Fix.** Train fewer frequencies; store the result (quick boot, where the SoC has
    /// it).
    ///
    /// **Risk.** Values that do not fit another temperature or chip: qualify it per part.
    ///
    /// **Figures.** None is published for this.
    MEMORY_TRAINING = "firmware-dram-training", Firmware, memory_training
}

fn memory_training(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let step = |t: &str, what| t.starts_with("DDRINFO:") && t.contains(what);
    let training = until(
        &lines,
        |t| step(t, "start DRAM init"),
        |t| step(t, "ddrmix config done"),
    )?;
    let finding = training
        .found("memory is trained at each boot")
        .why(format!("SPL takes {} ms for it", training.ms()))
        .saves_unknown("it depends on what the controller can keep from boot to boot")
        .fix("train fewer frequencies, or store the result where the SoC supports quick boot");
    (training.ns >= 100_000_000).then_some(finding)
}

rule! {
    /// The Raspberry Pi's firmware waits for a display's EDID.
    ///
    /// **Why.** With no display, or one that does not answer, the firmware asks again and
    /// again.
    ///
    /// **Evidence.** `HDMI0:EDID error reading EDID block 0 attempt 0` up to
    /// `…giving up on reading EDID block 0`, with `uart_2ndstage=1`.
    ///
    /// **Fix.** In `config.txt`: `hdmi_ignore_edid=0xa5000080` and a fixed mode, or
    /// `hdmi_ignore_hotplug=1` without a display.
    ///
    /// **Risk.** A display that is plugged in later gets a mode that it may not have.
    ///
    /// **Figures.** None is published for this; 1 s for `boot_delay=0` (RPi 4, DietPi).
    HDMI = "firmware-rpi-edid", Firmware, hdmi
}

fn hdmi(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let asks = |t: &str| t.contains(":EDID error reading EDID block");
    let wait = until(&lines, asks, |t| {
        t.contains(":EDID giving up on reading EDID block")
    })?;
    let finding = wait
        .found("the Raspberry Pi's firmware waits for a display's EDID")
        .why(format!("it gives up after {} ms", wait.ms()))
        .saves(wait.ns, "from the first error to giving up")
        .fix("set `hdmi_ignore_edid=0xa5000080` and a fixed mode, or `hdmi_ignore_hotplug=1`");
    Some(finding)
}

rule! {
    /// The Raspberry Pi tries other boot devices first.
    ///
    /// **Why.** `BOOT_ORDER` in the EEPROM is tried from its last digit on; network and
    /// USB wait for time-outs.
    ///
    /// **Evidence.** More than one `Boot mode: SD (01) order f4` with different modes: the
    /// time from the first to the last.
    ///
    /// **Fix.** `rpi-eeprom-config --edit`: put what the product boots from in the last
    /// digit of `BOOT_ORDER`.
    ///
    /// **Risk.** Rescue media then come second.
    ///
    /// **Figures.** None is published; about 1 s comes from a new EEPROM (RPi 5, NVMe).
    BOOT_ORDER = "firmware-rpi-boot-order", Firmware, boot_order
}

fn boot_order(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let modes: Vec<_> = lines
        .iter()
        .filter(|l| l.text.contains("Boot mode: "))
        .collect();
    let [first, .., last] = modes.as_slice() else {
        return None;
    };
    let mode = |t: &str| {
        t.split_once("Boot mode: ")
            .and_then(|(_, m)| Some(m.split_once(' ')?.0.to_owned()))
    };
    if mode(first.text) == mode(last.text) {
        return None;
    }
    let ns = last.start_ns.saturating_sub(first.start_ns);
    let finding = Finding::new("the Raspberry Pi tries other boot devices first")
        .why(format!("{} attempts; the last one works", modes.len()))
        .saves(ns, "from the first attempt to the last")
        .fix("`rpi-eeprom-config --edit`: the last digit of BOOT_ORDER is tried first")
        .at(Some([first.start_ns, last.start_ns]))
        .seen(modes.iter().map(|l| l.evidence));
    Some(finding)
}
