//! Pictures on a screen: what the agent draws is, pixel for pixel, the PNG.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bootlap_product::Target;
use bootlap_rootfs::splash::{Picture, read_png, write_png};
use serde_json::{Value, json};

use crate::support::{agent, bootlap, direct, failure, printed, root, scratch};

fn png() -> PathBuf {
    root().join("targets/screen/splash.png")
}

#[test]
fn a_picture_is_made_said_and_looked_at() {
    let dir = scratch("splash");
    let made = |args: &[&str]| printed(bootlap(&dir).arg("splash").arg(png()).args(args));
    let said = made(&["-o", "auto.splash"]);
    assert!(
        said.starts_with("auto.splash: 1024 x 768 xrgb8888\n"),
        "{said}"
    );
    assert_eq!(said.matches("\n* ").count(), 1, "{said}");
    made(&[
        "--format",
        "rgb565",
        "--size",
        "320x240",
        "--encoding",
        "rle",
        "-o",
        "small.splash",
    ]);
    let info = printed(bootlap(&dir).args(["splash", "--info", "auto.splash", "small.splash"]));
    assert!(
        info.contains("small.splash: 320 x 240, rgb565, rle\n"),
        "{info}"
    );

    printed(bootlap(&dir).args(["splash", "auto.splash", "-o", "again.png"]));
    let again = read_png(&fs::read(dir.join("again.png")).unwrap()).unwrap();
    assert_eq!(again, read_png(&fs::read(png()).unwrap()).unwrap());

    fs::write(dir.join("no.png"), "GIF89a").unwrap();
    let said = failure(bootlap(&dir).args(["splash", "no.png", "-o", "x"]), 4);
    assert!(said.contains("no.png: it is no PNG"), "{said}");
    let cut = fs::read(dir.join("auto.splash")).unwrap();
    fs::write(dir.join("cut.splash"), &cut[..cut.len() - 4]).unwrap();
    let said = failure(bootlap(&dir).args(["splash", "--info", "cut.splash"]), 4);
    assert!(said.contains("cut short"), "{said}");
    failure(
        bootlap(&dir).args(["splash", "x", "-o", "y", "--size", "0x"]),
        2,
    );
}

/// A splash of four pictures of 64 x 48, each seen for 50 ms.
fn animated(dir: &Path) {
    for n in 0..4 {
        let mut rgba = [0, 0, 0, 255].repeat(64 * 48);
        rgba[4 * n..][..3].copy_from_slice(&[255; 3]);
        let picture = Picture {
            width: 64,
            height: 48,
            rgba,
        };
        fs::write(dir.join(format!("{n}.png")), write_png(&picture).unwrap()).unwrap();
    }
    let mut make = bootlap(dir);
    make.args(["splash", "0.png", "1.png", "2.png", "3.png"]);
    printed(make.args(["--delay-ms", "50", "-o", "spin.splash"]));
}

#[test]
fn an_animation_stays_one_whatever_is_asked_for() {
    let dir = scratch("splash-animation");
    animated(&dir);
    let made = |options: &[&str]| {
        let mut make = bootlap(&dir);
        make.args(["splash", "spin.splash", "-o", "made.splash"]);
        printed(make.args(options));
        let info = printed(bootlap(&dir).args(["splash", "--info", "made.splash"]));
        info.replace("made.splash: ", "")
    };
    let options = ["--encoding", "raw"];
    assert_eq!(
        made(&options),
        "64 x 48, xrgb8888, raw, 4 frames in 200 ms\n"
    );
    let options = ["--encoding", "raw", "--format", "rgb565"];
    assert_eq!(made(&options), "64 x 48, rgb565, raw, 4 frames in 200 ms\n");
    let options = ["--encoding", "raw", "--size", "90x80"];
    assert_eq!(
        made(&options),
        "90 x 80, xrgb8888, raw, 4 frames in 200 ms\n"
    );
    let options = ["--encoding", "raw", "--delay-ms", "500"];
    assert_eq!(
        made(&options),
        "64 x 48, xrgb8888, raw, 4 frames in 2000 ms\n"
    );

    let mut of_two = bootlap(&dir);
    let said = failure(
        of_two.args(["splash", "spin.splash", "0.png", "-o", "x"]),
        2,
    );
    assert!(
        said.contains("spin.splash is an animation already"),
        "{said}"
    );
    assert!(!dir.join("x").exists());
}

