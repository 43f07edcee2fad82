//! The moments that every boot passes and that phases are cut at.

use serde::{Deserialize, Serialize};

/// A moment with a meaning, whatever evidence it was seen in.
///
/// Ordered as a boot passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Milestone {
    /// The machine starts executing: zero of the virtual clock, or the power
    /// switch of a board.
    PowerOn,
    /// The firmware hands over to the boot loader.
    FirmwareDone,
    /// The boot loader's first sign of life (its banner).
    BootloaderStart,
    /// The boot loader says that it hands over (`Starting kernel ...`).
    BootloaderHandover,
    /// The first instruction of the kernel image, seen by the probe; the image
    /// may have to unpack itself.
    KernelImage,
    /// The first instruction in the kernel's half of the address space, seen
    /// by the probe.
    KernelEntry,
    /// Zero of the kernel's log clock.
    KernelClockStart,
    /// The kernel says that it runs the first program (`Run /init ...`).
    InitStart,
    /// The first system call of user space, seen by the probe.
    UserEntry,
    /// The initramfs hands over to the real root filesystem.
    SwitchRoot,
    /// The service manager of the real root filesystem starts: what systemd calls the
    /// beginning of user space, however long an initramfs without systemd ran before.
    ManagerStart,
    /// The service manager says that all it was to start is started
    /// (`Startup finished in …`, Android's `boot_progress_enable_screen`).
    StartupFinished,
    /// Somebody can log in (`board login:`).
    LoginPrompt,
    /// The application was started (a pattern of the target says so).
    ApplicationStart,
    /// The target's ready pattern: the application can serve its user.
    Ready,
}

impl Milestone {
    /// The words that people see.
    pub fn text(self) -> &'static str {
        match self {
            Milestone::PowerOn => "power on",
            Milestone::FirmwareDone => "firmware hands over",
            Milestone::BootloaderStart => "boot loader starts",
            Milestone::BootloaderHandover => "boot loader hands over",
            Milestone::KernelImage => "kernel image starts",
            Milestone::KernelEntry => "kernel starts",
            Milestone::KernelClockStart => "kernel clock starts",
            Milestone::InitStart => "kernel runs init",
            Milestone::UserEntry => "user space starts",
            Milestone::SwitchRoot => "root filesystem takes over",
            Milestone::ManagerStart => "service manager starts",
            Milestone::StartupFinished => "startup finished",
            Milestone::LoginPrompt => "login prompt",
            Milestone::ApplicationStart => "application starts",
            Milestone::Ready => "ready",
        }
    }
}
