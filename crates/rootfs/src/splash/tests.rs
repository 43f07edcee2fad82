use proptest::prelude::*;

use super::*;

/// What `agent/tests/test_splash.c` computes, too.
fn golden(format: Format) -> Splash {
    let (width, height) = (20u16, 12u16);
    let rectangle = |x0: u16, y0: u16, w: u16, h: u16, plus: u32| -> Vec<u8> {
        let places = (y0..y0 + h).flat_map(|y| (x0..x0 + w).map(move |x| (x, y)));
        places
            .flat_map(|(x, y)| {
                let value = plus
                    + match (x, y) {
                        (_, 0..4) => 0x203040,
                        (0..10, _) => 0x010203 * u32::from(x) + u32::from(y / 4),
                        _ => 0xff8000 + u32::from(y / 6),
                    };
                value.to_le_bytes()[..format.bytes()].to_vec()
            })
            .collect()
    };
    let frame = |x, y, w, h, ms| Frame {
        x,
        y,
        width: w,
        height: h,
        ms,
        pixels: rectangle(x, y, w, h, u32::from(ms)),
    };
    Splash {
        format,
        width,
        height,
        pixels: rectangle(0, 0, width, height, 0),
        frames: vec![frame(0, 0, 20, 1, 10), frame(15, 5, 5, 7, 20)],
    }
}

fn golden_path(format: Format, encoding: Encoding) -> std::path::PathBuf {
    let name = format!("{}-{}.splash", format.name(), encoding.name());
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../agent/tests/corpus/splash")
        .join(name)
}

fn each() -> impl Iterator<Item = (Format, Encoding)> {
    let formats = Format::ALL.into_iter();
    formats.flat_map(|f| Encoding::ALL.into_iter().map(move |e| (f, e)))
}

#[test]
fn golden_bytes_are_read_and_written() {
    for (format, encoding) in each() {
        let bytes = std::fs::read(golden_path(format, encoding)).unwrap();
        assert_eq!(read(&bytes).unwrap(), (golden(format), encoding));
        // What LZ4's library makes of it is its own affair.
        if encoding != Encoding::Lz4 {
            assert_eq!(write(&golden(format), encoding).unwrap(), bytes);
        }
    }
}

/// For when the format changes: `cargo test -p bootlap-rootfs make_golden -- --ignored`.
#[test]
#[ignore = "writes the golden files"]
fn make_golden_files() {
    for (format, encoding) in each() {
        let bytes = write(&golden(format), encoding).unwrap();
        std::fs::write(golden_path(format, encoding), bytes).unwrap();
    }
}

