//! A picture for the screen, as `bootlap-agent splash` shows and captures it:
//! pixels as the screen stores them, packed only as far as unpacking them is no
//! slower than reading more of them. `agent/src/splash/splash_format.h` defines it.

mod encode;
mod file;
mod unpack;

pub use file::{is_splash, read, write};

/// No picture has more pixels in either direction; the agent's limit.
pub const MOST: u32 = 16384;

/// No picture has more pixels: those of an 8K screen. What a small hostile file says of its size
/// is not worth more memory.
pub const MOST_PIXELS: u64 = 1 << 25;

/// All frames of an animation together have no more pixels: 64 times a full HD screen's. As raw
/// ones they are half a GiB, which is also what reading a small hostile file costs at most.
const MOST_FRAME_PIXELS: u64 = 1 << 27;

/// A row is no longer than this, and a band of LZ4 neither, in bytes.
const BAND: usize = 1 << 16;

/// How a screen stores a pixel; little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Blue, green, red, and a byte that nobody reads.
    Xrgb8888,
    /// 5 bits of red, 6 of green, 5 of blue.
    Rgb565,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 2] = [Format::Xrgb8888, Format::Rgb565];

    /// As it is typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Format::Xrgb8888 => "xrgb8888",
            Format::Rgb565 => "rgb565",
        }
    }

    /// Bytes of a pixel.
    pub fn bytes(self) -> usize {
        match self {
            Format::Xrgb8888 => 4,
            Format::Rgb565 => 2,
        }
    }

    /// DRM's name for it.
    fn fourcc(self) -> [u8; 4] {
        *match self {
            Format::Xrgb8888 => b"XR24",
            Format::Rgb565 => b"RG16",
        }
    }
}

/// How pixels are packed in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Not at all.
    Raw,
    /// Runs of equal pixels and equal rows.
    Rle,
    /// LZ4 blocks of at most 64 KiB each.
    Lz4,
}

impl Encoding {
    /// All of them, by their number in the file.
    pub const ALL: [Encoding; 3] = [Encoding::Raw, Encoding::Rle, Encoding::Lz4];

    /// As it is typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Raw => "raw",
            Encoding::Rle => "rle",
            Encoding::Lz4 => "lz4",
        }
    }

    fn number(self) -> u8 {
        self as u8
    }
}

/// What a file for the agent holds, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splash {
    /// How its pixels are stored.
    pub format: Format,
    /// In pixels.
    pub width: u16,
    /// In pixels.
    pub height: u16,
    /// Row by row from the top, without padding.
    pub pixels: Vec<u8>,
    /// What an animation draws over it, one after the other and over again.
    pub frames: Vec<Frame>,
}

/// A step of an animation: a rectangle of new pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Of its left edge, in the picture.
    pub x: u16,
    /// Of its upper edge, in the picture.
    pub y: u16,
    /// In pixels.
    pub width: u16,
    /// In pixels.
    pub height: u16,
    /// How long it is seen.
    pub ms: u16,
    /// As the splash's.
    pub pixels: Vec<u8>,
}

/// Why a picture cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SplashError {
    /// Neither a PNG nor bootlap's.
    #[error("it is no PNG ({0}); convert it to one")]
    NotPng(String),
    /// Not the agent's format.
    #[error("it is no picture for the agent; `bootlap splash` makes one of a PNG")]
    NotSplash,
    /// The file does not fit what it says of itself.
    #[error("it is damaged: {0}; make or capture it again")]
    Damaged(&'static str),
    /// Larger than any screen.
    #[error(
        "{width} x {height} pixels are more than a screen has ({MOST} in a direction, an 8K screen's \
         in all); scale it down"
    )]
    TooLarge {
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
    },
    /// Pictures of an animation have one size.
    #[error("picture {number} is {found}, the first one {wanted}; make them equal")]
    Sizes {
        /// From 1.
        number: usize,
        /// Its size.
        found: String,
        /// The first one's.
        wanted: String,
    },
    /// The file's lengths are 32 bits.
    #[error("the file would be longer than 4 GiB; use fewer or smaller frames")]
    TooLong,
    /// More than a file of pixels is worth.
    #[error(
        "all frames together have more pixels than 64 screens of 1920 x 1080; use fewer or smaller \
         frames"
    )]
    FramesTooLarge,
    /// More than the agent takes.
    #[error("{0} frames are more than 1024; leave some out")]
    TooManyFrames(usize),
    /// A library's complaint.
    #[error("cannot write the picture: {0}")]
    Write(String),
}

/// Whether a picture of this size may exist.
///
/// # Errors
/// If no screen is so large.
pub fn check_size(width: u32, height: u32) -> Result<(), SplashError> {
    let fits = |n| (1..=MOST).contains(&n);
    match fits(width) && fits(height) && u64::from(width) * u64::from(height) <= MOST_PIXELS {
        true => Ok(()),
        false => Err(SplashError::TooLarge { width, height }),
    }
}
