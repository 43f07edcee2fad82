//! The colours of a chart, on light and on dark pages.

use std::fmt::Write;
use std::sync::LazyLock;

use bootlap_analysis::PhaseName;

/// What something is, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Paper,
    /// Letters.
    Text,
    /// What may be skipped.
    Faint,
    /// Lines behind the bars.
    Grid,
    /// A moment.
    Flag,
    /// From a moment down through the rows.
    Mast,
    /// From a parent to its child.
    Branch,
    /// An ordinary bar.
    Bar,
    /// A bar of something that merely stays there.
    Open,
    /// What the end of the boot waited for.
    Path,
    /// What failed.
    Bad,
    /// All that has no bar of its own.
    Rest,
    CpuUser,
    CpuSystem,
    CpuWait,
    DiskRead,
    DiskWrite,
    Phase(PhaseName),
}

const ALL: [Ink; 23] = [
    Ink::Paper,
    Ink::Text,
    Ink::Faint,
    Ink::Grid,
    Ink::Flag,
    Ink::Mast,
    Ink::Branch,
    Ink::Bar,
    Ink::Open,
    Ink::Path,
    Ink::Bad,
    Ink::Rest,
    Ink::CpuUser,
    Ink::CpuSystem,
    Ink::CpuWait,
    Ink::DiskRead,
    Ink::DiskWrite,
    Ink::Phase(PhaseName::Firmware),
    Ink::Phase(PhaseName::Bootloader),
    Ink::Phase(PhaseName::Kernel),
    Ink::Phase(PhaseName::Initramfs),
    Ink::Phase(PhaseName::Userspace),
    Ink::Phase(PhaseName::Application),
];

impl Ink {
    /// Class, colour on light pages, colour on dark ones. Letters of
    /// [`Ink::Text`] can be read on all of them.
    fn look(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Ink::Paper => ("bl-paper", "#ffffff", "#0d1117"),
            Ink::Text => ("bl-text", "#1f2328", "#e6edf3"),
            Ink::Faint => ("bl-faint", "#59636e", "#9198a1"),
            Ink::Grid => ("bl-grid", "#e4e7eb", "#262c36"),
            Ink::Flag => ("bl-flag", "#9a6700", "#bb8009"),
            Ink::Mast => ("bl-mast", "#f3dfa9", "#4a3a12"),
            Ink::Branch => ("bl-branch", "#c3ccd6", "#465160"),
            Ink::Bar => ("bl-bar", "#79aee8", "#2f5f9e"),
            Ink::Open => ("bl-open", "#d3dce6", "#343c47"),
            Ink::Path => ("bl-path", "#f0954d", "#a8561c"),
            Ink::Bad => ("bl-bad", "#e5736b", "#a3352f"),
            Ink::Rest => ("bl-rest", "#a9c7ec", "#38587f"),
            Ink::CpuUser => ("bl-user", "#6fa3dc", "#3a6ea8"),
            Ink::CpuSystem => ("bl-system", "#b99ad6", "#6d4d8f"),
            Ink::CpuWait => ("bl-wait", "#efb0a8", "#8a443c"),
            Ink::DiskRead => ("bl-read", "#7fc4a8", "#2f7a5c"),
            Ink::DiskWrite => ("bl-write", "#e8c46a", "#8a6a1c"),
            Ink::Phase(PhaseName::Firmware) => ("bl-firmware", "#c3c8ce", "#4b535d"),
            Ink::Phase(PhaseName::Bootloader) => ("bl-loader", "#eebc72", "#8a5a12"),
            Ink::Phase(PhaseName::Kernel) => ("bl-kernel", "#93bdec", "#2c5a96"),
            Ink::Phase(PhaseName::Initramfs) => ("bl-initramfs", "#cba6dc", "#6f4488"),
            Ink::Phase(PhaseName::Userspace) => ("bl-user-space", "#8ccfb4", "#226b50"),
            Ink::Phase(PhaseName::Application) => ("bl-application", "#eea2bb", "#8f3a58"),
        }
    }

    pub(super) fn class(self) -> &'static str {
        self.look().0
    }

    pub(super) fn light(self) -> &'static str {
        self.look().1
    }
}

/// The style sheet. LibreOffice's reader does not know `@media` and takes all
/// rules in it but the first for ordinary ones, so there is only one, which
/// sets variables; and it ignores rules that use them, so that the colours of
/// the attributes stay.
pub(super) static STYLE: LazyLock<String> = LazyLock::new(|| {
    let (mut rules, mut dark) = (String::new(), String::new());
    for ink in ALL {
        let (class, light, night) = ink.look();
        let _ = write!(rules, ".{class}{{fill:var(--{class},{light})}}");
        let _ = write!(dark, "--{class}:{night};");
    }
    format!(
        "{rules}tspan{{unicode-bidi:isolate}}@media (prefers-color-scheme:dark){{svg{{{dark}}}}}"
    )
});