/// Rows of a few colours, as logos have them, and of noise.
fn any_splash() -> impl Strategy<Value = Splash> {
    (any::<bool>(), 1u16..40, 1u16..40, 1u8..255).prop_flat_map(|(wide, width, height, colours)| {
        let format = Format::ALL[usize::from(wide)];
        let count = usize::from(width) * usize::from(height);
        prop::collection::vec(0..colours, count).prop_map(move |values| Splash {
            format,
            width,
            height,
            pixels: values
                .iter()
                .flat_map(|&v| [v, 0, v / 2, 0][..format.bytes()].to_vec())
                .collect(),
            frames: Vec::new(),
        })
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(splash in any_splash()) {
        for encoding in Encoding::ALL {
            let bytes = write(&splash, encoding).unwrap();
            prop_assert_eq!(bytes.len() % 4, 0);
            prop_assert_eq!(read(&bytes).unwrap(), (splash.clone(), encoding));
        }
    }

    #[test]
    fn damage_is_an_error_or_other_pixels(at in 0usize..2000, to: u8, cut in 0usize..2000) {
        for (format, encoding) in each() {
            let mut bytes = write(&golden(format), encoding).unwrap();
            let _ = read(&bytes[..cut.min(bytes.len())]);
            let at = at % bytes.len();
            let same = bytes[at] == to;
            bytes[at] = to;
            let found = read(&bytes);
            // Raw pixels are what they are.
            if !same && (encoding != Encoding::Raw || at < 36) {
                prop_assert!(found.is_err());
            }
        }
    }
}

#[test]
fn long_runs_and_wide_rows_are_packed() {
    let pixels = vec![7; 16384 * 4 * 2];
    let splash = Splash {
        format: Format::Xrgb8888,
        width: 16384,
        height: 2,
        pixels,
        frames: Vec::new(),
    };
    for encoding in [Encoding::Rle, Encoding::Lz4] {
        let bytes = write(&splash, encoding).unwrap();
        assert!(bytes.len() < 1024, "{encoding:?}: {}", bytes.len());
        assert_eq!(read(&bytes).unwrap().0, splash);
    }
}

/// Full frames of an HD screen, each of one colour.
fn full_frames(count: usize, pixels: &[u8]) -> Splash {
    let frame = Frame {
        x: 0,
        y: 0,
        width: 1920,
        height: 1080,
        ms: 10,
        pixels: pixels.to_vec(),
    };
    Splash {
        format: Format::Rgb565,
        width: 1920,
        height: 1080,
        pixels: pixels.to_vec(),
        frames: vec![frame; count],
    }
}

#[test]
fn an_animation_of_full_screens_is_read_as_it_was_written() {
    let splash = full_frames(17, &[7; 1920 * 1080 * 2]);
    let bytes = write(&splash, Encoding::Rle).unwrap();
    assert!(read(&bytes).unwrap().0 == splash);
}

#[test]
fn frames_that_could_not_be_read_again_are_not_written() {
    let error = write(&full_frames(65, &[]), Encoding::Rle).unwrap_err();
    assert!(
        error.to_string().contains("use fewer or smaller frames"),
        "{error}"
    );
    assert!(write(&full_frames(64, &[]), Encoding::Rle).is_ok());
}

fn one_colour(width: u32, height: u32, colour: [u8; 4]) -> Picture {
    Picture {
        width,
        height,
        rgba: colour.repeat((width * height) as usize),
    }
}

fn canvas(size: Option<(u32, u32)>) -> Canvas {
    Canvas {
        size,
        background: [1, 2, 3],
        dither: false,
    }
}

#[test]
fn a_picture_lies_in_the_middle_of_its_background() {
    let red = one_colour(1, 1, [255, 0, 0, 255]);
    let (w, h, out) = pixels(&red, &canvas(Some((3, 2))), Format::Xrgb8888).unwrap();
    assert_eq!((w, h), (3, 2));
    let around = [3, 2, 1, 0];
    let expected = [around, [0, 0, 255, 0], around, around, around, around];
    assert_eq!(out, expected.concat());
    let large = one_colour(9, 9, [0, 0, 0, 255]);
    let (_, _, out) = pixels(&large, &canvas(Some((2, 2))), Format::Rgb565).unwrap();
    assert_eq!(out, [0; 8]);
}

#[test]
fn what_can_be_seen_through_shows_the_background() {
    let half = one_colour(1, 1, [255, 255, 255, 128]);
    let (_, _, out) = pixels(&half, &canvas(None), Format::Xrgb8888).unwrap();
    assert_eq!(out, [129, 129, 128, 0]);
}

#[test]
fn a_pattern_has_the_brightness_that_rgb565_lacks() {
    let grey = one_colour(8, 8, [100, 100, 100, 255]);
    let mut canvas = canvas(None);
    canvas.dither = true;
    let (w, h, out) = pixels(&grey, &canvas, Format::Rgb565).unwrap();
    let seen = picture_of(Format::Rgb565, w, h, &out);
    let (pixels, _) = seen.rgba.as_chunks::<4>();
    for channel in 0..3 {
        let sum: u32 = pixels.iter().map(|p| u32::from(p[channel])).sum();
        assert!((99 * 64..=101 * 64).contains(&sum), "{channel}: {sum}");
    }
    for extreme in [0, 255] {
        let flat = one_colour(8, 8, [extreme, extreme, extreme, 255]);
        let (w, h, out) = super::pixels(&flat, &canvas, Format::Rgb565).unwrap();
        assert_eq!(picture_of(Format::Rgb565, w, h, &out), flat);
    }
}

#[test]
fn png_is_read_as_it_was_written() {
    let rgba = (0..48).flat_map(|n| [n * 5, 255 - n, n, 255]).collect();
    let picture = Picture {
        width: 8,
        height: 6,
        rgba,
    };
    let bytes = write_png(&picture).unwrap();
    assert_eq!(read_png(&bytes).unwrap(), picture);
    assert!(matches!(read_png(b"GIF89a"), Err(SplashError::NotPng(_))));
    assert!(read_png(&bytes[..bytes.len() / 2]).is_err());
}

#[test]
fn a_hostile_size_takes_no_memory() {
    let mut bytes = write_png(&one_colour(1, 1, [0; 4])).unwrap();
    bytes[16..20].copy_from_slice(&0x7fff_ffffu32.to_be_bytes());
    bytes[20..24].copy_from_slice(&0x7fff_ffffu32.to_be_bytes());
    let crc = crc32fast::hash(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&crc.to_be_bytes());
    assert!(read_png(&bytes).is_err());
}

#[test]
fn an_animation_is_what_changes() {
    let still = |x: usize| {
        let mut pixels = vec![0; 2 * 16];
        pixels[2 * (4 + x)] = 9;
        (4, 4, pixels)
    };
    let splash = animation(Format::Rgb565, vec![still(1), still(2), still(2)], 40).unwrap();
    let places: Vec<_> = splash
        .frames
        .iter()
        .map(|f| (f.x, f.y, f.width, f.height))
        .collect();
    assert_eq!(places, [(1, 1, 2, 1), (0, 0, 1, 1), (1, 1, 2, 1)]);
    assert_eq!(splash.frames[0].pixels, [0, 0, 9, 0]);
    assert_eq!(splash.frames[2].pixels, [9, 0, 0, 0]);
    let other = (2, 8, vec![0; 32]);
    let error = animation(Format::Rgb565, vec![still(1), other], 40).unwrap_err();
    assert_eq!(
        error.to_string(),
        "picture 2 is 2 x 8, the first one 4 x 4; make them equal"
    );
}

#[test]
fn an_animation_stays_one_in_other_pixels() {
    let still = |x: usize| {
        let mut rgba = [0, 0, 0, 255].repeat(16);
        rgba[4 * (4 + x)..][..3].copy_from_slice(&[255, 0, 0]);
        Picture {
            width: 4,
            height: 4,
            rgba,
        }
    };
    let made = |canvas: &Canvas, format: Format| {
        let pictures = (1..4).map(|x| pixels(&still(x), canvas, format).unwrap());
        animation(format, pictures.collect(), 40).unwrap()
    };
    let first = made(&canvas(None), Format::Xrgb8888);
    // As if it had been made so.
    for size in [None, Some((4, 4)), Some((9, 7))] {
        let wanted = made(&canvas(size), Format::Rgb565);
        assert_eq!(
            converted(&first, &canvas(size), Format::Rgb565).unwrap(),
            wanted
        );
    }
    // What is cut off goes on: the second of them moves beside this canvas.
    let cut = converted(&first, &canvas(Some((1, 4))), Format::Rgb565).unwrap();
    let seen = cut
        .frames
        .iter()
        .map(|f| (f.x, f.y, f.width, f.height, f.ms));
    let seen: Vec<_> = seen.collect();
    assert_eq!(seen, [(0, 1, 1, 1, 40), (0, 0, 1, 1, 40), (0, 1, 1, 1, 40)]);
    let pixels = cut.frames.iter().map(|f| f.pixels[1]);
    assert_eq!(pixels.collect::<Vec<_>>(), [0, 0, 248]);
}

#[test]
fn frames_outside_of_their_picture_change_nothing() {
    let mut splash = golden(Format::Xrgb8888);
    for (x, y) in [(19, 11), (20, 0), (0, 12), (u16::MAX, u16::MAX)] {
        (splash.frames[0].x, splash.frames[0].y) = (x, y);
        let same = converted(&splash, &canvas(Some((30, 30))), Format::Xrgb8888).unwrap();
        assert_eq!(same.frames.len(), 2);
        assert!(write(&same, Encoding::Raw).is_ok());
    }
}

#[test]
fn the_choice_is_what_is_seen_first() {
    let flat = golden(Format::Xrgb8888);
    let all = estimates(&flat, 20_000).unwrap();
    assert_eq!(all.len(), 3);
    let chosen = choose(all.clone()).unwrap();
    assert!(all.iter().all(|e| chosen.micros <= e.micros));
    // From memory that costs nothing there is nothing to gain.
    assert_eq!(
        choose(estimates(&flat, u32::MAX).unwrap()).unwrap().micros,
        0
    );
}