#[test]
fn a_png_is_what_the_screen_would_show() {
    let dir = scratch("splash-png");
    animated(&dir);
    let options = ["--size", "70x50", "--background", "ff0000", "-o", "x.png"];
    for from in ["0.png", "spin.splash"] {
        printed(bootlap(&dir).args(["splash", from]).args(options));
        let seen = read_png(&fs::read(dir.join("x.png")).unwrap()).unwrap();
        assert_eq!((seen.width, seen.height), (70, 50), "{from}");
        assert_eq!(seen.rgba[..4], [255, 0, 0, 255], "{from}");
        assert_eq!(seen.rgba[4 * (70 + 3)..][..4], [255; 4], "{from}");
    }
    for more in [["--encoding", "rle"], ["--delay-ms", "50"]] {
        let mut png = bootlap(&dir);
        png.args(["splash", "spin.splash", "-o", "y.png"]);
        let said = failure(png.args(more), 2);
        assert!(said.contains("leave them out"), "{said}");
    }
    let mut info = bootlap(&dir);
    failure(info.args(["splash", "--info", "0.png", "--dither"]), 2);
}

/// The example with a screen and its recipe, whose files are made first; the picture
/// with these options, shown from `from`.
fn with_splash(dir: &Path, options: &[&str], from: &str) -> Target {
    let screen = root().join("targets/screen");
    for name in ["splash-early.toml", "splash-init"] {
        fs::copy(screen.join(name), dir.join(name)).unwrap();
    }
    let init = fs::read_to_string(dir.join("splash-init")).unwrap();
    let show = "/splash/bootlap-agent splash show ";
    let shows = format!("{show}/splash/picture");
    assert!(init.contains(&shows));
    let pipe = "/bin/busybox mkfifo /pipe; /bin/busybox cat /splash/picture >/pipe &\n";
    let init = match from {
        "/pipe" => init.replace(&shows, &format!("{pipe}{show}/pipe")),
        _ => init,
    };
    fs::write(dir.join("splash-init"), init).unwrap();
    fs::copy(agent("arm64"), dir.join("bootlap-agent")).unwrap();
    let recipe = dir.join("splash-early.toml");
    let text = fs::read_to_string(&recipe).unwrap();
    let there = "../../agent/build/arm64/bootlap-agent";
    fs::write(&recipe, text.replace(there, "bootlap-agent")).unwrap();
    printed(
        bootlap(dir)
            .arg("splash")
            .arg(png())
            .args(["-o", "picture.splash"])
            .args(options),
    );
    let mut apply = bootlap(dir);
    let apply = apply.arg("apply").arg(&screen).arg("./splash-early.toml");
    printed(apply.args(["-o", "early"]));
    Target::load(&dir.join("early")).unwrap()
}

