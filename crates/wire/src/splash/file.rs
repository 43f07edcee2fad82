//! The agent's format; `agent/src/splash/splash_format.h` defines it.

use super::encode::encode;
use super::unpack::unpack;
use super::{BAND, Encoding, Format, Frame, MOST_FRAME_PIXELS, Splash, SplashError, check_size};

const MAGIC: &[u8; 8] = b"bltsplh\x01";
const HEAD: usize = 36;
const SUMS_AT: usize = 28;
const FRAMES: usize = 1024;

/// Whether a file begins as one.
pub fn is_splash(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Adds up 32-bit words, and the sums; what is left behind the last whole word is not looked at.
fn add_words(mut sums: [u32; 2], bytes: &[u8]) -> [u32; 2] {
    let (words, _) = bytes.as_chunks();
    for word in words {
        sums[0] = sums[0].wrapping_add(u32::from_le_bytes(*word));
        sums[1] = sums[1].wrapping_add(sums[0]);
    }
    sums
}

fn length(n: usize) -> Result<[u8; 4], SplashError> {
    let n = u32::try_from(n).map_err(|_| SplashError::TooLong)?;
    Ok(n.to_le_bytes())
}

/// The file of a splash, all of its pixels packed in the same way.
///
/// # Errors
/// If it has more frames, or gets longer, than the format can say; or larger than a screen is.
pub fn write(splash: &Splash, encoding: Encoding) -> Result<Vec<u8>, SplashError> {
    check_size(splash.width.into(), splash.height.into())?;
    let pixel_len = splash.format.bytes();
    let pack = |pixels: &[u8], width: u16| {
        encode(encoding, pixels, usize::from(width) * pixel_len, pixel_len)
    };
    let frame_count = u16::try_from(splash.frames.len()).unwrap_or(u16::MAX);
    if splash.frames.len() > FRAMES {
        return Err(SplashError::TooManyFrames(splash.frames.len()));
    }
    let mut left = MOST_FRAME_PIXELS;
    for frame in &splash.frames {
        take_frame(&mut left, frame.width, frame.height)?;
    }
    let picture = pack(&splash.pixels, splash.width)?;
    let picture_len = picture.len();
    let mut rest = picture;
    for frame in &splash.frames {
        let packed = pack(&frame.pixels, frame.width)?;
        for number in [frame.x, frame.y, frame.width, frame.height, frame.ms] {
            rest.extend(number.to_le_bytes());
        }
        rest.extend([encoding.number(), 0]);
        rest.extend(length(packed.len())?);
        rest.extend(packed);
    }
    rest.resize(rest.len().next_multiple_of(4), 0);

    let mut out = MAGIC.to_vec();
    out.extend(splash.width.to_le_bytes());
    out.extend(splash.height.to_le_bytes());
    out.extend(splash.format.fourcc());
    out.extend([encoding.number(), 0]);
    out.extend(frame_count.to_le_bytes());
    out.extend(length(picture_len)?);
    out.extend(length(HEAD + rest.len())?);
    let mut sums = add_words([0; 2], &out);
    if encoding != Encoding::Raw {
        sums = add_words(sums, &rest);
    }
    out.extend(sums.map(u32::to_le_bytes).as_flattened());
    out.extend(rest);
    Ok(out)
}

/// Fields, one after the other.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], SplashError> {
        let cut = SplashError::Damaged("it is cut short");
        let (taken, rest) = self.0.split_at_checked(n).ok_or(cut)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SplashError> {
        let bytes = self.take(N)?.try_into();
        bytes.map_err(|_| SplashError::Damaged("it is cut short"))
    }

    fn u16(&mut self) -> Result<u16, SplashError> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<usize, SplashError> {
        let number = u32::from_le_bytes(self.array()?);
        usize::try_from(number).map_err(|_| SplashError::TooLong)
    }

    fn encoding(&mut self) -> Result<Encoding, SplashError> {
        let [number, _] = self.array()?;
        let unknown = SplashError::Damaged("its encoding is not known");
        Encoding::ALL
            .into_iter()
            .find(|e| e.number() == number)
            .ok_or(unknown)
    }
}

/// A file's splash, and how its picture was packed.
///
/// # Errors
/// If it is none, damaged, or larger than any screen.
pub fn read(bytes: &[u8]) -> Result<(Splash, Encoding), SplashError> {
    let mut head = Fields(bytes.strip_prefix(MAGIC).ok_or(SplashError::NotSplash)?);
    let (width, height) = (head.u16()?, head.u16()?);
    let fourcc: [u8; 4] = head.array()?;
    let encoding = head.encoding()?;
    let frame_count = usize::from(head.u16()?);
    let (picture_len, total) = (head.u32()?, head.u32()?);
    let stored = [head.u32()?, head.u32()?];
    let mut rest = head;

    if total != bytes.len() || total % 4 != 0 {
        return Err(SplashError::Damaged(
            "it is cut short, or goes on behind its end",
        ));
    }
    let mut sums = add_words([0; 2], bytes.get(..SUMS_AT).unwrap_or_default());
    if encoding != Encoding::Raw {
        sums = add_words(sums, rest.0);
    }
    if sums.map(|sum| sum as usize) != stored {
        return Err(SplashError::Damaged("its sums are wrong"));
    }
    let known = Format::ALL.into_iter().find(|f| f.fourcc() == fourcc);
    let format = known.ok_or(SplashError::Damaged(
        "its pixels are of a kind that is not known",
    ))?;
    if frame_count > FRAMES {
        return Err(SplashError::TooManyFrames(frame_count));
    }
    let pixels = rows(rest.take(picture_len)?, encoding, format, (width, height))?;
    let mut frames = Vec::new();
    let mut left = MOST_FRAME_PIXELS;
    for _ in 0..frame_count {
        let frame = read_frame(&mut rest, format, &mut left)?;
        frames.push(frame);
    }
    let splash = Splash {
        format,
        width,
        height,
        pixels,
        frames,
    };
    Ok((splash, encoding))
}

fn read_frame(rest: &mut Fields, format: Format, left: &mut u64) -> Result<Frame, SplashError> {
    let (x, y, width, height) = (rest.u16()?, rest.u16()?, rest.u16()?, rest.u16()?);
    let ms = rest.u16()?;
    let encoding = rest.encoding()?;
    let len = rest.u32()?;
    let packed = rest.take(len)?;
    take_frame(left, width, height)?;
    Ok(Frame {
        x,
        y,
        width,
        height,
        ms,
        pixels: rows(packed, encoding, format, (width, height))?,
    })
}

/// Takes a frame's pixels from those that are left for all of them: what is written can be read.
fn take_frame(left: &mut u64, width: u16, height: u16) -> Result<(), SplashError> {
    check_size(width.into(), height.into())?;
    let pixels = u64::from(width) * u64::from(height);
    *left = left
        .checked_sub(pixels)
        .ok_or(SplashError::FramesTooLarge)?;
    Ok(())
}

fn rows(
    packed: &[u8],
    encoding: Encoding,
    format: Format,
    (width, height): (u16, u16),
) -> Result<Vec<u8>, SplashError> {
    check_size(width.into(), height.into())?;
    let row_len = usize::from(width) * format.bytes();
    debug_assert!(row_len <= BAND);
    unpack(encoding, packed, height.into(), row_len, format.bytes())
}
