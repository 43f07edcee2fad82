//! `bootlap splash`: pictures for `bootlap-agent splash`, and its captures.

use std::fs;
use std::path::Path;

use bootlap_engine::Progress;
use bootlap_engine::{Exit, Failure};
use bootlap_rootfs::splash::{
    self, Canvas, Encoding, Estimate, Format, Picture, Splash as Contents, SplashError,
};

use crate::args::Splash;
use crate::ui::{Ui, harmless};

/// A longer file holds no picture for a screen.
const LONGEST: u64 = 1 << 30;

/// How long each picture of an animation is seen, if nobody says.
const DELAY_MS: u16 = 100;

pub(crate) fn run(args: &Splash, ui: &Ui) -> Result<Exit, Failure> {
    let Some(out) = &args.out else {
        for path in &args.pictures {
            ui.print(&info(path)?);
        }
        return Ok(Exit::Ok);
    };
    if out.extension().is_some_and(|e| e == "png") {
        return png(args, out, ui);
    }
    let contents = contents(args)?;
    if args.delay_ms.is_some() && contents.frames.is_empty() {
        ui.note("--delay-ms changes nothing: this is one picture, and no animation");
    }
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

/// What the screen would show, to look at it.
fn png(args: &Splash, out: &Path, ui: &Ui) -> Result<Exit, Failure> {
    let wrong_use = |why| Err(Failure::new(Exit::Usage, why));
    let [path] = &args.pictures[..] else {
        return wrong_use("a PNG holds one picture; name one, or write another file");
    };
    if args.encoding.0.is_some() || args.delay_ms.is_some() {
        return wrong_use(
            "a PNG has no --encoding and no --delay-ms; leave them out, or write another file",
        );
    }
    let contents = contents(args)?;
    let bytes = splash::write_png(&picture_of(&contents)).map_err(|e| wrong(path, &e))?;
    write(out, &bytes)?;
    if !contents.frames.is_empty() {
        ui.note(&format!(
            "{} is an animation: {} holds its first picture",
            path.display(),
            out.display()
        ));
    }
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

/// What the file will hold.
fn contents(args: &Splash) -> Result<Contents, Failure> {
    let canvas = Canvas {
        size: args.size,
        background: args.background,
        dither: args.dither,
    };
    let mut pictures = Vec::new();
    let mut format = args.format;
    for path in &args.pictures {
        let picture = match load(path)? {
            Loaded::Picture(picture) => picture,
            Loaded::Splash(s, _) if args.pictures.len() == 1 => {
                return changed(args, s, &canvas).map_err(|e| wrong(path, &e));
            }
            Loaded::Splash(s, _) if !s.frames.is_empty() => {
                let why = format!("{} is an animation already", path.display());
                return Err(Failure::new(Exit::Usage, why)
                    .hint("name it alone, or name the pictures that it was made of"));
            }
            Loaded::Splash(s, _) => {
                format = format.or(Some(s.format));
                picture_of(&s)
            }
        };
        pictures.push((path, picture));
    }
    let format = format.unwrap_or(Format::Xrgb8888);
    let drawn = pictures.iter().map(|(path, picture)| {
        splash::pixels(picture, &canvas, format).map_err(|e| wrong(path, &e))
    });
    let drawn = drawn.collect::<Result<Vec<_>, _>>()?;
    let delay_ms = args.delay_ms.unwrap_or(DELAY_MS);
    splash::animation(format, drawn, delay_ms).map_err(|e| wrong(&args.pictures[0], &e))
}

/// What is in a file for the agent, changed as far as it was asked for; its animation stays one.
fn changed(args: &Splash, is: Contents, canvas: &Canvas) -> Result<Contents, SplashError> {
    let format = args.format.unwrap_or(is.format);
    let mut to_be = match format == is.format && canvas.size.is_none() {
        // Only packed again.
        true => is,
        false => splash::converted(&is, canvas, format)?,
    };
    for frame in &mut to_be.frames {
        frame.ms = args.delay_ms.unwrap_or(frame.ms);
    }
    Ok(to_be)
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
