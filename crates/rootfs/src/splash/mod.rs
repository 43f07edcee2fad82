//! Pictures for the screen, made of what people draw.
//!
//! A boot should not decode a picture: that took 878 ms where copying the screen's own pixels took
//! 54. So the host does what takes time (`image`, `convert`), and packs the pixels only as far
//! as unpacking them is no slower than reading more of them (`choose`). The file is
//! [`bootlap_wire::splash`].

mod animate;
mod choose;
mod convert;
mod image;

pub use animate::{animation, converted};
pub use bootlap_wire::splash::{
    Encoding, Format, Frame, MOST, MOST_PIXELS, Splash, SplashError, check_size, is_splash, read,
    write,
};
pub use choose::{Estimate, choose, estimates};
pub use convert::{Canvas, picture_of, pixels};
pub use image::{read_png, write_png};

/// A picture as people make them: red, green, blue and alpha, a byte each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Row by row from the top.
    pub rgba: Vec<u8>,
}

#[cfg(test)]
mod tests;
