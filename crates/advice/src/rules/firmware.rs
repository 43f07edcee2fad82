//! What runs before the boot loader on PCs and on machines that do not exist.

use bootlap_model::{Milestone, TimeKind, TrackKind};

use super::checks;
use super::seen::ms;
use super::stages::{before_kernel, stage, until};
use crate::boot::Found;
use crate::lines::Begin;
use crate::{Boot, Finding};

checks! {
    "firmware-boot-menu" => boot_menu,
    "firmware-option-rom" => option_rom,
    "firmware-network-first" => network_first,
    "firmware-slow" => slow_firmware,
    "firmware-stage" => long_stages,
    "firmware-kexec" => kexec,
    "firmware-uefi-vm" => virtual_uefi,
    "bootloader-none" => no_loader,
}

/// From here on a stage is worth a look, ns.
const LONG_STAGE_NS: i64 = 500_000_000;

/// From here on U-Boot waits for a key, and then for what it is told.
const U_BOOTS_LOOP: &str = "main_loop";

/// How many of them one boot is told of.
const AT_MOST: usize = 3;

/// Tables of timestamps say where firmware spends its time: coreboot and FSP, hostboot,
/// Slim Bootloader, U-Boot's bootstage.
fn long_stages(boot: &Boot<'_>) -> Vec<Finding> {
    const TABLES: [&str; 4] = ["cbmem", "firmware-log", "slimboot", "bootstage"];
    let mut stages = boot.spans_of(TrackKind::Firmware);
    stages.extend(boot.spans_of(TrackKind::Bootloader));
    stages.retain(|s| {
        let source = &boot.timeline().file(s.span.evidence.file).source;
        // A console can have bootstage's report in it.
        let is_row = TABLES.contains(&source.as_str()) || s.arg("from").is_some();
        // `coreboot stages` are sums of the same rows.
        is_row && s.track() != "coreboot stages"
    });
    // What ran before a log of lines is not seen at all, and may not be the firmware's.
    stages.retain(|s| s.ns() >= LONG_STAGE_NS && s.track() != "before the log");
    stages.sort_by_key(|s| std::cmp::Reverse(s.ns()));
    stages.truncate(AT_MOST);
    let finding = |stage: &Found<'_>| {
        let it_takes = format!("it takes {}", ms(stage.ns()));
        let found = match stage.name().starts_with(U_BOOTS_LOOP) {
            true => Finding::new()
                .why(format!(
                    "{it_takes}: U-Boot's countdown, what somebody types at its prompt, and what \
                     its commands do"
                ))
                .fix("set `bootdelay=-2`, and measure a boot in which nobody types"),
            false => Finding::new().why(it_takes),
        };
        found
            .titled(format!("`{}` takes long", stage.name()))
            .saves(
                stage.ns(),
                "at most: all of that stage, which does some work that is needed",
            )
            .at(Some(stage.at()))
            .seen([stage.span.evidence])
    };
    stages.iter().map(finding).collect()
}

fn boot_menu(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let of_menu = |t: &str| t.to_ascii_lowercase().contains("boot menu");
    let wait = stage(lines, (Begin("Press "), of_menu))?;
    Some(
        wait.found()
            .why(format!("that line stands for {} ms", wait.ms()))
            .saves(wait.ns, "from that line to the next"),
    )
}

fn option_rom(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let loads = ["Next server:", "Filename: ", "http://10.", "... ok"];
    if lines.has(loads) {
        return None;
    }
    let rom = stage(lines, "iPXE")?;
    Some(
        rom.found()
            .why(format!("its lines take {} ms", rom.ms()))
            .saves(rom.ns, "these lines, each until the next"),
    )
}

fn network_first(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let came = lines.has("NBP file downloaded successfully");
    let starts = Begin([">>Start PXE over", ">>Start HTTP Boot over"]);
    let tries = until(lines, starts, Begin("BdsDxe: loading Boot"));
    let tries = tries.filter(|_| !came)?;
    Some(
        tries
            .found()
            .why(format!("it gives up after {} ms", tries.ms()))
            .saves(
                tries.ns,
                "from the first attempt to the entry that is loaded",
            ),
    )
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

fn slow_firmware(boot: &Boot<'_>) -> Option<Finding> {
    let (ns, at) = firmware_ns(boot).filter(|(ns, _)| *ns > SLOW_NS)?;
    Some(
        Finding::new()
            .why(format!(
                "{} ms from power-on to the boot loader",
                ns / 1_000_000
            ))
            .saves_unknown("it depends on what its setup lets you switch off")
            .at(Some(at)),
    )
}

fn kexec(boot: &Boot<'_>) -> Option<Finding> {
    let (ns, at) = firmware_ns(boot).filter(|(ns, _)| *ns > SLOW_NS)?;
    let loader = boot.moment(&[Milestone::KernelClockStart, Milestone::KernelEntry]);
    let all_ns = loader.map_or(ns, |k| k.saturating_sub(at[0]));
    Some(
        Finding::new()
            .why(format!("{} ms pass before the kernel", all_ns / 1_000_000))
            .saves_unknown(
                "a restart saves firmware and boot loader; a start from power-off nothing",
            )
            .at(Some(at)),
    )
}

/// Whether the machine is a virtual one, by what its kernel prints.
pub(super) fn is_virtual(boot: &Boot<'_>) -> bool {
    let says = [
        "DMI: QEMU",
        "Hypervisor detected: ",
        "Machine model: linux,dummy-virt",
        "DMI: Amazon EC2",
        "DMI: Google Google Compute Engine",
    ];
    boot.lines().has(says)
}

/// From power-on (or the boot loader's first sign) to the kernel's image, which may have to
/// unpack itself; where nobody saw it, to the kernel.
fn before_kernel_ns(boot: &Boot<'_>) -> Option<[i64; 2]> {
    let begin = boot.moment(&[Milestone::PowerOn, Milestone::BootloaderStart])?;
    let end = match boot.moment(&[Milestone::KernelImage]) {
        Some(image) => image,
        None => boot.moment(&[Milestone::KernelEntry, Milestone::BootloaderHandover])?,
    };
    (end > begin).then_some([begin, end])
}

fn virtual_uefi(boot: &Boot<'_>) -> Option<Finding> {
    let line = boot.line(Begin("efi: EFI v"))?;
    // Who rents a machine cannot choose how it is started.
    let is_own = [
        "DMI: QEMU",
        "DMI: Red Hat KVM",
        "Machine model: linux,dummy-virt",
    ];
    if !boot.lines().has(is_own) {
        return None;
    }
    let finding = Finding::new()
        .why("the kernel was started by UEFI, and the machine is a virtual one")
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

fn no_loader(boot: &Boot<'_>) -> Option<Finding> {
    let recipe = boot.recipe("bootloader-none");
    if recipe.is_err() && !is_virtual(boot) || boot.line("efi: EFI v").is_some() {
        return None;
    }
    let begin = boot.moment(&[Milestone::BootloaderStart])?;
    let end = before_kernel_ns(boot)?[1];
    let ns = end.saturating_sub(begin);
    // In a board's time the images are read all the same, and are larger unpacked.
    let basis = match boot.timeline().time() {
        TimeKind::Modelled => {
            "at most: all of the boot loader; reading the images without it takes its time, too"
        }
        _ => "all of the boot loader; the machine loads the images before it starts",
    };
    Some(
        Finding::new()
            .why(format!("the boot loader takes {} ms", ns / 1_000_000))
            .saves(ns, basis)
            .recipe(recipe)
            .at(Some([begin, end])),
    )
}
