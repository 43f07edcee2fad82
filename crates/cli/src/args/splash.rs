//! `bootlap splash`.

use std::path::PathBuf;

use bootlap_rootfs::splash::{Encoding, Format};
use clap::Args as ClapArgs;

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap splash logo.png --size 1024x768 --background 203040 -o logo.splash
  bootlap splash logo.png spin1.png spin2.png --delay-ms 80 --format rgb565 -o logo.splash
  bootlap splash --info captured.splash
  bootlap splash captured.splash -o captured.png")]
pub(crate) struct Splash {
    /// A PNG, or a file from `bootlap-agent splash capture`. Several pictures of
    /// one size make an animation.
    #[arg(required = true, value_name = "PICTURE")]
    pub(crate) pictures: Vec<PathBuf>,
    /// The file to write: .png for people, anything else for the agent.
    #[arg(
        short,
        long,
        value_name = "FILE",
        required_unless_present = "info",
        conflicts_with = "info"
    )]
    pub(crate) out: Option<PathBuf>,
    /// Show what the files contain.
    #[arg(long, conflicts_with_all = ["size", "format", "encoding", "background", "dither",
                                      "delay_ms", "storage_kb_s"])]
    pub(crate) info: bool,
    /// Fill a screen of this size and centre the picture [default: only the picture].
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub(crate) size: Option<(u32, u32)>,
    /// The screen's pixels: xrgb8888 or rgb565 [default: the captured ones', or xrgb8888].
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub(crate) format: Option<Format>,
    /// raw, rle, lz4, or auto for the one that appears first.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = encoding)]
    pub(crate) encoding: Chosen,
    /// The colour around the picture and behind transparent pixels.
    #[arg(long, value_name = "RRGGBB", default_value = "000000", value_parser = colour)]
    pub(crate) background: [u8; 3],
    /// Mix colours that rgb565 lacks; compresses badly.
    #[arg(long)]
    pub(crate) dither: bool,
    /// How long each picture of an animation stays [default: as in the animation, or 100].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u16).range(10..))]
    pub(crate) delay_ms: Option<u16>,
    /// Speed of the boot's storage in kB/s, for auto.
    #[arg(long, value_name = "KB", default_value_t = 20_000,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) storage_kb_s: u32,
}

/// An encoding, or none for auto.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen(pub(crate) Option<Encoding>);

fn size(text: &str) -> Result<(u32, u32), String> {
    let pair = text.split_once('x');
    let numbers = pair.and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    numbers.ok_or_else(|| "write width and height in pixels, such as 1024x768".to_owned())
}

fn format(text: &str) -> Result<Format, String> {
    let named = Format::ALL.into_iter().find(|f| f.name() == text);
    named.ok_or_else(|| "use xrgb8888 or rgb565".to_owned())
}

fn encoding(text: &str) -> Result<Chosen, String> {
    let named = Encoding::ALL.into_iter().find(|e| e.name() == text);
    match (named, text) {
        (Some(named), _) => Ok(Chosen(Some(named))),
        (None, "auto") => Ok(Chosen(None)),
        (None, _) => Err("use auto, raw, rle or lz4".to_owned()),
    }
}

fn colour(text: &str) -> Result<[u8; 3], String> {
    let hex = text.strip_prefix('#').unwrap_or(text);
    let number = u32::from_str_radix(hex, 16).ok();
    match number.filter(|_| hex.len() == 6 && !hex.starts_with('+')) {
        Some(n) => Ok([(n >> 16) as u8, (n >> 8) as u8, n as u8]),
        None => Err("write red, green and blue in hexadecimal, such as 203040".to_owned()),
    }
}