/// A machine that is looked at through QEMU's control channel.
struct Watched {
    qemu: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Watched {
    fn start(dir: &Path, target: &Target) -> Self {
        let cmdline = direct(target, dir);
        let mut qemu = Command::new("qemu-system-aarch64")
            .current_dir(dir)
            // Equal boots, whatever else the host does.
            .args("-icount shift=1,align=off,sleep=off -seed 1".split(' '))
            .args("-rtc clock=vm,base=2020-01-01 -M virt,dtb-randomness=off".split(' '))
            .args("-cpu cortex-a57 -m 512 -nodefaults -display none".split(' '))
            .args(["-device", "bochs-display,xres=1024,yres=768"])
            .args("-kernel kernel -initrd initrd -serial file:console -qmp stdio".split(' '))
            .args(["-append", &cmdline])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(qemu.stdout.take().unwrap());
        let mut watched = Self { qemu, answers };
        watched.execute(json!({ "execute": "qmp_capabilities" }));
        watched
    }

    fn execute(&mut self, command: Value) {
        let stdin = self.qemu.stdin.as_mut().unwrap();
        stdin.write_all(command.to_string().as_bytes()).unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(
                self.answers.read_line(&mut line).unwrap(),
                0,
                "QEMU is gone"
            );
            let answer: Value = serde_json::from_str(&line).unwrap();
            assert!(answer.get("error").is_none(), "{command}: {answer}");
            if answer.get("return").is_some() {
                return;
            }
        }
    }

    /// What is on the screen.
    fn screen(&mut self, dir: &Path) -> Picture {
        let arguments = json!({ "filename": "screen.ppm" });
        self.execute(json!({ "execute": "screendump", "arguments": arguments }));
        let bytes = fs::read(dir.join("screen.ppm")).unwrap();
        let mut parts = bytes.splitn(4, |b| *b == b'\n');
        let mut text = || std::str::from_utf8(parts.next().unwrap()).unwrap();
        assert_eq!(text(), "P6");
        let (width, height) = text().split_once(' ').unwrap();
        let (width, height) = (width.parse().unwrap(), height.parse().unwrap());
        assert_eq!(text(), "255");
        let (pixels, _) = parts.next().unwrap().as_chunks::<3>();
        let rgba = pixels
            .iter()
            .flat_map(|&[r, g, b]| [r, g, b, 255])
            .collect();
        Picture {
            width,
            height,
            rgba,
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

/// What the example's screen shows when its application is ready, and the console.
fn ready(dir: &Path, options: &[&str], from: &str) -> (Picture, String) {
    let target = with_splash(dir, options, from);
    let mut machine = Watched::start(dir, &target);
    let patience = Instant::now() + Duration::from_secs(120);
    let console = loop {
        let console = fs::read(dir.join("console")).unwrap_or_default();
        let console = String::from_utf8_lossy(&console).into_owned();
        if console.contains("APP_READY") {
            break console;
        }
        assert!(Instant::now() < patience, "never ready: {console}");
        std::thread::sleep(Duration::from_millis(20));
    };
    (machine.screen(dir), console)
}

/// Where the recipe has the picture.
const FILE: &str = "/splash/picture";

/// As a UBI volume, a pipe does not say how long it is.
#[test]
fn a_picture_is_read_from_what_is_no_file() {
    let dir = scratch("splash-pipe");
    let (seen, console) = ready(&dir, &[], "/pipe");
    let wanted = read_png(&fs::read(png()).unwrap()).unwrap();
    assert!(seen == wanted, "see screen.ppm; {console}");
}

#[test]
fn the_screen_shows_the_picture_before_the_application_starts() {
    let dir = scratch("splash-screen");
    let (seen, console) = ready(&dir, &[], FILE);
    let wanted = read_png(&fs::read(png()).unwrap()).unwrap();
    assert_eq!((seen.width, seen.height), (wanted.width, wanted.height));
    assert!(
        seen == wanted,
        "the screen shows other pixels; see screen.ppm; {console}"
    );
    let drawn = console.find("bootlap: picture-complete").expect(&console);
    assert!(drawn < console.find("APP_READY").unwrap(), "{console}");
}

/// Which this driver refuses.
#[test]
fn pixels_of_two_bytes_are_widened_where_the_screen_needs_four() {
    let dir = scratch("splash-rgb565");
    let (seen, console) = ready(&dir, &["--format", "rgb565"], FILE);
    printed(bootlap(&dir).args(["splash", "picture.splash", "-o", "wanted.png"]));
    let wanted = read_png(&fs::read(dir.join("wanted.png")).unwrap()).unwrap();
    assert!(seen == wanted, "see screen.ppm; {console}");
}
