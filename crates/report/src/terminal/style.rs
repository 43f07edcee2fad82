//! How text may look, and the inks it is written in.

use bootlap_analysis::phase::PhaseName;

/// What the place that shows the text can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns; what is outside 40 to 200 is treated as the nearest of them.
    pub width: usize,
    /// Whether ANSI colours are understood.
    pub color: bool,
    /// Whether more than ASCII can be shown.
    pub unicode: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            width: 80,
            color: false,
            unicode: true,
        }
    }
}

impl Style {
    /// Plain text of so many columns.
    pub fn wide(width: usize) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    /// The narrowest and the widest page that is laid out.
    const WIDTHS: (usize, usize) = (40, 200);

    /// The columns to lay out for.
    pub(crate) fn columns(&self) -> usize {
        self.width.clamp(Self::WIDTHS.0, Self::WIDTHS.1)
    }
}

/// What a piece of text is, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Ordinary text.
    Plain,
    /// Headlines and the numbers that matter.
    Strong,
    /// What may be skipped.
    Faint,
    /// Shorter boots, and what makes them.
    Good,
    /// Longer boots.
    Bad,
    /// What needs a second look.
    Warn,
    /// A command to type.
    Command,
    /// A phase's own colour.
    Phase(PhaseName),
    /// A part of a phase, in a quieter form of its colour.
    Part(PhaseName),
}

impl Ink {
    /// The parameters of its SGR sequence; `None` leaves the text as it is.
    ///
    /// Phases are from the 256-colour cube, chosen to be told apart on dark
    /// and on light backgrounds and by people who do not see red from green.
    pub(crate) fn sgr(self) -> Option<&'static str> {
        Some(match self {
            Ink::Plain => return None,
            Ink::Strong => "1",
            Ink::Faint => "2",
            Ink::Good => "32",
            Ink::Bad => "31",
            Ink::Warn => "33",
            Ink::Command => "36",
            Ink::Phase(PhaseName::Firmware) => "38;5;245",
            Ink::Phase(PhaseName::Bootloader) => "38;5;172",
            Ink::Phase(PhaseName::Kernel) => "38;5;68",
            Ink::Phase(PhaseName::Initramfs) => "38;5;133",
            Ink::Phase(PhaseName::Userspace) => "38;5;36",
            Ink::Phase(PhaseName::Application) => "38;5;168",
            Ink::Part(PhaseName::Firmware) => "2;38;5;245",
            Ink::Part(PhaseName::Bootloader) => "2;38;5;172",
            Ink::Part(PhaseName::Kernel) => "2;38;5;68",
            Ink::Part(PhaseName::Initramfs) => "2;38;5;133",
            Ink::Part(PhaseName::Userspace) => "2;38;5;36",
            Ink::Part(PhaseName::Application) => "2;38;5;168",
        })
    }
}

/// Replaces each character that is not ASCII by one as wide: columns stay
/// aligned, and text from evidence becomes `?`.
pub(crate) fn to_ascii(c: char) -> char {
    match c {
        '\0'..='\x7f' => c,
        'µ' => 'u',
        '×' => 'x',
        '→' => '>',
        '−' | '–' | '—' | '─' | '·' => '-',
        '…' => '~',
        '█' | '▉' | '▊' | '▋' | '▌' | '▐' => '#',
        '▓' | '▒' => '+',
        '░' => '.',
        '━' | '╸' | '╺' => '=',
        '▍' | '▎' | '▏' | '│' => '|',
        '✓' => '+',
        _ => '?',
    }
}
