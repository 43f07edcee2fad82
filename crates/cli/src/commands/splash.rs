//! `bootlap splash`: pictures for `bootlap-agent splash`, and its captures.

use std::fs;
use std::path::Path;

use bootlap_target::splash::{
    self, Canvas, Encoding, Estimate, Format, Picture, Splash as Contents, SplashError,
};

use crate::args::Splash;
use crate::exit::{Exit, Failure};
use crate::ui::{Ui, harmless};

/// A longer file holds no picture for a screen.
const LONGEST: u64 = 1 << 30;

pub(crate) fn run(args: &Splash, ui: &Ui) -> Result<Exit, Failure> {
    let Some(out) = &args.out else {
        for path in &args.pictures {
            ui.print(&info(path)?);
        }
        return Ok(Exit::Ok);
    };
    if out.extension().is_some_and(|e| e == "png") {
        let [path] = &args.pictures[..] else {
            let why = "a PNG holds one picture; name one, or write another file";
            return Err(Failure::new(Exit::Usage, why));
        };
        let picture = match load(path)? {
            Loaded::Picture(picture) => picture,
            Loaded::Splash(s, _) => picture_of(&s),
        };
        let bytes = splash::write_png(&picture).map_err(|e| wrong(path, &e))?;
        write(out, &bytes)?;
        return Ok(Exit::Ok);
    }
    let contents = contents(args)?;
    let first = &args.pictures[0];
    let all = splash::estimates(&contents, args.storage_kb_s).map_err(|e| wrong(first, &e))?;
    let lines: Vec<(Encoding, String)> = all.iter().map(|e| (e.encoding, line(e))).collect();
    let taken = match args.encoding.0 {
        Some(asked) => all.into_iter().find(|e| e.encoding == asked),
        None => splash::choose(all),
    };
    let Some(taken) = taken else {
        return Err(Failure::new(Exit::Internal, "no encoding was tried"));
    };
    write(out, &taken.bytes)?;
    let size = format!(
        "{}: {} x {} {}\n",
        out.display(),
        contents.width,
        contents.height,
        contents.format.name()
    );
    let mut text = harmless(&size);
    for (encoding, line) in lines {
        let mark = if encoding == taken.encoding { '*' } else { ' ' };
        text += &format!("{mark} {line}\n");
    }
    ui.print(&text);
    Ok(Exit::Ok)
}

fn line(estimate: &Estimate) -> String {
    let ms = estimate.micros as f64 / 1000.0;
    let bytes = estimate.bytes.len();
    let name = estimate.encoding.name();
    format!("{name:<4} {bytes:>9} bytes  {ms:>8.2} ms to read and unpack")
}

enum Loaded {
    Picture(Picture),
    Splash(Contents, Encoding),
}

fn wrong(path: &Path, e: &SplashError) -> Failure {
    Failure::new(Exit::NothingUsable, format!("{}: {e}", path.display()))
}

fn load(path: &Path) -> Result<Loaded, Failure> {
    let failed = |e: std::io::Error| {
        Failure::new(Exit::Usage, format!("cannot read {}: {e}", path.display()))
    };
    let len = fs::metadata(path).map_err(failed)?.len();
    if len > LONGEST {
        let why = format!("{} is too long for a picture", path.display());
        return Err(Failure::new(Exit::NothingUsable, why));
    }
    let bytes = fs::read(path).map_err(failed)?;
    if splash::is_splash(&bytes) {
        let read = splash::read(&bytes).map_err(|e| wrong(path, &e))?;
        return Ok(Loaded::Splash(read.0, read.1));
    }
    let picture = splash::read_png(&bytes).map_err(|e| wrong(path, &e))?;
    Ok(Loaded::Picture(picture))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |e| {
        Failure::new(
            Exit::Internal,
            format!("cannot write {}: {e}", path.display()),
        )
    };
    fs::write(path, bytes).map_err(failed)
}

fn picture_of(contents: &Contents) -> Picture {
    let Contents {
        format,
        width,
        height,
        ..
    } = *contents;
    splash::picture_of(format, width, height, &contents.pixels)
}

/// What the file for the agent will hold.
fn contents(args: &Splash) -> Result<Contents, Failure> {
    let mut pictures = Vec::new();
    let mut format = args.format;
    for path in &args.pictures {
        let picture = match load(path)? {
            Loaded::Picture(picture) => picture,
            Loaded::Splash(s, _) => {
                let same = format.is_none_or(|f| f == s.format) && args.size.is_none();
                if same && args.pictures.len() == 1 {
                    // Only packed again, and its animation stays.
                    return Ok(s);
                }
                format = format.or(Some(s.format));
                picture_of(&s)
            }
        };
        pictures.push((path, picture));
    }
    let format = format.unwrap_or(Format::Xrgb8888);
    let canvas = Canvas {
        size: args.size,
        background: args.background,
        dither: args.dither,
    };
    let drawn = pictures.iter().map(|(path, picture)| {
        splash::pixels(picture, &canvas, format).map_err(|e| wrong(path, &e))
    });
    let drawn = drawn.collect::<Result<Vec<_>, _>>()?;
    splash::animation(format, drawn, args.delay_ms).map_err(|e| wrong(&args.pictures[0], &e))
}

fn info(path: &Path) -> Result<String, Failure> {
    let (width, height, what) = match load(path)? {
        Loaded::Picture(p) => (p.width, p.height, "PNG".to_owned()),
        Loaded::Splash(s, encoding) => {
            let mut what = format!("{}, {}", s.format.name(), encoding.name());
            if !s.frames.is_empty() {
                let ms: u64 = s.frames.iter().map(|f| u64::from(f.ms)).sum();
                what += &format!(", {} frames in {ms} ms", s.frames.len());
            }
            (s.width.into(), s.height.into(), what)
        }
    };
    let path = harmless(&path.display().to_string());
    Ok(format!("{path}: {width} x {height}, {what}\n"))
}
